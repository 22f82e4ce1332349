#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A store is lost and comes back from a backup that is older than what was measured: agents offer
# what it lacks, each trial counts once, and a run goes on through the change.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

SHARED=$T/shared

write_plans() {
	cat >"$T/plan.yaml" <<-END
		name: before-the-backup
		hosts: all
		trials: 3
		layouts: {left: {existing: $SHARED}, right: {existing: $SHARED}}
		workloads:
		  write: {stream: {op: write, size: 2M, rate: 4M, file: "test-{trial}"}}
		  read:  {stream: {op: read, of: write}}
		samples: 100ms
	END
}

# file_short NAME TRIALS: files a small plan, prints its run's number.
file_short() {
	cat >"$T/$1.yaml" <<-END
		name: $1
		hosts: all
		trials: $2
		layouts: {only: {existing: $SHARED}}
		workloads: {write: {stream: {op: write, size: 1M, rate: 2M, file: "$1-{trial}"}}}
		samples: 100ms
	END
	file_plan "$T/$1.yaml"
}

# has_units RUN NUMBER: so many units are stored at least, and not all.
has_units() {
	fleet_ctl --json runs --all | jq -e --argjson r "$1" --argjson n "$2" \
		'.runs[] | select(.run == $r) | .units_done >= $n and .units_done < .units' >/dev/null
}

# trials_of RUN: what was measured, one line a trial.
trials_of() {
	exported "$1" -c 'select(.type == "trial") | [.host, .attempt, .trial, .block, .layout_name, .workload_name,
		.repeat, .ok, .superseded, .elapsed_ns, .sync_ns, .bytes, .ops, .hist]' | sort
}

same_trials() { diff "$T/trials-$1" <(trials_of "$1"); }

# restore_store BACKUP: what the coordinator's folder had is moved away.
restore_store() {
	local state=$FLEET/coordinator file lost
	lost=$(mktemp -d "$T/lost.XXXXXX")
	for file in "$state"/store.db*; do mv "$file" "$lost/" || return 1; done
	coordinator restore "$1" 2>>"$FLEET/coordinator.log"
}

# told_times HOST TEXT: in how many lines of its log.
told_times() { grep -c -- "$2" "$FLEET/$1.log"; }

test_measure() {
	local run
	run=$(file_plan "$T/plan.yaml")
	is "a run begins" "$run" 1
	run=$(file_short waiting 1)
	is "another waits behind it" "$run" 2
	await_check "a unit of the first is stored" 20 has_units 1 1
	ends "a backup is taken now" 0 coordinator backup "$T/backup.db"
	check "while the first run goes on" run_is 1 running
	run=$(file_short later 1)
	is "the backup knows nothing of a third run" "$run" 3
	for run in 1 2 3; do
		await_check "run $run ends" 30 run_is "$run" "done"
		trials_of "$run" >"$T/trials-$run"
	done
	is "every trial was stored" "$(cat "$T"/trials-[123] | wc -l)" 28
}

test_restore() {
	fleet_end_pid "$FLEET_COORDINATOR" 15
	ends "the store is lost, its backup restored" 0 restore_store "$T/backup.db"
	fleet_coordinator_start 2>"$T/err" || bail "the coordinator starts again"
	await_check "the run that was half in the backup ends" 20 run_is 1 "done"
	await_check "so does the one that waited then" 20 run_is 2 "done"
	check "each trial of the first is there once, as it was" same_trials 1
	check "and of the second" same_trials 2
	check "samples are said to be lost where they are" test \
		"$(exported 1 'select(.type == "trial" and .lost > 0) | .trial' | wc -l)" -gt 0
	check "and none where the backup had them" test \
		"$(exported 1 'select(.type == "trial" and .lost == 0) | .trial' | wc -l)" -gt 0
	is "nothing was measured again" "$(exported 1 -s '[.[] | select(.type == "trial") | .attempt] | max')" 1
	like "the report tells it" "$(fleet_ctl report 1)" 'samples were lost on the host'
	ends "check finds the store in order" 0 coordinator check
	like "and notes what is missing" "$(cat "$T/out")" '^note: run 1, .* were lost'
	is "what the store cannot know is said once" "$(told_times one 'does not take run 3')" 1
}

test_number_again() {
	local run
	run=$(file_short again 2)
	is "the next run gets the number of the lost one" "$run" 3
	await_check "it ends" 20 run_is 3 "done"
	is "with its own trials only" "$(exported 3 -s -c '[.[] | select(.type == "trial") | [.host, .block, .ok]] | sort')" \
		'[["one",1,true],["one",2,true],["two",1,true],["two",2,true]]'
}

test_restore_within_a_run() {
	local run
	run=$(file_plan "$T/plan.yaml")
	await_check "another run is under way" 20 has_units "$run" 1
	ends "a backup is taken" 0 coordinator backup "$T/second.db"
	await_check "it goes on" 20 has_units "$run" 5
	kill -KILL "$FLEET_COORDINATOR"
	wait "$FLEET_COORDINATOR" 2>/dev/null
	ends "the coordinator dies, the backup is restored" 0 restore_store "$T/second.db"
	fleet_coordinator_start 2>"$T/err" || bail "the coordinator starts again"
	await_check "the run ends" 20 run_is "$run" "done"
	is "in its first attempt, with every trial once" \
		"$(exported "$run" -s -c '[.[] | select(.type == "trial") | [.attempt, .ok, .superseded, .complete]] | unique')" \
		'[[1,true,false,true]]'
	check "no trial is there twice" trials_unique "$run"
	is "all of them are there" "$(trials_counted "$run")" 24
	ends "check finds the store in order" 0 coordinator check
	check "what came back before is still the same" same_trials 2
}

main() {
	local name
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	mkdir -m 1777 "$SHARED"
	for name in one two; do
		mkdir -p "$FLEET/$name"
		fleet_policy "$FLEET/$name" "$SHARED" >"$FLEET/$name/agent.yaml"
	done
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one two 2>"$T/err" || bail "two agents come up"
	write_plans
	test_measure
	test_restore
	test_number_again
	test_restore_within_a_run
	check "nothing is left on one" nothing_left one
	check "nothing is left on two" nothing_left two
	check "nor in the folder they shared" test -z "$(ls -A "$SHARED")"
	done_testing
}

main
