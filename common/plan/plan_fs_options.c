/*
 * Options of mkfs and mount that a plan may give: allow-lists. What names other devices, files or
 * labels, or would pass a check of ours (force), is not in them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

struct mkfs_row {
	enum fs_type type;
	const char *flag;
	const char *subs; /* names before '=', blanks between; "" any word; NULL takes no value */
};
static const struct mkfs_row mkfs_rows[] = {
	{FS_XFS, "-b", "size"},
	{FS_XFS, "-d", "agcount agsize su sw sunit swidth cowextsize"},
	{FS_XFS, "-i", "size maxpct sparse nrext64"},
	{FS_XFS, "-K", NULL},
	{FS_XFS, "-l", "size su sunit lazy-count version"},
	{FS_XFS, "-m", "crc finobt reflink rmapbt bigtime inobtcount"},
	{FS_XFS, "-n", "size version ftype"},
	{FS_XFS, "-s", "size"},
	{FS_EXT4, "-b", ""},
	{FS_EXT4, "-C", ""},
	{FS_EXT4, "-E",
		"stride stripe_width stripe-width packed_meta_blocks num_backup_sb "
		"discard nodiscard"},
	{FS_EXT4, "-G", ""},
	{FS_EXT4, "-g", ""},
	{FS_EXT4, "-I", ""},
	{FS_EXT4, "-i", ""},
	{FS_EXT4, "-J", "size fast_commit_size"},
	{FS_EXT4, "-m", ""},
	{FS_EXT4, "-N", ""},
	{FS_EXT4, "-O", ""},
	{FS_EXT4, "-T", ""},
};

struct mount_row {
	const char *name; /* with '=' at the end: takes a value */
	unsigned types;   /* bit of enum fs_type */
};
#define ON_XFS (1u << FS_XFS)
#define ON_EXT4 (1u << FS_EXT4)
#define ON_ALL (ON_XFS | ON_EXT4)
static const struct mount_row mount_rows[] = {
	{"noatime", ON_ALL},
	{"relatime", ON_ALL},
	{"strictatime", ON_ALL},
	{"nodiratime", ON_ALL},
	{"lazytime", ON_ALL},
	{"nolazytime", ON_ALL},
	{"discard", ON_ALL},
	{"nodiscard", ON_ALL},
	{"allocsize=", ON_XFS},
	{"inode32", ON_XFS},
	{"inode64", ON_XFS},
	{"largeio", ON_XFS},
	{"nolargeio", ON_XFS},
	{"logbsize=", ON_XFS},
	{"logbufs=", ON_XFS},
	{"noalign", ON_XFS},
	{"sunit=", ON_XFS},
	{"swalloc", ON_XFS},
	{"swidth=", ON_XFS},
	{"wsync", ON_XFS},
	{"auto_da_alloc", ON_EXT4},
	{"barrier=", ON_EXT4},
	{"commit=", ON_EXT4},
	{"data=", ON_EXT4},
	{"delalloc", ON_EXT4},
	{"dioread_nolock", ON_EXT4},
	{"dioread_lock", ON_EXT4},
	{"inode_readahead_blks=", ON_EXT4},
	{"journal_async_commit", ON_EXT4},
	{"journal_checksum", ON_EXT4},
	{"max_batch_time=", ON_EXT4},
	{"min_batch_time=", ON_EXT4},
	{"noauto_da_alloc", ON_EXT4},
	{"nobarrier", ON_EXT4},
	{"nodelalloc", ON_EXT4},
	{"stripe=", ON_EXT4},
};

static int value_is_plain(const char *s)
{
	static const char chars[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._^,-";

	return *s && *s != '-' && strlen(s) <= 128 && strspn(s, chars) == strlen(s);
}

/* name[0..len) is one of the words */
static int is_listed(const char *words, const char *name, size_t len)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (n == len && !strncmp(words, name, len))
			return 1;
		words += n + (words[n] == ' ');
	}
	return 0;
}

