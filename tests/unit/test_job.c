/*
 * Whole jobs on an existing directory, with real helpers and real workers (this program started
 * again): the order of the records, cancelling in each phase, retries, Await and Continue, and that
 * nothing is left behind.
 */
#include "tests/unit/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/job_internal.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DEADLINE_S 60
#define MAX_RECORDS 4000

struct fixture {
	char dir[64];
	struct event_base *base;
	struct children *kids;
	struct ring *ring;
	struct agent_options opt;
	struct host host;
	struct inventory inv;
	struct job *job;
	enum record_type types[MAX_RECORDS];
	int oks[MAX_RECORDS];
	unsigned n, trials, failed;
	char error[ERR_TEXT_MAX]; /* of the last failed trial or unit */
	struct record_await await;
	/* react() runs from the loop after that record (a sample is seen when its batch is cut) */
	enum record_type when;
	unsigned when_number; /* of that type, from 1 */
	void (*react)(struct fixture *f);
	struct event *reaction;
	int ended, late, dirty;
	enum attempt_state state;
};

static void take(struct fixture *f, const struct record *r)
{
	unsigned seen = 0;

	assert_true(f->n < MAX_RECORDS);
	f->types[f->n] = r->type;
	if (r->type == RECORD_TRIAL_END) {
		f->oks[f->n] = r->u.trial_end.ok;
		f->trials++;
		f->failed += !r->u.trial_end.ok;
		if (!r->u.trial_end.ok)
			snprintf(f->error, sizeof(f->error), "%s", r->u.trial_end.error);
	}
	if (r->type == RECORD_UNIT_END) {
		f->oks[f->n] = r->u.unit_end.ok;
		if (!r->u.unit_end.ok)
			snprintf(f->error, sizeof(f->error), "%s", r->u.unit_end.error);
	}
	if (r->type == RECORD_AWAIT)
		f->await = r->u.await;
	f->n++;
	for (unsigned i = 0; i < f->n; i++)
		seen += f->types[i] == f->when;
	if (f->react && r->type == f->when && seen == f->when_number)
		event_active(f->reaction, EV_TIMEOUT, 1);
}

static void on_records(void *owner)
{
	struct fixture *f = owner;
	const struct msg_batch *b;

	while ((b = ring_next(f->ring))) {
		struct records got;
		struct err e;

		assert_ok(records_decode(b->payload, b->payload_len, &got, &e), e);
		for (size_t i = 0; i < got.n; i++)
			take(f, &got.v[i]);
		records_clear(&got);
		ring_confirm(f->ring, &b->key, b->last);
	}
}

static void on_end(void *owner, enum attempt_state state, const struct err *why, int dirty)
{
	struct fixture *f = owner;

	(void)why;
	f->ended++;
	f->state = state;
	f->dirty = dirty;
	event_base_loopbreak(f->base);
}

static void on_reaction(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->react(f);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->late = 1;
	event_base_loopbreak(f->base);
}

