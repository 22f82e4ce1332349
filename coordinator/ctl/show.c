/* show: one run down to every executed command with its output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/wrap.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/show.h"
#include "coordinator/ctl/verbs.h"
#include "coordinator/results/report_text.h"

static const struct option_spec show_options[] = {
	{"brief", 'b', NULL, "without the commands and the trials' details"},
	{"failed", 'f', NULL, "of the commands, only those that failed"},
	{"host", 'H', "HOST", "only that host's job"},
	{0},
};

#define CACHE_COLUMN 9 /* of the table of trials */

void show_wrap_since(struct show *s, size_t from)
{
	char *text = xstrdup(buf_str(&s->out) + from);

	if (s->out.len > from) {
		s->out.len = from;
		s->out.data[from] = '\0';
		wrap_lines(text, s->width, &s->out);
	}
	free(text);
}

void show_put(struct show *s, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	print_safe(text, &s->out);
	free(text);
}

static void put_state(struct show *s, const char *state)
{
	char *safe = print_safe_dup(state);

	print_colored(safe, print_state_color(state), s->color, &s->out);
	free(safe);
}

static void put_why(struct show *s, const json_t *v, const char *key)
{
	const char *why = json_get_str(v, key, NULL);

	buf_addc(&s->out, '\n');
	if (why && *why) {
		show_put(s, "    %s", why);
		buf_addc(&s->out, '\n');
	}
}

const char *show_text_of(const json_t *v, const char *key)
{
	return json_get_str(v, key, "-");
}

long long show_number_of(const json_t *v, const char *key)
{
	return (long long)json_get_int(v, key, 0);
}

int show_is_of(const json_t *v, const char *type, const json_t *job)
{
	return !strcmp(show_text_of(v, "type"), type) && show_number_of(v, "job") == show_number_of(job, "job");
}

static void put_names(struct show *s, const char *what, const json_t *names)
{
	const json_t *v;
	size_t i;

	show_put(s, "%-10s ", what);
	json_array_foreach(names, i, v)
		show_put(s, "%s%s", i ? ", " : "", json_is_string(v) ? json_string_value(v) : "?");
	buf_addc(&s->out, '\n');
}

static void put_when(struct show *s, const char *what, const json_t *v, const char *key)
{
	show_put(s, "%-10s ", what);
	print_time(json_get_str(v, key, NULL), &s->out);
	buf_addc(&s->out, '\n');
}

/* What is not known of an imported run is not told. */
static void show_design(struct show *s, const json_t *v)
{
	const char *plan = json_get_str(v, "plan_sha256", ""), *cache = json_get_str(v, "cache", "");
	const json_t *until = json_object_get(v, "until");

	if (*plan) {
		show_put(s, "%-10s %s", "plan", plan);
		buf_addc(&s->out, '\n');
	}
	show_put(s, "%-10s %s", "design", show_text_of(v, "design"));
	if (json_is_object(until))
		show_put(s, ", %lld…%lld blocks until ±%g%%", show_number_of(until, "min"),
			show_number_of(until, "max"),
			round(json_get_num(until, "precision", 0) * 1e6) / 1e4);
	else if (show_number_of(v, "blocks"))
		show_put(s, ", %lld blocks", show_number_of(v, "blocks"));
	if (show_number_of(v, "blocks"))
		show_put(s, ", seed %s", show_text_of(v, "seed"));
	if (*cache)
		show_put(s, ", caches %s", cache);
	buf_addc(&s->out, '\n');
}

static void show_run(struct show *s, const json_t *v)
{
	s->imported = !strcmp(show_text_of(v, "state"), "imported");
	show_put(s, "run %lld (%s): ", show_number_of(v, "run"), show_text_of(v, "name"));
	put_state(s, show_text_of(v, "state"));
	if (!s->imported)
		show_put(s, ", %lld of %lld builds done", show_number_of(v, "units_done"),
			show_number_of(v, "units"));
	buf_addc(&s->out, '\n');
	show_put(s, "%-10s %s", "by", show_text_of(v, "user"));
	buf_addc(&s->out, '\n');
	put_when(s, "filed", v, "created");
	put_when(s, "started", v, "started");
	put_when(s, "finished", v, "finished");
	show_design(s, v);
	put_names(s, "layouts", json_object_get(v, "layouts"));
	put_names(s, "workloads", json_object_get(v, "workloads"));
	if (json_array_size(json_object_get(v, "sets")))
		put_names(s, "--set", json_object_get(v, "sets"));
}

