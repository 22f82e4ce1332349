#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# report and compare on what nobody measured: numbers that are none, files that are no text, lines
# without an end, names that would steer a terminal, a browser or a spreadsheet. Either one clear error
# and nothing else, or the right number. No daemon.
# Functions are passed by name, which the linter cannot follow; what printf is given has escapes of its own.
# shellcheck disable=SC2317,SC2016,SC2059
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

AM=$FLEET_BIN/arraymark
# Of address space, so that what is not bounded fails. Sanitizers need more for themselves.
MEMORY_KB=1500000
limits() { if nm "$AM" 2>/dev/null | grep -q __asan_init; then "$@"; else (ulimit -v "$MEMORY_KB" && "$@"); fi; }

# bad NAME REGEX TEXT: refused with an error like that, by report and by compare. %b escapes in TEXT.
bad() {
	printf '%b' "$3" >"$T/x.txt"
	refused "$1: report" 1 "$2" "$AM" report "$T/x.txt"
	refused "$1: compare" 1 "$2" "$AM" compare "$T/good.txt" "$T/x.txt"
}

# good NAME REGEX TEXT: read, with a line like that in the report.
good() {
	printf '%b' "$3" >"$T/x.txt"
	run "$AM" report "$T/x.txt"
	is "$1: exit status" "$STATUS" 0
	like "$1" "$(cat "$T/out")" "$2"
}

test_numbers() {
	bad "not a number" 'x.txt:2: .*nan.* is not a number' '10.1\nnan\n10.2\n'
	bad "infinity" 'x.txt:2: .*inf.* is not a number' '10.1\ninf\n10.2\n'
	bad "a negative time" "x.txt:2: '-5' is negative" '10.1\n-5\n10.2\n'
	bad "a time of zero" 'x.txt:2: .*zero' '10.1\n0\n10.2\n'
	bad "an outlier of 10^9 seconds" 'x.txt:3: .*more than 10 years' '10.1\n10.2\n1000000000\n'
	bad "a number beyond all" 'x.txt:1: .*more than 10 years' '1e300\n'
	bad "a summary's mean that is none" 'x.txt:1: mean: .*nan' 'n=3 mean=nan min=1s max=9s\n'
	bad "a summary of nothing" 'x.txt:1: n=0' 'n=0 mean=5s min=1s max=9s\n'
	bad "a minimum above the mean" 'x.txt:1: the minimum is above' 'n=3 mean=5s min=8s max=9s\n'
	bad "times and rates in one list" 'x.txt:2: mixed units' '10.1s\n100 MB/s\n'
	bad "a line of dd without seconds" 'x.txt:2: .*nan' \
		'1048576 bytes copied, 1.1 s, 1 MB/s\n1048576 bytes copied, nan s, 1 MB/s\n'
	bad "a line of dd that is cut off" "x.txt:1: dd's line .* it is not whole" '1048576 bytes (1.0 MB, 1.0 MiB) copied, 11'
	bad "a rate of dd that contradicts its seconds" "x.txt:1: .*read as 1.234 s.* its rate is '850 kB/s'" \
		'1048576000 bytes (1.0 GB, 1000 MiB) copied, 1,234 s, 850 kB/s\n'
	bad "a line of time without a time" 'x.txt:2: there is no time' 'real 1.5\nreal\n'
	bad "a line of filebench that is cut off" 'x.txt:1: .*cut off' '61.0: IO Summ'
	bad "a comma that could mean two things" 'x.txt:1: .*could be one number' '1,234\n'
	good "seconds, milliseconds and minutes" '^x +3 +44\.5s' '10.1s\n340ms\n2m3s\n'
	good "MiB/s and MB/s" '^x +2 +536[?]  ' '549 MiB/s\n549 MB/s\n'
	good "one thousand, in America" '^x +1 +20m34\.5s' '1,234.5\n'
	good "one thousand, in Europe" '^x +1 +20m34\.5s' '1.234,5\n'
	good "one trial" '^x +1 +10\.1s' '10.1\n'
	good "all trials equal" '^x +4 +10\.10s +±0\.0%$' '10.1\n10.1\n10.1\n10.1\n'
	run "$AM" compare "$T/x.txt" "$T/x.txt"
	like "equal trials on both sides do not differ" "$(cat "$T/out")" '\+0\.0% \(-1\.0…\+1\.0%\)  no difference shown$'
	printf '10.1\n' >"$T/one.txt"
	run "$AM" compare "$T/good.txt" "$T/one.txt"
	like "one trial on a side has no verdict" "$(cat "$T/out")" '^one +1 .* too few trials'
}

