#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real raidz pools on scratch disks, on two hosts with a ZFS each: built anew in each block in the
# order of the seed, measured cold, taken down without a trace; and a ZFS daemon that is killed in the
# middle of a trial.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

write_plans() {
	cat >"$T/plan.yaml" <<-END
		name: raidz2-8-vs-10
		hosts: all
		trials: 3
		cache: cold
		layouts:
		  raidz2-8:
		    scratch: {disks: 8, size: 64M}
		    pool: {level: raidz2, disks: 8, ashift: 12, properties: {atime: off, compression: off}}
		  raidz2-10:
		    scratch: {disks: 10, size: 64M}
		    pool: {level: raidz2, disks: 10, ashift: 12, properties: {atime: off, compression: off}}
		workloads:
		  write: {stream: {op: write, size: 8M, block-size: 256K, file: "test-{trial}"}}
		  read:  {stream: {op: read, of: write}}
		samples: 100ms
	END
	# Slow enough to be met in the middle of a trial, whatever the machine.
	cat >"$T/slow.yaml" <<-END
		name: slow-pool
		hosts: [one]
		trials: 1
		layouts:
		  pool:
		    scratch: {disks: 5, size: 64M}
		    pool:
		      level: raidz1
		      disks: 3
		      spares: 1
		      log: 1
		      ashift: 12
		      properties: {atime: off, compression: gzip}
		      datasets: {pg: {recordsize: 16K}}
		workloads:
		  slow: {stream: {op: write, size: 64M, rate: 1M, block-size: 64K, sync: none}}
		samples: 100ms
		on-trial-failure: stop
	END
}

test_too_small() {
	local before
	before=$(fleet_ctl --json runs | jq '.runs | length')
	refused "a volume that is too small is an error before anything runs" 1 'too small' \
		fleet_ctl run "$T/plan.yaml" --set workloads.write.stream.size=1G
	is "nothing was filed" "$(fleet_ctl --json runs | jq '.runs | length')" "$before"
	run fleet_ctl run --dry-run "$T/plan.yaml"
	like "a dry run shows the pool's vector" "$(cat "$T/out")" \
		'zpool create .*-o ashift=12 -O atime=off -O compression=off .?am_<run>_1_<job>.? raidz2 '
	check "and builds nothing" nothing_left one
}

test_run() {
	local name block
	ends "the run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	is "every trial is there" "$(trials_counted 1)" 24
	check "and counts once" trials_unique 1
	for name in one two; do
		for block in 1 2 3; do
			check "block $block on $name had the order of its seed" order_is_right 1 "$name" 2 "$block"
		done
	done
	fleet_ctl --json show 1 >"$T/show.json"
	is "each build made a pool of its own" "$(jq '[.steps[] | select(.phase == "build" and (.argv[0] | endswith("zpool")) and .argv[1] == "create")] | length' "$T/show.json")" 12
	is "each workload began with an export" "$(jq '[.steps[] | select(.phase == "cache" and .argv[1] == "export")] | length' "$T/show.json")" 24
	is "and an import by GUID" "$(jq '[.steps[] | select(.phase == "cache" and .argv[1] == "import" and (.argv[-1] | test("^[0-9]{15,}$")))] | length' "$T/show.json")" 24
	check "every trial says so" jq -e 'all(.trials[]; .cache | test("export.*import.*GUID"))' "$T/show.json"
	fleet_ctl report 1 --format json >"$T/report.json"
	check "what was read came from the disks" jq -e '[.results[] | select(.workload == "read" and .metric == "physical_read_bytes")]
		| length == 4 and all(.[]; .min > 8388608 * 0.95 and .max < 8388608 * 1.3)' "$T/report.json"
	check "what was written went to them, with its parity" jq -e '[.results[] | select(.workload == "write" and .metric == "physical_write_bytes")]
		| length == 4 and all(.[]; .min > 8388608 * 1.2)' "$T/report.json"
	check "cold reads carry the physical bytes in the text, too" grep -qE 'raidz2-10 +3 .* (0\.9|1\.[0-2])' <(fleet_ctl report 1)
	test_evidence
	check "nothing is left on one" nothing_left one
	check "nothing is left on two" nothing_left two
}

