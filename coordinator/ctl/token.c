/* token create|list|revoke: one-time enrolment of hosts and users. */
#include <inttypes.h>
#include <string.h>

#include "common/base/units.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"

static const struct option_spec create_options[] = {
	{"role", 'r', "ROLE", "agent (default; NAME is the host), viewer, operator or admin"},
	{"ttl", 't', "TIME", "how long it can be used: 24h (default), at most 30d"},
	{0},
};

#define TTL_MAX_NS (30 * 24 * 3600 * NS_PER_S)

static int is_role(const char *word)
{
	static const char *const roles[] = {"agent", "viewer", "operator", "admin"};

	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (!strcmp(roles[i], word))
			return 1;
	return 0;
}

static int check_role(const char *role, struct err *e)
{
	if (is_role(role))
		return 0;
	return err_set(e, ERR_USAGE, "'%s' is no role: agent, viewer, operator or admin is expected",
		role);
}

static int read_ttl(const struct args *a, uint64_t *ret_s, struct err *e)
{
	const char *text = args_get(a, "ttl");
	int64_t ns = 0;

	if (text && units_parse_time(text, &ns, e)) {
		e->code = ERR_USAGE;
		return err_prefix(e, "--ttl");
	}
	if (text && (ns < NS_PER_S || ns > TTL_MAX_NS))
		return err_set(e, ERR_USAGE, "--ttl %s: 1s to 30d is expected", text);
	*ret_s = (uint64_t)(ns / NS_PER_S);
	return 0;
}

/* What to do with the token; address is the coordinator's, or "local" or a socket's path, which
 * nobody can log in to. */
static void note_use(struct ctl *c, const json_t *v, const char *role, const char *address)
{
	const char *command = strcmp(role, "agent") ? "arraymark login" : "arraymark-agent join";
	struct buf until = {0};

	print_time(json_get_str(v, "expires", NULL), &until);
	ctl_note(c, "for %s %s, once, until %s: give it to `%s %s` on stdin",
		strcmp(role, "agent") ? "user" : "host", json_get_str(v, "name", ""), buf_str(&until),
		command, strchr(address, '/') ? "HOST:PORT" : address);
	buf_free(&until);
}

static int create(struct ctl *c, const struct args *a, struct err *e)
{
	const char *role = args_get(a, "role");
	struct msg_call call = {.verb = CALL_TOKEN_CREATE, .target = a->v[a->n - 1]};
	struct connection conn;
	struct buf out = {0};
	json_t *v = NULL;
	int r;

	if (role && a->n > 1)
		return err_set(
			e, ERR_USAGE, "the role is given twice: '%s' and --role %s", a->v[0], role);
	if (a->n > 1)
		role = a->v[0];
	else if (!role && is_role(a->v[0]))
		return err_set(e, ERR_USAGE,
			"'%s' is a role: NAME is missing behind it (for a host of that name: --role agent %s)",
			a->v[0], a->v[0]);
	role = role ? role : "agent";
	call.role = (char *)role;
	if (check_role(role, e) || read_ttl(a, &call.ttl_s, e) || connection_open(c, &conn, e))
		return -1;
	r = client_one(conn.client, &call, &v, e);
	if (!r && c->json) {
		r = ctl_out_json(json_incref(v), e);
	} else if (!r) {
		print_safe(json_get_str(v, "token", ""), &out);
		buf_addc(&out, '\n');
		r = ctl_out(&out, e);
		note_use(c, v, role, client_target_name(conn.client));
	}
	buf_free(&out);
	json_decref(v);
	connection_close(&conn);
	return r;
}

static int list(struct ctl *c, const struct args *a, struct err *e)
{
	static const char *const heads[] = {"ID", "ROLE", "NAME", "STATE", "EXPIRES", NULL};
	struct msg_call call = {.verb = CALL_TOKEN_LIST};
	struct buf out = {0}, time = {0};
	struct grid t;
	json_t *all, *v;
	size_t i;
	int r;

	(void)a;
	if (connection_collect(c, &call, &all, e))
		return -1;
	if (c->json)
		return ctl_out_json(json_pack("{s:o}", "tokens", all), e);
	grid_init(&t, heads, 0);
	json_array_foreach(all, i, v)
	{
		const char *state = json_get_str(v, "state", NULL);

		buf_reset(&time);
		print_time(json_get_str(v, "expires", NULL), &time);
		grid_add(&t, json_get_str(v, "id", NULL));
		grid_add(&t, json_get_str(v, "role", NULL));
		grid_add(&t, json_get_str(v, "name", NULL));
		grid_add_color(&t, state, print_state_color(state));
		grid_add(&t, buf_str(&time));
	}
	grid_print(&t, c->color_out, &out);
	r = ctl_out(&out, e);
	if (!json_array_size(all))
		ctl_note(c, "no tokens");
	grid_clear(&t);
	buf_free(&out);
	buf_free(&time);
	json_decref(all);
	return r;
}

static int revoke(struct ctl *c, const struct args *a, struct err *e)
{
	struct msg_call call = {.verb = CALL_TOKEN_REVOKE, .target = a->v[0]};
	json_t *v;

	if (connection_one(c, &call, &v, e))
		return -1;
	if (c->json)
		return ctl_out_json(v, e);
	ctl_note(c, "token %s can't be used any more", json_get_str(v, "id", a->v[0]));
	json_decref(v);
	return 0;
}

const struct verb verb_token_create = {
	.name = "token create",
	.args = "[ROLE] NAME",
	.summary = "print a one-time token for a host or a user",
	.help = "The token is all that stdout gets. The same token can be tried again with the "
		"same key; any other second use is refused.\n",
	.examples = "arraymark token create knew\n"
		"arraymark token create --role operator --ttl 2h dan\n",
	.options = create_options,
	.min_args = 1,
	.max_args = 2,
	.of_fleet = PRIVATE_NEVER,
	.run = create,
};
const struct verb verb_token_list = {
	.name = "token list",
	.args = "",
	.summary = "tokens: for whom, used or not, until when",
	.help = "",
	.examples = "arraymark token list\n",
	.of_fleet = PRIVATE_NAMED,
	.run = list,
};
const struct verb verb_token_revoke = {
	.name = "token revoke",
	.args = "ID",
	.summary = "make a token useless",
	.help = "What was enrolled with it stays enrolled: see `host revoke`.\n",
	.examples = "arraymark token revoke 3f9a12c4\n",
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NEVER,
	.run = revoke,
};
