/* Scenes for the tests of rules: a run made of what a scene says, analysed. */
#ifndef TESTS_UNIT_RULES_KIT_H
#define TESTS_UNIT_RULES_KIT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "tests/unit/results_kit.h"

#define GIB (1ull << 30)

/* One way a run can be; what is not given is harmless: two raidz1 pools on scratch disks, a write
 * synced in the timed region, three blocks in random order, 64 GiB against 32 GiB of memory. */
struct scene {
	const char *left, *right, *stream, *data; /* of the plan; data is what a read reads */
	const char *kind; /* "random: {…}": the workload instead of a stream; NULL: one */
	const char *put;  /* the first workload; NULL: a write of 64G of `data` */
	int no_plan;
	const char *design, *cache, *state;
	uint64_t ram;
	const char *zfs; /* of the host */
	const char *op;
	double ms[10];               /* elapsed of each block, both layouts */
	double factor;               /* right's elapsed over left's; 0: the same */
	int untimed;                 /* no starts of the trials */
	double host_cpu, worker_cpu; /* parts of four CPUs and of one that were busy; 0: not told */
	unsigned n;                  /* blocks; 0: three */
	uint64_t first_bytes;        /* moved by each trial of the first block; 0: as all */
	uint64_t bytes, physical;    /* moved by each trial; read from the disks */
	uint64_t physical_first;     /* read from them by each trial of the first block; 0: as by all */
	uint64_t written;            /* to the disks */
	int no_counters;
	uint64_t usable[2];
	uint64_t shrinks;            /* usable bytes that each block leaves less */
	uint32_t lost;
	double resolution; /* of printed times; 0: our own */
	int summary;  /* averages alone; 2: without their range */
	const char *says[2]; /* of the data of each layout's results; NULL: nothing */
	/* what the host tells of the two disks under left and under right: members of JSON objects;
	 * NULL: nothing */
	const char *disks[2][2];
	const char *other;    /* of a second host that is otherwise alike: members of its inventory */
	const char *third;    /* and of a third one */
	const char *by;       /* of the plan's compare */
	const double *rates;  /* of 40 seconds of each trial; NULL: no series */
	/* what stands beside each trial; all zero: nothing */
	struct evidence_number told[4];
	const char *maintenance; /* before it */
	unsigned few;            /* disks that did the work; 0: all four */
	double busy[4];          /* shares of the time of four disks; a request waits 10 ms times that */
	const double (*waits)[10][4]; /* instead of busy: of each layout, block and disk */
	double look_busy;        /* of the first disk, in a look of a second */
	int64_t errors;          /* of the first disk; -1: none; 0: not known */
	int alone;               /* left is the only layout */
	int pair;                /* two of the four disks are all there are */
	/* settings and the dump's disks, told with each trial; no settings: `sync` as it always was */
	struct setting_evidence set[3];
	const char *set_later;      /* the first setting after the trials of the second block */
	const char *cache_later;    /* the write cache of the first disk from the second block on */
	int no_settings;
	int set_left;               /* settings of left alone */
	unsigned untold;            /* the block beside whose trials nothing is told; 0: none */
	unsigned set_from;          /* the block that tells settings first; 0: each does */
	struct source_evidence from[2];
	double from_busy;           /* share of the time that the first of those was */
	const char *cache_made;     /* what was done to the caches before each trial; NULL: "cold" */
	struct trial_fact facts[2]; /* of each trial */
	const struct scene *b;      /* how the trials of a second host are; NULL: there is none */
	const char *host;           /* NULL: a */
	const char *note, *note_right; /* "settings" of left's and right's trials */
};

#define POOL_WITH(compression)                                                                     \
	"{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4, properties: "           \
	"{compression: " compression "}}}"
#define POOL "{scratch: {disks: 4, size: 500G}, pool: {level: raidz1, disks: 4}}"

static char *layouts[] = {"left", "right", NULL}, *workloads[] = {"put", "load", NULL};

static inline const char * or (const char *given, const char *usual)
{
	return given ? given : usual;
}

static inline void add_run(const struct scene *c, struct buf *lines)
{
	struct result_run r = {.id = 1,
		.name = "demo",
		.plan_sha256 = "",
		.tool_version = "",
		.user = "",
		.blocks = 3,
		.layouts = {layouts, c->alone ? 1 : 2, 0},
		.workloads = {workloads, 2, 0}};
	struct buf plan = {0};
	char *put = c->put ? xstrdup(c->put)
			   : xasprintf("stream: {op: write, size: 64G, data: %s}", or (c->data, "random"));

	r.state = (char *) or (c->state, "done");
	r.design = (char *) or (c->design, "random-blocks");
	r.cache = (char *) or (c->cache, "cold");
	buf_addf(&plan,
		"name: demo\nhosts: [a]\ntrials: 3\nlayouts:\n  left: %s\n%s%s%s"
		"workloads:\n  put: {%s}\n"
		"  load: {%s%s}\n",
		or (c->left, POOL), c->alone ? "" : "  right: ", c->alone ? "" : or (c->right, POOL),
		c->alone ? "" : "\n", put,
		c->kind ? "" : "stream: ",
		or (or (c->kind, c->stream),
			c->op ? "{op: read, of: put}" : "{op: write, size: 64G}"));
	if (c->by)
		buf_addf(&plan, "compare: {by: %s}\n", c->by);
	if (!c->no_plan)
		r.plan_text = plan.data;
	export_run(&r, lines);
	buf_free(&plan);
	free(put);
}

