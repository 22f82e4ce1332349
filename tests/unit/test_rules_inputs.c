/* Rule V13 on what trials took: the same dump and the same PostgreSQL, or not; of imports also as much
 * data and the same caches. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "tests/unit/results_kit.h"

static char *layouts[] = {"left", "right", NULL}, *workloads[] = {"load", NULL};

#define SHA "sha256 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "sha256 fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static const struct scene {
	const char *name, *a, *b;   /* the notes of two hosts: the dump, */
	const char *pg_a, *pg_b;    /* the programs */
	const char *said;           /* NULL: silent */
	enum severity severity;
} scenes[] = {
	{"the same", "/srv/a.dump\n" SHA, "/srv/b.dump\n" SHA, "PostgreSQL 15.18 in /a", "PostgreSQL 15.18 in /a",
		NULL, 0},
	{"another dump", "/srv/a.dump\n" SHA, "/srv/a.dump\n" OTHER, NULL, NULL,
		"the dump is not the same in all trials: 0123456789abcdef on a, fedcba9876543210 on b",
		SEVERITY_INVALID},
	{"made ones differ always", "made by pgbench at scale 3\n" SHA, "made by pgbench at scale 3\n" OTHER,
		NULL, NULL, NULL, 0},
	{"another PostgreSQL", NULL, NULL, "PostgreSQL 15.18 in /a", "PostgreSQL 17.2 in /a",
		"PostgreSQL is not the same in all trials: 15.18 in /a on a, 17.2 in /a on b", SEVERITY_WARNING},
	{"one does not tell", "/srv/a.dump\n" SHA, NULL, NULL, NULL, NULL, 0},
};

static void add_trials(struct buf *lines, const char *host, uint32_t first, const char *dump,
	const char *pg)
{
	for (uint32_t block = 1; block <= 3; block++)
		for (uint32_t layout = 0; layout < 2; layout++) {
			struct result_trial t = a_trial(host, first++, block, layout, 0,
				1000000000 + block * 1000000);

			if (dump)
				detail_note(&t.sum.detail, "dump", dump);
			if (pg)
				detail_note(&t.sum.detail, "postgresql", pg);
			export_trial(&t, lines);
			detail_clear(&t.sum.detail);
		}
}

static void differences_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scenes); i++) {
		const struct scene *s = &scenes[i];
		struct result_set set = {0};
		struct analysis a;
		struct buf lines = {0};
		const struct finding *found = NULL;
		struct err e;

		lines_run(&lines, 1, "r", 3, layouts, 2, workloads, 1);
		add_trials(&lines, "a", 1, s->a, s->pg_a);
		add_trials(&lines, "b", 1, s->b, s->pg_b);
		lines_read(buf_str(&lines), &set);
		assert_ok(analysis_make(&set, &a, &e), e);
		for (size_t k = 0; k < a.findings.n; k++)
			if (!strcmp(a.findings.v[k].rule->id, "V13") && !a.findings.v[k].unknown)
				found = &a.findings.v[k];
		if (!found != !s->said)
			fail_msg("%s: %s", s->name, found ? found->text : "silent");
		if (found) {
			assert_string_equal(found->text, s->said);
			assert_int_equal(found->severity, s->severity);
			assert_string_equal(found->workload, "load");
		}
		analysis_clear(&a);
		result_set_clear(&set);
		buf_free(&lines);
	}
}

static const struct import {
	const char *name;
	const char *cache[2];  /* of each layout */
	uint64_t bytes[2];     /* of each layout's first trials; */
	uint64_t last;         /* of left's last; 0: as much */
	const char *said;      /* NULL: silent */
	enum severity severity;
	const char *layout;    /* of the finding; NULL: of all */
} imports[] = {
	{"alike", {"cold", "cold"}, {1 << 30, 1 << 30}, 0, NULL, 0, NULL},
	{"nobody tells", {"", ""}, {0, 0}, 0, NULL, 0, NULL},
	{"one tells of its cache", {"cold", ""}, {0, 0}, 0, NULL, 0, NULL},
	{"other caches", {"cold", "warm"}, {0, 0}, 0, "caches: cold in left, warm in right",
		SEVERITY_WARNING, NULL},
	{"caches that one does not tell", {"cold", ""}, {0, 0}, 0, NULL, 0, NULL},
	{"half as much in one trial", {"", ""}, {1 << 30, 1 << 30}, 1 << 29,
		"elapsed is of 512 MiB in one trial and of 1 GiB in another: not the same work",
		SEVERITY_INVALID, "left"},
	{"one trial does not tell", {"", ""}, {0, 1 << 30}, 1 << 30, NULL, 0, NULL},
	{"a sector more", {"", ""}, {1 << 30, 1 << 30}, (1 << 30) + 512, NULL, 0, NULL},
};

static void add_import(struct buf *lines, const struct import *c)
{
	struct result_run r = {.id = 1, .name = "r", .state = "imported", .plan_sha256 = "",
		.tool_version = "", .user = "", .cache = "", .design = "unknown",
		.layouts = {layouts, 2, 0}, .workloads = {workloads, 1, 0}};

	export_run(&r, lines);
	for (uint32_t block = 1; block <= 3; block++)
		for (uint32_t layout = 0; layout < 2; layout++) {
			struct result_trial t = a_trial("a", 2 * block + layout, block, layout, 0,
				1000000000 + block * 1000000);

			t.cache = (char *)c->cache[layout];
			t.sum.bytes = layout == 0 && block == 3 && c->last ? c->last
									   : c->bytes[layout];
			export_trial(&t, lines);
		}
}

static void imports_are_of_the_same_work(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(imports); i++) {
		const struct import *c = &imports[i];
		const struct finding *found = NULL;
		struct result_set set = {0};
		struct buf lines = {0};
		struct analysis a;
		int untold = 0;
		struct err e;

		add_import(&lines, c);
		lines_read(buf_str(&lines), &set);
		assert_ok(analysis_make(&set, &a, &e), e);
		for (size_t k = 0; k < a.findings.n; k++)
			if (!strcmp(a.findings.v[k].rule->id, "V13") && !a.findings.v[k].unknown &&
				!(found && c->said && !strcmp(found->text, c->said)))
				found = &a.findings.v[k];
		for (size_t k = 0; k < a.findings.n; k++)
			untold |= !strcmp(a.findings.v[k].text, "not told by every result: caches");
		assert_int_equal(untold, !*c->cache[0] != !*c->cache[1]);
		if (!found != !c->said)
			fail_msg("%s: %s", c->name, found ? found->text : "silent");
		if (found) {
			assert_string_equal(found->text, c->said);
			assert_int_equal(found->severity, c->severity);
			assert_true(!found->layout == !c->layout &&
				    (!c->layout || !strcmp(found->layout, c->layout)));
		}
		analysis_clear(&a);
		result_set_clear(&set);
		buf_free(&lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_told),
		cmocka_unit_test(imports_are_of_the_same_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