static void show_disks(struct show *s, const json_t *job)
{
	const json_t *d, *id;
	size_t i, k;

	json_array_foreach(json_object_get(job, "disks"), i, d)
	{
		show_put(s, "  layout %lld, %s disks: ", show_number_of(d, "layout") + 1, show_text_of(d, "role"));
		json_array_foreach(json_object_get(d, "ids"), k, id) show_put(
			s, "%s%s", k ? ", " : "", json_is_string(id) ? json_string_value(id) : "?");
		buf_addc(&s->out, '\n');
	}
}

static void show_attempts(struct show *s, const json_t *job)
{
	const json_t *v;
	size_t i;

	json_array_foreach(s->lines, i, v)
	{
		if (!show_is_of(v, "attempt", job))
			continue;
		show_put(s, "  attempt %lld: ", show_number_of(v, "attempt"));
		put_state(s, show_text_of(v, "state"));
		show_put(s, ", agent %s, ", show_text_of(v, "agent_version"));
		print_time(json_get_str(v, "began", NULL), &s->out);
		buf_adds(&s->out, " to ");
		print_time(json_get_str(v, "ended", NULL), &s->out);
		if (show_number_of(v, "lost"))
			show_put(s, ", %lld records lost", show_number_of(v, "lost"));
		put_why(s, v, "error");
	}
}

/* What the trial is judged by, if that is a rate, else bytes over time; or what a file printed. NaN:
 * nothing. */
static double rate_of(const json_t *v, enum metric_id *ret_metric)
{
	const json_t *printed = json_array_get(json_object_get(v, "printed"), 0);
	int64_t ns = json_get_int(v, "elapsed_ns", 0), bytes = json_get_int(v, "bytes", 0);
	int64_t ops = json_get_int(v, "ops", 0);

	*ret_metric = METRIC_THROUGHPUT;
	if (ns > 0 && ops > 0 && metric_find(json_get_str(v, "headline", "")) == METRIC_OPS) {
		*ret_metric = METRIC_OPS;
		return (double)ops * 1e9 / (double)ns;
	}
	if (ns > 0 && bytes > 0)
		return (double)bytes * 1e9 / (double)ns;
	*ret_metric = metric_find(json_get_str(printed, "metric", ""));
	if (*ret_metric == METRIC_COUNT || *ret_metric == METRIC_ELAPSED)
		return NAN;
	return json_get_num(printed, "value", NAN);
}

static void take_trial(struct scale scales[METRIC_COUNT], struct scale *bytes, const json_t *v)
{
	enum metric_id m;
	double rate = rate_of(v, &m);

	scale_take(&scales[METRIC_ELAPSED], (double)json_get_int(v, "elapsed_ns", 0) / NS_PER_S);
	scale_take(bytes, (double)json_get_int(v, "bytes", 0));
	if (!isnan(rate))
		scale_take(&scales[m], rate);
}

static void trial_row(struct grid *g, const json_t *v, const struct scale scales[METRIC_COUNT],
	const struct scale *sizes)
{
	int64_t ns = json_get_int(v, "elapsed_ns", 0), bytes = json_get_int(v, "bytes", 0);
	const char *state = json_get_bool(v, "superseded", 0) ? "superseded" : show_text_of(v, "state");
	char text[UNITS_LEN];
	enum metric_id m;
	double rate = rate_of(v, &m);

	grid_addf(g, "%lld", show_number_of(v, "block"));
	grid_add(g, show_text_of(v, "layout_name"));
	grid_add(g, show_text_of(v, "workload_name"));
	grid_addf(g, "%lld", show_number_of(v, "repeat"));
	grid_addf(g, "%lld", show_number_of(v, "attempt"));
	grid_add_color(g, state, strcmp(state, "ok") ? print_state_color(state) : COLOR_GREEN);
	grid_add(g, ns > 0 ? scale_text(&scales[METRIC_ELAPSED], (double)ns / NS_PER_S, 0, text) : NULL);
	grid_add(g, bytes > 0 ? scale_text(sizes, (double)bytes, 0, text) : NULL);
	grid_add(g, isnan(rate) ? NULL : scale_text(&scales[m], rate, 0, text));
	grid_add(g, json_get_str(v, "cache", NULL));
	grid_add(g, json_get_str(v, "data", NULL));
}

