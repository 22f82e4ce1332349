/* Filing and following. Owns nothing. */
#include "coordinator/ctl/runner.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/fetch.h"
#include "coordinator/ctl/follow.h"
#include "coordinator/ctl/print.h"

#define AGENT_MS 30000
#define AGENT_POLL_MS 50
#define CLEAN_MS 120000 /* for what an earlier agent left */
#define LEFT_SHOWN 8    /* lines */

/* ---- the private agent ---- */

/* Runs that no process follows any more would start again with the agent. */
static int end_leftovers(struct ctl *ctl, struct client *c, struct err *e)
{
	struct msg_call list = {.verb = CALL_RUNS}, cancel = {.verb = CALL_CANCEL};
	json_t *all, *v, *answer;
	char number[24];
	size_t i;
	int r = 0;

	if (client_collect(c, &list, &all, e))
		return -1;
	cancel.target = number;
	strv_add(&cancel.args, "left by an earlier `local`");
	json_array_foreach(all, i, v)
	{
		const char *state = json_get_str(v, "state", "");

		if (r || (strcmp(state, "waiting") && strcmp(state, "running")))
			continue;
		snprintf(number, sizeof(number), "%lld", (long long)json_get_int(v, "run", 0));
		if (!(r = client_one(c, &cancel, &answer, e)))
			json_decref(answer);
		else if (e->code == ERR_WRONG_STATE)
			r = 0;
		ctl_note(ctl,
			"run %s was left unfinished by an earlier `local`: `arraymark -c local "
			"resume %s` goes on with it",
			number, number);
	}
	strv_free(&cancel.args);
	json_decref(all);
	return r;
}

static int join(struct connection *conn, struct err *e)
{
	struct msg_call call = {.verb = CALL_TOKEN_CREATE, .role = (char *)"agent", .ttl_s = 600};
	json_t *v;
	char *line;
	int r;

	call.target = (char *)private_host(conn->private);
	if (client_one(conn->client, &call, &v, e))
		return -1;
	line = xasprintf("%s\n", json_get_str(v, "token", ""));
	json_decref(v);
	r = private_agent_join(conn->private, line, e);
	free(line);
	return r;
}

static int is_cleaning(const json_t *host)
{
	return !strcmp(json_get_str(host, "state", ""), "cleaning");
}

/* Connected, and it has told what it may do now: what an earlier session told may be another policy's. */
static int is_there(const json_t *host)
{
	const char *state = json_get_str(host, "state", "offline");

	return strcmp(state, "offline") && strcmp(state, "new") &&
	       json_get_bool(host, "inventory_current", 0);
}

/* What keeps it from being there. */
static int say_absent(const struct connection *conn, const json_t *host, struct err *e)
{
	const char *note = json_get_str(host, "note", NULL);

	if (is_cleaning(host))
		return err_set(e, ERR_BUSY,
			"what an earlier `local` left is not down after %d s%s%s (log: %s/agent.log)",
			CLEAN_MS / 1000, note ? ": " : "", note ? note : "", private_dir(conn->private));
	return err_set(e, ERR_TIMEOUT, "the private agent is not there after %d s (log: %s/agent.log)",
		AGENT_MS / 1000, private_dir(conn->private));
}

static int await_agent(struct connection *conn, struct err *e)
{
	struct msg_call call = {
		.verb = CALL_HOST_SHOW, .target = (char *)private_host(conn->private)};
	int64_t began = clock_mono_ns(), most;
	json_t *v;
	int r = 1;

	while (r > 0) {
		if (private_agent_check(conn->private, e))
			return -1;
		v = NULL;
		if (client_one(conn->client, &call, &v, e) && e->code != ERR_NOTFOUND)
			return -1;
		most = is_cleaning(v) ? CLEAN_MS : AGENT_MS;
		if (is_there(v))
			r = 0;
		else if (clock_mono_ns() > began + most * NS_PER_MS)
			r = say_absent(conn, v, e);
		else
			client_wait(conn->client, AGENT_POLL_MS);
		json_decref(v);
	}
	return r;
}

/* One that was removed has no certificate that counts. */
static int is_known(struct connection *conn)
{
	struct msg_call call = {
		.verb = CALL_HOST_SHOW, .target = (char *)private_host(conn->private)};
	struct err e;
	json_t *v;

	if (client_one(conn->client, &call, &v, &e))
		return 0;
	json_decref(v);
	return 1;
}

