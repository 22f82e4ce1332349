/* A whole set as export lines, item by item. Owns nothing. */
#include "coordinator/results/export.h"

/* The kinds of items, each a table, its size and its room: what a set gains must be written here, or
 * an import would lose it. The index is no content. */
#define KINDS 7
_Static_assert(sizeof(struct result_set) ==
		       sizeof(struct result_wish) + KINDS * (sizeof(void *) + 2 * sizeof(size_t)) +
			       sizeof(struct export_index *),
	"a kind of item is not written");

size_t export_items(const struct result_set *s)
{
	return s->n_runs + s->n_envs + s->n_trials + s->n_summaries + s->n_series + s->n_steps +
	       s->n_stops;
}

const char *export_item(const struct result_set *s, size_t i, struct buf *out)
{
	if (i < s->n_runs) {
		export_run(&s->runs[i], out);
		return NULL;
	}
	i -= s->n_runs;
	if (i < s->n_envs) {
		export_environment(&s->envs[i], out);
		return s->envs[i].host;
	}
	i -= s->n_envs;
	if (i < s->n_trials) {
		export_trial(&s->trials[i], out);
		return s->trials[i].host;
	}
	i -= s->n_trials;
	if (i < s->n_summaries) {
		export_summary(&s->summaries[i], out);
		return s->summaries[i].host;
	}
	i -= s->n_summaries;
	if (i < s->n_series) {
		export_series(&s->series[i], out);
		return s->series[i].host;
	}
	i -= s->n_series;
	if (i < s->n_stops) {
		export_stop(&s->stops[i], out);
		return s->stops[i].host;
	}
	i -= s->n_stops;
	export_step(&s->steps[i], out);
	return s->steps[i].host;
}
