#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# PostgreSQL workloads that cannot be: wrong dumps are one clear error each, whatever their format; a full
# volume and a killed worker leave nothing behind.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/pg.sh
. "$(dirname "$0")/pg.sh"

write_plans() {
	local ext4='ext4: {scratch: {disks: 1, size: 512M}, filesystem: {type: ext4}}'
	local globals="globals: $IN/made/globals.sql, $SMALL"
	plan wrong "$ext4" "\
newer: {pg_restore: {dump: $IN/newer.dump, $SMALL}}
newer-dir: {pg_restore: {dump: $IN/newer.dir, $SMALL}}
other: {pg_restore: {dump: $IN/made/ports.dump, sha256: $(printf '%064d' 1), $SMALL}}
roles: {pg_restore: {dump: $IN/made/ports.dump, $SMALL}}
passes: {pg_restore: {dump: $IN/made/ports.dump, allow-errors: true, $SMALL}}
encoding: {pg_restore: {dump: $IN/made/ports.dump, encoding: KLINGON, $SMALL}}
template: {pg_restore: {dump: $IN/made/ports.dump, encoding: LATIN1, template: template1, $SMALL}}
settings: {pg_restore: {dump: $IN/made/ports.dump, settings: {wal_level: minimal}}}
cut: {pg_restore: {dump: $IN/cut.dump, allow-errors: true, $globals}}
cut-toc: {pg_restore: {dump: $IN/toc.dump, allow-errors: true, $globals}}
cut-sql: {pg_restore: {dump: $IN/cut.sql, $globals}}
cut-tar: {pg_restore: {dump: $IN/cut.tar, allow-errors: true, $globals}}
cut-rows: {pg_restore: {dump: $IN/cut.dir, allow-errors: true, $globals}}
collation: {pg_restore: {dump: $IN/collation.sql, $globals}}
of-newer: {pg_dump: {of: newer}}
bench: {pgbench: {scale: 1, duration: 1s, settings: {wal_level: minimal}}}
beside: {parallel: [{pg_restore: {scale: 1, settings: {wal_level: minimal}}}, {stream: {op: write, size: 1M}}]}"
	plan unfit "$ext4" "w: {pg_restore: {scale: 1, $SMALL}}"
	plan version "$ext4" "w: {pg_restore: {scale: 1, version: '7.4'}}"
	plan full "ext4: {scratch: {disks: 1, size: 224M}, filesystem: {type: ext4}}" "\
full: {pg_restore: {dump: $IN/big.sql, $globals}}"
	plan slow "$ext4" "slow: {pg_restore: {dump: $IN/slow.sql, $globals}}"
	plan late "$ext4" "\
late: {pg_restore: {dump: $IN/slow.sql, $globals}}
both: {parallel: [{pg_restore: {dump: $IN/slow.sql, $globals}}, {stream: {op: write, size: 1M}}]}"
	echo "trial-deadline: 6s" >>"$T/late.yaml"
	plan stuck "$ext4" "stuck: {pg_restore: {dump: $IN/slow.sql, $globals}}"
	echo "stall: 3s" >>"$T/stuck.yaml"
	plan denied "$ext4" "w: {pg_restore: {dump: /etc/passwd}}"
	plan outside "$ext4" "\
load: {pg_restore: {scale: 1}}
w: {pg_dump: {of: load, target: /var}}"
	plan linked "$ext4" "\
load: {pg_restore: {scale: 1}}
w: {pg_dump: {of: load, target: $FLEET/one/existing/link}}"
	plan inside "$ext4" "\
load: {pg_restore: {scale: 1}}
w: {pg_dump: {of: load, target: $FLEET/one/existing/inner}}"
}

# says WORKLOAD REGEX
says() { like "'$1' says what is wrong" "$(trial_of "$1" .error)" "$2"; }

test_wrong() {
	run fleet_ctl run "$T/wrong.yaml"
	is "a run with wrong dumps fails" "$STATUS" 1
	fleet_ctl export last >"$T/run.jsonl"
	says newer 'newer.dump was made by a newer PostgreSQL than [0-9]'
	says newer-dir 'newer.dir was made by a newer PostgreSQL than [0-9]'
	says cut-toc 'toc.dump cannot be restored: .*(end of file|too short)'
	says cut-tar 'cut.tar is cut off: a tar ends with two blocks of zeros'
	says cut-rows "cut.dir/[0-9]+.dat is cut off: a table's rows end with two empty lines"
	says collation 'collation "xx_XX.utf8" for encoding "UTF8" does not exist .*locale-gen'
	says other 'ports.dump is not the dump of the plan: its SHA-256 is [0-9a-f]{64}'
	says cut 'pg_restore gave up with status 1: .*(end of file|read)'
	says cut-sql "cut.sql is cut off: a plain dump ends with the line '-- PostgreSQL database dump complete'"
	says roles 'pg_restore met 1 error, the first: .*role "keeper" does not exist .*globals'
	is "'passes' counts its errors and passes" "$(trial_of passes .ok) $(detail_of passes fact restore_errors)" "true 1"
	says encoding 'createdb: "?KLINGON.* is not a valid encoding'
	says template 'LATIN1.* is incompatible .*use template0'
	says settings 'PostgreSQL .* did not start: FATAL: .*wal_level'
	says of-newer "no database of 'newer'"
	like "a failed trial has the server's log" "$(detail_of roles note 'server log')" 'role "keeper" does not exist'
	like "so has one whose server does not start" "$(detail_of settings note 'server log')" 'FATAL: .*wal_level'
	like "one whose database cannot be made" "$(detail_of template note 'server log')" 'ERROR: .*incompatible'
	like "one that fails before the caches are made cold" "$(detail_of bench note 'server log')" 'FATAL: .*wal_level'
	like "and a member of a parallel one" "$(detail_of beside note 'beside.1/server log')" 'FATAL: .*wal_level'
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
	mkdir "$FLEET/one/existing/real"
	ln -s real "$FLEET/one/existing/inner"
	run fleet_ctl run "$T/inside.yaml"
	like "nor is a way within it taken, since somebody may change it" "$(cat "$T/err" "$T/out")" \
		"a symlink leads to the target .*existing/inner: name the folder itself, .*existing/real"
	rm -r "$FLEET/one/existing/inner" "$FLEET/one/existing/real"
	check "nothing is left" nothing_left one
	check "no server is left" no_postgres
}

