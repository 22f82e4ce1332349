/* The member "details" of the JSON report. Owns nothing beyond a call. */
#include <math.h>

#include "coordinator/results/details.h"
#include "coordinator/results/report_json.h"

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *part_json(const struct detail_sum_part *p)
{
	static const struct {
		const char *name;
		double percentile;
	} latencies[] = {{"latency_mean", 0}, {"latency_p50", 0.5}, {"latency_p99", 0.99},
		{"latency_p999", 0.999}};
	json_t *o = json_object();

	set(o, "name", json_text(p->name));
	set(o, "kind", json_text(p->kind));
	set(o, "trials", count(p->trials));
	set(o, "ops", count(p->ops));
	set(o, "bytes", count(p->bytes));
	set(o, "errors", count(p->errors));
	set(o, "elapsed", json_number((double)p->elapsed_ns / 1e9));
	for (size_t i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++)
		set(o, latencies[i].name,
			json_number(detail_latency(p, latencies[i].percentile)));
	set(o, "latency_max",
		p->hist && p->hist->count ? json_number((double)p->hist->max) : json_null());
	return o;
}

static json_t *fact_json(const struct detail_sum_fact *f)
{
	json_t *o = json_object();

	set(o, "name", json_text(f->name));
	set(o, "unit", json_text(f->unit));
	set(o, "trials", count(f->trials));
	set(o, "mean", json_number(f->mean));
	set(o, "min", json_number(f->min));
	set(o, "max", json_number(f->max));
	return o;
}

static json_t *note_json(const struct detail_sum_note *n)
{
	json_t *o = json_object();

	set(o, "name", json_text(n->name));
	set(o, "trials", count(n->trials));
	set(o, "block", count(n->block));
	set(o, "text", json_text(n->text));
	return o;
}

void report_json_details(
	struct json_out *w, const struct result_set *s, const struct report_options *opt)
{
	struct detail_sum *v;
	size_t n;

	json_out_list(w, "details");
	result_details(s, &v, &n);
	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object(), *parts = json_array(), *facts = json_array();
		json_t *notes = json_array();

		for (size_t k = 0; k < v[i].n_parts; k++)
			json_array_append_new(parts, part_json(&v[i].parts[k]));
		for (size_t k = 0; k < v[i].n_facts; k++)
			json_array_append_new(facts, fact_json(&v[i].facts[k]));
		for (size_t k = 0; k < v[i].n_notes && !opt->redact; k++)
			json_array_append_new(notes, note_json(&v[i].notes[k]));
		set(o, "run", count(v[i].run));
		set(o, "host", report_json_host(s, opt, v[i].host));
		set(o, "layout", json_text(v[i].layout));
		set(o, "workload", json_text(v[i].workload));
		set(o, "trials", count(v[i].trials));
		set(o, "parts", parts);
		set(o, "facts", facts);
		set(o, "notes", notes);
		json_out_value(w, NULL, o);
		json_out_drain(w);
	}
	result_details_free(v, n);
	json_out_end(w);
}
