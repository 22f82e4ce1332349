/*
 * Of rule V13: trials of one workload took different inputs, or other versions of a program. What they
 * took stands in their notes. Owns nothing beyond a call.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

static const struct {
	const char *note, *after; /* what identifies it stands behind `after`, to the line's end */
	const char *unless;       /* a text that begins so is new each time */
	const char *what;
	enum severity severity;
} taken[] = {
	{"dump", "sha256 ", "made by", "the dump", SEVERITY_INVALID},
	{"postgresql", "PostgreSQL ", NULL, "PostgreSQL", SEVERITY_WARNING},
};

/* Caller frees; NULL where the trial does not tell. */
static char *taken_by(const struct result_trial *t, size_t i)
{
	const struct trial_detail *d = &t->sum.detail;

	for (size_t k = 0; k < d->n_notes; k++) {
		const char *text = d->notes[k].text, *at;

		if (strcmp(d->notes[k].name, taken[i].note) ||
			(taken[i].unless && str_starts(text, taken[i].unless)))
			continue;
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
	int told; /* a difference */
};

static void compare_taken(const struct rule_input *in, const struct result_row *row,
	const struct result_trial *t, size_t i, struct first *first)
{
	char *now = taken_by(t, i);

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

void rule_inputs_differ(const struct rule_input *in)
{
	size_t n = in->run->n_workloads + 1;

	for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
		struct first *first = xcalloc(n, sizeof(*first));

		FOR_ROWS(in, row)
		{
			if (!rule_row_is_headline(in, row) || row->workload_index >= n)
				continue;
			for (unsigned k = 0; k < row->listed; k++)
				compare_taken(in, row, row->trials[k], i, &first[row->workload_index]);
		}
		for (size_t k = 0; k < n; k++)
			free(first[k].value);
		free(first);
	}
}
