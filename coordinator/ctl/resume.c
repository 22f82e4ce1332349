/* resume: failed and cancelled jobs wait again, for what is missing only. */
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/runner.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec resume_options[] = {
	{"detach", 'd', NULL, "do not follow it"},
	{0},
};

static void note_jobs(struct ctl *c, const json_t *v)
{
	const json_t *j;
	size_t i;

	json_array_foreach(json_object_get(v, "jobs"), i, j)
	{
		long long missing = (long long)json_get_int(j, "missing", 0);

		ctl_note(c, "%s: %lld build%s missing%s", json_get_str(j, "host", "-"), missing,
			missing == 1 ? " is" : "s are",
			json_get_bool(j, "online", 1) ? "" : "; it is offline now, the job waits");
	}
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_RESUME, .target = a->v[0]};
	int detached = args_get(a, "detach") != NULL;
	struct connection conn;
	json_t *v;
	int r = -1;

	if (connection_open(c, &conn, e))
		return -1;
	if (detached && conn.private) {
		err_set(e, ERR_USAGE, "--detach: the private coordinator ends with this command");
	} else if (!runner_prepare(c, &conn, NULL, e) && !client_one(conn.client, &call, &v, e)) {
		note_jobs(c, v);
		if (!detached)
			r = runner_follow(c, &conn, v, 0, e);
		else
			r = c->json ? ctl_out_json(json_incref(v), e) : 0;
		json_decref(v);
	}
	connection_close(&conn);
	return r;
}

const struct verb verb_resume = {
	.name = "resume",
	.args = "RUN",
	.summary = "run what is missing of a failed or cancelled run",
	.help = "Complete builds are kept, results are appended. Followed live as with `run`.\n",
	.examples = "arraymark resume 12\n",
	.options = resume_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
