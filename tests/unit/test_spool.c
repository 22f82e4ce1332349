/*
 * The link's spool on a real file: order, acks, refusals, reopening after a kill, limits, damage.
 */
#include "tests/unit/spool_kit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void test_order_and_ack(void **state)
{
	struct spool *s = open_spool(0);
	size_t a, b;

	(void)state;
	expect_none(s);
	put(s, 1, 3);
	put(s, 4, 4);
	put(s, 5, 9);
	assert_int_equal(spool_count(s), 3);
	a = expect(s, 1, 3, 0);
	b = expect(s, 4, 4, 0);
	assert_int_equal(ack(s, 9), a + b); /* the third was not under way */
	assert_int_equal(spool_count(s), 0);
	expect_none(s);
	put(s, 10, 10);
	expect(s, 10, 10, 0);
	assert_int_equal(ack(s, 9), 0); /* an old answer */
	assert_int_equal(spool_count(s), 1);
	spool_close(s);
}

static void test_rewind(void **state)
{
	struct spool *s = open_spool(0);

	(void)state;
	put(s, 1, 3);
	put(s, 4, 6);
	expect(s, 1, 3, 0);
	expect(s, 4, 6, 0);
	expect_none(s);
	ack(s, 3);
	spool_rewind(s);
	expect(s, 4, 6, 0);
	expect_none(s);
	spool_close(s);
}

static void test_streams_in_turn(void **state)
{
	struct spool *s = open_spool(0);
	const struct msg_batch *b;
	struct err e;

	(void)state;
	put(s, 1, 1);
	assert_ok(put_as(s, "epoch", &next_key, 1, 1, 0, &e), e);
	put(s, 2, 2);
	expect(s, 1, 1, 0);
	expect(s, 2, 2, 0);
	assert_ok(spool_peek(s, &b, &e), e);
	assert_int_equal(b->key.attempt, 2);
	spool_close(s);
}