static void setup(struct fixture *f)
{
	struct err e;
	char bench[96];

	memset(f, 0, sizeof(*f));
	f->when_number = 1;
	snprintf(f->dir, sizeof(f->dir), "/tmp/arraymark-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(bench, sizeof(bench), "%s/bench", f->dir);
	assert_ok(fs_mkdir_p(bench, 0755, &e), e);
	f->base = event_base_new();
	assert_ok(children_new(f->base, &f->kids, &e), e);
	f->ring = ring_new(RING_LIMIT);
	f->reaction = event_new(f->base, -1, 0, on_reaction, f);
	f->opt.config = "test policy";
	f->host = (struct host){.opt = &f->opt, .state = xstrdup(f->dir), .name = xstrdup("knew"),
		.self = xstrdup("/nonexistent/arraymark-agent"),
		.mount_root = xasprintf("%s/mnt", f->dir), .lock = xasprintf("%s/lock", f->dir)};
	f->host.work_user.uid = getuid();
	f->host.work_user.gid = getgid();
	f->inv.host = xstrdup("knew");
	f->inv.ram_bytes = 1 << 30;
}

static void assert_nothing_left(const struct fixture *f)
{
	char path[96];
	struct strv journals = {0};
	struct dirent *de;
	struct err e;
	DIR *d;

	assert_ok(journal_list(f->dir, &journals, &e), e);
	assert_int_equal(journals.n, 0);
	snprintf(path, sizeof(path), "%s/bench", f->dir);
	d = opendir(path);
	assert_non_null(d);
	while ((de = readdir(d)))
		if (de->d_name[0] != '.')
			fail_msg("%s/%s was left", path, de->d_name);
	closedir(d);
}

static void teardown(struct fixture *f)
{
	struct err e;

	assert_nothing_left(f);
	job_free(f->job);
	children_free(f->kids);
	ring_free(f->ring);
	event_free(f->reaction);
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	event_base_loop(f->base, EVLOOP_NONBLOCK);
	event_base_free(f->base);
	host_clear(&f->host);
	inventory_clear(&f->inv);
	assert_ok(fs_remove_tree(f->dir, &e), e);
}

/* A job of `blocks` blocks of one layout; rest: more lines of the plan. */
static int try_job(struct fixture *f, unsigned blocks, const char *rest, int wait_continue,
	struct err *e)
{
	const struct job_env env = {.base = f->base, .kids = f->kids, .ring = f->ring,
		.host = &f->host, .on_records = on_records, .on_end = on_end, .owner = f};
	struct msg offer = {.type = MSG_JOB_OFFER};
	struct msg_job_offer *o = &offer.u.job_offer;
	char *rules = xasprintf("allow: {directories: [{path: %s/bench}]}\n", f->dir);
	struct yaml_errors errs = {0};
	struct policy *policy;
	int status;

	assert_ok(policy_parse("policy", rules, strlen(rules), &policy, &errs, e), *e);
	o->key = (struct job_key){.run = 12, .job = 3, .attempt = 1};
	o->plan_text = xasprintf("name: test\nhosts: [knew]\ntrials: 1\n"
				 "layouts: {here: {existing: %s/bench}}\n%s\n",
		f->dir, rest);
	o->job_tag = xstrdup("0a1b2c");
	o->run_name = xstrdup("test");
	o->wait_continue = wait_continue;
	o->blocks = blocks;
	o->n_units = blocks;
	o->units = xcalloc(blocks, sizeof(*o->units));
	for (unsigned i = 0; i < blocks; i++)
		o->units[i].block = i + 1;
	status = job_new(&env, &offer, policy, &f->inv, "epoch", &f->job, e);
	if (status) {
		policy_free(policy);
		msg_clear(&offer);
	}
	free(rules);
	yaml_errors_free(&errs);
	return status;
}

static void run(struct fixture *f, unsigned blocks, const char *rest, int wait_continue)
{
	const struct timeval limit = {.tv_sec = DEADLINE_S};
	struct event *late = evtimer_new(f->base, on_late, f);
	struct err e;

	assert_ok(try_job(f, blocks, rest, wait_continue, &e), e);
	event_add(late, &limit);
	job_start(f->job);
	event_base_dispatch(f->base);
	event_free(late);
	assert_false(f->late);
	assert_int_equal(f->ended, 1);
	assert_int_equal(f->dirty, 0);
	assert_int_equal(f->types[0], RECORD_ATTEMPT_START);
	assert_int_equal(f->types[f->n - 1], RECORD_ATTEMPT_END);
}

/* The types in order, steps and samples left out. */
static void expect(const struct fixture *f, const enum record_type *types, size_t n)
{
	size_t k = 0;

	for (unsigned i = 0; i < f->n; i++) {
		if (f->types[i] == RECORD_STEP || f->types[i] == RECORD_SAMPLE)
			continue;
		assert_true(k < n);
		assert_int_equal(f->types[i], types[k]);
		k++;
	}
	assert_int_equal(k, n);
}
#define EXPECT(f, ...)                                                                             \
	do {                                                                                       \
		static const enum record_type list[] = {__VA_ARGS__};                              \
		expect((f), list, sizeof(list) / sizeof(*list));                                   \
	} while (0)

static unsigned count(const struct fixture *f, enum record_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		n += f->types[i] == type;
	return n;
}

#define QUICK "workloads: {w: {stream: {op: write, size: 1M}}, r: {stream: {op: read, of: w}}}"
#define SLOW "samples: 100ms\nworkloads: {w: {stream: {op: write, size: 100M, block-size: 64K, rate: 1M}}}"

static void test_whole_job(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	EXPECT(&f, RECORD_ATTEMPT_START, RECORD_UNIT_START, RECORD_VOLUME_READY, RECORD_TRIAL_START,
		RECORD_TRIAL_END, RECORD_TRIAL_START, RECORD_TRIAL_END, RECORD_UNIT_END,
		RECORD_UNIT_START, RECORD_VOLUME_READY, RECORD_TRIAL_START, RECORD_TRIAL_END,
		RECORD_TRIAL_START, RECORD_TRIAL_END, RECORD_UNIT_END, RECORD_ATTEMPT_END);
	assert_int_equal(f.failed, 0);
	assert_true(count(&f, RECORD_STEP) > 0);
	teardown(&f);
}

static void test_repeats_and_builds_once(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, "repeat: 2\nbuilds: once\n" QUICK, 0);
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(f.trials, 8);
	assert_int_equal(count(&f, RECORD_VOLUME_READY), 1);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	teardown(&f);
}

