/*
 * Folders: making, removing, judging who could change them, and finding programs in fixed ones.
 * Owns the table of program paths found. Invariant: nothing is removed through a symlink or below
 * a mount point.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

#define TREE_MAX_DEPTH 200 /* a descriptor each */

static int make_folder(const char *path, mode_t mode, struct err *e)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return chmod(path, mode) ? err_sys(e, "cannot set the mode of %s", path) : 0;
	if (errno != EEXIST && errno != EISDIR)
		return err_sys(e, "cannot make folder %s", path);
	if (stat(path, &st))
		return err_sys(e, "cannot make folder %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(
			e, ERR_EXISTS, "cannot make folder %s: it is there and no folder", path);
	return 0;
}

int fs_mkdir_p(const char *path, mode_t mode, struct err *e)
{
	char *copy = xstrdup(path);
	int status = 0;

	if (!*path)
		status = err_set(e, ERR_INPUT, "cannot make a folder without a name");
	for (char *p = copy; *p && !status; p++) {
		if (*p != '/' || p == copy)
			continue;
		*p = '\0';
		status = make_folder(copy, mode, e);
		*p = '/';
	}
	if (!status)
		status = make_folder(copy, mode, e);
	free(copy);
	return status;
}

static int cannot_open(const char *path, const char *upto, struct err *e)
{
	if (errno != ENOTDIR && errno != ELOOP)
		return err_sys(e, "cannot open %s", path);
	return err_set(e, ERR_WRONG_STATE,
		"cannot open %s without following links: %.*s is a symlink, or no folder", path,
		(int)(upto - path), path);
}

int fs_open_folder(const char *path, int flags, int *ret_fd, struct err *e)
{
	const int look = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const char *from = path + strspn(path, "/");
	int at = open("/", (*from ? O_PATH : flags) | look);

	if (at < 0)
		return err_sys(e, "cannot open %s", path);
	while (*from) {
		size_t len = strcspn(from, "/");
		const char *next = from + len + strspn(from + len, "/");
		char *word = xstrndup(from, len);
		int fd = openat(at, word, (*next ? O_PATH : flags) | look);

		if (fd < 0)
			cannot_open(path, from + len, e);
		free(word);
		close(at);
		if (fd < 0)
			return -1;
		at = fd;
		from = next;
	}
	*ret_fd = at;
	return 0;
}

/* 1 when the folder is the root of a mount: by the kernel's word, else by its device. */
static int is_mount_root(int fd, dev_t parent_dev, dev_t dev)
{
	struct statx stx;

	if (dev != parent_dev)
		return 1;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &stx))
		return 0;
	return (stx.stx_attributes_mask & stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* Opens folder `name` in at for removal; path is for messages. */
static int open_folder(int at, const char *name, const char *path, dev_t parent_dev, int *ret_fd,
	dev_t *ret_dev, struct err *e)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return err_sys(e, "cannot remove %s", path);
	if (fstat(fd, &st)) {
		err_sys(e, "cannot remove %s", path);
		close(fd);
		return -1;
	}
	if (is_mount_root(fd, parent_dev, st.st_dev)) {
		close(fd);
		return err_set(e, ERR_BUSY,
			"cannot remove %s: a file system is mounted there, unmount it first", path);
	}
	*ret_fd = fd;
	*ret_dev = st.st_dev;
	return 0;
}

static int remove_entry(
	int at, const char *name, const char *path, dev_t dev, unsigned depth, struct err *e);

static int remove_content(int fd, const char *path, dev_t dev, unsigned depth, struct err *e)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int status = 0;

	if (!dir) {
		err_sys(e, "cannot remove %s", path);
		close(fd);
		return -1;
	}
	while (!status && (errno = 0, entry = readdir(dir))) {
		char *below;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		below = xasprintf("%s/%s", path, entry->d_name);
		status = remove_entry(dirfd(dir), entry->d_name, below, dev, depth + 1, e);
		free(below);
	}
	if (!status && errno)
		status = err_sys(e, "cannot list %s", path);
	closedir(dir);
	return status;
}

