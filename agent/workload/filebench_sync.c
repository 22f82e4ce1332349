/*
 * Flowops that wait, compute and end a run: semaphores, doors, rates, think time. All of them look at
 * `stop`. Rates: `eventgen` posts events at a fixed rate, at most 5 seconds of them in store; a limit
 * takes as many as its own thread did since it looked last, so that all threads together keep to the
 * rate.
 */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "agent/workload/filebench.h"
#include "common/base/units.h"

#define STORE_S 5.0 /* of events */
#define MIB (1 << 20)

void fb_gate_wake(struct fb_gate *g)
{
	pthread_mutex_lock(&g->lock);
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

/* ---- doors and semaphores ---- */

enum fb_outcome fb_block(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_gate *g = &op->gates[t->instance];

	fb_begin(t);
	pthread_mutex_lock(&g->lock);
	while (!g->opened && !fb_stopping(t->run))
		pthread_cond_wait(&g->changed, &g->lock);
	g->opened = 0;
	pthread_mutex_unlock(&g->lock);
	fb_end(t, op, 0);
	return FB_OK;
}

enum fb_outcome fb_wakeup(struct fb_thread *t, const struct fb_op *op)
{
	fb_begin(t);
	for (unsigned i = 0; i < op->post->n_gates; i++) {
		struct fb_gate *g = &op->post->gates[i];

		pthread_mutex_lock(&g->lock);
		g->opened = 1;
		pthread_cond_broadcast(&g->changed);
		pthread_mutex_unlock(&g->lock);
	}
	fb_end(t, op, 0);
	return FB_OK;
}

/* Makes room for so many posts, then takes as many. */
enum fb_outcome fb_semblock(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_gate *g = &op->gates[t->instance];
	int64_t value = wml_draw(&op->def->value, &t->random);

	fb_begin(t);
	pthread_mutex_lock(&g->lock);
	g->room += value;
	pthread_cond_broadcast(&g->changed);
	while (g->count < value && !fb_stopping(t->run))
		pthread_cond_wait(&g->changed, &g->lock);
	g->count -= value;
	pthread_mutex_unlock(&g->lock);
	fb_end(t, op, 0);
	return FB_OK;
}

enum fb_outcome fb_sempost(struct fb_thread *t, const struct fb_op *op)
{
	int64_t value = wml_draw(&op->def->value, &t->random);

	fb_begin(t);
	for (unsigned i = 0; i < op->post->n_gates; i++) {
		struct fb_gate *g = &op->post->gates[i];

		pthread_mutex_lock(&g->lock);
		while (op->def->blocking && g->room < value && !fb_stopping(t->run))
			pthread_cond_wait(&g->changed, &g->lock);
		if (op->def->blocking)
			g->room -= value;
		g->count += value;
		pthread_cond_broadcast(&g->changed);
		pthread_mutex_unlock(&g->lock);
	}
	fb_end(t, op, 0);
	return FB_OK;
}

/* ---- time ---- */

enum fb_outcome fb_hog(struct fb_thread *t, const struct fb_op *op)
{
	int64_t value = wml_draw(&op->def->value, &t->random);
	volatile char *b = t->buffer;

	fb_begin(t);
	for (int64_t i = 0; i < value; i++) {
		*b = 1;
		if (i % MIB == MIB - 1 && fb_stopping(t->run))
			break;
	}
	fb_end(t, op, 0);
	return FB_OK;
}

static struct timespec at_ns(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

enum fb_outcome fb_delay(struct fb_thread *t, const struct fb_op *op)
{
	int64_t s = wml_draw(&op->def->value, &t->random);
	struct timespec until;

	fb_begin(t);
	until = at_ns(t->began + (s < 1000000 ? s : 1000000) * NS_PER_S);
	pthread_mutex_lock(&t->run->lock);
	while (!fb_stopping(t->run) &&
		pthread_cond_timedwait(&t->run->stopped, &t->run->lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&t->run->lock);
	fb_end(t, op, 0);
	return FB_OK;
}

/* ---- rates ---- */

/* Takes n events out of the store when there are as many. Under the lock. Else when they will be. */
static int take_events(struct fb_run *r, double n, int64_t *ret_due_ns)
{
	double rate = (double)r->program->event_rate, store = STORE_S * rate;
	double posted = (double)(clock_mono_ns() - r->events_ns) / 1e9 * rate;

	if (n > store)
		store = n;
	if (posted - r->events_taken > store) /* what overflows is lost */
		r->events_taken = posted - store;
	if (posted - r->events_taken >= n) {
		r->events_taken += n;
		return 1;
	}
	*ret_due_ns = r->events_ns + (int64_t)((r->events_taken + n) / rate * 1e9) + 1000;
	return 0;
}

static void wait_events(struct fb_thread *t, double n)
{
	struct fb_run *r = t->run;
	struct timespec until;
	int64_t due;

	pthread_mutex_lock(&r->lock);
	while (!fb_stopping(r) && !take_events(r, n, &due)) {
		until = at_ns(due);
		pthread_cond_timedwait(&r->stopped, &r->lock, &until);
	}
	pthread_mutex_unlock(&r->lock);
}

enum fb_outcome fb_eventlimit(struct fb_thread *t, const struct fb_op *op)
{
	if (t->run->program->event_rate == 0)
		return FB_OK;
	fb_begin(t);
	wait_events(t, 1);
	fb_end(t, op, 0);
	return FB_OK;
}

static uint64_t ops_of(const struct fb_thread *t, const struct fb_op *op)
{
	return op->target ? t->counts[op->target->id].ops
			  : atomic_load_explicit(&t->ops, memory_order_relaxed);
}

static uint64_t bytes_of(const struct fb_thread *t, const struct fb_op *op)
{
	return op->target ? t->counts[op->target->id].bytes
			  : atomic_load_explicit(&t->bytes, memory_order_relaxed);
}

/* Pays for what this thread did since it was here: `unit` of it an event. */
static enum fb_outcome limit(struct fb_thread *t, const struct fb_op *op, uint64_t now, int64_t unit)
{
	struct fb_count *c = &t->counts[op->id];

	if (t->run->program->event_rate == 0)
		return FB_OK;
	c->bucket -= (int64_t)now - c->last;
	c->last = (int64_t)now;
	fb_begin(t);
	if (c->bucket < 0) {
		int64_t events = (-c->bucket + unit - 1) / unit;

		wait_events(t, (double)events);
		c->bucket += events * unit;
	}
	fb_end(t, op, 0);
	return FB_OK;
}

enum fb_outcome fb_opslimit(struct fb_thread *t, const struct fb_op *op)
{
	return limit(t, op, ops_of(t, op), 1);
}

/* Reads and writes only. */
enum fb_outcome fb_iopslimit(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t n = 0;

	if (op->target)
		return limit(t, op, ops_of(t, op), 1);
	for (unsigned i = 0; i < t->group->n_ids; i++)
		if (t->counts[i].is_rw)
			n += t->counts[i].ops;
	return limit(t, op, n, 1);
}

enum fb_outcome fb_bwlimit(struct fb_thread *t, const struct fb_op *op)
{
	return limit(t, op, bytes_of(t, op), MIB);
}

/* ---- the end ---- */

static uint64_t of_all(const struct fb_run *r, int bytes)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < r->n_threads; i++)
		n += atomic_load_explicit(bytes ? &r->threads[i].bytes : &r->threads[i].ops,
			memory_order_relaxed);
	return n;
}

enum fb_outcome fb_finishoncount(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t n = op->target ? ops_of(t, op) : of_all(t->run, 0);

	return n >= (uint64_t)op->def->value.fixed ? FB_DONE : FB_OK;
}

enum fb_outcome fb_finishonbytes(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t n = op->target ? bytes_of(t, op) : of_all(t->run, 1);

	return n > (uint64_t)op->def->value.fixed ? FB_DONE : FB_OK;
}

enum fb_outcome fb_print(struct fb_thread *t, const struct fb_op *op)
{
	(void)t;
	(void)op;
	return FB_OK; /* its text is among the result's notes, once */
}
