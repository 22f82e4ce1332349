/*
 * The scheduler's decisions: what follows from each fact, and which action comes next. Owns
 * nothing. Peer-made facts are checked against the job's present attempt and state first, so that
 * sched_move's assertion speaks about our own moves only.
 */
#include "coordinator/sched/internal.h"

#include <stdio.h>
#include <string.h>

/* The host's active job with exactly this attempt, which its agent may know of. */
static struct sched_job *find(struct sched_host *h, const struct job_key *key)
{
	for (struct sched_job *j = h->jobs; j; j = j->next)
		if (job_key_equal(&j->key, key) && sched_state_is_active(j->state) &&
			j->state != SCHED_BEGINNING)
			return j;
	return NULL;
}

/* ---- hosts ---- */

void sched_host_online(struct sched *s, struct sched_host *h, int64_t now_ns)
{
	struct sched_job *j = sched_host_active(h);

	(void)now_ns;
	h->online = 1;
	h->told = 0;
	h->hold = 0;
	memset(&h->key, 0, sizeof(h->key));
	memset(&h->cancel_sent, 0, sizeof(h->cancel_sent));
	if (j) {
		j->sent = 0;
		j->accepted_here = 0;
		j->cancel_sent = 0;
	}
	sched_dirty(s, h);
}

void sched_host_offline(struct sched *s, struct sched_host *h, int64_t now_ns)
{
	h->online = 0;
	h->told = 0;
	h->lost_ns = now_ns;
	sched_dirty(s, h);
}

void sched_host_paused(struct sched *s, struct sched_host *h, int paused)
{
	h->paused = paused;
	sched_dirty(s, h);
}

void sched_host_status(struct sched *s, struct sched_host *h, const struct msg_agent_status *st)
{
	struct sched_job *j = find(h, &st->key);

	if (j)
		j->confirmed = 1;
	h->told = 1;
	h->hold = 0;
	h->agent = st->state;
	h->key = st->key;
	h->unsent = st->unsent;
	sched_dirty(s, h);
}

void sched_host_inventory(struct sched *s, struct sched_host *h)
{
	h->hold = 0;
	sched_dirty(s, h);
}

void sched_tick(struct sched *s)
{
	for (struct sched_host *h = s->hosts; h; h = h->next)
		if (!h->online && sched_host_active(h))
			sched_dirty(s, h);
}

/* ---- attempts ---- */

void sched_begun(struct sched *s, struct sched_job *j)
{
	if (j->state != SCHED_BEGINNING)
		return;
	sched_move(s, j, j->cancel_begun ? SCHED_CANCELLING : SCHED_OFFERED);
}

static void job_end(struct sched *s, struct sched_job *j, enum sched_state to, const char *why)
{
	sched_why(j, why);
	j->tell_end = 1;
	sched_move(s, j, to);
}

void sched_begin_failed(struct sched *s, struct sched_job *j, const char *why)
{
	if (j->state == SCHED_BEGINNING)
		job_end(s, j, SCHED_FAILED, why);
}

int sched_accepted(struct sched *s, struct sched_host *h, const struct job_key *key)
{
	struct sched_job *j = find(h, key);

	if (!j)
		return 0;
	j->accepted_here = 1;
	if (j->state == SCHED_OFFERED) {
		j->confirmed = 0;
		sched_why(j, NULL);
		sched_move(s, j, SCHED_RUNNING);
	}
	return 1;
}

int sched_rejected(struct sched *s, struct sched_host *h, const struct job_key *key,
	const struct err *why)
{
	struct sched_job *j = find(h, key);

	if (!j || (j->state != SCHED_OFFERED && j->state != SCHED_CANCELLING))
		return 0;
	if (j->state == SCHED_CANCELLING) {
		j->tell_interrupt = 1;
		sched_move(s, j, SCHED_CANCELLED);
	} else if (why->code == ERR_BUSY) {
		sched_why(j, why->text);
		j->sent = 0;
		h->hold = 1;
	} else {
		j->tell_interrupt = 1;
		job_end(s, j, SCHED_FAILED, why->text);
	}
	return 1;
}

