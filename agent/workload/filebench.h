/*
 * The filebench engine between its files: a run, its threads, what each counts.
 *
 * Everything of a thread is written by that thread alone; what others read of it is atomic. Gates
 * (semaphores) and the event queue have locks of their own. Invariant: nothing waits without looking
 * at `stop`, so a run ends when its time does, but for system calls that don't return.
 */
#ifndef AGENT_WORKLOAD_FILEBENCH_H
#define AGENT_WORKLOAD_FILEBENCH_H

#include <aio.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "agent/workload/filebench_set.h"
#include "agent/workload/meter.h"
#include "common/plan/work_filebench.h"

#define FB_SOURCE_BYTES ((size_t)16 << 20) /* what is written is taken from here */
#define FB_PIECE_BYTES ((size_t)8 << 20)   /* a larger I/O is done in pieces of that */

struct fb_run;
struct fb_thread;
struct fb_op;

enum fb_outcome {
	FB_OK,
	FB_FAILED = -1, /* the thread's error says why */
	FB_NOTHING = 1, /* there is no file left to take */
	FB_DONE = 2,    /* a finish flowop: enough */
};
typedef enum fb_outcome fb_flow(struct fb_thread *t, const struct fb_op *op);

/* A place where threads of one flowop wait: a semaphore, or a door that a wakeup opens once. */
struct fb_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t count, room; /* semblock: posts to take; posts that may still come */
	int opened;          /* block */
};
/* A flowop of a group, shared by its threads. */
struct fb_op {
	const struct wml_op *def;
	fb_flow *run;
	unsigned id; /* within the group: index of the threads' counters */
	struct fb_op *body;
	size_t n_body;
	const struct fb_op *target; /* of limits and finishes: in the same group, or NULL */
	struct fb_gate *gates;      /* of a semblock or block: one a thread of the group */
	unsigned n_gates;
	const struct fb_op *post; /* of a sempost or wakeup: whose gates */
};
struct fb_threads { /* of one group */
	const struct wml_group *def;
	struct fb_op *ops;
	size_t n_ops;
	unsigned n_ids;
	size_t read_bytes; /* largest buffer that its reads want */
	unsigned fds;      /* descriptors that a thread may hold open */
};
/* What one thread counted of one flowop. */
struct fb_count {
	uint64_t ops, bytes, errors, ns;
	int is_rw; /* its flowop reads or writes */
	int64_t last, bucket; /* of limits: what was counted when they looked last; what is left */
	struct hist *hist;
};
struct fb_fd {
	int fd;        /* -1: not open */
	int set;       /* of the file that is or was open here; -1: none */
	uint64_t file; /* index within the set */
	uint64_t at;   /* of sequential I/O */
	int counted;   /* its file knows that it is open */
};
struct fb_aio {
	struct aiocb cb;
	struct fb_aio *next;
	int set;
	uint64_t file;
};
struct fb_thread {
	struct fb_run *run;
	const struct fb_threads *group;
	unsigned instance; /* within the group */
	pthread_t thread;
	int started;
	struct wml_random random;
	struct meter_lane *lane;
	struct fb_count *counts; /* n_ids of the group */
	struct hist *hists;
	struct fb_fd *fds; /* by number; behind them one for each fileset, of flowops without a number */
	unsigned n_fds, fd_rotor;
	unsigned fd_last; /* what the last flowop without a number took */
	uint64_t *rotors; /* by fileset: of flowops with opennext */
	char *buffer;
	int64_t began; /* the present operation, ns of CLOCK_MONOTONIC */
	_Atomic uint64_t ops, bytes; /* of I/O, for limits and finishes that look at all threads */
	uint64_t loops, deleted_open;
	struct fb_aio *aio, *aio_spare;
	unsigned n_aio;
	struct err error;
	int failed;
} __attribute__((aligned(128)));

