/* runs: the list of runs, newest first. */
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec runs_options[] = {
	{"all", 'a', NULL, "all of them (without it: the newest 20)"},
	{0},
};
#define RUNS_SHOWN 20

static void add_times(struct grid *t, const json_t *v)
{
	int64_t from = print_time_seconds(json_get_str(v, "started", NULL));
	int64_t to = print_time_seconds(json_get_str(v, "finished", NULL));
	struct buf text = {0};
	char took[UNITS_LEN];

	print_time(json_get_str(v, "created", NULL), &text);
	grid_add(t, buf_str(&text));
	buf_free(&text);
	if (to < 0 && json_get_int(v, "units", 0))
		to = clock_wall_ns() / NS_PER_S;
	grid_add(t, from < 0 || to < from ? NULL : units_duration((to - from) * NS_PER_S, took));
}

static void add_run(struct grid *t, const json_t *v)
{
	const char *state = json_get_str(v, "state", NULL);
	const char *host = json_get_str(v, "host", NULL);

	grid_addf(t, "%lld", (long long)json_get_int(v, "run", 0));
	grid_add(t, json_get_str(v, "name", NULL));
	grid_add_color(t, state, print_state_color(state));
	if (host)
		grid_add(t, host);
	else
		grid_addf(t, "%lld hosts", (long long)json_get_int(v, "jobs", 0));
	if (json_get_int(v, "units", 0))
		grid_addf(t, "%lld/%lld", (long long)json_get_int(v, "units_done", 0),
			(long long)json_get_int(v, "units", 0));
	else
		grid_add(t, NULL); /* imported */
	add_times(t, v);
	grid_add(t, json_get_str(v, "user", NULL));
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	static const char *const heads[] = {
		"RUN", "NAME", "STATE", "HOST", "BUILDS", "FILED", "TOOK", "USER", NULL};
	static const unsigned char order[] = {7, 6, 4, 5, 255};
	struct msg_call call = {.verb = CALL_RUNS};
	size_t i, most = args_get(a, "all") ? SIZE_MAX : RUNS_SHOWN;
	struct buf out = {0};
	struct grid t;
	json_t *all, *v;
	int r;

	if (connection_collect(c, &call, &all, e))
		return -1;
	if (c->json)
		return ctl_out_json(json_pack("{s:o}", "runs", all), e);
	grid_init(&t, heads, 1 | 1 << 4 | 1 << 6);
	json_array_foreach(all, i, v) if (i < most) add_run(&t, v);
	grid_fit(&t, c->width_out, order);
	grid_print(&t, c->color_out, &out);
	r = ctl_out(&out, e);
	if (!json_array_size(all))
		ctl_note(c, "no runs yet: file one with `arraymark run PLAN`, or on this machine alone with "
			    "`arraymark local PLAN`");
	else if (json_array_size(all) > most)
		ctl_note(c, "%zu older ones: --all shows them", json_array_size(all) - most);
	grid_clear(&t);
	buf_free(&out);
	json_decref(all);
	return r;
}

const struct verb verb_runs = {
	.name = "runs",
	.args = "",
	.summary = "runs, newest first: state, hosts, builds done, when",
	.help = "",
	.examples = "arraymark runs\n"
		"arraymark runs --all --json\n",
	.options = runs_options,
	.run = run,
};
