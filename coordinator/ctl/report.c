/* report: results per layout, from a run or from files with export lines. */
#include <string.h>
#include <unistd.h>

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/fetch.h"
#include "coordinator/ctl/outfile.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec report_options_given[] = {
	{"format", 'f', "FORMAT", "text (default) or json"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{"long", 'l', NULL, "also median, standard deviation and each trial"},
	{"redact", 0, NULL, "host names become host-1, …; serials, WWNs and paths go"},
	{0},
};

static int is_file(const char *s)
{
	return !strcmp(s, "-") || strchr(s, '/') || !access(s, F_OK);
}

/* One connection serves all runs; none is made when there are only files. */
static int fetch_all(struct ctl *c, const struct args *a, struct result_set *set, struct err *e)
{
	struct connection conn = {0};
	int r = 0;

	for (int i = 0; i < a->n && !r; i++) {
		if (is_file(a->v[i]))
			r = fetch_add_file(a->v[i], set, e);
		else if (!conn.client && connection_open(c, &conn, e))
			r = -1;
		else
			r = fetch_add_run(conn.client, a->v[i], set, e);
	}
	connection_close(&conn);
	return r ? -1 : fetch_end(set, e);
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	const char *format = args_get(a, "format"), *path = args_get(a, "output");
	struct report_options ro = {.color = !path && c->color_out,
		.long_form = args_get(a, "long") != NULL,
		.redact = args_get(a, "redact") != NULL};
	struct result_set set = {0};
	struct buf out = {0};
	struct outfile o;
	int r;

	format = format ? format : c->json ? "json" : "text";
	if (fetch_format_check(format, e))
		return -1;
	r = fetch_all(c, a, &set, e);
	if (!r)
		r = fetch_report(&set, format, &ro, &out, e);
	if (!r && !(r = outfile_open(path, &o, e))) {
		r = outfile_write(&o, buf_str(&out), out.len, e);
		r = outfile_close(&o, !r, e) || r ? -1 : 0;
	}
	buf_free(&out);
	result_set_clear(&set);
	return r;
}

const struct verb verb_report = {
	.name = "report",
	.args = "RUN|FILE…",
	.summary = "results per layout and workload",
	.help = "A FILE holds the lines of `export`; anything with a / or that exists is one, and "
		"-\n"
		"is standard input. For files no coordinator is needed.\n",
	.options = report_options_given,
	.min_args = 1,
	.max_args = -1,
	.run = run,
};
