/*
 * Finds the trial that an export line belongs to: a hash table over the trials that were read. Owned
 * by the set while it is read; export_read_end() and result_set_clear() drop it.
 * Invariant: a line costs the same however many trials there are and in whatever order it comes; the
 * hash is keyed, so that a stranger's file cannot choose where its trials stand.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "coordinator/results/export_line.h"

struct trial_index {
	uint64_t key;
	uint32_t *slots; /* place in the set's trials, from 1; 0: free */
	size_t n_slots;  /* a power of 2, more than twice as many as trials */
	size_t n;        /* trials that are in it: the set's first ones */
};

static uint64_t mix(uint64_t v)
{
	/* the finalizer of splitmix64: S. Vigna, prng.di.unimi.it */
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
	return v ^ (v >> 31);
}

static uint64_t hash_of(
	uint64_t key, uint64_t run, const char *host, uint32_t attempt, uint32_t trial)
{
	uint64_t h = mix(key ^ run);

	for (; *host; host++)
		h = mix(h ^ (unsigned char)*host);
	return mix(mix(h ^ attempt) ^ trial);
}

/* The slot of that trial, or the free one where it belongs. */
static uint32_t *slot_of(const struct trial_index *x, const struct result_set *s, uint64_t run,
	const char *host, uint32_t attempt, uint32_t trial)
{
	size_t i = hash_of(x->key, run, host, attempt, trial) & (x->n_slots - 1);

	for (; x->slots[i]; i = (i + 1) & (x->n_slots - 1)) {
		const struct result_trial *t = &s->trials[x->slots[i] - 1];

		if (t->run == run && t->sum.trial == trial && t->attempt == attempt &&
			strcmp(t->host, host) == 0)
			break;
	}
	return &x->slots[i];
}

/* Of trials that are there twice the later one. */
static void fill(struct trial_index *x, const struct result_set *s)
{
	for (; x->n < s->n_trials; x->n++) {
		const struct result_trial *t = &s->trials[x->n];

		*slot_of(x, s, t->run, t->host, t->attempt, t->sum.trial) = (uint32_t)x->n + 1;
	}
}

static void grow(struct trial_index *x, const struct result_set *s)
{
	while (x->n_slots <= 2 * s->n_trials)
		x->n_slots = x->n_slots ? 2 * x->n_slots : 64;
	free(x->slots);
	x->slots = xcalloc(x->n_slots, sizeof(*x->slots));
	x->n = 0;
}

struct result_trial *export_find_trial(
	struct result_set *s, const struct export_line *l, uint64_t run)
{
	const char *host = json_get_str(l->o, "host", "");
	uint32_t attempt = export_u32(l->o, "attempt"), trial = export_u32(l->o, "trial"), found;
	struct result_trial *last = s->n_trials ? &s->trials[s->n_trials - 1] : NULL;

	if (last && last->run == run && last->sum.trial == trial && last->attempt == attempt &&
		strcmp(last->host, host) == 0)
		return last;
	if (!s->index) {
		s->index = xcalloc(1, sizeof(*s->index));
		fs_random(&s->index->key, sizeof(s->index->key));
	}
	if (s->index->n_slots <= 2 * s->n_trials)
		grow(s->index, s);
	fill(s->index, s);
	found = *slot_of(s->index, s, run, host, attempt, trial);
	return found ? &s->trials[found - 1] : NULL;
}

void result_set_unindex(struct result_set *s)
{
	if (s->index)
		free(s->index->slots);
	free(s->index);
	s->index = NULL;
}
