/* A spool on a real file in a folder of its own, and batches as a monitor gives them. */
#ifndef TESTS_UNIT_SPOOL_KIT_H
#define TESTS_UNIT_SPOOL_KIT_H

#include "tests/unit/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/link/spool.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "proto/record.h"

static char dir[64], file[96] __attribute__((unused));
static const struct job_key key = {.run = 12, .job = 3, .attempt = 1};
static const struct job_key next_key __attribute__((unused)) = {.run = 12, .job = 3, .attempt = 2};

static inline int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/arraymark-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(file, sizeof(file), "%s/spool.db", dir);
	return 0;
}

static inline int remove_dir(void **state)
{
	struct err e;

	(void)state;
	return fs_remove_tree(dir, &e);
}

static inline struct spool *open_spool(uint64_t limit)
{
	struct spool *s;
	char *moved;
	struct err e;

	assert_ok(spool_open(file, limit, &s, &moved, &e), e);
	assert_null(moved);
	return s;
}

/* Records first..last as samples, or one TRIAL_END when first == last and end is set. */
static inline int put_as(struct spool *s, const char *epoch, const struct job_key *k, uint64_t first,
	uint64_t last, int end, struct err *e)
{
	struct msg_batch b = {.epoch = (char *)epoch, .key = *k, .first = first, .last = last};
	struct buf payload = {0};
	int status;

	for (uint64_t n = first; n <= last; n++) {
		struct record r = {.type = RECORD_SAMPLE, .wall_ns = (int64_t)n};

		r.u.sample.trial = 1;
		r.u.sample.end_ns = 5;
		if (end) {
			r = (struct record){.type = RECORD_TRIAL_END, .wall_ns = (int64_t)n};
			r.u.trial_end = (struct trial_summary){
				.trial = 1, .block = 1, .repeat = 1, .ok = 1};
		}
		record_encode(&r, &payload);
	}
	b.payload = payload.data;
	b.payload_len = payload.len;
	status = spool_put(s, &b, e);
	buf_free(&payload);
	return status;
}

static inline void put(struct spool *s, uint64_t first, uint64_t last)
{
	struct err e;

	assert_ok(put_as(s, "epoch", &key, first, last, 0, &e), e);
}

static inline int put_lost(struct spool *s, uint64_t first, uint64_t last, struct err *e)
{
	const struct msg_batch b = {
		.epoch = (char *)"epoch", .key = key, .first = first, .last = last, .lost = 1};

	return spool_put(s, &b, e);
}

/* The next batch is first..last; its payload's length comes back. */
static inline size_t expect(struct spool *s, uint64_t first, uint64_t last, int lost)
{
	const struct msg_batch *b;
	struct err e;
	size_t len;

	assert_ok(spool_peek(s, &b, &e), e);
	assert_non_null(b);
	assert_int_equal(b->first, first);
	assert_int_equal(b->last, last);
	assert_int_equal(b->lost, lost);
	assert_int_equal(b->payload_len == 0, lost);
	len = b->payload_len;
	spool_advance(s);
	return len;
}

static inline void expect_none(struct spool *s)
{
	const struct msg_batch *b;
	struct err e;

	assert_ok(spool_peek(s, &b, &e), e);
	assert_null(b);
}

static inline uint64_t ack(struct spool *s, uint64_t last)
{
	uint64_t bytes;
	struct err e;

	assert_ok(spool_ack(s, "epoch", &key, last, &bytes, &e), e);
	return bytes;
}

#define EPOCH_1 "0123456789abcdef1111111111111111"
#define EPOCH_2 "0123456789abcdef2222222222222222"
#define EPOCH_3 "0123456789abcdef3333333333333333"
#define STRANGER "fedcba98765432101111111111111111"

/* Eight records: an event, two and four samples, an event. */
static inline void put_trial(struct spool *s, const char *epoch, const struct job_key *k, uint64_t first)
{
	struct err e;

	assert_ok(put_as(s, epoch, k, first, first, 1, &e), e);
	assert_ok(put_as(s, epoch, k, first + 1, first + 2, 0, &e), e);
	assert_ok(put_as(s, epoch, k, first + 3, first + 6, 0, &e), e);
	assert_ok(put_as(s, epoch, k, first + 7, first + 7, 1, &e), e);
}

static inline void ack_all(struct spool *s, const char *epoch, const struct job_key *k, uint64_t last)
{
	uint64_t bytes;
	struct err e;

	assert_ok(spool_ack(s, epoch, k, last, &bytes, &e), e);
}

static inline void expect_of(struct spool *s, const struct job_key *k, const char *epoch, uint64_t first,
	uint64_t last, int lost)
{
	const struct msg_batch *b;
	struct err e;

	assert_ok(spool_peek(s, &b, &e), e);
	assert_non_null(b);
	assert_string_equal(b->epoch, epoch);
	assert_true(job_key_equal(&b->key, k));
	expect(s, first, last, lost);
}

static inline struct spool_refusal refuse(struct spool *s, uint64_t expected)
{
	struct spool_refusal r;
	struct err e;

	assert_ok(spool_refuse(s, &key, expected, "no", &r, &e), e);
	return r;
}

static inline int64_t count(const char *sql)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	int64_t n;

	assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return n;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

#endif
