/*
 * compare: verdicts over layouts, hosts, runs and plain result files, and conditions on them for
 * scripts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/output.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/sources.h"
#include "coordinator/ctl/verbs.h"
#include "coordinator/results/condition.h"

static const struct option_spec compare_options[] = {
	{"metric", 'm', "METRIC", "what to compare, such as throughput; several by commas"},
	{"by", 'b', "WHAT", "layout, host or run: what stands beside each other"},
	{"workload", 'w', "A=B", "the workload that is A in one is B in another; may be repeated"},
	{"margin", 0, "N%", "differences below it do not matter"},
	{"fail-if", 0, "CONDITION", "exit status 4 if it is proven: \"elapsed > +5%\""},
	{"fail-unless", 0, "CONDITION",
		"exit status 4 if the contrary is proven: \"elapsed < +5%\""},
	{"undecided", 0, "pass|fail", "what to make of exit status 5"},
	{"input-format", 0, "FORMAT", "what the files are: dd, fio, time, … (else found by content)"},
	{"format", 'f', "FORMAT",
		"of what is printed: text, markdown, csv, json or html; else by FILE's name, else text"},
	{"output", 'o', "FILE", "write there instead of stdout"},
	{"long", 'l', NULL, "also each trial, and what each line of the files was taken for"},
	{0},
};

enum by { BY_UNSAID, BY_LAYOUTS, BY_HOSTS, BY_RUNS };
struct request {
	enum by by;
	const struct format *format; /* of the files; NULL: found by content */
	struct output output;
	struct condition *conditions;
	size_t n_conditions;
	int undecided;           /* exit status instead of 5 */
	struct result_wish wish; /* goes into the set */
	struct sources sources;
};

static void request_clear(struct request *q)
{
	for (size_t i = 0; i < q->n_conditions; i++)
		condition_clear(&q->conditions[i]);
	free(q->conditions);
	strv_free(&q->wish.chosen);
	sources_clear(&q->sources);
}

/* ---- options ---- */

static void add_metric(struct result_wish *w, enum metric_id m)
{
	for (size_t i = 0; i < w->n_metrics; i++)
		if (w->metrics[i] == m)
			return;
	w->metrics[w->n_metrics++] = m;
}

static int read_metrics(const struct args *a, struct request *q, struct err *e)
{
	struct strv names = {0};
	int bad = 0;

	args_all(a, "metric", 1, &names);
	for (size_t i = 0; i < names.n && !bad; i++) {
		enum metric_id m;

		bad = condition_metric(names.v[i], &m, e);
		if (!bad)
			add_metric(&q->wish, m);
	}
	q->wish.only = names.n > 0;
	strv_free(&names);
	return bad;
}

/* What a condition speaks of is compared, whether it was asked for or not. */
static int read_conditions(const struct args *a, struct request *q, struct err *e)
{
	q->conditions = xcalloc(a->n_given + 1, sizeof(*q->conditions));
	for (size_t i = 0; i < a->n_given; i++) {
		const char *name = a->given[i].spec->name;
		int unless = !strcmp(name, "fail-unless");

		if (!unless && strcmp(name, "fail-if"))
			continue;
		if (condition_parse(a->given[i].value, unless, &q->conditions[q->n_conditions], e))
			return -1;
		add_metric(&q->wish, q->conditions[q->n_conditions++].metric);
	}
	return 0;
}

static int read_undecided(const struct args *a, struct request *q, struct err *e)
{
	const char *word = args_get(a, "undecided");

	q->undecided = EXIT_UNDECIDED;
	if (!word)
		return 0;
	if (!q->n_conditions)
		return err_set(e, ERR_USAGE, "--undecided: there is no --fail-if or --fail-unless");
	if (strcmp(word, "pass") && strcmp(word, "fail"))
		return err_set(e, ERR_USAGE, "--undecided %s: pass or fail is expected", word);
	q->undecided = strcmp(word, "pass") ? EXIT_CONDITION : EXIT_DONE;
	return 0;
}

static int read_by(const struct args *a, struct request *q, struct err *e)
{
	static const char *const words[] = {NULL, "layout", "host", "run"};
	const char *by = args_get(a, "by");

	if (!by)
		return 0;
	for (unsigned i = BY_LAYOUTS; i <= BY_RUNS; i++)
		if (!strcmp(by, words[i]))
			q->by = (enum by)i;
	if (q->by == BY_UNSAID)
		return err_set(e, ERR_USAGE, "--by %s: layout, host or run is expected", by);
	return 0;
}

static int read_formats(const struct ctl *c, const struct args *a, struct request *q, struct err *e)
{
	if (sources_input_format(a, &q->format, e) || output_choose(c, a, &q->output, e) || sources_keep(a, e))
		return -1;
	q->sources.plots = output_is(&q->output, "html") ? PLOTS_OF_ANY : PLOTS_NONE;
	return 0;
}

