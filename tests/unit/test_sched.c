/* The scheduler on its own: tables of facts and the actions that must follow. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/order.h"
#include "common/plan/plan.h"
#include "coordinator/sched/sched.h"
#include "coordinator/sched/units.h"

/* ---- tables ---- */

/*
 * A script is a list of words, facts and expected actions; two jobs (1, 2) of run 7 on one host:
 *   on, off, idle, run, clean, busy:N     connection, status (run: with the job's present key)
 *   unsent                                status without a job, but the spool is not empty
 *   ahead:N                               status of an attempt of job 1 after the last known, N unsent
 *   adopt:1 adopt:2                       the store took an attempt of that job that it did not know
 *   stop:N                                job 1 is wanted up to block N only
 *   late                                  job 1's next unit turns out to be complete
 *   begun acc rej rejbusy                 the store's and the agent's answers about the active job
 *   unit                                  the active job's next unit is complete
 *   end:done|failed|cancelled|interrupted the attempt's end is stored
 *   pause resume cancel again             people (again: resume of job 1)
 *   BEGIN OFFER INTERRUPT CANCEL END NONE what sched_next must say now
 *   =waiting …                            state of job 1
 *   wait:N                                N seconds pass
 */
static const struct {
	const char *name, *script;
	unsigned units;
	int stop_on_failure;
	int64_t lost_wait_s; /* 0: for ever */
} scripts[] = {
	{"plain run of two jobs", "NONE on NONE idle BEGIN NONE begun OFFER NONE acc =running run NONE "
		"unit unit end:done END =done NONE idle BEGIN begun OFFER", 2, 0, 0},
	{"nothing before the first status", "on NONE", 2, 0, 0},
	{"no offer while the spool is not empty", "on unsent NONE idle BEGIN", 2, 0, 0},
	{"no offer while the agent cleans", "on clean NONE idle BEGIN", 2, 0, 0},
	{"paused host gets nothing, then does", "pause on idle NONE unpause BEGIN", 2, 0, 0},
	{"busy is offered again after a status", "on idle BEGIN begun OFFER rejbusy NONE =offered idle "
		"OFFER acc =running", 2, 0, 0},
	{"a refusal fails the job", "on idle BEGIN begun OFFER rej INTERRUPT END =failed idle BEGIN", 2,
		0, 0},
	{"a stale idle after the offer means nothing", "on idle BEGIN begun OFFER idle NONE acc idle "
		"NONE =running", 2, 0, 0},
	{"offer lost with the connection comes again", "on idle BEGIN begun OFFER off NONE on NONE idle "
		"OFFER", 2, 0, 0},
	{"connection lost before the offer", "on idle BEGIN off begun NONE =offered on idle OFFER", 2, 0,
		0},
	{"accept lost with the connection", "on idle BEGIN begun OFFER off on run NONE =running", 2, 0,
		0},
	{"reconnect of a running agent", "on idle BEGIN begun OFFER acc run off NONE on run NONE "
		"=running", 2, 0, 0},
	{"agent forgot the job: new attempt with the rest", "on idle BEGIN begun OFFER acc run unit off "
		"on idle INTERRUPT BEGIN begun OFFER acc run unit end:done END =done", 2, 0, 0},
	{"not while its records are still under way", "on idle BEGIN begun OFFER acc run off on unsent "
		"NONE idle INTERRUPT", 2, 0, 0},
	{"three fruitless attempts end it", "on idle BEGIN begun OFFER acc run off on idle INTERRUPT "
		"BEGIN begun OFFER acc run off on idle INTERRUPT BEGIN begun OFFER acc run off on idle "
		"INTERRUPT END =failed", 2, 0, 0},
	{"progress in between counts anew", "on idle BEGIN begun OFFER acc run off on idle INTERRUPT "
		"BEGIN begun OFFER acc run off on idle INTERRUPT BEGIN begun OFFER acc run unit off on "
		"idle INTERRUPT BEGIN begun OFFER acc run off on idle INTERRUPT BEGIN", 2, 0, 0},
	{"the agent's own word that it was interrupted", "on idle BEGIN begun OFFER acc run unit "
		"end:interrupted NONE =waiting idle BEGIN", 2, 0, 0},
	{"failed with progress: once more", "on idle BEGIN begun OFFER acc run unit end:failed NONE "
		"=waiting idle BEGIN begun OFFER acc run end:failed END =failed", 2, 0, 0},
	{"failed without progress", "on idle BEGIN begun OFFER acc run end:failed END =failed", 2, 0, 0},
	{"stop at a failure", "on idle BEGIN begun OFFER acc run unit end:failed END =failed", 2, 1, 0},
	{"stopped by the owner", "on idle BEGIN begun OFFER acc run end:cancelled END =cancelled", 2, 0,
		0},
	{"a job that stops early is done", "on idle BEGIN begun OFFER acc run unit unit stop:2 "
		"end:done END =done", 4, 0, 0},
	{"what is missing before that is done first", "on idle BEGIN begun OFFER acc run unit stop:2 "
		"end:failed NONE =waiting idle BEGIN begun OFFER acc run unit end:done END =done", 4,
		0, 0},
	{"all complete counts, whatever the end says", "on idle BEGIN begun OFFER acc run unit unit "
		"end:interrupted END =done", 2, 0, 0},
	{"cancel while it waits", "cancel =cancelled NONE on idle BEGIN", 2, 0, 0},
	{"cancel while it is stored", "on idle BEGIN cancel =beginning begun INTERRUPT =cancelled BEGIN",
		2, 0, 0},
	{"cancel while it runs", "on idle BEGIN begun OFFER acc run cancel CANCEL =cancelling NONE clean "
		"NONE end:cancelled NONE =cancelled idle BEGIN", 2, 0, 0},
	{"cancel of an offer that is refused", "on idle BEGIN begun OFFER cancel CANCEL rej INTERRUPT "
		"=cancelled", 2, 0, 0},
	{"cancel while the host is away", "on idle BEGIN begun OFFER acc run off cancel NONE =cancelled on "
		"run CANCEL NONE run NONE", 2, 0, 0},
	{"host goes away while cancelling", "on idle BEGIN begun OFFER acc run cancel CANCEL off NONE "
		"=cancelled", 2, 0, 0},
	{"agent forgot what it was to cancel", "on idle BEGIN begun OFFER acc run cancel CANCEL idle "
		"INTERRUPT =cancelled", 2, 0, 0},
	{"resume after a cancel", "on idle BEGIN begun OFFER acc run unit cancel CANCEL end:cancelled NONE "
		"again =waiting NONE idle BEGIN begun OFFER acc run unit end:done END =done", 2, 0, 0},
	{"lost for too long", "on idle BEGIN begun OFFER acc run off wait:59 NONE =running wait:2 END "
		"=failed on run CANCEL", 2, 0, 60},
	{"back in time", "on idle BEGIN begun OFFER acc run off wait:59 NONE on run NONE wait:100 NONE "
		"=running", 2, 0, 60},
	{"no cancel for a job whose end is known", "on idle BEGIN begun OFFER acc run unit unit end:done "
		"END NONE run NONE clean NONE idle BEGIN", 2, 0, 0},
	{"an attempt that a restored store lacks", "on ahead:1 NONE adopt:1 =running NONE unit unit "
		"end:done END =done", 2, 0, 0},
	{"nobody knows it: it is to stop", "on ahead:1 NONE ahead:0 CANCEL NONE", 2, 0, 0},
	{"a later attempt of a job that failed", "on idle BEGIN begun OFFER acc run end:failed END "
		"=failed adopt:1 =running unit unit end:done END =done", 2, 0, 0},
	{"cancelled is cancelled", "cancel =cancelled adopt:1 =cancelled NONE", 2, 0, 0},
	{"the host went on with the next job", "on idle BEGIN begun OFFER acc run off on unsent adopt:2 "
		"INTERRUPT =waiting NONE", 2, 0, 0},
	{"what was missing comes late", "on idle BEGIN begun OFFER acc run unit end:interrupted NONE "
		"=waiting late idle END =done", 2, 0, 0},
};

