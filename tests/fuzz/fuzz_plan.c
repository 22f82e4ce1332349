/*
 * Any text as a plan: never a crash, a leak or an answer without errors that breaks what the struct
 * promises. What is accepted is bound, estimated and ordered as well. The first line, when it
 * starts with '=', is a --set.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/bind.h"
#include "common/plan/estimate.h"
#include "common/plan/order.h"
#include "common/plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static void use_layout(const struct layout *l)
{
	MUST(l->name && *l->name && strlen(l->name) <= PLAN_NAME_MAX);
	MUST(!!l->pool + !!l->fs + !!l->existing == 1);
	MUST(!l->existing || l->existing[0] == '/');
	MUST(!l->existing || !strstr(l->existing, "/../"));
	MUST(!l->scratch.disks || layout_disk_count(l) <= l->scratch.disks);
	for (size_t i = 0; l->pool && i < l->pool->n_vdevs; i++)
		MUST(l->pool->vdevs[i].level_text && l->pool->vdevs[i].disks.n);
	(void)layout_capacity(l);
}

static void use_workload(const struct plan *p, unsigned i)
{
	const struct stream *s = &p->workloads[i].stream;
	struct strv names = {0};
	int64_t bytes;
	struct err e;

	MUST(s->threads && s->files && s->block_size >= 512);
	MUST(s->op == OP_WRITE || s->of || s->file);
	MUST(!s->of || (s->of_index < i && p->workloads[s->of_index].stream.op == OP_WRITE));
	plan_stream_names(p, i, 1, 1, &names);
	MUST(names.n == s->files);
	for (size_t j = 0; j < names.n; j++)
		MUST(!strchr(names.v[j], '/') && names.v[j][0] != '.' && names.v[j][0] != '-');
	strv_free(&names);
	if (plan_stream_bytes(p, i, 1ULL << 34, &bytes, &e) == 0)
		MUST(bytes > 0);
}

static void use_host(const struct plan *p)
{
	struct inv_disk disks[4] = {
		{.name = "sda", .serial = "A", .bytes = 1ULL << 40, .allowed = 1},
		{.name = "sdb", .serial = "B", .bytes = 1ULL << 40, .allowed = 1},
		{.name = "sdc", .wwn = "0x5", .bytes = 1ULL << 41, .allowed = 1},
		{.name = "sdd", .serial = "D", .bytes = 1ULL << 40}};
	struct inventory inv = {.host = "h", .ram_bytes = 1ULL << 34, .disks = disks, .n_disks = 4};
	struct bindings b = {0};
	struct strv errs = {0};
	struct err e;

	if (plan_bind(p, &inv, &b, &errs, &e) == 0)
		MUST(errs.n == 0);
	else
		MUST(errs.n > 0);
	bindings_free(&b);
	plan_check_host(p, &inv, &errs);
	strv_free(&errs);
}

static void use(const struct plan *p)
{
	unsigned order[PLAN_MAX_LAYOUTS];
	struct plan_estimate x;
	struct err e;

	MUST(p->name && p->n_layouts && p->n_layouts <= PLAN_MAX_LAYOUTS && p->n_workloads);
	MUST(p->trials_min && p->trials_min <= p->trials_max && p->hosts.n);
	MUST(p->baseline < (int)p->n_layouts);
	for (size_t i = 0; i < p->n_layouts; i++)
		use_layout(&p->layouts[i]);
	for (unsigned i = 0; i < p->n_workloads; i++)
		use_workload(p, i);
	plan_block_order(p, 1, "h", 1, order);
	(void)plan_estimate(p, 0, &x, &e);
	use_host(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_errors errs = {0};
	struct strv sets = {0};
	const char *text = (const char *)data;
	const char *line = size && *data == '=' ? memchr(data, '\n', size) : NULL;
	struct plan *p = NULL;
	struct err e;

	if (line) {
		char *set = xstrndup(text + 1, (size_t)(line - text - 1));

		strv_add(&sets, set);
		free(set);
		size -= (size_t)(line + 1 - text);
		text = line + 1;
	}
	if (plan_parse("fuzz.yaml", text, size, &sets, &p, &errs, &e) == 0) {
		MUST(errs.list.n == 0);
		use(p);
	} else {
		MUST(errs.list.n > 0 && e.code != ERR_NONE && !p);
		for (size_t i = 0; i < errs.list.n; i++)
			MUST(!strchr(errs.list.v[i], '\n'));
	}
	plan_free(p);
	yaml_errors_free(&errs);
	strv_free(&sets);
	return 0;
}
