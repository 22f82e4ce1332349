/*
 * Watchers of runs. Owns struct watcher and the run's throttle timer. Making lines costs only when
 * somebody watches: callers pass a line made for nobody as NULL or have it freed here.
 */
#include "coordinator/watch.h"

#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define JOB_BACKLOG (256 * 1024)

struct watcher {
	struct watcher *next;
	struct run *run;
	struct call *call;
};

static void watcher_remove(struct watcher *w)
{
	for (struct watcher **p = &w->run->watchers; *p; p = &(*p)->next) {
		if (*p == w) {
			*p = w->next;
			break;
		}
	}
	jobs_release(w->run);
	free(w);
}

static void on_closed(struct call *c)
{
	watcher_remove(c->data);
	call_drop(c);
}

static void cut(struct watcher *w)
{
	struct call *c = w->call;
	struct err e;

	watcher_remove(w);
	err_set(&e, ERR_BUSY, "the watcher reads too slowly; watch again");
	call_fail(c, &e);
}

/* To every watcher that keeps up. Borrows the line. */
static void send_all(struct run *r, json_t *line, size_t backlog)
{
	struct watcher *w, *next;

	for (w = r->watchers; w; w = next) {
		size_t pending = call_backlog(w->call);

		next = w->next;
		if (pending > WATCH_BACKLOG) {
			cut(w);
		} else if (pending <= backlog) {
			call_line(w->call, json_incref(line));
			call_flush(w->call);
		}
	}
}

static json_t *run_line(const struct run *r)
{
	json_t *o = json_object(), *layouts = json_array(), *workloads = json_array();

	for (size_t i = 0; i < r->plan->n_layouts; i++)
		json_array_append_new(layouts, json_text(r->plan->layouts[i].name));
	for (size_t i = 0; i < r->plan->n_workloads; i++)
		json_array_append_new(workloads, json_text(r->plan->workloads[i].name));
	json_object_set_new(o, "type", json_text("run"));
	json_object_set_new(o, "run", json_integer((json_int_t)r->id));
	json_object_set_new(o, "name", json_text(r->name));
	json_object_set_new(o, "state", json_text(run_state_name(r)));
	json_object_set_new(o, "blocks", json_integer(r->blocks));
	json_object_set_new(o, "layouts", layouts);
	json_object_set_new(o, "workloads", workloads);
	return o;
}

static void show_job(struct job *j, int64_t now_ns)
{
	json_t *o = progress_job(j, now_ns);

	j->changed = 0;
	j->shown_ns = now_ns;
	send_all(j->run, o, JOB_BACKLOG);
	json_decref(o);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct run *r = arg;
	int64_t now = clock_mono_ns();

	(void)fd;
	(void)what;
	for (size_t i = 0; i < r->n_jobs && r->watchers; i++)
		if (r->jobs[i]->changed)
			show_job(r->jobs[i], now);
}

void watch_add(struct run *r, struct call *c)
{
	struct watcher *w = xcalloc(1, sizeof(*w));
	int64_t now = clock_mono_ns();

	w->run = r;
	w->call = c;
	w->next = r->watchers;
	r->watchers = w;
	c->data = w;
	c->on_closed = on_closed;
	if (!r->timer)
		r->timer = event_new(r->co->base, -1, 0, on_timer, r);
	call_line(c, run_line(r));
	for (size_t i = 0; i < r->n_jobs; i++)
		call_line(c, progress_job(r->jobs[i], now));
	call_flush(c);
}

void watch_event(struct run *r, json_t *line)
{
	if (line && r->watchers)
		send_all(r, line, WATCH_BACKLOG);
	json_decref(line);
}

void watch_job(struct job *j)
{
	static const struct timeval wait = {0, WATCH_INTERVAL_MS * 1000};
	int64_t now;

	if (!j->run->watchers)
		return;
	now = clock_mono_ns();
	j->changed = 1;
	if (now - j->shown_ns >= WATCH_INTERVAL_MS * NS_PER_MS)
		show_job(j, now);
	else if (!event_pending(j->run->timer, EV_TIMEOUT, NULL))
		event_add(j->run->timer, &wait);
}

void watch_over(struct run *r)
{
	json_t *last;

	if (!r->watchers)
		return;
	for (size_t i = 0; i < r->n_jobs; i++)
		if (r->jobs[i]->changed)
			show_job(r->jobs[i], clock_mono_ns());
	last = run_line(r);
	send_all(r, last, WATCH_BACKLOG);
	json_decref(last);
	while (r->watchers) {
		struct call *c = r->watchers->call;

		watcher_remove(r->watchers);
		call_end(c);
	}
}

void watch_free(struct run *r)
{
	while (r->watchers) {
		struct watcher *w = r->watchers;

		r->watchers = w->next;
		free(w);
	}
	if (r->timer)
		event_free(r->timer);
	r->timer = NULL;
}
