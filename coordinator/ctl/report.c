/* report: results per layout, from runs and files. */
#include <string.h>

#include "coordinator/ctl/outfile.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/sources.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec report_options_given[] = {
	{"format", 'f', "FORMAT", "text, markdown, csv, json or html; else by FILE's name, else text"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{"long", 'l', NULL, "also median, spread, each trial, ranks, what files were read as"},
	{"redact", 0, NULL, "host names become host-1, …; serials, WWNs and paths go"},
	{0},
};

static int read_all(struct ctl *c, const struct args *a, struct sources *s, struct err *e)
{
	for (int i = 0; i < a->n; i++)
		if (sources_add(s, c, a->v[i], NULL, e))
			return -1;
	return sources_end(s, e);
}

/* As asked for, else what the output's name is for, else text. */
static const char *format_of(const struct ctl *c, const char *asked, const char *path)
{
	const char *named = path ? fetch_format_of(path) : NULL;

	if (asked)
		return asked;
	if (c->json)
		return "json";
	return named ? named : "text";
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	const char *path = args_get(a, "output");
	const char *format = format_of(c, args_get(a, "format"), path);
	struct report_options ro = {.color = !path && c->color_out,
		.long_form = args_get(a, "long") != NULL,
		.width = path ? 0 : c->width_out,
		.redact = args_get(a, "redact") != NULL};
	struct sources s = {0};
	struct buf out = {0};
	struct outfile o;
	int r;

	s.disks = !strcmp(format, "html");
	if (fetch_format_check(format, e))
		return -1;
	if (c->json && strcmp(format, "json"))
		return err_set(e, ERR_USAGE, "--json and --format %s: one of them", format);
	r = read_all(c, a, &s, e);
	if (!r)
		r = fetch_report(&s.set, format, &ro, &out, e);
	if (!r && ro.long_form && !ro.redact && !strcmp(format, "text") && s.log.len) {
		buf_addc(&out, '\n');
		print_safe_lines(buf_str(&s.log), "", &out);
	}
	if (!r && !(r = outfile_open(path, &o, e))) {
		r = outfile_write(&o, buf_str(&out), out.len, e);
		r = outfile_close(&o, !r, e) || r ? -1 : 0;
	}
	buf_free(&out);
	sources_clear(&s);
	return r;
}

const struct verb verb_report = {
	.name = "report",
	.args = "RUN|FILE…",
	.summary = "results per layout and workload",
	.help = "A FILE holds the lines of `export`, or results of another tool, as `compare` "
		"reads them; anything with a / or that exists is one, and - is standard input. "
		"For files no coordinator is needed.\n",
	.examples = "arraymark report last\n"
		"arraymark report 12 --long\n"
		"arraymark report last --format html --output report.html\n",
	.options = report_options_given,
	.min_args = 1,
	.max_args = -1,
	.run = run,
};
