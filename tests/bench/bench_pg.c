/*
 * pg_restore through arraymark against the same commands by hand: pg_restore, a checkpoint, a sync of
 * the file system, on the same file system with the same dump, in pairs of random order. Both begin
 * with a server that was started anew, an empty database and nothing dirty. Ours is the worker process
 * of the agent's own program; by hand is a shell whose whole time counts, as `time` would show it.
 *
 * usage: bench_pg AGENT DIRECTORY SCALE PAIRS USER
 *   DIRECTORY is that user's; as root everything here runs as that user.
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/pg_find.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "proto/conn.h"
#include "tests/bench/bench.h"

#define WORKER_FD 3
#define LONG_MS 600000
#define GOAL 1.01 /* ours over by hand */

struct target {
	int agent; /* descriptor of the program */
	char *dir, *ours, *hand, *dump, *plan;
	struct pg_programs pg;
};

/* ---- by hand ---- */

/* Runs it in a shell with B, H, D, the programs' folder, the cluster and the dump. */
static double shell(const struct target *t, const char *script)
{
	struct strv argv = {0};
	struct proc_result r = {0};
	struct err e;
	double s;

	strv_add_all(&argv, (const char *const[]){"/bin/sh", "-ec", NULL});
	strv_addf(&argv, "B=%s H=%s D=%s; %s", t->pg.bin, t->hand, t->dump, script);
	if (proc_run(&argv, LONG_MS, &r, &e) || proc_check(&argv, &r, &e))
		bench_die(script, &e);
	s = (double)r.elapsed_ns / NS_PER_S;
	proc_result_free(&r);
	strv_free(&argv);
	return s;
}

#define START                                                                                       \
	"$B/pg_ctl -D $H/data -w -l $H/log -o \"-c listen_addresses= -c unix_socket_directories=$H\" " \
	"start; "
#define STOP "$B/pg_ctl -D $H/data -w -m fast stop; "
#define CLIENT "-h $H -U postgres "

static void make_dump(const struct target *t, unsigned scale)
{
	char *fill = xasprintf(START "$B/createdb " CLIENT "source; $B/pgbench " CLIENT
				     "-i -q -s %u source; $B/pg_dump " CLIENT
				     "-Fc -f $D source; $B/dropdb " CLIENT "source; " STOP,
		scale);

	shell(t, "mkdir $H; $B/initdb -D $H/data -U postgres --auth=trust --no-locale -E UTF8");
	shell(t, fill);
	free(fill);
}

static double by_hand(const struct target *t)
{
	double s;

	shell(t, START "$B/dropdb " CLIENT "--if-exists load; $B/createdb " CLIENT
		       "-T template0 load; $B/psql -Xq " CLIENT "-c checkpoint postgres; sync -f $H; "
		       "cat $D >/dev/null");
	s = shell(t, "$B/pg_restore " CLIENT "-j 2 -d load $D; $B/psql -Xq " CLIENT
		     "-c checkpoint postgres; sync -f $H");
	shell(t, STOP);
	return s;
}

/* ---- ours ---- */

static _Noreturn void exec_worker(const struct target *t, int fd)
{
	char *argv[] = {(char *)"arraymark-agent", (char *)"worker", (char *)"--fd", (char *)"3",
		NULL};
	extern char **environ;

	setsid();
	if (fd == WORKER_FD ? fcntl(fd, F_SETFD, 0) < 0 : dup2(fd, WORKER_FD) < 0)
		_exit(127);
	syscall(SYS_execveat, t->agent, "", argv, environ, AT_EMPTY_PATH);
	_exit(127);
}

static pid_t start_worker(const struct target *t, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		bench_die("socketpair", NULL);
	pid = fork();
	if (pid == 0)
		exec_worker(t, fds[1]);
	close(fds[1]);
	if (pid < 0)
		bench_die("fork", NULL);
	*ret_fd = fds[0];
	return pid;
}

static void send_spec(const struct target *t, int fd)
{
	struct msg m = {.type = MSG_WORKER_SPEC};
	struct stat st;
	struct err e;

	if (stat(t->ours, &st) < 0)
		bench_die(t->ours, NULL);
	m.u.worker_spec = (struct msg_worker_spec){.kind = (char *)"pg_restore",
		.directory = t->ours, .sample_ns = NS_PER_S, .dev = st.st_dev, .syncfs_works = 1,
		.plan_text = t->plan, .block = 1, .repeat = 1};
	if (frame_write_fd(fd, &m, &e) < 0)
		bench_die("worker", &e);
}

