/*
 * Series of trials and their disks over time <-> export lines. Owns nothing but what the set owns.
 * Invariant: a trial has one series; a piece is taken whole or not at all; after export_order_series()
 * points and spans are in the order of time.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_scan.h"
#include "coordinator/results/export_write.h"

#define POINTS_PIECE 100
#define CELLS_PIECE 2000
#define RATE_COLUMNS 4 /* the first ones: start, end, operations, bytes */
#define POINTS_MAX 100000

/* ---- writing ---- */

static void add_columns(const struct field_table *t, struct buf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		buf_adds(out, i ? ",\"" : "\"");
		buf_adds(out, t->v[i].key);
		buf_addc(out, '"');
	}
}

static void export_piece(
	const struct result_series *s, const struct field_table *t, size_t from, struct buf *out)
{
	export_begin_of_trial("series", s->run, s->host, s->attempt, s->trial, out);
	buf_adds(out, ",\"columns\":[");
	add_columns(t, out);
	buf_adds(out, "],\"points\":[");
	for (size_t i = from; i < s->n && i < from + POINTS_PIECE; i++) {
		if (i > from)
			buf_addc(out, ',');
		export_fields_print(t, &s->points[i], out);
	}
	buf_adds(out, "]}\n");
}

static json_t *span_json(const struct result_series *s, size_t span)
{
	json_t *list = json_array();

	json_array_append_new(list, json_integer(s->spans[span].start_ns));
	json_array_append_new(list, json_integer(s->spans[span].end_ns));
	for (size_t i = 0; i < s->n_disks; i++) {
		const struct result_disk_use *u = &s->use[span * s->n_disks + i];

		json_array_append_new(list, export_count(u->read_bytes));
		json_array_append_new(list, export_count(u->write_bytes));
		json_array_append_new(list, export_count(u->busy_ns));
	}
	return list;
}

static void export_spans(const struct result_series *s, size_t from, size_t piece, struct buf *out)
{
	json_t *o = export_of_trial("series-disks", s->run, s->host, s->attempt, s->trial);
	json_t *spans = json_array();

	for (size_t i = from; i < s->n_spans && i < from + piece; i++)
		json_array_append_new(spans, span_json(s, i));
	json_object_set_new_nocheck(o, "disks", json_integer((json_int_t)s->n_disks));
	json_object_set_new_nocheck(o, "spans", spans);
	export_line_end(o, out);
}

static void export_points(
	const struct result_series *s, const struct field_table *t, struct buf *out)
{
	for (size_t from = 0; from < s->n; from += POINTS_PIECE)
		export_piece(s, t, from, out);
}

void export_rates(const struct result_series *s, struct buf *out)
{
	const struct field_table rates = {export_point_table.v, RATE_COLUMNS};

	export_points(s, &rates, out);
}

void export_series(const struct result_series *s, struct buf *out)
{
	size_t piece = s->n_disks ? CELLS_PIECE / s->n_disks : 0;

	if (piece == 0)
		piece = 1;
	export_points(s, &export_point_table, out);
	for (size_t from = 0; s->n_disks && from < s->n_spans; from += piece)
		export_spans(s, from, piece, out);
}

/* ---- reading ---- */

/* The series that a piece belongs to, made where it is the first one. */
static struct result_series *open_series(
	struct result_set *s, uint64_t run, const struct export_piece *of)
{
	struct result_series *v = export_find_series(s, run, of);

	if (v)
		return v;
	s->series = xgrow(s->series, s->n_series, &s->cap_series, sizeof(*s->series));
	v = &s->series[s->n_series++];
	*v = (struct result_series){
		.run = run, .host = xstrdup(of->host), .attempt = of->attempt, .trial = of->trial};
	return v;
}

/* -1: they would be too many. */
static int add_points(struct result_set *s, uint64_t run, const struct export_piece *of,
	const struct result_point *v, size_t n)
{
	struct result_series *series = open_series(s, run, of);

	if (series->n + n > POINTS_MAX)
		return -1;
	series->points = xreallocarray(series->points, series->n + n + 1, sizeof(*series->points));
	memcpy(series->points + series->n, v, n * sizeof(*v));
	series->n += n;
	return 0;
}

