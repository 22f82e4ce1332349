/*
 * Sources of one host or more each -> one run of all these hosts. Owns nothing but what the set owns.
 * Invariant: a trial keeps its values, its host and its block; only the names of layouts may change, where
 * each source has but one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/import.h"
#include "coordinator/results/pivot.h"

struct joined {
	struct result_set *set;
	const struct pivot_source *v;
	size_t n;
	struct strv layouts, workloads;
	int one_layout; /* each source has one: it is the same, whatever it is called */
	int unlike;     /* and it is called differently */
};

static struct result_run *run_of(const struct joined *j, size_t source)
{
	for (size_t i = 0; i < j->set->n_runs; i++)
		if (j->set->runs[i].id == j->v[source].run)
			return &j->set->runs[i];
	return NULL;
}

static void add_all(struct strv *to, const struct strv *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strv_has(to, names->v[i]))
			strv_add(to, names->v[i]);
}

static uint32_t place_in(const struct strv *list, const char *name)
{
	uint32_t i = 0;

	while (i < list->n && strcmp(list->v[i], name) != 0)
		i++;
	return i;
}

/* A host and the place of the source that it stands in. */
struct seen {
	const char *host;
	size_t source;
};

static int by_host(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int c = strcmp(x->host, y->host);

	return c ? c : (x->source > y->source) - (x->source < y->source);
}

/* Of each trial and summary, in the set's order; neighbours that are alike once. Returns how many. */
static size_t hosts_seen(const struct joined *j, struct seen *ret)
{
	const struct result_set *s = j->set;
	size_t n = 0, source = 0;

	for (size_t i = 0; i < s->n_trials + s->n_summaries; i++) {
		int listed = i < s->n_trials;
		uint64_t run = listed ? s->trials[i].run : s->summaries[i - s->n_trials].run;
		const char *host = listed ? s->trials[i].host : s->summaries[i - s->n_trials].host;

		for (size_t k = 0; k < j->n && j->v[source].run != run; k++)
			source = (source + 1) % j->n;
		if (j->v[source].run == run && *host &&
			(n == 0 || ret[n - 1].source != source ||
				strcmp(ret[n - 1].host, host) != 0))
			ret[n++] = (struct seen){host, source};
	}
	return n;
}

static int check_host(const struct joined *j, const struct seen *at, const struct seen *before,
	struct err *e)
{
	const char *label = j->v[at->source].label;

	if (!strcmp(at->host, IMPORT_HOST))
		return err_set(e, ERR_INPUT,
			"--by host: %s does not say on which host it was measured: put a line "
			"'host: NAME' before its results",
			label);
	if (before && before->source != at->source && !strcmp(before->host, at->host))
		return err_set(e, ERR_INPUT,
			"--by host: %s was measured on the host '%s', and so was what stands before "
			"it: hosts are compared when each is in one of them alone (without --by the "
			"runs are compared)",
			label, at->host);
	return 0;
}

/* Hosts are compared if each is in one source alone, and has a name. */
static int check_hosts(const struct joined *j, struct err *e)
{
	struct seen *v = xcalloc(j->set->n_trials + j->set->n_summaries + 1, sizeof(*v));
	size_t n = hosts_seen(j, v);
	int bad = 0;

	qsort(v, n, sizeof(*v), by_host);
	for (size_t i = 0; i < n && !bad; i++)
		bad = check_host(j, &v[i], i ? &v[i - 1] : NULL, e);
	free(v);
	return bad;
}

static int shares_some(const struct strv *a, const struct strv *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (strv_has(b, a->v[i]))
			return 1;
	return 0;
}

static int check_common(const struct joined *j, struct err *e)
{
	for (size_t i = 0; i < j->n; i++)
		for (size_t k = i + 1; k < j->n; k++)
			if (shares_some(&run_of(j, i)->workloads, &run_of(j, k)->workloads) &&
				(j->one_layout ||
					shares_some(&run_of(j, i)->layouts, &run_of(j, k)->layouts)))
				return 0;
	return err_set(e, ERR_INPUT,
		"--by host: no two of these have a layout and a workload in common: lines 'layout: NAME' "
		"and 'workload: NAME' before their results say what they are (--workload A=B takes two "
		"workloads as one)");
}

static void find_names(struct joined *j)
{
	struct strv names = {0};
	struct buf all = {0};

	j->one_layout = 1;
	for (size_t i = 0; i < j->n; i++) {
		add_all(&j->workloads, &run_of(j, i)->workloads);
		add_all(&names, &run_of(j, i)->layouts);
		j->one_layout &= run_of(j, i)->layouts.n == 1;
	}
	for (size_t i = 0; i < names.n && j->one_layout; i++)
		buf_addf(&all, "%s%s", i ? ", " : "", names.v[i]);
	j->unlike = j->one_layout && names.n > 1;
	if (j->one_layout)
		strv_add(&j->layouts, buf_str(&all));
	else
		strv_copy(&j->layouts, &names);
	strv_free(&names);
	buf_free(&all);
}

