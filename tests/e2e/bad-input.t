#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Bad plans, bad policies, and disks that run full under store, spool and journal: each gives one
# clear error that says what, where and what to do, touches nothing, and loses no finished trial.
# Functions are passed by name, which the linter cannot follow; some names look like shell.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

GOOD_LAYOUTS="layouts: {a: {existing: $FLEET/one/existing}}"
GOOD_WORKLOADS='workloads: {w: {stream: {op: write, size: 1M}}}'

# plan LINE…: a plan of which the lines given replace the good ones with the same first word.
plan() {
	local good key line found
	for good in 'name: bad' 'hosts: [one]' 'trials: 3' "$GOOD_LAYOUTS" "$GOOD_WORKLOADS"; do
		key=${good%%:*} found=
		for line in "$@"; do
			case $line in "$key:"*) found=yes ;; esac
		done
		[ -n "$found" ] || printf '%s\n' "$good"
	done
	[ $# -eq 0 ] || printf '%s\n' "$@"
}

# bad NAME REGEX LINE…: such a plan is refused with one line like that, and with no others about it.
bad() {
	local name=$1 regex=$2
	shift 2
	plan "$@" >"$T/bad.yaml"
	run timeout 10 env XDG_CONFIG_HOME="$FLEET/config" "$FLEET_BIN/arraymark" -q run --detach "$T/bad.yaml"
	if [ "$STATUS" -eq 1 ] && [ ! -s "$T/out" ] && grep -qE -- "$regex" "$T/err" && [ "$(wc -l <"$T/err")" -le 3 ]; then
		ok "$name"
	else
		not_ok "$name" "status $STATUS, not 1 with '$regex' in at most 3 lines:" "$(head -c 1500 "$T/err" "$T/out")"
	fi
}

layout() { printf 'layouts: {a: %s}' "$1"; }
workload() { printf 'workloads: {w: %s}' "$1"; }

test_words() {
	bad "an unknown key, with the one that was meant" "bad.yaml:[0-9]+:1: 'trails'.*'trials'" 'trails: 3'
	bad "a wrong type: text for a number" "bad.yaml:[0-9]+:9: trials:" 'trials: many'
	bad "a wrong type: a list for a map" "layouts" 'layouts: [a, b]'
	bad "a wrong type: a map for a list" "hosts" 'hosts: {a: b}'
	bad "no blocks" "trials" 'trials: 0'
	bad "a negative number" "trials" 'trials: -1'
	bad "a size that is none" "size.*'1X'|'1X'" "$(workload '{stream: {op: write, size: 1X}}')"
	bad "no size" "size" "$(workload '{stream: {op: write}}')"
	bad "a workload that is none" "'streem'.*stream" "$(workload '{streem: {op: write}}')"
	bad "a read of nothing" "of" "$(workload '{stream: {op: read, of: nothing}}')"
	bad "a level that is none" "'raidz4' is not a level" "$(layout '{pool: {level: raidz4, disks: 8}}')"
	bad "raidz3 over 3 disks" "raidz3" "$(layout '{pool: {level: raidz3, disks: 3}}')"
	bad "more data disks than scratch disks" "scratch|disks" "$(layout '{scratch: {disks: 2, size: 64M}, pool: {level: raidz1, disks: 3}}')"
	bad "a stack of two" "pool|filesystem" "$(layout '{pool: {level: raidz1, disks: 3}, filesystem: {type: xfs, disks: 1}}')"
	bad "a property that reaches outside" "mountpoint" "$(layout '{pool: {level: raidz1, disks: 3, properties: {mountpoint: /etc}}}')"
	bad "a mount option that is not allowed" "suid" "$(layout '{scratch: {disks: 1, size: 512M}, filesystem: {type: ext4, mount: [suid]}}')"
	bad "a disk by a name that moves" "sda" "$(layout '{pool: {level: mirror, disks: [sda, sdb]}}')"
	bad "a relative folder" "existing" "$(layout '{existing: some/folder}')"
	bad "a folder with .." "existing" "$(layout "{existing: $FLEET/one/existing/../..}")"
}

test_names() {
	local name
	for name in 'a/b' '..' "a'b" 'a"b' 'a b' '-a' '7' 'last' 'all' '$(id)' 'a;b' "$(printf 'x%.0s' {1..65})"; do
		bad "the plan's name ${name:0:12}" "name" "name: \"${name//\"/\\\"}\""
	done
	bad "a plan's name with a newline" "name" 'name: "a\nb"'
	bad "a layout's name with a slash" "a/b" "layouts: {a/b: {existing: $FLEET/one/existing}}"
	bad "a workload's name that begins with a dash" "'-w'|-w" 'workloads: {-w: {stream: {op: write, size: 1M}}}'
	bad "a file's name that leaves the folder" "file" "$(workload '{stream: {op: write, size: 1M, file: ../../etc/passwd}}')"
}

