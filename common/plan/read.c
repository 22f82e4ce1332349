/* Table-driven reading of YAML trees: see read.h. Owns nothing but the lines it reports. */
#include "common/plan/read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

char *read_child_path(const char *parent, const char *key)
{
	char text[SHOWN_LEN];

	shown(key, text);
	return *parent ? xasprintf("%s.%s", parent, text) : xstrdup(text);
}

static const struct key_row *row_find(const struct key_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_equal(t->rows[i].name, name))
			return &t->rows[i];
	return NULL;
}

static void unknown_key(
	struct reading *r, const struct yaml_node *n, const char *path, const struct key_table *t)
{
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	const char **names = xcalloc(t->n + 1, sizeof(*names));
	struct buf all = {0};
	size_t known = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->rows[i].read == read_elsewhere || t->rows[i].read == read_unsupported)
			continue;
		names[known++] = t->rows[i].name;
		buf_addf(&all, "%s%s", all.len ? ", " : "", t->rows[i].name);
	}
	suggestion(n->key, names, near);
	if (*near)
		read_error_key(r, n, path, "'%s' is not a key of %s%s", shown(n->key, text),
			t->what, near);
	else
		read_error_key(r, n, path, "'%s' is not a key of %s (%s)", shown(n->key, text),
			t->what, buf_str(&all));
	buf_free(&all);
	free(names);
}

int read_map(struct reading *r, const struct yaml_node *n, const char *path,
	const struct key_table *table, void *target)
{
	if (n->kind != YAML_MAP) {
		read_error(r, n, path, "%s must be a map of keys and values", table->what);
		return -1;
	}
	for (size_t i = 0; i < n->n; i++) {
		const struct yaml_node *item = n->items[i];
		const struct key_row *row = row_find(table, item->key);
		char *child = read_child_path(path, item->key);

		if (!row)
			unknown_key(r, item, path, table);
		else
			row->read(r, item, child, (char *)target + row->offset, row->arg);
		free(child);
	}
	for (size_t i = 0; i < table->n; i++) {
		const struct key_row *row = &table->rows[i];

		if (row->missing && !yaml_get(n, row->name))
			read_error(r, n, path, "'%s' is missing: %s", row->name, row->missing);
	}
	return 0;
}

const char *read_scalar(struct reading *r, const struct yaml_node *n, const char *path)
{
	if (n->kind != YAML_SCALAR) {
		read_error(r, n, path, "one value is wanted here, not a %s",
			n->kind == YAML_MAP ? "map" : "list");
		return NULL;
	}
	if (yaml_is_null(n) || !*n->scalar) {
		read_error(r, n, path, "has no value");
		return NULL;
	}
	return n->scalar;
}

static void wrong_word(
	struct reading *r, const struct yaml_node *n, const char *path, const struct word_list *l)
{
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	const char **names = xcalloc(l->n + 1, sizeof(*names));
	struct buf all = {0};
	size_t count = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->words[i].unsupported)
			continue;
		buf_addf(&all, "%s%s", count ? ", " : "", l->words[i].name);
		names[count++] = l->words[i].name;
	}
	suggestion(n->scalar, names, near);
	read_error(r, n, path, "'%s' is not %s (%s)%s", shown(n->scalar, text), l->what,
		buf_str(&all), near);
	buf_free(&all);
	free(names);
}

void read_word(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const struct word_list *l = arg;
	const char *s = read_scalar(r, n, path);

	if (!s)
		return;
	for (size_t i = 0; i < l->n; i++) {
		const struct word *w = &l->words[i];

		if (!str_equal(w->name, s))
			continue;
		if (w->unsupported)
			read_unsupported(r, n, path, NULL, *w->unsupported ? w->unsupported : NULL);
		*(int *)field = w->value;
		return;
	}
	wrong_word(r, n, path, l);
}

void read_unsupported(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	char text[SHOWN_LEN];
	const char *remedy = arg;
	const char *word = n->key ? n->key : "";
	const char *value = n->kind == YAML_SCALAR ? shown(n->scalar, text) : "";

	(void)field;
	read_error_key(r, n, path, "'%s%s%s' is not supported by this version%s%s", word,
		*word && *value ? ": " : "", value, remedy ? ": " : "", remedy ? remedy : "");
}

void read_elsewhere(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)field;
	read_error_key(r, n, path, "%s", (const char *)arg);
}

