/*
 * The random engine: reads and writes at random places of files that are there before the time
 * begins. Starts the threads, syncs inside the timed region, verifies after it, and sums up. Owns
 * everything between prepare and clear.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/workload/engines.h"
#include "agent/workload/random_thread.h"
#include "common/base/mem.h"
#include "common/base/units.h"

struct randoming {
	const struct workload_order *order;
	const struct work_random *w;
	struct random_files files;
	struct random_thread *threads;
	unsigned n_threads, n_started;
	atomic_int stop;
	struct meter meter;
};

/* ---- prepare ---- */

static uint64_t total_ops(const struct randoming *s)
{
	return s->w->ops ? s->w->ops : s->files.blocks;
}

static enum pick_kind pick_kind(const struct randoming *s)
{
	if (s->w->zipf > 0)
		return PICK_ZIPF;
	return s->order->w->duration_ns || s->w->ops ? PICK_UNIFORM : PICK_EACH_ONCE;
}

/* Threads share all blocks but where each has to know which of them are under way, and where each
 * block is to come once: there a thread has a part of its own. */
static void init_picker(const struct randoming *s, unsigned i, struct random_thread *t)
{
	enum pick_kind kind = pick_kind(s);
	uint64_t first = 0, end = s->files.blocks, n = s->n_threads;
	uint64_t seed = s->order->spec->seed ^ s->order->spec->repeat;

	if (kind == PICK_EACH_ONCE || s->files.generation) {
		first = end / n * i + end % n * i / n;
		end = end / n * (i + 1) + end % n * (i + 1) / n;
	}
	picker_init(&t->picker, kind, seed + 2 * i * 0x9e3779b97f4a7c15ULL, first, end - first,
		s->w->zipf);
	/* A stream of its own: same state, other constant steps would meet the picker's. */
	picker_init(&t->chance, PICK_UNIFORM, picker_bits(&t->picker) ^ 0x5851f42d4c957f2dULL, 0, 1,
		0);
}

static void init_thread(struct randoming *s, unsigned i)
{
	struct random_thread *t = &s->threads[i];
	uint64_t n = s->n_threads;

	t->w = s->w;
	t->files = &s->files;
	t->meter = &s->meter;
	t->lanes = &s->meter.lanes[RANDOM_LANES * i];
	t->stop = &s->stop;
	t->reads_below = s->w->op == RANDOM_READ    ? UINT64_MAX
			 : s->w->op == RANDOM_MIXED ? (uint64_t)(s->w->reads * 0x1p64)
						    : 0;
	init_picker(s, i, t);
	t->ops_left = s->w->ops ? total_ops(s) * (i + 1) / n - total_ops(s) * i / n : UINT64_MAX;
	if (s->w->rate) {
		t->interval_ns = (int64_t)(n * NS_PER_S / s->w->rate);
		t->phase_ns = t->interval_ns * i / (int64_t)n;
	}
	for (unsigned k = 0; k < RANDOM_LANES; k++)
		t->lanes[k].group = k;
}

static void random_clear(void *state)
{
	struct randoming *s = state;

	if (!s)
		return;
	for (unsigned i = 0; s->threads && i < s->n_threads; i++)
		random_thread_clear(&s->threads[i]);
	free(s->threads);
	random_files_close(&s->files);
	meter_clear(&s->meter);
	free(s);
}

static int prepare_threads(struct randoming *s, struct err *e)
{
	s->n_threads = s->w->threads;
	if (s->files.blocks < s->n_threads)
		return err_set(e, ERR_INPUT, "%llu blocks are not enough for %u threads",
			(unsigned long long)s->files.blocks, s->n_threads);
	s->threads = xcalloc(s->n_threads, sizeof(*s->threads));
	for (unsigned i = 0; i < s->n_threads; i++)
		init_thread(s, i);
	for (unsigned i = 0; i < s->n_threads; i++)
		if (random_thread_prepare(&s->threads[i], e) < 0)
			return -1;
	return 0;
}

static int random_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct randoming *s = xcalloc(1, sizeof(*s));

	s->order = order;
	s->w = order->w->random;
	s->meter.done_fd = -1;
	s->files.dir = -1;
	if (s->w->engine == IO_URING && uring_check_user(0, 0, 0, e) < 0)
		goto fail;
	if (meter_init(&s->meter, RANDOM_LANES * s->w->threads, order->spec->sample_ns, e) < 0)
		goto fail;
	meter_keep_groups(&s->meter, RANDOM_LANES);
	if (random_files_open(order, &s->files, e) < 0 || prepare_threads(s, e) < 0)
		goto fail;
	*ret_state = s;
	return 0;
fail:
	random_clear(s);
	return -1;
}

/* ---- what is told beside the counters ---- */

static void add_group(const struct randoming *s, unsigned group, const char *name,
	struct trial_detail *d)
{
	const struct meter_group *g = &s->meter.groups[group];
	struct trial_part *p;

	if (!g->hist.count && !g->errors)
		return;
	p = detail_part(d, "op", name, &g->hist);
	p->ops = g->hist.count;
	p->bytes = g->bytes;
	p->errors = g->errors;
}

