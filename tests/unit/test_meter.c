/* The meter: whatever threads count at once, samples, groups and the result say the same. */
#include "tests/unit/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "agent/workload/meter.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define THREADS 4
#define COUNTS 60000u

struct totals {
	uint64_t ops, bytes, errors, n;
	int64_t end_ns;
	struct hist hist;
};

static void add_sample(void *arg, const struct sample *s)
{
	struct totals *t = arg;
	struct hist *h = xmalloc(sizeof(*h));
	struct err e;

	assert_ok(hist_decode(s->hist, s->hist_len, h, &e), e);
	assert_int_equal(h->count, s->ops);
	assert_int_equal(s->start_ns, t->end_ns);
	assert_true(s->end_ns > s->start_ns);
	t->end_ns = s->end_ns;
	t->ops += s->ops;
	t->bytes += s->bytes;
	t->errors += s->errors;
	t->n++;
	hist_merge(&t->hist, h);
	free(h);
}

struct counting {
	struct meter *m;
	unsigned i;
};

/* Latencies i + 1000, i + 2000, …: the least and the greatest of all are known. */
static void *count(void *arg)
{
	struct counting *c = arg;
	struct meter_lane *own = &c->m->lanes[2 * c->i], *other = own + 1;

	for (unsigned k = 1; k <= COUNTS; k++) {
		meter_count(k % 3 ? own : other, (int64_t)k * 1000 + c->i, k % 7);
		if (k % 1000 == 0)
			meter_error(other);
	}
	meter_ended(c->m);
	return NULL;
}

static void threads_that_count_while_samples_are_cut_lose_nothing(void **state)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct totals *t = xcalloc(1, sizeof(*t));
	struct counting c[THREADS];
	pthread_t threads[THREADS];
	struct meter m;
	struct err e;
	uint64_t bytes = 0;

	(void)state;
	assert_ok(meter_init(&m, 2 * THREADS, 1000000, &e), e);
	meter_keep_groups(&m, 2);
	for (unsigned i = 0; i < 2 * THREADS; i++)
		m.lanes[i].group = i % 2;
	meter_start(&m, 0, add_sample, t, r);
	for (unsigned i = 0; i < THREADS; i++) {
		c[i] = (struct counting){&m, i};
		assert_int_equal(pthread_create(&threads[i], NULL, count, &c[i]), 0);
	}
	meter_watch(&m, THREADS);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	meter_stop(&m);
	for (unsigned k = 1; k <= COUNTS; k++)
		bytes += THREADS * (k % 7);
	assert_int_equal(r->ops, THREADS * COUNTS);
	assert_int_equal(r->bytes, bytes);
	assert_int_equal(r->errors, THREADS * (COUNTS / 1000));
	assert_int_equal(r->hist.min, 1000);
	assert_int_equal(r->hist.max, (uint64_t)COUNTS * 1000 + THREADS - 1);
	assert_int_equal(r->hist.sum,
		THREADS * 1000ull * COUNTS * (COUNTS + 1) / 2 +
			COUNTS * (THREADS * (THREADS - 1) / 2));
	assert_int_equal(t->ops, r->ops);
	assert_int_equal(t->bytes, r->bytes);
	assert_int_equal(t->errors, r->errors);
	assert_memory_equal(&t->hist, &r->hist, sizeof(t->hist));
	assert_int_equal(m.groups[1].hist.count, THREADS * (COUNTS / 3));
	assert_int_equal(m.groups[0].hist.count + m.groups[1].hist.count, r->ops);
	assert_int_equal(m.groups[0].bytes + m.groups[1].bytes, r->bytes);
	assert_int_equal(m.groups[1].errors, r->errors);
	meter_clear(&m);
	free(t);
	free(r);
}

static int fails(void *arg, struct err *e)
{
	return err_set(e, ERR_FULL, "%s", (const char *)arg);
}

static atomic_uint cuts;

static void count_cut(void *arg, const struct sample *s)
{
	add_sample(arg, s);
	atomic_fetch_add(&cuts, 1);
}

/* Until two samples were cut beside it, at most ten seconds. */
static int waits(void *arg, struct err *e)
{
	struct meter *m = arg;

	while (atomic_load(&cuts) < 2)
		if (meter_now(m) > 10 * NS_PER_S)
			return err_set(e, ERR_TIMEOUT, "no samples");
		else
			sched_yield();
	return 0;
}

static void a_watched_call_is_sampled_and_answers_for_itself(void **state)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct totals *t = xcalloc(1, sizeof(*t));
	struct meter m;
	struct err e;

	(void)state;
	assert_ok(meter_init(&m, 1, NS_PER_MS, &e), e);
	meter_start(&m, 0, count_cut, t, r);
	assert_ok(meter_watch_call(&m, waits, &m, &e), e);
	assert_int_equal(meter_watch_call(&m, fails, (void *)"no room", &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_has(e.text, "no room");
	meter_stop(&m);
	assert_true(t->n >= 3);
	assert_int_equal(r->ops, 0);
	meter_clear(&m);
	free(t);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_count_while_samples_are_cut_lose_nothing),
		cmocka_unit_test(a_watched_call_is_sampled_and_answers_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
