# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of arraymark, arraymark-coordinator and arraymark-agent for bash. Verbs and options are
# those that the program's own help tells.

# Verbs of a program, one a line.
_arraymark_verbs() {
	"$1" --help 2>/dev/null | sed -nE '/^verbs/,/^$/s/^  ([a-z]+( [a-z]+)?)( +[^a-z ].*|  .*)?$/\1/p'
}

# Options of a verb (of the program, without one), one a line.
_arraymark_options() {
	local program=$1
	shift
	"$program" "$@" --help 2>/dev/null | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

# First column of what a verb lists. Only where this user is logged in: nothing is started for a TAB.
# What comes is others' text: a word that is more than a name is none that this shell should hold.
_arraymark_list() {
	[[ -n ${ARRAYMARK_COORDINATOR-} || -s ${XDG_CONFIG_HOME:-$HOME/.config}/arraymark/coordinator ]] || return 0
	timeout 2 arraymark --quiet --color never "$@" 2>/dev/null |
		LC_ALL=C awk 'NR > 1 && $1 ~ /^[A-Za-z0-9._:+-]+$/ { print $1 }'
}

# Adds to COMPREPLY those of the words (one or several a line) that begin with $2. The words are compared
# as they stand: `compgen -W` would expand them, and run the commands in them.
_arraymark_offer() {
	local word
	local -a words
	read -r -d '' -a words <<<"$1"
	for word in "${words[@]}"; do
		[[ $word != "$2"* ]] || COMPREPLY+=("$word")
	done
}

# Arguments of a verb that are no files.
_arraymark_arguments() {
	case $1 in
	watch | cancel | resume | show | export | report | compare) echo "last $(_arraymark_list runs --all)" ;;
	'host show' | 'host disks' | 'host tag' | 'host pause' | 'host revoke' | 'host remove')
		_arraymark_list host list
		;;
	'token create') echo 'agent viewer operator admin' ;;
	'token revoke') _arraymark_list token list ;;
	esac
}

# Values of an option, by the verb that it is given to; status 1 where nothing is known of them.
_arraymark_values() {
	case $1 in
	--color) echo 'auto always never' ;;
	--format | --input-format)
		case $1$2 in
		--input-format* | *import) echo 'arraymark fio dd time list summary filebench bonnie++ iozone elbencho' ;;
		*) echo 'text markdown csv json html' ;;
		esac
		;;
	--by) echo 'layout host run' ;;
	--undecided) echo 'pass fail' ;;
	--metric)
		echo 'elapsed throughput ops_per_s latency_mean latency_p50 latency_p99 latency_p999 latency_max' \
			'cpu_per_op physical_read_bytes physical_write_bytes'
		;;
	--role) echo 'agent viewer operator admin' ;;
	--log-level) echo 'error warning info debug' ;;
	--host | --hosts) _arraymark_list host list ;;
	*) return 1 ;;
	esac
}

# The verb on the command line, as far as it goes, into $verb.
_arraymark_verb() {
	local i word
	verb=
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		-c | --coordinator | --color | --config | --state | --log-level) ((i++)) ;;
		-* | help) ;;
		*)
			verb=${verb:+$verb }$word
			case $verb in host | token | plan | policy) ;; *) return ;; esac
			;;
		esac
	done
}

_arraymark() {
	local program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb words
	local -a split
	_arraymark_verb
	read -r -a split <<<"$verb"
	COMPREPLY=()
	if words=$(_arraymark_values "$prev" "$verb"); then
		_arraymark_offer "$words" "$cur"
		return
	fi
	case $prev in --output | --policy | --config | --state | --token-file | -o | -p) cur=./$cur ;; esac
	case $cur in
	-*) words=$(_arraymark_options "$program" "${split[@]}") ;;
	./* | /* | */*)
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
		return
		;;
	*)
		words=$(_arraymark_verbs "$program")
		if [[ -z $verb ]]; then
			words=$(cut -d' ' -f1 <<<"$words")$'\nhelp'
		elif grep -q "^$verb " <<<"$words"; then
			words=$(sed -n "s/^$verb //p" <<<"$words")
		else
			words=$(_arraymark_arguments "$verb")
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		;;
	esac
	_arraymark_offer "$words" "$cur"
}

complete -o filenames -F _arraymark arraymark arraymark-coordinator arraymark-agent
