#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# compare and report on plain result files, without any daemon: what the published tests of
# deploy/examples say, exit statuses for scripts, formats.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

EXAMPLES=$ROOT/deploy/examples
AM=$FLEET_BIN/arraymark

# same NAME: stdout is what stands on stdin, line for line.
same() {
	local want
	want=$(cat)
	is "$1" "$(cat "$T/out")" "$want"
}

# status NAME STATUS ARG…: compare with these arguments ends so.
status() {
	local name=$1 want=$2
	shift 2
	ends "$name" "$want" "$AM" compare "$@"
}

test_published() {
	for f in "$EXAMPLES"/*.txt; do
		run "$AM" compare "$f"
		like "no rule that needs more than ${f##*/} passes in silence" "$(cat "$T/out")" \
			'^unknown .*no plan: V01 (V02 )?V03 .* V19 V20 V21 '
	done
	run "$AM" compare "$EXAMPLES/raidz2-8-vs-10-disks.txt"
	is "restores and dumps: exit status" "$STATUS" 0
	is "the two averages that were published and do not follow are warned of" \
		"$(grep -o 'warning: .*txt:[0-9]*: a mean of [0-9]* s .* have [0-9.]* s' "$T/err" | sed 's/.*: a mean of \([0-9]*\) .* \([0-9.]*\) s/\1 \2/' | xargs)" \
		"523 524.251 554 555.487333"
	grep -v '^unknown' "$T/out" >"$T/known"
	mv "$T/known" "$T/out"
	same "restores do not differ, dumps do" <<'EOF'
raidz2-8-vs-10-disks · run 1 · imported; order, cache unknown

knew · elapsed, less is better
load         n       mean  95% CI  vs hba8 (95% CI, all comparisons)
hba8         4  18m22.99s  ±0.8%   baseline
hba8+board2  3  18m21.24s  ±1.5%   -0.2% (-1.7…+1.4%)  no difference shown
hba8+sata2   3  18m25.83s  ±1.7%   +0.3% (-1.5…+2.1%)  no difference shown
dump
hba8         4   8m44.25s  ±0.9%   baseline
hba8+board2  3   9m07.56s  ±0.4%   +4.4% (+3.4…+5.5%)  slower
hba8+sata2   3   9m15.49s  ±0.7%   +6.0% (+4.9…+7.0%)  slower
warning    V07 hba8/dump: trials 2, 3 both 8m42.781s (chance 0.06%)
warning    V17 order unknown · V23 these builds only
findings   see arraymark-findings(7)
EOF
	run "$AM" report --long "$EXAMPLES/raidz2-8-vs-10-disks.txt"
	like "ranks alone could not have told the dumps apart" "$(cat "$T/out")" \
		'^dump  elapsed  hba8.sata2 vs hba8   U 12 of 12  p 0.057  Hodges-Lehmann .6.1% .too few for an interval.$'
	run "$AM" compare "$EXAMPLES/raidz2-8-vs-10-disks.txt" hba8+board2 hba8+sata2
	like "board against card, in a family of all three pairs" "$(cat "$T/out")" \
		'^hba8\+sata2 +3 +9m15.49s .* \+1\.4% \(\+0\.6…\+2\.3%\)  slower$'
	like "board against card: restores" "$(cat "$T/out")" '^hba8\+sata2 +3 +18m25.83s .* no difference shown$'
	check_not "the layout that was not named is left out" grep -q '^hba8 ' "$T/out"

	run "$AM" compare "$EXAMPLES/zfs-vs-hardware-raid.txt"
	like "H700 write" "$(cat "$T/out")" '^raidz2 +10 +56s .* -82% \(-84…-79%\) +faster$'
	like "H700 read" "$(cat "$T/out")" '^raidz2 +10 +74s .* -53% \(-59…-45%\) +faster$'
	like "H800 read is undecided" "$(cat "$T/out")" '^raidz2 +10 +30s .* \+3\.4% \(-6\.0…\+13\.9%\)  no difference shown$'
	like "zeros on volumes that may compress, and no spread, said once" "$(cat "$T/out")" \
		'^warning +V02 zeros written, compression unknown · V17 .* · V24 spread bounded by mean, min and max'
	check "where they were written is not unknown" sh -c "! grep -q '^unknown.* V02' '$T/out'"
	like "sizes follow from the rates: only the memory is not known" "$(cat "$T/out")" '^unknown .* no size of the memory: V18$'
	printf '%s\n' 'layout: a' 'data=zero n=4 mean=56s min=52s max=59s' 'layout: b' \
		'data="compressible 50%" n=4 mean=57s min=52s max=59s' >"$T/rows.txt"
	run "$AM" compare "$T/rows.txt"
	like "each row says what was written" "$(cat "$T/out")" \
		'^warning +V02 a/command: zeros written, compression unknown$'
	like "other data in each layout" "$(cat "$T/out")" \
		'^warning +V13 command: data: zero in a, compressible 50% in b$'

	run "$AM" compare "$EXAMPLES/raid5-varmail.txt"
	like "varmail: mean of two" "$(cat "$T/out")" '^zfs-on-hw-raid5 +2 +7294 +\[7247…7342\] +baseline$'
	like "varmail: no verdict on two" "$(cat "$T/out")" '^raidz +2 +7568 .* \+3\.7%  too few trials \(n = 2\)$'
	check_not "varmail: nothing is faster or slower" grep -qE '  (faster|slower)' "$T/out"
}

