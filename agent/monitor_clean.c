/*
 * What earlier jobs left: workers that still run, volumes that journals speak of. Nothing new is
 * begun before all of it is gone.
 * Invariant: `clean` is set only when no journal is left in STATE.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/journal.h"
#include "agent/monitor_internal.h"
#include "agent/worker_launch.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define CLEAN_MS (60 * 60 * 1000)
#define BACKOFF_FIRST_S 10
#define BACKOFF_MOST_S 300

static void kill_worker_of(const char *path)
{
	struct journal_entry *v;
	struct job_key key;
	uint64_t ticks;
	pid_t worker;
	struct err e;
	size_t n;

	if (journal_read(path, &key, &v, &n, &worker, &ticks, &e)) {
		log_error("journal", "%s", e.text);
		return;
	}
	if (worker_kill_recorded(worker, ticks))
		log_warning("worker", "process %d of run %llu was still there: killed", (int)worker,
			(unsigned long long)key.run);
	journal_entries_free(v, n);
}

/* Kept volumes become what is to be taken down like all others. */
static void take_back_kept(const char *state)
{
	DIR *d = opendir(state);
	struct dirent *de;

	if (!d)
		return;
	while ((de = readdir(d))) {
		char *from, *to;

		if (!str_starts(de->d_name, "kept-") || !str_ends(de->d_name, ".jsonl"))
			continue;
		from = xasprintf("%s/%s", state, de->d_name);
		to = xasprintf("%s/journal-%s", state, de->d_name + strlen("kept-"));
		if (rename(from, to))
			log_error("journal", "cannot rename %s: %m", from);
		free(from);
		free(to);
	}
	closedir(d);
}

static void again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	monitor_clean(arg);
}

static void failed(struct monitor *m, const struct err *why)
{
	if (strcmp(m->clean_error, why->text))
		log_error("teardown", "%s: no job runs here until that is done; trying again",
			why->text);
	snprintf(m->clean_error, sizeof(m->clean_error), "%s", why->text);
	if (!m->clean_again)
		m->clean_again = evtimer_new(m->base, again, m);
	m->clean_backoff_s = !m->clean_backoff_s ? BACKOFF_FIRST_S
		: m->clean_backoff_s * 2 < BACKOFF_MOST_S ? m->clean_backoff_s * 2 : BACKOFF_MOST_S;
	evtimer_add(m->clean_again, &(struct timeval){.tv_sec = m->clean_backoff_s});
	monitor_status_changed(m);
}

static void done(struct monitor *m)
{
	m->clean = 1;
	m->clean_backoff_s = 0;
	m->clean_error[0] = '\0';
	monitor_inspect(m);
	if (m->inventory.type != MSG_NONE)
		monitor_status_changed(m);
}

static void end(void *owner, const struct err *why, const json_t *result)
{
	struct monitor *m = owner;

	(void)result;
	m->cleaning = NULL;
	if (why) {
		failed(m, why);
	} else {
		log_info("teardown", "what was left over is down");
		done(m);
	}
	event_active(m->later, EV_TIMEOUT, 1); /* an agent that was told to stop waits for this */
}

void monitor_clean(struct monitor *m)
{
	struct helper_task task = {.what = "the teardown of what was left over",
		.run = task_leftovers, .arg = &m->clean_task, .deadline_ms = CLEAN_MS,
		.lock = m->host.lock, .on_end = end, .owner = m};
	struct strv paths = {0};
	struct err e;

	if (m->cleaning || (m->job && !m->job_over))
		return;
	if (m->stopped)
		take_back_kept(m->host.state);
	if (journal_list(m->host.state, &paths, &e)) {
		failed(m, &e);
		return;
	}
	if (paths.n == 0) {
		done(m);
		return;
	}
	m->clean = 0;
	log_info("teardown", "%zu jobs left something here", paths.n);
	for (size_t i = 0; i < paths.n; i++)
		kill_worker_of(paths.v[i]);
	strv_free(&paths);
	m->clean_task = (struct host_task){.host = &m->host};
	if (helper_start(m->base, m->kids, &task, &m->cleaning, &e))
		failed(m, &e);
	else
		monitor_status_changed(m);
}

/* ---- without an agent ---- */

struct clean_up {
	struct event_base *base;
	struct err why;
};

static void clean_up_end(void *owner, const struct err *why, const json_t *result)
{
	struct clean_up *c = owner;

	(void)result;
	if (why)
		c->why = *why;
	event_base_loopbreak(c->base);
}

static int clean_up(const struct host *h, struct err *e)
{
	struct host_task arg = {.host = h};
	struct clean_up c = {.base = event_base_new()};
	struct helper_task task = {.what = "the teardown", .run = task_leftovers, .arg = &arg,
		.deadline_ms = CLEAN_MS, .lock = h->lock, .on_end = clean_up_end, .owner = &c};
	struct children *kids = NULL;
	struct strv paths = {0};
	struct helper *helper;

	take_back_kept(h->state);
	if (journal_list(h->state, &paths, &c.why) == 0 && paths.n) {
		for (size_t i = 0; i < paths.n; i++)
			kill_worker_of(paths.v[i]);
		if (children_new(c.base, &kids, &c.why) == 0 &&
			helper_start(c.base, kids, &task, &helper, &c.why) == 0)
			event_base_dispatch(c.base);
	}
	strv_free(&paths);
	children_free(kids);
	event_base_free(c.base);
	err_copy(e, &c.why);
	return c.why.code == ERR_NONE ? 0 : -1;
}

int monitor_clean_up(const struct agent_options *opt, struct err *e)
{
	char *lock;
	struct host h;
	int fd, status;

	if (host_open(opt, &h, e))
		return -1;
	lock = xasprintf("%s/agent.pid", h.state);
	status = fs_lock(lock, &fd, e);
	if (!status) {
		status = clean_up(&h, e);
		close(fd);
	}
	free(lock);
	host_clear(&h);
	return status;
}
