/* store: appending (order, duplicates, gaps, owners, epochs), attempts, jobs, runs, tokens, hosts.
 */
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

static void reopen(struct kit *k)
{
	kit_close(k);
	kit_open(k);
}

static void assert_ack(struct kit_answer a, uint64_t last)
{
	if (a.failed)
		fail_msg("%s", a.err.text);
	if (a.append.what != APPEND_ACK)
		fail_msg("refused, expected %llu: %s", (unsigned long long)a.append.expected,
			a.append.text);
	assert_int_equal(a.append.last, last);
}

static void assert_refused(struct kit_answer a, uint64_t expected, const char *part)
{
	assert_false(a.failed);
	assert_int_equal(a.append.what, APPEND_REFUSE);
	assert_int_equal(a.append.expected, expected);
	assert_has(a.append.text, part);
}

static void create_refuses_what_is_there(void **state)
{
	struct kit *k = *state;
	struct store *s = NULL;
	struct err e = {0};
	char path[160];

	assert_int_equal(store_create(k->path, &e), -1);
	assert_int_equal(e.code, ERR_EXISTS);
	snprintf(path, sizeof(path), "%s/other.db", k->dir);
	assert_int_equal(store_open(path, k->base, &s, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_has(e.text, "arraymark-coordinator init");
	assert_ok(fs_write_file(
			  path, "not a database, but long enough to be looked at", 47, 0600, &e),
		e);
	assert_int_equal(store_open(path, k->base, &s, &e), -1);
	assert_has(e.text, "other.db");
	assert_null(s);
}

static void epoch_is_kept(void **state)
{
	struct kit *k = *state;
	char epoch[33];

	assert_int_equal(strlen(store_epoch(k->store)), 32);
	snprintf(epoch, sizeof(epoch), "%s", store_epoch(k->store));
	reopen(k);
	assert_string_equal(store_epoch(k->store), epoch);
}

static void append_wants_the_next_record(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_unit_start(1, 0), rec_trial_start(1, 1, 0, 0),
		rec_sample(1, 0), rec_sample(1, 1)};

	assert_refused(kit_append(k, "knew", &key, 2, v, 1), 1, "up to 0");
	assert_ack(kit_append(k, "knew", &key, 1, v, 3), 3);
	assert_ack(kit_append(k, "knew", &key, 1, v, 3), 3);
	assert_ack(kit_append(k, "knew", &key, 2, v + 1, 1), 3);
	assert_refused(kit_append(k, "knew", &key, 3, v + 2, 2), 4, "up to 3");
	assert_refused(kit_append(k, "knew", &key, 5, v + 4, 1), 4, "up to 3");
	assert_ack(kit_append(k, "knew", &key, 4, v + 3, 1), 4);
	reopen(k);
	assert_ack(kit_append(k, "knew", &key, 4, v + 3, 1), 4);
	assert_ack(kit_append(k, "knew", &key, 5, v + 4, 1), 5);
}

static void append_refuses_strangers(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k), other = key;
	struct record v[] = {rec_start(), rec_unit_start(3, 0), rec_unit_start(1, 2),
		rec_trial_start(1, 1, 0, 2)};
	struct kit_answer a = {0};

	assert_refused(kit_append(k, "kold", &key, 1, v, 1), 0, "another host");
	kit_send(k, "knew", &key, 1, v, 1, "00000000000000000000000000000000", &a);
	kit_wait(k, &a.done, 1);
	assert_refused(a, 0, "epoch");
	other.attempt = 2;
	assert_refused(kit_append(k, "knew", &other, 1, v + 1, 1), 0, "not known");
	other = key;
	other.job += 100;
	assert_refused(kit_append(k, "knew", &other, 1, v, 1), 0, "not known");
	other = key;
	other.run += 1;
	assert_refused(kit_append(k, "knew", &other, 1, v, 1), 0, "not known");
	for (size_t i = 1; i < ARRAY_LEN(v); i++)
		assert_refused(kit_append(k, "knew", &key, 1, &v[i], 1), 0, "record 1 names");
	assert_ack(kit_append(k, "knew", &key, 1, v, 1), 1);
}

static void batch_must_hold_what_it_says(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v = rec_start();
	struct buf payload = {0};
	struct records r = {0};
	struct kit_answer a = {0};
	struct msg_batch b = {.key = key, .first = 1, .last = 5};
	struct err e;

	record_encode(&v, &payload);
	b.epoch = xstrdup(store_epoch(k->store));
	b.payload_len = payload.len;
	b.payload = buf_take(&payload);
	assert_ok(records_decode(b.payload, b.payload_len, &r, &e), e);
	store_append(k->store, "knew", &b, &r, kit_append_done, &a);
	assert_null(b.payload);
	assert_null(r.v);
	kit_wait(k, &a.done, 1);
	assert_refused(a, 0, "holds 1");
}

