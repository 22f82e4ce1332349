/*
 * The tree of a fileset, drawn and made. The shape is that of filebench's: folders of a width and a
 * depth around the means that dirwidth and the number of files give, files in the deepest ones,
 * names of eight digits.
 */
#include "agent/workload/filebench_set.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/file_kind.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define DEPTH_MAX 40 /* of folders: 9 characters each */
#define WRITE_MAX ((size_t)1 << 20)
#define DIRS_MAX 10000000

struct growing {
	struct fb_set *s;
	struct wml_random *r;
	double mean_depth;
	int flat; /* without a width: all in the set's own folder */
	size_t cap_dirs, cap_files, cap_leaves;
};

static double around(struct growing *g, double mean)
{
	double shape = g->s->def->dir_gamma;

	return shape > 0 ? wml_random_gamma(g->r, shape) * mean / shape : mean;
}

static uint64_t draw_width(struct growing *g)
{
	const struct wml_number *w = &g->s->def->width;
	double x = w->dist ? wml_dist_draw(w->dist, g->r) : around(g, (double)w->fixed);

	return x < 1 ? 1 : x > 1e15 ? (uint64_t)1e15 : (uint64_t)x;
}

static void add_entry(struct fb_group *to, size_t *cap, uint32_t dir, uint32_t number, uint64_t size)
{
	struct fb_entry *f;

	to->v = xgrow(to->v, to->n, cap, sizeof(*to->v));
	f = &to->v[to->n++];
	memset(f, 0, sizeof(*f));
	f->size = size;
	f->dir = dir;
	f->number = number;
}

static uint32_t add_dir(struct growing *g, uint32_t parent, uint32_t number)
{
	struct fb_set *s = g->s;

	s->dirs = xgrow(s->dirs, s->n_dirs, &g->cap_dirs, sizeof(*s->dirs));
	s->dirs[s->n_dirs] =
		s->n_dirs == 0 ? xstrdup("") : xasprintf("%s%08u/", s->dirs[parent], number);
	return s->n_dirs++;
}

static int64_t wanted(const struct growing *g, int leaves)
{
	return leaves ? g->s->def->leaf_dirs - (int64_t)g->s->leaves.n
		      : g->s->def->entries - (int64_t)g->s->files.n;
}

/* Fills folder `dir` with files (or leaf folders), or with folders that are filled alike. */
static void fill_dir(struct growing *g, uint32_t dir, int depth, int leaves)
{
	uint64_t width = draw_width(g);
	double depth_here = floor(around(g, g->mean_depth));
	int bottom = g->flat || (dir > 0 && (depth >= (depth_here < 1 ? 1 : depth_here) || depth == DEPTH_MAX));

	for (uint32_t i = 1; (dir == 0 || i <= width) && wanted(g, leaves) > 0; i++) {
		if (!bottom && g->s->n_dirs < DIRS_MAX)
			fill_dir(g, add_dir(g, dir, i), depth + 1, leaves);
		else if (leaves)
			add_entry(&g->s->leaves, &g->cap_leaves, dir, 50000000 + i, 0);
		else
			add_entry(&g->s->files, &g->cap_files, dir, i,
				(uint64_t)wml_draw(&g->s->def->size, g->r));
	}
}

static void bits_init(struct fb_bits *b, uint64_t n)
{
	b->n = n;
	b->words = xcalloc(n / 64 + 1, sizeof(*b->words));
}

static void set_bit(struct fb_bits *b, uint64_t i)
{
	b->words[i / 64] |= 1ULL << (i % 64);
}

/* Exactly the share of prealloc exists, at random places (Knuth, TAOCP 2, algorithm S). */
static void choose(struct fb_group *g, int percent, struct wml_random *r)
{
	uint64_t needed = (g->n * (uint64_t)percent + 50) / 100;

	bits_init(&g->exist, g->n);
	bits_init(&g->absent, g->n);
	for (uint64_t i = 0; i < g->n; i++) {
		int yes = wml_random_below(r, g->n - i) < needed;

		set_bit(yes ? &g->exist : &g->absent, i);
		needed -= (uint64_t)yes;
	}
}

