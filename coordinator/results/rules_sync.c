/*
 * Rules V03 and V25: what a result promises of data that is on the disks when its time ends. Owns nothing
 * beyond a call.
 * Invariant: a setting counts where the plan makes it or an agent told it, never as a default.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_command.h"
#include "common/plan/work_parallel.h"
#include "common/plan/work_pg.h"
#include "common/plan/workload.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/mount_options.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

#define WROTE_BYTES (1 << 20) /* of the volume's disks in a trial: less may be times of last access */

/* ---- V03 ---- */

/* What the plan leaves out, and what its time ends before. */
static const char *left_out(const struct workload *w, const char **ret_before)
{
	*ret_before = "the time ends before the data is on the disks";
	if (w->kind == WORKLOAD_FILEBENCH)
		return "no sync among its flowops";
	if (w->kind == WORKLOAD_PG_RESTORE && !w->pg->checkpoint)
		return "checkpoint: excluded";
	if (w->kind != WORKLOAD_PGBENCH)
		return "sync: none";
	*ret_before = "a transaction is over before its log is on the disks, alike on all layouts";
	return pg_setting_is_off(w->pg, "fsync") ? "fsync=off" : "synchronous_commit=off";
}

/* Commands that are not synced, by the names of their facts; -1: something else is not synced, too. */
static int unsynced_commands(const struct workload *w, struct strv *facts)
{
	if (w->kind == WORKLOAD_COMMAND)
		strv_add(facts, COMMAND_WRITTEN);
	if (w->kind != WORKLOAD_PARALLEL)
		return w->kind == WORKLOAD_COMMAND ? 0 : -1;
	for (size_t i = 0; i < w->parallel->n; i++) {
		const struct workload *m = &w->parallel->members[i];

		if (workload_syncs(m) != 0)
			continue;
		if (m->kind != WORKLOAD_COMMAND)
			return -1;
		strv_addf(facts, "%s/%s", m->name, COMMAND_WRITTEN);
	}
	return 0;
}

/* Most that commands wrote in one of a row's trials, as the kernel accounted it. */
struct wrote {
	double bytes;     /* into files */
	uint64_t on_disk; /* by the volume's disks, whoever wrote */
	int untold;
};

static void add_written(const struct result_trial *t, const struct strv *facts, struct wrote *w)
{
	double sum = 0;

	for (size_t i = 0; i < facts->n; i++) {
		const struct trial_fact *f = detail_find_fact(&t->sum.detail, facts->v[i]);

		w->untold |= !f;
		sum += f ? f->value : 0;
	}
	if (sum > w->bytes)
		w->bytes = sum;
	if (t->sum.tele.disks && t->sum.tele.disk_write_bytes > w->on_disk)
		w->on_disk = t->sum.tele.disk_write_bytes;
}

/* Whether a program writes, its plan does not tell; its trials do. */
static void commands_untimed(
	const struct rule_input *in, const struct workload *w, const struct strv *facts)
{
	FOR_ROWS(in, row)
	{
		struct wrote wrote = {0};
		char files[UNITS_LEN], disks[UNITS_LEN];

		if (!rule_row_is_headline(in, row) || strcmp(row->workload, w->name) != 0)
			continue;
		for (unsigned i = 0; i < row->listed; i++)
			add_written(row->trials[i], facts, &wrote);
		if (wrote.bytes > 0 || wrote.on_disk > WROTE_BYTES)
			finding_add(in, SEVERITY_WARNING, row->host, row->layout, row->workload,
				json_pack("{ss sf sI}", "sync", "none", "file_bytes", wrote.bytes,
					"disk_bytes", (json_int_t)wrote.on_disk),
				"sync: none: the time ends before the data is on the disks: the "
				"program wrote %s into files, the disks up to %s meanwhile",
				units_size((int64_t)wrote.bytes, files),
				units_size((int64_t)wrote.on_disk, disks));
		else if (wrote.untold)
			finding_unknown(in, "not told what a command wrote");
	}
}

