#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the programs say of themselves: each help has one shape and fits 80 columns; each verb, option
# and exit status of it is in the manual page, and the page has no others; completion offers them.
# Functions are passed by name, which the linter cannot follow.
# shellcheck disable=SC2317,SC2119
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# Names of programs are looked up by the completion.
PATH=$FLEET_BIN:$PATH
unset ARRAYMARK_COORDINATOR

page_of() {
	case $1 in
	arraymark) echo "$ROOT/deploy/man/arraymark.1" ;;
	*) echo "$ROOT/deploy/man/$1.8" ;;
	esac
}

verbs_of() {
	"$1" --help | sed -nE '/^verbs/,/^$/s/^  ([a-z]+( [a-z]+)?)( +[^a-z ].*|  .*)?$/\1/p'
}

# options_of PROGRAM SECTION VERB…: the options below that line of a verb's help, sorted as they stand.
options_of() {
	local program=$1 section=$2
	shift 2
	"$program" "$@" --help | sed -nE "/^$section\$/,/^\$/s/^  (-., |    )--([a-z-]+).*/\2/p"
}

# What a page's source names as options: words with a dash on lines with Fl.
page_options() { awk '/(^|[ .])Fl / { for (i = 1; i <= NF; i++) if ($i ~ /^-[a-z]/) print substr($i, 2) }' | sort -u; }

# The part of a page that tells of a verb, up to the next verb or section.
page_part() {
	awk -v verb="$2" 'index($0 " ", ".It Cm " verb " ") == 1 { inside = 1; print; next }
		/^\.It Cm / || /^\.S[sh] / { inside = 0 }
		inside' "$(page_of "$1")"
}

page_verbs() {
	awk '/^\.Sh / { inside = $2 == "VERBS" }
		inside && /^\.It Cm / {
			verb = $3
			for (i = 4; i <= NF && $i ~ /^[a-z]+$/; i++) verb = verb " " $i
			print verb
		}' "$(page_of "$1")"
}

widest() { LC_ALL=C.UTF-8 wc -L; }

check_verb() { # PROGRAM GLOBAL VERB…
	local program=$1 global=$2 own part
	shift 2
	if ! "$program" "$@" --help >"$T/help" 2>"$T/err" || [ -s "$T/err" ] || ! cmp -s "$T/help" <("$program" help "$@") || ! cmp -s "$T/help" <("$program" "$@" -h); then
		echo "$*: --help, -h and help VERB differ, or fail"
	fi
	[ "$(widest <"$T/help")" -le 80 ] || echo "$*: wider than 80 columns"
	head -n 1 "$T/help" | grep -q "^usage: $program $* \[options\]" || echo "$*: its first line is '$(head -n 1 "$T/help")'"
	own=$(options_of "$program" 'options:' "$@")
	[ "$own" = "$(LC_ALL=C sort <<<"$own")" ] || echo "$*: its options are not in order: ${own//$'\n'/ }"
	part=$(page_part "$program" "$*")
	part=$(page_options <<<"$part" | grep -vxF "$global")
	[ "$part" = "$own" ] || echo "$*: options of its help: ${own//$'\n'/ }; of the page: ${part//$'\n'/ }"
	"$program" "$@" --no-such-option >"$T/out" 2>"$T/err"
	if [ $? -ne 2 ] || ! grep -q "unknown option '--no-such-option'" "$T/err"; then
		echo "$*: an option that there is not: $(cat "$T/err")"
	fi
}

# offered WORD…: what the completion offers for the last word.
offered() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_arraymark
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort -u
}

check_completion() { # PROGRAM VERB…
	local program=$1 want
	shift
	want=$({ options_of "$program" 'options:' "$@"; options_of "$program" 'options of every verb:' "$@"; } | sed 's/^/--/' | LC_ALL=C sort -u)
	[ "$(offered "$program" "$@" --)" = "$want" ] || echo "$program $*: $(offered "$program" "$@" -- | xargs)"
}

is_nothing() {
	local name=$1
	shift
	is "$name" "$("$@")" ""
}

