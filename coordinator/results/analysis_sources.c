/*
 * The plan of runs that stand beside each other: each source's own layout, over the work that all of
 * them did. Owns nothing beyond a call.
 * Invariant: where sources did not do the same work there is no plan, so that rules say they cannot
 * tell instead of speaking of one source by the plan of another.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"

static int parse(const struct result_source *s, struct plan **ret)
{
	struct yaml_errors errs = {0};
	struct err ignored;
	int status;

	if (!s->plan_text || !*s->plan_text)
		return -1;
	status = plan_parse(
		"plan", s->plan_text, strlen(s->plan_text), &s->sets, ret, &errs, &ignored);
	yaml_errors_free(&errs);
	return status;
}

/* The text as a tree, with what was set on the command line. The plan could be parsed, so this can. */
static struct yaml_node *tree_of(const struct result_source *s)
{
	struct yaml_node *root;
	struct err ignored;

	if (yaml_parse("plan", s->plan_text, strlen(s->plan_text), &root, &ignored) != 0)
		return NULL;
	for (size_t i = 0; i < s->sets.n; i++) {
		size_t len = strcspn(s->sets.v[i], "=");
		char *path = xstrndup(s->sets.v[i], len);

		if (s->sets.v[i][len])
			(void)yaml_set_path(root, path, s->sets.v[i] + len + 1, &ignored);
		free(path);
	}
	return root;
}

static const struct yaml_node *member(const struct yaml_node *map, const struct yaml_node *like)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i]->key, like->key) == 0)
			return map->items[i];
	return NULL;
}

/* The same values, in whatever order the keys of a map stand. */
static int is_same(const struct yaml_node *a, const struct yaml_node *b)
{
	if (!a || !b || a->kind != b->kind || a->n != b->n)
		return 0;
	if (a->kind == YAML_SCALAR)
		return strcmp(a->scalar, b->scalar) == 0;
	for (size_t i = 0; i < a->n; i++)
		if (!is_same(a->items[i], a->kind == YAML_MAP ? member(b, a->items[i]) : b->items[i]))
			return 0;
	return 1;
}

/* Workloads by their place: their names may differ. */
static int same_work(const struct result_source *a, const struct result_source *b)
{
	struct yaml_node *x = tree_of(a), *y = tree_of(b);
	const struct yaml_node *v = x ? yaml_get(x, "workloads") : NULL;
	const struct yaml_node *w = y ? yaml_get(y, "workloads") : NULL;
	int same = v && w && v->n == w->n;

	for (size_t i = 0; same && i < v->n; i++)
		same = is_same(v->items[i], w->items[i]);
	yaml_node_free(x);
	yaml_node_free(y);
	return same;
}

/* Moves the source's layout out of its plan; in the run it is called after the source. */
static int take_layout(const struct result_source *s, struct plan *from, struct layout *ret)
{
	for (size_t i = 0; i < from->n_layouts; i++) {
		if (strcmp(from->layouts[i].name, s->layout) != 0)
			continue;
		*ret = from->layouts[i];
		memset(&from->layouts[i], 0, sizeof(from->layouts[i]));
		free(ret->name);
		ret->name = xstrdup(s->label);
		return 0;
	}
	return -1;
}

/* The first source's plan speaks for all of them, but for the layouts. */
static int compose(const struct result_run *r, struct plan **plans)
{
	struct plan *all = plans[0], *rest;
	struct layout *layouts = xcalloc(r->n_sources, sizeof(*layouts));
	int bad = all->n_workloads != r->workloads.n;

	for (size_t i = 0; i < r->n_sources && !bad; i++) {
		bad = plans[i]->cache != all->cache || plans[i]->repeat != all->repeat ||
		      (i > 0 && !same_work(&r->sources[0], &r->sources[i]));
		bad = bad || take_layout(&r->sources[i], plans[i], &layouts[i]);
	}
	rest = xcalloc(1, sizeof(*rest)); /* what no source needs of the first one's layouts */
	rest->layouts = all->layouts;
	rest->n_layouts = all->n_layouts;
	plan_free(rest);
	all->layouts = layouts;
	all->n_layouts = r->n_sources;
	return bad ? -1 : 0;
}

/* Comparisons are those of the run, not those that a source's plan asked for. */
static void settle(const struct result_run *r, struct plan *p)
{
	free(p->pairs);
	strv_free(&p->metrics);
	p->pairs = NULL;
	p->n_pairs = 0;
	p->compare_all_pairs = 0;
	p->baseline = r->baseline;
	p->margin = r->margin;
	p->until = 0;
	free(p->by);
	p->by = xstrdup("layout");
}

struct plan *analysis_plan_of_sources(const struct result_run *r)
{
	struct plan **plans = xcalloc(r->n_sources + 1, sizeof(*plans)), *all = NULL;
	int bad = 0;

	for (size_t i = 0; i < r->n_sources && !bad; i++)
		bad = parse(&r->sources[i], &plans[i]);
	if (!bad && compose(r, plans) == 0) {
		all = plans[0];
		plans[0] = NULL;
		settle(r, all);
	}
	for (size_t i = 0; i < r->n_sources; i++)
		plan_free(plans[i]);
	free(plans);
	return all;
}
