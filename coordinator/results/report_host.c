/*
 * Names of hosts as reports show them. Owns nothing.
 * Invariant: one host has one name in all reports of a set; redacted ones tell nothing but order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report.h"

/* Of all that has a host, the i-th one's. */
static const char *host_at(const struct result_set *s, size_t i)
{
	if (i < s->n_trials)
		return s->trials[i].host;
	i -= s->n_trials;
	return i < s->n_envs ? s->envs[i].host : s->summaries[i - s->n_envs].host;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Its place among the different names, from 1. What has hosts mostly stands by them. */
static unsigned place_of(const struct result_set *s, const char *host)
{
	size_t all = s->n_trials + s->n_envs + s->n_summaries, n = 0;
	const char **v = xcalloc(all + 1, sizeof(*v));
	unsigned place = 1;

	for (size_t i = 0; i < all; i++) {
		const char *h = host_at(s, i);

		if (strcmp(h, host) < 0 && (n == 0 || strcmp(v[n - 1], h) != 0))
			v[n++] = h;
	}
	if (n)
		qsort(v, n, sizeof(*v), by_name);
	for (size_t i = 0; i < n; i++)
		place += i == 0 || strcmp(v[i - 1], v[i]) != 0;
	free(v);
	return place;
}

const char *report_host(const struct result_set *s, const struct report_options *o,
	const char *host, char out[REPORT_HOST_MAX])
{
	if (o->redact)
		snprintf(out, REPORT_HOST_MAX, "host-%u", place_of(s, host));
	else
		snprintf(out, REPORT_HOST_MAX, "%s", host);
	return out;
}

const char *report_unit_mark(const struct result_row *row)
{
	return row->unit_assumed ? UNIT_MARK : "";
}
