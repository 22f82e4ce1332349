/*
 * Lists of strings and small questions about strings. A strv owns its strings.
 * Invariant: v is NULL (n == 0, nothing ever added) or v[n] is NULL.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/utf8.h"

#define NEAREST_MAX 64 /* longer words get no suggestion */

void strv_add_owned(struct strv *s, char *item)
{
	s->v = xgrow(s->v, s->n + 1, &s->cap, sizeof(*s->v));
	s->v[s->n++] = item;
	s->v[s->n] = NULL;
}

void strv_add(struct strv *s, const char *item)
{
	strv_add_owned(s, xstrdup(item));
}

void strv_addf(struct strv *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strv_add_owned(s, xvasprintf(fmt, ap));
	va_end(ap);
}

void strv_add_all(struct strv *s, const char *const *items)
{
	for (; *items; items++)
		strv_add(s, *items);
}

void strv_copy(struct strv *to, const struct strv *from)
{
	*to = (struct strv){0};
	for (size_t i = 0; i < from->n; i++)
		strv_add(to, from->v[i]);
}

int strv_has(const struct strv *s, const char *item)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], item) == 0)
			return 1;
	return 0;
}

void strv_free(struct strv *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct strv){0};
}

/* '=' is special in the first word only, where a shell would read an assignment. */
static int is_plain(const char *word, int first)
{
	if (!*word)
		return 0;
	for (const char *p = word; *p; p++)
		if (!isascii((unsigned char)*p) ||
			(!isalnum((unsigned char)*p) &&
				!strchr(first ? "_@%+:,./-" : "_@%+=:,./-", *p)))
			return 0;
	return 1;
}

static int needs_escapes(const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_valid(word + i, len - i);
		if (n == 0 || utf8_is_control(word + i, n))
			return 1;
	}
	return 0;
}

/* $'…' with octal escapes: the form that keeps newlines and stray bytes on one line. */
static void quote_escaped(const char *word, struct buf *out)
{
	size_t len = strlen(word);

	buf_adds(out, "$'");
	for (size_t i = 0; i < len;) {
		size_t n = utf8_valid(word + i, len - i);
		size_t take = n ? n : 1;

		if (n == 0 || utf8_is_control(word + i, n))
			for (size_t k = 0; k < take; k++)
				buf_addf(out, "\\%03o", (unsigned)(unsigned char)word[i + k]);
		else if (word[i] == '\'' || word[i] == '\\')
			buf_addf(out, "\\%c", word[i]);
		else
			buf_add(out, word + i, take);
		i += take;
	}
	buf_addc(out, '\'');
}

static void quote_word(const char *word, int first, struct buf *out)
{
	if (is_plain(word, first)) {
		buf_adds(out, word);
		return;
	}
	if (needs_escapes(word)) {
		quote_escaped(word, out);
		return;
	}
	buf_addc(out, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *p);
	}
	buf_addc(out, '\'');
}

void strv_quote(const struct strv *s, struct buf *out)
{
	for (size_t i = 0; i < s->n; i++) {
		if (i)
			buf_addc(out, ' ');
		quote_word(s->v[i], i == 0, out);
	}
}

int str_equal(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

int str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

int str_ends(const char *s, const char *suffix)
{
	size_t len = strlen(s), n = strlen(suffix);

	return len >= n && strcmp(s + len - n, suffix) == 0;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b; letter case is not counted. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[3][NEAREST_MAX + 2];
	unsigned *before = row[0], *last = row[1], *now = row[2];

	for (size_t j = 0; j <= lb; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *spare = before;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			int ca = tolower((unsigned char)a[i - 1]),
			    cb = tolower((unsigned char)b[j - 1]);

			now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
				cb == tolower((unsigned char)a[i - 2]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[lb];
}

const char *str_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	unsigned best_distance = 3;
	size_t len = strlen(word);

	if (len > NEAREST_MAX)
		return NULL;
	for (; *words; words++) {
		unsigned d;

		if (strlen(*words) > NEAREST_MAX)
			continue;
		d = distance(word, *words);
		if (d < best_distance && 2 * d < len) {
			best_distance = d;
			best = *words;
		}
	}
	return best;
}
