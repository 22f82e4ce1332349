/*
 * The agent's ring: numbers without gaps, batches that are never changed, bounded memory, and what
 * is dropped when the link does not take anything.
 */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/ring.h"
#include "common/base/mem.h"

static const struct job_key key = {.run = 12, .job = 3, .attempt = 1};

static uint64_t add_sample(struct ring *r)
{
	struct record rec = {.type = RECORD_SAMPLE, .wall_ns = 1};

	rec.u.sample.trial = 1;
	rec.u.sample.end_ns = 1000;
	return ring_add(r, &rec);
}

static uint64_t add_step(struct ring *r, size_t output)
{
	struct record rec = {.type = RECORD_STEP, .wall_ns = 1};
	char *text = xmalloc(output + 1);
	uint64_t n;

	memset(text, 'x', output);
	text[output] = '\0';
	rec.u.step.unit = (struct unit){.block = 1};
	rec.u.step.what = (char *)"make it";
	rec.u.step.output = text;
	n = ring_add(r, &rec);
	free(text);
	return n;
}

static uint64_t add_unit_end(struct ring *r)
{
	struct record rec = {.type = RECORD_UNIT_END, .wall_ns = 1};

	rec.u.unit_end.unit = (struct unit){.block = 1};
	rec.u.unit_end.ok = 1;
	rec.u.unit_end.error = (char *)"";
	return ring_add(r, &rec);
}

static struct ring *begun(size_t limit)
{
	struct ring *r = ring_new(limit);

	ring_begin(r, "epoch", &key);
	return r;
}

static unsigned batches(const struct ring *r)
{
	struct ring_facts f;

	ring_facts(r, &f);
	return f.batches;
}

static void test_events_are_cut_at_once(void **state)
{
	struct ring *r = begun(RING_LIMIT);
	const struct msg_batch *b;

	(void)state;
	assert_null(ring_next(r));
	assert_int_equal(add_unit_end(r), 1);
	b = ring_next(r);
	assert_non_null(b);
	assert_string_equal(b->epoch, "epoch");
	assert_true(job_key_equal(&b->key, &key));
	assert_int_equal(b->first, 1);
	assert_int_equal(b->last, 1);
	assert_false(b->lost);
	ring_free(r);
}

static void test_samples_collect(void **state)
{
	struct ring *r = begun(RING_LIMIT);
	struct records got;
	const struct msg_batch *b;
	struct err e;

	(void)state;
	for (int i = 1; i <= 5; i++)
		assert_int_equal(add_sample(r), i);
	assert_true(ring_has_open(r));
	assert_null(ring_next(r));
	ring_cut(r);
	assert_false(ring_has_open(r));
	b = ring_next(r);
	assert_non_null(b);
	assert_int_equal(b->first, 1);
	assert_int_equal(b->last, 5);
	assert_ok(records_decode(b->payload, b->payload_len, &got, &e), e);
	assert_int_equal(got.n, 5);
	assert_int_equal(got.v[4].type, RECORD_SAMPLE);
	records_clear(&got);
	ring_cut(r);
	assert_null(ring_next(r));
	ring_free(r);
}

static void test_event_closes_samples(void **state)
{
	struct ring *r = begun(RING_LIMIT);
	const struct msg_batch *b;

	(void)state;
	add_sample(r);
	add_sample(r);
	add_unit_end(r);
	b = ring_next(r);
	assert_int_equal(b->last, 2);
	b = ring_next(r);
	assert_int_equal(b->first, 3);
	assert_int_equal(b->last, 3);
	ring_free(r);
}

static void test_cut_by_count(void **state)
{
	struct ring *r = begun(RING_LIMIT);
	const struct msg_batch *b;

	(void)state;
	for (int i = 0; i < RING_BATCH_RECORDS + 1; i++)
		add_sample(r);
	b = ring_next(r);
	assert_int_equal(b->last, RING_BATCH_RECORDS);
	assert_true(ring_has_open(r));
	ring_free(r);
}

static void test_confirm_and_rewind(void **state)
{
	const struct job_key other = {.run = 12, .job = 3, .attempt = 2};
	struct ring *r = begun(RING_LIMIT);

	(void)state;
	for (int i = 0; i < 4; i++)
		add_unit_end(r);
	ring_confirm(r, &key, 4);
	assert_int_equal(batches(r), 4); /* the link has none of them */
	assert_non_null(ring_next(r));
	assert_non_null(ring_next(r));
	ring_confirm(r, &other, 9);
	assert_int_equal(batches(r), 4);
	ring_confirm(r, &key, 9);
	assert_int_equal(batches(r), 2);
	assert_int_equal(ring_next(r)->first, 3);
	ring_rewind(r); /* that link died */
	assert_int_equal(ring_next(r)->first, 3);
	assert_int_equal(ring_next(r)->first, 4);
	assert_null(ring_next(r));
	ring_free(r);
}

