#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Scans of disks: a layout's own (the loop devices under a raidz2, an xfs and an ext4) without any leave
# of the policy, the host's only with one; and in a guest with real SCSI disks, a disk in use among
# them, a slow one found, by deploy/plans/disk-scan.yaml.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

UML=$ROOT/tests/e2e/uml
GUEST_SECONDS=200
HAS_ZFS=

write_plans() {
	local layouts='xfs: {scratch: {disks: 1, size: 300M}, filesystem: {type: xfs}}, ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}'
	[ -z "$HAS_ZFS" ] || layouts="raidz2: {scratch: {disks: 5, size: 64M}, pool: {level: raidz2, disks: 5, ashift: 12}}, $layouts"
	cat >"$T/own.yaml" <<-END
		name: own-disks
		hosts: [one]
		trials: 1
		layouts: {$layouts}
		workloads:
		  write: {stream: {op: write, size: 4M}}
		  scan:  {disk-scan: {span: 1M, block-size: 64K}}
		samples: 100ms
	END
	cat >"$T/host.yaml" <<-END
		name: host-disks
		hosts: [one]
		trials: 1
		workloads: {scan: {disk-scan: {span: 1M}}}
	END
}

test_own_disks() {
	local disks=2
	[ -z "$HAS_ZFS" ] || disks=7
	ends "a layout's own disks are scanned" 0 fleet_ctl run "$T/own.yaml"
	fleet_ctl export 1 -o "$T/run.jsonl"
	is "each disk is told" "$(jq -s 'map(select(.type == "part" and .kind == "disk")) | length' "$T/run.jsonl")" "$disks"
	check "each is a loop device, read whole" jq -se 'map(select(.type == "part" and .kind == "disk")) | all(.[]; (.name | startswith("loop")) and .bytes == 3145728 and .errors == 0)' "$T/run.jsonl"
	check "past the page cache" jq -se 'map(select(.type == "trial" and .workload_name == "scan")) | length > 0 and all(.[]; .telemetry.disk_read_bytes >= .bytes)' "$T/run.jsonl"
	check "a table is kept" jq -se 'map(select(.type == "note" and .name == "disks" and (.text | test("outer +middle +inner +together")))) | length > 0' "$T/run.jsonl"
	check "nothing is left" nothing_left one
}

test_host_disks() {
	refused "the host's disks need the policy's leave" 3 "'allow.scan: true'" fleet_ctl run --dry-run "$T/host.yaml"
}

guest_scans() {
	local line status
	if grep -q __asan_init "$FLEET_BIN/arraymark-agent"; then
		skip "a guest's disks" "the guest's address space has no room for a sanitizer's shadow memory"
		return
	fi
	"$UML/run" -n 5 -s 128M -t "$GUEST_SECONDS" "$UML/scan" "$FLEET_BIN" >"$T/guest" 2>&1 </dev/null
	status=$?
	if [ "$status" = 77 ]; then
		skip "a guest's disks" "$(sed -n 's/^SKIP: //p' "$T/guest")"
		return
	fi
	while IFS= read -r line; do
		if [[ $line =~ ^ok\ [0-9]+\ -\ (.*) ]]; then
			ok "guest: ${BASH_REMATCH[1]}"
		elif [[ $line =~ ^not\ ok\ ([0-9]+\ )?-\ (.*) ]]; then
			not_ok "guest: ${BASH_REMATCH[2]}"
		elif [[ ! $line =~ ^1\.\. ]]; then
			note "${line#\# }"
		fi
	done <"$T/guest"
	grep -qE '^1\.\.[0-9]+$' "$T/guest" || not_ok "the guest comes to its end" "it ended with status $status"
}

main() {
	is_root || skip_all "scratch disks that are disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	if "$ROOT/deploy/zfs-host" check >/dev/null; then
		HAS_ZFS=1
		fleet_init
	else
		skip "raidz2" "there is no ZFS here"
		fleet_init without-zfs
	fi
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plans
	test_own_disks
	test_host_disks
	guest_scans
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
