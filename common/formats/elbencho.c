/*
 * elbencho's results file (--csvfile): one row a phase. Columns are found by name. Owns nothing.
 * Invariant: the figures are those of the end of the slowest thread ("last"): all the bytes over
 * all the time.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/number.h"

#define COLUMNS_MAX 256
#define MIB 1048576.0

enum column {
	LABEL,
	OPERATION,
	TIME,
	ENTRIES_RATE,
	IOPS,
	MIB_RATE,
	MIB_DONE,
	LATENCY,
	LATENCY_MAX,
	ENTRY_LATENCY,
	ENTRY_LATENCY_MAX,
	READS, /* the same figures of the reads of a mixed phase, whose others are its writes */
	COLUMNS = READS + READS - ENTRIES_RATE
};

static const char *const column_names[COLUMNS] = {"label", "operation", "time ms [last]",
	"entries/s [last]", "IOPS [last]", "MiB/s [last]", "MiB [last]", "IO lat us [avg]",
	"IO lat us [max]", "Ent lat us [avg]", "Ent lat us [max]", "rwmix read entries/s [last]",
	"rwmix read IOPS [last]", "rwmix read MiB/s [last]", "rwmix read MiB [last]",
	"rwmix read IO lat us [avg]", "rwmix read IO lat us [max]", "rwmix read Ent lat us [avg]",
	"rwmix read Ent lat us [max]"};

struct header {
	size_t at[COLUMNS]; /* index + 1; 0: not there */
	size_t n;
};

static int is_header(const char *line)
{
	return after_word(line, "ISO DATE,") && strstr(line, "operation,") &&
	       strstr(line, "time ms [last]");
}

static void take_header(char *line, struct header *ret)
{
	char *fields[COLUMNS_MAX];

	*ret = (struct header){.n = split_fields(line, ',', fields, COLUMNS_MAX)};
	for (size_t i = 0; i < ret->n && i < COLUMNS_MAX; i++)
		for (size_t k = 0; k < COLUMNS; k++)
			if (!strcasecmp(fields[i], column_names[k]))
				ret->at[k] = i + 1;
}

static const char *field_of(const struct header *h, char **fields, enum column c)
{
	return h->at[c] ? fields[h->at[c] - 1] : "";
}

/* 1: a number; 0: the field is empty or zero; -1: error. */
static int number_of(
	struct reader *r, const struct header *h, char **fields, enum column c, struct number *ret)
{
	const char *s = skip_blanks(field_of(h, fields, c)), *end;

	*ret = (struct number){0};
	if (!*s)
		return 0;
	if (number_parse(s, COMMA_UNSURE, ret, &end, r->e)) {
		err_prefix(r->e, "%s", column_names[c]);
		return reader_place(r);
	}
	if (!is_blank(end))
		return reader_wrong(r, "%s: '%.40s' is not a number", column_names[c], s);
	return ret->value > 0;
}

static const struct {
	enum column column, instead; /* instead: of phases over files and directories */
	const char *metric, *unit;
	double factor;
} values[] = {
	{IOPS, ENTRIES_RATE, "ops_per_s", "ops/s", 1},
	{LATENCY, ENTRY_LATENCY, "latency_mean", "ns", 1e3},
	{LATENCY_MAX, ENTRY_LATENCY_MAX, "latency_max", "ns", 1e3},
};

/* Whole MiB are what a phase is printed to have moved: of one of less than a second the rate, in whole
 * MiB/s, is finer. */
static int add_throughput(struct reader *r, const struct header *h, char **fields, enum column of,
	struct format_record *rec)
{
	struct number done, rate;
	int has_done = number_of(r, h, fields, MIB_DONE + of, &done), has_rate;

	has_rate = has_done < 0 ? -1 : number_of(r, h, fields, MIB_RATE + of, &rate);
	if (has_rate < 0)
		return -1;
	if (has_done && rec->seconds > 0 && done.value < 1e12)
		rec->bytes = (uint64_t)(done.value * MIB);
	if (has_rate && (!rec->bytes || rec->seconds < 1))
		record_value(rec, "throughput", "B/s", rate.value * MIB, rate.resolution * MIB);
	else if (rec->bytes)
		record_value(rec, "throughput", "B/s", (double)rec->bytes / rec->seconds,
			MIB * done.resolution / rec->seconds +
				(double)rec->bytes / rec->seconds * rec->seconds_resolution / rec->seconds)
			->marks = FORMAT_COMPUTED;
	return 0;
}

