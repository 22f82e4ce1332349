/*
 * import: results of other tools, or of another coordinator, into the store as a run of its own.
 * What the files say is read here; the coordinator gets export lines and checks them again.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/fetch.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"
#include "coordinator/results/export.h"

static const struct option_spec import_options_given[] = {
	{"as", 'a', "RUNNAME", "what the run is called"},
	{"layout", 0, "LAYOUT", "of these results (else what the file says, or the file's name)"},
	{"workload", 0, "WORKLOAD", "of these results"},
	{"host", 'H', "HOST", "they were measured on, where the file does not say"},
	{"format", 'f', "FORMAT", "what the files are: dd, fio, time, …; elsewhere --input-format"},
	{"long", 'l', NULL, "also what each line of the files was taken for"},
	{0},
};

struct request {
	const char *name;
	struct import_options options;
	struct result_set set;
	struct buf log, doubts;
};

static int read_options(const struct args *a, struct request *q, struct err *e)
{
	struct import_options *o = &q->options;
	const char *format = args_get(a, "format");
	struct err why;

	q->name = args_get(a, "as");
	if (!q->name)
		return err_set(e, ERR_USAGE, "--as RUNNAME is missing: what is the run called?");
	if (plan_check_name(q->name, "run", 0, e)) {
		e->code = ERR_USAGE;
		return err_prefix(e, "--as");
	}
	o->run = q->name;
	o->doubts = &q->doubts;
	o->layout = args_get(a, "layout");
	o->workload = args_get(a, "workload");
	o->host = args_get(a, "host");
	if (format && !fetch_format_check(format, &why))
		return err_set(e, ERR_USAGE,
			"--format %s: here it says what the files are; `arraymark report %s --format %s` "
			"prints the run afterwards",
			format, q->name, format);
	return fetch_format("--format", format, &o->format, e);
}

/* All files become one run; an export is a run already. */
static int read_file(struct request *q, const char *path, int n_files, struct err *e)
{
	const struct import_options *o = &q->options;
	uint64_t run;

	if (fetch_import(path, o, &q->set, &q->log, &run, e))
		return -1;
	if (run) {
		q->options.into = run;
		return 0;
	}
	if (n_files > 1 || q->set.n_runs > 1)
		return err_set(e, ERR_INPUT, "%s: %s", path,
			n_files > 1 ? "an export is imported alone"
				    : "an export of several runs: import each alone");
	if (o->layout || o->workload || o->host)
		return err_set(e, ERR_USAGE,
			"%s: an export says itself what --layout, --workload and --host would",
			path);
	return 0;
}

static int read_files(const struct args *a, struct request *q, struct err *e)
{
	for (int i = 0; i < a->n; i++)
		if (read_file(q, a->v[i], a->n, e))
			return -1;
	if (fetch_end(&q->set, e))
		return -1;
	if (q->set.n_runs) {
		free(q->set.runs[0].name);
		q->set.runs[0].name = xstrdup(q->name);
	}
	return result_set_check(&q->set, e);
}

static int write_lines(const struct result_set *s, struct buf *out, struct err *e)
{
	for (size_t i = 0; i < export_items(s) && out->len <= MSG_IMPORT_MAX; i++)
		export_item(s, i, out);
	export_end(s->runs[0].id, export_count_lines(out, 0), out);
	if (out->len > MSG_IMPORT_MAX)
		return err_set(e, ERR_FULL,
			"these are more than %d bytes of results: import them in parts",
			MSG_IMPORT_MAX);
	return 0;
}

static int on_answer(void *arg, const char *line, size_t len, struct err *e)
{
	json_t **answer = arg;

	json_decref(*answer);
	*answer = NULL;
	return client_parse_line(line, len, answer, e);
}

static int send(struct ctl *c, struct request *q, json_t **ret, struct err *e)
{
	struct msg_call call = {.verb = CALL_IMPORT, .target = (char *)q->name};
	struct connection conn;
	struct buf lines = {0};
	json_t *answer = NULL;
	int r = write_lines(&q->set, &lines, e);

	if (!r && !(r = connection_open(c, &conn, e))) {
		r = client_upload(conn.client, &call, lines.data, lines.len, on_answer, &answer, e);
		connection_close(&conn);
	}
	buf_free(&lines);
	if (!r && !answer)
		r = err_set(e, ERR_PROTOCOL, "the coordinator's answer is empty");
	if (r)
		json_decref(answer);
	else
		*ret = answer;
	return r;
}

static void put_number(struct buf *out, const json_t *answer, const char *key, const char *one,
	const char *before)
{
	long long n = (long long)json_get_int(answer, key, 0);

	if (n)
		buf_addf(out, "%s%lld %s%s", before, n, one, n == 1 ? "" : "s");
}

static void print_text(const struct request *q, const json_t *answer, int long_form, struct buf *out)
{
	long long trials = (long long)json_get_int(answer, "trials", 0);

	buf_addf(out, "run %lld (%s): imported ", (long long)json_get_int(answer, "run", 0), q->name);
	put_number(out, answer, "trials", "trial", "");
	if (json_get_int(answer, "summaries", 0) == 1)
		buf_addf(out, "%s1 summary", trials ? " and " : "");
	else if (json_get_int(answer, "summaries", 0))
		buf_addf(out, "%s%lld summaries", trials ? " and " : "",
			(long long)json_get_int(answer, "summaries", 0));
	put_number(out, answer, "layouts", "layout", " of ");
	put_number(out, answer, "workloads", "workload", ", ");
	buf_addc(out, '\n');
	if (long_form && q->log.len)
		print_safe_lines(buf_str(&q->log), "", out);
}

static int print(struct ctl *c, const struct request *q, json_t *answer, int long_form,
	struct err *e)
{
	struct buf out = {0};
	char command[CTL_COMMAND_LEN];
	int r;

	if (c->json && long_form)
		json_object_set_new(answer, "read", fetch_log_json(&q->log));
	if (c->json)
		return ctl_out_json(json_incref(answer), e);
	print_text(q, answer, long_form, &out);
	r = ctl_out(&out, e);
	ctl_note(c, "`%s report %lld` shows them", ctl_command(c, command),
		(long long)json_get_int(answer, "run", 0));
	fetch_warn(c, &q->doubts);
	buf_free(&out);
	return r;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct request q = {0};
	json_t *answer = NULL;
	int r = read_options(a, &q, e);

	r = r ? r : read_files(a, &q, e);
	r = r ? r : send(c, &q, &answer, e);
	r = r ? r : print(c, &q, answer, args_get(a, "long") != NULL, e);
	json_decref(answer);
	result_set_clear(&q.set);
	buf_free(&q.log);
	buf_free(&q.doubts);
	return r;
}

const struct verb verb_import = {
	.name = "import",
	.args = "FILE… --as RUNNAME",
	.summary = "old results into the store, as a run of its own",
	.help = "The files are read as `compare` reads them: outputs of dd, time, fio, "
		"filebench, bonnie++, iozone, elbencho, lists of times, summaries. Several "
		"become one run, each a layout of its own unless --layout or the text says "
		"otherwise. An export of a run, of this or another coordinator, is imported "
		"alone and stays what it was. Afterwards the run is like any other to runs, "
		"show, report, compare and export. Nothing is stored unless all of it can be "
		"read; what is there already is not stored twice.\n",
	.examples = "arraymark import dd-1.txt dd-2.txt --as dd-2019 --host knew\n"
		"arraymark import run.jsonl --as from-the-other-site\n",
	.options = import_options_given,
	.min_args = 1,
	.max_args = -1,
	.run = run,
};
