/*
 * Holders of a file system, by /proc: each mount namespace that some process lives in is looked at once,
 * then the files that processes have open. Owns nothing beyond a call.
 *
 * Our own mounts are as shared as the folder that they are made in, on purpose: where that is shared, as
 * systemd makes it, an unmount here also takes the copies that services with mounts of their own got.
 * Private mounts would be copied all the same, whenever a namespace is made, and their copies would stay.
 * So what is found here is mostly in namespaces that were cut off from ours: of containers, of unshare.
 */
#include "agent/volume/holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define MOUNTINFO_MAX (16 * 1024 * 1024)
#define COMMAND_MAX 64
#define WAIT_NS (10 * NS_PER_S) /* a program that took a copy may be about to end */
#define LOOK_NS (50 * NS_PER_MS)

/* What is looked for. */
struct sought {
	dev_t dev;        /* of the block device; 0: */
	const char *pool; /* the pool's mounts */
};

/* What was found first, and how many namespaces have it in all. */
struct found {
	char *pid, *point; /* NULL: none yet */
	int is_own;        /* namespace */
	size_t namespaces;
	struct strv seen; /* namespaces that were looked at, each with its root */
};

int holders_is_of_pool(const char *source, const char *pool)
{
	size_t len = strlen(pool);

	return strncmp(source, pool, len) == 0 && (source[len] == '\0' || source[len] == '/');
}

/* btrfs shows a number of its own: there the source tells. Of other types it is whatever text the one who
 * mounted them chose. */
static int stands_on(const struct mount_entry *m, dev_t dev)
{
	struct stat st;

	return m->dev == dev ||
	       (!strcmp(m->type, "btrfs") && str_starts(m->source, "/dev/") &&
		       !strstr(m->source, "/../") && !stat(m->source, &st) &&
		       S_ISBLK(st.st_mode) && st.st_rdev == dev);
}

static const struct mount_entry *find_mount(const struct mounts *m, const struct sought *s)
{
	for (size_t i = 0; i < m->n; i++)
		if (s->dev ? stands_on(&m->v[i], s->dev) : holders_is_of_pool(m->v[i].source, s->pool))
			return &m->v[i];
	return NULL;
}

/* "" where it cannot be told. */
static void read_link(const char *pid, const char *name, char *ret, size_t size)
{
	char path[320];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	n = readlink(path, ret, size - 1);
	ret[n > 0 ? n : 0] = '\0';
}

static void command_of(const char *pid, char ret[COMMAND_MAX])
{
	char path[320];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(ret, COMMAND_MAX, f))
		*ret = '\0';
	if (f)
		fclose(f);
	ret[strcspn(ret, "\n")] = '\0';
}

/* A process below another root sees but a part of its namespace. */
static void look_at_mounts(const char *pid, const struct sought *s, const char *own,
	struct found *f)
{
	char space[64], root[PATH_MAX], path[320], *key;
	const struct mount_entry *m;
	struct buf text = {0};
	struct mounts mounts;
	struct err ignored;
	int is_new;

	read_link(pid, "ns/mnt", space, sizeof(space));
	if (!*space || (!s->dev && str_equal(space, own)))
		return;
	read_link(pid, "root", root, sizeof(root));
	key = xasprintf("%s %s", space, root);
	is_new = !strv_has(&f->seen, key);
	if (is_new)
		strv_add(&f->seen, key);
	free(key);
	snprintf(path, sizeof(path), "/proc/%s/mountinfo", pid);
	if (!is_new || fs_read_file(path, MOUNTINFO_MAX, &text, &ignored))
		return;
	mounts_parse(buf_str(&text), &mounts);
	buf_free(&text);
	m = find_mount(&mounts, s);
	if (m && f->namespaces++ == 0) {
		f->pid = xstrdup(pid);
		f->point = xstrdup(m->point);
		f->is_own = str_equal(space, own);
	}
	mounts_free(&mounts);
}

/* What is at the end of the link is not asked anything that could hang. */
static int lies_on(int at, const char *name, dev_t dev)
{
	struct statx x;

	return statx(at, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &x) == 0 &&
	       makedev(x.stx_dev_major, x.stx_dev_minor) == dev;
}

