/*
 * Records of common/formats -> a run of a result set. Owns nothing but what the set owns.
 * Invariant: within a run each trial has a number of its own, and the trials of one host, layout
 * and workload have the blocks 1, 2, …; nothing is said about order or builds that the text does
 * not say.
 */
#include "coordinator/results/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/export.h"

#define INDICES_MAX 20000 /* layouts or workloads of one run */

struct import {
	struct result_set *set;
	const char *name; /* of the text, for messages */
	const struct import_options *o;
	const struct format *format;
	struct result_run *run;
	char *stem; /* the file's name without folder and ending */
	json_t *layouts, *workloads; /* name: index */
	json_t *blocks;  /* "LAYOUT/WORKLOAD/HOST": the last one's number */
	uint32_t trials; /* highest number of the run's trials */
};

static char *stem_of(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *dot = strrchr(base, '.');

	if (!strcmp(base, "-") || !*base)
		return xstrdup("stdin");
	return xstrndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

static struct result_run *find_run(struct result_set *s, uint64_t id)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].id == id)
			return &s->runs[i];
	return NULL;
}

static struct result_run *new_run(struct result_set *s, const char *name)
{
	uint64_t id = 1;

	for (size_t i = 0; i < s->n_runs; i++)
		id = s->runs[i].id >= id ? s->runs[i].id + 1 : id;
	s->runs = xgrow(s->runs, s->n_runs, &s->cap_runs, sizeof(*s->runs));
	s->runs[s->n_runs] = (struct result_run){.id = id,
		.name = xstrdup(name),
		.state = xstrdup("imported"),
		.plan_sha256 = xstrdup(""),
		.tool_version = xstrdup(""),
		.user = xstrdup(""),
		.cache = xstrdup(""),
		.design = xstrdup("unknown"),
		.baseline = 0};
	return &s->runs[s->n_runs++];
}

/* The number of the last block of such trials, at least `least`; changed by what is added to it. */
static uint32_t block_after(
	struct import *im, const struct result_trial *t, uint32_t least, uint32_t add)
{
	char *key = xasprintf("%u/%u/%s", t->layout, t->workload, t->host);
	uint32_t block = (uint32_t)json_get_int(im->blocks, key, 0);

	block = (block > least ? block : least) + add;
	json_object_set_new_nocheck(im->blocks, key, json_integer(block));
	free(key);
	return block;
}

/* What is there already of the run that is added to. */
static void count_existing(struct import *im)
{
	const struct result_run *r = im->run;

	for (size_t i = 0; i < r->layouts.n; i++)
		json_object_set_new_nocheck(im->layouts, r->layouts.v[i], json_integer((json_int_t)i));
	for (size_t i = 0; i < r->workloads.n; i++)
		json_object_set_new_nocheck(
			im->workloads, r->workloads.v[i], json_integer((json_int_t)i));
	for (size_t i = 0; i < im->set->n_trials; i++) {
		const struct result_trial *t = &im->set->trials[i];

		if (t->run != r->id)
			continue;
		block_after(im, t, t->block, 0);
		im->trials = t->sum.trial > im->trials ? t->sum.trial : im->trials;
	}
}

static uint32_t index_of(json_t *known, struct strv *list, const char *name)
{
	int64_t i = json_get_int(known, name, -1);

	if (i >= 0)
		return (uint32_t)i;
	strv_add(list, name);
	json_object_set_new_nocheck(known, name, json_integer((json_int_t)list->n - 1));
	return (uint32_t)list->n - 1;
}

static char *layout_of(const struct import *im, const struct format_record *rec)
{
	if (im->o->layout && rec->layout)
		return xasprintf("%s %s", im->o->layout, rec->layout);
	if (rec->layout || im->o->layout)
		return xstrdup(rec->layout ? rec->layout : im->o->layout);
	return xstrdup(im->stem);
}

static const char *host_of(const struct import *im, const struct format_record *rec)
{
	return rec->host ? rec->host : im->o->host ? im->o->host : IMPORT_HOST;
}

