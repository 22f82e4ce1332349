/* host list|tag|pause|revoke|remove: the fleet. What hosts are made of is in host_show.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"

static void add_seen(struct grid *t, const json_t *v, struct buf *scratch)
{
	int64_t s = print_time_seconds(json_get_str(v, "last_seen", NULL));

	buf_reset(scratch);
	if (s >= 0)
		print_ago(clock_wall_ns() / NS_PER_S - s, scratch);
	grid_add(t, buf_str(scratch));
}

static void add_state(struct grid *t, const json_t *v)
{
	const char *state = json_get_str(v, "state", "-");
	char *text =
		json_get_bool(v, "paused", 0) ? xasprintf("%s, paused", state) : xstrdup(state);

	grid_add_color(t, text, print_state_color(state));
	free(text);
}

static void add_tags(struct grid *t, const json_t *v, struct buf *scratch)
{
	const json_t *tag;
	size_t i;

	buf_reset(scratch);
	json_array_foreach(json_object_get(v, "tags"), i, tag) buf_addf(
		scratch, "%s%s", i ? " " : "", json_is_string(tag) ? json_string_value(tag) : "?");
	grid_add(t, buf_str(scratch));
}

static void add_host(struct grid *t, const json_t *v)
{
	double offset = json_get_num(v, "clock_offset_s", NAN);
	int64_t run = json_get_int(v, "run", 0);
	struct buf scratch = {0};

	grid_add(t, json_get_str(v, "host", NULL));
	add_state(t, v);
	if (run > 0)
		grid_addf(t, "%lld", (long long)run);
	else
		grid_add(t, NULL);
	add_seen(t, v, &scratch);
	if (isfinite(offset))
		grid_addf(t, "%+.3fs", units_rounded(offset, 3));
	else
		grid_add(t, NULL);
	grid_addf(t, "%lld of %lld", (long long)json_get_int(v, "disks_allowed", 0),
		(long long)json_get_int(v, "disks", 0));
	grid_add(t, json_get_str(v, "zfs", NULL));
	grid_add(t, json_get_str(v, "version", NULL));
	add_tags(t, v, &scratch);
	buf_free(&scratch);
}

static int list(struct ctl *c, const struct args *a, struct err *e)
{
	static const char *const heads[] = {
		"HOST", "STATE", "RUN", "SEEN", "CLOCK", "DISKS", "ZFS", "AGENT", "TAGS", NULL};
	static const unsigned char order[] = {7, 6, 4, 5, 8, 255};
	struct msg_call call = {.verb = CALL_HOSTS};
	unsigned hidden;
	struct buf out = {0};
	struct grid t;
	json_t *all, *v;
	size_t i;
	int r;

	(void)a;
	if (connection_collect(c, &call, &all, e))
		return -1;
	if (c->json)
		return ctl_out_json(json_pack("{s:o}", "hosts", all), e);
	grid_init(&t, heads, 1 << 2 | 1 << 4);
	json_array_foreach(all, i, v) add_host(&t, v);
	if (c->width_out) {
		grid_hide(&t, 2, "-");
		grid_hide(&t, 6, "-");
	}
	hidden = grid_fit(&t, c->width_out, order);
	grid_print(&t, c->color_out, &out);
	r = ctl_out(&out, e);
	if (hidden)
		ctl_note(c, "more columns fit a wider terminal; `host show HOST` has all");
	if (!json_array_size(all))
		ctl_note(c, "no hosts: `arraymark token create HOST` makes the token for the first "
			    "one");
	grid_clear(&t);
	buf_free(&out);
	json_decref(all);
	return r;
}

/* A call that answers with one HOST: shown as JSON, or as a sentence for people. */
static int change(struct ctl *c, const struct msg_call *call, const char *sentence, struct err *e)
{
	json_t *v;

	if (connection_one(c, call, &v, e))
		return -1;
	if (c->json)
		return ctl_out_json(v, e);
	ctl_note(c, "%s %s", json_get_str(v, "host", call->target), sentence);
	json_decref(v);
	return 0;
}

