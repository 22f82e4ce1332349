/*
 * fio's output: JSON (one document or several, text between them) and terse lines. Owns the sides
 * of the documents until they become records.
 * Invariant: jobs of one name that ran together are one trial; a document that only shows an
 * earlier state of a later one (--status-interval) gives no trial.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/fio.h"
#include "common/measure/hist.h"

#define START_SLACK_MS 2500 /* fio's elapsed is whole seconds, as are old versions' times of a document */

#define TERSE_MAX 1000	    /* sides of terse lines that one document may say again */

/* The document that was read last. */
struct before {
	size_t first_side, line;
	int64_t written_ms;
	int stopped;          /* a line behind it says that a signal ended fio */
	size_t terse_side;    /* the last terse line's first side, */
	size_t terse_line;    /* and its place; 0: none yet */
	size_t terse_from;    /* the first side since the last document, which all are of terse lines */
	int had_terse_doubts; /* it was told that lines could be of one run */
};

void fio_side_clear(struct fio_side *s)
{
	free(s->host);
	free(s->job);
	free(s->hist);
}

void fio_sides_clear(struct fio_sides *s)
{
	for (size_t i = 0; i < s->n; i++)
		fio_side_clear(&s->v[i]);
	free(s->v);
	free(s->names);
	*s = (struct fio_sides){0};
}

/* Both as one; NULL where one of them is none. Frees the first. */
static char *merge_bins(char *to, size_t len, const struct fio_side *from, size_t *ret_len)
{
	struct hist *a = xmalloc(sizeof(*a)), *b = xmalloc(sizeof(*b));
	struct buf bytes = {0};
	struct err ignored;

	if (to && from->hist && !hist_decode(to, len, a, &ignored) &&
		!hist_decode(from->hist, from->hist_len, b, &ignored)) {
		hist_merge(a, b);
		hist_encode(a, &bytes);
		if (hist_decode(bytes.data, bytes.len, b, &ignored))
			buf_free(&bytes);
	}
	free(a);
	free(b);
	free(to);
	*ret_len = bytes.len;
	return bytes.len ? buf_take(&bytes) : NULL;
}

static void merge_latency(struct fio_side *to, const struct fio_side *from)
{
	double n = to->lat_n + from->lat_n;

	if (n > 0)
		to->lat_mean = (to->lat_mean * to->lat_n + from->lat_mean * from->lat_n) / n;
	to->lat_n = n;
	to->lat_max = fmax(to->lat_max, from->lat_max);
	/* Percentiles of parts say nothing about the whole. */
	to->p50 = to->p99 = to->p999 = 0;
	to->hist = merge_bins(to->hist, to->hist_len, from, &to->hist_len);
}

/* FNV-1a over what same_side() compares. */
static uint32_t names_hash(const struct fio_side *s)
{
	const char *const texts[] = {s->op, s->job, s->host ? s->host : ""};
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (const char *p = texts[i]; *p; p++)
			h = (h ^ (unsigned char)*p) * 16777619u;
	return h;
}

static int same_side(const struct fio_side *a, const struct fio_side *b)
{
	return !strcmp(a->op, b->op) && a->group == b->group && !strcmp(a->job, b->job) &&
	       str_equal(a->host, b->host);
}

void fio_add(struct fio_sides *s, size_t from, struct fio_side *side)
{
	uint32_t names = names_hash(side);

	for (size_t i = from; i < s->n; i++) {
		struct fio_side *to;

		if (s->names[i] != names || !same_side(&s->v[i], side))
			continue;
		to = &s->v[i];
		merge_latency(to, side);
		to->jobs += side->jobs;
		to->bytes += side->bytes;
		to->ops += side->ops;
		to->runtime_ms = fmax(to->runtime_ms, side->runtime_ms);
		to->error = to->error ? to->error : side->error;
		to->passed += side->passed;
		if (!to->started_wall_ns ||
			(side->started_wall_ns && side->started_wall_ns < to->started_wall_ns))
			to->started_wall_ns = side->started_wall_ns;
		fio_side_clear(side);
		return;
	}
	s->v = xgrow(s->v, s->n, &s->cap, sizeof(*s->v));
	s->names = xgrow(s->names, s->n, &s->names_cap, sizeof(*s->names));
	s->names[s->n] = names;
	s->v[s->n++] = *side;
}

static void side_drop(struct fio_sides *s, size_t i)
{
	fio_side_clear(&s->v[i]);
	memmove(&s->v[i], &s->v[i + 1], (s->n - i - 1) * sizeof(*s->v));
	memmove(&s->names[i], &s->names[i + 1], (s->n - i - 1) * sizeof(*s->names));
	s->n--;
}

