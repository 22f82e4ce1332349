#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a RAID controller says of itself stands beside the trials, and in the findings. The controller is
# simulated (simulated-perccli): its tool lies in a folder of this script's own mounts.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# set_controller CACHE BATTERY PATROL
set_controller() {
	echo "$1" >"$TOOLS/state/cache"
	echo "$2" >"$TOOLS/state/battery"
	echo "$3" >"$TOOLS/state/patrol"
}

# report_of NUMBER: into $T/report.json
report_of() { fleet_ctl report "$1" --format json >"$T/report.json"; }
# found RULE: texts of its findings
found() { jq -r --arg rule "$1" '.findings[] | select(.rule == $rule and (.unknown | not)) | .text' "$T/report.json"; }

install_controller() {
	TOOLS=/usr/local/sbin
	mount -t tmpfs -o mode=755 none "$TOOLS" || skip_all "no folder of our own can be mounted"
	install -m 755 "$ROOT/tests/e2e/simulated-perccli" "$TOOLS/perccli64"
	mkdir "$TOOLS/state"
	set_controller RWBD Optimal Stopped
}

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: array
		hosts: [one]
		trials: 1
		cache: as-is
		layouts:
		  left:  {existing: $FLEET/one/existing}
		workloads:
		  write: {stream: {op: write, size: 1M}}
	END
}

settings_of() {
	exported "$1" -s -c '[.[] | .. | objects | select(has("of") and .name == "write cache") | [.before, .after]] | unique'
}

test_well() {
	ends "a run on an array that is well" 0 fleet_ctl run "$T/plan.yaml"
	report_of 1
	is "the cache stands beside the trial, before and after" "$(settings_of 1)" '[["write back","write back"]]'
	is "nothing is found of maintenance" "$(found V08)" ''
	is "nor of caches" "$(found V09)" ''
	is "the tool was asked to show and nothing else" "$(sort -u "$TOOLS/state/asked")" \
		$'/call show all J\n/call show patrolread J\n/call/vall show all J'
}

test_unwell() {
	set_controller NRWTD Learning 'Active 3'
	ends "a run while the battery learns and disks are read" 0 fleet_ctl run "$T/plan.yaml"
	report_of 2
	like "the patrol read is found" "$(found V08)" 'trials: patrol read of /c0'
	like "and the cache that writes through" "$(found V09)" \
		'is set to write back and was write through in 1 of 1 trials, its battery: learning'
}

test_broken() {
	touch "$TOOLS/state/broken"
	ends "a run with a tool that fails" 0 fleet_ctl run "$T/plan.yaml"
	report_of 3
	check "the state is unknown" jq -e 'any(.findings[]; .rule == "V08" and .unknown)' "$T/report.json"
	is "nothing is made up" "$(settings_of 3)" '[]'
	like "the log tells why" "$(cat "$FLEET"/one/*.log "$FLEET"/one.log 2>/dev/null)" 'perccli64 /call: '
}

unknown() { jq -r --arg rule "$1" '.findings[] | select(.rule == $rule and .unknown) | .text' "$T/report.json"; }
are_gone() {
	local pid
	while read -r pid; do fleet_pid_gone "$pid" || return 1; done <"$1"
}

test_hangs() {
	rm "$TOOLS/state/broken" "$TOOLS/state/asked"
	touch "$TOOLS/state/hangs"
	sed 's/^trials: 1/trials: 3/; s|^  left: \(.*\)|&\n  right: \1|' "$T/plan.yaml" >"$T/hangs.yaml"
	ends "a run with a tool that hangs" 0 fleet_ctl run "$T/hangs.yaml"
	report_of 4
	for rule in V08 V09 V25; do
		is "what $rule lacks is told with its reason" "$(unknown "$rule" | grep perccli64)" \
			'perccli64 gave no answer in 20 s'
	done
	like "the report says it" "$(fleet_ctl report 4)" 'unknown .*perccli64 gave no answer in 20 s: V08 V09 V25'
	is "the tool was asked once for the whole attempt" "$(cat "$TOOLS/state/asked")" '/call show all J'
	is "all trials tell of it" "$(exported 4 'select(.type == "trial") | .evidence.settings[] | select(.of == "perccli64") | .before' |
		sort | uniq -c | xargs)" '6 gave no answer in 20 s'
	is "it had started two others" "$(wc -l <"$TOOLS/state/left")" 2
	await_check "which are gone with it" 20 are_gone "$TOOLS/state/left"
	rm "$TOOLS/state/hangs" "$TOOLS/state/asked"
	set_controller RWBD Optimal Stopped
	ends "the next run asks it again" 0 fleet_ctl run "$T/plan.yaml"
	report_of 5
	is "and knows" "$(unknown V08 | grep perccli64)" ''
}

test_writable() {
	rm "$TOOLS/state/asked"
	chmod 777 "$TOOLS/perccli64"
	ends "a run with a tool that anybody may change" 0 fleet_ctl run "$T/plan.yaml"
	check_not "it is not run" test -e "$TOOLS/state/asked"
}

main() {
	is_root || skip_all "only root may ask a controller"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	install_controller
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	test_well
	test_unwell
	test_broken
	test_hangs
	test_writable
	done_testing
}

main
