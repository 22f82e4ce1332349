/*
 * Validity rules: what may be wrong with a result although its numbers look fine. One table, one
 * function a rule. Pure. The reasons stand in arraymark-findings(7).
 */
#ifndef COORDINATOR_RESULTS_RULES_H
#define COORDINATOR_RESULTS_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "coordinator/results/set.h"

enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_INVALID };

struct analysis;
struct analysis_run;
struct layout;
struct rule;
struct finding {
	const struct rule *rule;
	enum severity severity;
	int unknown; /* the run lacks what the rule needs: neither broken nor kept */
	uint64_t run;
	const char *host, *layout, *workload; /* what it is about; NULL: all of them. Borrowed */
	enum metric_id metric;                /* METRIC_COUNT: of all metrics */
	char *text;                           /* says it with numbers; without the subject */
	struct json_t *evidence;              /* an object */
	/* a literal: two sides that both have it can be compared all the same, although it is invalid; or NULL */
	const char *alike;
};
struct findings {
	struct finding *v;
	size_t n, cap;
};

struct rule_input {
	const struct result_set *set;
	const struct analysis *analysis; /* its rows are there, its comparisons are not yet */
	const struct analysis_run *run;
	const struct rule *rule;
	struct findings *out;
};
struct rule {
	const char *id, *title;
	void (*check)(const struct rule_input *in);
};
extern const struct rule rule_table[];
extern const size_t rule_count;

struct workload;
/* Whether V26 reads how fast the trials of that workload went over time, out of their series. */
int rule_wants_rates(const struct workload *w);

/* Runs all rules on a run; findings are added to out, ordered by rule. */
void rules_check(const struct result_set *s, const struct analysis *a, const struct analysis_run *r,
	struct findings *out);
void findings_clear(struct findings *f);

const char *severity_name(enum severity s);
/* "hba8/load" (the host is told elsewhere), "load", "hba8", or "" for the whole run. */
void finding_subject(const struct finding *f, struct buf *out);

/* For the rules: adds a finding about host, layout, workload (NULL: all). Takes the evidence. */
struct finding *finding_add(const struct rule_input *in, enum severity severity, const char *host,
	const char *layout, const char *workload, struct json_t *evidence, const char *fmt, ...)
	__attribute__((format(printf, 7, 8)));
