#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A run's whole life over folders that are there already: filed, followed, shown, reported, exported,
# cancelled, resumed; and the exit statuses that scripts rely on.
# Functions are passed by name, which the linter cannot follow; jq has dollars of its own.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

SHARED=$T/shared

write_plans() {
	cat >"$T/plan.yaml" <<-END
		name: two-folders
		hosts: [one]
		trials: 3
		layouts:
		  left:  {existing: $FLEET/one/existing}
		  right: {existing: $FLEET/one/existing}
		workloads:
		  write: {stream: {op: write, size: 4M, block-size: 256K}}
		  read:  {stream: {op: read, of: write}}
		samples: 100ms
	END
	cat >"$T/both.yaml" <<-END
		name: both-hosts
		hosts: all
		trials: 2
		layouts: {shared: {existing: $SHARED}, again: {existing: $SHARED}}
		workloads: {write: {stream: {op: write, size: 2M, file: "test-{trial}"}}}
	END
	# Slow enough to be met in the middle of a trial, whatever the machine.
	cat >"$T/slow.yaml" <<-END
		name: slow
		hosts: [one]
		trials: 2
		layouts: {only: {existing: $FLEET/one/existing}}
		workloads:
		  quick: {stream: {op: write, size: 1M}}
		  slow:  {stream: {op: write, size: 1G, rate: 4M}}
		samples: 100ms
	END
}

test_run() {
	run fleet_ctl run "$T/plan.yaml"
	is "a run ends with 0" "$STATUS" 0
	like "and says so" "$(cat "$T/out")" 'run 1 \(two-folders\).*done'
	is "each trial was told as it ended" "$(grep -cE 'block [123] (left|right) (write|read): ' "$T/err")" 12
	check "its folder is as it was" test -z "$(ls -A "$FLEET/one/existing")"
	is "runs lists it" "$(fleet_ctl --json runs | jq -c '[.runs[] | [.run, .name, .state, .units_done, .units]]')" \
		'[[1,"two-folders","done",6,6]]'
	like "for people too" "$(fleet_ctl runs)" '^ *1 +two-folders +done +one +6/6'
}

test_report() {
	fleet_ctl report 1 >"$T/report.txt"
	is "the report has a line per layout and workload" "$(grep -cE '^ *(left|right) ' "$T/report.txt")" 4
	fleet_ctl report 1 --format json >"$T/report.json"
	check "the report is one JSON document of schema 1" jq -e '.schema == 1 and (.runs | length) == 1' "$T/report.json"
	check "it fits the published schema" fits_schema "$T/report.json"
	is "every metric of every layout and workload is there" "$(jq '[.results[]
		| select(.metric | IN("elapsed", "throughput", "ops_per_s", "latency_p50", "latency_p99", "latency_max", "cpu_per_op"))
		| select(.n == 3)] | length' "$T/report.json")" 28
	check "n, mean, min and max follow from the trials" jq -e 'all(.results[] | select(.metric == "elapsed");
		([.trials[].value] | length) == .n and ([.trials[].value] | min) == .min and
		([.trials[].value] | max) == .max and
		(([.trials[].value] | add / length) - .mean | fabs) < 1e-9)' "$T/report.json"
	check "throughput is bytes over elapsed, trial by trial" jq -e '.results as $r | all($r[] | select(.metric == "throughput");
		. as $t | ($r[] | select(.metric == "elapsed" and .layout == $t.layout and .workload == $t.workload)) as $e
		| all(range($t.n); ($t.trials[.].value * $e.trials[.].value / 4194304 - 1 | fabs) < 1e-6))' "$T/report.json"
	check "units are spelled" jq -e '[.results[] | {(.metric): .unit}] | add
		| .elapsed == "s" and .throughput == "B/s" and .latency_p99 == "ns" and .cpu_per_op == "us/op"' "$T/report.json"
	check "the environment is told" jq -e '.environments[0] | .host == "one" and .ram_bytes > 0 and .kernel != null' "$T/report.json"
	refused "a format that is none is a usage error" 2 'json' fleet_ctl report 1 --format xml
}

