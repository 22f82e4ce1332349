/*
 * One `random` workload: blocks at random places of files that lie there when the time begins.
 *
 * size counts over all files, each of them gets an equal share of whole blocks. Without `of` the
 * workload lays its files out itself, before its time; with it they are those of an earlier stream
 * write, and size (0: all of them) says how much of them, from their starts. The time ends with
 * the duration, after `ops` operations, or, with neither, when each block was visited once.
 */
#ifndef COMMON_PLAN_WORK_RANDOM_H
#define COMMON_PLAN_WORK_RANDOM_H

#include "common/plan/plan.h"

#define RANDOM_MAX_VERIFIED (1 << 26) /* blocks: their generations are kept in memory */

enum random_op { RANDOM_READ, RANDOM_WRITE, RANDOM_MIXED };

struct work_random {
	enum random_op op;
	double reads;       /* share of reads in a mixed one, 0.01 .. 0.99 */
	int64_t block_size; /* bytes, 512 .. 64M */
	struct plan_size size;
	unsigned files, threads, depth; /* from 1; depth: per thread */
	int direct, verify;
	enum io_engine engine;
	int64_t duration_ns; /* as written in the map; struct workload has it in either case */
	unsigned ops;        /* over all threads; 0: not given */
	unsigned rate;       /* operations/s over all threads; 0: as fast as it goes */
	double zipf;         /* the exponent; 0: uniform */
	enum data_kind data;
	unsigned compressible_percent;
	enum sync_kind sync;  /* after the last operation, within the time; SYNC_NONE for reads */
	unsigned fsync_every; /* writes to a file between two fsyncs of it; 0: never */
	char *of;
	unsigned of_index; /* valid when of is set */
};

/* Blocks that each of the files has on a host with that memory; files of their own, not of `of`. */
int random_file_blocks(const struct work_random *r, uint64_t ram_bytes, uint64_t *ret, struct err *e);

#endif
