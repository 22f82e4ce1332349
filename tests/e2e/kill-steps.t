#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# SIGKILL at each step of building, emptying the caches of and taking down a file system and a pool: the
# journal alone is enough to leave nothing. The program is one of `make unit-programs`; it is run where a
# ZFS answers, if this machine can have one.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# take FILE: its tests become ours.
take() {
	local line
	while IFS= read -r line; do
		case $line in
		"ok "*" - a_"*) ok "${line#* - }" ;;
		"not ok "*"# SKIP"*) skip "${line##*SKIP }" "this machine cannot have it" ;;
		"not ok "*) not_ok "${line#* - }" "$(tail -n 20 "$T/err")" ;;
		esac
	done <"$1"
}

main() {
	local program=$FLEET_BIN/tests/unit/test_kill_steps inside=(env) why
	is_root || skip_all "volumes on scratch disks need root"
	if why=$("$ROOT/deploy/zfs-host" check) && "$ROOT/deploy/zfs-host" start "$T/zfs" >"$T/out" 2>&1; then
		inside=("$ROOT/deploy/zfs-host" exec "$T/zfs")
	else
		note "${why#SKIP: }"
	fi
	CMOCKA_MESSAGE_OUTPUT=TAP KILL_STEPS=begun run "${inside[@]}" "$program"
	take "$T/out"
	is "it came to its end" "$STATUS" 0
	[ ${#inside[@]} -eq 1 ] || ends "nothing of it holds the ZFS" 0 "$ROOT/deploy/zfs-host" stop "$T/zfs"
	done_testing
}

main
