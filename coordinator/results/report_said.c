/*
 * Whom a finding is about that several say alike, in the HTML and Markdown reports. Owns nothing beyond a
 * call.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_said.h"

#define NAMES_MAX 6 /* hosts or subjects named for one finding; more are counted */

static size_t hosts_of(const struct analysis *a, uint64_t run)
{
	for (size_t i = 0; i < a->n_runs; i++)
		if (a->runs[i].run->id == run)
			return a->runs[i].n_hosts;
	return 0;
}

int report_said_apart(const void *analysis, uint64_t run)
{
	return hosts_of(analysis, run) != 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many different ones there are; they are sorted then. */
static size_t count_names(struct strv *names)
{
	size_t n = 0;

	if (names->n)
		qsort(names->v, names->n, sizeof(*names->v), by_text);
	for (size_t i = 0; i < names->n; i++)
		n += i == 0 || strcmp(names->v[i], names->v[i - 1]) != 0;
	return n;
}

/* The first NAMES_MAX different ones as they came, and how many more there are. all: their number where
 * they are all that there are. */
static void add_names(struct strv *names, const char *before, size_t all, struct buf *out)
{
	struct buf first = {0};
	size_t shown = 0, count;

	for (size_t i = 0; i < names->n && shown < NAMES_MAX; i++) {
		size_t k = 0;

		while (strcmp(names->v[k], names->v[i]) != 0)
			k++;
		if (k == i)
			buf_addf(&first, "%s%s", shown++ ? ", " : "", names->v[i]);
	}
	count = count_names(names);
	if (count && out->len)
		buf_adds(out, before);
	if (count > shown && count == all)
		buf_addf(out, "all %zu hosts", all);
	else
		buf_adds(out, buf_str(&first));
	if (count > shown && count != all)
		buf_addf(out, " and %zu more", count - shown);
	buf_free(&first);
	strv_free(names);
}

static void add_name(struct strv *names, const char *name)
{
	if (*name && (names->n == 0 || strcmp(names->v[names->n - 1], name) != 0))
		strv_add(names, name);
}

void report_said_about(const struct said *s, size_t i, const struct analysis *a, report_name_fn name,
	const void *arg, struct buf *out)
{
	struct strv subjects = {0}, hosts = {0};
	struct buf subject = {0};
	char host[REPORT_HOST_MAX];

	for (size_t k = i; k < s->n; k = s->next[k]) {
		buf_reset(&subject);
		finding_subject(s->v[k], &subject);
		add_name(&subjects, buf_str(&subject));
		if (s->v[k]->host)
			add_name(&hosts, name(arg, s->v[k]->host, host));
	}
	add_names(&subjects, "", 0, out);
	add_names(&hosts, " on ", hosts_of(a, s->v[i]->run), out);
	buf_free(&subject);
}
