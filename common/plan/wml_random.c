/* cvar(…) and randvar(…): distributions as a file describes them. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

#define NUMBER_MAX 64 /* characters */

void wml_dist_free(struct wml_dist *d)
{
	if (d)
		free(d->slices);
	free(d);
}

static struct wml_dist *dist_new(void)
{
	struct wml_dist *d = xcalloc(1, sizeof(*d));

	d->max = DBL_MAX;
	return d;
}

static int wants(const struct wml_lexer *l, const char *what, struct err *e)
{
	char text[WML_SHOWN];

	return wml_fail(l->file, l->now.at, e, "%s is wanted, not %s", what,
		wml_token_shown(&l->now, text));
}

static int take_mark(struct wml_lexer *l, char mark, struct err *e)
{
	char what[4] = {'\'', mark, '\'', '\0'};

	if (!wml_token_is_mark(&l->now, mark))
		return wants(l, what, e);
	return wml_lex_next(l, e);
}

/* A number, or a variable that is one here. */
static int take_number(struct wml *w, struct wml_lexer *l, double *ret, struct err *e)
{
	const struct wml_value *v;

	if (l->now.kind == TOKEN_NUMBER) {
		*ret = (double)l->now.number;
	} else if (l->now.kind == TOKEN_VARIABLE) {
		v = &wml_variable(w, l->now.s, l->now.len)->v;
		if (v->kind != VALUE_NUMBER)
			return wants(l, "a variable that is a number here", e);
		*ret = (double)v->number;
	} else {
		return wants(l, "a number", e);
	}
	return wml_lex_next(l, e);
}

/* ---- cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.5) ---- */

enum cvar_rule { ANY, NOT_UNDER_0, OVER_0, WHOLE };

/* Types, parameters and defaults as filebench's cvar libraries have them, by what these draw: the
 * "rate" of cvar-erlang is the mean there, "scale" and "shape" of cvar-lognormal are mean and sigma
 * of the logarithm. */
static const struct cvar_row {
	const char *word;
	enum wml_dist_kind kind;
	struct cvar_parameter {
		const char *word; /* NULL: there is none */
		double otherwise;
		enum cvar_rule rule;
		size_t offset; /* in struct wml_dist */
	} parameters[3];
} cvars[] = {
#define A offsetof(struct wml_dist, a)
#define B offsetof(struct wml_dist, b)
#define C offsetof(struct wml_dist, c)
	{"cvar-erlang", DIST_GAMMA, {{"shape", 1, WHOLE, B}, {"rate", 1, OVER_0, A}}},
	{"cvar-exponential", DIST_EXPONENTIAL, {{"mean", 1, OVER_0, A}}},
	{"cvar-gamma", DIST_GAMMA, {{"mean", 4096, OVER_0, A}, {"gamma", 1.5, OVER_0, B}}},
	{"cvar-lognormal", DIST_LOGNORMAL, {{"shape", 1, NOT_UNDER_0, B}, {"scale", 1, NOT_UNDER_0, A}}},
	{"cvar-normal", DIST_NORMAL, {{"mean", 0, ANY, A}, {"sigma", 1, NOT_UNDER_0, B}}},
	{"cvar-triangular", DIST_TRIANGULAR,
		{{"lower", 0, ANY, A}, {"upper", 1, ANY, B}, {"mode", 0.5, ANY, C}}},
	{"cvar-uniform", DIST_UNIFORM, {{"lower", 0, ANY, A}, {"upper", 1, ANY, B}}},
	{"cvar-weibull", DIST_WEIBULL, {{"shape", 1, OVER_0, B}, {"scale", 1, OVER_0, A}}},
#undef A
#undef B
#undef C
};

static double *value_of(struct wml_dist *d, const struct cvar_parameter *p)
{
	return (double *)(void *)((char *)d + p->offset);
}

/* The words of a type's parameters, for a message. */
static void list_parameters(const struct cvar_row *row, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(row->parameters) && row->parameters[i].word; i++)
		buf_addf(out, "%s%s:NUMBER", i ? ";" : "", row->parameters[i].word);
}

