/* The threads: each runs its group's loop until the run ends. Owns what a thread holds. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/workload/filebench.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define STACK_BYTES (1024 * 1024) /* thousands of threads: less than the default of 8 MiB */

int fb_stopping(const struct fb_run *r)
{
	return atomic_load_explicit(&r->stop, memory_order_relaxed);
}

static void wake_ops(struct fb_op *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned k = 0; k < v[i].n_gates; k++)
			fb_gate_wake(&v[i].gates[k]);
		wake_ops(v[i].body, v[i].n_body);
	}
}

void fb_stop(struct fb_run *r)
{
	pthread_mutex_lock(&r->lock);
	atomic_store(&r->stop, 1);
	pthread_cond_broadcast(&r->stopped);
	pthread_mutex_unlock(&r->lock);
	for (size_t g = 0; g < r->program->n_groups; g++)
		wake_ops(r->groups[g].ops, r->groups[g].n_ops);
}

void fb_begin(struct fb_thread *t)
{
	t->began = clock_mono_ns();
}

void fb_end(struct fb_thread *t, const struct fb_op *op, uint64_t bytes)
{
	int64_t ns = clock_mono_ns() - t->began;
	struct fb_count *c = &t->counts[op->id];

	c->ops++;
	c->bytes += bytes;
	c->ns += (uint64_t)ns;
	hist_add(c->hist, (uint64_t)ns);
	if (!op->def->type->is_io)
		return;
	/* Written by this thread alone: no exchange is needed. */
	atomic_store_explicit(&t->ops, atomic_load_explicit(&t->ops, memory_order_relaxed) + 1,
		memory_order_relaxed);
	atomic_store_explicit(&t->bytes, atomic_load_explicit(&t->bytes, memory_order_relaxed) + bytes,
		memory_order_relaxed);
	meter_count(t->lane, ns, bytes);
}

enum fb_outcome fb_fail(struct fb_thread *t, const struct fb_op *op, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	errno = saved;
	(void)err_io(&t->error, "flowop '%s': %s", op->def->name, text);
	free(text);
	t->counts[op->id].errors++;
	meter_error(t->lane);
	return FB_FAILED;
}

enum fb_outcome fb_fail_at(struct fb_thread *t, const struct fb_op *op, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	(void)err_set(&t->error, ERR_INPUT, "%s:%d:%d: flowop '%s': %s", t->run->program->file,
		op->def->at.line, op->def->at.column, op->def->name, text);
	free(text);
	t->counts[op->id].errors++;
	return FB_FAILED;
}

/* No file is left to take: an error where the run has a time, else the end of it or of the thread. */
static enum fb_outcome out_of_files(struct fb_thread *t, const struct fb_op *op)
{
	const struct fb_set *s;

	if (fb_stopping(t->run))
		return FB_DONE;
	if (t->run->program->mode != WML_TIMEOUT)
		return FB_DONE;
	s = &t->run->sets[op->def->set >= 0 ? op->def->set : 0];
	return fb_fail_at(t, op,
		"there is no file left to take in the fileset '%s' (%llu of %llu exist): give it more "
		"files, or fewer threads, or a shorter time",
		s->def->name, (unsigned long long)fb_bits_count(&s->files.exist),
		(unsigned long long)s->files.n);
}

static enum fb_outcome run_ops(struct fb_thread *t, const struct fb_op *v, size_t n);

static enum fb_outcome run_op(struct fb_thread *t, const struct fb_op *op)
{
	int64_t times = wml_draw(&op->def->iters, &t->random);
	enum fb_outcome rc = FB_OK;

	for (int64_t i = 0; i < times && rc == FB_OK && !fb_stopping(t->run); i++)
		rc = op->run ? op->run(t, op) : run_ops(t, op->body, op->n_body);
	return rc == FB_NOTHING ? out_of_files(t, op) : rc;
}

static enum fb_outcome run_ops(struct fb_thread *t, const struct fb_op *v, size_t n)
{
	enum fb_outcome rc = FB_OK;

	for (size_t i = 0; i < n && rc == FB_OK && !fb_stopping(t->run); i++)
		rc = run_op(t, &v[i]);
	return rc;
}

static void *run_thread(void *arg)
{
	struct fb_thread *t = arg;
	struct fb_run *r = t->run;
	enum fb_outcome rc = FB_OK;

	while (rc == FB_OK && !fb_stopping(r)) {
		rc = run_ops(t, t->group->ops, t->group->n_ops);
		if (rc == FB_OK && !fb_stopping(r))
			t->loops++;
	}
	t->failed = rc == FB_FAILED;
	fb_aio_drain(t);
	if (t->failed || (rc == FB_DONE && r->program->mode != WML_ALL_DONE))
		fb_stop(r);
	/* The last one ends a run that waits for its time. */
	if (atomic_fetch_add(&r->ended, 1) + 1 == r->n_threads && !fb_stopping(r))
		fb_stop(r);
	meter_ended(&r->meter);
	return NULL;
}

int fb_thread_prepare(struct fb_thread *t, struct err *e)
{
	unsigned n = t->group->n_ids;

	t->counts = xcalloc(n, sizeof(*t->counts));
	t->hists = calloc(n, sizeof(*t->hists));
	t->n_fds = WML_MAX_FDS + (unsigned)t->run->program->n_sets;
	t->fds = xcalloc(t->n_fds, sizeof(*t->fds));
	t->rotors = xcalloc(t->run->program->n_sets + 1, sizeof(*t->rotors));
	for (unsigned i = 0; i < t->n_fds; i++)
		t->fds[i].fd = t->fds[i].set = -1;
	if (posix_memalign((void **)&t->buffer, 4096, t->group->read_bytes) != 0)
		t->buffer = NULL;
	if (!t->hists || !t->buffer)
		return err_set(e, ERR_FULL, "no memory for %u threads", t->run->n_threads);
	for (unsigned i = 0; i < n; i++)
		t->counts[i].hist = &t->hists[i];
	return 0;
}

int fb_thread_start(struct fb_thread *t, struct err *e)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&t->thread, &attr, run_thread, t);
	pthread_attr_destroy(&attr);
	if (rc != 0)
		return err_set(e, ERR_FULL, "cannot start thread %u of %u: %s",
			(unsigned)(t - t->run->threads) + 1, t->run->n_threads, strerror(rc));
	t->started = 1;
	return 0;
}

void fb_thread_join(struct fb_thread *t)
{
	if (t->started)
		pthread_join(t->thread, NULL);
	t->started = 0;
}

void fb_thread_clear(struct fb_thread *t)
{
	for (unsigned i = 0; i < t->n_fds && t->fds; i++)
		if (t->fds[i].fd >= 0)
			fb_fd_close(t, &t->fds[i]);
	fb_aio_clear(t);
	free(t->counts);
	free(t->hists);
	free(t->fds);
	free(t->rotors);
	free(t->buffer);
}
