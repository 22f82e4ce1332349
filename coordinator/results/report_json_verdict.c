/*
 * Comparisons, families and findings as JSON. Owns nothing beyond a call.
 * Invariant: numbers are not rounded; `text` says what the text report says.
 */
#include <math.h>

#include "coordinator/results/export_write.h"
#include "coordinator/results/report_json.h"

static void set(json_t *o, const char *key, json_t *v)
{
	json_object_set_new_nocheck(o, key, v);
}

static json_t *ratio_json(double ln)
{
	return json_number(exp(ln));
}

static json_t *interval_json(const struct compared *c)
{
	json_t *list;

	if (isnan(c->lo) || isnan(c->hi))
		return json_null();
	list = json_array();
	json_array_append_new(list, ratio_json(c->lo));
	json_array_append_new(list, ratio_json(c->hi));
	return list;
}

static json_t *text_json(const struct result_set *s, const struct report_options *opt,
	const struct result_comparison *c)
{
	struct buf change = {0}, text = {0};
	json_t *o;

	compare_change_text(&c->c, &change);
	buf_addf(&text, "%s%s", buf_str(&change), change.len ? " " : "");
	report_verdict_text(s, opt, c, &text);
	for (size_t i = 0; i < c->invalid.n; i++)
		buf_addf(&text, "%s%s%s", i ? ", " : " [invalid: ", c->invalid.v[i],
			i + 1 < c->invalid.n ? "" : "]");
	o = json_text(buf_str(&text));
	buf_free(&change);
	buf_free(&text);
	return o;
}

static void set_numbers(json_t *o, const struct result_comparison *c)
{
	const struct compared *d = &c->c;

	set(o, "estimate", json_text("geometric-ratio"));
	set(o, "ratio", ratio_json(d->d));
	set(o, "ci", interval_json(d));
	set(o, "confidence", json_number(1 - c->alpha));
	set(o, "k", json_integer(c->k));
	set(o, "n", json_integer(d->n));
	set(o, "n_baseline", json_integer(d->n_base));
	set(o, "n_subject", json_integer(d->n_subject));
	set(o, "df", json_number(d->df));
	set(o, "se", json_number(d->se));
	set(o, "resolution", json_number(d->r));
	set(o, "p_adjusted", json_number(d->p_adjusted));
	set(o, "bound", json_number(d->bound));
	set(o, "within_margin",
		c->margin > 0 && d->estimator != ESTIMATOR_NONE && !d->identical
			? json_boolean(d->within_margin)
			: json_null());
	set(o, "estimator", json_text(estimator_name(d->estimator)));
	set(o, "mde", json_number(d->mde));
}

/* By ranks alone: it decides nothing. */
static json_t *ranks_json(const struct result_comparison *c)
{
	json_t *o, *ci = json_null();
	struct ranks r;

	if (!analysis_ranks(c, &r))
		return json_null();
	if (!isnan(r.lo)) {
		ci = json_array();
		json_array_append_new(ci, ratio_json(r.lo));
		json_array_append_new(ci, ratio_json(r.hi));
	}
	o = json_object();
	set(o, "u", json_number(r.u));
	set(o, "pairs", json_integer((json_int_t)r.n_base * r.n_subject));
	set(o, "p", json_number(r.p));
	set(o, "exact", json_boolean(r.exact));
	set(o, "hodges_lehmann", ratio_json(r.shift));
	set(o, "ci95", ci);
	return o;
}

/* What is compared. */
static void set_pair(json_t *o, const struct result_set *s, const struct report_options *opt,
	const struct result_comparison *c)
{
	set(o, "run", json_integer((json_int_t)c->run));
	set(o, "host", report_json_host(s, opt, c->host));
	set(o, "layout", json_text(c->layout));
	set(o, "workload", json_text(c->workload));
	set(o, "metric", json_text(metric_table[c->metric].name));
	set(o, "by", json_text(c->between_hosts ? "host" : "layout"));
	set(o, "baseline",
		c->between_hosts ? report_json_host(s, opt, c->base) : json_text(c->base));
	set(o, "subject",
		c->between_hosts ? report_json_host(s, opt, c->subject) : json_text(c->subject));
}