static size_t count_lines(const char *from, const char *to)
{
	size_t n = 0;

	while ((from = memchr(from, '\n', (size_t)(to - from)))) {
		from++;
		n++;
	}
	return n;
}

/* Whether both are of one job: it says when it started; or fio does, which is before the earlier document
 * was written, by more than whole seconds are off; or the job ran already when that was written, as one
 * that has not ended. */
static int is_one_job(const struct before *b, const struct fio_side *old, const struct fio_side *new,
	int64_t now_ms)
{
	if (old->job_start_ms && new->job_start_ms)
		return old->job_start_ms == new->job_start_ms;
	if (new->fio_start_ms && new->fio_start_ms + START_SLACK_MS < b->written_ms)
		return 1;
	return (double)now_ms - new->runtime_ms < (double)b->written_ms;
}

/* Every side of the document before is there again, of the same job, and has not become less. */
static int continues(
	const struct fio_sides *s, const struct before *b, size_t first, int64_t now_ms)
{
	if (b->first_side == first || !b->written_ms || !now_ms)
		return 0;
	for (size_t i = b->first_side; i < first; i++) {
		const struct fio_side *old = &s->v[i], *new = NULL;

		for (size_t k = first; k < s->n && !new; k++)
			new = same_side(old, &s->v[k]) ? &s->v[k] : NULL;
		if (!new || new->bytes < old->bytes || new->ops < old->ops || !is_one_job(b, old, new, now_ms))
			return 0;
	}
	return 1;
}

static void take_over(
	struct fio_sides *s, struct before *b, size_t *first, size_t line, struct format_found *f)
{
	found_renote(f, b->line, "fio: an earlier state of the document in line %zu", line);
	while (*first > b->first_side) {
		side_drop(s, b->first_side);
		--*first;
	}
}

/* Jobs of one name and group ran together: where one failed before it did anything, the sides of the
 * others lack its part. */
static void spread_errors(struct fio_sides *s, size_t first)
{
	for (size_t i = first; i < s->n; i++) {
		const struct fio_side *failed = &s->v[i];
		int told = 0;

		if (!failed->error || failed->bytes || failed->ops)
			continue;
		for (size_t k = first; k < s->n; k++) {
			struct fio_side *side = &s->v[k];

			if (k == i || side->group != failed->group || strcmp(side->job, failed->job) != 0 ||
				!str_equal(side->host, failed->host))
				continue;
			side->error = side->error ? side->error : failed->error;
			told = 1;
		}
		if (told)
			side_drop(s, i--);
	}
}

static void mark_stopped(struct fio_sides *s, size_t first, int stopped)
{
	for (size_t i = first; i < s->n; i++)
		s->v[i].stopped = stopped;
}

/* What is to be said of the sides from `first` on. */
static void note_sides(struct format_found *f, size_t line, size_t last, const struct fio_sides *s,
	size_t first)
{
	double passed = 0;

	for (size_t i = first; i < s->n; i++)
		passed = fmax(passed, s->v[i].passed);
	found_note(f, line, last, "fio: %zu result%s of jobs%s", s->n - first, s->n - first == 1 ? "" : "s",
		passed > 0 ? ", with I/O errors that it went on behind (continue_on_error): what failed took time "
			     "and is not counted"
			   : "");
	if (passed > 0)
		found_doubt(f, line);
}

/* Whether the terse lines right before a document are of the same jobs (--output-format=terse,json): they
 * have its names, and each name's KiB, cut line by line, add up to what the document has. */
static int is_said_twice(const struct fio_sides *s, size_t terse, size_t first)
{
	if (terse >= first || first - terse > TERSE_MAX)
		return 0;
	for (size_t i = terse; i < first; i++) {
		const struct fio_side *side = NULL;
		double least = 0;
		size_t n = 0;

		for (size_t k = first; k < s->n && !side; k++)
			side = same_side(&s->v[i], &s->v[k]) ? &s->v[k] : NULL;
		for (size_t k = terse; k < first && side; k++)
			if (same_side(&s->v[i], &s->v[k])) {
				least += (double)s->v[k].bytes;
				n++;
			}
		if (!side || least > (double)side->bytes || least + 1024.0 * (double)n <= (double)side->bytes)
			return 0;
	}
	return 1;
}

