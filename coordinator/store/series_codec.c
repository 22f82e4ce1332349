/*
 * Series as bytes: a mark, a count, each point's fields as varints, then the disks: how many, how many
 * spans, each span and what each disk did in it. Times are steps from the one before. Owns nothing.
 * Invariant: decoding checks every byte; a blob that is cut or has more bytes is an error. The first
 * version had no mark (its blobs begin with the count), no use of the host and no disks.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/varint.h"
#include "coordinator/store/series.h"

#define MARK (1u << 16 | 2) /* above any count */
#define COUNTERS_1 17
#define COUNTERS 23

struct cursor {
	struct varint_reader r;
	int bad;
};

static uint64_t get(struct cursor *c)
{
	uint64_t v = 0;

	c->bad |= varint_get(&c->r, &v) != 0;
	return v;
}

/* The counters in their stored order. */
static void fields(struct result_point *p, uint64_t *f[COUNTERS])
{
	uint64_t *list[] = {&p->ops, &p->bytes, &p->p50_ns, &p->p99_ns, &p->max_ns,
		&p->tele.disk_read_bytes, &p->tele.disk_write_bytes, &p->tele.disk_read_ops,
		&p->tele.disk_write_ops, &p->tele.disk_busy_ns, &p->tele.cpu_user_ns,
		&p->tele.cpu_system_ns, &p->tele.cpu_idle_ns, &p->tele.cpu_iowait_ns,
		&p->tele.mem_free_bytes, &p->tele.mem_cached_bytes, &p->tele.arc_bytes,
		&p->host.busiest_core_permille, &p->host.cpu_steal_ns, &p->host.dirty_bytes,
		&p->host.writeback_bytes, &p->host.arc_hits, &p->host.arc_misses};

	_Static_assert(ARRAY_LEN(list) == COUNTERS, "a field is missing");
	for (size_t i = 0; i < COUNTERS; i++)
		f[i] = list[i];
}

static void put_span(struct buf *out, int64_t start, int64_t end, int64_t *before)
{
	varint_add(out, (uint64_t)(start - *before));
	varint_add(out, (uint64_t)(end - start));
	*before = end;
}

void series_encode(const struct result_series *s, struct buf *out)
{
	uint64_t *f[COUNTERS];
	int64_t before = 0;

	varint_add(out, MARK);
	varint_add(out, s->n);
	for (size_t i = 0; i < s->n; i++) {
		struct result_point p = s->points[i];

		put_span(out, p.start_ns, p.end_ns, &before);
		varint_add(out, p.tele.disks);
		fields(&p, f);
		for (size_t k = 0; k < COUNTERS; k++)
			varint_add(out, *f[k]);
	}
	varint_add(out, s->n_disks);
	varint_add(out, s->n_spans);
	before = 0;
	for (size_t i = 0; i < s->n_spans; i++) {
		put_span(out, s->spans[i].start_ns, s->spans[i].end_ns, &before);
		for (size_t k = 0; k < s->n_disks; k++) {
			const struct result_disk_use *u = &s->use[i * s->n_disks + k];

			varint_add(out, u->read_bytes);
			varint_add(out, u->write_bytes);
			varint_add(out, u->busy_ns);
		}
	}
}

static void get_span(struct cursor *c, int64_t *ret_start, int64_t *ret_end, int64_t *before)
{
	*ret_start = (int64_t)((uint64_t)*before + get(c));
	*ret_end = (int64_t)((uint64_t)*ret_start + get(c));
	*before = *ret_end;
}

static void get_points(struct cursor *c, size_t counters, struct result_series *ret)
{
	uint64_t *f[COUNTERS];
	int64_t before = 0;

	for (size_t i = 0; i < ret->n && !c->bad; i++) {
		struct result_point *p = &ret->points[i];

		get_span(c, &p->start_ns, &p->end_ns, &before);
		p->tele.disks = (uint32_t)get(c);
		fields(p, f);
		for (size_t k = 0; k < counters; k++)
			*f[k] = get(c);
	}
}

static void get_disks(struct cursor *c, struct result_series *ret)
{
	uint64_t disks = get(c), spans = get(c);
	int64_t before = 0;

	if (c->bad || disks > EVIDENCE_DISKS_MAX || spans > SERIES_POINTS_MAX ||
		disks * spans > RESULT_DISK_CELLS_MAX) {
		c->bad = 1;
		return;
	}
	ret->n_disks = disks;
	ret->n_spans = spans;
	ret->spans = xcalloc(spans, sizeof(*ret->spans));
	ret->use = xcalloc(spans * disks, sizeof(*ret->use));
	for (size_t i = 0; i < spans && !c->bad; i++) {
		get_span(c, &ret->spans[i].start_ns, &ret->spans[i].end_ns, &before);
		for (size_t k = 0; k < disks; k++) {
			struct result_disk_use *u = &ret->use[i * disks + k];

			u->read_bytes = get(c);
			u->write_bytes = get(c);
			u->busy_ns = get(c);
		}
	}
}

int series_decode(const void *data, size_t len, struct result_series *ret, struct err *e)
{
	struct cursor c = {{data, (const unsigned char *)data + len}, 0};
	struct result_series s = {0};
	uint64_t n = get(&c);
	int first_version = n <= SERIES_POINTS_MAX;

	if (n == MARK)
		n = get(&c);
	if (c.bad || n > SERIES_POINTS_MAX)
		return err_set(e, ERR_INPUT, "series: damaged");
	s.n = n;
	s.points = xcalloc(n, sizeof(*s.points));
	get_points(&c, first_version ? COUNTERS_1 : COUNTERS, &s);
	if (!first_version)
		get_disks(&c, &s);
	if (c.bad || c.r.p != c.r.end) {
		result_series_clear(&s);
		return err_set(e, ERR_INPUT, "series: damaged");
	}
	ret->points = s.points;
	ret->n = s.n;
	ret->spans = s.spans;
	ret->use = s.use;
	ret->n_spans = s.n_spans;
	ret->n_disks = s.n_disks;
	return 0;
}