static int read_options(const struct ctl *c, const struct args *a, struct request *q, struct err *e)
{
	const char *margin = args_get(a, "margin");
	struct err why;

	if (read_metrics(a, q, e) || read_conditions(a, q, e) || read_undecided(a, q, e) ||
		read_by(a, q, e) || read_formats(c, a, q, e))
		return -1;
	q->wish.has_margin = margin != NULL;
	if (margin && units_parse_percent(margin, &q->wish.margin, &why))
		return err_set(e, ERR_USAGE, "--margin %s", why.text);
	return 0;
}

/* ---- what is compared ---- */

static int has_layout(const struct result_set *s, const char *name)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (strv_has(&s->runs[i].layouts, name))
			return 1;
	return 0;
}

static int has_host(const struct result_set *s, const char *name)
{
	for (size_t i = 0; i < s->n_trials; i++)
		if (!strcmp(s->trials[i].host, name))
			return 1;
	for (size_t i = 0; i < s->n_summaries; i++)
		if (!strcmp(s->summaries[i].host, name))
			return 1;
	return 0;
}

/* Whether a word names a layout or host of what was read so far; then it is one of those compared.
 */
static int choose(struct request *q, const char *word)
{
	const struct result_set *s = &q->sources.set;

	if (q->by == BY_RUNS || sources_is_file(word))
		return 0;
	if (q->by != BY_HOSTS && has_layout(s, word))
		q->by = BY_LAYOUTS;
	else if (q->by != BY_LAYOUTS && has_host(s, word))
		q->by = BY_HOSTS;
	else
		return 0;
	if (!strv_has(&q->wish.chosen, word))
		strv_add(&q->wish.chosen, word);
	return 1;
}

/* Behind the first one an argument may have been meant as a layout or a host. */
static int nothing_of_that_name(const struct request *q, struct err *e)
{
	const struct result_run *r = q->sources.set.runs;
	struct buf names = {0};
	struct err why;

	if (e->code != ERR_NOTFOUND || !q->sources.n)
		return -1;
	for (size_t i = 0; i < r->layouts.n; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", r->layouts.v[i]);
	err_copy(&why, e);
	err_set(e, why.code, "%.300s; nor is it a host or one of the layouts %.500s", why.text,
		buf_str(&names));
	buf_free(&names);
	return -1;
}

static int read_sources(struct ctl *c, const struct args *a, struct request *q, struct err *e)
{
	for (int i = 0; i < a->n; i++)
		if (!choose(q, a->v[i]) && sources_add(&q->sources, c, a->v[i], q->format, e))
			return nothing_of_that_name(q, e);
	if (q->wish.chosen.n == 1)
		return err_set(e, ERR_USAGE, "%s alone: name a second one to compare it with",
			q->wish.chosen.v[0]);
	return sources_end(&q->sources, e);
}

static int has_one_layout_each(const struct result_set *s)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].layouts.n != 1)
			return 0;
	return 1;
}

/* --workload A=B. Neither a plan's names nor those of files have a '=' in front. */
static int join_workloads(const struct args *a, struct request *q, struct err *e)
{
	for (size_t i = 0; i < a->n_given; i++) {
		const char *word = a->given[i].value, *from;
		char *to;
		int bad;

		if (strcmp(a->given[i].spec->name, "workload"))
			continue;
		from = strchr(word, '=');
		if (!from || from == word || !from[1])
			return err_set(e, ERR_USAGE, "--workload %s: A=B is expected", word);
		to = xstrndup(word, (size_t)(from - word));
		bad = strcmp(to, from + 1) && pivot_same_workload(&q->sources.set, to, from + 1, e);
		free(to);
		if (bad)
			return -1;
	}
	return 0;
}

/* Whether some source has two hosts or more, which are compared within it. */
static int has_hosts_within(const struct sources *s)
{
	const struct result_set *set = &s->set;

	for (size_t i = 0; i < s->n; i++) {
		const char *first = NULL;

		for (size_t k = 0; k < set->n_trials + set->n_summaries; k++) {
			int is_trial = k < set->n_trials;
			size_t m = k - set->n_trials;
			uint64_t run = is_trial ? set->trials[k].run : set->summaries[m].run;
			const char *host = is_trial ? set->trials[k].host : set->summaries[m].host;

			if (run != s->v[i].run)
				continue;
			first = first ? first : host;
			if (strcmp(first, host) != 0)
				return 1;
		}
	}
	return 0;
}

/* Hosts of all sources beside each other; where they can't be, those within each, if there are any. */
static int arrange_hosts(struct sources *s, struct err *e)
{
	struct err why;

	if (!pivot_hosts(&s->set, s->v, s->n, &why))
		return 0;
	if (has_hosts_within(s))
		return 0;
	return err_copy(e, &why), -1;
}