static void init_scales(struct scale scales[METRIC_COUNT])
{
	for (size_t m = 0; m < METRIC_COUNT; m++)
		scale_init(&scales[m], metric_table[m].unit);
}

/* Why trials failed does not fit a column. */
static void show_failed_trials(struct show *s, const json_t *job)
{
	const json_t *v;
	size_t i;

	json_array_foreach(s->lines, i, v)
	{
		const char *error = json_get_str(v, "error", NULL);

		if (!show_is_of(v, "trial", job) || !error)
			continue;
		show_put(s, "  block %lld, %s, %s, attempt %lld: ", show_number_of(v, "block"),
			show_text_of(v, "layout_name"), show_text_of(v, "workload_name"),
			show_number_of(v, "attempt"));
		put_state(s, show_text_of(v, "state"));
		put_why(s, v, "error");
	}
}

/* The state of the caches is mostly the same for all: then a line instead of a wide column. */
static void show_same_cache(struct show *s, struct grid *g)
{
	if (!g->n || !strcmp(g->cells[CACHE_COLUMN], "-"))
		return;
	grid_hide(g, CACHE_COLUMN, g->cells[CACHE_COLUMN]);
	if (g->hidden >> CACHE_COLUMN & 1)
		buf_addf(&s->out, "  caches %s\n", g->cells[CACHE_COLUMN]);
}

static void show_trials(struct show *s, const json_t *job)
{
	static const char *const heads[] = {"BLOCK", "LAYOUT", "WORKLOAD", "REPEAT", "ATTEMPT",
		"STATE", "ELAPSED", "BYTES", "RATE", "CACHE", "DATA", NULL};
	static const unsigned char order[] = {9, 7, 4, 3, 10, 255};
	static const char *const plain[] = {NULL, NULL, NULL, "1", "1", NULL, "-", "-", "-", "-", "-"};
	struct scale scales[METRIC_COUNT], sizes;
	const json_t *v;
	struct grid g;
	size_t i;

	init_scales(scales);
	scale_init(&sizes, "B");
	json_array_foreach(s->lines, i, v) if (show_is_of(v, "trial", job)) take_trial(scales, &sizes, v);
	grid_init(&g, heads, 1 | 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8);
	json_array_foreach(s->lines, i, v) if (show_is_of(v, "trial", job)) trial_row(&g, v, scales, &sizes);
	for (unsigned c = 0; c < ARRAY_LEN(plain); c++)
		grid_hide(&g, c, plain[c]);
	if (s->width)
		show_same_cache(s, &g);
	grid_fit(&g, s->width, order);
	grid_print(&g, s->color, &s->out);
	grid_clear(&g);
	show_failed_trials(s, job);
}

static const char *const summary_values[] = {"mean", "min", "max"};

static void take_summary(struct scale scales[METRIC_COUNT], const json_t *v)
{
	enum metric_id m = metric_find(show_text_of(v, "metric"));

	for (size_t i = 0; m != METRIC_COUNT && i < ARRAY_LEN(summary_values); i++)
		scale_take(&scales[m], json_get_num(v, summary_values[i], NAN));
}

