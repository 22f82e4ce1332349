/*
 * Export lines -> a result set. Owns nothing but what the set owns.
 * Invariant: a line is taken whole or not at all; after export_read_end every trial belongs to a
 * run of the set and has names for its layout and workload.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"

#define LINE_MAX_BYTES (4 * 1024 * 1024)
#define PLAN_MAX (1024 * 1024)

int export_orphan(const struct export_line *l, uint64_t run, const struct export_piece *of,
	const char *what, struct err *e)
{
	struct buf text = {0};

	buf_addf(&text, "%llu", (unsigned long long)run);
	if (of)
		buf_addf(&text, ", host '%.80s'", of->host);
	if (of && of->trial)
		buf_addf(&text, ", attempt %u, trial %u", of->attempt, of->trial);
	err_set(e, ERR_INPUT, "%s:%zu: %s: no %s of run %s stands before this line", l->name, l->no,
		json_get_str(l->o, "type", ""), what, buf_str(&text));
	buf_free(&text);
	return -1;
}

static int twice(const struct export_line *l, struct err *e, const char *what, const char *host)
{
	return err_set(e, ERR_INPUT, "%s:%zu: %s%s%.80s is there twice", l->name, l->no, what,
		*host ? " of host " : "", host);
}

/* What the row of a run cannot say of its members. */
static int check_run(const struct export_line *l, const struct result_run *r, struct err *e)
{
	const json_t *baseline = json_object_get(l->o, "baseline");

	if (r->baseline < 0 || !r->layouts.n || (size_t)r->baseline < r->layouts.n)
		return 0;
	return export_unexpected(l, FIELD_OF_LINE, "baseline", baseline,
		"the index of one of the layouts, or -1,", e);
}

static int read_run(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_run r = {.id = run, .baseline = -1};
	char what[32];

	if (export_find_run(s, run)) {
		snprintf(what, sizeof(what), "run %llu", (unsigned long long)run);
		return twice(l, e, what, "");
	}
	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_run_table, &r, e) ||
		check_run(l, &r, e)) {
		result_run_clear(&r);
		return -1;
	}
	s->runs = xgrow(s->runs, s->n_runs, &s->cap_runs, sizeof(*s->runs));
	s->runs[s->n_runs++] = r;
	return 0;
}

/* Room in powers of two: pieces may be as short as they like. */
static size_t plan_room(size_t len)
{
	size_t room = 64;

	while (room <= len)
		room *= 2;
	return room;
}

static void add_plan(struct result_run *r, const char *piece, size_t len)
{
	size_t room = plan_room(r->plan_len + len);

	if (!r->plan_text || room > plan_room(r->plan_len))
		r->plan_text = xrealloc(r->plan_text, room);
	memcpy(r->plan_text + r->plan_len, piece, len + 1);
	r->plan_len += len;
}

static int read_plan(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_run *r = export_find_run(s, run);
	struct export_piece piece = {0};
	size_t len;

	if (!r)
		return export_orphan(l, run, NULL, "line", e);
	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_plan_table, &piece, e))
		return -1;
	len = strlen(piece.text);
	if (r->plan_len + len > PLAN_MAX)
		return err_set(e, ERR_INPUT, "%s:%zu: a plan of more than %d bytes", l->name, l->no,
			PLAN_MAX);
	add_plan(r, piece.text, len);
	return 0;
}

static int read_printed(const struct export_line *l, struct result_trial *t, struct err *e)
{
	const json_t *list, *item;
	unsigned have = 0;
	size_t i;

	if (export_list(l, FIELD_OF_LINE, l->o, "printed", 0, &list, e))
		return -1;
	if (json_array_size(list) > METRIC_COUNT)
		return export_unexpected(
			l, FIELD_OF_LINE, "printed", list, "one value a metric", e);
	t->printed = json_array_size(list) ? xcalloc(json_array_size(list), sizeof(*t->printed))
					   : NULL;
	json_array_foreach(list, i, item)
	{
		struct field_place at = {"printed", i};
		struct result_printed *p = &t->printed[t->n_printed++];

		if (!json_is_object(item))
			return export_unexpected(l, at, NULL, item, "an object", e);
		if (export_fields_read(l, at, item, &export_printed_table, p, e))
			return -1;
		if (have & 1u << p->metric)
			return export_unexpected(l, at, "metric", json_object_get(item, "metric"),
				"another metric", e);
		have |= 1u << p->metric;
	}
	return 0;
}