static int remove_entry(
	int at, const char *name, const char *path, dev_t parent_dev, unsigned depth, struct err *e)
{
	struct stat st;
	dev_t dev;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : err_sys(e, "cannot remove %s", path);
	if (!S_ISDIR(st.st_mode)) {
		if (unlinkat(at, name, 0) && errno != ENOENT)
			return err_sys(e, "cannot remove %s", path);
		return 0;
	}
	if (depth > TREE_MAX_DEPTH)
		return err_set(e, ERR_INPUT, "cannot remove %s: more than %d folders deep", path,
			TREE_MAX_DEPTH);
	if (open_folder(at, name, path, parent_dev, &fd, &dev, e))
		return -1;
	if (remove_content(fd, path, dev, depth, e))
		return -1;
	if (unlinkat(at, name, AT_REMOVEDIR) && errno != ENOENT)
		return err_sys(e, "cannot remove %s", path);
	return 0;
}

int fs_remove_tree(const char *path, struct err *e)
{
	char *copy = xstrdup(path), *slash;
	size_t len = strlen(copy);
	const char *name;
	struct stat st;
	int at, status;

	while (len > 1 && copy[len - 1] == '/')
		copy[--len] = '\0';
	slash = strrchr(copy, '/');
	name = slash ? slash + 1 : copy;
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		free(copy);
		return err_set(
			e, ERR_INPUT, "cannot remove '%s': it names no entry of a folder", path);
	}
	if (slash)
		*slash = '\0';
	at = open(!slash ? "." : slash == copy ? "/" : copy, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || fstat(at, &st))
		status = errno == ENOENT ? 0 : err_sys(e, "cannot remove %s", path);
	else
		status = remove_entry(at, name, path, st.st_dev, 1, e);
	if (at >= 0)
		close(at);
	free(copy);
	return status;
}

/* A folder with the sticky bit may be writable: in it nobody can replace what is not his. */
static int check_place(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return err_sys(e, "cannot check %s", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(e, ERR_DENIED, "%s belongs to user %u: make it root's (chown root)",
			path, (unsigned)st.st_uid);
	if (S_ISLNK(st.st_mode) || (S_ISDIR(st.st_mode) && (st.st_mode & S_ISVTX)))
		return 0;
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, ERR_DENIED, "%s can be written by others: chmod go-w it", path);
	return 0;
}

/* path (absolute) and every folder above it. */
static int check_chain(const char *path, struct err *e)
{
	char *copy = xstrdup(path);
	int status = check_place(copy, e);
	char *slash;

	while (!status && (slash = strrchr(copy, '/')) && slash != copy) {
		*slash = '\0';
		status = check_place(copy, e);
	}
	if (!status)
		status = check_place("/", e);
	free(copy);
	return status;
}

static char *absolute_of(const char *path)
{
	char cwd[PATH_MAX];

	if (path[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		return xstrdup(path);
	return xasprintf("%s/%s", cwd, path);
}

static int check_owned(const char *path, mode_t type, const char *what, struct err *e)
{
	char *given = absolute_of(path), *real = NULL;
	struct stat st;
	int status;

	status = fs_realpath(given, &real, e);
	if (!status && stat(real, &st))
		status = err_sys(e, "cannot check %s", path);
	if (!status && (st.st_mode & S_IFMT) != type)
		status = err_set(e, ERR_DENIED, "%s is not a %s", path, what);
	if (!status)
		status = check_chain(given, e);
	if (!status)
		status = check_chain(real, e);
	free(real);
	free(given);
	return status;
}

int fs_check_owned(const char *path, struct err *e)
{
	return check_owned(path, S_IFREG, "regular file", e);
}

int fs_check_owned_folder(const char *path, struct err *e)
{
	return check_owned(path, S_IFDIR, "folder", e);
}

static const char *const program_folders[] = {
	"/usr/sbin",
	"/usr/bin",
	"/sbin",
	"/bin",
	"/usr/local/sbin",
	"/usr/local/bin",
};

struct found {
	struct found *next;
	char *path;
};

static struct found *found_paths;
static pthread_mutex_t found_lock = PTHREAD_MUTEX_INITIALIZER;

/* The one copy of path that lives as long as the program. */
static const char *intern(const char *path)
{
	struct found *f;

	pthread_mutex_lock(&found_lock);
	for (f = found_paths; f && strcmp(f->path, path) != 0;)
		f = f->next;
	if (!f) {
		f = xmalloc(sizeof(*f));
		f->path = xstrdup(path);
		f->next = found_paths;
		found_paths = f;
	}
	pthread_mutex_unlock(&found_lock);
	return f->path;
}

const char *fs_find_program(const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (!*name || strchr(name, '/') || strlen(name) > NAME_MAX)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(program_folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", program_folders[i], name);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
			return intern(path);
	}
	return NULL;
}