static int tag(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_HOST_TAG, .target = a->v[0]};
	struct buf done = {0};
	int r;

	for (int i = 1; i < a->n; i++) {
		if ((a->v[i][0] != '+' && a->v[i][0] != '-') || !a->v[i][1]) {
			strv_free(&call.args);
			buf_free(&done);
			return err_set(e, ERR_USAGE, "'%s': +TAG or -TAG is expected", a->v[i]);
		}
		strv_add(&call.args, a->v[i]);
		buf_addf(&done, "%s%s", i > 1 ? " " : "tags changed: ", a->v[i]);
	}
	r = change(c, &call, buf_str(&done), e);
	strv_free(&call.args);
	buf_free(&done);
	return r;
}

static int pause_host(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_HOST_PAUSE, .target = a->v[0]};
	const char *what = a->n > 1 ? a->v[1] : "on";
	int r;

	if (strcmp(what, "on") && strcmp(what, "off"))
		return err_set(e, ERR_USAGE, "'%s': on or off is expected", what);
	strv_add(&call.args, what);
	r = change(c, &call,
		strcmp(what, "on") ? "takes jobs again"
				   : "is paused: no new job starts there; a running one goes on",
		e);
	strv_free(&call.args);
	return r;
}

static int revoke(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_HOST_REVOKE, .target = a->v[0]};
	long long revoked, cut;
	json_t *v;

	if (connection_one(c, &call, &v, e))
		return -1;
	if (c->json)
		return ctl_out_json(v, e);
	revoked = (long long)json_get_int(v, "revoked", 0);
	cut = (long long)json_get_int(v, "cut", 0);
	json_decref(v);
	if (!revoked && !cut)
		return err_set(e, ERR_NOTFOUND,
			"'%s' has no certificate here that still counts: nothing was revoked",
			a->v[0]);
	ctl_note(c, "%s: %lld certificate%s revoked, %lld connection%s cut", a->v[0], revoked,
		revoked == 1 ? "" : "s", cut, cut == 1 ? "" : "s");
	return 0;
}

static int remove_host(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_HOST_REMOVE, .target = a->v[0]};

	return change(c, &call, "is removed; its results stay", e);
}

const struct verb verb_host_list = {
	.name = "host list",
	.args = "",
	.summary = "hosts: state, last seen, clock, disks, tags",
	.help = "DISKS is how many its policy allows, of how many it has. CLOCK is its wall "
		"clock minus the coordinator's.\n",
	.examples = "arraymark host list\n"
		"arraymark host list --json\n",
	.of_fleet = PRIVATE_NAMED,
	.run = list,
};
const struct verb verb_host_tag = {
	.name = "host tag",
	.args = "HOST +TAG|-TAG…",
	.summary = "add tags to a host, or take them off",
	.help = "Tags that the host's own policy gives it can't be taken off here.\n",
	.examples = "arraymark host tag knew +pool-node -spare\n",
	.min_args = 2,
	.max_args = -1,
	.in_order = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = tag,
};
const struct verb verb_host_pause = {
	.name = "host pause",
	.args = "HOST [on|off]",
	.summary = "keep new jobs from a host, or let them again",
	.help = "",
	.examples = "arraymark host pause knew\n"
		"arraymark host pause knew off\n",
	.min_args = 1,
	.max_args = 2,
	.of_fleet = PRIVATE_NAMED,
	.run = pause_host,
};
const struct verb verb_host_revoke = {
	.name = "host revoke",
	.args = "HOST|USER",
	.summary = "revoke its certificates and cut its connections",
	.help = "It may enrol again with a new token.\n",
	.examples = "arraymark host revoke knew\n",
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NEVER,
	.run = revoke,
};
const struct verb verb_host_remove = {
	.name = "host remove",
	.args = "HOST",
	.summary = "forget a host; its results stay",
	.help = "Its certificates are revoked. Refused while a run still needs it.\n",
	.examples = "arraymark host remove knew\n",
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = remove_host,
};
