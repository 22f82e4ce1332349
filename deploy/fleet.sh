# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A fleet on one machine: a coordinator and some agents as separate processes, each agent with a
# state folder, a policy and, where that can be had, a ZFS of its own (deploy/zfs-host). Sourced by
# deploy/demo and by the end-to-end tests.
#
# Everything lives in $FLEET. fleet_stop leaves no process, mount, pool or loop device behind,
# whatever state the fleet is in, and may be called at any moment and twice.
#
# Variables: FLEET (folder, absolute), FLEET_BIN (where the programs are), FLEET_ZFS (yes, or why not).

FLEET_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
FLEET_BIN=${FLEET_BIN:-$(cd "$FLEET_SOURCE/.." && realpath -m "${BUILD:-build}")}
FLEET_AGENTS=() FLEET_COORDINATOR='' FLEET_ADDRESS='' FLEET_ZFS=''

# fleet_await SECONDS CMD…: asks 20 times a second until CMD says yes.
fleet_await() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		read -r -t 0.05 <> <(:) || true
	done
}

# The control client with an identity of the fleet's own.
fleet_ctl() {
	XDG_CONFIG_HOME=$FLEET/config "$FLEET_BIN/arraymark" "$@"
}

fleet_pid_alive() {
	[ -n "$1" ] && kill -0 "$1" 2>/dev/null && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}
fleet_pid_gone() { ! fleet_pid_alive "$1"; }