void rule_sync_untimed(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;

	if (!p)
		finding_unknown(in, "no plan");
	for (size_t i = 0; p && i < p->n_workloads; i++) {
		const struct workload *w = &p->workloads[i];
		struct strv facts = {0};
		const char *setting, *before;

		if (workload_syncs(w) == 0 && unsynced_commands(w, &facts) == 0) {
			commands_untimed(in, w, &facts);
		} else if (workload_syncs(w) == 0) {
			setting = left_out(w, &before);
			finding_add(in, SEVERITY_WARNING, NULL, NULL, w->name,
				json_pack("{ss}", "setting", setting), "%s: %s", setting, before);
		}
		strv_free(&facts);
	}
}

/* ---- V25: layouts ---- */

static int props_disable_sync(const struct property *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].name, "sync") == 0 && strcmp(v[i].value, "disabled") == 0)
			return 1;
	return 0;
}

/* The setting by which the layout's sync does not wait for stable storage, or NULL. */
static const char *weakened_by_plan(const struct layout *l)
{
	const struct pool_stage *pool = l->pool;

	if (pool && props_disable_sync(pool->props, pool->n_props))
		return "sync=disabled";
	for (size_t i = 0; pool && i < pool->n_datasets; i++)
		if (props_disable_sync(pool->datasets[i].props, pool->datasets[i].n_props))
			return "sync=disabled";
	if (l->fs && strv_has(&l->fs->mount, "nobarrier"))
		return "nobarrier";
	if (l->fs && strv_has(&l->fs->mount, "barrier=0"))
		return "barrier=0";
	return NULL;
}

/* The same, as an agent read it. */
static const char *weakened_as_told(const struct trial_evidence *v)
{
	const struct setting_evidence *mount = evidence_setting(v, NULL, "mount");

	for (size_t i = 0; v && i < v->n_settings; i++)
		if (strcmp(v->settings[i].name, "sync") == 0 &&
			str_equal(v->settings[i].before, "disabled"))
			return "sync=disabled";
	return mount && mount->before && mount_has_no_barrier(mount->before) ? "nobarrier" : NULL;
}

/* What is known of a layout's guarantees. */
struct guarantee {
	const char *weakened; /* by which setting; NULL: it is not */
	int known;
	int in_place;         /* blocks are written over where they are: a crash can tear a page; -1: unknown */
};

static int writes_in_place(const struct trial_evidence *v)
{
	const struct setting_evidence *mount = evidence_setting(v, NULL, "mount");

	if (evidence_is_of_zfs(v))
		return 0;
	return mount && mount->before ? mount_writes_in_place(mount->before) : -1;
}

static void take_plan(const struct layout *l, struct guarantee *g)
{
	if (l->existing) {
		g->in_place = -1;
		return;
	}
	g->weakened = weakened_by_plan(l);
	g->known = 1;
	g->in_place = l->fs && l->fs->type != FS_BTRFS;
}

/* Of the first trial that tells settings, or NULL. */
static const struct trial_evidence *settings_of(const struct volume_disks *d)
{
	for (size_t i = 0; i < d->n_told; i++)
		if (d->told[i]->n_settings)
			return d->told[i];
	return NULL;
}

/* A directory that was there already is as its first trials that tell say; a host on which it can be torn
 * is enough. */
static void take_told(const struct volume_disks *d, struct guarantee *g)
{
	const struct trial_evidence *v = settings_of(d);
	int in_place;

	if (!v)
		return;
	if (!g->weakened)
		g->weakened = weakened_as_told(v);
	in_place = writes_in_place(v);
	if (!g->known || in_place == 1 || (in_place < 0 && g->in_place == 0))
		g->in_place = in_place;
	g->known = 1;
}