# file NAME REGEX: the plan is $T/bad.yaml as it stands.
bad_file() {
	local began=$SECONDS
	run timeout 20 env XDG_CONFIG_HOME="$FLEET/config" "$FLEET_BIN/arraymark" -q run --detach "$T/bad.yaml"
	if [ "$STATUS" -eq 1 ] && grep -qE -- "$2" "$T/err" && [ "$(wc -l <"$T/err")" -le 3 ] && [ $((SECONDS - began)) -le 5 ]; then
		ok "$1"
	else
		not_ok "$1" "status $STATUS after $((SECONDS - began)) s, not 1 with '$2':" "$(head -c 1500 "$T/err" "$T/out")"
	fi
}

test_yaml() {
	head -c 400000 /dev/zero | tr '\0' '[' >"$T/bad.yaml"
	bad_file "400 KB of [" 'bad.yaml.*(deep|bytes|KiB|long|large|big)'
	plan >"$T/bad.yaml"
	head -c 100000000 /dev/zero | tr '\0' '#' >>"$T/bad.yaml"
	bad_file "a plan of 100 MB" 'bad.yaml.*(bytes|KiB|long|large|big)'
	head -c 20000 /dev/zero | tr '\0' '[' >"$T/bad.yaml"
	bad_file "20 KB of [" 'bad.yaml:.*deep'
	: >"$T/bad.yaml"
	bad_file "an empty plan" 'bad.yaml'
	head -c 4096 /dev/urandom >"$T/bad.yaml"
	bad_file "noise" 'bad.yaml'
	mkdir "$T/bad-folder"
	refused "a folder" 1 'bad-folder' fleet_ctl run "$T/bad-folder"
	bad "an alias" 'anchors? .*not allowed' 'trials: &x 3' 'repeat: *x'
	bad "a key given twice" 'bad.yaml:[0-9]+:1:.*(twice|duplicate|again)' 'trials: 3' 'trials: 4'
	bad "a layout given twice" '(twice|duplicate|again)' "layouts: {a: {existing: $FLEET/one/existing}, a: {existing: $FLEET/one/existing}}"
	bad "a string that never ends" 'bad.yaml:[0-9]+:[0-9]+' 'name: "never'
}

test_hosts() {
	bad "a host that is not there" 'elsewhere' 'hosts: [elsewhere]'
	bad "a tag that nobody has" 'nobody' 'hosts: [tag:nobody]'
	if is_root; then
		bad "disks that the host lacks" 'host one: layouts.a.*SAS2008' "$(layout '{filesystem: {type: ext4, disks: {controller: SAS2008, count: 1}}}')"
		bad "a disk that the host lacks" 'host one: .*serial:NOSUCH' "$(layout '{filesystem: {type: ext4, disks: [serial:NOSUCH]}}')"
	else
		skip "disks that the host lacks" "without root none is asked for"
	fi
	bad "more scratch than the policy allows" 'one: .*scratch.*limit|limit' "$(layout '{scratch: {disks: 4, size: 8G}, filesystem: {type: ext4, disks: 1}}')"
}

# fails NAME REGEX: a good plan is filed, and its job ends failed with such a reason.
fails() {
	plan >"$T/good.yaml"
	run timeout 30 env XDG_CONFIG_HOME="$FLEET/config" "$FLEET_BIN/arraymark" -q run "$T/good.yaml"
	if [ "$STATUS" -eq 1 ] && grep -qE -- "$2" "$T/err" "$T/out"; then
		ok "$1"
	else
		not_ok "$1" "status $STATUS, not 1 with '$2':" "$(head -c 1500 "$T/err" "$T/out")"
	fi
}

policy_check() { agent one policy check; }

host_has_tag() { fleet_ctl --json host list | jq -e --arg t "$1" '.hosts[] | select(.host == "one") | .tags | index($t)' >/dev/null; }

dry_run() { fleet_ctl run --dry-run "$T/good.yaml"; }

