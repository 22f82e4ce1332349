/* What a scan tells of each disk. Owns nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/workload/scan.h"
#include "common/base/mem.h"
#include "common/base/units.h"

static const char *const kinds[SCAN_PLACES] = {
	"disk-outer", "disk-middle", "disk-inner", "disk-together"};

static double rate(const struct scan_counts *c)
{
	return c->elapsed_ns > 0 ? (double)c->bytes / ((double)c->elapsed_ns / NS_PER_S) : 0;
}

static void tell_part(struct trial_detail *ret, const char *kind, const char *name,
	const struct scan_counts *c, const struct hist *hist)
{
	struct trial_part *p = detail_part(ret, kind, name, hist);

	p->ops += c->ops;
	p->bytes += c->bytes;
	p->errors += c->errors;
	p->elapsed_ns = c->elapsed_ns;
}

static struct scan_counts alone(const struct scan_disk *d)
{
	struct scan_counts sum = {0};

	for (int p = SCAN_OUTER; p <= SCAN_INNER; p++) {
		sum.ops += d->of[p].ops;
		sum.bytes += d->of[p].bytes;
		sum.errors += d->of[p].errors;
		sum.elapsed_ns += d->of[p].elapsed_ns;
	}
	return sum;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The slowest disk against the median of all, each read alone. */
static void tell_slowest(const struct scan_disk *v, size_t n, struct trial_detail *ret)
{
	double *rates = xcalloc(n, sizeof(*rates)), median;
	size_t all = n;

	n = 0;
	for (size_t i = 0; i < all; i++) {
		struct scan_counts c = alone(&v[i]);

		if (v[i].fd >= 0)
			rates[n++] = rate(&c);
	}
	if (n == 0) {
		free(rates);
		return;
	}
	qsort(rates, n, sizeof(*rates), compare);
	median = n % 2 ? rates[n / 2] : (rates[n / 2 - 1] + rates[n / 2]) / 2;
	if (median > 0)
		detail_fact(ret, "slowest_to_median", rates[0] / median, "");
	free(rates);
}

static void tell_table(const struct scan_disk *v, size_t n, struct trial_detail *ret)
{
	struct buf text = {0};

	buf_addf(&text, "%-12s %9s %9s %9s %9s  MB/s\n", "disk", "outer", "middle", "inner",
		"together");
	for (size_t i = 0; i < n; i++) {
		buf_addf(&text, "%-12s", v[i].name);
		for (int p = SCAN_OUTER; p < SCAN_PLACES; p++)
			buf_addf(&text, " %9.1f", rate(&v[i].of[p]) / 1e6);
		if (v[i].fd < 0)
			buf_addf(&text, "  not read: %s", v[i].trouble);
		else if (*v[i].trouble)
			buf_addf(&text, "  cannot be read at %s", v[i].trouble);
		buf_adds(&text, "\n");
	}
	detail_note(ret, "disks", buf_str(&text));
	buf_free(&text);
}

void scan_tell(const struct scan_disk *v, size_t n, struct trial_detail *ret)
{
	double together = 0;

	for (size_t i = 0; i < n; i++) {
		struct scan_counts sum = alone(&v[i]);

		tell_part(ret, "disk", v[i].name, &sum, v[i].fd < 0 ? NULL : &v[i].alone);
		if (v[i].fd < 0)
			continue;
		for (int p = SCAN_OUTER; p <= SCAN_INNER; p++)
			tell_part(ret, kinds[p], v[i].name, &v[i].of[p], NULL);
		tell_part(ret, kinds[SCAN_TOGETHER], v[i].name, &v[i].of[SCAN_TOGETHER],
			&v[i].together);
		together += rate(&v[i].of[SCAN_TOGETHER]);
	}
	detail_fact(ret, "together_throughput", together, "B/s");
	tell_slowest(v, n, ret);
	tell_table(v, n, ret);
}