int fb_set_plan(struct fb_set *s, const struct wml_set *def, struct wml_random *r, struct err *e)
{
	struct growing g = {.s = s, .r = r};
	double mean_width = wml_number_mean(&def->width);

	*s = (struct fb_set){.def = def, .fd = -1};
	g.flat = mean_width == 0;
	g.mean_depth = log((double)(def->entries + def->leaf_dirs)) / log(mean_width < 2 ? 2 : mean_width);
	add_dir(&g, 0, 0);
	fill_dir(&g, 0, 1, 0);
	fill_dir(&g, 0, 1, 1);
	if (s->n_dirs >= DIRS_MAX)
		return err_set(e, ERR_INPUT, "fileset '%s': more than %d folders: a larger dirwidth",
			def->name, DIRS_MAX);
	choose(&s->files, def->prealloc, r);
	choose(&s->leaves, def->prealloc, r);
	return 0;
}

static void group_clear(struct fb_group *g)
{
	free(g->v);
	free(g->exist.words);
	free(g->absent.words);
}

void fb_set_clear(struct fb_set *s)
{
	group_clear(&s->files);
	group_clear(&s->leaves);
	for (uint32_t i = 0; i < s->n_dirs; i++)
		free(s->dirs[i]);
	free(s->dirs);
	free(s->path);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct fb_set){.fd = -1};
}

static int is_set(const struct fb_bits *b, uint64_t i)
{
	return (b->words[i / 64] >> (i % 64)) & 1;
}

uint64_t fb_set_bytes(const struct fb_set *s)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < s->files.n; i++)
		if (is_set(&s->files.exist, i) && __builtin_add_overflow(sum, s->files.v[i].size, &sum))
			return UINT64_MAX;
	return sum;
}

