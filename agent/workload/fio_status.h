/*
 * fio's output while it runs: JSON documents, each with everything since the begin. Documents are
 * cut out of the stream, and what came between two of them becomes a sample.
 *
 * Invariant: the samples that were cut add up to what the last document says.
 */
#ifndef AGENT_WORKLOAD_FIO_STATUS_H
#define AGENT_WORKLOAD_FIO_STATUS_H

#include "agent/workload/workload.h"
#include "common/base/buf.h"
#include "common/formats/fio.h"
#include "common/plan/fio_job.h"

struct fio_status {
	const struct fio_jobs *jobs; /* in the order that fio got them */
	workload_cut *cut;
	void *cut_arg;
	struct buf text; /* the document that is coming in */
	int depth, in_string, escaped;
	struct fio_sides sides; /* of the last document */
	unsigned documents;
	/* handed out in samples so far */
	uint64_t ops, bytes;
	int64_t end_ns;
	struct hist *hist, *now, *step, *side;
	struct buf wire;
	struct err wrong; /* a document that could not be read */
};
void fio_status_init(struct fio_status *s, const struct fio_jobs *jobs, workload_cut *cut, void *arg);
void fio_status_clear(struct fio_status *s);
/* The next bytes of fio's standard output. */
void fio_status_feed(struct fio_status *s, const char *data, size_t len);
/* After the last one: cuts the last sample, and sums up into ret (counters, histogram, elapsed,
 * parts). ERR_INPUT when fio said nothing. */
int fio_status_finish(struct fio_status *s, struct workload_result *ret, struct err *e);

#endif
