/*
 * Following a run. Owns view and screen while it lasts.
 * Invariant: once the first line named the run, it is asked for by number ("last" may move on).
 */
#include "coordinator/ctl/follow.h"

#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/screen.h"

#define DRAW_MS 100
#define REDRAW_NS (NS_PER_S) /* without news: the times on the bars */
#define BACKOFF_FIRST_MS 250
#define BACKOFF_MAX_MS 60000

struct follow {
	struct ctl *ctl;
	struct client *client;
	const struct follow_options *o;
	struct view view;
	struct screen screen;
	char *target; /* of the calls: the run as given, then its number */
	int dirty, silent;
	int64_t drawn_ns;
	unsigned backoff_ms;
	int told; /* the outage has been said */
	unsigned signals;
	struct buf lines;
	struct err check_failed; /* ERR_NONE: it did not */
};

static void say(struct follow *f, const char *text)
{
	if (!f->silent)
		screen_say(&f->screen, &f->view, text);
}

static void sayf(struct follow *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sayf(struct follow *f, const char *fmt, ...)
{
	va_list ap;
	char *text, *safe;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	safe = print_safe_dup(text);
	say(f, safe);
	free(safe);
	free(text);
}

static int pass_line(struct follow *f, const json_t *v, struct err *e)
{
	json_line(v, &f->lines);
	buf_addc(&f->lines, '\n');
	if (ctl_out(&f->lines, e))
		return -1;
	if (fflush(stdout))
		return err_sys(e, "standard output");
	return 0;
}

static int on_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct follow *f = arg;
	struct view_event event;
	json_t *v;
	int r = 0;

	if (client_parse_line(line, len, &v, e))
		return -1;
	if (f->told) {
		f->told = 0;
		say(f, "connected again");
	}
	f->backoff_ms = BACKOFF_FIRST_MS;
	view_feed(&f->view, v, clock_mono_ns(), &event);
	if (event.what == VIEW_EVENT && (event.important || !f->screen.terminal))
		say(f, buf_str(&event.line));
	if (event.what == VIEW_RUN && f->view.run) {
		free(f->target);
		f->target = xasprintf("%llu", (unsigned long long)f->view.run);
	}
	f->dirty = 1;
	if (f->o->as_lines)
		r = pass_line(f, v, e);
	buf_free(&event.line);
	json_decref(v);
	return r;
}

static void look_after(struct follow *f)
{
	struct err e = {0};
	int r = f->o->check && !f->check_failed.code ? f->o->check(f->o->check_arg, &e) : 0;

	if (r > 0)
		sayf(f, "%s", e.text);
	if (r >= 0)
		return;
	f->check_failed = e;
	client_stop(f->client);
}

static void on_tick(void *arg)
{
	struct follow *f = arg;
	int64_t now = clock_mono_ns();

	look_after(f);
	if (f->silent || (!f->dirty && now - f->drawn_ns < REDRAW_NS))
		return;
	f->dirty = 0;
	f->drawn_ns = now;
	screen_draw(&f->screen, &f->view);
}

static int ignore_line(void *arg, const char *line, size_t len, struct err *e)
{
	(void)arg;
	(void)line;
	(void)len;
	(void)e;
	return 0;
}

static void on_cancelled(void *arg, const struct err *why)
{
	struct follow *f = arg;

	if (!why)
		return;
	sayf(f, "cannot cancel: %s", why->text);
	client_stop(f->client);
}

static void on_signal(void *arg, int signo)
{
	struct follow *f = arg;
	struct msg_call call = {.verb = CALL_CANCEL};

	(void)signo;
	if (f->signals++ || !f->o->cancel || !f->view.run) {
		client_stop(f->client);
		return;
	}
	say(f, "cancelling: the volumes are taken down first (once more to stop waiting)");
	call.target = f->target;
	strv_add(&call.args, "interrupted");
	client_send(f->client, &call, ignore_line, on_cancelled, f);
	strv_free(&call.args);
}

/* The connection was lost: waits longer each time, with a quarter of chance. */
static void back_off(struct follow *f, const struct err *why)
{
	const char *name = client_target_name(f->client);
	int named = strstr(why->text, name) != NULL;
	unsigned char chance;

	if (!f->told)
		sayf(f, "%s%s%s; trying again until it is back", named ? "" : name,
			named ? "" : ": ", why->text);
	f->told = 1;
	fs_random(&chance, 1);
	client_wait(f->client, f->backoff_ms * 3 / 4 + f->backoff_ms * chance / 512);
	f->backoff_ms = f->backoff_ms * 2 < BACKOFF_MAX_MS ? f->backoff_ms * 2 : BACKOFF_MAX_MS;
}

