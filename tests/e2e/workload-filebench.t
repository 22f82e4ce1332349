#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# filebench's personalities by our own engine on raidz2, xfs and ext4: 13 operations a loop of varmail,
# as the kernel counts them too; a workload file of the host; what is refused and what fails.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

small='nfiles: 60, nthreads: 4, filesize: 4k, meanappendsize: 4K'

write_plans() {
	local pool=''
	[ "$FLEET_ZFS" != yes ] || pool="raidz2: {scratch: {disks: 4, size: 64M}, pool: {level: raidz2, disks: 4, ashift: 12}}"
	cat >"$T/plan.yaml" <<-END
		name: mail
		hosts: [one]
		trials: 1
		cache: cold
		layouts:
		  xfs:  {scratch: {disks: 1, size: 512M}, filesystem: {type: xfs, mount: [noatime]}}
		  ext4: {scratch: {disks: 1, size: 128M}, filesystem: {type: ext4, mount: [noatime]}}
		  $pool
		workloads:
		  mail: {filebench: {personality: varmail, duration: 1s, $small}}
		  mine: {filebench: {wml: $T/mine.f, rounds: 40}}
		samples: 100ms
	END
	cat >"$T/mine.f" <<-'END'
		set $dir=/tmp
		set $rounds=10
		set mode quit alldone
		define fileset name=copies,path=$dir,entries=100,dirwidth=10,size=8k,prealloc=50
		define flowop name=copy
		{
		  flowop openfile name=from,filesetname=copies,fd=1
		  flowop readwholefile name=read,fd=1
		  flowop createfile name=to,filesetname=copies,fd=2
		  flowop writewholefile name=write,fd=2,srcfd=1
		  flowop closefile name=done1,fd=1
		  flowop closefile name=done2,fd=2
		}
		define process name=p { thread name=t
		{
		  flowop copy name=c,iters=$rounds
		  flowop finishoncount name=end,value=1
		} }
		run
	END
	cat >"$T/one.yaml" <<-END
		name: one-trial
		hosts: [one]
		trials: 1
		layouts: {ext4: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}}
		workloads:
		  mail: {filebench: {personality: varmail, duration: 1s, $small}}
		samples: 100ms
	END
}

# facts RUN NAME: of all its trials, one a line.
facts() { jq -rs --arg n "$2" 'map(select(.type == "fact" and .name == $n).value)[]' "$T/run$1.jsonl"; }

test_run() {
	local layouts
	layouts=$(grep -cE '^  (xfs|ext4|raidz2):' "$T/plan.yaml")
	ends "the run ends with 0" 0 fleet_ctl run "$T/plan.yaml"
	fleet_ctl export 1 >"$T/run1.jsonl"
	is "each trial has an IO Summary" "$(jq -s 'map(select(.type == "note" and .name == "IO Summary")) | length' "$T/run1.jsonl")" $((layouts * 2))
	check "a loop of varmail is 13 operations: 2 reads, 2 writes and 2 fsyncs among them" jq -se '
		def are($k; $l): . >= $k * $l and . <= $k * ($l + 4);
		[.[] | select(.type == "fact" or .type == "part" or .type == "trial")] | group_by(.trial)
		| map({facts: (map(select(.type == "fact") | {key: .name, value: .value}) | from_entries),
			fsyncs: (map(select(.type == "part" and (.name | test("[-]fsync$"))).ops) | add),
			ops: map(select(.type == "trial").ops)[0], of: map(select(.type == "trial").workload_name)[0]}
			| select(.of == "mail") | .facts.loops as $l
			| $l > 1 and (.ops | are(13; $l)) and (.facts.reads | are(2; $l)) and (.facts.writes | are(2; $l))
				and (.fsyncs | are(2; $l)))
		| length == '"$layouts"' and all' "$T/run1.jsonl"
	check "its parts add up to the operations of the trial" jq -se '
		(map(select(.type == "part")) | group_by(.trial) | map({key: (.[0].trial | tostring), value: (map(select(.kind == "flowop").ops) | add)}) | from_entries) as $sum
		| [.[] | select(.type == "trial") | $sum[.trial | tostring] == .ops] | length > 0 and all' "$T/run1.jsonl"
	check "both latencies are told" jq -se '
		[.[] | select(.type == "fact" and .name == "latency_rw_mean" or .name == "latency_all_mean") | .value > 0] | length > 3 and all' "$T/run1.jsonl"
	is "the host's file ran as it says" "$(jq -s '[.[] | select(.type == "part" and .name == "c.write") | .ops, .bytes] | unique' -c "$T/run1.jsonl")" '[40,327680]'
	check "nothing is left" nothing_left one
}

