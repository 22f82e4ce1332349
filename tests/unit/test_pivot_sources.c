/* Runs beside each other that were not measured alike: V13 says so, whichever way they differ. */
#include "tests/unit/test.h"

#include <math.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/import.h"
#include "coordinator/results/merge.h"
#include "coordinator/results/pivot.h"
#include "coordinator/results/report.h"
#include "tests/unit/results_kit.h"

#define ALIKE "{\"os\": \"Debian 12\", \"kernel\": \"6.1\", \"ram_bytes\": 34359738368}"

/* What one of the runs tells. */
struct told {
	const char *inventory; /* NULL: nothing */
	const char *host;      /* NULL: knew */
	const char *cache;     /* NULL: cold */
	uint64_t bytes;        /* of each trial; 0: not told */
};

/* What one host of a run did: four trials and a step. */
static void add_host(struct buf *lines, const struct told *c, uint32_t place, int64_t ms)
{
	const char *host = c->host ? c->host : "knew";
	char *argv[] = {"/sbin/zpool", NULL};
	struct result_step step = {.run = 1, .host = (char *)host, .attempt = 1, .block = 1,
		.layout_name = "z1", .phase = "build", .what = "create the pool",
		.argv = {argv, 1, 0}, .ok = 1, .output = ""};

	if (c->inventory) {
		struct result_environment v = {
			.run = 1, .host = (char *)host, .inventory = json_loads(c->inventory, 0, NULL)};

		assert_non_null(v.inventory);
		export_environment(&v, lines);
		json_decref(v.inventory);
	}
	for (uint32_t b = 1; b <= 4; b++) {
		struct result_trial t = a_trial(host, place * 4 + b, b, 0, 0, (ms + b) * 1000000);

		t.sum.bytes = c->bytes;
		export_trial(&t, lines);
	}
	export_step(&step, lines);
}

static void add_run(struct result_set *set, const struct told *c, uint32_t n_hosts, int64_t ms)
{
	char *layouts[] = {"z1", NULL}, *workloads[] = {"load", NULL};
	struct result_run r = {.id = 1, .name = "demo", .state = "done", .plan_sha256 = "",
		.tool_version = "", .user = "", .blocks = 4, .design = "random-blocks",
		.cache = (char *)(c->cache ? c->cache : "cold"), .layouts = {layouts, 1, 0},
		.workloads = {workloads, 1, 0}};
	struct result_set one = {0};
	struct buf lines = {0};

	export_run(&r, &lines);
	for (uint32_t i = 0; i < n_hosts; i++)
		add_host(&lines, &c[i], i, ms);
	lines_read(lines.data, &one);
	result_set_merge(set, &one);
	buf_free(&lines);
}

static const struct {
	const char *name;
	struct told jan, feb;
	const char *says; /* a finding of V13 has it; NULL: there is none */
	int unknown, invalid;
} table[] = {
	{"alike", {.inventory = ALIKE}, {.inventory = ALIKE}, NULL, 0, 0},
	{"another kernel", {.inventory = ALIKE},
		{.inventory = "{\"os\": \"Debian 12\", \"kernel\": \"6.12\", \"ram_bytes\": 34359738368}"},
		"kernel: 6.1 in jan, 6.12 in feb", 0, 0},
	{"another ZFS", {.inventory = "{\"zfs\": \"zfs-2.1.11\"}"}, {.inventory = "{\"zfs\": \"zfs-2.2.7\"}"},
		"ZFS: zfs-2.1.11 in jan, zfs-2.2.7 in feb", 0, 0},
	{"half the memory", {.inventory = ALIKE},
		{.inventory = "{\"os\": \"Debian 12\", \"kernel\": \"6.1\", \"ram_bytes\": 17179869184}"},
		"memory: 32 GiB in jan, 16 GiB in feb", 0, 0},
	{"a kernel that one does not tell", {.inventory = ALIKE},
		{.inventory = "{\"os\": \"Debian 12\", \"ram_bytes\": 34359738368}"}, NULL, 1, 0},
	{"memory that one does not tell", {.inventory = ALIKE},
		{.inventory = "{\"os\": \"Debian 12\", \"kernel\": \"6.1\"}"}, NULL, 1, 0},
	{"caches that one does not tell", {.inventory = ALIKE}, {.inventory = ALIKE, .cache = ""}, NULL, 1, 0},
	{"firmware keeps some of it", {.inventory = ALIKE},
		{.inventory = "{\"os\": \"Debian 12\", \"kernel\": \"6.1\", \"ram_bytes\": 34259738368}"}, NULL, 0, 0},
	{"another host", {.inventory = ALIKE}, {.inventory = ALIKE, .host = "slocum"},
		"jan and feb were measured on different hosts", 0, 0},
	{"other caches", {.inventory = ALIKE}, {.inventory = ALIKE, .cache = "warm"},
		"caches: cold in jan, warm in feb", 0, 0},
	{"one does not tell", {.inventory = ALIKE}, {0}, NULL, 1, 0},
	{"neither tells", {0}, {0}, NULL, 1, 0},
	{"as much data", {.inventory = ALIKE, .bytes = 1000000000},
		{.inventory = ALIKE, .bytes = 1000000000}, NULL, 0, 0},
	{"twice the data", {.inventory = ALIKE, .bytes = 1ull << 30},
		{.inventory = ALIKE, .bytes = 2ull << 30},
		"elapsed is of 1 GiB in jan and of 2 GiB in feb: not the same work", 0, 1},
	{"one does not know how much", {.inventory = ALIKE, .bytes = 1ull << 30}, {.inventory = ALIKE},
		NULL, 1, 0},
	{"nobody knows how much", {.inventory = ALIKE}, {.inventory = ALIKE}, NULL, 0, 0},
};

