/*
 * The store: all SQL of arraymark, and the threads that own its connections.
 *
 * One write thread owns the only write connection and commits groups: everything queued since the
 * last commit goes into one transaction (a savepoint per operation, so that one refused operation
 * does not take its neighbours along); after the commit the callbacks run on the event loop's
 * thread (an eventfd wakes it). A checkpoint thread keeps the WAL short; a small pool of reader
 * threads answers queries. A callback without error means: durable.
 * On a full disk or an I/O error the whole group is queued again and retried with back-off; while
 * that lasts store_is_stalled() is 1, no new credit should be given, and calls just wait.
 *
 * SQLite >= 3.34, WAL, synchronous=FULL, foreign_keys=ON, user_version with append-only migrations.
 * Except for store_create/check functions everything is called from the event loop's thread.
 */
#ifndef COORDINATOR_STORE_STORE_H
#define COORDINATOR_STORE_STORE_H

#include <event2/event.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/plan/plan.h"
#include "proto/msg.h"
#include "proto/record.h"

struct result_set;
struct store;

/* Makes a new store with a new epoch; ERR_EXISTS when the file is there. */
int store_create(const char *path, struct err *e);
/* Opens, migrates, starts the threads. ERR_NOTFOUND names `arraymark-coordinator init`. */
int store_open(const char *path, struct event_base *base, struct store **ret, struct err *e);
/* Commits what is queued (callbacks do not run any more), stops the threads. Not from a callback of
 * the store. NULL is fine. */
void store_close(struct store *s);
/* 32 hex digits, drawn when the store was made or restored; the first MSG_EPOCH_KIN of a restored
 * one are those of its backup. */
const char *store_epoch(const struct store *s);
int store_is_stalled(const struct store *s);
/* 1 and *ret, why, while it is stalled; else 0. */
int store_trouble(const struct store *s, struct err *ret);

/* ---- loading at start (blocking, before the loop runs) ---- */
struct stored_host {
	char *name;
	struct strv tags;   /* given by the operator, beside the agent's own */
	int paused;
	int64_t last_seen_wall_ns; /* 0: never */
	char *inventory;    /* inventory_encode() bytes or NULL */
	size_t inventory_len;
};
enum job_state { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_IMPORTED,
	JOB_STATE_COUNT };
const char *job_state_name(enum job_state s);
struct stored_job {
	uint64_t run, job;
	char *host, *job_tag;
	enum job_state state;
	char *why;             /* it is in that state; NULL: no reason given */
	uint32_t attempt;      /* the last one begun; 0: none */
	int attempt_ended;     /* its ATTEMPT_END is stored (or it was interrupted) */
	enum attempt_state attempt_state; /* how, when it ended */
	char *plan_text, *run_name;
	struct strv sets;
	uint64_t seed;
	uint32_t blocks;
	struct bound_disks *disks;
	size_t n_disks;
	struct unit *done;     /* complete units */
	size_t n_done;
	uint32_t failures;     /* attempts that ended without a new complete unit, in a row, since the
				* job was last put back to waiting by store_job_state */
	uint32_t attempt_done; /* complete units of the last attempt begun */
	struct unit awaits;    /* what that attempt waits to be told about; block 0: nothing */
	uint32_t stop_block;   /* nothing behind it is wanted; 0: all blocks are */
};
void stored_host_clear(struct stored_host *h);
void stored_job_clear(struct stored_job *j);
int store_load_hosts(struct store *s, void (*row)(void *arg, struct stored_host *h), void *arg,
	struct err *e);
/* Jobs that are waiting or running, oldest run first. */
int store_load_jobs(struct store *s, void (*row)(void *arg, struct stored_job *j), void *arg,
	struct err *e);
/* All jobs of one run, in any state (resume, watch of an ended run); blocking, but short. ERR_NOTFOUND
 * when there is no such run. May be called while the loop runs. */
int store_load_run(struct store *s, uint64_t run, void (*row)(void *arg, struct stored_job *j),
	void *arg, struct err *e);
