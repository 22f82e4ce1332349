/*
 * Asking the kernel which pages of files are in memory: mincore() on a mapping, which brings none
 * in. Owns nothing beyond one call. A file that vanishes meanwhile is none. What files say of their
 * size is not believed: holes are passed over, and how much is asked has limits, per file and of a
 * whole folder.
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

#define STRETCH (256LL << 20) /* bytes that are mapped at a time, at most */
#define NEAR                                                                                       \
	(1LL << 20) /* bytes that are mapped at least: data this near each other share a window */
#define FILE_WINDOWS 16384    /* windows of one file */
#define ALL_WINDOWS (1 << 20) /* windows of all files */
#define ALL_BYTES (4LL << 40) /* bytes of all files */
#define BLOCK_BYTES 512       /* of st_blocks, see stat(2) */
#define OPEN_FOLDERS 16

struct walk {
	struct resident r;
	long windows;       /* that may still be asked about, of all files */
	off_t bytes;        /* likewise */
	unsigned char *vec; /* one byte per page of a stretch */
	size_t page;
};

static struct walk *counting; /* the walk under way: nftw passes nothing on */

static off_t less(off_t a, off_t b)
{
	return a < b ? a : b;
}

/* Adds to *pages what is in memory of one window. -1: it could not be asked about. */
static int add_window(struct walk *w, int fd, off_t at, off_t len, uint64_t *pages)
{
	void *map = mmap(NULL, (size_t)len, PROT_READ, MAP_SHARED, fd, at);
	int rc;

	if (map == MAP_FAILED)
		return -1;
	rc = mincore(map, (size_t)len, w->vec);
	for (size_t i = 0; rc == 0 && i < ((size_t)len + w->page - 1) / w->page; i++)
		*pages += w->vec[i] & 1;
	munmap(map, (size_t)len);
	return rc;
}

/* The next data at or after at, and its length up to the hole behind it; where the file system
 * cannot tell, all the rest of the file. 0: there is none. -1: the file could not be asked. */
static int next_data(int fd, off_t size, off_t *at, off_t *len)
{
	off_t data = lseek(fd, *at, SEEK_DATA), hole;

	if (data < 0 && errno == ENXIO)
		return 0;
	if (data < 0 && errno != EINVAL && errno != EOPNOTSUPP)
		return -1;
	if (data >= size)
		return 0;
	hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
	if (data >= 0)
		*at = data;
	*len = (hole > *at ? less(hole, size) : size) - *at;
	return 1;
}

/* Adds to *pages what is in memory. -1: some of the data could not be asked about, or was beyond a
 * limit. No more data is believed than the file has blocks for, rounded up to a stretch. */
static int add_pages(struct walk *w, int fd, const struct stat *st, uint64_t *pages)
{
	off_t blocks = (off_t)st->st_blocks / (STRETCH / BLOCK_BYTES) + 1;
	off_t left = blocks < st->st_size / STRETCH + 1 ? blocks * STRETCH : st->st_size;
	off_t at = 0, len;
	int windows = 0, rc = 0, found;

	while (at < st->st_size && (found = next_data(fd, st->st_size, &at, &len))) {
		if (found < 0 || left <= 0 || windows++ == FILE_WINDOWS || w->windows-- <= 0 ||
			w->bytes <= 0)
			return -1;
		at -= at % (off_t)w->page;
		len = less(len, STRETCH);
		left -= len;
		len = less(len < NEAR ? NEAR : len, st->st_size - at);
		w->bytes -= len;
		if (add_window(w, fd, at, len, pages))
			rc = -1;
		at += len;
	}
	return rc;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *at)
{
	struct resident *r = &counting->r;
	uint64_t pages = 0;
	int fd;

	(void)at;
	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOATIME);
	if (fd < 0) {
		r->unasked += errno != ENOENT;
		return 0;
	}
	if (add_pages(counting, fd, st, &pages))
		r->unasked++;
	else
		r->files++;
	close(fd);
	r->pages += pages;
	if (pages && !r->example)
		r->example = xstrdup(path);
	return 0;
}

int resident_read(const char *dir, struct resident *ret, struct err *e)
{
	struct walk w = {
		.windows = ALL_WINDOWS, .bytes = ALL_BYTES, .page = (size_t)sysconf(_SC_PAGESIZE)};
	int rc;

	w.vec = xmalloc(STRETCH / w.page + 1);
	counting = &w;
	rc = nftw(dir, visit, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT);
	counting = NULL;
	free(w.vec);
	if (rc < 0) {
		free(w.r.example);
		return err_sys(e, "cannot look at the files in %s", dir);
	}
	*ret = w.r;
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
			"%llu pages of files are in memory still, such as of %s: somebody else "
			"reads "
			"them",
			(unsigned long long)r.pages, r.example);
	else if (r.files)
		buf_addf(done, ", no page of %llu file%s in memory", (unsigned long long)r.files,
			r.files == 1 ? "" : "s");
	if (!r.pages && r.unasked)
		buf_addf(done, ", %llu file%s could not be asked about",
			(unsigned long long)r.unasked, r.unasked == 1 ? "" : "s");
	free(r.example);
	return status;
}
