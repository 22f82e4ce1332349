/*
 * The scheduler's facts: hosts, their jobs, and the state machine of a job. Decisions are in
 * decide.c. Owns the hosts and jobs; every change of a job's state goes through sched_move.
 */
#include "coordinator/sched/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"

#define BIT(s) (1u << (s))

static const struct {
	const char *name;
	unsigned next;
} states[SCHED_STATE_COUNT] = {
	[SCHED_WAITING] = {"waiting", BIT(SCHED_BEGINNING) | BIT(SCHED_RUNNING) | BIT(SCHED_DONE) |
			BIT(SCHED_CANCELLED)},
	[SCHED_BEGINNING] = {"beginning",
		BIT(SCHED_OFFERED) | BIT(SCHED_CANCELLING) | BIT(SCHED_FAILED)},
	[SCHED_OFFERED] = {"offered", BIT(SCHED_RUNNING) | BIT(SCHED_CANCELLING) |
			BIT(SCHED_CANCELLED) | BIT(SCHED_FAILED) | BIT(SCHED_WAITING)},
	[SCHED_RUNNING] = {"running", BIT(SCHED_DONE) | BIT(SCHED_FAILED) | BIT(SCHED_CANCELLED) |
			BIT(SCHED_CANCELLING) | BIT(SCHED_WAITING)},
	[SCHED_CANCELLING] = {"cancelling", BIT(SCHED_CANCELLED)},
	[SCHED_DONE] = {"done", 0},
	[SCHED_FAILED] = {"failed", BIT(SCHED_WAITING)},
	[SCHED_CANCELLED] = {"cancelled", BIT(SCHED_WAITING)},
};

const char *sched_state_name(enum sched_state s)
{
	return states[s].name;
}

int sched_state_is_final(enum sched_state s)
{
	return s == SCHED_DONE || s == SCHED_FAILED || s == SCHED_CANCELLED;
}

int sched_state_is_active(enum sched_state s)
{
	return s == SCHED_BEGINNING || s == SCHED_OFFERED || s == SCHED_RUNNING ||
		s == SCHED_CANCELLING;
}

void sched_move(struct sched *s, struct sched_job *j, enum sched_state to)
{
	enum sched_state from = j->state;

	assert(states[from].next & BIT(to));
	j->state = to;
	sched_dirty(s, j->host);
	log_debug("scheduler", "job %llu of %s: %s -> %s", (unsigned long long)j->key.job,
		j->host->name, states[from].name, states[to].name);
	if (s->moved)
		s->moved(s->moved_arg, j, from);
}

void sched_why(struct sched_job *j, const char *why)
{
	char *copy = xstrdup(why && *why ? why : NULL);

	free(j->why);
	j->why = copy;
}

struct sched *sched_new(void (*moved)(void *arg, struct sched_job *j, enum sched_state from),
	void *arg)
{
	struct sched *s = xcalloc(1, sizeof(*s));

	s->moved = moved;
	s->moved_arg = arg;
	return s;
}

static void job_free(struct sched_job *j)
{
	free(j->units);
	free(j->complete);
	free(j->why);
	free(j->done_why);
	free(j);
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	while (s->hosts) {
		struct sched_host *h = s->hosts;

		s->hosts = h->next;
		while (h->jobs) {
			struct sched_job *j = h->jobs;

			h->jobs = j->next;
			job_free(j);
		}
		free(h->name);
		free(h);
	}
	free(s);
}

void sched_dirty(struct sched *s, struct sched_host *h)
{
	if (h->dirty)
		return;
	h->dirty = 1;
	h->next_dirty = NULL;
	if (s->last_dirty)
		s->last_dirty->next_dirty = h;
	else
		s->first_dirty = h;
	s->last_dirty = h;
}

struct sched_host *sched_host_get(struct sched *s, const char *name)
{
	struct sched_host *h;

	for (h = s->hosts; h; h = h->next)
		if (!strcmp(h->name, name))
			return h;
	h = xcalloc(1, sizeof(*h));
	h->name = xstrdup(name);
	h->next = s->hosts;
	s->hosts = h;
	return h;
}