static void test_new_stream(void **state)
{
	const struct job_key second = {.run = 13, .job = 4, .attempt = 1};
	struct ring *r = begun(RING_LIMIT);
	const struct msg_batch *b;

	(void)state;
	add_unit_end(r);
	add_sample(r);
	ring_begin(r, "later", &second);
	assert_int_equal(add_unit_end(r), 1);
	assert_int_equal(ring_next(r)->first, 1);
	b = ring_next(r);
	assert_int_equal(b->first, 2); /* the open batch of the first stream was not forgotten */
	assert_string_equal(b->epoch, "epoch");
	b = ring_next(r);
	assert_int_equal(b->first, 1);
	assert_true(job_key_equal(&b->key, &second));
	assert_string_equal(b->epoch, "later");
	ring_confirm(r, &second, 1);
	assert_int_equal(batches(r), 2);
	ring_free(r);
}

static void test_window(void **state)
{
	struct ring *r = begun(RING_LIMIT);
	unsigned given = 0;

	(void)state;
	for (int i = 0; i < 200; i++)
		add_step(r, 16000);
	while (ring_next(r))
		given++;
	assert_in_range(given, RING_WINDOW / 16400, RING_WINDOW / 16000);
	ring_confirm(r, &key, given);
	assert_non_null(ring_next(r));
	ring_free(r);
}

/* Walks all that is left as a new link would get it: no gap, no overlap. */
static void walk(struct ring *r, uint64_t last, uint64_t *ret_lost, unsigned *ret_ends)
{
	const struct msg_batch *b;
	uint64_t next = 1;

	*ret_lost = 0;
	*ret_ends = 0;
	ring_rewind(r);
	while ((b = ring_next(r))) {
		struct records got;
		struct err e;

		assert_int_equal(b->first, next);
		assert_true(b->last >= b->first);
		next = b->last + 1;
		if (b->lost) {
			assert_int_equal(b->payload_len, 0);
			*ret_lost += b->last - b->first + 1;
		} else {
			assert_ok(records_decode(b->payload, b->payload_len, &got, &e), e);
			assert_int_equal(got.n, b->last - b->first + 1);
			*ret_ends += got.v[0].type == RECORD_UNIT_END;
			records_clear(&got);
		}
		ring_confirm(r, &b->key, b->last);
	}
	assert_int_equal(next, last + 1);
}

static void test_overflow_drops_samples_first(void **state)
{
	struct ring *r = begun(64 * 1024);
	struct ring_facts f;
	uint64_t last = 0, lost;
	unsigned ends;

	(void)state;
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 10; k++)
			add_sample(r);
		last = i % 20 ? add_sample(r) : add_unit_end(r);
		ring_cut(r);
	}
	ring_facts(r, &f);
	assert_true(f.bytes <= 64 * 1024);
	assert_true(f.lost > 0);
	walk(r, last, &lost, &ends);
	assert_int_equal(lost, f.lost);
	assert_int_equal(ends, 20);
	ring_free(r);
}

static void test_overflow_drops_steps_then_nothing(void **state)
{
	struct ring *r = begun(8 * 1024);
	struct ring_facts f;
	uint64_t last = 0, lost;
	unsigned ends;

	(void)state;
	for (int i = 0; i < 100; i++) {
		add_step(r, 1000);
		last = add_unit_end(r);
	}
	ring_facts(r, &f);
	assert_int_equal(f.lost, 100); /* all steps; the ends alone are over the limit */
	walk(r, last, &lost, &ends);
	assert_int_equal(lost, 100);
	assert_int_equal(ends, 100);
	ring_free(r);
}

static void test_given_batches_stay_as_they_are(void **state)
{
	struct ring *r = begun(16 * 1024);
	const struct msg_batch *b;

	(void)state;
	add_sample(r);
	ring_cut(r);
	assert_int_equal(ring_next(r)->first, 1);
	for (int i = 0; i < 500; i++) {
		add_sample(r);
		ring_cut(r);
	}
	ring_rewind(r);
	b = ring_next(r);
	assert_int_equal(b->first, 1);
	assert_false(b->lost);
	b = ring_next(r);
	assert_int_equal(b->first, 2);
	assert_true(b->lost);
	ring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_cut_at_once),
		cmocka_unit_test(test_samples_collect),
		cmocka_unit_test(test_event_closes_samples),
		cmocka_unit_test(test_cut_by_count),
		cmocka_unit_test(test_confirm_and_rewind),
		cmocka_unit_test(test_new_stream),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_overflow_drops_samples_first),
		cmocka_unit_test(test_overflow_drops_steps_then_nothing),
		cmocka_unit_test(test_given_batches_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
