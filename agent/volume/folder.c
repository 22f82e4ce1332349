/*
 * Giving a folder away and emptying it. Owns the descriptors on the way to it.
 * Invariant: what is given is what was looked at, by its descriptor, never by its name again; what is
 * removed is removed with the rights of the account that it was given to.
 */
#include "agent/volume/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

static int is_empty(int fd)
{
	int copy = dup(fd), n = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!d)
		return 0;
	while ((entry = readdir(d)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(d);
	return n == 0;
}

#define OPEN_UP_MS (10 * 60 * 1000)

static int give(const char *path, uid_t uid, gid_t gid, struct err *e)
{
	struct stat st;
	int fd, status = 0;

	if (fs_open_folder(path, O_RDONLY, &fd, e))
		return -1;
	if (fstat(fd, &st))
		status = err_sys(e, "cannot look at %s", path);
	else if (st.st_uid != geteuid() || !is_empty(fd))
		status = err_set(e, ERR_WRONG_STATE,
			"%s is not the folder that was made there: somebody put another in its place",
			path);
	else if (fchown(fd, uid, gid))
		status = err_sys(e, "cannot give %s to user %u", path, (unsigned)uid);
	close(fd);
	return status;
}

static int drop_rights(uid_t uid, gid_t gid, struct err *e)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return err_sys(e, "cannot become user %u", (unsigned)uid);
	return 0;
}

/* A workload may have left folders that even their owner may not change or enter. `find` looks at a
 * folder before it goes in; without rights of root it can open no more than what is the worker's.
 * What it cannot open, the removal will name. */
static void open_up(const char *find)
{
	const char *chmod_program = fs_find_program("chmod");
	struct strv argv = {0};
	struct err ignored;

	if (!chmod_program)
		return;
	strv_add_all(&argv,
		(const char *const[]){find, ".", "-xdev", "-type", "d", "!", "-perm", "-0700", "-exec",
			chmod_program, "u+rwx", "{}", ";", NULL});
	proc_run_ok(&argv, OPEN_UP_MS, NULL, &ignored);
	strv_free(&argv);
}

/* The folder itself may be closed, too: its owner opens it, by its descriptor. */
static int open_closed(const char *path, int *ret, struct err *e)
{
	char link[64];
	struct stat st;
	int fd;

	if (fs_open_folder(path, O_PATH, &fd, e))
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (!fstat(fd, &st) && (st.st_mode & S_IRWXU) != S_IRWXU && st.st_uid == geteuid())
		(void)chmod(link, S_IRWXU); /* in vain: then it cannot be entered, which is told */
	*ret = fd;
	return 0;
}

/* From inside, so that nobody can lead the program elsewhere; it follows no link and leaves alone
 * what is mounted below. Does not return when all is well. */
static int empty(const char *path, uid_t uid, gid_t gid, struct err *e)
{
	const char *find = fs_find_program("find");
	char *argv[] = {(char *)"find", (char *)".", (char *)"-xdev", (char *)"-mindepth",
		(char *)"1", (char *)"-delete", NULL};
	int fd;

	if (!find)
		return err_set(e, ERR_NOTFOUND, "the program 'find' is not installed here");
	if (drop_rights(uid, gid, e) || open_closed(path, &fd, e))
		return -1;
	if (!fchdir(fd)) {
		open_up(find);
		execv(find, argv);
	}
	err_sys(e, "cannot empty %s", path);
	close(fd);
	return -1;
}

/* "UID:GID" */
static int parse_owner(const char *text, uid_t *ret_uid, gid_t *ret_gid)
{
	char *uid_text = xstrndup(text, strcspn(text, ":"));
	const char *colon = strchr(text, ':');
	int64_t uid = 0, gid = 0;
	struct err ignored;
	int status = !colon || units_parse_int(uid_text, 0, UINT32_MAX - 1, &uid, &ignored) ||
		     units_parse_int(colon + 1, 0, UINT32_MAX - 1, &gid, &ignored);

	free(uid_text);
	*ret_uid = (uid_t)uid;
	*ret_gid = (gid_t)gid;
	return status ? -1 : 0;
}

int folder_main(int argc, char **argv)
{
	int gives = !strcmp(argv[0], "give-folder");
	struct err e;
	uid_t uid;
	gid_t gid;

	if (argc != 5 || strcmp(argv[1], "--owner") || strcmp(argv[3], "--") || *argv[4] != '/' ||
		parse_owner(argv[2], &uid, &gid)) {
		fprintf(stderr, "usage: %s --owner UID:GID -- PATH\n", argv[0]);
		return 2;
	}
	if (!(gives ? give : empty)(argv[4], uid, gid, &e))
		return 0;
	fprintf(stderr, "%s\n", e.text);
	return 1;
}
