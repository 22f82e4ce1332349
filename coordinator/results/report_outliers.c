/* See report_outliers.h. Owns nothing beyond a call. */
#include "coordinator/results/report_outliers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/compare.h"

#define PLACES_MAX 6 /* told of one host or disk; more are counted */

/* What stands out in some places, from the first of `of` on. */
struct odd {
	const struct result_outlier **of;
	size_t n, first; /* first: where it came */
	double most;     /* |ln ratio| */
};

static int compare_names(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int compare_who(const struct result_outlier *a, const struct result_outlier *b)
{
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : compare_names(a->host, b->host);
	return c ? c : compare_names(a->disk, b->disk);
}

/* They are of one array, so that the address tells which came first. */
static int by_who(const void *pa, const void *pb)
{
	const struct result_outlier *a = *(const struct result_outlier *const *)pa;
	const struct result_outlier *b = *(const struct result_outlier *const *)pb;
	int c = compare_who(a, b);

	return c ? c : (a > b) - (a < b);
}

static int furthest_first(const void *pa, const void *pb)
{
	const struct odd *a = pa, *b = pb;
	int c = (a->most < b->most) - (a->most > b->most);

	return c ? c : (a->first > b->first) - (a->first < b->first);
}

static void odd_line(const struct odd *o, report_name_fn name, const void *arg, struct strv *ret)
{
	const struct result_outlier *first = o->of[0];
	char host[REPORT_HOST_MAX];
	struct buf line = {0};

	buf_addf(&line, "%s%s%s on ", name(arg, first->host, host), first->disk ? " disk " : "",
		first->disk ? first->disk : "");
	for (size_t i = 0; i < o->n && i < PLACES_MAX; i++) {
		buf_addf(&line, "%s%s/%s: %s ", i ? ", " : "", o->of[i]->layout, o->of[i]->workload,
			metric_table[o->of[i]->metric].name);
		compare_percent_text(log(o->of[i]->ratio), &line);
	}
	if (o->n > PLACES_MAX)
		buf_addf(&line, " and in %zu more", o->n - PLACES_MAX);
	buf_adds(&line, " against its peers");
	strv_add(ret, buf_str(&line));
	buf_free(&line);
}

void report_outlier_lines(const struct analysis *a, const struct analysis_run *r, report_name_fn name,
	const void *arg, struct strv *ret)
{
	const struct result_outlier **v = xcalloc(a->n_outliers + 1, sizeof(*v));
	struct odd *odd = xcalloc(a->n_outliers + 1, sizeof(*odd));
	size_t n = 0, found = 0;

	for (size_t i = 0; i < a->n_outliers; i++)
		if (!r || a->outliers[i].run == r->run->id)
			v[n++] = &a->outliers[i];
	if (n)
		qsort(v, n, sizeof(*v), by_who);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || compare_who(v[i - 1], v[i]) != 0)
			odd[found++] = (struct odd){v + i, 0, (size_t)(v[i] - a->outliers), 0};
		odd[found - 1].n++;
		odd[found - 1].most = fmax(odd[found - 1].most, fabs(log(v[i]->ratio)));
	}
	if (found)
		qsort(odd, found, sizeof(*odd), furthest_first);
	for (size_t i = 0; i < found; i++)
		odd_line(&odd[i], name, arg, ret);
	free(odd);
	free(v);
}