struct script {
	struct sched *s;
	struct sched_host *h;
	struct sched_job *job[2];
	int64_t now;
	const char *name, *word;
};

static struct sched_job *active(struct script *x)
{
	struct sched_job *j = sched_host_active(x->h);

	return j ? j : x->job[0];
}

static void status(struct script *x, enum agent_state state, int with_key, unsigned unsent)
{
	struct msg_agent_status st = {.state = state, .unsent = unsent};

	if (with_key)
		st.key = active(x)->key;
	sched_host_status(x->s, x->h, &st);
}

static void ahead(struct script *x, unsigned unsent)
{
	struct msg_agent_status st = {
		.key = x->job[0]->key, .state = AGENT_RUNNING, .unsent = unsent};

	st.key.attempt++;
	sched_host_status(x->s, x->h, &st);
}

static void adopt(struct script *x, const char *which)
{
	struct job_key key = x->job[*which - '1']->key;

	key.attempt++;
	assert_int_equal(sched_adopted(x->s, x->h, &key), 1);
}

static void complete_late(struct script *x)
{
	struct unit u;

	assert_int_equal(sched_job_missing(x->job[0], &u, 1), 1);
	sched_job_complete(x->job[0], &u);
}

static void complete_next(struct script *x)
{
	struct sched_job *j = active(x);
	struct unit u;

	assert_int_equal(sched_job_missing(j, &u, 1), 1);
	assert_int_equal(sched_unit_complete(x->s, x->h, &j->key, &u), 1);
}

