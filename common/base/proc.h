/*
 * Programs, run by argv vector: absolute path, LC_ALL=C, closed stdin, own process group, a
 * deadline, stdout and stderr captured up to a cap (the rest is read and counted). Never a shell.
 */
#ifndef COMMON_BASE_PROC_H
#define COMMON_BASE_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define PROC_OUTPUT_CAP (256 * 1024)

struct proc_result {
	int exited;        /* 1: exit_status is valid; 0: killed by `signal` */
	int exit_status;
	int signal;
	int timed_out;     /* the deadline passed; it, its group and its descendants were killed */
	int64_t elapsed_ns;
	struct buf out, err; /* captured, at most PROC_OUTPUT_CAP each */
	size_t out_dropped, err_dropped;
};

void proc_result_free(struct proc_result *r);

/* Runs to the end (blocking). 0 when the program could be started and ended, whatever its status;
 * -1 when it could not be started. deadline_ms 0 = 60 s. argv[0] is an absolute path.
 * The child gets our environment with LC_ALL=C, without LANG, and with PATH set to the folders of
 * fs_find_program. After its end, a grandchild that holds the pipes is read for 0.2 s more. A
 * process that SIGKILL cannot end (stuck in the kernel) is left behind 2 s after the deadline. */
int proc_run(const struct strv *argv, unsigned deadline_ms, struct proc_result *ret,
	struct err *e);
/* Programs started from now on have this descriptor of ours as number PROC_KEPT, and so does what they
 * leave behind; -1, as at the start: none. It stays the caller's and must stay open. A fork has the
 * setting, too. */
#define PROC_KEPT 3
void proc_keep(int fd);
/* As proc_run, and a non-zero end is an error that quotes the vector's first words, the status and
 * the last line of stderr. Output (may be NULL) gets stdout. */
int proc_run_ok(const struct strv *argv, unsigned deadline_ms, struct buf *out, struct err *e);

/* Error text for a result that is not exit 0; returns -1; 0 when it was fine. */
int proc_check(const struct strv *argv, const struct proc_result *r, struct err *e);

/* Calls fn with each process there is. */
void proc_each(void (*fn)(pid_t pid, void *arg), void *arg);
/* 0 when there is no such process. */
pid_t proc_parent(pid_t pid);
/* Kills a process and all its descendants, whatever sessions and groups they are in: each is stopped
 * first, so that it starts no others meanwhile. Those whose parent has ended are not found. Where /proc
 * is that of a PID namespace around ours, as in a worker, pid is ourselves or a child of ours, and
 * numbers are told from those of /proc; none is found where /proc does not show us. Takes two
 * descriptors at most. */
void proc_kill_tree(pid_t pid);
/* Only its descendants. */
void proc_kill_children(pid_t pid);

/* Start time of a process (clock ticks since boot, field 22 of /proc/pid/stat): with the pid it
 * identifies a process across pid reuse. */
int proc_start_time(pid_t pid, uint64_t *ret_ticks, struct err *e);

/* What a process and the children that it has waited for moved, in bytes (proc_pid_io(5)): from and to
 * storage by the kernel's account, and all that they read and wrote. pid 0: of ourselves, also where /proc
 * is that of another PID namespace. -1 where the kernel does not tell. */
struct proc_io {
	uint64_t storage_read, storage_written, all_read, all_written;
};
int proc_io(pid_t pid, struct proc_io *ret);

#endif
