#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A volume whose mount lives on in another mount namespace, as in a container's or a service's: a copy is no
# matter, whether it follows ours or was cut off from it. A process that has files of it open fails the cold
# trial with its name, and holds the teardown up only as long as it lives. A directory that was there already
# is mounted again in any case.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: held
		hosts: [one]
		trials: 1
		cache: cold
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads:
		  slow: {stream: {op: write, size: 8M, rate: 2M, block-size: 64K}}
		  read: {stream: {op: read, of: slow, verify: true}}
		samples: 100ms
	END
}

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }
volume_mount() { volume_mounts </proc/self/mounts | grep -vxF "${FOREIGN_MOUNTS:-none}"; }
volume_device() { losetup -l -n -O NAME,BACK-FILE | awk -v d="$FLEET/one/" 'index($2, d) { print $1 }'; }
is_another_namespace() { [ "$(readlink "/proc/$1/ns/mnt")" != "$(readlink /proc/self/ns/mnt)" ]; }

# copy_mounts PROPAGATION [FOLDER]: a process with a copy of our mounts, in that folder; its pid in HOLDER.
copy_mounts() {
	(cd "${2:-/}" && exec unshare --mount --propagation "$1" sleep 600 >/dev/null 2>&1) &
	HOLDER=$!
	await_check "somebody copies the mounts ($1)" 10 is_another_namespace "$HOLDER"
	check "that of the volume, too" has_volume "$HOLDER"
}
has_volume() { grep -q /run/arraymark/one/ "/proc/$1/mountinfo"; }

end_holder() {
	kill -KILL "$HOLDER"
	wait "$HOLDER" 2>/dev/null
}

said_at_teardown() { grep -qF 'cannot undo "make ext4' "$FLEET/one.log"; }
has_failed_trial() { [ "$(exported "$1" 'select(.type == "trial" and .ok == false) | .trial' | wc -l)" -eq 1 ]; }

# test_copy PROPAGATION TIMES: that the mount point is made anew.
test_copy() {
	local number
	number=$(file_plan "$T/plan.yaml")
	await_check "a trial is under way" 30 in_trial "$number"
	copy_mounts "$1"
	await_check "the run goes on" 60 run_is_over "$number"
	check "to its good end" run_is "$number" "done"
	check_not "the mount is gone over there" has_volume "$HOLDER"
	end_holder
	check "nothing is left" nothing_left one
	is "its mount point was made anew where that is needed" "$(fleet_ctl --json show "$number" |
		jq '[.steps[] | select(.phase == "cache" and .ok and (.what | test("copies of its mount")))] | length')" "$2"
}

test_open_files() {
	local number point device
	number=$(file_plan "$T/plan.yaml")
	await_check "a trial is under way" 30 in_trial "$number"
	point=$(volume_mount) device=$(volume_device)
	copy_mounts private "$point/bench"
	await_check "the next trial fails" 60 has_failed_trial "$number"
	like "for that reason" "$(exported "$number" 'select(.type == "trial" and .ok == false) | .error')" \
		"could not be emptied: .*$device is in use still after it was unmounted: process $HOLDER .sleep. has files of it open: end it"
	is "it is not mounted here any more" "$(volume_mount)" ''
	await_check "the teardown says it, too" 60 said_at_teardown
	like "with who it is" "$(grep -F 'cannot undo "make ext4' "$FLEET/one.log")" \
		"$device is busy: process $HOLDER .sleep. has files of it open: end it; it is left alone"
	is "the file system was not touched" "$(blkid -p -o value -s TYPE "$device")" ext4
	end_holder
	await_check "when it is gone, the volume is taken down" 90 nothing_left one
	await_check "the run has failed" 30 run_is "$number" failed
	await_check "and the host is ready again" 60 host_is one idle
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	mount --make-rshared / || skip_all "mounts cannot be shared here"
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	test_copy slave 0
	test_copy private 1
	test_open_files
	done_testing
}

main
