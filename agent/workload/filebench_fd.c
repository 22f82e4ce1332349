/*
 * Flowops on names and descriptors: open, create, close, delete, stat, fsync, folders. Each is one
 * system call, and that call is what is timed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/filebench.h"

struct fb_fd *fb_fd_slot(struct fb_thread *t, const struct fb_op *op)
{
	const struct wml_op *d = op->def;
	unsigned most;

	if (d->fd > 0)
		return &t->fds[d->fd];
	if (d->set >= 0 && !d->next_fd)
		t->fd_last = WML_MAX_FDS + (unsigned)d->set;
	if (d->set < 0 || !d->next_fd)
		return &t->fds[t->fd_last];
	/* One descriptor a file is enough to go round all of them. */
	most = t->run->sets[d->set].files.n < WML_MAX_FDS ? (unsigned)t->run->sets[d->set].files.n
							  : WML_MAX_FDS;
	if (most == 0) /* nothing to open in it: the reader lets no such flowop pass */
		return &t->fds[t->fd_last];
	t->fd_rotor = t->fd_rotor == 0 || t->fd_rotor > most ? most - 1 : t->fd_rotor - 1;
	t->fd_last = t->fd_rotor;
	return &t->fds[t->fd_rotor];
}

void fb_fd_close(struct fb_thread *t, struct fb_fd *fd)
{
	close(fd->fd);
	fd->fd = -1;
	if (fd->counted)
		atomic_fetch_sub_explicit(&t->run->sets[fd->set].files.v[fd->file].open, 1,
			memory_order_relaxed);
	fd->counted = 0;
}

static int open_flags(const struct fb_set *s, const struct wml_op *d)
{
	int flags = O_CLOEXEC | O_NOFOLLOW;

	flags |= s->def->read_only ? O_RDONLY : s->def->write_only ? O_WRONLY : O_RDWR;
	return flags | (d->dsync ? O_SYNC : 0) | (d->direct ? O_DIRECT : 0);
}

static uint64_t pick(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	double x;

	if (op->def->has_index) {
		x = op->def->index.dist ? wml_dist_draw(op->def->index.dist, &t->random)
					: (double)op->def->index.fixed;
		if (op->def->index.dist && op->def->index.dist->relative)
			x *= (double)s->files.n / 2;
		return fb_pick_from(&s->files, x > 0 && x < 1e15 ? (uint64_t)x : 0);
	}
	return fb_pick(&s->files, op->def->next_fd ? &t->rotors[op->def->set] : NULL);
}

static void opened(struct fb_thread *t, struct fb_fd *fd, const struct fb_op *op, uint64_t file, int n)
{
	fd->fd = n;
	fd->set = op->def->set;
	fd->file = file;
	fd->at = 0;
	fd->counted = 1;
	atomic_fetch_add_explicit(&t->run->sets[fd->set].files.v[file].open, 1, memory_order_relaxed);
	if (op->def->no_readahead)
		posix_fadvise(n, 0, 0, POSIX_FADV_RANDOM);
}

/* Opens one that exists. One that another thread deletes meanwhile is passed over. */
static enum fb_outcome open_any(struct fb_thread *t, const struct fb_op *op, struct fb_fd *fd)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	char path[FB_PATH_MAX];
	int flags = open_flags(s, op->def);

	for (;;) {
		uint64_t file = pick(t, op);
		int n;

		if (file == FB_NONE)
			return FB_NOTHING;
		fb_path(s, &s->files.v[file], path);
		fb_begin(t);
		n = openat(s->fd, path, flags);
		if (n >= 0) {
			opened(t, fd, op, file, n);
			return FB_OK;
		}
		if (errno != ENOENT)
			return fb_fail(t, op, "cannot open '%s/%s'", s->path, path);
		if (fb_stopping(t->run))
			return FB_NOTHING;
	}
}

enum fb_outcome fb_fd_setup(struct fb_thread *t, const struct fb_op *op, struct fb_fd **ret)
{
	struct fb_fd *fd = fb_fd_slot(t, op);

	*ret = fd;
	if (fd->fd >= 0)
		return FB_OK;
	if (op->def->set < 0)
		return fb_fail_at(t, op, "fd %d is not open", op->def->fd);
	return open_any(t, op, fd);
}

