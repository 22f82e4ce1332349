#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Several workloads at once on raidz2, xfs and ext4: paced readers of files made before, which the
# caches hold nothing of, beside writers; each counted by itself. Warm caches: a whole trial before
# each. A worker that stands still ends, and its volume with it.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

HAS_ZFS=
RAIDZ2='raidz2: {scratch: {disks: 5, size: 128M}, pool: {level: raidz2, disks: 4, cache: 1, ashift: 12, properties: {atime: off, compression: off}}}'
XFS='xfs: {scratch: {disks: 1, size: 300M}, filesystem: {type: xfs}}'
EXT4='ext4: {scratch: {disks: 1, size: 128M}, filesystem: {type: ext4}}'

write_plans() {
	local layouts="$XFS, $EXT4"
	[ -z "$HAS_ZFS" ] || layouts="$RAIDZ2, $layouts"
	cat >"$T/pool-node.yaml" <<-END
		name: pool-node
		hosts: [one]
		trials: 1
		cache: cold
		layouts: {$layouts}
		workloads:
		  clients:
		    parallel:
		      - stream: {op: read, size: 20M, files: 20, threads: 20, block-size: 64K, file-rate: 512K}
		      - stream: {op: write, size: 8M, files: 4, threads: 4, block-size: 64K, file-rate: 512K}
		    duration: 1s
		  whole:
		    parallel:
		      - stream: {op: read, size: 20M, files: 20, threads: 4, block-size: 64K}
		      - stream: {op: write, size: 8M, files: 4, threads: 4, block-size: 64K}
		samples: 100ms
	END
	cat >"$T/mixed.yaml" <<-END
		name: mixed
		hosts: [one]
		trials: 1
		layouts: {$layouts}
		workloads:
		  mixed:
		    parallel:
		      - stream: {op: read, size: 4M, files: 2, threads: 2, block-size: 64K}
		      - random: {op: mixed, reads: 70%, size: 4M}
		      - filebench: {personality: varmail, nfiles: 20, nthreads: 2}
		    duration: 1s
		samples: 100ms
	END
	cat >"$T/warm.yaml" <<-END
		name: warm
		hosts: [one]
		trials: 1
		cache: warm
		layouts: {$XFS}
		workloads:
		  write: {stream: {op: write, size: 8M}}
		  read:  {stream: {op: read, of: write}}
		samples: 100ms
	END
	cat >"$T/stuck.yaml" <<-END
		name: stuck
		hosts: [one]
		trials: 1
		layouts: {$XFS}
		workloads: {slow: {stream: {op: write, size: 64M, rate: 1M, block-size: 64K, sync: none}}}
		samples: 100ms
		stall: 2s
	END
}

# members FILTER: over the parts that are members, by trial.
parts() { jq -se "$1" "$T/run.jsonl"; }

