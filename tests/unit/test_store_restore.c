/* store: what agents bring to one that was restored from a backup. */
#include "tests/unit/test.h"

#include "tests/unit/store_kit.h"

static int setup(void **state)
{
	struct kit *k = xcalloc(1, sizeof(*k));

	kit_new(k, "/tmp");
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	kit_free(*state);
	free(*state);
	return 0;
}

static void backup(struct kit *k)
{
	struct err e;
	char path[160];

	snprintf(path, sizeof(path), "%s/backup.db", k->dir);
	assert_ok(store_backup(k->path, path, &e), e);
}

static void restore(struct kit *k)
{
	struct err e;
	char path[160];

	snprintf(path, sizeof(path), "%s/backup.db", k->dir);
	kit_close(k);
	assert_int_equal(unlink(k->path), 0);
	assert_ok(store_restore(path, k->path, &e), e);
	kit_open(k);
}

static void assert_ack(struct kit_answer a, uint64_t last, int adopted)
{
	if (a.failed)
		fail_msg("%s", a.err.text);
	if (a.append.what != APPEND_ACK)
		fail_msg("refused, expected %llu: %s", (unsigned long long)a.append.expected,
			a.append.text);
	assert_int_equal(a.append.last, last);
	assert_int_equal(a.append.adopted, adopted);
}

static void assert_unknown(struct kit_answer a)
{
	assert_false(a.failed);
	assert_int_equal(a.append.what, APPEND_REFUSE);
	assert_int_equal(a.append.expected, 0);
	assert_has(a.append.text, "not known");
}

static void assert_clean(struct kit *k)
{
	struct strv findings = {0};
	struct err e;

	kit_close(k);
	if (store_check(k->path, &findings, &e) != 0)
		fail_msg("%s", findings.n ? findings.v[0] : e.text);
	strv_free(&findings);
	kit_open(k);
}

static void take_job(void *arg, struct stored_job *j)
{
	struct stored_job *first = arg;

	if (first->job)
		stored_job_clear(j);
	else
		*first = *j;
}

/* The first job of the run. */
static struct stored_job load(struct kit *k, uint64_t run)
{
	struct stored_job j = {0};
	struct err e;

	assert_ok(store_load_run(k->store, run, take_job, &j, &e), e);
	return j;
}

static void assert_job(struct kit *k, uint64_t run, enum job_state state, uint32_t attempt,
	int ended, size_t done)
{
	struct stored_job j = load(k, run);

	assert_int_equal(j.state, state);
	assert_int_equal(j.attempt, attempt);
	assert_int_equal(j.attempt_ended, ended);
	assert_int_equal(j.n_done, done);
	stored_job_clear(&j);
}

static void epoch_is_of_the_same_descent(void **state)
{
	struct kit *k = *state;
	char old[33];

	snprintf(old, sizeof(old), "%s", store_epoch(k->store));
	backup(k);
	restore(k);
	assert_int_equal(strlen(store_epoch(k->store)), 32);
	assert_memory_equal(store_epoch(k->store), old, MSG_EPOCH_KIN);
	assert_string_not_equal(store_epoch(k->store), old);
}

/* The backup was taken within a trial: what it has is acknowledged, the rest comes without samples. */
static void attempt_is_completed(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_unit_start(1, 0), rec_trial_start(1, 1, 0, 0),
		rec_sample(1, 0), rec_sample(1, 1), rec_trial_end(1, 1, 0, 0, 2),
		rec_unit_end(1, 0, 1), rec_attempt_end(ATTEMPT_FAILED)};
	struct kit_text t;

	assert_ack(kit_append(k, "knew", &key, 1, v, 4), 4, 0);
	backup(k);
	assert_ack(kit_append(k, "knew", &key, 5, v + 4, 4), 8, 0);
	restore(k);
	assert_ack(kit_append(k, "knew", &key, 1, v, 1), 4, 0);
	assert_int_equal(kit_append_lost(k, "knew", &key, 4, 5).append.expected, 5);
	assert_ack(kit_append_lost(k, "knew", &key, 5, 5), 5, 0);
	assert_ack(kit_append(k, "knew", &key, 6, v + 5, 3), 8, 0);
	assert_job(k, key.run, JOB_RUNNING, 1, 1, 1);
	t = kit_query(k, QUERY_EXPORT, "last");
	assert_has(buf_str(&t.text), "\"elapsed_ns\":2000000000");
	assert_has(buf_str(&t.text), "\"lost\":1");
	buf_free(&t.text);
	assert_clean(k);
}

