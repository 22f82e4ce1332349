/*
 * One trial's evidence. Owns three readings of the host's counters and both looks.
 * Invariant: the intervals of the samples and of what is left at the end add up to the sums.
 */
#include "agent/telemetry/gather.h"

#include <stdlib.h>
#include <string.h>

#include "agent/telemetry/conditions.h"
#include "agent/telemetry/telemetry.h"
#include "common/base/mem.h"

/* A disk that the dump lies on: counters at the start and at the end. */
struct outside {
	int known[2];
	struct disk_counters at[2];
};
struct gather {
	char *root;
	struct telemetry_source *source;
	struct telemetry_reading first, last, now;
	struct disk_counters *step; /* of one interval, a place for each disk */
	int started;
	uint64_t core_peak, dirty_peak;
	struct conditions before, after;
	struct strv under; /* whole disks below the volume */
	int has_others;
	uint64_t others_read[2], others_written[2];
	struct outside *sources; /* one for each of before.sources */
};

int gather_open(const char *root, const struct strv *disks, const struct json_t *before,
	struct gather **ret, struct err *e)
{
	struct telemetry_source *source;
	struct gather *g;

	if (telemetry_open(root, disks, &source, e) != 0)
		return -1;
	g = xcalloc(1, sizeof(*g));
	g->root = xstrdup(root);
	g->source = source;
	conditions_from_json(before, &g->before);
	for (size_t i = 0; i < g->before.n_disks; i++)
		for (size_t k = 0; k < g->before.disks[i].under.n; k++)
			if (!strv_has(&g->under, g->before.disks[i].under.v[k]))
				strv_add(&g->under, g->before.disks[i].under.v[k]);
	/* What the dump's disks do for the workload is nobody else's work. */
	for (size_t i = 0; g->under.n && i < g->before.n_sources; i++)
		if (!strv_has(&g->under, g->before.sources[i].name))
			strv_add(&g->under, g->before.sources[i].name);
	g->sources = xcalloc(g->before.n_sources, sizeof(*g->sources));
	*ret = g;
	return 0;
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	telemetry_close(g->source);
	telemetry_reading_clear(&g->first);
	telemetry_reading_clear(&g->last);
	telemetry_reading_clear(&g->now);
	conditions_clear(&g->before);
	conditions_clear(&g->after);
	strv_free(&g->under);
	free(g->sources);
	free(g->step);
	free(g->root);
	free(g);
}

/* Without knowing what is below the volume its own disks would be taken for others. */
static int read_others(struct gather *g, int at)
{
	return g->under.n && telemetry_others(g->root, &g->under, &g->others_read[at],
				     &g->others_written[at]) == 0;
}

static void read_sources(struct gather *g, int at)
{
	for (size_t i = 0; i < g->before.n_sources; i++)
		g->sources[i].known[at] = telemetry_disk_counters(g->root,
						  g->before.sources[i].name,
						  &g->sources[i].at[at]) == 0;
}

int gather_start(struct gather *g, struct err *e)
{
	read_sources(g, 0);
	g->has_others = read_others(g, 0);
	if (telemetry_read(g->source, &g->first, e) != 0 ||
		telemetry_read(g->source, &g->last, e) != 0)
		return -1;
	g->step = xcalloc(g->first.n_disks, sizeof(*g->step));
	g->dirty_peak = g->first.dirty_bytes;
	g->started = 1;
	return 0;
}

static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* What was read last is the start of the next interval. */
static void turn(struct gather *g)
{
	struct telemetry_reading r = g->last;

	g->last = g->now;
	g->now = r;
}

int gather_sample(struct gather *g, struct telemetry *ret, struct buf *usage)
{
	const struct telemetry_reading *from = &g->last, *to = &g->now;
	struct host_usage h = {0};
	struct err ignored;

	if (!g->started || telemetry_read(g->source, &g->now, &ignored) != 0)
		return -1;
	h.busiest_core_permille = telemetry_busiest_core(from, to);
	h.cpu_steal_ns = grown(from->steal_ns, to->steal_ns);
	h.dirty_bytes = to->dirty_bytes;
	h.writeback_bytes = to->writeback_bytes;
	h.arc_hits = grown(from->arc_hits, to->arc_hits);
	h.arc_misses = grown(from->arc_misses, to->arc_misses);
	for (size_t i = 0; i < to->n_disks; i++)
		telemetry_disk_delta(&from->disks[i], &to->disks[i], &g->step[i]);
	telemetry_delta(&from->sum, &to->sum, ret);
	if (h.busiest_core_permille > g->core_peak)
		g->core_peak = h.busiest_core_permille;
	if (h.dirty_bytes > g->dirty_peak)
		g->dirty_peak = h.dirty_bytes;
	usage_encode(&h, g->step, to->n_disks, usage);
	turn(g);
	return 0;
}

void gather_end(struct gather *g)
{
	struct err ignored;

	if (!g->started)
		return;
	if (telemetry_read(g->source, &g->now, &ignored) == 0)
		turn(g);
	read_sources(g, 1);
	g->has_others = g->has_others && read_others(g, 1);
}