static void dirty_remove(struct sched *s, struct sched_host *gone)
{
	struct sched_host *h = s->first_dirty, *next;

	s->first_dirty = s->last_dirty = NULL;
	for (; h; h = next) {
		next = h->next_dirty;
		h->dirty = 0;
		if (h != gone)
			sched_dirty(s, h);
	}
}

void sched_host_remove(struct sched *s, struct sched_host *h)
{
	assert(!h->jobs);
	if (h->dirty)
		dirty_remove(s, h);
	for (struct sched_host **p = &s->hosts; *p; p = &(*p)->next) {
		if (*p == h) {
			*p = h->next;
			break;
		}
	}
	free(h->name);
	free(h);
}

unsigned sched_host_waiting(const struct sched_host *h)
{
	unsigned n = 0;

	for (const struct sched_job *j = h->jobs; j; j = j->next)
		n += j->state == SCHED_WAITING;
	return n;
}

struct sched_job *sched_host_active(const struct sched_host *h)
{
	for (struct sched_job *j = h->jobs; j; j = j->next)
		if (sched_state_is_active(j->state))
			return j;
	return NULL;
}

static int key_before(const struct job_key *a, const struct job_key *b)
{
	return a->run < b->run || (a->run == b->run && a->job < b->job);
}

struct sched_job *sched_job_add(struct sched *s, struct sched_host *h, const struct job_key *key,
	struct unit *units, size_t n_units, void *owner)
{
	struct sched_job *j = xcalloc(1, sizeof(*j)), **p = &h->jobs;

	j->host = h;
	j->key = *key;
	j->units = units;
	j->n_units = n_units;
	j->complete = xcalloc(n_units ? n_units : 1, 1);
	j->lost_wait_ns = SCHED_LOST_FOREVER;
	j->owner = owner;
	while (*p && key_before(&(*p)->key, key))
		p = &(*p)->next;
	j->next = *p;
	*p = j;
	sched_dirty(s, h);
	return j;
}

void sched_job_remove(struct sched *s, struct sched_job *j)
{
	assert(!sched_state_is_active(j->state));
	for (struct sched_job **p = &j->host->jobs; *p; p = &(*p)->next) {
		if (*p == j) {
			*p = j->next;
			break;
		}
	}
	sched_dirty(s, j->host);
	job_free(j);
}

int sched_mark_complete(struct sched_job *j, const struct unit *u)
{
	for (size_t i = 0; i < j->n_units; i++) {
		if (j->units[i].block != u->block || j->units[i].layout != u->layout)
			continue;
		if (j->complete[i])
			return 0;
		j->complete[i] = 1;
		j->n_complete++;
		return 1;
	}
	return 0;
}

void sched_job_complete(struct sched_job *j, const struct unit *u)
{
	(void)sched_mark_complete(j, u);
}

size_t sched_job_complete_in(const struct sched_job *j, uint32_t block)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_units; i++)
		n += j->units[i].block == block && j->complete[i];
	return n;
}

void sched_job_stop_after(struct sched_job *j, uint32_t block)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_units; i++) {
		if (j->units[i].block > block && !j->complete[i])
			continue;
		j->units[n] = j->units[i];
		j->complete[n++] = j->complete[i];
	}
	j->n_units = n;
}

void sched_job_done_why(struct sched_job *j, const char *why)
{
	char *copy = xstrdup(why);

	free(j->done_why);
	j->done_why = copy;
}

size_t sched_job_missing(const struct sched_job *j, struct unit *out, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n_units && n < max; i++)
		if (!j->complete[i])
			out[n++] = j->units[i];
	return n;
}

void sched_job_load_running(struct sched *s, struct sched_job *j, unsigned progress)
{
	j->state = SCHED_RUNNING;
	j->offered = 1;
	j->confirmed = 1;
	j->progress = progress;
	sched_dirty(s, j->host);
}

void sched_job_load_ended(struct sched *s, struct sched_job *j, enum attempt_state state,
	unsigned progress)
{
	sched_job_load_running(s, j, progress);
	if (!progress && j->failures)
		j->failures--; /* the store has counted this attempt already */
	sched_end_attempt(s, j, state, "");
}

void sched_job_load_final(struct sched_job *j, enum sched_state state)
{
	j->state = state;
}
