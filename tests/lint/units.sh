#!/usr/bin/env bash
# The units of systemd: their keys and programs, as systemd-analyze sees them. Nothing is started.
# Usage: units.sh [ROOT]
set -u
cd "${1:-$(dirname "$0")/../..}" || exit 2

mapfile -t units < <(find deploy/systemd -name '*.service' 2>/dev/null | sort)
if [ "${#units[@]}" -eq 0 ]; then
	echo "units.sh: no unit found in $PWD/deploy/systemd" >&2
	exit 1
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for unit in "${units[@]}"; do
	name=$(basename "$unit" .service)
	ln -s /bin/true "$work/bin/$name" # what is not built yet
	sed "s|@BINDIR@|$work/bin|" "$unit" >"$work/$name.service"
done
# It tells of faults and ends with 0 all the same.
if ! systemd-analyze verify --man=no "$work"/*.service >"$work/said" 2>&1 || [ -s "$work/said" ]; then
	sed "s|$work|deploy/systemd|g" "$work/said"
	exit 1
fi