static void newer_attempt_is_adopted(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_unit_start(1, 0), rec_unit_end(1, 0, 1),
		rec_attempt_end(ATTEMPT_DONE)};

	backup(k);
	restore(k);
	key.attempt = 3; /* the second one's records are gone */
	assert_unknown(kit_append(k, "kold", &key, 1, v, 1));
	assert_unknown(kit_append(k, "knew", &key, 2, v + 1, 1));
	assert_unknown(kit_append_lost(k, "knew", &key, 1, 2));
	assert_ack(kit_append(k, "knew", &key, 1, v, 1), 1, 1);
	assert_ack(kit_append(k, "knew", &key, 1, v, 1), 1, 0);
	assert_job(k, key.run, JOB_RUNNING, 3, 0, 0);
	assert_ack(kit_append(k, "knew", &key, 2, v + 1, 3), 4, 0);
	assert_job(k, key.run, JOB_RUNNING, 3, 1, 1);
	key.attempt = 2;
	assert_unknown(kit_append(k, "knew", &key, 1, v, 1));
	key.attempt = 4;
	assert_false(kit_begin(k, &key).failed);
	assert_clean(k);
}

static void attempt_of_another_job_is_not(void **state)
{
	struct kit *k = *state;
	struct kit_answer run = kit_run(k);
	struct job_key key = {run.run, run.jobs[0], 1};
	struct record v = rec_start();

	v.u.attempt_start.job_tag = "ffffff"; /* the run that had this number was lost */
	assert_unknown(kit_append(k, "knew", &key, 1, &v, 1));
	v.u.attempt_start.job_tag = NULL;
	assert_unknown(kit_append(k, "knew", &key, 1, &v, 1));
	assert_job(k, key.run, JOB_WAITING, 0, 0, 0);
}

static void ended_jobs(void **state)
{
	static const struct {
		enum job_state before, after;
		int adopted;
	} cases[] = {
		{JOB_WAITING, JOB_RUNNING, 1},
		{JOB_FAILED, JOB_RUNNING, 1}, /* it was resumed after the backup */
		{JOB_CANCELLED, JOB_CANCELLED, 1},
		{JOB_DONE, JOB_DONE, 0},
	};
	struct kit *k = *state;
	struct record v = rec_start();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kit_answer run = kit_run(k);
		struct job_key key = {run.run, run.jobs[0], 1};

		assert_false(kit_state(k, key.job, cases[i].before).failed);
		if (cases[i].adopted)
			assert_ack(kit_append(k, "knew", &key, 1, &v, 1), 1, 1);
		else
			assert_unknown(kit_append(k, "knew", &key, 1, &v, 1));
		assert_job(k, key.run, cases[i].after, (uint32_t)cases[i].adopted, 0, 0);
	}
}

/* Numbers come from the agent: none that leaves no room for the attempts after it. */
static void numbers_stay_within_reason(void **state)
{
	struct kit *k = *state;
	struct kit_answer run = kit_run(k);
	struct job_key key = {run.run, run.jobs[0], INT32_MAX};
	struct record v = rec_start();
	struct append_result r;

	assert_unknown(kit_append(k, "knew", &key, 1, &v, 1));
	key.attempt = 1000001;
	assert_unknown(kit_append(k, "knew", &key, 1, &v, 1));
	assert_job(k, key.run, JOB_WAITING, 0, 0, 0);
	key.attempt = 1000000;
	assert_ack(kit_append(k, "knew", &key, 1, &v, 1), 1, 1);
	r = kit_append_lost(k, "knew", &key, 2, INT64_MAX).append;
	assert_int_equal(r.what, APPEND_REFUSE);
	assert_has(r.text, "record numbers are wrong");
	assert_ack(kit_append_lost(k, "knew", &key, 2, 1ULL << 40), 1ULL << 40, 0);
	assert_clean(k);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(epoch_is_of_the_same_descent),
		T(attempt_is_completed),
		T(newer_attempt_is_adopted),
		T(attempt_of_another_job_is_not),
		T(ended_jobs),
		T(numbers_stay_within_reason),
	};

	return cmocka_run_group_tests_name("store restore", tests, NULL, NULL);
}
