/*
 * Lines of a text, records and notes. Owns the line that is being read; the rest belongs to struct
 * format_found.
 * Invariant: notes are ordered by line; a record's values are finite and above zero; there are never
 * more of either than their limits.
 */
#include "common/formats/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/safe.h"

#define NAME_BYTES 200

void reader_open(struct reader *r, const struct format_text *t, struct err *e)
{
	*r = (struct reader){.t = t, .e = e};
}

void reader_close(struct reader *r)
{
	buf_free(&r->line);
}

/* The next line's first byte; *ret_len without its end, which r->pos moves behind. */
static const char *next_line(struct reader *r, size_t *ret_len)
{
	const char *from = r->t->data + r->pos, *cr;
	size_t len, returns = 0;

	if (r->no == 0 || r->next_lf < r->pos) {
		const char *lf = memchr(from, '\n', r->t->len - r->pos);

		r->next_lf = lf ? (size_t)(lf - r->t->data) : r->t->len;
	}
	len = r->next_lf - r->pos;
	cr = r->overwrites ? NULL : memchr(from, '\r', len);
	while (cr && cr + returns < from + len && cr[returns] == '\r')
		returns++;
	if (cr && cr + returns < from + len) {
		*ret_len = (size_t)(cr - from);
		r->pos += *ret_len + 1;
		return from;
	}
	r->pos = r->next_lf + (r->next_lf < r->t->len);
	while (len > 0 && from[len - 1] == '\r')
		len--;
	cr = len ? memrchr(from, '\r', len) : NULL;
	*ret_len = cr ? len - (size_t)(cr + 1 - from) : len;
	return cr ? cr + 1 : from;
}

int reader_next(struct reader *r)
{
	const char *from;
	size_t len;

	if (r->failed || r->pos == r->t->len || (r->t->found && r->t->found->over))
		return 0;
	from = next_line(r, &len);
	r->no++;
	if (len > FORMAT_LINE_MAX) {
		r->failed = 1;
		reader_wrong(r, "a line of %zu bytes: the limit is %zu", len, FORMAT_LINE_MAX);
		return 0;
	}
	buf_reset(&r->line);
	buf_add(&r->line, from, len);
	if (!r->line.data)
		buf_adds(&r->line, "");
	r->s = r->line.data;
	r->len = len;
	return 1;
}

int reader_is_last(const struct reader *r)
{
	size_t at = r->pos;

	if (is_blank(r->s))
		return 0;
	while (at < r->t->len && isspace((unsigned char)r->t->data[at]))
		at++;
	return at == r->t->len;
}

int reader_is_open(const struct reader *r)
{
	return r->pos == r->t->len && r->pos > 0 && !strchr("\r\n", r->t->data[r->pos - 1]);
}

int reader_wrong(struct reader *r, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(r->e, ERR_INPUT, "%s:%zu: %s", r->t->name, r->no, text);
	free(text);
	return -1;
}

int reader_place(struct reader *r)
{
	return err_prefix(r->e, "%s:%zu", r->t->name, r->no);
}

char *skip_blanks(const char *s)
{
	/* U+00A0 and U+202F, which some locales print between words, are blanks too. */
	for (;; s++) {
		if (!strncmp(s, "\xc2\xa0", 2))
			s++;
		else if (!strncmp(s, "\xe2\x80\xaf", 3))
			s += 2;
		else if (*s != ' ' && *s != '\t')
			return (char *)s;
	}
}

char *trim(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return skip_blanks(s);
}

int is_blank(const char *s)
{
	return *skip_blanks(s) == '\0';
}

const char *after_word(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncasecmp(s, prefix, n) ? NULL : s + n;
}

/* The field at s, unquoted in place; returns what stands behind its separator, or NULL. */
static char *quoted_field(char *s, char sep)
{
	char *to = s, *from = s + 1;

	while (*from) {
		if (*from == '"' && from[1] != '"')
			break;
		from += *from == '"';
		*to++ = *from++;
	}
	from += *from == '"';
	*to = '\0';
	from = strchr(from, sep);
	return from ? from + 1 : NULL;
}

size_t split_fields(char *s, char sep, char **ret, size_t max)
{
	size_t n = 0;

	while (s) {
		char *field = s;

		if (sep == ',' && *s == '"') {
			s = quoted_field(s, sep);
		} else if ((s = strchr(s, sep))) {
			*s++ = '\0';
		}
		if (n < max)
			ret[n] = field;
		n++;
	}
	return n;
}

struct format_record *found_record(struct format_found *f, size_t line)
{
	struct format_record *r;

	if (f->n_records == FORMAT_RECORDS_MAX) {
		f->over = f->over ? f->over : line;
		found_drop(f);
	}
	f->records = xgrow(f->records, f->n_records, &f->cap_records, sizeof(*f->records));
	r = &f->records[f->n_records++];
	*r = (struct format_record){.line = line, .last_line = line};
	return r;
}

