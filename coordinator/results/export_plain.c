/*
 * A trial's lines just as export_trial() writes them, of which a fleet has the most, its own and that of
 * its disks: read without a JSON value for each of their numbers. Owns nothing.
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
	return scan_is(s, ",\"telemetry\":{") && scan_members(s, &export_telemetry_table, t) &&
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
	struct export_scan s = {line, line + len, line};
	struct result_trial t = {0};

	if (!scan_trial(&s, &t)) {
		result_trial_clear(&t);
		return 0;
	}
	*ret_run = t.run;
	export_take_trial(set, &t);
	return 1;
}

static int scan_disk(struct export_scan *s, struct disk_evidence *d)
{
	int64_t errors = 0;

	*d = (struct disk_evidence){0};
	if (!scan_is(s, "{") || !scan_members(s, &export_disk_table, d) || !scan_is(s, ",\"errors\":"))
		return 0;
	d->errors_known = !scan_is(s, "null");
	if (d->errors_known && !scan_number(s, &errors))
		return 0;
	d->errors = (uint64_t)errors;
	return scan_is(s, "}");
}

/* The trial that the line is about, with its evidence; NULL where it is not there. */
static struct result_trial *scan_whose(struct export_scan *s, struct result_set *set, int64_t *ret_run)
{
	int64_t attempt, trial;
	struct result_trial *t;
	const char *host;
	size_t len;
	char *name;

	if (!scan_is(s, "{\"type\":\"trial-disks\",\"run\":") || !scan_number(s, ret_run) ||
		!scan_is(s, ",\"host\":") || !scan_plain(s, &host, &len) ||
		!scan_is(s, ",\"attempt\":") || !scan_number(s, &attempt) ||
		!scan_is(s, ",\"trial\":") || !scan_number(s, &trial) || attempt > UINT32_MAX ||
		trial > UINT32_MAX)
		return NULL;
	name = xstrndup(host, len);
	t = export_find_trial(set, (uint64_t)*ret_run,
		&(struct export_piece){name, NULL, (uint32_t)attempt, (uint32_t)trial});
	free(name);
	return t && t->sum.evidence ? t : NULL;
}

int export_read_plain_disks(struct result_set *set, const char *line, size_t len, uint64_t *ret_run)
{
	struct export_scan s = {line, line + len, line};
	struct disk_evidence *v = NULL;
	struct trial_evidence *e;
	struct result_trial *t;
	size_t n = 0, cap = 0;
	int64_t run;
	int good;

	t = scan_whose(&s, set, &run);
	if (!t || !scan_is(&s, ",\"disks\":["))
		return 0;
	e = t->sum.evidence;
	do {
		v = xgrow(v, n, &cap, sizeof(*v));
		good = scan_disk(&s, &v[n++]);
	} while (good && scan_is(&s, ","));
	good = good && scan_is(&s, "]}") && s.at == s.end && n <= EVIDENCE_DISKS_MAX - e->n_disks;
	if (good) {
		e->disks = xreallocarray(e->disks, e->n_disks + n, sizeof(*e->disks));
		memcpy(e->disks + e->n_disks, v, n * sizeof(*v));
		e->n_disks += n;
		*ret_run = (uint64_t)run;
	}
	for (size_t i = 0; i < n && !good; i++)
		disk_evidence_clear(&v[i]);
	free(v);
	return good;
}