static struct guarantee *guarantees(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	struct guarantee *g = xcalloc(p->n_layouts + 1, sizeof(*g));
	struct volume_disks *v;
	size_t n;

	for (size_t i = 0; i < p->n_layouts; i++)
		take_plan(&p->layouts[i], &g[i]);
	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < n; i++)
		if (v[i].layout_index < p->n_layouts && p->layouts[v[i].layout_index].existing)
			take_told(&v[i], &g[v[i].layout_index]);
	volume_disks_free(v, n);
	return g;
}

static void weakened_told(
	const struct rule_input *in, const struct workload *w, const struct guarantee *g)
{
	const struct plan *p = in->run->plan;
	int synced = workload_syncs(w) == 1;

	for (size_t i = 0; i < p->n_layouts; i++)
		if (g[i].weakened)
			finding_add(in, synced ? SEVERITY_INVALID : SEVERITY_NOTE, NULL,
				p->layouts[i].name, w->name,
				json_pack("{ss}", "setting", g[i].weakened),
				"%s here, not on every layout: its sync guarantees less",
				g[i].weakened)
				->alike = g[i].weakened;
}

/* Without full pages in the log a page that a crash tore cannot be mended; where blocks are never
 * written over none is torn. */
static void torn_told(
	const struct rule_input *in, const struct workload *w, const struct guarantee *g)
{
	const struct plan *p = in->run->plan;
	size_t in_place = 0;

	if (!w->pg || !pg_setting_is_off(w->pg, "full_page_writes"))
		return;
	for (size_t i = 0; i < p->n_layouts; i++) {
		if (g[i].in_place < 0) {
			finding_unknown(in, "not told where a layout's blocks are written");
			return;
		}
		in_place += g[i].in_place == 1;
	}
	for (size_t i = 0; in_place < p->n_layouts && i < p->n_layouts; i++)
		if (g[i].in_place)
			finding_add(in, SEVERITY_WARNING, NULL, p->layouts[i].name, w->name,
				json_pack("{ss}", "setting", "full_page_writes=off"),
				"full_page_writes=off: a crash may leave torn pages here, not on "
				"every layout");
}

static void layouts_differ(const struct rule_input *in)
{
	const struct plan *p = in->run->plan;
	struct guarantee *g = guarantees(in);
	size_t weak = 0;
	int real = 0;

	for (size_t i = 0; i < p->n_layouts; i++) {
		weak += g[i].weakened != NULL;
		real |= !p->layouts[i].scratch.disks;
		if (!g[i].known)
			finding_unknown(in, "no settings of layouts that were there already");
	}
	if (real)
		rule_caches_differ(in);
	rule_array_batteries(in);
	for (size_t i = 0; i < p->n_workloads; i++) {
		if (weak && weak < p->n_layouts)
			weakened_told(in, &p->workloads[i], g);
		torn_told(in, &p->workloads[i], g);
	}
	free(g);
}

/* ---- V25: hosts ---- */

static void host_weakened(
	const struct rule_input *in, const struct volume_disks *d, const char *setting)
{
	const struct plan *p = in->run->plan;

	for (size_t i = 0; i < p->n_workloads; i++)
		finding_add(in,
			workload_syncs(&p->workloads[i]) == 1 ? SEVERITY_INVALID : SEVERITY_NOTE, d->host,
			d->layout, p->workloads[i].name, json_pack("{ss}", "setting", setting),
			"%s here, not on every host: its sync guarantees less", setting)
			->alike = setting;
}

/* One layout on the hosts that are compared, as each of them told. */
static void hosts_differ(
	const struct rule_input *in, uint32_t layout, const struct volume_disks *v, size_t n)
{
	const char **weakened = xcalloc(n + 1, sizeof(*weakened));
	size_t weak = 0, known = 0;

	for (size_t i = 0; i < n; i++) {
		const struct trial_evidence *told = settings_of(&v[i]);

		if (v[i].layout_index != layout)
			continue;
		if (!told && in->run->plan->layouts[layout].existing)
			finding_unknown(in, "no settings of layouts that were there already");
		weakened[i] = weakened_as_told(told);
		weak += weakened[i] != NULL;
		known += told != NULL;
	}
	for (size_t i = 0; weak < known && i < n; i++)
		if (weakened[i])
			host_weakened(in, &v[i], weakened[i]);
	free(weakened);
}

