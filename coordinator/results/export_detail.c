/* The lines of what a trial tells beside its counters, written and read. Owns nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

static void begin_line(const struct result_trial *t, const char *type, const struct field_table *table,
	const void *row, struct buf *out)
{
	export_begin_of_trial(type, t->run, t->host, t->attempt, t->sum.trial, out);
	export_members(table, row, out);
}

void export_detail(const struct result_trial *t, struct buf *out)
{
	const struct trial_detail *d = &t->sum.detail;

	for (size_t i = 0; i < d->n_parts; i++) {
		begin_line(t, "part", &export_part_table, &d->parts[i], out);
		export_hist(d->parts[i].hist, d->parts[i].hist_len, out);
		buf_adds(out, "}\n");
	}
	for (size_t i = 0; i < d->n_facts; i++) {
		begin_line(t, "fact", &export_fact_table, &d->facts[i], out);
		buf_adds(out, "}\n");
	}
	for (size_t i = 0; i < d->n_notes; i++) {
		begin_line(t, "note", &export_note_table, &d->notes[i], out);
		buf_adds(out, "}\n");
	}
}

static int too_many(const struct export_line *l, size_t most, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s:%zu: a trial with more than %zu %ss", l->name, l->no, most,
		json_get_str(l->o, "type", ""));
}

static int read_part(struct trial_detail *d, const struct export_line *l, struct err *e)
{
	struct trial_part p = {0};

	if (d->n_parts == DETAIL_MAX_PARTS)
		return too_many(l, DETAIL_MAX_PARTS, e);
	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_part_table, &p, e) ||
		export_hist_read(l, &p.hist, &p.hist_len, e)) {
		free(p.name);
		free(p.kind);
		return -1;
	}
	d->parts = xreallocarray(d->parts, d->n_parts + 1, sizeof(*d->parts));
	d->parts[d->n_parts++] = p;
	return 0;
}

static int read_fact(struct trial_detail *d, const struct export_line *l, struct err *e)
{
	struct trial_fact f = {0};

	if (d->n_facts == DETAIL_MAX_FACTS)
		return too_many(l, DETAIL_MAX_FACTS, e);
	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_fact_table, &f, e)) {
		free(f.name);
		free(f.unit);
		return -1;
	}
	d->facts = xreallocarray(d->facts, d->n_facts + 1, sizeof(*d->facts));
	d->facts[d->n_facts++] = f;
	return 0;
}

static int read_note(struct trial_detail *d, const struct export_line *l, struct err *e)
{
	struct trial_note n = {0};

	if (d->n_notes == DETAIL_MAX_NOTES)
		return too_many(l, DETAIL_MAX_NOTES, e);
	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_note_table, &n, e)) {
		free(n.name);
		free(n.text);
		return -1;
	}
	d->notes = xreallocarray(d->notes, d->n_notes + 1, sizeof(*d->notes));
	d->notes[d->n_notes++] = n;
	return 0;
}

int export_read_detail(
	struct result_set *s, const struct export_line *l, uint64_t run, struct err *e)
{
	const char *type = json_get_str(l->o, "type", "");
	struct export_piece of = {0};
	struct result_trial *t;

	if (export_fields_read(l, FIELD_OF_LINE, l->o, &export_of_trial_table, &of, e))
		return -1;
	t = export_find_trial(s, run, &of);
	if (!t)
		return export_orphan(l, run, &of, "trial", e);
	if (!strcmp(type, "fact"))
		return read_fact(&t->sum.detail, l, e);
	if (!strcmp(type, "note"))
		return read_note(&t->sum.detail, l, e);
	return read_part(&t->sum.detail, l, e);
}
