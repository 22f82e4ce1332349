/* Reading `compare`: which layouts, which metrics, within what margin. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

#define MAX_PAIRS 1000

static const struct word metric_words[] = {
	{"elapsed", 0, NULL},
	{"throughput", 0, NULL},
	{"ops_per_s", 0, NULL},
	{"latency_mean", 0, NULL},
	{"latency_p50", 0, NULL},
	{"latency_p99", 0, NULL},
	{"latency_p999", 0, NULL},
	{"latency_max", 0, NULL},
	{"cpu_per_op", 0, NULL},
	{"physical_read_bytes", 0, NULL},
	{"physical_write_bytes", 0, NULL},
	{"time_to_redundant", 0, ""},
};
static const struct word_list metric_list = WORD_LIST("a metric", metric_words);
static const struct word by_words[] = {{"layout", 0, NULL}, {"host", 1, NULL}};
static const struct word_list by_list = WORD_LIST("what is compared", by_words);

static int find_layout(struct reading *r, const struct yaml_node *n, const char *path)
{
	const struct plan *p = r->owner;
	const char *name = read_scalar(r, n, path);
	int at = name ? plan_find_layout(p, name) : -1;
	char text[SHOWN_LEN], near[SHOWN_LEN + 24], *all;
	const char **names;

	if (at >= 0 || !name || !p->n_layouts)
		return at;
	names = xcalloc(p->n_layouts + 1, sizeof(*names));
	for (size_t i = 0; i < p->n_layouts; i++)
		names[i] = p->layouts[i].name;
	all = plan_layout_names(p);
	suggestion(name, names, near);
	read_error(r, n, path, "there is no layout '%s'%s%s%s%s", shown(name, text), near,
		*near ? "" : " (", *near ? "" : all, *near ? "" : ")");
	free(all);
	free(names);
	return -1;
}

static void read_baseline(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	int at = find_layout(r, n, path);

	(void)arg;
	if (at >= 0)
		((struct plan *)field)->baseline = at;
}

static void read_pair(
	struct reading *r, const struct yaml_node *n, const char *path, struct plan *p)
{
	int a, b;

	if (n->kind != YAML_SEQ || n->n != 2) {
		read_error(r, n, path, "a pair is two layouts: [A, B]");
		return;
	}
	a = find_layout(r, n->items[0], path);
	b = find_layout(r, n->items[1], path);
	if (a < 0 || b < 0)
		return;
	if (a == b) {
		read_error(r, n, path, "a pair is two different layouts");
		return;
	}
	p->pairs[p->n_pairs++] = (struct plan_pair){(unsigned)a, (unsigned)b};
}

/* all, or [[A, B], …] */
static void read_pairs(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct plan *p = field;

	(void)arg;
	p->baseline = -1;
	if (n->kind == YAML_SCALAR && !strcmp(n->scalar, "all")) {
		p->compare_all_pairs = 1;
		return;
	}
	if (n->kind != YAML_SEQ || n->n == 0 || n->n > MAX_PAIRS) {
		read_error(
			r, n, path, "must be all, or a list of pairs of layouts: [[A, B], [A, C]]");
		return;
	}
	p->pairs = xcalloc(n->n, sizeof(*p->pairs));
	for (size_t i = 0; i < n->n; i++)
		read_pair(r, n->items[i], path, p);
}

static void read_metric(
	struct reading *r, const struct yaml_node *n, const char *path, struct strv *list)
{
	int ignored;
	char text[SHOWN_LEN];

	read_word(r, n, path, &ignored, &metric_list);
	if (n->kind != YAML_SCALAR)
		return;
	if (strv_has(list, n->scalar))
		read_error(r, n, path, "'%s' is there twice", shown(n->scalar, text));
	else
		strv_add(list, n->scalar);
}

static void read_metrics(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	(void)arg;
	if (n->kind != YAML_SEQ)
		read_metric(r, n, path, field);
	for (size_t i = 0; n->kind == YAML_SEQ && i < n->n; i++)
		read_metric(r, n->items[i], path, field);
}

static void read_by(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	int by = 0;

	read_word(r, n, path, &by, arg);
	free(*(char **)field);
	*(char **)field = xstrdup(by ? "host" : "layout");
}

static const struct key_row compare_rows[] = {
	{"baseline", read_baseline, 0, NULL, NULL},
	{"pairs", read_pairs, 0, NULL, NULL},
	{"metrics", read_metrics, offsetof(struct plan, metrics), NULL, NULL},
	{"margin", read_percent, offsetof(struct plan, margin), NULL, NULL},
	{"by", read_by, offsetof(struct plan, by), &by_list, NULL},
};
static const struct key_table compare_table = KEY_TABLE("compare", compare_rows);

void plan_read_compare(struct reading *r, const struct yaml_node *n)
{
	struct plan *p = r->owner;

	p->by = xstrdup("layout");
	if (!n || read_map(r, n, "compare", &compare_table, p))
		return;
	if (yaml_get(n, "baseline") && yaml_get(n, "pairs"))
		read_error_key(r, yaml_get(n, "pairs"), "compare",
			"either baseline or pairs, not "
			"both");
	if (yaml_get(n, "pairs") && p->n_layouts == 1 && strcmp(p->by, "host"))
		read_error_key(r, yaml_get(n, "pairs"), "compare",
			"pairs need two layouts, the plan "
			"has one");
}
