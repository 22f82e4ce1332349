/*
 * Flowops that read and write. A whole read or write is one operation, however many pieces it takes.
 * A read that brings less than was asked for has met the end of the file: nobody reads once more to
 * see it.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/workload/filebench.h"

/* What is written comes from one store of fresh bytes, from another place each time. */
const char *fb_source(struct fb_thread *t, const struct fb_op *op, size_t len)
{
	uint64_t step = op->def->direct || t->run->w->data == DATA_COMPRESSIBLE ? 4096 : 64;
	uint64_t places = (FB_SOURCE_BYTES - len) / step + 1;

	return t->run->source + wml_random_below(&t->random, places) * step;
}

static size_t piece(uint64_t left)
{
	return left < FB_PIECE_BYTES ? (size_t)left : FB_PIECE_BYTES;
}

static enum fb_outcome fail_io(struct fb_thread *t, const struct fb_op *op, const struct fb_fd *fd,
	const char *verb, uint64_t at)
{
	const struct fb_set *s = &t->run->sets[fd->set];
	char shown[FB_PATH_MAX];

	return fb_fail(t, op, "%s '%s' at byte %llu", verb, fb_shown(s, &s->files.v[fd->file], shown),
		(unsigned long long)at);
}

int64_t fb_random_offset(struct fb_thread *t, const struct fb_op *op, const struct fb_fd *fd,
	uint64_t len)
{
	uint64_t size = op->def->working_set ? (uint64_t)op->def->working_set
					     : t->run->sets[fd->set].files.v[fd->file].size;

	if (len == 0 || len > size)
		return -1;
	return (int64_t)(wml_random_below(&t->random, size / len) * len);
}