# Names come from a coordinator. $T/bin/arraymark answers as one would whose hosts are called so.
test_hostile_names() {
	local name
	local -x ARRAYMARK_COORDINATOR=bench PATH=$T/bin:$PATH
	mkdir -p "$T/bin"
	# shellcheck disable=SC2016
	printf '%s\n' NAME '$(touch${IFS}ran)' '`touch${IFS}ran`' 'a$(touch${IFS}ran)' '${x[$(touch${IFS}ran)]}' 'a;b' '*' knew >"$T/listed"
	printf '#!/bin/sh\ncat "%s"\n' "$T/listed" >"$T/bin/arraymark"
	chmod +x "$T/bin/arraymark"
	is "completion: names that hold a shell's commands are not offered" "$(offered arraymark host show '' | grep -vxF "$(ls)" | xargs)" knew
	is "completion: nor as the values of an option" "$(offered arraymark show last --host '' | xargs)" knew
	# shellcheck disable=SC2016
	name='$(touch${IFS}ran)'
	COMPREPLY=()
	_arraymark_offer "$name"$'\n*\nknew' ''
	is "completion: words are offered as they stand" "${COMPREPLY[*]}" "$name * knew"
	check_not "completion: and no command in them is run" test -e "$T/ran"
}

all_verbs() { # CHECK PROGRAM ARG…: for each verb
	local what=$1 program=$2 verb
	local -a words
	shift 2
	while read -r verb; do
		read -r -a words <<<"$verb"
		"$what" "$program" "$@" "${words[@]}"
	done < <(verbs_of "$program")
}

test_program() {
	local program=$1 global
	"$program" --help >"$T/help"
	is "$program: its help ends with 0" $? 0
	check "$program: it fits 80 columns" test "$(widest <"$T/help")" -le 80
	global=$(options_of "$program" 'options of every verb:')
	is "$program: options of every verb are in order" "$global" "$(LC_ALL=C sort <<<"$global")"
	check "$program: its page tells of all of them" test -z "$(comm -23 <(echo "$global") <(page_options <"$(page_of "$program")"))"
	is "$program: verbs of help and page are the same" "$(verbs_of "$program" | sort)" "$(page_verbs "$program" | sort)"
	is "$program: so are exit statuses" "$(sed -n '/^Status: /,$p' "$T/help" | tr -d '\n' | grep -oE '\b[0-9]+\b' | xargs)" \
		"$(sed -n '/^.Sh EXIT STATUS/,/^.Sh EXAMPLES/s/^\.It \([0-9]*\)$/\1/p' "$(page_of "$program")" | xargs)"
	is_nothing "$program: each verb's help has its shape and is what the page says" all_verbs check_verb "$program" "$global"
	is "$program: the page has no option beside these" \
		"$(page_options <"$(page_of "$program")")" \
		"$({ echo "$global"; all_verbs options_of_verb "$program"; } | sort -u)"
	is "$program: completion offers the verbs" "$(offered "$program" '')" \
		"$({ verbs_of "$program" | cut -d' ' -f1; echo help; } | LC_ALL=C sort -u)"
	is_nothing "$program: and each verb's options" all_verbs check_completion "$program"
	refused "$program: no verb" 2 'a verb is missing' "$program"
	refused "$program: a verb that is none" 2 'no verb|not a verb' "$program" frobnicate
	ends "$program: its version" 0 "$program" --version
}

options_of_verb() {
	local program=$1
	shift
	options_of "$program" 'options:' "$@"
}

main() {
	local program
	# shellcheck source=/dev/null
	. "$ROOT/deploy/completion/arraymark.bash"
	cd "$T" || bail "a folder of its own"
	for program in arraymark arraymark-coordinator arraymark-agent; do test_program "$program"; done
	refused "a verb of the agent that is nearly one" 2 "did you mean 'policy'" arraymark-agent polcy check
	refused "what its own children are started with has no help" 2 "'worker' is no verb" arraymark-agent help worker
	refused "nor behind its name" 2 "'link' is no verb" arraymark-agent link --help
	refused "a group of its verbs alone" 2 'check, init' arraymark-agent policy
	is "completion: second words" "$(offered arraymark host '' | xargs)" 'disks list pause remove revoke show tag'
	is "completion: the values of an option" "$(offered arraymark report last --format j)" json
	test_hostile_names
	is "completion: files" "$(touch "$T/plan.yaml" && offered arraymark run ./pl)" ./plan.yaml
	done_testing
}

main
