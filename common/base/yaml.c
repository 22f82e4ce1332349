/*
 * YAML text to a tree, through libyaml's events (its document loader is slow without bound and
 * lets duplicate keys pass). Owns the tree until it is handed over.
 * Invariant: no more than YAML_MAX_DEPTH levels and YAML_MAX_NODES nodes are ever allocated: each
 * limit is looked at before the node is made.
 */
#include "common/base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "common/base/mem.h"

#define CORE_TAG "tag:yaml.org,2002:"

struct builder {
	const char *file;
	struct err *e;
	struct yaml_node *root;
	struct yaml_node *open[YAML_MAX_DEPTH]; /* lists and maps not yet ended */
	int depth;
	size_t nodes;
	char *key; /* read, its value is still to come */
	yaml_mark_t key_mark;
};

static int __attribute__((format(printf, 3, 4)))
fail_at(struct builder *b, yaml_mark_t at, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(b->e, ERR_INPUT, "%s:%zu:%zu: %s", b->file, at.line + 1, at.column + 1, text);
	free(text);
	return -1;
}

/* libyaml's own complaint; a byte that is no UTF-8 has an offset instead of a mark. */
static int fail_syntax(struct builder *b, const yaml_parser_t *parser, const char *text)
{
	yaml_mark_t at = parser->problem_mark;
	const char *problem = parser->problem ? parser->problem : "not valid YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(b->e, ERR_FULL, "%s: out of memory", b->file);
	if (parser->error == YAML_READER_ERROR) {
		at = (yaml_mark_t){0};
		for (size_t i = 0; i < parser->problem_offset; i++) {
			at.column++;
			if (text[i] == '\n') {
				at.line++;
				at.column = 0;
			}
		}
	}
	if (parser->context)
		return fail_at(b, at, "not valid YAML: %s %s", problem, parser->context);
	return fail_at(b, at, "not valid YAML: %s", problem);
}

static int is_core_tag(const char *tag, enum yaml_kind kind)
{
	static const char *const scalars[] = {"str", "int", "float", "bool", "null", NULL};
	const char *name;

	if (!str_starts(tag, CORE_TAG))
		return 0;
	name = tag + strlen(CORE_TAG);
	if (kind == YAML_SEQ)
		return strcmp(name, "seq") == 0;
	if (kind == YAML_MAP)
		return strcmp(name, "map") == 0;
	for (const char *const *s = scalars; *s; s++)
		if (strcmp(name, *s) == 0)
			return 1;
	return 0;
}

/* Anchors and tags, the same for every kind of node. */
static int check_extras(struct builder *b, yaml_mark_t at, enum yaml_kind kind,
	const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		return fail_at(b, at, "anchors (&%.40s) are not allowed: write the value out",
			(const char *)anchor);
	if (tag && strcmp((const char *)tag, "!") != 0 && !is_core_tag((const char *)tag, kind))
		return fail_at(b, at, "tag %.60s is not allowed here", (const char *)tag);
	return 0;
}

static int count_node(struct builder *b, yaml_mark_t at)
{
	if (b->nodes == YAML_MAX_NODES)
		return fail_at(b, at, "more than %d keys and values", YAML_MAX_NODES);
	b->nodes++;
	return 0;
}

static struct yaml_node *innermost(const struct builder *b)
{
	return b->depth ? b->open[b->depth - 1] : NULL;
}

static int expects_key(const struct builder *b)
{
	const struct yaml_node *parent = innermost(b);

	return parent && parent->kind == YAML_MAP && !b->key;
}

/* Makes a node below the innermost open one, or the root. */
static struct yaml_node *attach(struct builder *b, enum yaml_kind kind, yaml_mark_t at)
{
	struct yaml_node *parent = innermost(b), *n = xcalloc(1, sizeof(*n));

	n->kind = kind;
	n->line = (int)at.line + 1;
	n->column = (int)at.column + 1;
	if (!parent) {
		b->root = n;
		return n;
	}
	if (b->key) {
		n->key = b->key;
		n->key_line = (int)b->key_mark.line + 1;
		n->key_column = (int)b->key_mark.column + 1;
		b->key = NULL;
	}
	parent->items = xgrow(parent->items, parent->n, &parent->cap, sizeof(struct yaml_node *));
	parent->items[parent->n++] = n;
	return n;
}

