/*
 * Rule V09 on settings: caches that were set otherwise in one trial than in another, or otherwise than
 * the plan asks. Owns nothing beyond a call.
 * Invariant: what was told is compared with what was told or asked; nothing is assumed to be a default.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/mount_options.h"
#include "coordinator/results/rules.h"

/* Trials of one layout on one host, in the order of time as far as it is known. */
struct trials {
	const struct result_trial **v;
	size_t n;
};

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

/* ---- changed ---- */

/* A value that is not the first one. */
struct change {
	char *from, *to;
	unsigned block, trials;
};

static void see(struct change *c, const char *value, const struct result_trial *t, int *counted)
{
	if (!value)
		return;
	if (!c->from) {
		c->from = xstrdup(value);
		return;
	}
	if (strcmp(c->from, value) == 0)
		return;
	if (!c->to) {
		c->to = xstrdup(value);
		c->block = t->block;
	}
	c->trials += !*counted;
	*counted = 1;
}

static void change_clear(struct change *c)
{
	free(c->from);
	free(c->to);
	*c = (struct change){0};
}

static void changed_told(const struct rule_input *in, const struct trials *all, const char *what,
	const struct change *c)
{
	const struct result_trial *t = all->v[0];

	finding_add(in, SEVERITY_WARNING, t->host, t->layout_name, NULL,
		json_pack("{ss ss ss si si si}", "setting", what, "from", c->from, "to", c->to,
			"block", (int)c->block, "trials", (int)c->trials, "n", (int)all->n),
		"%s changed from '%s' to '%s' in block %u: other than at first in %u of %zu trials",
		what, c->from, c->to, c->block, c->trials, all->n);
}

/* Options of a mount say much; those that count here are few. */
static char *shown_value(const char *name, const char *value)
{
	return value && strcmp(name, "mount") == 0 ? mount_cache_options(value) : xstrdup(value);
}

static void check_setting(
	const struct rule_input *in, const struct trials *all, const struct setting_evidence *s)
{
	struct change c = {0};
	char *what = s->of ? xasprintf("%s of %s", s->name, s->of) : xstrdup(s->name);

	for (size_t i = 0; i < all->n; i++) {
		const struct setting_evidence *now =
			evidence_setting(evidence_of(all->v[i]), s->of, s->name);
		char *before = shown_value(s->name, now ? now->before : NULL);
		char *after = shown_value(s->name, now ? now->after : NULL);
		int counted = 0;

		see(&c, before, all->v[i], &counted);
		see(&c, after, all->v[i], &counted);
		free(before);
		free(after);
	}
	if (c.to)
		changed_told(in, all, what, &c);
	change_clear(&c);
	free(what);
}

/* Arrays that wrote otherwise than they are set to: controllers do so by themselves when a battery is bad
 * or learns. */
static void check_array(const struct rule_input *in, const struct trials *all, const char *array)
{
	const struct trial_evidence *first = NULL;
	const char *set, *was, *battery;
	unsigned n = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct trial_evidence *v = evidence_of(all->v[i]);
		const char *asked = evidence_value(v, array, SETTING_WRITE_CACHE_SET);
		const char *had = evidence_value(v, array, SETTING_WRITE_CACHE);

		if (!asked || !had || strcmp(asked, had) == 0)
			continue;
		first = first ? first : v;
		n++;
	}
	if (!n)
		return;
	set = evidence_value(first, array, SETTING_WRITE_CACHE_SET);
	was = evidence_value(first, array, SETTING_WRITE_CACHE);
	battery = evidence_value(first, array, SETTING_BATTERY);
	finding_add(in, SEVERITY_WARNING, all->v[0]->host, all->v[0]->layout_name, NULL,
		json_pack("{ss ss ss so si si}", "array", array, "asked", set, "had", was, "battery",
			json_text(battery), "trials", (int)n, "n", (int)all->n),
		"the write cache of %s is set to %s and was %s in %u of %zu trials%s%s", array, set, was,
		n, all->n, battery ? ", its battery: " : "", battery ? battery : "");
}

/* A disk's place in its volume is the same in every build. */
static void check_disk(const struct rule_input *in, const struct trials *all, size_t place)
{
	struct change c = {0};
	char *what = xasprintf("the write cache of disk %zu of the volume", place + 1);

	for (size_t i = 0; i < all->n; i++) {
		const struct trial_evidence *v = evidence_of(all->v[i]);
		int counted = 0;

		if (!v || place >= v->n_disks)
			continue;
		see(&c, v->disks[place].cache_before, all->v[i], &counted);
		see(&c, v->disks[place].cache_after, all->v[i], &counted);
	}
	if (c.to)
		changed_told(in, all, what, &c);
	change_clear(&c);
	free(what);
}

/* Whether any trial tells settings. */
static int tells_settings(const struct trials *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (evidence_of(all->v[i]) && evidence_of(all->v[i])->n_settings)
			return 1;
	return 0;
}

/* An array that some trials do not tell of may have had any policy in them. */
static void array_untold(const struct rule_input *in, const struct trials *all, const char *array)
{
	size_t untold = 0;

	for (size_t i = 0; i < all->n; i++)
		untold += !evidence_value(evidence_of(all->v[i]), array, SETTING_WRITE_CACHE);
	if (untold)
		finding_unknown(in, "no cache policy of %s in %zu of %zu trials", array, untold, all->n);
}

static int told_before(const struct trials *all, size_t trial, const struct setting_evidence *s)
{
	for (size_t i = 0; i < trial; i++)
		if (evidence_setting(evidence_of(all->v[i]), s->of, s->name))
			return 1;
	return 0;
}

