/* Calls of the local socket only: backup and check, done beside the loop. */
#include <stdlib.h>
#include <sys/stat.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/background.h"
#include "coordinator/call.h"

struct task {
	struct call *call;
	char *store, *target;
	int64_t bytes;
	int failed;
	struct strv findings;
	struct err error;
};

static struct task *task_new(struct call *c)
{
	struct task *t = xcalloc(1, sizeof(*t));

	t->call = c;
	t->store = options_path(c->co->opt, "store.db");
	t->target = xstrdup(c->in.target);
	return t;
}

static void task_free(struct task *t)
{
	free(t->store);
	free(t->target);
	strv_free(&t->findings);
	free(t);
}

static void start(struct call *c, void (*work)(void *arg), void (*done)(void *arg))
{
	struct task *t = task_new(c);
	struct err e;

	if (!background_start(c->co, work, done, t, &e))
		return;
	task_free(t);
	call_fail(c, &e);
}

/* ---- backup ---- */

static void backup_work(void *arg)
{
	struct task *t = arg;
	struct stat st;

	t->failed = store_backup(t->store, t->target, &t->error);
	if (!t->failed && !stat(t->target, &st))
		t->bytes = st.st_size;
}

static void backup_done(void *arg)
{
	struct task *t = arg;
	json_t *o;

	if (t->failed) {
		call_fail(t->call, &t->error);
	} else {
		o = json_object();
		log_info("store", "backup written to %s", t->target);
		json_object_set_new(o, "file", json_text(t->target));
		json_object_set_new(o, "bytes", json_integer((json_int_t)t->bytes));
		call_line(t->call, o);
		call_end(t->call);
	}
	task_free(t);
}

void call_backup(struct call *c)
{
	struct err e;

	if (*c->in.target != '/') {
		err_set(&e, ERR_USAGE, "backup: '%s' is not an absolute path", c->in.target);
		call_fail(c, &e);
		return;
	}
	start(c, backup_work, backup_done);
}

/* ---- check ---- */

static void check_work(void *arg)
{
	struct task *t = arg;

	t->failed = store_check(t->store, &t->findings, &t->error);
}

static void check_done(void *arg)
{
	struct task *t = arg;
	json_t *o;

	if (t->failed && t->error.code != ERR_FAILED) {
		call_fail(t->call, &t->error);
		task_free(t);
		return;
	}
	for (size_t i = 0; i < t->findings.n; i++) {
		o = json_object();
		json_object_set_new(o, "finding", json_text(t->findings.v[i]));
		call_line(t->call, o);
	}
	o = json_object();
	json_object_set_new(o, "type", json_text("end"));
	json_object_set_new(o, "findings", json_integer((json_int_t)t->findings.n));
	call_line(t->call, o);
	call_end(t->call);
	task_free(t);
}

void call_check(struct call *c)
{
	start(c, check_work, check_done);
}