test_files() {
	printf '10.1\n10.2\n10.0\n10.1\n' >"$T/a.txt"
	printf '11.1\n11.2\n11.0\n11.1\n' >"$T/b.txt"
	run "$AM" compare "$T/a.txt" "$T/b.txt"
	like "two files" "$(cat "$T/out")" '^b +4 +11\.10s .* \+9\.9% \(.*\)  slower$'
	printf 'workload: load\n10.1\n10.2\n10.0\n10.1\n' >"$T/load.txt"
	printf 'workload: fill\n11.1\n11.2\n11.0\n11.1\n' >"$T/fill.txt"
	run "$AM" compare "$T/load.txt" "$T/fill.txt"
	like "two workloads are two things" "$(cat "$T/err")" 'nothing to compare, .*--workload A=B'
	run "$AM" compare "$T/load.txt" "$T/fill.txt" --workload load=fill
	like "unless they are said to be one" "$(cat "$T/out")" '^fill +4 +11\.10s .* \+9\.9% \(.*\)  slower$'
	run bash -c '"$1" compare "new=$2/b.txt" old=- <"$2/a.txt"' - "$AM" "$T"
	like "names, and standard input" "$(cat "$T/out")" '^old +4 +10\.10s .* -9\.0% \(.*\)  faster$'
	run bash -c '"$1" compare <(cat "$2/a.txt") b=<(cat "$2/b.txt")' - "$AM" "$T"
	like "pipes" "$(cat "$T/out")" '^b +4 +11\.10s .* \+9\.9% '
	run "$AM" compare --long "$T/a.txt" "$T/b.txt"
	like "--long says what a line was taken for" "$(cat "$T/out")" "^$T/b.txt:3: elapsed 11 s$"
	run "$AM" compare --json --long "$T/a.txt" "$T/b.txt" --fail-if 'elapsed > +5%'
	check "what compare adds to a JSON report is in its schema" fits_schema "$T/out"
	run "$AM" compare --json "$T/a.txt" "$T/b.txt" --fail-if 'elapsed > +5%'
	is "--json keeps the exit status" "$STATUS" 4
	check "--json is one document with the condition in it" grep -q '"outcome": "failed"' "$T/out"
	run "$AM" report --format csv "$T/a.txt"
	like "csv" "$(cat "$T/out")" '^result,1,a,imported,a,command,elapsed,s,lower,4,0,10\.1,'
	run "$AM" report --format markdown "$T/a.txt"
	like "markdown" "$(cat "$T/out")" '^\| command \| a \| 4 \| 10\.10s \| '
	names=$(for f in page.html page.HTM t.md t.csv t.json t.txt t.out plain; do
		"$AM" report -o "$T/$f" "$T/a.txt" 2>&1
		head -n 1 "$T/$f" | cut -b 1-15
	done)
	is "a file's name says what it holds" "$names" "$(printf '%s\n' '<!DOCTYPE html>' '<!DOCTYPE html>' \
		'## a' 'kind,run,run_na' '{' 'a · run 1 · i' 'a · run 1 · i' 'a · run 1 · i')"
	"$AM" report -f csv -o "$T/page.html" "$T/a.txt"
	like "unless it is told" "$(cat "$T/page.html")" '^kind,run,'
	"$AM" --json report -o "$T/page.html" "$T/a.txt"
	is "--json tells it too" "$(head -n 1 "$T/page.html")" '{'
	for h in "old 74s 56s 83s" "new 30s 30s 34s"; do
		read -r host mean min max <<<"$h"
		printf 'host: %s\nlayout: raidz2\nworkload=read n=10 mean=%s min=%s max=%s\n' "$host" "$mean" "$min" "$max"
	done >"$T/two-hosts.txt"
	run "$AM" compare "$T/two-hosts.txt" --by host
	like "hosts against each other" "$(cat "$T/out")" '^raidz2/read +elapsed  old vs new .*  slower$'
	for h in 1 2 3 4 5 6 7; do
		printf 'host: n%s\nlayout: l\n1%s.1s\n1%s.2s\n1%s.3s\n' "$h" $((h == 4)) $((h == 4)) $((h == 4))
	done >"$T/hosts.txt"
	sed -i '0,/10\.1s/s//10.4s/' "$T/hosts.txt"
	printf 'host: one\nlayout: l\n10.1\n10.2\n10.3\n' >"$T/host-one.txt"
	printf 'host: two\nlayout: l\n11.1\n11.2\n11.3\n' >"$T/host-two.txt"
	run "$AM" compare "$T/host-one.txt" "$T/host-two.txt" --by host
	like "hosts in files of their own" "$(cat "$T/out")" '^l/command +elapsed +two vs one +\+9\.8% .* slower$'
	check_not "which had layouts of one name" grep -q 'V16' "$T/out"
	sed 's/^layout: l/layout: other/' "$T/host-two.txt" >"$T/host-other.txt"
	run "$AM" compare "$T/host-one.txt" "$T/host-other.txt" --by host
	like "of other names, it is said" "$(cat "$T/out")" 'V16 the hosts call their layouts l, other: layouts may differ'
	sed '/^host/d' "$T/host-two.txt" >"$T/host-none.txt"
	refused "a file that names no host is told" 1 "host-none does not say on which host it was measured: put a line 'host: NAME'" \
		"$AM" compare "$T/host-one.txt" "$T/host-none.txt" --by host
	refused "and files of the same host" 1 "y was measured on the host 'one', and so was what stands before it" \
		"$AM" compare "x=$T/host-one.txt" "y=$T/host-one.txt" --by host
	run bash -c 'cat "$1" "$2" | "$3" compare - --by host' - "$T/host-one.txt" "$T/host-two.txt" "$AM"
	like "put together they are" "$(cat "$T/out")" '^l/command +elapsed +two vs one +\+9\.8% .* slower$'
	run "$AM" compare "$T/hosts.txt" --by host --margin 2%
	like "a host that stands out" "$(cat "$T/out")" '^stands out n4 on l/command: elapsed \+9\.'
	run "$AM" compare "$T/hosts.txt" --by host --margin 2% --format csv
	like "is a line of the csv" "$(cat "$T/out")" '^outlier,1,hosts,n4,l,command,elapsed,s,lower,,*1\.09'
	printf 'layout: a\nbytes: 1GiB\n10.1s\n10.2s\n10.3s\nlayout: b\nbytes: 2GiB\n20.1s\n20.2s\n20.3s\n' >"$T/unlike.txt"
	run "$AM" compare "$T/unlike.txt" --metric throughput,elapsed
	like "times of unlike work are invalid, whatever stands first" "$(cat "$T/out")" \
		'^command +elapsed +b vs a +\+98% .* slower \[invalid: V13\]$'
	like "their rates are not" "$(cat "$T/out")" '^b +3 +101 .* no difference shown$'
	run "$AM" compare "$T/unlike.txt" --metric throughput
	check_not "and nothing is said of times that are not compared" grep -q V13.*elapsed "$T/out"
}

