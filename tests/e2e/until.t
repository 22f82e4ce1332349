#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs that stop when they are precise enough: {min, max, until}. The workload's rate is limited, so
# that its time hardly varies: a wide precision is reached soon, mostly at the minimum, and later on a
# machine that is busy with other things; a narrow one is certain not to be reached. Processes are killed around the moment when the coordinator is
# asked whether to go on.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/kill.sh
. "$(dirname "$0")/kill.sh"

# stopped_at RUN: the block that was made the last one.
stopped_at() { fleet_ctl --json show "$1" | jq '.jobs[0].stop_block'; }
# blocks_to N: as blocks_of prints them.
blocks_to() { jq -nc --argjson n "$1" '[range(1; $n + 1)]'; }
# stops RUN NAME: it stopped by itself, all its blocks count, and show and the report say why.
stops() {
	local n
	n=$(stopped_at "$1")
	STOPPED="stopped after $n blocks: every 95% interval within ±100%"
	check "$2: it stopped by itself" test "$n" -ge 5
	is "$2: with all blocks to there" "$(blocks_of "$1")" "$(blocks_to "$n")"
	like "$2: show says why" "$(fleet_ctl show "$1" --brief)" "$STOPPED"
	like "$2: the report says why" "$(fleet_ctl report "$1")" "$STOPPED"
}

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: precise
		hosts: [one]
		trials: {min: 5, max: 30, until: 100%}
		layouts:
		  left:  {existing: $FLEET/one/existing}
		  right: {existing: $FLEET/one/existing}
		workloads:
		  write: {stream: {op: write, size: 512K, block-size: 64K, rate: 2M}}
		compare: {metrics: [elapsed]}
		samples: 100ms
	END
}

blocks_of() {
	exported "$1" -s -c '[.[] | select(.type == "trial" and (.superseded | not) and .ok and .complete) | .block] | sort | unique'
}

test_check() {
	ends "the plan is good" 0 fleet_ctl plan check "$T/plan.yaml"
	like "and says from where to where" "$(cat "$T/out")" '5…30 blocks, 10…60 builds, 10…60 trials'
	like "and until when" "$(cat "$T/out")" '5…30 blocks, until every 95% interval is within ±100%'
	is "as JSON the least stands beside the most" \
		"$(fleet_ctl --json plan check "$T/plan.yaml" | jq -c '.estimate | [.blocks, .least.blocks]')" '[30,5]'
	sed 's/min: 5/min: 4/' "$T/plan.yaml" >"$T/four.yaml"
	refused "a minimum under five is an error with its place" 1 'four.yaml:3:15: trials: min: until needs at least 5' \
		fleet_ctl run "$T/four.yaml"
}

test_stops() {
	local format n
	run fleet_ctl run "$T/plan.yaml"
	is "a run that is precise enough ends with 0" "$STATUS" 0
	stops 1 "left alone"
	n=$(stopped_at 1)
	like "whoever follows it is told" "$(cat "$T/err")" "one: $STOPPED"
	is "with all builds done that it wanted" \
		"$(fleet_ctl --json runs | jq -c '.runs[0] | [.state, .units_done, .units]')" "[\"done\",$((2 * n)),$((2 * n))]"
	is "show says it as JSON" "$(fleet_ctl --json show 1 | jq -c '.jobs[0] | [.why, .blocks]')" "[\"$STOPPED\",$n]"
	is "a late watch says it" "$(fleet_ctl watch --json 1 | jq -r 'select(.type == "job") | .why')" "$STOPPED"
	for format in text markdown csv html; do
		like "the $format report says it" "$(fleet_ctl report 1 --format $format)" "$STOPPED"
	done
	fleet_ctl report 1 --format json >"$T/report.json"
	is "the JSON report says it" "$(jq -c '.runs[0].until | [.min, .max, .precision, .hosts[0].stopped_after, .hosts[0].text]' \
		"$T/report.json")" "[5,30,1,$n,\"$STOPPED\"]"
	check "which fits the published schema" fits_schema "$T/report.json"
	is "its family is judged at the stricter level" "$(jq '.family.alpha' "$T/report.json")" 0.03
	check "every comparison is of all blocks" jq -e --argjson n "$n" 'all(.comparisons[]; .se != null and .n == $n)' "$T/report.json"
	fleet_ctl export 1 >"$T/export.jsonl"
	like "so does the report of its export" "$(fleet_ctl report "$T/export.jsonl")" "$STOPPED"
}

