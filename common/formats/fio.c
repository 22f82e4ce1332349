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

/* The document that was read last. */
struct before {
	size_t first_side, line;
	int64_t written_ms;
};

void fio_sides_clear(struct fio_sides *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].host);
		free(s->v[i].job);
		free(s->v[i].hist);
	}
	free(s->v);
	*s = (struct fio_sides){0};
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
	if (to->hist && from->hist) {
		hist_merge(to->hist, from->hist);
	} else {
		free(to->hist);
		to->hist = NULL;
	}
}

static int same_side(const struct fio_side *a, const struct fio_side *b)
{
	return a->op == b->op && !strcmp(a->job, b->job) && str_equal(a->host, b->host);
}

void fio_add(struct fio_sides *s, size_t from, struct fio_side *side)
{
	for (size_t i = from; i < s->n; i++) {
		struct fio_side *to = &s->v[i];

		if (!same_side(to, side))
			continue;
		merge_latency(to, side);
		to->jobs += side->jobs;
		to->bytes += side->bytes;
		to->ops += side->ops;
		to->runtime_ms = fmax(to->runtime_ms, side->runtime_ms);
		to->error = to->error ? to->error : side->error;
		if (!to->started_wall_ns ||
			(side->started_wall_ns && side->started_wall_ns < to->started_wall_ns))
			to->started_wall_ns = side->started_wall_ns;
		free(side->host);
		free(side->job);
		free(side->hist);
		return;
	}
	s->v = xgrow(s->v, s->n, &s->cap, sizeof(*s->v));
	s->v[s->n++] = *side;
}

static void side_drop(struct fio_sides *s, size_t i)
{
	free(s->v[i].host);
	free(s->v[i].job);
	free(s->v[i].hist);
	memmove(&s->v[i], &s->v[i + 1], (s->n - i - 1) * sizeof(*s->v));
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

/* Every side of the document before is there again, ran already when that one was written, and has
 * not become less. */
static int continues(
	const struct fio_sides *s, const struct before *b, size_t first, int64_t now_ms)
{
	if (b->first_side == first || !b->written_ms || !now_ms)
		return 0;
	for (size_t i = b->first_side; i < first; i++) {
		const struct fio_side *old = &s->v[i], *new = NULL;

		for (size_t k = first; k < s->n && !new; k++)
			new = same_side(old, &s->v[k]) ? &s->v[k] : NULL;
		if (!new || new->bytes < old->bytes || new->ops < old->ops ||
			(double)now_ms - new->runtime_ms >= (double)b->written_ms)
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

static int parse_document(
	const struct reader *r, const char *at, size_t len, json_t **ret, size_t *ret_used)
{
	json_error_t error;
	json_t *doc = json_loadb(at, len, JSON_DISABLE_EOF_CHECK, &error);

	/* Unset minima are printed as 2^64 - 1. */
	if (!doc && json_error_code(&error) == json_error_numeric_overflow)
		doc = json_loadb(at, len, JSON_DISABLE_EOF_CHECK | JSON_DECODE_INT_AS_REAL, &error);
	if (!doc)
		return err_set(r->e, ERR_INPUT, "%s:%zu: not whole JSON: %s", r->t->name,
			r->no + (size_t)(error.line > 0 ? error.line - 1 : 0), error.text);
	*ret = doc;
	*ret_used = (size_t)error.position;
	return 0;
}

/* The document at the start of line r->no; the reader goes on behind it. */
static int take_document(struct reader *r, size_t start, struct before *b, struct fio_sides *s,
	struct format_found *f)
{
	const char *at = r->t->data + start;
	size_t line = r->no, first = s->n, used;
	int64_t written;
	json_t *doc;
	int rc;

	if (parse_document(r, at, r->t->len - start, &doc, &used))
		return -1;
	rc = fio_json_sides(r->t->name, line, doc, s, r->e);
	written = fio_json_written_ms(doc);
	json_decref(doc);
	if (rc)
		return -1;
	r->pos = start + used;
	r->no += count_lines(at, at + used);
	if (continues(s, b, first, written))
		take_over(s, b, &first, line, f);
	found_note(f, line, r->no, "fio: %zu result%s of jobs", s->n - first,
		s->n - first == 1 ? "" : "s");
	*b = (struct before){first, line, written};
	/* What goes on behind the document on its last line is read as a line of that number. */
	if (r->pos < r->t->len && r->t->data[r->pos] == '\n')
		r->pos++;
	else if (r->pos < r->t->len)
		r->no--;
	return 0;
}

static void add_latency(struct format_record *rec, const struct fio_side *s)
{
	const struct {
		const char *metric;
		double ns, step;
	} all[] = {{"latency_mean", s->lat_mean, 0}, {"latency_p50", s->p50, s->lat_step},
		{"latency_p99", s->p99, s->lat_step}, {"latency_p999", s->p999, s->lat_step},
		{"latency_max", s->lat_max, s->lat_step}};
	struct buf bytes = {0};

	if (s->hist) {
		hist_encode(s->hist, &bytes);
		rec->hist_len = bytes.len;
		rec->hist = buf_take(&bytes);
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].ns > 0)
			record_value(rec, all[i].metric, "ns", all[i].ns, all[i].step);
}

static int add_record(
	const char *name, const struct fio_side *s, struct format_found *f, struct err *e)
{
	struct format_record *rec = found_record(f, s->line);

	rec->host = xstrdup(s->host);
	rec->workload = xasprintf("%s %s", s->job, s->op);
	rec->op = xstrdup(s->op);
	rec->bytes = s->bytes;
	rec->ops = s->ops;
	rec->started_wall_ns = s->started_wall_ns;
	if (s->error) {
		rec->error = xasprintf("fio reports error %d", s->error);
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
	record_headline(rec, "ops_per_s");
	return 0;
}

/* Text beside the documents: nothing is taken from it; the first thing that fio says went wrong is
 * kept for the case that there is no result. */
static void take_text(struct reader *r, struct buf *complaint, struct format_found *f)
{
	const char *said = after_word(r->s, "fio: ");

	if (said && !complaint->len)
		buf_addf(complaint, "%s:%zu: fio failed: %.200s", r->t->name, r->no, said);
	found_unused(f, r->no, is_blank(r->s) ? "blank" : "text of fio: not used");
}

static int take_line(struct reader *r, size_t start, struct before *b, struct fio_sides *s,
	struct buf *complaint, struct format_found *f)
{
	if (*skip_blanks(r->s) == '{')
		return take_document(r, start, b, s, f);
	if (fio_is_terse(skip_blanks(r->s))) {
		if (fio_terse_line(r, s))
			return -1;
		found_note(f, r->no, r->no, "fio: terse line");
		return 0;
	}
	take_text(r, complaint, f);
	return 0;
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

/* The text without the blanks that lines begin with: no string has any, since a string has no end
 * of line, and most of fio's indented output is nothing else. */
static void without_indent(const struct format_text *t, struct buf *ret)
{
	for (size_t at = 0; at < t->len;) {
		const char *from = t->data + at, *end = memchr(from, '\n', t->len - at);
		size_t len = end ? (size_t)(end + 1 - from) : t->len - at, skip = 0;

		while (skip < len && (from[skip] == ' ' || from[skip] == '\t'))
			skip++;
		buf_add(ret, from + skip, len - skip);
		at += len;
	}
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
	struct buf lean = {0};
	struct format_text t;
	int rc;

	without_indent(text, &lean);
	t = (struct format_text){text->name, buf_str(&lean), lean.len};
	rc = read_sides(&t, &s, f, e);
	buf_free(&lean);
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