/* The layout's place; its name becomes that of the only one. */
static uint32_t layout_of(const struct joined *j, char **name)
{
	if (!j->one_layout)
		return place_in(&j->layouts, *name);
	free(*name);
	*name = xstrdup(j->layouts.v[0]);
	return 0;
}

static void move_all(const struct joined *j)
{
	struct result_set *s = j->set;

	for (size_t i = 0; i < s->n_trials; i++) {
		struct result_trial *t = &s->trials[i];

		t->run = 1;
		t->layout = t->sum.layout = layout_of(j, &t->layout_name);
		t->workload = t->sum.workload = place_in(&j->workloads, t->workload_name);
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		struct result_summary *m = &s->summaries[i];

		m->run = 1;
		m->layout = layout_of(j, &m->layout_name);
		m->workload = place_in(&j->workloads, m->workload_name);
	}
	for (size_t i = 0; i < s->n_steps; i++) {
		struct result_step *t = &s->steps[i];

		t->run = 1;
		if (*t->layout_name)
			t->layout = layout_of(j, &t->layout_name);
	}
	for (size_t i = 0; i < s->n_envs; i++)
		s->envs[i].run = 1;
	for (size_t i = 0; i < s->n_series; i++)
		s->series[i].run = 1;
	for (size_t i = 0; i < s->n_stops; i++)
		s->stops[i].run = 1;
}

/* Whether all executed one plan, in the same way: then they are as one run of it. */
static int is_one_plan(const struct joined *j)
{
	const struct result_run *a = run_of(j, 0);

	for (size_t i = 0; i < j->n; i++) {
		const struct result_run *b = run_of(j, i);

		if (!*b->plan_sha256 || strcmp(a->plan_sha256, b->plan_sha256) != 0 ||
			strcmp(a->design, b->design) != 0 || a->sets.n != b->sets.n)
			return 0;
		for (size_t k = 0; k < a->sets.n; k++)
			if (strcmp(a->sets.v[k], b->sets.v[k]) != 0)
				return 0;
	}
	return 1;
}

static void set_text(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

/* What the first run says, as far as it is true of all. */
static void keep_common(const struct joined *j, struct result_run *ret)
{
	struct buf name = {0};

	if (!is_one_plan(j)) {
		set_text(&ret->plan_sha256, "");
		free(ret->plan_text);
		ret->plan_text = NULL;
		strv_free(&ret->sets);
		ret->blocks = 0;
	}
	for (size_t i = 0; i < j->n; i++) {
		const struct result_run *r = run_of(j, i);

		buf_addf(&name, "%s%s", i ? " vs " : "", j->v[i].label);
		if (strcmp(r->cache, ret->cache) != 0)
			set_text(&ret->cache, "");
		if (strcmp(r->design, ret->design) != 0)
			set_text(&ret->design, "unknown");
		if (strcmp(r->state, ret->state) != 0)
			set_text(&ret->state, !strcmp(r->state, "imported") ? "imported" : "compared");
		if (ret->started_wall_ns == 0 ||
			(r->started_wall_ns && r->started_wall_ns < ret->started_wall_ns))
			ret->started_wall_ns = r->started_wall_ns;
		if (r->finished_wall_ns > ret->finished_wall_ns)
			ret->finished_wall_ns = r->finished_wall_ns;
	}
	free(ret->name);
	ret->name = buf_take(&name);
}

/* The first run stays. */
static void join_runs(struct joined *j)
{
	struct result_set *s = j->set, rest = {0};
	struct result_run *kept = run_of(j, 0), all;

	keep_common(j, kept);
	all = *kept;
	if (j->unlike)
		set_text(&all.called, j->layouts.v[0]);
	strv_free(&all.layouts);
	strv_free(&all.workloads);
	all.layouts = j->layouts;
	all.workloads = j->workloads;
	j->layouts = j->workloads = (struct strv){0};
	*kept = (struct result_run){0};
	rest.runs = s->runs;
	rest.n_runs = s->n_runs;
	s->runs = xcalloc(1, sizeof(*s->runs));
	s->n_runs = s->cap_runs = 1;
	all.id = 1;
	s->runs[0] = all;
	result_set_clear(&rest);
}

int pivot_hosts(struct result_set *s, const struct pivot_source *v, size_t n, struct err *e)
{
	struct joined j = {.set = s, .v = v, .n = n};
	int bad;

	find_names(&j);
	bad = check_hosts(&j, e) || check_common(&j, e);
	if (!bad) {
		move_all(&j);
		join_runs(&j);
		bad = export_read_end(s, e) != 0;
	}
	strv_free(&j.layouts);
	strv_free(&j.workloads);
	return bad ? -1 : 0;
}
