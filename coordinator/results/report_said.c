/*
 * Whom a finding is about that several say alike, in the HTML and Markdown reports. Owns nothing beyond a
 * call.
 */
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/report_said.h"

#define NAMES_MAX 6 /* hosts or subjects named for one finding; more are counted */

int report_said_apart(const void *analysis, uint64_t run)
{
	const struct analysis *a = analysis;

	for (size_t i = 0; i < a->n_runs; i++)
		if (a->runs[i].run->id == run)
			return a->runs[i].n_hosts >= 2;
	return 1;
}

struct names {
	struct buf text, last; /* as they are shown; the last name */
	size_t n;
};

/* Unless it was the last one. */
static void add_name(struct names *to, const char *name)
{
	if (!*name || strcmp(buf_str(&to->last), name) == 0)
		return;
	buf_reset(&to->last);
	buf_adds(&to->last, name);
	if (to->n++ < NAMES_MAX)
		buf_addf(&to->text, "%s%s", to->text.len ? ", " : "", name);
}

static void add_names(struct names *of, const char *before, struct buf *out)
{
	if (of->n)
		buf_addf(out, "%s%s", out->len ? before : "", buf_str(&of->text));
	if (of->n > NAMES_MAX)
		buf_addf(out, " and %zu more", of->n - NAMES_MAX);
	buf_free(&of->text);
	buf_free(&of->last);
}

void report_said_about(const struct said *s, size_t i, report_name_fn name, const void *arg, struct buf *out)
{
	struct names subjects = {0}, hosts = {0};
	struct buf subject = {0};
	char host[REPORT_HOST_MAX];

	for (size_t k = i; k < s->n; k = s->next[k]) {
		buf_reset(&subject);
		finding_subject(s->v[k], &subject);
		add_name(&subjects, buf_str(&subject));
		if (s->v[k]->host)
			add_name(&hosts, name(arg, s->v[k]->host, host));
	}
	add_names(&subjects, "", out);
	add_names(&hosts, " on ", out);
	buf_free(&subject);
}