test_texts() {
	local json='{"fio version" : "fio-3.33", "jobs" : [ {"jobname" : "a", "read" : {'
	bad "an empty file" 'x.txt: it is empty' ''
	bad "nothing but blanks" 'x.txt: it is empty' ' \r\n\n'
	bad "no trial at all" 'x.txt: not a result' 'layout: a\n'
	bad "a binary file" 'x.txt:1: a NUL byte' '\0177ELF\001\002\0000\0000'
	bad "a picture" 'x.txt: not a result' '\0211PNG\r\n\032\n\001'
	bad "JSON that is cut off" 'x.txt:1: not whole JSON' "$json"
	bad "an export that is cut off" 'x.txt:1: not a line of an export' '{"type":"run","run":1,"na'
	bad "an export with a negative time" 'x.txt:2: trial: elapsed_ns: -5 is found' \
		'{"type":"run","run":1,"name":"x","layouts":["l"],"workloads":["w"]}\n{"type":"trial","run":1,"host":"h","trial":1,"block":1,"layout":0,"workload":0,"ok":true,"elapsed_ns":-5}\n'
	bad "an export with NaN" 'x.txt:2: not a line of an export' \
		'{"type":"run","run":1,"name":"x","layouts":["l"],"workloads":["w"]}\n{"type":"summary","run":1,"host":"h","layout":0,"workload":0,"metric":"elapsed","n":3,"mean":NaN}\n'
	bad "JSON as deep as it is long" 'x.txt:1: not a line' "{\"type\":\"run\",\"x\":$(printf '[%.0s' $(seq 5000))"
	good "two outputs of dd of which the first could be progress" '^x +1 +2\.2s' \
		'1+0 records in\n1+0 records out\n1048576 bytes copied, 1.1 s, 1 MB/s\n2+0 records in\n2+0 records out\n2097152 bytes copied, 2.2 s, 1 MB/s\n'
	like "are warned of" "$(cat "$T/err")" "^arraymark: warning: .*x.txt:3: dd: taken as progress of the transfer that line 6 tells of.* '# next' between"
	good "CRLF" '^x +2 +10\.15s' '10.1\r\n10.2\r\n'
	good "a byte order mark" '^x +2 +10\.15s' '\0357\0273\027710.1\n10.2\n'
	good "UTF-16" '^x +1 +10\.1s' '\0377\03761\00000\0000.\00001\0000\n\0000'
}

# A file of 4 GB that has no end of line, and takes no space.
test_long_lines() {
	truncate -s 4G "$T/sparse.txt"
	refused "a line of 4 GB" 1 'sparse.txt is too large' limits timeout 30 "$AM" report "$T/sparse.txt"
	printf '{"type":"run","run":1,"name":"x' >"$T/sparse.jsonl"
	truncate -s 4G "$T/sparse.jsonl"
	refused "a line of 4 GB that begins as an export" 1 'sparse.jsonl:1: a line of more than' \
		limits timeout 30 "$AM" report "$T/sparse.jsonl"
	printf '10.1\n10.2' >"$T/long.txt"
	truncate -s 2M "$T/long.txt"
	refused "zeros behind the text" 1 'long.txt:2: a NUL byte' "$AM" report "$T/long.txt"
	printf '10.1\n' >"$T/long.txt"
	head -c 2M /dev/zero | tr '\0' 7 >>"$T/long.txt"
	refused "a line of 2 MB" 1 'long.txt:2: a line of 2097152 bytes: the limit' "$AM" report "$T/long.txt"
	run bash -c 'head -c 4G /dev/zero | timeout 60 "$0" report -' "$AM"
	is "4 GB through a pipe" "$STATUS" 1
	like "are refused at the limit" "$(cat "$T/err")" '^arraymark: - is too large: the limit is 268435456 bytes$'
}

