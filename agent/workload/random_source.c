/* Where the blocks come from that are read to be verified: the disks, or memory. Owns nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent/workload/random_files.h"
#include "common/base/mem.h"

#define STRETCH (64ULL << 20) /* bytes that are asked about at a time */

/* File systems that hold data in memory beside the page cache, or nowhere else. */
static const struct {
	unsigned magic; /* f_type of statfs(2) */
	const char *text;
} keepers[] = {
	{0x2fc12fc1, "ZFS keeps data in its ARC, which cannot be emptied of one file"},
	{0x65735546, "FUSE leads to a process with caches of its own, such as zfs-fuse's ARC"},
	{0x01021994, "tmpfs keeps all its data there"},
};

static const char *keeper_of(const struct random_files *f)
{
	struct statfs s;

	if (fstatfs(f->dir, &s))
		return "its file system is not known";
	for (size_t i = 0; i < ARRAY_LEN(keepers); i++)
		if ((unsigned)s.f_type == keepers[i].magic)
			return keepers[i].text;
	return NULL;
}

/* Adds the pages of a file that are in memory. -1: the kernel does not tell. */
static int add_pages(int fd, uint64_t *pages)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char *vec = xmalloc(STRETCH / page);
	struct stat st;
	int rc = fstat(fd, &st);

	for (uint64_t at = 0; rc == 0 && at < (uint64_t)st.st_size; at += STRETCH) {
		uint64_t left = (uint64_t)st.st_size - at, len = left < STRETCH ? left : STRETCH;
		void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)at);

		rc = map == MAP_FAILED ? -1 : mincore(map, len, vec);
		for (uint64_t i = 0; rc == 0 && i < (len + page - 1) / page; i++)
			*pages += vec[i] & 1;
		if (map != MAP_FAILED)
			munmap(map, len);
	}
	free(vec);
	return rc;
}

int random_files_source(const struct random_files *f, struct buf *text)
{
	const char *keeper = keeper_of(f);
	uint64_t pages = 0;

	if (keeper) {
		buf_addf(text, "perhaps from memory: %s", keeper);
		return 0;
	}
	for (unsigned i = 0; i < f->n; i++)
		if (add_pages(f->fd[i], &pages)) {
			buf_adds(text, "perhaps from memory: the kernel does not tell what is there");
			return 0;
		}
	if (pages)
		buf_addf(text, "partly from memory: %llu pages of the files stayed there, somebody else "
			       "has them in use",
			(unsigned long long)pages);
	else
		buf_adds(text, "from the disks: no page of the files was in memory");
	return pages == 0;
}