/* Beside each other; ends what the caller added. */
static void analyse(struct result_set *set, struct analysis *a)
{
	const struct pivot_source v[] = {{1, "jan"}, {2, "feb"}};
	struct err e;

	assert_ok(export_read_end(set, &e), e);
	assert_ok(pivot_sources(set, v, 2, &e), e);
	assert_ok(analysis_make(set, a, &e), e);
}

/* What V13 says, a line each. */
static struct buf said(const struct analysis *a, int *ret_unknown, int *ret_invalid)
{
	struct buf lines = {0};

	*ret_unknown = *ret_invalid = 0;
	for (size_t k = 0; k < a->findings.n; k++) {
		const struct finding *f = &a->findings.v[k];

		if (strcmp(f->rule->id, "V13") != 0)
			continue;
		*ret_unknown |= f->unknown && strcmp(f->text, "no list of the disks") != 0; /* none here */
		*ret_invalid |= !f->unknown && f->severity == SEVERITY_INVALID;
		if (!f->unknown)
			buf_addf(&lines, "%s\n", f->text);
	}
	return lines;
}

static void environments_differ(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct result_set set = {0};
		int unknown, invalid;
		struct analysis a;
		struct buf found;

		add_run(&set, &table[i].jan, 1, 100);
		add_run(&set, &table[i].feb, 1, 110);
		analyse(&set, &a);
		found = said(&a, &unknown, &invalid);
		if (table[i].says ? !strstr(buf_str(&found), table[i].says) : found.len > 0)
			fail_msg("%s: '%s'", table[i].name, buf_str(&found));
		if (unknown != table[i].unknown || invalid != table[i].invalid)
			fail_msg("%s: unknown %d, invalid %d", table[i].name, unknown, invalid);
		assert_int_equal(a.n_comparisons, 1);
		assert_int_equal(a.comparisons[0].invalid.n, table[i].invalid);
		analysis_clear(&a);
		result_set_clear(&set);
		buf_free(&found);
	}
}

/* Unlike hosts of a fleet are a note; that one of them is another than before is a warning. */
static void each_host_against_itself(void **state)
{
	struct told jan[] = {{.host = "a", .inventory = "{\"kernel\": \"6.1\", \"cpus\": 4}"},
		{.host = "b", .inventory = "{\"kernel\": \"6.1\", \"cpus\": 8}"}};
	struct told feb[] = {{.host = "a", .inventory = "{\"kernel\": \"6.1\", \"cpus\": 4}"},
		{.host = "b", .inventory = "{\"kernel\": \"6.9\", \"cpus\": 8}"}};
	struct result_set set = {0};
	int unknown, invalid;
	struct analysis a;
	struct buf found;

	(void)state;
	add_run(&set, jan, 2, 100);
	add_run(&set, feb, 2, 110);
	analyse(&set, &a);
	found = said(&a, &unknown, &invalid);
	assert_string_equal(buf_str(&found),
		"kernel of b: 6.1 in jan, 6.9 in feb\nnumber of CPUs: 4 on a, 8 on b\n");
	assert_false(unknown);
	analysis_clear(&a);
	result_set_clear(&set);
	buf_free(&found);
}

/* Of two sizes, times are no comparison, but rates may be. */
static void rates_of_other_amounts_stand(void **state)
{
	struct told jan = {.inventory = ALIKE, .bytes = 1 << 30}, feb = {.inventory = ALIKE, .bytes = 2u << 30};
	struct result_set set = {0};
	struct analysis a;

	(void)state;
	add_run(&set, &jan, 1, 100);
	add_run(&set, &feb, 1, 110);
	set.wish = (struct result_wish){.metrics = {METRIC_THROUGHPUT}, .n_metrics = 1};
	analyse(&set, &a);
	assert_int_equal(a.n_comparisons, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(a.comparisons[i].invalid.n, a.comparisons[i].metric == METRIC_ELAPSED);
	analysis_clear(&a);
	result_set_clear(&set);
}

/* Environments and commands of the document belong to its own run, and say whose they were. */
static void the_document_says_whose(void **state)
{
	struct told jan = {.inventory = ALIKE}, feb = {.inventory = ALIKE};
	struct report_options o = {0};
	struct result_set set = {0};
	struct buf out = {0};
	json_t *doc, *list;
	struct analysis a;
	struct err e = {0};

	(void)state;
	add_run(&set, &jan, 1, 100);
	add_run(&set, &feb, 1, 110);
	set.wish = (struct result_wish){.has_margin = 1, .margin = 0.25};
	analyse(&set, &a);
	analysis_clear(&a);
	assert_ok(report_json(&set, &o, &out, &e), e);
	assert_ok(json_parse("report", buf_str(&out), out.len, out.len, &doc, &e), e);
	list = json_object_get(doc, "environments");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_get_str(json_array_get(list, 0), "source", ""), "jan");
	assert_string_equal(json_get_str(json_array_get(list, 1), "source", ""), "feb");
	list = json_object_get(doc, "commands");
	assert_int_equal(json_array_size(list), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(json_get_int(json_array_get(list, i), "run", 0), 1);
		assert_string_equal(json_get_str(json_array_get(list, i), "layout", ""), i ? "feb" : "jan");
	}
	/* the margin that was asked for, not that of a plan */
	assert_true(fabs(json_get_num(doc, "margin", 0) - 0.25) < 1e-12);
	json_decref(doc);
	buf_free(&out);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environments_differ),
		cmocka_unit_test(each_host_against_itself),
		cmocka_unit_test(rates_of_other_amounts_stand),
		cmocka_unit_test(the_document_says_whose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
