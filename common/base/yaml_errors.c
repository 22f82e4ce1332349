/*
 * Meaning errors of a YAML file, collected in one pass. Owns the messages.
 * Invariant: the list is sorted by place; when messages were dropped its last line says how many.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/safe.h"
#include "common/base/yaml.h"

#define DEFAULT_MAX 100

static void add_dropped(struct yaml_errors *errs)
{
	size_t last = errs->list.n - 1;

	if (errs->dropped++ == 0) {
		strv_addf(&errs->list, "%s: 1 more error", errs->file);
		return;
	}
	free(errs->list.v[last]);
	errs->list.v[last] = xasprintf("%s: %zu more errors", errs->file, errs->dropped);
}

/* Texts from the file stay on their line. */
static char *one_line(const char *text, size_t len)
{
	struct buf out = {0};

	safe_add_n(text, len, 0, &out);
	return buf_take(&out);
}

static int is_before(struct yaml_place a, struct yaml_place b)
{
	return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Takes the message. Equal places keep the order in which they came. */
static void insert(struct yaml_errors *errs, struct yaml_place at, char *message)
{
	size_t n = errs->list.n, i = n;

	strv_add_owned(&errs->list, message);
	errs->places = xgrow(errs->places, n, &errs->places_cap, sizeof(*errs->places));
	for (; i > 0 && is_before(at, errs->places[i - 1]); i--) {
		errs->list.v[i] = errs->list.v[i - 1];
		errs->places[i] = errs->places[i - 1];
	}
	errs->list.v[i] = message;
	errs->places[i] = at;
}

static void __attribute__((format(printf, 4, 0)))
add(struct yaml_errors *errs, struct yaml_place at, const char *path, const char *fmt, va_list ap)
{
	struct buf message = {0};

	if (errs->dropped || errs->list.n >= (errs->max ? errs->max : DEFAULT_MAX)) {
		add_dropped(errs);
		return;
	}
	buf_addf(&message, "%s:", errs->file);
	if (at.line)
		buf_addf(&message, "%d:%d:", at.line, at.column);
	if (path && *path)
		buf_addf(&message, " %s:", path);
	buf_addc(&message, ' ');
	buf_addv(&message, fmt, ap);
	insert(errs, at, one_line(message.data, message.len));
	buf_free(&message);
}

void yaml_error(struct yaml_errors *errs, const struct yaml_node *at, const char *path,
	const char *fmt, ...)
{
	struct yaml_place place = {0};
	va_list ap;

	if (at)
		place = (struct yaml_place){at->line, at->column};
	va_start(ap, fmt);
	add(errs, place, path, fmt, ap);
	va_end(ap);
}

void yaml_error_key(struct yaml_errors *errs, const struct yaml_node *at, const char *path,
	const char *fmt, ...)
{
	struct yaml_place place = {0};
	va_list ap;

	if (at && at->key_line)
		place = (struct yaml_place){at->key_line, at->key_column};
	else if (at)
		place = (struct yaml_place){at->line, at->column};
	va_start(ap, fmt);
	add(errs, place, path, fmt, ap);
	va_end(ap);
}

void yaml_errors_free(struct yaml_errors *errs)
{
	strv_free(&errs->list);
	free(errs->places);
	errs->places = NULL;
	errs->places_cap = errs->dropped = 0;
}
