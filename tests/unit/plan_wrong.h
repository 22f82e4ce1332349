/*
 * For tables of wrong plans: a table of texts and of exactly the lines that each must give, in the
 * order of the file and all in one pass. A line's "plan.yaml:" is left out in the table.
 */
#ifndef TESTS_UNIT_PLAN_WRONG_H
#define TESTS_UNIT_PLAN_WRONG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/plan/plan.h"

struct wrong {
	const char *name, *text, *expected;
};

#define TOP "name: p\nhosts: all\ntrials: 5\n"
#define EXISTING "layouts:\n  a: {existing: /tank/bench}\n"
#define RAIDZ1 "layouts:\n  a: {pool: {level: raidz1, disks: 4}}\n"
#define TWO "layouts:\n  a: {existing: /x}\n  b: {existing: /y}\n"
#define WRITE "workloads:\n  w: {stream: {op: write, size: 1G}}\n"
#define TOP_KEY(line) TOP line "\n" EXISTING WRITE
#define LAYOUT(body) TOP "layouts:\n  a: " body "\n" WRITE
#define STREAM(body) TOP EXISTING "workloads:\n  w: {stream: " body "}\n"

static inline char *wrong_lines(const struct strv *list)
{
	struct buf out = {0};

	for (size_t i = 0; i < list->n; i++) {
		assert_int_equal(strncmp(list->v[i], "plan.yaml:", 10), 0);
		buf_addf(&out, "%s\n", list->v[i] + 10);
	}
	return buf_take(&out);
}

static inline void wrong_check(const struct wrong *w)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;
	char *got;

	if (plan_parse("plan.yaml", w->text, strlen(w->text), NULL, &p, &errs, &e) == 0)
		fail_msg("%s: taken as right", w->name);
	got = wrong_lines(&errs.list);
	if (strcmp(got, w->expected))
		fail_msg("%s:\ngot:\n%sexpected:\n%s", w->name, got, w->expected);
	assert_null(p);
	assert_int_equal(e.code, ERR_INPUT);
	assert_int_equal(strncmp(e.text, errs.list.v[0], strlen(errs.list.v[0])), 0);
	free(got);
	yaml_errors_free(&errs);
}

#define WRONG_TEST(table)                                                                          \
	static void test_##table(void **state)                                                     \
	{                                                                                          \
		(void)state;                                                                       \
		for (size_t i = 0; i < ARRAY_LEN(table); i++)                                      \
			wrong_check(&table[i]);                                                    \
	}

#endif