static int read_number(struct reading *r, const struct yaml_node *n, const char *path,
	const struct int_range *range, int64_t *ret)
{
	struct err e;
	char text[SHOWN_LEN];
	const char *s = read_scalar(r, n, path);

	if (!s)
		return -1;
	if (n->quoted || units_parse_int(s, range->min, range->max, ret, &e)) {
		read_error(r, n, path, "'%s' must be a whole number from %lld to %lld",
			shown(s, text), (long long)range->min, (long long)range->max);
		return -1;
	}
	return 0;
}

void read_uint(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	int64_t v;

	if (read_number(r, n, path, arg, &v) == 0)
		*(unsigned *)field = (unsigned)v;
}

void read_int(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	int64_t v;

	if (read_number(r, n, path, arg, &v) == 0)
		*(int *)field = (int)v;
}

void read_bytes(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const struct int_range *range = arg;
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN], min[UNITS_LEN], max[UNITS_LEN];
	struct err e;
	int64_t v;

	if (!s)
		return;
	if (units_parse_size(s, &v, &e))
		read_error(r, n, path,
			"'%s' is not a size (64K, 1M, 30G, or 8KB, 30GB for powers "
			"of 1000)",
			shown(s, text));
	else if (v < range->min || v > range->max)
		read_error(r, n, path, "'%s' is outside of %s to %s", shown(s, text),
			units_size(range->min, min), units_size(range->max, max));
	else
		*(int64_t *)field = v;
}

void read_time(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const struct int_range *range = arg;
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN], min[UNITS_LEN], max[UNITS_LEN];
	struct err e;
	int64_t v;

	if (!s)
		return;
	if (units_parse_time(s, &v, &e))
		read_error(
			r, n, path, "'%s' is not a time (500ms, 30s, 5m, 2h, 3d)", shown(s, text));
	else if (v < range->min || v > range->max)
		read_error(r, n, path, "'%s' is outside of %s to %s", shown(s, text),
			units_duration(range->min, min), units_duration(range->max, max));
	else
		*(int64_t *)field = v;
}

void read_percent(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	struct err e;
	double v;

	(void)arg;
	if (!s)
		return;
	if (units_parse_percent(s, &v, &e))
		read_error(r, n, path, "'%s' must be a percentage from 0%% to 100%%, such as 2%%",
			shown(s, text));
	else
		*(double *)field = v;
}

void read_bool(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	int v;

	(void)arg;
	if (!s)
		return;
	if (yaml_bool(n, &v))
		read_error(r, n, path, "'%s' must be true or false", shown(s, text));
	else
		*(int *)field = v;
}

void read_text(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *s = read_scalar(r, n, path);

	(void)arg;
	if (!s)
		return;
	free(*(char **)field);
	*(char **)field = xstrdup(s);
}

void read_list(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv *list = field;
	const char *s;

	(void)arg;
	if (n->kind == YAML_SEQ) {
		for (size_t i = 0; i < n->n; i++)
			if ((s = read_scalar(r, n->items[i], path)))
				strv_add(list, s);
	} else if (!yaml_is_null(n) && (s = read_scalar(r, n, path))) {
		strv_add(list, s);
	}
}

int path_is_sane(const char *path, const char **why)
{
	*why = NULL;
	if (*path != '/')
		*why = "must be an absolute path";
	else if (strlen(path) >= PATH_MAX)
		*why = "is longer than a path may be";
	else if (strstr(path, "//"))
		*why = "must not contain '//'";
	for (const char *p = path; *p && !*why; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*why = "must not contain control characters";
		else if (p[0] == '/' && p[1] == '.' && (!p[2] || p[2] == '/'))
			*why = "must not contain '.' as a folder";
		else if (p[0] == '/' && p[1] == '.' && p[2] == '.' && (!p[3] || p[3] == '/'))
			*why = "must not contain '..'";
	}
	return *why ? -1 : 0;
}

void read_path(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *s = read_scalar(r, n, path), *why;
	char text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	if (path_is_sane(s, &why)) {
		read_error(r, n, path, "'%s' %s", shown(s, text), why);
		return;
	}
	free(*(char **)field);
	*(char **)field = xstrdup(s);
	size_t len = strlen(s);
	if (len > 1 && s[len - 1] == '/')
		(*(char **)field)[len - 1] = '\0';
}
