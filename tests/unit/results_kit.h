/* Result sets made of export lines, for the tests of results and reports. */
#ifndef TESTS_UNIT_RESULTS_KIT_H
#define TESTS_UNIT_RESULTS_KIT_H

#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "coordinator/results/export.h"

static inline void lines_read(const char *text, struct result_set *set)
{
	struct err e = {0};
	size_t no = 1;

	for (const char *p = text; *p; no++) {
		const char *end = strchr(p, '\n');

		assert_non_null(end);
		assert_ok(export_read_line(set, "lines", no, p, (size_t)(end - p), &e), e);
		p = end + 1;
	}
	assert_ok(export_read_end(set, &e), e);
}

static inline void lines_run(struct buf *lines, uint64_t id, const char *name, uint32_t blocks,
	char **layouts, size_t n_layouts, char **workloads, size_t n_workloads)
{
	struct result_run r = {.id = id,
		.name = (char *)name,
		.state = "done",
		.plan_sha256 = "00ff",
		.tool_version = "0.1.0",
		.user = "ann",
		.seed = 1,
		.blocks = blocks,
		.cache = "cold",
		.design = "random-blocks",
		.baseline = 0,
		.layouts = {layouts, n_layouts, 0},
		.workloads = {workloads, n_workloads, 0}};

	export_run(&r, lines);
}

/* A trial that counts; change what the test is about. */
static inline struct result_trial a_trial(const char *host, uint32_t trial, uint32_t block,
	uint32_t layout, uint32_t workload, int64_t elapsed_ns)
{
	struct result_trial t = {.run = 1,
		.host = (char *)host,
		.attempt = 1,
		.layout = layout,
		.workload = workload,
		.block = block,
		.repeat = 1,
		.position = layout + 1,
		.op = "write",
		.complete = 1,
		.cache = "cold: export/import"};

	t.sum = (struct trial_summary){.trial = trial,
		.ok = 1,
		.elapsed_ns = elapsed_ns,
		.started_wall_ns = 1700000000000000000ll + (int64_t)trial * 1000000000,
		.bytes = 0,
		.ops = 0};
	return t;
}

/* The rules named in an HTML report's items of what is unknown, each once. */
static inline size_t unknown_rules(const char *text)
{
	uint64_t rules = 0;

	while ((text = strstr(text, "<li class=\"unknown\">"))) {
		const char *end = strstr(text, "</li>");

		for (; text < end; text++)
			if (text[0] == ' ' && text[1] == 'V')
				rules |= 1ull << strtoul(text + 2, NULL, 10);
	}
	return (size_t)__builtin_popcountll(rules);
}

#endif
