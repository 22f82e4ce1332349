#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The same without root: an agent that an ordinary user started measures folders, says what it cannot
# do, and ends its workers without a PID namespace. Started by root it becomes such a user first.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
if [ "$(id -u)" = 0 ] && id arraymark-work >/dev/null 2>&1 && command -v setpriv >/dev/null; then
	exec setpriv --reuid arraymark-work --regid arraymark-work --clear-groups -- "$0"
fi
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/kill.sh
. "$(dirname "$0")/kill.sh"

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: without-root
		hosts: [one]
		trials: 2
		layouts: {only: {existing: $FLEET/one/existing}}
		workloads:
		  quick: {stream: {op: write, size: 1M}}
		  slow:  {stream: {op: write, size: 2M, block-size: 64K, rate: 1M}}
		samples: 100ms
		on-trial-failure: retry 1
	END
	cat >"$T/bench.yaml" <<-END
		name: bench
		hosts: [one]
		trials: 1
		layouts: {only: {existing: $FLEET/one/existing}}
		workloads: {bench: {pgbench: {duration: 600s, settings: {max_wal_size: 64MB, shared_buffers: 32MB}}}}
		on-trial-failure: continue
	END
	cat >"$T/pool.yaml" <<-END
		name: pool
		hosts: [one]
		trials: 3
		layouts: {pool: {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs}}}
		workloads: {write: {stream: {op: write, size: 1M}}}
	END
}

in_slow_trial() {
	fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .workload_name == "slow" and .state == "running")' >/dev/null && has_worker one
}

test_run() {
	local number
	number=$(file_plan "$T/plan.yaml")
	await_check "a trial is under way: its worker is killed" 30 in_slow_trial "$number"
	kill -KILL "$(worker_of one)"
	await_check "the run goes on to its end" 40 run_is_over "$number"
	check "and is done" run_is "$number" "done"
	is "four trials count" "$(trials_counted "$number")" 4
	check "each of them once" trials_unique "$number"
	like "the one that failed says why" "$(exported "$number" 'select(.type == "trial" and (.ok | not)) | .error')" 'killed by signal 9'
	number=$(file_plan "$T/plan.yaml" --set workloads.slow.stream.size=1G)
	await_check "another trial is under way" 30 in_slow_trial "$number"
	ends "it is cancelled" 0 fleet_ctl cancel --wait "$number"
	check_not "no worker is left" has_worker one
	check "nor anything in the folder" test -z "$(ls -A "$FLEET/one/existing")"
}

# What servers share with their backends would stay until the machine starts anew: ours that is new.
shared_memory() {
	awk -v uid="$(id -u)" 'NR > 1 && $8 == uid { print $2 }' /proc/sysvipc/shm
	find /dev/shm -maxdepth 1 -user "$(id -u)" -name 'arraymark-pg-*'
}
new_memory() { shared_memory | grep -vxF -f "$T/memory"; }
no_new_memory() { ! new_memory; }
has_transactions() { new_memory | grep -q /dev/shm && grep -lsE "^postgres: arraymark: postgres bench_" /proc/[0-9]*/cmdline | grep -q .; }

test_memory() {
	local number
	if ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null; then
		skip "shared memory of killed servers" "there is no PostgreSQL: run deploy/install-deps test"
		return
	fi
	{
		echo none
		shared_memory
	} >"$T/memory"
	number=$(file_plan "$T/bench.yaml")
	await_check "transactions are under way: their worker is killed" 60 has_transactions
	kill -KILL "$(worker_of one)"
	await_check "the run ends" 40 run_is_over "$number"
	await_check "no shared memory is left" 20 no_new_memory
	number=$(file_plan "$T/bench.yaml")
	await_check "others are under way: the agent is killed" 60 has_transactions
	kill_monitor
	ends "its run is cancelled" 0 fleet_ctl cancel --wait "$number"
	await_check "again no shared memory is left" 20 no_new_memory
}

test_limits() {
	refused "what needs root is refused with the reason" 1 'root' fleet_ctl run "$T/pool.yaml"
	check "host show says that it is not privileged" jq -e "[.. | .privileged?] | any(. == false)" <(fleet_ctl --json host show one)
	like "the log, too" "$(cat "$FLEET/one.log")" 'ordinary user'
	chmod 000 "$FLEET/one/agent.yaml"
	run fleet_ctl run "$T/plan.yaml"
	is "with a policy that cannot be read a run fails" "$STATUS" 1
	like "and says which file" "$(cat "$T/out" "$T/err")" 'agent.yaml'
	chmod 644 "$FLEET/one/agent.yaml"
}

main() {
	is_root && skip_all "there is no other user to become: run deploy/install-deps accounts"
	[ -x "$FLEET_BIN/arraymark-agent" ] || skip_all "$(id -un) cannot reach $FLEET_BIN"
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	test_run
	test_memory
	test_limits
	ends "check finds the store in order" 0 coordinator check
	check "nothing is left" nothing_left one
	done_testing
}

main
