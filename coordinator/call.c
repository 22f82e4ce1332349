/*
 * Calls: from the message to the answer's end. Owns struct call; each is on its session's list
 * until it ends or the session does. The table below is the only place that says who may call what.
 */
#include "coordinator/call.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/calls.h"

#define FLUSH_AT (64 * 1024)
#define PAUSE_AT (1024 * 1024) /* bytes unsent, beyond which an answer waits */
#define GO_ON_AT (256 * 1024)

static const struct call_verb_info verbs[CALL_VERB_COUNT] = {
	[CALL_PLAN_CHECK] = {"plan check", TLS_ROLE_VIEWER, 0, call_plan_check},
	[CALL_PREVIEW] = {"preview", TLS_ROLE_OPERATOR, 0, call_preview},
	[CALL_RUN_CREATE] = {"run", TLS_ROLE_OPERATOR, 0, call_run_create},
	[CALL_RUNS] = {"runs", TLS_ROLE_VIEWER, 0, call_runs},
	[CALL_SHOW] = {"show", TLS_ROLE_VIEWER, 0, call_show},
	[CALL_EXPORT] = {"export", TLS_ROLE_VIEWER, 0, call_export},
	[CALL_WATCH] = {"watch", TLS_ROLE_VIEWER, 0, call_watch},
	[CALL_CANCEL] = {"cancel", TLS_ROLE_OPERATOR, 0, call_cancel},
	[CALL_RESUME] = {"resume", TLS_ROLE_OPERATOR, 0, call_resume},
	[CALL_HOSTS] = {"host list", TLS_ROLE_VIEWER, 0, call_hosts},
	[CALL_HOST_SHOW] = {"host show", TLS_ROLE_VIEWER, 0, call_host_show},
	[CALL_HOST_TAG] = {"host tag", TLS_ROLE_ADMIN, 0, call_host_tag},
	[CALL_HOST_PAUSE] = {"host pause", TLS_ROLE_OPERATOR, 0, call_host_pause},
	[CALL_HOST_REVOKE] = {"host revoke", TLS_ROLE_ADMIN, 0, call_host_revoke},
	[CALL_HOST_REMOVE] = {"host remove", TLS_ROLE_ADMIN, 0, call_host_remove},
	[CALL_TOKEN_CREATE] = {"token create", TLS_ROLE_ADMIN, 0, call_token_create},
	[CALL_TOKEN_LIST] = {"token list", TLS_ROLE_ADMIN, 0, call_token_list},
	[CALL_TOKEN_REVOKE] = {"token revoke", TLS_ROLE_ADMIN, 0, call_token_revoke},
	[CALL_BACKUP] = {"backup", TLS_ROLE_ADMIN, 1, call_backup},
	[CALL_CHECK] = {"check", TLS_ROLE_ADMIN, 1, call_check},
	[CALL_WHOAMI] = {"whoami", TLS_ROLE_VIEWER, 0, call_whoami},
	[CALL_IMPORT] = {"import", TLS_ROLE_OPERATOR, 0, call_import},
};

/* viewer < operator < admin; others may nothing. */
static int rank(enum tls_role r)
{
	return r == TLS_ROLE_VIEWER ? 1 : r == TLS_ROLE_OPERATOR ? 2 : r == TLS_ROLE_ADMIN ? 3 : 0;
}

static int check(const struct session *s, const struct msg *m, struct err *e)
{
	const struct call_verb_info *v;

	if (m->u.call.verb >= CALL_VERB_COUNT || !verbs[m->u.call.verb].run)
		return err_set(e, ERR_PROTOCOL, "call %d is not known to version %s of the coordinator",
			(int)m->u.call.verb, ARRAYMARK_VERSION);
	v = &verbs[m->u.call.verb];
	if (v->local && !s->local)
		return err_set(e, ERR_DENIED, "'%s' is only possible on the coordinator's own host",
			v->name);
	if (rank(s->peer.role) < rank(v->role))
		return err_set(e, ERR_DENIED, "'%s' needs the role %s; %s is %s", v->name,
			tls_role_name(v->role), s->peer.name, tls_role_name(s->peer.role));
	if (s->co->stopping)
		return err_set(e, ERR_CONN, "the coordinator is stopping");
	if (s->n_calls >= CALLS_PER_SESSION)
		return err_set(e, ERR_BUSY, "more than %d calls at once on one connection",
			CALLS_PER_SESSION);
	return 0;
}

