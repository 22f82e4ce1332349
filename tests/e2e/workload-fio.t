#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The workloads fio and command on real volumes (raidz2, xfs, ext4): what is counted, what is refused,
# what is said when fio or the program fails, and that nothing of them is left.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

LAYOUTS=2

write_policy() {
	mkdir -p "$FLEET/one" "$T/jobs"
	fleet_policy "$FLEET/one" | sed "s|^  programs:.*|  inputs: [$T/jobs/*]\n  programs: [/usr/bin/fio, /usr/bin/dd, /usr/bin/ls, /usr/bin/sleep, /usr/bin/truncate, $T/*/fio, $T/old/tool]|" \
		>"$FLEET/one/agent.yaml"
	printf '[global]\nbs=4k ; the usual\ngroup_reporting\n[first]\nrw=randwrite\nsize=1m\n[second]\nstonewall\nrw=read\nsize=2m\nfilename=data\n' \
		>"$T/jobs/good.fio"
	printf '[a]\nrw=read\nsize=1m\ndirectory=/etc\ninclude /etc/passwd\nfilename=../x\nexec_prerun=/usr/bin/id\n' >"$T/jobs/bad.fio"
	printf '[a]\nrw=write\nsize=1m\n\nfixedbufs=1\nioengine=libaio\n' >"$T/jobs/engine.fio"
	mkdir "$T/old" && printf '#!/bin/sh\necho fio-2.21\n' >"$T/old/fio" && chmod 755 "$T/old" "$T/old/fio"
	ln -s /usr/bin/fio "$T/old/tool"
	mkdir "$T/dull" && printf 'no program\n' >"$T/dull/fio" && chmod 755 "$T/dull"
}

write_plans() {
	local zfs=
	if [ "$FLEET_ZFS" = yes ]; then
		LAYOUTS=3
		zfs="raidz2: {scratch: {disks: 5, size: 64M}, pool: {level: raidz2, disks: 5, properties: {compression: off}}}"
	fi
	cat >"$T/plan.yaml" <<-END
		name: fio-and-commands
		hosts: [one]
		trials: 1
		layouts:
		  xfs:  {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs}}
		  ext4: {scratch: {disks: 1, size: 128M}, filesystem: {type: ext4}}
		  $zfs
		workloads:
		  lay:  {fio: {options: {rw: write, bs: 64k, size: 4M, end_fsync: 1, filename: data}}}
		  rand:
		    fio:
		      global: {bs: 4k, size: 4M, filename: data}
		      jobs: {r: {rw: randread, numjobs: 2}, w: {rw: randwrite, fsync: 64, rate_iops: 200}}
		    duration: 1s
		  file: {fio: {job: $T/jobs/good.fio, options: {bs: 8k}}}
		  dd:   {command: {argv: [/usr/bin/dd, if=/dev/zero, "of={dir}/c-{trial}", bs=64k, count=16]}}
		  look: {command: {argv: [/usr/bin/dd, if=data, of=/dev/null, bs=64k], sync: none}}
		  copy: {command: {argv: [/usr/bin/dd, if=data, of=copied, bs=64k], sync: none}}
		samples: 200ms
	END
	cat >"$T/wrong.yaml" <<-END
		name: what-fails
		hosts: [one]
		trials: 1
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads:
		  engine: {fio: {job: $T/jobs/engine.fio}}
		  status: {command: {argv: [/usr/bin/ls, /nonexistent]}}
		  slow:   {command: {argv: [/usr/bin/sleep, "60"], timeout: 1s}}
		  parse:  {command: {argv: [/usr/bin/ls], parse: dd}}
		  race:   {parallel: [{command: {argv: [/usr/bin/dd, if=/dev/zero, of=all, bs=1M, count=60], parse: none}}, {fio: {options: {rw: write, bs: 64k, size: 6M, rate: 2m, fallocate: none}}}]}
		  gone:   {command: {argv: [/usr/bin/ls, race.2.0.0]}}
		  empty:  {command: {argv: [/usr/bin/truncate, -s, "0", all], sync: none}}
		  sparse: {command: {argv: [/usr/bin/truncate, -s, 20M, sparse], sync: none}}
		  fill:   {command: {argv: [/usr/bin/dd, if=/dev/zero, of=fill, bs=1M, count=40], parse: none}}
		  full:   {fio: {options: {rw: write, bs: 64k, size: 20M, filename: sparse}}}
		  more:   {fio: {options: {rw: write, bs: 64k, size: 15M}}}
		  still:  {fio: {options: {rw: read, bs: 64k, size: 1M, filename: fill}}}
		samples: 200ms
		on-trial-failure: continue
	END
	cat >"$T/order.yaml" <<-END
		name: in-order
		hosts: [one]
		trials: 1
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads:
		  chain: {fio: {global: {rw: randread, size: 1M, rate_iops: 200, runtime: 1, time_based: 1}, jobs: {a: {}, b: {wait_for: a}}}}
		  late:  {fio: {options: {rw: randread, size: 1M, rate_iops: 200, runtime: 1, time_based: 1, startdelay: 3}}}
		samples: 200ms
	END
	cat >"$T/held.yaml" <<-END
		name: held
		hosts: [one]
		trials: 1
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads: {hold: {fio: {options: {rw: randread, size: 1M, numjobs: 3, rate_iops: 50}}, duration: 5m}}
		samples: 200ms
	END
}

