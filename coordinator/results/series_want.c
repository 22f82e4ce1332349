/*
 * What a report wants of a run's series, as words between control client and coordinator. Owns what
 * struct series_want owns.
 * Invariant: a trial whose series could change the report is asked for.
 */
#include "coordinator/results/series_want.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report_html.h"

#define HOST "host="
#define RATES "rates="
#define ALL "all"

struct series_want {
	int all;
	struct strv hosts, workloads; /* digits */
};

static void add_rates(const struct plan *p, struct strv *ret)
{
	for (size_t i = 0; p && i < p->n_workloads; i++)
		if (rule_wants_rates(&p->workloads[i]))
			strv_addf(ret, RATES "%zu", i);
}

static int has_rows(const struct analysis *a, const struct analysis_run *r, const char *host, uint32_t w)
{
	for (uint32_t l = 0; l < r->run->layouts.n; l++)
		if (analysis_row(a, r, host, w, r->headline[w], l))
			return 1;
	return 0;
}

/* The hosts that html_grids() makes figures of. */
static void add_hosts(const struct analysis *a, const struct analysis_run *r, struct strv *ret)
{
	for (uint32_t w = 0; w < r->n_workloads; w++) {
		unsigned found = 0;

		for (size_t h = 0; h < r->n_hosts && found < HTML_HOSTS_MAX; h++) {
			char *word;

			if (!has_rows(a, r, r->hosts[h], w))
				continue;
			found++;
			word = xasprintf(HOST "%s", r->hosts[h]);
			if (strv_has(ret, word))
				free(word);
			else
				strv_add_owned(ret, word);
		}
	}
}

int series_want_of(const struct result_set *s, enum series_plots plots, struct strv *ret, struct err *e)
{
	struct analysis a;
	struct plan *p;

	if (!s->n_runs || !s->n_trials)
		return 0;
	if (plots == PLOTS_OF_ANY) {
		strv_add(ret, ALL);
		return 0;
	}
	if (plots == PLOTS_NONE) {
		p = analysis_plan(&s->runs[0]);
		add_rates(p, ret);
		plan_free(p);
		return 0;
	}
	if (analysis_begin(s, &a, e))
		return -1;
	add_rates(a.runs[0].plan, ret);
	add_hosts(&a, &a.runs[0], ret);
	analysis_clear(&a);
	return 0;
}

struct series_want *series_want_parse(const char *lines)
{
	struct series_want *w = xcalloc(1, sizeof(*w));

	while (*lines) {
		size_t n = strcspn(lines, "\n");

		if (n > strlen(HOST) && str_starts(lines, HOST))
			strv_add_owned(&w->hosts,
				xstrndup(lines + strlen(HOST), n - strlen(HOST)));
		else if (n > strlen(RATES) && str_starts(lines, RATES))
			strv_add_owned(&w->workloads,
				xstrndup(lines + strlen(RATES), n - strlen(RATES)));
		else if (n == strlen(ALL) && str_starts(lines, ALL))
			w->all = 1;
		lines += n + (lines[n] == '\n');
	}
	return w;
}

void series_want_free(struct series_want *w)
{
	if (!w)
		return;
	strv_free(&w->hosts);
	strv_free(&w->workloads);
	free(w);
}

int series_want_host(const struct series_want *w, const char *host)
{
	return w->all || strv_has(&w->hosts, host);
}

int series_want_rates(const struct series_want *w, uint32_t workload)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", workload);
	return w->workloads.n && strv_has(&w->workloads, digits);
}