static int bad_parameters(const struct wml_lexer *l, struct wml_place at, const struct cvar_row *row,
	const char *s, struct err *e)
{
	struct buf all = {0};

	list_parameters(row, &all);
	(void)wml_fail(l->file, at, e, "parameters: '%.40s': wanted are %s", s, buf_str(&all));
	buf_free(&all);
	return -1;
}

/* One "mean:16384" of the parameters; *s is moved behind it. */
static int take_parameter(const struct wml_lexer *l, struct wml_place at, const char **s,
	const struct cvar_row *row, struct wml_dist *d, struct err *e)
{
	size_t name = strcspn(*s, ":"), len;
	char number[NUMBER_MAX], *end;

	for (size_t i = 0; i < ARRAY_LEN(row->parameters) && row->parameters[i].word; i++) {
		const struct cvar_parameter *p = &row->parameters[i];

		if (strlen(p->word) != name || memcmp(p->word, *s, name))
			continue;
		*s += name;
		*s += **s == ':';
		len = strcspn(*s, ";");
		if (len == 0 || len >= sizeof(number))
			break;
		memcpy(number, *s, len);
		number[len] = '\0';
		*value_of(d, p) = strtod(number, &end);
		if (*end || !isfinite(*value_of(d, p)) ||
			!(isdigit((unsigned char)*number) || *number == '-'))
			break;
		*s += len;
		*s += **s == ';';
		return 0;
	}
	return bad_parameters(l, at, row, *s, e);
}

static const char *broken_rule(const struct cvar_parameter *p, double v)
{
	switch (p->rule) {
	case ANY:
		return NULL;
	case NOT_UNDER_0:
		return v < 0 ? "must not be under 0" : NULL;
	case OVER_0:
		return v > 0 ? NULL : "must be more than 0";
	case WHOLE:
		return v >= 1 && v <= 1e6 && v == floor(v) ? NULL : "must be a whole number from 1 on";
	}
	return NULL;
}

static int check_cvar(const struct wml_lexer *l, struct wml_place at, const struct cvar_row *row,
	struct wml_dist *d, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(row->parameters) && row->parameters[i].word; i++) {
		const struct cvar_parameter *p = &row->parameters[i];
		const char *broken = broken_rule(p, *value_of(d, p));

		if (broken)
			return wml_fail(l->file, at, e, "cvar: '%s' %s", p->word, broken);
	}
	if ((d->kind == DIST_UNIFORM || d->kind == DIST_TRIANGULAR) && d->b < d->a)
		return wml_fail(l->file, at, e, "cvar: 'upper' is less than 'lower'");
	if (d->kind == DIST_TRIANGULAR && (d->c < d->a || d->c > d->b))
		return wml_fail(l->file, at, e, "cvar: 'mode' must lie between 'lower' and 'upper'");
	if (!isfinite(wml_dist_mean(d)))
		return wml_fail(l->file, at, e, "cvar: the mean of such draws is more than can be counted");
	return 0;
}

