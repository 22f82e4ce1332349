/*
 * Finds what an export line belongs to: a hash table each over the runs, environments, trials and
 * series that were read, and over the counts of each run's lines, which it keeps. Owned by the set
 * while it is read; export_read_whole(), export_read_end() and result_set_clear() drop it.
 * Invariant: a line costs the same however many there are and in whatever order they come; the hash
 * is keyed, so that a stranger's file cannot choose where its items stand.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "coordinator/results/export_line.h"

enum kind { RUNS, ENVIRONMENTS, TRIALS, SERIES, COUNTS, KINDS };

struct table {
	uint32_t *slots; /* place in the set's list, from 1; 0: free */
	size_t n_slots;  /* a power of 2, more than twice as many as items */
	size_t n;        /* items that are in it: the set's first ones */
};
struct export_index {
	uint64_t key;
	struct table of[KINDS];
	struct export_count *counts;
	size_t n_counts, cap_counts;
};

/* What an item is found by. */
struct name {
	uint64_t run;
	const char *host;
	uint32_t attempt, trial;
};

static size_t count(const struct result_set *s, enum kind kind)
{
	const size_t n[KINDS] = {s->n_runs, s->n_envs, s->n_trials, s->n_series,
		s->index ? s->index->n_counts : 0};

	return n[kind];
}

static struct name name_of(const struct result_set *s, enum kind kind, size_t i)
{
	const struct result_series *v;
	const struct result_trial *t;

	switch (kind) {
	case RUNS:
		return (struct name){s->runs[i].id, "", 0, 0};
	case ENVIRONMENTS:
		return (struct name){s->envs[i].run, s->envs[i].host, 0, 0};
	case COUNTS:
		return (struct name){s->index->counts[i].run, "", 0, 0};
	case SERIES:
		v = &s->series[i];
		return (struct name){v->run, v->host, v->attempt, v->trial};
	default:
		t = &s->trials[i];
		return (struct name){t->run, t->host, t->attempt, t->sum.trial};
	}
}

static uint64_t mix(uint64_t v)
{
	/* the finalizer of splitmix64: S. Vigna, prng.di.unimi.it */
	v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9u;
	v = (v ^ (v >> 27)) * 0x94d049bb133111ebu;
	return v ^ (v >> 31);
}

static uint64_t hash_of(uint64_t key, const struct name *n)
{
	uint64_t h = mix(key ^ n->run);

	for (const char *p = n->host; *p; p++)
		h = mix(h ^ (unsigned char)*p);
	return mix(mix(h ^ n->attempt) ^ n->trial);
}

static int is_same(const struct name *a, const struct name *b)
{
	return a->run == b->run && a->trial == b->trial && a->attempt == b->attempt &&
	       strcmp(a->host, b->host) == 0;
}

/* The slot of the item of that name, or the free one where it belongs. */
static uint32_t *slot_of(
	const struct export_index *x, const struct result_set *s, enum kind kind, const struct name *n)
{
	const struct table *t = &x->of[kind];
	size_t i = hash_of(x->key, n) & (t->n_slots - 1);

	for (; t->slots[i]; i = (i + 1) & (t->n_slots - 1)) {
		struct name there = name_of(s, kind, t->slots[i] - 1);

		if (is_same(&there, n))
			break;
	}
	return &t->slots[i];
}

/* Takes in what was read since. Of items that are there twice the later one. */
static void fill(struct export_index *x, const struct result_set *s, enum kind kind)
{
	struct table *t = &x->of[kind];

	if (t->n_slots <= 2 * count(s, kind)) {
		while (t->n_slots <= 2 * count(s, kind))
			t->n_slots = t->n_slots ? 2 * t->n_slots : 64;
		free(t->slots);
		t->slots = xcalloc(t->n_slots, sizeof(*t->slots));
		t->n = 0;
	}
	for (; t->n < count(s, kind); t->n++) {
		struct name n = name_of(s, kind, t->n);

		*slot_of(x, s, kind, &n) = (uint32_t)t->n + 1;
	}
}

static struct export_index *index_of(struct result_set *s)
{
	if (!s->index) {
		s->index = xcalloc(1, sizeof(*s->index));
		fs_random(&s->index->key, sizeof(s->index->key));
	}
	return s->index;
}

/* The item's place in its list, from 1; 0: there is none. The last one is mostly it. */
static size_t find(struct result_set *s, enum kind kind, const struct name *n)
{
	size_t all = count(s, kind);
	struct name last;

	if (!all)
		return 0;
	last = name_of(s, kind, all - 1);
	if (is_same(&last, n))
		return all;
	fill(index_of(s), s, kind);
	return *slot_of(s->index, s, kind, n);
}

struct result_run *export_find_run(struct result_set *s, uint64_t run)
{
	size_t at = find(s, RUNS, &(struct name){run, "", 0, 0});

	return at ? &s->runs[at - 1] : NULL;
}

struct result_environment *export_find_environment(
	struct result_set *s, uint64_t run, const char *host)
{
	size_t at = find(s, ENVIRONMENTS, &(struct name){run, host, 0, 0});

	return at ? &s->envs[at - 1] : NULL;
}

struct result_trial *export_find_trial(
	struct result_set *s, uint64_t run, const struct export_piece *of)
{
	size_t at = find(s, TRIALS, &(struct name){run, of->host, of->attempt, of->trial});

	return at ? &s->trials[at - 1] : NULL;
}

struct result_series *export_find_series(
	struct result_set *s, uint64_t run, const struct export_piece *of)
{
	size_t at = find(s, SERIES, &(struct name){run, of->host, of->attempt, of->trial});

	return at ? &s->series[at - 1] : NULL;
}

struct export_count *export_count_of(struct result_set *s, uint64_t run)
{
	size_t at = find(s, COUNTS, &(struct name){run, "", 0, 0});
	struct export_index *x = index_of(s);

	if (!at) {
		x->counts = xgrow(x->counts, x->n_counts, &x->cap_counts, sizeof(*x->counts));
		x->counts[x->n_counts] = (struct export_count){.run = run};
		at = ++x->n_counts;
	}
	return &x->counts[at - 1];
}

const struct export_count *export_counts(const struct result_set *s, size_t *ret_n)
{
	*ret_n = s->index ? s->index->n_counts : 0;
	return s->index ? s->index->counts : NULL;
}

void result_set_unindex(struct result_set *s)
{
	for (int i = 0; s->index && i < KINDS; i++)
		free(s->index->of[i].slots);
	if (s->index)
		free(s->index->counts);
	free(s->index);
	s->index = NULL;
}
