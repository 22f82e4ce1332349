/*
 * Files of a stream trial. Owns the descriptors it opens. Invariant: every descriptor in a struct
 * stream_files was checked to lie on the volume's device, so no byte can go elsewhere.
 */
#include "agent/workload/stream_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/file_kind.h"
#include "common/base/mem.h"

static int check_device(const struct msg_worker_spec *spec, const char *name, int fd,
	struct stat *ret, struct err *e)
{
	if (fstat(fd, ret) < 0)
		return err_sys(e, "cannot look at '%s' in %s", name, spec->directory);
	if (ret->st_dev != spec->dev)
		return err_set(e, ERR_WRONG_STATE,
			"'%s' in %s lies on another device than the volume that was built: it is not "
			"mounted any more",
			name, spec->directory);
	return 0;
}

/* Non-blocking, so that a FIFO in a file's place cannot hold us; a regular file does not care. */
static int open_flags(const struct msg_worker_spec *spec)
{
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (spec->direct ? O_DIRECT : 0);

	switch (spec->op) {
	case OP_READ:
		return flags | O_RDONLY;
	case OP_REWRITE:
		return flags | O_WRONLY;
	case OP_WRITE:
		break;
	}
	return flags | O_WRONLY | O_CREAT | O_EXCL;
}

static int open_file(const struct msg_worker_spec *spec, int dir, struct stream_file *f,
	struct err *e)
{
	struct stat st;

	if (file_kind_check(dir, f->name, spec->directory, e) < 0)
		return -1;
	if (spec->op == OP_WRITE && unlinkat(dir, f->name, 0) < 0 && errno != ENOENT)
		return err_io(e, "cannot remove the old '%s' in %s", f->name, spec->directory);
	f->fd = openat(dir, f->name, open_flags(spec), 0644);
	if (f->fd < 0 && errno == EINVAL && spec->direct)
		return err_set(e, ERR_INPUT,
			"the file system of %s does not take direct I/O: use 'direct: false'",
			spec->directory);
	if (f->fd < 0)
		return err_io(e, "cannot open '%s' in %s", f->name, spec->directory);
	if (check_device(spec, f->name, f->fd, &st, e) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) /* put there a moment ago */
		return err_set(e, ERR_INPUT, "'%s' in %s is %s, not a regular file", f->name,
			spec->directory, file_kind_name(st.st_mode));
	if (spec->op != OP_WRITE && (uint64_t)st.st_size < f->size)
		return err_set(e, ERR_INPUT,
			"'%s' in %s has %lld bytes, %llu are to be read or rewritten: size must not be "
			"more than what was written",
			f->name, spec->directory, (long long)st.st_size,
			(unsigned long long)f->size);
	return 0;
}

/* Sizes are whole blocks but for the last file, which takes the rest. */
static void divide(const struct msg_worker_spec *spec, struct stream_files *f)
{
	uint64_t blocks = spec->size / spec->block_size;
	uint64_t rest = spec->size;

	for (unsigned i = 0; i < f->n; i++) {
		uint64_t share = blocks / f->n + (i < blocks % f->n ? 1 : 0);

		f->v[i].size = i + 1 < f->n ? share * spec->block_size : rest;
		rest -= f->v[i].size;
	}
}

int stream_files_open(const struct msg_worker_spec *spec, struct stream_files *ret, struct err *e)
{
	struct stream_files f = {.dir = -1};
	struct stat st;

	f.n = spec->files;
	f.v = xcalloc(f.n, sizeof(*f.v));
	for (unsigned i = 0; i < f.n; i++) {
		f.v[i].name = spec->names.v[i];
		f.v[i].fd = -1;
	}
	divide(spec, &f);
	f.dir = open(spec->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f.dir < 0) {
		err_sys(e, "cannot open the volume's directory %s", spec->directory);
		goto fail;
	}
	if (check_device(spec, ".", f.dir, &st, e) < 0)
		goto fail;
	for (unsigned i = 0; i < f.n; i++)
		if (open_file(spec, f.dir, &f.v[i], e) < 0)
			goto fail;
	*ret = f;
	return 0;
fail:
	stream_files_close(&f);
	return -1;
}

void stream_files_close(struct stream_files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->v[i].fd >= 0)
			close(f->v[i].fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f->v);
	*f = (struct stream_files){.dir = -1};
}

void stream_files_remove(const struct stream_files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		(void)unlinkat(f->dir, f->v[i].name, 0);
}

static void add_stretch(struct stretch **v, size_t *n, size_t *cap, unsigned file, uint64_t start,
	uint64_t end)
{
	if (start >= end)
		return;
	*v = xgrow(*v, *n, cap, sizeof(**v));
	(*v)[(*n)++] = (struct stretch){.file = file, .start = start, .end = end};
}

void stream_stretches(const struct stream_files *f, const struct msg_worker_spec *spec, unsigned t,
	struct stretch **ret, size_t *ret_n)
{
	size_t cap = 0;

	*ret = NULL;
	*ret_n = 0;
	if (f->n >= spec->threads) {
		for (unsigned i = t; i < f->n; i += spec->threads)
			add_stretch(ret, ret_n, &cap, i, 0, f->v[i].size);
		return;
	}
	unsigned file = t % f->n, place = t / f->n;
	unsigned sharers = (spec->threads - file + f->n - 1) / f->n;
	uint64_t blocks = (f->v[file].size + spec->block_size - 1) / spec->block_size;
	uint64_t start = blocks * place / sharers * spec->block_size;
	uint64_t end = blocks * (place + 1) / sharers * spec->block_size;

	if (end > f->v[file].size)
		end = f->v[file].size;
	add_stretch(ret, ret_n, &cap, file, start, end);
}

static int sync_each(const struct stream_files *f, const struct msg_worker_spec *spec,
	struct err *e)
{
	for (unsigned i = 0; i < f->n; i++)
		if (fsync(f->v[i].fd) < 0)
			return err_io(e, "fsync of '%s' in %s failed", f->v[i].name,
				spec->directory);
	return 0;
}

static int sync_volume(const struct stream_files *f, const struct msg_worker_spec *spec,
	struct err *e)
{
	if (spec->syncfs_works && syncfs(f->dir) < 0)
		return err_io(e, "syncfs of %s failed", spec->directory);
	if (!spec->syncfs_works && fsync(f->dir) < 0)
		return err_io(e, "fsync of the directory %s failed", spec->directory);
	return 0;
}

int stream_files_sync(const struct stream_files *f, const struct msg_worker_spec *spec,
	struct err *e)
{
	int files = spec->sync == SYNC_FILE || spec->sync == SYNC_ALL;

	if (spec->op == OP_READ || spec->sync == SYNC_NONE)
		return 0;
	/* A file system without a working syncfs keeps its promise only through the files. */
	if (spec->sync == SYNC_FILESYSTEM && !spec->syncfs_works)
		files = 1;
	if (files && sync_each(f, spec, e) < 0)
		return -1;
	return spec->sync == SYNC_FILE ? 0 : sync_volume(f, spec, e);
}