static enum fb_outcome free_slot(struct fb_thread *t, const struct fb_op *op, struct fb_fd **ret)
{
	struct fb_fd *fd = fb_fd_slot(t, op);

	*ret = fd;
	if (fd->fd < 0)
		return FB_OK;
	if (!op->def->next_fd)
		return fb_fail_at(t, op, "fd %d is open already: close it first", op->def->fd);
	fb_fd_close(t, fd);
	return FB_OK;
}

enum fb_outcome fb_openfile(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_fd *fd;
	enum fb_outcome rc = free_slot(t, op, &fd);

	if (rc == FB_OK)
		rc = open_any(t, op, fd);
	if (rc == FB_OK)
		fb_end(t, op, 0);
	return rc;
}

enum fb_outcome fb_createfile(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	char path[FB_PATH_MAX];
	struct fb_fd *fd;
	uint64_t file;
	int n;

	if (free_slot(t, op, &fd) != FB_OK)
		return FB_FAILED;
	file = fb_take(&s->files, &s->files.absent);
	if (file == FB_NONE)
		return FB_NOTHING;
	fb_path(s, &s->files.v[file], path);
	fb_begin(t);
	n = openat(s->fd, path, open_flags(s, op->def) | O_CREAT, 0644);
	if (n < 0) {
		fb_give(&s->files.absent, file);
		return fb_fail(t, op, "cannot create '%s/%s'", s->path, path);
	}
	fb_end(t, op, 0);
	opened(t, fd, op, file, n);
	fb_give(&s->files.exist, file);
	return FB_OK;
}

enum fb_outcome fb_closefile(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_fd *fd = fb_fd_slot(t, op);

	if (fd->fd < 0)
		return fb_fail_at(t, op, "fd %d is not open", op->def->fd);
	fb_begin(t);
	fb_fd_close(t, fd);
	fb_end(t, op, 0);
	return FB_OK;
}

/* Takes the file to be deleted: the descriptor's, or the next one. FB_OK with FB_NONE: it is gone. */
static enum fb_outcome take_for_delete(struct fb_thread *t, const struct fb_op *op, int *ret_set,
	uint64_t *ret)
{
	struct fb_fd *fd = op->def->fd > 0 ? &t->fds[op->def->fd] : NULL;

	if (fd && fd->set >= 0) {
		*ret_set = fd->set;
		*ret = fd->file;
		if (fd->fd < 0)
			fd->set = -1; /* what was open here is forgotten */
		if (fb_take_this(&t->run->sets[*ret_set].files, *ret) < 0)
			*ret = FB_NONE;
		return FB_OK;
	}
	if (op->def->set < 0)
		return fb_fail_at(t, op, "fd %d never had a file", op->def->fd);
	*ret_set = op->def->set;
	if (op->def->has_index) {
		do
			*ret = pick(t, op);
		while (*ret != FB_NONE && fb_take_this(&t->run->sets[*ret_set].files, *ret) < 0);
	} else {
		struct fb_group *g = &t->run->sets[*ret_set].files;

		*ret = fb_take(g, &g->exist);
	}
	return *ret == FB_NONE ? FB_NOTHING : FB_OK;
}

/* A file that others have open is deleted all the same, as any program would, and counted. */
enum fb_outcome fb_deletefile(struct fb_thread *t, const struct fb_op *op)
{
	char path[FB_PATH_MAX];
	struct fb_set *s;
	uint64_t file = FB_NONE;
	int set = -1;
	enum fb_outcome rc = take_for_delete(t, op, &set, &file);

	if (rc != FB_OK || file == FB_NONE)
		return rc;
	s = &t->run->sets[set];
	fb_path(s, &s->files.v[file], path);
	fb_begin(t);
	if (unlinkat(s->fd, path, 0) < 0) {
		fb_give(&s->files.exist, file);
		return fb_fail(t, op, "cannot delete '%s/%s'", s->path, path);
	}
	fb_end(t, op, 0);
	if (atomic_load_explicit(&s->files.v[file].open, memory_order_relaxed))
		t->deleted_open++;
	fb_give(&s->files.absent, file);
	return FB_OK;
}

