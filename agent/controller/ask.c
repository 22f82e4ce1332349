/*
 * Runs the controllers' tools that are installed, with orders that only show. Owns nothing beyond a
 * call. Invariant: no argument here changes a controller; -NoLog keeps MegaCli from writing a log.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/controller/controller.h"
#include "agent/controller/readers.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define TOOL_MS 20000    /* of one call: MegaCli takes seconds on a busy controller */
#define ARCCONF_MAX 8    /* controllers asked one by one */

/* Vendors' packages install into folders of their own; "" stands for those of the system. */
struct program {
	const char *folder, *name;
};
static const struct program megaraid[] = {{"/opt/MegaRAID/storcli", "storcli64"}, {"", "storcli64"},
	{"", "storcli"}, {"/opt/MegaRAID/perccli", "perccli64"}, {"", "perccli64"}, {"", "perccli"}};
static const struct program megaraid2[] = {{"/opt/MegaRAID/storcli2", "storcli2"}, {"", "storcli2"},
	{"/opt/MegaRAID/perccli2", "perccli2"}, {"", "perccli2"}};
static const struct program megacli[] = {{"/opt/MegaRAID/MegaCli", "MegaCli64"}, {"", "MegaCli64"},
	{"", "MegaCli"}, {"", "megacli"}};
static const struct program smart_array[] = {{"/opt/smartstorageadmin/ssacli/bin", "ssacli"},
	{"", "ssacli"}, {"", "hpssacli"}, {"", "hpacucli"}};
static const struct program adaptec[] = {{"/usr/Arcconf", "arcconf"}, {"", "arcconf"}};

/* We run it with our rights: it has to be root's, or ours, and nobody else's to change. */
static int may_run(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0 &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* NULL when none is installed. Caller frees. */
static char *program_find(const struct program *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *system = *p[i].folder ? NULL : fs_find_program(p[i].name);
		char *path = *p[i].folder ? xasprintf("%s/%s", p[i].folder, p[i].name)
					  : xstrdup(system);

		if (path && may_run(path))
			return path;
		free(path);
	}
	return NULL;
}

/* Whatever its exit status: that is no verdict with these tools. 0 and the text, for the caller to
 * free. */
static int run(const char *program, const char *const *words, struct buf *out, struct err *e)
{
	struct proc_result r;
	struct strv argv = {0};
	int rc;

	strv_add(&argv, program);
	strv_add_all(&argv, words);
	rc = proc_run(&argv, TOOL_MS, &r, e);
	strv_free(&argv);
	if (rc)
		return -1;
	if (r.timed_out)
		rc = err_set(e, ERR_TIMEOUT, "%s did not answer within %d s", program, TOOL_MS / 1000);
	else if (!r.exited)
		rc = err_set(e, ERR_IO, "%s was ended by signal %d", program, r.signal);
	else if (r.out_dropped)
		rc = err_set(e, ERR_INPUT, "%s said more than %d bytes", program, PROC_OUTPUT_CAP);
	else
		buf_add(out, r.out.data, r.out.len);
	proc_result_free(&r);
	return rc;
}

typedef int (*reader_fn)(const char *text, size_t len, struct raid_state *s, struct err *e);

static int ask_one(const char *program, const char *const *words, reader_fn read,
	struct raid_state *s, struct err *e)
{
	struct buf out = {0};
	int rc = run(program, words, &out, e);

	if (!rc && read(buf_str(&out), out.len, s, e)) {
		err_prefix(e, "%s %s", program, words[0]);
		rc = -1;
	}
	buf_free(&out);
	return rc;
}

static int ask_storcli(const char *program, struct raid_state *s, struct err *e)
{
	static const char *const orders[][4] = {{"/call", "show", "all", "J"},
		{"/call/vall", "show", "all", "J"}, {"/call", "show", "patrolread", "J"}};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || s->n_controllers > 0); i++) {
		const char *words[5] = {orders[i][0], orders[i][1], orders[i][2], orders[i][3], NULL};

		rc |= ask_one(program, words, storcli_read, s, e);
	}
	return rc;
}

static int ask_megacli(const char *program, struct raid_state *s, struct err *e)
{
	static const char *const orders[][5] = {{"-LDInfo", "-Lall", "-aALL", "-NoLog", NULL},
		{"-PDList", "-aALL", "-NoLog", NULL, NULL},
		{"-AdpPR", "-Info", "-aALL", "-NoLog", NULL},
		{"-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog", NULL}};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || s->n_controllers > 0); i++)
		rc |= ask_one(program, orders[i], megacli_read, s, e);
	return rc;
}

static int ask_ssacli(const char *program, struct raid_state *s, struct err *e)
{
	static const char *const words[] = {"ctrl", "all", "show", "config", "detail", NULL};

	return ask_one(program, words, ssacli_read, s, e);
}

/* Numbers count from 1; the first that is not there ends the round. */
static int ask_arcconf(const char *program, struct raid_state *s, struct err *e)
{
	int rc = 0;

	for (unsigned n = 1; n <= ARCCONF_MAX; n++) {
		size_t before = s->n_controllers;
		char *number = xasprintf("%u", n);
		const char *const config[] = {"GETCONFIG", number, NULL};
		const char *const status[] = {"GETSTATUS", number, NULL};
		struct buf out = {0};

		if (run(program, config, &out, e) ||
			(arcconf_read(buf_str(&out), out.len, n, s, e) && n == 1))
			rc = -1;
		buf_reset(&out);
		if (s->n_controllers > before && (run(program, status, &out, e) ||
			arcconf_read(buf_str(&out), out.len, n, s, e)))
			rc = -1;
		buf_free(&out);
		free(number);
		if (s->n_controllers == before)
			break;
	}
	return rc;
}

/* A family's first installed program; 0 when there is none. */
static int ask_family(const struct program *p, size_t n,
	int (*ask)(const char *program, struct raid_state *s, struct err *e), struct raid_state *s,
	struct err *e)
{
	char *program = program_find(p, n);
	int rc = program ? ask(program, s, e) : 0;

	free(program);
	return rc;
}

int raid_ask(struct raid_state *ret, struct err *e)
{
	struct raid_state s = {0};
	int rc = ask_family(megaraid, ARRAY_LEN(megaraid), ask_storcli, &s, e);

	/* MegaCli tells of the same controllers, less well. */
	if (s.n_controllers == 0)
		rc |= ask_family(megacli, ARRAY_LEN(megacli), ask_megacli, &s, e);
	rc |= ask_family(megaraid2, ARRAY_LEN(megaraid2), ask_storcli, &s, e);
	rc |= ask_family(smart_array, ARRAY_LEN(smart_array), ask_ssacli, &s, e);
	rc |= ask_family(adaptec, ARRAY_LEN(adaptec), ask_arcconf, &s, e);
	raid_state_settle(&s);
	*ret = s;
	return rc ? -1 : 0;
}
