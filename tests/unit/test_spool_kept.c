/* What the spool keeps after the ack, and to which stores it is offered again. */
#include "tests/unit/spool_kit.h"

/* Everything but samples stays, at its place. */
static void test_events_are_kept(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 8);
	assert_int_equal(spool_count(s), 0);
	expect_none(s);
	assert_ok(spool_tidy(s, &e), e);
	spool_close(s);
	assert_int_equal(count("SELECT count(*) FROM batches"), 0);
	assert_int_equal(count("SELECT count(*) FROM kept"), 3);
	assert_int_equal(count("SELECT 10*first+last FROM kept WHERE NOT events"), 27);
	assert_int_equal(count("SELECT sum(first) FROM kept WHERE events"), 9);
}

static void test_old_things_go(void **state)
{
	struct spool *s = open_spool(0);
	sqlite3 *db;
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 8);
	put_trial(s, EPOCH_1, &next_key, 1);
	ack_all(s, EPOCH_1, &next_key, 8);
	spool_close(s);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				 "UPDATE streams SET wall_ns=wall_ns-691200000000000" /* 8 days */
				 " WHERE attempt=1",
				 NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	s = open_spool(0);
	assert_ok(spool_tidy(s, &e), e);
	spool_close(s);
	assert_int_equal(count("SELECT count(*) FROM kept"), 3);
	assert_int_equal(count("SELECT count(*) FROM streams"), 1);
}

static void test_kept_is_bounded(void **state)
{
	struct spool *s = open_spool(400 * SPOOL_KEPT_SHARE); /* room for one stream's */
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 8);
	put_trial(s, EPOCH_1, &next_key, 1);
	ack_all(s, EPOCH_1, &next_key, 8);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	expect_of(s, &next_key, EPOCH_2, 1, 1, 0);
	expect_of(s, &next_key, EPOCH_2, 2, 7, 1);
	expect_of(s, &next_key, EPOCH_2, 8, 8, 0);
	expect_none(s);
	spool_close(s);
}

/* ---- another store ---- */

static void test_restored_store_is_offered_everything(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	assert_ok(spool_set_epoch(s, EPOCH_1, &e), e);
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 8);
	assert_ok(put_as(s, EPOCH_1, &key, 9, 9, 1, &e), e); /* not acknowledged */
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	assert_int_equal(spool_count(s), 4);
	expect_of(s, &key, EPOCH_2, 1, 1, 0);
	expect_of(s, &key, EPOCH_2, 2, 7, 1);
	/* the job goes on, with the epoch that it began under */
	assert_ok(put_as(s, EPOCH_1, &key, 10, 12, 0, &e), e);
	expect_of(s, &key, EPOCH_2, 8, 8, 0);
	expect_of(s, &key, EPOCH_2, 9, 9, 0);
	expect_of(s, &key, EPOCH_2, 10, 12, 0);
	ack_all(s, EPOCH_1, &key, 12); /* not this store's */
	assert_int_equal(spool_count(s), 5);
	ack_all(s, EPOCH_2, &key, 12);
	assert_int_equal(spool_count(s), 0);
	spool_close(s);
	s = open_spool(0);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	expect_none(s); /* once for each epoch */
	assert_ok(spool_set_epoch(s, EPOCH_3, &e), e);
	assert_int_equal(spool_count(s), 5);
	spool_close(s);
}

static void test_restored_store_has_the_beginning(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 8);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	expect_of(s, &key, EPOCH_2, 1, 1, 0);
	expect_of(s, &key, EPOCH_2, 2, 7, 1);
	assert_int_equal(refuse(s, 4).given_up, 0); /* its backup was taken within the trial */
	spool_rewind(s);
	expect_of(s, &key, EPOCH_2, 4, 7, 1);
	expect_of(s, &key, EPOCH_2, 8, 8, 0);
	ack_all(s, EPOCH_2, &key, 8);
	assert_ok(spool_set_epoch(s, EPOCH_3, &e), e);
	expect_of(s, &key, EPOCH_3, 1, 1, 0); /* an older backup yet */
	expect_of(s, &key, EPOCH_3, 2, 7, 1);
	expect_of(s, &key, EPOCH_3, 8, 8, 0);
	spool_close(s);
}

static void test_refused_is_offered_to_the_next(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 3);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	assert_int_equal(refuse(s, 0).given_up, 4); /* older than the run */
	assert_int_equal(spool_count(s), 0);
	assert_ok(spool_set_epoch(s, EPOCH_3, &e), e);
	expect_of(s, &key, EPOCH_3, 1, 1, 0);
	expect_of(s, &key, EPOCH_3, 2, 3, 1);
	expect_of(s, &key, EPOCH_3, 4, 7, 0);
	expect_of(s, &key, EPOCH_3, 8, 8, 0);
	spool_close(s);
}

static void test_stranger_is_offered_nothing(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	ack_all(s, EPOCH_1, &key, 3);
	assert_ok(spool_set_epoch(s, STRANGER, &e), e);
	assert_int_equal(spool_count(s), 0);
	assert_ok(put_as(s, STRANGER, &key, 1, 1, 1, &e), e); /* its run 12 */
	expect_of(s, &key, STRANGER, 1, 1, 0);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e); /* back again */
	expect_of(s, &key, EPOCH_2, 1, 1, 0);
	expect_of(s, &key, EPOCH_2, 2, 3, 1);
	expect_of(s, &key, EPOCH_2, 4, 7, 0);
	expect_of(s, &key, EPOCH_2, 8, 8, 0);
	expect_none(s);
	spool_close(s);
}

static void test_number_used_again(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put_trial(s, EPOCH_1, &key, 1);
	assert_ok(spool_set_epoch(s, EPOCH_2, &e), e);
	assert_int_equal(refuse(s, 0).given_up, 4);
	assert_ok(put_as(s, EPOCH_2, &key, 1, 1, 1, &e), e); /* another run got the number */
	expect_of(s, &key, EPOCH_2, 1, 1, 0);
	ack_all(s, EPOCH_2, &key, 1);
	assert_ok(spool_set_epoch(s, EPOCH_3, &e), e);
	expect_of(s, &key, EPOCH_3, 1, 1, 0);
	expect_none(s);
	spool_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_events_are_kept),
		TEST(test_old_things_go),
		TEST(test_kept_is_bounded),
		TEST(test_restored_store_is_offered_everything),
		TEST(test_restored_store_has_the_beginning),
		TEST(test_refused_is_offered_to_the_next),
		TEST(test_stranger_is_offered_nothing),
		TEST(test_number_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
