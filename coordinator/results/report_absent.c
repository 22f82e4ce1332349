/*
 * Words for what comparisons lack, as all reports say them. Owns nothing beyond a call.
 * Invariant: a lack is said once, however many comparisons it spoils; hosts have the names that the
 * report gives them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"

void report_verdict_text(const struct result_set *s, const struct report_options *o,
	const struct result_comparison *c, struct buf *out)
{
	char a[REPORT_HOST_MAX], b[REPORT_HOST_MAX];

	if (c->lack && c->between_hosts)
		analysis_verdict_text(
			c, report_host(s, o, c->base, a), report_host(s, o, c->lacking, b), out);
	else
		analysis_verdict_text(c, c->base, c->lacking, out);
}

/* What lacks what; then the hosts. */
static int by_lack(const struct result_comparison *a, const struct result_comparison *b)
{
	int c = (a->workload_index > b->workload_index) - (a->workload_index < b->workload_index);

	c = c ? c : strcmp(a->lacking, b->lacking);
	c = c ? c : a->between_hosts - b->between_hosts;
	return c ? c : strcmp(a->layout ? a->layout : "", b->layout ? b->layout : "");
}

static const char *host_of(const struct result_comparison *c)
{
	return c->host ? c->host : "";
}

static int by_host(const void *pa, const void *pb)
{
	const struct result_comparison *a = *(const struct result_comparison *const *)pa;
	const struct result_comparison *b = *(const struct result_comparison *const *)pb;
	int c = by_lack(a, b);

	return c ? c : strcmp(host_of(a), host_of(b));
}

/* Whether anything of the run has results of the workload. */
static int is_there(const struct analysis_run *r, uint32_t workload)
{
	for (size_t i = 0; i < r->n_had; i++)
		if (r->had[i].workload == workload)
			return 1;
	return 0;
}

/* Where those of one lack end, from `from` on; ret_hosts is how many hosts they are of. */
static size_t group_end(const struct result_comparison **v, size_t n, size_t from, int whole,
	size_t *ret_hosts)
{
	size_t to = from + 1, hosts = 1;

	for (; to < n && (whole ? v[from]->workload_index == v[to]->workload_index
				: by_lack(v[from], v[to]) == 0);
		to++)
		hosts += strcmp(host_of(v[to - 1]), host_of(v[to])) != 0;
	*ret_hosts = hosts;
	return to;
}

void report_absent(const struct result_set *s, const struct report_options *o,
	const struct analysis *a, const struct analysis_run *r, struct strv *ret)
{
	const struct result_comparison **v = xcalloc(a->n_absent + 1, sizeof(*v));
	char host[REPORT_HOST_MAX];
	struct buf text = {0};
	size_t n = 0, to;

	for (size_t i = 0; i < a->n_absent; i++)
		if (a->absent[i].run == r->run->id)
			v[n++] = &a->absent[i];
	if (n)
		qsort(v, n, sizeof(*v), by_host);
	for (size_t from = 0; from < n; from = to) {
		int none = !is_there(r, v[from]->workload_index);
		size_t hosts;

		to = group_end(v, n, from, none, &hosts);
		buf_reset(&text);
		if (none)
			buf_addf(&text, "there is no result of %s", v[from]->workload);
		else
			report_verdict_text(s, o, v[from], &text);
		if (none)
			hosts = 0;
		else if (v[from]->host && r->n_hosts > 1 && hosts == 1)
			buf_addf(&text, " on %s", report_host(s, o, v[from]->host, host));
		if (hosts > 1)
			buf_addf(&text, " on %zu hosts", hosts);
		strv_add(ret, buf_str(&text));
	}
	buf_free(&text);
	free(v);
}