test_run() {
	run fleet_ctl run --dry-run "$T/plan.yaml"
	like "a dry run shows fio's vector" "$(cat "$T/out")" '/usr/bin/fio --output-format=json[+] --status-interval=200ms -$'
	like "and the command's" "$(cat "$T/out")" "/usr/bin/dd if=/dev/zero '?of=[{]dir[}]/c-[{]trial[}]'? bs=64k count=16"
	run fleet_ctl run --dry-run "$T/plan.yaml" --set "workloads={two: {parallel: [{stream: {op: write, size: 1M}}, {fio: {options: {rw: write, size: 1m}}}, {command: {argv: [/usr/bin/ls, -l]}}]}}"
	like "of what runs in parallel too" "$(tr '\n' '~' <"$T/out")" 'two.2 .fio.: run[^/]*/usr/bin/fio --output-format=.*two.3 .command.: run[^/]*/usr/bin/ls -l'
	ends "a dry run reads a job file" 1 fleet_ctl run --dry-run "$T/plan.yaml" --set "workloads={x: {fio: {job: $T/jobs/bad.fio}}}"
	like "and names its wrong lines" "$(cat "$T/err")" 'workload x: .*bad.fio:[0-9]+: .*bad.fio:[0-9]+: '
	ends "one that is not there" 1 fleet_ctl run --dry-run "$T/plan.yaml" --set "workloads={x: {fio: {job: $T/jobs/none.fio}}}"
	like "is told" "$(cat "$T/err")" 'workload x: .*none.fio: No such file'
	ends "the run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	is "every trial is there" "$(trials_counted 1)" $((6 * LAYOUTS))
	fleet_ctl export 1 >"$T/run.jsonl"
	is "fio's writes are counted, all of them" "$(jq -c 'select(.type == "trial" and .workload_name == "lay") | [.ops, .bytes]' "$T/run.jsonl" | sort -u)" "[64,4194304]"
	is "options of the plan took the place of the job file's, jobs followed each other" \
		"$(jq -c 'select(.type == "trial" and .workload_name == "file") | [.ops, .bytes]' "$T/run.jsonl" | sort -u)" "[384,3145728]"
	check "a job file's reads and writes are parts" jq -es '[.[] | select(.type == "part" and (.name == "first randwrite" or .name == "first write") and .ops == 128)] | length == '$LAYOUTS "$T/run.jsonl"
	check "parts add up to their trials" jq -es '(map(select(.type == "part")) | group_by(.trial)
		| map({(.[0].trial | tostring): (map(.ops) | add)}) | add) as $parts
		| [.[] | select(.type == "trial" and (.workload_name | IN("dd", "look", "copy") | not))] | all(.ops == $parts[.trial | tostring])' "$T/run.jsonl"
	check "timed jobs ran as long as they should" jq -es '[.[] | select(.type == "trial" and .workload_name == "rand") | .elapsed_ns / 1e9]
		| all(. >= 0.99)' "$T/run.jsonl"
	check "syncs are told apart" jq -es '[.[] | select(.type == "fact" and .name == "sync_ops" and .value >= 1)] | length >= '$LAYOUTS "$T/run.jsonl"
	check "what fio got is kept" jq -es '[.[] | select(.type == "note" and .name == "settings") | .text | select(test("^fio-[0-9].*directory=[.]"; "m"))] | length == '$((3 * LAYOUTS)) "$T/run.jsonl"
	is "dd's own bytes are the command's" "$(jq -c 'select(.type == "trial" and .workload_name == "dd") | .bytes' "$T/run.jsonl" | sort -u)" 1048576
	check "dd's own words are kept" jq -es '[.[] | select(.type == "note" and .name == "messages" and (.text | test("1048576 bytes")))] | length == '$LAYOUTS "$T/run.jsonl"
	is "what a command wrote is told" "$(written_by dd)" 1048576
	is "also where it wrote nothing" "$(written_by look)" 0
	like "what is not synced is called where it writes" "$(fleet_ctl report 1)" 'V03 .*/copy.*the program wrote 4 MiB into files'
	check_not "and not where it reads" grep -E 'V03 .*look' <(fleet_ctl report 1)
	check "nothing is left" nothing_left one
	test_shown
}