test_members() {
	local layouts=2
	[ -z "$HAS_ZFS" ] || layouts=3
	ends "members run side by side on every kind of volume" 0 fleet_ctl run "$T/pool-node.yaml"
	fleet_ctl export 1 -o "$T/run.jsonl"
	fleet_ctl --json show 1 >"$T/show.json"
	is "each trial tells its two members" "$(parts 'map(select(.type == "part" and .kind == "member")) | length')" $((layouts * 4))
	check "what they moved adds up to the trial" parts '
		(map(select(.type == "part" and .kind == "member")) | group_by(.trial) | map(map(.bytes) | add)) as $members
		| (map(select(.type == "trial")) | sort_by(.trial) | map(.bytes)) == $members'
	check "fixed work is done whole" parts 'map(select(.type == "part" and .kind == "member" and (.name | startswith("whole")))) | map(.bytes) | unique == [8388608, 20971520]'
	check "the clock of a timed one runs at least for its duration" parts 'map(select(.type == "trial" and .workload == 0)) | length > 0 and all(.[]; .elapsed_ns >= 1000000000)'
	check "paced members keep their pace" parts 'map(select(.type == "part" and .name == "clients.1")) | length > 0 and all(.[]; .bytes <= 20 * (524288 + 65536) * (.elapsed_ns / 1000000000 | ceil))'
	check "the window of all is told" parts "map(select(.type == \"fact\" and .name == \"common_throughput\" and .value > 0)) | length >= $layouts"
	is "the readers' files were made before" "$(jq '[.steps[] | select(.what | test("^make the files that .* reads$"))] | length' "$T/show.json")" $((layouts * 2))
	check "before their caches were emptied" jq -e 'all(.trials[]; .cache | startswith("cold"))' "$T/show.json"
	check "no page of files on xfs and ext4 was in memory then" jq -e '[.trials[] | select(.cache | test("unmounted and mounted.*no page of [0-9]+ files in memory"))] | length == 4' "$T/show.json"
	if [ -n "$HAS_ZFS" ]; then
		is "the pool's cache device was taken out for each trial" "$(jq '[.steps[] | select(.argv[1] == "remove")] | length' "$T/show.json")" 2
		is "and put in again empty" "$(jq '[.steps[] | select(.argv[1] == "add" and .argv[3] == "cache")] | length' "$T/show.json")" 2
		check "which the trials say" jq -e '[.trials[] | select(.cache | test("exported and imported.*1 cache device taken out and put in again"))] | length == 2' "$T/show.json"
	fi
	check "so that they came from the disks" jq -e '[.results[] | select(.workload == "whole" and .metric == "physical_read_bytes")]
		| length > 0 and all(.[]; .min >= 20971520 * 0.95)' <(fleet_ctl report 1 --format json)
	check "nothing is left" nothing_left one
}

test_mixed() {
	ends "members of several kinds run side by side" 0 fleet_ctl run "$T/mixed.yaml"
	fleet_ctl export 2 -o "$T/run.jsonl"
	check "each of them did its part" parts 'map(select(.type == "part" and .kind == "member")) | length % 3 == 0 and length > 0 and all(.[]; .ops > 0 and .elapsed_ns >= 1000000000)'
	check "flowops are told under their member's name" parts 'map(select(.type == "part" and .kind == "flowop" and (.name | startswith("mixed.3/")))) | length > 0'
}

caches_emptied() { awk '$1 == "drop_pagecache" {print $2}' /proc/vmstat; }

test_warm() {
	local run emptied
	# Who else tests here may empty the caches of the machine meanwhile; the kernel counts that.
	for run in 3 4 5 6 7 8; do
		emptied=$(caches_emptied)
		ends "warm caches: the run ends with 0" 0 fleet_ctl run "$T/warm.yaml"
		[ "$emptied" != "$(caches_emptied)" ] || break
	done
	fleet_ctl --json show $run >"$T/show.json"
	is "two trials count" "$(trials_counted $run)" 2
	is "each went before itself once" "$(jq '[.steps[] | select(.what | test("once to warm the caches, not counted"))] | length' "$T/show.json")" 2
	check "and says so" jq -e 'all(.trials[]; .cache | test("^warm: .* ran once before, not counted"))' "$T/show.json"
	check "what was read came from memory" jq -e '[.results[] | select(.workload == "read" and .metric == "physical_read_bytes")]
		| length == 1 and .[0].max < 8388608 * 0.5' <(fleet_ctl report $run --format json)
}

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }

test_stuck() {
	local number worker
	number=$(file_plan "$T/stuck.yaml")
	await_check "a slow trial is under way" 30 in_trial "$number"
	worker=$(worker_of one)
	kill -STOP "$worker"
	await_check "a worker that stands still ends the trial" 60 run_is_over "$number"
	check "as failed" run_is "$number" failed
	like "which says why" "$(fleet_ctl --json show "$number" | jq -r '.trials[0].error')" "no progress for 2s.*processes were killed"
	check_not "the worker is gone" kill -0 "$worker"
	await_check "the volume was taken down" 20 nothing_left one
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
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
	test_members
	test_mixed
	test_warm
	test_stuck
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
