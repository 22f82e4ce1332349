/*
 * Kinds of data as texts. Owns nothing.
 * Invariant: what data_told_text() writes, data_told_parse() reads as the same.
 */
#include "common/measure/data_told.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"

static const char *blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* "50%" and what closes it; 0: it is none. */
static unsigned percent_of(const char *s, int braced)
{
	unsigned percent = 0;

	while (isdigit((unsigned char)*s) && percent < 100)
		percent = 10 * percent + (unsigned)(*s++ - '0');
	if (*s != '%' || percent > 99)
		return 0;
	s = blanks(s + 1);
	if (braced && *s++ != '}')
		return 0;
	return *blanks(s) ? 0 : percent;
}

int data_told_parse(const char *text, struct data_told *ret)
{
	static const char word[] = "compressible";
	int braced = *text == '{';
	const char *s = braced ? blanks(text + 1) : text;
	unsigned percent;

	if (!strcmp(text, "random") || !strcmp(text, "zero")) {
		*ret = (struct data_told){1, *text == 'z' ? DATA_ZERO : DATA_RANDOM, 0};
		return 0;
	}
	if (!str_starts(s, word))
		return -1;
	s += strlen(word);
	if (*s == ':')
		s++;
	else if (braced)
		return -1;
	percent = *s == ' ' || *s == '\t' ? percent_of(blanks(s), braced) : 0;
	if (!percent)
		return -1;
	*ret = (struct data_told){1, DATA_COMPRESSIBLE, percent};
	return 0;
}

const char *data_told_text(const struct data_told *d, char out[DATA_TOLD_LEN])
{
	if (!d->known)
		*out = '\0';
	else if (d->kind == DATA_COMPRESSIBLE)
		snprintf(out, DATA_TOLD_LEN, "compressible %u%%", d->percent % 100);
	else
		snprintf(out, DATA_TOLD_LEN, "%s", d->kind == DATA_ZERO ? "zero" : "random");
	return out;
}

int data_told_same(const struct data_told *a, const struct data_told *b)
{
	return a->known == b->known && a->kind == b->kind && a->percent == b->percent;
}

/* What a compressor saves of it, in percent. */
static unsigned saved(const struct data_told *d)
{
	return !d->known ? 0 : d->kind == DATA_ZERO ? 100 : d->percent;
}

void data_told_join(struct data_told *to, const struct data_told *other)
{
	if (saved(other) > saved(to) || (!other->known && !saved(to)))
		*to = *other;
}