enum fb_outcome fb_statfile(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_fd *fd = op->def->fd > 0 ? &t->fds[op->def->fd] : NULL;
	char path[FB_PATH_MAX];
	struct fb_set *s;
	struct stat st;

	if (fd && fd->fd >= 0) {
		fb_begin(t);
		if (fstat(fd->fd, &st) < 0)
			return fb_fail(t, op, "cannot look at fd %d", op->def->fd);
		fb_end(t, op, 0);
		return FB_OK;
	}
	if (op->def->set < 0)
		return fb_fail_at(t, op, "fd %d is not open", op->def->fd);
	s = &t->run->sets[op->def->set];
	for (;;) {
		uint64_t file = pick(t, op);

		if (file == FB_NONE)
			return FB_NOTHING;
		fb_path(s, &s->files.v[file], path);
		fb_begin(t);
		if (fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
			break;
		if (errno != ENOENT)
			return fb_fail(t, op, "cannot look at '%s/%s'", s->path, path);
		if (fb_stopping(t->run))
			return FB_NOTHING;
	}
	fb_end(t, op, 0);
	return FB_OK;
}

static enum fb_outcome sync_fd(struct fb_thread *t, const struct fb_op *op, const struct fb_fd *fd)
{
	char shown[FB_PATH_MAX];
	const struct fb_set *s;

	fb_begin(t);
	if (fsync(fd->fd) == 0) {
		fb_end(t, op, 0);
		return FB_OK;
	}
	s = &t->run->sets[fd->set];
	return fb_fail(t, op, "fsync of '%s'", fb_shown(s, &s->files.v[fd->file], shown));
}

enum fb_outcome fb_fsync(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_fd *fd = fb_fd_slot(t, op);

	if (fd->fd < 0)
		return fb_fail_at(t, op, "fd %d is not open", op->def->fd);
	return sync_fd(t, op, fd);
}

enum fb_outcome fb_fsyncset(struct fb_thread *t, const struct fb_op *op)
{
	for (unsigned i = 0; i < t->n_fds; i++)
		if (t->fds[i].fd >= 0 && t->fds[i].set == op->def->set &&
			sync_fd(t, op, &t->fds[i]) != FB_OK)
			return FB_FAILED;
	return FB_OK;
}

enum fb_outcome fb_makedir(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	uint64_t leaf = fb_take(&s->leaves, &s->leaves.absent);
	char path[FB_PATH_MAX];

	if (leaf == FB_NONE)
		return FB_NOTHING;
	fb_path(s, &s->leaves.v[leaf], path);
	fb_begin(t);
	if (mkdirat(s->fd, path, 0755) < 0)
		return fb_fail(t, op, "cannot make the folder '%s/%s'", s->path, path);
	fb_end(t, op, 0);
	fb_give(&s->leaves.exist, leaf);
	return FB_OK;
}

enum fb_outcome fb_removedir(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	uint64_t leaf = fb_take(&s->leaves, &s->leaves.exist);
	char path[FB_PATH_MAX];

	if (leaf == FB_NONE)
		return FB_NOTHING;
	fb_path(s, &s->leaves.v[leaf], path);
	fb_begin(t);
	if (unlinkat(s->fd, path, AT_REMOVEDIR) < 0)
		return fb_fail(t, op, "cannot remove the folder '%s/%s'", s->path, path);
	fb_end(t, op, 0);
	fb_give(&s->leaves.absent, leaf);
	return FB_OK;
}

enum fb_outcome fb_listdir(struct fb_thread *t, const struct fb_op *op)
{
	struct fb_set *s = &t->run->sets[op->def->set];
	uint32_t i = atomic_fetch_add_explicit(&s->dir_rotor, 1, memory_order_relaxed) % s->n_dirs;
	const char *path = i ? s->dirs[i] : ".";
	DIR *d;
	int fd;

	fb_begin(t);
	fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return fb_fail(t, op, "cannot read the folder '%s/%s'", s->path, path);
	do
		errno = 0;
	while (readdir(d));
	if (errno) {
		enum fb_outcome rc = fb_fail(t, op, "reading the folder '%s/%s'", s->path, path);

		closedir(d);
		return rc;
	}
	closedir(d);
	fb_end(t, op, 0);
	return FB_OK;
}