int sched_recorded(struct sched *s, struct sched_host *h, const struct job_key *key)
{
	struct sched_job *j = find(h, key);

	if (!j)
		return 0;
	j->confirmed = 1;
	if (j->state == SCHED_OFFERED)
		sched_move(s, j, SCHED_RUNNING);
	return 1;
}

int sched_unit_complete(struct sched *s, struct sched_host *h, const struct job_key *key,
	const struct unit *u)
{
	struct sched_job *j = find(h, key);

	(void)s;
	if (!j)
		return 0;
	if (sched_mark_complete(j, u))
		j->progress++;
	return 1;
}

static void attempt_interrupted(struct sched *s, struct sched_job *j, const char *why)
{
	char text[ERR_TEXT_MAX];

	j->failures = j->progress ? 0 : j->failures + 1;
	if (j->failures < SCHED_MAX_FRUITLESS) {
		sched_why(j, why);
		sched_move(s, j, SCHED_WAITING);
		return;
	}
	snprintf(text, sizeof(text), "%u attempts in a row were interrupted before a unit was complete: %s",
		j->failures, why && *why ? why : "the agent lost the job");
	job_end(s, j, SCHED_FAILED, text);
}

void sched_end_attempt(struct sched *s, struct sched_job *j, enum attempt_state state,
	const char *why)
{
	if (job_key_equal(&j->host->key, &j->key))
		j->host->cancel_sent = j->key; /* it knows; its next status is under way */
	if (j->state == SCHED_CANCELLING) {
		sched_move(s, j, SCHED_CANCELLED);
	} else if (j->n_complete == j->n_units) {
		job_end(s, j, SCHED_DONE, j->done_why);
	} else if (state == ATTEMPT_CANCELLED) {
		job_end(s, j, SCHED_CANCELLED, why && *why ? why : "stopped on the host");
	} else if (state == ATTEMPT_INTERRUPTED) {
		attempt_interrupted(s, j, why);
	} else if (j->progress && !j->stop_on_failure) {
		j->failures = 0;
		sched_why(j, why);
		sched_move(s, j, SCHED_WAITING);
	} else {
		job_end(s, j, SCHED_FAILED, why && *why ? why : "the attempt ended with units missing");
	}
}

int sched_attempt_ended(struct sched *s, struct sched_host *h, const struct job_key *key,
	enum attempt_state state, const char *why)
{
	struct sched_job *j = find(h, key);

	if (!j || state == ATTEMPT_RUNNING)
		return 0;
	if (j->state == SCHED_OFFERED)
		sched_move(s, j, SCHED_RUNNING);
	sched_end_attempt(s, j, state, why);
	return 1;
}

/* The host went on with another attempt; what it had before is over. */
static void give_way(struct sched *s, struct sched_job *j)
{
	j->tell_interrupt = j->state != SCHED_BEGINNING;
	if (j->state == SCHED_CANCELLING)
		sched_move(s, j, SCHED_CANCELLED);
	else if (j->state != SCHED_BEGINNING)
		attempt_interrupted(s, j, "the agent went on with another job");
}

static void go_on_with(struct sched *s, struct sched_job *j, uint32_t attempt)
{
	j->key.attempt = attempt;
	j->progress = 0;
	j->offered = j->confirmed = 1;
	j->cancel_begun = j->sent = j->accepted_here = j->cancel_sent = 0;
	if (j->state == SCHED_CANCELLING || j->state == SCHED_CANCELLED)
		return;
	j->tell_interrupt = j->tell_end = 0;
	sched_why(j, NULL);
	if (j->state != SCHED_WAITING)
		sched_move(s, j, SCHED_WAITING);
	sched_move(s, j, SCHED_RUNNING);
}

