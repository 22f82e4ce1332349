/* Reading `disk-scan`, and plans that build nothing because they only scan. Owns nothing. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/work_scan.h"
#include "common/plan/workload_type.h"

#define DIRECT_UNIT 4096

static const char no_duration[] = "a scan takes as long as its spans: leave duration out";
static const struct int_range span_range = {1 << 20, 1LL << 40};
static const struct int_range block_range = {DIRECT_UNIT, 64 << 20};

static void read_scan_disks(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct work_scan *s = field;

	if (n->kind == YAML_SCALAR && !strcmp(n->scalar, "all"))
		s->all = 1;
	else
		read_disks(r, n, path, &s->disks, arg);
}

#define FIELD(name) offsetof(struct work_scan, name)
static const struct key_row scan_rows[] = {
	{"disks", read_scan_disks, 0, NULL, NULL},
	{"span", read_bytes, FIELD(span), &span_range, NULL},
	{"block-size", read_bytes, FIELD(block_size), &block_range, NULL},
	{"duration", read_elsewhere, 0, no_duration, NULL},
};
#undef FIELD
static const struct key_table scan_table = KEY_TABLE("disk-scan", scan_rows);

static void read_scan(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct workload *w = field;

	(void)arg;
	w->scan = xcalloc(1, sizeof(*w->scan));
	w->scan->span = 256 << 20;
	w->scan->block_size = 1 << 20;
	read_map(r, n, path, &scan_table, w->scan);
}

static void check(const struct workload_place *at)
{
	struct work_scan *s = at->w->scan;
	const struct plan *p = at->p;

	if (p->n_layouts == 1 && p->layouts[0].none && !s->disks.n)
		s->all = 1;
	if (at->w->duration_ns)
		workload_error(at, "duration", "%s", no_duration);
	if (s->block_size % DIRECT_UNIT)
		workload_error(at, "block-size", "must be a multiple of %d bytes", DIRECT_UNIT);
	if (s->block_size > s->span)
		workload_error(at, "span", "less than one block");
}

static void clear(struct workload *w)
{
	if (w->scan)
		disk_set_clear(&w->scan->disks);
	free(w->scan);
}

/* Three places alone, and one together with the others. How many disks a layout stands on, or a host
 * has, is not known here. */
static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct work_scan *s = w->scan;
	int open = 0;
	unsigned disks = s->disks.n && !s->all ? disk_set_count(&s->disks, &open) : 0;

	(void)p;
	(void)ram_bytes;
	if (__builtin_mul_overflow(4 * (int64_t)disks, s->span, &ret->read_bytes))
		return err_set(e, ERR_INPUT, "workloads.%s: more bytes than can be counted", w->name);
	if (open)
		ret->read_bytes = 0;
	return 0;
}

static const char *op(const struct workload *w)
{
	(void)w;
	return "scan";
}

/* Of disks that are not the volume's, the trial's counters tell nothing. */
static void nature(const struct workload *w, struct workload_nature *ret)
{
	ret->moves = scan_is_of_host(w->scan) ? MOVES_UNKNOWN : MOVES_READS;
	ret->raw = 1;
}

int scan_is_of_host(const struct work_scan *s)
{
	return s->all || s->disks.n > 0;
}

static int is_scan(const struct yaml_node *n)
{
	return n->kind == YAML_MAP && yaml_get(n, work_scan_type.key) != NULL;
}

int plan_only_scans(const struct yaml_node *workloads)
{
	size_t scans = 0;

	if (!workloads || workloads->kind != YAML_MAP)
		return 0;
	for (size_t i = 0; i < workloads->n; i++)
		scans += is_scan(workloads->items[i]);
	return scans > 0 && scans == workloads->n;
}

void plan_build_nothing(struct plan *p)
{
	p->layouts = xcalloc(1, sizeof(*p->layouts));
	p->layouts[0].name = xstrdup("disks");
	p->layouts[0].none = 1;
	p->n_layouts = 1;
}

const struct workload_type work_scan_type = {
	.key = "disk-scan",
	.headline = "throughput",
	.read = read_scan,
	.check = check,
	.clear = clear,
	.needs = needs,
	.op = op,
	.nature = nature,
};