static int has_open(const char *pid, dev_t dev)
{
	static const char *const links[] = {"cwd", "root", "exe"};
	char path[320];
	struct dirent *d;
	int found = 0;
	DIR *folder;

	for (size_t i = 0; i < ARRAY_LEN(links) && !found; i++) {
		snprintf(path, sizeof(path), "/proc/%s/%s", pid, links[i]);
		found = lies_on(AT_FDCWD, path, dev);
	}
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	folder = found ? NULL : opendir(path);
	while (folder && !found && (d = readdir(folder)))
		found = d->d_name[0] != '.' && lies_on(dirfd(folder), d->d_name, dev);
	if (folder)
		closedir(folder);
	return found;
}

/* Of what was detached from all lists of mounts (umount -l) and is in use still. */
static void look_at_files(const char *pid, const struct sought *s, const char *own, struct found *f)
{
	(void)own;
	if (!f->pid && has_open(pid, s->dev))
		f->pid = xstrdup(pid);
}

static void each_process(void (*look)(const char *pid, const struct sought *s, const char *own,
				 struct found *f),
	const struct sought *s, struct found *f)
{
	DIR *folder = opendir("/proc");
	struct dirent *d;
	char own[64];

	read_link("self", "ns/mnt", own, sizeof(own));
	while (folder && (d = readdir(folder)))
		if (d->d_name[strspn(d->d_name, "0123456789")] == '\0')
			look(d->d_name, s, own, f);
	if (folder)
		closedir(folder);
}

static char *say(const struct found *f)
{
	char command[COMMAND_MAX], more[48] = "";

	if (!f->pid)
		return NULL;
	if (f->is_own)
		return xasprintf("it is mounted at %s too: unmount it there", f->point);
	command_of(f->pid, command);
	if (!f->point)
		return xasprintf("process %s (%s) has files of it open: end it", f->pid, command);
	if (f->namespaces > 1)
		snprintf(more, sizeof(more), " (and so in %zu more)", f->namespaces - 1);
	/* its point is a stranger's text: no part of a command to paste */
	return xasprintf("process %s (%s) has it mounted at '%s' in a mount namespace of its own%s: end "
			 "that container or service, or unmount it there (by nsenter -t %s -m)",
		f->pid, command, f->point, more, f->pid);
}

static char *find(const struct sought *s)
{
	struct found f = {0};
	char *who;

	each_process(look_at_mounts, s, &f);
	if (!f.pid && s->dev)
		each_process(look_at_files, s, &f);
	who = say(&f);
	strv_free(&f.seen);
	free(f.point);
	free(f.pid);
	return who;
}

char *holders_of_device(dev_t dev)
{
	const struct sought s = {.dev = dev};

	return find(&s);
}

static char *holders_of_pool(const char *pool)
{
	const struct sought s = {.pool = pool};

	return find(&s);
}

int holders_are_there(const char *device)
{
	int fd = open(device, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == EBUSY;
}

static void explain(char *who, struct err *e)
{
	struct err said = *e;

	if (who)
		err_set(e, ERR_BUSY, "%s; %s", said.text, who);
	free(who);
}

/* Who has files open on what is mounted there. Caller frees. */
static char *users_of_mount(const char *point)
{
	struct found f = {0};
	struct sought s;
	struct statx x;
	char *who = NULL;

	if (statx(AT_FDCWD, point, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &x) == 0) {
		s = (struct sought){.dev = makedev(x.stx_dev_major, x.stx_dev_minor)};
		each_process(look_at_files, &s, &f);
		who = say(&f);
	}
	free(f.pid);
	return who;
}

void holders_explain_mount(const char *point, struct err *e)
{
	explain(users_of_mount(point), e);
}

void holders_explain_pool(const char *pool, const char *point, struct err *e)
{
	char *who = holders_of_pool(pool);

	explain(who ? who : users_of_mount(point), e);
}

int holders_await_none(const char *device, struct err *e)
{
	const struct timespec pause = {0, LOOK_NS};
	int64_t until = clock_mono_ns() + WAIT_NS;
	struct stat st;
	char *who;

	while (holders_are_there(device)) {
		if (clock_mono_ns() < until) {
			nanosleep(&pause, NULL);
			continue;
		}
		who = stat(device, &st) ? NULL : holders_of_device(st.st_rdev);
		err_set(e, ERR_BUSY, "%s is in use still after it was unmounted: %s", device,
			who ? who : "no process shows by what (a mount namespace without processes?)");
		free(who);
		return -1;
	}
	return 0;
}
