/* Processes and their descendants, by /proc. Owns nothing. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/proc.h"
#include "common/base/units.h"

void proc_each(void (*fn)(pid_t pid, void *arg), void *arg)
{
	DIR *d = opendir("/proc");
	struct err ignored;
	struct dirent *de;
	int64_t pid;

	if (!d)
		return;
	while ((de = readdir(d)))
		if (units_parse_int(de->d_name, 2, INT32_MAX, &pid, &ignored) == 0)
			fn((pid_t)pid, arg);
	closedir(d);
}

/* The command's name stands in parentheses and may hold any. */
pid_t proc_parent(pid_t pid)
{
	char path[64], line[512] = "", *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		end = strrchr(line, ')');
		if (!end || sscanf(end, ") %*c %d", &parent) != 1)
			parent = 0;
	}
	if (f)
		fclose(f);
	return parent;
}

static void kill_if_child_of(pid_t pid, void *parent)
{
	if (proc_parent(pid) == *(pid_t *)parent)
		proc_kill_tree(pid);
}

void proc_kill_tree(pid_t pid)
{
	kill(pid, SIGSTOP);
	proc_kill_children(pid);
	kill(pid, SIGKILL);
}

/* /proc numbers processes as our own PID namespace does; elsewhere a number would be somebody else's. */
static int proc_is_ours(void)
{
	char self[32] = "", pid[32];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return readlink("/proc/self", self, sizeof(self) - 1) > 0 && !strcmp(self, pid);
}

void proc_kill_children(pid_t pid)
{
	if (!proc_is_ours())
		return;
	proc_each(kill_if_child_of, &pid);
}
