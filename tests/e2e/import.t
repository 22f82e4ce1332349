#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# import: old results become a run of the store that runs, show, report, compare and export treat like
# one that was executed here; across an import, a file and an own run; what is wrong leaves nothing.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

EXAMPLES=$ROOT/deploy/examples

runs_count() { fleet_ctl --json runs --all | jq '.runs | length'; }

# without_heading FILE: a report without the line that names its run.
without_heading() { sed 's/^[^ ]* · run [0-9]* · //' "$1"; }

test_import() {
	ends "a published test is imported" 0 fleet_ctl import "$EXAMPLES/raidz2-8-vs-10-disks.txt" --as old-raidz
	like "and said what it was" "$(cat "$T/out")" '^run 1 \(old-raidz\): imported 20 trials of 3 layouts, 2 workloads$'
	run fleet_ctl runs
	like "runs lists it" "$(cat "$T/out")" '^ +1 +old-raidz +imported +knew +- '
	run fleet_ctl show old-raidz
	like "show lists its trials" "$(cat "$T/out")" '^ +3 +hba8\+sata2 +dump +ok +9m15\.80s$'
	fleet_ctl report old-raidz >"$T/stored"
	"$FLEET_BIN/arraymark" report "$EXAMPLES/raidz2-8-vs-10-disks.txt" >"$T/file"
	is "its report is that of the file" "$(without_heading "$T/stored")" "$(without_heading "$T/file")"
	run fleet_ctl import "$EXAMPLES/raidz2-8-vs-10-disks.txt" --as old-raidz
	is "the same again is refused" "$STATUS" 1
	like "and named" "$(cat "$T/err")" 'run 1 \(old-raidz\) holds just these results'
	ends "under another name it is another run" 0 fleet_ctl import "$EXAMPLES/raidz2-8-vs-10-disks.txt" --as other
	ends "averages with their range" 0 fleet_ctl import "$EXAMPLES/zfs-vs-hardware-raid.txt" --as h700
	run fleet_ctl compare h700
	like "have their verdict" "$(cat "$T/out")" '^raidz2 +10 +56s .* -82% \(-84…-79%\) +faster$'
	like "and keep what was written" "$(cat "$T/out")" '^warning +V02 zeros written, compression unknown'
	fleet_ctl export h700 >"$T/h700.jsonl"
	is "so does their export" "$(jq -c 'select(.type == "summary") | .data' "$T/h700.jsonl" | sort -u)" '"zero"'
	run fleet_ctl report h700 --format json
	is "the document tells it of each summary" "$(jq -c '.results[].summary.data' "$T/out" | sort -u)" '"zero"'
	run "$FLEET_BIN/arraymark" compare "$T/h700.jsonl"
	like "read again" "$(cat "$T/out")" '^warning +V02 zeros written, compression unknown'
	printf 'layout: a\ndata: zero\n10s\n11s\nlayout: b\ndata: random\n12s\n13s\n' >"$T/data.txt"
	ends "times that tell their data" 0 fleet_ctl import "$T/data.txt" --as told
	run fleet_ctl show told
	like "show has it beside each trial" "$(cat "$T/out")" '^ *BLOCK +LAYOUT.* DATA$'
	like "as it was told" "$(cat "$T/out")" '^ +2 +b .* random$'
	run fleet_ctl report told --format json
	is "so has the document" "$(jq -c '[.results[].trials[].data]' "$T/out")" '["zero","zero","random","random"]'
	run fleet_ctl show old-raidz
	check_not "where nothing is told there is no column of it" grep -q DATA "$T/out"
	refused "a host that the run was not on: its hosts are named" 1 "no job on 'nosuch'; its hosts: knew" fleet_ctl show old-raidz --host nosuch
	refused "also as JSON" 1 'its hosts: knew' fleet_ctl --json show old-raidz --host nosuch
	is "as JSON, too, only that host's" "$(fleet_ctl --json show old-raidz --host knew | jq -c '[.jobs[].host, .trials[].host] | unique')" '["knew"]'
	run fleet_ctl show h700
	like "and are shown" "$(cat "$T/out")" '^raid6 +H700-write +elapsed +10 +305s +265s +342s$'
	run fleet_ctl --json import "$EXAMPLES/raid5-varmail.txt" --as varmail --long
	is "--json is one document" "$(jq -r '"\(.name) \(.trials) \(.layouts)"' "$T/out")" 'varmail 8 4'
	check "with what each line was taken for" jq -e '.read | any(test(":8: IO Summary"))' "$T/out"
	for format in markdown csv json html; do
		ends "report --format $format of an import" 0 fleet_ctl report h700 --format "$format" -o "$T/report.$format"
		check "has its layouts" grep -q raidz2 "$T/report.$format"
	done
}

