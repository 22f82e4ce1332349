/*
 * Making series. Owns nothing beyond a call.
 * Invariant: every sample of a trial is in exactly one point; percentiles of a point come from the
 * merged histograms of its samples; the last point is no sliver: it lasts at least half as long as the
 * one before it, unless what lies between them was lost.
 */
#include "coordinator/store/series.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/store/store_internal.h"

struct maker {
	struct result_point *points;
	size_t n;
	uint32_t step, in_point; /* samples a point takes, and has */
	uint32_t samples;
	struct hist *hist, *before; /* of the point that is open, of the one before it */
	struct disk_spans *spans;
	struct disk_counters *disks; /* of one sample */
};

static void set_latencies(struct result_point *p, const struct hist *h)
{
	p->p50_ns = hist_percentile(h, 0.5);
	p->p99_ns = hist_percentile(h, 0.99);
	p->max_ns = h->max;
}

static void close_point(struct maker *m)
{
	struct hist *closed = m->hist;

	if (m->in_point == 0)
		return;
	set_latencies(&m->points[m->n - 1], closed);
	m->hist = m->before;
	m->before = closed;
	hist_clear(m->hist);
	m->in_point = 0;
}

static void add_telemetry(struct telemetry *t, const struct telemetry *s)
{
	t->disk_read_bytes += s->disk_read_bytes;
	t->disk_write_bytes += s->disk_write_bytes;
	t->disk_read_ops += s->disk_read_ops;
	t->disk_write_ops += s->disk_write_ops;
	t->disk_busy_ns += s->disk_busy_ns;
	if (s->disks > t->disks)
		t->disks = s->disks;
	t->cpu_user_ns += s->cpu_user_ns;
	t->cpu_system_ns += s->cpu_system_ns;
	t->cpu_idle_ns += s->cpu_idle_ns;
	t->cpu_iowait_ns += s->cpu_iowait_ns;
	t->mem_free_bytes = s->mem_free_bytes;
	t->mem_cached_bytes = s->mem_cached_bytes;
	t->arc_bytes = s->arc_bytes;
}

static void add_host(struct host_usage *to, const struct host_usage *h)
{
	if (h->busiest_core_permille > to->busiest_core_permille)
		to->busiest_core_permille = h->busiest_core_permille;
	to->cpu_steal_ns += h->cpu_steal_ns;
	to->arc_hits += h->arc_hits;
	to->arc_misses += h->arc_misses;
	to->dirty_bytes = h->dirty_bytes;
	to->writeback_bytes = h->writeback_bytes;
}

/* What is damaged is left out: the sums of struct telemetry stand beside it. */
static void add_usage(struct maker *m, struct result_point *p, const struct sample *s)
{
	struct host_usage h;
	struct err ignored;
	size_t n;

	if (!s->usage || usage_decode(s->usage, s->usage_len, &h, m->disks, EVIDENCE_DISKS_MAX, &n,
				 &ignored) != 0)
		return;
	add_host(&p->host, &h);
	disk_spans_add(m->spans, s, m->disks, n);
}

static void add_sample(void *arg, const struct sample *s)
{
	struct maker *m = arg;
	struct result_point *p;
	struct err ignored;
	struct hist *one;

	/* More samples than the trial said (its count was wrong): the last point takes them. */
	if (m->in_point >= m->step && m->n < SERIES_POINTS_MAX)
		close_point(m);
	if (m->in_point == 0) {
		p = &m->points[m->n++];
		*p = (struct result_point){.start_ns = s->start_ns};
	}
	p = &m->points[m->n - 1];
	p->end_ns = s->end_ns;
	p->ops += s->ops;
	p->bytes += s->bytes;
	add_telemetry(&p->tele, &s->tele);
	add_usage(m, p, s);
	m->in_point++;
	m->samples++;
	if (!s->hist)
		return;
	one = xmalloc(sizeof(*one));
	if (hist_decode(s->hist, s->hist_len, one, &ignored) == 0)
		hist_merge(m->hist, one);
	free(one);
}

/* A trial ends when it ends: its last sample may last a millisecond, and the rate of that is noise. */
static void end_points(struct maker *m)
{
	struct result_point *last, *p;

	if (m->in_point == 0)
		return;
	last = &m->points[m->n - 1];
	p = m->n > 1 ? last - 1 : NULL;
	if (!p || !series_is_sliver(p->start_ns, p->end_ns, last->start_ns, last->end_ns)) {
		close_point(m);
		return;
	}
	p->end_ns = last->end_ns;
	p->ops += last->ops;
	p->bytes += last->bytes;
	add_telemetry(&p->tele, &last->tele);
	add_host(&p->host, &last->host);
	hist_merge(m->before, m->hist);
	set_latencies(p, m->before);
	m->n--;
	m->in_point = 0;
}