static int on_scalar(struct builder *b, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;
	const char *tag = (const char *)ev->data.scalar.tag;
	size_t len = ev->data.scalar.length;
	int plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct yaml_node *n;

	if (check_extras(
		    b, ev->start_mark, YAML_SCALAR, ev->data.scalar.anchor, ev->data.scalar.tag) ||
		count_node(b, ev->start_mark))
		return -1;
	if (memchr(text, '\0', len))
		return fail_at(b, ev->start_mark, "a text may not contain \\0");
	if (expects_key(b)) {
		if (plain && (len == 0 || strcmp(text, "~") == 0))
			return fail_at(b, ev->start_mark, "a key is missing before ':'");
		b->key = xstrndup(text, len);
		b->key_mark = ev->start_mark;
		return 0;
	}
	n = attach(b, YAML_SCALAR, ev->start_mark);
	n->scalar = xstrndup(text, len);
	n->quoted = !plain || (tag && (strcmp(tag, "!") == 0 || strcmp(tag, CORE_TAG "str") == 0));
	return 0;
}

static int on_start(struct builder *b, enum yaml_kind kind, yaml_mark_t at,
	const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (check_extras(b, at, kind, anchor, tag) || count_node(b, at))
		return -1;
	if (expects_key(b))
		return fail_at(b, at, "a key must be a text, not a list or map");
	if (b->depth == YAML_MAX_DEPTH)
		return fail_at(b, at, "nested more than %d levels deep", YAML_MAX_DEPTH);
	b->open[b->depth] = attach(b, kind, at);
	b->depth++;
	return 0;
}

/* By key, then by place: of equal keys the first in the file comes first. */
static int compare_keys(const void *va, const void *vb)
{
	const struct yaml_node *a = *(struct yaml_node *const *)va;
	const struct yaml_node *b = *(struct yaml_node *const *)vb;
	int by_key = strcmp(a->key, b->key);

	if (by_key)
		return by_key;
	if (a->key_line != b->key_line)
		return a->key_line < b->key_line ? -1 : 1;
	return (a->key_column > b->key_column) - (a->key_column < b->key_column);
}

static int check_duplicates(struct builder *b, const struct yaml_node *map)
{
	const struct yaml_node *first = NULL, *again = NULL;
	struct yaml_node **sorted;

	if (map->n < 2)
		return 0;
	sorted = xmemdup(map->items, map->n * sizeof(struct yaml_node *));
	qsort(sorted, map->n, sizeof(struct yaml_node *), compare_keys);
	for (size_t i = 1; i < map->n; i++) {
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) != 0)
			continue;
		if (again && again->key_line <= sorted[i]->key_line)
			continue;
		first = sorted[i - 1];
		again = sorted[i];
	}
	free(sorted);
	if (!again)
		return 0;
	return err_set(b->e, ERR_INPUT, "%s:%d:%d: key '%.100s' is there twice, first in line %d",
		b->file, again->key_line, again->key_column, again->key, first->key_line);
}

static int on_end(struct builder *b)
{
	const struct yaml_node *n = b->open[--b->depth];

	return n->kind == YAML_MAP ? check_duplicates(b, n) : 0;
}

/* Returns 1 at the stream's end. */
static int on_event(struct builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_DOCUMENT_START_EVENT:
		if (b->root)
			return fail_at(
				b, ev->start_mark, "a second document starts: one file holds one");
		return 0;
	case YAML_ALIAS_EVENT:
		return fail_at(b, ev->start_mark,
			"aliases (*%.40s) are not allowed: write the value out",
			(const char *)ev->data.alias.anchor);
	case YAML_SCALAR_EVENT:
		return on_scalar(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(b, YAML_SEQ, ev->start_mark, ev->data.sequence_start.anchor,
			ev->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return on_start(b, YAML_MAP, ev->start_mark, ev->data.mapping_start.anchor,
			ev->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(b);
	default:
		return 0;
	}
}

static int build(struct builder *b, const char *text, size_t len)
{
	yaml_parser_t parser;
	int status = 0;

	if (!yaml_parser_initialize(&parser))
		return err_set(b->e, ERR_FULL, "%s: out of memory", b->file);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (status == 0) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&parser, &ev)) {
			status = fail_syntax(b, &parser, text);
			break;
		}
		status = on_event(b, &ev);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&parser);
	return status < 0 ? -1 : 0;
}

int yaml_parse(
	const char *file, const char *text, size_t len, struct yaml_node **ret, struct err *e)
{
	struct builder b = {.file = file, .e = e};
	static const yaml_mark_t top;

	if (len > YAML_MAX_BYTES)
		return err_set(e, ERR_INPUT, "%s:1:1: too large: %zu bytes, the limit is %d", file,
			len, YAML_MAX_BYTES);
	if (build(&b, len ? text : "", len)) {
		free(b.key);
		yaml_node_free(b.root);
		return -1;
	}
	if (!b.root)
		attach(&b, YAML_SCALAR, top)->scalar = xstrdup("");
	*ret = b.root;
	return 0;
}

void yaml_node_free(struct yaml_node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->n; i++)
		yaml_node_free(n->items[i]);
	free(n->items);
	free(n->scalar);
	free(n->key);
	free(n);
}
