#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# PostgreSQL workloads on raidz2 (where a ZFS can be had), xfs and ext4: a real dump is restored into a
# private cluster on the volume, dumped again, and pgbench runs; wrong dumps are one clear error each; a
# full volume and a killed worker leave nothing behind.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

IN=$T/in
SMALL='settings: {max_wal_size: 64MB, min_wal_size: 32MB, shared_buffers: 32MB}'

pg_bin() { find /usr/lib/postgresql/*/bin /usr/pgsql-*/bin -maxdepth 1 -name postgres 2>/dev/null | sort -V | tail -n 1 | xargs -r dirname; }
as_worker() { setpriv --reuid arraymark-work --regid arraymark-work --clear-groups -- "$@"; }
sql() { as_worker "$PG/psql" -h "$T/pg" -U postgres -XAtq -v ON_ERROR_STOP=1 "$@"; }
dumped() { as_worker "$PG/pg_dump" -h "$T/pg" -U postgres "$@"; }

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
			dumped -Fp -f "$IN/made/ports.sql" source &&
			as_worker "$PG/pg_dumpall" -h "$T/pg" -U postgres -g -f "$IN/made/globals.sql"
		status=$?
		as_worker "$PG/pg_ctl" -D "$T/pg/data" -w -m fast stop
		exit "$status"
	) >"$T/make.log" 2>&1 || return 1
	head -c 700000 "$IN/made/ports.dump" >"$IN/cut.dump"
	head -c 1000000 "$IN/made/ports.sql" >"$IN/cut.sql"
	head -c 100000 /dev/urandom >"$IN/none.dump"
	{ # an archive of a format that is not there yet: PGDMP, then version 9.0.0
		printf 'PGDMP\011\000\000'
		tail -c +9 "$IN/made/ports.dump"
	} >"$IN/newer.dump"
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

