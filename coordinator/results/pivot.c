/*
 * Sources -> layouts. Owns nothing but what the set owns.
 * Invariant: a trial keeps its values, its block and its place in time; only its names change.
 */
#include "coordinator/results/pivot.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/import.h"

#define NAMES_MAX 4 /* in a message */

struct pivot {
	struct result_set *set;
	const struct pivot_source *v;
	size_t n;
	struct strv
		layouts; /* of all sources, one pivoted run each; one nameless when `one_layout` */
	struct strv workloads; /* of all sources */
	struct strv hosts;     /* when `one_host`: of all sources */
	int one_layout, one_host;
	char *host; /* when `one_host`: name for all of them */
};

static struct result_run *run_of(const struct pivot *p, size_t source)
{
	for (size_t i = 0; i < p->set->n_runs; i++)
		if (p->set->runs[i].id == p->v[source].run)
			return &p->set->runs[i];
	return NULL;
}

static uint32_t source_of(const struct pivot *p, uint64_t run)
{
	uint32_t i = 0;

	while (i + 1 < p->n && p->v[i].run != run)
		i++;
	return i;
}

static void add_once(struct strv *list, const char *name)
{
	if (!strv_has(list, name))
		strv_add(list, name);
}

static uint32_t place_in(const struct strv *list, const char *name)
{
	uint32_t i = 0;

	while (i < list->n && strcmp(list->v[i], name) != 0)
		i++;
	return i;
}

/* Hosts of one source, from its trials and summaries. */
static void hosts_of(const struct pivot *p, uint64_t run, struct strv *ret)
{
	const struct result_set *s = p->set;

	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == run)
			add_once(ret, s->trials[i].host);
	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].run == run)
			add_once(ret, s->summaries[i].host);
}

static void find_names(struct pivot *p)
{
	struct buf joined = {0};

	p->one_layout = p->one_host = 1;
	for (size_t i = 0; i < p->n; i++) {
		const struct result_run *r = run_of(p, i);
		struct strv hosts = {0};

		hosts_of(p, r->id, &hosts);
		p->one_host &= hosts.n == 1;
		p->one_layout &= r->layouts.n == 1;
		for (size_t k = 0; k < hosts.n; k++)
			add_once(&p->hosts, hosts.v[k]);
		for (size_t k = 0; k < r->layouts.n; k++)
			add_once(&p->layouts, r->layouts.v[k]);
		for (size_t k = 0; k < r->workloads.n; k++)
			add_once(&p->workloads, r->workloads.v[k]);
		strv_free(&hosts);
	}
	for (size_t i = 0; i < p->hosts.n; i++)
		buf_addf(&joined, "%s%s", i ? ", " : "", p->hosts.v[i]);
	p->host = buf_take(&joined);
}

/* Index of the pivoted run that holds a layout's trials. */
static uint32_t target_of(const struct pivot *p, const char *layout)
{
	return p->one_layout ? 0 : place_in(&p->layouts, layout);
}

static void rename_one(char **name, const char *to)
{
	free(*name);
	*name = xstrdup(to);
}

static void move_trial(const struct pivot *p, struct result_trial *t)
{
	uint32_t source = source_of(p, t->run);

	t->run = target_of(p, t->layout_name) + 1;
	t->layout = source;
	t->sum.layout = t->layout;
	t->workload = place_in(&p->workloads, t->workload_name);
	t->sum.workload = t->workload;
	rename_one(&t->layout_name, p->v[source].label);
	if (p->one_host)
		rename_one(&t->host, p->host);
}

static void move_summary(const struct pivot *p, struct result_summary *m)
{
	uint32_t source = source_of(p, m->run);

	m->run = target_of(p, m->layout_name) + 1;
	m->layout = source;
	m->workload = place_in(&p->workloads, m->workload_name);
	rename_one(&m->layout_name, p->v[source].label);
	if (p->one_host)
		rename_one(&m->host, p->host);
}

