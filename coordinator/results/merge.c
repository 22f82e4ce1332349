/*
 * Two sets -> one. Owns nothing beyond a call.
 * Invariant: every trial stays with its own run; nothing is copied but the tables that hold it.
 */
#include "coordinator/results/merge.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static int has_run(const struct result_set *s, uint64_t id)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].id == id)
			return 1;
	return 0;
}

static uint64_t highest(const struct result_set *s)
{
	uint64_t id = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		id = s->runs[i].id > id ? s->runs[i].id : id;
	return id;
}

static void renumber(struct result_set *s, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].id == from)
			s->runs[i].id = to;
	for (size_t i = 0; i < s->n_envs; i++)
		if (s->envs[i].run == from)
			s->envs[i].run = to;
	for (size_t i = 0; i < s->n_trials; i++)
		if (s->trials[i].run == from)
			s->trials[i].run = to;
	for (size_t i = 0; i < s->n_summaries; i++)
		if (s->summaries[i].run == from)
			s->summaries[i].run = to;
	for (size_t i = 0; i < s->n_stops; i++)
		if (s->stops[i].run == from)
			s->stops[i].run = to;
	for (size_t i = 0; i < s->n_series; i++)
		if (s->series[i].run == from)
			s->series[i].run = to;
	for (size_t i = 0; i < s->n_steps; i++)
		if (s->steps[i].run == from)
			s->steps[i].run = to;
}

/* Appends n items of `from` to the n_to of *to, and frees the emptied table. */
static void append(void *to, size_t *n_to, size_t *cap, void *from, size_t n, size_t size)
{
	void **table = to, *all;

	if (n) {
		all = xreallocarray(*table, *n_to + n, size);
		memcpy((char *)all + *n_to * size, from, n * size);
		*table = all;
		*n_to += n;
		*cap = *n_to;
	}
	free(from);
}

void result_set_merge(struct result_set *to, struct result_set *from)
{
	uint64_t a = highest(to), b = highest(from), next = (a > b ? a : b) + 1;

	for (size_t i = 0; i < from->n_runs; i++)
		if (has_run(to, from->runs[i].id))
			renumber(from, from->runs[i].id, next++);
	append(&to->runs, &to->n_runs, &to->cap_runs, from->runs, from->n_runs, sizeof(*to->runs));
	append(&to->envs, &to->n_envs, &to->cap_envs, from->envs, from->n_envs, sizeof(*to->envs));
	append(&to->trials, &to->n_trials, &to->cap_trials, from->trials, from->n_trials,
		sizeof(*to->trials));
	append(&to->summaries, &to->n_summaries, &to->cap_summaries, from->summaries,
		from->n_summaries, sizeof(*to->summaries));
	append(&to->stops, &to->n_stops, &to->cap_stops, from->stops, from->n_stops,
		sizeof(*to->stops));
	append(&to->series, &to->n_series, &to->cap_series, from->series, from->n_series,
		sizeof(*to->series));
	append(&to->steps, &to->n_steps, &to->cap_steps, from->steps, from->n_steps, sizeof(*to->steps));
	strv_free(&from->wish.chosen);
	*from = (struct result_set){0};
}
