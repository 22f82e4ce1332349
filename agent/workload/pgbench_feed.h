/*
 * pgbench's log of transactions, taken while it writes it: one FIFO for each of its threads, one
 * thread of ours that counts every transaction with its latency. No log reaches a disk.
 */
#ifndef AGENT_WORKLOAD_PGBENCH_FEED_H
#define AGENT_WORKLOAD_PGBENCH_FEED_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/workload/meter.h"
#include "common/base/buf.h"

struct pgbench_feed {
	struct meter_lane *lane;
	char *prefix; /* --log-prefix */
	unsigned n;
	int *fds;
	struct buf *rest; /* of each: the begin of a line */
	char **paths;
	uint64_t counted, failed, skipped, odd; /* transactions; odd: lines that could not be read */
	int wake_fd; /* -1 before it is opened */
	pthread_t thread;
	int started;
};

/* One transaction's line: "client number latency_us script epoch us […]". Returns 1 and the latency in
 * nanoseconds, 0 for one that was skipped or failed (ret_failed: 1), -1 for no such line. */
int pgbench_line(const char *line, int64_t *ret_ns, int *ret_failed);

/* pid: of pgbench before it begins, since its logs are named after it; threads: its -j. The FIFOs are
 * made in the folder. */
int pgbench_feed_open(struct pgbench_feed *f, const char *folder, pid_t pid, unsigned threads,
	struct meter_lane *lane, struct err *e);
int pgbench_feed_start(struct pgbench_feed *f, struct err *e);
/* After pgbench's end: takes the rest. */
void pgbench_feed_end(struct pgbench_feed *f);
void pgbench_feed_close(struct pgbench_feed *f);

#endif