# fleet_init [without-zfs]: folders, and whether a ZFS per agent can be had.
fleet_init() {
	mkdir -p "$FLEET/config"
	chmod 755 "$FLEET"
	if [ "${1:-}" = without-zfs ]; then
		FLEET_ZFS="not asked for"
		return 0
	fi
	if FLEET_ZFS=$("$FLEET_SOURCE/zfs-host" check); then FLEET_ZFS=yes; else FLEET_ZFS=${FLEET_ZFS#SKIP: }; fi
}

# Is the address that this very process listens on written?
fleet_listens() { [ -s "$FLEET/coordinator/listen" ] || fleet_pid_gone "$FLEET_COORDINATOR"; }

# shellcheck disable=SC2120 # options are for whoever needs them
# fleet_coordinator_start [OPTION…]: on loopback; the first start makes the store and logs the control client in.
fleet_coordinator_start() {
	local state=$FLEET/coordinator
	if [ ! -d "$state" ]; then
		"$FLEET_BIN/arraymark-coordinator" init --state "$state" >"$FLEET/admin-token" 2>>"$FLEET/coordinator.log" || {
			tail -n 3 "$FLEET/coordinator.log" >&2
			return 1
		}
	fi
	FLEET_ADDRESS=${FLEET_ADDRESS:-127.0.0.1:0}
	rm -f "$state/listen"
	setsid "$FLEET_BIN/arraymark-coordinator" run --state "$state" --listen "$FLEET_ADDRESS" "$@" \
		>>"$FLEET/coordinator.log" 2>&1 </dev/null &
	FLEET_COORDINATOR=$!
	fleet_await 20 fleet_listens
	if fleet_pid_gone "$FLEET_COORDINATOR"; then
		tail -n 5 "$FLEET/coordinator.log" >&2
		return 1
	fi
	FLEET_ADDRESS=$(head -n 1 "$state/listen")
	if [ -s "$FLEET/admin-token" ]; then
		grep -oE 'amt1\.[^[:space:]]+' "$FLEET/admin-token" | head -n 1 |
			fleet_ctl login "$FLEET_ADDRESS" >/dev/null || return 1
		rm -f "$FLEET/admin-token"
	fi
}

# fleet_vector NAME CMD…: the words in FLEET_VECTOR run CMD where that agent lives, in one process.
fleet_vector() {
	local dir=$FLEET/$1
	shift
	FLEET_VECTOR=("$@")
	if [ -e "$dir/.zfs-host/keeper" ]; then
		FLEET_VECTOR=("$FLEET_SOURCE/zfs-host" exec "$dir" "$@")
	fi
}

fleet_in() {
	local -a FLEET_VECTOR
	fleet_vector "$@"
	"${FLEET_VECTOR[@]}"
}

# fleet_policy DIR [FOLDER…]: the policy of the agent in DIR, which may also write in FOLDER.
fleet_policy() {
	local dir=$1
	shift
	cat <<-END
		# Written for a fleet on one machine: scratch disks and some folders, no real disk.
		tags: [local]
		allow:
		  scratch: {directory: $dir/scratch, limit: 16G}
		  directories: [{path: $dir/existing}$(printf ', {path: %s}' "$@" | sed 's/, {path: }//')]
		  programs: [/usr/bin/fio]
	END
}

# fleet_agent_join NAME: folder, policy, host with a ZFS, enrolment.
fleet_agent_join() {
	local name=$1 dir=$FLEET/$1
	mkdir -p "$dir/scratch" "$dir/existing"
	chmod 755 "$dir"
	if [ "$(id -u)" = 0 ] && id arraymark-work >/dev/null 2>&1; then chown arraymark-work "$dir/existing"; fi
	[ -e "$dir/agent.yaml" ] || fleet_policy "$dir" >"$dir/agent.yaml"
	if [ "$FLEET_ZFS" = yes ]; then "$FLEET_SOURCE/zfs-host" start "$dir" || return 1; fi
	FLEET_AGENTS+=("$name")
	fleet_ctl -q token create "$name" | grep -oE 'amt1\.[^[:space:]]+' | head -n 1 |
		fleet_in "$name" "$FLEET_BIN/arraymark-agent" join "$FLEET_ADDRESS" --state "$dir/state" \
			--config "$dir/agent.yaml" >>"$FLEET/$name.log" 2>&1
}

# fleet_agent_start NAME: in the background; its pid is in $FLEET/NAME.pid.
fleet_agent_start() {
	local name=$1 dir=$FLEET/$1
	local -a FLEET_VECTOR
	fleet_vector "$name" "$FLEET_BIN/arraymark-agent" run --state "$dir/state" --config "$dir/agent.yaml"
	# Not through a function: then the pid would be a shell's. In a session of its own: a terminal's
	# interrupt is for the script, which ends the agent once, so that it takes its volume down.
	setsid "${FLEET_VECTOR[@]}" >>"$FLEET/$name.log" 2>&1 </dev/null &
	echo $! >"$FLEET/$name.pid"
}

fleet_hosts_in_state() {
	[ "$(fleet_ctl --json host list 2>/dev/null | grep -oE "\"state\": ?\"$1\"" | wc -l)" -eq "$2" ]
}

# fleet_agents NAME…: joins and starts them, and waits until all are idle.
fleet_agents() {
	local name
	for name in "$@"; do
		fleet_agent_join "$name" || return 1
		fleet_agent_start "$name"
	done
	fleet_await 30 fleet_hosts_in_state idle ${#FLEET_AGENTS[@]}
}

# fleet_end_pid PID SECONDS [told]: told: it has its SIGTERM; a second one would hurry an agent.
fleet_end_pid() {
	local pid=$1 seconds=$2
	fleet_pid_alive "$pid" || return 0
	[ "${3:-}" = told ] || kill -TERM "$pid" 2>/dev/null
	fleet_await "$seconds" fleet_pid_gone "$pid" && return 0
	kill -KILL "$pid" 2>/dev/null
	fleet_await 5 fleet_pid_gone "$pid"
}

# The coordinator that a killed fleet of this folder left: the lock names it while it lives.
fleet_coordinator_left() {
	local lock=$FLEET/coordinator/lock
	if [ -e "$lock" ] && ! flock -n "$lock" true; then cat "$lock"; fi
}

# fleet_stop: agents first (they take their volumes down), then what they stood on, then the coordinator.
fleet_stop() {
	local file name status=0
	for file in "$FLEET"/*.pid; do
		[ -e "$file" ] && kill -TERM "$(cat "$file")" 2>/dev/null
	done
	for file in "$FLEET"/*.pid; do
		[ -e "$file" ] || continue
		fleet_end_pid "$(cat "$file")" 30 told || status=1
		rm -f "$file"
	done
	for file in "$FLEET"/*/agent.yaml; do
		[ -e "$file" ] || continue
		name=$(dirname "$file")
		if [ "$FLEET_ZFS" = yes ]; then "$FLEET_SOURCE/zfs-host" stop "$name" || status=1; fi
	done
	fleet_end_pid "${FLEET_COORDINATOR:-$(fleet_coordinator_left)}" 15 || status=1
	FLEET_COORDINATOR='' FLEET_AGENTS=()
	return $status
}
