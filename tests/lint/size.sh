#!/usr/bin/env bash
# Functions of 60 lines at most (over 60 is said, over 70 fails), files of 600 (over it fails), lines of C of
# 110 characters (over it fails; 100 columns are what to aim at).
# A function is counted from the line of its opening brace to that of its closing one, both in the
# first column. Usage: size.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

mapfile -t files < <(find . \( -path ./build -o -path ./.git \) -prune -o -type f \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.t' -o -name '*.proto' \) -print |
	sed 's|^\./||' | sort)
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '\.[ch]$')
if [ "${#sources[@]}" -eq 0 ] || [ -z "${sources[0]}" ]; then
	echo "size.sh: no C file found in $PWD" >&2
	exit 1
fi

status=0
for f in "${files[@]}"; do
	lines=$(wc -l <"$f")
	if [ "$lines" -gt 600 ]; then
		echo "$f:1: $lines lines: split it, 600 is the limit"
		status=1
	fi
done

# In bytes for every awk: those that go on a character of UTF-8 are taken out.
LC_ALL=C awk '
{
	line = $0
	gsub(/[\200-\277]/, "", line)
	if (length(line) > 110) {
		printf "%s:%d: %d characters: wrap it, 110 is the limit\n", FILENAME, FNR, length(line)
		bad = 1
	}
}
END { exit bad }
' "${sources[@]}" || status=1

awk '
FNR == 1 { start = 0 }
/^[A-Za-z_].*[^=]$/ { head = $0 }
/^[A-Za-z_].*\) *\{$/ {
	printf "%s:%d: the brace of a function stands on a line of its own\n", FILENAME, FNR
	bad = 1
}
/^\{$/ { start = FNR; functions++ }
/^\}/ && start {
	lines = FNR - start + 1
	name = head
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	if (lines > 70) {
		printf "%s:%d: %s has %d lines: split it, 70 is the limit\n", FILENAME, start, name, lines
		bad = 1
	} else if (lines > 60)
		printf "%s:%d: note: %s has %d lines, aim at 60\n", FILENAME, start, name, lines
	start = 0
}
END {
	if (!functions) {
		print "size.sh: no function found in any file"
		bad = 1
	}
	exit bad
}
' "${sources[@]}" || status=1
exit $status