test_export() {
	fleet_ctl export 1 >"$T/export.jsonl"
	is "the export has each trial once" "$(jq -s '[.[] | select(.type == "trial")] | length' "$T/export.jsonl")" 12
	check "with every byte accounted for" jq -se '[.[] | select(.type == "trial") | .bytes == 4194304 and .ok and .complete
		and .lost == 0 and (.superseded | not)] | all' "$T/export.jsonl"
	check "and its latencies as a histogram" jq -se '[.[] | select(.type == "trial") | .hist.count == .ops] | all' "$T/export.jsonl"
	ARRAYMARK_COORDINATOR=127.0.0.1:1 fleet_ctl report --format json "$T/export.jsonl" >"$T/again.json" 2>&1
	check "a report from that file needs no coordinator and is the same" \
		diff <(jq -S .results "$T/report.json") <(jq -S .results "$T/again.json")
	run fleet_ctl compare 1 --json --fail-if 'elapsed > +5%'
	is "a run is compared, and the exit status is what the document says" "$STATUS" "$(jq .exit_status "$T/out")"
	is "its end line counts the others" "$(tail -n 1 "$T/export.jsonl" | jq -c .)" \
		"{\"type\":\"end\",\"run\":1,\"lines\":$(($(wc -l <"$T/export.jsonl") - 1))}"
	head -n -1 "$T/export.jsonl" >"$T/cut.jsonl"
	refused "without it there is no report" 1 "cut.jsonl:$(wc -l <"$T/cut.jsonl"): the export of run 1 is cut off" \
		fleet_ctl report "$T/cut.jsonl"
	refused "nor through a pipe" 1 '/dev/fd/[0-9]*:[0-9]*: the export of run 1 is cut off' \
		fleet_ctl report <(cat "$T/cut.jsonl")
	run bash -c '"$@" >/dev/full' - env XDG_CONFIG_HOME="$FLEET/config" "$FLEET_BIN/arraymark" export 1
	is "an export to a full disk ends with 1" "$STATUS" 1
	like "and says so" "$(cat "$T/err")" '^arraymark: cannot write standard output: No space left'
	ends "layouts are named after their run" 0 fleet_ctl compare 1 right left --json
	is "the first named is the baseline" "$(jq -rc '[.comparisons[] | [.baseline, .subject]] | unique' "$T/out")" '[["right","left"]]'
	ends "a run against a file of itself" 0 fleet_ctl compare 1 "then=$T/export.jsonl" --json
	is "by layout and workload, with ratio 1" "$(jq -c '[.comparisons[] | [.subject, .ratio]] | unique' "$T/out")" '[["then",1]]'
	check "the plan they share speaks for both" jq -e '[.findings[] | select(.unknown and (.text | test("no plan")))] == []
		and ([.runs[0].sources[].label] == ["two-folders", "then"])' "$T/out"
	for format in text markdown csv json html; do
		ends "layouts of a run, as $format" 0 fleet_ctl compare 1 right left -o "$T/compared.$format" --format "$format"
		like "layouts of a run, as $format: the pair" "$(cat "$T/compared.$format")" \
			'vs right|\| left \| right \||,left,.*,right,|"subject": "left"|left against right'
		ends "a run and a file together, as $format" 0 fleet_ctl compare 1 "then=$T/export.jsonl" --format "$format"
		like "a run and a file together, as $format: both names" "$(cat "$T/out")" 'then'
	done
	check "and the document fits the schema" fits_schema "$T/compared.json"
	check "block 1 had the order of its seed" order_is_right 1 one 2 1
	check "block 2 had the order of its seed" order_is_right 1 one 2 2
	check "block 3 had the order of its seed" order_is_right 1 one 2 3
}

test_show() {
	fleet_ctl --json show 1 >"$T/show.json"
	is "show has every step of every build and teardown" \
		"$(jq -r '[.steps[] | select(.phase == "build" or .phase == "teardown") | "\(.block) \(.layout_name) \(.phase)"]
			| unique | length' "$T/show.json")" 12
	check "each as an exact vector with an absolute path" jq -e \
		'[.steps[] | select((.argv | length) > 0) | (.argv[0] | startswith("/")) and .ok] | length > 0 and all' "$T/show.json"
	is "and twelve trials" "$(jq '[.trials[] | select(.state == "ok")] | length' "$T/show.json")" 12
	like "people see them as commands" "$(fleet_ctl show 1)" "^ +/[a-z/]*mkdir .*arraymark-1-"
	like "show finds a run by name" "$(fleet_ctl show two-folders --brief)" 'run 1 \(two-folders\).*done'
	refused "a run that is not there is an error" 1 '77' fleet_ctl show 77
	fleet_ctl watch --json 1 >"$T/watch.jsonl"
	is "watching a run that is over ends at once" "$(jq -rs '[.[0].type, .[-1].state] | join(" ")' "$T/watch.jsonl")" "run done"
}

