# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the bodies of the disk tests share: in the guest, a coordinator and one agent, "am", on SCSI
# disks with serial numbers; looking at disks without asking the agent. Sourced first by each body,
# with the folder of the programs as its argument. A body's output is TAP.
#
# A program takes about 50 ms to start in the guest, which has one CPU: what is asked again and again
# is asked three times a second, and with few programs.

export BUILD=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

POLICY=$FLEET/am/agent.yaml
# shellcheck disable=SC2034 # bodies use it
read -r -a DISKS <<<"$UML_DISKS"
declare -A SUMS=()
exec {PAUSE}<> <(:)

fleet_await() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		read -r -t 0.3 -u "$PAUSE" || true
	done
}

serial_of() { printf 'serial:ARRAYMARK%04d' "$1"; }
link_to() { printf '/dev/disk/by-id/wwn-0x6001405aaa%04d000000000000000000' "$1"; }

# policy DISKS WIPE: ids, each list with commas between; "" is none.
policy() {
	mkdir -p "$FLEET/am"
	printf 'allow:\n  disks: [%s]\n  wipe: [%s]\n' "$1" "$2" >"$POLICY"
}

# reread FILTER: the agent reads policy and disks again; what the coordinator knows then is so.
reread() {
	local _
	for _ in 1 2 3; do # a disk may come after the first look
		kill -HUP "$(monitor_of am)"
		fleet_await 30 knows "$1" && return
	done
	return 1
}

# knows FILTER: jq's over the list of disks that the coordinator has.
knows() { fleet_ctl --json host disks am 2>/dev/null | jq -e "[.disks[]] | $1" >/dev/null; }

agent_is_idle() { [[ $(fleet_ctl --json host list 2>/dev/null) =~ \"state\":\ ?\"idle\" ]]; }

start_fleet() {
	modprobe fuse 2>/dev/null
	# shellcheck disable=SC2119 # it needs no argument
	fleet_init
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts" "$(cat "$T/err")"
	fleet_agent_join am || bail "an agent joins" "$(cat "$FLEET/am.log")"
	fleet_agent_start am
	await_check "the agent is idle" 60 agent_is_idle
}

# plan NAME LAYOUTS [LINE…]: writes $T/NAME.yaml with one block, a small write, and the lines; a layout
# is a line of its own, indented by two.
plan() {
	local name=$1 layouts=$2
	shift 2
	{
		printf 'name: %s\nhosts: [am]\ntrials: 1\norder: as-written\nlayouts:\n%s\n' "$name" "$layouts"
		case "$*" in *workloads:*) ;; *) echo 'workloads: {write: {stream: {op: write, size: 4M}}}' ;; esac
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >"$T/$name.yaml"
}

# ---- disks, with our own eyes ----

# As if somebody drew it out.
pull() {
	echo 1 >"/sys/block/$1/device/delete"
	udevadm settle --timeout=30
}

# ends_of DISK…: the first MiB of each, then the last of each, as they are on the disks.
ends_of() {
	local devices=("${@/#//dev/}")
	sync
	blockdev --flushbufs "${devices[@]}"
	head -q -c 1M "${devices[@]}"
	tail -q -c 1M "${devices[@]}"
}

remember() { SUMS[$*]=$(ends_of "$@" | md5sum); }

# are_untouched DISK…: since these, in this order, were remembered.
are_untouched() {
	[ "$(ends_of "$@" | md5sum)" = "${SUMS[$*]}" ] || {
		echo "not all of $* are as they were"
		return 1
	}
}

# are_free DISK…: no signature that anybody's tool knows, no partition.
are_free() {
	local devices=("${@/#//dev/}") found disk
	udevadm settle --timeout=30
	found=$(
		blkid -p "${devices[@]}"
		wipefs -n "${devices[@]}"
		for disk in "$@"; do compgen -G "/sys/block/$disk/$disk*"; done
	)
	[ -z "$found" ] || {
		echo "$found"
		return 1
	}
}

# have_no_label DISK…: where ZFS keeps its labels, at both ends, stands no name of a pool of ours.
have_no_label() { ! ends_of "$@" | grep -aoE 'am_[0-9]+_[0-9]+_[0-9a-f]{6}'; }

# No pool can be found, destroyed ones included.
no_pool_is_found() {
	local found
	found=$(fleet_in am zpool import -d /dev/disk/by-id 2>&1 && fleet_in am zpool import -D -d /dev/disk/by-id 2>&1)
	! grep -qE '^ *(pool|id):' <<<"$found" || {
		echo "$found"
		return 1
	}
}
