/*
 * A run and its jobs come into being. Owns a copy of what the caller gave until it is stored.
 * Invariant: the jobs of a run have numbers without gaps, in the order given, so that everything
 * about a run is one range of job numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/store/codec.h"
#include "coordinator/store/store_internal.h"

#define DESIGN_MAX (1024 * 1024)

struct job_row {
	char *host, *tag, *disks;
};
struct create_op {
	struct op op;
	char *name, *plan_text, *plan_sha256, *design, *user, *sets;
	uint64_t seed;
	uint32_t blocks, units;
	struct job_row *jobs;
	size_t n_jobs;
	store_run_done done;
	void *arg;
	uint64_t run;
	uint64_t *job_ids;
};

/* How many layouts and workloads a record of this run may name. */
static int read_design(
	const char *text, int64_t *ret_layouts, int64_t *ret_workloads, struct err *e)
{
	json_t *o;
	int64_t layouts, workloads;

	if (json_parse("design", text, strlen(text), DESIGN_MAX, &o, e) != 0)
		return -1;
	layouts = (int64_t)json_array_size(json_object_get(o, "layouts"));
	workloads = (int64_t)json_array_size(json_object_get(o, "workloads"));
	json_decref(o);
	if (layouts == 0 || workloads == 0)
		return err_set(e, ERR_INPUT, "design: names no layouts or no workloads");
	*ret_layouts = layouts;
	*ret_workloads = workloads;
	return 0;
}

static int create_jobs(struct create_op *c, struct write_ctx *w, struct err *e)
{
	for (size_t i = 0; i < c->n_jobs; i++) {
		const struct job_row *j = &c->jobs[i];

		if (DB_RUN(w->db, e,
			    "INSERT INTO jobs(run, host, tag, disks, state) VALUES(?1, ?2, ?3, ?4, "
			    "0)",
			    db_uint(c->run), db_text(j->host), db_text0(j->tag),
			    db_text(j->disks)) != 0)
			return -1;
		c->job_ids[i] = (uint64_t)db_last_id(w->db);
	}
	return 0;
}

static int create_apply(struct op *op, struct write_ctx *w, struct err *e)
{
	struct create_op *c = (struct create_op *)op;
	int64_t layouts, workloads;

	if (c->n_jobs == 0)
		return err_set(e, ERR_INPUT, "run '%s' has no host", c->name);
	if (read_design(c->design, &layouts, &workloads, e) != 0)
		return -1;
	if (DB_RUN(w->db, e, "INSERT OR IGNORE INTO plans(sha256, text) VALUES(?1, ?2)",
		    db_text(c->plan_sha256), db_text(c->plan_text)) != 0)
		return -1;
	if (DB_RUN(w->db, e,
		    "INSERT INTO runs(name, plan_sha256, sets, seed, blocks, units, layouts, "
		    "workloads,"
		    " design, user, tool_version, state, created_ns)"
		    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0, ?12)",
		    db_text(c->name), db_text(c->plan_sha256), db_text(c->sets), db_uint(c->seed),
		    db_int(c->blocks), db_int(c->units), db_int(layouts), db_int(workloads),
		    db_text(c->design), db_text0(c->user), db_text(ARRAYMARK_VERSION),
		    db_int(w->now_ns)) != 0)
		return -1;
	c->run = (uint64_t)db_last_id(w->db);
	if (create_jobs(c, w, e) != 0)
		return -1;
	return audit_add(w, "run", c->user ? c->user : "", c->name, e);
}

static void create_deliver(struct op *op, const struct err *e)
{
	struct create_op *c = (struct create_op *)op;

	if (c->done)
		c->done(c->arg, e ? 0 : c->run, e ? NULL : c->job_ids, e);
}

static void create_free(struct op *op)
{
	struct create_op *c = (struct create_op *)op;

	for (size_t i = 0; i < c->n_jobs; i++) {
		free(c->jobs[i].host);
		free(c->jobs[i].tag);
		free(c->jobs[i].disks);
	}
	free(c->jobs);
	free(c->job_ids);
	free(c->name);
	free(c->plan_text);
	free(c->plan_sha256);
	free(c->design);
	free(c->user);
	free(c->sets);
	free(c);
}

static const struct write_kind create_kind = {
	"run-create", create_apply, NULL, create_deliver, create_free};

void store_run_create(struct store *s, const struct new_run *r, store_run_done done, void *arg)
{
	struct create_op *c = xcalloc(1, sizeof(*c));

	c->op.kind = &create_kind;
	c->name = xstrdup(r->name);
	c->plan_text = xstrdup(r->plan_text);
	c->plan_sha256 = xstrdup(r->plan_sha256);
	c->design = xstrdup(r->design_json ? r->design_json : "{}");
	c->user = xstrdup(r->user);
	c->sets = codec_strv(&r->sets);
	c->seed = r->seed;
	c->blocks = r->blocks;
	c->units = r->units;
	c->n_jobs = r->n_jobs;
	c->jobs = xcalloc(r->n_jobs, sizeof(*c->jobs));
	c->job_ids = xcalloc(r->n_jobs, sizeof(*c->job_ids));
	for (size_t i = 0; i < r->n_jobs; i++) {
		c->jobs[i].host = xstrdup(r->jobs[i].host);
		c->jobs[i].tag = xstrdup(r->jobs[i].job_tag);
		c->jobs[i].disks = codec_disks(r->jobs[i].disks, r->jobs[i].n_disks);
	}
	c->done = done;
	c->arg = arg;
	writer_submit(s->writer, &c->op);
}