test_statuses() {
	local a=$T/a.txt b=$T/b.txt
	printf '10.1\n10.2\n' >"$T/two.txt"
	status "fail-if proven" 4 "$a" "$b" --fail-if 'elapsed > +5%'
	status "fail-if disproven" 0 "$a" "$b" --fail-if 'elapsed > +20%'
	status "fail-if undecided" 5 "$a" "$b" --fail-if 'elapsed > +10%'
	status "too few trials" 5 "$a" "$T/two.txt" --fail-if 'elapsed > +5%'
	status "undecided passes" 0 "$a" "$b" --fail-if 'elapsed > +10%' --undecided pass
	status "undecided fails" 4 "$a" "$b" --fail-if 'elapsed > +10%' --undecided fail
	status "proven, though undecided passes" 4 "$a" "$b" --fail-if 'elapsed > +5%' --undecided pass
	status "fail-unless proven" 0 "$a" "$b" --fail-unless 'elapsed < +20%'
	status "fail-unless disproven" 4 "$a" "$b" --fail-unless 'elapsed < +5%'
	status "fail-unless undecided" 5 "$a" "$b" --fail-unless 'elapsed < +10%'
	status "the worse of two conditions" 4 "$a" "$b" --fail-if 'elapsed > +10%' --fail-unless 'elapsed < +5%'
	status "no conditions, no 4 or 5" 0 "$a" "$T/two.txt"
	status "a condition that is none" 2 "$a" "$b" --fail-if 'elapsed 5%'
	status "--undecided without a condition" 2 "$a" "$b" --undecided pass
	status "a metric that is none" 2 "$a" "$b" --metric speed
	refused "a metric that nothing has" 1 'no result here has the metric throughput: there are elapsed$' \
		"$AM" compare "$a" "$b" --metric throughput
	refused "a workload that nothing has" 1 "nothing here has a workload 'nosuch': there are command$" \
		"$AM" compare "$a" "$b" --workload command=nosuch
	status "one layout alone" 2 "$EXAMPLES/raidz2-8-vs-10-disks.txt" hba8
	status "a file that is not there" 1 "$T/none.txt" "$a"
	refused "a name that could be a file's" 1 'none.txt: there is neither such a file nor such a run' "$AM" compare "$a" none.txt
	refused "a layout that is not there" 1 'nosuch.x: there is neither .*; nor is it a host or one of the layouts hba8, hba8.board2, hba8.sata2$' \
		"$AM" compare "$EXAMPLES/raidz2-8-vs-10-disks.txt" nosuch.x
	refused "a word that could be a run's, without a coordinator" 3 '^arraymark: nosuch is no file; as a run: ' \
		"$AM" compare "$a" nosuch
	refused "the same for report" 1 'none.txt: there is neither such a file nor such a run' "$AM" report none.txt
	refused "a condition on a workload that is not there" 2 "there is no workload 'nosuch' here: command" \
		"$AM" compare "$a" "$b" --fail-if 'nosuch elapsed > +5%'
	refused "a condition on a metric that its workload lacks" 2 "no metric of that workload 'throughput' here: elapsed" \
		"$AM" compare "$a" "$b" --fail-unless 'command throughput > +5%'
	printf 'well, it was fast\n' >"$T/prose.txt"
	status "a file that is no result" 1 "$a" "$T/prose.txt"
	like "the formats are named" "$(cat "$T/err")" 'prose\.txt.*fio.*filebench.*arraymark-results\(5\)'
	printf '10.1\nlayuot: b\n10.2\n' >"$T/key.txt"
	refused "a key that is none" 1 "key.txt:2: 'layuot:' is no key .did you mean 'layout:'" "$AM" compare "$a" "$T/key.txt"
}