static const char *workload_of(const struct import *im, const struct format_record *rec)
{
	if (im->o->workload)
		return im->o->workload;
	return rec->workload ? rec->workload : im->format->workload;
}

static void take_summary(struct import *im, const struct format_record *rec)
{
	for (size_t i = 0; i < rec->n_v; i++) {
		const struct format_value *v = &rec->v[i];
		struct result_set *s = im->set;
		struct result_summary *m;

		s->summaries =
			xgrow(s->summaries, s->n_summaries, &s->cap_summaries, sizeof(*s->summaries));
		m = &s->summaries[s->n_summaries++];
		*m = (struct result_summary){.run = im->run->id,
			.host = xstrdup(host_of(im, rec)),
			.layout_name = layout_of(im, rec),
			.workload_name = xstrdup(workload_of(im, rec)),
			.metric = metric_find(v->metric),
			.n = rec->n,
			.mean = v->value,
			.min = v->min,
			.max = v->max,
			.stddev = v->stddev,
			.resolution =
				fmax(v->resolution, fmax(v->min_resolution, v->max_resolution)),
			.stddev_resolution = v->stddev_resolution,
			.data = rec->data,
			.unit_assumed = (v->marks & FORMAT_UNIT_ASSUMED) != 0};
		m->layout = index_of(im->layouts, &im->run->layouts, m->layout_name);
		m->workload = index_of(im->workloads, &im->run->workloads, m->workload_name);
	}
}

static void take_values(const struct format_record *rec, struct result_trial *t)
{
	t->printed = xcalloc(rec->n_v, sizeof(*t->printed));
	for (size_t i = 0; i < rec->n_v; i++)
		t->printed[t->n_printed++] = (struct result_printed){
			metric_find(rec->v[i].metric), rec->v[i].value, rec->v[i].resolution,
			(rec->v[i].marks & FORMAT_UNIT_ASSUMED) != 0};
}

static uint64_t to_ns(double seconds)
{
	return seconds > 0 && seconds < 9e9 ? (uint64_t)llround(seconds * 1e9) : 0;
}

/* Takes the record's histogram. */
static void take_outcome(struct format_record *rec, struct trial_summary *sum)
{
	sum->ok = !rec->error;
	sum->error = xstrdup(rec->error);
	sum->started_wall_ns = rec->started_wall_ns;
	sum->elapsed_ns = (int64_t)to_ns(rec->seconds);
	sum->bytes = rec->bytes;
	sum->ops = rec->ops;
	sum->cpu_user_ns = to_ns(rec->cpu_user_s);
	sum->cpu_system_ns = to_ns(rec->cpu_system_s);
	sum->hist = rec->hist;
	sum->hist_len = rec->hist_len;
	rec->hist = NULL;
}

static void take_trial(struct import *im, struct format_record *rec)
{
	struct result_trial t = {.run = im->run->id,
		.host = xstrdup(host_of(im, rec)),
		.attempt = 1,
		.repeat = 1,
		.layout_name = layout_of(im, rec),
		.workload_name = xstrdup(workload_of(im, rec)),
		.op = xstrdup(rec->op ? rec->op : ""),
		.cache = xstrdup(rec->cache ? rec->cache : ""),
		.data = rec->data,
		.complete = 1};

	t.layout = index_of(im->layouts, &im->run->layouts, t.layout_name);
	t.workload = index_of(im->workloads, &im->run->workloads, t.workload_name);
	t.block = block_after(im, &t, 0, 1);
	take_outcome(rec, &t.sum);
	if (rec->n_v && !rec->error)
		take_values(rec, &t);
	t.sum.trial = ++im->trials;
	t.sum.block = t.block;
	t.sum.layout = t.layout;
	t.sum.workload = t.workload;
	t.sum.repeat = 1;
	im->set->trials = xgrow(im->set->trials, im->set->n_trials, &im->set->cap_trials,
		sizeof(*im->set->trials));
	im->set->trials[im->set->n_trials++] = t;
}

/* The order of all trials is known when each has its time; where the layouts were measured one
 * after the other, that is the order they were written in. */