/* A source's environments stand in each pivoted run: all of its layouts were measured there. */
static void move_environments(const struct pivot *p, size_t targets)
{
	struct result_set *s = p->set;
	size_t n = 0;
	struct result_environment *v = xcalloc(s->n_envs * targets + 1, sizeof(*v));

	for (size_t i = 0; i < s->n_envs; i++)
		for (size_t k = 0; k < targets; k++)
			v[n++] = (struct result_environment){k + 1,
				source_of(p, s->envs[i].run) + 1,
				xstrdup(p->one_host ? p->host : s->envs[i].host),
				json_incref(s->envs[i].inventory)};
	for (size_t i = 0; i < s->n_envs; i++) {
		free(s->envs[i].host);
		json_decref(s->envs[i].inventory);
	}
	free(s->envs);
	s->envs = v;
	s->n_envs = n;
}

/* What was executed for a layout goes where its trials go; the rest was for all of them, and goes. */
static void move_steps(const struct pivot *p)
{
	struct result_set *s = p->set, rest = {0};
	size_t n = 0;

	rest.steps = xcalloc(s->n_steps + 1, sizeof(*rest.steps));
	for (size_t i = 0; i < s->n_steps; i++) {
		struct result_step *t = &s->steps[i];
		uint32_t source = source_of(p, t->run);

		if (!strv_has(&p->layouts, t->layout_name)) {
			rest.steps[rest.n_steps++] = *t;
			continue;
		}
		t->run = target_of(p, t->layout_name) + 1;
		t->layout = source;
		rename_one(&t->layout_name, p->v[source].label);
		if (p->one_host)
			rename_one(&t->host, p->host);
		s->steps[n++] = *t;
	}
	s->n_steps = n;
	result_set_clear(&rest);
}

static void drop_series(struct result_set *s)
{
	for (size_t i = 0; i < s->n_series; i++)
		result_series_clear(&s->series[i]);
	free(s->series);
	s->series = NULL;
	s->n_series = 0;
}

/* "jan vs feb", with the layout in front where there are several. */
static char *target_name(const struct pivot *p, size_t target)
{
	struct buf name = {0};

	if (!p->one_layout)
		buf_addf(&name, "%s: ", p->layouts.v[target]);
	for (size_t i = 0; i < p->n; i++)
		buf_addf(&name, "%s%s", i ? " vs " : "", p->v[i].label);
	return buf_take(&name);
}

/* The cache state that all sources asked for, or "". */
static const char *common_cache(const struct pivot *p)
{
	const char *cache = run_of(p, 0)->cache;

	for (size_t i = 1; i < p->n; i++)
		if (strcmp(run_of(p, i)->cache, cache) != 0)
			return "";
	return cache;
}

/* Whole experiments follow each other: at best the order is known. */
static const char *common_design(const struct pivot *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const char *design = run_of(p, i)->design;

		if (strcmp(design, "random-blocks") != 0 && strcmp(design, "as-written") != 0)
			return "unknown";
	}
	return "as-written";
}

static int some_imported(const struct pivot *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(run_of(p, i)->state, "imported") == 0)
			return 1;
	return 0;
}

/* The host that all of a source was measured on; "" where there are several, and for what imports
 * call theirs when nobody named one. Caller frees. */
static char *host_of(const struct pivot *p, const struct result_run *r)
{
	struct strv hosts = {0};
	char *host;

	hosts_of(p, r->id, &hosts);
	host = xstrdup(hosts.n == 1 && strcmp(hosts.v[0], IMPORT_HOST) != 0 ? hosts.v[0] : "");
	strv_free(&hosts);
	return host;
}

