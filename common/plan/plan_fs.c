/* Reading `filesystem`: xfs or ext4 on one disk. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

static const struct word type_words[] = {
	{"xfs", FS_XFS, NULL},
	{"ext4", FS_EXT4, NULL},
	{"btrfs", FS_BTRFS, "use xfs or ext4"},
};
static const struct word_list type_list = WORD_LIST("a file system", type_words);

/* Items of a list, and the words between blanks within each. */
static void read_words(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv items = {0}, *words = field;

	read_list(r, n, path, &items, arg);
	for (size_t i = 0; i < items.n; i++) {
		char *save = NULL;

		for (char *w = strtok_r(items.v[i], " \t", &save); w;
			w = strtok_r(NULL, " \t", &save))
			strv_add(words, w);
	}
	strv_free(&items);
}

/* As mount writes them: a list, or one text with commas. */
static void read_mount(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv items = {0}, *options = field;

	read_list(r, n, path, &items, arg);
	for (size_t i = 0; i < items.n; i++) {
		char *save = NULL;

		for (char *w = strtok_r(items.v[i], ",", &save); w; w = strtok_r(NULL, ",", &save))
			strv_add(options, w);
	}
	strv_free(&items);
}

static const struct key_row fs_rows[] = {
	{"type", read_word, offsetof(struct fs_stage, type), &type_list, "xfs or ext4"},
	{"disks", read_disks, offsetof(struct fs_stage, disks), NULL, NULL},
	{"options", read_words, offsetof(struct fs_stage, options), NULL, NULL},
	{"mount", read_mount, offsetof(struct fs_stage, mount), NULL, NULL},
};
static const struct key_table fs_table = KEY_TABLE("filesystem", fs_rows);

void read_filesystem(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct fs_stage *fs = xcalloc(1, sizeof(*fs));
	const struct yaml_node *disks;
	int open;

	(void)arg;
	*(struct fs_stage **)field = fs;
	if (read_map(r, n, path, &fs_table, fs))
		return;
	disks = yaml_get(n, "disks");
	if (disks && fs->disks.n && (disk_set_count(&fs->disks, &open) != 1 || open))
		read_error(r, disks, path,
			"a file system stands on exactly one disk in this version: disks: 1, one "
			"id, or a selector with count: 1");
	plan_check_fs_options(r, n, path, fs);
	plan_check_mount_options(r, n, path, fs);
}
