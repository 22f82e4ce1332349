/*
 * Reporting for the readers of plans and policies: one line a problem, cleaned of control
 * characters, never twice, in the order of the file, with the nearest known word.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "common/plan/read.h"

const char *shown(const char *s, char out[SHOWN_LEN])
{
	safe_cut(s, strlen(s), 64, out);
	return out;
}

enum report_at { AT_VALUE, AT_KEY };

/* Whether the same was reported before; remembers it while the list still takes lines. */
static int is_repeated(struct reading *r, int row, int column, const char *path, const char *text)
{
	char *line = xasprintf("%d:%d %s %s", row, column, path, text);
	int known = strv_has(&r->seen, line);

	if (!known && !r->errs->dropped)
		strv_add(&r->seen, line);
	free(line);
	return known;
}

static void __attribute__((format(printf, 6, 0)))
report(struct reading *r, struct yaml_errors *errs, enum report_at where, const struct yaml_node *n,
	const char *path, const char *fmt, va_list ap)
{
	struct buf text = {0}, where_text = {0};

	/* only what --set put there has no place */
	buf_addf(&where_text, "%s%s", n->line ? "" : *path ? "--set " : "--set", path);
	path = buf_str(&where_text);
	buf_addv(&text, fmt, ap);
	if (is_repeated(r, where == AT_KEY ? n->key_line : n->line,
		    where == AT_KEY ? n->key_column : n->column, path, buf_str(&text)))
		;
	else if (where == AT_KEY)
		yaml_error_key(errs, n, path, "%s", buf_str(&text));
	else
		yaml_error(errs, n, path, "%s", buf_str(&text));
	buf_free(&text);
	buf_free(&where_text);
}

void read_error(
	struct reading *r, const struct yaml_node *n, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, r->errs, AT_VALUE, n, path, fmt, ap);
	va_end(ap);
}

void read_error_key(
	struct reading *r, const struct yaml_node *n, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, r->errs, AT_KEY, n, path, fmt, ap);
	va_end(ap);
}

void read_warning(
	struct reading *r, const struct yaml_node *n, const char *path, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(r, r->warnings, AT_VALUE, n, path, fmt, ap);
	va_end(ap);
}

const char *suggestion(const char *word, const char *const *words, char *out)
{
	const char *near = str_nearest(word, words);

	*out = '\0';
	if (near)
		snprintf(out, SHOWN_LEN + 24, "; did you mean '%.80s'?", near);
	return out;
}

int read_errors_fail(const struct yaml_errors *errs, struct err *e)
{
	size_t n = errs->list.n + errs->dropped - (errs->dropped ? 1 : 0);

	if (n <= 1)
		return err_set(e, ERR_INPUT, "%s", n ? errs->list.v[0] : "wrong input");
	return err_set(e, ERR_INPUT, "%s (and %zu more error%s)", errs->list.v[0], n - 1,
		n == 2 ? "" : "s");
}