/* Which plan each layout of the target has: that of its source. */
static void make_sources(const struct pivot *p, size_t target, struct result_run *ret)
{
	ret->n_sources = p->n;
	ret->sources = xcalloc(p->n, sizeof(*ret->sources));
	for (size_t i = 0; i < p->n; i++) {
		const struct result_run *r = run_of(p, i);
		const char *layout = p->one_layout ? r->layouts.v[0] : p->layouts.v[target];

		ret->sources[i] = (struct result_source){.label = xstrdup(p->v[i].label),
			.name = xstrdup(r->name),
			.plan_sha256 = xstrdup(r->plan_sha256),
			.plan_text = xstrdup(r->plan_text ? r->plan_text : ""),
			.layout = xstrdup(layout),
			.host = host_of(p, r),
			.cache = xstrdup(r->cache)};
		strv_copy(&ret->sources[i].sets, &r->sets);
	}
}

static void make_target(const struct pivot *p, size_t target, struct result_run *ret)
{
	*ret = (struct result_run){.id = target + 1,
		.name = target_name(p, target),
		.state = xstrdup(some_imported(p) ? "imported" : "compared"),
		.plan_sha256 = xstrdup(""),
		.tool_version = xstrdup(""),
		.user = xstrdup(""),
		.cache = xstrdup(common_cache(p)),
		.design = xstrdup(common_design(p)),
		.margin = run_of(p, 0)->margin};
	for (size_t i = 0; i < p->n; i++)
		strv_add(&ret->layouts, p->v[i].label);
	strv_copy(&ret->workloads, &p->workloads);
	make_sources(p, target, ret);
}

static int by_trial(const void *pa, const void *pb)
{
	const struct result_trial *a = pa, *b = pb;
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : (a->layout > b->layout) - (a->layout < b->layout);
	c = c ? c : (a->attempt > b->attempt) - (a->attempt < b->attempt);
	return c ? c : (a->sum.trial > b->sum.trial) - (a->sum.trial < b->sum.trial);
}

static void replace_runs(struct pivot *p)
{
	struct result_set *s = p->set;
	size_t targets = p->one_layout ? 1 : p->layouts.n;
	struct result_run *made = xcalloc(targets, sizeof(*made));
	struct result_set old = {.runs = s->runs, .n_runs = s->n_runs};

	for (size_t i = 0; i < targets; i++)
		make_target(p, i, &made[i]);
	for (size_t i = 0; i < s->n_trials; i++)
		move_trial(p, &s->trials[i]);
	for (size_t i = 0; i < s->n_summaries; i++)
		move_summary(p, &s->summaries[i]);
	if (s->n_trials)
		qsort(s->trials, s->n_trials, sizeof(*s->trials), by_trial);
	move_environments(p, targets);
	move_steps(p);
	drop_series(s);
	result_set_clear(&old);
	s->runs = made;
	s->n_runs = targets;
}

/* Whether some workload and layout is there in two sources. */
static int have_common(const struct pivot *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t k = i + 1; k < p->n; k++) {
			const struct result_run *a = run_of(p, i), *b = run_of(p, k);
			int layouts = p->one_layout, workloads = 0;

			for (size_t l = 0; l < a->layouts.n; l++)
				layouts |= strv_has(&b->layouts, a->layouts.v[l]);
			for (size_t w = 0; w < a->workloads.n; w++)
				workloads |= strv_has(&b->workloads, a->workloads.v[w]);
			if (layouts && workloads)
				return 1;
		}
	return 0;
}

static void add_names(const struct strv *list, const char *what, struct buf *out)
{
	buf_addf(out, "%s ", what);
	for (size_t i = 0; i < list->n && i < NAMES_MAX; i++)
		buf_addf(out, "%s'%s'", i ? ", " : "", list->v[i]);
	if (list->n > NAMES_MAX)
		buf_adds(out, ", …");
}