static void test_too_small(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	run(&f, 2, "workloads: {w: {stream: {op: write, size: 900P}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 0);
	assert_int_equal(count(&f, RECORD_UNIT_START), 1); /* the second would be the same */
	assert_has(f.error, "too small");
	teardown(&f);
}

static void test_refused_offers(void **state)
{
	static const struct {
		unsigned blocks;
		const char *rest, *says;
	} cases[] = {
		{0, QUICK, "no block"},
		{1, "workloads: {w: {stream: {op: wrte, size: 1M}}}", "wrte"},
		{1, "layouts: {b: {existing: /}}\n" QUICK, "layouts"},
	};
	struct fixture f;
	struct err e;

	(void)state;
	setup(&f);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(try_job(&f, cases[i].blocks, cases[i].rest, 0, &e), -1);
		assert_has(e.text, cases[i].says);
	}
	assert_null(f.job);
	teardown(&f);
}

/* What an attempt built and kept is known by its journal alone: no second one may take its name. */
static void test_key_of_what_is_kept(void **state)
{
	struct fixture f;
	struct err e;
	char *kept;

	(void)state;
	setup(&f);
	kept = xasprintf("%s/kept-12-3-1.jsonl", f.dir);
	assert_ok(fs_write_file(kept, "", 0, 0600, &e), e);
	assert_int_equal(try_job(&f, 1, QUICK, 0, &e), -1);
	assert_int_equal(e.code, ERR_EXISTS);
	assert_int_equal(unlink(kept), 0);
	free(kept);
	run(&f, 1, QUICK, 0);
	teardown(&f);
}

/* As a full disk leaves it: nothing was begun, and nothing else is made of it. */
static void test_journal_without_a_header(void **state)
{
	struct host_task task = {0};
	struct fixture f;
	json_t *result = NULL;
	char *path;
	struct err e;

	(void)state;
	setup(&f);
	path = xasprintf("%s/journal-9-9-1.jsonl", f.dir);
	assert_ok(fs_write_file(path, "", 0, 0600, &e), e);
	task.host = &f.host;
	assert_ok(task_leftovers(NULL, &task, &result, &e), e);
	free(path);
	teardown(&f); /* asserts that no journal is left */
}

static void cancel(struct fixture *f)
{
	job_cancel(f->job, ATTEMPT_CANCELLED, "enough of that");
}

