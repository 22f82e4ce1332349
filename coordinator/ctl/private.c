/*
 * The private coordinator and agent. Owns the folder DIR.
 * Invariant: whoever uses the coordinator holds users.lock shared; only who gets it exclusively
 * stops it.
 */
#include "coordinator/ctl/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/tls.h"
#include "common/base/units.h"
#include "common/plan/plan.h"
#include "coordinator/ctl/program.h"
#include "coordinator/ctl/target.h"

#define START_MS 20000
#define POLL_MS 10
#define STOP_AGENT_MS 120000 /* its volumes go first */
#define STOP_COORDINATOR_MS 40000
#define PEM_MAX (64 * 1024)
#define LEFT_MAX (4 * 1024 * 1024)
#define AGAIN_MOST 3 /* starts of an agent that was killed */
#define CERT_DAYS 30 /* that a certificate must have left */

struct private
{
	char *dir, *host;
	int users, agent_lock; /* descriptors; -1 */
	pid_t coordinator;     /* our child; 0: somebody else's */
	pid_t agent;           /* 0: none */
	char *policy;          /* that it was started with */
	int was_killed;
	unsigned started_again;
	void (*tell_left)(void *arg, const char *text);
	void *tell_arg;
};

static char *in_dir(const struct private *p, const char *file)
{
	return xasprintf("%s/%s", p->dir, file);
}

/* Opens (and makes) a lock file and takes it in that mode. -1 and errno EWOULDBLOCK when it is
 * taken and LOCK_NB was given. */
static int take_lock(const struct private *p, const char *file, int mode)
{
	char *path = in_dir(p, file);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), r;

	free(path);
	if (fd < 0)
		return -1;
	do
		r = flock(fd, mode);
	while (r && errno == EINTR);
	if (!r)
		return fd;
	r = errno;
	close(fd);
	errno = r;
	return -1;
}

/* ---- the coordinator ---- */

/* Who listens on the coordinator's socket: its pid, 0 when nobody does. */
static pid_t listener_pid(const struct private *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct ucred who = {0};
	socklen_t len = sizeof(who);
	char *path = in_dir(p, "coordinator/control.sock");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && strlen(path) < sizeof(a.sun_path)) {
		memcpy(a.sun_path, path, strlen(path));
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
			getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
			who.pid = 0;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return who.pid;
}

/* argv of one of our programs with --state DIR/state; the rest ends with NULL. */
static int our_argv(const struct private *p, const char *program, const char *state,
	const char *const *rest, struct strv *ret, struct err *e)
{
	char *path;

	if (program_find(program, &path, e))
		return -1;
	strv_add_owned(ret, path);
	strv_add_all(ret, rest);
	strv_add(ret, "--state");
	strv_add_owned(ret, in_dir(p, state));
	return 0;
}

static int coordinator_init(const struct private *p, struct err *e)
{
	char *ca = in_dir(p, "coordinator/store.db"), *log = in_dir(p, "init.log");
	struct strv argv = {0};
	int r = 0;

	if (access(ca, F_OK)) {
		r = our_argv(p, "arraymark-coordinator", "coordinator",
			    (const char *const[]){"init", "--ttl", "1s", NULL}, &argv, e) ||
				    program_run(&argv, NULL, log, e)
			    ? -1
			    : 0;
		unlink(log); /* it holds a token that nobody wants */
	}
	strv_free(&argv);
	free(log);
	free(ca);
	return r;
}

/* Until it answers or ends. */
static int await_coordinator(struct private *p, const char *log, struct err *e)
{
	int64_t until = clock_mono_ns() + START_MS * NS_PER_MS;
	int status;

	while (!listener_pid(p)) {
		if (program_ended(p->coordinator, POLL_MS, &status)) {
			p->coordinator = 0;
			program_say_end("arraymark-coordinator", status, log, e);
			return -1;
		}
		if (clock_mono_ns() > until)
			return err_set(e, ERR_TIMEOUT,
				"the private coordinator does not answer after %d s "
				"(log: %s)",
				START_MS / 1000, log);
	}
	return 0;
}