static int nothing_common(const struct pivot *p, struct err *e)
{
	struct buf text = {0};

	for (size_t i = 0; i < 2; i++) {
		const struct result_run *r = run_of(p, i);

		buf_addf(&text, "%s%s has ", i ? "; " : "", p->v[i].label);
		add_names(&r->layouts, r->layouts.n == 1 ? "layout" : "layouts", &text);
		add_names(&r->workloads, r->workloads.n == 1 ? " and workload" : " and workloads",
			&text);
	}
	err_set(e, ERR_INPUT,
		"nothing to compare, since no two have a layout and a workload in common: %s "
		"(--by layout compares within each; --workload A=B takes two workloads as one)",
		buf_str(&text));
	buf_free(&text);
	return -1;
}

int pivot_sources(struct result_set *s, const struct pivot_source *v, size_t n, struct err *e)
{
	struct pivot p = {.set = s, .v = v, .n = n};
	int bad = 0;

	find_names(&p);
	if (!have_common(&p))
		bad = nothing_common(&p, e);
	else
		replace_runs(&p);
	strv_free(&p.layouts);
	strv_free(&p.workloads);
	strv_free(&p.hosts);
	free(p.host);
	return bad;
}

static int runs_with(const struct result_set *s, const char *workload)
{
	int n = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		n += strv_has(&s->runs[i].workloads, workload);
	return n;
}

static int no_workload(const struct result_set *s, const char *name, struct err *e)
{
	struct strv there = {0};
	struct buf list = {0};

	for (size_t i = 0; i < s->n_runs; i++)
		for (size_t w = 0; w < s->runs[i].workloads.n; w++)
			add_once(&there, s->runs[i].workloads.v[w]);
	for (size_t i = 0; i < there.n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", there.v[i]);
	err_set(e, ERR_INPUT, "nothing here has a workload '%s': there are %s", name, buf_str(&list));
	strv_free(&there);
	buf_free(&list);
	return -1;
}

int pivot_same_workload(struct result_set *s, const char *to, const char *from, struct err *e)
{
	const char *lacking = !runs_with(s, to) ? to : !runs_with(s, from) ? from : NULL;

	if (lacking)
		return no_workload(s, lacking, e);
	for (size_t i = 0; i < s->n_runs; i++)
		if (strv_has(&s->runs[i].workloads, to) && strv_has(&s->runs[i].workloads, from))
			return err_set(e, ERR_INPUT, "%s has both '%s' and '%s': they cannot be one",
				s->runs[i].name, to, from);
	for (size_t i = 0; i < s->n_runs; i++)
		for (size_t w = 0; w < s->runs[i].workloads.n; w++)
			if (strcmp(s->runs[i].workloads.v[w], from) == 0)
				rename_one(&s->runs[i].workloads.v[w], to);
	for (size_t i = 0; i < s->n_trials; i++)
		if (strcmp(s->trials[i].workload_name, from) == 0)
			rename_one(&s->trials[i].workload_name, to);
	for (size_t i = 0; i < s->n_summaries; i++)
		if (strcmp(s->summaries[i].workload_name, from) == 0)
			rename_one(&s->summaries[i].workload_name, to);
	return 0;
}

static int is_chosen(const struct result_set *s, const char *layout, const char *host)
{
	return strv_has(&s->wish.chosen, s->wish.by == BY_HOST ? host : layout);
}

void pivot_choose(struct result_set *s)
{
	struct result_set left = {0};
	size_t n = 0, m = 0;

	left.trials = xcalloc(s->n_trials + 1, sizeof(*left.trials));
	left.summaries = xcalloc(s->n_summaries + 1, sizeof(*left.summaries));
	for (size_t i = 0; i < s->n_trials; i++) {
		struct result_trial *t = &s->trials[i];

		if (is_chosen(s, t->layout_name, t->host))
			s->trials[n++] = *t;
		else
			left.trials[left.n_trials++] = *t;
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		struct result_summary *t = &s->summaries[i];

		if (is_chosen(s, t->layout_name, t->host))
			s->summaries[m++] = *t;
		else
			left.summaries[left.n_summaries++] = *t;
	}
	s->n_trials = n;
	s->n_summaries = m;
	result_set_clear(&left);
}