void gather_after(struct gather *g, const struct json_t *after)
{
	conditions_clear(&g->after);
	conditions_from_json(after, &g->after);
}

void gather_sums(const struct gather *g, struct telemetry *ret)
{
	if (g->started)
		telemetry_delta(&g->first.sum, &g->last.sum, ret);
	else
		*ret = (struct telemetry){0};
}

static const struct disk_condition *condition_of(const struct conditions *c, const char *name)
{
	for (size_t i = 0; i < c->n_disks; i++)
		if (strcmp(c->disks[i].name, name) == 0)
			return &c->disks[i];
	return NULL;
}

/* The id of the disk, or of the whole disk that it is a part of. */
static char *id_of(const struct inventory *inv, const char *name, const char *whole)
{
	char id[512];

	for (size_t i = 0; inv && i < inv->n_disks; i++)
		if ((str_equal(inv->disks[i].name, name) || str_equal(inv->disks[i].name, whole)) &&
			inv_disk_id(&inv->disks[i], id, sizeof(id)))
			return xstrdup(id);
	return NULL;
}

static void disk_told(const struct gather *g, const struct inventory *inv, size_t i,
	struct disk_evidence *d)
{
	const char *name = telemetry_disk(g->source, i);
	const struct disk_condition *b = condition_of(&g->before, name);
	const struct disk_condition *a = condition_of(&g->after, name);
	const char *under = b && b->under.n ? b->under.v[0] : NULL;
	int is_loop = str_starts(name, "loop");
	int64_t errors;

	d->name = xstrdup(name);
	d->backing = is_loop && under && strcmp(under, name) != 0 ? xstrdup(under) : NULL;
	d->id = is_loop ? NULL : id_of(inv, name, b && b->under.n == 1 ? under : NULL);
	telemetry_disk_delta(&g->first.disks[i], &g->last.disks[i], &d->during);
	if (b) {
		d->look_read_bytes = b->look_read_bytes;
		d->look_write_bytes = b->look_write_bytes;
		d->look_busy_ns = b->look_busy_ns;
	}
	errors = conditions_errors(&g->before, &g->after, b, a);
	d->errors_known = errors >= 0;
	d->errors = errors > 0 ? (uint64_t)errors : 0;
	d->cache_before = xstrdup(b ? b->write_cache : NULL);
	d->cache_after = xstrdup(a ? a->write_cache : NULL);
}

static void cores_told(const struct gather *g, struct trial_evidence *v)
{
	size_t n = g->first.n_cores < g->last.n_cores ? g->first.n_cores : g->last.n_cores;

	v->cores = xcalloc(n, sizeof(*v->cores));
	v->n_cores = n;
	for (size_t i = 0; i < n; i++)
		v->cores[i].busy_ns =
			grown(g->first.cores[i].busy_ns, g->last.cores[i].busy_ns);
}

static void counters_told(const struct gather *g, struct trial_evidence *v)
{
	const struct telemetry_reading *from = &g->first, *to = &g->last;
	uint64_t core = telemetry_busiest_core(from, to);

	evidence_set(v, EVIDENCE_CPU_STEAL_NS, (int64_t)grown(from->steal_ns, to->steal_ns));
	evidence_set(v, EVIDENCE_BUSIEST_CORE_PERMILLE, (int64_t)core);
	evidence_set(v, EVIDENCE_BUSIEST_CORE_PEAK_PERMILLE,
		(int64_t)(core > g->core_peak ? core : g->core_peak));
	evidence_set(v, EVIDENCE_DIRTY_BYTES, (int64_t)to->dirty_bytes);
	evidence_set(v, EVIDENCE_DIRTY_PEAK_BYTES,
		(int64_t)(to->dirty_bytes > g->dirty_peak ? to->dirty_bytes : g->dirty_peak));
	evidence_set(v, EVIDENCE_WRITEBACK_BYTES, (int64_t)to->writeback_bytes);
	evidence_set(v, EVIDENCE_CLOCK_STEP_NS,
		(to->wall_ns - from->wall_ns) - (to->mono_ns - from->mono_ns));
	if (from->has_arc && to->has_arc) {
		evidence_set(v, EVIDENCE_ARC_BYTES, (int64_t)to->sum.arc_bytes);
		evidence_set(v, EVIDENCE_ARC_MAX_BYTES, (int64_t)to->arc_max_bytes);
		evidence_set(v, EVIDENCE_ARC_HITS, (int64_t)grown(from->arc_hits, to->arc_hits));
		evidence_set(
			v, EVIDENCE_ARC_MISSES, (int64_t)grown(from->arc_misses, to->arc_misses));
	}
	if (g->has_others) {
		evidence_set(v, EVIDENCE_OTHER_READ_BYTES,
			(int64_t)grown(g->others_read[0], g->others_read[1]));
		evidence_set(v, EVIDENCE_OTHER_WRITE_BYTES,
			(int64_t)grown(g->others_written[0], g->others_written[1]));
	}
}

/* Those that are hot now, or the ones that slowed themselves down, whichever are more: they may be the
 * same. */