# written_by WORKLOAD: bytes into files, each value once.
written_by() {
	jq -rs --arg w "$1" '(map(select(.type == "trial" and .workload_name == $w) | .trial)) as $of
		| .[] | select(.type == "fact" and .name == "file_bytes_written" and (.trial | IN($of[]))) | .value' "$T/run.jsonl" | sort -u
}

# What trials tell beside their counters, where people look.
test_shown() {
	fleet_ctl show 1 >"$T/show.txt"
	like "show lists the parts" "$(cat "$T/show.txt")" '^ +1 +ext4 +lay +lay write +job +64 +4 MiB .*us'
	like "and the facts" "$(cat "$T/show.txt")" 'block 1, ext4, rand: .*sync_latency_mean '
	like "and the notes, line by line" "$(cat "$T/show.txt")" '^  \| directory=\.$'
	check_not "unless it is brief" grep -q 'lay write' <(fleet_ctl show --brief 1)
	like "a long report sums them up" "$(fleet_ctl report 1 --long)" '^ext4 +first randwrite|^ext4 +first write +128 '
	check "the JSON report has them" jq -e --argjson n "$LAYOUTS" '[.details[] | select(.workload == "lay") | .parts[] | select(.ops == 64 and .latency_p99 > 0)] | length == $n' \
		<(fleet_ctl report 1 --format json)
	ends "the run's export is taken in by a store" 0 fleet_ctl import "$T/run.jsonl" --as taken
	is "and shows the same parts" "$(fleet_ctl --json show taken | jq -cS '[.parts[] | del(.run, .job)] | sort_by(.trial, .name)')" \
		"$(fleet_ctl --json show 1 | jq -cS '[.parts[] | del(.run, .job)] | sort_by(.trial, .name)')"
}

elapsed_of() { exported in-order -s --arg w "$1" '[.[] | select(.type == "trial" and .workload_name == $w and .ok) | .elapsed_ns / 1e9][0] // 0'; }
within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x < high) }' || { echo "$1 is not within $2 and $3"; return 1; }; }

# By fio's own clocks: a job behind another adds up, a delay does not count.
test_order() {
	ends "jobs that wait and jobs that are delayed run" 0 fleet_ctl run "$T/order.yaml"
	check "a job behind another adds to the time" within "$(elapsed_of chain)" 1.99 4
	check "a delay is not of the time" within "$(elapsed_of late)" 0.99 3
	refused "who waits for a job that is not there" 1 "jobs.b.wait_for: there is no job 'c' before this one" \
		fleet_ctl run "$T/order.yaml" --set workloads.chain.fio.jobs.b.wait_for=c
}

error_of() { jq -r --arg w "$1" 'select(.type == "trial" and .workload_name == $w) | .error // "none"' "$T/run.jsonl"; }

# cannot WHAT REGEX WORKLOAD: a run with it among others ends before anything is built; a dry run knows, too.
cannot() {
	run fleet_ctl run --dry-run "$T/order.yaml" --set "workloads.late=$3"
	like "$1: a dry run says so" "$STATUS $(tr '\n' ' ' <"$T/err")" "^[13] .*one: workload late: .*$2"
	ends "$1: a run ends" 1 fleet_ctl run "$T/order.yaml" --set "workloads.late=$3"
	like "$1: with the same words" "$(fleet_ctl show last | grep -A1 '^one: job')" "^ +workload late: .*$2"
	is "$1: and built nothing" "$(fleet_ctl --json show last | jq -c '[(.trials, .steps) | length]')" '[0,0]'
}