/* The rows of the columns, NULL for one that is not known here; rows has room for each. */
static int read_columns(const struct export_line *l, const json_t *columns,
	const struct field **rows, struct err *e)
{
	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *name = json_array_get(columns, i);

		if (!json_is_string(name))
			return export_unexpected(
				l, (struct field_place){"columns", i}, NULL, name, "a text", e);
		for (size_t k = 0; k < export_point_table.n && !rows[i]; k++)
			if (!strcmp(export_point_table.v[k].key, json_string_value(name)))
				rows[i] = &export_point_table.v[k];
	}
	return 0;
}

static int read_point(const struct export_line *l, size_t at, const json_t *values,
	const struct field *const *rows, size_t n, struct result_point *ret, struct err *e)
{
	*ret = (struct result_point){0};
	if (!json_is_array(values) || json_array_size(values) != n)
		return export_unexpected(l, (struct field_place){"points", at}, NULL, values,
			"a list of a number for each of the columns", e);
	for (size_t i = 0; i < n; i++)
		if (rows[i] && export_field_take(l, (struct field_place){"points", at},
				       json_array_get(values, i), rows[i], ret, e))
			return -1;
	return 0;
}

static int read_points(const struct export_line *l, const json_t *columns, const json_t *points,
	struct result_point *ret, struct err *e)
{
	const struct field **rows = xcalloc(json_array_size(columns) + 1, sizeof(*rows));
	int rc = read_columns(l, columns, rows, e);

	for (size_t i = 0; i < json_array_size(points) && !rc; i++)
		rc = read_point(l, i, json_array_get(points, i), rows, json_array_size(columns),
			&ret[i], e);
	free(rows);
	return rc;
}

static int too_many_points(const struct export_line *l, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s:%zu: a series of more than %d points", l->name, l->no,
		POINTS_MAX);
}

int export_read_series(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const json_t *columns, *points;
	struct export_piece of = {0};
	struct result_point *read;
	size_t n;
	int rc;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_of_trial_table, &of, e) ||
		export_list(l, FIELD_OF_LINE, l->o, "columns", 1, &columns, e) ||
		export_list(l, FIELD_OF_LINE, l->o, "points", 1, &points, e))
		return -1;
	n = json_array_size(points);
	if (n > POINTS_MAX)
		return too_many_points(l, e);
	read = xcalloc(n + 1, sizeof(*read));
	if (read_points(l, columns, points, read, e)) {
		free(read);
		return -1;
	}
	rc = add_points(s, run, &of, read, n);
	free(read);
	return rc ? too_many_points(l, e) : 0;
}

static int scan_point(
	struct export_scan *s, const struct field *const *rows, size_t n, struct result_point *ret)
{
	int64_t v;

	*ret = (struct result_point){0};
	for (size_t i = 0; i < n; i++) {
		if (!scan_is(s, i ? "," : "[") || !scan_number(s, &v) ||
			(rows[i] && !export_field_take_count(rows[i], v, ret)))
			return 0;
	}
	return scan_is(s, "]");
}

/* "[[0,1000,…],[…]]}", points of the columns, each a list of whole numbers; NULL where anything else
 * stands there. */
static struct result_point *scan_points(
	struct export_scan *s, const struct field *const *rows, size_t columns, size_t *ret_n)
{
	struct result_point *v = NULL;
	size_t n = 0, cap = 0;
	int good = columns > 0 && scan_is(s, "[");

	do {
		v = xgrow(v, n, &cap, sizeof(*v));
		good = good && scan_point(s, rows, columns, &v[n++]);
	} while (good && scan_is(s, ","));
	good = good && scan_is(s, "]}") && s->at == s->end;
	if (!good) {
		free(v);
		return NULL;
	}
	*ret_n = n;
	return v;
}

