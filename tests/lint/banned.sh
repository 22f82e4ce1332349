#!/usr/bin/env bash
# Calls that have no place in C sources: unbounded copies, shells, names that race. Comments and
# string literals are not looked at, except for a shell's name in a string (tests may run one).
# Usage: banned.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

mapfile -t files < <(find agent common coordinator proto tests deploy -name '*.[ch]' 2>/dev/null | sort)
if [ "${#files[@]}" -eq 0 ]; then
	echo "banned.sh: no C file found in $PWD" >&2
	exit 1
fi

awk '
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
# Sets code (without comments, strings emptied) and strings (the literals) of a line. A comment
# may go on from the line before.
function split_line(line,    c, two) {
	code = strings = ""
	while (line != "") {
		two = substr(line, 1, 2)
		c = substr(line, 1, 1)
		if (in_comment) {
			if (!(at = index(line, "*/"))) return
			line = substr(line, at + 2)
			in_comment = 0
		} else if (two == "/*") {
			in_comment = 1
			line = substr(line, 3)
		} else if (two == "//") {
			return
		} else if (c == "\"" || c == "\047") {
			if (c == "\"") match(line, /^"([^"\\]|\\.)*"?/)
			else match(line, /^\047([^\047\\]|\\.)*\047?/)
			if (c == "\"") strings = strings substr(line, 1, RLENGTH) " "
			code = code c c
			line = substr(line, RLENGTH + 1)
		} else if (match(line, /^[^"\047\/]+/)) {
			code = code substr(line, 1, RLENGTH)
			line = substr(line, RLENGTH + 1)
		} else {
			code = code c
			line = substr(line, 2)
		}
	}
}
BEGIN {
	calls = "strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets system popen mktemp " \
		"tmpnam tempnam alloca strtok atoi atol atoll"
	n = split(calls, call, " ")
	pattern = "(^|[^A-Za-z0-9_.>])("
	for (i = 1; i <= n; i++) pattern = pattern (i > 1 ? "|" : "") call[i]
	pattern = pattern ")[ \t]*\\("
}
FNR == 1 { in_comment = 0 }
{
	split_line($0)
	lines++
	if (match(code, pattern)) {
		name = substr(code, RSTART, RLENGTH)
		gsub(/[^a-z]/, "", name)
		complain(name "() is banned: bounded copies, argv vectors and checked numbers instead")
	}
	if (FILENAME !~ /^tests\// && \
		strings ~ /"([a-z\/]*\/)?(ba|da|k|z)?sh"|[^a-z](ba|da|k|z)?sh -c/)
		complain("a shell is banned: programs run by argv vector")
}
END {
	if (!lines) {
		print "banned.sh: nothing to look at"
		bad = 1
	}
	exit bad
}
' "${files[@]}"