static void end(struct script *x, const char *how)
{
	static const char *const names[ATTEMPT_STATE_COUNT] = {"running", "done", "failed", "cancelled",
		"interrupted"};

	for (int i = 0; i < ATTEMPT_STATE_COUNT; i++)
		if (!strcmp(names[i], how))
			sched_attempt_ended(x->s, x->h, &active(x)->key, (enum attempt_state)i, "");
}

static void expect(struct script *x, const char *word)
{
	static const char *const names[] = {"BEGIN", "OFFER", "INTERRUPT", "CANCEL", "END"};
	struct sched_action a;
	const char *got = "NONE";

	if (sched_next(x->s, x->now, &a))
		got = names[a.type];
	if (strcmp(got, word))
		fail_msg("%s: at %s: the scheduler says %s", x->name, word, got);
}

static void expect_state(struct script *x, const char *state)
{
	const char *got = sched_state_name(x->job[0]->state);

	if (strcmp(got, state))
		fail_msg("%s: job 1 should be %s, is %s", x->name, state, got);
}

static int people_word(struct script *x, const char *w)
{
	struct err e;

	if (!strcmp(w, "pause") || !strcmp(w, "unpause"))
		sched_host_paused(x->s, x->h, !strcmp(w, "pause"));
	else if (!strcmp(w, "cancel"))
		assert_int_equal(sched_cancel(x->s, x->job[0], "test", &e), 0);
	else if (!strcmp(w, "again"))
		assert_int_equal(sched_resume(x->s, x->job[0], &e), 0);
	else
		return 0;
	return 1;
}

static int agent_word(struct script *x, const char *w)
{
	struct err why = {.code = !strcmp(w, "rejbusy") ? ERR_BUSY : ERR_DENIED, .text = "policy"};

	if (!strcmp(w, "on"))
		sched_host_online(x->s, x->h, x->now);
	else if (!strcmp(w, "off"))
		sched_host_offline(x->s, x->h, x->now);
	else if (!strcmp(w, "idle") || !strcmp(w, "unsent"))
		status(x, AGENT_IDLE, 0, !strcmp(w, "unsent"));
	else if (!strcmp(w, "run"))
		status(x, AGENT_RUNNING, 1, 0);
	else if (!strcmp(w, "clean"))
		status(x, AGENT_CLEANING, 1, 0);
	else if (!strcmp(w, "acc"))
		sched_accepted(x->s, x->h, &active(x)->key);
	else if (str_starts(w, "rej"))
		sched_rejected(x->s, x->h, &active(x)->key, &why);
	else if (!strcmp(w, "unit"))
		complete_next(x);
	else if (str_starts(w, "end:"))
		end(x, w + 4);
	else
		return 0;
	return 1;
}