/* Serials (hex) of revoked certificates. */
int store_load_revoked(struct store *s, void (*row)(void *arg, const char *serial), void *arg,
	struct err *e);

/* ---- writes: queued; done() runs on the loop after the commit ---- */
typedef void (*store_done)(void *arg, const struct err *e); /* e NULL: durable */

struct append_result {
	enum { APPEND_ACK, APPEND_REFUSE } what;
	uint64_t last;     /* ACK: everything up to here is durable (also for a duplicate) */
	uint64_t expected; /* REFUSE: the first record the store would take; 0: job unknown */
	int adopted;       /* ACK: the attempt was not known here and is the job's last one now */
	char text[200];
};
typedef void (*store_append_done)(void *arg, const struct append_result *r, const struct err *e);
/* Appends a batch for the host that sent it and applies its records in order: attempts, units,
 * steps, volumes, trials, samples. Rules: first must be stored last + 1; a duplicate (last <=
 * stored last) is acked again; an overlap or gap is refused; a job of another host is refused; a
 * wrong epoch is refused. A restored store lacks attempts that began after its backup: one that is
 * newer than the job's last is taken from its first record on, when that is an ATTEMPT_START with
 * the tag of the job. A job that waited, ran or failed runs again then; a cancelled one stays so.
 * Takes *b and *r over (both are zeroed). */
void store_append(struct store *s, const char *host, struct msg_batch *b, struct records *r,
	store_append_done done, void *arg);

struct new_job {
	char *host, *job_tag;
	struct bound_disks *disks;
	size_t n_disks;
};
struct new_run {
	char *name, *plan_text, *plan_sha256, *user;
	char *design_json; /* store_design_json() of the parsed plan */
	struct strv sets;
	uint64_t seed;
	uint32_t blocks, units; /* units: blocks * layouts, per job */
	struct new_job *jobs;
	size_t n_jobs;
};
/* What the store keeps of a parsed plan beside its text: names of layouts and workloads in plan
 * order, operations, design, baseline, margin. Caller frees. */
char *store_design_json(const struct plan *p);
typedef void (*store_run_done)(void *arg, uint64_t run, const uint64_t *jobs, const struct err *e);
/* Stores plan (by hash), run and jobs. Copies what it needs. */
void store_run_create(struct store *s, const struct new_run *r, store_run_done done, void *arg);
/* Stores what files told as a run of its own, its state JOB_IMPORTED, with a job per host that it
 * names; the set holds one run and has passed result_set_check(). One transaction. ERR_EXISTS when
 * a run with that name holds just this already. Takes *set over (zeroed). */
typedef void (*store_import_done)(void *arg, uint64_t run, const struct err *e);
void store_import(struct store *s, const char *user, struct result_set *set, store_import_done done,
	void *arg);
/* A new attempt begins (before it is offered); the job becomes running. Units of earlier attempts
 * that are not complete are marked superseded. */
void store_attempt_begin(struct store *s, const struct job_key *key, store_done done, void *arg);
/* The agent does not have this attempt any more and will not send its end. */
void store_attempt_interrupted(struct store *s, const struct job_key *key, const char *why,
	store_done done, void *arg);
/* Moves a job; when no job of the run is waiting or running any more, the run gets its finish time
 * and state (done, failed if any job failed, cancelled). A failed or cancelled job put back to
 * JOB_WAITING (resume) opens its run again and counts its failures anew. */
void store_job_state(struct store *s, uint64_t job, enum job_state state, const char *why,
	store_done done, void *arg);
/* Nothing behind that block of the job is wanted any more. */
void store_job_stop(
	struct store *s, uint64_t job, uint32_t block, store_done done, void *arg);
/* Makes the host when it is new. inventory NULL keeps the stored one; seen_wall_ns 0 keeps that. */
void store_host_put(struct store *s, const char *host, const char *inventory, size_t len,
	int64_t seen_wall_ns, store_done done, void *arg);
void store_host_flags(struct store *s, const char *host, const struct strv *tags, int paused,
	store_done done, void *arg);
/* ERR_BUSY while a job of it waits or runs, ERR_NOTFOUND when there is no such host. */
void store_host_remove(struct store *s, const char *host, store_done done, void *arg);

