#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `arraymark local` when its agent is killed: it is started again, takes down what was built, and the run goes
# on. What cannot be taken down is said at the end, with the order that does it; what a `local` that was killed
# together with its agent left, the next one says and takes down.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

HOME_OF_LOCAL=$XDG_DATA_HOME/arraymark/local
BENCH=$HOME_OF_LOCAL/bench

write_plan() {
	cat >"$T/slow.yaml" <<-END
		name: at-home
		hosts: all
		trials: 1
		cache: as-is
		layouts: {here: {existing: '$BENCH'}}
		workloads: {write: {stream: {op: write, size: 8M, rate: 2M, block-size: 64K}}}
		samples: 100ms
	END
	sed 's/rate: 2M, //' "$T/slow.yaml" >"$T/quick.yaml"
}

local_here() { exec "$FLEET_BIN/arraymark" local "$@"; }
private() { "$FLEET_BIN/arraymark" -c local "$@"; }
agent_of_local() { child_of "$CLIENT" run; }
is_at_work() { AGENT=$(agent_of_local) && child_of "$AGENT" worker >/dev/null && [ -n "$(ls -A "$BENCH")" ]; }
is_another() { local now; now=$(agent_of_local) && [ "$now" != "$1" ]; }
no_process() { [ -z "$(processes_of "$XDG_DATA_HOME")" ]; }
told() { grep -qE -- "$2" "$1"; }

# start_local PLAN: in the background; its pid in CLIENT.
start_local() {
	(local_here "$1") >"$T/local.out" 2>"$T/local.err" </dev/null &
	CLIENT=$!
}

test_agent_killed() {
	start_local "$T/slow.yaml"
	await_check "a trial is under way" 60 is_at_work
	AGENT=$(agent_of_local)
	kill -KILL "$AGENT"
	await_check "local sees that its agent was killed" 20 told "$T/local.err" 'was killed by signal 9 .*started again'
	wait "$CLIENT"
	is "and goes on to the run's good end" $? 0
	is "with the trial, once" "$(private export 1 | jq -r 'select(.type == "trial" and .complete and (.superseded | not)) | .ok' | xargs)" true
	check "nothing is left in its folder" test -z "$(ls -A "$BENCH")"
	check_not "and nothing is said to be" told "$T/local.err" 'this is left'
	await_check "it leaves no process behind" 20 no_process
}

test_agent_killed_often() {
	local i
	start_local "$T/slow.yaml"
	for i in 1 2 3; do
		await_check "a trial is under way ($i)" 60 is_at_work
		AGENT=$(agent_of_local)
		kill -KILL "$AGENT"
		[ "$i" -eq 3 ] || await_check "another agent is started ($i)" 20 is_another "$AGENT"
	done
	wait "$CLIENT"
	is "three attempts that are cut off fail the run" $? 1
	like "which is said" "$(cat "$T/local.err")" 'failed: 3 attempts in a row were interrupted'
	check "nothing is left in its folder" test -z "$(ls -A "$BENCH")"
	await_check "nor a process" 20 no_process
}

# Where somebody put something else in the place of ours, ours cannot be taken down.
test_not_taken_down() {
	local folder
	start_local "$T/slow.yaml"
	await_check "a trial is under way" 60 is_at_work
	folder=$BENCH/$(ls "$BENCH")
	mv "$folder" "$T/moved" && : >"$folder"
	wait "$CLIENT"
	is "what cannot be taken down fails the run" $? 1
	like "what is left is said" "$(cat "$T/local.err")" 'warning: run 3 block 1 layout 1: make the folder for the workloads'
	like "and what takes it down" "$(cat "$T/local.err")" "arraymark-agent stop --state $HOME_OF_LOCAL/agent"
	await_check "no process is" 20 no_process
	rm "$folder" && mv "$T/moved" "$folder"
	ends "that order takes it down once it can" 0 "$FLEET_BIN/arraymark-agent" stop --state "$HOME_OF_LOCAL/agent"
	check "really" test -z "$(ls -A "$BENCH")"
	ends "and its other form lets jobs run again" 0 "$FLEET_BIN/arraymark-agent" stop --undo --state "$HOME_OF_LOCAL/agent"
}

# test_both_killed RUN: the number of the run that is cut off.
test_both_killed() {
	local run=$1
	start_local "$T/slow.yaml"
	await_check "a trial is under way" 60 is_at_work
	AGENT=$(agent_of_local)
	kill -KILL "$CLIENT" "$AGENT"
	wait "$CLIENT" 2>/dev/null
	check "killed together they leave the volume" test -n "$(ls -A "$BENCH")"
	ends "the next local runs" 0 "$FLEET_BIN/arraymark" local "$T/quick.yaml"
	like "it says what it found" "$(cat "$T/err")" 'earlier .local. was cut off and left this, which is taken down first:'
	like "by name" "$(cat "$T/err")" "^  run $run block 1 layout 1: make the folder for the workloads"
	like "and the run that was cut off" "$(cat "$T/err")" "run $run was left unfinished .*resume $run"
	check "nothing is left" test -z "$(ls -A "$BENCH")"
	await_check "nor a process" 20 no_process
}

test_folder_named_as_a_pattern() {
	local -x XDG_DATA_HOME=$XDG_DATA_HOME/'a [1]*'
	local HOME_OF_LOCAL=$XDG_DATA_HOME/arraymark/local
	local BENCH=$HOME_OF_LOCAL/bench
	mkdir -p "$XDG_DATA_HOME"
	is_root && chmod 755 "$XDG_DATA_HOME"
	write_plan
	test_both_killed 1
}

main() {
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	is_root && chmod 755 "$HOME" "$XDG_DATA_HOME"
	write_plan
	test_agent_killed
	test_agent_killed_often
	test_not_taken_down
	test_both_killed 4
	test_folder_named_as_a_pattern
	done_testing
}

main
