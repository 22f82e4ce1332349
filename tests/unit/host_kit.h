/* A made-up host: a folder with files of /proc and /sys, as the kernel writes them. */
#ifndef TESTS_UNIT_HOST_KIT_H
#define TESTS_UNIT_HOST_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "tests/unit/test.h"

struct host {
	char root[64];
};

static inline void host_new(struct host *h)
{
	snprintf(h->root, sizeof(h->root), "/tmp/test-host-XXXXXX");
	assert_non_null(mkdtemp(h->root));
}

static inline void host_free(struct host *h)
{
	struct err e;

	assert_ok(fs_remove_tree(h->root, &e), e);
}

/* path begins with '/'; what is there is written anew. */
static inline void host_file(const struct host *h, const char *path, const char *text)
{
	char *whole = xasprintf("%s%s", h->root, path), *folder = xstrdup(whole);
	struct err e;
	FILE *f;

	*strrchr(folder, '/') = '\0';
	assert_ok(fs_mkdir_p(folder, 0755, &e), e);
	f = fopen(whole, "we");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	free(whole);
	free(folder);
}

/* A relative link, as those of /sys/class. */
static inline void host_link(const struct host *h, const char *path, const char *to)
{
	char *whole = xasprintf("%s%s", h->root, path), *folder = xstrdup(whole);
	struct err e;

	*strrchr(folder, '/') = '\0';
	assert_ok(fs_mkdir_p(folder, 0755, &e), e);
	assert_int_equal(symlink(to, whole), 0);
	free(whole);
	free(folder);
}

/* Sectors and milliseconds, as in /sys/block/sda/stat. */
static inline void host_disk(const struct host *h, const char *name, unsigned reads,
	unsigned read_sectors, unsigned writes, unsigned write_sectors, unsigned busy_ms)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "/sys/class/block/%s/stat", name);
	snprintf(text, sizeof(text),
		"%8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u %8u\n", reads, 5,
		read_sectors, 2 * busy_ms, writes, 6, write_sectors, 3 * busy_ms, 0, busy_ms,
		5 * busy_ms, 0, 0, 0, 0, 0, 0);
	host_file(h, path, text);
}

#define HOST_MEMINFO                                                                               \
	"MemTotal:       16303428 kB\nMemFree:         1024 kB\nMemAvailable:   14000000 kB\n"     \
	"Buffers:              8 kB\nCached:             16 kB\nSwapCached:            0 kB\n"     \
	"Dirty:               32 kB\nWriteback:            4 kB\nAnonPages:       1000 kB\n"       \
	"WritebackTmp:         7 kB\n"

#endif