test_options() {
	printf '10.1\n10.2\n10.0\n10.1\n' >"$T/a.txt"
	printf '11.1\n11.2\n11.0\n11.1\n' >"$T/b.txt"
	ends "two files become one run" 0 fleet_ctl import "$T/a.txt" "$T/b.txt" --as both --host kold --workload restore
	run fleet_ctl compare both
	like "with a layout each" "$(cat "$T/out")" '^b +4 +11\.10s .* \+9\.9% \(.*\)  slower$'
	like "of the host and workload that were told" "$(cat "$T/out")" '^kold .*elapsed'
	ends "a layout can be told" 0 fleet_ctl import "$T/a.txt" --as told --layout raidz3 --workload w
	{ echo 'workload: w' && cat "$T/b.txt"; } >"$T/c.txt"
	run fleet_ctl compare told "$T/c.txt"
	like "a run against a file" "$(cat "$T/out")" '^c +4 +11\.10s .* \+9\.9% '
	run bash -c '"$@" - <"$0"' "$T/b.txt" env XDG_CONFIG_HOME="$FLEET/config" "$FLEET_BIN/arraymark" import --as piped
	is "standard input" "$STATUS" 0
}

test_exports() {
	fleet_ctl export old-raidz >"$T/old.jsonl"
	ends "an export is imported" 0 fleet_ctl import "$T/old.jsonl" --as copy
	is "and comes out the same" "$(fleet_ctl export copy | sed 's/"run":[0-9]*,/"run":1,/; s/"name":"copy"/"name":"old-raidz"/')" \
		"$(cat "$T/old.jsonl")"
	{ printf '\357\273\277' && sed 's/$/\r/' "$T/old.jsonl"; } >"$T/marked.jsonl"
	ends "one with a byte order mark and CR LF" 0 fleet_ctl import "$T/marked.jsonl" --as marked
	is "is the same" "$(fleet_ctl export marked | sed 's/"run":[0-9]*,/"run":1,/; s/"name":"marked"/"name":"old-raidz"/')" \
		"$(cat "$T/old.jsonl")"
	refused "two exports are not one run" 1 'imported alone' fleet_ctl import "$T/old.jsonl" "$T/old.jsonl" --as two
	refused "an export names its own layouts" 2 'says itself' fleet_ctl import "$T/old.jsonl" --as two --layout l
}

test_own_run() {
	local number
	cat >"$T/plan.yaml" <<-END
		name: own
		hosts: [one]
		trials: 3
		layouts: {new: {existing: $FLEET/one/existing}}
		workloads: {w: {stream: {op: write, size: 1M}}}
	END
	number=$(file_plan "$T/plan.yaml")
	await_check "a run of our own" 40 run_is "$number" "done"
	run fleet_ctl compare told "$number" --metric elapsed
	like "an import against it" "$(cat "$T/out")" '^own +3 .* (faster|no difference shown)$'
	run fleet_ctl compare "$number" "$T/c.txt" --metric elapsed
	like "it against a file" "$(cat "$T/out")" '^c +4 +11\.10s .* (slower|no difference shown)$'
	fleet_ctl export "$number" >"$T/own.jsonl"
	ends "its export is imported" 0 fleet_ctl import "$T/own.jsonl" --as own-again
	fleet_ctl report "$number" --format json | jq 'del(.runs[].id, .runs[].name) | del(.. | .run?)' >"$T/own.json"
	fleet_ctl report own-again --format json | jq 'del(.runs[].id, .runs[].name) | del(.. | .run?)' >"$T/again.json"
	check "and reports the same" diff "$T/own.json" "$T/again.json"
}