/* Lines have it where it is told. */
static int read_data(const struct export_line *l, struct data_told *ret, struct err *e)
{
	const json_t *v = json_object_get(l->o, "data");

	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v) || data_told_parse(json_string_value(v), ret))
		return export_unexpected(
			l, FIELD_OF_LINE, "data", v, DATA_TOLD_WORDS, e);
	return 0;
}

/* A trial that went well has no error, one that did not has a text for it. */
static int settle_error(const struct export_line *l, struct trial_summary *t, struct err *e)
{
	if (t->ok && t->error && *t->error)
		return export_unexpected(l, FIELD_OF_LINE, "error", json_object_get(l->o, "error"),
			"null beside \"ok\":true", e);
	if (t->ok) {
		free(t->error);
		t->error = NULL;
	} else if (!t->error) {
		t->error = xstrdup("");
	}
	return 0;
}

static int read_trial_parts(const struct export_line *l, struct result_trial *t, struct err *e)
{
	const json_t *telemetry;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_trial_table, t, e) ||
		settle_error(l, &t->sum, e) || read_printed(l, t, e) ||
		read_data(l, &t->data, e) ||
		export_object(l, FIELD_OF_LINE, l->o, "telemetry", 0, &telemetry, e) ||
		export_fields_read(l, (struct field_place){"telemetry", FIELD_WHOLE}, telemetry,
			&export_telemetry_table, &t->sum.tele, e) ||
		export_evidence_read(l, &t->sum.evidence, e))
		return -1;
	t->sum.n_evidence = t->sum.evidence != NULL;
	return export_hist_read(l, &t->sum.hist, &t->sum.hist_len, e);
}

void export_take_trial(struct result_set *s, struct result_trial *t)
{
	t->sum.block = t->block;
	t->sum.layout = t->layout;
	t->sum.workload = t->workload;
	t->sum.repeat = t->repeat;
	s->trials = xgrow(s->trials, s->n_trials, &s->cap_trials, sizeof(*s->trials));
	s->trials[s->n_trials++] = *t;
}

static int read_trial(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_trial t = {.run = run};

	if (read_trial_parts(l, &t, e)) {
		result_trial_clear(&t);
		return -1;
	}
	export_take_trial(s, &t);
	return 0;
}

/* n values from min to max, both of them there, have a mean of ((n - 1) min + max) / n at least, and of
 * (min + (n - 1) max) / n at most; of one value all are the same. Rates that were computed from times
 * have a harmonic mean, which that does not bound. */
static int check_mean(const struct export_line *l, const struct result_summary *m, struct err *e)
{
	double n = m->n, digits = 2 * m->resolution + 1e-9 * m->mean;
	char expected[128];

	if (!isfinite(m->min) || !isfinite(m->max))
		return 0;
	if (m->n == 1 && m->max - m->min > digits)
		return export_unexpected(l, FIELD_OF_LINE, "max", json_object_get(l->o, "max"),
			"the minimum again, where n is 1,", e);
	if (m->metric == METRIC_THROUGHPUT ||
		(m->mean + digits >= m->min + (m->max - m->min) / n &&
			m->mean - digits <= m->max - (m->max - m->min) / n) ||
		m->n == 1)
		return 0;
	snprintf(expected, sizeof(expected), "one from %.6g to %.6g, as n, min and max allow,",
		m->min + (m->max - m->min) / n, m->max - (m->max - m->min) / n);
	return export_unexpected(
		l, FIELD_OF_LINE, "mean", json_object_get(l->o, "mean"), expected, e);
}

/* At most what n, mean, min and max allow, as for the rows of other tools (common/formats/summary.c has
 * the sources); values are above 0. */