test_policy() {
	local policy=$FLEET/one/agent.yaml
	cp -p "$policy" "$T/policy"
	ends "the policy is fine" 0 policy_check
	like "and all of it is told" "$(tr -s ' \n' ' ' <"$T/out")" 'scratch .*, up to .* hook before none .* hours any job.s limit none'
	mkdir "$T/real" && ln -s real "$T/link"
	sed "s|path: .*existing|path: $T/link|" "$T/policy" >"$policy"
	ends "a folder may be reached by a link" 0 policy_check
	like "where that leads is told" "$(cat "$T/out")" "directories  $T/link \\(really $T/real\\)"
	cp -p "$T/policy" "$policy"
	chmod 666 "$policy"
	refused "a policy that others may write: check" 3 "agent.yaml.*(writ|chmod)" policy_check
	fails "a policy that others may write: run" "agent.yaml.*(writ|chmod)"
	chmod 644 "$policy"
	printf 'allow:\n  directores: []\n' >"$policy"
	refused "a policy with an unknown key: check" 1 "agent.yaml:2:3: .*directories" policy_check
	fails "a policy with an unknown key: run" "agent.yaml"
	rm "$policy"
	fails "no policy" "agent.yaml.*policy init"
	printf 'tags: [local]\n' >"$policy"
	fails "a policy that allows nothing" "allow.directories.*$FLEET/one/existing"
	refused "a policy that allows nothing: dry run" 3 "one: .*agent.yaml.*allow.directories" dry_run
	printf 'allow: {plans: approved, directories: [{path: "%s"}]}\n' "$FLEET/one/existing" >"$policy"
	refused "a plan that nobody approved: dry run" 3 "allow.plans: approved.*agent approve" dry_run
	if is_root && has_accounts; then
		cp "$T/policy" "$policy"
		chown arraymark-work "$policy"
		fails "a policy of somebody else's" "agent.yaml.*(own|belong)"
		rm "$policy"
	else
		skip "a policy of somebody else's" "this needs root"
	fi
	sed 's/^tags: .*/tags: [local, seen]/' "$T/policy" >"$policy"
	kill -HUP "$(monitor_of one)"
	await_check "SIGHUP makes the agent read its policy and its host again" 20 host_has_tag seen
	cp -p "$T/policy" "$policy"
	ends "with the policy back, a run works" 0 fleet_ctl -q run "$T/good.yaml"
	check "and nothing was touched by those that did not" test -z "$(ls -A "$FLEET/one/existing")"
}

write_slow() {
	plan 'name: full' 'trials: 2' 'samples: 100ms' 'workloads:' \
		'  quick: {stream: {op: write, size: 1M}}' \
		'  slow: {stream: {op: write, size: 3M, block-size: 64K, rate: 1M}}' >"$T/slow.yaml"
}

log_has() { grep -qE -- "$2" "$FLEET/$1.log"; }

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .workload_name == "slow" and .state == "running")' >/dev/null; }

# fill FOLDER: to its last byte.
fill() { cat /dev/zero >"$1/filler" 2>/dev/null; }

after_full() { # RUN WHAT
	await_check "$2: the run goes on to its end" 40 run_is_over "$1"
	check "$2: and is done" run_is "$1" "done"
	is "$2: four trials count" "$(trials_counted "$1")" 4
	check "$2: each of them once" trials_unique "$1"
	is "$2: no sample was lost" "$(exported "$1" 'select(.type == "trial") | .lost' | sort -u | xargs)" 0
	ends "$2: check finds the store in order" 0 coordinator check
}

# In the background: whoever follows a run, and whoever wants something stored meanwhile.
told() { grep -qE -- "$2" "$T/$1.err"; }

test_full_store() {
	local number watcher filer
	number=$(file_plan "$T/slow.yaml")
	await_check "a trial is under way: the disk under the store fills" 20 in_trial "$number"
	fleet_ctl watch "$number" >"$T/watch.out" 2>"$T/watch.err" </dev/null &
	watcher=$!
	fill "$FLEET/coordinator"
	await_check "the coordinator says so" 20 log_has coordinator 'store.*full.*nothing is lost'
	fleet_ctl run --detach "$T/slow.yaml" --set workloads.slow.stream.rate=100M >"$T/filed" 2>"$T/run.err" </dev/null &
	filer=$!
	await_check "who files a plan is told why it takes so long" 20 told run 'can store nothing now: .*full.*what is asked for waits'
	await_check "who follows a run is told, too" 40 told watch 'can store nothing now: .*full.*what runs goes on'
	check "the plan is not filed yet" test ! -s "$T/filed"
	run fleet_ctl --json runs
	is "with --json, stderr has no words of it" "$(cat "$T/err")" ''
	rm "$FLEET/coordinator/filler"
	await_check "with space back it says that it works again" 20 log_has coordinator 'store: works again'
	wait "$filer"
	is "what waited is done: the plan is filed" $? 0
	after_full "$number" "full store"
	wait "$watcher"
	is "and who followed the run sees its end" $? 0
	await_check "the plan that was filed runs" 40 run_is "$(cat "$T/filed")" "done"
}

