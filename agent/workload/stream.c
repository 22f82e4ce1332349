/*
 * The stream engine: sequential write, rewrite and read. Starts the threads, syncs inside the timed
 * region, and sums up. Owns everything between prepare and clear.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/workload/engines.h"
#include "agent/workload/meter.h"
#include "agent/workload/stream_files.h"
#include "agent/workload/stream_make.h"
#include "agent/workload/stream_thread.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define STREAM_MAX_THREADS 1024
#define STREAM_MAX_FILES 65536
#define STREAM_MAX_BLOCK (1LL << 30)

struct streaming {
	const struct msg_worker_spec *spec;
	struct stream_files files;
	struct stream_thread *threads;
	unsigned n_threads, n_started;
	int64_t duration_ns; /* 0: each block once */
	enum io_engine engine;
	unsigned depth;
	atomic_int stop;
	struct meter meter;
};

static int check_spec(const struct msg_worker_spec *s, struct err *e)
{
	if (s->size == 0 || s->block_size < 512 || s->block_size > STREAM_MAX_BLOCK)
		return err_set(e, ERR_INPUT, "a stream needs a size and a block-size of 512 to 1G");
	if (s->direct && (s->block_size % 4096 != 0 || s->size % 4096 != 0))
		return err_set(e, ERR_INPUT,
			"direct I/O needs a size and a block-size in multiples of 4K");
	if (s->threads < 1 || s->threads > STREAM_MAX_THREADS)
		return err_set(e, ERR_INPUT, "a stream takes 1 to %d threads", STREAM_MAX_THREADS);
	if (s->files < 1 || s->files > STREAM_MAX_FILES || s->names.n != s->files)
		return err_set(e, ERR_INPUT, "a stream takes 1 to %d files, each with a name",
			STREAM_MAX_FILES);
	for (size_t i = 0; i < s->names.n; i++)
		if (strchr(s->names.v[i], '/') || s->names.v[i][0] == '.' || !s->names.v[i][0])
			return err_set(e, ERR_DENIED, "'%s' is not a name for a file in a volume",
				s->names.v[i]);
	return 0;
}

static void init_thread(struct streaming *s, unsigned i)
{
	struct stream_thread *t = &s->threads[i];

	t->spec = s->spec;
	t->files = &s->files;
	t->gen = (struct datagen){.kind = s->spec->data,
		.compressible_percent = s->spec->compressible_percent,
		.seed = s->spec->seed};
	t->rate = (double)s->spec->rate / s->n_threads;
	t->timed = s->duration_ns > 0;
	t->stop = &s->stop;
	t->meter = &s->meter;
	t->lane = &s->meter.lanes[i];
	t->engine = s->engine;
	t->depth = s->depth;
	t->generates = s->engine == IO_PREAD && s->spec->op != OP_READ &&
		       s->spec->data != DATA_ZERO;
	stream_stretches(&s->files, s->spec, i, &t->stretches, &t->n_stretches);
}

static void stream_clear(void *state)
{
	struct streaming *s = state;

	if (!s)
		return;
	for (unsigned i = 0; s->threads && i < s->n_threads; i++)
		stream_thread_clear(&s->threads[i]);
	free(s->threads);
	stream_files_close(&s->files);
	meter_clear(&s->meter);
	free(s);
}

static int stream_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	const struct msg_worker_spec *spec = order->spec;
	struct streaming *s;

	if (check_spec(spec, e) < 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->spec = spec;
	s->duration_ns = order->w ? order->w->duration_ns : 0;
	s->engine = order->w ? order->w->stream.engine : IO_PREAD;
	s->depth = order->w ? order->w->stream.depth : 1;
	s->files.dir = -1;
	if (s->engine == IO_URING && uring_check_user(0, 0, 0, e) < 0)
		goto fail;
	if (meter_init(&s->meter, spec->threads, spec->sample_ns, e) < 0)
		goto fail;
	if (stream_files_open(spec, &s->files, e) < 0)
		goto fail;
	s->threads = xcalloc(spec->threads, sizeof(*s->threads));
	s->n_threads = spec->threads;
	for (unsigned i = 0; i < s->n_threads; i++)
		init_thread(s, i);
	for (unsigned i = 0; i < s->n_threads; i++)
		if (stream_thread_prepare(&s->threads[i], e) < 0)
			goto fail;
	*ret_state = s;
	return 0;
fail:
	stream_clear(s);
	return -1;
}

static int start_threads(struct streaming *s, struct err *e)
{
	for (s->n_started = 0; s->n_started < s->n_threads; s->n_started++) {
		struct stream_thread *t = &s->threads[s->n_started];

		t->start_ns = s->meter.start_ns;
		t->end_ns = t->start_ns + s->duration_ns;
		if (stream_thread_start(t, e) < 0) {
			atomic_store(&s->stop, 1);
			return -1;
		}
	}
	return 0;
}

static int sync_files(void *arg, struct err *e)
{
	struct streaming *s = arg;

	return stream_files_sync(&s->files, s->spec, e);
}

/* Samples go on being cut: a sync can be most of the trial. */
static int sync_watched(struct streaming *s, struct err *e)
{
	if (s->spec->op == OP_READ || s->spec->sync == SYNC_NONE)
		return 0;
	return meter_watch_call(&s->meter, sync_files, s, e);
}

/* The first thread's error, if any. */
static int collect_errors(const struct streaming *s, struct err *e)
{
	for (unsigned i = 0; i < s->n_started; i++)
		if (s->threads[i].failed) {
			err_copy(e, &s->threads[i].error);
			return -1;
		}
	return 0;
}

static int stream_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct streaming *s = state;
	int64_t moved_ns;
	int rc;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	rc = start_threads(s, e);
	meter_watch(&s->meter, s->n_started);
	for (unsigned i = 0; i < s->n_started; i++)
		stream_thread_join(&s->threads[i]);
	if (rc == 0)
		rc = collect_errors(s, e);
	moved_ns = meter_now(&s->meter);
	if (rc == 0)
		rc = sync_watched(s, e);
	meter_stop(&s->meter);
	ret->sync_ns = ret->elapsed_ns - moved_ns;
	if (rc && s->spec->op == OP_WRITE && e->code == ERR_FULL)
		stream_files_remove(&s->files);
	return rc;
}

const struct workload_engine stream_engine = {
	.kind = WORKLOAD_STREAM,
	.make = stream_make,
	.prepare = stream_prepare,
	.run = stream_run,
	.clear = stream_clear,
};