int sched_adopted(struct sched *s, struct sched_host *h, const struct job_key *key)
{
	struct sched_job *j = h->jobs;

	while (j && (j->key.run != key->run || j->key.job != key->job))
		j = j->next;
	if (!j || j->key.attempt > key->attempt || j->state == SCHED_BEGINNING ||
		j->state == SCHED_DONE)
		return 0;
	for (struct sched_job *other = h->jobs; other; other = other->next)
		if (other != j && sched_state_is_active(other->state))
			give_way(s, other);
	if (j->key.attempt < key->attempt)
		go_on_with(s, j, key->attempt);
	return 1;
}

/* ---- people ---- */

int sched_cancel(struct sched *s, struct sched_job *j, const char *why, struct err *e)
{
	if (sched_state_is_final(j->state))
		return err_set(e, ERR_WRONG_STATE, "the job on %s has ended: it is %s", j->host->name,
			sched_state_name(j->state));
	sched_why(j, why);
	j->tell_end = 0;
	if (j->state == SCHED_BEGINNING)
		j->cancel_begun = 1;
	else if (j->state == SCHED_WAITING)
		sched_move(s, j, SCHED_CANCELLED);
	else if (j->state != SCHED_CANCELLING)
		sched_move(s, j, SCHED_CANCELLING);
	return 0;
}

int sched_resume(struct sched *s, struct sched_job *j, struct err *e)
{
	if (j->state != SCHED_FAILED && j->state != SCHED_CANCELLED)
		return err_set(e, ERR_WRONG_STATE, "the job on %s can't be resumed: it is %s",
			j->host->name, sched_state_name(j->state));
	sched_why(j, NULL);
	j->failures = 0;
	j->tell_end = 0;
	sched_move(s, j, SCHED_WAITING);
	return 0;
}

/* ---- actions ---- */

static int host_is_free(const struct sched_host *h)
{
	return h->online && h->told && !h->paused && !h->hold && h->agent == AGENT_IDLE &&
		!h->key.run && !h->unsent;
}

static int act(struct sched_action *a, enum sched_action_type type, struct sched_host *h,
	struct sched_job *j)
{
	memset(a, 0, sizeof(*a));
	a->type = type;
	a->host = h;
	a->job = j;
	if (j) {
		a->key = j->key;
		snprintf(a->why, sizeof(a->why), "%s", j->why ? j->why : "");
	}
	return 1;
}

/* What was decided when a fact came and has not been handed out yet. */
static int owed(struct sched_host *h, struct sched_action *a)
{
	for (struct sched_job *j = h->jobs; j; j = j->next) {
		if (j->tell_interrupt) {
			j->tell_interrupt = 0;
			return act(a, SCHED_INTERRUPT, h, j);
		}
		if (j->tell_end) {
			j->tell_end = 0;
			return act(a, SCHED_END, h, j);
		}
	}
	return 0;
}

/* The agent works on something that is not (or no more) its present job. Not before it has sent what
 * it has: a restored store may come to know the attempt that way. */
static int stray(struct sched_host *h, struct sched_action *a)
{
	if (!h->online || !h->told || !h->key.run || h->agent != AGENT_RUNNING || h->unsent ||
		find(h, &h->key) || job_key_equal(&h->key, &h->cancel_sent))
		return 0;
	h->cancel_sent = h->key;
	act(a, SCHED_CANCEL, h, NULL);
	a->key = h->key;
	snprintf(a->why, sizeof(a->why), "this attempt is not the coordinator's present one");
	return 1;
}

/* The agent's status shows that it lost the attempt. Statuses that it may have sent before it heard
 * of the attempt do not count. */
static int agent_lacks(const struct sched_host *h, const struct sched_job *j)
{
	return h->online && h->told && !h->unsent && !job_key_equal(&h->key, &j->key) &&
		(j->confirmed || (!j->accepted_here && !j->sent));
}

