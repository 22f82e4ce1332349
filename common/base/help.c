/* Help texts. Owns nothing. */
#include "common/base/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define LEFT 28u /* columns of the left part of rows */
#define OPTIONS_MAX 64

/* Columns of n bytes: texts of ours, so that each character takes one. */
static unsigned columns(const char *s, size_t n)
{
	unsigned width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

/* One paragraph from column `at` on, which is where its further lines begin, too; its newline. */
static void fill(const char *s, size_t len, unsigned at, struct buf *out)
{
	const char *end = s + len;
	unsigned used = at;

	while (s < end) {
		size_t n = strcspn(s, " \n");
		unsigned width = columns(s, n);

		if (used > at && used + 1 + width > HELP_COLUMNS) {
			buf_addf(out, "\n%*s", (int)at, "");
			used = at;
		} else if (used > at) {
			buf_addc(out, ' ');
			used++;
		}
		buf_add(out, s, n);
		used += width;
		s += n + 1;
	}
	buf_addc(out, '\n');
}

void help_text(const char *text, struct buf *out)
{
	const char *end;

	for (; *text; text = end + (*end == '\n')) {
		end = text + strcspn(text, "\n");
		fill(text, (size_t)(end - text), 0, out);
	}
}

void help_row(const char *left, const char *right, struct buf *out)
{
	unsigned width = columns(left, strlen(left));

	buf_addf(out, "  %s", left);
	if (width > LEFT) {
		buf_adds(out, "\n  ");
		width = 0;
	}
	buf_addf(out, "%*s ", (int)(LEFT - width), "");
	fill(right, strlen(right), LEFT + 3, out);
}

static int by_name(const void *a, const void *b)
{
	const struct option_spec *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void help_options(const struct option_spec *list, struct buf *out)
{
	const struct option_spec *all[OPTIONS_MAX];
	size_t n = 0;

	for (; list && list->name && n < OPTIONS_MAX; list++)
		if (list->help)
			all[n++] = list;
	qsort(all, n, sizeof(all[0]), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct option_spec *o = all[i];
		char letter[] = {'-', o->letter, ',', ' ', '\0'};
		char *left = xasprintf("%s--%s%s%s", o->letter ? letter : "    ", o->name,
			o->value ? " " : "", o->value ? o->value : "");

		help_row(left, o->help, out);
		free(left);
	}
}

static int has_options(const struct option_spec *list)
{
	for (; list && list->name; list++)
		if (list->help)
			return 1;
	return 0;
}

void help_verb(const struct help *h, struct buf *out)
{
	char *sentence = xasprintf("%s.", h->summary);
	const char *end;
	size_t at;

	buf_addf(out, "usage: %s %s [options]%s%s\n\n", h->program, h->verb, *h->args ? " " : "",
		h->args);
	at = out->len;
	help_text(sentence, out);
	out->data[at] = (char)toupper((unsigned char)out->data[at]);
	free(sentence);
	if (h->text && *h->text) {
		buf_addc(out, '\n');
		help_text(h->text, out);
	}
	if (has_options(h->options)) {
		buf_adds(out, "\noptions:\n");
		help_options(h->options, out);
	}
	if (has_options(h->common)) {
		buf_adds(out, "\noptions of every verb:\n");
		help_options(h->common, out);
	}
	if (!h->examples || !*h->examples)
		return;
	buf_adds(out, "\nexamples:\n");
	for (const char *s = h->examples; *s; s = end + (*end == '\n')) {
		end = s + strcspn(s, "\n");
		buf_addf(out, "  %.*s\n", (int)(end - s), s);
	}
}
