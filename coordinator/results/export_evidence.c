/*
 * Evidence and executed commands -> export lines. Owns nothing.
 * Invariant: what is not known has no member, or null; long lists are cut into lines that fit a
 * chunk.
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define DISKS_PIECE 100
#define ARGV_MAX (64 * 1024) /* bytes of a command's words */

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static json_t *rows_json(const struct field_table *t, const void *v, size_t n, size_t size)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		export_fields_write(o, t, (const char *)v + i * size);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *export_evidence_json(const struct trial_evidence *v)
{
	json_t *o, *cores;

	if (!v)
		return json_null();
	o = json_object();
	cores = json_array();
	for (size_t i = 0; i < v->n_numbers; i++) {
		const char *name = evidence_key_name(v->numbers[i].key);

		if (name)
			set(o, name, json_integer(v->numbers[i].value));
	}
	for (size_t i = 0; i < v->n_cores; i++)
		json_array_append_new(cores, export_count(v->cores[i].busy_ns));
	set(o, "maintenance_before_text", json_text(v->maintenance_before));
	set(o, "maintenance_after_text", json_text(v->maintenance_after));
	set(o, "cores_busy_ns", cores);
	set(o, "settings", rows_json(&export_setting_table, v->settings, v->n_settings,
			       sizeof(*v->settings)));
	set(o, "sources", rows_json(&export_source_table, v->sources, v->n_sources,
			      sizeof(*v->sources)));
	return o;
}

static void add_disk(const struct disk_evidence *d, struct buf *out)
{
	size_t from = out->len;

	export_members(&export_disk_table, d, out);
	out->data[from] = '{'; /* for the first comma */
	buf_adds(out, ",\"errors\":");
	if (d->errors_known) {
		json_t *errors = export_count(d->errors);

		json_line(errors, out);
		json_decref(errors);
	} else {
		buf_adds(out, "null");
	}
	buf_addc(out, '}');
}

void export_trial_disks(const struct result_trial *t, struct buf *out)
{
	const struct trial_evidence *v = t->sum.n_evidence ? t->sum.evidence : NULL;

	for (size_t from = 0; v && from < v->n_disks; from += DISKS_PIECE) {
		export_begin_of_trial(
			"trial-disks", t->run, t->host, t->attempt, t->sum.trial, out);
		buf_adds(out, ",\"disks\":");
		for (size_t i = from; i < v->n_disks && i < from + DISKS_PIECE; i++) {
			buf_addc(out, i == from ? '[' : ',');
			add_disk(&v->disks[i], out);
		}
		buf_adds(out, "]}\n");
	}
}

/* The words as far as they fit a line; a last one says how many are left out. */
static json_t *argv_json(const struct strv *argv)
{
	json_t *list = json_array();
	size_t bytes = 0;

	for (size_t i = 0; i < argv->n; i++) {
		char rest[64];

		bytes += strlen(argv->v[i]);
		if (bytes > ARGV_MAX) {
			snprintf(rest, sizeof(rest), "… (%zu words more)", argv->n - i);
			json_array_append_new(list, json_text(rest));
			break;
		}
		json_array_append_new(list, json_text(argv->v[i]));
	}
	return list;
}

void export_step(const struct result_step *s, struct buf *out)
{
	json_t *o = export_line_new("step", s->run);

	export_fields_write(o, &export_step_table, s);
	set(o, "argv", argv_json(&s->argv));
	export_line_end(o, out);
}