static void each_layout_on_hosts(const struct rule_input *in)
{
	struct volume_disks *v;
	size_t n;

	volume_disks_of(in, &v, &n);
	for (size_t i = 0; i < in->run->plan->n_layouts; i++)
		hosts_differ(in, (uint32_t)i, v, n);
	volume_disks_free(v, n);
}

/* ---- V25: servers ---- */

/* Of PostgreSQL; `on` where its trial's note of settings, which lists what is no default, has it not. */
static const char *server_setting(const struct result_trial *t, const char *name, char out[16])
{
	const struct trial_detail *d = &t->sum.detail;
	size_t len = strlen(name);

	for (size_t i = 0; i < d->n_notes; i++) {
		const char *at = d->notes[i].text;

		if (strcmp(d->notes[i].name, "settings") != 0)
			continue;
		for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
			if (strncmp(at, name, len) == 0 && strncmp(at + len, " = ", 3) == 0) {
				size_t n = strcspn(at + len + 3, "\n");

				n = n < 15 ? n : 15;
				memcpy(out, at + len + 3, n);
				out[n] = '\0';
				return out;
			}
		return "on";
	}
	return NULL;
}

/* The first layouts of a workload that had it on and off, and where. */
struct servers {
	const char *on, *off;
	const struct result_row *row; /* the first one */
};

static void server_told(const struct rule_input *in, const char *name, const struct servers *s)
{
	finding_add(in, SEVERITY_INVALID, rule_compares_hosts(in) ? NULL : s->row->host, NULL,
		s->row->workload,
		json_pack("{ss ss ss}", "setting", name, "on", s->on, "off", s->off),
		"%s was off under %s and on under %s: one server promised less", name, s->off,
		s->on);
}

/* Whether its plan has PostgreSQL do the work, whose settings each trial tells of. */
static int is_of_server(const struct rule_input *in, const struct result_row *row)
{
	const struct plan *p = in->run->plan;

	return p && row->workload_index < p->n_workloads && p->workloads[row->workload_index].pg;
}

/* Where runs are compared, each has its own server; a host's says nothing of another host's layouts. */
static void servers_differ(const struct rule_input *in, const char *name)
{
	const int all = rule_compares_hosts(in);
	struct servers s = {0};

	FOR_ROWS(in, row)
	{
		char text[16];

		if (!rule_row_is_headline(in, row))
			continue;
		if (!s.row || strcmp(s.row->workload, row->workload) != 0 ||
			(!all && strcmp(s.row->host, row->host) != 0))
			s = (struct servers){NULL, NULL, row};
		for (unsigned i = 0; i < row->listed; i++) {
			const char *v = server_setting(row->trials[i], name, text);
			int new = v && !(s.on && s.off);

			if (!v && is_of_server(in, row))
				finding_unknown(in, "not told how PostgreSQL was set in every trial");
			if (new && strcmp(v, "off") == 0)
				s.off = row->layout;
			else if (new)
				s.on = row->layout;
			if (new && s.on && s.off)
				server_told(in, name, &s);
		}
	}
}

void rule_sync_differs(const struct rule_input *in)
{
	static const char *const settings[] = {"fsync", "synchronous_commit", "full_page_writes"};

	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		servers_differ(in, settings[i]);
	if (in->run->run->layouts.n < 2 && !(rule_compares_hosts(in) && in->run->n_hosts > 1))
		return;
	if (!in->run->plan) {
		finding_unknown(in, "no plan");
		return;
	}
	layouts_differ(in);
	if (rule_compares_hosts(in))
		each_layout_on_hosts(in);
}