/* Each setting that any trial tells of, once: arrays may be told of late. */
static void check_settings(const struct rule_input *in, const struct trials *all)
{
	for (size_t t = 0; t < all->n; t++) {
		const struct trial_evidence *v = evidence_of(all->v[t]);

		for (size_t i = 0; v && i < v->n_settings; i++) {
			const struct setting_evidence *s = &v->settings[i];

			if (strcmp(s->name, SETTING_TOOL) == 0 || told_before(all, t, s))
				continue; /* the first is no setting */
			check_setting(in, all, s);
			if (!setting_is_array_cache(s))
				continue;
			check_array(in, all, s->of);
			array_untold(in, all, s->of);
		}
	}
}

/* Where nothing is told, the rule has said so already: it has no list of the disks. */
static int tells_anything(const struct trials *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (evidence_of(all->v[i]))
			return 1;
	return 0;
}

static size_t most_disks(const struct trials *all)
{
	size_t most = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct trial_evidence *v = evidence_of(all->v[i]);

		most = v && v->n_disks > most ? v->n_disks : most;
	}
	return most;
}

/* ---- other than asked ---- */

static void other_told(const struct rule_input *in, const struct trials *all, const char *asked,
	const char *had, unsigned trials)
{
	const struct result_trial *t = all->v[0];

	finding_add(in, SEVERITY_WARNING, t->host, t->layout_name, NULL,
		json_pack("{ss ss si si}", "asked", asked, "had", had, "trials", (int)trials, "n",
			(int)all->n),
		"the plan asks for %s, the volume had %s in %u of %zu trials", asked, had, trials,
		all->n);
}

/* Compression is no policy of caches, and zfs may spell it otherwise than it was asked. */
static void check_asked(const struct rule_input *in, const struct trials *all, const char *of,
	const struct property *p)
{
	char *asked, *had = NULL;
	unsigned trials = 0;

	if (strcmp(p->name, "compression") == 0)
		return;
	for (size_t i = 0; i < all->n; i++) {
		const struct setting_evidence *s =
			evidence_setting(evidence_of(all->v[i]), of, p->name);

		if (!s || !s->before || strcmp(s->before, p->value) == 0)
			continue;
		if (!had)
			had = xasprintf("%s=%s", s->name, s->before);
		trials++;
	}
	asked = of ? xasprintf("%s=%s of %s", p->name, p->value, of)
		   : xasprintf("%s=%s", p->name, p->value);
	if (trials)
		other_told(in, all, asked, had, trials);
	free(asked);
	free(had);
}

static void check_barrier(
	const struct rule_input *in, const struct trials *all, const struct fs_stage *fs)
{
	int asked = strv_has(&fs->mount, "nobarrier") || strv_has(&fs->mount, "barrier=0");
	unsigned trials = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct setting_evidence *s =
			evidence_setting(evidence_of(all->v[i]), NULL, "mount");

		trials += s && s->before && mount_has_no_barrier(s->before) != asked;
	}
	if (trials)
		other_told(in, all, asked ? "no barriers" : "barriers",
			asked ? "barriers" : "no barriers", trials);
}

static void check_layout(const struct rule_input *in, const struct trials *all)
{
	const struct plan *p = in->run->plan;
	const struct layout *l = p && all->v[0]->layout < p->n_layouts
					 ? &p->layouts[all->v[0]->layout] : NULL;
	size_t disks = most_disks(all);

	if (l && l->none)
		return;
	if (!tells_settings(all) && (tells_anything(all) || (l && l->scratch.disks)))
		finding_unknown(in, "no settings of the volume's caches");
	check_settings(in, all);
	for (size_t i = 0; i < disks; i++)
		check_disk(in, all, i);
	if (l && l->pool) {
		for (size_t i = 0; i < l->pool->n_props; i++)
			check_asked(in, all, NULL, &l->pool->props[i]);
		for (size_t d = 0; d < l->pool->n_datasets; d++)
			for (size_t i = 0; i < l->pool->datasets[d].n_props; i++)
				check_asked(in, all, l->pool->datasets[d].name,
					&l->pool->datasets[d].props[i]);
	}
	if (l && l->fs)
		check_barrier(in, all, l->fs);
}

static int counts(const struct rule_input *in, const struct result_trial *t)
{
	return t->run == in->run->run->id && !t->superseded;
}

static int by_start(const void *pa, const void *pb)
{
	const struct result_trial *a = *(const struct result_trial *const *)pa;
	const struct result_trial *b = *(const struct result_trial *const *)pb;
	int c = (a->layout > b->layout) - (a->layout < b->layout);

	c = c ? c : (a->block > b->block) - (a->block < b->block);
	return c ? c : (a->sum.trial > b->sum.trial) - (a->sum.trial < b->sum.trial);
}

/* All trials of one host: each layout's in turn. */
static void check_host(const struct rule_input *in, const struct result_trial **v, size_t n)
{
	qsort(v, n, sizeof(*v), by_start);
	for (size_t from = 0, to; from < n; from = to) {
		const struct trials all = {v + from, 0};

		for (to = from; to < n && v[to]->layout == v[from]->layout;)
			to++;
		check_layout(in, &(struct trials){all.v, to - from});
	}
}

/* Trials stand by host. */
void rule_settings_changed(const struct rule_input *in)
{
	const struct result_trial **v = xcalloc(in->set->n_trials + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < in->set->n_trials; i++) {
		const struct result_trial *t = &in->set->trials[i];

		if (!counts(in, t))
			continue;
		if (n && strcmp(v[0]->host, t->host) != 0) {
			check_host(in, v, n);
			n = 0;
		}
		v[n++] = t;
	}
	if (n)
		check_host(in, v, n);
	free(v);
}