static void group_is_answered_in_order(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record s = rec_sample(1, 0), first = rec_start();
	struct kit_answer a[50] = {0}, bad = {0};

	kit_send(k, "knew", &key, 1, &first, 1, NULL, &a[0]);
	for (int i = 1; i < 50; i++) {
		if (i == 25)
			kit_send(k, "kold", &key, 26, &s, 1, NULL, &bad);
		kit_send(k, "knew", &key, (uint64_t)i + 1, &s, 1, NULL, &a[i]);
	}
	kit_wait(k, &a[49].done, 1);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(a[i].done, 1);
		assert_ack(a[i], (uint64_t)i + 1);
	}
	assert_refused(bad, 0, "another host");
}

struct loaded {
	struct stored_job jobs[4];
	size_t n;
};

static void take_job(void *arg, struct stored_job *j)
{
	struct loaded *l = arg;

	assert_true(l->n < ARRAY_LEN(l->jobs));
	l->jobs[l->n++] = *j;
}

static struct loaded load(struct kit *k)
{
	struct loaded l = {0};
	struct err e;

	assert_ok(store_load_jobs(k->store, take_job, &l, &e), e);
	return l;
}

static void unload(struct loaded *l)
{
	for (size_t i = 0; i < l->n; i++)
		stored_job_clear(&l->jobs[i]);
	l->n = 0;
}

static void jobs_come_back(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct loaded l;

	reopen(k);
	l = load(k);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.jobs[0].job, key.job);
	assert_int_equal(l.jobs[0].run, key.run);
	assert_string_equal(l.jobs[0].host, "knew");
	assert_string_equal(l.jobs[0].job_tag, "a1b2c3");
	assert_int_equal(l.jobs[0].state, JOB_RUNNING);
	assert_int_equal(l.jobs[0].attempt, 1);
	assert_false(l.jobs[0].attempt_ended);
	assert_int_equal(l.jobs[0].failures, 0);
	assert_string_equal(l.jobs[0].plan_text, "name: demo\n");
	assert_string_equal(l.jobs[0].run_name, "demo");
	assert_true(l.jobs[0].seed == 0xfedcba9876543210u);
	assert_int_equal(l.jobs[0].blocks, 2);
	assert_int_equal(l.jobs[0].n_disks, 1);
	assert_string_equal(l.jobs[0].disks[0].role, "data");
	assert_int_equal(l.jobs[0].disks[0].ids.n, 2);
	assert_string_equal(l.jobs[0].disks[0].ids.v[1], "wwn:0x50");
	assert_string_equal(l.jobs[1].host, "kold");
	assert_int_equal(l.jobs[1].state, JOB_WAITING);
	assert_int_equal(l.jobs[1].n_disks, 0);
	unload(&l);
}

static void complete_units_are_done(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_unit_start(1, 1), rec_unit_end(1, 1, 1),
		rec_unit_start(1, 0), rec_unit_end(1, 0, 0), rec_unit_start(2, 0),
		rec_attempt_end(ATTEMPT_FAILED)};
	struct loaded l;

	assert_ack(kit_append(k, "knew", &key, 1, v, ARRAY_LEN(v)), 7);
	l = load(k);
	assert_int_equal(l.jobs[0].n_done, 1);
	assert_int_equal(l.jobs[0].done[0].block, 1);
	assert_int_equal(l.jobs[0].done[0].layout, 1);
	assert_true(l.jobs[0].attempt_ended);
	assert_int_equal(l.jobs[0].failures, 0);
	unload(&l);
}

static void fruitless_attempts_are_counted(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record unit[] = {rec_start(), rec_unit_start(1, 1), rec_unit_end(1, 1, 1)};
	struct kit_answer a = {0};
	struct loaded l;

	assert_ack(kit_append(k, "knew", &key, 1, unit, 3), 3);
	for (uint32_t i = 1; i <= 3; i++) {
		memset(&a, 0, sizeof(a));
		store_attempt_interrupted(k->store, &key, "agent restarted", kit_done, &a);
		kit_wait(k, &a.done, 1);
		assert_false(a.failed);
		l = load(k);
		assert_int_equal(l.jobs[0].failures, i - 1);
		assert_true(l.jobs[0].attempt_ended);
		unload(&l);
		key.attempt++;
		assert_false(kit_begin(k, &key).failed);
	}
	l = load(k);
	assert_int_equal(l.jobs[0].failures, 2);
	assert_false(l.jobs[0].attempt_ended);
	assert_int_equal(l.jobs[0].attempt, 4);
	assert_int_equal(l.jobs[0].n_done, 1);
	unload(&l);
}

