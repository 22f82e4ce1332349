/*
 * bonnie++: its csv lines (formats of 1.03, 1.97 and 1.98) and, where there are none, its table.
 * Owns nothing.
 * Invariant: a phase that ended too soon to be measured ("+++++") gives no record.
 *
 * Rates are in K/s, K being 1024. A line of latencies holds the longest latency of each phase. The
 * table of version 2 has the number of files where the rates of creating, reading and deleting them
 * belong: it is told by that number, and not used.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/number.h"

#define PHASES 12
#define COLUMNS_AT 19 /* of the table's lines; they are COLUMN_WIDTH wide */
#define COLUMN_WIDTH 10
#define FIELDS_MAX 64

static const struct phase {
	const char *name, *op;
	int is_rate; /* K/s; else operations a second */
} phases[PHASES] = {
	{"bonnie++ write per char", "write", 1},
	{"bonnie++ write", "write", 1},
	{"bonnie++ rewrite", "rewrite", 1},
	{"bonnie++ read per char", "read", 1},
	{"bonnie++ read", "read", 1},
	{"bonnie++ seeks", "read", 0},
	{"bonnie++ sequential create", "create", 0},
	{"bonnie++ sequential stat", "stat", 0},
	{"bonnie++ sequential delete", "delete", 0},
	{"bonnie++ random create", "create", 0},
	{"bonnie++ random stat", "stat", 0},
	{"bonnie++ random delete", "delete", 0},
};

/* Where things stand in a csv line, by its version. */
struct layout {
	size_t fields;                     /* at least; more are fine */
	size_t name, data, files, latency; /* data: 6 pairs; files: 6 pairs; latency 0: none */
};
static const struct layout old_layout = {27, 0, 2, 15, 0}, layout_97 = {48, 2, 7, 24, 36},
			   layout_98 = {50, 2, 9, 26, 38};

static const struct layout *layout_of(const char *line)
{
	if (!strncmp(line, "1.98,", 5) || !strncmp(line, "2.0", 3))
		return &layout_98;
	if (!strncmp(line, "1.97,", 5) || !strncmp(line, "1.96,", 5))
		return &layout_97;
	return &old_layout;
}

/* "+++++" and "" are no numbers, but no errors either. */
static int is_unmeasured(const char *s)
{
	return *skip_blanks(s) == '\0' || *skip_blanks(s) == '+';
}

static const char *const k_suffixes = "kKmMgG";

/* A rate: digits, in tables with k, m, g behind (multiples of K/s). 1: a number above 0. */
static int rate_of(struct reader *r, const char *s, int is_rate, struct number *ret)
{
	const char *end, *suffix;
	double factor = is_rate ? 1024 : 1;

	s = skip_blanks(s);
	if (is_unmeasured(s))
		return 0;
	if (number_parse(s, COMMA_UNSURE, ret, &end, r->e))
		return reader_place(r);
	suffix = *end ? strchr(k_suffixes, *end) : NULL;
	if (suffix && is_rate) {
		end++;
		for (size_t i = (size_t)(suffix - k_suffixes) / 2; i > 0; i--)
			factor *= 1024;
	}
	if (!is_blank(end))
		return reader_wrong(r, "'%.40s' is not a rate of bonnie++", s);
	ret->value *= factor;
	ret->resolution *= factor;
	return ret->value > 0;
}

static int add_phase(struct reader *r, const struct context *c, struct format_found *f,
	const char *host, size_t phase, const char *rate, const char *latency)
{
	const struct phase *p = &phases[phase];
	struct format_record *rec;
	struct number n, late = {0};
	const char *end;
	int plain, has = rate_of(r, rate, p->is_rate, &n);

	if (has <= 0)
		return has;
	if (!is_unmeasured(latency)) {
		if (time_parse(skip_blanks(latency), COMMA_UNSURE, &late, &plain, &end, r->e))
			return reader_place(r);
		/* us, ms or s: "28m" is a "28ms" that is cut off */
		if (plain || !is_blank(end) || end[-1] != 's')
			return reader_wrong(r, "'%.40s' is not a latency of bonnie++", latency);
	}
	rec = found_record(f, r->no);
	context_apply(c, rec);
	rec->bytes = 0;
	if (!rec->host && *host)
		rec->host = clean_name(host, strlen(host));
	if (!rec->workload)
		rec->workload = xstrdup(p->name);
	free(rec->op);
	rec->op = xstrdup(p->op);
	record_value(rec, p->is_rate ? "throughput" : "ops_per_s", p->is_rate ? "B/s" : "ops/s",
		n.value, n.resolution);
	if (late.value > 0)
		record_value(rec, "latency_max", "ns", late.value * 1e9, late.resolution * 1e9);
	return 0;
}