test_cannot() {
	cannot "a job file's wrong lines" "bad.fio:4: 'directory' is refused.*bad.fio:5: 'include' is refused.*bad.fio:6: filename: .*and 1 more" "{fio: {job: $T/jobs/bad.fio}}"
	cannot "a job file that isn't there" 'none.fio.*No such file' "{fio: {job: $T/jobs/none.fio}}"
	cannot "no fio" "there is no $T/none/fio: install fio" "{fio: {program: $T/none/fio, options: {rw: read, size: 1m}}}"
	cannot "a fio that may not be run" "cannot start $T/dull/fio: Permission denied" "{fio: {program: $T/dull/fio, options: {rw: read, size: 1m}}}"
	cannot "an old fio" 'is fio-2.21.*fio 3 or later is needed' "{fio: {program: $T/old/fio, options: {rw: read, size: 1m}}}"
	cannot "a link to fio, which a command doesn't run" "a command does not run /usr/bin/fio, .*: use the fio workload" \
		"{command: {argv: [$T/old/tool, --name=x, --rw=read, --size=1m, --exec_prerun=/usr/bin/id]}}"
}

test_wrong() {
	ends "the run fails" 1 fleet_ctl run "$T/wrong.yaml"
	fleet_ctl export what-fails >"$T/run.jsonl"
	like "what fio itself refuses has its line" "$(error_of engine)" 'engine.fio:5: \[a\]: .*fixedbufs=1'
	like "a command's status and last line" "$(error_of status)" "/usr/bin/ls ended with status 2: .*cannot access '/nonexistent'"
	like "a command's timeout" "$(error_of slow)" '/usr/bin/sleep took longer than its timeout of 1s and was killed'
	like "an output that isn't what the plan says" "$(error_of parse)" 'output'
	like "a full volume: errno, file and offset" "$(error_of full)" "fio's job 'full' failed: No space left on device [(]ENOSPC[)]: .*file ./sparse: .* offset=[0-9]+"
	like "files that find no room are not begun" "$(error_of more)" "fio's files need 15 MiB more"
	like "who fills the volume fails" "$(error_of race)" 'No space left'
	like "and leaves no file of its own" "$(error_of gone)" "/usr/bin/ls ended with status 2: .*race.2.0.0"
	is "the others went on" "$(error_of still)" none
	check "nothing is left" nothing_left one
	ends "nor by its own name, though the policy names it" 1 fleet_ctl plan check "$T/wrong.yaml" --set "workloads.status.command.argv=[/usr/bin/fio, --exec_prerun=/usr/bin/id]"
	run fleet_ctl run "$T/wrong.yaml" --set "workloads.status.command.argv=[/usr/bin/id]"
	like "a program that the policy doesn't name is refused" "$(cat "$T/err" "$T/out")" "allow.programs' does not name /usr/bin/id"
}

in_trial() { fleet_ctl --json show "$1" | jq -e 'any(.trials[]; .state == "running")' >/dev/null && has_worker one && runs_fio; }

# A fio whose working folder is a volume of ours.
runs_fio() {
	local dir
	for dir in /proc/[0-9]*/cwd; do
		case $(readlink "$dir" 2>/dev/null) in
		/run/arraymark/one/*) [ "$(cat "${dir%cwd}comm" 2>/dev/null)" = fio ] && return 0 ;;
		esac
	done
	return 1
}
no_fio() { ! runs_fio; }

test_cancel() {
	local number
	number=$(file_plan "$T/held.yaml")
	await_check "fio is under way" 30 in_trial "$number"
	ends "cancelled" 0 fleet_ctl cancel --wait "$number"
	await_check "fio and its clones are gone" 10 no_fio
	await_check "the volume is taken down" 20 nothing_left one
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	[ -x /usr/bin/fio ] || skip_all "there is no fio: run deploy/install-deps test"
	fleet_init
	write_policy
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plans
	like "the agent knows its fio" "$(fleet_ctl --json host show one | jq -r '.inventory.capabilities[]?' 2>/dev/null)" '^fio 3'
	test_run
	test_order
	test_cannot
	test_wrong
	test_cancel
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
