/* Calls that only read: runs, show, export, whoami. */
#include <string.h>

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

/* The words behind the first say whose. */
static void export_series_of(struct call *c)
{
	struct buf target = {0};

	buf_adds(&target, c->in.target);
	for (size_t i = 1; i < c->in.args.n; i++)
		buf_addf(&target, "\n%s", c->in.args.v[i]);
	call_query(c, QUERY_EXPORT_SERIES, target.data);
	buf_free(&target);
}

void call_export(struct call *c)
{
	/* what a report does without; whoever does not say so gets everything */
	const char *for_what = c->in.args.n ? c->in.args.v[0] : "";

	if (strcmp(for_what, "series") == 0)
		export_series_of(c);
	else
		call_query(c, strcmp(for_what, "results") == 0 ? QUERY_EXPORT_REPORT : QUERY_EXPORT,
			c->in.target);
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
