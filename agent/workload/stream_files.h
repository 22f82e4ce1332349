/*
 * The files of one stream trial: opened before the timed region inside the volume's directory,
 * each on the device the volume was built on, and cut into one stretch per thread.
 */
#ifndef AGENT_WORKLOAD_STREAM_FILES_H
#define AGENT_WORKLOAD_STREAM_FILES_H

#include "common/base/err.h"
#include "proto/msg.h"

struct stream_file {
	char *name; /* borrowed from the spec */
	int fd;
	uint64_t size; /* bytes this trial moves in it */
};
/* What one thread does in one file: [start, end), start on a block border. */
struct stretch {
	unsigned file;
	uint64_t start, end;
};
struct stream_files {
	int dir;
	struct stream_file *v;
	unsigned n;
};

/* Opens the directory and every file. Writing makes new files (an old one of that name is removed
 * before the clock starts); reading and rewriting want files of at least the size. ERR_WRONG_STATE
 * when something does not lie on spec->dev. */
int stream_files_open(const struct msg_worker_spec *spec, struct stream_files *ret, struct err *e);
void stream_files_close(struct stream_files *f);
/* Removes them by name, still open: what a write that failed left, so that the next trial has its room. */
void stream_files_remove(const struct stream_files *f);
/* The stretches of thread t of spec->threads: whole files in turn while there are at least as many
 * files as threads, else ranges of one file. Caller frees *ret; *ret_n may be 0. */
void stream_stretches(const struct stream_files *f, const struct msg_worker_spec *spec, unsigned t,
	struct stretch **ret, size_t *ret_n);
/* The syncs the spec asks for. Without a working syncfs the directory is fsynced instead. */
int stream_files_sync(const struct stream_files *f, const struct msg_worker_spec *spec,
	struct err *e);

#endif
