/*
 * Imported runs: what files told, kept as the export lines that results/ writes, so that a run that
 * came from a file is exported again as it was. Owns the result set until it is stored.
 * Invariant: an imported run has one job per host, no attempts, and its lines without gaps from 1;
 * a line is {"type":TYPE,"run":RUN and the rest as it is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/sha256.h"
#include "coordinator/results/export.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/store_internal.h"

struct import_op {
	struct op op;
	char *user;
	struct result_set set;
	store_import_done done;
	void *arg;
	uint64_t run;
	/* of one try */
	struct sha256 *hash;
	struct buf lines; /* of one item */
	int64_t n;        /* lines stored */
};

static const char *op_of(const struct result_set *s, size_t workload)
{
	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].workload == workload && *s->trials[i].op)
			return s->trials[i].op;
	return "";
}

/* As store_design_json() makes it of a plan. */
static char *design_of(const struct result_set *s)
{
	const struct result_run *r = &s->runs[0];
	json_t *o = json_object(), *workloads = json_array();
	struct buf text = {0};

	for (size_t i = 0; i < r->workloads.n; i++) {
		json_t *w = json_object();

		json_object_set_new(w, "name", json_text(r->workloads.v[i]));
		json_object_set_new(w, "op", json_text(op_of(s, i)));
		json_array_append_new(workloads, w);
	}
	json_object_set_new(o, "design", json_text(r->design));
	json_object_set_new(o, "layouts", codec_strv_json(&r->layouts));
	json_object_set_new(o, "workloads", workloads);
	json_object_set_new(o, "baseline", json_integer(r->baseline));
	json_object_set_new(o, "margin", json_number(r->margin));
	json_object_set_new(o, "cache", json_text(r->cache));
	json_line(o, &text);
	json_decref(o);
	return buf_take(&text);
}

static int put_run(struct import_op *m, struct write_ctx *w, struct err *e)
{
	const struct result_run *r = &m->set.runs[0];
	char *design = design_of(&m->set), *sets = codec_strv(&r->sets);
	int rc;

	rc = DB_RUN(w->db, e,
		"INSERT INTO runs(name, plan_sha256, sets, seed, blocks, units, layouts, workloads,"
		" design, user, tool_version, state, created_ns, started_ns, finished_ns)"
		" VALUES(?1, '', ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
		db_text(r->name), db_text(sets), db_uint(r->seed), db_int(r->blocks),
		db_int((int64_t)r->layouts.n), db_int((int64_t)r->workloads.n), db_text(design),
		db_text0(m->user), db_text(ARRAYMARK_VERSION), db_int(JOB_IMPORTED),
		db_int(w->now_ns), db_int(r->started_wall_ns), db_int(r->finished_wall_ns));
	m->run = rc ? 0 : (uint64_t)db_last_id(w->db);
	free(design);
	free(sets);
	return rc;
}

static void add_host(struct strv *hosts, const char *host)
{
	/* Trials come sorted by host. */
	if ((hosts->n && !strcmp(hosts->v[hosts->n - 1], host)) || strv_has(hosts, host))
		return;
	strv_add(hosts, host);
}

static int put_jobs(struct import_op *m, struct write_ctx *w, struct err *e)
{
	struct strv hosts = {0};
	int rc = 0;

	for (size_t i = 0; i < m->set.n_trials; i++)
		add_host(&hosts, m->set.trials[i].host);
	for (size_t i = 0; i < m->set.n_summaries; i++)
		add_host(&hosts, m->set.summaries[i].host);
	for (size_t i = 0; i < hosts.n && !rc; i++)
		rc = DB_RUN(w->db, e,
			"INSERT INTO jobs(run, host, tag, disks, state)"
			" VALUES(?1, ?2, '', '[]', ?3)",
			db_uint(m->run), db_text(hosts.v[i]), db_int(JOB_IMPORTED));
	strv_free(&hosts);
	return rc;
}

/* Where the line's type begins and ends, and what follows its run's number; 0 when it does not begin
 * as the writers of export.h let every line begin. */
static int split_line(const char *line, const char **type, size_t *type_len, const char **rest)
{
	static const char before[] = "{\"type\":\"", between[] = "\",\"run\":";

	if (!str_starts(line, before))
		return 0;
	*type = line + strlen(before);
	*type_len = strcspn(*type, "\"");
	if (!str_starts(*type + *type_len, between))
		return 0;
	*rest = *type + *type_len + strlen(between);
	*rest += strspn(*rest, "0123456789");
	return 1;
}