# Each disk of the pool stands for itself, and together they are the sums; the pool's own facts are there.
test_evidence() {
	fleet_ctl export 1 -o "$T/run.jsonl"
	evidence_adds_up "$T/run.jsonl"
	is "each trial tells each disk of its pool" "$(trial_disks "$T/run.jsonl" | jq -c '[.[] | [.layout_name, (.disks | length)]] | unique')" \
		'[["raidz2-10",10],["raidz2-8",8]]'
	check "every disk of a pool was written to" jq -se 'map(select(.type == "trial-disks") | .disks[]) | all(.write_bytes > 0 or .read_bytes > 0)' "$T/run.jsonl"
	check "the pool counted no failure of any" jq -se 'map(select(.type == "trial-disks") | .disks[]) | all(.errors == 0)' "$T/run.jsonl"
	check "nothing was compressed" jq -se 'map(select(.type == "trial").evidence.compress_ratio_permille) | length == 24 and all(. == 1000)' "$T/run.jsonl"
	check "what the caches are set to is told, before and after" jq -se 'map(select(.type == "trial").evidence.settings) | length == 24
		and all(any(.[]; .name == "primarycache" and .of == null and .before == "all" and .after == "all")
			and any(.[]; .name == "compression" and .before == "off"))' "$T/run.jsonl"
	check "no scrub was seen, before and after" jq -se 'map(select(.type == "trial").evidence) | all(.maintenance_before == 0 and .maintenance_after == 0)' "$T/run.jsonl"
	check "each cold trial had a look before it" jq -se 'map(select(.type == "trial").evidence) | all(.look_ns >= 250000000 and .look_cpu_permille >= 0)' "$T/run.jsonl"
}

# The owner sets a property while a trial runs: the settings before and after it differ, and the report
# says so.
test_changed() {
	local number
	cat >"$T/changed.yaml" <<-END
		name: changed
		hosts: [one]
		trials: 1
		layouts: {tank: {existing: $FLEET/one/existing/tank}}
		workloads: {write: {stream: {op: write, size: 3M, rate: 1M, block-size: 64K}}}
		samples: 100ms
	END
	number=$(file_plan "$T/changed.yaml")
	await_check "a trial on it is under way" 30 in_trial "$number"
	ends "its owner sets a property meanwhile" 0 fleet_in one zfs set primarycache=metadata tank
	await_check "the run ends" 60 run_is_over "$number"
	is "both values are told" "$(exported "$number" 'select(.type == "trial").evidence.settings[] | select(.name == "primarycache") | "\(.of) \(.before) \(.after)"')" \
		"null all metadata"
	like "and the report says so" "$(fleet_ctl report "$number")" "V09 .*primarycache changed from 'all' to 'metadata' in block 1"
}

# A directory on the owner's own pool: the disks below it are told, though it has no device of its own.
test_existing_pool() {
	local loops=() file
	for file in "$T/own1" "$T/own2"; do
		truncate -s 128M "$file"
		loops+=("$(losetup -f --show "$file")")
	done
	ends "the owner makes a pool" 0 fleet_in one zpool create -m "$FLEET/one/existing/tank" tank mirror "${loops[@]}"
	cat >"$T/existing.yaml" <<-END
		name: own-pool
		hosts: [one]
		trials: 1
		layouts: {tank: {existing: $FLEET/one/existing/tank}}
		workloads: {write: {stream: {op: write, size: 8M}}}
	END
	ends "a run in a directory on it ends with 0" 0 fleet_ctl run "$T/existing.yaml"
	fleet_ctl export last -o "$T/own.jsonl"
	is "the disks of its pool are told" "$(trial_disks "$T/own.jsonl" | jq -r '.[0].disks[] | "/dev/" + .name' | sort | xargs)" \
		"$(printf '%s\n' "${loops[@]}" | sort | xargs)"
	check "each got what was written" jq -e '.[0].disks | all(.write_bytes >= 8388608)' <(trial_disks "$T/own.jsonl")
	check "it was looked at before, though nothing was made cold" jq -se 'map(select(.type == "trial").evidence) | length == 1 and all(.look_ns >= 100000000)' "$T/own.jsonl"
	test_changed
	await_check "the pool is its owner's still" 15 fleet_in one zpool destroy tank
	losetup -d "${loops[@]}"
}

