/* report: results per layout, from runs and files. */
#include "coordinator/ctl/output.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/sources.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec report_options_given[] = {
	{"input-format", 0, "FORMAT", "what the files are: dd, fio, time, … (else found by content)"},
	{"format", 'f', "FORMAT",
		"of what is printed: text, markdown, csv, json or html; else by FILE's name, else text"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{"long", 'l', NULL, "also median, spread, each trial, ranks, what files were read as"},
	{"redact", 0, NULL, "host names become host-1, …; serials, WWNs and paths go"},
	{0},
};

static int read_all(struct ctl *c, const struct args *a, const struct format *format, struct sources *s,
	struct err *e)
{
	for (int i = 0; i < a->n; i++)
		if (sources_add(s, c, a->v[i], format, e))
			return -1;
	return sources_end(s, e);
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	const struct format *format; /* of the files; NULL: found by content */
	struct report_options ro;
	struct sources s = {0};
	struct buf out = {0};
	struct output o;
	int r;

	if (sources_input_format(a, &format, e) || output_choose(c, a, &o, e) || sources_keep(a, e))
		return -1;
	ro = output_report_options(c, &o);
	ro.long_form = args_get(a, "long") != NULL;
	ro.redact = args_get(a, "redact") != NULL;
	ro.drain = output_more;
	ro.drain_arg = &o;
	s.plots = output_is(&o, "html") ? PLOTS_OF_FIRST : PLOTS_NONE;
	r = read_all(c, a, format, &s, e);
	if (!r)
		r = fetch_report(&s.set, o.format, &ro, &out, e);
	if (!r && ro.long_form && !ro.redact && output_is(&o, "text") && s.log.len) {
		buf_addc(&out, '\n');
		print_safe_lines(buf_str(&s.log), "", &out);
	}
	r = r ? r : output_write(&o, &out, e);
	output_drop(&o);
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
