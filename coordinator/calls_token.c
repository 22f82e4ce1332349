/* Calls about enrolment tokens. A token's text leaves the coordinator once, in the answer. */
#include <stdlib.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/call.h"
#include "coordinator/enrol.h"

static void on_token(void *arg, const struct err *e)
{
	struct call *c = arg;
	struct new_token *t = c->data;
	char at[UNITS_LEN];
	json_t *o;

	coordinator_op_end(c->co);
	if (e) {
		free(t);
		call_fail(c, e);
		return;
	}
	o = json_object();
	log_info("enrol", "token %s for %s %s made by %s", t->id, tls_role_name(t->role), t->name,
		call_user(c));
	json_object_set_new(o, "token", json_text(t->text));
	json_object_set_new(o, "id", json_text(t->id));
	json_object_set_new(o, "role", json_text(tls_role_name(t->role)));
	json_object_set_new(o, "name", json_text(t->name));
	json_object_set_new(o, "expires", json_text(units_wall_rfc3339(t->expires_wall_ns, at)));
	free(t);
	call_line(c, o);
	call_end(c);
}

void call_token_create(struct call *c)
{
	struct new_token t, *kept;
	struct err e;

	if (enrol_token_new(c->co->pki.fingerprint, c->in.role, c->in.target, c->in.ttl_s, &t, &e)) {
		call_fail(c, &e);
		return;
	}
	kept = c->data = xmemdup(&t, sizeof(t));
	coordinator_op_begin(c->co);
	store_token_create(c->co->store, kept->sha256, kept->id, tls_role_name(kept->role), kept->name,
		kept->expires_wall_ns, on_token, c);
}

void call_token_list(struct call *c)
{
	call_query(c, QUERY_TOKENS, NULL);
}

static void on_revoked(void *arg, const struct err *e)
{
	struct call *c = arg;
	json_t *o;

	coordinator_op_end(c->co);
	if (e) {
		call_fail(c, e);
		return;
	}
	o = json_object();
	log_info("enrol", "token %s revoked by %s", c->in.target, call_user(c));
	json_object_set_new(o, "id", json_text(c->in.target));
	json_object_set_new(o, "revoked", json_true());
	call_line(c, o);
	call_end(c);
}

void call_token_revoke(struct call *c)
{
	coordinator_op_begin(c->co);
	store_token_revoke(c->co->store, c->in.target, on_revoked, c);
}
