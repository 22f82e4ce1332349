/*
 * What is kept of a parsed plan beside its text, so that reading results needs no plan parser of
 * the version that ran it. Owns nothing.
 *
 * {"design": "random-blocks"|"as-written"|"once", "layouts": [name, …], "workloads": [{"name",
 * "op", "kind", "headline"}, …], "baseline": index or -1, "margin": fraction, "cache": "cold",
 * "repeat": 1, "until": null or {"min": blocks, "max": blocks, "precision": fraction}}
 */
#include "common/base/json.h"
#include "common/plan/workload.h"
#include "coordinator/store/store.h"

static const char *design_word(const struct plan *p)
{
	if (p->builds == BUILDS_ONCE)
		return "once";
	return p->order == ORDER_RANDOM ? "random-blocks" : "as-written";
}

char *store_design_json(const struct plan *p)
{
	json_t *o = json_object(), *layouts = json_array(), *workloads = json_array();
	struct buf text = {0};

	for (size_t i = 0; i < p->n_layouts; i++)
		json_array_append_new(layouts, json_text(p->layouts[i].name));
	for (size_t i = 0; i < p->n_workloads; i++)
		json_array_append_new(
			workloads, json_pack("{so ss ss ss}", "name",
					   json_text(p->workloads[i].name), "op",
					   workload_op(&p->workloads[i]), "kind",
					   workload_kind_name(p->workloads[i].kind), "headline",
					   workload_headline(&p->workloads[i])));
	json_object_set_new(o, "design", json_text(design_word(p)));
	json_object_set_new(o, "layouts", layouts);
	json_object_set_new(o, "workloads", workloads);
	json_object_set_new(o, "baseline", json_integer(p->baseline));
	json_object_set_new(o, "margin", json_number(p->margin));
	json_object_set_new(o, "cache", json_text(plan_cache_name(p->cache)));
	json_object_set_new(o, "repeat", json_integer(p->repeat));
	json_object_set_new(o, "until",
		p->until > 0 ? json_pack("{si si so}", "min", (int)p->trials_min, "max",
				       (int)p->trials_max, "precision", json_number(p->until))
			     : json_null());
	json_line(o, &text);
	json_decref(o);
	return buf_take(&text);
}