void format_record_clear(struct format_record *r)
{
	free(r->host);
	free(r->layout);
	free(r->workload);
	free(r->op);
	free(r->cache);
	free(r->error);
	free(r->hist);
	free(r->v);
	*r = (struct format_record){0};
}

void found_drop(struct format_found *f)
{
	format_record_clear(&f->records[--f->n_records]);
}

void format_found_clear(struct format_found *f)
{
	for (size_t i = 0; i < f->n_records; i++)
		format_record_clear(&f->records[i]);
	for (size_t i = 0; i < f->n_notes; i++)
		free(f->notes[i].text);
	free(f->records);
	free(f->notes);
	free(f->run);
	*f = (struct format_found){0};
}

struct format_value *record_value(struct format_record *r, const char *metric, const char *unit,
	double value, double resolution)
{
	static struct format_value beyond;
	struct format_value *v = &beyond;

	if (r->n_v < FORMAT_VALUES) {
		/* mostly one; room in powers of two */
		if (!(r->n_v & (r->n_v - 1)))
			r->v = xrealloc(r->v, (r->n_v ? 2 * r->n_v : 1) * sizeof(*r->v));
		v = &r->v[r->n_v++];
	}
	*v = (struct format_value){.metric = metric,
		.unit = unit,
		.value = value,
		.resolution = resolution,
		.min = NAN,
		.max = NAN,
		.stddev = NAN};
	return v;
}

static int has_value(const struct format_record *r, const char *metric)
{
	for (size_t i = 0; i < r->n_v; i++)
		if (!strcmp(r->v[i].metric, metric))
			return 1;
	return 0;
}

static void compute_rate(
	struct format_record *r, const char *metric, const char *unit, uint64_t count)
{
	double rate = (double)count / r->seconds;

	if (count == 0 || !(rate > 0) || has_value(r, metric))
		return;
	record_value(r, metric, unit, rate, rate * r->seconds_resolution / r->seconds)->marks =
		FORMAT_COMPUTED;
}

void record_compute(struct format_record *r)
{
	if (!(r->seconds > 0) || r->n > 0)
		return;
	if (!has_value(r, "elapsed"))
		record_value(r, "elapsed", "s", r->seconds, r->seconds_resolution);
	compute_rate(r, "throughput", "B/s", r->bytes);
	compute_rate(r, "ops_per_s", "ops/s", r->ops);
}

void record_headline(struct format_record *r, const char *metric)
{
	for (size_t i = 1; i < r->n_v; i++) {
		struct format_value v = r->v[i];

		if (strcmp(v.metric, metric) != 0)
			continue;
		memmove(&r->v[1], &r->v[0], i * sizeof(v));
		r->v[0] = v;
		return;
	}
}

char *clean_name(const char *s, size_t len)
{
	struct buf out = {0};
	char shown[SAFE_CHAR];

	for (size_t i = 0; i < len;) {
		i += safe_char(s + i, len - i, shown);
		if (out.len + strlen(shown) > NAME_BYTES)
			break;
		buf_adds(&out, shown);
	}
	return buf_take(&out);
}

static struct format_note *add_note(struct format_found *f, size_t first, size_t last)
{
	struct format_note *n;

	if (f->n_notes == FORMAT_NOTES_MAX) {
		f->over = f->over ? f->over : first;
		free(f->notes[--f->n_notes].text);
	}
	f->notes = xgrow(f->notes, f->n_notes, &f->cap_notes, sizeof(*f->notes));
	n = &f->notes[f->n_notes++];
	*n = (struct format_note){.first = first, .last = last};
	return n;
}

void found_note(struct format_found *f, size_t first, size_t last, const char *fmt, ...)
{
	struct format_note *n = add_note(f, first, last);
	va_list ap;

	va_start(ap, fmt);
	n->text = xvasprintf(fmt, ap);
	va_end(ap);
	n->used = 1;
}

void found_unused(struct format_found *f, size_t line, const char *why)
{
	struct format_note *last = f->n_notes ? &f->notes[f->n_notes - 1] : NULL;

	if (last && !last->used && last->last + 1 == line && !strcmp(last->text, why)) {
		last->last = line;
		return;
	}
	add_note(f, line, line)->text = xstrdup(why);
}

void found_renote(struct format_found *f, size_t line, const char *fmt, ...)
{
	va_list ap;

	for (size_t i = f->n_notes; i-- > 0;) {
		if (f->notes[i].first != line)
			continue;
		free(f->notes[i].text);
		f->notes[i].doubt = 0;
		va_start(ap, fmt);
		f->notes[i].text = xvasprintf(fmt, ap);
		va_end(ap);
		return;
	}
}

void found_doubt(struct format_found *f, size_t line)
{
	for (size_t i = f->n_notes; i-- > 0;) {
		if (f->notes[i].first != line)
			continue;
		f->notes[i].doubt = 1;
		return;
	}
}
