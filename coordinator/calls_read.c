/* Calls that only read: runs, show, export, whoami. */
#include "common/base/json.h"
#include "coordinator/call.h"
#include "coordinator/listener.h"

void call_runs(struct call *c)
{
	call_query(c, QUERY_RUNS, NULL);
}

void call_show(struct call *c)
{
	call_query(c, QUERY_SHOW, c->in.target);
}

void call_export(struct call *c)
{
	call_query(c, QUERY_EXPORT, c->in.target);
}

void call_whoami(struct call *c)
{
	const struct tls_peer *p = &c->session->peer;
	json_t *o = json_object();

	json_object_set_new(o, "name", json_text(p->name));
	json_object_set_new(o, "role", json_text(tls_role_name(p->role)));
	json_object_set_new(o, "coordinator", json_text(ARRAYMARK_VERSION));
	json_object_set_new(o, "store_epoch", json_text(store_epoch(c->co->store)));
	json_object_set_new(o, "listen", json_text(listener_address(c->co->listener)));
	call_line(c, o);
	call_end(c);
}
