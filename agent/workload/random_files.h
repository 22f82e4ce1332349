/*
 * The files of one random trial: laid out before the timed region, or taken of an earlier write;
 * opened inside the volume's directory, each on the device the volume was built on.
 *
 * Blocks count through all files: block b lies in file b / file_blocks at b % file_blocks.
 */
#ifndef AGENT_WORKLOAD_RANDOM_FILES_H
#define AGENT_WORKLOAD_RANDOM_FILES_H

#include "agent/workload/datagen.h"
#include "agent/workload/random_block.h"
#include "agent/workload/workload.h"
#include "common/plan/work_random.h"

struct random_files {
	const char *directory; /* borrowed */
	struct strv names;
	int dir, *fd;     /* names.n of them */
	unsigned n;
	uint64_t file_blocks, blocks, block_size;
	uint64_t trial;   /* of sealed blocks */
	struct datagen gen; /* what the files were filled from */
	/* Of each block: how often it was written, from 1. NULL where nothing is sealed. The top bit is
	 * for the block's thread: under way. */
	uint32_t *generation;
};
#define GENERATION_BUSY (1u << 31)

struct random_place {
	unsigned file;
	uint64_t offset;
};
static inline struct random_place random_place(const struct random_files *f, uint64_t block)
{
	unsigned file = f->n == 1 ? 0 : (unsigned)(block / f->file_blocks);

	return (struct random_place){
		file, (block - file * f->file_blocks) * f->block_size};
}

/* The workload's own files, where they are not there in their size (and, to be verified, of this
 * trial). Nothing with `of`. */
int random_files_make(const struct workload_order *o, struct err *e);
/* Makes them where that was not done, opens them. On failure: close them. */
int random_files_open(const struct workload_order *o, struct random_files *f, struct err *e);
void random_files_close(struct random_files *f);
/* All of them, so that what comes after a full volume has its room. Not of files of an earlier write. */
void random_files_remove(const struct random_files *f);
/* Written back, and where the kernel does that, out of the page cache. */
int random_files_drop(const struct random_files *f, struct err *e);
/* After that: says where reads of all blocks will come from ("from the disks: …"). 1: from the disks. */
int random_files_source(const struct random_files *f, struct buf *text);
/* The syncs of struct work_random's `sync`. */
int random_files_sync(const struct random_files *f, enum sync_kind sync, int syncfs_works,
	struct err *e);
/* Fails with what stands at that place instead of the block of that generation; 0 when it is right.
 * Of files of an earlier write: compares with what that wrote. */
int random_files_check(const struct random_files *f, struct random_place at, uint32_t generation,
	const char *b, struct err *e);
/* Reads every block and checks it, in the order of the files. Counts into *ret_checked. */
int random_files_check_all(const struct random_files *f, uint64_t *ret_checked, struct err *e);

#endif
