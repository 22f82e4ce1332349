/*
 * The stream engine: sequential write, rewrite and read. Starts the threads, cuts samples while they
 * run, syncs inside the timed region, and sums up. Owns everything between prepare and clear.
 *
 * Invariant: the samples of a trial add up to its result; the last one ends when the region does.
 */
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "agent/workload/stream_files.h"
#include "agent/workload/stream_thread.h"
#include "agent/workload/workload.h"
#include "agent/workload/engines.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define STREAM_MAX_THREADS 1024
#define STREAM_MAX_FILES 65536
#define STREAM_MAX_BLOCK (1LL << 30)

struct stream {
	const struct msg_worker_spec *spec;
	struct stream_files files;
	struct stream_thread *threads;
	unsigned n_threads, n_started;
	atomic_int stop;
	int done_fd; /* eventfd: each thread adds 1 at its end */
	int sync_failed;
	struct err sync_error;
	/* the timed region */
	int64_t start_ns, cut_ns; /* begin of the region, end of the last sample */
	void (*cut)(void *arg, const struct sample *s);
	void *cut_arg;
	struct workload_result *result;
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

static void init_thread(struct stream *s, unsigned i)
{
	struct stream_thread *t = &s->threads[i];

	t->spec = s->spec;
	t->files = &s->files;
	t->gen = (struct datagen){.kind = s->spec->data,
		.compressible_percent = s->spec->compressible_percent,
		.seed = s->spec->seed};
	t->rate = (double)s->spec->rate / s->n_threads;
	t->stop = &s->stop;
	t->done_fd = s->done_fd;
	t->generates = s->spec->op != OP_READ && s->spec->data != DATA_ZERO;
	stream_stretches(&s->files, s->spec, i, &t->stretches, &t->n_stretches);
}

static void stream_clear(void *state)
{
	struct stream *s = state;

	if (!s)
		return;
	for (unsigned i = 0; s->threads && i < s->n_threads; i++)
		stream_thread_clear(&s->threads[i]);
	free(s->threads);
	stream_files_close(&s->files);
	if (s->done_fd >= 0)
		close(s->done_fd);
	free(s);
}

static int stream_prepare(const struct msg_worker_spec *spec, void **ret_state, struct err *e)
{
	struct stream *s;

	if (check_spec(spec, e) < 0)
		return -1;
	s = xcalloc(1, sizeof(*s));
	s->spec = spec;
	s->files.dir = -1;
	s->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->done_fd < 0) {
		err_sys(e, "cannot make an eventfd");
		goto fail;
	}
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

/* Takes every thread's interval, hands out one sample, adds it to the result. */
static void cut_sample(struct stream *s, struct hist *interval, struct buf *wire)
{
	struct sample out = {0};
	int64_t now = clock_mono_ns() - s->start_ns;

	hist_clear(interval);
	for (unsigned i = 0; i < s->n_threads; i++) {
		struct stream_thread *t = &s->threads[i];

		pthread_mutex_lock(&t->count_lock);
		out.ops += t->now.ops;
		out.bytes += t->now.bytes;
		out.errors += t->now.errors;
		hist_merge(interval, &t->now.hist);
		hist_clear(&t->now.hist);
		t->now.ops = t->now.bytes = t->now.errors = 0;
		pthread_mutex_unlock(&t->count_lock);
	}
	if (now <= s->cut_ns)
		now = s->cut_ns + 1;
	out.start_ns = s->cut_ns;
	out.end_ns = now;
	s->cut_ns = now;
	buf_reset(wire);
	hist_encode(interval, wire);
	out.hist = wire->data;
	out.hist_len = wire->len;
	s->result->ops += out.ops;
	s->result->bytes += out.bytes;
	s->result->errors += out.errors;
	hist_merge(&s->result->hist, interval);
	s->cut(s->cut_arg, &out);
}

/* Milliseconds until the next sample is due, rounded up. */
static int cut_wait_ms(const struct stream *s)
{
	int64_t due = s->start_ns + s->cut_ns + s->spec->sample_ns - clock_mono_ns();

	return due <= 0 ? 0 : (int)((due + NS_PER_MS - 1) / NS_PER_MS);
}

/* Cuts samples until `count` threads have said that they ended. */
static void watch_threads(struct stream *s, unsigned count, struct hist *interval, struct buf *wire)
{
	uint64_t ended = 0;

	while (ended < count) {
		struct pollfd p = {.fd = s->done_fd, .events = POLLIN};
		uint64_t n;

		if (poll(&p, 1, cut_wait_ms(s)) > 0 && read(s->done_fd, &n, sizeof(n)) == sizeof(n))
			ended += n;
		if (ended < count && cut_wait_ms(s) == 0)
			cut_sample(s, interval, wire);
	}
}

static void wait_for_start(int64_t start_ns)
{
	struct timespec ts = {.tv_sec = start_ns / NS_PER_S, .tv_nsec = start_ns % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int start_threads(struct stream *s, struct err *e)
{
	for (s->n_started = 0; s->n_started < s->n_threads; s->n_started++) {
		struct stream_thread *t = &s->threads[s->n_started];

		t->start_ns = s->start_ns;
		if (stream_thread_start(t, e) < 0) {
			atomic_store(&s->stop, 1);
			return -1;
		}
	}
	return 0;
}

static void *sync_files(void *arg)
{
	struct stream *s = arg;
	uint64_t one = 1;

	s->sync_failed = stream_files_sync(&s->files, s->spec, &s->sync_error) < 0;
	while (write(s->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* Syncs in a thread, so that samples go on being cut: a sync can be most of the trial. */
static int sync_watched(struct stream *s, struct hist *interval, struct buf *wire, struct err *e)
{
	pthread_t t;
	int rc;

	if (s->spec->op == OP_READ || s->spec->sync == SYNC_NONE)
		return 0;
	rc = pthread_create(&t, NULL, sync_files, s);
	if (rc != 0)
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	watch_threads(s, 1, interval, wire);
	pthread_join(t, NULL);
	if (s->sync_failed)
		err_copy(e, &s->sync_error);
	return s->sync_failed ? -1 : 0;
}

/* The first thread's error, if any. */
static int collect_errors(const struct stream *s, struct err *e)
{
	for (unsigned i = 0; i < s->n_started; i++)
		if (s->threads[i].failed) {
			err_copy(e, &s->threads[i].error);
			return -1;
		}
	return 0;
}

static int stream_run(void *state, int64_t start_ns,
	void (*cut)(void *arg, const struct sample *s), void *arg, struct workload_result *ret,
	struct err *e)
{
	struct stream *s = state;
	struct hist *interval = xcalloc(1, sizeof(*interval));
	struct buf wire = {0};
	int64_t moved_ns;
	int rc;

	memset(ret, 0, sizeof(*ret));
	s->cut = cut;
	s->cut_arg = arg;
	s->result = ret;
	if (start_ns > 0)
		wait_for_start(start_ns);
	ret->started_wall_ns = clock_wall_ns();
	s->start_ns = clock_mono_ns();
	rc = start_threads(s, e);
	watch_threads(s, s->n_started, interval, &wire);
	for (unsigned i = 0; i < s->n_started; i++)
		stream_thread_join(&s->threads[i]);
	if (rc == 0)
		rc = collect_errors(s, e);
	moved_ns = clock_mono_ns();
	if (rc == 0)
		rc = sync_watched(s, interval, &wire, e);
	ret->elapsed_ns = clock_mono_ns() - s->start_ns;
	ret->sync_ns = s->start_ns + ret->elapsed_ns - moved_ns;
	cut_sample(s, interval, &wire);
	buf_free(&wire);
	free(interval);
	return rc;
}

const struct workload_engine stream_engine = {
	.kind = "stream",
	.prepare = stream_prepare,
	.run = stream_run,
	.clear = stream_clear,
};
