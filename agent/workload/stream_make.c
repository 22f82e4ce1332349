/*
 * Files that a reading member of a parallel workload has for itself: made before its caches are made
 * cold, kept from one trial of a volume to the next. Owns nothing beyond one call.
 */
#include "agent/workload/stream_make.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/workload/datagen.h"
#include "agent/workload/stream_files.h"
#include "agent/workload/stream_ring.h"

#define MAKE_BLOCK (1 << 20)

static int write_all(int fd, const char *b, size_t len, uint64_t at)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, b, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		b += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int make_file(const struct msg_worker_spec *spec, const struct stream_file *f, unsigned number,
	char *block, struct err *e)
{
	const struct datagen gen = {.kind = spec->data,
		.compressible_percent = spec->compressible_percent,
		.seed = spec->seed};

	for (uint64_t at = 0; at < f->size; at += MAKE_BLOCK) {
		size_t len = f->size - at < MAKE_BLOCK ? (size_t)(f->size - at) : MAKE_BLOCK;

		datagen_fill(&gen, number, at, block, len);
		if (write_all(f->fd, block, len, at) < 0)
			return err_io(e, "making '%s' in %s, at byte %llu", f->name,
				spec->directory, (unsigned long long)at);
	}
	return fsync(f->fd) < 0 ? err_io(e, "fsync of '%s' in %s failed", f->name, spec->directory)
				: 0;
}

static int are_there(const struct msg_worker_spec *spec)
{
	struct stream_files files;
	struct err ignored;

	if (stream_files_open(spec, &files, &ignored) < 0)
		return 0;
	stream_files_close(&files);
	return 1;
}

int stream_make(const struct workload_order *order, struct err *e)
{
	struct msg_worker_spec spec = *order->spec;
	struct stream_files files;
	char *block;
	int rc = 0;

	spec.direct = 0;
	if (!order->w || !order->w->stream.own_files || are_there(&spec))
		return 0;
	spec.op = OP_WRITE;
	block = stream_buffer_new(MAKE_BLOCK, e);
	if (!block)
		return -1;
	if (stream_files_open(&spec, &files, e) < 0) {
		free(block);
		return -1;
	}
	for (unsigned i = 0; i < files.n && rc == 0; i++)
		rc = make_file(&spec, &files.v[i], i, block, e);
	stream_files_close(&files);
	free(block);
	return rc;
}
