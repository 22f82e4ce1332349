/* Texts through the readers of common/formats, for their tests. */
#ifndef TESTS_UNIT_FORMATS_KIT_H
#define TESTS_UNIT_FORMATS_KIT_H

#include <math.h>
#include <string.h>

#include "common/formats/formats.h"

/* Reads a text by content (format NULL) as the file "x"; 0 or -1. */
static inline int kit_read_n(
	const char *text, size_t len, const char *format, struct format_found *ret, struct err *e)
{
	const struct format *f = format ? format_find(format) : NULL;
	struct buf b = {0};
	int rc;

	buf_add(&b, text, len);
	rc = format_decode("x", &b, e);
	rc = rc ? rc : format_read("x", &b, f, ret, e);
	buf_free(&b);
	return rc;
}

static inline int kit_read(
	const char *text, const char *format, struct format_found *ret, struct err *e)
{
	return kit_read_n(text, strlen(text), format, ret, e);
}

/* Reads what must be readable, and as that format. */
static inline void kit_good(const char *text, const char *format, struct format_found *ret)
{
	struct err e = {0};

	assert_ok(kit_read(text, NULL, ret, &e), e);
	assert_string_equal(ret->format, format);
}

/* What must be an error with these words in it. */
static inline void kit_bad(const char *text, const char *format, const char *words)
{
	struct format_found f = {0};
	struct err e = {0};

	if (kit_read(text, format, &f, &e) == 0) {
		format_found_clear(&f);
		fail_msg("'%.60s' was read, '%s' expected", text, words);
	}
	assert_has(e.text, words);
	assert_int_equal(f.n_records, 0);
}

/* The record's value of that metric; NaN where it has none. */
static inline const struct format_value *kit_value(
	const struct format_record *r, const char *metric)
{
	static const struct format_value none = {.value = NAN, .resolution = NAN};

	for (size_t i = 0; i < r->n_v; i++)
		if (!strcmp(r->v[i].metric, metric))
			return &r->v[i];
	return &none;
}

static inline void kit_near(double is, double expected, const char *what)
{
	if (!(fabs(is - expected) <= fabs(expected) * 1e-9))
		fail_msg("%s: %.12g, expected %.12g", what, is, expected);
}

/* The text of the note at a line, "" where there is none. */
static inline const char *kit_note(const struct format_found *f, size_t line)
{
	for (size_t i = 0; i < f->n_notes; i++)
		if (f->notes[i].first <= line && line <= f->notes[i].last)
			return f->notes[i].text;
	return "";
}

#endif