static int coordinator_start(struct private *p, struct err *e)
{
	static const char *const words[] = {
		"run", "--private", "--listen", "127.0.0.1:0", "--log-level", "warning", NULL};
	char *log = in_dir(p, "coordinator.log");
	struct strv argv = {0};
	int r = -1;

	if (!coordinator_init(p, e) &&
		!our_argv(p, "arraymark-coordinator", "coordinator", words, &argv, e) &&
		!program_start(&argv, NULL, log, 0, &p->coordinator, e))
		r = await_coordinator(p, log, e);
	strv_free(&argv);
	free(log);
	return r;
}

/* As root the agent's link and workers have accounts of their own, which must get into DIR. */
static int check_passable(const char *dir, struct err *e)
{
	char *path = xstrdup(dir), *slash;
	struct stat st;
	int r = 0;

	while (!r && *path) {
		if (stat(path, &st))
			r = err_sys(e, "%s", path);
		else if (!(st.st_mode & S_IXOTH))
			r = err_set(e, ERR_DENIED,
				"the agent's accounts can't pass %s to %s: set "
				"XDG_DATA_HOME to a folder that others may pass",
				path, dir);
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	free(path);
	return r;
}

static int make_folders(const struct private *p, struct err *e)
{
	static const char *const names[] = {"scratch", "bench", "agent"};
	mode_t mode = geteuid() ? 0700 : 0711;
	char *path;
	int r = fs_mkdir_p(p->dir, mode, e);

	if (!r && geteuid() == 0)
		r = check_passable(p->dir, e);
	for (size_t i = 0; i < ARRAY_LEN(names) && !r; i++) {
		path = in_dir(p, names[i]);
		r = fs_mkdir_p(path, mode, e);
		free(path);
	}
	return r;
}

/* The machine's name as the fleet may call it. */
static char *host_name(void)
{
	char name[PLAN_NAME_MAX + 1] = "";
	struct err e;

	if (gethostname(name, sizeof(name) - 1) || plan_check_name(name, "host", 1, &e))
		return xstrdup("localhost");
	return xstrdup(name);
}

static volatile sig_atomic_t interrupted;

static void on_signal(int signo)
{
	(void)signo;
	interrupted = 1;
}

/* From here on a signal is only noted, where no event loop hears it, or the coordinator would be
 * left behind. */
static void catch_signals(void)
{
	struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
}

int private_interrupted(void)
{
	return interrupted;
}

int private_open(struct private **ret, struct err *e)
{
	struct private *p = xcalloc(1, sizeof(*p));
	int start = -1, r = -1;

	p->users = p->agent_lock = -1;
	p->host = host_name();
	if (target_local_dir(&p->dir, e))
		goto out;
	if (make_folders(p, e)) {
		if (e->code == ERR_DENIED)
			e->code = ERR_IO; /* of a file system, not of a coordinator */
		err_prefix(e, "%s is where `local` keeps everything (XDG_DATA_HOME changes that)", p->dir);
		goto out;
	}
	catch_signals();
	p->users = take_lock(p, "users.lock", LOCK_SH);
	start = p->users < 0 ? -1 : take_lock(p, "start.lock", LOCK_EX);
	if (start < 0) {
		err_sys(e, "a lock in %s", p->dir);
		goto out;
	}
	r = listener_pid(p) ? 0 : coordinator_start(p, e);
	close(start);
out:
	if (r)
		private_close(p);
	else
		*ret = p;
	return r;
}

/* ---- the agent ---- */

int private_agent_lock(struct private *p, struct err *e)
{
	p->agent_lock = take_lock(p, "agent.lock", LOCK_EX | LOCK_NB);
	if (p->agent_lock >= 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(e, ERR_BUSY,
			"another `arraymark local` works in %s: wait for it, or give "
			"this one another XDG_DATA_HOME",
			p->dir);
	return err_sys(e, "a lock in %s", p->dir);
}

/* First line of a file in DIR; NULL when it is not there. */
static char *first_line(const struct private *p, const char *file)
{
	char *path = in_dir(p, file), *line = NULL;
	struct buf text = {0};
	struct err e;

	if (!fs_read_file(path, 4096, &text, &e))
		line = xstrndup(buf_str(&text), strcspn(buf_str(&text), "\r\n"));
	buf_free(&text);
	free(path);
	return line;
}

/* A whole file of DIR; "" when it can't be read. */
static char *whole(const struct private *p, const char *file)
{
	char *path = in_dir(p, file);
	struct buf text = {0};
	struct err e;

	(void)fs_read_file(path, PEM_MAX, &text, &e);
	free(path);
	return buf_take(&text);
}

/* By this coordinator's authority, for this name, for a while to come. */
static int is_enrolled(const struct private *p)
{
	char *name = first_line(p, "agent/name"), *cert = whole(p, "agent/cert.pem");
	char *ca = whole(p, "coordinator/ca.pem"), *known = whole(p, "agent/ca.pem");
	int r = str_equal(name, p->host) && str_equal(ca, known) &&
		tls_cert_is_valid(cert, CERT_DAYS);

	free(name);
	free(cert);
	free(ca);
	free(known);
	return r;
}

int private_needs_token(const struct private *p)
{
	char *address = first_line(p, "coordinator/listen"), *path = in_dir(p, "agent/coordinator");
	struct err e;
	int r = !is_enrolled(p) || !address ||
		fs_write_file(path, address, strlen(address), 0644, &e);

	free(path);
	free(address);
	return r;
}

int private_agent_join(struct private *p, const char *token, struct err *e)
{
	char *address = first_line(p, "coordinator/listen"), *log = in_dir(p, "agent.log");
	const char *const words[] = {"join", address, NULL};
	struct strv argv = {0};
	int r = -1;

	if (!address)
		err_set(e, ERR_FAILED, "%s/coordinator/listen is not there", p->dir);
	else if (!our_argv(p, "arraymark-agent", "agent", words, &argv, e))
		r = program_run(&argv, token, log, e);
	strv_free(&argv);
	free(log);
	free(address);
	return r;
}

/* Half of what is free now, so that a plan cannot fill the user's disk. */
static int64_t scratch_limit(const struct private *p)
{
	struct statvfs s;

	if (statvfs(p->dir, &s))
		return 1024 * 1024 * 1024;
	return (int64_t)s.f_bavail * (int64_t)s.f_frsize / 2;
}

static int write_policy(const struct private *p, struct err *e)
{
	char *path = in_dir(p, "agent.yaml"), *text;
	int r = 0;

	if (access(path, F_OK)) {
		text = xasprintf("# What `arraymark local` may do on this machine. Written at its "
				 "first use; "
				 "yours to change.\nallow:\n  scratch: {directory: \"%s/scratch\", "
				 "limit: %lld}\n"
				 "  directories: [{path: \"%s/bench\"}]\n"
				 "  programs: [/usr/bin/fio]  # for fio workloads\n",
			p->dir, (long long)scratch_limit(p), p->dir);
		r = fs_write_file(path, text, strlen(text), 0600, e);
		free(text);
	}
	free(path);
	return r;
}

static int start_agent(struct private *p, struct err *e)
{
	char *log = in_dir(p, "agent.log");
	const char *const words[] = {"run", "--config", p->policy, NULL};
	struct strv argv = {0};
	int r = -1;

	if (!our_argv(p, "arraymark-agent", "agent", words, &argv, e))
		r = program_start(&argv, NULL, log, 1, &p->agent, e);
	strv_free(&argv);
	free(log);
	return r;
}

int private_agent_start(struct private *p, const char *policy, struct err *e)
{
	free(p->policy);
	p->policy = policy ? xstrdup(policy) : in_dir(p, "agent.yaml");
	return write_policy(p, e) || start_agent(p, e) ? -1 : 0;
}

int private_agent_check(struct private *p, struct err *e)
{
	char *log;
	int status;

	if (p->agent && !program_ended(p->agent, 0, &status))
		return 0;
	log = in_dir(p, "agent.log");
	if (p->agent)
		program_say_end("arraymark-agent", status, log, e);
	else
		err_set(e, ERR_FAILED, "the private agent does not run (log: %s)", log);
	p->was_killed = p->agent && WIFSIGNALED(status);
	p->agent = 0;
	free(log);
	return -1;
}

int private_agent_again(struct private *p, struct err *e)
{
	struct err how = *e;

	if (!p->was_killed || p->started_again == AGAIN_MOST || start_agent(p, e))
		return -1;
	p->started_again++;
	err_set(e, ERR_FAILED, "%s; it is started again, takes down what was built, and the run goes on",
		how.text);
	return 0;
}

/* ---- what is left ---- */

static int is_journal(const struct dirent *de)
{
	return str_starts(de->d_name, "journal-") && str_ends(de->d_name, ".jsonl");
}

/* An agent that never ran has none, and no folder. */
static int has_journals(const struct private *p)
{
	char *folder = in_dir(p, "agent");
	struct dirent **names = NULL;
	int n = scandir(folder, &names, is_journal, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	free(folder);
	return n > 0;
}

static void add_left(const json_t *volumes, struct strv *ret)
{
	const json_t *v;
	size_t i;

	json_array_foreach(volumes, i, v)
		if (!json_get_bool(v, "kept", 0))
			strv_add_owned(ret, xasprintf("run %lld block %lld layout %lld: %s",
				(long long)json_get_int(v, "run", 0),
				(long long)json_get_int(v, "block", 0),
				(long long)json_get_int(v, "layout", 0),
				json_get_str(v, "what", "")));
}

/* One line, beside what was logged meanwhile. */
static int read_left(const char *path, json_t **ret, struct err *e)
{
	struct buf text = {0};
	char *rest, *line;
	int status = fs_read_file(path, LEFT_MAX, &text, e);

	*ret = NULL;
	for (rest = text.data; !status && !*ret && (line = strsep(&rest, "\n"));)
		if (*line == '{')
			status = json_parse(path, line, strlen(line), LEFT_MAX, ret, e);
	buf_free(&text);
	return status || !*ret ? -1 : 0;
}

void private_left(const struct private *p, struct strv *ret)
{
	static const char *const words[] = {"volumes", "--json", NULL};
	char *list = in_dir(p, "left.txt");
	struct strv argv = {0};
	json_t *document = NULL;
	struct err e;

	if (has_journals(p)) {
		unlink(list);
		if (!our_argv(p, "arraymark-agent", "agent", words, &argv, &e) &&
			!program_run(&argv, NULL, list, &e) && !read_left(list, &document, &e))
			add_left(json_object_get(document, "volumes"), ret);
		unlink(list);
	}
	json_decref(document);
	strv_free(&argv);
	free(list);
}

void private_on_left(struct private *p, void (*fn)(void *arg, const char *text), void *arg)
{
	p->tell_left = fn;
	p->tell_arg = arg;
}

static void tell_left(const struct private *p)
{
	struct strv left = {0};
	char *text;

	if (p->tell_left && p->agent_lock >= 0)
		private_left(p, &left);
	for (size_t i = 0; i < left.n; i++)
		p->tell_left(p->tell_arg, left.v[i]);
	if (left.n) {
		text = xasprintf("this is left: the next `arraymark local` takes it down first, or "
				 "`arraymark-agent stop --state %s/agent` does (with --undo it lets "
				 "jobs run again)",
			p->dir);
		p->tell_left(p->tell_arg, text);
		free(text);
	}
	strv_free(&left);
}

/* ---- the end ---- */

static void stop(pid_t pid, int is_child, int ms)
{
	int status;

	if (pid <= 0 || kill(pid, SIGTERM))
		return;
	if (!program_gone(pid, ms)) {
		kill(pid, SIGKILL);
		program_gone(pid, 5000);
	}
	if (is_child)
		program_ended(pid, 0, &status);
}

void private_close(struct private *p)
{
	pid_t pid;

	if (!p)
		return;
	stop(p->agent, 1, STOP_AGENT_MS);
	tell_left(p);
	if (p->users >= 0 && !flock(p->users, LOCK_EX | LOCK_NB)) {
		pid = listener_pid(p);
		stop(pid ? pid : p->coordinator, pid == p->coordinator, STOP_COORDINATOR_MS);
	}
	if (p->agent_lock >= 0)
		close(p->agent_lock);
	if (p->users >= 0)
		close(p->users);
	free(p->policy);
	free(p->dir);
	free(p->host);
	free(p);
}

const char *private_host(const struct private *p)
{
	return p->host;
}

const char *private_dir(const struct private *p)
{
	return p->dir;
}
