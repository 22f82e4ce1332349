/* What the records of a batch change in the tables. */
#ifndef COORDINATOR_STORE_APPLY_H
#define COORDINATOR_STORE_APPLY_H

#include "coordinator/store/store_internal.h"

/* The attempt a batch belongs to, as the store knows it. */
struct attempt_stream {
	struct job_key key;
	uint32_t blocks, layouts, workloads; /* of the run: what a record may name */
};

/* 0 when every record fits the job; -1 with ERR_PROTOCOL naming the record. first: its number. */
int apply_check(
	const struct attempt_stream *s, const struct records *r, uint64_t first, struct err *e);
/* Applies record number `number`. Samples change nothing. */
int apply_record(struct write_ctx *w, const struct attempt_stream *s, const struct record *r,
	uint64_t number, struct err *e);

#endif