static void summary_row(struct grid *g, const json_t *v, const struct scale scales[METRIC_COUNT])
{
	enum metric_id m = metric_find(show_text_of(v, "metric"));
	double resolution = json_get_num(v, "resolution", 0);
	char text[UNITS_LEN];

	grid_add(g, show_text_of(v, "layout_name"));
	grid_add(g, show_text_of(v, "workload_name"));
	grid_add(g, show_text_of(v, "metric"));
	grid_addf(g, "%lld", show_number_of(v, "n"));
	for (size_t i = 0; i < ARRAY_LEN(summary_values); i++)
		grid_add(g, m == METRIC_COUNT ? NULL
					      : scale_text(&scales[m], json_get_num(v, summary_values[i], NAN),
							resolution, text));
}

static void show_summaries(struct show *s, const json_t *job)
{
	static const char *const heads[] = {
		"LAYOUT", "WORKLOAD", "METRIC", "N", "MEAN", "MIN", "MAX", NULL};
	struct scale scales[METRIC_COUNT];
	const json_t *v;
	struct grid g;
	size_t i;

	init_scales(scales);
	json_array_foreach(s->lines, i, v) if (show_is_of(v, "summary", job)) take_summary(scales, v);
	grid_init(&g, heads, 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6);
	json_array_foreach(s->lines, i, v) if (show_is_of(v, "summary", job)) summary_row(&g, v, scales);
	grid_print(&g, s->color, &s->out);
	grid_clear(&g);
}

static void show_failed_units(struct show *s, const json_t *job)
{
	const json_t *v;
	size_t i;

	json_array_foreach(s->lines, i, v)
	{
		if (!show_is_of(v, "unit", job) || strcmp(show_text_of(v, "state"), "failed"))
			continue;
		show_put(s, "  block %lld, %s, attempt %lld: ", show_number_of(v, "block"),
			show_text_of(v, "layout_name"), show_number_of(v, "attempt"));
		put_state(s, "failed");
		put_why(s, v, "error");
	}
}

static void show_step(struct show *s, const json_t *v)
{
	const json_t *word;
	struct strv argv = {0};
	struct buf words = {0};
	char took[UNITS_LEN];
	size_t i;
	int ok = json_get_bool(v, "ok", 0);

	show_put(s, "  # %s: %s, %s", show_text_of(v, "phase"), show_text_of(v, "what"),
		units_duration(json_get_int(v, "elapsed_ns", 0), took));
	if (!ok)
		print_colored(", FAILED", COLOR_RED, s->color, &s->out);
	buf_addc(&s->out, '\n');
	json_array_foreach(json_object_get(v, "argv"), i, word)
		strv_add(&argv, json_is_string(word) ? json_string_value(word) : "?");
	if (argv.n) {
		strv_quote(&argv, &words);
		show_put(s, "  %s", buf_str(&words));
		buf_addc(&s->out, '\n');
	}
	print_safe_lines(json_get_str(v, "output", ""), "  | ", &s->out);
	strv_free(&argv);
	buf_free(&words);
}

static void show_steps(struct show *s, const json_t *job)
{
	long long block = -1, layout = -1, attempt = -1;
	const json_t *v;
	size_t i;

	json_array_foreach(s->lines, i, v)
	{
		if (!show_is_of(v, "step", job) || (s->failed && json_get_bool(v, "ok", 0)))
			continue;
		if (show_number_of(v, "block") != block || show_number_of(v, "layout") != layout ||
			show_number_of(v, "attempt") != attempt) {
			block = show_number_of(v, "block");
			layout = show_number_of(v, "layout");
			attempt = show_number_of(v, "attempt");
			buf_addc(&s->out, '\n');
			if (block)
				show_put(s, "block %lld, %s, attempt %lld", block,
					show_text_of(v, "layout_name"), attempt);
			else
				show_put(s, "attempt %lld, outside of any block", attempt);
			buf_addc(&s->out, '\n');
		}
		show_step(s, v);
	}
}