static void test_duplicates_and_overlaps(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put(s, 1, 3);
	put(s, 1, 3); /* the monitor gave it to the link before this one too */
	assert_int_equal(spool_count(s), 1);
	assert_int_equal(put_as(s, "epoch", &key, 3, 5, 0, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	assert_ok(put_lost(s, 2, 8, &e), e); /* grew in the ring after 3 was stored */
	put(s, 9, 9);
	expect(s, 1, 3, 0);
	expect(s, 4, 8, 1);
	expect(s, 9, 9, 0);
	ack(s, 9);
	put(s, 1, 3); /* long acknowledged */
	expect_none(s);
	spool_close(s);
}

static void test_killed_and_reopened(void **state)
{
	struct spool *s;
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		s = open_spool(0);
		put(s, 1, 3);
		put(s, 4, 4);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	s = open_spool(0);
	assert_int_equal(spool_count(s), 2);
	expect(s, 1, 3, 0);
	expect(s, 4, 4, 0);
	spool_close(s);
}

static void test_epoch_is_remembered(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	assert_string_equal(spool_epoch(s), "");
	assert_ok(spool_set_epoch(s, "abc", &e), e);
	spool_close(s);
	s = open_spool(0);
	assert_string_equal(spool_epoch(s), "abc");
	spool_close(s);
}

static void test_unknown_job_is_put_aside(void **state)
{
	struct spool *s = open_spool(0);
	struct spool_refusal r;
	struct err e;
	size_t sent;

	(void)state;
	put(s, 1, 3);
	put(s, 4, 6);
	assert_ok(put_as(s, "epoch", &next_key, 1, 1, 0, &e), e);
	sent = expect(s, 1, 3, 0);
	r = refuse(s, 0);
	assert_int_equal(r.given_up, 2);
	assert_int_equal(r.bytes, sent);
	assert_int_equal(spool_count(s), 1);
	put(s, 7, 7); /* more of it is not sent any more */
	assert_int_equal(spool_count(s), 1);
	assert_int_equal(refuse(s, 0).given_up, 0);
	expect(s, 1, 1, 0);
	spool_close(s);
	assert_int_equal(count("SELECT count(*) FROM refused"), 3);
}

static void test_expected_later(void **state)
{
	struct spool *s = open_spool(0);

	(void)state;
	put(s, 1, 3);
	put(s, 4, 6);
	put(s, 7, 9);
	refuse(s, 7); /* the store has 1-6 from before */
	spool_rewind(s);
	expect(s, 7, 9, 0);
	expect_none(s);
	spool_close(s);
}

static void test_expected_what_is_gone(void **state)
{
	struct spool *s = open_spool(0);

	(void)state;
	put(s, 1, 3);
	put(s, 4, 6);
	expect(s, 1, 3, 0);
	ack(s, 3);
	refuse(s, 2); /* it acknowledged 1-3, and has lost 2 and 3 */
	spool_rewind(s);
	expect(s, 2, 3, 1);
	expect(s, 4, 6, 0);
	spool_close(s);
}

static void test_expected_within_lost(void **state)
{
	struct spool *s = open_spool(0);
	struct err e;

	(void)state;
	put(s, 1, 1);
	assert_ok(put_lost(s, 2, 9, &e), e);
	refuse(s, 5);
	spool_rewind(s);
	expect(s, 5, 9, 1);
	spool_close(s);
}

static void test_expected_within_a_batch(void **state)
{
	struct spool *s = open_spool(0);
	const struct msg_batch *b;
	struct records r;
	struct err e;

	(void)state;
	put(s, 1, 9);
	put(s, 10, 10);
	assert_int_equal(refuse(s, 5).given_up, 0);
	spool_rewind(s);
	assert_ok(spool_peek(s, &b, &e), e);
	assert_ok(records_decode(b->payload, b->payload_len, &r, &e), e);
	assert_int_equal(r.n, 5);
	assert_int_equal(r.v[0].wall_ns, 5);
	records_clear(&r);
	expect(s, 5, 9, 0);
	expect(s, 10, 10, 0);
	spool_close(s);
}

static void test_refused_for_ever(void **state)
{
	struct spool *s = open_spool(0);
	unsigned given_up = 0, tries = 0;

	(void)state;
	put(s, 1, 3);
	while (!given_up && tries++ < 100)
		given_up = refuse(s, 1).given_up;
	assert_int_equal(given_up, 1);
	assert_int_equal(tries, SPOOL_MAX_REFUSALS + 1);
	spool_close(s);
}

static void test_limit(void **state)
{
	struct spool *s = open_spool(2000);
	struct err e = {0};
	uint64_t n = 0;

	(void)state;
	while (n < 1000 && put_as(s, "epoch", &key, n + 1, n + 1, 0, &e) == 0)
		n++;
	assert_int_equal(e.code, ERR_FULL);
	assert_in_range(n, 10, 999);
	assert_int_equal(spool_count(s), n);
	ack(s, n);
	put(s, n + 1, n + 1); /* there is room again */
	spool_close(s);
}

/* A file that may not grow stands for a full disk: SQLite sees a failed write. */
static void test_no_room(void **state)
{
	struct spool *s = open_spool(0);
	const struct rlimit tiny = {.rlim_cur = 200 * 1024, .rlim_max = RLIM_INFINITY};
	struct rlimit old;
	struct err e = {0};
	uint64_t n = 0;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	while (n < 100000 && put_as(s, "epoch", &key, n * 200 + 1, n * 200 + 200, 0, &e) == 0)
		n++;
	assert_true(e.code == ERR_FULL || e.code == ERR_IO);
	assert_int_equal(spool_count(s), n);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	put(s, n * 200 + 1, n * 200 + 200);
	for (uint64_t i = 0; i <= n; i++)
		expect(s, i * 200 + 1, i * 200 + 200, 0);
	expect_none(s);
	spool_close(s);
}

static void test_damaged_file_is_moved_aside(void **state)
{
	static const char junk[] = "this was never a database, whatever its name says; ";
	struct spool *s;
	char *moved;
	struct err e;
	int fd = open(file, O_WRONLY | O_CREAT, 0600);

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(write(fd, junk, sizeof(junk)), sizeof(junk));
	close(fd);
	assert_ok(spool_open(file, 0, &s, &moved, &e), e);
	assert_non_null(moved);
	assert_int_equal(access(moved, F_OK), 0);
	put(s, 1, 1);
	assert_int_equal(spool_count(s), 1);
	free(moved);
	spool_close(s);
}

static void test_relative_to_the_folder(void **state)
{
	struct spool *s;
	char *moved, *from = getcwd(NULL, 0);
	struct err e;

	(void)state;
	assert_int_equal(chdir(dir), 0);
	assert_ok(spool_open("spool.db", 0, &s, &moved, &e), e);
	put(s, 1, 1);
	spool_close(s);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(chdir(from), 0);
	free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order_and_ack),
		TEST(test_rewind),
		TEST(test_streams_in_turn),
		TEST(test_duplicates_and_overlaps),
		TEST(test_killed_and_reopened),
		TEST(test_epoch_is_remembered),
		TEST(test_unknown_job_is_put_aside),
		TEST(test_expected_later),
		TEST(test_expected_what_is_gone),
		TEST(test_expected_within_lost),
		TEST(test_expected_within_a_batch),
		TEST(test_refused_for_ever),
		TEST(test_limit),
		TEST(test_no_room),
		TEST(test_damaged_file_is_moved_aside),
		TEST(test_relative_to_the_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
