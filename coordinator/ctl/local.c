/* local: one machine, no set-up: a plan on a private coordinator and agent. */
#include "coordinator/ctl/runner.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec local_options[] = {
	PLANFILE_OPTION_SET,
	{"policy", 'p', "FILE", "what the agent may do here (default: scratch disks, bench/)"},
	{0},
};

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct connection conn;
	struct planfile f;
	json_t *filed = NULL;
	int r = -1;

	if (c->coordinator)
		return err_set(e, ERR_USAGE, "-c: `local` has a coordinator of its own");
	if (planfile_load(c, a->v[0], a, &f, e))
		return -1;
	c->coordinator = "local";
	if (!connection_open(c, &conn, e)) {
		if (!runner_prepare(c, &conn, args_get(a, "policy"), e) &&
			!runner_file(c, &conn, &f, &filed, e))
			r = runner_follow(c, &conn, filed, 1, e);
		json_decref(filed);
		connection_close(&conn);
	}
	planfile_clear(&f);
	return r;
}

const struct verb verb_local = {
	.name = "local",
	.args = "PLAN",
	.summary = "run a plan on this machine alone: no set-up",
	.help = "A private coordinator and agent are started, used and stopped; the plan's hosts "
		"become this machine. Everything is kept in ~/.local/share/arraymark/local "
		"(root's, unless XDG_DATA_HOME is set, in /var/lib/arraymark-local), and every "
		"verb works on it with -c local. Layouts may stand on scratch disks, or be "
		"`existing` folders under its bench/; --policy allows other things. Ctrl-C "
		"cancels the run and takes its volumes down.\n",
	.examples = "arraymark plan new first.yaml\n"
		"arraymark local first.yaml\n"
		"arraymark local first.yaml --set trials=3\n"
		"arraymark -c local report last --long\n",
	.options = local_options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
