/*
 * Preview: asks each selected agent for the exact vectors it would run. Owns struct preview from
 * the call to its answer; all agents answer, or the call fails.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/call.h"
#include "coordinator/draft.h"

#define PREVIEW_S 60 /* for all agents together */
#define SEND_AT_ONCE (64 * 1024)

struct preview_host {
	char *name;
	struct session *session; /* NULL when answered */
	uint64_t request;
	struct buf lines;
};
struct preview {
	struct preview *next;
	struct call *call;
	struct draft draft; /* hosts in it are not looked at after the messages went out */
	struct preview_host *hosts;
	size_t n, missing;
	size_t sent_hosts, sent_bytes; /* whole answers, and how much of the next one */
	struct event *deadline;
};

static void preview_free(struct preview *p)
{
	for (struct preview **q = &p->call->co->previews; *q; q = &(*q)->next) {
		if (*q == p) {
			*q = p->next;
			break;
		}
	}
	for (size_t i = 0; i < p->n; i++) {
		free(p->hosts[i].name);
		buf_free(&p->hosts[i].lines);
	}
	free(p->hosts);
	if (p->deadline)
		event_free(p->deadline);
	draft_clear(&p->draft);
	free(p);
}

static void fail(struct preview *p, const struct err *why)
{
	struct call *c = p->call;

	preview_free(p);
	call_fail(c, why);
}

static void on_closed(struct call *c)
{
	preview_free(c->data);
	call_drop(c);
}

/* Some whole lines of the answers; 0 when there are no more. */
static int send_some(struct preview *p)
{
	const struct buf *lines;
	const char *from, *end;
	size_t left;

	if (p->sent_hosts == p->n)
		return 0;
	lines = &p->hosts[p->sent_hosts].lines;
	from = buf_str(lines) + p->sent_bytes;
	left = lines->len - p->sent_bytes;
	end = left > SEND_AT_ONCE ? memchr(from + SEND_AT_ONCE, '\n', left - SEND_AT_ONCE) : NULL;
	if (end)
		left = (size_t)(end + 1 - from);
	call_text(p->call, from, left);
	p->sent_bytes += left;
	if (p->sent_bytes == lines->len) {
		p->sent_hosts++;
		p->sent_bytes = 0;
	}
	return 1;
}

/* A client that does not read as fast as this is written is waited for. */
static void send_rest(struct call *c)
{
	struct preview *p = c->data;

	while (send_some(p))
		if (call_must_wait(c, send_rest))
			return;
	preview_free(p);
	call_end(c);
}

static void finish(struct preview *p)
{
	event_del(p->deadline);
	send_rest(p->call);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct preview *p = arg;
	struct err e;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < p->n; i++)
		if (p->hosts[i].session)
			err_set(&e, ERR_TIMEOUT, "%s has not answered within %d s", p->hosts[i].name,
				PREVIEW_S);
	fail(p, &e);
}

/* ---- answers ---- */

static const char *phase_name(enum step_phase phase)
{
	static const char *const names[PHASE_COUNT] = {
		[PHASE_BUILD] = "build",
		[PHASE_CACHE] = "cache",
		[PHASE_WORKLOAD] = "workload",
		[PHASE_TEARDOWN] = "teardown",
	};

	return names[phase];
}

static void add_step(const struct preview *p, struct preview_host *h, const struct preview_step *s)
{
	const struct plan *plan = p->draft.plan;
	json_t *o = json_object();

	json_object_set_new(o, "type", json_text("step"));
	json_object_set_new(o, "host", json_text(h->name));
	json_object_set_new(o, "layout", json_integer(s->layout));
	json_object_set_new(o, "layout_name",
		json_text(s->layout < plan->n_layouts ? plan->layouts[s->layout].name : "?"));
	json_object_set_new(o, "phase", json_text(phase_name(s->phase)));
	json_object_set_new(o, "what", json_text(s->what));
	json_object_set_new(o, "argv", draft_strings(&s->argv));
	json_line(o, &h->lines);
	buf_addc(&h->lines, '\n');
	json_decref(o);
}

