# shellcheck shell=bash disable=SC2016,SC2034
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the tests of PostgreSQL workloads share: dumps of every kind, right and wrong, made by the system's
# PostgreSQL; an agent that may read them; looking at results. Source it after lib.sh.

IN=$T/in
SMALL='settings: {max_wal_size: 64MB, min_wal_size: 32MB, shared_buffers: 32MB}'

pg_bin() { find /usr/lib/postgresql/*/bin /usr/pgsql-*/bin -maxdepth 1 -name postgres 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname; }
as_worker() { setpriv --reuid arraymark-work --regid arraymark-work --clear-groups -- "$@"; }
sql() { as_worker "$PG/psql" -h "$T/pg" -U postgres -XAtq -v ON_ERROR_STOP=1 "$@"; }
dumped() { as_worker "$PG/pg_dump" -h "$T/pg" -U postgres "$@"; }

# cut_rows FILE: in the middle, at the end of a line.
cut_rows() {
	local half
	half=$(head -n 20000 "$1")
	echo "$half" >"$1"
}

# make_newer ARCHIVE: of a format that is not there yet: PGDMP, then version 9.0.0.
make_newer() {
	printf 'PGDMP\011\000\000'
	tail -c +9 "$1"
}

# Dumps of every kind, made by the system's own PostgreSQL in a cluster that is gone again.
make_dumps() {
	mkdir -m 755 "$IN"
	install -d -o arraymark-work "$T/pg" "$IN/made"
	(
		cd "$T/pg" || exit 1
		as_worker "$PG/initdb" -D "$T/pg/data" -U postgres --auth=trust --no-locale -E UTF8 -N &&
			as_worker "$PG/pg_ctl" -D "$T/pg/data" -w -l "$T/pg/log" \
				-o "-c listen_addresses= -c unix_socket_directories=$T/pg -c fsync=off" start &&
			sql -c 'create role keeper' -c 'create database source' &&
			sql -d source -c "create table ports as select i as id, md5(i::text) as name from generate_series(1, 60000) i" \
				-c 'create index on ports (name)' -c 'alter table ports add primary key (id)' \
				-c 'alter table ports owner to keeper' &&
			dumped -Fc -f "$IN/made/ports.dump" source &&
			dumped -Fd -f "$IN/made/ports.dir" source &&
			dumped -Fd -Z0 -f "$IN/made/rows.dir" source &&
			dumped -Ft -f "$IN/made/ports.tar" source &&
			dumped -Fp -f "$IN/made/ports.sql" source &&
			as_worker "$PG/pg_dumpall" -h "$T/pg" -U postgres -g -f "$IN/made/globals.sql"
		status=$?
		as_worker "$PG/pg_ctl" -D "$T/pg/data" -w -m fast stop
		exit "$status"
	) >"$T/make.log" 2>&1 || return 1
	head -c 700000 "$IN/made/ports.dump" >"$IN/cut.dump"
	head -c 1000000 "$IN/made/ports.sql" >"$IN/cut.sql"
	head -c 1000000 "$IN/made/ports.tar" >"$IN/cut.tar"
	head -c 1500 "$IN/made/ports.dump" >"$IN/toc.dump"
	cp -r "$IN/made/rows.dir" "$IN/cut.dir"
	cut_rows "$IN/cut.dir"/[0-9]*.dat
	mkdir -m 755 "$IN/hollow.dir"
	: >"$IN/empty.dump"
	gzip -c "$IN/made/ports.sql" >"$IN/ports.sql.gz"
	cp -r "$IN/made/ports.dir" "$IN/newer.dir"
	make_newer "$IN/made/ports.dir/toc.dat" >"$IN/newer.dir/toc.dat"
	chmod -R a+rX "$IN/newer.dir" "$IN/cut.dir"
	sed '0,/^SET /s//CREATE TABLE public.words (a text COLLATE "xx_XX.utf8");\n&/' "$IN/made/ports.sql" >"$IN/collation.sql"
	head -c 100000 /dev/urandom >"$IN/none.dump"
	make_newer "$IN/made/ports.dump" >"$IN/newer.dump"
	sed 's/^-- Dumped by pg_dump version .*/-- Dumped by pg_dump version 99.1/' "$IN/made/ports.sql" >"$IN/newer.sql"
	install -m 600 "$IN/made/ports.dump" "$IN/secret.dump"
	{
		cat "$IN/made/ports.sql"
		echo "select 'held up', pg_sleep(120);"
	} >"$IN/slow.sql"
	{
		cat "$IN/made/ports.sql"
		echo "create table public.big as select repeat(md5(i::text), 40) from generate_series(1, 200000) i;"
	} >"$IN/big.sql"
}

# plan NAME LAYOUTS WORKLOADS
plan() {
	cat >"$T/$1.yaml" <<-END
		name: $1
		hosts: [one]
		trials: 1
		layouts: {$2}
		samples: 100ms
		on-trial-failure: continue
		workloads:
	END
	echo "  ${3//$'\n'/$'\n'  }" >>"$T/$1.yaml"
}

# ---- looking at results ----

# trial_of WORKLOAD FILTER: of the export in $T/run.jsonl, over its trials in all layouts.
trial_of() { jq -r --arg w "$1" "select(.type == \"trial\" and .workload_name == \$w) | $2" "$T/run.jsonl"; }

# detail_of WORKLOAD TYPE NAME: values of a fact, texts of a note.
detail_of() {
	jq -rs --arg w "$1" --arg t "$2" --arg n "$3" '(map(select(.type == "trial" and .workload_name == $w) | .trial)) as $of
		| .[] | select(.type == $t and .name == $n and (.trial | IN($of[]))) | .value // .text' "$T/run.jsonl"
}

# all_hold FILTER: of the trials of $T/run.jsonl.
all_hold() { jq -se "[.[] | select(.type == \"trial\")] | length > 0 and all(.[]; $1)" "$T/run.jsonl" >/dev/null; }

is_above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

# is_about A B: within 1 %.
is_about() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(b > 0 && a / b > 0.99 && a / b < 1.01) }'; }

no_postgres() {
	local left
	left=$(grep -lsE '^/usr/[^ ]*/postgres' /proc/[0-9]*/cmdline | sed 's/cmdline$/environ/' | xargs -r grep -lsF "OUR_FLEET=$T" | head -n 3)
	[ -z "$left" ] || {
		echo "$left"
		return 1
	}
}

# pg_fleet: what every test of PostgreSQL needs, or the reason why there is none. Ends with agent `one`.
pg_fleet() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	PG=$(pg_bin)
	[ -n "$PG" ] || skip_all "there is no PostgreSQL: run deploy/install-deps test"
	make_dumps || bail "dumps can be made" "$(tail -n 5 "$T/make.log")"
	export OUR_FLEET=$T # by which no_postgres knows servers of other tests
	fleet_init
	mkdir -p "$FLEET/one"
	{
		fleet_policy "$FLEET/one"
		echo "  inputs: ['$IN/*', '$IN/made/*']"
	} >"$FLEET/one/agent.yaml"
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up" "$(cat "$T/err")"
}
