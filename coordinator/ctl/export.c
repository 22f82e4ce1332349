/* export: everything about a run as JSON lines. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/outfile.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec export_options[] = {
	{"output", 'o', "FILE", "write there instead of stdout"},
	{0},
};

struct writing {
	struct outfile o;
	uint64_t lines; /* written so far */
	int is_whole;   /* the last one was the end line, and counts right */
};

/* A file that cannot be read back would be found out too late. */
static int on_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct writing *w = arg;
	json_t *v;

	if (client_parse_line(line, len, &v, e))
		return -1;
	w->is_whole = !strcmp(json_get_str(v, "type", ""), "end") &&
		      (uint64_t)json_get_int(v, "lines", 0) == w->lines;
	w->lines++;
	json_decref(v);
	return outfile_write(&w->o, line, len, e) || outfile_write(&w->o, "\n", 1, e) ? -1 : 0;
}

static int check_whole(const struct writing *w, struct err *e)
{
	if (w->is_whole)
		return 0;
	return err_set(e, ERR_PROTOCOL,
		"the coordinator's lines end without an end line that counts them: what was "
		"written is not all of the run; is arraymark-coordinator of an older version?");
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_EXPORT, .target = a->v[0]};
	struct connection conn;
	struct writing w = {0};
	int r;

	if (connection_open(c, &conn, e))
		return -1;
	r = outfile_open(args_get(a, "output"), &w.o, e);
	if (!r) {
		r = client_call(conn.client, &call, on_line, &w, e) || check_whole(&w, e);
		r = outfile_close(&w.o, !r, e) || r ? -1 : 0;
	}
	connection_close(&conn);
	return r;
}

const struct verb verb_export = {
	.name = "export",
	.args = "RUN",
	.summary = "everything about a run as JSON lines",
	.help = "`report` reads such a file without a coordinator.\n",
	.examples = "arraymark export last --output run.jsonl\n",
	.options = export_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
