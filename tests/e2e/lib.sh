# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the end-to-end tests share: TAP, waiting for events, a fleet (deploy/fleet.sh), looking into it,
# and the end of it. Sourced first by every *.t file of this folder; done_testing is its last line.
#
# Everything lives in $T, a new folder that other users may enter. Whatever happens, the end of the
# script ends the fleet, unmounts what is mounted under $T and removes it; it ends only processes
# that it started itself. As root a script has mounts of its own, so that several run side by side
# and none sees or holds what another one mounted.

set -u
if [ "$(id -u)" = 0 ] && [ -z "${E2E_OWN_MOUNTS:-}" ] && unshare --mount true 2>/dev/null; then
	E2E_OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi
unset E2E_OWN_MOUNTS
# Volumes of agents that were there before: none of ours.
volume_mounts() { awk '$2 ~ "^/run/arraymark/" { print $2 }'; }
FOREIGN_MOUNTS=$(volume_mounts </proc/self/mounts)
umask 022
export LC_ALL=C TZ=UTC
unset ARRAYMARK_COORDINATOR ARRAYMARK_DEBUG XDG_CONFIG_HOME
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${BUILD:=build} in /*) FLEET_BIN=$BUILD ;; *) FLEET_BIN=$ROOT/$BUILD ;; esac
T=$(mktemp -d "${TMPDIR:-/tmp}/arraymark-e2e.XXXXXX") || exit 1
chmod 755 "$T"
FLEET=$T/fleet
export HOME=$T/home XDG_DATA_HOME=$T/data
mkdir "$FLEET" "$HOME" "$XDG_DATA_HOME"
# shellcheck source=deploy/fleet.sh
. "$ROOT/deploy/fleet.sh"
TESTS_DONE=0 TESTS_FAILED=0 STATUS=0

# ---- TAP ----

note() {
	local line
	while IFS= read -r line; do printf '# %s\n' "$line"; done <<<"$*"
}

ok() {
	TESTS_DONE=$((TESTS_DONE + 1))
	echo "ok $TESTS_DONE - $1"
}

not_ok() {
	TESTS_DONE=$((TESTS_DONE + 1)) TESTS_FAILED=$((TESTS_FAILED + 1))
	echo "not ok $TESTS_DONE - $1"
	shift
	[ $# -eq 0 ] || note "$@"
}

skip() { ok "$1 # SKIP $2"; }

# skip_all REASON: nothing of this script can run here.
skip_all() {
	skip "$(basename "$0")" "$1"
	exit 0
}

bail() {
	not_ok "$1" "${2:-the tests after it cannot run}"
	exit 1
}

# check NAME CMD…: CMD must say yes; what it prints is shown when it does not.
check() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then ok "$name"; else not_ok "$name" "$* says no: $out"; fi
}

# check_not NAME CMD…: CMD must say no.
check_not() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then not_ok "$name" "$* says yes: $out"; else ok "$name"; fi
}

is() {
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got      '$2'"$'\n'"expected '$3'"; fi
}

# like NAME TEXT REGEX
like() {
	if grep -qE -- "$3" <<<"$2"; then ok "$1"; else not_ok "$1" "nothing like '$3' in:"$'\n'"${2:0:2000}"; fi
}

# run CMD…: leaves its exit status in STATUS, what it printed in $T/out and $T/err.
run() {
	"$@" >"$T/out" 2>"$T/err" </dev/null
	STATUS=$?
}

# ends NAME EXPECTED CMD…: the exit status of CMD.
ends() {
	local name=$1 expected=$2
	shift 2
	run "$@"
	if [ "$STATUS" -eq "$expected" ]; then
		ok "$name"
	else
		not_ok "$name" "$* ended with $STATUS, not $expected"$'\n'"$(head -c 2000 "$T/err" "$T/out")"
	fi
}

# refused NAME STATUS REGEX CMD…: ends so and says one line like that on stderr, nothing on stdout.
refused() {
	local name=$1 expected=$2 regex=$3
	shift 3
	run "$@"
	if [ "$STATUS" -eq "$expected" ] && grep -qE -- "$regex" "$T/err" && [ ! -s "$T/out" ]; then
		ok "$name"
	else
		not_ok "$name" "ended with $STATUS, not $expected, or without '$regex'; stderr and stdout:" \
			"$(head -c 2000 "$T/err" "$T/out")"
	fi
}

# await_check NAME SECONDS CMD…: CMD must say yes before the time is over.
await_check() {
	local name=$1 seconds=$2
	shift 2
	if fleet_await "$seconds" "$@" >/dev/null 2>&1; then
		ok "$name"
	else
		not_ok "$name" "'$*' did not come true within $seconds s: $("$@" 2>&1 | head -c 2000)"
	fi
}

# done_testing: the last words. The exit status is 1 when anything failed.
done_testing() {
	check_not "no sanitizer complained" grep -rlE 'ERROR: (Address|Leak)Sanitizer|runtime error:' \
		--include='*.log' "$FLEET"
	echo "1..$TESTS_DONE"
	[ "$TESTS_FAILED" -eq 0 ]
	exit
}

# ---- the end ----

show_logs() {
	local log
	for log in "$FLEET"/*.log; do
		[ -s "$log" ] || continue
		note "last lines of $(basename "$log"):"
		note "$(tail -n 25 "$log")"
	done
}

# processes_of FOLDER: pids of those that name a file in it on their command line, ourselves left out.
processes_of() {
	local file pid
	for file in /proc/[0-9]*/cmdline; do
		pid=${file#/proc/} pid=${pid%/cmdline}
		case $pid in "$$" | "$BASHPID") continue ;; esac
		tr '\0' ' ' 2>/dev/null <"$file" | grep -qF -- "$1/" && echo "$pid"
	done
}