/* Takes the points where all of it is as it is written here. */
static int take_plain(struct result_set *s, const struct export_line *l, struct export_scan points)
{
	const json_t *columns = json_object_get(l->o, "columns");
	const struct field **rows = xcalloc(json_array_size(columns) + 1, sizeof(*rows));
	int64_t run = json_get_int(l->o, "run", 0);
	struct result_point *read = NULL;
	struct export_piece of = {0};
	struct err ignored;
	size_t n = 0;

	if (run > 0 && !strcmp(json_get_str(l->o, "type", ""), "series") &&
		!export_fields_read(l, FIELD_OF_LINE, l->o, &export_of_trial_table, &of, &ignored) &&
		!read_columns(l, columns, rows, &ignored))
		read = scan_points(&points, rows, json_array_size(columns), &n);
	free(rows);
	if (!read || add_points(s, (uint64_t)run, &of, read, n)) {
		free(read);
		return 0;
	}
	free(read);
	return 1;
}

int export_read_plain_series(
	struct result_set *s, const char *line, size_t len, uint64_t *ret_run)
{
	static const char begin[] = "{\"type\":\"series\",", member[] = ",\"points\":";
	const char *points;
	struct export_line l = {.name = ""};
	struct buf head = {0};
	json_t *o = NULL;
	struct err ignored;
	int taken = 0;

	if (len < sizeof(begin) || memcmp(line, begin, sizeof(begin) - 1) != 0)
		return 0;
	points = memmem(line, len, member, sizeof(member) - 1);
	if (!points)
		return 0;
	buf_add(&head, line, (size_t)(points - line));
	buf_addc(&head, '}');
	if (!export_parse("", head.data, head.len, head.len, &o, &ignored)) {
		l.o = o;
		taken = take_plain(s, &l,
			(struct export_scan){points + sizeof(member) - 1, line + len, points});
		*ret_run = (uint64_t)json_get_int(o, "run", 0);
	}
	json_decref(o);
	buf_free(&head);
	return taken;
}

/* The numbers of a span: its times, then three of each disk. */
static int read_span(const struct export_line *l, size_t at, const json_t *span, size_t disks,
	struct result_span *ret, struct result_disk_use *use, struct err *e)
{
#define ROW(kind_, type, member, least_)                                                           \
	{                                                                                          \
		.kind = (kind_), .offset = offsetof(type, member), .least = (least_)               \
	}
	static const struct field times[] = {
		ROW(FIELD_I64, struct result_span, start_ns, INT64_MIN),
		ROW(FIELD_I64, struct result_span, end_ns, INT64_MIN)};
	static const struct field cells[] = {
		ROW(FIELD_U64, struct result_disk_use, read_bytes, 0),
		ROW(FIELD_U64, struct result_disk_use, write_bytes, 0),
		ROW(FIELD_U64, struct result_disk_use, busy_ns, 0)};
#undef ROW
	const struct field_place place = {"spans", at};

	if (!json_is_array(span) || json_array_size(span) != 2 + 3 * disks)
		return export_unexpected(
			l, place, NULL, span, "a list of two times and three numbers a disk", e);
	for (size_t i = 0; i < 2 + 3 * disks; i++) {
		const json_t *v = json_array_get(span, i);

		if (i < 2 ? export_field_take(l, place, v, &times[i], ret, e)
			  : export_field_take(
				    l, place, v, &cells[(i - 2) % 3], &use[(i - 2) / 3], e))
			return -1;
	}
	return 0;
}

static void add_spans(struct result_series *v, size_t disks, size_t n, const struct result_span *spans,
	const struct result_disk_use *use)
{
	v->n_disks = disks;
	v->spans = xreallocarray(v->spans, v->n_spans + n + 1, sizeof(*v->spans));
	v->use = xreallocarray(v->use, (v->n_spans + n) * disks + 1, sizeof(*v->use));
	memcpy(v->spans + v->n_spans, spans, n * sizeof(*spans));
	memcpy(v->use + v->n_spans * disks, use, n * disks * sizeof(*use));
	v->n_spans += n;
}