/* Tokens: only their SHA-256 is stored. */
void store_token_create(struct store *s, const char *token_sha256, const char *id,
	const char *role, const char *name, int64_t expires_wall_ns, store_done done, void *arg);
struct token_use {
	char role[16], name[65];
	char *cert_pem; /* set when the same key already got its certificate: send it again */
};
typedef void (*store_token_done)(void *arg, const struct token_use *u, const struct err *e);
/* One use: binds the token to the key's fingerprint the first time. ERR_DENIED: unknown, expired,
 * revoked, or used with another key (the text says which, for the log; a peer is told "refused"). */
void store_token_take(struct store *s, const char *token_sha256, const char *key_fingerprint,
	store_token_done done, void *arg);
/* Keeps the certificate given for a token; replaces nothing: ERR_WRONG_STATE when the token has one
 * already (the same key asked twice at once), then the one just made must not be handed out. */
void store_token_issued(struct store *s, const char *token_sha256, const char *serial,
	const char *cert_pem, store_done done, void *arg);
void store_token_revoke(struct store *s, const char *id, store_done done, void *arg);
/* Revokes every certificate and every token of a name; the callback gets each serial, also of those
 * revoked before. */
typedef void (*store_revoke_done)(void *arg, const struct strv *serials, const struct err *e);
void store_revoke_name(struct store *s, const char *name, store_revoke_done done, void *arg);

/* ---- reads: answered by a reader thread as JSON lines in chunks ---- */
enum store_query {
	/* The lines' keys are told in coordinator/store/query.c. */
	QUERY_RUNS,   /* a line per run, newest first */
	QUERY_SHOW,   /* a run's detail: run, jobs, units, trials, steps */
	QUERY_EXPORT, /* a run as coordinator/results/export.h lines, samples' series included */
	/* the same for a report: of the commands only what failed and one block of the first host, and
	 * no series */
	QUERY_EXPORT_REPORT,
	/* target: a run, then a line for each of the series that are wanted, see
	 * coordinator/results/series_want.h: these alone */
	QUERY_EXPORT_SERIES,
	QUERY_TOKENS,
	/* target "RUN JOB HOSTS": {"type":"precision","precise":bool,"blocks":…,"widest":fraction},
	 * see until_judge in coordinator/results/until.h; HOSTS: how many the run has */
	QUERY_PRECISION,
	QUERY_RUN_ID  /* target (number, name, "last") -> {"type":"run-id","run":12,"name":…,"state":…} */
};
/* Runs on the loop. A chunk holds whole lines, at most MSG_CHUNK_MAX bytes; the last call has end = 1
 * (data may be empty) or an
 * error. Return 0 to go on, 1 to pause until store_query_resume, -1 to stop (no more calls). */
typedef int (*store_chunk)(void *arg, const char *data, size_t len, int end, const struct err *e);
struct store_reading;
struct store_reading *store_query(struct store *s, enum store_query q, const char *target,
	store_chunk chunk, void *arg);
/* Both may be called from inside the callback, for the same or another reading. After a call with
 * end, an error, -1 or store_query_cancel the pointer is dead. */
void store_query_resume(struct store_reading *r);
void store_query_cancel(struct store_reading *r);

/* ---- maintenance: own connection; blocking, for threads or tools ---- */
int store_backup(const char *path, const char *to, struct err *e); /* consistent copy, step(-1) */
/* A checked copy of the backup becomes the store, with a new epoch of the same descent; tokens not used
 * yet are revoked.
 * ERR_EXISTS when path is there. */
int store_restore(const char *backup, const char *path, struct err *e);
/* integrity_check, foreign keys, unbroken streams, and every finished trial has all its samples.
 * Findings one line each; 0 when there is none, -1 otherwise: ERR_FAILED with their count, other
 * codes when the check itself could not be done. Ranges that an agent reported as lost are told in
 * lines that begin with "note: "; they are no findings. A coordinator may serve the store
 * meanwhile. */
int store_check(const char *path, struct strv *findings, struct err *e);

#endif