static int unknown_cvar(const struct wml_lexer *l, struct wml_place at, const char *type, struct err *e)
{
	const char *words[ARRAY_LEN(cvars) + 1] = {0};
	struct buf all = {0};
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(cvars); i++) {
		words[i] = cvars[i].word;
		buf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	near = type ? str_nearest(type, words) : NULL;
	(void)wml_fail(l->file, at, e, "cvar: %s%.40s%s (%s)%s%s%s", type ? "'" : "",
		type ? type : "'type=' is missing", type ? "' is not known" : "", buf_str(&all),
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	buf_free(&all);
	return -1;
}

static int fill_cvar(const struct wml_lexer *l, struct wml_place at, const char *type,
	const char *parameters, struct wml_dist *d, struct err *e)
{
	const struct cvar_row *row = NULL;

	for (size_t i = 0; i < ARRAY_LEN(cvars); i++)
		if (type && strcmp(cvars[i].word, type) == 0)
			row = &cvars[i];
	if (!row)
		return unknown_cvar(l, at, type, e);
	d->kind = row->kind;
	for (size_t i = 0; i < ARRAY_LEN(row->parameters) && row->parameters[i].word; i++)
		*value_of(d, &row->parameters[i]) = row->parameters[i].otherwise;
	for (const char *s = parameters ? parameters : ""; *s;)
		if (take_parameter(l, at, &s, row, d, e))
			return -1;
	return check_cvar(l, at, row, d, e);
}

static int take_cvar_attr(struct wml *w, struct wml_lexer *l, char **type, char **parameters,
	struct wml_dist *d, struct err *e)
{
	static const char *const words[] = {"type", "parameters", "min", "max", "round", NULL};
	char near[WML_SHOWN], text[WML_SHOWN];
	int which = 0;

	while (words[which] && !wml_token_is(&l->now, words[which]))
		which++;
	if (!words[which])
		return wml_fail(l->file, l->now.at, e, "%s is not an attribute of a cvar%s",
			wml_token_shown(&l->now, text), wml_near(&l->now, words, near));
	if (wml_lex_next(l, e) || take_mark(l, '=', e))
		return -1;
	if (which >= 2)
		return take_number(w, l, which == 2 ? &d->min : which == 3 ? &d->max : &d->round, e);
	if (l->now.kind != TOKEN_WORD && l->now.kind != TOKEN_STRING)
		return wants(l, "a word", e);
	free(which ? *parameters : *type);
	*(which ? parameters : type) = xstrndup(l->now.s, l->now.len);
	return wml_lex_next(l, e);
}

int wml_take_cvar(struct wml *w, struct wml_lexer *l, struct wml_dist **ret, struct err *e)
{
	struct wml_place at = l->now.at;
	struct wml_dist *d = dist_new();
	char *type = NULL, *parameters = NULL;
	int rc;

	rc = take_cvar_attr(w, l, &type, &parameters, d, e);
	while (!rc && wml_token_is_mark(&l->now, ','))
		rc = wml_lex_next(l, e) || take_cvar_attr(w, l, &type, &parameters, d, e);
	if (rc || take_mark(l, ')', e) || fill_cvar(l, at, type, parameters, d, e)) {
		wml_dist_free(d);
		d = NULL;
	}
	free(type);
	free(parameters);
	if (!d)
		return -1;
	*ret = d;
	return 0;
}

/* ---- randvar(type=tabular, min=1k, randtable={{80, 1k, 4k}, …}) ---- */

struct randvar {
	enum wml_dist_kind kind;
	double min, mean, gamma, round;
	int has_mean;
};

static int take_slice(struct wml *w, struct wml_lexer *l, struct wml_dist *d, struct err *e)
{
	struct wml_slice *s;
	struct wml_place at = l->now.at;

	if (d->n_slices == WML_SLICES)
		return wml_fail(l->file, at, e, "a table has at most %d lines", WML_SLICES);
	d->slices = xreallocarray(d->slices, d->n_slices + 1, sizeof(*d->slices));
	s = &d->slices[d->n_slices++];
	*s = (struct wml_slice){0};
	if (take_mark(l, '{', e) || take_number(w, l, &s->share, e) || take_mark(l, ',', e) ||
		take_number(w, l, &s->low, e) || take_mark(l, ',', e) ||
		take_number(w, l, &s->high, e) || take_mark(l, '}', e))
		return -1;
	if (s->share < 0 || s->low < 0 || s->high < s->low)
		return wml_fail(l->file, at, e, "a line of a table is {percent, from, to}, from not over to");
	return 0;
}

static int take_table(struct wml *w, struct wml_lexer *l, struct wml_dist *d, struct err *e)
{
	struct wml_place at = l->now.at;
	double sum = 0;

	if (d->n_slices)
		return wml_fail(l->file, at, e, "a second table");
	if (take_mark(l, '{', e) || take_slice(w, l, d, e))
		return -1;
	while (wml_token_is_mark(&l->now, ','))
		if (wml_lex_next(l, e) || take_slice(w, l, d, e))
			return -1;
	if (take_mark(l, '}', e))
		return -1;
	for (size_t i = 0; i < d->n_slices; i++)
		sum += d->slices[i].share;
	if (sum < 99.5 || sum > 100.5)
		return wml_fail(l->file, at, e, "the table's parts add up to %g %%, not 100 %%", sum);
	for (size_t i = 0; i < d->n_slices; i++)
		d->slices[i].share /= sum;
	return 0;
}

static int take_randvar_type(struct wml_lexer *l, struct randvar *v, struct err *e)
{
	static const char *const words[] = {"uniform", "gamma", "tabular", NULL};
	static const enum wml_dist_kind kinds[] = {DIST_UNIFORM, DIST_GAMMA, DIST_TABLE};
	char near[WML_SHOWN], text[WML_SHOWN];

	for (int i = 0; words[i]; i++)
		if (wml_token_is(&l->now, words[i])) {
			v->kind = kinds[i];
			return wml_lex_next(l, e);
		}
	return wml_fail(l->file, l->now.at, e, "%s is no type of a randvar (uniform, gamma, tabular)%s",
		wml_token_shown(&l->now, text), wml_near(&l->now, words, near));
}

static int take_randvar_attr(struct wml *w, struct wml_lexer *l, struct randvar *v,
	struct wml_dist *d, unsigned *variable, struct err *e)
{
	static const char *const words[] = {"type", "randtable", "name", "min", "mean", "gamma", "round",
		"seed", "randsrc", NULL};
	double ignored, *const fields[] = {&v->min, &v->mean, &v->gamma, &v->round, &ignored};
	char near[WML_SHOWN], text[WML_SHOWN];
	int which = 0;

	while (words[which] && !wml_token_is(&l->now, words[which]))
		which++;
	if (!words[which] || (which == 2 && !variable))
		return wml_fail(l->file, l->now.at, e, "%s is not an attribute of a randvar%s",
			wml_token_shown(&l->now, text), wml_near(&l->now, words, near));
	if (wml_lex_next(l, e) || take_mark(l, '=', e))
		return -1;
	switch (which) {
	case 0:
		return take_randvar_type(l, v, e);
	case 1:
		return take_table(w, l, d, e);
	case 2:
		if (l->now.kind != TOKEN_VARIABLE)
			return wants(l, "a $variable", e);
		*variable = wml_variable_find(w, l->now.s, l->now.len);
		return wml_lex_next(l, e);
	case 8:
		return l->now.kind == TOKEN_WORD ? wml_lex_next(l, e) : wants(l, "a word", e);
	default:
		v->has_mean |= which == 4;
		return take_number(w, l, fields[which - 3], e);
	}
}

static int fill_randvar(const struct wml_lexer *l, struct wml_place at, const struct randvar *v,
	struct wml_dist *d, struct err *e)
{
	d->kind = v->kind;
	d->min = v->min;
	d->round = v->round;
	if (v->kind == DIST_TABLE && !d->n_slices)
		return wml_fail(l->file, at, e, "a tabular randvar wants a randtable");
	if (v->kind != DIST_TABLE && d->n_slices)
		return wml_fail(l->file, at, e, "a randtable wants type=tabular");
	if (v->kind == DIST_TABLE)
		return 0;
	d->relative = !v->has_mean;
	d->shift = v->min;
	d->a = (v->has_mean ? v->mean : v->min + 1) - v->min;
	d->b = v->gamma / 1000; /* as the language has it: 1500 is 1.5 */
	if (!(d->a > 0) || (v->kind == DIST_GAMMA && !(d->b > 0)))
		return wml_fail(l->file, at, e, "randvar: mean must be more than min, and gamma more than 0");
	if (v->kind == DIST_UNIFORM) {
		d->b = 2 * d->a;
		d->a = 0;
	}
	return 0;
}

int wml_take_randvar_attrs(struct wml *w, struct wml_lexer *l, char end, unsigned *ret_variable,
	struct wml_dist **ret, struct err *e)
{
	struct randvar v = {.kind = DIST_GAMMA, .gamma = 1500};
	struct wml_place at = l->now.at;
	struct wml_dist *d = dist_new();
	int rc;

	rc = take_randvar_attr(w, l, &v, d, ret_variable, e);
	while (!rc && wml_token_is_mark(&l->now, ','))
		rc = wml_lex_next(l, e) || take_randvar_attr(w, l, &v, d, ret_variable, e);
	if (rc || (end && take_mark(l, end, e)) || fill_randvar(l, at, &v, d, e)) {
		wml_dist_free(d);
		return -1;
	}
	*ret = d;
	return 0;
}
