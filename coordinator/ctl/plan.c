/* plan new|check: a starter, and everything that is wrong with a plan before it runs. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/plan/workload.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/planfile.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/runner.h"
#include "coordinator/ctl/starter.h"
#include "coordinator/ctl/target.h"
#include "coordinator/ctl/verbs.h"

/* ---- new ---- */

static int write_new(const char *path, const char *text, struct err *e)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int r = 0;

	if (fd < 0 && errno == EEXIST)
		return err_set(e, ERR_EXISTS, "%s is there already: name another file", path);
	if (fd < 0)
		return err_sys(e, "cannot write %s", path);
	if (write(fd, text, len) != (ssize_t)len)
		r = err_sys(e, "cannot write %s", path);
	if (close(fd) && !r)
		r = err_sys(e, "cannot write %s", path);
	return r;
}

static json_t *new_json(const char *file, unsigned forms, const struct buf *text)
{
	json_t *o = json_object(), *names = json_array();

	for (unsigned i = 0; i < STARTER_FORMS; i++)
		if (forms & 1u << i)
			json_array_append_new(names, json_text(starter_form_name(1u << i)));
	json_object_set_new(o, "file", json_text(file));
	json_object_set_new(o, "forms", names);
	json_object_set_new(o, "plan", json_text(text->data));
	return o;
}

/* What was taken for this machine, and why not more. */
static void note_forms(struct ctl *c, const char *file, unsigned forms)
{
	char *quoted = file ? xasprintf("%s: ", file) : xstrdup("");

	if (forms & STARTER_POOL)
		ctl_note(c, "%spools of disks made of files, which this machine can build", quoted);
	else if (forms & STARTER_EXISTING)
		ctl_note(c, "%sa folder, since this machine can build neither a pool (root and a ZFS "
			"that runs) nor a file system (root, mkfs, loop devices) in the space it has",
			quoted);
	else
		ctl_note(c, "%sfile systems on disks made of files, since no pool can be built here: no "
			"ZFS answers, or too little space is free", quoted);
	if (file)
		ctl_note(c, "`arraymark local %s` runs it here", file);
	free(quoted);
}

static int new_plan(struct ctl *c, const struct args *a, struct err *e)
{
	const char *file = a->n && strcmp(a->v[0], "-") ? a->v[0] : NULL;
	struct buf text = {0};
	char *dir = NULL, *bench;
	struct err none;
	unsigned forms;
	int r = 0;

	bench = target_local_dir(&dir, &none) ? xstrdup("/srv/bench") : xasprintf("%s/bench", dir);
	forms = starter_forms_here(bench);
	starter_write(forms, bench, &text);
	if (file && write_new(file, buf_str(&text), e)) {
		if (e->code == ERR_DENIED)
			e->code = ERR_IO;
		r = -1;
	}
	if (!r && c->json)
		r = ctl_out_json(new_json(file, forms, &text), e);
	else if (!r && !file)
		r = ctl_out(&text, e);
	if (!r)
		note_forms(c, file, forms);
	buf_free(&text);
	free(bench);
	free(dir);
	return r;
}

/* ---- check ---- */

static json_t *texts(const struct strv *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(a, json_text(list->v[i]));
	return a;
}

static json_t *names_of(const struct plan *p, int workloads)
{
	size_t n = workloads ? p->n_workloads : p->n_layouts;
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			a, json_text(workloads ? p->workloads[i].name : p->layouts[i].name));
	return a;
}

/* The answer of PLAN_CHECK in the same shape, from what is known without a coordinator. */
static json_t *check_here(const struct planfile *f)
{
	const struct plan *p = f->plan;
	json_t *v = json_object(), *plan = json_null(), *estimate = json_null();
	struct plan_estimate est;
	struct err why;

	if (p) {
		plan = json_object();
		json_object_set_new(plan, "name", json_text(p->name));
		json_object_set_new(plan, "sha256", json_text(p->sha256));
		json_object_set_new(plan, "layouts", names_of(p, 0));
		json_object_set_new(plan, "workloads", names_of(p, 1));
		json_object_set_new(plan, "blocks", json_integer(p->trials_max));
		json_object_set_new(
			plan, "units", json_integer((json_int_t)(p->trials_max * p->n_layouts)));
		if (!plan_estimate(p, 0, &est, &why))
			estimate = plan_estimate_json(&est);
	}
	json_object_set_new(v, "errors", texts(&f->errors.list));
	json_object_set_new(v, "warnings", p ? texts(&p->warnings) : json_array());
	json_object_set_new(v, "plan", plan);
	json_object_set_new(v, "hosts", json_null());
	json_object_set_new(v, "estimate", estimate);
	return v;
}

/* Asks the coordinator. Without one that was named, and none there, the plan is checked here only:
 * *ret stays NULL and a note says so. */
static int check_there(struct ctl *c, struct planfile *f, json_t **ret, struct err *e)
{
	int named = c->coordinator || getenv("ARRAYMARK_COORDINATOR"), r;
	struct connection conn;
	struct msg_call call;

	r = connection_open(c, &conn, e);
	if (!r) {
		r = runner_prepare_plan(c, &conn, f, e);
		planfile_call(f, CALL_PLAN_CHECK, &call);
		r = r ? r : client_one(conn.client, &call, ret, e);
		connection_close(&conn);
	}
	if (!r)
		return 0;
	if (named || ctl_exit_status(e->code) != EXIT_NO_ACCESS)
		return -1;
	ctl_note(c, "not checked against hosts: %s", e->text);
	return 0;
}

static void text_lines(const json_t *list, const char *prefix, struct buf *out)
{
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
	{
		buf_adds(out, prefix);
		print_safe(json_string_value(v), out);
		buf_addc(out, '\n');
	}
}