static const struct mkfs_row *mkfs_find(enum fs_type type, const char *flag)
{
	for (size_t i = 0; i < ARRAY_LEN(mkfs_rows); i++)
		if (mkfs_rows[i].type == type && !strcmp(mkfs_rows[i].flag, flag))
			return &mkfs_rows[i];
	return NULL;
}

static void check_subs(struct reading *r, const struct yaml_node *n, const char *path,
	const struct mkfs_row *row, const char *value)
{
	char text[SHOWN_LEN];

	while (*value) {
		size_t len = strcspn(value, ","), name = strcspn(value, "=,");
		char *one = xstrndup(value, len);

		if (!is_listed(row->subs, one, name))
			read_error(r, n, path,
				"mkfs %s %s is not an option that plans may give (%s)", row->flag,
				shown(one, text), row->subs);
		else if (one[name] == '=' && !value_is_plain(one + name + 1))
			read_error(r, n, path, "mkfs %s %s: not a plain value", row->flag,
				shown(one, text));
		free(one);
		value += len + (value[len] == ',');
	}
}

static void check_mkfs_value(struct reading *r, const struct yaml_node *n, const char *path,
	const struct mkfs_row *row, const char *value)
{
	char text[SHOWN_LEN];

	if (*row->subs)
		check_subs(r, n, path, row, value);
	else if (!value_is_plain(value))
		read_error(r, n, path, "mkfs %s '%s': not a plain value", row->flag,
			shown(value, text));
}

void plan_check_fs_options(struct reading *r, const struct yaml_node *stage, const char *path,
	const struct fs_stage *fs)
{
	const struct yaml_node *n = yaml_get(stage, "options");
	char *child = read_child_path(path, "options"), text[SHOWN_LEN];

	for (size_t i = 0; i < fs->options.n; i++) {
		const char *flag = fs->options.v[i];
		const struct mkfs_row *row = mkfs_find(fs->type, flag);

		if (!row) {
			read_error(r, n, child,
				"'%s' is not an option of mkfs.%s that plans may give, as in "
				"[\"%s\"]",
				shown(flag, text), fs_type_name(fs->type),
				fs->type == FS_XFS ? "-i size=512" : "-m 0");
			break;
		}
		if (!row->subs)
			continue;
		if (++i == fs->options.n) {
			read_error(r, n, child, "mkfs %s wants a value", flag);
			break;
		}
		check_mkfs_value(r, n, child, row, fs->options.v[i]);
	}
	free(child);
}

/* The row whose name is the option, or the part of it up to '='. */
static const struct mount_row *mount_find(const char *option)
{
	size_t len = strcspn(option, "=");

	len += option[len] == '=';
	for (size_t i = 0; i < ARRAY_LEN(mount_rows); i++)
		if (strlen(mount_rows[i].name) == len && !strncmp(mount_rows[i].name, option, len))
			return &mount_rows[i];
	return NULL;
}

void plan_check_mount_options(struct reading *r, const struct yaml_node *stage, const char *path,
	const struct fs_stage *fs)
{
	const struct yaml_node *n = yaml_get(stage, "mount");
	char *child = read_child_path(path, "mount"), text[SHOWN_LEN];

	for (size_t i = 0; i < fs->mount.n; i++) {
		const char *o = fs->mount.v[i];
		const struct mount_row *row = mount_find(o);
		const char *value = strchr(o, '=');

		if (!row)
			read_error(r, n, child, "'%s' is not a mount option that plans may give",
				shown(o, text));
		else if (!(row->types & (1u << fs->type)))
			read_error(r, n, child, "'%s' is not a mount option of %s", shown(o, text),
				fs_type_name(fs->type));
		else if (value && !value_is_plain(value + 1))
			read_error(r, n, child, "'%s': not a plain value", shown(o, text));
		for (size_t j = 0; j < i; j++)
			if (!strcmp(fs->mount.v[j], o))
				read_error(r, n, child, "'%s' is there twice", shown(o, text));
	}
	free(child);
}
