/*
 * io_uring for the engines that keep several operations under way: a ring with its files and buffers
 * registered, and the one place that knows why a kernel says no.
 */
#ifndef AGENT_WORKLOAD_URING_H
#define AGENT_WORKLOAD_URING_H

#include <liburing.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"

struct uring {
	struct io_uring ring;
	int is_open;
	unsigned depth;
	int has_buffers; /* they are registered: fixed reads and writes */
};

/* depth: operations under way at most. Files are named by their index in fd. Registered buffers are
 * locked memory: where the limit forbids that, the ring does without (has_buffers). ERR_DENIED says
 * why io_uring can't be had here and what to do. */
int uring_open(struct uring *u, unsigned depth, const int *fd, unsigned n_fd, void *buffers,
	size_t len, struct err *e);
/* A zeroed one is fine. */
void uring_close(struct uring *u);
/* Queues a read or write of a part of `buffers`; the caller submits. */
void uring_queue(struct uring *u, int is_read, unsigned file, void *b, size_t len, uint64_t offset,
	uint64_t tag);
void uring_queue_fsync(struct uring *u, unsigned file, uint64_t tag);
/* Submits what is queued and waits for a completion: 1 and it, 0 when none came by due_ns
 * (CLOCK_MONOTONIC, INT64_MAX: waits on), -1. result: bytes, or -errno. */
int uring_next(struct uring *u, int64_t due_ns, uint64_t *ret_tag, int *ret_result, struct err *e);
/* 0 when a process of that user may use io_uring on this host; drop 0: as we are. Forks. */
int uring_check_user(int drop, uid_t uid, gid_t gid, struct err *e);

#endif