/* What an earlier agent had built when it was killed. */
static void tell_found(struct ctl *ctl, const struct private *p)
{
	struct strv left = {0};

	private_left(p, &left);
	if (left.n)
		ctl_note(ctl, "an earlier `local` was cut off and left this, which is taken down first:");
	for (size_t i = 0; i < left.n && i < LEFT_SHOWN; i++)
		ctl_note(ctl, "  %s", left.v[i]);
	if (left.n > LEFT_SHOWN)
		ctl_note(ctl, "  and %zu more", left.n - LEFT_SHOWN);
	strv_free(&left);
}

static void warn_left(void *ctl, const char *text)
{
	ctl_warn(ctl, "%s", text);
}

int runner_prepare(struct ctl *ctl, struct connection *conn, const char *policy, struct err *e)
{
	struct private *p = conn->private;

	if (!p)
		return 0;
	if (private_agent_lock(p, e) || end_leftovers(ctl, conn->client, e))
		return -1;
	private_on_left(p, warn_left, ctl);
	if ((private_needs_token(p) || !is_known(conn)) && join(conn, e))
		return -1;
	tell_found(ctl, p);
	return private_agent_start(p, policy, e) || await_agent(conn, e) ? -1 : 0;
}

/* ---- filing ---- */

static void note_filed(struct ctl *ctl, const json_t *filed)
{
	const json_t *jobs = json_object_get(filed, "jobs"), *j;
	long long blocks = (long long)json_get_int(filed, "blocks", 0);
	long long units = (long long)json_get_int(filed, "units", 0);
	const json_t *least = json_object_get(json_object_get(filed, "estimate"), "least");
	struct buf offline = {0};
	size_t i;

	ctl_note(ctl, "run %lld (%s): %zu host%s, %s%lld block%s, %lld build%s each",
		(long long)json_get_int(filed, "run", 0), json_get_str(filed, "name", ""),
		json_array_size(jobs), json_array_size(jobs) == 1 ? "" : "s",
		json_is_object(least) ? "at most " : "", blocks,
		blocks == 1 ? "" : "s", units, units == 1 ? "" : "s");
	json_array_foreach(jobs, i, j) if (!json_get_bool(j, "online", 1))
		buf_addf(&offline, "%s%s", offline.len ? ", " : "", json_get_str(j, "host", "-"));
	if (offline.len)
		ctl_warn(ctl, "offline now, their jobs wait: %s", buf_str(&offline));
	buf_free(&offline);
}

static void take_private_host(const struct connection *conn, struct planfile *f)
{
	strv_free(&f->hosts);
	strv_add(&f->hosts, private_host(conn->private));
}

int runner_prepare_plan(
	struct ctl *ctl, struct connection *conn, struct planfile *f, struct err *e)
{
	if (!conn->private)
		return 0;
	if (runner_prepare(ctl, conn, NULL, e) && e->code != ERR_BUSY)
		return -1;
	take_private_host(conn, f);
	return 0;
}

/* Nobody looks a second time at one machine: all that it lacks is told at once. e is kept when that
 * is but one thing. */
static void tell_lacks(
	struct ctl *ctl, struct client *c, struct msg_call *call, const char *name, struct err *e)
{
	const json_t *h, *lacks;
	struct err why;
	json_t *v, *s;
	size_t i, j;

	call->verb = CALL_PLAN_CHECK;
	if (client_one(c, call, &v, &why))
		return;
	json_array_foreach(json_object_get(v, "hosts"), i, h)
	{
		lacks = json_object_get(h, "lacks");
		if (json_array_size(lacks) < 2)
			continue;
		json_array_foreach(lacks, j, s) strv_add(&ctl->more, json_string_value(s));
	}
	if (ctl->more.n)
		err_set(e, ERR_INPUT, "%s can't run on this machine", name);
	json_decref(v);
}

int runner_file(
	struct ctl *ctl, struct connection *conn, struct planfile *f, json_t **ret, struct err *e)
{
	struct msg_call call;
	const json_t *w;
	json_t *v;
	size_t i;