/* Several runs stand beside each other, unless something else was asked for. Files with one layout
 * each are that layout. */
static int arrange(struct request *q, struct err *e)
{
	struct sources *s = &q->sources;
	int by_run = q->by == BY_RUNS || (q->by == BY_UNSAID && s->n > 1) ||
		     (q->by == BY_LAYOUTS && s->n > 1 && has_one_layout_each(&s->set));

	if (q->by == BY_HOSTS && s->n > 1 && arrange_hosts(s, e))
		return -1;
	if (by_run && s->n < 2)
		return err_set(e, ERR_USAGE, "--by run: one run alone cannot be compared");
	if (by_run && pivot_sources(&s->set, s->v, s->n, e))
		return -1;
	if (by_run || q->by == BY_LAYOUTS)
		q->wish.by = BY_LAYOUT;
	else if (q->by == BY_HOSTS)
		q->wish.by = BY_HOST;
	s->set.wish = q->wish;
	memset(&q->wish, 0, sizeof(q->wish));
	if (s->set.wish.chosen.n)
		pivot_choose(&s->set);
	return 0;
}

/* ---- output ---- */

static int status_of(const struct request *q, const struct analysis *a)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < q->n_conditions; i++) {
		enum condition_outcome o = condition_outcome(&q->conditions[i], a);

		if (o == OUTCOME_FAILED)
			return EXIT_CONDITION;
		if (o == OUTCOME_UNDECIDED)
			status = q->undecided;
	}
	return status;
}

static void add_to_text(
	const struct request *q, const struct analysis *a, int long_form, struct buf *out)
{
	struct buf text = {0};

	if (long_form && q->sources.log.len)
		buf_addf(&text, "\n%s", buf_str(&q->sources.log));
	if (q->n_conditions)
		buf_addc(&text, '\n');
	for (size_t i = 0; i < q->n_conditions; i++)
		condition_text(&q->conditions[i], a, &text);
	if (text.len)
		print_safe_lines(buf_str(&text), "", out);
	buf_free(&text);
}

/* The report's document with what compare knows beside it. Replaces the text in out. */
static int add_to_json(const struct request *q, const struct analysis *a, int status, int long_form,
	struct buf *out, struct err *e)
{
	json_t *doc, *list = json_array();

	if (json_parse("report", buf_str(out), out->len, out->len, &doc, e)) {
		json_decref(list);
		return -1;
	}
	for (size_t i = 0; i < q->n_conditions; i++) {
		const struct condition *c = &q->conditions[i];
		struct buf text = {0};
		json_t *o = json_object();

		condition_text(c, a, &text);
		json_object_set_new(o, "condition", json_text(c->text));
		json_object_set_new(o, "kind", json_text(c->unless ? "fail-unless" : "fail-if"));
		json_object_set_new(
			o, "outcome", json_text(condition_outcome_name(condition_outcome(c, a))));
		json_object_set_new(o, "text", json_text_n(buf_str(&text), text.len - 1));
		json_array_append_new(list, o);
		buf_free(&text);
	}
	json_object_set_new(doc, "conditions", list);
	json_object_set_new(doc, "exit_status", json_integer(status));
	if (long_form)
		json_object_set_new(doc, "read", fetch_log_json(&q->sources.log));
	buf_reset(out);
	json_document(doc, out);
	json_decref(doc);
	return 0;
}

/* The words of a list as an error names them. */
static int no_such(const struct condition *c, const char *what, const char *word, const struct strv *there,
	struct err *e)
{
	struct buf list = {0};

	for (size_t i = 0; i < there->n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", there->v[i]);
	err_set(e, ERR_USAGE, "--fail-%s '%s': there is no %s '%s' here: %s",
		c->unless ? "unless" : "if", c->text, what, word, buf_str(&list));
	buf_free(&list);
	return -1;
}

static void add_metrics(unsigned had, struct strv *ret)
{
	for (unsigned m = 0; m < METRIC_COUNT; m++)
		if (had & analysis_metric_bit((enum metric_id)m) && !strv_has(ret, metric_table[m].name))
			strv_add(ret, metric_table[m].name);
}

/* A condition on what is not there would never be decided. Of a workload without results nobody knows
 * what it has. */
static int check_condition(const struct condition *c, const struct analysis *a, struct err *e)
{
	struct strv workloads = {0}, metrics = {0};
	int bad = 0;

	for (size_t i = 0; c->workload && i < a->n_runs; i++)
		for (size_t w = 0; w < a->runs[i].n_workloads; w++) {
			const char *name = a->runs[i].run->workloads.v[w];

			if (!strv_has(&workloads, name))
				strv_add(&workloads, name);
			if (!strcmp(name, c->workload))
				add_metrics(a->runs[i].metrics[w], &metrics);
		}
	if (c->workload && !strv_has(&workloads, c->workload))
		bad = no_such(c, "workload", c->workload, &workloads, e);
	else if (metrics.n && !strv_has(&metrics, metric_table[c->metric].name))
		bad = no_such(c, "metric of that workload", metric_table[c->metric].name, &metrics, e);
	strv_free(&workloads);
	strv_free(&metrics);
	return bad;
}

static int check_conditions(const struct request *q, const struct analysis *a, struct err *e)
{
	for (size_t i = 0; i < q->n_conditions; i++)
		if (check_condition(&q->conditions[i], a, e))
			return -1;
	return 0;
}

static int has_metric(const struct result_set *s, enum metric_id m)
{
	for (size_t i = 0; i < s->n_trials; i++)
		if (!isnan(result_trial_metric(&s->trials[i], m, NULL)))
			return 1;
	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].metric == m)
			return 1;
	return 0;
}