# cannot WHAT REGEX WORKLOAD: neither a dry run nor a run with it comes as far as a volume.
cannot() {
	run fleet_ctl run --dry-run "$T/unfit.yaml" --set "workloads.w=$3"
	like "$1: a dry run says so" "$STATUS $(tr '\n' ' ' <"$T/err")" "^[13] .*one: workload w: .*$2"
	ends "$1: a run ends" 1 fleet_ctl run "$T/unfit.yaml" --set "workloads.w=$3"
	like "$1: and says so" "$(fleet_ctl show last | grep -A1 '^one: job')" "^ +workload w: .*$2"
	is "$1: and builds nothing" "$(fleet_ctl --json show last | jq -c '[(.trials, .steps) | length]')" '[0,0]'
}

test_cannot() {
	cannot none 'none.dump is not a dump: it begins neither with PGDMP' "{pg_restore: {dump: $IN/none.dump, $SMALL}}"
	cannot newer-sql 'newer.sql was made by pg_dump 99.1, newer than the PostgreSQL [0-9]' "{pg_restore: {dump: $IN/newer.sql, $SMALL}}"
	cannot gone "there is no dump .*gone.dump on this host" "{pg_restore: {dump: $IN/gone.dump, $SMALL}}"
	cannot empty 'empty.dump is not a dump: it is empty' "{pg_restore: {dump: $IN/empty.dump, $SMALL}}"
	cannot packed 'ports.sql.gz is not a dump: .*what is compressed must be unpacked first' "{pg_restore: {dump: $IN/ports.sql.gz, $SMALL}}"
	cannot hollow 'hollow.dir is not a dump: the folder that pg_dump -Fd makes has a toc.dat' "{pg_restore: {dump: $IN/hollow.dir, $SMALL}}"
	cannot tar-jobs "ports.tar is a tar, which one pg_restore reads from its front: leave 'jobs' out" "{pg_restore: {dump: $IN/made/ports.tar, jobs: 2, $SMALL}}"
	cannot secret "the workers' user 'arraymark-work' may not read the dump .*secret.dump: .chmod o.r" "{pg_restore: {dump: $IN/secret.dump, $SMALL}}"
	cannot format 'ports.dump is a dump of the format custom, not plain' "{pg_restore: {dump: $IN/made/ports.dump, format: plain, $SMALL}}"
	cannot "another file that is no dump" 'none.dump is not the dump of the plan: its SHA-256 is [0-9a-f]{64} .*is not a dump' \
		"{pg_restore: {dump: $IN/none.dump, sha256: $(printf '%064d' 1), $SMALL}}"
}

test_full() {
	run fleet_ctl run "$T/full.yaml"
	is "a run on a volume that fills up fails" "$STATUS" 1
	fleet_ctl export last >"$T/run.jsonl"
	like "and says so" "$(trial_of full .error)" 'the volume is full: .*(No space left on device|connection to server was lost)'
	check "it is taken down" nothing_left one
	check "no server is left" no_postgres
}

# By a server of ours: other tests may have some, too. What a server starts writes over its environment.
is_held_up() {
	local pid parent
	while read -r pid; do
		parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)
		grep -qsF "OUR_FLEET=$T" "/proc/$parent/environ" && return 0
	done < <(grep -lsE "[p]ostgres: arraymark.*SELECT" /proc/[0-9]*/cmdline | cut -d/ -f3)
	return 1
}

test_killed() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a restore is in its middle" 60 is_held_up
	kill -KILL "$(worker_of one)"
	await_check "its worker is killed: the run ends" 60 run_is_over "$number"
	fleet_ctl export "$number" >"$T/run.jsonl"
	like "the trial says why" "$(trial_of slow .error)" 'killed by signal 9'
	like "and has the server's log" "$(detail_of slow note 'server log')" 'database system is ready'
	check "no server is left" no_postgres
	check "the volume is taken down" nothing_left one
}

test_ended() {
	run fleet_ctl run "$T/late.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	like "a restore past its deadline says so" "$(trial_of late .error)" 'not over after 6s'
	like "and has the server's log" "$(detail_of late note 'server log')" 'database system is ready'
	like "a member's is named after it" "$(detail_of both note 'both.1/server log')" 'database system is ready'
	run fleet_ctl run "$T/stuck.yaml"
	fleet_ctl export last >"$T/run.jsonl"
	like "a restore that stands still says so" "$(trial_of stuck .error)" 'no progress for 3s'
	is "and has its server's log once" "$(detail_of stuck note 'server log' | grep -c 'database system is ready')" 1
	check "no server is left" no_postgres
}

main() {
	pg_fleet
	write_plans
	test_wrong
	test_cannot
	test_full
	test_killed
	test_ended
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
