/*
 * Points of a series as bytes: a count, then each point's fields as LEB128 varints, times as steps
 * from the point before. Owns nothing.
 * Invariant: decoding checks every byte; a blob that is cut or has more bytes is an error.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/series.h"

#define FIELDS 20

static void put(struct buf *out, uint64_t v)
{
	while (v >= 0x80) {
		buf_addc(out, (char)(v | 0x80));
		v >>= 7;
	}
	buf_addc(out, (char)v);
}

struct cursor {
	const unsigned char *p, *end;
	int bad;
};

static uint64_t get(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
		unsigned char byte = *c->p++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = 1;
	return 0;
}

/* The counters in their stored order. */
static void fields(struct result_point *p, uint64_t *f[FIELDS - 3])
{
	uint64_t *list[] = {&p->ops, &p->bytes, &p->p50_ns, &p->p99_ns, &p->max_ns,
		&p->tele.disk_read_bytes, &p->tele.disk_write_bytes, &p->tele.disk_read_ops,
		&p->tele.disk_write_ops, &p->tele.disk_busy_ns, &p->tele.cpu_user_ns,
		&p->tele.cpu_system_ns, &p->tele.cpu_idle_ns, &p->tele.cpu_iowait_ns,
		&p->tele.mem_free_bytes, &p->tele.mem_cached_bytes, &p->tele.arc_bytes};

	_Static_assert(ARRAY_LEN(list) == FIELDS - 3, "a field is missing");
	for (size_t i = 0; i < FIELDS - 3; i++)
		f[i] = list[i];
}

void series_encode(const struct result_point *points, size_t n, struct buf *out)
{
	uint64_t *f[FIELDS - 3];
	int64_t before = 0;

	put(out, n);
	for (size_t i = 0; i < n; i++) {
		struct result_point p = points[i];

		put(out, (uint64_t)(p.start_ns - before));
		put(out, (uint64_t)(p.end_ns - p.start_ns));
		put(out, p.tele.disks);
		before = p.end_ns;
		fields(&p, f);
		for (size_t k = 0; k < FIELDS - 3; k++)
			put(out, *f[k]);
	}
}

static void get_point(struct cursor *c, int64_t before, struct result_point *ret)
{
	uint64_t *f[FIELDS - 3];

	ret->start_ns = (int64_t)((uint64_t)before + get(c));
	ret->end_ns = (int64_t)((uint64_t)ret->start_ns + get(c));
	ret->tele.disks = (uint32_t)get(c);
	fields(ret, f);
	for (size_t k = 0; k < FIELDS - 3; k++)
		*f[k] = get(c);
}

int series_decode(
	const void *data, size_t len, struct result_point **ret, size_t *ret_n, struct err *e)
{
	struct cursor c = {data, (const unsigned char *)data + len, 0};
	uint64_t n = get(&c);
	struct result_point *points;

	if (c.bad || n > SERIES_POINTS_MAX)
		return err_set(e, ERR_INPUT, "series: damaged");
	points = xcalloc(n, sizeof(*points));
	for (size_t i = 0; i < n && !c.bad; i++)
		get_point(&c, i ? points[i - 1].end_ns : 0, &points[i]);
	if (c.bad || c.p != c.end) {
		free(points);
		return err_set(e, ERR_INPUT, "series: damaged");
	}
	*ret = points;
	*ret_n = n;
	return 0;
}