static int check_stddev(const struct export_line *l, const struct result_summary *m, struct err *e)
{
	double n = m->n, min = isfinite(m->min) ? m->min : 0;
	double max = isfinite(m->max) ? m->max : n * m->mean - (n - 1) * min;
	double digits = 3 * m->resolution + m->stddev_resolution + 1e-9 * m->mean, most, least;
	char expected[128];

	if (!isfinite(m->stddev))
		return 0;
	if (m->n < 2)
		return export_unexpected(l, FIELD_OF_LINE, "stddev", json_object_get(l->o, "stddev"),
			"null, where n is 1,", e);
	if (m->metric == METRIC_THROUGHPUT) /* as above */
		return 0;
	most = sqrt(fmax(0, max - m->mean + digits)) * sqrt(fmax(0, m->mean - min + digits)) *
	       sqrt(n / (n - 1));
	least = isfinite(m->min) && isfinite(m->max) ? (max - min - digits) / sqrt(2 * n) : 0;
	if (m->stddev - digits <= most && m->stddev + digits >= least)
		return 0;
	snprintf(expected, sizeof(expected), "one from %.6g to %.6g, as n, mean, min and max allow,",
		fmax(0, least), most);
	return export_unexpected(
		l, FIELD_OF_LINE, "stddev", json_object_get(l->o, "stddev"), expected, e);
}

/* Each was rounded or cut on its own. */
static int check_summary(const struct export_line *l, const struct result_summary *m, struct err *e)
{
	if (m->min > m->mean + m->resolution)
		return export_unexpected(l, FIELD_OF_LINE, "min", json_object_get(l->o, "min"),
			"at most the mean", e);
	if (m->max < m->mean - m->resolution)
		return export_unexpected(l, FIELD_OF_LINE, "max", json_object_get(l->o, "max"),
			"at least the mean", e);
	return check_mean(l, m, e) || check_stddev(l, m, e) ? -1 : 0;
}

static int read_summary(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_summary m = {.run = run, .min = NAN, .max = NAN, .stddev = NAN};

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_summary_table, &m, e) ||
		read_data(l, &m.data, e) ||
		check_summary(l, &m, e)) {
		result_summary_clear(&m);
		return -1;
	}
	s->summaries =
		xgrow(s->summaries, s->n_summaries, &s->cap_summaries, sizeof(*s->summaries));
	s->summaries[s->n_summaries++] = m;
	return 0;
}

static int read_stop(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_stop stop = {.run = run};

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_stop_table, &stop, e)) {
		free(stop.host);
		return -1;
	}
	s->stops = xgrow(s->stops, s->n_stops, &s->cap_stops, sizeof(*s->stops));
	s->stops[s->n_stops++] = stop;
	return 0;
}

static const struct {
	const char *type;
	int (*read)(struct result_set *s, const struct export_line *l, uint64_t run, struct err *e);
} readers[] = {
	{"run", read_run},
	{"plan", read_plan},
	{"environment", export_read_environment},
	{"environment-disks", export_read_environment_disks},
	{"trial", read_trial},
	{"part", export_read_detail},
	{"fact", export_read_detail},
	{"note", export_read_detail},
	{"summary", read_summary},
	{"stop", read_stop},
	{"series", export_read_series},
	{"trial-disks", export_read_trial_disks},
	{"series-disks", export_read_series_disks},
	{"step", export_read_step},
	{"end", export_read_end_line},
};

/* The parser's own words, which say the place as 1:COLUMN. */
static int not_json(const char *name, size_t line_no, const struct err *why, struct err *e)
{
	static const char said[] = "not valid JSON";
	const char *words = strstr(why->text, said);

	return err_set(e, ERR_INPUT, "%s:%zu: not a line of an export: %.200s", name, line_no,
		words ? words : why->text);
}

/* A line that is read counts for its run, whatever it says. */
static void count_line(struct result_set *s, uint64_t run, size_t line_no)
{
	struct export_count *c = export_count_of(s, run);

	c->lines++;
	c->last = line_no;
}

/* A line as JSON: by its type. */
static int read_object(struct result_set *s, const struct export_line *l, struct err *e)
{
	static const struct field run_field = {
		.key = "run", .kind = FIELD_U64, .flags = FIELD_MUST, .least = 1, .most = INT64_MAX};
	const char *type = json_get_str(l->o, "type", "");
	const json_t *of = json_object_get(l->o, "run");
	uint64_t run = 0;

	if (!json_is_object(l->o) || !json_is_string(json_object_get(l->o, "type")))
		return err_set(e, ERR_INPUT, "%s:%zu: not a line of an export: no object with a type",
			l->name, l->no);
	for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
		if (strcmp(readers[i].type, type) != 0)
			continue;
		if (export_field_take(l, FIELD_OF_LINE, of, &run_field, &run, e) ||
			readers[i].read(s, l, run, e))
			return -1;
		break;
	}
	if (!run)
		run = json_is_integer(of) && json_integer_value(of) > 0
			      ? (uint64_t)json_integer_value(of)
			      : 0;
	if (run && strcmp(type, "end") != 0)
		count_line(s, run, l->no);
	return 0;
}