static void attempts_follow_each_other(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);

	assert_true(kit_begin(k, &key).failed);
	key.attempt = 3;
	assert_true(kit_begin(k, &key).failed);
	key.attempt = 2;
	assert_false(kit_begin(k, &key).failed);
	key.attempt = 1;
	assert_ack(kit_append(k, "knew", &key, 1, (struct record[]){rec_start()}, 1), 1);
}

static void run_follows_its_jobs(void **state)
{
	static const struct {
		enum job_state first, second;
		const char *state;
	} ends[] = {
		{JOB_DONE, JOB_DONE, "done"},
		{JOB_DONE, JOB_FAILED, "failed"},
		{JOB_CANCELLED, JOB_DONE, "cancelled"},
		{JOB_CANCELLED, JOB_FAILED, "failed"},
	};
	struct kit *k = *state;
	struct kit_text t;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct kit_answer a = kit_run(k);
		char want[64];

		assert_false(kit_state(k, a.jobs[0], JOB_RUNNING).failed);
		t = kit_query(k, QUERY_SHOW, "last");
		assert_has(buf_str(&t.text), "\"state\":\"running\"");
		assert_has(buf_str(&t.text), "\"finished\":null");
		buf_free(&t.text);
		assert_false(kit_state(k, a.jobs[0], ends[i].first).failed);
		assert_false(kit_state(k, a.jobs[1], ends[i].second).failed);
		t = kit_query(k, QUERY_RUN_ID, "last");
		snprintf(want, sizeof(want), "\"state\":\"%s\"", ends[i].state);
		assert_has(buf_str(&t.text), want);
		buf_free(&t.text);
	}
	t = kit_query(k, QUERY_RUNS, NULL);
	assert_null(strstr(buf_str(&t.text), "\"finished\":null"));
	buf_free(&t.text);
}

static void finished_jobs_wait_again_only(void **state)
{
	struct kit *k = *state;
	struct kit_answer a = kit_run(k), b;
	struct kit_text t;

	assert_false(kit_state(k, a.jobs[0], JOB_DONE).failed);
	assert_false(kit_state(k, a.jobs[1], JOB_FAILED).failed);
	b = kit_state(k, a.jobs[1], JOB_RUNNING);
	assert_true(b.failed);
	assert_int_equal(b.err.code, ERR_WRONG_STATE);
	assert_true(kit_state(k, 4711, JOB_DONE).failed);
	assert_true(kit_begin(k, &(struct job_key){a.run, a.jobs[1], 1}).failed);
	assert_false(kit_state(k, a.jobs[1], JOB_WAITING).failed);
	t = kit_query(k, QUERY_RUNS, NULL);
	assert_has(buf_str(&t.text), "\"finished\":null");
	buf_free(&t.text);
}

static void run_needs_hosts_and_names(void **state)
{
	struct kit *k = *state;
	struct new_job job = {"knew", "a1b2c3", NULL, 0};
	struct new_run r = {.name = "x",
		.plan_text = "x",
		.plan_sha256 = "00",
		.design_json = "{}",
		.blocks = 1,
		.units = 1,
		.jobs = &job,
		.n_jobs = 1};
	struct kit_answer a = {0};

	store_run_create(k->store, &r, kit_run_done, &a);
	kit_wait(k, &a.done, 1);
	assert_true(a.failed);
	r.design_json = KIT_DESIGN;
	r.n_jobs = 0;
	store_run_create(k->store, &r, kit_run_done, &a);
	kit_wait(k, &a.done, 2);
	assert_true(a.failed);
}

#define IN_AN_HOUR (clock_wall_ns() + 3600 * 1000000000ll)

static struct kit_answer take(struct kit *k, const char *sha, const char *key)
{
	struct kit_answer a = {0};

