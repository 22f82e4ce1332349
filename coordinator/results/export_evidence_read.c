/*
 * Export lines -> evidence and executed commands. Owns nothing but what the set owns.
 * Invariant: a line is taken whole or not at all; disks belong to the trial that their line names,
 * which stands before them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"

/* Numbers that are not known here are of newer agents. */
static int read_numbers(
	const struct export_line *l, const json_t *o, struct trial_evidence *v, struct err *e)
{
	const struct field_place at = {"evidence", FIELD_WHOLE};

	for (uint32_t key = 1; key < EVIDENCE_KEY_COUNT; key++) {
		const struct field f = {
			.key = evidence_key_name(key), .kind = FIELD_I64, .least = INT64_MIN};
		const json_t *number = json_object_get(o, f.key);
		int64_t value;

		if (!number)
			continue;
		if (export_field_take(l, at, number, &f, &value, e))
			return -1;
		evidence_set(v, (enum evidence_key)key, value);
	}
	return 0;
}

static int read_cores(
	const struct export_line *l, const json_t *o, struct trial_evidence *v, struct err *e)
{
	static const struct field busy = {
		.kind = FIELD_U64, .offset = offsetof(struct core_evidence, busy_ns)};
	const json_t *cores = json_object_get(o, "cores_busy_ns");
	size_t n = json_array_size(cores);

	if ((cores && !json_is_array(cores)) || n > EVIDENCE_CORES_MAX)
		return export_unexpected(l, (struct field_place){"evidence", FIELD_WHOLE},
			"cores_busy_ns", cores, "a list of at most 4096 cores", e);
	v->cores = xcalloc(n, sizeof(*v->cores));
	v->n_cores = n;
	for (size_t i = 0; i < n; i++)
		if (export_field_take(l, (struct field_place){"evidence.cores_busy_ns", i},
			    json_array_get(cores, i), &busy, &v->cores[i], e))
			return -1;
	return 0;
}

static int read_texts(
	const struct export_line *l, const json_t *o, struct trial_evidence *v, struct err *e)
{
	static const struct field rows[] = {
		{.key = "maintenance_before_text",
			.kind = FIELD_TEXT,
			.flags = FIELD_NULL,
			.offset = offsetof(struct trial_evidence, maintenance_before)},
		{.key = "maintenance_after_text",
			.kind = FIELD_TEXT,
			.flags = FIELD_NULL,
			.offset = offsetof(struct trial_evidence, maintenance_after)},
	};
	static const struct field_table texts = {rows, ARRAY_LEN(rows)};

	return export_fields_read(
		l, (struct field_place){"evidence", FIELD_WHOLE}, o, &texts, v, e);
}

/* A list of objects with the same fields, at most so many of them; what was read stays in *v. */
static int read_rows(const struct export_line *l, const json_t *o, const char *key,
	const struct field_table *t, size_t most, void *v, size_t size, size_t *n, struct err *e)
{
	char *member = xasprintf("evidence.%s", key);
	const json_t *list;
	int status = export_list(
		l, (struct field_place){"evidence", FIELD_WHOLE}, o, key, 0, &list, e);

	for (size_t i = 0; !status && i < json_array_size(list); i++) {
		const struct field_place at = {member, i};
		const json_t *one = json_array_get(list, i);

		if (!json_is_object(one) || i == most)
			status = export_unexpected(
				l, at, NULL, one, i == most ? "the list's end" : "an object", e);
		else
			status = export_fields_read(l, at, one, t, (char *)v + (*n)++ * size, e);
	}
	free(member);
	return status;
}

static int read_settings(
	const struct export_line *l, const json_t *o, struct trial_evidence *v, struct err *e)
{
	size_t n = json_array_size(json_object_get(o, "settings"));

	v->settings = xcalloc(n, sizeof(*v->settings));
	return read_rows(l, o, "settings", &export_setting_table, EVIDENCE_SETTINGS_MAX, v->settings,
		sizeof(*v->settings), &v->n_settings, e);
}

static int read_sources(
	const struct export_line *l, const json_t *o, struct trial_evidence *v, struct err *e)
{
	size_t n = json_array_size(json_object_get(o, "sources"));

	v->sources = xcalloc(n, sizeof(*v->sources));
	return read_rows(l, o, "sources", &export_source_table, EVIDENCE_SOURCES_MAX, v->sources,
		sizeof(*v->sources), &v->n_sources, e);
}

int export_evidence_read(const struct export_line *l, struct trial_evidence **ret, struct err *e)
{
	struct trial_evidence *v;
	const json_t *o;

	if (export_object(l, FIELD_OF_LINE, l->o, "evidence", 0, &o, e))
		return -1;
	if (!o)
		return 0;
	v = xcalloc(1, sizeof(*v));
	if (read_numbers(l, o, v, e) || read_cores(l, o, v, e) || read_texts(l, o, v, e) ||
		read_settings(l, o, v, e) || read_sources(l, o, v, e)) {
		trial_evidence_clear(v);
		free(v);
		return -1;
	}
	*ret = v;
	return 0;
}

static int read_disk(const struct export_line *l, size_t i, const json_t *o, struct disk_evidence *d,
	struct err *e)
{
	static const struct field errors = {.key = "errors",
		.kind = FIELD_U64,
		.offset = offsetof(struct disk_evidence, errors)};
	const struct field_place at = {"disks", i};
	const json_t *told = json_object_get(o, "errors");

	if (!json_is_object(o))
		return export_unexpected(l, at, NULL, o, "an object", e);
	if (export_fields_read(l, at, o, &export_disk_table, d, e))
		return -1;
	d->errors_known = told && !json_is_null(told);
	return d->errors_known ? export_field_take(l, at, told, &errors, d, e) : 0;
}

static void drop_disks(struct trial_evidence *v, size_t to)
{
	while (v->n_disks > to)
		disk_evidence_clear(&v->disks[--v->n_disks]);
}

int export_read_trial_disks(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct export_piece of = {0};
	struct result_trial *t;
	struct trial_evidence *v;
	const json_t *disks;
	size_t n, had;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_of_trial_table, &of, e) ||
		export_list(l, FIELD_OF_LINE, l->o, "disks", 1, &disks, e))
		return -1;
	t = export_find_trial(s, run, &of);
	if (!t || !t->sum.evidence)
		return export_orphan(l, run, &of, "trial with evidence", e);
	v = t->sum.evidence;
	n = json_array_size(disks);
	had = v->n_disks;
	if (n > EVIDENCE_DISKS_MAX - had)
		return export_unexpected(
			l, FIELD_OF_LINE, "disks", disks, "at most 1024 disks a trial", e);
	v->disks = xreallocarray(v->disks, had + n + 1, sizeof(*v->disks));
	for (size_t i = 0; i < n; i++) {
		v->disks[v->n_disks++] = (struct disk_evidence){0};
		if (read_disk(l, i, json_array_get(disks, i), &v->disks[had + i], e)) {
			drop_disks(v, had);
			return -1;
		}
	}
	return 0;
}

int export_read_step(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	struct result_step step = {.run = run};

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_step_table, &step, e)) {
		result_step_clear(&step);
		return -1;
	}
	s->steps = xgrow(s->steps, s->n_steps, &s->cap_steps, sizeof(*s->steps));
	s->steps[s->n_steps++] = step;
	return 0;
}