# Every format of reports: the verdict, the condition and the exit status are the same.
test_formats() {
	local a=$T/a.txt b=$T/b.txt format want outcome condition said
	for format in text markdown csv json html; do
		for want in "4 failed elapsed > +5%" "0 passed elapsed > +20%" "5 undecided elapsed > +10%"; do
			read -r want outcome condition <<<"$want"
			status "$format: $outcome, by the exit status" "$want" "$a" "$b" --format "$format" --fail-if "$condition"
			case $format in
			text) said="^$outcome  *fail-if elapsed > " ;;
			markdown) said="^- \\*\\*$outcome\\*\\* fail-if elapsed .> " ;;
			csv) said="^condition,.*,$outcome,.*fail-if elapsed > " ;;
			json) said="\"outcome\": \"$outcome\"" ;;
			html) said="<li class=\"$outcome\"><strong>$outcome</strong> fail-if elapsed &#62; " ;;
			esac
			like "$format: and in the report" "$(cat "$T/out")" "$said"
		done
		like "$format: the verdict" "$(cat "$T/out")" '[+]9\.9% .*slower|,1\.0990.*,slower,'
	done
	names=$(for f in page.html t.md t.csv t.json t.txt plain; do
		"$AM" compare -o "$T/$f" "$a" "$b" --fail-if 'elapsed > +5%' 2>&1
		echo "$? $(head -n 1 "$T/$f" | cut -b 1-12)"
	done)
	is "a file's name says what it holds" "$names" "$(printf '4 %s\n' '<!DOCTYPE ht' '## a vs b' 'kind,run,run' '{' \
		'a vs b · ru' 'a vs b · ru')"
	check "the JSON of a file fits the schema" fits_schema "$T/t.json"
	rm "$T/plain"
	refused "a file that cannot be written is no verdict" 1 "cannot write $T/none/x.html" "$AM" compare "$a" "$b" -o "$T/none/x.html"
	refused "two formats at once" 2 'one of them' "$AM" --json compare "$a" "$b" --format csv
	refused "what files are is asked for by another option" 2 'told by --input-format dd' "$AM" compare "$a" "$b" --format dd
	status "which is taken" 0 "$a" "$b" --input-format list
	refused "and tells the names" 2 '--input-format xml: one of arraymark, fio, ' "$AM" compare "$a" "$b" --input-format xml
	refused "report asks for it by the same option" 2 'told by --input-format dd' "$AM" report "$a" --format dd
	ends "which it takes" 0 "$AM" report "$a" --input-format list
	refused "and believes" 1 'a.txt: no JSON and no terse line of fio' "$AM" report "$a" --input-format fio
	refused "report tells the names, too" 2 '--input-format xml: one of arraymark, fio, ' "$AM" report "$a" --input-format xml
	refused "a format of import is that of the files" 2 \
		'--format csv: here it says what the files are; `arraymark report old --format csv`' \
		"$AM" import "$a" --as old --format csv
}