static int take_csv(struct reader *r, const struct context *c, struct format_found *f)
{
	const struct layout *l = layout_of(r->s);
	char *fields[FIELDS_MAX];
	size_t n = split_fields(r->s, ',', fields, FIELDS_MAX), before = f->n_records;

	if (n < l->fields)
		return reader_wrong(r,
			"a csv line of bonnie++ with %zu fields: it has %zu: cut off", n,
			l->fields);
	for (size_t i = 0; i < PHASES; i++) {
		size_t at = i < 6 ? l->data + 2 * i : l->files + 2 * (i - 6);
		const char *latency =
			l->latency && l->latency + i < n ? fields[l->latency + i] : "";

		if (add_phase(r, c, f, fields[l->name], i, fields[at], latency))
			return -1;
	}
	found_note(f, r->no, r->no, "bonnie++ csv: %zu phases long enough to be measured",
		f->n_records - before);
	return 0;
}

/* "1.98,2.00a,": how lines of the newer formats begin, however they go on. */
static int has_version(const char *line)
{
	const char *second = line + strspn(line, "0123456789.");

	if ((strncmp(line, "1.9", 3) && strncmp(line, "2.0", 3)) || *second != ',')
		return 0;
	second++;
	return !strncmp(second, "1.9", 3) || !strncmp(second, "2.0", 3);
}

/* "box,8G,700,99,": how those of the old one begin. */
static int has_old_head(const char *line)
{
	const char *p = line + strcspn(line, ", \t");
	size_t size = *p == ',' ? strspn(p + 1, "0123456789") : 0, numbers = 0;

	if (p == line || !size || !strchr("MG", p[size + 1]) || !p[size + 1] || p[size + 2] != ',')
		return 0;
	for (p += size + 3; isdigit((unsigned char)*p) || *p == '+'; numbers++)
		p += strcspn(p, ",") + (strchr(p, ',') != NULL);
	return numbers >= 2;
}

/* 27 fields or more, most of them numbers or "+++"; or the beginning of such a line. */
static int is_csv(const char *line)
{
	size_t fields = 1, good = 1, at = 0;

	if (has_version(line) || has_old_head(line))
		return 1;

	for (const char *p = line; (p = strchr(p, ',')); fields++) {
		at = (size_t)(++p - line);
		good += isdigit((unsigned char)line[at]) || line[at] == '+' || line[at] == ',' ||
			line[at] == '\0';
	}
	return fields >= 25 && good * 10 >= fields * 8 && !strchr(line, ' ');
}

/* The table: its rows stand behind headings, rates and latencies for the same six phases. */
struct table {
	size_t first; /* phase of the row that is expected; PHASES: none */
	char *host;
	char rates[6][24];
	size_t row_line;
	int has_row;
};

static size_t words_of(char *s, char **ret, size_t max)
{
	size_t n = 0;

	for (s = skip_blanks(s); *s; s = skip_blanks(s)) {
		char *end = s + strcspn(s, " \t");

		if (n < max)
			ret[n] = s;
		n++;
		if (*end)
			*end++ = '\0';
		s = end;
	}
	return n;
}

static int is_heading(const char *line, size_t *ret_first)
{
	if (strstr(line, "-Sequential Output-"))
		*ret_first = 0;
	else if (strstr(line, "-Sequential Create-"))
		*ret_first = 6;
	else
		return 0;
	return 1;
}

/* A row without its latencies: 1.03 prints none. */
static int flush_row(struct reader *r, struct table *t, const struct context *c,
	struct format_found *f, char *const *latencies)
{
	size_t line = r->no;
	int rc = 0;

	if (!t->has_row)
		return 0;
	r->no = t->row_line;
	for (size_t i = 0; !rc && i < 6; i++)
		rc = add_phase(r, c, f, t->host ? t->host : "", t->first + i, t->rates[i],
			latencies ? latencies[i] : "");
	r->no = line;
	t->has_row = 0;
	t->first = PHASES;
	return rc;
}

/* The first words of a line's six columns, "" for those that are blank (-f leaves phases out). Each
 * column is as wide as a rate and the CPU's share. 0: they do not stand in columns. */
static int columns_of(const char *line, char ret[6][24])
{
	size_t len = strlen(line), some = 0;

	for (size_t i = 0; i < 6; i++) {
		size_t from = COLUMNS_AT + i * COLUMN_WIDTH, to = from + COLUMN_WIDTH;
		char column[COLUMN_WIDTH + 1], *words[2], *end;

		snprintf(column, sizeof(column), "%.*s", COLUMN_WIDTH, from < len ? line + from : "");
		end = trim(column);
		/* a word that goes on in the next column */
		if (to < len && line[to - 1] != ' ' && line[to] != ' ')
			return 0;
		ret[i][0] = '\0';
		if (words_of(end, words, ARRAY_LEN(words)))
			snprintf(ret[i], sizeof(ret[i]), "%.23s", words[0]);
		some += ret[i][0] != '\0';
	}
	return some > 0;
}

