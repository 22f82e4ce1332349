/*
 * Asking the kernel which pages of files are in memory: mincore() on a mapping, which brings none in.
 * Owns nothing beyond one call. A file that vanishes meanwhile is none.
 */
#include "agent/volume/resident.h"

#include "agent/volume/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"

#define STRETCH (256LL << 20) /* bytes that are mapped at a time */
#define OPEN_FOLDERS 16

static struct resident *counting; /* of the walk under way: nftw passes nothing on */

/* Adds to *pages what is in memory. -1: some stretch could not be asked about. */
static int add_pages(int fd, off_t size, size_t page, uint64_t *pages)
{
	unsigned char *vec = xmalloc(STRETCH / page + 1);
	int rc = 0;

	for (off_t at = 0; at < size; at += STRETCH) {
		size_t len = size - at < STRETCH ? (size_t)(size - at) : (size_t)STRETCH;
		void *map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, at);

		if (map == MAP_FAILED) {
			rc = -1;
			continue;
		}
		if (mincore(map, len, vec) == 0)
			for (size_t i = 0; i < (len + page - 1) / page; i++)
				*pages += vec[i] & 1;
		else
			rc = -1;
		munmap(map, len);
	}
	free(vec);
	return rc;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	uint64_t pages = 0;
	int fd;

	(void)at;
	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME);
	if (fd < 0) {
		counting->unasked += errno != ENOENT;
		return 0;
	}
	if (add_pages(fd, st->st_size, (size_t)sysconf(_SC_PAGESIZE), &pages))
		counting->unasked++;
	else
		counting->files++;
	close(fd);
	counting->pages += pages;
	if (pages && !counting->example)
		counting->example = xstrdup(path);
	return 0;
}

int resident_read(const char *dir, struct resident *ret, struct err *e)
{
	struct resident r = {0};

	counting = &r;
	if (nftw(dir, visit, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT) < 0)
		return err_sys(e, "cannot look at the files in %s", dir);
	counting = NULL;
	*ret = r;
	return 0;
}

int volume_check_cold(const struct volume *v, struct buf *done, struct err *e)
{
	struct resident r;
	int status = 0;

	if (resident_read(v->directory, &r, e))
		return -1;
	if (r.pages)
		status = err_set(e, ERR_WRONG_STATE,
			"%llu pages of files are in memory still, such as of %s: somebody else reads "
			"them",
			(unsigned long long)r.pages, r.example);
	else if (r.files)
		buf_addf(done, ", no page of %llu file%s in memory", (unsigned long long)r.files,
			r.files == 1 ? "" : "s");
	if (!r.pages && r.unasked)
		buf_addf(done, ", %llu file%s could not be asked about", (unsigned long long)r.unasked,
			r.unasked == 1 ? "" : "s");
	free(r.example);
	return status;
}