end_everything() {
	local status=$? dir left
	trap '' INT TERM HUP
	trap - EXIT
	exec >&3 2>&3
	[ "$TESTS_FAILED" -eq 0 ] || show_logs
	fleet_stop || note "not everything of the fleet could be ended"
	left=$(processes_of "$T")
	[ -z "$left" ] || {
		echo "not ok - processes are left: $left"
		status=1
	}
	{
		jobs -p
		echo "$left"
	} | xargs -r kill -KILL 2>/dev/null
	wait 2>/dev/null
	awk -v t="$T/" 'index($2, t) == 1 { print $2 }' /proc/self/mounts | sort -r |
		while read -r dir; do umount "$dir" || umount -l "$dir"; done
	rm -rf --one-file-system "$T"
	exit "$status"
}
# A signal may come while output goes elsewhere.
exec 3>&1
trap end_everything EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- looking into the fleet ----

# ctl_as USER ARGS…: the control client with that user's identity.
ctl_as() {
	local user=$1
	shift
	XDG_CONFIG_HOME=$T/users/$user "$FLEET_BIN/arraymark" "$@"
}

coordinator() {
	local verb=$1
	shift
	"$FLEET_BIN/arraymark-coordinator" "$verb" --state "$FLEET/coordinator" "$@"
}

agent() {
	local name=$1
	shift
	fleet_in "$name" "$FLEET_BIN/arraymark-agent" --state "$FLEET/$name/state" \
		--config "$FLEET/$name/agent.yaml" "$@"
}

# host_is HOST STATE
host_is() {
	fleet_ctl --json host list 2>/dev/null |
		jq -e --arg h "$1" --arg s "$2" '.hosts[] | select(.host == $h) | .state == $s' >/dev/null
}

# run_is RUN STATE
run_is() {
	[ "$(fleet_ctl --json runs --all | jq -r --arg r "$1" '.runs[] | select(.run == ($r | tonumber)) | .state')" = "$2" ]
}

run_is_over() {
	fleet_ctl --json runs --all | jq -e --arg r "$1" \
		'.runs[] | select(.run == ($r | tonumber)) | .state | IN("done", "failed", "cancelled")' >/dev/null
}

# file_plan PLAN OPTION…: files it and prints its number.
file_plan() { fleet_ctl -q run --detach "$@" 2>>"$FLEET/client.log"; }

# exported RUN FILTER ARG…: jq over the lines of its export.
exported() {
	local run=$1
	shift
	fleet_ctl export "$run" | jq -r "$@"
}

# child_of PID WORD: the child of that process whose command line has the word.
child_of() {
	local pid
	local -a all
	read -r -a all 2>/dev/null <"/proc/$1/task/$1/children"
	for pid in "${all[@]}"; do
		if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qE "arraymark-agent $2( |\$)"; then
			echo "$pid"
			return 0
		fi
	done
	return 1
}

# The monitor of agent NAME. Its worker, when one runs, is a child of it.
monitor_of() { cat "$FLEET/$1.pid"; }
worker_of() { child_of "$(monitor_of "$1")" worker; }
link_of() { child_of "$(monitor_of "$1")" link; }
has_worker() { worker_of "$1" >/dev/null; }

# shifted A N: A >> N without its sign.
shifted() { echo $((($1 >> $2) & ((1 << (64 - $2)) - 1))); }

mixed() {
	local z=$1
	z=$(((z ^ $(shifted "$z" 30)) * 0xbf58476d1ce4e5b9))
	z=$(((z ^ $(shifted "$z" 27)) * 0x94d049bb133111eb))
	echo $((z ^ $(shifted "$z" 31)))
}

