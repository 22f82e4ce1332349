/*
 * Runs the controllers' tools that are installed, with orders that only show. Owns nothing beyond a
 * call. Invariant: no argument here changes a controller; -NoLog keeps MegaCli from writing a log.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/controller/controller.h"
#include "agent/controller/readers.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define TOOL_MS 20000    /* of one call: MegaCli takes seconds on a busy controller */
#define ALL_MS 40000     /* of all calls of one look */
#define ARCCONF_MAX 8    /* controllers asked one by one */

/* One look. */
struct asking {
	struct raid_state s;
	int64_t until_ns; /* clock_mono_ns */
	size_t before;    /* controllers that were known before the family in hand was asked */
};

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

/* We run it with our rights: nobody but root, or who we are, may change it or a folder above it. */
static int may_run(const char *path)
{
	struct err ignored;

	return access(path, X_OK) == 0 && fs_check_owned(path, &ignored) == 0;
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
static int run(struct asking *a, const char *program, const char *const *words, struct buf *out,
	struct err *e)
{
	int64_t left_ms = (a->until_ns - clock_mono_ns()) / NS_PER_MS;
	struct proc_result r;
	struct strv argv = {0};
	int rc;

	if (left_ms <= 0)
		return err_set(e, ERR_TIMEOUT, "the controllers' tools took %d s", ALL_MS / 1000);
	strv_add(&argv, program);
	strv_add_all(&argv, words);
	rc = proc_run(&argv, left_ms < TOOL_MS ? (unsigned)left_ms : TOOL_MS, &r, e);
	strv_free(&argv);
	if (rc)
		return -1;
	if (r.timed_out)
		rc = err_set(e, ERR_TIMEOUT, "%s did not answer in time", program);
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

static int ask_one(struct asking *a, const char *program, const char *const *words, reader_fn read,
	struct err *e)
{
	struct buf out = {0};
	int rc = run(a, program, words, &out, e);

	if (!rc && read(buf_str(&out), out.len, &a->s, e)) {
		err_prefix(e, "%s %s", program, words[0]);
		rc = -1;
	}
	buf_free(&out);
	return rc;
}

static int ask_storcli(const char *program, struct asking *a, struct err *e)
{
	static const char *const orders[][4] = {{"/call", "show", "all", "J"},
		{"/call/vall", "show", "all", "J"}, {"/call", "show", "patrolread", "J"}};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || a->s.n_controllers > a->before); i++) {
		const char *words[5] = {orders[i][0], orders[i][1], orders[i][2], orders[i][3], NULL};

		rc |= ask_one(a, program, words, storcli_read, e);
	}
	return rc;
}

static int ask_megacli(const char *program, struct asking *a, struct err *e)
{
	static const char *const orders[][5] = {{"-LDInfo", "-Lall", "-aALL", "-NoLog", NULL},
		{"-PDList", "-aALL", "-NoLog", NULL, NULL},
		{"-AdpPR", "-Info", "-aALL", "-NoLog", NULL},
		{"-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog", NULL}};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || a->s.n_controllers > a->before); i++)
		rc |= ask_one(a, program, orders[i], megacli_read, e);
	return rc;
}

static int ask_ssacli(const char *program, struct asking *a, struct err *e)
{
	static const char *const words[] = {"ctrl", "all", "show", "config", "detail", NULL};

	return ask_one(a, program, words, ssacli_read, e);
}

/* Numbers count from 1; the first that is not there ends the round. */
static int ask_arcconf(const char *program, struct asking *a, struct err *e)
{
	int rc = 0;

	for (unsigned n = 1; n <= ARCCONF_MAX; n++) {
		size_t before = a->s.n_controllers;
		char *number = xasprintf("%u", n);
		const char *const orders[][3] = {{"GETCONFIG", number, NULL}, {"GETSTATUS", number, NULL}};

		for (size_t i = 0; i < 2 && (i == 0 || a->s.n_controllers > before); i++) {
			struct buf out = {0};

			if (run(a, program, orders[i], &out, e) ||
				arcconf_read(buf_str(&out), out.len, n, &a->s, e))
				rc = -1;
			buf_free(&out);
		}
		free(number);
		if (a->s.n_controllers == before)
			break;
	}
	return rc;
}

/* A family's first installed program; 0 when there is none. */
static int ask_family(struct asking *a, const struct program *p, size_t n,
	int (*ask)(const char *program, struct asking *a, struct err *e), struct err *e)
{
	char *program = program_find(p, n);
	int rc;

	a->before = a->s.n_controllers;
	rc = program ? ask(program, a, e) : 0;
	free(program);
	return rc;
}

int raid_ask(struct raid_state *ret, struct err *e)
{
	struct asking a = {.until_ns = clock_mono_ns() + ALL_MS * NS_PER_MS};
	int rc = ask_family(&a, megaraid, ARRAY_LEN(megaraid), ask_storcli, e);

	/* MegaCli tells of the same controllers, less well. */
	if (a.s.n_controllers == 0)
		rc |= ask_family(&a, megacli, ARRAY_LEN(megacli), ask_megacli, e);
	rc |= ask_family(&a, megaraid2, ARRAY_LEN(megaraid2), ask_storcli, e);
	rc |= ask_family(&a, smart_array, ARRAY_LEN(smart_array), ask_ssacli, e);
	rc |= ask_family(&a, adaptec, ARRAY_LEN(adaptec), ask_arcconf, e);
	raid_state_settle(&a.s);
	*ret = a.s;
	return rc ? -1 : 0;
}
