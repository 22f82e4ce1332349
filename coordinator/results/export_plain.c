/*
 * A trial's line just as export_trial() writes it, of which a fleet has the most: read without a JSON
 * value for each of its numbers. Owns nothing.
 * Invariant: a line that is taken here gives the trial that the JSON reader would have given.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_scan.h"

#define EVIDENCE_MAX (1024 * 1024)

static int scan_telemetry(struct export_scan *s, struct telemetry *t)
{
	const struct field_table *all = &export_telemetry_table, rest = {all->v + 1, all->n - 1};
	int64_t disks;

	/* the first member has no comma */
	return scan_is(s, ",\"telemetry\":{\"disks\":") && scan_number(s, &disks) &&
	       export_field_take_count(&all->v[0], disks, t) && scan_members(s, &rest, t) &&
	       scan_is(s, "}");
}

/* Its evidence may be anything: it goes through the JSON reader by itself. */
static int scan_evidence(struct export_scan *s, struct result_trial *t)
{
	struct export_line l = {.name = ""};
	const char *from, *to;
	struct err ignored;
	json_t *v, *o;
	int bad;

	if (!scan_is(s, ",\"evidence\":"))
		return 0;
	if (scan_is(s, "null"))
		return 1;
	if (!scan_object(s, &from, &to) ||
		json_parse("", from, (size_t)(to - from), EVIDENCE_MAX, &v, &ignored))
		return 0;
	o = json_object();
	json_object_set_new_nocheck(o, "evidence", v);
	l.o = o;
	bad = export_evidence_read(&l, &t->sum.evidence, &ignored);
	json_decref(o);
	t->sum.n_evidence = t->sum.evidence != NULL;
	return !bad;
}

static int scan_trial(struct export_scan *s, struct result_trial *t)
{
	int64_t run;

	if (!scan_is(s, "{\"type\":\"trial\",\"run\":") || !scan_number(s, &run) || run < 1)
		return 0;
	t->run = (uint64_t)run;
	if (!scan_members(s, &export_trial_table, t) || !scan_telemetry(s, &t->sum.tele) ||
		!export_hist_scan(s, &t->sum.hist, &t->sum.hist_len) || !scan_evidence(s, t) ||
		!scan_is(s, "}") || s->at != s->end)
		return 0;
	/* a trial that went well has no error, one that did not has a text for it */
	return t->sum.ok == (t->sum.error == NULL);
}

int export_read_plain_trial(struct result_set *set, const char *line, size_t len, uint64_t *ret_run)
{
	struct export_scan s = {line, line + len};
	struct result_trial t = {0};

	if (!scan_trial(&s, &t)) {
		result_trial_clear(&t);
		return 0;
	}
	*ret_run = t.run;
	export_take_trial(set, &t);
	return 1;
}