# expected_order LAYOUTS SEED HOST BLOCK: plan_block_order of common/plan/order.h, made anew from what
# its file says (rejection left out: its chance is under 2^-60).
expected_order() {
	local n=$1 state=$2 host=$3 block=$4 hash=0xcbf29ce484222325 gamma=0x9e3779b97f4a7c15 i j v other
	local -a order
	for ((i = 0; i < ${#host}; i++)); do
		printf -v v %d "'${host:i:1}"
		hash=$(((hash ^ v) * 0x100000001b3))
	done
	for ((i = 0; i < n; i++)); do order[i]=$i; done
	state=$(mixed $(((state + gamma) ^ hash)))
	state=$(mixed $(((state + gamma) ^ block)))
	for ((i = n; i > 1; i--)); do
		state=$((state + gamma))
		v=$(mixed $state)
		j=$(((($(shifted "$v" 1) % i) * 2 + (v & 1)) % i))
		other=${order[j]}
		order[j]=${order[i - 1]}
		order[i - 1]=$other
	done
	echo "${order[*]}"
}

# order_is_right RUN HOST LAYOUTS BLOCK: the export's positions are the ones that its seed gives.
# shellcheck disable=SC2016 # the dollars are jq's
order_is_right() {
	local seed found
	seed=$(exported "$1" 'select(.type == "run") | .seed')
	found=$(exported "$1" --arg h "$2" --argjson b "$4" \
		'select(.type == "trial" and .host == $h and .block == $b) | "\(.position) \(.layout)"' |
		sort -u -n | cut -d' ' -f2 | xargs)
	[ "$found" = "$(expected_order "$3" "$seed" "$2" "$4")" ] || {
		echo "block $4 on $2: '$found', expected '$(expected_order "$3" "$seed" "$2" "$4")' (seed $seed)"
		return 1
	}
}

# Nothing of ours is mounted, imported or held by a loop device in agent NAME's world.
nothing_left() {
	local name=$1 dir=$FLEET/$1 found
	found=$(
		fleet_in "$name" cat /proc/self/mounts | volume_mounts | grep -vxF "${FOREIGN_MOUNTS:-none}" | sed 's/^/mounted: /'
		if [ -e "$dir/.zfs-host/keeper" ]; then
			fleet_in "$name" zpool list -H -o name 2>/dev/null | sed -n 's/^am_/pool: am_/p'
		fi
		losetup -l -n -O NAME,BACK-FILE 2>/dev/null | awk -v d="$dir/" 'index($2, d) { print "loop: " $0 }'
		find "$dir/scratch" -mindepth 1 2>/dev/null | head -n 5 | sed 's/^/scratch: /'
	)
	[ -z "$found" ] || {
		echo "$found"
		return 1
	}
}

# fits_schema FILE…: JSON reports, against deploy/report.schema.json. The program is one of `make unit-programs`.
fits_schema() { (cd "$ROOT" && "$FLEET_BIN/tests/unit/test_report_schema" "$@"); }

# Every trial that counts is there once, and the store's own check agrees.
trials_unique() {
	local twice
	twice=$(exported "$1" 'select(.type == "trial" and (.superseded | not) and .ok)
		| [.host, .layout, .workload, .block, .repeat] | @csv' | sort | uniq -d)
	[ -z "$twice" ] || {
		echo "more than once: $twice"
		return 1
	}
}

# trials_counted RUN: how many.
trials_counted() {
	exported "$1" 'select(.type == "trial" and (.superseded | not) and .ok and .complete) | .trial' | wc -l
}

has_accounts() { id arraymark >/dev/null 2>&1 && id arraymark-work >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

# trial_disks FILE: [{layout_name, trial, telemetry, disks}] of an export, a trial's pieces in one.
trial_disks() {
	jq -s '[.[] | select(.type == "trial" or .type == "trial-disks")]
		| group_by([.host, .attempt, .trial])
		| map((map(select(.type == "trial"))[0] | {host, trial, layout_name, telemetry})
			+ {disks: (map(select(.type == "trial-disks").disks) | add // [])})' "$1"
}

# evidence_adds_up FILE: of an export of trials on disks with counters.
# shellcheck disable=SC2016 # the dollars are jq's
evidence_adds_up() {
	trial_disks "$1" >"$T/disks.json"
	check "the disks of each trial add up to its sums" jq -e 'length > 0 and all(.[];
		.telemetry.disks == (.disks | length)
		and .telemetry.disk_read_bytes == (.disks | map(.read_bytes) | add)
		and .telemetry.disk_write_bytes == (.disks | map(.write_bytes) | add)
		and .telemetry.disk_read_ops == (.disks | map(.read_ops) | add)
		and .telemetry.disk_write_ops == (.disks | map(.write_ops) | add)
		and .telemetry.disk_busy_ns == (.disks | map(.busy_ns) | add))' "$T/disks.json"
	check "requests waited where there were any" jq -e 'all(.[].disks[];
		(.read_ops > 0 or .read_wait_ns == 0) and (.write_ops > 0 or .write_wait_ns == 0)
		and .queue_ns <= .read_wait_ns + .write_wait_ns + 60000000000)' "$T/disks.json"
	check "each has a series of its own, within its sums" jq -e --slurpfile t "$T/disks.json" -s '
		($t[0] | map({key: "\(.host) \(.trial)", value: .disks}) | from_entries) as $sums
		| map(select(.type == "series-disks")) | length > 0 and all(.[];
			$sums["\(.host) \(.trial)"] as $d | .disks == ($d | length) and (. as $s
			| all(range(.disks); . as $i
				| ($s.spans | map(.[2 + 3 * $i]) | add) <= $d[$i].read_bytes
				and ($s.spans | map(.[3 + 3 * $i]) | add) <= $d[$i].write_bytes)))' "$1"
}
