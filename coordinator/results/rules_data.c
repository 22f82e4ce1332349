/*
 * Of rule V02: data of results that no plan of ours made, as their files tell it, on volumes whose
 * compression nothing tells. Of rule V13: layouts that took other data. Owns nothing beyond a call.
 * Invariant: what is not told of some result is never taken from another one.
 */
#include <string.h>

#include "common/base/json.h"
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
static struct data_told data_of(const struct rule_input *in, const struct result_row *row)
{
	const struct result_set *s = in->set;
	struct data_told d = {0};

	for (unsigned i = 0; i < row->listed; i++)
		if (i)
			data_told_join(&d, &row->trials[i]->data);
		else
			d = row->trials[i]->data;
	for (size_t i = 0; row->summary_only && i < s->n_summaries; i++) {
		const struct result_summary *m = &s->summaries[i];

		if (m->run == row->run && m->layout == row->layout_index &&
			m->workload == row->workload_index && m->metric == row->metric &&
			!strcmp(m->host, row->host))
			d = m->data;
	}
	return d;
}

static int counts(const struct rule_input *in, const struct result_row *row)
{
	return row->n && analysis_is_shown(in->run, row);
}

/* Whether all rows (workload NULL), or all of the workload, have one kind of data. */
static int is_of_all(const struct rule_input *in, const char *workload, const struct data_told *d)
{
	FOR_ROWS(in, row)
	{
		struct data_told other;

		if (!counts(in, row) || (workload && strcmp(row->workload, workload) != 0))
			continue;
		other = data_of(in, row);
		if (!data_told_same(d, &other))
			return 0;
	}
	return 1;
}

/* Whether a row before it is of the same workload. */
static int had_workload(const struct rule_input *in, const struct result_row *row)
{
	for (const struct result_row *o = row; o-- > in->analysis->rows + in->run->first_row;)
		if (counts(in, o) && !strcmp(o->workload, row->workload))
			return 1;
	return 0;
}

void rule_compressible_told(const struct rule_input *in)
{
	int rows = 0;

	FOR_ROWS(in, row)
	{
		struct data_told d;

		if (!counts(in, row))
			continue;
		d = data_of(in, row);
		if (!d.known)
			finding_unknown(in, "no plan");
		if (!d.known || d.kind == DATA_RANDOM) {
			rows++;
			continue;
		}
		if (is_of_all(in, NULL, &d)) {
			if (!rows)
				finding_may_compress(in, &d, NULL, NULL, NULL);
		} else if (is_of_all(in, row->workload, &d)) {
			if (!had_workload(in, row))
				finding_may_compress(in, &d, NULL, NULL, row->workload);
		} else {
			finding_may_compress(in, &d, row->host, row->layout, row->workload);
		}
		rows++;
	}
	if (!rows)
		finding_unknown(in, "no plan");
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
		d = data_of(in, row);
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
