/*
 * The scheduler among simulated agents that lose connections, forget jobs, refuse and are slow, at
 * random: the invariants of sched.h are checked after every action.
 */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/sched/sched.h"

#define SIM_HOSTS 3
#define SIM_JOBS 4 /* per host */
#define SIM_UNITS 6
#define SIM_STEPS 20000

/* An agent as the protocol has it: its own mind about what it runs, and a queue of durable records
 * that reach the scheduler later, in order. */
struct sim_agent {
	struct sched_host *h;
	int online;
	struct job_key key; /* what it runs */
	struct unit todo[SIM_UNITS];
	size_t n_todo, at;
	struct {
		struct job_key key;
		int is_end;
		enum attempt_state end;
		struct unit unit;
	} sent[SIM_UNITS + 1];
	size_t n_sent;
};
struct sim {
	struct sched *s;
	struct sim_agent agent[SIM_HOSTS];
	struct sched_job *job[SIM_HOSTS * SIM_JOBS];
	size_t n_jobs;
	unsigned completed[SIM_HOSTS * SIM_JOBS][SIM_UNITS];
	struct sched_job *beginning[SIM_HOSTS];
	uint64_t random;
	unsigned attempts;
};

static unsigned draw(struct sim *x, unsigned n)
{
	x->random = x->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(x->random >> 33) % n;
}

static void sim_tell(struct sim *x, struct sim_agent *g)
{
	struct msg_agent_status st = {.key = g->key, .unsent = (uint32_t)g->n_sent,
		.state = g->key.run ? AGENT_RUNNING : AGENT_IDLE};

	if (g->online)
		sched_host_status(x->s, g->h, &st);
}

static void sim_offer(struct sim *x, struct sim_agent *g, const struct sched_action *a)
{
	struct err busy = {.code = ERR_BUSY, .text = "busy"};

	assert_true(g->online);
	if (draw(x, 10) == 0) {
		sched_rejected(x->s, g->h, &a->key, &busy);
		return;
	}
	assert_int_equal(g->key.run, 0); /* never two jobs on a host */
	g->key = a->key;
	g->at = 0;
	g->n_todo = sched_job_missing(a->job, g->todo, SIM_UNITS);
	if (draw(x, 8) == 0)
		return; /* the answer gets lost with the connection below */
	sched_accepted(x->s, g->h, &a->key);
	sim_tell(x, g);
}

static size_t index_of(struct sim *x, const struct sched_job *j)
{
	size_t i;

	for (i = 0; i < x->n_jobs && x->job[i] != j; i++)
		;
	return i;
}

static void sim_act(struct sim *x, const struct sched_action *a)
{
	struct sim_agent *g = NULL;

	for (int i = 0; i < SIM_HOSTS; i++)
		if (x->agent[i].h == a->host)
			g = &x->agent[i];
	switch (a->type) {
	case SCHED_BEGIN:
		x->beginning[g - x->agent] = a->job;
		x->attempts++;
		break;
	case SCHED_OFFER:
		sim_offer(x, g, a);
		break;
	case SCHED_CANCEL:
		if (job_key_equal(&g->key, &a->key)) {
			memset(&g->key, 0, sizeof(g->key));
			sim_tell(x, g);
		}
		break;
	case SCHED_INTERRUPT:
	case SCHED_END:
		break;
	}
}

static void sim_invariants(struct sim *x)
{
	for (int i = 0; i < SIM_HOSTS; i++) {
		unsigned n = 0;

		for (struct sched_job *j = x->agent[i].h->jobs; j; j = j->next)
			n += (unsigned)sched_state_is_active(j->state);
		assert_true(n <= 1);
	}
	for (size_t i = 0; i < x->n_jobs; i++)
		for (int u = 0; u < SIM_UNITS; u++)
			assert_true(x->completed[i][u] <= 1);
}

/* The agent does its next unit, or ends. */
static void sim_work(struct sim *x, struct sim_agent *g)
{
	size_t n = g->n_sent;

	if (!g->key.run || n > SIM_UNITS)
		return;
	g->sent[n].key = g->key;
	if (g->at < g->n_todo) {
		g->sent[n].is_end = 0;
		g->sent[n].unit = g->todo[g->at++];
	} else {
		g->sent[n].is_end = 1;
		g->sent[n].end = ATTEMPT_DONE;
		memset(&g->key, 0, sizeof(g->key));
	}
	g->n_sent++;
	sim_tell(x, g);
}