static inline void add_disks(const struct scene *c, json_t *inventory)
{
	json_t *disks = json_array();

	for (unsigned i = 0; i < 4; i++) {
		const char *members = c->disks[i / 2][i % 2];
		char *text = xasprintf("{\"id\": \"serial:%u\"%s%s}", i, members ? ", " : "",
			members ? members : "");

		if (members)
			json_array_append_new(disks, json_loads(text, 0, NULL));
		free(text);
	}
	json_object_set_new(inventory, "disks", disks);
}

static inline void add_host(const struct scene *c, const char *host, const char *members, struct buf *lines)
{
	struct result_environment v = {.run = 1, .host = (char *)host, .inventory = json_loads(members, 0, NULL)};

	assert_non_null(v.inventory);
	if (c->ram != 1 && !json_object_get(v.inventory, "ram_bytes"))
		json_object_set_new(v.inventory, "ram_bytes",
			json_integer((json_int_t)(c->ram ? c->ram : 32 * GIB)));
	if (c->zfs)
		json_object_set_new(v.inventory, "zfs", json_string(c->zfs));
	if (!json_object_get(v.inventory, "disks"))
		add_disks(c, v.inventory);
	export_environment(&v, lines);
	json_decref(v.inventory);
}

static inline void add_environment(const struct scene *c, struct buf *lines)
{
	add_host(c, "a", "{\"kernel\": \"6.1\", \"cpus\": 4, \"boot_id\": \"5d5f\"}", lines);
	if (c->other)
		add_host(c, "b", c->other, lines);
	if (c->third)
		add_host(c, "c", c->third, lines);
}

static inline void add_series(const struct scene *c, const struct result_trial *t, struct buf *lines)
{
	struct result_point points[40] = {0};
	struct result_series s = {
		.run = 1, .host = t->host, .attempt = 1, .trial = t->sum.trial, .points = points};

	if (!c->rates)
		return;
	for (; s.n < ARRAY_LEN(points); s.n++) {
		points[s.n].start_ns = (int64_t)s.n * NS_PER_S;
		points[s.n].end_ns = (int64_t)(s.n + 1) * NS_PER_S;
		points[s.n].bytes = (uint64_t)(c->rates[s.n] * 1e6);
	}
	export_series(&s, lines);
}

static inline int has_more(const struct scene *c)
{
	return c->told[0].key || c->maintenance || c->busy[0] > 0 || c->waits || c->look_busy > 0 ||
	       c->errors ||
	       (!c->disks[0][0] && (c->set[0].name || c->from[0].name || c->cache_later));
}

/* Lists with room for what set_told puts in. */
struct told {
	struct setting_evidence set[3];
	struct source_evidence from[2];
};

/* Settings, and the disks of the dump. */
static inline void set_told(
	const struct scene *c, const struct result_trial *of, struct trial_evidence *e, struct told *t)
{
	uint32_t block = of->block;

	memcpy(t->set, c->set, sizeof(t->set));
	memcpy(t->from, c->from, sizeof(t->from));
	if (!c->set[0].name && !c->no_settings)
		t->set[0] = (struct setting_evidence){"sync", NULL, "standard", "standard"};
	if (c->set_later && block >= 2)
		t->set[0].after = (char *)c->set_later;
	if (c->set_later && block > 2)
		t->set[0].before = (char *)c->set_later;
	t->from[0].during.busy_ns = (uint64_t)(c->from_busy * (double)of->sum.elapsed_ns);
	e->settings = t->set;
	e->sources = t->from;
	if ((c->set_left && of->layout == 1) || block < c->set_from)
		t->set[0].name = NULL;
	while (e->n_settings < ARRAY_LEN(t->set) && t->set[e->n_settings].name)
		e->n_settings++;
	while (e->n_sources < ARRAY_LEN(t->from) && t->from[e->n_sources].name)
		e->n_sources++;
	if (c->cache_later && e->n_disks) {
		e->disks[0].cache_before = (char *)(block >= 2 ? c->cache_later : "write back");
		e->disks[0].cache_after = e->disks[0].cache_before;
	}
}