static void test_cancel_everywhere(void **state)
{
	static const enum record_type at[] = {RECORD_ATTEMPT_START, RECORD_UNIT_START, RECORD_STEP,
		RECORD_VOLUME_READY, RECORD_TRIAL_START, RECORD_SAMPLE, RECORD_TRIAL_END,
		RECORD_UNIT_END};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		struct fixture f;

		setup(&f);
		f.when = at[i];
		f.react = cancel;
		run(&f, 30, at[i] == RECORD_TRIAL_END || at[i] == RECORD_UNIT_END ? QUICK : SLOW, 0);
		assert_int_equal(f.state, ATTEMPT_CANCELLED);
		assert_int_equal(count(&f, RECORD_UNIT_START), count(&f, RECORD_UNIT_END));
		assert_int_equal(count(&f, RECORD_TRIAL_START), count(&f, RECORD_TRIAL_END));
		assert_true(count(&f, RECORD_UNIT_START) < 30);
		teardown(&f);
	}
}

static void kill_worker(struct fixture *f)
{
	if (f->job->worker)
		kill(worker_pid(f->job->worker), SIGKILL);
}

static void test_worker_killed(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 1, "on-trial-failure: stop\n" SLOW, 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.failed, 1);
	assert_has(f.error, "killed by signal 9");
	teardown(&f);
}

static void test_retry(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 1, "on-trial-failure: retry 1\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_DONE); /* the second try was good */
	assert_int_equal(f.trials, 2);
	assert_int_equal(f.failed, 1);
	teardown(&f);
}

static void test_failure_goes_on(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = kill_worker;
	run(&f, 2, "on-trial-failure: continue\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 2);
	assert_int_equal(f.failed, 1);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	teardown(&f);
}

static void remove_volume(struct fixture *f)
{
	struct err e;

	assert_ok(fs_remove_tree(job_volume(f->job)->directory, &e), e);
}

static void test_volume_gone(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_SAMPLE;
	f.react = remove_volume;
	run(&f, 1, "on-trial-failure: retry 5\nsamples: 100ms\nworkloads: {w: {stream: {op: write, "
		   "size: 5M, block-size: 64K, rate: 2M}}}", 0);
	assert_int_equal(f.state, ATTEMPT_FAILED);
	assert_int_equal(f.trials, 1); /* the worker saw nothing, the check did; no retry on it */
	assert_int_equal(f.failed, 1);
	teardown(&f);
}

static void answer(struct fixture *f)
{
	struct msg_continue c = {.unit = {.block = 77}, .repeat = 1};

	job_continue(f->job, &c); /* not what it waits for */
	assert_int_equal(f->job->phase, JOB_AWAIT_UNIT);
	c.unit = f->await.unit;
	f->when_number = 2;
	if (f->await.unit.block == 2)
		job_continue(f->job, &c);
	else
		job_finish(f->job);
}

static void test_await_and_finish(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_AWAIT;
	f.react = answer;
	run(&f, 5, QUICK, 1); /* the plan's one block is done unasked */
	assert_int_equal(f.state, ATTEMPT_DONE);
	assert_int_equal(count(&f, RECORD_AWAIT), 2);
	assert_int_equal(count(&f, RECORD_UNIT_END), 2);
	assert_int_equal(f.await.unit.block, 3);
	teardown(&f);
}

static void test_cancel_while_waiting(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.when = RECORD_AWAIT;
	f.react = cancel;
	run(&f, 5, QUICK, 1);
	assert_int_equal(f.state, ATTEMPT_CANCELLED);
	assert_int_equal(count(&f, RECORD_UNIT_END), 1);
	teardown(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_job),
		cmocka_unit_test(test_repeats_and_builds_once),
		cmocka_unit_test(test_too_small),
		cmocka_unit_test(test_refused_offers),
		cmocka_unit_test(test_key_of_what_is_kept),
		cmocka_unit_test(test_journal_without_a_header),
		cmocka_unit_test(test_cancel_everywhere),
		cmocka_unit_test(test_worker_killed),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_failure_goes_on),
		cmocka_unit_test(test_volume_gone),
		cmocka_unit_test(test_await_and_finish),
		cmocka_unit_test(test_cancel_while_waiting),
	};

	if (argc == 4 && !strcmp(argv[1], "worker")) /* --fd 3, as spawn_self starts it */
		return worker_main(3);
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
