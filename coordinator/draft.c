/* Plan text and fleet to a draft. Owns what struct draft holds; hosts are borrowed. */
#include "coordinator/draft.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"

#define MAX_JOBS 20000

void draft_clear(struct draft *d)
{
	for (size_t i = 0; i < d->n_hosts; i++) {
		strv_free(&d->hosts[i].lacks);
		bindings_free(&d->hosts[i].disks);
		free(d->hosts[i].bound);
	}
	free(d->hosts);
	strv_free(&d->errors);
	plan_free(d->plan);
	memset(d, 0, sizeof(*d));
}

json_t *draft_strings(const struct strv *s)
{
	json_t *v = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(v, json_text(s->v[i]));
	return v;
}

json_t *draft_estimate_json(const struct draft *d)
{
	return d->has_estimate ? plan_estimate_json(&d->estimate) : json_null();
}

static void bind_host(const struct plan *p, struct draft_host *h)
{
	const struct inventory *inv = &h->host->inv;
	struct err e;

	if (!h->host->has_inventory) {
		strv_addf(&h->lacks, "%s has never connected: its disks are not known; start the agent "
			"there", h->host->name);
		return;
	}
	plan_check_host(p, inv, &h->lacks);
	if (plan_bind(p, inv, &h->disks, &h->lacks, &e)) {
		if (!h->lacks.n)
			strv_add(&h->lacks, e.text);
		return;
	}
	plan_check_bound(p, inv, &h->disks, &h->lacks);
	h->bound = xcalloc(h->disks.n ? h->disks.n : 1, sizeof(*h->bound));
	for (size_t i = 0; i < h->disks.n; i++) {
		const struct binding *b = &h->disks.v[i];

		h->bound[i] = (struct bound_disks){.layout = b->layout, .role = (char *)b->role,
			.group = b->group, .ids = b->ids};
	}
}

static void estimate(struct draft *d)
{
	struct plan_estimate one;
	struct err e;

	for (size_t i = 0; i < d->n_hosts; i++) {
		const struct host *h = d->hosts[i].host;

		if (plan_estimate(d->plan, h->has_inventory ? h->inv.ram_bytes : 0, &one, &e)) {
			strv_addf(&d->hosts[i].lacks, "%s: %s", h->name, e.text);
			continue;
		}
		if (!d->has_estimate || one.most.duration_ns > d->estimate.most.duration_ns)
			d->estimate = one;
		d->has_estimate = 1;
	}
}

static void parse(const struct msg_call *in, struct draft *d)
{
	const char *name = in->plan_name && *in->plan_name ? in->plan_name : "plan";
	struct yaml_errors errs = {.file = name};
	struct err e;

	if (!in->plan_text) {
		strv_add(&d->errors, "the call has no plan");
		return;
	}
	if (plan_parse(name, in->plan_text, strlen(in->plan_text), &in->sets, &d->plan, &errs, &e)) {
		d->plan = NULL;
		for (size_t i = 0; i < errs.list.n; i++)
			strv_add(&d->errors, errs.list.v[i]);
		if (!errs.list.n)
			strv_add(&d->errors, e.text);
	}
	yaml_errors_free(&errs);
}

static void select_hosts(struct coordinator *co, const struct msg_call *in, struct draft *d)
{
	const struct strv *selectors = in->hosts.n ? &in->hosts : &d->plan->hosts;
	struct host **hosts;
	struct err e;
	size_t n;

	if (!selectors->n) {
		strv_add(&d->errors, "no host is named: put `hosts:` into the plan or use --hosts");
		return;
	}
	if (fleet_select(co->fleet, selectors, &hosts, &n, &e)) {
		strv_add(&d->errors, e.text);
		return;
	}
	d->hosts = xcalloc(n ? n : 1, sizeof(*d->hosts));
	d->n_hosts = n;
	for (size_t i = 0; i < n; i++)
		d->hosts[i].host = hosts[i];
	free(hosts);
}

static void size_up(struct draft *d)
{
	uint64_t units = (uint64_t)d->plan->trials_max * d->plan->n_layouts;

	if (units > MSG_MAX_UNITS)
		strv_addf(&d->errors, "%u blocks of %zu layouts are more than %d builds a host: make the "
			"plan smaller", d->plan->trials_max, d->plan->n_layouts, MSG_MAX_UNITS);
	if (d->n_hosts > MAX_JOBS)
		strv_addf(&d->errors, "%zu hosts in one run, at most %d are possible", d->n_hosts,
			MAX_JOBS);
	d->blocks = d->plan->trials_max;
	d->units = (uint32_t)units;
	/* Exact in a double too, so that JSON readers of all kinds see the same number. */
	fs_random(&d->seed, sizeof(d->seed));
	d->seed &= (1ull << 53) - 1;
}

static int verdict(const struct coordinator *co, const struct draft *d, struct err *e)
{
	const char *first = d->errors.n ? d->errors.v[0] : NULL;
	size_t n = d->errors.n;

	for (size_t i = 0; i < d->n_hosts; i++) {
		if (!first && d->hosts[i].lacks.n)
			first = d->hosts[i].lacks.v[0];
		n += d->hosts[i].lacks.n;
	}
	if (!n)
		return 0;
	if (n == 1)
		return err_set(e, ERR_INPUT, "%s", first);
	return err_set(e, ERR_INPUT, "%s (and %zu more: see `arraymark%s plan check`)", first, n - 1,
		co->opt->is_private ? " -c local" : "");
}

int draft_make(struct coordinator *co, const struct msg_call *in, struct draft *ret, struct err *e)
{
	memset(ret, 0, sizeof(*ret));
	parse(in, ret);
	if (ret->plan) {
		select_hosts(co, in, ret);
		size_up(ret);
		for (size_t i = 0; i < ret->n_hosts; i++)
			bind_host(ret->plan, &ret->hosts[i]);
		estimate(ret);
	}
	return verdict(co, ret, e);
}
