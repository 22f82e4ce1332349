#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every plan of deploy/plans that builds no pool runs, and every workload of it has a result on every
# layout. Those with pools: plans-zfs.t.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/plans.sh
. "$(dirname "$0")/plans.sh"

# try_scan FILE: unless this machine keeps root from its own disks, as containers do; then that is what is
# said, and the same plan runs in a guest: workload-scan.t.
try_scan() {
	local disk
	for disk in $(fleet_ctl --json host disks one | jq -r '.disks[].path'); do
		if [ -n "$(head -c 512 "$disk" 2>/dev/null | tr '\0' 0)" ]; then
			try_plan "$1"
			return
		fi
	done
	[ -n "$disk" ] || { skip "disk-scan runs" "this machine has no disks" && return; }
	ends "disk-scan fails where root is kept from all disks" 1 fleet_ctl run "$1"
	like "and says so" "$(cat "$T/err")" "cannot open $disk for reading: the agent runs as root, but in a container"
}

main() {
	local file why
	plans_fleet without-zfs
	for file in "$ROOT"/deploy/plans/*.yaml; do
		has_pools "$file" && continue
		why=$(lacking "$file")
		case $why,$file in
		?*,*) skip "$(basename "$file" .yaml) runs" "$why" ;;
		*/disk-scan.yaml) try_scan "$file" ;;
		*) try_plan "$file" ;;
		esac
	done
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