/* The oldest record becomes durable. */
static void sim_store(struct sim *x, struct sim_agent *g)
{
	struct sched_job *j = NULL;

	if (!g->n_sent || !g->online)
		return;
	for (size_t i = 0; i < x->n_jobs; i++)
		if (job_key_equal(&x->job[i]->key, &g->sent[0].key))
			j = x->job[i];
	sched_recorded(x->s, g->h, &g->sent[0].key);
	if (g->sent[0].is_end) {
		sched_attempt_ended(x->s, g->h, &g->sent[0].key, g->sent[0].end, "");
	} else if (sched_unit_complete(x->s, g->h, &g->sent[0].key, &g->sent[0].unit)) {
		assert_non_null(j);
		x->completed[index_of(x, j)][g->sent[0].unit.block - 1]++;
	}
	memmove(&g->sent[0], &g->sent[1], --g->n_sent * sizeof(g->sent[0]));
	sim_tell(x, g);
}

static void sim_connect(struct sim *x, struct sim_agent *g, int64_t now)
{
	g->online = 1;
	sched_host_online(x->s, g->h, now);
	sim_tell(x, g);
}

static void sim_disturb(struct sim *x, struct sim_agent *g, int64_t now)
{
	if (draw(x, 4) == 0) { /* the agent dies: what it had not sent to its spool is gone */
		memset(&g->key, 0, sizeof(g->key));
	}
	if (g->online) {
		g->online = 0;
		sched_host_offline(x->s, g->h, now);
	}
}

static void sim_step(struct sim *x, int64_t now)
{
	struct sim_agent *g = &x->agent[draw(x, SIM_HOSTS)];
	size_t i = (size_t)(g - x->agent);
	struct sched_action a;

	switch (draw(x, 12)) {
	case 0:
		sim_disturb(x, g, now);
		break;
	case 1:
	case 2:
		if (!g->online)
			sim_connect(x, g, now);
		break;
	case 3:
	case 4:
		if (x->beginning[i])
			sched_begun(x->s, x->beginning[i]);
		x->beginning[i] = NULL;
		break;
	case 5:
	case 6:
	case 7:
		sim_work(x, g);
		break;
	default:
		sim_store(x, g);
		break;
	}
	while (sched_next(x->s, now, &a)) {
		sim_act(x, &a);
		sim_invariants(x);
	}
}

static int sim_is_over(const struct sim *x)
{
	for (size_t i = 0; i < x->n_jobs; i++)
		if (!sched_state_is_final(x->job[i]->state))
			return 0;
	return 1;
}

static struct unit *some_units(unsigned n)
{
	struct unit *u = xcalloc(n, sizeof(*u));

	for (unsigned i = 0; i < n; i++)
		u[i] = (struct unit){.block = i + 1, .layout = 0};
	return u;
}

static unsigned simulate(uint64_t seed, unsigned *attempts)
{
	struct sim x = {.random = seed};
	int64_t now = NS_PER_S;
	unsigned step, done = 0;

	x.s = sched_new(NULL, NULL);
	for (unsigned h = 0; h < SIM_HOSTS; h++) {
		char name[16];

		snprintf(name, sizeof(name), "host%u", h);
		x.agent[h].h = sched_host_get(x.s, name);
		for (unsigned k = 0; k < SIM_JOBS; k++) {
			struct job_key key = {.run = k + 1, .job = x.n_jobs + 1};

			x.job[x.n_jobs++] = sched_job_add(x.s, x.agent[h].h, &key,
				some_units(SIM_UNITS), SIM_UNITS, NULL);
		}
	}
	for (step = 0; step < SIM_STEPS && !sim_is_over(&x); step++)
		sim_step(&x, now += NS_PER_S / 10);
	if (!sim_is_over(&x))
		fail_msg("seed %llu: not over after %u steps", (unsigned long long)seed, step);
	for (size_t i = 0; i < x.n_jobs; i++) {
		if (x.job[i]->state != SCHED_DONE)
			continue;
		done++;
		for (int u = 0; u < SIM_UNITS; u++)
			assert_int_equal(x.completed[i][u], 1);
	}
	*attempts += x.attempts;
	sched_free(x.s);
	return done;
}

static void test_simulation(void **state)
{
	unsigned done = 0, attempts = 0, jobs = 300 * SIM_HOSTS * SIM_JOBS;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++)
		done += simulate(seed, &attempts);
	/* Disturbed often, yet most jobs get through: the rest had three bad attempts in a row. */
	assert_in_range(done, jobs / 2, jobs - 1);
	assert_in_range(attempts, jobs + jobs / 4, jobs * (SIM_UNITS + 1) * SCHED_MAX_FRUITLESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simulation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