static void tell_design(struct import *im)
{
	int64_t first = 0, last = 0;
	const char *design = "as-written";

	for (size_t i = 0; i < im->set->n_trials; i++) {
		const struct trial_summary *t = &im->set->trials[i].sum;

		if (im->set->trials[i].run != im->run->id)
			continue;
		if (t->started_wall_ns == 0)
			design = "unknown";
		if (t->started_wall_ns && (!first || t->started_wall_ns < first))
			first = t->started_wall_ns;
		if (t->started_wall_ns && t->started_wall_ns + t->elapsed_ns > last)
			last = t->started_wall_ns + t->elapsed_ns;
	}
	free(im->run->design);
	im->run->design = xstrdup(first ? design : "unknown");
	im->run->started_wall_ns = first;
	im->run->finished_wall_ns = last;
}

static void write_note(const char *name, const struct format_note *n, struct buf *out)
{
	buf_addf(out, "%s:%zu", name, n->first);
	if (n->last > n->first)
		buf_addf(out, "-%zu", n->last);
	buf_addf(out, ": %s\n", n->text);
}

static void write_log(
	const char *name, const struct format_found *f, struct buf *log, struct buf *doubts)
{
	if (log)
		buf_addf(log, "%s: read as %s\n", name, f->format);
	for (size_t i = 0; i < f->n_notes; i++) {
		if (log)
			write_note(name, &f->notes[i], log);
		if (doubts && f->notes[i].doubt)
			write_note(name, &f->notes[i], doubts);
	}
}

static const char *name_in(const struct format_record *r, int layout)
{
	const char *name = layout ? r->layout : r->workload;

	return name ? name : "";
}

/* How many layouts, or workloads, the text names. */
static size_t count_names(const struct format_found *f, int layout)
{
	json_t *names = json_object();
	size_t n;

	for (size_t i = 0; i < f->n_records; i++)
		if (i == 0 || strcmp(name_in(&f->records[i], layout),
				      name_in(&f->records[i - 1], layout)) != 0)
			json_object_set_new_nocheck(
				names, name_in(&f->records[i], layout), json_null());
	n = json_object_size(names);
	json_decref(names);
	return n;
}

/* What a layout's only summary is told by; the caller frees it. */
static char *summary_key(
	const char *host, const char *layout, const char *workload, enum metric_id metric)
{
	return xasprintf("%s\n%s\n%s\n%u", host, layout, workload, (unsigned)metric);
}

static int second_summary(const struct import *im, const struct format_record *rec, int64_t first,
	struct err *e)
{
	char *layout = layout_of(im, rec), *where;

	where = first ? xasprintf("line %lld", (long long)first) : xstrdup("a text before this one");
	err_set(e, ERR_INPUT,
		"%s:%zu: a second summary of layout '%s', workload '%s' on host '%s': the first is in "
		"%s; name a layout, workload or host of its own, or make one row of all trials",
		im->name, rec->line, layout, workload_of(im, rec), host_of(im, rec), where);
	free(layout);
	free(where);
	return -1;
}

/* A layout has one summary of a workload on a host: which of two would be compared? */
static int check_summaries(const struct import *im, const struct format_found *f, struct err *e)
{
	json_t *lines = json_object();
	int rc = 0;

	for (size_t i = 0; im->o->into && i < im->set->n_summaries; i++) {
		const struct result_summary *m = &im->set->summaries[i];
		char *key = summary_key(m->host, m->layout_name, m->workload_name, m->metric);

		if (m->run == im->o->into)
			json_object_set_new_nocheck(lines, key, json_integer(0));
		free(key);
	}
	for (size_t i = 0; !rc && i < f->n_records; i++) {
		const struct format_record *rec = &f->records[i];
		char *layout, *key;
		int64_t first;

		if (!rec->n || !rec->n_v)
			continue;
		layout = layout_of(im, rec);
		key = summary_key(host_of(im, rec), layout, workload_of(im, rec),
			metric_find(rec->v[0].metric));
		first = json_get_int(lines, key, -1);
		if (first >= 0)
			rc = second_summary(im, rec, first, e);
		json_object_set_new_nocheck(lines, key, json_integer((json_int_t)rec->line));
		free(layout);
		free(key);
	}
	json_decref(lines);
	return rc;
}

