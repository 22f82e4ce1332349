/*
 * aiowrite and aiowait, over the C library's asynchronous I/O. A thread owns its requests. Invariant:
 * none is freed, and no descriptor is closed, while it is under way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/workload/filebench.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define OUTSTANDING_MAX 4096

static struct fb_aio *request(struct fb_thread *t)
{
	struct fb_aio *a = t->aio_spare;

	if (a)
		t->aio_spare = a->next;
	else
		a = xmalloc(sizeof(*a));
	memset(a, 0, sizeof(*a));
	return a;
}

static void give_back(struct fb_thread *t, struct fb_aio *a)
{
	a->next = t->aio_spare;
	t->aio_spare = a;
}

enum fb_outcome fb_aiowrite(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t len = (uint64_t)wml_draw(&op->def->iosize, &t->random);
	enum fb_outcome rc;
	struct fb_fd *fd;
	struct fb_aio *a;
	int64_t at;

	while (t->n_aio >= OUTSTANDING_MAX) {
		rc = fb_aiowait(t, op);
		if (rc != FB_OK)
			return rc;
	}
	rc = fb_fd_setup(t, op, &fd);
	if (rc != FB_OK)
		return rc;
	if (len > FB_PIECE_BYTES)
		len = FB_PIECE_BYTES;
	at = fb_random_offset(t, op, fd, len);
	if (at < 0)
		return fb_fail_at(t, op, "iosize %llu is larger than the file", (unsigned long long)len);
	a = request(t);
	a->set = fd->set;
	a->file = fd->file;
	a->cb.aio_fildes = fd->fd;
	a->cb.aio_buf = (void *)fb_source(t, op, len);
	a->cb.aio_nbytes = len;
	a->cb.aio_offset = at;
	fb_begin(t);
	if (aio_write(&a->cb) < 0) {
		give_back(t, a);
		return fb_fail(t, op, "starting a write");
	}
	fb_end(t, op, len);
	a->next = t->aio;
	t->aio = a;
	t->n_aio++;
	return FB_OK;
}

/* Takes what is done off the list. Returns how many, or -1 and *ret_bad. */
static int reap(struct fb_thread *t, const struct fb_aio **ret_bad)
{
	struct fb_aio **at = &t->aio;
	int n = 0;

	*ret_bad = NULL;
	while (*at) {
		struct fb_aio *a = *at;
		int status = aio_error(&a->cb);

		if (status == EINPROGRESS) {
			at = &a->next;
			continue;
		}
		*at = a->next;
		t->n_aio--;
		n++;
		if (aio_return(&a->cb) != (ssize_t)a->cb.aio_nbytes && !*ret_bad) {
			*ret_bad = a;
			errno = status ? status : ENOSPC;
		}
		give_back(t, a);
	}
	return *ret_bad ? -1 : n;
}

/* Some milliseconds, or until one is done. */
static void wait_some(const struct fb_thread *t)
{
	const struct aiocb *list[64];
	struct timespec most = {.tv_nsec = 50 * NS_PER_MS};
	int n = 0;

	for (const struct fb_aio *a = t->aio; a && n < 64; a = a->next)
		list[n++] = &a->cb;
	if (n)
		aio_suspend(list, n, &most);
}

/* Until half of those under way are done, at least one. */
enum fb_outcome fb_aiowait(struct fb_thread *t, const struct fb_op *op)
{
	int todo = t->n_aio > 1 ? (int)(t->n_aio / 2) : (int)t->n_aio, n;
	const struct fb_aio *bad;
	char shown[FB_PATH_MAX];

	fb_begin(t);
	for (;;) {
		n = reap(t, &bad);
		if (n < 0) {
			const struct fb_set *s = &t->run->sets[bad->set];

			return fb_fail(t, op, "writing '%s' at byte %lld",
				fb_shown(s, &s->files.v[bad->file], shown),
				(long long)bad->cb.aio_offset);
		}
		todo -= n;
		if (todo <= 0 || fb_stopping(t->run))
			break;
		wait_some(t);
	}
	fb_end(t, op, 0);
	return FB_OK;
}

void fb_aio_drain(struct fb_thread *t)
{
	const struct fb_aio *bad;

	while (t->aio) {
		wait_some(t);
		reap(t, &bad);
	}
}

void fb_aio_clear(struct fb_thread *t)
{
	while (t->aio_spare) {
		struct fb_aio *a = t->aio_spare;

		t->aio_spare = a->next;
		free(a);
	}
}
