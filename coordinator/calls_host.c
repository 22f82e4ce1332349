/* Calls about hosts: list, show, tag, pause, revoke, remove. */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/plan/plan.h"
#include "coordinator/call.h"
#include "coordinator/fleet.h"
#include "coordinator/jobs.h"

void call_hosts(struct call *c)
{
	struct host *const *hosts;
	size_t n;

	hosts = fleet_hosts(c->co->fleet, &n);
	for (size_t i = 0; i < n; i++)
		call_line(c, host_json(hosts[i], 0));
	call_end(c);
}

/* The target host, or the call has failed and NULL comes back. */
static struct host *target(struct call *c)
{
	struct host *h = fleet_find(c->co->fleet, c->in.target);
	const char *near;
	struct err e;

	if (h)
		return h;
	near = fleet_nearest(c->co->fleet, c->in.target);
	err_set(&e, ERR_NOTFOUND, "there is no host '%s'%s%s%s", c->in.target,
		near ? " (did you mean '" : " (see `arraymark host list`)", near ? near : "",
		near ? "'?)" : "");
	call_fail(c, &e);
	return NULL;
}

void call_host_show(struct call *c)
{
	struct host *h = target(c);

	if (!h)
		return;
	call_line(c, host_json(h, 1));
	call_end(c);
}

/* ---- tag, pause ---- */

static void on_flags(void *arg, const struct err *e)
{
	struct call *c = arg;
	struct host *h;

	coordinator_op_end(c->co);
	if (e) {
		call_fail(c, e);
		return;
	}
	h = fleet_find(c->co->fleet, c->in.target);
	if (h)
		call_line(c, host_json(h, 0));
	call_end(c);
}

static void set_flags(struct call *c, struct host *h, const struct strv *tags, int paused)
{
	coordinator_op_begin(c->co);
	fleet_set_flags(h, tags, paused, on_flags, c);
	jobs_pump(c->co);
}

static int tags_change(const struct host *h, const struct strv *args, struct strv *ret,
	struct err *e)
{
	for (size_t i = 0; i < h->tags.n; i++) {
		char *minus = xasprintf("-%s", h->tags.v[i]);

		if (!strv_has(args, minus))
			strv_add(ret, h->tags.v[i]);
		free(minus);
	}
	for (size_t i = 0; i < args->n; i++) {
		const char *a = args->v[i];

		if (*a != '+' && *a != '-')
			return err_set(e, ERR_USAGE, "'%s': +tag adds a tag, -tag takes it away", a);
		if (plan_check_tag(a + 1, e))
			return -1;
		if (*a == '-' && !strv_has(&h->tags, a + 1))
			return err_set(e, ERR_NOTFOUND, "%s has no tag '%s'%s", h->name, a + 1,
				host_has_tag(h, a + 1) ? " of ours; it is in the host's own policy" : "");
		if (*a == '+' && !strv_has(ret, a + 1))
			strv_add(ret, a + 1);
	}
	return 0;
}

void call_host_tag(struct call *c)
{
	struct host *h = target(c);
	struct strv tags = {0};
	struct err e;

	if (!h)
		return;
	if (tags_change(h, &c->in.args, &tags, &e))
		call_fail(c, &e);
	else
		set_flags(c, h, &tags, h->paused);
	strv_free(&tags);
}

void call_host_pause(struct call *c)
{
	struct host *h = target(c);
	const char *how;
	struct strv tags;
	struct err e;

	if (!h)
		return;
	how = c->in.args.n ? c->in.args.v[0] : "";
	if (strcmp(how, "on") && strcmp(how, "off")) {
		err_set(&e, ERR_USAGE, "pause is on or off, not '%s'", how);
		call_fail(c, &e);
		return;
	}
	strv_copy(&tags, &h->tags);
	set_flags(c, h, &tags, !strcmp(how, "on"));
	strv_free(&tags);
}

/* ---- revoke, remove ---- */

static unsigned revoke(struct coordinator *co, const char *name, const struct strv *serials)
{
	struct err why;

	for (size_t i = 0; i < serials->n; i++)
		sessions_revoked_add(co, serials->v[i]);
	err_set(&why, ERR_DENIED, "the certificate of %s was revoked", name);
	return sessions_cut(co, serials, NULL, &why);
}

static void on_revoked(void *arg, const struct strv *serials, const struct err *e)
{
	struct call *c = arg;
	struct coordinator *co = c->co;
	json_t *o;

	coordinator_op_end(co);
	if (e) {
		call_fail(c, e);
		return;
	}
	o = json_object();
	log_info("fleet", "%s: %zu certificates revoked", c->in.target, serials->n);
	json_object_set_new(o, "name", json_text(c->in.target));
	json_object_set_new(o, "revoked", json_integer((json_int_t)serials->n));
	/* May cut the caller's own session: then the answer goes nowhere. */
	json_object_set_new(o, "cut", json_integer(revoke(co, c->in.target, serials)));
	call_line(c, o);
	call_end(c);
	jobs_pump(co);
}

void call_host_revoke(struct call *c)
{
	struct err e;

	if (!*c->in.target) {
		err_set(&e, ERR_USAGE, "whose certificates? Give a host or user name");
		call_fail(c, &e);
		return;
	}
	coordinator_op_begin(c->co);
	store_revoke_name(c->co->store, c->in.target, on_revoked, c);
}

static void on_removed(void *arg, const struct err *e)
{
	struct call *c = arg;
	json_t *o;

	coordinator_op_end(c->co);
	if (e) {
		call_fail(c, e);
		return;
	}
	o = json_object();
	log_info("fleet", "%s removed by %s", c->in.target, call_user(c));
	json_object_set_new(o, "host", json_text(c->in.target));
	json_object_set_new(o, "removed", json_true());
	call_line(c, o);
	call_end(c);
}

/* 1 when a run still needs the host. */
static int is_needed(const struct host *h)
{
	return sched_host_active(h->sched) || sched_host_waiting(h->sched);
}

static void on_revoked_for_removal(void *arg, const struct strv *serials, const struct err *e)
{
	struct call *c = arg;
	struct host *h = fleet_find(c->co->fleet, c->in.target);
	struct err why;

	coordinator_op_end(c->co);
	if (e && e->code != ERR_NOTFOUND) {
		call_fail(c, e);
		return;
	}
	if (!e)
		revoke(c->co, c->in.target, serials);
	if (h && is_needed(h))
		err_set(&why, ERR_BUSY, "a run needs %s meanwhile; its certificates are revoked", h->name);
	else if (!h)
		err_set(&why, ERR_NOTFOUND, "%s was removed meanwhile", c->in.target);
	if (!h || is_needed(h)) {
		call_fail(c, &why);
		return;
	}
	if (h->session) /* by a certificate that the store does not know */
		session_close(h->session, NULL);
	coordinator_op_begin(c->co);
	fleet_remove(h, on_removed, c);
}

void call_host_remove(struct call *c)
{
	struct host *h = target(c);
	struct err e;

	if (!h)
		return;
	if (is_needed(h)) {
		err_set(&e, ERR_BUSY, "a run still needs %s: wait for it, or cancel it (`arraymark runs`)",
			h->name);
		call_fail(c, &e);
		return;
	}
	coordinator_op_begin(c->co);
	store_revoke_name(c->co->store, h->name, on_revoked_for_removal, c);
}
