#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Random I/O on xfs, ext4 and a real raidz2: each kind of op by both engines, verified; cold reads of
# files that the workload laid out itself; and file systems that fail or turn read-only mid-trial,
# where the trial says what, where, and the others go on.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

has_capability() { fleet_ctl --json host show "$1" | jq -e --arg c "$2" '.. | .capabilities? // empty | index($c)' >/dev/null; }

write_plans() {
	local deep=', engine: io_uring, depth: 8'
	[ "$uring" = 1 ] || deep=
	cat >"$T/plan.yaml" <<-END
		name: random
		hosts: [one]
		trials: 1
		cache: cold
		layouts:
		  xfs:  {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs}}
		  ext4: {scratch: {disks: 1, size: 512M}, filesystem: {type: ext4}}
		$1
		workloads:
		  files: {stream: {op: write, size: 8M, files: 2$deep}}
		  of:    {random: {op: read, of: files, verify: true}}
		  read:  {random: {op: read, size: 8M, threads: 2, verify: true}}
		  write: {random: {op: write, size: 4M, block-size: 8K, verify: true$deep}}
		  mixed: {random: {op: mixed, reads: 70%, size: 4M, ops: 2000, distribution: "zipf:1.1", sync: {every: 50}, verify: true$deep}}
		  paced: {random: {op: read, size: 4M, rate: 400, ops: 200$deep}}
		samples: 100ms
	END
	# Slow enough to be met in the middle of a trial.
	cat >"$T/slow.yaml" <<-END
		name: breaking
		hosts: [one]
		trials: 1
		layouts: {disk: {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs}}}
		workloads: {slow: {random: {op: write, size: 4M, rate: 100, duration: 40s}}}
		samples: 100ms
	END
}

# part RUN WORKLOAD PART: operations of all trials.
part() {
	exported "$1" -s --arg w "$2" --arg p "$3" '([.[] | select(.type == "trial" and .workload_name == $w) | .trial]) as $t
		| [.[] | select(.type == "part" and .name == $p and (.trial | IN($t[]))) | .ops] | add // 0'
}

test_run() {
	local n=$1
	ends "the run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	like "its events tell operations a second" "$(cat "$T/err")" 'block 1 xfs mixed: [^ ]+, [0-9.]+ ops/s$'
	is "every trial is there" "$(trials_counted 1)" $((n * 6))
	is "each block of another's files was read once" "$(part 1 of read)" $((n * 2048))
	is "each block of its own files was read once" "$(part 1 read read)" $((n * 2048))
	is "each block was written once" "$(part 1 write write)" $((n * 512))
	is "a mixed one does what was asked for" "$(($(part 1 mixed read) + $(part 1 mixed write)))" $((n * 2000))
	check "with fsyncs" test "$(part 1 mixed fsync)" -gt 0
	is "a paced one does what was asked for" "$(part 1 paced read)" $((n * 200))
	is "what was written was verified" "$(exported 1 -s '[.[] | select(.type == "fact" and .name == "blocks_verified") | .value] | add')" $((n * (512 + 1024)))
	check "the rate was kept to" fleet_exported_elapsed
	fleet_ctl report 1 --format json >"$T/report.json"
	check "operations a second judge it" jq -e '[.results[] | select(.workload == "mixed" and .metric == "ops_per_s")] | length > 0 and all(.[]; .median > 0)' "$T/report.json"
	run fleet_ctl show 1
	like "and show tells them" "$(cat "$T/out")" '^ +1 +[a-z0-9]+ +mixed +ok .* ops/s'
	like "of a stream it tells bytes" "$(cat "$T/out")" '^ +1 +[a-z0-9]+ +files +ok .* [KMG]iB/s'
	check "what was laid out was cold when it was read" jq -e '[.results[] | select(.workload == "read" and .metric == "physical_read_bytes")]
		| length > 0 and all(.[]; .min >= 8388608 * 0.95)' "$T/report.json"
	check "nothing is left" nothing_left one
}

fleet_exported_elapsed() {
	exported 1 -s -e '[.[] | select(.type == "trial" and .workload_name == "paced") | .elapsed_ns] | length > 0 and all(.[]; . >= 497000000)' >/dev/null
}

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }
# breaks NAME TYPE REGEX CMD…: CMD, given the mount point, breaks the file system in the middle of a trial.
breaks() {
	local name=$1 type=$2 regex=$3 number mount error
	shift 3
	number=$(file_plan "$T/slow.yaml" --set "layouts.disk.filesystem.type=$type")
	await_check "$name: a trial is under way" 30 in_trial "$number"
	mount=$(fleet_in one cat /proc/self/mounts | awk -v t="$type" 'index($2, "/run/arraymark/one/") == 1 && $3 == t { print $2 }')
	check "$name: the file system breaks" fleet_in one "$@" "$mount"
	await_check "$name: the run ends" 30 run_is_over "$number"
	error=$(fleet_ctl --json show "$number" | jq -r '.trials[0].error')
	like "$name: the trial says what, which file and where" "$error" "$regex"
	await_check "$name: the volume is taken down" 30 nothing_left one
}

test_broken() {
	if command -v xfs_io >/dev/null; then
		breaks "a dead disk" xfs "'slow[.]random' in /run/arraymark/one/.* at byte [0-9]+: Input/output error|fsync of .*: Input/output error" \
			xfs_io -x -c 'shutdown'
	else
		skip "a dead disk" "there is no xfs_io"
	fi
	breaks "a file system that turned read-only" ext4 "'slow[.]random' in /run/arraymark/one/.* at byte [0-9]+: (Read-only file system|Input/output error)" \
		mount -o remount,abort
	ends "others go on" 0 fleet_ctl run "$T/slow.yaml" --set workloads.slow.random.duration=1s
}

test_full() {
	refused "files that the volume cannot hold are an error before anything runs" 1 'too small' \
		fleet_ctl run "$T/slow.yaml" --set workloads.slow.random.size=1G
	cat >"$T/full.yaml" <<-END
		name: full
		hosts: [one]
		trials: 1
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads:
		  fill:  {command: {argv: [/usr/bin/dd, if=/dev/zero, of=fill, bs=1M, count=35], parse: none}}
		  rand:  {random: {op: read, size: 24M, files: 3, ops: 100}}
		  after: {stream: {op: write, size: 10M}}
	END
	ends "a volume that gets full while they are made" 1 fleet_ctl run "$T/full.yaml"
	is "has its room again" "$(fleet_ctl export last | jq -c 'select(.type == "trial") | [.workload_name, .ok]' | sort | tr '\n' ' ')" \
		'["after",true] ["fill",true] ["rand",false] '
}

main() {
	local why pool='' n=2
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	if why=$("$ROOT/deploy/zfs-host" check); then
		pool='  raidz2: {scratch: {disks: 6, size: 64M}, pool: {level: raidz2, disks: 6, ashift: 12, properties: {compression: off}}}'
		n=3
		fleet_init
	else
		skip "on a raidz2" "${why#SKIP: }"
		fleet_init without-zfs
	fi
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	mkdir -p "$FLEET/one"
	fleet_policy "$FLEET/one" | sed 's|^  programs:.*|  programs: [/usr/bin/dd]|' >"$FLEET/one/agent.yaml"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	uring=0
	if has_capability one io_uring; then uring=1; else skip "io_uring" "workers may not use it here"; fi
	write_plans "$pool"
	test_run "$n"
	test_broken
	test_full
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