test_dry_run() {
	local before
	before=$(stat -c %Y.%Z "$FLEET/one/existing")
	ends "a dry run ends with 0" 0 fleet_ctl run --dry-run "$T/plan.yaml"
	like "it prints the vectors" "$(cat "$T/out")" "mkdir .*arraymark-<run>-1-"
	run fleet_ctl --json run --dry-run "$T/plan.yaml"
	check "also as JSON" jq -e '(.steps | length) > 0 and all(.steps[]; .host == "one")' "$T/out"
	is "it touches nothing" "$(stat -c %Y.%Z "$FLEET/one/existing")" "$before"
	is "and files nothing" "$(fleet_ctl --json runs | jq '.runs | length')" 1
}

# More than is sent before the client has read some of it.
test_long_dry_run() {
	local i
	if ! is_root; then
		skip "a long dry run" "without root there are no file systems to build"
		return
	fi
	{
		printf 'name: long\nhosts: all\ntrials: 1\nworkloads: {w: {stream: {op: write, size: 1M}}}\nlayouts:\n'
		for i in $(seq 200); do
			printf '  l%s: {scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}\n' "$i"
		done
	} >"$T/long.yaml"
	ends "a long dry run ends with 0" 0 fleet_ctl --json run --dry-run "$T/long.yaml"
	check "it is longer than a megabyte" test "$(stat -c %s "$T/out")" -gt 1048576
	is "it has every layout of every host" "$(jq '[.steps[] | select(.phase == "teardown") | "\(.host) \(.layout_name)"] | unique | length' "$T/out")" 400
}

test_set_and_detach() {
	local number
	number=$(file_plan "$T/plan.yaml" --set trials=1 --set workloads.write.stream.size=1M)
	is "a detached run prints its number alone" "$number" 2
	ends "watching it to its end gives 0" 0 fleet_ctl watch "$number"
	is "what was set is recorded" "$(fleet_ctl --json show 2 | jq -c .run.sets)" \
		'["trials=1","workloads.write.stream.size=1M"]'
	is "and done" "$(exported 2 -s '[.[] | select(.type == "trial") | .bytes] | unique | @csv')" 1048576
	refused "what cannot be set is an error" 1 'workloads.write.stream.*sise' \
		fleet_ctl run "$T/plan.yaml" --set workloads.write.stream.sise=1M
	refused "nor is a set without a value" 2 'PATH=VALUE' fleet_ctl run "$T/plan.yaml" --set trials
}

test_two_hosts() {
	ends "a run on two hosts ends with 0" 0 fleet_ctl --json run "$T/both.yaml"
	check "one document tells about both jobs" jq -e '.state == "done" and ([.jobs[].host] | sort) == ["one", "two"]' "$T/out"
	is "each host has its own results" \
		"$(fleet_ctl report 3 --format json | jq -c '[.results[] | select(.metric == "elapsed") | [.host, .layout, .n]] | sort')" \
		'[["one","again",2],["one","shared",2],["two","again",2],["two","shared",2]]'
	check "each in its own order: one" order_is_right 3 one 2 1
	check "each in its own order: two" order_is_right 3 two 2 1
	check "nothing is left in the folder they shared" test -z "$(ls -A "$SHARED")"
	ends "a run can be kept to one host" 0 fleet_ctl run --hosts two "$T/both.yaml"
	is "and is" "$(fleet_ctl --json show last | jq -c '[.jobs[].host]')" '["two"]'
}

in_slow_trial() { fleet_ctl --json show "$1" | jq -e --argjson b "$2" 'any(.trials[]; .block == $b and .workload_name == "quick" and .state == "ok")' >/dev/null && has_worker one; }

