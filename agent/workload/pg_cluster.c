/*
 * The server's life. Owns the process and its log; the data on the volume belong to the build.
 * Invariant: a server runs only between start and stop of one worker, which it does not outlive.
 */
#include "agent/workload/pg_cluster.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/pg_memory.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define START_MS (10 * 60 * 1000) /* a killed server's successor has its log to replay */
#define STOP_MS (10 * 60 * 1000)
#define QUIT_MS 10000
#define LOOK_MS 10
#define PLENTY 80 /* connections that PostgreSQL's default of 100 leaves room for */
#define PID_FILE_MAX 4096
#define SERVER_LOG "server log" /* a note */
#define READY_LINE 8 /* of postmaster.pid */

/* ---- starting ---- */

/* In the plan's words, after ours: what ours say is not in the plan's allow-list. */
static void add_settings(struct pg_cluster *c, struct strv *argv)
{
	static const char *const own[] = {"listen_addresses=", "unix_socket_directories=/proc/self/cwd",
		"unix_socket_permissions=0700", "port=5432", "logging_collector=off",
		"log_destination=stderr", "cluster_name=arraymark", NULL};

	for (size_t i = 0; own[i]; i++) {
		strv_add(argv, "-c");
		strv_add(argv, own[i]);
	}
	strv_add(argv, "-c");
	strv_addf(argv, "dynamic_shared_memory_type=%s", pg_memory_type(pg_cluster_is_preview(c)));
	if (c->connections > PLENTY && !pg_setting_value(c->w, "max_connections")) {
		strv_add(argv, "-c");
		strv_addf(argv, "max_connections=%u", c->connections + 100 - PLENTY);
	}
	for (size_t i = 0; i < c->w->n_settings; i++) {
		strv_add(argv, "-c");
		strv_addf(argv, "%s=%s", c->w->settings[i].name, c->w->settings[i].value);
	}
}

/* What a killed server left would let the next one believe that it runs still: in a PID namespace
 * numbers begin anew. The worker that it belonged to is gone with all it started. */
static void forget_killed(struct pg_cluster *c)
{
	static const char *const names[] = {
		"postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432", NULL};

	c->recovered = 0;
	for (size_t i = 0; names[i]; i++) {
		char *path = xasprintf("%s/%s", c->data, names[i]);

		if (unlink(path) == 0)
			c->recovered = 1;
		free(path);
	}
}

/* The server writes its state into the last line of postmaster.pid. */
static int says_ready(const struct pg_cluster *c)
{
	char *path = xasprintf("%s/postmaster.pid", c->data);
	struct buf text = {0};
	struct err ignored;
	const char *line;
	int ready = 0;

	if (!fs_read_file(path, PID_FILE_MAX, &text, &ignored)) {
		line = buf_str(&text);
		for (int i = 1; line && i < READY_LINE; i++)
			line = (line = strchr(line, '\n')) ? line + 1 : NULL;
		ready = line && str_starts(line, "ready");
	}
	buf_free(&text);
	free(path);
	return ready;
}

/* The last line that gives a reason; without one the last line. Caller frees. */
static char *reason(const char *log)
{
	const char *best = NULL, *last = "";
	const char *const words[] = {"PANIC:", "FATAL:", "ERROR:"};

	for (const char *line = log; line && *line;) {
		const char *next = strchr(line, '\n');

		last = line;
		for (size_t i = 0; i < ARRAY_LEN(words); i++) {
			const char *at = strstr(line, words[i]);

			if (at && (!next || at < next))
				best = at;
		}
		line = next ? next + 1 : NULL;
	}
	if (!best)
		best = last;
	return xstrndup(best, strcspn(best, "\n"));
}

static int ended_early(struct pg_cluster *c, const char *what, struct err *e)
{
	char *why = reason(pg_log_end(c->log));

	pg_memory_close(c->data);
	c->server = 0;
	err_set(e, strstr(why, "No space left") ? ERR_FULL : ERR_FAILED, "PostgreSQL %s %s: %s",
		c->programs.version, what, *why ? why : "it said nothing");
	free(why);
	return -1;
}

/* Its argv. */
static int server_vector(struct pg_cluster *c, struct strv *argv, struct err *e)
{
	if (pg_program(&c->programs, "postgres", argv, e))
		return -1;
	strv_add_all(argv, (const char *const[]){"-D", c->data, NULL});
	add_settings(c, argv);
	return 0;
}

static int await_ready(struct pg_cluster *c, struct err *e)
{
	int64_t until = clock_mono_ns() + START_MS * NS_PER_MS;
	char text[UNITS_LEN];
	int status;

	while (!says_ready(c)) {
		if (pg_wait(c->server, LOOK_MS, &status))
			return ended_early(c, "did not start", e);
		if (clock_mono_ns() > until)
			return err_set(e, ERR_TIMEOUT, "PostgreSQL %s was not ready after %s",
				c->programs.version,
				units_duration(START_MS * NS_PER_MS, text));
	}
	return 0;
}

