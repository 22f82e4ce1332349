# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of arraymark for bash.

_arraymark_global='--coordinator --quiet --json --color --help --version'

# First column of what a verb lists. Only where this user is logged in: nothing is started for a TAB.
_arraymark_list() {
	[[ -n ${ARRAYMARK_COORDINATOR-} || -s ${XDG_CONFIG_HOME:-$HOME/.config}/arraymark/coordinator ]] || return 0
	timeout 2 arraymark --quiet --color never "$@" 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_arraymark_options() {
	case $1 in
	local) echo '--set --policy' ;;
	'plan check') echo '--set --hosts --offline' ;;
	run) echo '--set --hosts --dry-run --detach' ;;
	runs) echo '--all' ;;
	show) echo '--brief --failed --host' ;;
	cancel) echo '--reason --wait' ;;
	resume) echo '--detach' ;;
	report) echo '--format --output --long --redact' ;;
	compare) echo '--metric --by --workload --margin --fail-if --fail-unless --undecided --format --long' ;;
	import) echo '--as --layout --workload --host --format --long' ;;
	export) echo '--output' ;;
	'host disks') echo '--free --allowed' ;;
	'token create') echo '--role --ttl' ;;
	esac
}

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

_arraymark() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' word i
	local verbs='local login plan run runs show watch cancel resume report compare import export host token help'
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		-c | --coordinator | --color) ((i++)) ;;
		-*) ;;
		*)
			verb=${verb:+$verb }$word
			case $verb in host | token | plan) ;; *) break ;; esac
			;;
		esac
	done
	COMPREPLY=()
	case $prev in
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur") && return ;;
	--format)
		case $verb in
		compare | import) word='arraymark fio dd time list summary filebench bonnie++ iozone elbencho' ;;
		*) word='text markdown csv json html' ;;
		esac
		mapfile -t COMPREPLY < <(compgen -W "$word" -- "$cur") && return
		;;
	--by) mapfile -t COMPREPLY < <(compgen -W 'layout host run' -- "$cur") && return ;;
	--undecided) mapfile -t COMPREPLY < <(compgen -W 'pass fail' -- "$cur") && return ;;
	--metric) mapfile -t COMPREPLY < <(compgen -W 'elapsed throughput ops_per_s latency_mean latency_p50 latency_p99 latency_p999 latency_max cpu_per_op physical_read_bytes physical_write_bytes' -- "$cur") && return ;;
	--role) mapfile -t COMPREPLY < <(compgen -W 'agent viewer operator admin' -- "$cur") && return ;;
	--host | --hosts) mapfile -t COMPREPLY < <(compgen -W "$(_arraymark_list host list)" -- "$cur") && return ;;
	--output | --policy | -o | -p) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$_arraymark_global $(_arraymark_options "$verb")" -- "$cur")
		return
	fi
	case $verb in
	'') mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur") ;;
	host) mapfile -t COMPREPLY < <(compgen -W 'list show disks tag pause revoke remove' -- "$cur") ;;
	token) mapfile -t COMPREPLY < <(compgen -W 'create list revoke' -- "$cur") ;;
	plan) mapfile -t COMPREPLY < <(compgen -W 'new check' -- "$cur") ;;
	*)
		mapfile -t COMPREPLY < <(compgen -W "$(_arraymark_arguments "$verb")" -- "$cur")
		case $verb in
		local | run | report | compare | import | 'plan check' | 'plan new')
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
			;;
		esac
		;;
	esac
}

complete -o filenames -F _arraymark arraymark
