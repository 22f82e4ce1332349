/*
 * The disks' part of a series: what each disk did, over spans of neighbouring samples.
 * Owns what it gathers until it hands it over.
 * Invariant: every interval that tells of disks is in exactly one span, the last one no sliver;
 * there are at most RESULT_DISK_CELLS_MAX numbers of disks in all spans, and the first interval sets
 * how many disks there are.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/store/series.h"

struct disk_spans {
	struct result_span *spans;
	struct result_disk_use *use;
	size_t n, most; /* spans made, and allowed */
	size_t n_disks;
	uint32_t samples;        /* that will come */
	uint32_t step, in_span; /* samples a span takes, and the open one has */
};

struct disk_spans *disk_spans_new(uint32_t samples)
{
	struct disk_spans *d = xcalloc(1, sizeof(*d));

	d->samples = samples;
	return d;
}

static void begin(struct disk_spans *d, size_t n)
{
	d->n_disks = n;
	d->most = RESULT_DISK_CELLS_MAX / n;
	if (d->most > SERIES_POINTS_MAX)
		d->most = SERIES_POINTS_MAX;
	d->step = (uint32_t)(d->samples / d->most + (d->samples % d->most != 0));
	if (d->step == 0)
		d->step = 1;
	d->spans = xcalloc(d->most, sizeof(*d->spans));
	d->use = xcalloc(d->most * n, sizeof(*d->use));
}

void disk_spans_add(struct disk_spans *d, const struct sample *s, const struct disk_counters *disks,
	size_t n)
{
	struct result_disk_use *use;

	if (n == 0 || (d->n_disks && n != d->n_disks))
		return;
	if (!d->n_disks)
		begin(d, n);
	/* The last span takes what comes beyond the samples that were told. */
	if (d->n == 0 || (d->in_span >= d->step && d->n < d->most)) {
		d->spans[d->n++].start_ns = s->start_ns;
		d->in_span = 0;
	}
	d->in_span++;
	d->spans[d->n - 1].end_ns = s->end_ns;
	use = &d->use[(d->n - 1) * n];
	for (size_t i = 0; i < n; i++) {
		use[i].read_bytes += disks[i].read_bytes;
		use[i].write_bytes += disks[i].write_bytes;
		use[i].busy_ns += disks[i].busy_ns;
	}
}

static void join_sliver(struct disk_spans *d)
{
	struct result_span *last, *before;
	struct result_disk_use *use;

	if (d->n < 2)
		return;
	last = &d->spans[d->n - 1];
	before = last - 1;
	if (!series_is_sliver(before->start_ns, before->end_ns, last->start_ns, last->end_ns))
		return;
	before->end_ns = last->end_ns;
	use = &d->use[(d->n - 2) * d->n_disks];
	for (size_t i = 0; i < d->n_disks; i++) {
		use[i].read_bytes += use[d->n_disks + i].read_bytes;
		use[i].write_bytes += use[d->n_disks + i].write_bytes;
		use[i].busy_ns += use[d->n_disks + i].busy_ns;
	}
	d->n--;
}

void disk_spans_end(struct disk_spans *d, struct result_series *ret)
{
	join_sliver(d);
	ret->spans = d->spans;
	ret->use = d->use;
	ret->n_spans = d->n;
	ret->n_disks = d->n_disks;
	free(d);
}
