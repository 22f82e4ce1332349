/*
 * Evidence, disks over time and executed commands -> export lines. Owns nothing.
 * Invariant: what is not known has no member, or null; long lists are cut into lines that fit a
 * chunk.
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define DISKS_PIECE 100
#define CELLS_PIECE 2000
#define ARGV_MAX (64 * 1024) /* bytes of a command's words */

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	set(o, key, json_integer((json_int_t)v));
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
		json_array_append_new(cores, json_integer((json_int_t)v->cores[i].busy_ns));
	set(o, "maintenance_before_text", json_text(v->maintenance_before));
	set(o, "maintenance_after_text", json_text(v->maintenance_after));
	set(o, "cores_busy_ns", cores);
	return o;
}

static json_t *disk_json(const struct disk_evidence *d)
{
	json_t *o = json_object();

	set(o, "id", json_text(d->id));
	set(o, "name", json_text(d->name));
	set(o, "backing", json_text(d->backing));
	for (size_t i = 0; i < DISK_COUNTERS; i++)
		set_int(o, disk_counter_fields[i].key, disk_counter(&d->during, i));
	set_int(o, "look_read_bytes", d->look_read_bytes);
	set_int(o, "look_write_bytes", d->look_write_bytes);
	set_int(o, "look_busy_ns", d->look_busy_ns);
	set(o, "errors", d->errors_known ? json_integer((json_int_t)d->errors) : json_null());
	return o;
}

static json_t *of_trial(
	const char *type, uint64_t run, const char *host, uint32_t attempt, uint32_t trial)
{
	json_t *o = export_line_new(type, run);

	set(o, "host", json_text(host));
	set_int(o, "attempt", attempt);
	set_int(o, "trial", trial);
	return o;
}

void export_trial_disks(const struct result_trial *t, struct buf *out)
{
	const struct trial_evidence *v = t->sum.n_evidence ? t->sum.evidence : NULL;

	for (size_t from = 0; v && from < v->n_disks; from += DISKS_PIECE) {
		json_t *o = of_trial("trial-disks", t->run, t->host, t->attempt, t->sum.trial);
		json_t *disks = json_array();

		for (size_t i = from; i < v->n_disks && i < from + DISKS_PIECE; i++)
			json_array_append_new(disks, disk_json(&v->disks[i]));
		set(o, "disks", disks);
		export_line_end(o, out);
	}
}

static json_t *span_json(const struct result_series *s, size_t span)
{
	json_t *list = json_array();

	json_array_append_new(list, json_integer(s->spans[span].start_ns));
	json_array_append_new(list, json_integer(s->spans[span].end_ns));
	for (size_t i = 0; i < s->n_disks; i++) {
		const struct result_disk_use *u = &s->use[span * s->n_disks + i];

		json_array_append_new(list, json_integer((json_int_t)u->read_bytes));
		json_array_append_new(list, json_integer((json_int_t)u->write_bytes));
		json_array_append_new(list, json_integer((json_int_t)u->busy_ns));
	}
	return list;
}

void export_series_disks(const struct result_series *s, struct buf *out)
{
	size_t piece = s->n_disks ? CELLS_PIECE / s->n_disks : 0;

	if (piece == 0)
		piece = 1;
	for (size_t from = 0; s->n_disks && from < s->n_spans; from += piece) {
		json_t *o = of_trial("series-disks", s->run, s->host, s->attempt, s->trial);
		json_t *spans = json_array();

		for (size_t i = from; i < s->n_spans && i < from + piece; i++)
			json_array_append_new(spans, span_json(s, i));
		set_int(o, "disks", s->n_disks);
		set(o, "spans", spans);
		export_line_end(o, out);
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

	set(o, "host", json_text(s->host));
	set_int(o, "attempt", s->attempt);
	set_int(o, "block", s->block);
	set_int(o, "layout", s->layout);
	set(o, "layout_name", json_text(s->layout_name));
	set(o, "phase", json_text(s->phase));
	set(o, "what", json_text(s->what));
	set(o, "argv", argv_json(&s->argv));
	set(o, "elapsed_ns", json_integer(s->elapsed_ns));
	set(o, "at_wall_ns", json_integer(s->at_wall_ns));
	set(o, "ok", json_boolean(s->ok));
	set(o, "output", json_text(s->output));
	export_line_end(o, out);
}