static int no_metric(const struct result_set *s, enum metric_id lacking, struct err *e)
{
	struct buf list = {0};

	for (unsigned m = 0; m < METRIC_COUNT; m++)
		if (m != lacking && has_metric(s, (enum metric_id)m))
			buf_addf(&list, "%s%s", list.len ? ", " : "", metric_table[m].name);
	err_set(e, ERR_INPUT, "no result here has the metric %s: there are %s",
		metric_table[lacking].name, buf_str(&list));
	buf_free(&list);
	return -1;
}

/* A metric asked for that nothing has would give an empty report. */
static int check_metrics(const struct result_set *s, const struct analysis *a, struct err *e)
{
	for (size_t i = 0; i < s->wish.n_metrics; i++) {
		int some = 0;

		for (size_t k = 0; k < a->n_rows; k++)
			some |= a->rows[k].metric == s->wish.metrics[i];
		if (!some)
			return no_metric(s, s->wish.metrics[i], e);
	}
	return 0;
}

static int print_all(struct ctl *c, struct request *q, int long_form, struct err *e)
{
	struct report_options ro = output_report_options(c, &q->output);
	struct analysis a;
	struct buf out = {0};
	int r, status;

	if (analysis_make(&q->sources.set, &a, e))
		return -1;
	ro.long_form = long_form;
	ro.conditions = q->conditions;
	ro.n_conditions = q->n_conditions;
	status = status_of(q, &a);
	r = check_conditions(q, &a, e);
	r = r ? r : check_metrics(&q->sources.set, &a, e);
	r = r ? r : fetch_report(&q->sources.set, q->output.format, &ro, &out, e);
	if (!r && output_is(&q->output, "json"))
		r = add_to_json(q, &a, status, long_form, &out, e);
	if (!r && output_is(&q->output, "text"))
		add_to_text(q, &a, long_form, &out);
	if (!r && !a.n_comparisons)
		ctl_warn(c, a.n_absent ? "nothing was compared: no two have results of the same workload"
				       : "nothing was compared: there is only one of a kind");
	analysis_clear(&a);
	r = r ? r : output_write(&q->output, &out, e);
	buf_free(&out);
	return r ? r : status;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct request q = {0};
	int r = read_options(c, a, &q, e);

	if (!r)
		r = read_sources(c, a, &q, e);
	if (!r)
		r = join_workloads(a, &q, e);
	if (!r)
		r = arrange(&q, e);
	if (!r)
		r = print_all(c, &q, args_get(a, "long") != NULL, e);
	request_clear(&q);
	return r;
}

const struct verb verb_compare = {
	.name = "compare",
	.args = "RUN|FILE|NAME=FILE… [LAYOUT|HOST…]",
	.summary = "verdicts over layouts, hosts, runs or plain result files",
	.help = "Several runs or files are compared with the first one; of one alone its layouts "
		"are, or those of its layouts or hosts that are named after it, with the first "
		"of these. Files need no coordinator; - is standard input, NAME= says what a "
		"file is called. They may be outputs of dd, time, fio, filebench, bonnie++, "
		"iozone, elbencho, lists of times, summaries such as n=10 mean=56s min=52s "
		"max=59s, or the lines of `export`.\n"
		"CONDITION: [WORKLOAD] METRIC > +N% or < -N%. "
		"--fail-if wants the whole interval beyond it, --fail-unless proof that it "
		"holds; exit status 0 passed, 4 failed, 5 undecided: an interval around N, too "
		"few trials, or an invalid result.\n",
	.examples = "arraymark compare 12 13\n"
		"arraymark compare before.txt after.txt\n"
		"arraymark compare last hba8 hba8+board2 --metric throughput\n"
		"arraymark compare 12 by-hand.txt --output compared.html\n"
		"arraymark compare old=a.json new=b.json --fail-if 'ops_per_s < -5%'\n",
	.options = compare_options,
	.min_args = 1,
	.max_args = -1,
	.run = run,
};