test_bad() {
	local before
	before=$(runs_count)
	refused "a name is needed" 2 '--as' fleet_ctl import "$T/a.txt"
	refused "a name that reads as a number" 2 'only digits' fleet_ctl import "$T/a.txt" --as 12
	refused "prose" 1 'not a result that is known' fleet_ctl import "$ROOT/LICENSE" --as prose
	: >"$T/empty.txt"
	refused "an empty file" 1 'it is empty' fleet_ctl import "$T/empty.txt" --as empty
	refused "the second of two files is bad" 1 'empty.txt' fleet_ctl import "$T/a.txt" "$T/empty.txt" --as half
	truncate -s 257M "$T/sparse.txt"
	refused "more than 256 MB" 1 'sparse.txt is too large: 269484032 bytes, the limit is 268435456' \
		fleet_ctl import "$T/sparse.txt" --as big
	seq 1 200001 >"$T/many.txt"
	refused "more results than a text may have" 1 'many.txt:200001: the text has more than 200000 results' \
		fleet_ctl import "$T/many.txt" --as many
	refused "nor are they reported" 1 'many.txt:200001: the text has more than 200000 results' \
		fleet_ctl report "$T/many.txt"
	seq 1 100001 >"$T/many.txt"
	refused "more results than a run takes" 1 'more than 200000 lines of results: import them in parts' \
		fleet_ctl import "$T/many.txt" "$T/many.txt" --as many
	head -c 300 "$T/own.jsonl" >"$T/cut.jsonl"
	refused "an export that is cut off" 1 'cut.jsonl:1: not a line of an export' fleet_ctl import "$T/cut.jsonl" --as cut
	head -n -1 "$T/own.jsonl" >"$T/cut.jsonl"
	refused "one that is cut off between two lines" 1 "cut.jsonl:$(wc -l <"$T/cut.jsonl"): the export of run [0-9]* is cut off" \
		fleet_ctl import "$T/cut.jsonl" --as cut
	sed '3d' "$T/own.jsonl" >"$T/cut.jsonl"
	refused "one that lacks a line" 1 'cut.jsonl:[0-9]*: the export of run [0-9]* was written with [0-9]* lines, and has' \
		fleet_ctl import "$T/cut.jsonl" --as cut
	sed '2s/"elapsed_ns":[0-9]*/"elapsed_ns":-5/' "$T/old.jsonl" >"$T/negative.jsonl"
	refused "a negative time" 1 'elapsed_ns: -5 is found' fleet_ctl import "$T/negative.jsonl" --as negative
	refused "a name that is neither a file nor a run" 1 'nosuch: there is neither such a file nor such a run' \
		fleet_ctl compare told nosuch
	like "nor a layout" "$(cat "$T/err")" 'nor is it a host or one of the layouts raidz3$'
	refused "a run's number that is none" 1 "run '99' is not known" fleet_ctl compare told 99
	refused "what was imported cannot be cancelled" 1 'was imported' fleet_ctl cancel told
	refused "nor resumed" 1 'was imported' fleet_ctl resume told
	refused "nor watched" 1 'was imported' fleet_ctl watch told
	fleet_ctl -q token create --role viewer vera >"$T/token"
	mkdir -p "$T/users/vera"
	ctl_as vera login "$FLEET_ADDRESS" <"$T/token" >/dev/null
	refused "a viewer may not" 3 'operator' ctl_as vera import "$T/a.txt" --as vera
	is "nothing of it was stored" "$(runs_count)" "$before"
}

main() {
	fleet_init without-zfs
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts" "$(cat "$T/err")"
	fleet_agents one 2>"$T/err" || bail "an agent comes up" "$(cat "$T/err")"
	test_import
	test_options
	test_exports
	test_own_run
	test_bad
	ends "check finds the store in order" 0 coordinator check
	done_testing
}

main
