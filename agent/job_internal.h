/* Inside of the job's files: its whole state. */
#ifndef AGENT_JOB_INTERNAL_H
#define AGENT_JOB_INTERNAL_H

#include "agent/helper.h"
#include "agent/job.h"
#include "agent/tasks.h"
#include "agent/telemetry/gather.h"
#include "agent/telemetry/telemetry.h"
#include "agent/worker_launch.h"
#include "common/plan/plan.h"

struct trial_watch {
	int64_t progress_ns, go_ns; /* CLOCK_MONOTONIC; go_ns 0: not begun */
	struct telemetry_source *disks; /* of the volume; NULL: none has counters */
	uint64_t moves;                 /* of theirs when last looked at */
	uint64_t worker_moves;          /* of the worker and its programs, when those were looked at */
	int64_t seen_ns;                /* progress_ns when last looked at */
};
/* What went before the trial and is not counted. */
struct rehearsed {
	enum rehearsal what;
	int64_t began_ns, elapsed_ns;
	uint64_t bytes;
	int is_over;
};
struct trial {
	uint32_t number; /* within the attempt, from 1 */
	unsigned workload, repeat, retries_left;
	uint32_t samples;
	struct gather *gather; /* of its evidence; NULL before a worker is started */
	json_t *before;        /* the conditions in which it began, or NULL */
	struct msg_worker_done done;
	int has_done, started;
	int volume_lost;
	struct trial_watch watch;
	struct rehearsed rehearsed;
	int scan_fds[2]; /* the helper's end and the worker's; 0: none */
	struct err why; /* code ERR_NONE: fine so far */
};

struct job {
	struct job_env env;
	struct msg offer; /* MSG_JOB_OFFER */
	struct plan *plan;
	struct policy *policy;
	const struct inventory *inv;
	struct msg fresh; /* MSG_INVENTORY read for this job; inv then points into it */
	char *name;       /* "run 12", for the log */
	enum job_phase phase;
	struct helper *helper;
	struct worker *worker;
	struct event *kick, *deadline, *cut, *watch;
	struct err kicked; /* why, for the phase that could not be started */

	size_t unit_index;
	struct err unit_error; /* code ERR_NONE: the unit is good so far */
	struct volume *built;  /* by layout; kind and name of those that are not are zero */
	uint64_t *contents;    /* seeds of what was written last, for reads that verify */
	struct trial trial;
	json_t *hung_tools;    /* of RAID controllers, that gave no answer in this attempt; NULL: none yet */
	struct job_task task;
	struct hook_task hook;
	struct host_task inspect;

	int stopping; /* no further unit or trial is begun */
	enum attempt_state end_state;
	struct err end_error; /* the first reason */
	unsigned units_failed;
	int dirty, kept;
};

/* The one mover; asserts that the table allows it. */
void job_move(struct job *j, enum job_phase to);
const struct unit *job_unit(const struct job *j);
const struct layout *job_layout(const struct job *j);
struct volume *job_volume(struct job *j);
/* Numbers and stores the record; wall time is filled in. */
void job_record(struct job *j, struct record *r);
/* Starts a helper for the phase the job is in; its end comes to job_phase_ended. */
void job_help(struct job *j, const char *what, int (*run)(struct helper_report *to, void *arg,
	json_t **ret, struct err *e), void *arg, unsigned deadline_ms);
/* The phase's work ended; why NULL: well. The one place that decides what comes next. */
void job_phase_ended(struct job *j, const struct err *why, const json_t *result);
/* As job_phase_ended, from the event loop. */
void job_phase_failed(struct job *j, const struct err *why);
/* Stops after what is under way. */
void job_stop(struct job *j, enum attempt_state as, const struct err *why);
void job_unit_fail(struct job *j, const struct err *why);
void job_end_unit(struct job *j);

/* The file of the attempt's journal, kind "journal", or "kept" once its volumes are to stay. Caller
 * frees. */
char *job_journal_path(const struct job *j, const char *kind);

/* Timers and the kick. */
int job_events_init(struct job *j, struct err *e);
/* Once the host is known: to what comes before the first unit (job_look_ahead), then to that. */
void job_begin(struct job *j);

/* ---- job_start.c ---- */
#define JOB_HOOK_MS (11 * 60 * 1000)
/* The next look before anything is touched: the owner's hook, then the workloads' input. 0: no more. */
int job_look_ahead(struct job *j);

/* ---- job_trial.c ---- */
void trial_first(struct job *j);
void trial_begin(struct job *j);
void trial_cache_made(struct job *j, const struct err *why, const json_t *result);
/* No worker could be started. */
void trial_not_prepared(struct job *j, const struct err *why);
void trial_continue(struct job *j, const struct msg_continue *c);
void trial_worker_ended(struct job *j);
/* result: {"conditions"} or NULL. */
void trial_checked(struct job *j, const struct err *why, const json_t *result);
/* The worker is killed; the trial fails for that reason. */
void trial_abort(struct job *j, const struct err *why);
void trial_clear(struct trial *t);

/* Keeps the first reason. */
void trial_fail(struct trial *t, const struct err *why);
/* Its worker is gone: where it failed, what the worker left goes with the trial. */
void trial_hear_last_words(struct trial *t, int words);
void trial_make_cache(struct job *j);
/* spec is taken over on success. */
int trial_start_worker(struct job *j, struct msg *spec, const struct worker_handler *h,
	struct err *e);

/* ---- job_scan.c ---- */
/* Makes the socket where the trial's workload is a scan. */
int scan_begin(struct job *j, struct err *e);
/* The disks are open and wait in the socket: their names go into the order. */
void scan_opened(struct job *j, const json_t *result, struct msg_worker_spec *spec);
void scan_end(struct trial *t);
/* Some scan reads disks that are not a layout's. */
int scan_reads_host(const struct plan *p);

/* ---- job_rehearse.c ---- */
/* 1: something goes before the trial, and trial_make_cache follows it. */
int rehearse_begin(struct job *j);
void rehearse_failed(struct job *j, const struct err *why); /* its worker could not be started */
/* What the trial's record says of its caches, after what the volume did. Caller frees. */
char *rehearse_cache_text(const struct job *j, const char *done);

/* ---- job_watch.c ---- */
void trial_watch_start(struct job *j); /* a worker was started */
void trial_watch_go(struct job *j);    /* its timed region begins */
void trial_watch_progress(struct job *j, const struct sample *s);
void trial_watch_look(struct job *j); /* of the timer: aborts a trial that stands still */
void trial_watch_stop(struct job *j); /* it is over, or killed */

/* ---- job_spec.c ---- */
/* The order to a worker for a trial; strings are owned by the message (msg_clear). */
int job_worker_spec(const struct job *j, const struct volume *v, unsigned workload, unsigned repeat,
	struct msg *ret, struct err *e);

#endif
