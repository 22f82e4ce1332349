/*
 * ZFS properties that a plan may set: an allow-list with the values each takes. What decides where
 * things are mounted, shared, imported from or executed is not in it.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"

#define PROPS_MAX 64

enum prop_kind { PROP_DATASET, PROP_POOL };
struct prop_row {
	const char *name;
	enum prop_kind kind;
	const char *values; /* words with blanks between, '#' stands for digits; NULL: a size */
	int64_t min, max;   /* of a size: a power of two between */
};
#define ON_OFF "on off"
static const struct prop_row prop_rows[] = {
	{"acltype", PROP_DATASET, "off noacl posix posixacl nfsv4", 0, 0},
	{"atime", PROP_DATASET, ON_OFF, 0, 0},
	{"casesensitivity", PROP_DATASET, "sensitive insensitive mixed", 0, 0},
	{"checksum", PROP_DATASET,
		"on off fletcher2 fletcher4 sha256 sha512 skein edonr blake3 noparity", 0, 0},
	{"compression", PROP_DATASET,
		"on off lz4 zstd zstd-# zstd-fast zstd-fast-# gzip gzip-# lzjb zle", 0, 0},
	{"copies", PROP_DATASET, "1 2 3", 0, 0},
	{"dedup", PROP_DATASET,
		"on off verify sha256 sha256,verify sha512 sha512,verify skein skein,verify "
		"edonr,verify blake3 blake3,verify",
		0, 0},
	{"direct", PROP_DATASET, "standard always disabled", 0, 0},
	{"dnodesize", PROP_DATASET, "legacy auto 1k 2k 4k 8k 16k", 0, 0},
	{"logbias", PROP_DATASET, "latency throughput", 0, 0},
	{"normalization", PROP_DATASET, "none formC formD formKC formKD", 0, 0},
	{"prefetch", PROP_DATASET, "all metadata none", 0, 0},
	{"primarycache", PROP_DATASET, "all metadata none", 0, 0},
	{"recordsize", PROP_DATASET, NULL, 512, 16 << 20},
	{"redundant_metadata", PROP_DATASET, "all most some none", 0, 0},
	{"relatime", PROP_DATASET, ON_OFF, 0, 0},
	{"secondarycache", PROP_DATASET, "all metadata none", 0, 0},
	{"special_small_blocks", PROP_DATASET, NULL, 0, 16 << 20},
	{"sync", PROP_DATASET, "standard always disabled", 0, 0},
	{"utf8only", PROP_DATASET, ON_OFF, 0, 0},
	{"xattr", PROP_DATASET, "on off dir sa", 0, 0},
	{"autotrim", PROP_POOL, ON_OFF, 0, 0},
	{"failmode", PROP_POOL, "wait continue", 0, 0},
};
/* Known to zfs, but not for a plan to set. */
static const char *const forbidden[] = {"altroot", "bootfs", "cachefile", "canmount", "context",
	"defcontext", "devices", "encryption", "exec", "fscontext", "jailed", "keyformat",
	"keylocation", "mlslabel", "mountpoint", "multihost", "overlay", "pbkdf2iters", "quota",
	"readonly", "refquota", "refreservation", "reservation", "rootcontext", "setuid",
	"sharenfs", "sharesmb", "snapdir", "version", "volsize", "vscan", "zoned", NULL};

static const struct prop_row *row_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(prop_rows); i++)
		if (!strcmp(prop_rows[i].name, name))
			return &prop_rows[i];
	return NULL;
}

static int is_forbidden(const char *name)
{
	for (size_t i = 0; forbidden[i]; i++)
		if (!strcmp(forbidden[i], name))
			return 1;
	return str_starts(name, "share") || str_starts(name, "key") || strchr(name, ':') != NULL;
}

/* word[0..len): '#' matches 1 to 4 digits at the end */
static int word_matches(const char *word, size_t len, const char *value)
{
	if (word[len - 1] != '#')
		return strlen(value) == len && !strncmp(word, value, len);
	if (strncmp(word, value, len - 1))
		return 0;
	value += len - 1;
	return *value && strlen(value) <= 4 && strspn(value, "0123456789") == strlen(value);
}

static int value_is_listed(const char *words, const char *value)
{
	while (*words) {
		size_t len = strcspn(words, " ");

		if (word_matches(words, len, value))
			return 1;
		words += len + (words[len] == ' ');
	}
	return 0;
}

/* As zfs reads it: digits and K or M, always powers of 1024. */
static int parse_zfs_size(const char *s, int64_t *ret)
{
	struct err e;
	size_t digits = strspn(s, "0123456789");
	char number[16];
	int64_t unit = 1;

	if (digits == 0 || digits > 9 || strlen(s) > digits + 1)
		return -1;
	memcpy(number, s, digits);
	number[digits] = '\0';
	if (s[digits] == 'k' || s[digits] == 'K')
		unit = 1 << 10;
	else if (s[digits] == 'm' || s[digits] == 'M')
		unit = 1 << 20;
	else if (s[digits])
		return -1;
	if (units_parse_int(number, 0, INT32_MAX, ret, &e))
		return -1;
	*ret *= unit;
	return 0;
}