static int too_many_spans(const struct export_line *l, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s:%zu: spans: more than %d of all disks together", l->name,
		l->no, RESULT_DISK_CELLS_MAX);
}

static int take_spans(struct result_set *s, const struct export_line *l, uint64_t run,
	const struct export_piece *of, size_t disks, const json_t *list, struct err *e)
{
	size_t n = json_array_size(list);
	struct result_span *spans = xcalloc(n + 1, sizeof(*spans));
	struct result_disk_use *use = xcalloc(n * disks + 1, sizeof(*use));
	struct result_series *v;
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = read_span(l, i, json_array_get(list, i), disks, &spans[i], use + i * disks, e);
	v = rc ? NULL : open_series(s, run, of);
	if (v && v->n_disks && v->n_disks != disks)
		rc = export_unexpected(l, FIELD_OF_LINE, "disks", json_object_get(l->o, "disks"),
			"as many as in the piece before it", e);
	else if (v && (v->n_spans + n) * disks > RESULT_DISK_CELLS_MAX)
		rc = too_many_spans(l, e);
	else if (v)
		add_spans(v, disks, n, spans, use);
	free(spans);
	free(use);
	return rc;
}

int export_read_series_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	static const struct field disks_field = {.key = "disks",
		.kind = FIELD_U32,
		.flags = FIELD_MUST,
		.least = 1,
		.most = EVIDENCE_DISKS_MAX};
	struct export_piece of = {0};
	uint32_t disks = 0;
	const json_t *spans;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_of_trial_table, &of, e) ||
		export_field_take(l, FIELD_OF_LINE, json_object_get(l->o, "disks"), &disks_field,
			&disks, e) ||
		export_list(l, FIELD_OF_LINE, l->o, "spans", 1, &spans, e))
		return -1;
	if (json_array_size(spans) > RESULT_DISK_CELLS_MAX / disks)
		return too_many_spans(l, e);
	return take_spans(s, l, run, &of, disks, spans, e);
}

/* ---- after the last line ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct result_point *a = pa, *b = pb;
	int c = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);

	return c ? c : (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int by_span(const void *pa, const void *pb)
{
	const struct result_span *a = pa, *b = pb;
	int c = (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);

	return c ? c : (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int is_ordered(
	const void *v, size_t n, size_t size, int (*compare)(const void *a, const void *b))
{
	for (size_t i = 1; i < n; i++)
		if (compare((const char *)v + (i - 1) * size, (const char *)v + i * size) > 0)
			return 0;
	return 1;
}

/* A span and its place before. */
struct placed {
	struct result_span span;
	size_t was;
};

static void order_spans(struct result_series *s)
{
	struct result_disk_use *use = xcalloc(s->n_spans * s->n_disks, sizeof(*use));
	struct placed *order = xcalloc(s->n_spans, sizeof(*order));

	for (size_t i = 0; i < s->n_spans; i++)
		order[i] = (struct placed){s->spans[i], i};
	qsort(order, s->n_spans, sizeof(*order), by_span);
	for (size_t i = 0; i < s->n_spans; i++) {
		s->spans[i] = order[i].span;
		memcpy(use + i * s->n_disks, s->use + order[i].was * s->n_disks,
			s->n_disks * sizeof(*use));
	}
	free(order);
	free(s->use);
	s->use = use;
}

void export_order_series(struct result_set *s)
{
	for (size_t i = 0; i < s->n_series; i++) {
		struct result_series *v = &s->series[i];

		if (!is_ordered(v->points, v->n, sizeof(*v->points), by_start))
			qsort(v->points, v->n, sizeof(*v->points), by_start);
		if (!is_ordered(v->spans, v->n_spans, sizeof(*v->spans), by_span))
			order_spans(v);
	}
	if (s->n_series)
		qsort(s->series, s->n_series, sizeof(*s->series), result_series_compare);
}