test_names() {
	{
		printf 'layout: =cmd|calc!A0\n10s\n11s\n12s\nlayout: <img src=x onerror=alert(1)>\n20s\n21s\n22s\n'
		printf 'layout: \033[31mred\033]0;t\007\n10s\n10.1s\n10.2s\nlayout: a|b\n10s\n11s\n12s\n'
	} >"$T/names.txt"
	for format in text markdown csv json html; do
		run "$AM" report --format "$format" "$T/names.txt"
		is "names that are code, $format" "$STATUS" 0
		check_not "have no control characters in $format" grep -qP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]' "$T/out"
		cp "$T/out" "$T/names.$format"
	done
	check_not "are no formula in csv" grep -qE '(^|,)"?[=@+]' "$T/names.csv"
	check_not "are no element in html" grep -q '<img' "$T/names.html"
	check_not "nor in markdown" grep -qE '(^|[^\\])<img' "$T/names.markdown"
	check "and are themselves in json" jq -e 'any(.results[]; .layout == "<img src=x onerror=alert(1)>")' "$T/names.json"
	printf '%s\n' '{"type":"run","run":1,"name":"\u001b[2J","layouts":["\u202e\u0007"],"workloads":["\u001b]0;x\u0007"]}' \
		'{"type":"summary","run":1,"host":"\u009b31m","layout":0,"workload":0,"metric":"elapsed","n":5,"mean":2,"min":1,"max":3}' \
		'{"type":"end","run":1,"lines":2}' >"$T/names.jsonl"
	run "$AM" report "$T/names.jsonl"
	is "an export with such names" "$STATUS" 0
	check_not "does not steer the terminal" grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2\x9b|\xe2\x80\xae' "$T/out"
}

# summary NAME REGEX FIELDS: a line of an export that nobody can have measured.
summary() {
	bad "$1" "x.txt:2: summary: $2" \
		'{"type":"run","run":1,"name":"x","layouts":["l"],"workloads":["w"]}\n{"type":"summary","run":1,"host":"h","layout":0,"workload":0,"metric":"elapsed",'"$3"'}\n{"type":"end","run":1,"lines":2}\n'
}

test_summaries() {
	summary "a mean that n values of that range cannot have" 'mean: 1.0001 is found, one from 1.8 to 8.2' \
		'"n":10,"mean":1.0001,"min":1,"max":9'
	summary "two values whose mean is not in their middle" 'mean: 5 is found, one from 4.5 to 4.5' \
		'"n":2,"mean":5,"min":1,"max":8'
	summary "one value that is two" 'max: 6 is found, the minimum again' '"n":1,"mean":5,"min":4,"max":6'
	summary "a deviation of one value" 'stddev: 3 is found, null' '"n":1,"mean":5,"stddev":3'
	summary "a deviation above what the mean allows" 'stddev: 500 is found, one from 0 to 11.18' \
		'"n":5,"mean":5,"stddev":500'
	summary "a deviation beyond all numbers" 'stddev: 1[.01]*e.300 is found' '"n":5,"mean":5,"stddev":1e300'
	summary "a deviation below what the range allows" 'stddev: 0 is found, one from 0.632' \
		'"n":5,"mean":5,"min":4,"max":6,"stddev":0'
}

# What is read is kept, by whatever name the output has it.
test_output_is_input() {
	local verb=$1 name
	ln -sf good.txt "$T/link.txt"
	ln -f "$T/good.txt" "$T/hard.txt"
	cp "$T/good.txt" "$T/kept.txt"
	for name in good link hard; do
		refused "$verb: onto a file that is read, $name" 2 'output .*results are read from there' \
			"$AM" "$verb" "$T/other.txt" "a=$T/good.txt" --output "$T/$name.txt"
	done
	refused "$verb: onto standard input" 2 'results are read from there' \
		bash -c '"$0" "$1" - "$3" -o "$2" <"$2"' "$AM" "$verb" "$T/good.txt" "$T/other.txt"
	check "$verb: the file is as it was" cmp "$T/good.txt" "$T/kept.txt"
	run "$AM" "$verb" "$T/other.txt" "$T/good.txt" --output "$T/kept.txt"
	is "$verb: a file that is not read is replaced" "$STATUS" 0
}

printf '10.1\n10.2\n10.0\n10.1\n' >"$T/good.txt"
printf '11.1\n11.2\n11.0\n11.1\n' >"$T/other.txt"
test_summaries
test_output_is_input report
test_output_is_input compare
test_numbers
test_texts
test_long_lines
test_names
done_testing
