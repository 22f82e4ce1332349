/*
 * Export lines -> evidence, disks over time and executed commands. Owns nothing but what the set
 * owns.
 * Invariant: a line is taken whole or not at all; disks belong to the trial that their line names,
 * which stands before them.
 */
#include <stdlib.h>
#include <string.h>

#include "coordinator/results/export_line.h"

struct trial_evidence *export_evidence_read(const json_t *o)
{
	const json_t *cores = json_object_get(o, "cores_busy_ns");
	struct trial_evidence *v;
	size_t n = json_array_size(cores);

	if (!json_is_object(o))
		return NULL;
	v = xcalloc(1, sizeof(*v));
	for (uint32_t key = 1; key < EVIDENCE_KEY_COUNT; key++) {
		const json_t *number = json_object_get(o, evidence_key_name(key));

		if (json_is_integer(number))
			evidence_set(v, (enum evidence_key)key, json_integer_value(number));
	}
	if (n > EVIDENCE_CORES_MAX)
		n = EVIDENCE_CORES_MAX;
	v->cores = xcalloc(n, sizeof(*v->cores));
	v->n_cores = n;
	for (size_t i = 0; i < n; i++) {
		json_int_t busy = json_integer_value(json_array_get(cores, i));

		v->cores[i].busy_ns = busy < 0 ? 0 : (uint64_t)busy;
	}
	v->maintenance_before = xstrdup(json_get_str(o, "maintenance_before_text", NULL));
	v->maintenance_after = xstrdup(json_get_str(o, "maintenance_after_text", NULL));
	return v;
}

static void read_disk(const json_t *o, struct disk_evidence *d)
{
	d->id = xstrdup(json_get_str(o, "id", NULL));
	d->name = export_text(o, "name");
	d->backing = xstrdup(json_get_str(o, "backing", NULL));
	for (size_t i = 0; i < DISK_COUNTERS; i++)
		disk_counter_set(&d->during, i, export_u64(o, disk_counter_fields[i].key));
	d->look_read_bytes = export_u64(o, "look_read_bytes");
	d->look_write_bytes = export_u64(o, "look_write_bytes");
	d->look_busy_ns = export_u64(o, "look_busy_ns");
	d->errors_known = json_is_integer(json_object_get(o, "errors"));
	d->errors = export_u64(o, "errors");
}

int export_read_trial_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_trial *t = export_find_trial(s, l, run);
	const json_t *disks = json_object_get(l->o, "disks");
	size_t n = json_array_size(disks);
	struct trial_evidence *v;

	if (!t || !t->sum.evidence)
		return export_wrong(l, e, "its trial, with evidence, before it");
	v = t->sum.evidence;
	if (!json_is_array(disks) || n > EVIDENCE_DISKS_MAX - v->n_disks)
		return export_wrong(l, e, "disks (a list of what they did)");
	if (n == 0)
		return 0;
	v->disks = xreallocarray(v->disks, v->n_disks + n, sizeof(*v->disks));
	for (size_t i = 0; i < n; i++) {
		v->disks[v->n_disks] = (struct disk_evidence){0};
		read_disk(json_array_get(disks, i), &v->disks[v->n_disks++]);
	}
	return 0;
}

static uint64_t cell(const json_t *span, size_t i)
{
	json_int_t v = json_integer_value(json_array_get(span, i));

	return v < 0 ? 0 : (uint64_t)v;
}

static void read_span(const json_t *span, struct result_series *s, size_t at)
{
	s->spans[at].start_ns = json_integer_value(json_array_get(span, 0));
	s->spans[at].end_ns = json_integer_value(json_array_get(span, 1));
	for (size_t i = 0; i < s->n_disks; i++)
		s->use[at * s->n_disks + i] = (struct result_disk_use){
			.read_bytes = cell(span, 2 + 3 * i),
			.write_bytes = cell(span, 3 + 3 * i),
			.busy_ns = cell(span, 4 + 3 * i),
		};
}

int export_read_series_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const json_t *spans = json_object_get(l->o, "spans");
	uint32_t disks = export_u32(l->o, "disks");
	size_t n = json_array_size(spans);
	struct result_series *v;

	if (!*json_get_str(l->o, "host", "") || export_u32(l->o, "trial") == 0)
		return export_wrong(l, e, "host and trial");
	if (!json_is_array(spans) || disks == 0 || disks > EVIDENCE_DISKS_MAX)
		return export_wrong(l, e, "spans and the number of disks");
	for (size_t i = 0; i < n; i++)
		if (json_array_size(json_array_get(spans, i)) != 2 + 3 * (size_t)disks)
			return export_wrong(l, e, "three numbers a disk in each span");
	v = export_open_series(s, run, l->o);
	if (v->n_disks && v->n_disks != disks)
		return export_wrong(l, e, "as many disks as the piece before it");
	if (n > RESULT_DISK_CELLS_MAX || (v->n_spans + n) * disks > RESULT_DISK_CELLS_MAX)
		return export_wrong(l, e, "an end: there are too many spans");
	v->n_disks = disks;
	v->spans = xreallocarray(v->spans, v->n_spans + n, sizeof(*v->spans));
	v->use = xreallocarray(v->use, (v->n_spans + n) * disks, sizeof(*v->use));
	for (size_t i = 0; i < n; i++)
		read_span(json_array_get(spans, i), v, v->n_spans++);
	return 0;
}

/* Takes what `to` lacks and `from` has. */
static void take_parts(struct result_series *to, struct result_series *from)
{
	if (!to->n && from->n) {
		free(to->points);
		to->points = from->points;
		to->n = from->n;
		from->points = NULL;
	}
	if (!to->n_disks && from->n_disks) {
		to->spans = from->spans;
		to->use = from->use;
		to->n_spans = from->n_spans;
		to->n_disks = from->n_disks;
		from->spans = NULL;
		from->use = NULL;
	}
	result_series_clear(from);
}

void export_join_series(struct result_set *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_series; i++) {
		if (kept && result_series_compare(&s->series[kept - 1], &s->series[i]) == 0)
			take_parts(&s->series[kept - 1], &s->series[i]);
		else
			s->series[kept++] = s->series[i];
	}
	s->n_series = kept;
}

int export_read_step(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const json_t *o = l->o, *argv = json_object_get(o, "argv");
	struct result_step step = {.run = run};

	if (!*json_get_str(o, "host", ""))
		return export_wrong(l, e, "host");
	if (!json_is_array(argv))
		return export_wrong(l, e, "argv (the words of the command)");
	step.host = export_text(o, "host");
	step.attempt = export_u32(o, "attempt");
	step.block = export_u32(o, "block");
	step.layout = export_u32(o, "layout");
	step.layout_name = export_text(o, "layout_name");
	step.phase = export_text(o, "phase");
	step.what = export_text(o, "what");
	export_strv_read(argv, &step.argv);
	step.elapsed_ns = json_get_int(o, "elapsed_ns", 0);
	step.at_wall_ns = json_get_int(o, "at_wall_ns", 0);
	step.ok = json_get_bool(o, "ok", 0);
	step.output = export_text(o, "output");
	s->steps = xreallocarray(s->steps, s->n_steps + 1, sizeof(*s->steps));
	s->steps[s->n_steps++] = step;
	return 0;
}
