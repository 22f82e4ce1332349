#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every plan of deploy/plans that builds pools runs on real ones, and every workload of it has a result on
# every layout. Those without: plans.t.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/plans.sh
. "$(dirname "$0")/plans.sh"

main() {
	local file why
	why=$("$ROOT/deploy/zfs-host" check) || skip_all "${why#SKIP: }"
	plans_fleet
	for file in "$ROOT"/deploy/plans/*.yaml; do
		has_pools "$file" || continue
		why=$(lacking "$file")
		if [ -n "$why" ]; then skip "$(basename "$file" .yaml) runs" "$why"; else try_plan "$file"; fi
	done
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