static void add_fsyncs(const struct randoming *s, struct trial_detail *d)
{
	struct hist *all = xcalloc(1, sizeof(*all));

	for (unsigned i = 0; i < s->n_threads; i++)
		hist_merge(all, s->threads[i].fsyncs);
	if (all->count)
		detail_part(d, "op", "fsync", all)->ops = all->count;
	free(all);
}

static void add_settings(const struct randoming *s, struct trial_detail *d)
{
	static const char *const ops[] = {"read", "write", "mixed"};
	const struct work_random *w = s->w;
	struct buf b = {0};

	buf_addf(&b, "%s of %lld bytes over %llu blocks in %u file%s\n", ops[w->op],
		(long long)w->block_size, (unsigned long long)s->files.blocks, s->files.n,
		s->files.n == 1 ? "" : "s");
	if (w->op == RANDOM_MIXED)
		buf_addf(&b, "%g%% reads\n", w->reads * 100);
	if (w->zipf > 0)
		buf_addf(&b, "zipf, exponent %g\n", w->zipf);
	buf_addf(&b, "%u threads, depth %u, %s%s\n", w->threads, w->depth,
		w->engine == IO_URING ? "io_uring" : "pread and pwrite",
		w->direct ? ", direct" : "");
	if (w->engine == IO_URING && !s->threads[0].ring.has_buffers)
		buf_addf(&b, "buffers not registered with io_uring: the limit of locked memory "
			     "(RLIMIT_MEMLOCK) forbids it\n");
	if (w->rate)
		buf_addf(&b, "%u operations/s, each latency from when it was due\n", w->rate);
	buf_addf(&b, "seed %llu\n", (unsigned long long)s->order->spec->seed);
	detail_note(d, "settings", buf_str(&b));
	buf_free(&b);
}

static void add_detail(const struct randoming *s, struct trial_detail *d)
{
	add_group(s, RANDOM_LANE_READ, "read", d);
	add_group(s, RANDOM_LANE_WRITE, "write", d);
	add_fsyncs(s, d);
	add_settings(s, d);
}

/* ---- run ---- */

static int start_threads(struct randoming *s, struct err *e)
{
	int64_t end_ns = INT64_MAX;

	if (s->order->w->duration_ns)
		end_ns = s->meter.start_ns + s->order->w->duration_ns;
	for (s->n_started = 0; s->n_started < s->n_threads; s->n_started++) {
		struct random_thread *t = &s->threads[s->n_started];

		t->start_ns = s->meter.start_ns;
		t->end_ns = end_ns;
		if (random_thread_start(t, e) < 0) {
			atomic_store(&s->stop, 1);
			return -1;
		}
	}
	return 0;
}

/* Joins them; the first one's error, if any. */
static int join_threads(struct randoming *s, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < s->n_started; i++)
		pthread_join(s->threads[i].thread, NULL);
	for (unsigned i = 0; i < s->n_started && rc == 0; i++)
		if (s->threads[i].failed) {
			err_copy(e, &s->threads[i].error);
			rc = -1;
		}
	return rc;
}

static int sync_files(void *arg, struct err *e)
{
	struct randoming *s = arg;

	return random_files_sync(&s->files, s->w->sync, s->order->spec->syncfs_works, e);
}

/* After the time: everything that was written, read again. */
static int verify_all(struct randoming *s, struct trial_detail *d, struct err *e)
{
	struct buf source = {0};
	uint64_t checked = 0;
	int rc, from_disks;

	if (!s->files.generation || s->w->op == RANDOM_READ)
		return 0;
	rc = random_files_drop(&s->files, e);
	from_disks = random_files_source(&s->files, &source);
	if (rc == 0)
		rc = random_files_check_all(&s->files, &checked, e);
	detail_fact(d, "blocks_verified", (double)checked, "");
	detail_fact(d, "verified_from_disks", from_disks, "");
	detail_note(d, "verified", buf_str(&source));
	buf_free(&source);
	return rc;
}

static int random_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct randoming *s = state;
	struct err other;
	int64_t moved_ns;
	int rc;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	rc = start_threads(s, e);
	meter_watch(&s->meter, s->n_started);
	if (join_threads(s, rc == 0 ? e : &other) < 0)
		rc = -1;
	moved_ns = meter_now(&s->meter);
	if (rc == 0 && s->w->sync != SYNC_NONE)
		rc = meter_watch_call(&s->meter, sync_files, s, e);
	meter_stop(&s->meter);
	ret->sync_ns = ret->elapsed_ns - moved_ns;
	add_detail(s, &ret->detail);
	if (rc && e->code == ERR_FULL && !s->w->of)
		random_files_remove(&s->files);
	return rc == 0 ? verify_all(s, &ret->detail, e) : rc;
}

const struct workload_engine random_engine = {
	.kind = WORKLOAD_RANDOM,
	.make = random_files_make,
	.prepare = random_prepare,
	.run = random_run,
	.clear = random_clear,
};
