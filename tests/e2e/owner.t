#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The owner of a host has the last word there: stop with and without an agent and a coordinator, plans
# approved by hash, hooks, hours, volumes that a plan keeps, and an existing file system that the policy
# lets us mount anew. Also plans that build once, repeat, and combine a matrix.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

POLICY=$FLEET/one/agent.yaml

# plan NAME LINE…: a plan on the folder of host one, with more lines.
plan() {
	local name=$1
	shift
	printf '%s\n' "name: $name" 'hosts: [one]' 'samples: 100ms' "$@" >"$T/$name.yaml"
}
ONLY="layouts: {only: {existing: $FLEET/one/existing}}"
QUICK='workloads: {w: {stream: {op: write, size: 1M}}}'
SLOW='workloads: {w: {stream: {op: write, size: 1G, rate: 1M, block-size: 64K}}}'

# allow LINE…: the fleet's policy with more lines at its end (below allow).
allow() {
	fleet_policy "$FLEET/one" "$T/mnt" >"$POLICY"
	[ $# -eq 0 ] || printf '%s\n' "$@" >>"$POLICY"
}

folder_is_empty() { [ -z "$(ls -A "$FLEET/one/existing")" ]; }
in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }

test_keep_and_stop() {
	ends "a plan that keeps its volumes runs to the end" 0 fleet_ctl run "$T/keep.yaml"
	check_not "its folder is there still" folder_is_empty
	like "volumes lists it" "$(agent one volumes)" 'run [0-9]+ block 2 layout 1: .*kept'
	is "as JSON, too" "$(agent one volumes --json | jq -r '.volumes[] | "\(.block) \(.layout) \(.kept)"' | sort -u)" '2 1 true'
	ends "stop takes it down" 0 agent one stop
	check "the folder is as it was" folder_is_empty
	like "volumes lists nothing" "$(agent one volumes)" 'Nothing'
	is "in JSON an empty list" "$(agent one volumes --json)" '{"volumes":[]}'
	await_check "the coordinator knows that the owner stopped it" 10 host_is one stopped
	number=$(file_plan "$T/quick.yaml")
	check "no job runs there" run_is "$number" waiting
	ends "stop --undo lets jobs run again" 0 agent one stop --undo
	await_check "and the one that waited does" 20 run_is "$number" "done"
}

test_stop_in_trial() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a trial is under way" 20 in_trial "$number"
	ends "stop ends it" 0 agent one stop
	check_not "no worker is left" has_worker one
	check "nor anything in the folder" folder_is_empty
	await_check "the run is over" 20 run_is "$number" cancelled
	like "and says who did it" "$(fleet_ctl show "$number" --brief)" 'stopped by the owner'
	ends "undone" 0 agent one stop --undo
	number=$(file_plan "$T/slow.yaml")
	await_check "another trial is under way, the coordinator is killed" 20 in_trial "$number"
	kill -KILL "$FLEET_COORDINATOR"
	wait "$FLEET_COORDINATOR" 2>/dev/null
	ends "stop works without a coordinator" 0 agent one stop
	check "nothing is in the folder" folder_is_empty
	fleet_coordinator_start || not_ok "the coordinator starts again"
	await_check "which hears of it" 30 run_is "$number" cancelled
	ends "undone" 0 agent one stop --undo
	number=$(file_plan "$T/slow.yaml")
	await_check "a third trial is under way, the monitor is killed" 20 in_trial "$number"
	kill -KILL "$(monitor_of one)"
	wait "$(monitor_of one)" 2>/dev/null
	ends "stop works without an agent" 0 agent one stop
	check "nothing is in the folder" folder_is_empty
	ends "undone" 0 agent one stop --undo
	fleet_ctl cancel "$number" >/dev/null 2>&1
	fleet_agent_start one
	await_check "the agent is back" 30 host_is one idle
}

test_approve() {
	local sha
	allow '  plans: approved'
	run fleet_ctl run "$T/quick.yaml"
	is "a plan that nobody approved is refused" "$STATUS" 1
	like "with the command that approves it" "$(cat "$T/err" "$T/out")" 'arraymark-agent approve [0-9a-f]{64}'
	sha=$(grep -ohE 'approve [0-9a-f]{64}' "$T/err" "$T/out" | head -n 1 | cut -d' ' -f2)
	ends "approved" 0 agent one approve "$sha"
	ends "it runs" 0 fleet_ctl run "$T/quick.yaml"
	ends "with another size it is another plan" 1 fleet_ctl run "$T/quick.yaml" --set workloads.w.stream.size=2M
	allow
}

test_hooks() {
	printf '#!/bin/sh\necho before >>%s\n' "$T/hooks.log" >"$T/before"
	printf '#!/bin/sh\necho after >>%s\n' "$T/hooks.log" >"$T/after"
	chmod 755 "$T/before" "$T/after"
	allow "hooks: {before: $T/before, after: $T/after}"
	ends "a run with hooks" 0 fleet_ctl run "$T/quick.yaml"
	is "each was called once" "$(xargs <"$T/hooks.log")" 'before after'
	printf '#!/bin/sh\necho not today >&2\nexit 1\n' >"$T/before"
	run fleet_ctl run "$T/quick.yaml"
	is "a hook that says no ends the run" "$STATUS" 1
	like "with its words" "$(cat "$T/err" "$T/out")" 'not today'
	check "and nothing was touched" folder_is_empty
	chmod 777 "$T/before"
	run fleet_ctl run "$T/quick.yaml"
	like "a hook that others may write is not run" "$(cat "$T/err" "$T/out")" 'before.*(writ|chmod)'
	allow
}

