#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# xfs and ext4 on one scratch disk: made with the options asked for, measured cold, gone afterwards.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

write_plan() {
	cat >"$T/plan.yaml" <<-END
		name: xfs-vs-ext4
		hosts: [one]
		trials: 2
		cache: cold
		layouts:
		  xfs:  {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs, mount: [noatime]}}
		  ext4: {scratch: {disks: 1, size: 512M}, filesystem: {type: ext4, mount: [noatime]}}
		workloads:
		  write: {stream: {op: write, size: 16M, files: 2, threads: 2, direct: true}}
		  read:  {stream: {op: read, of: write, verify: true}}
		samples: 100ms
	END
	cat >"$T/own.yaml" <<-END
		name: own-files
		hosts: [one]
		trials: 1
		layouts:
		  xfs:  {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs, mount: [noatime]}}
		  ext4: {scratch: {disks: 1, size: 512M}, filesystem: {type: ext4, mount: [noatime]}}
		workloads:
		  reads:  {random: {op: read, size: 16M, block-size: 64K}}
		  sealed: {random: {op: read, size: 16M, block-size: 64K, verify: true}}
		  mixed:  {random: {op: mixed, reads: 90%, size: 16M, block-size: 64K, verify: true}}
		  large:  {filebench: {personality: randomread, filesize: 16M, iosize: 1M, duration: 1s}}
		samples: 100ms
	END
	cat >"$T/slow.yaml" <<-END
		name: held
		hosts: [one]
		trials: 1
		layouts: {xfs: {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs, mount: [noatime]}}}
		workloads: {slow: {stream: {op: write, size: 256M, rate: 1M, block-size: 64K}}}
		samples: 100ms
	END
}

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }

test_run() {
	ends "the run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	is "every trial is there" "$(trials_counted 1)" 8
	check "block 1 had the order of its seed" order_is_right 1 one 2 1
	fleet_ctl --json show 1 >"$T/show.json"
	is "each build made its file system" "$(jq -c '[.steps[] | select(.phase == "build") | .argv[0] // "" | select(test("/mkfs[.]")) | sub(".*/"; "")] | sort' "$T/show.json")" \
		'["mkfs.ext4","mkfs.ext4","mkfs.xfs","mkfs.xfs"]'
	check_not "none was forced over something" jq -e 'any(.steps[].argv | select((.[0] // "") | test("/mkfs[.]")); index("-F") or index("-f"))' "$T/show.json"
	is "each workload began with a mount anew" "$(jq '[.steps[] | select(.phase == "cache" and ((.argv[0] // "") | endswith("/mount")))] | length' "$T/show.json")" 8
	fleet_ctl report 1 --format json >"$T/report.json"
	check "what was read came from the disk" jq -e '[.results[] | select(.workload == "read" and .metric == "physical_read_bytes")]
		| length == 2 and all(.[]; .min >= 16777216 and .max < 16777216 * 1.3)' "$T/report.json"
	check "what was written went to it" jq -e '[.results[] | select(.workload == "write" and .metric == "physical_write_bytes")]
		| length == 2 and all(.[]; .min >= 16777216)' "$T/report.json"
	fleet_ctl export 1 -o "$T/run.jsonl"
	evidence_adds_up "$T/run.jsonl"
	check "the loop device names what it stands on" jq -se 'map(select(.type == "trial-disks") | .disks[]) | length == 8 and all(.name | test("^loop"))' "$T/run.jsonl"
	check "the options of its mount are told, before and after" jq -se 'map(select(.type == "trial").evidence.settings[]) | length == 8
		and all(.name == "mount" and .before == .after and (.before | test("^rw,")))' "$T/run.jsonl"
	check "and the write cache of the disk below" jq -se 'map(select(.type == "trial-disks").disks[])
		| all(.cache_before == .cache_after)' "$T/run.jsonl"
	check "nothing is left" nothing_left one
}

# What the disk gave, of 16 MiB; a part of them where each place is drawn, and twice where all is verified after.
reads_at_least() {
	jq -se --arg w "$1" --argjson least "$2" '[.[] | select(.type == "trial" and .workload_name == $w)]
		| length == 2 and all(.[]; (.cache | test("^cold: ")) and .telemetry.disk_read_bytes >= $least)' "$T/own.jsonl" >/dev/null
}

test_own_files() {
	ends "a run with files that workloads make themselves ends with 0" 0 fleet_ctl run "$T/own.yaml"
	fleet_ctl export last >"$T/own.jsonl"
	check "what random reads comes from the disk" reads_at_least reads 16777216
	check "so it does where it is verified" reads_at_least sealed 16000000
	check "and where it is written over and verified again" reads_at_least mixed 28000000
	check "what filebench reads comes from it first" reads_at_least large 14000000
	is "the verification says that it came from the disks" "$(jq -rs '[.[] | select(.type == "fact" and .name == "verified_from_disks").value] | unique | tostring' "$T/own.jsonl")" '[1]'
	check "nothing is left" nothing_left one
}

test_cancel() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a trial on xfs is under way" 30 in_trial "$number"
	like "it is mounted as asked" "$(grep '/run/arraymark/one/' /proc/self/mounts)" ' xfs .*noatime'
	ends "cancelled" 0 fleet_ctl cancel --wait "$number"
	await_check "it is taken down" 20 nothing_left one
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plan
	test_run
	test_own_files
	test_cancel
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
