#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# PostgreSQL workloads on raidz2 (where a ZFS can be had), xfs and ext4: a real dump is restored into a
# private cluster on the volume, dumped again, and pgbench runs, one after the other and at once. A dry run
# shows what is executed.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/pg.sh
. "$(dirname "$0")/pg.sh"

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
made: {pg_restore: {scale: 1, format: tar, checkpoint: excluded, sync: none, $SMALL}}
folder: {pg_restore: {dump: $IN/made/ports.dir, jobs: 2, no-owner: true, $SMALL}}
plain: {pg_restore: {dump: $IN/made/ports.sql, format: plain, $globals}}
tar: {pg_restore: {dump: $IN/made/ports.tar, no-owner: true, $SMALL}}
rows: {pg_restore: {dump: $IN/made/rows.dir, $globals}}
nothing: {pg_dump: {of: plain, target: null}}
to-folder: {pg_dump: {of: folder, format: directory, jobs: 2, compress: 1}}
elsewhere: {pg_dump: {of: plain, format: custom, target: $FLEET/one/existing}}
select: {pgbench: {scale: 1, clients: 2, jobs: 2, duration: 1s, script: select-only, mode: prepared, rate: 500, $SMALL}}"
	plan beside "$xfs" "\
load: {pg_restore: {dump: $IN/made/ports.dump, $globals}}
busy: {parallel: [{pg_restore: {dump: $IN/made/ports.dir, jobs: 2, $globals}}, {pgbench: {scale: 1, clients: 2, duration: 1s, $SMALL}}, {pg_dump: {of: load, target: null}}]}"
}

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
	local kind
	ends "all forms of dumps and targets run" 0 fleet_ctl run "$T/kinds.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	is "every trial is there" "$(trials_counted last)" 9
	like "a tar is known by what it holds" "$(detail_of tar note dump)" '^format tar, '
	is "a tar's bytes are its size" "$(trial_of tar .bytes)" "$(stat -c %s "$IN/made/ports.tar")"
	like "a tar can be made" "$(detail_of made note dump)" '^format tar, '
	for kind in tar plain rows; do
		check "'$kind' holds what others do" is_about "$(detail_of "$kind" fact database_bytes)" "$(detail_of folder fact database_bytes)"
	done
	like "a dump was made" "$(detail_of made note dump)" 'made by pgbench at scale 1'
	is "what was not timed is said" "$(detail_of made note timed)" "restore"
	is "without a sync none is told" "$(trial_of made .sync_ns)" 0
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

# vectors PLAN FILTER: of a dry run's steps.
vectors() {
	fleet_ctl --json run --dry-run "$T/$1.yaml" >"$T/dry.json"
	jq -r "[.steps[] | select(.phase == \"workload\")] | $2" "$T/dry.json"
}

# What was executed, quoted as dry runs are.
test_dry_run() {
	local before
	before=$(ls -lAR --time-style=full-iso "$FLEET/one/existing" "$IN")
	is "a dry run names the programs in their order" \
		"$(vectors three '[.[] | select(.layout_name == "xfs") | .argv[0] // "-" | split("/")[-1]] | join(" ")')" \
		"$(tr '\n' ' ' <<-END | sed 's/ $//'
			initdb pg_restore postgres psql dropdb createdb psql - pg_restore psql - -
			postgres psql psql - pg_dump - -
			postgres dropdb createdb pgbench psql - - postgres psql - pgbench -
		END
		)"
	run fleet_ctl run --dry-run "$T/three.yaml"
	like "also for people" "$(cat "$T/out")" "# load .pg_restore.: start the server"
	like "the server's vector is whole" "$(cat "$T/out")" "$PG/postgres -D '/run/arraymark/.*/data' -c listen_addresses= .*-c max_wal_size=64MB"
	is "what the run executed was shown" "$(vectors kinds 'map(.argv | join(" ")) | .[]' | grep -cFx -f <(
		for w in folder plain tar nothing; do
			detail_of "$w" note command | tr -d "'"
		done
	))" 4
	is "a member's programs are shown under its name" \
		"$(vectors beside 'map(select(.what | startswith("busy.1 ")) | .argv[0] // empty | split("/")[-1]) | unique | join(" ")')" \
		"createdb dropdb initdb pg_restore postgres psql"
	is "and nothing was touched" "$(ls -lAR --time-style=full-iso "$FLEET/one/existing" "$IN")" "$before"
	check "no server is left" no_postgres
}

test_beside() {
	ends "a restore, transactions and a dump run at once" 0 fleet_ctl run "$T/beside.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	is "every trial is there" "$(trials_counted last)" 2
	is "each is a part" "$(jq -r 'select(.type == "part" and .kind == "member") | .name' "$T/run.jsonl" | sort | xargs)" "busy.1 busy.2 busy.3"
	like "the restore is told of" "$(detail_of busy note busy.1/command)" '/pg_restore .* -j 2 '
	is "no error was met" "$(detail_of busy fact busy.1/restore_errors)" 0
	check "transactions went on" is_above "$(detail_of busy fact busy.2/tps)" 1
	like "the dump took what was there before" "$(detail_of busy note busy.3/command)" '/pg_dump .* load_1_1_1$'
	check "nothing is left" nothing_left one
	check "no server is left" no_postgres
}

main() {
	pg_fleet
	write_plans
	test_run
	test_kinds
	test_dry_run
	test_beside
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
