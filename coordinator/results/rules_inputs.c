/*
 * Of rule V13: trials of one workload took different inputs, or other versions of a program, moved
 * other amounts of data, or found other caches. What they took stands in their notes. Owns nothing
 * beyond a call.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

#define AMOUNT_DIFFERS 0.01 /* what ends of files and interrupted blocks make is less */

static const struct {
	const char *note, *after; /* what identifies it stands behind `after`, to the line's end */
	const char *unless;       /* a text that begins so is new each time */
	const char *what;
	enum severity severity;
} taken[] = {
	{"dump", "sha256 ", "made by", "the dump", SEVERITY_INVALID},
	{"postgresql", "PostgreSQL ", NULL, "PostgreSQL", SEVERITY_WARNING},
};

/* Caller frees; NULL where the trial does not tell, "" for what is new each time. */
static char *taken_by(const struct result_trial *t, size_t i)
{
	const struct trial_detail *d = &t->sum.detail;

	for (size_t k = 0; k < d->n_notes; k++) {
		const char *text = d->notes[k].text, *at;

		if (strcmp(d->notes[k].name, taken[i].note))
			continue;
		if (taken[i].unless && str_starts(text, taken[i].unless))
			return xstrdup("");
		at = strstr(text, taken[i].after);
		if (at)
			return xstrndup(at + strlen(taken[i].after),
				strcspn(at + strlen(taken[i].after), "\n"));
	}
	return NULL;
}

/* The first trial of a workload that tells. */
struct first {
	const struct result_trial *trial;
	char *value;
	int told;   /* a difference */
	int untold; /* a trial does not tell */
};

static void compare_taken(const struct rule_input *in, const struct result_row *row,
	const struct result_trial *t, size_t i, struct first *first)
{
	char *now = taken_by(t, i);

	first->untold |= !now;
	if (now && !*now) {
		free(now);
		return;
	}
	if (now && first->value && !first->told && strcmp(now, first->value)) {
		first->told = 1;
		finding_add(in, taken[i].severity, NULL, NULL, row->workload,
			json_pack("{ss ss ss ss ss}", "what", taken[i].what, "host",
				first->trial->host, "value", first->value, "other_host", t->host,
				"other_value", now),
			"%s is not the same in all trials: %.16s on %s, %.16s on %s", taken[i].what,
			first->value, first->trial->host, now, t->host);
	}
	if (now && !first->value) {
		first->value = now;
		first->trial = t;
	} else {
		free(now);
	}
}

/* Mean bytes of a row's trials; NaN where one does not tell. */
static double bytes_of(const struct result_row *row)
{
	double sum = 0;

	for (unsigned i = 0; i < row->listed; i++) {
		if (!row->trials[i]->sum.bytes)
			return NAN;
		sum += (double)row->trials[i]->sum.bytes;
	}
	return row->listed ? sum / row->listed : NAN;
}

static void amount_told(const struct rule_input *in, const struct result_row *a,
	const struct result_row *b)
{
	char x[UNITS_LEN], y[UNITS_LEN];

	finding_add(in, SEVERITY_INVALID, b->host, NULL, b->workload,
		json_pack("{ss sf ss sf}", "layout", a->layout, "bytes", bytes_of(a),
			"other_layout", b->layout, "other_bytes", bytes_of(b)),
		"%s is of %s in %s and of %s in %s: not the same work", metric_table[b->metric].name,
		units_size((int64_t)bytes_of(a), x), a->layout,
		units_size((int64_t)bytes_of(b), y), b->layout)
		->metric = b->metric;
}

/* The same within a row, whose mean is then one of unlike things. */
static void amounts_within(const struct rule_input *in, const struct result_row *row)
{
	uint64_t least = 0, most = 0;
	char x[UNITS_LEN], y[UNITS_LEN];

	for (unsigned i = 0; i < row->listed; i++) {
		uint64_t bytes = row->trials[i]->sum.bytes;

		if (bytes && (!least || bytes < least))
			least = bytes;
		if (bytes > most)
			most = bytes;
	}
	if ((double)(most - least) <= AMOUNT_DIFFERS * (double)most)
		return;
	finding_add(in, SEVERITY_INVALID, row->host, row->layout, row->workload,
		json_pack("{sI sI}", "least_bytes", (json_int_t)least, "most_bytes",
			(json_int_t)most),
		"%s is of %s in one trial and of %s in another: not the same work",
		metric_table[row->metric].name, units_size((int64_t)least, x),
		units_size((int64_t)most, y))
		->metric = row->metric;
}

