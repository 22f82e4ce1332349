#!/usr/bin/env bash
# Manual pages: no warning of mandoc or of man (groff), where these are installed; nothing but ASCII,
# which is what every terminal has; quotes around each word of a list, not around all of it; and no
# quoted text that begins with a word that is a macro.
# Usage: man.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

mapfile -t pages < <(find deploy/man -name '*.[1-9]' 2>/dev/null | sort)
if [ "${#pages[@]}" -eq 0 ]; then
	echo "man.sh: no manual page found in $PWD/deploy/man" >&2
	exit 1
fi

status=0
for page in "${pages[@]}"; do
	LC_ALL=C grep -nP '[^\x00-\x7f]' "$page" | sed "s|^\([0-9]*\):.*|$page:\1: not ASCII|"
	awk -v page="$page" '/^\.(Ql|Dq|Sq|Li|Em|Sy) (Ad|An|At|Do|In|No|Ns|So) / {
		print page ":" NR ": " $1 " loses " $2 ", which is a macro: write \\&" $2
	}
	/^\.(Pq )?(Ql|Dq|Sq|Li) / {
		for (i = 3; i < NF; i++)
			if ($i == ",") {
				print page ":" NR ": the quotes go around the whole list: give each word a line of its own"
				break
			}
	}' "$page"
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" 2>&1 | sed 's/^mandoc: //'
	fi
	if man --version 2>/dev/null | grep -q '^man 2'; then
		LC_ALL=C MANROFFOPT='' man --warnings -l "$page" 2>&1 >/dev/null | sed "s|<standard input>|$page|"
	fi
done >"${out:=$(mktemp)}"
if [ -s "$out" ]; then
	cat "$out"
	status=1
fi
rm -f "$out"
exit $status
