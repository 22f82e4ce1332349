/* Telling regular files from others. Owns nothing. */
#include "agent/workload/file_kind.h"

#include <fcntl.h>
#include <sys/stat.h>

const char *file_kind_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "a regular file";
	case S_IFDIR:
		return "a folder";
	case S_IFLNK:
		return "a symbolic link";
	case S_IFIFO:
		return "a FIFO";
	case S_IFSOCK:
		return "a socket";
	case S_IFCHR:
		return "a character device";
	case S_IFBLK:
		return "a block device";
	default:
		return "of no known kind";
	}
}

int file_kind_check(int dir, const char *name, const char *directory, struct err *e)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode))
		return 0;
	return err_set(e, ERR_INPUT,
		"'%s' in %s is %s, not a regular file: remove it, or give the workload's file another "
		"name",
		name, directory, file_kind_name(st.st_mode));
}