static void show_job(struct show *s, const json_t *job)
{
	char *host = print_safe_dup(show_text_of(job, "host"));
	size_t from = s->out.len;

	buf_addc(&s->out, '\n');
	print_colored(host, COLOR_BOLD, s->color, &s->out);
	if (!s->imported) {
		show_put(s, ": job %lld (%s): ", show_number_of(job, "job"), show_text_of(job, "tag"));
		put_state(s, show_text_of(job, "state"));
		show_put(s, ", %lld of %lld builds done", show_number_of(job, "units_done"),
			show_number_of(job, "units"));
	}
	put_why(s, job, "why");
	show_disks(s, job);
	show_attempts(s, job);
	show_failed_units(s, job);
	show_trials(s, job);
	show_summaries(s, job);
	show_wrap_since(s, from);
	if (!s->brief)
		show_details(s, job);
	if (!s->brief)
		show_steps(s, job);
	free(host);
}

/* {"run": {…}, "jobs": […], "attempts": […], "units": […], "trials": […], "parts": […],
 * "facts": […], "notes": […], "summaries": […], "steps": […]} */
static json_t *as_document(const json_t *lines)
{
	static const char *const kinds[][2] = {{"job", "jobs"}, {"attempt", "attempts"},
		{"unit", "units"}, {"trial", "trials"}, {"part", "parts"}, {"fact", "facts"},
		{"note", "notes"}, {"summary", "summaries"}, {"step", "steps"}};
	json_t *doc = json_object(), *v;
	size_t i;

	json_object_set_new(doc, "run", json_null());
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		json_object_set_new(doc, kinds[k][1], json_array());
	json_array_foreach(lines, i, v)
	{
		const char *type = show_text_of(v, "type");

		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			if (!strcmp(type, kinds[k][0]))
				json_array_append(json_object_get(doc, kinds[k][1]), v);
		if (!strcmp(type, "run"))
			json_object_set(doc, "run", v);
	}
	json_array_foreach(lines, i, v) json_object_del(v, "type");
	return doc;
}

/* Leaves the lines of the run and of that host. */
static int keep_host(struct show *s, const char *host, struct err *e)
{
	json_t *kept = json_array(), *v;
	struct buf hosts = {0};
	size_t i, jobs = 0;

	json_array_foreach(s->lines, i, v)
	{
		const char *type = show_text_of(v, "type"), *of = show_text_of(v, "host");
		int is_run = strcmp(type, "run") == 0, is_job = strcmp(type, "job") == 0;

		if (is_run || strcmp(of, host) == 0)
			json_array_append(kept, v);
		if (is_job)
			buf_addf(&hosts, "%s%s", hosts.len ? ", " : "", of);
		jobs += is_job && strcmp(of, host) == 0;
	}
	json_decref(s->lines);
	s->lines = kept;
	if (!jobs)
		err_set(e, ERR_NOTFOUND, "the run has no job on '%s'; its hosts: %s", host,
			hosts.len ? hosts.data : "none");
	buf_free(&hosts);
	return jobs ? 0 : -1;
}

static int show_text(struct show *s, struct err *e)
{
	const json_t *v;
	size_t i;

	json_array_foreach(s->lines, i, v)
	{
		if (!strcmp(show_text_of(v, "type"), "run")) {
			show_run(s, v);
			show_wrap_since(s, 0);
		}
		if (!strcmp(show_text_of(v, "type"), "job"))
			show_job(s, v);
	}
	return ctl_out(&s->out, e);
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_SHOW, .target = a->v[0]};
	const char *host = args_get(a, "host");
	struct show s = {.brief = args_get(a, "brief") != NULL,
		.failed = args_get(a, "failed") != NULL,
		.color = c->color_out,
		.width = c->width_out};
	int r;

	if (connection_collect(c, &call, &s.lines, e))
		return -1;
	r = host ? keep_host(&s, host, e) : 0;
	if (!r)
		r = c->json ? ctl_out_json(as_document(s.lines), e) : show_text(&s, e);
	buf_free(&s.out);
	json_decref(s.lines);
	return r;
}

const struct verb verb_show = {
	.name = "show",
	.args = "RUN",
	.summary = "one run: jobs, trials, every executed command with its output",
	.help = "",
	.examples = "arraymark show last\n"
		"arraymark show 12 --failed --host knew\n",
	.options = show_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
