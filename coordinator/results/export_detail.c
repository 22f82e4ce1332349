/* The lines of what a trial tells beside its counters, written and read. Owns nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/export_write.h"

static json_t *line_of(const struct result_trial *t, const char *type, const char *name)
{
	json_t *o = export_line_new(type, t->run);

	json_object_set_new(o, "host", json_text(t->host));
	json_object_set_new(o, "attempt", json_integer(t->attempt));
	json_object_set_new(o, "trial", json_integer(t->sum.trial));
	json_object_set_new(o, "name", json_text(name));
	return o;
}

static void set_int(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void export_part(const struct result_trial *t, const struct trial_part *p, struct buf *out)
{
	json_t *o = line_of(t, "part", p->name);
	size_t from = out->len;

	json_object_set_new(o, "kind", json_text(p->kind));
	set_int(o, "ops", p->ops);
	set_int(o, "bytes", p->bytes);
	set_int(o, "errors", p->errors);
	set_int(o, "elapsed_ns", (uint64_t)p->elapsed_ns);
	json_object_set_new(o, "hist", export_hist_json(p->hist, p->hist_len));
	export_line_end(o, out);
	export_hist_end(out, from);
}

void export_detail(const struct result_trial *t, struct buf *out)
{
	const struct trial_detail *d = &t->sum.detail;
	json_t *o;

	for (size_t i = 0; i < d->n_parts; i++)
		export_part(t, &d->parts[i], out);
	for (size_t i = 0; i < d->n_facts; i++) {
		o = line_of(t, "fact", d->facts[i].name);
		json_object_set_new(o, "value", json_number(d->facts[i].value));
		json_object_set_new(o, "unit", json_text(d->facts[i].unit));
		export_line_end(o, out);
	}
	for (size_t i = 0; i < d->n_notes; i++) {
		o = line_of(t, "note", d->notes[i].name);
		json_object_set_new(o, "text", json_text(d->notes[i].text));
		export_line_end(o, out);
	}
}

static uint64_t get_count(const json_t *o, const char *key)
{
	int64_t v = json_get_int(o, key, 0);

	return v < 0 ? 0 : (uint64_t)v;
}

static int read_part(struct trial_detail *d, const json_t *o, const char *name)
{
	struct trial_part *p;
	char *hist = NULL;
	size_t len = 0;

	if (export_hist_read(json_object_get(o, "hist"), &hist, &len) != 0) {
		free(hist);
		return -1;
	}
	p = detail_part(d, json_get_str(o, "kind", ""), name, NULL);
	p->ops = get_count(o, "ops");
	p->bytes = get_count(o, "bytes");
	p->errors = get_count(o, "errors");
	p->elapsed_ns = (int64_t)get_count(o, "elapsed_ns");
	p->hist = hist;
	p->hist_len = len;
	return 0;
}

int export_detail_read(
	struct result_trial *t, const json_t *line, const char *type, const char **ret_lacks)
{
	const char *name = json_get_str(line, "name", "");
	struct trial_detail *d = &t->sum.detail;

	*ret_lacks = "a name";
	if (!*name)
		return -1;
	if (strcmp(type, "fact") == 0) {
		*ret_lacks = "a value that is a number";
		if (!isfinite(json_get_num(line, "value", NAN)))
			return -1;
		detail_fact(d, name, json_get_num(line, "value", 0), json_get_str(line, "unit", ""));
	} else if (strcmp(type, "note") == 0) {
		detail_note(d, name, json_get_str(line, "text", ""));
	} else {
		*ret_lacks = "a whole histogram, or there are too many";
		return d->n_parts == DETAIL_MAX_PARTS ? -1 : read_part(d, line, name);
	}
	return 0;
}
