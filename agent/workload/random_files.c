/*
 * Laying out, opening, syncing and verifying the files of a random trial. Owns descriptors, names and
 * generations. Invariant: every descriptor was checked to be a regular file on the volume's device.
 */
#include "agent/workload/random_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/file_kind.h"
#include "agent/workload/made_mark.h"
#include "agent/workload/stream_ring.h"
#include "common/base/mem.h"

#define CHUNK (1024 * 1024)

static int check_place(const struct workload_order *o, const char *name, int fd, struct stat *ret,
	struct err *e)
{
	const struct msg_worker_spec *s = o->spec;

	if (fstat(fd, ret) < 0)
		return err_sys(e, "cannot look at '%s' in %s", name, s->directory);
	if (ret->st_dev != s->dev)
		return err_set(e, ERR_WRONG_STATE,
			"'%s' in %s lies on another device than the volume that was built: it is not "
			"mounted any more",
			name, s->directory);
	return 0;
}

/* A whole number of blocks, about CHUNK bytes. */
static size_t chunk_blocks(const struct random_files *f)
{
	return f->block_size >= CHUNK ? 1 : (size_t)(CHUNK / f->block_size);
}

/* ---- laying out ---- */

static void fill(const struct random_files *f, unsigned file, uint64_t offset, char *b, size_t len)
{
	datagen_fill(&f->gen, file, offset, b, len);
	for (size_t at = 0; f->generation && at < len; at += f->block_size)
		block_seal(&(struct block_id){f->trial, file, offset + at, 1}, b + at,
			f->block_size);
}

