/*
 * Records -> rows. Owns nothing.
 * Invariant: a record that was lost on the way leaves gaps, never an error: what comes later makes
 * the rows it needs. The end of a trial or unit is written once; a second end changes nothing.
 */
#include "coordinator/store/apply.h"

#include <stdlib.h>

#include "coordinator/store/codec.h"

static const struct unit *unit_of(const struct record *r)
{
	switch (r->type) {
	case RECORD_UNIT_START:
		return &r->u.unit_start.unit;
	case RECORD_STEP:
		return &r->u.step.unit;
	case RECORD_VOLUME_READY:
		return &r->u.volume_ready.unit;
	case RECORD_TRIAL_START:
		return &r->u.trial_start.unit;
	case RECORD_UNIT_END:
		return &r->u.unit_end.unit;
	case RECORD_AWAIT:
		return &r->u.await.unit;
	default:
		return NULL;
	}
}

static int unit_fits(const struct attempt_stream *s, uint32_t block, uint32_t layout)
{
	return block >= 1 && block <= s->blocks && layout < s->layouts;
}

static int record_fits(const struct attempt_stream *s, const struct record *r)
{
	const struct unit *u = unit_of(r);

	if (u && !unit_fits(s, u->block, u->layout)) {
		/* Steps outside of any unit (clearing up after a crash) carry block 0. */
		return r->type == RECORD_STEP && u->block == 0;
	}
	if (r->type == RECORD_TRIAL_START)
		return r->u.trial_start.workload < s->workloads;
	if (r->type == RECORD_TRIAL_END)
		return unit_fits(s, r->u.trial_end.block, r->u.trial_end.layout) &&
		       r->u.trial_end.workload < s->workloads;
	return 1;
}

int apply_check(
	const struct attempt_stream *s, const struct records *r, uint64_t first, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		if (record_fits(s, &r->v[i]))
			continue;
		return err_set(e, ERR_PROTOCOL,
			"record %llu names a block, layout or workload that run %llu does not have",
			(unsigned long long)(first + i), (unsigned long long)s->key.run);
	}
	return 0;
}

static int apply_attempt_start(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_attempt_start *a, struct err *e)
{
	struct buf inventory = {0};
	int rc;

	inventory_encode(&a->environment, &inventory);
	rc = DB_RUN(w->db, e,
		"INSERT OR REPLACE INTO environments(job, attempt, inventory) VALUES(?1, ?2, ?3)",
		db_uint(s->key.job), db_int(s->key.attempt),
		db_blob(buf_str(&inventory), inventory.len));
	buf_free(&inventory);
	if (rc != 0 ||
		DB_RUN(w->db, e,
			"UPDATE attempts SET agent_version = ?3 WHERE job = ?1 AND attempt = ?2",
			db_uint(s->key.job), db_int(s->key.attempt),
			db_text0(a->agent_version)) != 0)
		return -1;
	return DB_RUN(w->db, e, "UPDATE runs SET started_ns = ?2 WHERE run = ?1 AND started_ns = 0",
		db_uint(s->key.run), db_int(w->now_ns));
}

static int apply_unit_start(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_unit_start *u, int64_t wall_ns, struct err *e)
{
	return DB_RUN(w->db, e,
		"INSERT OR IGNORE INTO units(job, attempt, block, layout, position, started_ns)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(u->unit.block),
		db_int(u->unit.layout), db_int(u->position), db_int(wall_ns));
}

static int apply_step(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_step *p, int64_t wall_ns, struct err *e)
{
	char *argv = codec_strv(&p->argv);
	int rc = DB_RUN(w->db, e,
		"INSERT INTO steps(job, attempt, block, layout, phase, what, argv, elapsed_ns, ok,"
		" output, at_ns) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(p->unit.block),
		db_int(p->unit.layout), db_int(p->phase), db_text0(p->what), db_text0(argv),
		db_int(p->elapsed_ns), db_int(p->ok), db_text0(p->output), db_int(wall_ns));

	free(argv);
	return rc;
}

