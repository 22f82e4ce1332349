/*
 * A program run as the trial's work: its folder is the volume's, its environment is our own and
 * small, its output is kept or handed on while it runs. Never a shell.
 *
 * The program and its descendants die with the worker (see worker_launch.h); at its timeout it,
 * its process group and its descendants are killed.
 */
#ifndef AGENT_WORKLOAD_PROGRAM_H
#define AGENT_WORKLOAD_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "proto/msg.h"

#define PROGRAM_KEEP (64 * 1024) /* bytes of each output that are kept: the last ones */

struct program {
	const struct strv *argv; /* argv[0]: absolute path */
	int dir;                 /* descriptor of the folder it runs in */
	const char *home;        /* that folder's path: HOME and TMPDIR */
	int in_fd;               /* its standard input from the start; -1: empty */
	int64_t timeout_ns;      /* 0: none */
	/* Gets what it prints, instead of struct program_end. NULL: it is kept. */
	void (*on_out)(void *arg, const char *data, size_t len);
	void *arg;
};
struct program_end {
	int exited, exit_status; /* exited 0: killed by `signal` */
	int signal, timed_out;
	int64_t elapsed_ns;
	/* Bytes that it and its descendants wrote into files on disks, as the kernel accounts them
	 * (write_bytes of proc(5)); -1: not told. */
	int64_t file_bytes_written;
	struct buf out, err;
	size_t out_dropped, err_dropped; /* bytes before what is kept */
};
void program_end_clear(struct program_end *r);
/* Runs to the end (blocking). 0 whatever the end was; -1 when it could not be started. */
int program_run(const struct program *p, struct program_end *ret, struct err *e);
/* 0 when it ended with 0; else an error with the line of stderr that tells of the storage (ERR_FULL,
 * ERR_IO), or the last line that it said (ERR_FAILED); ERR_TIMEOUT when it took too long. */
int program_check(const struct program *p, const struct program_end *r, struct err *e);
/* Opens the volume's folder; it must lie on the volume's device. */
int program_open_folder(const struct msg_worker_spec *spec, int *ret_fd, struct err *e);

#endif