uint64_t fb_set_missing(const struct fb_set *s, int parent)
{
	int fd = openat(parent, s->def->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t sum = fb_set_bytes(s);
	char path[FB_PATH_MAX];
	struct stat st;

	for (uint64_t i = 0; fd >= 0 && s->def->reuse && i < s->files.n; i++) {
		const struct fb_entry *f = &s->files.v[i];

		if (is_set(&s->files.exist, i) &&
			fstatat(fd, fb_path(s, f, path), &st, AT_SYMLINK_NOFOLLOW) == 0)
			sum -= (uint64_t)st.st_size < f->size ? (uint64_t)st.st_size : f->size;
	}
	if (fd >= 0)
		close(fd);
	return sum;
}

const char *fb_shown(const struct fb_set *s, const struct fb_entry *f, char out[FB_PATH_MAX])
{
	char path[FB_PATH_MAX];

	snprintf(out, FB_PATH_MAX, "%s/%.800s", s->path, fb_path(s, f, path));
	return out;
}

/* ---- on the volume ---- */

static int make_dir(const struct fb_set *s, const char *dir, struct err *e)
{
	char path[FB_PATH_MAX];
	struct stat st;
	size_t len = strlen(dir);

	if (len == 0)
		return 0;
	memcpy(path, dir, len);
	path[len - 1] = '\0'; /* the slash */
	if (mkdirat(s->fd, path, 0755) == 0)
		return 0;
	if (errno == EEXIST && fstatat(s->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode))
		return 0;
	return err_io(e, "cannot make the folder '%s/%s'", s->path, path);
}

static int write_file(const struct fb_set *s, const struct fb_entry *f, int fd, uint64_t from,
	const char *source, size_t len, struct err *e)
{
	char shown[FB_PATH_MAX];

	for (uint64_t at = from; at < f->size;) {
		size_t most = len < WRITE_MAX ? len : WRITE_MAX;
		size_t want = f->size - at < most ? (size_t)(f->size - at) : most;
		/* Another part of the source for each file, so that no two are alike. */
		size_t offset = (size_t)((at + (uint64_t)f->number * 8192 + (uint64_t)f->dir * 64) %
					 (len - want + 1)) & ~(size_t)63;
		ssize_t n = pwrite(fd, source + offset, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_io(e, "writing '%s' at byte %llu of %llu, before the start",
				fb_shown(s, f, shown), (unsigned long long)at,
				(unsigned long long)f->size);
		at += (uint64_t)n;
	}
	return 0;
}

/* Reuse: a file that is longer is cut, a shorter one continued. */
static int make_file(const struct fb_set *s, const struct msg_worker_spec *spec,
	const struct fb_entry *f, const char *source, size_t len, struct err *e)
{
	char path[FB_PATH_MAX], shown[FB_PATH_MAX];
	struct stat st = {0};
	int fd, rc = 0;

	fd = openat(s->fd, fb_path(s, f, path),
		O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (fd < 0)
		return err_io(e, "cannot make '%s'", fb_shown(s, f, shown));
	if (fstat(fd, &st) < 0)
		rc = err_io(e, "cannot look at '%s'", fb_shown(s, f, shown));
	else if (!S_ISREG(st.st_mode) || st.st_dev != spec->dev)
		rc = err_set(e, ERR_WRONG_STATE, "'%s' is %s%s, not a regular file of this volume",
			fb_shown(s, f, shown), file_kind_name(st.st_mode),
			st.st_dev == spec->dev ? "" : " of another device");
	else if ((uint64_t)st.st_size > f->size && ftruncate(fd, (off_t)f->size) < 0)
		rc = err_io(e, "cannot cut '%s'", fb_shown(s, f, shown));
	if (rc == 0)
		rc = write_file(s, f, fd, (uint64_t)st.st_size, source, len, e);
	if (close(fd) < 0 && rc == 0)
		rc = err_io(e, "closing '%s'", fb_shown(s, f, shown));
	return rc;
}

static int make_files(struct fb_set *s, const struct msg_worker_spec *spec, const char *source,
	size_t len, struct err *e)
{
	char path[FB_PATH_MAX], shown[FB_PATH_MAX];

	for (uint64_t i = 0; i < s->files.n; i++) {
		const struct fb_entry *f = &s->files.v[i];

		if (is_set(&s->files.exist, i)) {
			if (make_file(s, spec, f, source, len, e) < 0)
				return -1;
		} else if (s->def->reuse && unlinkat(s->fd, fb_path(s, f, path), 0) < 0 &&
			   errno != ENOENT) {
			return err_io(e, "cannot remove the old '%s'", fb_shown(s, f, shown));
		}
	}
	for (uint64_t i = 0; i < s->leaves.n; i++)
		if (is_set(&s->leaves.exist, i) &&
			mkdirat(s->fd, fb_path(s, &s->leaves.v[i], path), 0755) < 0 && errno != EEXIST)
			return err_io(e, "cannot make the folder '%s'",
				fb_shown(s, &s->leaves.v[i], shown));
	return 0;
}

int fb_set_remove_old(const struct fb_set *s, const struct msg_worker_spec *spec, int parent,
	const char *parent_path, struct err *e)
{
	struct stat st;
	char *whole;
	int rc;

	if (s->def->reuse || fstatat(parent, s->def->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	whole = xasprintf("%s/%s/%s", spec->directory, parent_path, s->def->name);
	rc = fs_remove_tree(whole, e);
	free(whole);
	return rc < 0 ? err_prefix(e, "removing the files of the trial before") : 0;
}

int fb_set_open(struct fb_set *s, const struct msg_worker_spec *spec, int parent,
	const char *parent_path, struct err *e)
{
	const char *name = s->def->name;
	struct stat st;

	s->path = xasprintf("%s/%s", parent_path, name);
	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return err_io(e, "cannot make the folder '%s'", s->path);
	s->fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return err_io(e, "cannot open the folder '%s'", s->path);
	if (st.st_dev != spec->dev)
		return err_set(e, ERR_WRONG_STATE, "'%s' lies on another device than the volume", s->path);
	return 0;
}

int fb_set_make(struct fb_set *s, const struct msg_worker_spec *spec, const char *source, size_t len,
	struct err *e)
{
	for (uint32_t i = 0; i < s->n_dirs; i++)
		if (make_dir(s, s->dirs[i], e) < 0)
			return -1;
	return make_files(s, spec, source, len, e);
}

void fb_set_drop(const struct fb_set *s)
{
	char path[FB_PATH_MAX];

	for (uint64_t i = 0; i < s->files.n; i++) {
		int fd;

		if (!is_set(&s->files.exist, i))
			continue;
		fd = openat(s->fd, fb_path(s, &s->files.v[i], path),
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		if (fd < 0)
			continue;
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}