static void check_size(struct reading *r, const struct yaml_node *n, const char *path,
	const struct prop_row *row, const char *s)
{
	char text[SHOWN_LEN], min[UNITS_LEN], max[UNITS_LEN];
	int64_t v;

	if (parse_zfs_size(s, &v) || v < row->min || v > row->max || (v & (v - 1)))
		read_error(r, n, path, "'%s' must be a power of two from %s to %s, such as 128K",
			shown(s, text), units_size(row->min, min), units_size(row->max, max));
}

static void check_value(struct reading *r, const struct yaml_node *n, const char *path,
	const struct prop_row *row, const char *s)
{
	char text[SHOWN_LEN];
	int v;

	if (!row->values) {
		check_size(r, n, path, row, s);
		return;
	}
	if (value_is_listed(row->values, s))
		return;
	if (!strcmp(row->values, ON_OFF) && yaml_bool(n, &v) == 0)
		read_error(r, n, path, "'%s' must be on or off, as zfs spells it", shown(s, text));
	else
		read_error(r, n, path, "'%s' is not a value of '%s' (%s)", shown(s, text),
			row->name, row->values);
}

static void unknown_property(struct reading *r, const struct yaml_node *n, const char *path)
{
	const char *names[ARRAY_LEN(prop_rows) + 1] = {0};
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];

	for (size_t i = 0; i < ARRAY_LEN(prop_rows); i++)
		names[i] = prop_rows[i].name;
	if (!strcmp(n->key, "ashift"))
		read_error_key(r, n, path, "'ashift' stands beside properties, not in them");
	else if (is_forbidden(n->key))
		read_error_key(r, n, path,
			"'%s' is not for a plan to set: places, sharing, keys and execution stay "
			"with the agent",
			shown(n->key, text));
	else
		read_error_key(r, n, path, "'%s' is not a property that plans may set%s",
			shown(n->key, text), suggestion(n->key, names, near));
}

static void add_property(struct property **props, size_t *n, const char *name, const char *value)
{
	*props = xreallocarray(*props, *n + 1, sizeof(**props));
	(*props)[*n].name = xstrdup(name);
	(*props)[*n].value = xstrdup(value);
	(*n)++;
}

/* feature@name: enabled|disabled */
static int is_feature(const struct yaml_node *n)
{
	const char *name = n->key + strlen("feature@");

	return str_starts(n->key, "feature@") && *name && strlen(name) < 48 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static void read_property(struct reading *r, const struct yaml_node *n, const char *path,
	struct pool_stage *pool, struct dataset *dataset)
{
	static const struct prop_row feature = {"feature@…", PROP_POOL, "enabled disabled", 0, 0};
	const struct prop_row *row = is_feature(n) ? &feature : row_find(n->key);
	const char *value;

	if (!row) {
		unknown_property(r, n, path);
		return;
	}
	if (dataset && row->kind == PROP_POOL) {
		read_error_key(
			r, n, path, "'%s' is a property of the pool, not of a dataset", row->name);
		return;
	}
	value = read_scalar(r, n, path);
	if (!value)
		return;
	check_value(r, n, path, row, value);
	if (row->kind == PROP_POOL)
		add_property(&pool->pool_props, &pool->n_pool_props, n->key, value);
	else if (dataset)
		add_property(&dataset->props, &dataset->n_props, n->key, value);
	else
		add_property(&pool->props, &pool->n_props, n->key, value);
}

/* Into the dataset, or the pool's root when it is NULL. */
static void read_property_map(struct reading *r, const struct yaml_node *n, const char *path,
	struct pool_stage *pool, struct dataset *dataset)
{
	if (n->kind != YAML_MAP || n->n > PROPS_MAX) {
		read_error(r, n, path, "must be a map of at most %d properties", PROPS_MAX);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		char *child = read_child_path(path, n->items[i]->key);

		read_property(r, n->items[i], child, pool, dataset);
		free(child);
	}
}

void read_properties(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)arg;
	read_property_map(r, n, path, field, NULL);
}

void read_datasets(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct pool_stage *pool = field;

	(void)arg;
	if (n->kind != YAML_MAP || n->n == 0 || n->n > PLAN_MAX_DATASETS) {
		read_error(r, n, path, "must be a map of 1 to %d datasets with their properties",
			PLAN_MAX_DATASETS);
		return;
	}
	pool->datasets = xcalloc(n->n, sizeof(*pool->datasets));
	pool->n_datasets = n->n;
	for (size_t i = 0; i < n->n; i++) {
		char *child = read_child_path(path, n->items[i]->key);
		struct err e;

		pool->datasets[i].name = xstrdup(n->items[i]->key);
		if (plan_check_name(n->items[i]->key, "dataset", 0, &e))
			read_error_key(r, n->items[i], path, "%s", e.text);
		if (!yaml_is_null(n->items[i]))
			read_property_map(r, n->items[i], child, pool, &pool->datasets[i]);
		free(child);
	}
}
