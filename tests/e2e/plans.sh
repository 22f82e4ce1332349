# shellcheck shell=bash disable=SC2016
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs plans of deploy/plans as they stand, with their own layouts and workloads, on scratch disks that are
# loop devices; only sizes, times and trials are made small. Sourced after lib.sh.

# small PLAN: leaves in SMALL what makes it small. A plan that has no line here yet is a failure.
small() {
	local read='stream: {op: read, size: 20M, files: 20, threads: 20' write='stream: {op: write, size: 16M, files: 4, threads: 4'
	case $1 in
	command)
		SMALL=('workloads.write.command.argv=[/usr/bin/dd, if=/dev/zero, "of={dir}/t-{trial}", bs=1M, count=8]')
		;;
	demo)
		SMALL=(layouts.raidz2-{8,10}.scratch.size=64M workloads.write.stream.size=8M workloads.mail.filebench.nfiles=40)
		;;
	disk-scan) SMALL=(workloads.scan.disk-scan.span=1M) ;;
	fio)
		SMALL=(layouts.raidz2.scratch.size=64M workloads.{write,randread}.fio.options.size=8m
			workloads.mixed.fio.global.size=8m workloads.{randread,mixed}.duration=1s)
		;;
	pg-restore) SMALL=(layouts.raidz2-{6,8}.scratch.size=128M workloads.load.pg_restore.scale=1) ;;
	pgbench) SMALL=(workloads.{tpcb,read}.pgbench.{scale=1,duration=1s}) ;;
	pool-node) # on scratch disks instead of twelve of the host's
		SMALL=(layouts.raidz{2-11,3-12}.scratch='{disks: 12, size: 64M}' workloads.{clients,flat-out}.duration=1s
			workloads.clients.parallel="[{$read, file-rate: 40M}}, {$write, file-rate: 100M}}]"
			workloads.flat-out.parallel="[{$read}}, {$write}}]")
		;;
	random)
		SMALL=(workloads.files.stream.size=16M workloads.{read,read-deep,paced}.random.duration=1s
			workloads.{paced,hot}.random.size=8M workloads.hot.random.ops=200)
		[ -n "$HAS_URING" ] || SMALL+=(workloads.read-deep.random='{op: read, of: files, direct: true, duration: 1s}')
		;;
	starter) SMALL=(layouts.{raidz2,mirrors}.scratch.size=64M workloads.write.stream.size=8M) ;;
	varmail)
		SMALL=(layouts.{raidz1,mirrors}.scratch.size=64M workloads.mail.filebench.{duration=1s,nfiles=60,nthreads=4})
		;;
	*) return 1 ;;
	esac
}

# keys_of SECTION FILE: the keys under it, one a line.
keys_of() { awk -v s="$1:" '/^[^ #]/ { on = $0 == s; next } on && /^  [a-z0-9]/ { sub(/:.*/, ""); print $1 }' "$2"; }

# results_due FILE: every workload on every layout; a plan of disk scans alone needs none.
results_due() {
	local layout layouts workload
	layouts=$(keys_of layouts "$1")
	for layout in ${layouts:-disks}; do
		for workload in $(keys_of workloads "$1"); do echo "$layout $workload"; done
	done | sort
}

has_pools() { grep -qE '^[^#]*\bpool:' "$1"; }

# lacking FILE: why it cannot run here, if so.
lacking() {
	local needs
	needs=$(sed -n '/^# Needs:/,/^[^#]/p' "$1")
	if has_pools "$1" && [ "$FLEET_ZFS" != yes ]; then
		echo "there is no ZFS here: $FLEET_ZFS"
	elif [[ $needs == *PostgreSQL* ]] && ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null &&
		! compgen -G '/usr/pgsql-*/bin/postgres' >/dev/null; then
		echo "there is no PostgreSQL: run deploy/install-deps test"
	elif [[ $needs == *' fio,'* ]] && [ ! -x /usr/bin/fio ]; then
		echo "there is no fio: run deploy/install-deps test"
	fi
}

# try_plan FILE [SET…]: runs it with these settings beside those that make it small.
try_plan() {
	local name set
	local -a sets=(--set trials=1 --set samples=200ms)
	name=$(basename "$1" .yaml)
	small "$name" || { not_ok "$name runs" "tests/e2e/plans.sh does not say how to make it small" && return; }
	for set in "${SMALL[@]}" "${@:2}"; do sets+=(--set "$set"); done
	ends "$name runs" 0 fleet_ctl run "$1" "${sets[@]}"
	is "$name: every workload has a result on every layout" "$(results_due "$1")" \
		"$(exported last 'select(.type == "trial" and .ok and .complete and (.superseded | not)) | "\(.layout_name) \(.workload_name)"' | sort)"
	check "$name: nothing is left" nothing_left one
}

# plans_fleet [without-zfs]: a coordinator, and agent `one` with a policy that allows what plans ask for.
plans_fleet() {
	is_root || skip_all "file systems on scratch disks need root"
	has_accounts || skip_all "the accounts of the agent are missing: run deploy/install-deps accounts"
	losetup --find >/dev/null 2>&1 || skip_all "this machine has no loop devices"
	command -v mkfs.xfs >/dev/null || skip_all "there is no mkfs.xfs: run deploy/install-deps test"
	fleet_init "$@"
	mkdir -p "$FLEET/one"
	fleet_policy "$FLEET/one" | sed -e 's/^tags: .*/tags: [local, pool-node]/' \
		-e 's|^  programs: .*|  programs: [/usr/bin/fio, /usr/bin/dd]\n  scan: true|' >"$FLEET/one/agent.yaml"
	fleet_coordinator_start 2>"$T/err" || bail "a coordinator starts"
	fleet_agents one 2>"$T/err" || bail "an agent comes up" "$(cat "$T/err")"
	HAS_URING=$(fleet_ctl --json host show one | jq -r '.. | .capabilities? // empty | .[] | select(. == "io_uring")')
	[ -n "$HAS_URING" ] || note "workers may not use io_uring here"
}
