/* Summing up what trials tell. Owns the sums; names and texts are borrowed from the set. */
#include "coordinator/results/details.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

typedef const struct result_trial *trial_ref;

static int by_place(const void *pa, const void *pb)
{
	trial_ref a = *(const trial_ref *)pa, b = *(const trial_ref *)pb;
	int c = (a->run > b->run) - (a->run < b->run);

	c = c ? c : strcmp(a->host, b->host);
	c = c ? c : (a->workload > b->workload) - (a->workload < b->workload);
	c = c ? c : (a->layout > b->layout) - (a->layout < b->layout);
	c = c ? c : (a->block > b->block) - (a->block < b->block);
	return c ? c : (a->repeat > b->repeat) - (a->repeat < b->repeat);
}

static int is_of(const struct detail_sum *s, trial_ref t)
{
	return s->run == t->run && s->workload_index == t->workload &&
	       s->layout_index == t->layout && strcmp(s->host, t->host) == 0;
}

static struct detail_sum_part *find_part(struct detail_sum *s, const struct trial_part *p)
{
	struct detail_sum_part *to;

	for (size_t i = 0; i < s->n_parts; i++)
		if (!strcmp(s->parts[i].name, p->name) && !strcmp(s->parts[i].kind, p->kind))
			return &s->parts[i];
	s->parts = xgrow(s->parts, s->n_parts, &s->cap_parts, sizeof(*s->parts));
	to = &s->parts[s->n_parts++];
	*to = (struct detail_sum_part){.name = p->name, .kind = p->kind};
	to->hist = xcalloc(1, sizeof(*to->hist));
	return to;
}

static void add_part(struct detail_sum *s, trial_ref t, const struct trial_part *p, struct hist *h)
{
	struct detail_sum_part *to = find_part(s, p);
	struct err ignored;

	to->trials++;
	to->ops += p->ops;
	to->bytes += p->bytes;
	to->errors += p->errors;
	to->elapsed_ns += p->elapsed_ns ? p->elapsed_ns : t->sum.elapsed_ns;
	if (to->hist && p->hist && !hist_decode(p->hist, p->hist_len, h, &ignored)) {
		hist_merge(to->hist, h);
	} else if (p->ops) {
		free(to->hist);
		to->hist = NULL;
	}
}

/* The mean is a sum until all trials are in. */
static void add_fact(struct detail_sum *s, const struct trial_fact *f)
{
	struct detail_sum_fact *to = NULL;

	for (size_t i = 0; i < s->n_facts && !to; i++)
		if (!strcmp(s->facts[i].name, f->name) && !strcmp(s->facts[i].unit, f->unit))
			to = &s->facts[i];
	if (!to) {
		s->facts = xgrow(s->facts, s->n_facts, &s->cap_facts, sizeof(*s->facts));
		to = &s->facts[s->n_facts++];
		*to = (struct detail_sum_fact){
			.name = f->name, .unit = f->unit, .min = f->value, .max = f->value};
	}
	to->trials++;
	to->mean += f->value;
	to->min = fmin(to->min, f->value);
	to->max = fmax(to->max, f->value);
}

static void add_note(struct detail_sum *s, trial_ref t, const struct trial_note *n)
{
	struct detail_sum_note *to;

	for (size_t i = 0; i < s->n_notes; i++)
		if (!strcmp(s->notes[i].name, n->name) && !strcmp(s->notes[i].text, n->text)) {
			s->notes[i].trials++;
			return;
		}
	s->notes = xgrow(s->notes, s->n_notes, &s->cap_notes, sizeof(*s->notes));
	to = &s->notes[s->n_notes++];
	*to = (struct detail_sum_note){
		.name = n->name, .text = n->text, .trials = 1, .block = t->block};
}

static void add_trial(struct detail_sum *s, trial_ref t, struct hist *h)
{
	const struct trial_detail *d = &t->sum.detail;

	s->trials++;
	for (size_t i = 0; i < d->n_parts; i++)
		add_part(s, t, &d->parts[i], h);
	for (size_t i = 0; i < d->n_facts; i++)
		add_fact(s, &d->facts[i]);
	for (size_t i = 0; i < d->n_notes; i++)
		add_note(s, t, &d->notes[i]);
}

static void finish(struct detail_sum *s)
{
	for (size_t i = 0; i < s->n_facts; i++)
		s->facts[i].mean /= s->facts[i].trials;
}

static int tells(trial_ref t)
{
	const struct trial_detail *d = &t->sum.detail;

	return t->complete && !t->superseded && t->sum.ok && d->n_parts + d->n_facts + d->n_notes > 0;
}

void result_details(const struct result_set *s, struct detail_sum **ret, size_t *ret_n)
{
	trial_ref *t = xcalloc(s->n_trials + 1, sizeof(*t));
	struct hist *h = xmalloc(sizeof(*h));
	struct detail_sum *v = NULL;
	size_t n = 0, cap = 0, told = 0;

	for (size_t i = 0; i < s->n_trials; i++)
		if (tells(&s->trials[i]))
			t[told++] = &s->trials[i];
	qsort(t, told, sizeof(*t), by_place);
	for (size_t i = 0; i < told; i++) {
		if (!n || !is_of(&v[n - 1], t[i])) {
			v = xgrow(v, n, &cap, sizeof(*v));
			v[n++] = (struct detail_sum){.run = t[i]->run, .host = t[i]->host,
				.layout = t[i]->layout_name, .workload = t[i]->workload_name,
				.layout_index = t[i]->layout, .workload_index = t[i]->workload};
		}
		add_trial(&v[n - 1], t[i], h);
	}
	for (size_t i = 0; i < n; i++)
		finish(&v[i]);
	free(h);
	free(t);
	*ret = v;
	*ret_n = n;
}

void result_details_free(struct detail_sum *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < v[i].n_parts; k++)
			free(v[i].parts[k].hist);
		free(v[i].parts);
		free(v[i].facts);
		free(v[i].notes);
	}
	free(v);
}

double detail_latency(const struct detail_sum_part *p, double percentile)
{
	if (!p->hist || p->hist->count == 0)
		return NAN;
	return percentile > 0 ? (double)hist_percentile(p->hist, percentile) : hist_mean(p->hist);
}