# results LAYOUT SECONDS OPS…: three times of the workload load, three rates of mail.
results() {
	printf 'layout: %s\nworkload: load\n%s.1s\n%s.2s\n%s.0s\nworkload: mail\n%s01 ops/s\n%s05 ops/s\n%s03 ops/s\n' \
		"$1" "$2" "$2" "$2" "$3" "$3" "$3"
}

# A workload that lacks the metric of a condition neither decides it nor leaves it undecided.
test_metrics_of_some() {
	results a 10 30 >"$T/some.txt"
	results b 11 25 >>"$T/some.txt"
	status "a metric that one of two workloads has: failed" 4 "$T/some.txt" --fail-if 'ops_per_s < -5%'
	status "passed" 0 "$T/some.txt" --fail-if 'ops_per_s < -50%'
	status "undecided" 5 "$T/some.txt" --fail-if 'ops_per_s < -16.7%'
	status "the same for the contrary" 0 "$T/some.txt" --fail-unless 'ops_per_s > -50%'
	status "conditions on both" 4 "$T/some.txt" --fail-if 'ops_per_s < -50%' --fail-if 'elapsed > +5%'
	"$AM" compare "$T/some.txt" --json >"$T/before.json"
	run "$AM" compare "$T/some.txt" --json --fail-if 'ops_per_s < -50%'
	is "asking for it makes no family larger" "$(jq -c '.family, [.comparisons[].p_adjusted]' "$T/out")" \
		"$(jq -c '.family, [.comparisons[].p_adjusted]' "$T/before.json")"
	is "each family is what is compared" "$(jq -c '[.comparisons[] | [.workload, .metric, .k]]' "$T/out")" \
		'[["load","elapsed",1],["mail","ops_per_s",1]]'
	refused "a metric that none of them has" 1 'has the metric throughput: there are elapsed, ops_per_s$' \
		"$AM" compare "$T/some.txt" --fail-if 'throughput < -5%'
	refused "a metric that the workload asked for has not" 2 "no metric of that workload 'ops_per_s' here: elapsed \(see" \
		"$AM" compare "$T/some.txt" --fail-if 'load ops_per_s < -5%'
}

