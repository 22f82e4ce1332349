#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A run over a folder that is there already survives SIGKILL of each process that takes part.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/kill.sh
. "$(dirname "$0")/kill.sh"

write_plan() {
	cat >"$T/kill.yaml" <<-END
		name: kill
		hosts: [one]
		trials: 2
		layouts: {only: {existing: $FLEET/one/existing}}
		workloads:
		  quick: {stream: {op: write, size: 1M}}
		  slow:  {stream: {op: write, size: 2M, block-size: 64K, rate: 1M}}
		samples: 100ms
		on-trial-failure: retry 1
	END
}

main() {
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	all_kills
	check "the folder is as it was" test -z "$(ls -A "$FLEET/one/existing")"
	done_testing
}

main