test_cancel_and_resume() {
	local number
	number=$(file_plan "$T/slow.yaml")
	await_check "a slow trial is under way" 20 in_slow_trial "$number" 1
	ends "cancel takes it down" 0 fleet_ctl cancel --wait "$number"
	check "it is cancelled" run_is "$number" cancelled
	check_not "no worker is left" has_worker one
	check "nor anything in the folder" test -z "$(ls -A "$FLEET/one/existing")"
	ends "watching a cancelled run gives 1" 1 fleet_ctl watch "$number"
	like "and show says who did it" "$(fleet_ctl show "$number" --brief)" 'cancelled by admin'
	test_resume
}

test_resume() {
	local number
	number=$(file_plan "$T/slow.yaml" --set workloads.slow.stream.size=4M --set workloads.slow.stream.rate=2M)
	await_check "the second block's slow trial is under way" 30 in_slow_trial "$number" 2
	ends "it is cancelled there" 0 fleet_ctl cancel --wait "$number"
	ends "resume runs to the end" 0 fleet_ctl resume "$number"
	check "it is done" run_is "$number" "done"
	check "every trial counts once" trials_unique "$number"
	is "the first block was not done again, the second was" "$(exported "$number" -s -c \
		'[.[] | select(.type == "trial" and (.superseded | not)) | [.block, .workload_name, .attempt, .ok]] | sort')" \
		'[[1,"quick",1,true],[1,"slow",1,true],[2,"quick",2,true],[2,"slow",2,true]]'
	is "what the cancelled attempt had is kept, marked superseded" \
		"$(exported "$number" -s -c '[.[] | select(.type == "trial" and .superseded and .ok) | [.block, .workload_name, .attempt]]')" \
		'[[2,"quick",1]]'
	refused "a run that is done has nothing to resume" 1 'done|nothing' fleet_ctl resume "$number"
}

test_plan_check() {
	ends "a good plan is good" 0 fleet_ctl plan check "$T/plan.yaml"
	like "its cost is told" "$(cat "$T/out")" '3 blocks, 6 builds, 12 trials; 24 MiB written'
	ends "the sum that it tells is one to approve" 0 agent one approve "$(sed -n 's/^sha256 //p' "$T/out")"
	cat >"$T/bad.yaml" <<-END
		name: bad
		hosts: [one]
		trails: 3
		layouts:
		  x: {pool: {level: raidz4, disks: 3}}
		workloads:
		  w: {stream: {op: wirte, size: 1M}}
	END
	run fleet_ctl plan check "$T/bad.yaml"
	is "a bad plan ends with 1" "$STATUS" 1
	like "unknown keys with place and suggestion" "$(cat "$T/err")" "bad.yaml:3:1: 'trails' is not a key.*'trials'"
	like "levels with place" "$(cat "$T/err")" "bad.yaml:5:21: layouts.x.pool.level: 'raidz4'"
	like "words with place and suggestion" "$(cat "$T/err")" "bad.yaml:7:20: workloads.w.stream.op: 'wirte'.*write"
	run fleet_ctl --json plan check "$T/bad.yaml"
	check "as JSON they are a list" jq -e '(.errors | length) >= 3' "$T/out"
	refused "run refuses it with the same words" 1 "bad.yaml:3:1: 'trails'" fleet_ctl run "$T/bad.yaml"
	ends "the starter is a good plan" 0 fleet_ctl plan new "$T/new.yaml"
	ends "when checked alone" 0 fleet_ctl plan check --offline "$T/new.yaml"
	refused "and never overwritten" 1 'is there already' fleet_ctl plan new "$T/new.yaml"
}

# told FILE REGEX
told() { grep -qE -- "$2" "$1"; }

