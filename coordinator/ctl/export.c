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

static int on_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct outfile *o = arg;
	json_t *v;

	/* a file of lines that cannot be read back would be found out too late */
	if (client_parse_line(line, len, &v, e))
		return -1;
	json_decref(v);
	return outfile_write(o, line, len, e) || outfile_write(o, "\n", 1, e) ? -1 : 0;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_EXPORT, .target = a->v[0]};
	struct connection conn;
	struct outfile o;
	int r;

	if (connection_open(c, &conn, e))
		return -1;
	r = outfile_open(args_get(a, "output"), &o, e);
	if (!r) {
		r = client_call(conn.client, &call, on_line, &o, e);
		r = outfile_close(&o, !r, e) || r ? -1 : 0;
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
