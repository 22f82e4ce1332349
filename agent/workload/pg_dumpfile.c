/*
 * Dumps. Owns the descriptor of one that was made.
 * Invariant: what is restored is what was hashed; a dump of another format, or of a PostgreSQL that is
 * newer than the one that is to take it, is refused before the server does anything with it.
 */
#include "agent/workload/pg_dumpfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/workload/pg_shape.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/sha256.h"
#include "common/base/units.h"

#define CHUNK (1 << 20)
#define LOOK_BYTES (1LL << 30) /* of a dump that a dry run found wrong */
#define PACKED 8 /* an archive of pgbench's rows, mostly blanks, takes far less than that part */
#define LIST_MS (10 * 60 * 1000)
#define SOURCE "arraymark_source" /* database that a dump is made of */

struct hashing {
	struct sha256 *sha;
	uint64_t bytes;      /* of all files */
	struct pg_ends ends; /* of the one that is read, or was read last */
	int whatever;        /* it is hashed, whatever shape its parts are in */
};

/* A device is not opened: to some that alone does something. -1: errno; -2: it is neither a file nor a
 * folder. */
static int open_plain(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char link[64];
	struct stat st;

	if (place < 0)
		return -1;
	if (fstat(place, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
		close(place);
		return -2;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return fd;
}

int pg_input_open(const char *path, const char *what, int *ret_fd, struct err *e)
{
	const char *user = pg_user_name();
	int fd = open_plain(path);

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (fd == -2)
		return err_set(e, ERR_INPUT, "the %s %s is neither a file nor a folder", what, path);
	if (errno == EACCES || errno == EPERM)
		return err_set(e, ERR_DENIED,
			"the workers' user '%s' may not read the %s %s: `chmod o+r` it (and o+x the folders "
			"above it), or `setfacl -m u:%s:r %s`",
			user, what, path, user, path);
	if (errno == ENOENT)
		return err_set(e, ERR_NOTFOUND, "there is no %s %s on this host", what, path);
	return err_sys(e, "cannot open the %s %s", what, path);
}

static int hash_fd(struct hashing *h, int fd, const char *name, struct err *e)
{
	char *chunk = xmalloc(CHUNK);
	ssize_t n;

	while ((n = read(fd, chunk, CHUNK)) > 0 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		h->bytes += (uint64_t)n;
		pg_ends_add(&h->ends, chunk, (size_t)n);
		sha256_add(h->sha, chunk, (size_t)n);
	}
	free(chunk);
	return n < 0 ? err_sys(e, "cannot read the dump %s", name) : 0;
}

static int is_shown(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static int hash_entry(struct hashing *h, const char *folder, const char *name, struct err *e)
{
	char *path = xasprintf("%s/%s", folder, name), label[512];
	struct stat st;
	int fd, status = pg_input_open(path, "dump's file", &fd, e);

	if (!status) {
		if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
			snprintf(label, sizeof(label), "%s %lld\n", name, (long long)st.st_size);
			sha256_add(h->sha, label, strlen(label));
			h->ends = (struct pg_ends){0};
			status = hash_fd(h, fd, path, e);
			if (!status && !h->whatever)
				status = pg_shape_part_is_whole(path, &h->ends, e);
		}
		close(fd);
	}
	free(path);
	return status;
}

static int hash_folder(struct hashing *h, const char *folder, struct err *e)
{
	struct dirent **names;
	int n = scandir(folder, &names, is_shown, alphasort), status = 0;

	if (n < 0)
		return err_sys(e, "cannot read the folder %s", folder);
	for (int i = 0; i < n; i++) {
		if (!status)
			status = hash_entry(h, folder, names[i]->d_name, e);
		free(names[i]);
	}
	free(names);
	return status;
}

/* Behind `label` in the text: "15.18 (Debian …)" -> "15.18"; NULL: not there. */
static char *version_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	at = at ? at + strlen(label) : NULL;
	return at && isdigit((unsigned char)*at) ? xstrndup(at, strcspn(at, " \n(")) : NULL;
}

/* pg_restore -l reads the archive's table of contents: neither a wrong file nor a version that it
 * does not know comes further. */
static int read_contents(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	struct strv argv = {0};
	struct buf out = {0};
	int status;

	if (pg_program(&c->programs, "pg_restore", &argv, e))
		return -1;
	strv_add_all(&argv, (const char *const[]){"-l", f->path, NULL});
	if (pg_cluster_tells(c, &argv, "read the table of contents of %s", f->shown)) {
		strv_free(&argv);
		return 0;
	}
	status = proc_run_ok(&argv, LIST_MS, &out, e);
	if (status && strstr(e->text, "unsupported version"))
		err_set(e, ERR_INPUT,
			"%s was made by a newer PostgreSQL than %s, which is installed here: install "
			"that version, or make the dump with the older pg_dump",
			f->shown, c->programs.version);
	else if (status)
		err_prefix(e, "%s cannot be restored", f->shown);
	else
		f->made_by = version_after(buf_str(&out), "Dumped by pg_dump version: ");
	strv_free(&argv);
	buf_free(&out);
	return status;
}

static int check_made_by(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	if (!f->made_by || pg_major(f->made_by) <= c->programs.major ||
		(c->programs.major > 100 && pg_major(f->made_by) < 100))
		return 0;
	return err_set(e, ERR_INPUT,
		"%s was made by pg_dump %s, newer than the PostgreSQL %s that is installed here: install "
		"that version, or make the dump with the older pg_dump",
		f->shown, f->made_by, c->programs.version);
}

static int check_plan(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	const struct work_pg *w = c->w;

	if (w->format != PG_FORMAT_AUTO && w->format != f->format)
		return err_set(e, ERR_INPUT, "%s is a dump of the format %s, not %s", f->shown,
			pg_format_name(f->format), pg_format_name(w->format));
	if (f->format == PG_FORMAT_TAR && w->jobs > 1)
		return err_set(e, ERR_INPUT,
			"%s is a tar, which one pg_restore reads from its front: leave 'jobs' out, or make "
			"the dump with pg_dump -Fc or -Fd",
			f->shown);
	if (f->format == PG_FORMAT_PLAIN && (w->jobs > 1 || w->no_owner))
		return err_set(e, ERR_INPUT,
			"%s is a plain dump, which psql runs: it takes neither 'jobs' nor 'no-owner'",
			f->shown);
	return 0;
}

static void add_stamp(struct sha256 *sha, const char *path)
{
	char text[160];
	struct stat st = {0};

	if (stat(path, &st))
		snprintf(text, sizeof(text), "errno %d\n", errno);
	else
		snprintf(text, sizeof(text), "%llu %lld %lld.%09ld\n", (unsigned long long)st.st_ino,
			(long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	sha256_add(sha, text, strlen(text));
}

void pg_input_stamp(const char *path, char ret[65])
{
	struct sha256 *sha = sha256_new();
	struct dirent **names = NULL;
	int n = scandir(path, &names, is_shown, alphasort);

	add_stamp(sha, path);
	for (int i = 0; i < n; i++) {
		char *file = xasprintf("%s/%s", path, names[i]->d_name);

		add_stamp(sha, file);
		free(file);
		free(names[i]);
	}
	free(names);
	sha256_end(sha, ret);
	sha256_free(sha);
}

int pg_input_is_same(const char *path, const char stamp[65], struct err *e)
{
	char now[65];

	pg_input_stamp(path, now);
	if (!strcmp(now, stamp))
		return 0;
	return err_set(e, ERR_INPUT,
		"%s was changed during the trial: what was restored may not be what its SHA-256 says",
		path);
}

int pg_input_hash(const char *path, const char *what, char ret[65], struct err *e)
{
	struct hashing *h = xcalloc(1, sizeof(*h));
	int fd, status = pg_input_open(path, what, &fd, e);

	if (!status) {
		h->sha = sha256_new();
		status = hash_fd(h, fd, path, e);
		sha256_end(h->sha, ret);
		sha256_free(h->sha);
		close(fd);
	}
	free(h);
	return status;
}

static int another_dump(const struct pg_dumpfile *f, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s is not the dump of the plan: its SHA-256 is %s", f->shown,
		f->sha256);
}

/* Reads and hashes all of it. What it is comes before what it looks like. */
static int read_all(struct pg_dumpfile *f, const struct work_pg *w, struct hashing *h, int fd,
	struct err *e)
{
	h->sha = sha256_new();
	if (f->format == PG_FORMAT_DIRECTORY ? hash_folder(h, f->path, e) : hash_fd(h, fd, f->shown, e))
		return -1;
	sha256_end(h->sha, f->sha256);
	f->bytes = h->bytes;
	if (w->sha256 && strcmp(w->sha256, f->sha256))
		return another_dump(f, e);
	return f->format == PG_FORMAT_DIRECTORY ? 0 : pg_shape_of_file(&h->ends, f->shown, &f->format, e) ||
		pg_shape_is_whole(f->format, &h->ends, f->shown, e) ? -1 : 0;
}

/* Just enough of it to know its format. */
static int read_begin(struct pg_dumpfile *f, struct hashing *h, int fd, struct err *e)
{
	char begin[PG_HEAD_BYTES];
	ssize_t n;

	if (f->format == PG_FORMAT_DIRECTORY)
		return 0;
	n = pread(fd, begin, sizeof(begin), 0);
	if (n < 0)
		return err_sys(e, "cannot read the dump %s", f->shown);
	pg_ends_add(&h->ends, begin, (size_t)n);
	return pg_shape_of_file(&h->ends, f->shown, &f->format, e);
}

static int find_kind(struct pg_dumpfile *f, int fd, struct err *e)
{
	struct stat st;

	f->format = PG_FORMAT_AUTO;
	if (fstat(fd, &st) || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return err_set(e, ERR_INPUT, "%s is neither a file nor a folder", f->shown);
	if (!S_ISDIR(st.st_mode))
		return 0;
	f->format = PG_FORMAT_DIRECTORY;
	return pg_shape_of_folder(f->path, f->shown, e);
}

static int hash_again(const struct pg_dumpfile *f, char ret[65])
{
	struct hashing *h = xcalloc(1, sizeof(*h));
	struct err ignored;
	int status;

	if (f->format != PG_FORMAT_DIRECTORY) {
		free(h);
		return pg_input_hash(f->path, "dump", ret, &ignored);
	}
	h->sha = sha256_new();
	h->whatever = 1;
	status = hash_folder(h, f->path, &ignored);
	sha256_end(h->sha, ret);
	sha256_free(h->sha);
	free(h);
	return status;
}

/* What is another file than the plan's is told as that, whatever else is wrong with it. A dry run does
 * not read for long. */
static void blame_hash(const struct pg_dumpfile *f, struct pg_cluster *c, int fd, struct err *e)
{
	char other[ERR_TEXT_MAX], sha[65];
	struct stat st;

	if (!c->w->sha256 || *f->sha256 || fstat(fd, &st))
		return;
	if (pg_cluster_is_preview(c) && (!S_ISREG(st.st_mode) || st.st_size > LOOK_BYTES))
		return;
	if (hash_again(f, sha) || !strcmp(sha, c->w->sha256))
		return;
	snprintf(other, sizeof(other), "%s", e->text);
	err_set(e, ERR_INPUT, "%s is not the dump of the plan: its SHA-256 is %s (%s)", f->shown, sha,
		other);
}

static int examine(struct pg_dumpfile *f, struct pg_cluster *c, int fd, struct err *e)
{
	struct hashing *h = xcalloc(1, sizeof(*h));
	int status = find_kind(f, fd, e);

	if (!status)
		status = pg_cluster_is_preview(c) ? read_begin(f, h, fd, e) : read_all(f, c->w, h, fd, e);
	if (!status && f->format == PG_FORMAT_PLAIN)
		f->made_by = version_after(h->ends.head, "Dumped by pg_dump version ");
	else if (!status)
		status = read_contents(f, c, e);
	if (!status)
		status = check_made_by(f, c, e);
	if (!status)
		status = check_plan(f, c, e);
	sha256_free(h->sha);
	free(h);
	return status;
}

int pg_dumpfile_open(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	int fd, status;

	*f = (struct pg_dumpfile){.fd = -1};
	f->path = xstrdup(c->w->dump);
	f->shown = xstrdup(c->w->dump);
	if (pg_input_open(f->path, "dump", &fd, e))
		return -1;
	pg_input_stamp(f->path, f->stamp);
	status = examine(f, c, fd, e);
	if (status)
		blame_hash(f, c, fd, e);
	close(fd);
	return status;
}

/* ---- one that is made ---- */

int pg_dumpfile_room(const struct work_pg *w, const char *folder, struct err *e)
{
	int is_packed = w->format != PG_FORMAT_PLAIN && w->format != PG_FORMAT_TAR;
	int64_t each = is_packed ? PG_SCALE_BYTES / PACKED : PG_SCALE_BYTES;
	char need_text[UNITS_LEN], free_text[UNITS_LEN];
	int64_t need = w->scale * each, room;
	struct statvfs st;

	if (statvfs(folder, &st))
		return err_sys(e, "cannot look for room in %s", folder);
	if (__builtin_mul_overflow((int64_t)st.f_bavail, (int64_t)st.f_frsize, &room))
		room = INT64_MAX;
	if (need <= room)
		return 0;
	return err_set(e, ERR_FULL,
		"a dump of pgbench's scale %u may take %s, and %s has %s free: take a lesser scale, or "
		"a dump that is there",
		w->scale, units_size(need, need_text), folder, units_size(room, free_text));
}

/* A file without a name. */
static int nameless_file(const struct work_pg *w, struct err *e)
{
	int fd;

	if (pg_dumpfile_room(w, PG_MADE_IN, e))
		return -1;
	fd = open(PG_MADE_IN, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : err_sys(e, "cannot make a file without a name in " PG_MADE_IN
					 " for the dump");
}

static int fill_source(struct pg_cluster *c, struct err *e)
{
	struct strv argv = {0};

	if (pg_cluster_new_database(c, SOURCE, NULL, NULL, e) ||
		pg_cluster_vector(c, "pgbench", &argv, e))
		return -1;
	strv_add_all(&argv, (const char *const[]){"-i", "-q", "-s", NULL});
	strv_addf(&argv, "%u", c->w->scale);
	strv_add(&argv, SOURCE);
	return pg_cluster_run(c, &argv, NULL, e, "fill it at scale %u", c->w->scale);
}

static int dump_source(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	const char *letter = c->w->format == PG_FORMAT_PLAIN ? "p" : c->w->format == PG_FORMAT_TAR ? "t" : "c";
	struct strv argv = {0};

	if (pg_cluster_vector(c, "pg_dump", &argv, e))
		return -1;
	strv_addf(&argv, "-F%s", letter);
	strv_add_all(&argv, (const char *const[]){"--no-sync", "-f", f->path, SOURCE, NULL});
	return pg_cluster_run(c, &argv, NULL, e, "dump it into a file without a name in " PG_MADE_IN);
}

/* For a dry run: nothing is made that it could look at. */
static void pretend_made(struct pg_dumpfile *f, const struct work_pg *w)
{
	f->path = xstrdup("/proc/<worker>/fd/<dump>");
	f->format = w->format == PG_FORMAT_AUTO ? PG_FORMAT_CUSTOM : w->format;
}

int pg_dumpfile_make(struct pg_dumpfile *f, struct pg_cluster *c, struct err *e)
{
	static const char drop[] = "drop database " SOURCE;
	int is_preview = pg_cluster_is_preview(c);

	*f = (struct pg_dumpfile){.fd = is_preview ? -1 : nameless_file(c->w, e)};
	if (is_preview)
		pretend_made(f, c->w);
	else if (f->fd < 0 || !(f->path = pg_fd_path(f->fd, e)))
		return -1;
	f->shown = xasprintf("made by pgbench at scale %u", c->w->scale);
	if (fill_source(c, e) || dump_source(f, c, e) || pg_cluster_sql(c, "postgres", drop, NULL, e))
		return err_prefix(e, "cannot make a dump at scale %u", c->w->scale);
	if (is_preview)
		return f->format == PG_FORMAT_PLAIN ? 0 : read_contents(f, c, e);
	if (lseek(f->fd, 0, SEEK_SET) < 0)
		return err_sys(e, "cannot read the dump again");
	return examine(f, c, f->fd, e);
}

int pg_dumpfile_is_same(const struct pg_dumpfile *f, struct err *e)
{
	return f->fd >= 0 ? 0 : pg_input_is_same(f->path, f->stamp, e);
}

void pg_dumpfile_tell(const struct pg_dumpfile *f, struct trial_detail *d)
{
	char *text = xasprintf("%s\nformat %s, %llu bytes, by pg_dump %s\nsha256 %s", f->shown,
		pg_format_name(f->format), (unsigned long long)f->bytes,
		f->made_by ? f->made_by : "of an unknown version", f->sha256);

	detail_note(d, "dump", text);
	detail_fact(d, "dump_bytes", (double)f->bytes, "B");
	free(text);
}

void pg_dumpfile_close(struct pg_dumpfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f->shown);
	free(f->made_by);
	*f = (struct pg_dumpfile){.fd = -1};
}
