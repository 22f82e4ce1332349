/*
 * Runs the controllers' tools that are installed, with orders that only show. Owns nothing beyond a
 * call; to be called where no other child is at work, as in a helper: all that a tool which hangs has
 * started is killed with it.
 * Invariant: no argument here changes a controller; -NoLog keeps MegaCli from writing a log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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
	const struct raid_failure *known; /* of earlier looks */
	size_t n_known;
	int64_t until_ns; /* clock_mono_ns */
	int is_silent;    /* the last call met its deadline, or there was no time left for it */
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

/* It may have left processes that are no descendants of its any more: nobody else's are ours now. */
static void kill_orphans(void)
{
	proc_kill_children(getpid());
	while (waitpid(-1, NULL, WNOHANG) > 0) {
	}
}

static void hung(struct asking *a, const char *program, unsigned deadline_ms)
{
	char why[64];

	kill_orphans();
	snprintf(why, sizeof(why), "gave no answer in %u s", (deadline_ms + 500) / 1000);
	a->is_silent = 1;
	raid_failed(&a->s, program, why, 1);
}

static void wrong(struct asking *a, const char *program, const char *order, const struct err *e)
{
	char *why = xasprintf("%s: %s", order, e->text);

	raid_failed(&a->s, program, why, 0);
	free(why);
}

/* Whatever its exit status: that is no verdict with these tools. 0 and the text, for the caller to free;
 * -1: the failure is noted. */
static int run(struct asking *a, const char *program, const char *const *words, struct buf *out)
{
	int64_t left_ms = (a->until_ns - clock_mono_ns()) / NS_PER_MS;
	struct proc_result r = {0};
	struct strv argv = {0};
	unsigned deadline_ms = left_ms < TOOL_MS ? (unsigned)left_ms : TOOL_MS;
	struct err e = {0};
	int status;

	a->is_silent = left_ms <= 0;
	strv_add(&argv, program);
	strv_add_all(&argv, words);
	if (a->is_silent)
		status = err_set(&e, ERR_TIMEOUT, "not asked: others took %d s", ALL_MS / 1000);
	else
		status = proc_run(&argv, deadline_ms, &r, &e);
	strv_free(&argv);
	if (status) {
		wrong(a, program, words[0], &e);
		return -1;
	}
	if (r.timed_out)
		hung(a, program, deadline_ms);
	else if (!r.exited)
		err_set(&e, ERR_IO, "ended by signal %d", r.signal);
	else if (r.out_dropped)
		err_set(&e, ERR_INPUT, "said more than %d bytes", PROC_OUTPUT_CAP);
	else
		buf_add(out, r.out.data, r.out.len);
	if (e.code != ERR_NONE)
		wrong(a, program, words[0], &e);
	status = r.timed_out || e.code != ERR_NONE ? -1 : 0;
	proc_result_free(&r);
	return status;
}

typedef int (*reader_fn)(const char *text, size_t len, struct raid_state *s, struct err *e);

/* 0: it may be asked for more, also where this was no answer. */
static int ask_one(struct asking *a, const char *program, const char *const *words, reader_fn read)
{
	struct buf out = {0};
	struct err e;

	if (!run(a, program, words, &out) && read(buf_str(&out), out.len, &a->s, &e))
		wrong(a, program, words[0], &e);
	buf_free(&out);
	return a->is_silent;
}

static void ask_storcli(const char *program, struct asking *a)
{
	static const char *const orders[][5] = {{"/call", "show", "all", "J", NULL},
		{"/call/vall", "show", "all", "J", NULL}, {"/call", "show", "patrolread", "J", NULL}};

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || a->s.n_controllers > a->before); i++)
		if (ask_one(a, program, orders[i], storcli_read))
			return;
}

static void ask_megacli(const char *program, struct asking *a)
{
	static const char *const orders[][5] = {{"-LDInfo", "-Lall", "-aALL", "-NoLog", NULL},
		{"-PDList", "-aALL", "-NoLog", NULL, NULL},
		{"-AdpPR", "-Info", "-aALL", "-NoLog", NULL},
		{"-AdpBbuCmd", "-GetBbuStatus", "-aALL", "-NoLog", NULL}};

	for (size_t i = 0; i < ARRAY_LEN(orders) && (i == 0 || a->s.n_controllers > a->before); i++)
		if (ask_one(a, program, orders[i], megacli_read))
			return;
}

static void ask_ssacli(const char *program, struct asking *a)
{
	static const char *const words[] = {"ctrl", "all", "show", "config", "detail", NULL};

	ask_one(a, program, words, ssacli_read);
}

/* Both orders for one controller. 0: it may be asked for more. */
static int ask_adaptec(struct asking *a, const char *program, unsigned n)
{
	size_t before = a->s.n_controllers;
	char number[16];
	const char *const orders[][3] = {{"GETCONFIG", number, NULL}, {"GETSTATUS", number, NULL}};
	int status = 0;
	struct err e;

	snprintf(number, sizeof(number), "%u", n);
	for (size_t i = 0; i < 2 && !status && (i == 0 || a->s.n_controllers > before); i++) {
		struct buf out = {0};

		status = run(a, program, orders[i], &out);
		if (!status && arcconf_read(buf_str(&out), out.len, n, &a->s, &e))
			wrong(a, program, orders[i][0], &e);
		buf_free(&out);
	}
	return status;
}

/* Numbers count from 1; the first that is not there ends the round. */
static void ask_arcconf(const char *program, struct asking *a)
{
	for (unsigned n = 1; n <= ARCCONF_MAX; n++) {
		size_t before = a->s.n_controllers;

		if (ask_adaptec(a, program, n) || a->s.n_controllers == before)
			return;
	}
}

/* 1: it hung before, and that is told again. */
static int hung_before(struct asking *a, const char *program)
{
	for (size_t i = 0; i < a->n_known; i++)
		if (a->known[i].hung && strcmp(a->known[i].program, program) == 0) {
			raid_failed(&a->s, program, a->known[i].why, 1);
			return 1;
		}
	return 0;
}

/* A family's first installed program, if there is one. */
static void ask_family(struct asking *a, const struct program *p, size_t n,
	void (*ask)(const char *program, struct asking *a))
{
	char *program = program_find(p, n);

	a->before = a->s.n_controllers;
	if (program && !hung_before(a, program))
		ask(program, a);
	free(program);
}

void raid_ask(const struct raid_failure *known, size_t n_known, struct raid_state *ret)
{
	struct asking a = {.known = known, .n_known = n_known,
		.until_ns = clock_mono_ns() + ALL_MS * NS_PER_MS};
	int was_reaper = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &was_reaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ask_family(&a, megaraid, ARRAY_LEN(megaraid), ask_storcli);
	/* MegaCli tells of the same controllers, less well. */
	if (a.s.n_controllers == 0)
		ask_family(&a, megacli, ARRAY_LEN(megacli), ask_megacli);
	ask_family(&a, megaraid2, ARRAY_LEN(megaraid2), ask_storcli);
	ask_family(&a, smart_array, ARRAY_LEN(smart_array), ask_ssacli);
	ask_family(&a, adaptec, ARRAY_LEN(adaptec), ask_arcconf);
	prctl(PR_SET_CHILD_SUBREAPER, was_reaper);
	raid_state_settle(&a.s);
	*ret = a.s;
}