test_hours() {
	allow "hours: $(TZ=UTC date -d '+2 hours' +%H:%M)-$(TZ=UTC date -d '+3 hours' +%H:%M)"
	run fleet_ctl run "$T/quick.yaml"
	is "outside of the policy's hours nothing runs" "$STATUS" 1
	like "with the policy's line" "$(cat "$T/err" "$T/out")" "agent.yaml: .*'hours: "
	allow
}

# test_remount_held DEVICE: its owner's mount points are not ours to take from a container.
test_remount_held() {
	local holder
	unshare --mount --propagation private sleep 600 >/dev/null 2>&1 &
	holder=$!
	await_check "somebody copies the mounts" 10 has_own_mounts "$holder"
	run fleet_ctl run "$T/remount.yaml"
	is "what lives on over there cannot be mounted anew" "$STATUS" 1
	like "and that is said" "$(exported last 'select(.type == "trial" and .ok == false) | .error' | sort -u)" \
		"$1 is in use still after it was unmounted: process $holder .sleep. has it mounted at '$T/mnt' in a mount namespace"
	like "it is there as it was" "$(grep " $T/mnt " /proc/self/mounts)" 'ext4 rw,noatime'
	check "over there, too" grep -q " $T/mnt " "/proc/$holder/mounts"
	is "with what was in it" "$(ls -A "$T/mnt/bench")" file
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null
}
has_own_mounts() { [ "$(readlink "/proc/$1/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; }

test_remount() {
	local loop
	is_root || { skip "an existing file system is mounted anew" "this needs root"; return; }
	if ! truncate -s 64M "$T/disk" || ! mkfs.ext4 -q "$T/disk" ||
		! loop=$(losetup --find --show "$T/disk") || ! mount -o noatime "$loop" "$T/mnt"; then
		skip "an existing file system is mounted anew" "no loop device here"
		return
	fi
	mkdir "$T/mnt/bench" && echo mine >"$T/mnt/bench/file"
	printf 'tags: [local]\nallow:\n  directories: [{path: %s, remount: true}]\n' "$T/mnt/bench" >"$POLICY"
	plan remount 'trials: 2' "layouts: {ext4: {existing: $T/mnt/bench}}" \
		'workloads: {w: {stream: {op: write, size: 8M}}, r: {stream: {op: read, of: w}}}'
	ends "an existing file system is mounted anew" 0 fleet_ctl run "$T/remount.yaml"
	is "before each trial" "$(exported last -s '[.[] | select(.type == "trial" and (.cache | test("unmounted and mounted")))] | length')" 4
	like "it is there as it was" "$(grep " $T/mnt " /proc/self/mounts)" 'ext4 rw,noatime'
	is "with what was in it" "$(cat "$T/mnt/bench/file")" mine
	is "and nothing else" "$(ls -A "$T/mnt/bench")" file
	check "reads came from the disk" jq -e '[.results[] | select(.workload == "r" and .metric == "physical_read_bytes")][0].min >= 8000000' \
		<(fleet_ctl report last --format json)
	test_remount_held "$loop"
	umount "$T/mnt"
	losetup -d "$loop"
	mount -o loop,noatime "$T/disk" "$T/mnt"
	ends "where the device would go with the mount it stays" 0 fleet_ctl run "$T/remount.yaml"
	like "and that is said" "$(exported last 'select(.type == "trial") | .cache' | sort -u)" '^as it was: '
	is "nothing was lost" "$(cat "$T/mnt/bench/file")" mine
	umount "$T/mnt"
	allow
}

test_designs() {
	local root="$FLEET/one/existing"
	plan once 'trials: 3' 'builds: once' "layouts: {a: {existing: $root}, b: {existing: $root}}" "$QUICK"
	ends "a plan that builds once" 0 fleet_ctl run "$T/once.yaml"
	is "built each layout once" "$(fleet_ctl --json show last | jq '[.steps[] | select(.phase == "build" and (.what | test("workloads")))] | length')" 2
	is "and measured it three times" "$(trials_counted last)" 6
	plan twice 'trials: 2' 'repeat: 2' "$ONLY" 'workloads: {w: {stream: {op: write, size: 1M, file: "t-{trial}"}}}'
	ends "a plan that repeats" 0 fleet_ctl run "$T/twice.yaml"
	is "has both repeats of each block" "$(exported last -s -c '[.[] | select(.type == "trial") | [.block, .repeat]] | sort')" '[[1,1],[1,2],[2,1],[2,2]]'
	check "which count as one" jq -e '[.results[] | select(.metric == "elapsed")][0].n == 2' <(fleet_ctl report last --format json)
	check "folders are empty" folder_is_empty
}

main() {
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	mkdir -p "$FLEET/one" "$T/mnt"
	allow
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	plan quick 'trials: 1' "$ONLY" "$QUICK"
	plan keep 'trials: 2' 'keep: true' "$ONLY" "$QUICK"
	plan slow 'trials: 1' "$ONLY" "$SLOW"
	test_keep_and_stop
	test_stop_in_trial
	test_approve
	test_hooks
	test_hours
	test_remount
	test_designs
	ends "check finds the store in order" 0 coordinator check
	check "nothing is left" nothing_left one
	done_testing
}

main