static int apply_volume_ready(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_volume_ready *v, int64_t wall_ns, struct err *e)
{
	return DB_RUN(w->db, e,
		"INSERT OR REPLACE INTO volumes(job, attempt, block, layout, mount, identity,"
		" filesystem, usable_bytes, ready_ns) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(v->unit.block),
		db_int(v->unit.layout), db_text0(v->mount), db_text0(v->identity),
		db_text0(v->filesystem), db_uint(v->usable_bytes), db_int(wall_ns));
}

static int apply_trial_start(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_trial_start *t, uint64_t number, int64_t wall_ns, struct err *e)
{
	return DB_RUN(w->db, e,
		"INSERT OR IGNORE INTO trials(job, attempt, trial, block, layout, workload, repeat,"
		" first_record, cache, planned_bytes, started_wall_ns)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(t->trial),
		db_int(t->unit.block), db_int(t->unit.layout), db_int(t->workload),
		db_int(t->repeat), db_uint(number), db_text0(t->cache), db_uint(t->planned_bytes),
		db_int(wall_ns));
}

/* ?1…?9 name the trial, ?10… are its outcome. Where its start was lost, it began after the one
 * before. */
#define TRIAL_END_SQL                                                                              \
	"INSERT INTO trials(job, attempt, trial, block, layout, workload, repeat, state,"          \
	" last_record, started_wall_ns, error, elapsed_ns, sync_ns, bytes, ops, errors,"           \
	" cpu_user_ns, cpu_system_ns, samples, hist, disks, disk_read_bytes, disk_write_bytes,"    \
	" disk_read_ops, disk_write_ops, disk_busy_ns, host_user_ns, host_system_ns,"              \
	" host_idle_ns, host_iowait_ns, mem_free_bytes, mem_cached_bytes, arc_bytes, evidence, "   \
	"detail, first_record)"                                                                    \
	" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18," \
	" ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35,"    \
	" (SELECT 1 + coalesce(max(last_record), 0) FROM trials WHERE job = ?1 AND attempt = ?2))" \
	" ON CONFLICT(job, attempt, trial) DO UPDATE SET state = excluded.state,"                  \
	" last_record = excluded.last_record, started_wall_ns = excluded.started_wall_ns,"         \
	" error = excluded.error, elapsed_ns = excluded.elapsed_ns, sync_ns = excluded.sync_ns,"   \
	" bytes = excluded.bytes, ops = excluded.ops, errors = excluded.errors,"                   \
	" cpu_user_ns = excluded.cpu_user_ns, cpu_system_ns = excluded.cpu_system_ns,"             \
	" samples = excluded.samples, hist = excluded.hist, disks = excluded.disks,"               \
	" disk_read_bytes = excluded.disk_read_bytes,"                                             \
	" disk_write_bytes = excluded.disk_write_bytes, disk_read_ops = excluded.disk_read_ops,"   \
	" disk_write_ops = excluded.disk_write_ops, disk_busy_ns = excluded.disk_busy_ns,"         \
	" host_user_ns = excluded.host_user_ns, host_system_ns = excluded.host_system_ns,"         \
	" host_idle_ns = excluded.host_idle_ns, host_iowait_ns = excluded.host_iowait_ns,"         \
	" mem_free_bytes = excluded.mem_free_bytes,"                                               \
	" mem_cached_bytes = excluded.mem_cached_bytes, arc_bytes = excluded.arc_bytes,"           \
	" evidence = excluded.evidence,"                                                           \
	" detail = excluded.detail"                                                                \
	" WHERE state = 0"