static void run_word(struct script *x, const char *w)
{
	if (people_word(x, w) || agent_word(x, w))
		return;
	if (str_starts(w, "ahead:")) {
		ahead(x, (unsigned)strtoul(w + 6, NULL, 10));
	} else if (str_starts(w, "adopt:")) {
		adopt(x, w + 6);
	} else if (str_starts(w, "stop:")) {
		sched_job_stop_after(x->job[0], (uint32_t)strtoul(w + 5, NULL, 10));
		sched_job_done_why(x->job[0], "precise enough");
	} else if (!strcmp(w, "late")) {
		complete_late(x);
	} else if (!strcmp(w, "begun")) {
		sched_begun(x->s, active(x));
	} else if (str_starts(w, "wait:")) {
		x->now += strtol(w + 5, NULL, 10) * NS_PER_S;
		sched_tick(x->s);
	} else if (*w == '=') {
		expect_state(x, w + 1);
	} else {
		expect(x, w);
	}
}

static struct unit *some_units(unsigned n)
{
	struct unit *u = xcalloc(n, sizeof(*u));

	for (unsigned i = 0; i < n; i++)
		u[i] = (struct unit){.block = i + 1, .layout = 0};
	return u;
}

static void test_scripts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		struct script x = {.name = scripts[i].name, .now = NS_PER_S};
		char *words = xstrdup(scripts[i].script), *save = NULL;

		x.s = sched_new(NULL, NULL);
		x.h = sched_host_get(x.s, "knew");
		for (unsigned k = 0; k < 2; k++) {
			struct job_key key = {.run = 7, .job = k + 1};

			x.job[k] = sched_job_add(x.s, x.h, &key, some_units(scripts[i].units),
				scripts[i].units, NULL);
			x.job[k]->stop_on_failure = scripts[i].stop_on_failure;
			if (scripts[i].lost_wait_s)
				x.job[k]->lost_wait_ns = scripts[i].lost_wait_s * NS_PER_S;
		}
		for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
			run_word(&x, w);
		sched_free(x.s);
		free(words);
	}
}

static void test_stop_after(void **state)
{
	struct sched *s = sched_new(NULL, NULL);
	struct sched_host *h = sched_host_get(s, "knew");
	struct job_key key = {.run = 1, .job = 1};
	struct sched_job *j = sched_job_add(s, h, &key, some_units(5), 5, NULL);
	struct unit left[5];

	(void)state;
	sched_job_complete(j, &(struct unit){1, 0});
	sched_job_complete(j, &(struct unit){4, 0});
	assert_int_equal(sched_job_complete_in(j, 4), 1);
	assert_int_equal(sched_job_complete_in(j, 3), 0);
	sched_job_stop_after(j, 2);
	assert_int_equal(j->n_units, 3); /* 1, 2, and 4, which is there already */
	assert_int_equal(j->n_complete, 2);
	assert_int_equal(sched_job_missing(j, left, 5), 1);
	assert_int_equal(left[0].block, 2);
	sched_free(s);
}

static void test_strangers_are_ignored(void **state)
{
	struct sched *s = sched_new(NULL, NULL);
	struct sched_host *h = sched_host_get(s, "knew"), *other = sched_host_get(s, "v440");
	struct job_key key = {.run = 1, .job = 1}, wrong = {.run = 1, .job = 1, .attempt = 9};
	struct sched_job *j = sched_job_add(s, h, &key, some_units(1), 1, NULL);
	struct unit u = {.block = 1, .layout = 0}, none = {.block = 3, .layout = 3};
	struct msg_agent_status idle = {.state = AGENT_IDLE};
	struct err why = {.code = ERR_DENIED};
	struct sched_action a;

	(void)state;
	sched_host_online(s, h, 1);
	sched_host_status(s, h, &idle);
	assert_int_equal(sched_next(s, 1, &a), 1);
	sched_begun(s, j);
	assert_int_equal(sched_next(s, 1, &a), 1);
	key.attempt = 1;
	assert_int_equal(sched_accepted(s, h, &wrong), 0);
	assert_int_equal(sched_accepted(s, other, &key), 0);
	assert_int_equal(sched_rejected(s, other, &key, &why), 0);
	assert_int_equal(sched_unit_complete(s, other, &key, &u), 0);
	assert_int_equal(sched_attempt_ended(s, h, &wrong, ATTEMPT_DONE, ""), 0);
	assert_int_equal(sched_attempt_ended(s, h, &key, ATTEMPT_RUNNING, ""), 0);
	assert_int_equal(sched_accepted(s, h, &key), 1);
	assert_int_equal(sched_unit_complete(s, h, &key, &none), 1);
	assert_int_equal(j->n_complete, 0);
	assert_int_equal(sched_unit_complete(s, h, &key, &u), 1);
	assert_int_equal(sched_unit_complete(s, h, &key, &u), 1);
	assert_int_equal(j->n_complete, 1);
	assert_int_equal(j->progress, 1);
	assert_int_equal(sched_attempt_ended(s, h, &key, ATTEMPT_DONE, ""), 1);
	assert_int_equal(sched_attempt_ended(s, h, &key, ATTEMPT_DONE, ""), 0);
	assert_int_equal(j->state, SCHED_DONE);
	sched_free(s);
}

