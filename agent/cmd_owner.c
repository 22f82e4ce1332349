/*
 * The owner's verbs: `approve`, `stop`, `volumes`. They work without a coordinator, and without an
 * agent that runs.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/commands.h"
#include "agent/journal.h"
#include "agent/monitor.h"
#include "agent/owner.h"
#include "agent/policy/policy_check.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

int command_approve(const struct agent_options *opt, const struct args *a)
{
	char *state = NULL;
	struct err e;
	int status = host_state_folder(opt, &state, &e) || policy_approve(state, a->v[0], &e);

	free(state);
	if (status)
		return command_error(&e);
	printf("Plan %.12s may run on this host.\n", a->v[0]);
	return EXIT_DONE;
}

/* ---- stop ---- */

static int wait_for(int fd, enum agent_state wanted, struct err *e)
{
	struct msg m = {.type = MSG_AGENT_STATUS};
	int said = 0;

	m.u.agent_status.state = wanted;
	m.u.agent_status.note = (char *)"";
	if (frame_write_fd(fd, &m, e))
		return -1;
	for (;;) {
		if (frame_read_fd(fd, -1, &m, e))
			return err_prefix(e, "the agent went away");
		if (m.type == MSG_AGENT_STATUS && m.u.agent_status.key.run && !said++)
			fprintf(stderr, "run %llu is being stopped and taken down …\n",
				(unsigned long long)m.u.agent_status.key.run);
		if (m.type == MSG_AGENT_STATUS && m.u.agent_status.state == AGENT_CLEANING &&
			m.u.agent_status.note[0])
			fprintf(stderr, "%s\n", m.u.agent_status.note);
		if (m.type == MSG_AGENT_STATUS && m.u.agent_status.state == wanted)
			break;
		msg_clear(&m);
	}
	msg_clear(&m);
	return 0;
}

static int stop_file(const char *state, int stop, struct err *e)
{
	char *path = xasprintf("%s/stopped", state);
	int status = 0;

	if (stop)
		status = fs_write_file(path, "", 0, 0600, e);
	else
		(void)unlink(path);
	free(path);
	return status;
}

static int stop_or_undo(const struct agent_options *opt, const char *state, int stop, struct err *e)
{
	int fd, status;

	if (owner_connect(state, &fd, e) == 0) {
		status = wait_for(fd, stop ? AGENT_STOPPED : AGENT_IDLE, e);
		close(fd);
		return status;
	}
	if (e->code != ERR_NOTFOUND)
		return -1;
	return stop_file(state, stop, e) || (stop && monitor_clean_up(opt, e)) ? -1 : 0;
}

int command_stop(const struct agent_options *opt, const struct args *a)
{
	int undo = args_get(a, "undo") != NULL;
	char *state = NULL;
	struct err e;
	int status;

	status = host_state_folder(opt, &state, &e) || stop_or_undo(opt, state, !undo, &e);
	free(state);
	if (status)
		return command_error(&e);
	puts(undo ? "Jobs may run here again."
		  : "Nothing runs and nothing is built here any more. `arraymark-agent stop --undo` "
		    "lets jobs run again.");
	return EXIT_DONE;
}

/* ---- volumes ---- */

static unsigned print_journal(const char *state, const char *file, struct err *e)
{
	char *path = xasprintf("%s/%s", state, file);
	struct journal_entry *v = NULL;
	struct job_key key;
	uint64_t ticks;
	pid_t worker;
	unsigned shown = 0;
	size_t n = 0;

	if (journal_read(path, &key, &v, &n, &worker, &ticks, e) == 0) {
		for (size_t i = 0; i < n; i++) {
			if (v[i].undone || !v[i].undo.op || !v[i].undo.op[0])
				continue;
			printf("run %llu block %u layout %u: %s%s\n", (unsigned long long)key.run,
				v[i].unit.block, v[i].unit.layout + 1, v[i].what,
				str_starts(file, "kept-") ? " (kept)" : "");
			shown++;
		}
		journal_entries_free(v, n);
	}
	free(path);
	return shown;
}

int command_volumes(const struct agent_options *opt, const struct args *a)
{
	unsigned shown = 0;
	struct dirent *de;
	struct err e = {0};
	DIR *d;

	(void)a;
	d = opendir(opt->state);
	if (!d) {
		err_sys(&e, "cannot open %s", opt->state);
		return command_error(&e);
	}
	while ((de = readdir(d)))
		if ((str_starts(de->d_name, "journal-") || str_starts(de->d_name, "kept-")) &&
			str_ends(de->d_name, ".jsonl"))
			shown += print_journal(opt->state, de->d_name, &e);
	closedir(d);
	if (e.code != ERR_NONE)
		return command_error(&e);
	if (!shown)
		puts("Nothing of arraymark's is built here.");
	return EXIT_DONE;
}