/* Four disks that read alike, and what the scene tells beside the trial. */
static inline void set_more(
	const struct scene *c, struct result_trial *t, struct trial_evidence *e, struct disk_evidence disks[4])
{
	*e = (struct trial_evidence){.disks = disks, .n_disks = c->pair ? 2 : 4,
		.numbers = (struct evidence_number *)c->told,
		.maintenance_before = (char *)c->maintenance};
	while (e->n_numbers < ARRAY_LEN(c->told) && c->told[e->n_numbers].key)
		e->n_numbers++;
	for (unsigned i = 0; i < 4; i++) {
		double busy = c->waits ? c->waits[t->layout][t->block - 1][i] : c->busy[i];

		disks[i] = (struct disk_evidence){.name = "sdx",
			.during = {.read_ops = 1000, .read_bytes = GIB,
				.read_wait_ns = (uint64_t)(busy * 1000 * 10 * NS_PER_MS),
				.busy_ns = (uint64_t)(busy * (double)t->sum.elapsed_ns)},
			.errors_known = c->errors != 0};
	}
	for (unsigned i = c->few; c->few && i < 4; i++)
		disks[i].during = (struct disk_counters){0};
	disks[0].errors = c->errors > 0 ? (uint64_t)c->errors : 0;
	disks[0].look_busy_ns = (uint64_t)(c->look_busy * NS_PER_S);
	t->sum.evidence = e;
	t->sum.n_evidence = 1;
}

/* The two disks of the layout, where the scene has them. */
static inline void set_evidence(const struct scene *c, uint32_t layout, struct result_trial *t,
	struct trial_evidence *e, struct disk_evidence disks[2], char ids[2][16])
{
	if (!c->disks[layout][0])
		return;
	for (unsigned i = 0; i < 2; i++) {
		snprintf(ids[i], 16, "serial:%u", layout * 2 + i);
		disks[i] = (struct disk_evidence){.id = ids[i], .name = "sdx"};
	}
	*e = (struct trial_evidence){.disks = disks, .n_disks = 2};
	t->sum.evidence = e;
	t->sum.n_evidence = 1;
}

static inline void set_cpu(const struct scene *c, struct trial_summary *t)
{
	double ns = (double)t->elapsed_ns;

	t->cpu_user_ns = (uint64_t)(c->worker_cpu * ns / 2);
	t->cpu_system_ns = (uint64_t)(c->worker_cpu * ns / 2);
	if (!(c->host_cpu > 0))
		return;
	t->tele.cpu_user_ns = (uint64_t)(c->host_cpu * ns * 3);
	t->tele.cpu_system_ns = (uint64_t)(c->host_cpu * ns);
	t->tele.cpu_idle_ns = (uint64_t)((1 - c->host_cpu) * ns);
	t->tele.cpu_iowait_ns = (uint64_t)((1 - c->host_cpu) * ns * 3);
}

/* Its operations took a thousandth of it each. */
static inline void set_latency(struct trial_summary *t)
{
	struct hist h = {0};
	struct buf wire = {0};

	for (int i = 0; i < 10; i++)
		hist_add(&h, (uint64_t)(t->elapsed_ns / 1000 + i));
	hist_encode(&h, &wire);
	t->hist_len = wire.len;
	t->hist = buf_take(&wire);
	hist_clear(&h);
}

static inline void set_detail(const struct scene *c, uint32_t layout, struct trial_detail *d)
{
	const char *note = layout == 1 && c->note_right ? c->note_right : c->note;

	for (size_t i = 0; i < ARRAY_LEN(c->facts) && c->facts[i].name; i++)
		detail_fact(d, c->facts[i].name, c->facts[i].value, c->facts[i].unit);
	if (note)
		detail_note(d, "settings", note);
}

static inline void set_says(const struct scene *c, uint32_t layout, struct data_told *d)
{
	if (c->says[layout])
		assert_int_equal(data_told_parse(c->says[layout], d), 0);
}