/* The rule cannot tell, and why; once a run and reason. */
void finding_unknown(const struct rule_input *in, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Whether a row is of the metric that its workload is judged by. */
int rule_row_is_headline(const struct rule_input *in, const struct result_row *row);
/* Calls fn for each headline row that has trials with evidence; of trials that tell nothing beside their
 * counters the rule knows nothing, and says so. fn skips these. */
void rule_each_row(const struct rule_input *in,
	void (*fn)(const struct rule_input *in, const struct result_row *row));
/* Nothing but data, and its redundancy, is on the disks of the layout's pool; 0 where there is none. */
int layout_is_only_data(const struct layout *l);
/* Whether hosts are held against each other; else layouts are, each host for itself. */
int rule_compares_hosts(const struct rule_input *in);
/* What the host told about itself before the run, or NULL. Borrowed. */
const struct json_t *rule_inventory(const struct rule_input *in, const char *host);
/* The same where runs stand beside each other, each with its own: that of the layout's run. */
const struct json_t *rule_inventory_of(
	const struct rule_input *in, const char *host, uint32_t layout);
/* What environments are held against each other by: a name for people, NULL behind the last; and its
 * value as text (caller frees), NULL where the host does not tell. */
#define RULE_RAM_DIFFERS 0.05 /* of the larger one: what firmware keeps differs by less */
const char *rule_environment_name(size_t field);
char *rule_environment_text(const struct json_t *inventory, size_t field);
/* The rows of a run: every one, in order. Needs analysis.h. */
#define FOR_ROWS(in, row)                                                                          \
	for (const struct result_row *row = (in)->analysis->rows + (in)->run->first_row,           \
				     *end_ = row + (in)->run->n_rows;                              \
		row < end_; row++)

void rule_cached_read(const struct rule_input *in);       /* V01 */
void rule_compressible(const struct rule_input *in);      /* V02 */
/* Of V02: what files tell of their data, where there is no plan. */
void rule_compressible_told(const struct rule_input *in);
/* Adds that such data was written, and that nothing tells whether the volume compresses it. */
void finding_may_compress(const struct rule_input *in, const struct data_told *d, const char *host,
	const char *layout, const char *workload);
void rule_sync_untimed(const struct rule_input *in);      /* V03 */
void rule_few_trials(const struct rule_input *in);        /* V04 */
void rule_wide_spread(const struct rule_input *in);       /* V05 */
void rule_drift(const struct rule_input *in);             /* V06 */
void rule_identical_timings(const struct rule_input *in); /* V07 */
/* Unknown, once for each tool of RAID controllers that did not tell before or after the trial of that
 * evidence (may be NULL): "storcli64 gave no answer in 20 s". Returns how many there are. */
int finding_tools(const struct rule_input *in, const struct trial_evidence *v);
void rule_maintenance(const struct rule_input *in);       /* V08 */
void rule_cache_policy(const struct rule_input *in);      /* V09 */
/* Of V09: settings that changed, and others than the plan asks for. */
void rule_settings_changed(const struct rule_input *in);
/* Of V09: whether arrays behind RAID controllers are told of; of V25: caches with a bad battery. */
void rule_arrays_told(const struct rule_input *in);
void rule_array_batteries(const struct rule_input *in);
/* Whether it is how the write cache of a RAID controller's array works. */
int setting_is_array_cache(const struct setting_evidence *s);
/* Of V25: the write caches of the disks under the layouts. */
void rule_caches_differ(const struct rule_input *in);
void rule_foreign_load(const struct rule_input *in);      /* V10 */
void rule_slow_disk(const struct rule_input *in);         /* V11 */
void rule_bound_elsewhere(const struct rule_input *in);   /* V12 */
/* Of V12: the CPUs; the disk that a dump lies on. */
void rule_cpu_bound(const struct rule_input *in);
void rule_source_bound(const struct rule_input *in);
/* Of V12: work at a pace that the plan sets, judged by it; of V26: a pace that was not kept. */
void rule_paced(const struct rule_input *in);
void rule_pace_lost(const struct rule_input *in);
void rule_environments(const struct rule_input *in);      /* V13 */
/* Of V13: what the trials of a workload took. */
void rule_inputs_differ(const struct rule_input *in);
/* Of V13: layouts, or hosts where these are compared, stand on disks of other kinds. */
void rule_disks_unlike(const struct rule_input *in);
struct volume_disks;
/* A volume of real disks whose host told about each of them; of others the rule is unknown, but for scratch
 * disks, of which there is nothing to know. */
int rule_volume_is_told(const struct rule_input *in, const struct volume_disks *d);
/* Of V13: what files tell of the data of their trials. */
void rule_data_differ(const struct rule_input *in);
/* Of V13: where and how the runs were measured that stand beside each other. */
void rule_sources_differ(const struct rule_input *in);
void rule_sectors(const struct rule_input *in);           /* V14 */
void rule_nearly_full(const struct rule_input *in);       /* V15 */
void rule_layouts_unlike(const struct rule_input *in);    /* V16 */
void rule_order(const struct rule_input *in);             /* V17 */
void rule_small_data(const struct rule_input *in);        /* V18 */
void rule_clock_set(const struct rule_input *in);         /* V19 */
void rule_samples_missing(const struct rule_input *in);   /* V20 */
void rule_disk_errors(const struct rule_input *in);       /* V21 */
void rule_throttled(const struct rule_input *in);         /* V22 */
void rule_these_builds(const struct rule_input *in);      /* V23 */
void rule_spread_bounded(const struct rule_input *in);    /* V24 */
void rule_sync_differs(const struct rule_input *in);      /* V25 */
void rule_not_steady(const struct rule_input *in);        /* V26 */
void rule_two_clusters(const struct rule_input *in);      /* V27 */
void rule_shingled(const struct rule_input *in);          /* V28 */
void rule_one_machine(const struct rule_input *in);       /* V29 */

#endif