static int put_line(struct import_op *m, struct write_ctx *w, const char *line, const char *host,
	struct err *e)
{
	const char *type, *rest;
	size_t len;
	char *word;
	int rc;

	if (!split_line(line, &type, &len, &rest))
		return err_set(e, ERR_FAILED, "import: a line that begins '%.40s'", line);
	if (strlen(line) >= MSG_CHUNK_MAX)
		return err_set(e, ERR_INPUT, "a line of %zu bytes: the limit is %d", strlen(line),
			MSG_CHUNK_MAX);
	word = xstrndup(type, len);
	sha256_add(m->hash, word, len + 1);
	sha256_add(m->hash, rest, strlen(rest) + 1);
	rc = DB_RUN(w->db, e,
		"INSERT INTO imports(run, n, type, host, rest) VALUES(?1, ?2, ?3, ?4, ?5)",
		db_uint(m->run), db_int(++m->n), db_text(word), db_text0(host), db_text(rest));
	free(word);
	return rc;
}

/* What was written to m->lines, which is emptied. */
static int put_lines(struct import_op *m, struct write_ctx *w, const char *host, struct err *e)
{
	char *line = m->lines.data;
	int rc = 0;

	while (!rc && m->lines.len && *line) {
		char *end = strchr(line, '\n');

		*end = '\0';
		rc = put_line(m, w, line, host, e);
		line = end + 1;
	}
	buf_reset(&m->lines);
	return rc;
}

static int put_content(struct import_op *m, struct write_ctx *w, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < export_items(&m->set) && !rc; i++) {
		const char *host = export_item(&m->set, i, &m->lines);

		rc = put_lines(m, w, host, e);
	}
	return rc;
}

/* The run keeps the hash of its content; another one that has the same is the same import. */
static int settle(struct import_op *m, struct write_ctx *w, const char *sha256, struct err *e)
{
	const char *name = m->set.runs[0].name;
	int64_t same;

	if (DB_QUERY_INT(w->db, e, 0, &same, "SELECT min(run) FROM runs WHERE content_sha256 = ?1",
		    db_text(sha256)) != 0)
		return -1;
	if (same)
		return err_set(e, ERR_EXISTS,
			"run %lld (%s) holds just these results: nothing was stored",
			(long long)same, name);
	if (DB_RUN(w->db, e, "UPDATE runs SET content_sha256 = ?2 WHERE run = ?1", db_uint(m->run),
		    db_text(sha256)) != 0)
		return -1;
	return audit_add(w, "import", m->user ? m->user : "", name, e);
}

static int import_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct import_op *m = (struct import_op *)op;
	char sha256[65];
	int rc;

	m->n = 0;
	m->hash = sha256_new();
	rc = put_run(m, w, e);
	rc = rc ? rc : put_jobs(m, w, e);
	rc = rc ? rc : put_content(m, w, e);
	sha256_end(m->hash, sha256);
	sha256_free(m->hash);
	m->hash = NULL;
	return rc ? rc : settle(m, w, sha256, e);
}

static void import_committed(struct op *op)
{
	struct import_op *m = (struct import_op *)op;

	result_set_clear(&m->set);
	buf_free(&m->lines);
}

static void import_deliver(struct op *op, const struct err *e)
{
	struct import_op *m = (struct import_op *)op;

	if (m->done)
		m->done(m->arg, e ? 0 : m->run, e);
}

static void import_free(struct op *op)
{
	struct import_op *m = (struct import_op *)op;

	import_committed(op);
	free(m->user);
	free(m);
}

static const struct write_kind import_kind = {
	"import", import_apply, import_committed, import_deliver, import_free};

void store_import(struct store *s, const char *user, struct result_set *set, store_import_done done,
	void *arg)
{
	struct import_op *m = xcalloc(1, sizeof(*m));

	m->op.kind = &import_kind;
	m->user = xstrdup(user);
	m->set = *set;
	memset(set, 0, sizeof(*set));
	m->op.bytes = m->set.n_trials * sizeof(*m->set.trials);
	m->done = done;
	m->arg = arg;
	writer_submit(s->writer, &m->op);
}
