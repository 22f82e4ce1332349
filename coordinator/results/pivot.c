/*
 * Sources -> layouts. Owns nothing but what the set owns.
 * Invariant: a trial keeps its values, its block and its place in time; only its names change. What
 * no pivoted run holds is freed.
 */
#include "coordinator/results/pivot.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"

struct pivot {
	struct result_set *set;
	const struct pivot_source *v;
	size_t n;
	struct strv layouts;   /* of all sources, one pivoted run each; one nameless when `one_layout` */
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

/* -1: of a run that is no source. */
static int source_of(const struct pivot *p, uint64_t run)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].run == run)
			return (int)i;
	return -1;
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

static void move_trial(const struct pivot *p, struct result_trial *t, int source)
{
	t->run = target_of(p, t->layout_name) + 1;
	t->layout = (uint32_t)source;
	t->sum.layout = t->layout;
	t->workload = place_in(&p->workloads, t->workload_name);
	t->sum.workload = t->workload;
	rename_one(&t->layout_name, p->v[source].label);
	if (p->one_host)
		rename_one(&t->host, p->host);
}

static void move_summary(const struct pivot *p, struct result_summary *m, int source)
{
	m->run = target_of(p, m->layout_name) + 1;
	m->layout = (uint32_t)source;
	m->workload = place_in(&p->workloads, m->workload_name);
	rename_one(&m->layout_name, p->v[source].label);
	if (p->one_host)
		rename_one(&m->host, p->host);
}

/* Trials and summaries of other runs change places with the last ones, and are cut off. */
static void move_all(const struct pivot *p)
{
	struct result_set *s = p->set, rest = {0};

	for (size_t i = 0; i < s->n_trials;) {
		int source = source_of(p, s->trials[i].run);

		if (source >= 0) {
			move_trial(p, &s->trials[i++], source);
			continue;
		}
		rest.trials = &s->trials[--s->n_trials];
		trial_summary_clear(&rest.trials->sum);
		free(rest.trials->host);
		free(rest.trials->layout_name);
		free(rest.trials->workload_name);
		free(rest.trials->op);
		free(rest.trials->cache);
		free(rest.trials->printed);
		if (rest.trials != &s->trials[i])
			s->trials[i] = *rest.trials;
	}
	for (size_t i = 0; i < s->n_summaries; i++) {
		int source = source_of(p, s->summaries[i].run);

		if (source >= 0)
			move_summary(p, &s->summaries[i], source);
	}
}
