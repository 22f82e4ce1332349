/*
 * The fleet's hosts, sorted by name. Owns struct host; the session and the scheduler's host are
 * borrowed. Invariant: host->session is an open agent session, or NULL.
 */
#include "coordinator/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/jobs.h"
#include "coordinator/sched/sched.h"
#include "coordinator/sessions.h"

struct fleet {
	struct coordinator *co;
	struct host **v;
	size_t n, cap;
};

static size_t place(const struct fleet *f, const char *name, int *ret_found)
{
	size_t lo = 0, hi = f->n;

	*ret_found = 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(f->v[mid]->name, name);

		if (!c)
			*ret_found = 1;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct host *host_get(struct fleet *f, const char *name)
{
	struct host *h;
	int found;
	size_t at = place(f, name, &found);

	if (found)
		return f->v[at];
	h = xcalloc(1, sizeof(*h));
	h->name = xstrdup(name);
	h->co = f->co;
	h->sched = jobs_host(f->co->jobs, name);
	f->v = xgrow(f->v, f->n, &f->cap, sizeof(*f->v));
	memmove(f->v + at + 1, f->v + at, (f->n - at) * sizeof(*f->v));
	f->v[at] = h;
	f->n++;
	return h;
}

static void host_free(struct host *h)
{
	free(h->name);
	strv_free(&h->tags);
	free(h->version);
	free(h->address);
	inventory_clear(&h->inv);
	buf_free(&h->stored);
	free(h->status.note);
	free(h);
}

struct host *fleet_find(const struct fleet *f, const char *name)
{
	int found;
	size_t at = place(f, name, &found);

	return found ? f->v[at] : NULL;
}

const char *fleet_nearest(const struct fleet *f, const char *name)
{
	const char **names = xcalloc(f->n + 1, sizeof(*names)), *near;

	for (size_t i = 0; i < f->n; i++)
		names[i] = f->v[i]->name;
	near = str_nearest(name, names);
	free(names);
	return near;
}

struct host *const *fleet_hosts(const struct fleet *f, size_t *ret_n)
{
	*ret_n = f->n;
	return f->v;
}

int host_has_tag(const struct host *h, const char *tag)
{
	return strv_has(&h->tags, tag) || (h->has_inventory && strv_has(&h->inv.tags, tag));
}

/* ---- start ---- */

static void load_row(void *arg, struct stored_host *row)
{
	struct fleet *f = arg;
	struct host *h = host_get(f, row->name);
	struct err e;

	h->tags = row->tags;
	memset(&row->tags, 0, sizeof(row->tags));
	h->paused = row->paused;
	h->last_seen_ns = row->last_seen_wall_ns;
	if (row->inventory && row->inventory_len) {
		if (inventory_decode(row->inventory, row->inventory_len, &h->inv, &e))
			log_warning("fleet", "%s: the stored inventory can't be read (%s); it comes anew "
				"when the agent connects", h->name, e.text);
		else
			h->has_inventory = 1;
		h->inv.per_run = f->co->opt->is_private;
		buf_add(&h->stored, row->inventory, row->inventory_len);
	}
	if (h->paused)
		sched_host_paused(jobs_sched(f->co->jobs), h->sched, 1);
	stored_host_clear(row);
}

int fleet_load(struct coordinator *co, struct fleet **ret, struct err *e)
{
	struct fleet *f = xcalloc(1, sizeof(*f));

	f->co = co;
	if (store_load_hosts(co->store, load_row, f, e)) {
		fleet_free(f);
		return -1;
	}
	*ret = f;
	return 0;
}

void fleet_free(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		host_free(f->v[i]);
	free(f->v);
	free(f);
}

/* ---- what agents tell ---- */

static void put(struct host *h);

/* By name, since the host may be removed meanwhile. */
struct put_ref {
	struct coordinator *co;
	char *name;
};

static void on_put(void *arg, const struct err *e)
{
	struct put_ref *ref = arg;
	struct host *h;

	coordinator_op_end(ref->co);
	if (e)
		log_error("fleet", "%s can't be stored: %s", ref->name, e->text);
	h = fleet_find(ref->co->fleet, ref->name);
	if (h) {
		h->put_busy = 0;
		if (h->put_again)
			put(h);
	}
	free(ref->name);
	free(ref);
}

/* One write at a time, so that a chatty agent can't fill the store's queue. */
static void put(struct host *h)
{
	struct put_ref *ref;

	if (h->put_busy) {
		h->put_again = 1;
		return;
	}
	h->put_again = 0;
	h->put_busy = 1;
	ref = xcalloc(1, sizeof(*ref));
	ref->co = h->co;
	ref->name = xstrdup(h->name);
	coordinator_op_begin(h->co);
	store_host_put(h->co->store, h->name, h->stored.data, h->stored.len, h->last_seen_ns, on_put,
		ref);
}

void fleet_enrolled(struct coordinator *co, const char *name)
{
	put(host_get(co->fleet, name));
}

struct host *fleet_connected(struct coordinator *co, const char *name, struct session *s)
{
	struct host *h = host_get(co->fleet, name);
	struct session *old = h->session;
	struct err e;

	if (old) {
		err_set(&e, ERR_EXISTS, "a newer connection of %s takes this one's place", name);
		session_close(old, &e);
	}
	h->session = s;
	h->told = 0;
	h->inventory_current = 0;
	h->last_seen_ns = clock_wall_ns();
	free(h->version);
	free(h->address);
	h->version = xstrdup(s->version);
	h->address = xstrdup(conn_peer(s->conn));
	put(h);
	sched_host_online(jobs_sched(co->jobs), h->sched, clock_mono_ns());
	log_info("fleet", "%s connected from %s, version %s", name, h->address, h->version);
	return h;
}

void fleet_disconnected(struct host *h)
{
	h->session = NULL;
	h->told = 0;
	h->last_seen_ns = clock_wall_ns();
	put(h);
	sched_host_offline(jobs_sched(h->co->jobs), h->sched, clock_mono_ns());
	log_info("fleet", "%s disconnected", h->name);
}

void fleet_inventory(struct host *h, struct inventory *inv)
{
	struct buf bytes = {0};

	inventory_clear(&h->inv);
	h->inv = *inv;
	memset(inv, 0, sizeof(*inv));
	h->inv.per_run = h->co->opt->is_private;
	h->has_inventory = 1;
	h->inventory_current = 1;
	inventory_encode(&h->inv, &bytes);
	if (bytes.len != h->stored.len || memcmp(bytes.data, h->stored.data, bytes.len)) {
		buf_free(&h->stored);
		h->stored = bytes;
		put(h);
	} else {
		buf_free(&bytes);
	}
	sched_host_inventory(jobs_sched(h->co->jobs), h->sched);
}

void fleet_status(struct host *h, struct msg_agent_status *st)
{
	free(h->status.note);
	h->status = *st;
	st->note = NULL;
	h->told = 1;
	sched_host_status(jobs_sched(h->co->jobs), h->sched, &h->status);
}

/* ---- what people change ---- */

void fleet_set_flags(struct host *h, const struct strv *tags, int paused, store_done done,
	void *arg)
{
	struct strv copy;

	strv_copy(&copy, tags);
	strv_free(&h->tags);
	h->tags = copy;
	h->paused = paused;
	sched_host_paused(jobs_sched(h->co->jobs), h->sched, paused);
	store_host_flags(h->co->store, h->name, &h->tags, paused, done, arg);
}

void fleet_remove(struct host *h, store_done done, void *arg)
{
	struct fleet *f = h->co->fleet;
	int found;
	size_t at = place(f, h->name, &found);

	store_host_remove(h->co->store, h->name, done, arg);
	jobs_host_remove(h->co->jobs, h->sched);
	memmove(f->v + at, f->v + at + 1, (f->n - at - 1) * sizeof(*f->v));
	f->n--;
	host_free(h);
}

/* ---- selectors ---- */

static int selects(const char *selector, const struct host *h)
{
	if (!strcmp(selector, "all"))
		return 1;
	if (str_starts(selector, "tag:"))
		return host_has_tag(h, selector + 4);
	return !strcmp(selector, h->name);
}

static int matches_nothing(const struct fleet *f, const char *selector, struct err *e)
{
	const char *near;

	if (!f->n)
		return err_set(e, ERR_NOTFOUND, "no host is enrolled yet; make a token with "
			"`arraymark token create HOST`, then `arraymark-agent join` on the host");
	if (str_starts(selector, "tag:"))
		return err_set(e, ERR_NOTFOUND, "hosts: no host has the tag '%s' (see `arraymark host list`)",
			selector + 4);
	near = fleet_nearest(f, selector);
	return err_set(e, ERR_NOTFOUND, "hosts: '%s' is not enrolled%s%s%s", selector,
		near ? " (did you mean '" : " (see `arraymark host list`)", near ? near : "",
		near ? "'?)" : "");
}

int fleet_select(const struct fleet *f, const struct strv *selectors, struct host ***ret,
	size_t *ret_n, struct err *e)
{
	struct host **out = xcalloc(f->n + 1, sizeof(*out));
	size_t n = 0;

	for (size_t s = 0; s < selectors->n; s++) {
		size_t hits = 0;

		for (size_t i = 0; i < f->n; i++)
			hits += (size_t)selects(selectors->v[s], f->v[i]);
		if (!hits) {
			free(out);
			return matches_nothing(f, selectors->v[s], e);
		}
	}
	for (size_t i = 0; i < f->n; i++) {
		int hit = 0;

		for (size_t s = 0; s < selectors->n && !hit; s++)
			hit = selects(selectors->v[s], f->v[i]);
		if (hit)
			out[n++] = f->v[i];
	}
	*ret = out;
	*ret_n = n;
	return 0;
}
