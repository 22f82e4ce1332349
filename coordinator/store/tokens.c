/*
 * Enrolment tokens and the certificates given for them. Owns nothing.
 * Invariant: a token is bound to the first key that used it, for ever; only its SHA-256 is here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/store/store_internal.h"

struct token_op {
	struct done_op base; /* base.done unused by take and revoke-name */
	char *sha256, *id, *role, *name, *key, *serial, *cert;
	int64_t expires_ns;
	store_token_done taken;
	store_revoke_done revoked;
	struct token_use use;
	struct strv serials;
};

static int create_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (DB_RUN(w->db, e,
		    "INSERT INTO tokens(id, sha256, role, name, created_ns, expires_ns)"
		    " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		    db_text(t->id), db_text(t->sha256), db_text(t->role), db_text(t->name),
		    db_int(w->now_ns), db_int(t->expires_ns)) != 0)
		return -1;
	return audit_add(w, "token-create", t->name, t->role, e);
}

/* Why the token in this row may not be used; NULL when it may. */
static const char *token_fault(sqlite3_stmt *row, const char *key, int64_t now_ns)
{
	if (db_get_int(row, 3) != 0)
		return "was revoked";
	if (now_ns >= db_get_int(row, 2))
		return "has expired";
	if (db_get_int(row, 4) != 0 && strcmp(db_get_text(row, 5), key) != 0)
		return "was used before, with another key";
	return NULL;
}

static void read_use(struct token_op *t, sqlite3_stmt *row)
{
	snprintf(t->use.role, sizeof(t->use.role), "%s", db_get_text(row, 0));
	snprintf(t->use.name, sizeof(t->use.name), "%s", db_get_text(row, 1));
	t->use.cert_pem = db_dup_text(row, 6);
}

static int take_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct token_op *t = (struct token_op *)op;
	sqlite3_stmt *row;
	const char *fault;
	int64_t used;
	int more;

	free(t->use.cert_pem);
	t->use = (struct token_use){0};
	if (DB_QUERY(w->db, &row, e,
		    "SELECT role, name, expires_ns, revoked_ns, used_ns, key_fingerprint, "
		    "cert_pem, id"
		    " FROM tokens WHERE sha256 = ?1",
		    db_text(t->sha256)) != 0)
		return -1;
	more = db_next(w->db, row, e);
	if (more < 0)
		return -1;
	if (more == 0)
		return err_set(e, ERR_DENIED, "token is not known");
	fault = token_fault(row, t->key, w->now_ns);
	if (fault) {
		err_set(e, ERR_DENIED, "token %s for %s '%s' %s", db_get_text(row, 7),
			db_get_text(row, 0), db_get_text(row, 1), fault);
		db_done(row);
		return -1;
	}
	read_use(t, row);
	used = db_get_int(row, 4);
	db_done(row);
	if (used)
		return 0;
	if (DB_RUN(w->db, e,
		    "UPDATE tokens SET used_ns = ?2, key_fingerprint = ?3 WHERE sha256 = ?1",
		    db_text(t->sha256), db_int(w->now_ns), db_text(t->key)) != 0)
		return -1;
	return audit_add(w, "token-use", t->use.name, t->use.role, e);
}

static int issued_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (DB_RUN(w->db, e,
		    "UPDATE tokens SET serial = ?2, cert_pem = ?3 WHERE sha256 = ?1 AND cert_pem "
		    "IS NULL"
		    " AND used_ns <> 0",
		    db_text(t->sha256), db_text(t->serial), db_text(t->cert)) != 0)
		return -1;
	if (db_changes(w->db) == 0)
		return err_set(e, ERR_WRONG_STATE, "token was not taken, or has its certificate");
	return DB_RUN(w->db, e,
		"INSERT INTO identities(serial, name, role, token, issued_ns)"
		" SELECT ?2, name, role, id, ?3 FROM tokens WHERE sha256 = ?1",
		db_text(t->sha256), db_text(t->serial), db_int(w->now_ns));
}

static int revoke_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (DB_RUN(w->db, e,
		    "UPDATE tokens SET revoked_ns = CASE revoked_ns WHEN 0 THEN ?2 ELSE revoked_ns "
		    "END"
		    " WHERE id = ?1",
		    db_text(t->id), db_int(w->now_ns)) != 0)
		return -1;
	if (db_changes(w->db) == 0)
		return err_set(e, ERR_NOTFOUND,
			"token '%s' is not known: see `arraymark token list`", t->id);
	return audit_add(w, "token-revoke", t->id, "", e);
}

