/*
 * `matrix`: each layout once for every combination of the values, in the order of the file, the
 * last path turning fastest. A combination is set in the layout's own tree and read from there;
 * the next one overwrites it, so nothing has to be undone.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

#define MATRIX_MAX_PATHS 8
#define MATRIX_VALUE_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.:,%"

static int check_values(struct reading *r, const struct yaml_node *list, const char *path)
{
	char text[SHOWN_LEN];
	int rc = 0;

	if (list->kind != YAML_SEQ || list->n == 0) {
		read_error(r, list, path, "must be a list of values, such as [128K, 1M]");
		return -1;
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct yaml_node *v = list->items[i];
		const char *s = read_scalar(r, v, path);

		if (s && strspn(s, MATRIX_VALUE_CHARS) != strlen(s)) {
			read_error(r, v, path,
				"'%s' cannot become part of a layout's name: use one "
				"plain word",
				shown(s, text));
			s = NULL;
		}
		for (size_t j = 0; s && j < i; j++)
			if (list->items[j]->kind == YAML_SCALAR &&
				!strcmp(list->items[j]->scalar, s)) {
				read_error(r, v, path, "'%s' is there twice", shown(s, text));
				rc = -1;
			}
		rc = s ? rc : -1;
	}
	return rc;
}

int plan_check_matrix(struct reading *r, const struct yaml_node *matrix)
{
	size_t combinations = 1;
	int rc = 0;

	if (matrix->kind != YAML_MAP || matrix->n == 0 || matrix->n > MATRIX_MAX_PATHS) {
		read_error(r, matrix, "matrix",
			"must be a map of 1 to %d paths within a layout, "
			"such as pool.properties.recordsize: [128K, 1M]",
			MATRIX_MAX_PATHS);
		return -1;
	}
	for (size_t i = 0; i < matrix->n; i++) {
		const struct yaml_node *list = matrix->items[i];
		char *path = read_child_path("matrix", list->key);

		if (check_values(r, list, path))
			rc = -1;
		else if ((combinations *= list->n) > PLAN_MAX_LAYOUTS)
			combinations = PLAN_MAX_LAYOUTS + 1;
		free(path);
	}
	if (combinations > PLAN_MAX_LAYOUTS) {
		read_error_key(r, matrix, "matrix", "makes more than %d layouts", PLAN_MAX_LAYOUTS);
		rc = -1;
	}
	return rc;
}

/* The last `parts` parts of a path. */
static const char *path_tail(const char *path, unsigned parts)
{
	const char *p = path + strlen(path);

	for (; p > path; p--)
		if (p[-1] == '.' && --parts == 0)
			break;
	return p;
}

/* As few of the path's last parts as tell it from the others. */
static const char *short_path(const struct yaml_node *matrix, size_t i)
{
	const char *path = matrix->items[i]->key;

	for (unsigned parts = 1; parts < YAML_MAX_DEPTH; parts++) {
		const char *tail = path_tail(path, parts);
		int same = 0;

		for (size_t j = 0; j < matrix->n; j++)
			same += j != i && !strcmp(path_tail(matrix->items[j]->key, parts), tail);
		if (!same)
			return tail;
	}
	return path;
}

/* Gives what was just set the place and the quoting of the matrix's value. */
static void mark_value(
	struct yaml_node *layout, const struct yaml_node *list, const struct yaml_node *value)
{
	struct yaml_node *n = layout;
	char *copy = xstrdup(list->key), *save = NULL;

	for (char *part = strtok_r(copy, ".", &save); part && n;
		part = strtok_r(NULL, ".", &save)) {
		n = yaml_get(n, part);
		if (n && !n->line) {
			n->line = value->line;
			n->column = value->column;
			n->key_line = list->key_line;
			n->key_column = list->key_column;
		}
	}
	if (n && n->kind == YAML_SCALAR) {
		free(n->scalar);
		n->scalar = xstrdup(value->scalar);
		n->quoted = value->quoted;
	}
	free(copy);
}

/* A matrix changes a stage, it doesn't make one. */
static int layout_has_stage(
	struct reading *r, const struct yaml_node *layout, const struct yaml_node *list)
{
	char *stage = xstrndup(list->key, strcspn(list->key, ".")), *path;
	int ok = yaml_get(layout, stage) != NULL;
	char text[SHOWN_LEN], name[SHOWN_LEN];

	if (!ok) {
		path = read_child_path("matrix", list->key);
		read_error_key(r, list, path,
			"layout '%s' has no '%s', and a matrix applies to all layouts",
			shown(layout->key, name), shown(stage, text));
		free(path);
	}
	free(stage);
	return ok;
}

static int set_combination(struct reading *r, struct yaml_node *layout,
	const struct yaml_node *matrix, const size_t *at, struct buf *name)
{
	for (size_t i = 0; i < matrix->n; i++) {
		const struct yaml_node *list = matrix->items[i], *value = list->items[at[i]];
		struct err e;

		if (yaml_set_path(layout, list->key, "x", &e)) {
			char *path = read_child_path("matrix", list->key);

			read_error_key(r, list, path, "%s", e.text);
			free(path);
			return -1;
		}
		mark_value(layout, list, value);
		buf_addf(name, ",%s=%s", short_path(matrix, i), value->scalar);
	}
	return 0;
}

/* Moves to the next combination; 0 after the last. */
static int next_combination(const struct yaml_node *matrix, size_t *at)
{
	for (size_t i = matrix->n; i > 0; i--) {
		if (++at[i - 1] < matrix->items[i - 1]->n)
			return 1;
		at[i - 1] = 0;
	}
	return 0;
}

void plan_expand_matrix(struct reading *r, struct yaml_node *layout, const struct yaml_node *matrix)
{
	size_t at[MATRIX_MAX_PATHS] = {0};
	int ok = 1;

	for (size_t i = 0; i < matrix->n; i++)
		ok &= layout_has_stage(r, layout, matrix->items[i]);
	if (!ok)
		return;
	do {
		struct buf name = {0};

		buf_adds(&name, layout->key);
		ok = set_combination(r, layout, matrix, at, &name) == 0;
		if (ok)
			plan_read_layout(r, layout, layout->key, buf_str(&name));
		buf_free(&name);
	} while (ok && !r->errs->dropped && next_combination(matrix, at));
}