test_statuses() {
	local client number
	refused "no verb" 2 'verb is missing' fleet_ctl
	refused "an unknown verb, with a suggestion" 2 "did you mean 'report'" fleet_ctl reprot
	refused "an unknown option" 2 "unknown option '--detahc' .did you mean '--detach'" fleet_ctl run --detahc x
	refused "an argument too few" 2 'run wants more arguments' fleet_ctl run
	refused "an argument too many" 2 'one argument too many' fleet_ctl runs 1
	refused "no connection" 3 '127.0.0.1:1' env XDG_CONFIG_HOME="$T/nobody" "$FLEET_BIN/arraymark" -c 127.0.0.1:1 runs
	refused "a plan that is not there" 1 'nowhere.yaml' fleet_ctl run "$T/nowhere.yaml"
	refused "a coordinator that is no name" 2 'no host name' fleet_ctl -c 'two words' runs
	refused "a role that is none" 2 "'king' is no role" fleet_ctl token create king dan
	refused "a token for too long" 2 '1s to 30d' fleet_ctl token create --ttl 31d dan
	refused "two formats at once" 2 'one of them' fleet_ctl --json report 1 --format csv
	run fleet_ctl --json show 77
	check "with --json an error is one document on stderr" \
		jq -e '.error.exit_status == 1 and (.error.text | length) > 0' "$T/err"
	ends "a run that fails" 1 fleet_ctl run "$T/plan.yaml" --set layouts.left.existing="$T"
	like "says why, with the policy's line" "$(cat "$T/err" "$T/out")" "allow.directories.*$T"
	: >"$T/follow.err"
	XDG_CONFIG_HOME=$FLEET/config "$FLEET_BIN/arraymark" run "$T/slow.yaml" >"$T/follow.out" 2>"$T/follow.err" &
	client=$!
	await_check "a run is followed" 20 told "$T/follow.err" 'quick'
	number=$(fleet_ctl --json runs | jq '.runs[0].run')
	kill -INT "$client"
	wait "$client"
	is "Ctrl-C detaches with 130" $? 130
	like "and says how to go on" "$(cat "$T/follow.err")" "watch $number.*cancel $number"
	check "the run goes on" run_is "$number" running
	fleet_ctl export "$number" >"$T/running.jsonl"
	is "its export tells the state as it is now" "$(jq -r 'select(.type == "run") | .state' "$T/running.jsonl")" running
	ends "and is whole" 0 fleet_ctl report "$T/running.jsonl"
	ends "and is cancelled from elsewhere" 0 fleet_ctl cancel --wait "$number"
	refused "what is over cannot be cancelled" 1 'over|done|cancelled|nothing' fleet_ctl cancel "$number"
}

test_attached() {
	local client
	: >"$T/follow.err"
	XDG_CONFIG_HOME=$FLEET/config "$FLEET_BIN/arraymark" run --attached "$T/slow.yaml" >"$T/follow.out" 2>"$T/follow.err" &
	client=$!
	await_check "an attached run is followed" 20 told "$T/follow.err" 'quick'
	kill -INT "$client"
	wait "$client"
	is "Ctrl-C ends it with 130" $? 130
	like "and cancels it" "$(cat "$T/follow.out")" '\(slow\): cancelled'
	check_not "nobody says that it goes on" told "$T/follow.err" 'goes on'
	check "its volume is gone when that is said" test -z "$(ls -A "$FLEET/one/existing")"
	refused "attached and detached is neither" 2 'one of them' fleet_ctl run --attached --detach "$T/slow.yaml"
}

no_local_process() { [ -z "$(processes_of "$XDG_DATA_HOME")" ]; }

test_local() {
	local bench=$XDG_DATA_HOME/arraymark/local/bench
	cat >"$T/local.yaml" <<-END
		name: at-home
		hosts: all
		trials: 1
		layouts: {here: {existing: $bench}}
		workloads: {write: {stream: {op: write, size: 1M}}}
	END
	ends "local needs no set-up" 0 "$FLEET_BIN/arraymark" local "$T/local.yaml"
	like "and prints the report" "$(cat "$T/out")" 'here'
	await_check "it leaves no process behind" 10 no_local_process
	check "and nothing in its folder" test -z "$(ls -A "$bench")"
	run "$FLEET_BIN/arraymark" -c local --json runs
	is "everything else works on it" "$(jq -c '[.runs[] | [.name, .state]]' "$T/out")" '[["at-home","done"]]'
	run "$FLEET_BIN/arraymark" local "$T/local.yaml" --set layouts.here.existing=/root
	is "other folders are not allowed there" "$STATUS" 1
	like "and that is said" "$(cat "$T/err" "$T/out")" '/root'
	await_check "nor is anything left then" 10 no_local_process
	test_local_advice
	test_starter
}

private() { "$FLEET_BIN/arraymark" -c local "$@"; }

