/* The mounts of this process' namespace, from /proc/self/mountinfo. Reading it touches no volume. */
#ifndef AGENT_VOLUME_MOUNTS_H
#define AGENT_VOLUME_MOUNTS_H

#include <stddef.h>
#include <sys/types.h>

#include "common/base/err.h"

struct mount_entry {
	dev_t dev;
	char *root;    /* the part of the file system that is seen: "/" unless it is a bind mount */
	char *point;   /* unescaped, as the other texts */
	char *options; /* of the mount */
	char *type;
	char *source;
	char *super_options;
};
struct mounts {
	struct mount_entry *v; /* in the order in which they were made: a later one hides an earlier */
	size_t n;
};

int mounts_read(struct mounts *ret, struct err *e);
/* text in mountinfo's format; lines that are not in it are left out. */
void mounts_parse(const char *text, struct mounts *ret);
void mounts_free(struct mounts *m);
/* What is mounted at exactly this path (the topmost), or NULL. */
const struct mount_entry *mounts_at(const struct mounts *m, const char *point);
/* The mount that an absolute path without symlinks lies in, or NULL. */
const struct mount_entry *mounts_around(const struct mounts *m, const char *path);

#endif