/* Names that a run cannot hold are said before anything is added. */
static int check_found(const struct import *im, const struct format_found *f, struct err *e)
{
	size_t layouts = count_names(f, 1), workloads = count_names(f, 0);

	if (layouts <= INDICES_MAX && workloads <= INDICES_MAX)
		return check_summaries(im, f, e);
	return err_set(e, ERR_INPUT, "%s: results of %zu layouts and %zu workloads: the limit is %d of "
				     "each, split it",
		im->name, layouts, workloads, INDICES_MAX);
}

static int add_found(struct import *im, struct format_found *f, struct err *e)
{
	if (check_found(im, f, e))
		return -1;
	if (result_set_room(im->set, f->n_records, e))
		return err_prefix(e, "%s", im->name);
	im->run = im->o->into ? find_run(im->set, im->o->into) : NULL;
	if (im->o->into && !im->run)
		return err_set(e, ERR_NOTFOUND, "%s: there is no run %llu to add it to", im->name,
			(unsigned long long)im->o->into);
	if (im->run)
		count_existing(im);
	else
		im->run = new_run(im->set, im->o->run ? im->o->run : f->run ? f->run : im->stem);
	for (size_t i = 0; i < f->n_records; i++) {
		if (f->records[i].n)
			take_summary(im, &f->records[i]);
		else
			take_trial(im, &f->records[i]);
		/* its memory is the next one's */
		format_record_clear(&f->records[i]);
	}
	tell_design(im);
	return 0;
}

static int read_export(struct result_set *s, const char *name, const struct buf *text,
	struct buf *log, struct err *e)
{
	size_t no = 0;

	for (size_t at = 0; at < text->len;) {
		const char *from = text->data + at;
		const char *end = memchr(from, '\n', text->len - at);
		size_t len = end ? (size_t)(end - from) : text->len - at;

		at += len + 1;
		no++;
		if (strspn(from, " \t\r\n") >= len)
			continue;
		if (export_read_line(s, name, no, from, len, e))
			return -1;
	}
	if (export_read_whole(s, name, e))
		return -1;
	if (log)
		buf_addf(log, "%s: read as arraymark\n%s:1-%zu: an export\n", name, name, no);
	return 0;
}

/* Nearly any text can be tried as a list: whoever meant something else should know. */
static int read_as_list(struct err *e)
{
	struct err why;

	err_copy(&why, e);
	return err_set(e, why.code, "%s (read as a list of times or rates: see arraymark-results(5))",
		why.text);
}

int import_text(struct result_set *s, const char *name, struct buf *text,
	const struct import_options *o, struct buf *log, uint64_t *ret_run, struct err *e)
{
	struct import im = {.set = s, .name = name, .o = o, .format = o->format};
	struct format_found found = {0};
	int rc;

	if (format_decode(name, text, e) ||
		(!im.format && format_detect(name, text, &im.format, e)))
		return -1;
	if (!im.format->read) {
		if (read_export(s, name, text, log, e))
			return -1;
		*ret_run = 0;
		return 0;
	}
	if (format_read(name, text, im.format, &found, e))
		return im.format == o->format || strcmp(im.format->name, "list") ? -1 : read_as_list(e);
	im.stem = stem_of(name);
	im.layouts = json_object();
	im.workloads = json_object();
	im.blocks = json_object();
	rc = add_found(&im, &found, e);
	if (!rc) {
		write_log(name, &found, log, o->doubts);
		*ret_run = im.run->id;
	}
	format_found_clear(&found);
	free(im.stem);
	json_decref(im.layouts);
	json_decref(im.workloads);
	json_decref(im.blocks);
	return rc;
}

int import_file(struct result_set *s, const char *path, const struct import_options *o,
	struct buf *log, uint64_t *ret_run, struct err *e)
{
	struct buf text = {0};
	int rc = format_load(path, &text, e);

	rc = rc ? rc : import_text(s, path, &text, o, log, ret_run, e);
	buf_free(&text);
	return rc;
}