/* A member's note is named after it, as parallel_tell() names the others. */
static void open_words(struct pg_cluster *c)
{
	const struct workload_order *o = c->order;
	int is_member = o->w != &o->plan->workloads[o->spec->workload];
	char *name = xasprintf("%s%s" SERVER_LOG, is_member ? o->w->name : "", is_member ? "/" : "");

	last_words_close(c->words);
	c->words = last_words_open(o->words_fd, name);
	free(name);
}

int pg_cluster_start(struct pg_cluster *c, struct err *e)
{
	struct strv argv = {0};
	int fd, status;

	if (server_vector(c, &argv, e))
		return -1;
	c->is_told = pg_cluster_tells(c, &argv, "start the server");
	if (c->is_told) {
		strv_free(&argv);
		return 0;
	}
	forget_killed(c);
	pg_memory_open(c->data);
	pg_log_free(c->log);
	c->log = NULL;
	open_words(c);
	status = pg_log_open(c->words, &c->log, &fd, e);
	if (!status) {
		status = pg_spawn(&argv, fd, -1, &c->server, e);
		close(fd);
	}
	strv_free(&argv);
	return status ? -1 : await_ready(c, e);
}

int pg_cluster_explain(struct pg_cluster *c, int status, struct err *e)
{
	struct buf log = {0};
	int how;

	if (!status)
		return 0;
	pg_log_peek(c->log, &log);
	if (pg_wait(c->server, 0, &how)) {
		ended_early(c, "ended in the middle of the trial", e);
	} else if (e->code != ERR_FULL && strstr(buf_str(&log), "No space left on device")) {
		err_prefix(e, "the volume is full");
		e->code = ERR_FULL;
	}
	buf_free(&log);
	return status;
}

/* ---- stopping ---- */

static void kill_server(struct pg_cluster *c)
{
	int status;

	if (!c->server)
		return;
	kill(c->server, SIGQUIT); /* it ends its backends, which are in sessions of their own */
	if (!pg_wait(c->server, QUIT_MS, &status)) {
		proc_kill_tree(c->server);
		pg_wait(c->server, QUIT_MS, &status);
	}
	pg_memory_close(c->data);
	c->server = 0;
}

int pg_cluster_stop(struct pg_cluster *c, struct err *e)
{
	char text[UNITS_LEN];
	int status;

	if (c->is_told)
		pg_cluster_tells(c, NULL, "stop the server by SIGINT: it writes a checkpoint and ends");
	c->is_told = 0;
	if (!c->server)
		return 0;
	kill(c->server, SIGINT);
	if (!pg_wait(c->server, STOP_MS, &status)) {
		kill_server(c);
		return err_set(e, ERR_TIMEOUT, "PostgreSQL did not stop within %s and was killed",
			units_duration(STOP_MS * NS_PER_MS, text));
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return ended_early(c, "did not stop as it should", e);
	pg_memory_close(c->data);
	c->server = 0;
	return 0;
}

void pg_cluster_close(struct pg_cluster *c)
{
	kill_server(c);
	pg_log_free(c->log);
	last_words_close(c->words);
	pg_programs_clear(&c->programs);
	free(c->data);
	*c = (struct pg_cluster){0};
}

/* ---- what it tells ---- */

void pg_cluster_tell_log(struct pg_cluster *c, struct trial_detail *d)
{
	struct buf text = {0};

	if (!c->log)
		return;
	pg_log_peek(c->log, &text);
	detail_note(d, SERVER_LOG, buf_str(&text));
	buf_free(&text);
}

void pg_cluster_leave_log(struct pg_cluster *c)
{
	if (!c->log || !c->order->told)
		return;
	kill_server(c);
	pg_log_end(c->log); /* whole: its reader may be a step behind a client that heard of the error */
	pg_cluster_tell_log(c, c->order->told);
}

void pg_cluster_tell(struct pg_cluster *c, struct trial_detail *d)
{
	static const char settings[] =
		"select name || ' = ' || current_setting(name) from pg_settings where source not in "
		"('default', 'client', 'session', 'database', 'user') and setting is distinct from "
		"boot_val and name not like '%\\_file' and name not like '%\\_directory' and name not "
		"in ('unix_socket_directories', 'unix_socket_permissions', 'cluster_name', "
		"'listen_addresses', 'data_directory_mode') order by name";
	struct buf text = {0};
	struct err ignored;
	char *version;

	version = xasprintf("PostgreSQL %s in %s", c->programs.version, c->programs.bin);
	detail_note(d, "postgresql", version);
	free(version);
	if (!pg_cluster_sql(c, "postgres", "show server_version_num", &text, &ignored))
		detail_fact(d, "server_version", strtod(buf_str(&text), NULL), "");
	buf_reset(&text);
	if (!pg_cluster_sql(c, "postgres", settings, &text, &ignored))
		detail_note(d, "settings", buf_str(&text));
	if (c->recovered)
		detail_note(d, "recovery",
			"an earlier trial's server was killed: this one recovered first");
	buf_free(&text);
}