	if (conn->private)
		take_private_host(conn, f);
	planfile_call(f, CALL_RUN_CREATE, &call);
	if (client_one(conn->client, &call, &v, e)) {
		if (conn->private && e->code == ERR_INPUT)
			tell_lacks(ctl, conn->client, &call, f->name, e);
		return -1;
	}
	json_array_foreach(json_object_get(v, "warnings"), i, w)
	{
		/* the plan's own were shown before it was sent */
		if (json_is_string(w) && !strv_has(&f->plan->warnings, json_string_value(w)))
			ctl_warn(ctl, "%s", json_string_value(w));
	}
	note_filed(ctl, v);
	*ret = v;
	return 0;
}

void runner_note_detached(struct ctl *ctl, uint64_t run)
{
	char command[CTL_COMMAND_LEN];
	unsigned long long n = run;

	ctl_command(ctl, command);
	ctl_note(ctl,
		"run %llu goes on without us: `%s watch %llu` follows it, `%s cancel %llu` ends it",
		n, command, n, command, n);
}

/* ---- the end ---- */

static int fetch_results(
	struct ctl *ctl, struct client *c, uint64_t run, struct buf *out, struct err *e)
{
	struct report_options o = {.color = ctl->color_out, .width = ctl->width_out};
	char *target = xasprintf("%llu", (unsigned long long)run);
	struct result_set set = {0};
	int r = fetch_run(c, target, PLOTS_NONE, &set, e);

	if (!r)
		r = fetch_report(&set, ctl->json ? "json" : "text", &o, out, e);
	result_set_clear(&set);
	free(target);
	return r;
}

static void copy_member(json_t *to, const json_t *from, const char *key)
{
	json_t *v = json_object_get(from, key);

	json_object_set_new(to, key, v ? json_incref(v) : json_null());
}

static int print_json(
	const json_t *filed, const struct follow_end *end, const struct buf *report, struct err *e)
{
	json_t *doc = follow_json(end), *parsed;

	copy_member(doc, filed, "sha256"); /* what RESUME does not tell is null */
	copy_member(doc, filed, "seed");
	if (report->len &&
		!json_parse("the report", report->data, report->len, report->len, &parsed, e))
		json_object_set_new(doc, "report", parsed);
	return ctl_out_json(doc, e);
}

static int print_end(struct ctl *ctl, struct connection *conn, const json_t *filed,
	const struct follow_end *end, struct err *e)
{
	struct buf out = {0}, report = {0};
	int r = 0;

	if (conn->private)
		r = fetch_results(ctl, conn->client, end->run, &report, e);
	if (!r && ctl->json) {
		r = print_json(filed, end, &report, e);
	} else if (!r) {
		follow_end_text(end, ctl->color_out, &out);
		if (report.len)
			buf_addc(&out, '\n');
		buf_add(&out, report.data, report.len);
		r = ctl_out(&out, e);
	}
	buf_free(&report);
	buf_free(&out);
	return r;
}

static void note_end(struct ctl *ctl, const struct connection *conn, const struct follow_end *end)
{
	char command[CTL_COMMAND_LEN];
	unsigned long long n = end->run;

	ctl_command(ctl, command);
	if (end->state && !strcmp(end->state, "done"))
		ctl_note(ctl, "`%s report %llu%s", command, n,
			conn->private ? " --long` prints more" : "` prints its results");
	else
		ctl_note(ctl, "`%s show %llu` tells why; `%s resume %llu` runs what is missing",
			command, n, command, n);
}

static int check_agent(void *arg, struct err *e)
{
	if (!private_agent_check(arg, e))
		return 0;
	return private_agent_again(arg, e) ? -1 : 1;
}

int runner_follow(struct ctl *ctl, struct connection *conn, const json_t *filed, int attached,
	struct err *e)
{
	uint64_t run = (uint64_t)json_get_int(filed, "run", 0);
	char *target = xasprintf("%llu", (unsigned long long)run);
	struct follow_options o = {.run = target,
		.known = 1,
		.cancel = attached || conn->private,
		.check = conn->private ? check_agent : NULL,
		.check_arg = conn->private};
	struct follow_end end;
	int status = follow_run(ctl, conn->client, &o, &end, e);

	free(target);
	if (status)
		return -1;
	status = follow_status(&end);
	if (end.interrupted && !o.cancel)
		runner_note_detached(ctl, run);
	else if (!client_is_stopped(conn->client) && print_end(ctl, conn, filed, &end, e))
		status = -1;
	else
		note_end(ctl, conn, &end);
	follow_end_clear(&end);
	return status;
}
