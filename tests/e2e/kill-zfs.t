#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A run on raidz pools survives SIGKILL of each process that takes part, and leaves no pool, mount,
# loop device or scratch file behind.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/kill.sh
. "$(dirname "$0")/kill.sh"

write_plan() {
	cat >"$T/kill.yaml" <<-END
		name: kill-zfs
		hosts: [one]
		trials: 2
		cache: as-is
		layouts:
		  only:
		    scratch: {disks: 4, size: 64M}
		    pool: {level: raidz2, disks: 4, ashift: 12}
		workloads:
		  quick: {stream: {op: write, size: 1M}}
		  slow:  {stream: {op: write, size: 2M, block-size: 64K, rate: 1M}}
		samples: 100ms
		on-trial-failure: retry 1
	END
}

has_pool() { fleet_in one zpool list -H -o name 2>/dev/null | grep -q '^am_'; }

kill_in_build() {
	local number
	number=$(file_plan "$T/kill.yaml")
	await_check "a pool is being built: monitor is killed" 30 has_pool
	kill_monitor
	after_kill "$number" "monitor in a build"
}

main() {
	local why
	why=$("$ROOT/deploy/zfs-host" check) || skip_all "${why#SKIP: }"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	fleet_init
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent with a ZFS comes up"
	write_plan
	all_kills
	kill_in_build
	done_testing
}

main