static int write_whole(const struct random_files *f, unsigned file, int fd, const char *b,
	size_t len, uint64_t at, struct err *e)
{
	while (len > 0) {
		ssize_t n = pwrite(fd, b, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_io(e, "laying out '%s' in %s at byte %llu", f->names.v[file],
				f->directory, (unsigned long long)at);
		b += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

static int fill_file(const struct random_files *f, unsigned file, int fd, char *b, struct err *e)
{
	uint64_t end = f->file_blocks * f->block_size;
	uint64_t step = chunk_blocks(f) * f->block_size;

	for (uint64_t at = 0; at < end; at += step) {
		size_t len = end - at < step ? (size_t)(end - at) : (size_t)step;

		fill(f, file, at, b, len);
		if (write_whole(f, file, fd, b, len, at, e) < 0)
			return -1;
	}
	if (fsync(fd) < 0)
		return err_io(e, "fsync of '%s' in %s", f->names.v[file], f->directory);
	return 0;
}

static int lay_out_file(const struct workload_order *o, const struct random_files *f, unsigned file,
	char *b, struct err *e)
{
	const char *name = f->names.v[file];
	struct stat st;
	int fd, rc;

	if (file_kind_check(f->dir, name, f->directory, e) < 0)
		return -1;
	if (unlinkat(f->dir, name, 0) < 0 && errno != ENOENT)
		return err_io(e, "cannot remove the old '%s' in %s", name, f->directory);
	fd = openat(f->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return err_io(e, "cannot make '%s' in %s", name, f->directory);
	rc = check_place(o, name, fd, &st, e);
	if (rc == 0)
		rc = fill_file(f, file, fd, b, e);
	close(fd);
	return rc;
}

void random_files_remove(const struct random_files *f)
{
	for (unsigned i = 0; i < f->n; i++)
		(void)unlinkat(f->dir, f->names.v[i], 0);
}

static int lay_out(const struct workload_order *o, const struct random_files *f, struct err *e)
{
	char *b = stream_buffer_new(chunk_blocks(f) * f->block_size, e);
	int rc = b ? 0 : -1;

	for (unsigned i = 0; rc == 0 && i < f->n; i++)
		rc = lay_out_file(o, f, i, b, e);
	if (rc && e->code == ERR_FULL)
		random_files_remove(f);
	free(b);
	return rc;
}

static int is_of_trial(const struct random_files *f, unsigned file, int fd)
{
	const struct block_id id = {f->trial, file, 0, 1};
	struct block_id found;
	char *b = xmalloc(f->block_size);
	int yes = pread(fd, b, f->block_size, 0) == (ssize_t)f->block_size &&
		  block_check(&id, b, f->block_size, &found) == BLOCK_RIGHT;

	free(b);
	return yes;
}

static int is_there(const struct workload_order *o, const struct random_files *f, unsigned file)
{
	int fd = openat(f->dir, f->names.v[file], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct err ignored;
	struct stat st;
	int yes;

	if (fd < 0)
		return 0;
	yes = check_place(o, f->names.v[file], fd, &st, &ignored) == 0 && S_ISREG(st.st_mode) &&
	      (uint64_t)st.st_size == f->file_blocks * f->block_size &&
	      (!f->generation || is_of_trial(f, file, fd));
	close(fd);
	return yes;
}

/* Where blocks are written and verified their generations begin anew, so the files do, too. */
static int begin_anew(const struct workload_order *o, const struct random_files *f)
{
	return f->generation && o->w->random->op != RANDOM_READ;
}

static char *mark_of(const struct workload_order *o)
{
	return xasprintf("%s.random.made", o->w->name);
}

static int leave_mark(const struct workload_order *o, const struct random_files *f, struct err *e)
{
	char *name = mark_of(o);
	int rc = made_mark_write(f->dir, f->directory, name, f->trial, e);

	free(name);
	return rc;
}

/* They were made for this trial, and not touched since. */
static int are_marked(const struct workload_order *o, const struct random_files *f)
{
	char *name = mark_of(o);
	uint64_t seed;
	int yes = made_mark_take(f->dir, name, &seed) && seed == f->trial;

	free(name);
	return yes;
}

static int are_there(const struct workload_order *o, const struct random_files *f)
{
	if (begin_anew(o, f) && !are_marked(o, f))
		return 0;
	for (unsigned i = 0; i < f->n; i++)
		if (!is_there(o, f, i))
			return 0;
	return 1;
}

/* ---- opening ---- */

static int open_flags(const struct work_random *r)
{
	int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (r->direct ? O_DIRECT : 0);

	return flags | (r->op == RANDOM_READ ? O_RDONLY : O_RDWR);
}

static int open_file(const struct workload_order *o, struct random_files *f, unsigned i,
	struct err *e)
{
	const char *name = f->names.v[i];
	struct stat st;
	uint64_t blocks;

	if (file_kind_check(f->dir, name, f->directory, e) < 0)
		return -1;
	f->fd[i] = openat(f->dir, name, open_flags(o->w->random));
	if (f->fd[i] < 0 && errno == EINVAL && o->w->random->direct)
		return err_set(e, ERR_INPUT,
			"the file system of %s does not take direct I/O: use 'direct: false'",
			f->directory);
	if (f->fd[i] < 0)
		return err_io(e, "cannot open '%s' in %s", name, f->directory);
	if (check_place(o, name, f->fd[i], &st, e) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) /* put there a moment ago */
		return err_set(e, ERR_INPUT, "'%s' in %s is %s, not a regular file", name,
			f->directory, file_kind_name(st.st_mode));
	blocks = (uint64_t)st.st_size / f->block_size;
	if (!f->file_blocks || blocks < f->file_blocks)
		f->file_blocks = blocks;
	if (!blocks)
		return err_set(e, ERR_INPUT, "'%s' in %s has %lld bytes: less than one block", name,
			f->directory, (long long)st.st_size);
	return 0;
}

static void name_files(const struct workload_order *o, struct random_files *f)
{
	const struct work_random *r = o->w->random;
	const struct msg_worker_spec *s = o->spec;

	if (r->of) {
		plan_stream_names(o->plan, r->of_index, s->block, s->repeat, &f->names);
		return;
	}
	for (unsigned i = 1; i <= r->files; i++)
		if (r->files == 1)
			strv_addf(&f->names, "%s.random", o->w->name);
		else
			strv_addf(&f->names, "%s.random.%u", o->w->name, i);
}

/* How many blocks each file is to have; 0: as many as there are. */
static int size_files(const struct workload_order *o, struct random_files *f, struct err *e)
{
	const struct work_random *r = o->w->random;

	if (r->of && r->size.ram_factor == 0 && r->size.bytes == 0)
		return 0;
	if (random_file_blocks(r, o->spec->ram_bytes, &f->file_blocks, e))
		return err_prefix(e, "workload %s: size", o->w->name);
	return 0;
}

static int make_generations(const struct work_random *r, struct random_files *f, struct err *e)
{
	uint64_t blocks = f->file_blocks * f->n;

	if (!r->verify || r->of)
		return 0;
	if (blocks > RANDOM_MAX_VERIFIED)
		return err_set(e, ERR_INPUT,
			"verify keeps %d blocks in mind at most, these are %llu: use larger ones",
			RANDOM_MAX_VERIFIED, (unsigned long long)blocks);
	f->generation = xcalloc(blocks, sizeof(*f->generation));
	for (uint64_t i = 0; i < blocks; i++)
		f->generation[i] = 1;
	return 0;
}

/* All but the files themselves. */
static int begin(const struct workload_order *o, struct random_files *f, struct err *e)
{
	const struct work_random *r = o->w->random;
	struct stat st;

	*f = (struct random_files){.directory = o->spec->directory, .dir = -1,
		.block_size = (uint64_t)r->block_size, .trial = o->spec->seed};
	f->gen = (struct datagen){.kind = r->data,
		.compressible_percent = r->compressible_percent, .seed = o->spec->seed};
	name_files(o, f);
	f->n = (unsigned)f->names.n;
	f->fd = xcalloc(f->n, sizeof(*f->fd));
	for (unsigned i = 0; i < f->n; i++)
		f->fd[i] = -1;
	f->dir = open(f->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (f->dir < 0)
		return err_sys(e, "cannot open the volume's directory %s", f->directory);
	if (check_place(o, ".", f->dir, &st, e) || size_files(o, f, e) ||
		make_generations(r, f, e))
		return -1;
	return 0;
}

int random_files_make(const struct workload_order *o, struct err *e)
{
	struct random_files f;
	int rc = 0;

	if (o->w->random->of)
		return 0;
	rc = begin(o, &f, e);
	if (rc == 0 && !are_there(o, &f))
		rc = lay_out(o, &f, e);
	if (rc == 0 && begin_anew(o, &f))
		rc = leave_mark(o, &f, e);
	random_files_close(&f);
	return rc;
}

static int is_warm(const struct workload_order *o)
{
	return o->plan && o->plan->cache == CACHE_WARM;
}

int random_files_open(const struct workload_order *o, struct random_files *f, struct err *e)
{
	int laid_out = 0;

	if (begin(o, f, e))
		return -1;
	if (!o->w->random->of && !are_there(o, f)) {
		laid_out = 1;
		if (lay_out(o, f, e))
			return -1;
	}
	for (unsigned i = 0; i < f->n; i++)
		if (open_file(o, f, i, e))
			return -1;
	f->blocks = f->file_blocks * f->n;
	return laid_out && !is_warm(o) ? random_files_drop(f, e) : 0;
}

void random_files_close(struct random_files *f)
{
	for (unsigned i = 0; f->fd && i < f->n; i++)
		if (f->fd[i] >= 0)
			close(f->fd[i]);
	if (f->directory && f->dir >= 0)
		close(f->dir);
	free(f->fd);
	free(f->generation);
	strv_free(&f->names);
	*f = (struct random_files){.dir = -1};
}

/* ---- syncs ---- */

static int sync_each(const struct random_files *f, struct err *e)
{
	for (unsigned i = 0; i < f->n; i++)
		if (fsync(f->fd[i]) < 0)
			return err_io(e, "fsync of '%s' in %s", f->names.v[i], f->directory);
	return 0;
}

int random_files_drop(const struct random_files *f, struct err *e)
{
	if (sync_each(f, e) < 0)
		return -1;
	for (unsigned i = 0; i < f->n; i++)
		posix_fadvise(f->fd[i], 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

int random_files_sync(const struct random_files *f, enum sync_kind sync, int syncfs_works,
	struct err *e)
{
	if (sync == SYNC_NONE)
		return 0;
	if ((sync != SYNC_FILESYSTEM || !syncfs_works) && sync_each(f, e) < 0)
		return -1;
	if (sync == SYNC_FILE)
		return 0;
	if (syncfs_works && syncfs(f->dir) < 0)
		return err_io(e, "syncfs of %s", f->directory);
	if (!syncfs_works && fsync(f->dir) < 0)
		return err_io(e, "fsync of the directory %s", f->directory);
	return 0;
}