zfs_get() { fleet_in one zfs get -Hp -o value "$1" "$2"; }

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one; }

test_pool_in_use() {
	local pool
	pool=$(fleet_in one zpool list -H -o name | grep '^am_')
	like "the pool has a name of ours" "$pool" '^am_2_1_[0-9a-f]{6}$'
	is "its properties are set: atime" "$(zfs_get atime "$pool")" off
	is "its properties are set: compression" "$(zfs_get compression "$pool")" gzip
	is "the dataset is there with its own" "$(zfs_get recordsize "$pool/pg")" 16384
	like "it has its level, log and spare" "$(fleet_in one zpool status "$pool" | xargs)" 'raidz1-0 .* logs .* spares'
	check "the journal knows the spare by its own GUID" \
		jq -se 'any(.[]; .key? == "spare-guids" and (.value | test("^[1-9][0-9]*$")))' "$FLEET"/one/state/journal-*.jsonl
	like "it is mounted under the agent's own folder" "$(zfs_get mountpoint "$pool")" "^/run/arraymark/one/$pool"
	check_not "the other host does not see it" fleet_in two zpool list -H -o name "$pool"
	UNDER=/run/arraymark/one/$pool
}

knows_zfs() { fleet_ctl --json host list | jq -e --arg h "$1" '.hosts[] | select(.host == $h) | .zfs != null' >/dev/null; }

# The ZFS daemon dies: what is written from then on would land in the folder under the mount point.
test_daemon_killed() {
	local number error
	number=$(file_plan "$T/slow.yaml")
	await_check "a trial on a pool is under way" 30 in_trial "$number"
	test_pool_in_use
	"$ROOT/deploy/zfs-host" kill-daemon "$FLEET/one"
	await_check "the run ends when the ZFS daemon is killed" 40 run_is_over "$number"
	check "as failed" run_is "$number" failed
	error=$(fleet_ctl --json show "$number" | jq -r '.trials[0].error')
	like "the trial says what happened and where" "$error" '(/run/arraymark/one|am_2_1).*|Transport endpoint|not connected|input/output'
	note "the trial's error: $error"
	is "nothing was written under the mount point" "$(fleet_in one find "$UNDER" -xdev -type f 2>/dev/null | wc -l)" 0
	"$ROOT/deploy/zfs-host" start-daemon "$FLEET/one"
	await_check "with the daemon back, everything is taken down" 40 nothing_left one
	await_check "and the host is ready again" 20 host_is one idle
	await_check "the agent finds the ZFS that is back by itself" 60 knows_zfs one
	ends "the next run works" 0 fleet_ctl run "$T/slow.yaml" --set workloads.slow.stream.size=1M --set workloads.slow.stream.rate=100M
	check "and leaves nothing" nothing_left one
}

main() {
	local why
	why=$("$ROOT/deploy/zfs-host" check) || skip_all "${why#SKIP: }"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	fleet_init
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one two 2>"$T/err" || bail "two agents with a ZFS each come up"
	write_plans
	like "the agents know their ZFS" "$(fleet_ctl --json host list | jq -r '.hosts[].zfs' | sort -u)" '^(zfs-fuse|OpenZFS|[0-9])'
	test_too_small
	test_run
	test_daemon_killed
	test_existing_pool
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
