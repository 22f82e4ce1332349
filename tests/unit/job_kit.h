/*
 * For tests of whole jobs on an existing directory, with real helpers and real workers (the test
 * program started again: its main must call job_kit_main first).
 */
#ifndef TESTS_UNIT_JOB_KIT_H
#define TESTS_UNIT_JOB_KIT_H

#include "tests/unit/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/job_internal.h"
#include "agent/volume/folder.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DEADLINE_S 60
#define MAX_RECORDS 4000

struct fixture {
	uint64_t deadline_s; /* of the job; 0: none */
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
	char end_error[ERR_TEXT_MAX]; /* of the attempt */
	char cache[256]; /* what the last trial's start says of its caches */
	char step[256];  /* the last step of a rehearsal */
	struct record_await await;
	/* react() runs from the loop after that record (a sample is seen when its batch is cut) */
	enum record_type when;
	unsigned when_number; /* of that type, from 1 */
	void (*react)(struct fixture *f);
	struct event *reaction;
	int ended, late, dirty;
	enum attempt_state state;
};

static inline void take(struct fixture *f, const struct record *r)
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
	if (r->type == RECORD_ATTEMPT_END)
		snprintf(f->end_error, sizeof(f->end_error), "%s",
			r->u.attempt_end.error ? r->u.attempt_end.error : "");
	if (r->type == RECORD_TRIAL_START)
		snprintf(f->cache, sizeof(f->cache), "%s", r->u.trial_start.cache);
	if (r->type == RECORD_STEP && r->u.step.argv.n == 0)
		snprintf(f->step, sizeof(f->step), "%s: %s", r->u.step.what, r->u.step.output);
	if (r->type == RECORD_AWAIT)
		f->await = r->u.await;
	f->n++;
	for (unsigned i = 0; i < f->n; i++)
		seen += f->types[i] == f->when;
	if (f->react && r->type == f->when && seen == f->when_number)
		event_active(f->reaction, EV_TIMEOUT, 1);
}

static inline void on_records(void *owner)
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

static inline void on_end(void *owner, enum attempt_state state, const struct err *why, int dirty)
{
	struct fixture *f = owner;

	(void)why;
	f->ended++;
	f->state = state;
	f->dirty = dirty;
	event_base_loopbreak(f->base);
}

static inline void on_reaction(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->react(f);
}

static inline void on_late(evutil_socket_t fd, short what, void *arg)
{
	struct fixture *f = arg;

	(void)fd;
	(void)what;
	f->late = 1;
	event_base_loopbreak(f->base);
}

/* The agent's own verbs are this program's: see job_kit_main. */
static inline char *own_path(void)
{
	char *real;
	struct err e;

	assert_ok(fs_realpath("/proc/self/exe", &real, &e), e);
	return real;
}

/* parent: a folder, such as "/tmp". */
static inline void setup_in(struct fixture *f, const char *parent)
{
	struct err e;
	char bench[96];

	memset(f, 0, sizeof(*f));
	f->when_number = 1;
	snprintf(f->dir, sizeof(f->dir), "%s/arraymark-test-XXXXXX", parent);
	assert_non_null(mkdtemp(f->dir));
	snprintf(bench, sizeof(bench), "%s/bench", f->dir);
	assert_ok(fs_mkdir_p(bench, 0755, &e), e);
	f->base = event_base_new();
	assert_ok(children_new(f->base, &f->kids, &e), e);
	f->ring = ring_new(RING_LIMIT);
	f->reaction = event_new(f->base, -1, 0, on_reaction, f);
	f->opt.config = xasprintf("%s/policy.yaml", f->dir);
	f->host = (struct host){.opt = &f->opt, .state = xstrdup(f->dir), .name = xstrdup("knew"),
		.self = own_path(),
		.mount_root = xasprintf("%s/mnt", f->dir), .lock = xasprintf("%s/lock", f->dir)};
	f->host.work_user.uid = getuid();
	f->host.work_user.gid = getgid();
	f->inv.host = xstrdup("knew");
	f->inv.ram_bytes = 1 << 30;
}

static inline void setup(struct fixture *f)
{
	setup_in(f, "/tmp");
}

static inline void assert_nothing_left(const struct fixture *f)
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

static inline void teardown(struct fixture *f)
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
	free((char *)f->opt.config);
	assert_ok(fs_remove_tree(f->dir, &e), e);
}

/* A job of `blocks` blocks of one layout; rest: more lines of the plan. */
static inline int try_job(struct fixture *f, unsigned blocks, const char *rest, int wait_continue,
	struct err *e)
{
	const struct job_env env = {.base = f->base, .kids = f->kids, .ring = f->ring,
		.host = &f->host, .on_records = on_records, .on_end = on_end, .owner = f};
	struct msg offer = {.type = MSG_JOB_OFFER};
	struct msg_job_offer *o = &offer.u.job_offer;
	char *rules = xasprintf("allow: {directories: [{path: %s/bench}], programs: [/usr/bin/sleep, '%s/*'], "
				"inputs: ['%s/*']}\n",
		f->dir, f->dir, f->dir);
	struct yaml_errors errs = {0};
	struct policy *policy;
	int status;

	assert_ok(policy_parse("policy", rules, strlen(rules), &policy, &errs, e), *e);
	assert_ok(fs_write_file(f->opt.config, rules, strlen(rules), 0600, e), *e);
	o->key = (struct job_key){.run = 12, .job = 3, .attempt = 1};
	o->plan_text = xasprintf("name: test\nhosts: [knew]\ntrials: 1\n"
				 "layouts: {here: {existing: %s/bench}}\n%s\n",
		f->dir, rest);
	o->job_tag = xstrdup("0a1b2c");
	o->run_name = xstrdup("test");
	o->wait_continue = wait_continue;
	o->deadline_s = f->deadline_s;
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

static inline void run(struct fixture *f, unsigned blocks, const char *rest, int wait_continue)
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
static inline void expect(const struct fixture *f, const enum record_type *types, size_t n)
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

static inline unsigned count(const struct fixture *f, enum record_type type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		n += f->types[i] == type;
	return n;
}

#define QUICK "workloads: {w: {stream: {op: write, size: 1M}}, r: {stream: {op: read, of: w}}}"
#define SLOW "samples: 100ms\nworkloads: {w: {stream: {op: write, size: 100M, block-size: 64K, rate: 1M}}}"

static inline void cancel(struct fixture *f)
{
	job_cancel(f->job, ATTEMPT_CANCELLED, "enough of that");
}

/* When the program was started as a worker (`worker --fd 3`, as spawn_self does) or for a folder: does
 * that, and ends. */
static inline void job_kit_main(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "give-folder") || !strcmp(argv[1], "empty-folder")))
		exit(folder_main(argc - 1, argv + 1));
	if (argc == 4 && !strcmp(argv[1], "worker"))
		exit(worker_main(3));
	log_set_level(LOG_LEVEL_ERROR);
}

#endif