void preview_answered(struct session *s, uint64_t request, struct msg_preview_reply *reply)
{
	struct preview *p;
	struct preview_host *h = NULL;
	struct err e;

	for (p = s->co->previews; p && !h; p = h ? p : p->next)
		for (size_t i = 0; i < p->n && !h; i++)
			if (p->hosts[i].session == s && p->hosts[i].request == request)
				h = &p->hosts[i];
	if (!h)
		return; /* its call has ended */
	if (reply->error.code) {
		err_copy(&e, &reply->error);
		err_prefix(&e, "%s", h->name);
		fail(p, &e);
		return;
	}
	for (size_t i = 0; i < reply->n_steps; i++)
		add_step(p, h, &reply->steps[i]);
	h->session = NULL;
	if (!--p->missing)
		finish(p);
}

void preview_agent_gone(struct session *s)
{
	struct preview *p, *next;
	struct err e;

	for (p = s->co->previews; p; p = next) {
		next = p->next;
		for (size_t i = 0; i < p->n; i++) {
			if (p->hosts[i].session != s)
				continue;
			err_set(&e, ERR_CONN, "%s went away before it answered", p->hosts[i].name);
			fail(p, &e);
			break;
		}
	}
}

/* ---- questions ---- */

static int all_online(const struct draft *d, struct err *e)
{
	for (size_t i = 0; i < d->n_hosts; i++)
		if (!d->hosts[i].host->session)
			return err_set(e, ERR_CONN, "%s is offline: its agent must be there to say what "
				"it would run", d->hosts[i].host->name);
	return 0;
}

static void ask(struct preview *p, size_t i)
{
	const struct draft_host *d = &p->draft.hosts[i];
	struct msg m = {.type = MSG_PREVIEW, .request = ++p->call->co->last_request};

	p->hosts[i].name = xstrdup(d->host->name);
	p->hosts[i].session = d->host->session;
	p->hosts[i].request = m.request;
	m.u.preview.plan_text = p->call->in.plan_text;
	m.u.preview.sets = p->call->in.sets;
	m.u.preview.seed = p->draft.seed;
	m.u.preview.disks = d->bound;
	m.u.preview.n_disks = d->disks.n;
	conn_send(d->host->session->conn, &m);
}

static void plan_line(struct preview *p)
{
	json_t *o = json_object(), *hosts = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(hosts, json_text(p->hosts[i].name));
	json_object_set_new(o, "type", json_text("plan"));
	json_object_set_new(o, "name", json_text(p->draft.plan->name));
	json_object_set_new(o, "sha256", json_text(p->draft.plan->sha256));
	json_object_set_new(o, "seed", json_integer((json_int_t)p->draft.seed));
	json_object_set_new(o, "blocks", json_integer(p->draft.blocks));
	json_object_set_new(o, "hosts", hosts);
	json_object_set_new(o, "estimate", draft_estimate_json(&p->draft));
	call_line(p->call, o);
}

void call_preview(struct call *c)
{
	static const struct timeval deadline = {PREVIEW_S, 0};
	struct preview *p;
	struct draft d;
	struct err e;

	if (draft_make(c->co, &c->in, &d, &e) || all_online(&d, &e)) {
		draft_clear(&d);
		call_fail(c, &e);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->call = c;
	p->draft = d;
	p->n = p->missing = d.n_hosts;
	p->hosts = xcalloc(p->n, sizeof(*p->hosts));
	p->next = c->co->previews;
	c->co->previews = p;
	c->data = p;
	c->on_closed = on_closed;
	p->deadline = event_new(c->co->base, -1, 0, on_deadline, p);
	event_add(p->deadline, &deadline);
	for (size_t i = 0; i < p->n; i++)
		ask(p, i);
	plan_line(p);
}