static void host_lines(const json_t *hosts, int color, struct buf *out)
{
	const json_t *h;
	size_t i;

	json_array_foreach(hosts, i, h)
	{
		const json_t *lacks = json_object_get(h, "lacks");

		print_safe(json_get_str(h, "host", "-"), out);
		buf_adds(out, json_get_bool(h, "online", 0) ? ": " : " (offline): ");
		if (json_get_bool(h, "paused", 0))
			buf_adds(out, "paused; ");
		if (json_array_size(lacks) == 0)
			print_colored("has what the plan asks for", COLOR_GREEN, color, out);
		else
			print_colored("lacks", COLOR_RED, color, out);
		buf_addc(out, '\n');
		text_lines(lacks, "  ", out);
	}
}

static int is_fine(const json_t *v)
{
	const json_t *h;
	size_t i;

	if (json_array_size(json_object_get(v, "errors")))
		return 0;
	json_array_foreach(json_object_get(v, "hosts"), i,
		h) if (json_array_size(json_object_get(h, "lacks"))) return 0;
	return 1;
}

static void plan_line(const struct planfile *f, struct buf *out)
{
	const struct plan *p = f->plan;

	buf_adds(out, "plan ");
	print_safe(p->name, out);
	buf_addf(out, ": %zu layout%s, %zu workload%s, ", p->n_layouts,
		p->n_layouts == 1 ? "" : "s", p->n_workloads, p->n_workloads == 1 ? "" : "s");
	if (p->until > 0)
		buf_addf(out, "%u…%u blocks, until every 95%% interval is within ±%g%%\n",
			p->trials_min, p->trials_max, round(p->until * 1e6) / 1e4);
	else
		buf_addf(out, "%u block%s\n", p->trials_max, p->trials_max == 1 ? "" : "s");
	buf_addf(out, "sha256 %s\n", p->sha256);
}

/* A check may be made anywhere: what lies on the hosts is left to a dry run. */
static void note_inputs(const struct ctl *c, const struct plan *p)
{
	struct strv inputs = {0}, programs = {0};
	struct buf list = {0};

	for (size_t i = 0; i < p->n_workloads; i++)
		workload_access(&p->workloads[i], &inputs, &programs);
	for (size_t i = 0; i < inputs.n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", inputs.v[i]);
	if (inputs.n)
		ctl_note(c, "files of the hosts are not read here: %s; `arraymark run --dry-run` looks at "
			    "them", buf_str(&list));
	buf_free(&list);
	strv_free(&inputs);
	strv_free(&programs);
}

/* Errors and warnings go to stderr like a compiler's; what the plan means goes to stdout. */
static int check_text(struct ctl *c, const struct planfile *f, const json_t *v, struct err *e)
{
	struct buf out = {0}, wrong = {0};
	size_t n = json_array_size(json_object_get(v, "errors"));
	int r;

	text_lines(json_object_get(v, "errors"), "", &wrong);
	text_lines(json_object_get(v, "warnings"), "warning: ", &wrong);
	ctl_tell(c, buf_str(&wrong));
	if (f->plan) {
		plan_line(f, &out);
		host_lines(json_object_get(v, "hosts"), c->color_out, &out);
		planfile_estimate_text(json_object_get(v, "estimate"), &out);
		note_inputs(c, f->plan);
	}
	r = ctl_out_lines(c, &out, e);
	if (!r && n)
		r = err_set(e, ERR_INPUT, "%s has %zu error%s", f->name, n, n == 1 ? "" : "s");
	else if (!r && !is_fine(v))
		r = err_set(e, ERR_INPUT, "%s can't run on every host it names", f->name);
	buf_free(&out);
	buf_free(&wrong);
	return r;
}

static int check(struct ctl *c, const struct args *a, struct err *e)
{
	struct planfile f;
	json_t *v = NULL;
	int r = -1, fine;

	if (planfile_read(a->v[0], a, &f, e))
		return -1;
	if (f.plan && !args_get(a, "offline") && check_there(c, &f, &v, e))
		goto out;
	if (!v)
		v = check_here(&f);
	fine = is_fine(v);
	if (!c->json) {
		r = check_text(c, &f, v, e);
	} else {
		json_object_set_new(v, "file", json_text(f.name));
		r = ctl_out_json(json_incref(v), e) ? -1 : fine ? EXIT_DONE : EXIT_WORK_FAILED;
	}
out:
	json_decref(v);
	planfile_clear(&f);
	return r;
}

static const struct option_spec check_options[] = {
	PLANFILE_OPTION_SET,
	PLANFILE_OPTION_HOSTS,
	{"offline", 0, NULL, "do not ask a coordinator what its hosts lack"},
	{0},
};

const struct verb verb_plan_new = {
	.name = "plan new",
	.args = "[FILE]",
	.summary = "write a commented plan that runs on this machine",
	.help = "Layouts are pools where a ZFS runs, else file systems, else a folder; the other "
		"forms are in it as comments. Without FILE, or with -, it goes to stdout. A file "
		"that is there is never overwritten.\n",
	.examples = "arraymark plan new first.yaml\n"
		"arraymark plan new\n",
	.max_args = 1,
	.run = new_plan,
};
const struct verb verb_plan_check = {
	.name = "plan check",
	.args = "FILE",
	.summary = "all errors of a plan, what hosts lack for it, what it costs",
	.help = "Errors are FILE:LINE:COLUMN: WHERE: WHAT, all of them in one pass. With a "
		"coordinator each host is looked at, too. FILE - is standard input.\n",
	.examples = "arraymark plan check plan.yaml\n"
		"arraymark plan check --offline plan.yaml\n"
		"arraymark plan check --hosts tag:pool-node --set trials=8 plan.yaml\n",
	.options = check_options,
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = check,
};
