/*
 * Conditions on comparisons. Owns what a struct condition owns.
 * Invariant: a condition is true or false only where the whole interval says so.
 */
#include "coordinator/results/condition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define BLANKS " \t"
#define PERCENT_MAX 1e6

static int wrong(const char *text, struct err *e, const char *what)
{
	return err_set(e, ERR_USAGE,
		"condition '%s': %s; METRIC > +N%% or METRIC < -N%% is expected, such as "
		"'elapsed > +5%%'",
		text, what);
}

int condition_metric(const char *word, enum metric_id *ret, struct err *e)
{
	enum metric_id found = metric_find(word);
	const char *names[METRIC_COUNT + 1], *near;
	struct buf list = {0};

	if (found < METRIC_COUNT) {
		*ret = found;
		return 0;
	}
	for (unsigned m = 0; m < METRIC_COUNT; m++) {
		names[m] = metric_table[m].name;
		buf_addf(&list, "%s%s", m ? ", " : "", names[m]);
	}
	names[METRIC_COUNT] = NULL;
	near = str_nearest(word, names);
	if (near)
		err_set(e, ERR_USAGE, "'%s' is no metric (did you mean '%s'?)", word, near);
	else
		err_set(e, ERR_USAGE, "'%s' is no metric: %s", word, buf_str(&list));
	buf_free(&list);
	return -1;
}

/* "+5%" -> ln 1.05 */
static int read_limit(const char *text, const char *s, double *ret, struct err *e)
{
	int negative = *s == '-', bad;
	char *digits;
	double percent;
	struct err ignored;

	s += *s == '+' || *s == '-';
	digits = xstrndup(s, strspn(s, "0123456789."));
	bad = strcmp(s + strlen(digits), "%") || units_parse_double(digits, &percent, &ignored);
	free(digits);
	if (bad || percent > PERCENT_MAX)
		return wrong(text, e, "no percentage of 0 to 1000000 % behind the sign");
	if (negative && percent >= 100)
		return wrong(text, e, "nothing can shrink by 100 %");
	*ret = log1p((negative ? -percent : percent) / 100);
	return 0;
}

/* Left of the sign: "METRIC" or "WORKLOAD METRIC". Takes the text. */
static int read_subject(const char *text, char *left, struct condition *c, struct err *e)
{
	size_t n = strlen(left);
	char *metric;

	while (n && strchr(BLANKS, left[n - 1]))
		left[--n] = '\0';
	for (metric = left + n; metric > left && !strchr(BLANKS, metric[-1]);)
		metric--;
	if (!*metric)
		return wrong(text, e, "no metric before the sign");
	if (condition_metric(metric, &c->metric, e))
		return -1;
	for (n = (size_t)(metric - left); n && strchr(BLANKS, left[n - 1]);)
		n--;
	c->workload = n ? xstrndup(left, n) : NULL;
	return 0;
}

int condition_parse(const char *text, int unless, struct condition *ret, struct err *e)
{
	struct condition c = {.unless = unless};
	const char *from = text + strspn(text, BLANKS), *sign = strpbrk(from, "<>");
	char *left, *right;
	size_t n;
	int bad;

	if (!sign)
		return wrong(text, e, "neither > nor <");
	c.above = *sign == '>';
	left = xstrndup(from, (size_t)(sign - from));
	sign++;
	right = xstrdup(sign + strspn(sign, BLANKS));
	for (n = strlen(right); n && strchr(BLANKS, right[n - 1]);)
		right[--n] = '\0';
	bad = read_limit(text, right, &c.limit, e) || read_subject(text, left, &c, e);
	free(left);
	free(right);
	if (bad)
		return -1;
	c.text = xstrdup(text);
	*ret = c;
	return 0;
}

void condition_clear(struct condition *c)
{
	free(c->text);
	free(c->workload);
	*c = (struct condition){0};
}

int condition_concerns(const struct condition *c, const struct result_comparison *r)
{
	return r->metric == c->metric && (!c->workload || strcmp(c->workload, r->workload) == 0);
}

enum condition_state condition_judge(const struct condition *c, const struct result_comparison *r)
{
	double lo = r->c.lo, hi = r->c.hi;

	if (r->invalid.n || r->c.verdict == VERDICT_TOO_FEW || isnan(lo) || isnan(hi))
		return CONDITION_UNDECIDED;
	if (fabs(r->c.d) < COMPARE_NO_RATIO && fabs(c->limit) < COMPARE_NO_RATIO)
		return CONDITION_UNDECIDED; /* so small a difference is none, and none is on no side of 0 */
	if (c->above ? lo > c->limit : hi < c->limit)
		return CONDITION_TRUE;
	if (c->above ? hi <= c->limit : lo >= c->limit)
		return CONDITION_FALSE;
	return CONDITION_UNDECIDED;
}

static enum condition_outcome outcome_of(
	const struct condition *c, const struct result_comparison *r)
{
	enum condition_state s = condition_judge(c, r);

	if (s == CONDITION_UNDECIDED)
		return OUTCOME_UNDECIDED;
	return (s == CONDITION_TRUE) == c->unless ? OUTCOME_PASSED : OUTCOME_FAILED;
}

/* The comparison that decides: the first of the worst ones; NULL where there is none. What a side has
 * no result of is undecided. */
static const struct result_comparison *decisive(
	const struct condition *c, const struct analysis *a, enum condition_outcome *ret)
{
	const struct result_comparison *worst = NULL;

	*ret = OUTCOME_UNDECIDED;
	for (size_t i = 0; i < a->n_comparisons + a->n_absent; i++) {
		const struct result_comparison *r = analysis_planned(a, i);
		enum condition_outcome o;

		if (!condition_concerns(c, r))
			continue;
		o = outcome_of(c, r);
		if (worst && o <= *ret)
			continue;
		worst = r;
		*ret = o;
	}
	return worst;
}

enum condition_outcome condition_outcome(const struct condition *c, const struct analysis *a)
{
	enum condition_outcome o;

	decisive(c, a, &o);
	return o;
}

const char *condition_outcome_name(enum condition_outcome o)
{
	static const char *const names[] = {"passed", "undecided", "failed"};

	return names[o];
}

void condition_reason(const struct condition *c, const struct analysis *a, struct buf *out)
{
	enum condition_outcome ignored;
	const struct result_comparison *r = decisive(c, a, &ignored);

	buf_addf(out, "%s %s: ", c->unless ? "fail-unless" : "fail-if", c->text);
	if (!r) {
		buf_adds(out, "nothing was compared");
		return;
	}
	buf_addf(out, "%s, %s vs %s", r->workload, r->subject, r->base);
	if (isnan(r->c.d) && !r->lack)
		buf_adds(out, " no change known");
	if (!isnan(r->c.d))
		buf_addc(out, ' ');
	compare_change_text(&r->c, out);
	if (r->c.verdict == VERDICT_TOO_FEW) {
		buf_adds(out, ", ");
		analysis_verdict_text(r, r->base, r->lacking, out);
	}
	for (size_t i = 0; i < r->invalid.n; i++)
		buf_addf(out, "%s%s", i ? ", " : ", invalid: ", r->invalid.v[i]);
}

void condition_text(const struct condition *c, const struct analysis *a, struct buf *out)
{
	buf_addf(out, "%-10s ", condition_outcome_name(condition_outcome(c, a)));
	condition_reason(c, a, out);
	buf_addc(out, '\n');
}