static int read_serials(struct token_op *t, struct write_ctx *w, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	strv_free(&t->serials);
	if (DB_QUERY(w->db, &row, e,
		    "SELECT serial FROM identities WHERE name = ?1 ORDER BY serial",
		    db_text(t->name)) != 0)
		return -1;
	while ((more = db_next(w->db, row, e)) == 1)
		strv_add(&t->serials, db_get_text(row, 0));
	return more;
}

static int revoke_name_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (read_serials(t, w, e) != 0)
		return -1;
	if (DB_RUN(w->db, e,
		    "UPDATE identities SET revoked_ns = ?2 WHERE name = ?1 AND revoked_ns = 0",
		    db_text(t->name), db_int(w->now_ns)) != 0 ||
		DB_RUN(w->db, e,
			"UPDATE tokens SET revoked_ns = ?2 WHERE name = ?1 AND revoked_ns = 0",
			db_text(t->name), db_int(w->now_ns)) != 0)
		return -1;
	return audit_add(w, "revoke", t->name, "", e);
}

static void take_deliver(struct op *op, const struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (t->taken)
		t->taken(t->base.arg, e ? NULL : &t->use, e);
}

static void revoke_name_deliver(struct op *op, const struct err *e)
{
	struct token_op *t = (struct token_op *)op;

	if (t->revoked)
		t->revoked(t->base.arg, e ? NULL : &t->serials, e);
}

static void token_free(struct op *op)
{
	struct token_op *t = (struct token_op *)op;

	free(t->sha256);
	free(t->id);
	free(t->role);
	free(t->name);
	free(t->key);
	free(t->serial);
	free(t->cert);
	free(t->use.cert_pem);
	strv_free(&t->serials);
	free(t);
}

static const struct write_kind create_kind = {
	"token-create", create_apply, NULL, done_op_deliver, token_free};
static const struct write_kind take_kind = {
	"token-take", take_apply, NULL, take_deliver, token_free};
static const struct write_kind issued_kind = {
	"token-issued", issued_apply, NULL, done_op_deliver, token_free};
static const struct write_kind revoke_kind = {
	"token-revoke", revoke_apply, NULL, done_op_deliver, token_free};
static const struct write_kind revoke_name_kind = {
	"revoke-name", revoke_name_apply, NULL, revoke_name_deliver, token_free};

static struct token_op *token_op_new(const struct write_kind *kind, store_done done, void *arg)
{
	struct token_op *t = xcalloc(1, sizeof(*t));

	t->base.op.kind = kind;
	t->base.done = done;
	t->base.arg = arg;
	return t;
}

void store_token_create(struct store *s, const char *token_sha256, const char *id, const char *role,
	const char *name, int64_t expires_wall_ns, store_done done, void *arg)
{
	struct token_op *t = token_op_new(&create_kind, done, arg);

	t->sha256 = xstrdup(token_sha256);
	t->id = xstrdup(id);
	t->role = xstrdup(role);
	t->name = xstrdup(name);
	t->expires_ns = expires_wall_ns;
	writer_submit(s->writer, &t->base.op);
}

void store_token_take(struct store *s, const char *token_sha256, const char *key_fingerprint,
	store_token_done done, void *arg)
{
	struct token_op *t = token_op_new(&take_kind, NULL, arg);

	t->sha256 = xstrdup(token_sha256);
	t->key = xstrdup(key_fingerprint);
	t->taken = done;
	writer_submit(s->writer, &t->base.op);
}

void store_token_issued(struct store *s, const char *token_sha256, const char *serial,
	const char *cert_pem, store_done done, void *arg)
{
	struct token_op *t = token_op_new(&issued_kind, done, arg);

	t->sha256 = xstrdup(token_sha256);
	t->serial = xstrdup(serial);
	t->cert = xstrdup(cert_pem);
	writer_submit(s->writer, &t->base.op);
}

void store_token_revoke(struct store *s, const char *id, store_done done, void *arg)
{
	struct token_op *t = token_op_new(&revoke_kind, done, arg);

	t->id = xstrdup(id);
	writer_submit(s->writer, &t->base.op);
}

void store_revoke_name(struct store *s, const char *name, store_revoke_done done, void *arg)
{
	struct token_op *t = token_op_new(&revoke_name_kind, NULL, arg);

	t->name = xstrdup(name);
	t->revoked = done;
	writer_submit(s->writer, &t->base.op);
}