static void drop_terse(
	struct fio_sides *s, size_t terse, size_t *first, size_t line, struct format_found *f)
{
	while (*first > terse) {
		found_renote(f, s->v[terse].line, "fio: terse line, of the jobs of the document in line %zu", line);
		side_drop(s, terse);
		--*first;
	}
}

/* The document at the start of line r->no; the reader goes on behind it. */
static int take_document(struct reader *r, size_t start, struct before *b, struct fio_sides *s,
	struct format_found *f)
{
	const char *at = r->t->data + start;
	size_t line = r->no, first = s->n, used;
	int64_t written;

	if (fio_document(r->t->name, line, at, r->t->len - start, s, &used, &written, r->e))
		return -1;
	r->pos = start + used;
	r->no += count_lines(at, at + used);
	if (continues(s, b, first, written))
		take_over(s, b, &first, line, f);
	spread_errors(s, first);
	if (is_said_twice(s, b->terse_from, first))
		drop_terse(s, b->terse_from, &first, line, f);
	note_sides(f, line, r->no, s, first);
	mark_stopped(s, first, b->stopped);
	b->first_side = first;
	b->terse_from = s->n;
	b->line = line;
	b->written_ms = written;
	b->stopped = 0;
	/* What goes on behind the document on its last line is read as a line of that number. */
	if (r->pos < r->t->len && r->t->data[r->pos] == '\n')
		r->pos++;
	else if (r->pos < r->t->len)
		r->no--;
	return 0;
}

/* Takes the histogram. */
static void add_latency(struct format_record *rec, struct fio_side *s)
{
	const struct {
		const char *metric;
		double ns, step;
	} all[] = {{"latency_mean", s->lat_mean, 0}, {"latency_p50", s->p50, s->lat_step},
		{"latency_p99", s->p99, s->lat_step}, {"latency_p999", s->p999, s->lat_step},
		{"latency_max", s->lat_max, s->lat_step}};

	rec->hist = s->hist;
	rec->hist_len = s->hist_len;
	s->hist = NULL;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].ns > 0)
			record_value(rec, all[i].metric, "ns", all[i].ns, all[i].step);
}

/* Rates are as coarse as what they are computed from. */
static void add_steps(struct format_record *rec, const struct fio_side *s)
{
	for (size_t i = 0; i < rec->n_v; i++) {
		struct format_value *v = &rec->v[i];

		if (!strcmp(v->metric, "throughput"))
			v->resolution += s->bytes_step / rec->seconds;
		if (!strcmp(v->metric, "ops_per_s"))
			v->resolution += s->iops_step;
	}
}

static int add_record(
	const char *name, struct fio_side *s, struct format_found *f, struct err *e)
{
	struct format_record *rec = found_record(f, s->line);

	rec->host = xstrdup(s->host);
	rec->workload = xasprintf("%s %s", s->job, s->op);
	rec->op = xstrdup(s->op);
	rec->bytes = s->bytes;
	rec->ops = s->ops;
	rec->started_wall_ns = s->started_wall_ns;
	if (s->error || s->stopped) {
		rec->error = s->error ? xasprintf("fio reports error %d", s->error)
				      : xstrdup("fio was ended by a signal");
		return 0;
	}
	if (!(s->runtime_ms > 0))
		return err_set(e, ERR_INPUT,
			"%s:%zu: fio job '%.60s': %llu bytes in 0 ms: too short to be measured",
			name, s->line, s->job, (unsigned long long)s->bytes);
	rec->seconds = s->runtime_ms / 1e3;
	rec->seconds_resolution = 1e-3;
	add_latency(rec, s);
	record_compute(rec);
	add_steps(rec, s);
	record_headline(rec, "ops_per_s");
	return 0;
}

/* A member of a document whose beginning is missing. */
static int is_fragment(const char *s)
{
	static const char *const members[] = {"\"fio version\"", "\"jobs\"", "\"client_stats\"",
		"\"jobname\"", "\"io_bytes\"", "\"runtime\""};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const char *p = after_word(s, members[i]);

		if (p && *skip_blanks(p) == ':')
			return 1;
	}
	return 0;
}

/* Text beside the documents: nothing is taken from it; the first thing that fio says went wrong is
 * kept for the case that there is no result. -1: it is a result that cannot be read. */
static int take_text(
	struct reader *r, struct before *b, struct buf *complaint, struct format_found *f)
{
	const char *said = after_word(r->s, "fio: "), *s = skip_blanks(r->s);

