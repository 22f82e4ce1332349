#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The daemons as services: what is installed, what they tell a service manager, and both of them on one
# machine with their state side by side.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# A service manager's socket: what comes is a line in $T/told.
manager_start() {
	perl -MSocket -e '
		socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die; bind($s, pack_sockaddr_un($ARGV[0])) or die;
		$| = 1; while (defined recv($s, my $text, 4096, 0)) { print "$text\n" }' \
		"$T/notify" >"$T/told" 2>"$T/manager.err" &
	MANAGER=$!
	fleet_await 10 test -S "$T/notify"
}

told() { grep -qxF "$1" "$T/told"; }

test_installed() {
	local dir=$T/root/opt/am unit
	ends "make install" 0 make -s -C "$ROOT" BUILD="$FLEET_BIN" DESTDIR="$T/root" PREFIX=/opt/am install
	ends "the plans that are installed are plans" 0 "$dir/bin/arraymark" plan check --offline "$dir/share/arraymark/plans/demo.yaml"
	for unit in coordinator agent; do
		is "the unit of the $unit starts the program that is installed" \
			"$(sed -n 's/^ExecStart=//p' "$dir/lib/systemd/system/arraymark-$unit.service")" "/opt/am/bin/arraymark-$unit run"
		check "there it is" test -x "$dir/bin/arraymark-$unit"
		check "and its page" test -s "$dir/share/man/man8/arraymark-$unit.8"
		check "and completion" test -s "$dir/share/bash-completion/completions/arraymark-$unit"
	done
}

test_coordinator() {
	NOTIFY_SOCKET=$T/notify fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts" "$(cat "$T/err")"
	await_check "the coordinator says that it is ready" 10 told READY=1
	is "the folder above its state is for others, too" "$(stat -c %a "$FLEET/var")" 755
	is "its state is its own" "$(stat -c %a "$FLEET/var/coordinator")" 700
	ends "a backup is written by whoever asks, beside the daemon" 0 coordinator backup "$T/copy.db"
	ends "and is a store" 0 sqlite3 "$T/copy.db" 'PRAGMA quick_check'
}

# Whose files in the state folder are not its owner's.
others_files() { find "$1" ! -user "$(stat -c %u "$1")" -printf '%f '; }

# A service has an account of its own, to which its state folder belongs; verbs are run by root.
test_roots_verbs() {
	local state=$FLEET/var/given
	if ! is_root; then
		skip "what root makes in a service's state folder is the service's" "only root gives files away"
		return
	fi
	install -d -m 700 -o nobody "$state"
	ends "init in a folder that is there" 0 "$FLEET_BIN/arraymark-coordinator" init --state "$state"
	is "what it made is its owner's" "$(others_files "$state")" ''
	rm -f "$state"/lock "$state"/store.db*
	ends "root restores a backup" 0 "$FLEET_BIN/arraymark-coordinator" restore --state "$state" "$T/copy.db"
	is "the store is its owner's" "$(others_files "$state")" ''
	rm -f "$state"/lock
	ends "root makes a token without a daemon" 0 "$FLEET_BIN/arraymark-coordinator" token --state "$state" one
	is "so is the lock" "$(others_files "$state")" ''
}

test_agent() {
	local pid state=$FLEET/var/agent
	fleet_policy "$FLEET/var" >"$FLEET/agent.yaml"
	mkdir -p "$FLEET/var/scratch"
	fleet_ctl -q token create one |
		"$FLEET_BIN/arraymark-agent" join "$FLEET_ADDRESS" --state="$state" --config="$FLEET/agent.yaml" >"$T/out" 2>"$T/err"
	is "a host joins with its state beside the coordinator's" $? 0
	: >"$T/told"
	NOTIFY_SOCKET=$T/notify setsid "$FLEET_BIN/arraymark-agent" run --state "$state" --config "$FLEET/agent.yaml" \
		>"$FLEET/one.log" 2>&1 </dev/null &
	pid=$!
	echo "$pid" >"$FLEET/one.pid"
	await_check "the agent says that it is ready" 10 told READY=1
	await_check "its link, with an account of its own, gets to the coordinator" 20 host_is one idle
	check_not "nothing of it knows the manager's socket" grep -z '^NOTIFY_SOCKET=' "/proc/$(child_of "$pid" link)/environ"
	fleet_end_pid "$pid" 15
	check "it said that it stops" told STOPPING=1
	: >"$T/told"
	fleet_end_pid "$FLEET_COORDINATOR" 15
	check "so did the coordinator" told STOPPING=1
}

main() {
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	ln -s var/coordinator "$FLEET/coordinator"
	"$FLEET_BIN/arraymark-coordinator" init --state "$FLEET/var/coordinator" >"$FLEET/admin-token" 2>"$T/err" ||
		bail "init makes the folders" "$(cat "$T/err")"
	manager_start || bail "a manager's socket" "$(cat "$T/manager.err")"
	test_installed
	test_coordinator
	test_roots_verbs
	test_agent
	kill "$MANAGER"
	done_testing
}

main
