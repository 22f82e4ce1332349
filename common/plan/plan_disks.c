/* Reading `disks`: a count, stable ids, one selector or a list of them. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

static const struct int_range count_range = {1, PLAN_MAX_DISKS};
static const struct int_range size_range = {1024 * 1024, INT64_MAX};

struct selector_reading {
	struct disk_selector s;
	int mixed;
};

static int is_kernel_name(const char *s)
{
	static const char *const starts[] = {
		"/dev/", "sd", "hd", "vd", "xvd", "nvme", "dm-", "md", "loop", "da", "ada", NULL};

	for (size_t i = 0; starts[i]; i++)
		if (str_starts(s, starts[i]))
			return 1;
	return 0;
}

/* 0 when s is "serial:…" or "wwn:…" with something after it. */
static int check_id(struct reading *r, const struct yaml_node *n, const char *path, const char *s)
{
	char text[SHOWN_LEN];

	if ((str_starts(s, "serial:") && s[7]) || (str_starts(s, "wwn:") && s[4]))
		return 0;
	if (is_kernel_name(s))
		read_error(r, n, path,
			"'%s' is a name that may change at the next start: use serial:… or wwn:…, "
			"which `arraymark host disks HOST` prints",
			shown(s, text));
	else
		read_error(r, n, path,
			"'%s' is not a disk: write a count, serial:…, wwn:…, or a selector such as "
			"{model: X, count: 8}",
			shown(s, text));
	return -1;
}

static void read_exclude(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct strv *list = field;

	read_list(r, n, path, list, arg);
	for (size_t i = 0; i < list->n; i++)
		check_id(r, n, path, list->v[i]);
}

#define FIELD(name) offsetof(struct selector_reading, name)
static const struct key_row selector_rows[] = {
	{"controller", read_text, FIELD(s.controller), NULL, NULL},
	{"enclosure", read_text, FIELD(s.enclosure), NULL, NULL},
	{"slot", read_text, FIELD(s.slot), NULL, NULL},
	{"model", read_text, FIELD(s.model), NULL, NULL},
	{"size", read_bytes, FIELD(s.size), &size_range, NULL},
	{"transport", read_text, FIELD(s.transport), NULL, NULL},
	{"rotational", read_bool, FIELD(s.rotational), NULL, NULL},
	{"serial", read_text, FIELD(s.serial), NULL, NULL},
	{"wwn", read_text, FIELD(s.wwn), NULL, NULL},
	{"exclude", read_exclude, FIELD(s.exclude), NULL, NULL},
	{"count", read_uint, FIELD(s.count), &count_range, NULL},
	{"mixed", read_bool, FIELD(mixed), NULL, NULL},
	{"use", read_unsupported, 0, NULL, NULL},
};
#undef FIELD
static const struct key_table selector_table = KEY_TABLE("a disk selector", selector_rows);

static struct disk_selector *add_selector(struct disk_set *set)
{
	set->v = xreallocarray(set->v, set->n + 1, sizeof(*set->v));
	memset(&set->v[set->n], 0, sizeof(*set->v));
	set->v[set->n].rotational = -1;
	return &set->v[set->n++];
}

static void read_selector(
	struct reading *r, const struct yaml_node *n, const char *path, struct disk_set *set)
{
	struct selector_reading in = {.s.rotational = -1};

	read_map(r, n, path, &selector_table, &in);
	if (n->kind == YAML_MAP && n->n == 0)
		read_error(r, n, path,
			"an empty selector would take every disk: name what the "
			"disks have in common, or a count");
	if (in.mixed)
		set->mixed = 1;
	*add_selector(set) = in.s;
}

static void read_ids(
	struct reading *r, const struct yaml_node *n, const char *path, struct disk_set *set)
{
	struct disk_selector *sel = add_selector(set);

	for (size_t i = 0; i < n->n; i++) {
		const char *id = read_scalar(r, n->items[i], path);
		char text[SHOWN_LEN], value[SHOWN_LEN];

		if (!id)
			continue;
		if (check_id(r, n->items[i], path, id) == 0 && strpbrk(id, "*?["))
			read_error(r, n->items[i], path,
				"'%s': no patterns in a list of ids; write {serial: \"%s\"}",
				shown(id, text), shown(strchr(id, ':') + 1, value));
		else if (strv_has(&sel->ids, id))
			read_error(r, n->items[i], path, "'%s' is there twice", shown(id, text));
		strv_add(&sel->ids, id); /* wrong ones too: they count */
	}
}

static void read_disk_list(
	struct reading *r, const struct yaml_node *n, const char *path, struct disk_set *set)
{
	size_t maps = 0;

	if (n->n == 0) {
		read_error(r, n, path, "the list is empty");
		return;
	}
	for (size_t i = 0; i < n->n; i++)
		maps += n->items[i]->kind == YAML_MAP;
	if (maps == 0) {
		read_ids(r, n, path, set);
		return;
	}
	if (maps < n->n || n->n > PLAN_MAX_GROUPS) {
		read_error(r, n, path,
			maps < n->n ? "a list is either of ids or of selectors"
				    : "more than 64 selectors");
		return;
	}
	for (size_t i = 0; i < n->n; i++)
		read_selector(r, n->items[i], path, set);
}

void read_disks(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct disk_set *set = field;
	const char *s;
	unsigned count = 0;

	(void)arg;
	set->line = n->line;
	set->column = n->column;
	if (n->kind == YAML_MAP) {
		read_selector(r, n, path, set);
	} else if (n->kind == YAML_SEQ) {
		read_disk_list(r, n, path, set);
	} else if ((s = read_scalar(r, n, path)) && strspn(s, "-0123456789") == strlen(s)) {
		read_uint(r, n, path, &count, &count_range);
		if (count)
			add_selector(set)->count = count;
	} else if (s && check_id(r, n, path, s) == 0) {
		strv_add(&add_selector(set)->ids, s);
	}
}

unsigned disk_set_count(const struct disk_set *s, int *ret_open)
{
	unsigned n = 0;

	*ret_open = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].ids.n)
			n += (unsigned)s->v[i].ids.n;
		else if (s->v[i].count)
			n += s->v[i].count;
		else
			*ret_open = 1;
	}
	return *ret_open ? 0 : n;
}
