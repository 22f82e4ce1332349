/* watch: follows a run that was filed before. */
#include <stdlib.h>

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/follow.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/runner.h"
#include "coordinator/ctl/verbs.h"

static int print_end(struct ctl *c, const struct follow_end *end, struct err *e)
{
	struct buf out = {0};
	int r;

	follow_end_text(end, c->color_out, &out);
	r = ctl_out(&out, e);
	buf_free(&out);
	return r;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct follow_options o = {.run = a->v[0], .as_lines = c->json};
	struct connection conn;
	struct follow_end end;
	int status = -1;

	if (connection_open(c, &conn, e))
		return -1;
	if (!follow_run(c, conn.client, &o, &end, e)) {
		status = follow_status(&end);
		if (end.interrupted && end.run)
			runner_note_detached(c, end.run);
		else if (!end.interrupted && !c->json && print_end(c, &end, e))
			status = -1;
		follow_end_clear(&end);
	}
	connection_close(&conn);
	return status;
}

const struct verb verb_watch = {
	.name = "watch",
	.args = "RUN",
	.summary = "follow a run live: a bar, block, phase, rate, time left per host",
	.help = "Without a terminal: a line per event. With --json: JSON lines on stdout. The "
		"status is 1 when the run fails or is cancelled. It outlives restarts of the "
		"coordinator.\n",
	.examples = "arraymark watch 12\n"
		"arraymark watch last --json\n",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