# Layouts that cannot be compared are shown, or told, and alike in every format.
test_lacks() {
	local format
	results a 10 30 | head -n 5 >"$T/lacks.txt"
	printf 'layout: c\n300 ops/s\n301 ops/s\n302 ops/s\nlayout: d\nworkload: other\n12.1s\n12.0s\n12.3s\n' | sed '1a workload: load' >>"$T/lacks.txt"
	run "$AM" compare "$T/lacks.txt"
	like "no metric in common: its own n and mean" "$(cat "$T/out")" '^c +3 +301 .*0\.8% +no metric in common with a$'
	like "no result of a workload: told once" "$(cat "$T/out")" '^absent +d has no result of load$'
	check_not "and in no row" grep -q 'n = 0' "$T/out"
	for format in markdown csv html json; do
		run "$AM" compare "$T/lacks.txt" --format "$format"
		like "$format: no metric in common" "$(cat "$T/out")" 'no metric in common with a'
		like "$format: no result" "$(cat "$T/out")" 'd has no result of load'
		check_not "$format: no row about nothing" grep -qE 'too few trials .n = 0|^comparison,.*,d,load,' "$T/out"
	done
	check "the document fits the schema" fits_schema "$T/out"
	status "a workload that one side has not is undecided" 5 "$T/lacks.txt" --fail-if 'load elapsed > +50%'
}

# on_terminal COLUMNS WORD…: in $T, on a terminal of that width; what stands on it, without its carriage returns,
# is in $T/screen.
on_terminal() {
	local width=$1 command
	shift
	printf -v command '%q ' "$@"
	# bash's quoting of a name that is not ASCII is bash's alone; script takes the shell that SHELL names.
	(cd "$T" && SHELL=$BASH TERM=xterm script -qec "stty cols $width rows 24; $command" /dev/null </dev/null | tr -d '\r' >"$T/screen")
}

widest() { LC_ALL=C.UTF-8 wc -L <"$1"; }
words_of() { tr -s ' ' '\n' <"$1"; }

# What is too wide for a terminal goes on below; in a pipe each line is whole.
test_terminal() {
	local -a told=(env -u COLUMNS "$AM" --color never compare 硬盘阵列.txt --format csv -o /dev/null)
	local width
	if ! command -v script >/dev/null || ! locale -a 2>/dev/null | grep -qi '^C.utf-*8$'; then
		skip "lines on a terminal" "script or the locale C.UTF-8 is not here"
		return
	fi
	cp "$EXAMPLES/raidz2-8-vs-10-disks.txt" "$T/硬盘阵列.txt"
	(cd "$T" && "${told[@]}" 2>"$T/err")
	is "in a pipe a warning is a line" "$(grep -c '' "$T/err")" 2
	check "wider than a terminal" test "$(widest "$T/err")" -gt 132
	for width in 50 80; do
		on_terminal "$width" "${told[@]}"
		check "warnings fit a terminal of $width columns" test "$(widest "$T/screen")" -le "$width"
		is "of $width: each begins a line" "$(grep -c '^arraymark: warning: ' "$T/screen")" 2
		check_not "of $width: all others are indented" grep -qv '^arraymark: warning: \|^  [^ ]' "$T/screen"
		is "of $width: nothing is lost" "$(words_of "$T/screen")" "$(words_of "$T/err")"
		on_terminal "$width" env -u COLUMNS "$AM" --color never compare none-such-file-anywhere.txt
		check "errors fit $width columns" test "$(widest "$T/screen")" -le "$width"
		like "and are whole" "$(words_of "$T/screen" | xargs)" 'nor such a run: .arraymark runs. lists the runs'
	done
	on_terminal 80 env COLUMNS=40 "${told[@]:3}"
	check "or as many columns as COLUMNS says" test "$(widest "$T/screen")" -le 40
}

test_published
test_files
test_statuses
test_formats
test_metrics_of_some
test_lacks
test_terminal
check "nothing was kept or started" test ! -e "$XDG_DATA_HOME/arraymark" -a ! -e "$HOME/.config/arraymark"
done_testing