/* The bytes at `at`; *ret is less than len only at the end of the file. */
static int read_at(struct fb_thread *t, int fd, uint64_t at, uint64_t len, uint64_t *ret)
{
	uint64_t done = 0;

	while (done < len) {
		size_t want = piece(len - done);
		ssize_t n = pread(fd, t->buffer, want, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		*ret = done;
		if (n < 0)
			return -1;
		done += (uint64_t)n;
		if ((size_t)n < want)
			break;
	}
	*ret = done;
	return 0;
}

/* At `at`, or behind the end (RWF_APPEND, which takes no notice of the offset). */
static ssize_t write_piece(int fd, const char *from, size_t len, uint64_t at, int append)
{
	struct iovec v = {.iov_base = (char *)from, .iov_len = len};
	ssize_t n;

	if (!append)
		return pwrite(fd, from, len, (off_t)at);
	n = pwritev2(fd, &v, 1, 0, RWF_APPEND);
	if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
		return n;
	return lseek(fd, 0, SEEK_END) < 0 ? -1 : write(fd, from, len);
}

static int write_at(struct fb_thread *t, const struct fb_op *op, int fd, uint64_t at, uint64_t len,
	int append, uint64_t *ret)
{
	*ret = 0;
	while (*ret < len) {
		size_t want = piece(len - *ret);
		ssize_t n = write_piece(fd, fb_source(t, op, want), want, at + *ret, append);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		*ret += (uint64_t)n;
	}
	return 0;
}

/* Where a read or write goes; -1 after saying that the file is too small. */
static int64_t place(struct fb_thread *t, const struct fb_op *op, const struct fb_fd *fd, uint64_t len)
{
	int64_t at = op->def->random ? fb_random_offset(t, op, fd, len) : (int64_t)fd->at;

	if (at < 0)
		(void)fb_fail_at(t, op, "iosize %llu is larger than the file", (unsigned long long)len);
	return at;
}

enum fb_outcome fb_read(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t len = (uint64_t)wml_draw(&op->def->iosize, &t->random), got;
	struct fb_fd *fd;
	enum fb_outcome rc = fb_fd_setup(t, op, &fd);
	int64_t at;

	if (rc != FB_OK)
		return rc;
	at = place(t, op, fd, len);
	if (at < 0)
		return FB_FAILED;
	fb_begin(t);
	if (read_at(t, fd->fd, (uint64_t)at, len, &got) < 0)
		return fail_io(t, op, fd, "reading", (uint64_t)at + got);
	fb_end(t, op, got);
	if (!op->def->random)
		fd->at = got < len ? 0 : fd->at + got; /* and from the start again */
	return FB_OK;
}

enum fb_outcome fb_readwholefile(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t len = (uint64_t)wml_draw(&op->def->iosize, &t->random), at = 0, got;
	struct fb_fd *fd;
	enum fb_outcome rc = fb_fd_setup(t, op, &fd);

	if (rc != FB_OK)
		return rc;
	if (len == 0 || len > FB_PIECE_BYTES)
		len = FB_PIECE_BYTES; /* 0: as much as possible at once */
	fb_begin(t);
	do {
		if (read_at(t, fd->fd, at, len, &got) < 0)
			return fail_io(t, op, fd, "reading", at + got);
		at += got;
	} while (got == len);
	fb_end(t, op, at);
	return FB_OK;
}

enum fb_outcome fb_write(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t len = (uint64_t)wml_draw(&op->def->iosize, &t->random), done;
	struct fb_fd *fd;
	enum fb_outcome rc = fb_fd_setup(t, op, &fd);
	int64_t at;

	if (rc != FB_OK)
		return rc;
	at = place(t, op, fd, len);
	if (at < 0)
		return FB_FAILED;
	fb_begin(t);
	if (write_at(t, op, fd->fd, (uint64_t)at, len, 0, &done) < 0)
		return fail_io(t, op, fd, "writing", (uint64_t)at + done);
	fb_end(t, op, done);
	if (!op->def->random)
		fd->at += done;
	return FB_OK;
}

/* As many bytes as the file at srcfd was made with, or as this one was. */
enum fb_outcome fb_writewholefile(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t step = (uint64_t)wml_draw(&op->def->iosize, &t->random), size, at = 0;
	const struct fb_fd *from;
	struct fb_fd *fd;
	enum fb_outcome rc = fb_fd_setup(t, op, &fd);

	if (rc != FB_OK)
		return rc;
	from = op->def->srcfd > 0 ? &t->fds[op->def->srcfd] : fd;
	if (from->set < 0)
		return fb_fail_at(t, op, "srcfd %d never had a file", op->def->srcfd);
	size = t->run->sets[from->set].files.v[from->file].size;
	if (step == 0)
		step = size;
	fb_begin(t);
	while (at < size) {
		uint64_t len = size - at < step ? size - at : step, done;

		if (write_at(t, op, fd->fd, at, len, 0, &done) < 0)
			return fail_io(t, op, fd, "writing", at + done);
		at += done;
	}
	fb_end(t, op, at);
	return FB_OK;
}

static enum fb_outcome append(struct fb_thread *t, const struct fb_op *op, uint64_t len)
{
	struct fb_fd *fd;
	enum fb_outcome rc = fb_fd_setup(t, op, &fd);
	uint64_t done = 0;

	if (rc != FB_OK)
		return rc;
	fb_begin(t);
	if (write_at(t, op, fd->fd, 0, len, 1, &done) < 0) {
		int saved = errno;
		off_t end = lseek(fd->fd, 0, SEEK_END);

		errno = saved;
		return fail_io(t, op, fd, "appending to", end < 0 ? 0 : (uint64_t)end);
	}
	fb_end(t, op, done);
	return FB_OK;
}

enum fb_outcome fb_appendfile(struct fb_thread *t, const struct fb_op *op)
{
	return append(t, op, (uint64_t)wml_draw(&op->def->iosize, &t->random));
}

/* 0 … iosize - 1 bytes, each as likely. */
enum fb_outcome fb_appendfilerand(struct fb_thread *t, const struct fb_op *op)
{
	uint64_t most = (uint64_t)wml_draw(&op->def->iosize, &t->random);

	return append(t, op, wml_random_below(&t->random, most));
}