write_plans() {
	local raidz2='raidz2: {scratch: {disks: 6, size: 128M}, pool: {level: raidz2, disks: 6, ashift: 12, properties: {compression: off}, datasets: {pg: {recordsize: 16K}}}}'
	local xfs='xfs: {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs}}'
	local ext4='ext4: {scratch: {disks: 1, size: 512M}, filesystem: {type: ext4}}'
	local globals="globals: $IN/made/globals.sql, $SMALL"
	LAYOUTS=2
	if [ "$FLEET_ZFS" = yes ]; then LAYOUTS=3; else raidz2=; fi
	plan three "${raidz2:+$raidz2, }$xfs, $ext4" "\
load: {pg_restore: {dump: $IN/made/ports.dump, jobs: 2, encoding: SQL_ASCII, $globals}}
dump: {pg_dump: {of: load}}
bench: {pgbench: {scale: 1, clients: 2, duration: 1s, $SMALL}}"
	plan kinds "$xfs" "\
made: {pg_restore: {scale: 1, checkpoint: excluded, sync: none, $SMALL}}
folder: {pg_restore: {dump: $IN/made/ports.dir, jobs: 2, no-owner: true, $SMALL}}
plain: {pg_restore: {dump: $IN/made/ports.sql, format: plain, $globals}}
nothing: {pg_dump: {of: plain, target: null}}
to-folder: {pg_dump: {of: folder, format: directory, jobs: 2, compress: 1}}
elsewhere: {pg_dump: {of: plain, format: custom, target: $FLEET/one/existing}}
select: {pgbench: {scale: 1, clients: 2, jobs: 2, duration: 1s, script: select-only, mode: prepared, rate: 500, $SMALL}}"
	plan wrong "$ext4" "\
none: {pg_restore: {dump: $IN/none.dump, $SMALL}}
newer: {pg_restore: {dump: $IN/newer.dump, $SMALL}}
newer-sql: {pg_restore: {dump: $IN/newer.sql, $SMALL}}
gone: {pg_restore: {dump: $IN/gone.dump, $SMALL}}
secret: {pg_restore: {dump: $IN/secret.dump, $SMALL}}
other: {pg_restore: {dump: $IN/made/ports.dump, sha256: $(printf '%064d' 1), $SMALL}}
format: {pg_restore: {dump: $IN/made/ports.dump, format: plain, $SMALL}}
roles: {pg_restore: {dump: $IN/made/ports.dump, $SMALL}}
passes: {pg_restore: {dump: $IN/made/ports.dump, allow-errors: true, $SMALL}}
encoding: {pg_restore: {dump: $IN/made/ports.dump, encoding: KLINGON, $SMALL}}
template: {pg_restore: {dump: $IN/made/ports.dump, encoding: LATIN1, template: template1, $SMALL}}
settings: {pg_restore: {dump: $IN/made/ports.dump, settings: {wal_level: minimal}}}
cut: {pg_restore: {dump: $IN/cut.dump, allow-errors: true, $globals}}
cut-sql: {pg_restore: {dump: $IN/cut.sql, $globals}}
of-none: {pg_dump: {of: none}}"
	plan version "$ext4" "w: {pg_restore: {scale: 1, version: '7.4'}}"
	plan full "ext4: {scratch: {disks: 1, size: 224M}, filesystem: {type: ext4}}" "\
full: {pg_restore: {dump: $IN/big.sql, $globals}}"
	plan slow "$ext4" "slow: {pg_restore: {dump: $IN/slow.sql, $globals}}"
	plan denied "$ext4" "w: {pg_restore: {dump: /etc/passwd}}"
	plan outside "$ext4" "\
load: {pg_restore: {scale: 1}}
w: {pg_dump: {of: load, target: /var}}"
	plan linked "$ext4" "\
load: {pg_restore: {scale: 1}}
w: {pg_dump: {of: load, target: $FLEET/one/existing/link}}"
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
	left=$(grep -lsE '^(postgres|/usr/[^ ]*/postgres)' /proc/[0-9]*/cmdline | xargs -r grep -lsE 'arraymark' | head -n 3)
	left+=$(ipcs -m 2>/dev/null | awk '$3 == "arraymark-work" { print "shared memory " $2 }')
	[ -z "$left" ] || {
		echo "$left"
		return 1
	}
}

# ---- tests ----

test_run() {
	local size tps
	ends "restore, dump and pgbench run on all layouts" 0 fleet_ctl run "$T/three.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	is "every trial is there" "$(trials_counted last)" $((LAYOUTS * 3))
	size=$(stat -c %s "$IN/made/ports.dump")
	is "a restore's bytes are its dump's" "$(trial_of load .bytes | sort -u)" "$size"
	is "it took the dump that the hash names" "$(detail_of load note dump | grep -o 'sha256 .*' | sort -u)" \
		"sha256 $(sha256sum <"$IN/made/ports.dump" | cut -d' ' -f1)"
	test_source
	is "no error was met" "$(detail_of load fact restore_errors | sort -u)" 0
	check "the checkpoint was within the time" all_hold '.op != "restore" or (.sync_ns > 0 and .sync_ns < .elapsed_ns)'
	check "the data went to the disks" all_hold '.op != "restore" or .telemetry.disk_write_bytes > 10e6'
	is "pgbench's tables were made before the caches were emptied" "$(jq -s '[.[] | select(.type == "step" and (.what | test("make the files that bench reads"))) | .ok] | length' "$T/run.jsonl")" "$LAYOUTS"
	check "a cold dump came from the disks" all_hold '.op != "dump" or .telemetry.disk_read_bytes > 4e6'
	check "all dumps are equally long" test "$(trial_of dump .bytes | sort -u | wc -l)" = 1
	is "pgbench's own count is ours" "$(detail_of bench note pgbench | sed -n 's/^number of transactions actually processed: //p' | xargs)" \
		"$(trial_of bench .ops | xargs)"
	for tps in $(detail_of bench fact tps); do check "its rate is told" is_above "$tps" 1; done
	like "settings that are not the defaults are told" "$(detail_of load note settings | sort -u)" 'max_wal_size = 64MB'
	like "and the version" "$(detail_of load note postgresql | sort -u)" "PostgreSQL [0-9.]+.* in $PG"
	run fleet_ctl report last
	like "a restore is judged by its time, pgbench by its rate" "$(cat "$T/out")" 'ops/s'
	check "nothing is left" nothing_left one
	check "no server is left" no_postgres
}