void call_open(struct session *s, struct msg *m)
{
	struct call *c;
	struct err e;

	if (!m->request) {
		session_violation(s, "a call without a request number");
		return;
	}
	for (c = s->calls; c; c = c->next) {
		if (c->request == m->request) {
			session_violation(s, "two calls with one request number");
			return;
		}
	}
	if (check(s, m, &e)) {
		conn_send_error(s->conn, m->request, &e);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->session = s;
	c->co = s->co;
	c->request = m->request;
	c->in = m->u.call;
	memset(&m->u.call, 0, sizeof(m->u.call));
	c->next = s->calls;
	if (c->next)
		c->next->prev = c;
	s->calls = c;
	s->n_calls++;
	verbs[c->in.verb].run(c);
}

void call_input(struct session *s, const struct msg *m)
{
	struct call *c = s->calls;

	while (c && c->request != m->request)
		c = c->next;
	if (!c)
		return; /* it has failed, and its caller does not know yet */
	if (!c->input || m->u.chunk.n != c->inputs) {
		session_violation(s, "a chunk that does not belong to its call");
		return;
	}
	c->inputs++;
	c->input(c, &m->u.chunk);
}

/* ---- end ---- */

static void detach(struct call *c)
{
	struct session *s = c->session;

	if (!s)
		return;
	*(c->prev ? &c->prev->next : &s->calls) = c->next;
	if (c->next)
		c->next->prev = c->prev;
	s->n_calls--;
	c->prev = c->next = NULL;
	c->session = NULL;
}

void call_drop(struct call *c)
{
	struct msg m = {.type = MSG_CALL};

	detach(c);
	m.u.call = c->in;
	msg_clear(&m);
	buf_free(&c->out);
	free(c);
}

void calls_closed(struct session *s)
{
	while (s->calls) {
		struct call *c = s->calls;

		detach(c);
		if (c->on_closed)
			c->on_closed(c);
	}
}

/* ---- answers ---- */

static void send_chunk(struct call *c, const char *data, size_t len, int end)
{
	struct msg m = {.type = MSG_CHUNK, .request = c->request};

	m.u.chunk.n = c->chunks++;
	m.u.chunk.data = (char *)data;
	m.u.chunk.len = len;
	m.u.chunk.end = end;
	conn_send(c->session->conn, &m);
}

/* Up to a chunk's limit, ending after a line where one ends. */
static size_t piece(const char *data, size_t len)
{
	size_t n = len;

	if (n <= MSG_CHUNK_MAX)
		return n;
	for (n = MSG_CHUNK_MAX; n && data[n - 1] != '\n'; n--)
		;
	return n ? n : MSG_CHUNK_MAX;
}

static void send_out(struct call *c, int end)
{
	const char *data = buf_str(&c->out);
	size_t left = c->out.len;

	if (!c->session)
		return;
	while (left > MSG_CHUNK_MAX) {
		size_t n = piece(data, left);

		send_chunk(c, data, n, 0);
		data += n;
		left -= n;
	}
	if (left || end)
		send_chunk(c, data, left, end);
	buf_reset(&c->out);
}

void call_text(struct call *c, const char *lines, size_t len)
{
	buf_add(&c->out, lines, len);
	if (c->out.len >= FLUSH_AT)
		send_out(c, 0);
}

void call_line(struct call *c, json_t *line)
{
	json_line(line, &c->out);
	buf_addc(&c->out, '\n');
	json_decref(line);
	if (c->out.len >= FLUSH_AT)
		send_out(c, 0);
}

void call_flush(struct call *c)
{
	if (c->out.len)
		send_out(c, 0);
}

void call_end(struct call *c)
{
	send_out(c, 1);
	call_drop(c);
}

void call_fail(struct call *c, const struct err *e)
{
	if (c->session)
		conn_send_error(c->session->conn, c->request, e);
	call_drop(c);
}

size_t call_backlog(const struct call *c)
{
	return c->session ? conn_pending(c->session->conn) : 0;
}

const char *call_user(const struct call *c)
{
	return c->session ? c->session->peer.name : "";
}

static void on_drain(struct conn *conn, void *arg)
{
	struct session *s = arg;
	struct call *c, *next;

	(void)conn;
	for (c = s->calls; c; c = next) {
		void (*go_on)(struct call *c) = c->go_on;

		next = c->next;
		c->go_on = NULL;
		if (go_on)
			go_on(c);
	}
}

int call_must_wait(struct call *c, void (*go_on)(struct call *c))
{
	if (call_backlog(c) < PAUSE_AT)
		return 0;
	c->go_on = go_on;
	conn_on_drain(c->session->conn, GO_ON_AT, on_drain);
	return 1;
}

/* ---- readings from the store ---- */

static void reading_closed(struct call *c)
{
	store_query_cancel(c->reading);
	call_drop(c);
}

static void reading_goes_on(struct call *c)
{
	store_query_resume(c->reading);
}

static int on_chunk(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	struct call *c = arg;

	if (e) {
		call_fail(c, e);
		return -1;
	}
	call_text(c, data, len);
	if (end) {
		call_end(c);
		return -1;
	}
	return call_must_wait(c, reading_goes_on);
}

void call_query(struct call *c, enum store_query q, const char *target)
{
	c->on_closed = reading_closed;
	c->reading = store_query(c->co->store, q, target, on_chunk, c);
}

struct finding {
	void (*fn)(struct call *c, uint64_t run);
	struct buf text;
};

static void finding_free(struct call *c)
{
	struct finding *f = c->data;

	c->data = NULL;
	c->reading = NULL;
	c->on_closed = NULL;
	buf_free(&f->text);
	free(f);
}

static void finding_closed(struct call *c)
{
	store_query_cancel(c->reading);
	finding_free(c);
	call_drop(c);
}

static int on_found(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	struct call *c = arg;
	struct finding *f = c->data;
	void (*fn)(struct call *c, uint64_t run) = f->fn;
	json_t *o = NULL;
	struct err why;
	uint64_t run = 0;
	int imported = 0;

	if (!e) {
		buf_add(&f->text, data, len);
		if (!end)
			return 0;
		if (!json_parse("run", buf_str(&f->text), f->text.len, 64 * 1024, &o, &why))
			run = (uint64_t)json_get_int(o, "run", 0);
		imported = run && !strcmp(json_get_str(o, "state", ""), "imported");
		json_decref(o);
	}
	finding_free(c);
	if (e) {
		call_fail(c, e);
	} else if (!run) {
		err_set(&why, ERR_NOTFOUND, "there is no run '%s' (see `arraymark runs`)", c->in.target);
		call_fail(c, &why);
	} else if (imported) {
		err_set(&why, ERR_WRONG_STATE,
			"run %llu was imported: no host executes it, its results are all there is "
			"(see `arraymark report %llu`)",
			(unsigned long long)run, (unsigned long long)run);
		call_fail(c, &why);
	} else {
		fn(c, run);
	}
	return -1;
}

void call_find_run(struct call *c, void (*fn)(struct call *c, uint64_t run))
{
	struct finding *f = xcalloc(1, sizeof(*f));

	f->fn = fn;
	c->data = f;
	c->on_closed = finding_closed;
	c->reading = store_query(c->co->store, QUERY_RUN_ID, c->in.target, on_found, c);
}