# What the kernel saw the workload's own threads do: those that append.
calls() {
	grep -v resumed "$T/strace" | awk -v name="$1" '
		{ call = $0; sub(/^[0-9]+ +/, "", call); sub(/\(.*/, "", call); n[$1, call]++; seen[$1] = 1 }
		END { for (t in seen) if (n[t, "pwritev2"]) sum += n[t, name]; print sum + 0 }'
}
part() { jq -rs --arg n "$1" 'map(select(.type == "part" and (.name | test($n))).ops) | add' "$T/run2.jsonl"; }

test_counts_against_the_kernel() {
	local appends
	if ! strace -qq -o /dev/null true 2>"$T/err"; then
		skip "the kernel counts the same operations" "strace cannot be used here: $(head -n 1 "$T/err")"
		return
	fi
	sed 's/^hosts:.*/hosts: all/' "$T/one.yaml" >"$T/alone.yaml"
	# The leak sanitizer cannot work in a program that is traced.
	ends "a run that is traced ends with 0" 0 env ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" strace -qq -f -s 0 -o "$T/strace" \
		-e trace=openat,close,unlinkat,pread64,pwritev2,fsync "$FLEET_BIN/arraymark" local "$T/alone.yaml"
	"$FLEET_BIN/arraymark" -c local export last >"$T/run2.jsonl"
	is "as many deletes" "$(calls unlinkat)" "$(part '^delete$')"
	is "as many reads of whole files" "$(calls pread64)" "$(part '[-]read$')"
	is "as many fsyncs" "$(calls fsync)" "$(part '[-]fsync$')"
	is "as many closes" "$(calls close)" "$(part '[-]close$')"
	check "as many opens, but for files that went meanwhile" [ "$(calls openat)" -ge "$(part '[-](open|create)$')" ]
	appends=$(part '[-]append$')
	# One of 4096 appends has no byte, and is no call.
	check "as many appends, but for empty ones" few_less "$(calls pwritev2)" "$appends"
	check "a loop is 2 reads in the kernel" per_loop "$(calls pread64)" 2
	check "and 2 writes" per_loop "$(calls pwritev2)" 2
	check "and 2 fsyncs" per_loop "$(calls fsync)" 2
	check "and 3 closes" per_loop "$(calls close)" 3
	check "and 1 delete" per_loop "$(calls unlinkat)" 1
}

# per_loop CALLS N: N for each loop of the 4 threads; each may have been in the middle of one at the end.
per_loop() {
	local loops
	loops=$(facts 2 loops)
	# One of 4096 appends has no byte.
	[ "$loops" -gt 20 ] && [ "$1" -ge $(($2 * loops - 5 - loops / 100)) ] && [ "$1" -le $(($2 * (loops + 4))) ]
}

few_less() { [ "$1" -le "$2" ] && [ "$1" -ge $(($2 - 5 - $2 / 200)) ]; }

failed_with() { fleet_ctl show last | grep -qE "$1"; }

test_bad_input() {
	printf 'set $x=1\nsystem "touch %s/ran"\n' "$T" >"$T/system.f"
	printf 'define process name=p {\n thread name=t {\n  flowop opnfile name=o\n } }\n' >"$T/wrong.f"
	refused "a wrong personality" 1 "'warmail' is not a personality .*did you mean 'varmail'" \
		fleet_ctl run "$T/one.yaml" --set workloads.mail.filebench.personality=warmail
	refused "a wrong variable" 1 "'nfile' is neither a key of filebench nor a variable of varmail; did you mean 'nfiles'" \
		fleet_ctl run "$T/one.yaml" --set workloads.mail.filebench.nfile=3
	refused "more than the volume holds" 1 'too small' \
		fleet_ctl run "$T/one.yaml" --set workloads.mail.filebench.nfiles=500000
	ends "a dry run reads the host's file" 1 fleet_ctl run --dry-run "$T/one.yaml" --set "workloads.mail={filebench: {wml: $T/wrong.f}}"
	like "and says what is wrong in it" "$(cat "$T/err")" "workload mail: .*wrong.f:3:10: 'opnfile' is not a flowop"
	ends "one with system ends so, too" 1 fleet_ctl run --dry-run "$T/one.yaml" --set "workloads.mail={filebench: {wml: $T/system.f}}"
	like "and says where" "$(cat "$T/err")" "system.f:2:1: 'system' runs a shell command"
	check_not "which was not run" test -e "$T/ran"
	ends "a dry run of one that is right" 0 fleet_ctl run --dry-run "$T/plan.yaml"
	ends "a file with system" 1 fleet_ctl run "$T/one.yaml" --set "workloads.mail={filebench: {wml: $T/system.f}}"
	check "is told by line and column" failed_with "system.f:2:1: 'system' runs a shell command"
	check_not "and was not run" test -e "$T/ran"
	is "and nothing was built" "$(fleet_ctl --json show last | jq -c '[(.trials, .steps) | length]')" '[0,0]'
	ends "a file with an unknown flowop" 1 fleet_ctl run "$T/one.yaml" --set "workloads.mail={filebench: {wml: $T/wrong.f}}"
	check "is told too" failed_with "wrong.f:3:10: 'opnfile' is not a flowop; did you mean 'openfile'"
	ends "a file that the policy doesn't name" 1 fleet_ctl run "$T/one.yaml" --set "workloads.mail={filebench: {wml: /etc/passwd}}"
	check "is refused" failed_with "allow.inputs' does not name /etc/passwd"
	ends "a program that is not there" 1 fleet_ctl run "$T/one.yaml" --set "workloads.mail.filebench.program=$T/filebench"
	check "is told" failed_with "there is no filebench to run at"
	is "before anything is built" "$(fleet_ctl --json show last | jq -c '[(.trials, .steps) | length]')" '[0,0]'
	ends "and by a dry run" 1 fleet_ctl run --dry-run "$T/one.yaml" --set "workloads.mail.filebench.program=$T/filebench"
	ends "a volume that gets full" 1 fleet_ctl run "$T/one.yaml" --set 'workloads.mail={filebench: {personality: fileserver, nfiles: 100, filesize: 4K, nthreads: 2, meanappendsize: 8M, duration: 30s}}'
	check "fails with file, offset and errno" failed_with "appending to 'mail.files/homes/.*' at byte [0-9]+: No space left"
	ends "and where a stream comes after it" 1 fleet_ctl run "$T/one.yaml" --set 'workloads={mail: {filebench: {personality: fileserver, nfiles: 100, filesize: 4K, nthreads: 2, meanappendsize: 8M, duration: 30s}}, after: {stream: {op: write, size: 30M}}}'
	is "that has its room again" "$(fleet_ctl export last | jq -c 'select(.type == "trial") | [.workload_name, .ok]' | sort | tr '\n' ' ')" '["after",true] ["mail",false] '
	check "nothing is left" nothing_left one
}

main() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	fleet_init
	[ "$FLEET_ZFS" = yes ] || note "no ZFS here: $FLEET_ZFS"
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	mkdir -p "$FLEET/one"
	fleet_policy "$FLEET/one" | grep -vE '^ +(inputs|programs):' >"$FLEET/one/agent.yaml"
	printf '  inputs: [%s/*.f]\n  programs: [%s/filebench]\n' "$T" "$T" >>"$FLEET/one/agent.yaml"
	fleet_agents one 2>"$T/err" || bail "an agent comes up"
	write_plans
	test_run
	test_counts_against_the_kernel
	test_bad_input
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
