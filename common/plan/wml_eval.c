/* Values of a workload file where they are used: variables followed, types checked. Owns nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

#define CHAIN_MAX 32 /* variables that stand for variables */
#define DRAW_MAX ((double)(1LL << 62))

static const struct wml_local *find_local(const struct wml_item *item, unsigned variable)
{
	for (size_t i = 0; item && i < item->n_locals; i++)
		if (item->locals[i].variable == variable)
			return &item->locals[i];
	return NULL;
}

/* The value that the variable has in this call, and where that one is to be looked at. */
static const struct wml_value *look_up(const struct wml *w, unsigned variable,
	const struct wml_env **env)
{
	for (const struct wml_env *at = *env; at; at = at->up) {
		const struct wml_local *of_call = find_local(at->call, variable);
		const struct wml_local *own = find_local(at->definition, variable);

		if (of_call && of_call->v.kind != VALUE_NONE) {
			*env = at->up;
			return &of_call->v;
		}
		if (own && own->v.kind != VALUE_NONE) {
			*env = at->up;
			return &own->v;
		}
	}
	*env = NULL;
	return &w->vars[variable].v;
}

int wml_eval(const struct wml_eval *x, const struct wml_value *v, struct wml_value *ret)
{
	const struct wml_env *env = x->env;
	struct wml_place at = v->at;

	for (int i = 0; v->kind == VALUE_VARIABLE; i++) {
		const char *name = x->w->vars[v->variable].name;

		if (i == CHAIN_MAX)
			return wml_fail(x->w->file, at, x->e, "'$%s' stands for itself in the end", name);
		v = look_up(x->w, v->variable, &env);
		if (v->kind == VALUE_NONE)
			return wml_fail(x->w->file, at, x->e, "the variable '$%s' is not set", name);
	}
	*ret = *v;
	ret->at = at;
	return 0;
}

static int wrong_type(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	const char *wanted)
{
	return wml_fail(x->w->file, item->v[a].at, x->e, "'%s' wants %s", wml_attr_word(a), wanted);
}

int wml_eval_number(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	int64_t otherwise, struct wml_number *ret)
{
	struct wml_value v;

	*ret = (struct wml_number){.fixed = otherwise};
	if (item->v[a].kind == VALUE_NONE)
		return 0;
	if (wml_eval(x, &item->v[a], &v))
		return -1;
	if (v.kind == VALUE_RANDOM)
		ret->dist = v.dist;
	else if (v.kind == VALUE_NUMBER || v.kind == VALUE_BOOL)
		ret->fixed = v.number;
	else
		return wrong_type(x, item, a, "a number");
	if (!ret->dist && ret->fixed < 0)
		return wrong_type(x, item, a, "a number that is not under 0");
	return 0;
}

int wml_eval_int(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	int64_t otherwise, int64_t min, int64_t max, int64_t *ret)
{
	struct wml_number n;

	if (wml_eval_number(x, item, a, otherwise, &n))
		return -1;
	if (n.dist)
		return wrong_type(x, item, a, "one number, not a random one");
	if (n.fixed < min || n.fixed > max)
		return wml_fail(x->w->file, item->v[a].kind ? item->v[a].at : item->at, x->e,
			"'%s' is %lld, and must be %lld to %lld", wml_attr_word(a), (long long)n.fixed,
			(long long)min, (long long)max);
	*ret = n.fixed;
	return 0;
}

int wml_eval_bool(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a, int *ret)
{
	struct wml_value v;

	*ret = 0;
	if (item->v[a].kind == VALUE_NONE)
		return 0;
	if (wml_eval(x, &item->v[a], &v))
		return -1;
	if (v.kind != VALUE_BOOL && v.kind != VALUE_NUMBER)
		return wrong_type(x, item, a, "true or false");
	*ret = v.number != 0;
	return 0;
}

int wml_eval_text(const struct wml_eval *x, const struct wml_item *item, enum wml_attr a,
	char **ret)
{
	struct wml_value v;

	*ret = NULL;
	if (item->v[a].kind == VALUE_NONE)
		return 0;
	if (wml_eval(x, &item->v[a], &v))
		return -1;
	if (v.kind == VALUE_TEXT)
		*ret = xstrdup(v.text);
	else if (v.kind == VALUE_NUMBER)
		*ret = xasprintf("%lld", (long long)v.number);
	else
		return wrong_type(x, item, a, "a word");
	return 0;
}

int64_t wml_draw(const struct wml_number *n, struct wml_random *r)
{
	double x;

	if (!n->dist)
		return n->fixed;
	x = wml_dist_draw(n->dist, r);
	return x > 0 ? x < DRAW_MAX ? (int64_t)x : (int64_t)DRAW_MAX : 0;
}

double wml_number_mean(const struct wml_number *n)
{
	return n->dist ? wml_dist_mean(n->dist) : (double)n->fixed;
}