test_local_advice() {
	local pool='{pool: {level: stripe, disks: 1}, scratch: {disks: 1, size: 64M}}'
	is "sessions of local enrol their agent once" \
		"$(private --json token list | jq '[.tokens[] | select(.role == "agent")] | length')" 1
	run "$FLEET_BIN/arraymark" runs
	like "without a login, runs says whose they are" "$(cat "$T/err")" 'private coordinator'
	refused "a token needs a coordinator that stays" 3 'arraymark login' "$FLEET_BIN/arraymark" token create knew
	refused "also when the private one is named" 3 'for a fleet' "$FLEET_BIN/arraymark" -c local token create knew
	refused "run needs a login" 3 'arraymark local' "$FLEET_BIN/arraymark" run "$T/local.yaml"
	if is_root && [ -z "$(zpool list 2>/dev/null)" ]; then
		refused "a plan that needs a ZFS gets advice for local" 1 "there is no ZFS.*plan new" \
			"$FLEET_BIN/arraymark" local "$T/local.yaml" --set "layouts.here=$pool"
		check_not "not for a fleet" grep -E 'SIGHUP|leave the host out' "$T/err"
		run "$FLEET_BIN/arraymark" local "$T/local.yaml" --set "layouts={a: $pool, b: $pool}"
		is "all that lacks is told at once" "$(grep -c 'there is no ZFS' "$T/err")" 2
	fi
	ends "plan check looks at this machine when told so" 0 private plan check "$T/local.yaml"
	like "by the agent that it starts" "$(cat "$T/out")" 'has what the plan asks for'
	ends "so does a dry run" 0 private run --dry-run "$T/local.yaml"
	ends "a host that was removed enrols again" 0 private host remove "$(private --json host list | jq -r '.hosts[0].host')"
	ends "and runs" 0 "$FLEET_BIN/arraymark" local "$T/local.yaml"
	await_check "nothing is left" 10 no_local_process
}

# The starter plan with other programs of the machine out of sight.
test_starter() {
	local program small=(--set trials=1 --set workloads.write.stream.size=8M)
	refused "a data folder that cannot be made" 1 "XDG_DATA_HOME" env XDG_DATA_HOME=/dev/null "$FLEET_BIN/arraymark" local "$T/local.yaml"
	ends "a starter plan is written for this machine" 0 "$FLEET_BIN/arraymark" plan new "$T/first.yaml"
	ends "and runs on it" 0 "$FLEET_BIN/arraymark" local "$T/first.yaml" "${small[@]}"
	run "$FLEET_BIN/arraymark" plan new --json
	check "as JSON it tells its forms" jq -e '(.forms | length) > 0 and (.plan | test("^# A plan"))' "$T/out"
	if is_root; then
		: >"$T/nothing"
		for program in /usr/sbin/mkfs.xfs /usr/sbin/mkfs.ext4; do
			[ -e "$program" ] && mount --bind "$T/nothing" "$program"
		done
		run "$FLEET_BIN/arraymark" plan new --json
		is "without mkfs it is a folder" "$(jq -c .forms "$T/out")" '["existing"]'
		jq -r .plan "$T/out" >"$T/folder.yaml"
		ends "which runs, too" 0 "$FLEET_BIN/arraymark" local "$T/folder.yaml" "${small[@]}"
		umount /usr/sbin/mkfs.xfs /usr/sbin/mkfs.ext4
	fi
	await_check "nothing is left of these" 10 no_local_process
}

main() {
	local name
	if is_root && ! has_accounts; then skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"; fi
	fleet_init without-zfs
	mkdir -m 1777 "$SHARED"
	for name in one two; do
		mkdir -p "$FLEET/$name"
		fleet_policy "$FLEET/$name" "$SHARED" >"$FLEET/$name/agent.yaml"
	done
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one two 2>"$T/err" || bail "two agents come up"
	write_plans
	test_run
	test_report
	test_export
	test_show
	test_dry_run
	test_long_dry_run
	test_set_and_detach
	test_two_hosts
	test_cancel_and_resume
	test_plan_check
	test_statuses
	test_attached
	test_local
	ends "check finds the store in order" 0 coordinator check
	check "nothing is left on one" nothing_left one
	check "nothing is left on two" nothing_left two
	done_testing
}

main
