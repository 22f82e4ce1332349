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
#include "common/base/json.h"
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

static json_t *volume_json(const struct job_key *key, const struct journal_entry *v, int kept)
{
	json_t *o = json_object();

	json_object_set_new(o, "run", json_integer((json_int_t)key->run));
	json_object_set_new(o, "job", json_integer((json_int_t)key->job));
	json_object_set_new(o, "attempt", json_integer((json_int_t)key->attempt));
	json_object_set_new(o, "block", json_integer((json_int_t)v->unit.block));
	json_object_set_new(o, "layout", json_integer((json_int_t)v->unit.layout + 1));
	json_object_set_new(o, "what", json_text(v->what));
	json_object_set_new(o, "kept", json_boolean(kept));
	return o;
}

static int add_journal(json_t *list, const char *state, const char *file, struct err *e)
{
	char *path = xasprintf("%s/%s", state, file);
	struct journal_entry *v = NULL;
	struct job_key key;
	uint64_t ticks;
	pid_t worker;
	size_t n = 0;
	int status = journal_read(path, &key, &v, &n, &worker, &ticks, e);

	if (!status) {
		for (size_t i = 0; i < n; i++)
			if (!v[i].undone && v[i].undo.op && v[i].undo.op[0])
				json_array_append_new(list,
					volume_json(&key, &v[i], str_starts(file, "kept-")));
		journal_entries_free(v, n);
	}
	free(path);
	return status;
}

static int is_journal(const struct dirent *de)
{
	return (str_starts(de->d_name, "journal-") || str_starts(de->d_name, "kept-")) &&
		str_ends(de->d_name, ".jsonl");
}

/* -1: not all could be read; those that could are in the list. */
static int add_journals(json_t *list, const char *state, struct err *e)
{
	struct dirent **names;
	int n = scandir(state, &names, is_journal, versionsort), status = 0;

	if (n < 0)
		return err_sys(e, "cannot open %s", state);
	for (int i = 0; i < n; i++) {
		if (add_journal(list, state, names[i]->d_name, e))
			status = -1;
		free(names[i]);
	}
	free(names);
	return status;
}

static void print_volumes(const json_t *list)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		printf("run %lld block %lld layout %lld: %s%s\n", (long long)json_get_int(v, "run", 0),
			(long long)json_get_int(v, "block", 0), (long long)json_get_int(v, "layout", 0),
			json_get_str(v, "what", ""), json_get_bool(v, "kept", 0) ? " (kept)" : "");
}

int command_volumes(const struct agent_options *opt, const struct args *a)
{
	json_t *document = json_object(), *list = json_array();
	struct buf text = {0};
	struct err e = {0};
	int status = add_journals(list, opt->state, &e);

	json_object_set_new(document, "volumes", list);
	if (!args_get(a, "json")) {
		print_volumes(list);
		if (!status && !json_array_size(list))
			puts("Nothing of arraymark's is built here.");
	} else if (!status) {
		json_line(document, &text);
		puts(buf_str(&text));
	}
	buf_free(&text);
	json_decref(document);
	return status ? command_error(&e) : EXIT_DONE;
}