static void on_trouble(void *arg, const char *trouble)
{
	struct buf text = {0};

	connection_trouble_text(trouble, &text);
	say(arg, text.data);
	buf_free(&text);
}

/* 1: the run is over or we were told to stop; 0: the connection was lost; -1: e. */
static int watch_once(struct follow *f, struct err *e)
{
	struct msg_call call = {.verb = CALL_WATCH, .target = f->target};

	if (client_call(f->client, &call, on_line, f, e) == 0) {
		if (view_is_over(&f->view))
			return 1;
		err_set(e, ERR_CONN, "the coordinator ended the watch");
		return 0;
	}
	if (f->check_failed.code) {
		err_copy(e, &f->check_failed);
		return -1;
	}
	if (client_is_stopped(f->client))
		return 1;
	return e->code == ERR_CONN && (f->view.run || f->o->known) ? 0 : -1;
}

static void fill_end(struct follow *f, struct follow_end *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->run = f->view.run;
	ret->name = xstrdup(f->view.name);
	ret->state = xstrdup(f->view.state);
	ret->interrupted = f->signals > 0;
	ret->jobs = json_array();
	for (size_t i = 0; i < f->view.n_jobs; i++) {
		const struct view_job *j = &f->view.jobs[i];
		json_t *o = json_object();

		json_object_set_new(o, "job", json_integer((json_int_t)j->job));
		json_object_set_new(o, "host", json_text(j->host));
		json_object_set_new(o, "state", json_text(j->state));
		json_object_set_new(o, "why", *j->why ? json_text(j->why) : json_null());
		json_array_append_new(ret->jobs, o);
	}
}

int follow_run(struct ctl *ctl, struct client *c, const struct follow_options *o,
	struct follow_end *ret, struct err *e)
{
	struct follow f = {.ctl = ctl, .client = c, .o = o, .backoff_ms = BACKOFF_FIRST_MS};
	struct client_trouble was;
	int r;

	f.target = xstrdup(o->run);
	f.screen.terminal = ctl->terminal_err;
	f.screen.color = ctl->color_err;
	f.screen.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	f.silent = ctl->quiet || o->as_lines || (ctl->json && !ctl->terminal_err);
	client_on_signal(c, on_signal, &f);
	client_on_tick(c, DRAW_MS, on_tick, &f);
	was = client_on_trouble(c, (struct client_trouble){on_trouble, &f});
	while ((r = watch_once(&f, e)) == 0)
		back_off(&f, e);
	if (!f.silent)
		screen_draw(&f.screen, &f.view);
	client_on_signal(c, NULL, NULL);
	client_on_tick(c, 0, NULL, NULL);
	client_on_trouble(c, was);
	if (r > 0)
		fill_end(&f, ret);
	view_clear(&f.view);
	buf_free(&f.lines);
	free(f.target);
	return r > 0 ? 0 : -1;
}

void follow_end_clear(struct follow_end *f)
{
	free(f->name);
	free(f->state);
	json_decref(f->jobs);
	memset(f, 0, sizeof(*f));
}

int follow_status(const struct follow_end *f)
{
	if (f->interrupted)
		return EXIT_INTERRUPTED;
	return f->state && !strcmp(f->state, "done") ? EXIT_DONE : EXIT_WORK_FAILED;
}

void follow_end_text(const struct follow_end *f, int color, struct buf *out)
{
	const json_t *j;
	size_t i;

	buf_addf(out, "run %llu (%s): ", (unsigned long long)f->run, f->name);
	print_colored(f->state, print_state_color(f->state), color, out);
	buf_addc(out, '\n');
	json_array_foreach(f->jobs, i, j)
	{
		const char *state = json_get_str(j, "state", "");
		char *text;

		if (!strcmp(state, "done"))
			continue;
		text = print_state_why(state, json_get_str(j, "why", NULL));
		buf_addf(out, "  %s: %s\n", json_get_str(j, "host", "-"), text);
		free(text);
	}
}

json_t *follow_json(const struct follow_end *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "run", json_integer((json_int_t)f->run));
	json_object_set_new(o, "name", json_text(f->name));
	json_object_set_new(o, "state", json_text(f->state));
	json_object_set(o, "jobs", f->jobs);
	return o;
}
