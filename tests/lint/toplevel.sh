#!/usr/bin/env bash
# The top level holds exactly what architecture says: seven folders and files by name, and
# dotfiles. build/ is made, not kept. Usage: toplevel.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

want=(LICENSE Makefile README.md agent common coordinator deploy proto tests)
status=0
for entry in *; do
	case " ${want[*]} build " in
	*" $entry "*) ;;
	*)
		echo "$entry: does not belong at the top level"
		status=1
		;;
	esac
done
for entry in "${want[@]}"; do
	if [ ! -e "$entry" ]; then
		echo "$entry: is missing at the top level"
		status=1
	fi
done
exit $status