# The disk of the dump is told, with what it did meanwhile; here the volumes stand on it, too.
test_source() {
	local device
	device=$(findmnt -n -o SOURCE -T "$IN")
	if [ ! -b "$device" ]; then
		skip "the disk of a dump is told" "$IN lies on no disk"
		return
	fi
	check "the disk of a restore's dump is told" all_hold '.op != "restore" or (.evidence.sources | length > 0
		and all(.[]; .name != "" and (.is_written | not) and .busy_ns >= 0 and .write_bytes > 0))'
	check "no other trial has one" all_hold '.op == "restore" or .evidence.sources == []'
	check "the volume stands on it, too" all_hold '.op != "restore" or all(.evidence.sources[]; .is_shared)'
	like "the report says so" "$(fleet_ctl report last)" 'V12 .*load.*the volume stands on the disk that its dump comes from'
}

test_kinds() {
	ends "all forms of dumps and targets run" 0 fleet_ctl run "$T/kinds.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	is "every trial is there" "$(trials_counted last)" 7
	like "a dump was made" "$(detail_of made note dump)" 'made by pgbench at scale 1'
	is "what was not timed is said" "$(detail_of made note timed)" "restore"
	is "its sync took no time" "$(trial_of made '.sync_ns < 1000000')" true
	like "a folder is restored by two jobs" "$(detail_of folder note command)" ' -j 2 --no-owner '
	like "a plain dump is run by psql" "$(detail_of plain note command)" '/psql '
	check "a dump into nothing has the bytes of the same one on a disk" is_about "$(trial_of nothing .bytes)" "$(stat -c %s "$IN/made/ports.sql")"
	check "a folder's files are summed up" is_above "$(trial_of to-folder .bytes)" 100000
	if [ -b "$(findmnt -n -o SOURCE -T "$FLEET")" ]; then
		is "the disk of a dump elsewhere is told" "$(trial_of elsewhere '.evidence.sources | length > 0 and all(.[]; .is_written)')" true
		is "and that of one that was made" "$(trial_of made '.evidence.sources | length > 0 and all(.[]; .is_written | not)')" true
	fi
	is "a dump into nothing has none" "$(trial_of nothing '.evidence.sources')" "[]"
	check "a dump elsewhere has its size" is_above "$(trial_of elsewhere .bytes)" 100000
	check "and is gone again" test -z "$(ls -A "$FLEET/one/existing")"
	check "a rate is kept" test "$(trial_of select .ops)" -lt 800
	check "latencies are there for each transaction" test "$(exported last 'select(.type == "trial" and .workload_name == "select") | .hist.count // .ops')" = "$(trial_of select .ops)"
}

# The plans that are shipped, at small size.
test_examples() {
	ends "the example of pgbench runs" 0 fleet_ctl run "$ROOT/deploy/plans/pgbench.yaml" --set trials=1 \
		--set workloads.tpcb.pgbench.scale=1 --set workloads.tpcb.pgbench.duration=1s \
		--set workloads.read.pgbench.scale=1 --set workloads.read.pgbench.duration=1s
	is "with every trial" "$(trials_counted last)" 4
	[ "$FLEET_ZFS" = yes ] || return 0
	ends "the example of pg_restore runs" 0 fleet_ctl run "$ROOT/deploy/plans/pg-restore.yaml" --set trials=1 \
		--set workloads.load.pg_restore.scale=1
	is "with every trial" "$(trials_counted last)" 4
}

# says WORKLOAD REGEX
says() { like "'$1' says what is wrong" "$(trial_of "$1" .error)" "$2"; }