static json_t *comparison_json(const struct result_set *s, const struct report_options *opt,
	const struct result_comparison *c)
{
	json_t *o = json_object();

	set_pair(o, s, opt, c);
	set_numbers(o, c);
	set(o, "verdict", json_text(verdict_name(c->c.verdict)));
	set(o, "text", text_json(s, opt, c));
	set(o, "invalid", export_strv(&c->invalid));
	set(o, "ranks", ranks_json(c));
	return o;
}

void report_json_comparisons(struct json_out *w, const struct result_set *s,
	const struct report_options *o, const struct analysis *a)
{
	json_out_list(w, "comparisons");
	for (size_t i = 0; i < a->n_comparisons; i++) {
		json_out_value(w, NULL, comparison_json(s, o, &a->comparisons[i]));
		json_out_drain(w);
	}
	json_out_end(w);
}

json_t *report_json_absent(
	const struct result_set *s, const struct report_options *o, const struct analysis *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_absent; i++) {
		const struct result_comparison *c = &a->absent[i];
		json_t *v = json_object();

		set_pair(v, s, o, c);
		set(v, "text", text_json(s, o, c));
		json_array_append_new(list, v);
	}
	return list;
}

/* k and alpha are those of the largest family; each workload has its own. */
json_t *report_json_family(const struct analysis *a)
{
	json_t *o = json_object(), *list = json_array();
	const struct result_family *largest = NULL;

	for (size_t i = 0; i < a->n_families; i++) {
		const struct result_family *f = &a->families[i];

		if (f->k)
			json_array_append_new(
				list, json_pack("{so si so}", "workload", json_text(f->workload), "k",
					      (int)f->k, "alpha", json_number(f->alpha)));
		if (!largest || f->k > largest->k)
			largest = f;
	}
	if (!largest || !largest->k) {
		json_decref(o);
		json_decref(list);
		return json_null();
	}
	set(o, "k", json_integer(largest->k));
	set(o, "alpha", json_number(largest->alpha));
	set(o, "workloads", list);
	return o;
}

json_t *report_json_outliers(
	const struct result_set *s, const struct report_options *o, const struct analysis *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->n_outliers; i++) {
		const struct result_outlier *v = &a->outliers[i];

		json_array_append_new(
			list, json_pack("{sI so so so so so so}", "run", (json_int_t)v->run, "host",
				      report_json_host(s, o, v->host), "disk",
				      json_text(v->disk), "layout",
				      json_text(v->layout), "workload", json_text(v->workload),
				      "metric", json_text(metric_table[v->metric].name), "ratio",
				      json_number(v->ratio)));
	}
	return list;
}

void report_json_findings(struct json_out *w, const struct result_set *s,
	const struct report_options *opt, const struct analysis *a)
{
	json_out_list(w, "findings");
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct finding *f = &a->findings.v[i];
		json_t *o = json_object();
		struct buf subject = {0};

		finding_subject(f, &subject);
		set(o, "rule", json_text(f->rule->id));
		set(o, "title", json_text(f->rule->title));
		set(o, "severity", json_text(severity_name(f->severity)));
		set(o, "unknown", json_boolean(f->unknown));
		set(o, "subject", json_text(buf_str(&subject)));
		set(o, "run", json_integer((json_int_t)f->run));
		set(o, "host", report_json_host(s, opt, f->host));
		set(o, "layout", json_text(f->layout));
		set(o, "workload", json_text(f->workload));
		set(o, "text", json_text(f->text));
		set(o, "evidence", json_incref(f->evidence));
		json_out_value(w, NULL, o);
		json_out_drain(w);
		buf_free(&subject);
	}
	json_out_end(w);
}
