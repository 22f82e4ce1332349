/*
 * Processes and their descendants, by /proc. Owns nothing beyond a call.
 * Invariant: a process is signalled only as long as it is the one that was found: its number may be
 * somebody else's by then.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define NONE SIZE_MAX
#define ROUNDS_MAX 1000 /* against one that others start anew as fast as we look */

/* One process as /proc says; pid and parent are numbers of that /proc. */
struct entry {
	pid_t pid, parent;
	uint64_t start;
	size_t child, next; /* its first child and its parent's next one, or NONE */
};
struct table {
	struct entry *v;
	size_t n, cap;
};
/* pid: in /proc; number: in our own PID namespace. */
struct member {
	pid_t pid, number;
	uint64_t start;
};
struct tree {
	unsigned depth; /* place of our namespace's number among those of a process */
	struct member *v;
	size_t n, cap;
};

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

/* The command's name stands in parentheses and may hold any. 0 when there is no such process. */
static int entry_read(pid_t pid, struct entry *ret)
{
	char path[64], line[1024] = "", *end;
	unsigned long long start;
	int parent, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		end = strrchr(line, ')');
		found = end && sscanf(end, ") %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					   "%*s %*s %*s %*s %*s %llu", &parent, &start) == 2;
	}
	if (f)
		fclose(f);
	if (found)
		*ret = (struct entry){pid, parent, start, NONE, NONE};
	return found;
}

pid_t proc_parent(pid_t pid)
{
	struct entry e;

	return entry_read(pid, &e) ? e.parent : 0;
}

/* ---- one look at all there are ---- */

static void table_add(pid_t pid, void *arg)
{
	struct table *t = arg;
	struct entry e;

	if (!entry_read(pid, &e))
		return;
	t->v = xgrow(t->v, t->n, &t->cap, sizeof(*t->v));
	t->v[t->n++] = e;
}

static int compare_pids(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static struct entry *table_find(const struct table *t, pid_t pid)
{
	const struct entry key = {.pid = pid};

	return t->n ? bsearch(&key, t->v, t->n, sizeof(key), compare_pids) : NULL;
}

static void table_read(struct table *t)
{
	struct entry *parent;

	proc_each(table_add, t);
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), compare_pids);
	for (size_t i = 0; i < t->n; i++) {
		parent = table_find(t, t->v[i].parent);
		if (!parent)
			continue;
		t->v[i].next = parent->child;
		parent->child = i;
	}
}

/* ---- numbers here and there ---- */

/* /proc/WHO/status tells a process' numbers from that /proc's namespace down to its own. The at-th
 * of them, from 1, with at 0 the last; *ret_n is how many there are. 0: it cannot be told. */
static pid_t number_at(const char *who, unsigned at, unsigned *ret_n)
{
	char path[64], line[512], *rest = NULL, *word;
	pid_t number = 0;
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", who);
	f = fopen(path, "re");
	while (f && !rest && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			rest = line + 6;
	if (f)
		fclose(f);
	while (rest && (word = strsep(&rest, "\t \n")))
		if (*word && (++n == at || !at))
			number = (pid_t)strtol(word, NULL, 10);
	if (ret_n)
		*ret_n = n;
	return number;
}

/* Ours in /proc, and how deep our namespace lies below that of /proc (1: it is the same); 0 when
 * /proc does not show us. */
static pid_t find_ourselves(unsigned *ret_depth)
{
	char self[32] = "";
	pid_t pid;

	if (readlink("/proc/self", self, sizeof(self) - 1) <= 0)
		return 0;
	pid = (pid_t)strtol(self, NULL, 10);
	*ret_depth = 1;
	if (pid != getpid() && number_at("self", 0, ret_depth) != getpid())
		return 0;
	return pid;
}

static pid_t number_here(pid_t pid, unsigned depth)
{
	char who[16];

	if (depth == 1)
		return pid;
	snprintf(who, sizeof(who), "%d", (int)pid);
	return number_at(who, depth, NULL);
}

/* ---- trees ---- */

static int is_same(const struct member *m)
{
	struct entry now;

	return entry_read(m->pid, &now) && now.start == m->start;
}

/* The descriptor holds the process while it is looked at. */
static void signal_member(const struct member *m, int signo)
{
	int fd = (int)syscall(SYS_pidfd_open, m->number, 0);

	if ((fd >= 0 || errno != ESRCH) && is_same(m)) {
		if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0))
			kill(m->number, signo);
	}
	if (fd >= 0)
		close(fd);
}

static int tree_has(const struct tree *tree, const struct entry *e)
{
	for (size_t i = 0; i < tree->n; i++)
		if (tree->v[i].pid == e->pid && tree->v[i].start == e->start)
			return 1;
	return 0;
}

static void tree_add(struct tree *tree, const struct entry *e)
{
	pid_t number = number_here(e->pid, tree->depth);

	if (number <= 1 || tree_has(tree, e))
		return;
	tree->v = xgrow(tree->v, tree->n, &tree->cap, sizeof(*tree->v));
	tree->v[tree->n++] = (struct member){e->pid, number, e->start};
}

/* Stops those that the tree has not had yet; how many there were. */
static size_t tree_stop_more(struct tree *tree)
{
	size_t before = tree->n;
	struct table t = {0};

	table_read(&t);
	for (size_t i = 0; i < tree->n; i++) {
		const struct entry *e = table_find(&t, tree->v[i].pid);
		size_t known = tree->n;

		for (size_t c = e && e->start == tree->v[i].start ? e->child : NONE; c != NONE;
			c = t.v[c].next)
			tree_add(tree, &t.v[c]);
		for (; known < tree->n; known++)
			signal_member(&tree->v[known], SIGSTOP);
	}
	free(t.v);
	return tree->n - before;
}

/* pid, a number of our namespace, as /proc has it: it is ourselves or a child of ours where these
 * differ. */
static int root_read(pid_t pid, unsigned depth, pid_t self, struct entry *ret)
{
	struct table t = {0};
	const struct entry *us;
	int found = 0;

	if (depth == 1 || pid == getpid())
		return entry_read(depth == 1 ? pid : self, ret);
	table_read(&t);
	us = table_find(&t, self);
	for (size_t c = us ? us->child : NONE; c != NONE && !found; c = t.v[c].next) {
		found = number_here(t.v[c].pid, depth) == pid;
		if (found)
			*ret = t.v[c];
	}
	free(t.v);
	return found;
}

void proc_kill_children(pid_t pid)
{
	struct tree tree = {0};
	pid_t self = find_ourselves(&tree.depth);
	struct entry root;

	if (!self || !root_read(pid, tree.depth, self, &root))
		return;
	tree.v = xgrow(NULL, 0, &tree.cap, sizeof(*tree.v));
	tree.v[tree.n++] = (struct member){root.pid, pid, root.start};
	for (unsigned i = 0; i < ROUNDS_MAX && tree_stop_more(&tree); i++)
		;
	for (size_t i = 1; i < tree.n; i++)
		signal_member(&tree.v[i], SIGKILL);
	free(tree.v);
}

void proc_kill_tree(pid_t pid)
{
	kill(pid, SIGSTOP);
	proc_kill_children(pid);
	kill(pid, SIGKILL);
}