test_reaches_max() {
	ends "one that never is ends with 0 too" 0 \
		fleet_ctl run "$T/plan.yaml" --set trials.max=6 --set trials.until=0.0001%
	like "having said how far it was" "$(cat "$T/err")" 'after 5 blocks: widest 95% interval ±.*goes on'
	is "all blocks ran" "$(blocks_of 2)" '[1,2,3,4,5,6]'
	like "show says why it stopped" "$(fleet_ctl show 2 --brief)" 'reached max: 6 blocks'
	like "the report says why it stopped" "$(fleet_ctl report 2)" 'reached max: 6 blocks'
}

# asked N: the agent asked N times whether to go on.
asked() { [ "$(grep -c 'asks the coordinator' "$FLEET/one.log")" -ge "$1" ]; }
block_is() { fleet_ctl --json show "$1" 2>/dev/null | jq -e --argjson b "$2" 'any(.trials[]; .block == $b)' >/dev/null; }

ends_well() {
	await_check "$2: the run ends" 60 run_is_over "$1"
	check "$2: and is done" run_is "$1" "done"
	check "$2: every trial counts once" trials_unique "$1"
	ends "$2: check finds the store in order" 0 coordinator check
}

# Nobody answers when the agent asks; the coordinator comes back later.
test_coordinator_away() {
	local number before
	before=$(grep -c 'asks the coordinator' "$FLEET/one.log")
	number=$(file_plan "$T/plan.yaml")
	await_check "the fourth block is under way" 40 block_is "$number" 4
	kill -KILL "$FLEET_COORDINATOR"
	wait "$FLEET_COORDINATOR" 2>/dev/null
	await_check "the agent asks whether to go on, and nobody is there" 40 asked $((before + 1))
	fleet_coordinator_start 2>"$T/err" || bail "the coordinator starts again"
	ends_well "$number" "coordinator away"
	stops "$number" "coordinator away"
}

# Killed the moment it has answered (or not quite): asked once more, it answers.
test_coordinator_at_answer() {
	local number before
	before=$(grep -c 'goes on to' "$FLEET/coordinator.log")
	number=$(file_plan "$T/plan.yaml" --set trials.max=7 --set trials.until=0.0001%)
	await_check "the coordinator is asked" 60 eval "[ \$(grep -c 'goes on to' '$FLEET/coordinator.log') -gt $before ]"
	kill_coordinator || bail "the coordinator starts again"
	ends_well "$number" "coordinator at its answer"
	is "coordinator at its answer: all blocks ran" "$(blocks_of "$number")" '[1,2,3,4,5,6,7]'
}

test_coordinator_at_stop() {
	local number before
	before=$(grep -c 'stopped after' "$FLEET/coordinator.log")
	number=$(file_plan "$T/plan.yaml")
	await_check "the coordinator decides to stop" 60 eval "[ \$(grep -c 'stopped after' '$FLEET/coordinator.log') -gt $before ]"
	kill_coordinator || bail "the coordinator starts again"
	ends_well "$number" "coordinator at the stop"
	stops "$number" "coordinator at the stop"
}

test_agents_killed() {
	local number before
	number=$(file_plan "$T/plan.yaml")
	await_check "the fifth block is under way" 60 block_is "$number" 5
	kill_monitor
	ends_well "$number" "monitor"
	stops "$number" "monitor, blocks over both attempts"
	before=$(grep -c 'asks the coordinator' "$FLEET/one.log")
	number=$(file_plan "$T/plan.yaml" --set trials.max=6 --set trials.until=0.0001%)
	await_check "the agent asks" 60 asked $((before + 1))
	kill_link
	ends_well "$number" "link"
	is "link: all blocks ran" "$(blocks_of "$number")" '[1,2,3,4,5,6]'
}

main() {
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	test_check
	test_stops
	test_reaches_max
	test_coordinator_away
	test_coordinator_at_answer
	test_coordinator_at_stop
	test_agents_killed
	check "the folder is as it was" test -z "$(ls -A "$FLEET/one/existing")"
	done_testing
}

main