/* Twice the work takes twice as much of it; rates, and what an operation takes, stay as they are. */
static int is_of_amount(enum metric_id m)
{
	return m == METRIC_ELAPSED || m == METRIC_PHYS_READ || m == METRIC_PHYS_WRITE;
}

/* There is no plan that asks for more. */
static int is_compared(const struct rule_input *in, const struct result_row *row)
{
	const struct result_wish *wish = in->run->wish;

	for (size_t i = 0; i < wish->n_metrics; i++)
		if (wish->metrics[i] == row->metric)
			return 1;
	return rule_row_is_headline(in, row);
}

/* A time says something of a layout only beside the time of the same work: of results that no plan of
 * ours made alike. Whichever metric is the headline: it stands beside the verdict of its own. */
static void amounts_differ(const struct rule_input *in)
{
	const struct result_row *first = NULL;
	int told = 0;

	FOR_ROWS(in, row)
	{
		if (!is_of_amount(row->metric) || !is_compared(in, row))
			continue;
		amounts_within(in, row);
		if (!first || first->workload_index != row->workload_index ||
			first->metric != row->metric || strcmp(first->host, row->host) != 0) {
			first = row;
			told = 0;
		} else if (isnan(bytes_of(row)) != isnan(bytes_of(first))) {
			finding_unknown(in, "no amount of data of every time");
		} else if (!told && fabs(bytes_of(row) / bytes_of(first) - 1) > AMOUNT_DIFFERS) {
			amount_told(in, first, row);
			told = 1;
		}
	}
}

static void caches_told(const struct rule_input *in, const struct result_row *row,
	const struct result_trial *a, const struct result_trial *b)
{
	finding_add(in, SEVERITY_WARNING, row->host, NULL, row->workload,
		json_pack("{ss ss ss ss ss}", "what", "caches", "layout", a->layout_name, "value",
			a->cache, "other_layout", b->layout_name, "other_value", b->cache),
		"caches: %s in %s, %s in %s", a->cache, a->layout_name, b->cache, b->layout_name);
}

/* The first two trials of a workload on a host that found other caches, as their files tell. Layouts
 * that are runs of their own are held against each other elsewhere. */
static void caches_differ(const struct rule_input *in)
{
	const struct result_row *of = NULL;
	const struct result_trial *first = NULL;
	int told = 0, tells = 0, silent = 0;

	FOR_ROWS(in, row)
	{
		if (!rule_row_is_headline(in, row))
			continue;
		if (!of || of->workload_index != row->workload_index ||
			strcmp(of->host, row->host) != 0 || in->run->run->n_sources) {
			first = NULL;
			told = 0;
		}
		of = row;
		for (unsigned i = 0; i < row->listed; i++) {
			const struct result_trial *t = row->trials[i];

			tells |= *t->cache != '\0';
			silent |= !*t->cache;
			if (!*t->cache || told)
				continue;
			if (!first)
				first = t;
			told = strcmp(first->cache, t->cache) != 0;
			if (told)
				caches_told(in, row, first, t);
		}
	}
	if (tells && silent)
		finding_unknown(in, "not told by every result: caches");
}

void rule_inputs_differ(const struct rule_input *in)
{
	size_t n = in->run->n_workloads + 1;

	if (!in->run->plan &&
		(in->run->run->n_sources || strcmp(in->run->run->state, "imported") == 0)) {
		amounts_differ(in);
		caches_differ(in);
		rule_data_differ(in);
	}

	for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
		struct first *first = xcalloc(n, sizeof(*first));

		FOR_ROWS(in, row)
		{
			if (!rule_row_is_headline(in, row) || row->workload_index >= n)
				continue;
			for (unsigned k = 0; k < row->listed; k++)
				compare_taken(in, row, row->trials[k], i, &first[row->workload_index]);
		}
		for (size_t k = 0; k < n; k++) {
			if (first[k].value && first[k].untold)
				finding_unknown(in, "not told of every trial: %s", taken[i].what);
			free(first[k].value);
		}
		free(first);
	}
}