static uint64_t hot_disks(const struct gather *g)
{
	uint64_t slowed = 0;

	for (size_t i = 0; i < g->after.n_disks; i++) {
		const struct disk_condition *a = &g->after.disks[i];
		const struct disk_condition *b = condition_of(&g->before, a->name);

		slowed += b && a->has_slowed && b->has_slowed && a->slowed > b->slowed;
	}
	return slowed > g->after.hot_disks ? slowed : g->after.hot_disks;
}

static void looks_told(const struct gather *g, struct trial_evidence *v)
{
	const struct conditions *b = &g->before, *a = &g->after;

	if (b->look_ns) {
		evidence_set(v, EVIDENCE_LOOK_NS, b->look_ns);
		evidence_set(v, EVIDENCE_LOOK_CPU_PERMILLE, b->look_cpu_permille);
	}
	if (b->look_ns && b->has_look_other)
		evidence_set(v, EVIDENCE_LOOK_OTHER_BYTES, b->look_other_bytes);
	if (b->has_load1)
		evidence_set(v, EVIDENCE_LOAD1_MILLI, b->load1_milli);
	if (b->raid_controllers)
		evidence_set(v, EVIDENCE_RAID_CONTROLLERS, b->raid_controllers);
	if (b->has_maintenance)
		evidence_set(v, EVIDENCE_MAINTENANCE_BEFORE, (int64_t)b->maintenance);
	if (a->has_maintenance)
		evidence_set(v, EVIDENCE_MAINTENANCE_AFTER, (int64_t)a->maintenance);
	v->maintenance_before = xstrdup(b->maintenance_text);
	v->maintenance_after = xstrdup(a->maintenance_text);
	if (a->has_throttle && b->has_throttle)
		evidence_set(v, EVIDENCE_THROTTLE_EVENTS,
			(int64_t)grown(b->throttle_events, a->throttle_events));
	if (a->has_drops && b->has_drops)
		evidence_set(v, EVIDENCE_CACHE_DROPS, (int64_t)grown(b->cache_drops, a->cache_drops));
	if (a->has_hot)
		evidence_set(v, EVIDENCE_HOT_DISKS, (int64_t)hot_disks(g));
	if (a->has_ratio)
		evidence_set(v, EVIDENCE_COMPRESS_RATIO_PERMILLE, a->ratio_permille);
}

static const char *setting_of(const struct conditions *c, const char *of, const char *name)
{
	for (size_t i = 0; i < c->n_settings; i++)
		if (strcmp(c->settings[i].name, name) == 0 && str_equal(c->settings[i].of, of))
			return c->settings[i].value;
	return NULL;
}

static void add_setting(struct trial_evidence *v, const struct condition_setting *s,
	const char *before, const char *after)
{
	if (v->n_settings == EVIDENCE_SETTINGS_MAX)
		return;
	v->settings = xreallocarray(v->settings, v->n_settings + 1, sizeof(*v->settings));
	v->settings[v->n_settings++] = (struct setting_evidence){
		xstrdup(s->name), xstrdup(s->of), xstrdup(before), xstrdup(after)};
}

static void settings_told(const struct gather *g, struct trial_evidence *v)
{
	for (size_t i = 0; i < g->before.n_settings; i++) {
		const struct condition_setting *s = &g->before.settings[i];

		add_setting(v, s, s->value, setting_of(&g->after, s->of, s->name));
	}
	for (size_t i = 0; i < g->after.n_settings; i++) {
		const struct condition_setting *s = &g->after.settings[i];

		if (!setting_of(&g->before, s->of, s->name))
			add_setting(v, s, NULL, s->value);
	}
}

static void sources_told(
	const struct gather *g, const struct inventory *inv, struct trial_evidence *v)
{
	v->sources = xcalloc(g->before.n_sources, sizeof(*v->sources));
	for (size_t i = 0; i < g->before.n_sources; i++) {
		const struct condition_source *c = &g->before.sources[i];
		const struct outside *o = &g->sources[i];
		struct source_evidence *s = &v->sources[v->n_sources];

		if (!o->known[0] || !o->known[1])
			continue;
		*s = (struct source_evidence){.id = id_of(inv, c->name, NULL),
			.name = xstrdup(c->name), .is_written = c->is_written,
			.is_shared = c->is_shared};
		telemetry_disk_delta(&o->at[0], &o->at[1], &s->during);
		v->n_sources++;
	}
}

void gather_evidence(const struct gather *g, const struct inventory *inv, struct trial_evidence *ret)
{
	struct trial_evidence v = {0};
	size_t n = g->started ? g->first.n_disks : 0;

	if (n > EVIDENCE_DISKS_MAX)
		n = EVIDENCE_DISKS_MAX;
	v.disks = xcalloc(n, sizeof(*v.disks));
	v.n_disks = n;
	for (size_t i = 0; i < n; i++)
		disk_told(g, inv, i, &v.disks[i]);
	if (g->started) {
		cores_told(g, &v);
		counters_told(g, &v);
		sources_told(g, inv, &v);
	}
	settings_told(g, &v);
	looks_told(g, &v);
	*ret = v;
}