static void walk_records(const struct records *r, const struct series_key *key, uint64_t first,
	uint64_t from, uint64_t to, struct series_walk *walk)
{
	for (size_t i = 0; i < r->n && first + i <= to; i++) {
		if (first + i < from || r->v[i].type != RECORD_SAMPLE ||
			r->v[i].u.sample.trial != key->trial)
			continue;
		walk->samples++;
		if (walk->one)
			walk->one(walk->arg, &r->v[i].u.sample);
	}
}

static int walk_batch(sqlite3_stmt *row, const struct series_key *key, uint64_t from, uint64_t to,
	struct series_walk *walk, struct err *e)
{
	uint64_t first = (uint64_t)db_get_int(row, 0), last = (uint64_t)db_get_int(row, 1);
	struct records records;
	const void *payload;
	size_t len;

	if (last < from)
		return 0;
	if (db_get_int(row, 2)) {
		walk->lost += (last < to ? last : to) - (first > from ? first : from) + 1;
		return 0;
	}
	payload = db_get_blob(row, 3, &len);
	if (records_decode(payload, len, &records, e) != 0)
		return err_prefix(e, "job %llu, attempt %u: batch from record %llu",
			(unsigned long long)key->job, key->attempt, (unsigned long long)first);
	walk_records(&records, key, first, from, to, walk);
	records_clear(&records);
	return 0;
}

/* A few batches at once, so that no read transaction lasts long. ret_first: of the last one. */
static int walk_some(struct db *db, const struct series_key *key, uint64_t from, uint64_t to,
	int64_t *first, int *ret_rows, struct series_walk *walk, struct err *e)
{
	sqlite3_stmt *row;
	int more, rows = 0;

	if (DB_QUERY(db, &row, e,
		    "SELECT first, last, lost, payload FROM batches"
		    " WHERE job = ?1 AND attempt = ?2 AND first > ?3 AND first <= ?4"
		    " ORDER BY first LIMIT 8",
		    db_uint(key->job), db_int(key->attempt), db_int(*first), db_uint(to)) != 0)
		return -1;
	while ((more = db_next(db, row, e)) == 1) {
		*first = db_get_int(row, 0);
		rows++;
		if (walk_batch(row, key, from, to, walk, e) != 0) {
			db_done(row);
			return -1;
		}
	}
	*ret_rows = rows;
	return more;
}

int series_walk_trial(struct db *db, const struct series_key *key, uint64_t from, uint64_t to,
	struct series_walk *walk, struct err *e)
{
	int64_t first;
	int rows = 0;

	if (DB_QUERY_INT(db, e, 0, &first,
		    "SELECT max(first) - 1 FROM batches WHERE job = ?1 AND attempt = ?2 AND first "
		    "<= ?3",
		    db_uint(key->job), db_int(key->attempt), db_uint(from)) != 0)
		return -1;
	do {
		if (walk_some(db, key, from, to, &first, &rows, walk, e) != 0)
			return -1;
	} while (rows == 8);
	return 0;
}

/* The records a trial spans and how many samples it says it cut. */
static int find_trial(struct db *db, const struct series_key *key, uint64_t *ret_from,
	uint64_t *ret_to, uint32_t *ret_samples, struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(db, &row, e,
		    "SELECT first_record, last_record, samples FROM trials"
		    " WHERE job = ?1 AND attempt = ?2 AND trial = ?3 AND state > 0",
		    db_uint(key->job), db_int(key->attempt), db_int(key->trial)) != 0)
		return -1;
	more = db_next(db, row, e);
	if (more < 0)
		return -1;
	if (more == 0)
		return err_set(e, ERR_NOTFOUND, "the trial has not ended");
	*ret_from = (uint64_t)db_get_int(row, 0);
	*ret_to = (uint64_t)db_get_int(row, 1);
	*ret_samples = (uint32_t)db_get_int(row, 2);
	db_done(row);
	return 0;
}

int series_build(struct db *db, const struct series_key *key, struct result_series *ret,
	uint32_t *ret_samples, struct err *e)
{
	struct maker m = {0};
	struct series_walk walk = {.one = add_sample, .arg = &m};
	uint64_t from, to;
	uint32_t said;
	int rc;

	if (find_trial(db, key, &from, &to, &said, e) != 0)
		return -1;
	m.step = said / SERIES_POINTS_MAX + (said % SERIES_POINTS_MAX != 0);
	if (m.step == 0)
		m.step = 1;
	m.points = xcalloc(SERIES_POINTS_MAX, sizeof(*m.points));
	m.hist = xcalloc(1, sizeof(*m.hist));
	m.before = xcalloc(1, sizeof(*m.before));
	m.disks = xcalloc(EVIDENCE_DISKS_MAX, sizeof(*m.disks));
	m.spans = disk_spans_new(said);
	rc = series_walk_trial(db, key, from, to, &walk, e);
	end_points(&m);
	free(m.hist);
	free(m.before);
	free(m.disks);
	ret->points = m.points;
	ret->n = m.n;
	disk_spans_end(m.spans, ret);
	if (rc != 0)
		result_series_clear(ret);
	else
		*ret_samples = m.samples;
	return rc;
}