/* One line too many is read, and no more. */
static int check_room(const struct result_set *s, const char *name, size_t line_no, struct err *e)
{
	return result_set_room(s, 0, e) ? err_prefix(e, "%s:%zu", name, line_no) : 0;
}

int export_read_line(struct result_set *s, const char *name, size_t line_no, const char *line,
	size_t len, struct err *e)
{
	struct export_line l = {NULL, name, line_no};
	uint64_t run;
	struct err why;
	json_t *o;
	int rc;

	if (len && line[len - 1] == '\n')
		len--;
	if (len <= LINE_MAX_BYTES && (export_read_plain_trial(s, line, len, &run) ||
					     export_read_plain_disks(s, line, len, &run) ||
					     export_read_plain_series(s, line, len, &run))) {
		count_line(s, run, line_no);
		return check_room(s, name, line_no, e);
	}
	if (export_parse(name, line, len, LINE_MAX_BYTES, &o, &why) != 0)
		return not_json(name, line_no, &why, e);
	l.o = o;
	rc = read_object(s, &l, e);
	json_decref(o);
	return rc ? rc : check_room(s, name, line_no, e);
}

static int by_trial(const void *pa, const void *pb)
{
	const struct result_trial *a = pa, *b = pb;
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : (a->attempt > b->attempt) - (a->attempt < b->attempt);
	return c ? c : (a->sum.trial > b->sum.trial) - (a->sum.trial < b->sum.trial);
}

static int by_run(const void *pa, const void *pb)
{
	const struct result_run *a = pa, *b = pb;

	return (a->id > b->id) - (a->id < b->id);
}

/* In the order of by_run(). */
static const struct result_run *run_of(
	const struct result_set *s, uint64_t run, const char *what, struct err *e)
{
	struct result_run key = {.id = run};
	const struct result_run *r =
		s->n_runs ? bsearch(&key, s->runs, s->n_runs, sizeof(key), by_run) : NULL;

	if (!r)
		err_set(e, ERR_INPUT, "run %llu has %s, but no line of its own",
			(unsigned long long)run, what);
	return r;
}

/* A name from the run's list where the line had none; a number where the list has none either. */
static void fill_name(char **name, const struct strv *list, uint32_t i)
{
	if (**name)
		return;
	free(*name);
	*name = i < list->n ? xstrdup(list->v[i]) : xasprintf("%u", i);
}

static int end_trials(struct result_set *s, struct err *e)
{
	for (size_t i = 0; i < s->n_trials; i++) {
		struct result_trial *t = &s->trials[i];
		const struct result_run *r = run_of(s, t->run, "trials", e);

		if (!r)
			return -1;
		if (i > 0 && by_trial(t - 1, t) == 0)
			return err_set(e, ERR_INPUT,
				"run %llu, host '%s', attempt %u: trial %u is there "
				"twice",
				(unsigned long long)t->run, t->host, t->attempt, t->sum.trial);
		fill_name(&t->layout_name, &r->layouts, t->layout);
		fill_name(&t->workload_name, &r->workloads, t->workload);
	}
	return 0;
}

int export_read_end(struct result_set *s, struct err *e)
{
	result_set_unindex(s);
	if (s->n_runs)
		qsort(s->runs, s->n_runs, sizeof(*s->runs), by_run);
	if (s->n_trials)
		qsort(s->trials, s->n_trials, sizeof(*s->trials), by_trial);
	export_order_series(s);
	if (end_trials(s, e))
		return -1;
	for (size_t i = 0; i < s->n_summaries; i++) {
		struct result_summary *m = &s->summaries[i];
		const struct result_run *r = run_of(s, m->run, "summaries", e);

		if (!r)
			return -1;
		fill_name(&m->layout_name, &r->layouts, m->layout);
		fill_name(&m->workload_name, &r->workloads, m->workload);
	}
	return 0;
}