/* Reads up to READY, or up to DONE, past the samples. */
static void await(int fd, enum msg_type type, struct msg *m)
{
	struct err e;

	for (;;) {
		if (frame_read_fd(fd, LONG_MS, m, &e) < 0)
			bench_die("worker", &e);
		if (m->type == MSG_WORKER_DONE && !m->u.worker_done.ok)
			bench_die("worker", &m->u.worker_done.error);
		if (m->type == type)
			return;
		msg_clear(m);
	}
}

static double through_arraymark(const struct target *t)
{
	struct msg go = {.type = MSG_WORKER_GO}, m;
	struct err e;
	double s;
	int fd;
	pid_t pid = start_worker(t, &fd);

	send_spec(t, fd);
	await(fd, MSG_WORKER_READY, &m);
	msg_clear(&m);
	if (frame_write_fd(fd, &go, &e) < 0)
		bench_die("worker", &e);
	await(fd, MSG_WORKER_DONE, &m);
	s = (double)m.u.worker_done.elapsed_ns / NS_PER_S;
	msg_clear(&m);
	close(fd);
	waitpid(pid, NULL, 0);
	return s;
}

/* ---- pairs ---- */

/* The first pair only warms up. */
static void run_pairs(const struct target *t, unsigned pairs)
{
	struct bench_series ratio = {.n = 0}, ours = {.n = 0}, hand = {.n = 0};
	uint64_t r;

	for (unsigned i = 0; i <= pairs; i++) {
		double s[2];
		int first;

		fs_random(&r, sizeof(r));
		first = (int)(r & 1);
		s[first] = first ? through_arraymark(t) : by_hand(t);
		s[!first] = first ? by_hand(t) : through_arraymark(t);
		if (i == 0)
			continue;
		bench_add(&ratio, s[1] / s[0]);
		bench_add(&hand, s[0]);
		bench_add(&ours, s[1]);
	}
	bench_row("pg_restore, checkpoint, sync", &ratio, "of by hand", BENCH_AT_MOST, GOAL);
	bench_row("    through arraymark", &ours, "s", BENCH_SHOWN, 0);
	bench_row("    by hand", &hand, "s", BENCH_SHOWN, 0);
}

static void become(const char *user)
{
	struct passwd *pw;

	if (geteuid() != 0)
		return;
	pw = getpwnam(user);
	if (!pw || pw->pw_uid == 0 || setgroups(0, NULL) ||
		setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
		setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		bench_die("cannot become the user that PostgreSQL runs as", NULL);
}

int main(int argc, char **argv)
{
	struct target t = {0};
	int64_t scale, pairs;
	struct stat st;
	struct err e;

	if (argc != 6)
		bench_die("usage: bench_pg AGENT DIRECTORY SCALE PAIRS USER", NULL);
	if (units_parse_int(argv[3], 1, 10000, &scale, &e) ||
		units_parse_int(argv[4], 1, BENCH_SERIES_MAX, &pairs, &e))
		bench_die("usage", &e);
	t.agent = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (t.agent >= 0 && t.agent <= WORKER_FD) /* the worker's own */
		t.agent = fcntl(t.agent, F_DUPFD_CLOEXEC, WORKER_FD + 1);
	become(argv[5]);
	if (t.agent < 0 || pg_find(NULL, &t.pg, &e))
		bench_die(t.agent < 0 ? argv[1] : "PostgreSQL", t.agent < 0 ? NULL : &e);
	t.dir = argv[2];
	t.ours = xasprintf("%s/ours", t.dir);
	t.hand = xasprintf("%s/hand", t.dir);
	t.dump = xasprintf("%s/bench.dump", t.dir);
	t.plan = xasprintf("name: bench\nhosts: all\ntrials: 3\nlayouts: {dir: {existing: %s}}\n"
			   "workloads: {load: {pg_restore: {dump: %s, jobs: 2}}}\n",
		t.ours, t.dump);
	if (chdir("/") || mkdir(t.ours, 0700))
		bench_die(t.ours, NULL);
	make_dump(&t, (unsigned)scale);
	if (stat(t.dump, &st))
		bench_die(t.dump, NULL);
	printf("PostgreSQL %s, a dump of %.1f MiB (pgbench at scale %d), 2 jobs\n", t.pg.version,
		(double)st.st_size / (1024 * 1024), (int)scale);
	fflush(stdout);
	run_pairs(&t, (unsigned)pairs);
	return 0;
}
