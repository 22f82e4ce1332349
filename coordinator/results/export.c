/*
 * Result structs -> export lines. Owns nothing.
 * Invariant: what a set holds and these lines say is the same; long things are cut into lines that
 * fit a chunk.
 */
#include "coordinator/results/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

#define PLAN_PIECE (32 * 1024)
#define DISKS_PIECE 100

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

json_t *export_line_new(const char *type, uint64_t run)
{
	json_t *o = json_object();

	set(o, "type", json_text(type));
	set(o, "run", json_integer((json_int_t)run));
	return o;
}

void export_line_end(json_t *o, struct buf *out)
{
	json_line(o, out);
	buf_addc(out, '\n');
	json_decref(o);
}

/* The plan's text in pieces that end between characters. */
static void export_plan(const struct result_run *r, struct buf *out)
{
	const char *text = r->plan_text;
	size_t left = text ? strlen(text) : 0;

	while (left > 0) {
		size_t n = left < PLAN_PIECE ? left : PLAN_PIECE;
		json_t *o = export_line_new("plan", r->id);

		while (n < left && n > 1 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		set(o, "text", json_text_n(text, n));
		export_line_end(o, out);
		text += n;
		left -= n;
	}
}

void export_run(const struct result_run *r, struct buf *out)
{
	json_t *o = export_line_new("run", r->id);

	export_fields_write(o, &export_run_table, r);
	export_line_end(o, out);
	export_plan(r, out);
}

/* The disks from..to of the inventory as a list of their own. */
static json_t *some_disks(const json_t *disks, size_t from, size_t to)
{
	json_t *list = json_array();

	for (size_t i = from; i < to; i++)
		json_array_append(list, json_array_get(disks, i));
	return list;
}

void export_environment(const struct result_environment *v, struct buf *out)
{
	const json_t *disks = json_object_get(v->inventory, "disks");
	size_t n = json_array_size(disks), given = n < DISKS_PIECE ? n : DISKS_PIECE;
	json_t *inventory = json_copy(v->inventory), *o = export_line_new("environment", v->run);

	if (n > given)
		set(inventory, "disks", some_disks(disks, 0, given));
	set(o, "host", json_text(v->host));
	set(o, "inventory", inventory ? inventory : json_null());
	export_line_end(o, out);
	while (given < n) {
		size_t to = n - given < DISKS_PIECE ? n : given + DISKS_PIECE;

		o = export_line_new("environment-disks", v->run);
		set(o, "host", json_text(v->host));
		set(o, "disks", some_disks(disks, given, to));
		export_line_end(o, out);
		given = to;
	}
}

static void add_telemetry(const struct telemetry *t, struct buf *out)
{
	size_t from;

	buf_adds(out, ",\"telemetry\":");
	from = out->len;
	export_members(&export_telemetry_table, t, out);
	out->data[from] = '{'; /* for the first comma */
	buf_addc(out, '}');
}

static void add_json(const char *key, json_t *v, struct buf *out)
{
	buf_addf(out, ",\"%s\":", key);
	json_line(v, out);
	json_decref(v);
}

static json_t *printed_json(const struct result_trial *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_printed; i++) {
		json_t *o = json_object();

		export_fields_write(o, &export_printed_table, &t->printed[i]);
		json_array_append_new(list, o);
	}
	return list;
}

void export_trial(const struct result_trial *t, struct buf *out)
{
	char data[DATA_TOLD_LEN];

	export_begin("trial", t->run, out);
	export_members(&export_trial_table, t, out);
	add_telemetry(&t->sum.tele, out);
	export_hist(t->sum.hist, t->sum.hist_len, out);
	add_json("evidence", export_evidence_json(t->sum.n_evidence ? t->sum.evidence : NULL), out);
	if (t->n_printed)
		add_json("printed", printed_json(t), out);
	if (t->data.known)
		add_json("data", json_text(data_told_text(&t->data, data)), out);
	buf_adds(out, "}\n");
	export_detail(t, out);
	export_trial_disks(t, out);
}

json_t *export_of_trial(
	const char *type, uint64_t run, const char *host, uint32_t attempt, uint32_t trial)
{
	const struct export_piece of = {host, NULL, attempt, trial};
	json_t *o = export_line_new(type, run);

	export_fields_write(o, &export_of_trial_table, &of);
	return o;
}

void export_summary(const struct result_summary *m, struct buf *out)
{
	json_t *o = export_line_new("summary", m->run);
	char data[DATA_TOLD_LEN];

	export_fields_write(o, &export_summary_table, m);
	if (m->data.known)
		set(o, "data", json_text(data_told_text(&m->data, data)));
	export_line_end(o, out);
}

void export_stop(const struct result_stop *s, struct buf *out)
{
	json_t *o = export_line_new("stop", s->run);

	export_fields_write(o, &export_stop_table, s);
	export_line_end(o, out);
}