struct fb_run {
	const struct msg_worker_spec *spec;
	const struct work_filebench *w;
	int64_t duration_ns; /* 0: until the flowops say so */
	struct wml_program *program;
	int dir; /* the workload's own folder in the volume */
	char *dir_name;
	struct fb_set *sets;
	uint64_t *made_bytes; /* by fileset: of the files that were there at the start */
	struct fb_threads *groups;
	struct fb_thread *threads;
	unsigned n_threads, n_started;
	char *source;
	struct meter meter;
	atomic_int stop;
	atomic_uint ended; /* threads that are through */
	pthread_mutex_t lock; /* of the two below */
	pthread_cond_t stopped;
	double events_taken; /* of the event queue */
	int64_t events_ns;   /* when it began to fill */
	uint64_t cpu_before[2], cpu_after[2]; /* of the host; of our own user time */
};

/* filebench_thread.c */
int fb_thread_prepare(struct fb_thread *t, struct err *e);
int fb_thread_start(struct fb_thread *t, struct err *e);
void fb_thread_join(struct fb_thread *t);
void fb_thread_clear(struct fb_thread *t);
void fb_begin(struct fb_thread *t);
/* The operation that fb_begin began is done. */
void fb_end(struct fb_thread *t, const struct fb_op *op, uint64_t bytes);
/* All threads shall end; those that wait are woken. */
void fb_stop(struct fb_run *r);
int fb_stopping(const struct fb_run *r);
/* Sets the thread's error, errno's text appended, and counts it. */
enum fb_outcome fb_fail(struct fb_thread *t, const struct fb_op *op, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* As fb_fail for what is wrong in the file, without errno: FILE:line:column. */
enum fb_outcome fb_fail_at(struct fb_thread *t, const struct fb_op *op, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* filebench_build.c: the flowops of all groups. */
int fb_build(struct fb_run *r, struct err *e);
void fb_build_clear(struct fb_run *r);
/* filebench_fd.c: descriptors. The one that the flowop names, opened where it isn't yet. */
enum fb_outcome fb_fd_setup(struct fb_thread *t, const struct fb_op *op, struct fb_fd **ret);
struct fb_fd *fb_fd_slot(struct fb_thread *t, const struct fb_op *op);
void fb_fd_close(struct fb_thread *t, struct fb_fd *fd);
fb_flow fb_openfile, fb_createfile, fb_closefile, fb_deletefile, fb_statfile, fb_fsync, fb_fsyncset,
	fb_makedir, fb_removedir, fb_listdir;
/* filebench_io.c */
fb_flow fb_read, fb_write, fb_readwholefile, fb_writewholefile, fb_appendfile, fb_appendfilerand;
const char *fb_source(struct fb_thread *t, const struct fb_op *op, size_t len);
/* A random place in the file for so many bytes; -1 when it is too small. */
int64_t fb_random_offset(struct fb_thread *t, const struct fb_op *op, const struct fb_fd *fd,
	uint64_t len);
/* filebench_aio.c */
fb_flow fb_aiowrite, fb_aiowait;
/* Waits for all that is under way. */
void fb_aio_drain(struct fb_thread *t);
void fb_aio_clear(struct fb_thread *t);
/* filebench_sync.c */
fb_flow fb_block, fb_wakeup, fb_semblock, fb_sempost, fb_hog, fb_delay, fb_eventlimit, fb_bwlimit,
	fb_iopslimit, fb_opslimit, fb_finishoncount, fb_finishonbytes, fb_print;
void fb_gate_wake(struct fb_gate *g);
/* filebench_report.c: parts, facts and notes. */
void fb_report(const struct fb_run *r, struct workload_result *ret);
/* User and system time of all processors, ns; 0 where the system doesn't say. */
uint64_t fb_host_cpu_ns(void);
uint64_t fb_own_user_ns(void);
/* The line as filebench's versions write it. */
struct fb_summary {
	uint64_t ops, reads, writes, bytes, ns; /* ns: sum of all latencies */
	double seconds, cpu_us; /* per read and write */
};
char *fb_summary_line(const struct fb_summary *s, int dialect);

#endif
