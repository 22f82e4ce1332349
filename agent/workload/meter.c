/*
 * Lanes and the cutting of samples. Owns the lanes, the eventfd and the interval's histogram.
 *
 * A lane is guarded by one byte: its thread holds it for one addition, the watcher once an interval
 * for handing the thread the other, empty histogram. Merging and clearing happen outside of it, so a
 * thread loses a few instructions to a sample, however many buckets there are. Taking a free byte
 * costs a third of what a mutex does.
 */
#include "agent/workload/meter.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"

int meter_init(struct meter *m, unsigned lanes, int64_t sample_ns, struct err *e)
{
	*m = (struct meter){.n = lanes, .sample_ns = sample_ns};
	m->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (m->done_fd < 0)
		return err_sys(e, "cannot make an eventfd");
	if (posix_memalign((void **)&m->lanes, 64, lanes * sizeof(*m->lanes)) != 0)
		return err_set(e, ERR_FULL, "no memory for the counters of %u threads", lanes);
	memset(m->lanes, 0, lanes * sizeof(*m->lanes));
	m->interval = xcalloc(1, sizeof(*m->interval));
	return 0;
}

void meter_keep_groups(struct meter *m, unsigned n)
{
	m->groups = xcalloc(n, sizeof(*m->groups));
	m->n_groups = n;
}

void meter_clear(struct meter *m)
{
	free(m->lanes);
	free(m->groups);
	free(m->interval);
	buf_free(&m->wire);
	if (m->done_fd >= 0)
		close(m->done_fd);
	*m = (struct meter){.done_fd = -1};
}

void meter_start(struct meter *m, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret)
{
	struct timespec ts = {.tv_sec = start_ns / NS_PER_S, .tv_nsec = start_ns % NS_PER_S};

	m->cut = cut;
	m->cut_arg = arg;
	m->result = ret;
	while (start_ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
	ret->started_wall_ns = clock_wall_ns();
	m->start_ns = clock_mono_ns();
	m->cut_ns = 0;
}

/* The holder needs nanoseconds, unless it lost its processor: then it gets ours. */
static void lane_wait(struct meter_lane *l)
{
	unsigned tries = 0;

	while (atomic_load_explicit(&l->busy, memory_order_relaxed))
		if (++tries > 100)
			sched_yield();
}

static inline void lane_take(struct meter_lane *l)
{
	while (atomic_exchange_explicit(&l->busy, 1, memory_order_acquire))
		lane_wait(l);
}

static inline void lane_give(struct meter_lane *l)
{
	atomic_store_explicit(&l->busy, 0, memory_order_release);
}

void meter_count(struct meter_lane *l, int64_t latency_ns, uint64_t bytes)
{
	lane_take(l);
	l->bytes += bytes;
	hist_add(&l->hist[l->active], (uint64_t)latency_ns);
	lane_give(l);
}

void meter_error(struct meter_lane *l)
{
	lane_take(l);
	l->errors++;
	lane_give(l);
}

void meter_moved(struct meter_lane *l, uint64_t bytes)
{
	lane_take(l);
	l->bytes += bytes;
	lane_give(l);
}

void meter_ended(struct meter *m)
{
	uint64_t one = 1;

	while (write(m->done_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

int64_t meter_now(const struct meter *m)
{
	return clock_mono_ns() - m->start_ns;
}

/* Adds a lane's interval to the sample and its group, and empties it. */
static void take_interval(struct meter *m, struct meter_lane *l, struct sample *out)
{
	uint64_t bytes, errors;
	struct hist *full;

	lane_take(l);
	full = &l->hist[l->active];
	l->active ^= 1;
	bytes = l->bytes;
	errors = l->errors;
	l->bytes = l->errors = 0;
	lane_give(l);

	out->ops += full->count;
	out->bytes += bytes;
	out->errors += errors;
	hist_merge(m->interval, full);
	if (m->groups) {
		hist_merge(&m->groups[l->group].hist, full);
		m->groups[l->group].bytes += bytes;
		m->groups[l->group].errors += errors;
	}
	hist_clear(full);
}

/* Takes every lane's interval, hands out one sample, adds it to the result. */
static void cut_sample(struct meter *m)
{
	struct sample out = {0};
	int64_t now = meter_now(m);

	hist_clear(m->interval);
	for (unsigned i = 0; i < m->n; i++)
		take_interval(m, &m->lanes[i], &out);
	if (now <= m->cut_ns)
		now = m->cut_ns + 1;
	out.start_ns = m->cut_ns;
	out.end_ns = now;
	m->cut_ns = now;
	buf_reset(&m->wire);
	hist_encode(m->interval, &m->wire);
	out.hist = m->wire.data;
	out.hist_len = m->wire.len;
	m->result->ops += out.ops;
	m->result->bytes += out.bytes;
	m->result->errors += out.errors;
	hist_merge(&m->result->hist, m->interval);
	m->cut(m->cut_arg, &out);
}

/* Milliseconds until the next sample is due, rounded up. */
static int cut_wait_ms(const struct meter *m)
{
	int64_t due = m->cut_ns + m->sample_ns - meter_now(m);

	return due <= 0 ? 0 : (int)((due + NS_PER_MS - 1) / NS_PER_MS);
}

void meter_watch(struct meter *m, unsigned count)
{
	uint64_t ended = 0;

	while (ended < count) {
		struct pollfd p = {.fd = m->done_fd, .events = POLLIN};
		uint64_t n;

		if (poll(&p, 1, cut_wait_ms(m)) > 0 && read(m->done_fd, &n, sizeof(n)) == sizeof(n))
			ended += n;
		if (ended < count && cut_wait_ms(m) == 0)
			cut_sample(m);
	}
}

struct watched_call {
	struct meter *m;
	int (*fn)(void *arg, struct err *e);
	void *arg;
	struct err *e;
	int rc;
};

static void *run_call(void *arg)
{
	struct watched_call *c = arg;

	c->rc = c->fn(c->arg, c->e);
	meter_ended(c->m);
	return NULL;
}

int meter_watch_call(
	struct meter *m, int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
	struct watched_call c = {m, fn, arg, e, 0};
	pthread_t t;
	int rc = pthread_create(&t, NULL, run_call, &c);

	if (rc != 0)
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	meter_watch(m, 1);
	pthread_join(t, NULL);
	return c.rc;
}

void meter_stop(struct meter *m)
{
	m->result->elapsed_ns = meter_now(m);
	cut_sample(m);
}
