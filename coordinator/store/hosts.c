/*
 * Hosts: inventory as they sent it, flags as operators set them. Owns nothing.
 * Invariant: a host's flags outlive its connection and its inventory; results name hosts by text
 * and outlive the host.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/store_internal.h"

struct host_op {
	struct done_op base;
	char *host, *inventory, *tags;
	size_t inventory_len;
	int64_t seen_wall_ns;
	int paused;
};

static int put_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct host_op *h = (struct host_op *)op;

	return DB_RUN(w->db, e,
		"INSERT INTO hosts(name, last_seen_ns, inventory) VALUES(?1, ?2, ?3)"
		" ON CONFLICT(name) DO UPDATE SET last_seen_ns = excluded.last_seen_ns,"
		" inventory = COALESCE(excluded.inventory, inventory)",
		db_text(h->host), db_int(h->seen_wall_ns), db_blob(h->inventory, h->inventory_len));
}

static int flags_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct host_op *h = (struct host_op *)op;

	return DB_RUN(w->db, e,
		"INSERT INTO hosts(name, tags, paused) VALUES(?1, ?2, ?3)"
		" ON CONFLICT(name) DO UPDATE SET tags = excluded.tags, paused = excluded.paused",
		db_text(h->host), db_text(h->tags), db_int(h->paused != 0));
}

static int remove_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct host_op *h = (struct host_op *)op;
	int64_t run;

	if (DB_QUERY_INT(w->db, e, 0, &run,
		    "SELECT min(run) FROM jobs WHERE host = ?1 AND state < 2",
		    db_text(h->host)) != 0)
		return -1;
	if (run)
		return err_set(e, ERR_BUSY,
			"host '%s': run %lld still needs it: cancel the run first", h->host,
			(long long)run);
	if (DB_RUN(w->db, e, "DELETE FROM hosts WHERE name = ?1", db_text(h->host)) != 0)
		return -1;
	if (db_changes(w->db) == 0)
		return err_set(e, ERR_NOTFOUND, "host '%s' is not known here", h->host);
	return audit_add(w, "host-remove", h->host, "", e);
}

static void host_free(struct op *op)
{
	struct host_op *h = (struct host_op *)op;

	free(h->host);
	free(h->inventory);
	free(h->tags);
	free(h);
}

static const struct write_kind put_kind = {"host-put", put_apply, NULL, done_op_deliver, host_free};
static const struct write_kind flags_kind = {
	"host-flags", flags_apply, NULL, done_op_deliver, host_free};
static const struct write_kind remove_kind = {
	"host-remove", remove_apply, NULL, done_op_deliver, host_free};

static struct host_op *host_op_new(
	const struct write_kind *kind, const char *host, store_done done, void *arg)
{
	struct host_op *h = xcalloc(1, sizeof(*h));

	h->base.op.kind = kind;
	h->base.done = done;
	h->base.arg = arg;
	h->host = xstrdup(host);
	return h;
}

void store_host_put(struct store *s, const char *host, const char *inventory, size_t len,
	int64_t seen_wall_ns, store_done done, void *arg)
{
	struct host_op *h = host_op_new(&put_kind, host, done, arg);

	h->inventory = inventory ? xmemdup(inventory, len) : NULL;
	h->inventory_len = len;
	h->seen_wall_ns = seen_wall_ns;
	writer_submit(s->writer, &h->base.op);
}

void store_host_flags(struct store *s, const char *host, const struct strv *tags, int paused,
	store_done done, void *arg)
{
	struct host_op *h = host_op_new(&flags_kind, host, done, arg);

	h->tags = codec_strv(tags);
	h->paused = paused;
	writer_submit(s->writer, &h->base.op);
}

void store_host_remove(struct store *s, const char *host, store_done done, void *arg)
{
	struct host_op *h = host_op_new(&remove_kind, host, done, arg);

	writer_submit(s->writer, &h->base.op);
}