test_wrong() {
	run fleet_ctl run "$T/wrong.yaml"
	is "a run with wrong dumps fails" "$STATUS" 1
	fleet_ctl export last >"$T/run.jsonl"
	says none 'none.dump is not a dump: it begins neither with PGDMP'
	says newer 'newer.dump was made by a newer PostgreSQL than [0-9]'
	says newer-sql 'newer.sql was made by pg_dump 99.1, newer than the PostgreSQL [0-9]'
	says gone "there is no dump .*gone.dump on this host"
	says secret "the workers' user 'arraymark-work' may not read the dump .*secret.dump: .chmod o.r"
	says other 'ports.dump is not the dump of the plan: its SHA-256 is [0-9a-f]{64}'
	says format 'ports.dump is a dump of the format custom, not plain'
	says cut 'pg_restore gave up with status 1: .*(end of file|read)'
	says cut-sql "cut.sql is cut off: a plain dump ends with the line '-- PostgreSQL database dump complete'"
	says roles 'pg_restore met 1 error, the first: .*role "keeper" does not exist .*globals'
	is "'passes' counts its errors and passes" "$(trial_of passes .ok) $(detail_of passes fact restore_errors)" "true 1"
	says encoding 'createdb: "?KLINGON.* is not a valid encoding'
	says template 'LATIN1.* is incompatible .*use template0'
	says settings 'PostgreSQL .* did not start: FATAL: .*wal_level'
	says of-none "no database of 'none'"
	like "a failed trial has the server's log" "$(detail_of roles note 'server log')" 'role "keeper" does not exist'
	run fleet_ctl run "$T/version.yaml"
	like "a version that is not there" "$(cat "$T/err" "$T/out")" 'PostgreSQL 7.4 is not installed here: there is [0-9]'
	run fleet_ctl run "$T/denied.yaml"
	like "an input that the policy does not name is refused" "$(cat "$T/err" "$T/out")" "allow.inputs' does not name /etc/passwd"
	run fleet_ctl run "$T/outside.yaml"
	like "so is a target that it does not name" "$(cat "$T/err" "$T/out")" "allow.directories' does not name /var"
	ln -s /var "$FLEET/one/existing/link"
	run fleet_ctl run "$T/linked.yaml"
	like "and one that is a way out of what it names" "$(cat "$T/err" "$T/out")" \
		"allow.directories' does not name .*existing/link \(which is /var\)"
	rm "$FLEET/one/existing/link"
	check "nothing is left" nothing_left one
	check "no server is left" no_postgres
}

test_full() {
	run fleet_ctl run "$T/full.yaml"
	is "a run on a volume that fills up fails" "$STATUS" 1
	fleet_ctl export last >"$T/run.jsonl"
	like "and says so" "$(trial_of full .error)" 'the volume is full: .*No space left on device'
	check "it is taken down" nothing_left one
	check "no server is left" no_postgres
}

is_held_up() { grep -lsE "[p]ostgres: arraymark.*SELECT" /proc/[0-9]*/cmdline | grep -q .; }

test_killed() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a restore is in its middle" 60 is_held_up
	kill -KILL "$(worker_of one)"
	await_check "its worker is killed: the run ends" 60 run_is_over "$number"
	like "the trial says why" "$(exported "$number" 'select(.type == "trial") | .error')" 'killed by signal 9'
	check "no server is left" no_postgres
	check "the volume is taken down" nothing_left one
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	PG=$(pg_bin)
	[ -n "$PG" ] || skip_all "there is no PostgreSQL: run deploy/install-deps test"
	make_dumps || bail "dumps can be made" "$(tail -n 5 "$T/make.log")"
	fleet_init
	mkdir -p "$FLEET/one"
	{
		fleet_policy "$FLEET/one"
		echo "  inputs: ['$IN/*', '$IN/made/*']"
	} >"$FLEET/one/agent.yaml"
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up" "$(cat "$T/err")"
	write_plans
	test_run
	test_kinds
	test_examples
	test_wrong
	test_full
	test_killed
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