	if (fio_is_near_terse(s))
		return reader_wrong(r, "fio's terse output is read in the versions 3, 4 and 5, and in whole "
				       "lines ('3;fio-…'); this is '%.12s'", s);
	if (is_fragment(s))
		return reader_wrong(r, "not whole JSON: '%.40s' stands outside of a document, whose "
				       "beginning is missing", s);
	if (said && after_word(said, "terminating on signal ")) {
		b->stopped = 1;
		found_note(f, r->no, r->no, "fio: a signal ended it: what it reports next failed");
		return 0;
	}
	if (!is_blank(r->s))
		b->stopped = 0;
	if (said && !complaint->len)
		buf_addf(complaint, "%s:%zu: fio failed: %.200s", r->t->name, r->no, said);
	found_unused(f, r->no, is_blank(r->s) ? "blank" : "text of fio: not used");
	return 0;
}

/* A line has no time: those of one name and group, one under the other, are jobs that ran together
 * (numjobs), states of one (--status-interval) or several runs. They are taken as the last. */
static int take_terse(struct reader *r, struct before *b, struct fio_sides *s, struct format_found *f)
{
	size_t first = s->n;

	if (fio_terse_line(r, s))
		return -1;
	mark_stopped(s, first, b->stopped);
	if (b->terse_line && b->terse_line + 1 == r->no && !b->had_terse_doubts && first < s->n &&
		b->terse_side < first && same_side(&s->v[first], &s->v[b->terse_side])) {
		b->had_terse_doubts = 1;
		found_note(f, r->no, r->no,
			"fio: terse line, of the job of line %zu: taken as another run of it; where both ran "
			"at once (numjobs) or one is a state of the other (--status-interval), use "
			"--group_reporting, and JSON",
			b->terse_line);
		found_doubt(f, r->no);
	} else {
		found_note(f, r->no, r->no, "fio: terse line");
	}
	b->terse_side = first;
	b->terse_line = r->no;
	return 0;
}

static int take_line(struct reader *r, size_t start, struct before *b, struct fio_sides *s,
	struct buf *complaint, struct format_found *f)
{
	if (*skip_blanks(r->s) == '{')
		return take_document(r, start, b, s, f);
	if (fio_is_terse(skip_blanks(r->s)))
		return take_terse(r, b, s, f);
	return take_text(r, b, complaint, f);
}

/* Lines, but a document may be one line of any length: it is seen before the reader looks at it. */
static int next_start(struct reader *r, size_t *ret_start)
{
	size_t at = r->pos;

	while (at < r->t->len && (r->t->data[at] == ' ' || r->t->data[at] == '\t'))
		at++;
	*ret_start = at;
	if (at < r->t->len && r->t->data[at] == '{') {
		r->no++;
		buf_reset(&r->line);
		buf_adds(&r->line, "{");
		r->s = r->line.data;
		return 1;
	}
	return reader_next(r);
}

static int read_sides(
	const struct format_text *t, struct fio_sides *s, struct format_found *f, struct err *e)
{
	struct before b = {0};
	struct buf complaint = {0};
	struct reader r;
	size_t start;
	int rc = 0;

	reader_open(&r, t, e);
	while (!rc && next_start(&r, &start))
		rc = take_line(&r, start, &b, s, &complaint, f);
	rc = rc || r.failed ? -1 : 0;
	if (!rc && s->n == 0)
		rc = complaint.len ? err_set(e, ERR_INPUT, "%s", complaint.data)
				   : err_set(e, ERR_INPUT,
					     "%s: no JSON and no terse line of fio with any I/O in "
					     "it: run fio with --output-format=json+",
					     t->name);
	reader_close(&r);
	buf_free(&complaint);
	return rc;
}

static int read_fio(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct fio_sides s = {0};
	int rc = read_sides(text, &s, f, e);

	for (size_t i = 0; !rc && i < s.n; i++)
		rc = add_record(text->name, &s.v[i], f, e);
	fio_sides_clear(&s);
	return rc;
}

static int score_fio(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = memmem(head->data, head->len, "\"fio version\"", 13) ? 95 : 0;

	reader_open(&r, head, &ignored);
	while (score < 90 && reader_next(&r)) {
		int now = fio_is_terse(skip_blanks(r.s))                               ? 90
			  : !strncmp(r.s, "fio-", 4) && isdigit((unsigned char)r.s[4]) ? 60
			  : !strncmp(r.s, "fio: ", 5)                                  ? 30
										       : 0;

		score = now > score ? now : score;
	}
	reader_close(&r);
	return score;
}

const struct format format_fio = {.name = "fio",
	.summary = "fio's json, json+ and terse output",
	.workload = "fio",
	.score = score_fio,
	.read = read_fio};
