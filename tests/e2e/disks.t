#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The disk path, with the real programs on real SCSI disks: each body of uml/ runs in a guest of its
# own, two guests at a time, and its tests become tests of this script. No guest outlives it.
# Takes minutes.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

UML=$ROOT/tests/e2e/uml
# They take 40 to 70 s on two free cores; a body that hangs has deadlines of its own, which end it well
# before this one.
GUEST_SECONDS=280

# guest BODY DISKS SIZE: what the body says is in $T/BODY.out, its exit status in $T/BODY.status.
guest() {
	local status
	"$UML/run" -n "$2" -s "$3" -t "$GUEST_SECONDS" "$UML/$1" "$FLEET_BIN" >"$T/$1.out" 2>&1 </dev/null
	status=$?
	echo $status >"$T/$1.status"
}

# take BODY: tells its tests again with numbers of ours. One that broke off is a failure.
take() {
	local body=$1 line status
	status=$(cat "$T/$body.status")
	if [ "$status" = 77 ]; then
		skip "disks: $body" "$(sed -n 's/^SKIP: //p' "$T/$body.out")"
		return
	fi
	while IFS= read -r line; do
		if [[ $line =~ ^ok\ [0-9]+\ -\ (.*) ]]; then
			ok "$body: ${BASH_REMATCH[1]}"
		elif [[ $line =~ ^not\ ok\ ([0-9]+\ )?-\ (.*) ]]; then
			not_ok "$body: ${BASH_REMATCH[2]}"
		elif [[ ! $line =~ ^1\.\. ]]; then
			note "${line#\# }"
		fi
	done <"$T/$body.out"
	grep -qE '^1\.\.[0-9]+$' "$T/$body.out" || not_ok "$body: comes to its end" "it ended with status $status"
}

has_sanitizer() { grep -q __asan_init "$FLEET_BIN/arraymark-agent"; }

main() {
	# In the guest all is root's, whoever starts it.
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	if has_sanitizer; then skip_all "the guest's address space has no room for a sanitizer's shadow memory"; fi
	guest pools 6 512M &
	{
		guest filesystems 7 512M
		guest refusals 15 384M
	} &
	wait
	take filesystems
	take pools
	take refusals
	done_testing
}

main