	store_token_take(k->store, sha, key, kit_token_done, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

static struct kit_answer issue(struct kit *k, const char *sha, const char *serial, const char *cert)
{
	struct kit_answer a = {0};

	store_token_issued(k->store, sha, serial, cert, kit_done, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

static void create_token(struct kit *k, const char *sha, const char *id, int64_t expires)
{
	struct kit_answer a = {0};

	store_token_create(k->store, sha, id, "agent", "knew", expires, kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_false(a.failed);
}

static void token_works_for_one_key(void **state)
{
	struct kit *k = *state;
	struct kit_answer a;

	create_token(k, "aa", "t1", IN_AN_HOUR);
	a = take(k, "aa", "key1");
	assert_false(a.failed);
	assert_string_equal(a.use.role, "agent");
	assert_string_equal(a.use.name, "knew");
	assert_string_equal(a.cert, "");
	assert_false(issue(k, "aa", "01", "PEM").failed);
	assert_true(issue(k, "aa", "02", "PEM2").failed);
	reopen(k);
	a = take(k, "aa", "key1");
	assert_false(a.failed);
	assert_string_equal(a.cert, "PEM");
	a = take(k, "aa", "key2");
	assert_true(a.failed);
	assert_int_equal(a.err.code, ERR_DENIED);
	assert_has(a.err.text, "another key");
	assert_has(a.err.text, "t1");
}

static void token_is_refused(void **state)
{
	struct kit *k = *state;
	struct kit_answer a = {0};

	a = take(k, "ff", "key1");
	assert_int_equal(a.err.code, ERR_DENIED);
	create_token(k, "aa", "t1", clock_wall_ns() - 1);
	a = take(k, "aa", "key1");
	assert_int_equal(a.err.code, ERR_DENIED);
	assert_has(a.err.text, "expired");
	create_token(k, "bb", "t2", IN_AN_HOUR);
	memset(&a, 0, sizeof(a));
	store_token_revoke(k->store, "t2", kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_false(a.failed);
	a = take(k, "bb", "key1");
	assert_int_equal(a.err.code, ERR_DENIED);
	assert_has(a.err.text, "revoked");
	memset(&a, 0, sizeof(a));
	store_token_revoke(k->store, "t9", kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.err.code, ERR_NOTFOUND);
	assert_true(issue(k, "bb", "07", "PEM").failed);
}

static void add_serial(void *arg, const char *serial)
{
	strv_add(arg, serial);
}

static void names_are_revoked(void **state)
{
	struct kit *k = *state;
	struct kit_answer a = {0};
	struct strv revoked = {0};
	struct err e;

	create_token(k, "aa", "t1", IN_AN_HOUR);
	create_token(k, "bb", "t2", IN_AN_HOUR);
	take(k, "aa", "key1");
	assert_false(issue(k, "aa", "01", "PEM").failed);
	store_revoke_name(k->store, "knew", kit_revoke_done, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.serials.n, 1);
	assert_string_equal(a.serials.v[0], "01");
	strv_free(&a.serials);
	assert_true(take(k, "bb", "key2").failed);
	assert_ok(store_load_revoked(k->store, add_serial, &revoked, &e), e);
	assert_int_equal(revoked.n, 1);
	strv_free(&revoked);
}

static void take_host(void *arg, struct stored_host *h)
{
	struct stored_host *to = arg;

	assert_null(to->name);
	*to = *h;
}

static void hosts_are_kept(void **state)
{
	struct kit *k = *state;
	struct stored_host h = {0};
	struct strv tags = {0};
	struct kit_answer a = {0};
	struct err e;

	strv_add(&tags, "rack:12");
	store_host_flags(k->store, "knew", &tags, 1, kit_done, &a);
	store_host_put(k->store, "knew", "in\0ventory", 10, 1234, kit_done, &a);
	store_host_put(k->store, "knew", NULL, 0, 5678, kit_done, &a);
	strv_free(&tags);
	kit_wait(k, &a.done, 3);
	reopen(k);
	assert_ok(store_load_hosts(k->store, take_host, &h, &e), e);
	assert_string_equal(h.name, "knew");
	assert_int_equal(h.paused, 1);
	assert_int_equal(h.last_seen_wall_ns, 5678);
	assert_int_equal(h.inventory_len, 10);
	assert_memory_equal(h.inventory, "in\0ventory", 10);
	assert_int_equal(h.tags.n, 1);
	stored_host_clear(&h);
	kit_run(k);
	memset(&a, 0, sizeof(a));
	store_host_remove(k->store, "knew", kit_done, &a);
	kit_wait(k, &a.done, 1);
	assert_int_equal(a.err.code, ERR_BUSY);
	store_host_remove(k->store, "nobody", kit_done, &a);
	kit_wait(k, &a.done, 2);
	assert_int_equal(a.err.code, ERR_NOTFOUND);
}

static void host_without_runs_goes(void **state)
{
	struct kit *k = *state;
	struct stored_host h = {0};
	struct kit_answer a = {0};
	struct err e;

	store_host_put(k->store, "knew", "x", 1, 1, kit_done, &a);
	store_host_remove(k->store, "knew", kit_done, &a);
	kit_wait(k, &a.done, 2);
	assert_false(a.failed);
	assert_ok(store_load_hosts(k->store, take_host, &h, &e), e);
	assert_null(h.name);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(create_refuses_what_is_there),
		T(epoch_is_kept),
		T(append_wants_the_next_record),
		T(append_refuses_strangers),
		T(batch_must_hold_what_it_says),
		T(group_is_answered_in_order),
		T(jobs_come_back),
		T(complete_units_are_done),
		T(fruitless_attempts_are_counted),
		T(attempts_follow_each_other),
		T(run_follows_its_jobs),
		T(finished_jobs_wait_again_only),
		T(run_needs_hosts_and_names),
		T(token_works_for_one_key),
		T(token_is_refused),
		T(names_are_revoked),
		T(hosts_are_kept),
		T(host_without_runs_goes),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
