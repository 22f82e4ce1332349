/*
 * Lines of QUERY_SHOW about what a trial tells beside its counters; they stand behind its own. Owns
 * nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/store/query.h"

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

/* Latencies as people read them, in the place of a histogram. */
static void set_latencies(json_t *o, const char *bytes, size_t len)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct err ignored;
	int known = bytes && hist_decode(bytes, len, h, &ignored) == 0 && h->count > 0;

	set(o, "latency_mean_ns", known ? json_number(hist_mean(h)) : json_null());
	set(o, "latency_p50_ns",
		known ? json_integer((json_int_t)hist_percentile(h, 0.5)) : json_null());
	set(o, "latency_p99_ns",
		known ? json_integer((json_int_t)hist_percentile(h, 0.99)) : json_null());
	free(h);
}

static json_t *line_of(const struct query_trial *t, const char *type, const char *name)
{
	json_t *o = json_object();

	set(o, "type", json_text(type));
	set(o, "run", json_integer((json_int_t)t->run));
	set(o, "job", json_integer(t->job));
	set(o, "host", json_text(t->host));
	set(o, "attempt", json_integer(t->attempt));
	set(o, "trial", json_integer(t->trial));
	set(o, "name", json_text(name));
	return o;
}

static void part_line(const struct query_trial *t, const struct trial_part *p, struct buf *out)
{
	json_t *o = line_of(t, "part", p->name);

	set(o, "kind", json_text(p->kind));
	set(o, "ops", json_integer((json_int_t)p->ops));
	set(o, "bytes", json_integer((json_int_t)p->bytes));
	set(o, "errors", json_integer((json_int_t)p->errors));
	set(o, "elapsed_ns", json_integer(p->elapsed_ns));
	set_latencies(o, p->hist, p->hist_len);
	query_line(o, out);
}

void query_detail_lines(const struct query_trial *t, const struct trial_detail *d, struct buf *out)
{
	json_t *o;

	for (size_t i = 0; i < d->n_parts; i++)
		part_line(t, &d->parts[i], out);
	for (size_t i = 0; i < d->n_facts; i++) {
		o = line_of(t, "fact", d->facts[i].name);
		set(o, "value", json_number(d->facts[i].value));
		set(o, "unit", json_text(d->facts[i].unit));
		query_line(o, out);
	}
	for (size_t i = 0; i < d->n_notes; i++) {
		o = line_of(t, "note", d->notes[i].name);
		set(o, "text", json_text(d->notes[i].text));
		query_line(o, out);
	}
}

void query_detail_kept(json_t *o, const json_t *kept)
{
	static const char *const same[] = {"attempt", "trial", "name", "kind", "ops", "bytes", "errors",
		"elapsed_ns", "value", "unit", "text"};
	const struct export_line line = {kept, "store", 0};
	int is_part = json_object_get(kept, "kind") != NULL;
	struct err ignored;
	char *bytes = NULL;
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (json_object_get(kept, same[i]))
			set(o, same[i], json_incref(json_object_get(kept, same[i])));
	if (is_part && !export_hist_read(&line, &bytes, &len, &ignored))
		set_latencies(o, bytes, len);
	free(bytes);
}