/* ---- loading ---- */

static void test_loading(void **state)
{
	static const struct {
		const char *name;
		enum attempt_state end; /* RUNNING: it had not ended */
		unsigned complete, progress, failures;
		enum sched_state want;
	} rows[] = {
		{"still runs", ATTEMPT_RUNNING, 1, 1, 0, SCHED_RUNNING},
		{"ended well", ATTEMPT_DONE, 2, 1, 0, SCHED_DONE},
		{"failed with progress", ATTEMPT_FAILED, 1, 1, 0, SCHED_WAITING},
		{"failed without", ATTEMPT_FAILED, 1, 0, 1, SCHED_FAILED},
		{"cancelled", ATTEMPT_CANCELLED, 1, 1, 0, SCHED_CANCELLED},
		{"interrupted twice", ATTEMPT_INTERRUPTED, 0, 0, 2, SCHED_WAITING},
		{"interrupted three times", ATTEMPT_INTERRUPTED, 0, 0, 3, SCHED_FAILED},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sched *s = sched_new(NULL, NULL);
		struct sched_host *h = sched_host_get(s, "knew");
		struct job_key key = {.run = 1, .job = 1, .attempt = 3};
		struct sched_job *j = sched_job_add(s, h, &key, some_units(2), 2, NULL);

		j->failures = rows[i].failures;
		for (unsigned k = 0; k < rows[i].complete; k++)
			sched_job_complete(j, &j->units[k]);
		if (rows[i].end == ATTEMPT_RUNNING)
			sched_job_load_running(s, j, rows[i].progress);
		else
			sched_job_load_ended(s, j, rows[i].end, rows[i].progress);
		if (j->state != rows[i].want)
			fail_msg("%s: is %s", rows[i].name, sched_state_name(j->state));
		sched_free(s);
	}
}

/* ---- units ---- */

static void test_units(void **state)
{
	struct layout layouts[3] = {{.name = (char *)"a"}, {.name = (char *)"b"}, {.name = (char *)"c"}};
	struct plan p = {.layouts = layouts, .n_layouts = 3};
	unsigned order[3], seen[5][3] = {{0}};
	struct unit *u;
	size_t n;

	(void)state;
	u = units_expand(&p, 42, "knew", 4, &n);
	assert_int_equal(n, 12);
	for (size_t i = 0; i < n; i++) {
		plan_block_order(&p, 42, "knew", (unsigned)(i / 3 + 1), order);
		assert_int_equal(u[i].block, i / 3 + 1);
		assert_int_equal(u[i].layout, order[i % 3]);
		seen[u[i].block][u[i].layout]++;
	}
	for (int b = 1; b <= 4; b++)
		for (int l = 0; l < 3; l++)
			assert_int_equal(seen[b][l], 1);
	free(u);
	p.builds = BUILDS_ONCE;
	p.order = ORDER_AS_WRITTEN;
	u = units_expand(&p, 42, "knew", 4, &n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(u[i].layout, i / 4);
		assert_int_equal(u[i].block, i % 4 + 1);
	}
	free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scripts),
		cmocka_unit_test(test_stop_after),
		cmocka_unit_test(test_strangers_are_ignored),
		cmocka_unit_test(test_loading),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
