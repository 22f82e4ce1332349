/* cancel: ends a run; hosts take their volumes down first. */
#include <string.h>

#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/follow.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec cancel_options[] = {
	{"reason", 'r', "TEXT", "kept with the run"},
	{"wait", 'w', NULL, "until every host has taken its volume down"},
	{0},
};

static int is_cleaning(const json_t *v)
{
	const json_t *j;
	size_t i;

	json_array_foreach(json_object_get(v, "jobs"), i,
		j) if (!strcmp(json_get_str(j, "state", ""), "cancelling")) return 1;
	return 0;
}

static void note_jobs(struct ctl *c, const json_t *v, int waiting)
{
	char command[CTL_COMMAND_LEN];
	const json_t *j;
	size_t i;

	json_array_foreach(json_object_get(v, "jobs"), i, j) ctl_note(c, "%s: %s",
		json_get_str(j, "host", "-"),
		strcmp(json_get_str(j, "state", ""), "cancelling") ? "cancelled"
								   : "taking its volume down");
	if (is_cleaning(v) && !waiting)
		ctl_note(c, "`%s watch %lld` tells when it is done", ctl_command(c, command),
			(long long)json_get_int(v, "run", 0));
}

/* The end state of a cancelled run is what was asked for. */
static int wait_end(struct ctl *c, struct client *client, const char *run, struct err *e)
{
	struct follow_options o = {.run = run, .known = 1};
	struct follow_end end;
	int status;

	if (follow_run(c, client, &o, &end, e))
		return -1;
	status = follow_status(&end);
	if (status == EXIT_WORK_FAILED && end.state && !strcmp(end.state, "cancelled"))
		status = EXIT_DONE;
	follow_end_clear(&end);
	return status;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_CANCEL, .target = a->v[0]};
	const char *reason = args_get(a, "reason");
	struct connection conn;
	json_t *v;
	char number[24];
	int r = -1;

	if (connection_open(c, &conn, e))
		return -1;
	if (reason)
		strv_add(&call.args, reason);
	if (!client_one(conn.client, &call, &v, e)) {
		int wait = args_get(a, "wait") && is_cleaning(v);

		snprintf(number, sizeof(number), "%lld", (long long)json_get_int(v, "run", 0));
		note_jobs(c, v, wait);
		r = wait ? wait_end(c, conn.client, number, e) : 0;
		if (r >= 0 && c->json && ctl_out_json(json_incref(v), e))
			r = -1;
		json_decref(v);
	}
	strv_free(&call.args);
	connection_close(&conn);
	return r;
}

const struct verb verb_cancel = {
	.name = "cancel",
	.args = "RUN",
	.summary = "end a run; its volumes are taken down",
	.help = "What was measured stays; `resume` runs what is missing.\n",
	.examples = "arraymark cancel 12 --wait --reason 'the node is needed'\n",
	.options = cancel_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
