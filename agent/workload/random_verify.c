/* What stands in a block's place, told in words. Owns nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/workload/random_files.h"
#include "agent/workload/stream_ring.h"
#include "common/base/mem.h"

#define CHUNK (1024 * 1024)

/* "0123456789abcdef…": its first bytes. */
static void show_bytes(const char *b, char *out, size_t len)
{
	size_t n = 0;

	for (unsigned i = 0; i < 16; i++)
		n += (size_t)snprintf(out + n, len - n, "%02x", (unsigned char)b[i]);
}

static const char *file_name(const struct random_files *f, uint64_t file)
{
	return file < f->n ? f->names.v[file] : "a file that is not of this trial";
}

static int fail_sealed(const struct random_files *f, const struct block_id *id,
	enum block_state state, const struct block_id *found, const char *b, struct err *e)
{
	char head[40], what[512] = "";
	unsigned long long at = id->offset, want = id->generation;

	show_bytes(b, head, sizeof(head));
	switch (state) {
	case BLOCK_ZEROS:
		snprintf(what, sizeof(what), "zeros where generation %llu was written", want);
		break;
	case BLOCK_ELSEWHERE:
		snprintf(what, sizeof(what), "the block of byte %llu of '%s' (generation %llu)",
			(unsigned long long)found->offset, file_name(f, found->file),
			(unsigned long long)found->generation);
		break;
	case BLOCK_OLD:
	case BLOCK_NEWER:
		snprintf(what, sizeof(what), "%s generation, %llu where %llu was written last%s",
			state == BLOCK_OLD ? "an old" : "a later",
			(unsigned long long)found->generation, want,
			state == BLOCK_OLD ? ": a write was lost" : "");
		break;
	case BLOCK_OTHER_RUN:
		snprintf(what, sizeof(what), "a block of another trial");
		break;
	case BLOCK_DAMAGED:
		snprintf(what, sizeof(what),
			"the head of generation %llu with other contents: damaged, or half written",
			want);
		break;
	default:
		snprintf(what, sizeof(what), "garbage (%s…) where generation %llu was written", head,
			want);
	}
	return err_set(e, ERR_IO,
		"'%s' in %s at byte %llu: found %s; check the disks and the controller",
		f->names.v[id->file], f->directory, at, what);
}

/* Of an earlier stream: its contents are known, nothing in them says where they belong. */
static int check_stream(const struct random_files *f, struct random_place at, const char *b,
	struct err *e)
{
	uint64_t bad;
	const char *there;
	char head[40];

	if (datagen_verify(&f->gen, at.file, at.offset, b, f->block_size, &bad) == 0)
		return 0;
	if (bad < at.offset)
		bad = at.offset;
	there = b + (bad - at.offset);
	for (size_t i = 0; i < 16; i++)
		if (there[i]) {
			show_bytes(there, head, sizeof(head));
			return err_set(e, ERR_IO,
				"'%s' in %s at byte %llu: found garbage (%s…), not what was written; "
				"check the disks and the controller",
				f->names.v[at.file], f->directory, (unsigned long long)bad, head);
		}
	return err_set(e, ERR_IO,
		"'%s' in %s at byte %llu: found zeros, not what was written; check the disks and the "
		"controller",
		f->names.v[at.file], f->directory, (unsigned long long)bad);
}

int random_files_check(const struct random_files *f, struct random_place at, uint32_t generation,
	const char *b, struct err *e)
{
	struct block_id id = {f->trial, at.file, at.offset, generation}, found;
	enum block_state state;

	if (!f->generation)
		return check_stream(f, at, b, e);
	state = block_check(&id, b, f->block_size, &found);
	return state == BLOCK_RIGHT ? 0 : fail_sealed(f, &id, state, &found, b, e);
}

static int read_whole(const struct random_files *f, unsigned file, char *b, size_t len, uint64_t at,
	struct err *e)
{
	while (len > 0) {
		ssize_t n = pread(f->fd[file], b, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_io(e, "verifying '%s' in %s at byte %llu", f->names.v[file],
				f->directory, (unsigned long long)at);
		if (n == 0)
			return err_set(e, ERR_IO, "'%s' in %s ends at byte %llu: it was longer",
				f->names.v[file], f->directory, (unsigned long long)at);
		b += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int check_file(const struct random_files *f, unsigned file, char *b, uint64_t *checked,
	struct err *e)
{
	uint64_t step = f->block_size >= CHUNK ? 1 : CHUNK / f->block_size;

	for (uint64_t first = 0; first < f->file_blocks; first += step) {
		uint64_t n = f->file_blocks - first < step ? f->file_blocks - first : step;

		if (read_whole(f, file, b, n * f->block_size, first * f->block_size, e))
			return -1;
		for (uint64_t i = 0; i < n; i++) {
			struct random_place at = {file, (first + i) * f->block_size};
			uint64_t block = file * f->file_blocks + first + i;

			if (random_files_check(f, at, f->generation[block], b + i * f->block_size,
				    e))
				return -1;
			++*checked;
		}
	}
	return 0;
}

int random_files_check_all(const struct random_files *f, uint64_t *ret_checked, struct err *e)
{
	char *b = stream_buffer_new(f->block_size > CHUNK ? f->block_size : CHUNK, e);
	int rc = b ? 0 : -1;

	for (unsigned i = 0; rc == 0 && i < f->n; i++)
		rc = check_file(f, i, b, ret_checked, e);
	free(b);
	return rc;
}
