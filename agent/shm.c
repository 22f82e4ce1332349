/* Removing shared memory that nobody will. Owns nothing. */
#include "agent/shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define LIST "/proc/sysvipc/shm"
#define PID_FILE_MAX 4096
#define CLOCK_SLACK_S 1 /* times of segments are whole seconds */

unsigned shm_remove_of(pid_t maker, uid_t owner, int64_t since_s)
{
	FILE *f = fopen(LIST, "re");
	unsigned n = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		long long changed;
		unsigned uid;
		int id, pid;

		/* key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime */
		if (sscanf(line, "%*d %d %*o %*u %d %*d %*u %*u %*u %u %*u %*d %*d %lld", &id, &pid,
			    &uid, &changed) != 4)
			continue;
		if (pid == maker && (owner == SHM_ANY_OWNER || uid == owner) &&
			changed >= since_s - CLOCK_SLACK_S && !shmctl(id, IPC_RMID, NULL))
			n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* Whoever filled the folder may have put anything in the file's place. */
static int read_pid_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct err ignored;
	int status;

	if (fd < 0)
		return -1;
	status = fs_read_fd(fd, path, PID_FILE_MAX, out, &ignored);
	close(fd);
	return status;
}

/* Its first line is the server's number, its third when it began. */
static unsigned remove_of_server(const char *pid_file, uid_t owner)
{
	struct buf text = {0};
	long long since;
	unsigned n = 0;
	int pid;

	if (!read_pid_file(pid_file, &text) &&
		sscanf(buf_str(&text), "%d %*[^\n] %lld", &pid, &since) == 2 && pid > 1)
		n = shm_remove_of(pid, owner, since);
	buf_free(&text);
	return n;
}

unsigned shm_remove_folder(const char *link, uid_t owner)
{
	char path[sizeof(SHM_FOLDER) + 6];
	ssize_t len = readlink(link, path, sizeof(path));
	struct stat st;
	struct err ignored;

	if (len != (ssize_t)sizeof(path) - 1)
		return 0;
	path[len] = '\0';
	if (!str_starts(path, SHM_FOLDER) || strchr(path + strlen(SHM_FOLDER), '/') || lstat(path, &st) ||
		!S_ISDIR(st.st_mode) || st.st_uid != owner)
		return 0;
	return fs_remove_tree(path, &ignored) == 0;
}

/* Sums up what fn says of each file of that name in a server's data. */
static unsigned each_server(const char *folder, const char *name,
	unsigned (*fn)(const char *path, uid_t owner), uid_t owner)
{
	char *servers = xasprintf("%s/pg", folder);
	DIR *d = opendir(servers);
	struct dirent *entry;
	unsigned n = 0;

	while (d && (entry = readdir(d))) {
		char *path;

		if (!str_starts(entry->d_name, "data"))
			continue;
		path = xasprintf("%s/%s/%s", servers, entry->d_name, name);
		n += fn(path, owner);
		free(path);
	}
	if (d)
		closedir(d);
	free(servers);
	return n;
}

unsigned shm_remove_of_servers(const char *folder, uid_t owner)
{
	return each_server(folder, "postmaster.pid", remove_of_server, owner) +
	       each_server(folder, "pg_dynshmem", shm_remove_folder, owner);
}