static inline void add_trial(const struct scene *c, uint32_t layout, uint32_t block, struct buf *lines)
{
	static const double usual[] = {1000.25, 1010.5, 1020.125};
	double factor = layout == 1 && c->factor > 0 ? c->factor : 1;
	double ms = factor * (c->ms[0] > 0 ? c->ms[block - 1] : usual[block - 1]);
	struct result_printed printed = {METRIC_ELAPSED, ms / 1000, c->resolution, 0};
	struct result_trial t =
		a_trial(or (c->host, "a"), layout * 10 + block, block, layout, 1, (int64_t)llround(ms * 1e6));
	uint64_t bytes = block == 1 && c->first_bytes ? c->first_bytes
			 : c->bytes                   ? c->bytes : 64 * GIB;
	struct disk_evidence disks[4];
	struct trial_evidence evidence;
	struct told told;
	char ids[2][16];

	t.cache = (char *) or (c->cache_made, "cold: remounted");
	t.op = (char *) or (c->op, "write");
	t.sum.bytes = bytes == 1 ? 0 : bytes;
	t.sum.ops = c->kind ? t.sum.bytes / 4096 : 0;
	t.sum.started_wall_ns =
		c->untimed ? 0 : 1700000000 * NS_PER_S + (block * 2 + layout) * NS_PER_S;
	set_says(c, layout, &t.data);
	set_cpu(c, &t.sum);
	t.sum.tele.disks = c->no_counters ? 0 : 4;
	t.sum.tele.disk_read_bytes = c->physical ? c->physical : t.sum.bytes;
	if (block == 1 && c->physical_first)
		t.sum.tele.disk_read_bytes = c->physical_first;
	t.sum.tele.disk_write_bytes = c->written;
	t.usable_bytes = c->usable[0] == 1 ? 0 : c->usable[layout] ? c->usable[layout] : 90 * GIB;
	t.usable_bytes -= c->shrinks * (block - 1);
	t.lost = layout == 1 && block == 2 ? c->lost : 0;
	set_evidence(c, layout, &t, &evidence, disks, ids);
	if (has_more(c))
		set_more(c, &t, &evidence, disks);
	if (t.sum.n_evidence)
		set_told(c, &t, &evidence, &told);
	if (block == c->untold)
		t.sum.n_evidence = 0;
	set_detail(c, layout, &t.sum.detail);
	set_latency(&t.sum);
	t.printed = c->resolution > 0 ? &printed : NULL;
	t.n_printed = c->resolution > 0;
	export_trial(&t, lines);
	detail_clear(&t.sum.detail);
	free(t.sum.hist);
	add_series(c, &t, lines);
}

static inline void add_summary(const struct scene *c, uint32_t layout, struct buf *lines)
{
	struct result_summary m = {
		1, "a", layout, 1, layouts[layout], "load", METRIC_ELAPSED, 10, 56, 52, 59, NAN, 1, 0, 0, {0}};

	set_says(c, layout, &m.data);
	if (c->summary == 2)
		m.min = m.max = NAN;
	export_summary(&m, lines);
}

static inline void analysis_of(const struct scene *c, struct result_set *set, struct analysis *a)
{
	struct buf lines = {0};
	struct err e;

	*set = (struct result_set){0};
	add_run(c, &lines);
	add_environment(c, &lines);
	for (const struct scene *h = c; h; h = h->b)
		for (uint32_t layout = 0; layout < (c->alone ? 1 : 2); layout++)
			for (uint32_t b = 1; b <= (c->n ? c->n : 3) && !c->summary; b++)
				add_trial(h, layout, b, &lines);
	for (uint32_t layout = 0; c->summary && layout < 2; layout++)
		add_summary(c, layout, &lines);
	lines_read(lines.data, set);
	buf_free(&lines);
	assert_ok(analysis_make(set, a, &e), e);
	if (!c->no_plan && !a->runs[0].plan)
		fail_msg("the plan of this scene is none:\n%s", set->runs[0].plan_text);
}

enum outcome { SILENT, FIRES, UNKNOWN, BOTH };

static inline enum outcome outcome_of(const struct analysis *a, const char *id, const struct finding **f)
{
	int fired = 0, unknown = 0;

	*f = NULL;
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *x = &a->findings.v[i];

		if (strcmp(x->rule->id, id) != 0 ||
			(x->workload && strcmp(x->workload, "load") != 0))
			continue;
		fired |= !x->unknown;
		unknown |= x->unknown;
		if (!x->unknown && !*f)
			*f = x;
	}
	return fired && unknown ? BOTH : fired ? FIRES : unknown ? UNKNOWN : SILENT;
}

struct rule_case {
	const char *name, *rule;
	struct scene scene;
	enum outcome outcome;
	enum severity severity;
	const char *text; /* part of the first finding's */
};

static inline int case_holds(const struct rule_case *c)
{
	const struct finding *f;
	struct result_set set;
	struct analysis a;
	enum outcome got;
	int holds;

	analysis_of(&c->scene, &set, &a);
	got = outcome_of(&a, c->rule, &f);
	holds = got == c->outcome && (!f || f->severity == c->severity) &&
		(!f || !c->text || strstr(f->text, c->text));
	if (!holds)
		print_error("%s, %s: outcome %d, expected %d; severity %d, expected %d: %s\n",
			c->rule, c->name, (int)got, (int)c->outcome, f ? (int)f->severity : -1,
			(int)c->severity, f ? f->text : "");
	analysis_clear(&a);
	result_set_clear(&set);
	return holds;
}

static inline void cases_hold(const struct rule_case *v, size_t n)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < n; i++)
		wrong += !case_holds(&v[i]);
	assert_int_equal(wrong, 0);
}

#endif