static int decide_cancelling(struct sched *s, struct sched_host *h, struct sched_job *j,
	struct sched_action *a)
{
	if (!j->offered) {
		sched_move(s, j, SCHED_CANCELLED);
		return act(a, SCHED_INTERRUPT, h, j);
	}
	if (!h->online) {
		sched_move(s, j, SCHED_CANCELLED);
		return 0;
	}
	if (agent_lacks(h, j)) {
		sched_move(s, j, SCHED_CANCELLED);
		return act(a, SCHED_INTERRUPT, h, j);
	}
	if (!j->cancel_sent && (h->told || j->sent)) {
		j->cancel_sent = 1;
		return act(a, SCHED_CANCEL, h, j);
	}
	return 0;
}

static int host_is_lost(const struct sched_host *h, const struct sched_job *j, int64_t now_ns)
{
	return !h->online && j->lost_wait_ns >= 0 && now_ns - h->lost_ns >= j->lost_wait_ns;
}

static int decide_running(struct sched *s, struct sched_host *h, struct sched_job *j,
	int64_t now_ns, struct sched_action *a)
{
	if (host_is_lost(h, j, now_ns)) {
		job_end(s, j, SCHED_FAILED, "the host has been away for longer than on-host-lost allows");
		return owed(h, a);
	}
	if (!agent_lacks(h, j))
		return 0;
	attempt_interrupted(s, j, "the agent does not have the job any more");
	j->tell_interrupt = 1;
	return owed(h, a);
}

static int decide_offered(struct sched *s, struct sched_host *h, struct sched_job *j,
	int64_t now_ns, struct sched_action *a)
{
	if (h->online && h->told && job_key_equal(&h->key, &j->key)) {
		sched_move(s, j, SCHED_RUNNING);
		return 0;
	}
	if (j->offered && host_is_lost(h, j, now_ns))
		return decide_running(s, h, j, now_ns, a);
	if (j->sent || !host_is_free(h))
		return 0;
	j->sent = 1;
	j->offered = 1;
	return act(a, SCHED_OFFER, h, j);
}

static int begin_next(struct sched *s, struct sched_host *h, struct sched_action *a)
{
	if (!host_is_free(h))
		return 0;
	for (struct sched_job *j = h->jobs; j; j = j->next) {
		if (j->state != SCHED_WAITING)
			continue;
		if (j->n_complete == j->n_units) { /* what was missing came late */
			job_end(s, j, SCHED_DONE, j->done_why);
			return owed(h, a);
		}
		j->key.attempt++;
		j->progress = 0;
		j->cancel_begun = j->offered = j->sent = 0;
		j->accepted_here = j->confirmed = j->cancel_sent = 0;
		sched_move(s, j, SCHED_BEGINNING);
		return act(a, SCHED_BEGIN, h, j);
	}
	return 0;
}

static int decide(struct sched *s, struct sched_host *h, int64_t now_ns, struct sched_action *a)
{
	struct sched_job *j;

	if (owed(h, a) || stray(h, a))
		return 1;
	j = sched_host_active(h);
	if (!j)
		return begin_next(s, h, a);
	switch (j->state) {
	case SCHED_OFFERED:
		return decide_offered(s, h, j, now_ns, a);
	case SCHED_RUNNING:
		return decide_running(s, h, j, now_ns, a);
	case SCHED_CANCELLING:
		return decide_cancelling(s, h, j, a);
	default:
		return 0;
	}
}

int sched_next(struct sched *s, int64_t now_ns, struct sched_action *ret)
{
	while (s->first_dirty) {
		struct sched_host *h = s->first_dirty;

		s->first_dirty = h->next_dirty;
		if (!s->first_dirty)
			s->last_dirty = NULL;
		h->dirty = 0;
		if (decide(s, h, now_ns, ret)) {
			sched_dirty(s, h);
			return 1;
		}
	}
	return 0;
}