/* Whether every rate that was measured is the number of files, which is told in units of 1024. */
static int are_counts(const char *files, char rates[6][24])
{
	unsigned long long n, rate;
	const char *end;
	size_t measured = 0;

	if (!whole_parse(files, &n, &end) || n > 1000000000)
		return 0;
	for (size_t i = 0; i < 6; i++) {
		if (is_unmeasured(rates[i]))
			continue;
		if (!whole_parse(rates[i], &rate, &end) || *end || rate != n * 1024)
			return 0;
		measured++;
	}
	return measured > 0;
}

static int take_row(struct reader *r, struct table *t, struct format_found *f)
{
	char *words[16], columns[6][24] = {{0}};
	int in_columns = columns_of(r->s, columns);
	size_t n = words_of(r->s, words, ARRAY_LEN(words));

	/* Name and size, or the number of files, then six rates, each with the CPU's share. */
	if ((n < 13 && !in_columns) || n > 14)
		return reader_wrong(
			r, "a row of bonnie++'s table with %zu words: 13 or 14 expected", n);
	if (reader_is_open(r))
		return reader_wrong(r, "a row of bonnie++'s table that is cut off");
	if (t->first == 0) {
		free(t->host);
		t->host = clean_name(words[0], strlen(words[0]));
	}
	for (size_t i = 0; i < 6; i++)
		snprintf(t->rates[i], sizeof(t->rates[i]), "%.23s",
			n < 13 ? columns[i] : words[n - 12 + 2 * i]);
	if (t->first > 0 && are_counts(words[0], t->rates)) {
		t->first = PHASES;
		found_unused(f, r->no,
			"the number of files in the place of rates: not used (the csv line has the "
			"rates)");
		return 0;
	}
	t->has_row = 1;
	t->row_line = r->no;
	found_note(f, r->no, r->no, "bonnie++ table: rates");
	return 0;
}

static int is_columns(const char *line)
{
	return strstr(line, "%CP") || strstr(line, "-Per Chr-") || strstr(line, "-Create--");
}

static int take_table_line(
	struct reader *r, struct table *t, const struct context *c, struct format_found *f)
{
	char *words[16], columns[6][24] = {{0}};
	size_t first = t->first;
	const char *late = after_word(skip_blanks(r->s), "Latency");

	if (is_heading(r->s, &first)) {
		if (flush_row(r, t, c, f, NULL))
			return -1;
		t->first = first;
		found_unused(f, r->no, "heading");
		return 0;
	}
	if (t->first == PHASES || is_columns(r->s) || is_blank(r->s)) {
		found_unused(f, r->no, is_blank(r->s) ? "blank" : "not used");
		return 0;
	}
	if (late && t->has_row) {
		int in_columns = columns_of(r->s, columns);

		if (words_of((char *)late, words, ARRAY_LEN(words)) != 6) {
			if (!in_columns)
				return reader_wrong(r, "a line of latencies without six of them");
			for (size_t i = 0; i < 6; i++)
				words[i] = columns[i];
		}
		found_note(f, r->no, r->no, "bonnie++ table: longest latencies");
		return flush_row(r, t, c, f, words);
	}
	return t->has_row ? flush_row(r, t, c, f, NULL) : take_row(r, t, f);
}

static int has_csv(const struct format_text *t)
{
	struct reader r;
	struct err ignored;
	int has = 0;

	reader_open(&r, t, &ignored);
	while (!has && reader_next(&r))
		has = is_csv(r.s);
	reader_close(&r);
	return has;
}

static int read_bonnie(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct table t = {.first = PHASES};
	struct context c = {0};
	struct reader r;
	int rc = 0, csv = has_csv(text);

	reader_open(&r, text, e);
	while (!rc && reader_next(&r)) {
		if (csv && is_csv(r.s))
			rc = take_csv(&r, &c, f);
		else if (csv && (t.first != PHASES || is_heading(r.s, &t.first)))
			found_unused(f, r.no, "the table: its figures stand in the csv line too");
		else if ((rc = context_line(&c, &r, f)) == 0)
			rc = take_table_line(&r, &t, &c, f);
		else
			rc = rc == 1 ? 0 : -1;
	}
	rc = rc ? rc : flush_row(&r, &t, &c, f, NULL);
	rc = rc || r.failed ? -1 : 0;
	if (!rc && f->n_records == 0)
		rc = err_set(e, ERR_INPUT,
			"%s: bonnie++ measured nothing: every phase ended too soon (+++++)",
			text->name);
	reader_close(&r);
	context_clear(&c);
	free(t.host);
	return rc;
}

static int score_bonnie(const struct format_text *head)
{
	if (memmem(head->data, head->len, "--Sequential Output--", 21))
		return 90;
	return has_csv(head) ? 85 : 0;
}

const struct format format_bonnie = {.name = "bonnie++",
	.summary = "bonnie++'s csv lines and table",
	.workload = "bonnie++",
	.score = score_bonnie,
	.read = read_bonnie};