/* of: 0, or what the columns of reads stand behind. */
static int add_values(struct reader *r, const struct header *h, char **fields, enum column of,
	struct format_record *rec)
{
	if (add_throughput(r, h, fields, of, rec))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct number n;
		int has = number_of(r, h, fields, values[i].column + of, &n);

		if (has == 0)
			has = number_of(r, h, fields, values[i].instead + of, &n);
		if (has < 0)
			return -1;
		if (has)
			record_value(rec, values[i].metric, values[i].unit,
				n.value * values[i].factor, n.resolution * values[i].factor);
	}
	return 0;
}

/* A phase, or with a side its reads or its writes. 1: it has figures; 0: none; -1: error. */
static int add_phase(struct reader *r, const struct header *h, char **fields, const struct context *c,
	const char *side, struct format_found *f)
{
	const char *label = field_of(h, fields, LABEL), *operation = field_of(h, fields, OPERATION);
	enum column of = side && !strcmp(side, "read") ? READS - ENTRIES_RATE : 0;
	struct format_record *rec;
	struct number ms;
	int has = number_of(r, h, fields, TIME, &ms);

	if (has < 0)
		return -1;
	rec = found_record(f, r->no);
	context_apply(c, rec);
	rec->bytes = 0;
	if (!rec->layout && *label)
		rec->layout = clean_name(label, strlen(label));
	free(rec->op);
	rec->op = clean_name(operation, strlen(operation));
	for (char *p = rec->op; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (!rec->workload)
		rec->workload = xasprintf("elbencho %s%s%s", rec->op, side ? " " : "", side ? side : "");
	if (side) {
		free(rec->op);
		rec->op = xstrdup(side);
	}
	rec->seconds = has ? ms.value / 1e3 : 0;
	rec->seconds_resolution = has ? ms.resolution / 1e3 : 0;
	if (add_values(r, h, fields, of, rec))
		return -1;
	if (side && rec->n_v == 0) {
		found_drop(f);
		return 0;
	}
	record_compute(rec);
	record_headline(rec, "throughput");
	if (rec->n_v > 0)
		return 1;
	found_drop(f);
	return 0;
}

/* Whether the phase read, too, while it wrote. */
static int is_mixed(const struct header *h, char **fields)
{
	for (size_t k = READS; k < COLUMNS; k++)
		if (*skip_blanks(field_of(h, fields, k)))
			return 1;
	return 0;
}

static int take_row(
	struct reader *r, const struct header *h, const struct context *c, struct format_found *f)
{
	char *fields[COLUMNS_MAX], of[512];
	size_t n = split_fields(r->s, ',', fields, COLUMNS_MAX), before = f->n_records;
	int some, reads = 0;

	if (n != h->n || n > COLUMNS_MAX)
		return reader_wrong(
			r, "%zu columns, but the header has %zu: the row is cut off", n, h->n);
	if (!*field_of(h, fields, OPERATION))
		return reader_wrong(r, "a row without an operation");
	if (is_mixed(h, fields)) {
		some = add_phase(r, h, fields, c, "write", f);
		reads = some < 0 ? -1 : add_phase(r, h, fields, c, "read", f);
	} else {
		some = add_phase(r, h, fields, c, NULL, f);
	}
	if (some < 0 || reads < 0)
		return -1;
	if (!some && !reads) {
		found_unused(f, r->no, "a phase without any figure above zero");
		return 0;
	}
	found_note(f, r->no, r->no, "elbencho, phase %s%s%s", field_of(h, fields, OPERATION),
		some && reads ? ", its writes and its reads" : "",
		context_of(&f->records[before], of, sizeof(of)));
	return 0;
}

static int read_elbencho(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct header h = {0};
	struct context c = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r)) {
		if (is_header(r.s)) {
			take_header(r.s, &h);
			found_note(f, r.no, r.no, "elbencho, names of the columns");
			continue;
		}
		rc = context_line(&c, &r, f);
		if (rc == 0 && !h.n)
			rc = reader_wrong(&r,
				"a row before the names of the columns (ISO DATE,label,…): keep "
				"elbencho's first line");
		else if (rc == 0)
			rc = take_row(&r, &h, &c, f);
		else
			rc = rc == 1 ? 0 : -1;
	}
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	return rc;
}

static int score_elbencho(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	while (!score && reader_next(&r))
		score = is_header(r.s) ? 95 : 0;
	reader_close(&r);
	return score;
}

const struct format format_elbencho = {.name = "elbencho",
	.summary = "elbencho's csv file",
	.workload = "elbencho",
	.score = score_elbencho,
	.read = read_elbencho};
