/*
 * Questions to a YAML tree, and setting one path in it (--set). Owns nothing: nodes belong to
 * their tree.
 * Invariant: a tree never gets deeper than YAML_MAX_DEPTH, because callers walk it by recursion.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/yaml.h"

struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i]->key, key) == 0)
			return map->items[i];
	return NULL;
}

int yaml_is_null(const struct yaml_node *n)
{
	if (!n)
		return 1;
	if (n->kind != YAML_SCALAR || n->quoted)
		return 0;
	return !*n->scalar || strcmp(n->scalar, "~") == 0 || strcmp(n->scalar, "null") == 0;
}

int yaml_bool(const struct yaml_node *n, int *ret)
{
	static const char *const words[2][4] = {
		{"false", "no", "off", NULL},
		{"true", "yes", "on", NULL},
	};

	if (!n || n->kind != YAML_SCALAR || n->quoted)
		return -1;
	for (int value = 0; value < 2; value++)
		for (const char *const *w = words[value]; *w; w++)
			if (strcmp(n->scalar, *w) == 0) {
				*ret = value;
				return 0;
			}
	return -1;
}

static int depth_of(const struct yaml_node *n)
{
	int deepest = 0;

	for (size_t i = 0; i < n->n; i++) {
		int d = depth_of(n->items[i]);

		if (d > deepest)
			deepest = d;
	}
	return n->kind == YAML_SCALAR ? 0 : deepest + 1;
}

static void forget_places(struct yaml_node *n)
{
	n->line = n->column = n->key_line = n->key_column = 0;
	for (size_t i = 0; i < n->n; i++)
		forget_places(n->items[i]);
}

/* The parser's words without its "file:line:column: ". */
static const char *without_place(const char *text)
{
	const char *p = strstr(text, ": ");

	return p ? p + 2 : text;
}

/* Reads value as the only item of a flow list: thus block forms and several values are errors. */
static int parse_value(const char *path, const char *value, struct yaml_node **ret, struct err *e)
{
	struct yaml_node *list;
	char *text = xasprintf("[%s\n]", value);
	struct err why;
	int status = yaml_parse("value", text, strlen(text), &list, &why);

	free(text);
	if (status)
		return err_set(e, ERR_INPUT, "%s: cannot take the value '%.100s': %s", path, value,
			without_place(why.text));
	if (list->kind != YAML_SEQ || list->n > 1 ||
		(list->n && list->items[0]->kind == YAML_MAP && value[strspn(value, " ")] != '{')) {
		yaml_node_free(list);
		return err_set(e, ERR_INPUT,
			"%s: '%.100s' is not one value: write lists as [a, b], maps as {a: b}",
			path, value);
	}
	if (list->n == 0) {
		*ret = xcalloc(1, sizeof(**ret));
		(*ret)->kind = YAML_SCALAR;
		(*ret)->scalar = xstrdup("");
	} else {
		*ret = list->items[0];
		list->n = 0;
	}
	forget_places(*ret);
	yaml_node_free(list);
	return 0;
}

/* Number of parts of a path; -1 when one is empty. */
static int count_parts(const char *path)
{
	int parts = 1;

	for (const char *p = path; *p; p++) {
		if (*p != '.')
			continue;
		if (p == path || p[1] == '.')
			return -1;
		parts++;
	}
	return *path && !str_ends(path, ".") ? parts : -1;
}

static void append(struct yaml_node *map, struct yaml_node *n)
{
	map->items = xgrow(map->items, map->n, &map->cap, sizeof(struct yaml_node *));
	map->items[map->n++] = n;
}

static void put(struct yaml_node *map, const char *key, struct yaml_node *value)
{
	value->key = xstrdup(key);
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i]->key, key) == 0) {
			yaml_node_free(map->items[i]);
			map->items[i] = value;
			return;
		}
	append(map, value);
}

static struct yaml_node *get_or_add_map(struct yaml_node *map, const char *key)
{
	struct yaml_node *n = yaml_get(map, key);

	if (n)
		return n;
	n = xcalloc(1, sizeof(*n));
	n->kind = YAML_MAP;
	n->key = xstrdup(key);
	append(map, n);
	return n;
}

/* 0 when the maps on the way are maps or can become so: checked before anything is changed. */
static int check_way(const struct yaml_node *at, const char *path, struct err *e)
{
	const char *part = path;

	for (;;) {
		const char *dot = strchr(part, '.');
		char *key;

		if (at->kind != YAML_MAP && !yaml_is_null(at)) {
			size_t upto = part == path ? 0 : (size_t)(part - path - 1);

			return err_set(e, ERR_INPUT,
				"%s: %s%.*s%s is a %s, not a map: nothing can be set in it", path,
				upto ? "'" : "the file", (int)upto, path, upto ? "'" : "",
				at->kind == YAML_SEQ ? "list" : "single value");
		}
		if (!dot)
			return 0;
		key = xstrndup(part, (size_t)(dot - part));
		at = yaml_get(at, key);
		free(key);
		if (!at)
			return 0;
		part = dot + 1;
	}
}

static void become_map(struct yaml_node *n)
{
	free(n->scalar);
	n->scalar = NULL;
	n->kind = YAML_MAP;
}

int yaml_set_path(struct yaml_node *root, const char *path, const char *value, struct err *e)
{
	struct yaml_node *at = root, *n;
	int parts = count_parts(path);
	const char *part = path, *dot;

	if (parts < 0)
		return err_set(e, ERR_INPUT,
			"'%.200s' is not a path: write keys with dots between them", path);
	if (check_way(root, path, e) || parse_value(path, value, &n, e))
		return -1;
	if (parts + depth_of(n) > YAML_MAX_DEPTH) {
		yaml_node_free(n);
		return err_set(e, ERR_INPUT, "%.200s: nested more than %d levels deep", path,
			YAML_MAX_DEPTH);
	}
	for (; (dot = strchr(part, '.')); part = dot + 1) {
		char *key = xstrndup(part, (size_t)(dot - part));

		become_map(at);
		at = get_or_add_map(at, key);
		free(key);
	}
	become_map(at);
	put(at, part, n);
	return 0;
}