# Full from the start: a spool that has held more before would find room in its own log for a while.
test_full_spool() {
	local number
	fill "$FLEET/one/state/spool"
	number=$(file_plan "$T/slow.yaml")
	await_check "with a full disk under the spool the agent says so" 20 log_has one 'spool.*full.*stays in memory'
	await_check "and trials go on" 20 log_has one 'trial 2 .*slow.: '
	check "though none of them has arrived yet" test "$(trials_counted "$number")" = 0
	rm "$FLEET/one/state/spool/filler"
	await_check "with space back it says that it works again" 20 log_has one 'spool.*works again'
	after_full "$number" "full spool"
}

unsent_note() { fleet_ctl --json host list | jq -e '.hosts[] | select(.host == "one") | .note | test("full")' >/dev/null; }

# In the middle of a trial: what was sent is acknowledged, and the spool can't take that in.
test_spool_fills() {
	local number
	# Started anew, the spool has little room in its own log, and a long trial needs more.
	fleet_end_pid "$(monitor_of one)" 10
	fleet_agent_start one
	await_check "the agent is back" 20 host_is one idle
	number=$(file_plan "$T/slow.yaml" --set workloads.slow.stream.size=8M)
	await_check "a trial is under way: the disk under the spool fills" 20 in_trial "$number"
	fill "$FLEET/one/state/spool"
	await_check "the host's note says so" 20 unsent_note
	await_check "and trials go on" 20 log_has one "run $number.*trial 2 .*slow.: "
	rm "$FLEET/one/state/spool/filler"
	after_full "$number" "filled spool"
	check_not "the note is gone" unsent_note
}

# All of a run waits in the spool, and when the store takes it the spool can't note that down.
test_answers_missed() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a trial is under way: the disk under the store fills" 20 in_trial "$number"
	fill "$FLEET/coordinator"
	await_check "the job runs to its end all the same" 20 log_has one "run $number: job .* ended: done"
	fleet_end_pid "$(monitor_of one)" 10
	await_check "the agent is gone" 20 host_is one offline
	fleet_agent_start one
	await_check "and back, with a new log under its spool" 20 host_is one idle
	fill "$FLEET/one/state/spool"
	rm "$FLEET/coordinator/filler"
	await_check "the spool cannot take the store's answers" 20 unsent_note
	rm "$FLEET/one/state/spool/filler"
	after_full "$number" "missed answers"
}

# Nothing is done to the host that the journal could not undo.
test_full_journal() {
	local number
	fill "$FLEET/one/state"
	number=$(file_plan "$T/slow.yaml")
	await_check "with a full disk under the journal a run ends" 40 run_is_over "$number"
	check "as failed" run_is "$number" failed
	like "with the reason" "$(fleet_ctl show "$number" --brief)" 'journal.*so nothing more is done to this host: No space left'
	check "and nothing was done" test -z "$(ls -A "$FLEET/one/existing")"
	rm "$FLEET/one/state/filler"
	await_check "with space back the host is ready again" 40 host_is one idle
	is "and no journal is left" "$(find "$FLEET/one/state" -name 'journal-*')" ''
	ends "the next run works" 0 fleet_ctl -q run "$T/slow.yaml" --set workloads.slow.stream.rate=100M
}

# small_disk FOLDER: what is written there can fill it.
small_disk() {
	mkdir -p "$1"
	chmod 700 "$1"
	mount -t tmpfs -o size=24m,mode=700 tmpfs "$1"
}

main() {
	local before
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	if is_root; then
		small_disk "$FLEET/one/state"
		chmod 711 "$FLEET/one/state"
		small_disk "$FLEET/one/state/spool"
		"$FLEET_BIN/arraymark-coordinator" init --state "$FLEET/coordinator" >"$FLEET/admin-token" 2>"$T/err"
		mv "$FLEET/coordinator" "$T/coordinator"
		small_disk "$FLEET/coordinator"
		cp -a "$T/coordinator/." "$FLEET/coordinator/"
	fi
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts" "$(cat "$T/err")"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	if is_root; then
		write_slow
		test_full_spool
		test_spool_fills
		test_full_store
		test_answers_missed
		test_full_journal
	else
		skip "full disks" "a small disk to fill needs root"
	fi
	before=$(fleet_ctl --json runs | jq '.runs | length')
	test_words
	test_names
	test_yaml
	test_hosts
	is "none of them was filed" "$(fleet_ctl --json runs | jq '.runs | length')" "$before"
	test_policy
	check "nothing is left" nothing_left one
	done_testing
}

main