static int apply_trial_end(struct write_ctx *w, const struct attempt_stream *s,
	const struct trial_summary *t, uint64_t number, struct err *e)
{
	const struct telemetry *d = &t->tele;
	struct buf evidence = {0}, detail = {0};
	int rc;

	if (t->n_evidence)
		evidence_encode(t->evidence, &evidence);
	detail_encode(&t->detail, &detail);
	rc = DB_RUN(w->db, e, TRIAL_END_SQL, db_uint(s->key.job), db_int(s->key.attempt),
		db_int(t->trial), db_int(t->block), db_int(t->layout), db_int(t->workload),
		db_int(t->repeat), db_int(t->ok ? TRIAL_OK : TRIAL_FAILED), db_uint(number),
		db_int(t->started_wall_ns), db_text(t->error), db_int(t->elapsed_ns),
		db_int(t->sync_ns), db_uint(t->bytes), db_uint(t->ops), db_uint(t->errors),
		db_uint(t->cpu_user_ns), db_uint(t->cpu_system_ns), db_int(t->samples),
		db_blob(t->hist, t->hist_len), db_int(d->disks), db_uint(d->disk_read_bytes),
		db_uint(d->disk_write_bytes), db_uint(d->disk_read_ops), db_uint(d->disk_write_ops),
		db_uint(d->disk_busy_ns), db_uint(d->cpu_user_ns), db_uint(d->cpu_system_ns),
		db_uint(d->cpu_idle_ns), db_uint(d->cpu_iowait_ns), db_uint(d->mem_free_bytes),
		db_uint(d->mem_cached_bytes), db_uint(d->arc_bytes),
		db_blob(evidence.data, evidence.len), db_blob(detail.data, detail.len));
	buf_free(&evidence);
	buf_free(&detail);
	return rc;
}

static int apply_unit_end(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_unit_end *u, int64_t wall_ns, struct err *e)
{
	return DB_RUN(w->db, e,
		"INSERT INTO units(job, attempt, block, layout, state, error, ended_ns)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"
		" ON CONFLICT(job, attempt, block, layout) DO UPDATE SET state = excluded.state,"
		" error = excluded.error, ended_ns = excluded.ended_ns,"
		" superseded = CASE excluded.state WHEN 1 THEN 0 ELSE superseded END"
		" WHERE state = 0",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(u->unit.block),
		db_int(u->unit.layout), db_int(u->ok ? UNIT_COMPLETE : UNIT_FAILED),
		db_text0(u->error), db_int(wall_ns));
}

static int apply_attempt_end(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_attempt_end *a, struct err *e)
{
	return DB_RUN(w->db, e,
		"UPDATE attempts SET state = ?3, error = ?4, ended_ns = ?5"
		" WHERE job = ?1 AND attempt = ?2",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(a->state), db_text0(a->error),
		db_int(w->now_ns));
}

static int apply_await(struct write_ctx *w, const struct attempt_stream *s,
	const struct record_await *a, struct err *e)
{
	return DB_RUN(w->db, e,
		"UPDATE attempts SET await_block = ?3, await_layout = ?4"
		" WHERE job = ?1 AND attempt = ?2",
		db_uint(s->key.job), db_int(s->key.attempt), db_int(a->unit.block),
		db_int(a->unit.layout));
}

int apply_record(struct write_ctx *w, const struct attempt_stream *s, const struct record *r,
	uint64_t number, struct err *e)
{
	switch (r->type) {
	case RECORD_ATTEMPT_START:
		return apply_attempt_start(w, s, &r->u.attempt_start, e);
	case RECORD_UNIT_START:
		return apply_unit_start(w, s, &r->u.unit_start, r->wall_ns, e);
	case RECORD_STEP:
		return apply_step(w, s, &r->u.step, r->wall_ns, e);
	case RECORD_VOLUME_READY:
		return apply_volume_ready(w, s, &r->u.volume_ready, r->wall_ns, e);
	case RECORD_TRIAL_START:
		return apply_trial_start(w, s, &r->u.trial_start, number, r->wall_ns, e);
	case RECORD_TRIAL_END:
		return apply_trial_end(w, s, &r->u.trial_end, number, e);
	case RECORD_UNIT_END:
		return apply_unit_end(w, s, &r->u.unit_end, r->wall_ns, e);
	case RECORD_ATTEMPT_END:
		return apply_attempt_end(w, s, &r->u.attempt_end, e);
	case RECORD_AWAIT:
		return apply_await(w, s, &r->u.await, e);
	default:
		return 0;
	}
}
