/*
 * YAML from anywhere: the parser must end, keep its limits, and give a tree that can be walked,
 * asked and changed. The first line of the input may be a path for yaml_set_path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const struct yaml_node *n, int depth, int placed, struct yaml_errors *errs)
{
	size_t nodes = 1;
	int value;

	if (depth > YAML_MAX_DEPTH || (n->kind == YAML_SCALAR) != (n->scalar != NULL))
		abort();
	if (placed && (n->line < 1 || n->column < 1))
		abort();
	yaml_is_null(n);
	yaml_bool(n, &value);
	yaml_error(errs, n, n->key, "%s", n->scalar ? n->scalar : "…");
	for (size_t i = 0; i < n->n; i++) {
		const struct yaml_node *below = n->items[i];

		if ((n->kind == YAML_MAP) != (below->key != NULL))
			abort();
		if (i < 50 && below->key && yaml_get(n, below->key) != below)
			abort();
		nodes += walk(below, depth + 1, placed, errs);
	}
	return nodes;
}

static void check_errors(struct yaml_errors *errs)
{
	for (size_t i = 0; i < errs->list.n; i++)
		if (strchr(errs->list.v[i], '\n') || !str_starts(errs->list.v[i], "fuzz:"))
			abort();
	yaml_errors_free(errs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_errors errs = {.file = "fuzz"};
	const uint8_t *line_end = size ? memchr(data, '\n', size) : NULL;
	struct yaml_node *root;
	struct err e;

	if (yaml_parse("fuzz", (const char *)data, size, &root, &e)) {
		if (!str_starts(e.text, "fuzz:"))
			abort();
		return 0;
	}
	if (walk(root, 0, 1, &errs) > YAML_MAX_NODES)
		abort();
	if (line_end) {
		char *path = xstrndup((const char *)data, (size_t)(line_end - data));

		if (yaml_set_path(root, "a.b", path, &e) == 0 && !yaml_get(root, "a"))
			abort();
		(void)yaml_set_path(root, path, "[1, {b: c}]", &e);
		walk(root, 0, 0, &errs);
		free(path);
	}
	check_errors(&errs);
	yaml_node_free(root);
	return 0;
}
