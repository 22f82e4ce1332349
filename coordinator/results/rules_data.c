/*
 * Of rule V02: data of results that no plan of ours made, as their files tell it, on volumes whose
 * compression nothing tells. Of rule V13: layouts that took other data. Owns nothing beyond a call.
 * Invariant: what is not told of some result is never taken from another one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

void finding_may_compress(const struct rule_input *in, const struct data_told *d, const char *host,
	const char *layout, const char *workload)
{
	char text[DATA_TOLD_LEN];
	json_t *evidence = json_pack("{ss sn}", "data", data_told_text(d, text), "compression");

	if (d->kind == DATA_ZERO)
		finding_add(in, SEVERITY_WARNING, host, layout, workload, evidence,
			"zeros written, compression unknown");
	else
		finding_add(in, SEVERITY_WARNING, host, layout, workload, evidence,
			"data made to shrink by %u%%, compression unknown", d->percent);
}

/* Of its trials or its summary: that of which a compressor makes most. */
static struct data_told data_of(const struct result_row *row)
{
	struct data_told d = row->data;

	for (unsigned i = 0; i < row->listed; i++)
		if (i)
			data_told_join(&d, &row->trials[i]->data);
		else
			d = row->trials[i]->data;
	return d;
}

static int counts(const struct rule_input *in, const struct result_row *row)
{
	return row->n && analysis_is_shown(in->run, row);
}

/* What the rows of a workload, or all, have in common. */
struct common {
	struct data_told data; /* of the first one */
	unsigned rows;
	int differs, told;
};

static void add_row(struct common *c, const struct data_told *d)
{
	if (!c->rows++)
		c->data = *d;
	c->differs |= !data_told_same(&c->data, d);
}

/* As one finding of everything, or of the workload, where all rows of these have the same data. */
static void may_compress(const struct rule_input *in, const struct result_row *row,
	const struct data_told *d, struct common *all, struct common *workload)
{
	if (all->differs && workload->differs)
		finding_may_compress(in, d, row->host, row->layout, row->workload);
	else if (all->differs && !workload->told++)
		finding_may_compress(in, d, NULL, NULL, row->workload);
	else if (!all->differs && !all->told++)
		finding_may_compress(in, d, NULL, NULL, NULL);
}

void rule_compressible_told(const struct rule_input *in)
{
	struct common all = {0}, *workloads = xcalloc(in->run->n_workloads + 1, sizeof(*workloads));
	unsigned known = 0;

	FOR_ROWS(in, row)
	{
		const struct data_told d = data_of(row);

		if (!counts(in, row) || row->workload_index >= in->run->n_workloads)
			continue;
		add_row(&all, &d);
		add_row(&workloads[row->workload_index], &d);
		known += d.known != 0;
	}
	if (!known || known < all.rows)
		finding_unknown(in, "no plan");
	FOR_ROWS(in, row)
	{
		const struct data_told d = data_of(row);

		if (d.known && d.kind != DATA_RANDOM && counts(in, row) &&
			row->workload_index < in->run->n_workloads)
			may_compress(in, row, &d, &all, &workloads[row->workload_index]);
	}
	free(workloads);
}

static void data_differs(const struct rule_input *in, const struct result_row *a,
	const struct data_told *x, const struct result_row *b, const struct data_told *y)
{
	char s[DATA_TOLD_LEN], t[DATA_TOLD_LEN];

	data_told_text(x, s);
	data_told_text(y, t);
	finding_add(in, SEVERITY_WARNING, b->host, NULL, b->workload,
		json_pack("{ss ss ss ss ss}", "what", "data", "layout", a->layout, "value", s,
			"other_layout", b->layout, "other_value", t),
		"data: %s in %s, %s in %s", s, a->layout, t, b->layout);
}

/* The first two layouts of a workload on a host that tell other data. */
void rule_data_differ(const struct rule_input *in)
{
	const struct result_row *first = NULL;
	struct data_told of = {0};
	int told = 0;

	FOR_ROWS(in, row)
	{
		struct data_told d;

		if (!counts(in, row))
			continue;
		if (first && (first->workload_index != row->workload_index ||
				     strcmp(first->host, row->host) != 0)) {
			first = NULL;
			told = 0;
		}
		d = data_of(row);
		if (!d.known)
			continue;
		if (!first) {
			first = row;
			of = d;
		} else if (!told && !data_told_same(&of, &d)) {
			data_differs(in, first, &of, row, &d);
			told = 1;
		}
	}
}
