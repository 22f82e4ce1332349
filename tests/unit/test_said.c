/* Findings that say the same are told once, with the range of their percentages. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/results/said.h"

#define MAX 8

struct line {
	size_t rule;
	enum severity severity;
	const char *layout, *workload, *text;
};

static int each_apart(const void *arg, uint64_t run)
{
	(void)arg;
	return run == 1;
}

/* What is told of up to MAX findings: "text; text", each with how many say so. Caller frees. */
static char *told(const struct line *lines, size_t n, said_apart_fn apart)
{
	struct finding all[MAX];
	const struct finding *v[MAX] = {0};
	struct said said;
	struct buf out = {0};

	for (size_t i = 0; i < n; i++) {
		all[i] = (struct finding){.rule = &rule_table[lines[i].rule],
			.severity = lines[i].severity,
			.run = 1,
			.layout = lines[i].layout,
			.workload = lines[i].workload,
			.text = (char *)lines[i].text};
		v[i] = &all[i];
	}
	said_group(v, n, apart, NULL, &said);
	for (size_t i = 0; i < n; i++) {
		size_t members = 0;

		if (said.first[i] != i)
			continue;
		for (size_t k = i; k < n; k = said.next[k])
			members++;
		if (out.len)
			buf_adds(&out, "; ");
		said_text(&said, i, &out);
		buf_addf(&out, " (%zu)", members);
	}
	said_free(&said);
	return buf_take(&out);
}

static void says(const struct line *lines, size_t n, said_apart_fn apart, const char *expected)
{
	char *s = told(lines, n, apart);

	assert_string_equal(s, expected);
	free(s);
}

static void percentages_become_their_range(void **state)
{
	static const struct line lines[] = {
		{4, SEVERITY_NOTE, "a", "w", "trials spread by 16% (sd over mean)"},
		{4, SEVERITY_NOTE, "b", "w", "trials spread by 9% (sd over mean)"},
		{4, SEVERITY_NOTE, "b", "r", "trials spread by 21% (sd over mean)"},
		{5, SEVERITY_NOTE, "a", "w", "moved by -2.5%, of 100%"},
		{5, SEVERITY_NOTE, "b", "w", "moved by +10%, of 100%"},
	};

	(void)state;
	says(lines, 5, NULL,
		"trials spread by 9…21% (sd over mean) (3); moved by -2.5…+10%, of 100% (2)");
}

/* Whatever else is a number may be a name, a count or a trial's. */
static void other_numbers_keep_findings_apart(void **state)
{
	static const struct line lines[] = {
		{6, SEVERITY_WARNING, "a", "w", "trials 2, 3 both 12s (chance 0.06%)"},
		{6, SEVERITY_WARNING, "b", "w", "trials 1, 3 both 12s (chance 0.06%)"},
		{6, SEVERITY_WARNING, "c", "w", "disk sda1% is 40% slower"},
		{6, SEVERITY_WARNING, "d", "w", "disk sda2% is 50% slower"},
		{6, SEVERITY_WARNING, "e", "w", "12 MiB"},
		{6, SEVERITY_WARNING, "f", "w", "13 MiB"},
	};

	(void)state;
	says(lines, 6, NULL,
		"trials 2, 3 both 12s (chance 0.06%) (1); trials 1, 3 both 12s (chance 0.06%) (1); "
		"disk sda1% is 40% slower (1); disk sda2% is 50% slower (1); 12 MiB (1); 13 MiB (1)");
}

static void rules_severities_and_kinds_of_subject_stay_apart(void **state)
{
	static const struct line lines[] = {
		{4, SEVERITY_NOTE, "a", "w", "1%"},
		{5, SEVERITY_NOTE, "a", "w", "2%"},
		{4, SEVERITY_WARNING, "a", "w", "3%"},
		{4, SEVERITY_NOTE, "a", NULL, "4%"},
		{4, SEVERITY_NOTE, NULL, NULL, "5%"},
		{4, SEVERITY_NOTE, NULL, "w", "6%"},
	};

	(void)state;
	says(lines, 6, NULL, "1% (1); 2% (1); 3% (1); 4% (1); 5% (1); 6% (1)");
}

static void subjects_are_told_apart_where_asked_for(void **state)
{
	static const struct line lines[] = {
		{4, SEVERITY_NOTE, "a", "w", "1%"},
		{4, SEVERITY_NOTE, "b", "w", "2%"},
		{4, SEVERITY_NOTE, "a", "w", "3%"},
		{4, SEVERITY_NOTE, "a", "r", "4%"},
	};

	(void)state;
	says(lines, 4, each_apart, "1…3% (2); 2% (1); 4% (1)");
	says(lines, 4, NULL, "1…4% (4)");
	says(lines, 0, NULL, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentages_become_their_range),
		cmocka_unit_test(other_numbers_keep_findings_apart),
		cmocka_unit_test(rules_severities_and_kinds_of_subject_stay_apart),
		cmocka_unit_test(subjects_are_told_apart_where_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
