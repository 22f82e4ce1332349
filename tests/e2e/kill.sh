# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# SIGKILL in the middle of a trial, for each process that takes part. What must hold afterwards is the
# same whatever the volumes are made of; kill.t and kill-zfs.t say what that is. Sourced after lib.sh.
#
# Needs: $T/kill.yaml, a plan for host one with 2 blocks of one layout and the workloads quick and slow.

# The first block's quick trial is stored, its slow one runs.
in_first_slow_trial() {
	fleet_ctl --json show "$1" 2>/dev/null | jq -e 'any(.trials[]; .block == 1 and .workload_name == "quick" and .state == "ok")
		and any(.trials[]; .block == 1 and .workload_name == "slow" and .state == "running")' >/dev/null && has_worker one
}

kill_coordinator() {
	kill -KILL "$FLEET_COORDINATOR"
	wait "$FLEET_COORDINATOR" 2>/dev/null
	fleet_coordinator_start
}
kill_link() { kill -KILL "$(link_of one)"; }
kill_worker() { kill -KILL "$(worker_of one)"; }
kill_monitor() {
	local pid
	pid=$(monitor_of one)
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	fleet_agent_start one
}

# after_kill RUN VICTIM: what holds for all.
after_kill() {
	local number=$1 victim=$2
	await_check "the run goes on to its end without its $victim" 60 run_is_over "$number"
	check "and is done" run_is "$number" "done"
	is "$victim: four trials count" "$(trials_counted "$number")" 4
	check "$victim: each of them once" trials_unique "$number"
	is "$victim: no trial was stored twice" "$(exported "$number" 'select(.type == "trial") | [.host, .attempt, .trial] | @csv' |
		sort | uniq -d)" ''
	is "$victim: no sample was lost" "$(exported "$number" 'select(.type == "trial") | .lost' | sort -u | xargs)" 0
	await_check "$victim: no volume is left" 30 nothing_left one
	await_check "$victim: the host is ready again" 30 host_is one idle
	ends "$victim: check finds the store in order" 0 coordinator check
}

# The trials that count, as [[block, workload, attempt], …].
counted() {
	exported "$1" -s -c '[.[] | select(.type == "trial" and (.superseded | not) and .ok) | [.block, .workload_name, .attempt]] | sort'
}

# kill_in_trial VICTIM: leaves the run's number in RUN.
kill_in_trial() {
	RUN=$(file_plan "$T/kill.yaml")
	await_check "a trial is under way: $1 is killed" 40 in_first_slow_trial "$RUN"
	"kill_$1" || not_ok "the $1 starts again"
	after_kill "$RUN" "$1"
}

all_kills() {
	kill_in_trial coordinator
	is "coordinator: nothing was done twice" "$(counted "$RUN")" \
		'[[1,"quick",1],[1,"slow",1],[2,"quick",1],[2,"slow",1]]'
	kill_in_trial link
	is "link: nothing was done twice" "$(counted "$RUN")" \
		'[[1,"quick",1],[1,"slow",1],[2,"quick",1],[2,"slow",1]]'
	kill_in_trial worker
	is "worker: the trial that failed is kept as failed" "$(exported "$RUN" -s -c \
		'[.[] | select(.type == "trial" and (.ok | not)) | [.block, .workload_name]]')" '[[1,"slow"]]'
	like "worker: with the reason" "$(exported "$RUN" 'select(.type == "trial" and (.ok | not)) | .error')" 'killed by signal 9'
	kill_in_trial monitor
	is "monitor: a new attempt did the block anew" "$(counted "$RUN")" \
		'[[1,"quick",2],[1,"slow",2],[2,"quick",2],[2,"slow",2]]'
	is "monitor: what was finished before is kept, marked superseded" "$(exported "$RUN" -s -c \
		'[.[] | select(.type == "trial" and .superseded and .ok) | [.block, .workload_name, .attempt]]')" '[[1,"quick",1]]'
}
