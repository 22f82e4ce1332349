/*
 * WATCH's lines -> struct view. Owns the strings of the view.
 * Invariant: every string is escaped when it enters, so that rendering cannot forget it.
 */
#include "coordinator/ctl/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/print.h"

#define VIEW_MAX_JOBS 100000

static void put(char **field, const json_t *line, const char *key)
{
	free(*field);
	*field = print_safe_dup(json_get_str(line, key, ""));
}

static void put_list(struct strv *list, const json_t *names)
{
	size_t i;
	const json_t *v;

	strv_free(list);
	json_array_foreach(names, i, v)
		strv_add_owned(list, print_safe_dup(json_is_string(v) ? json_string_value(v) : ""));
}

static void feed_run(struct view *v, const json_t *line)
{
	v->run = (uint64_t)json_get_int(line, "run", 0);
	put(&v->name, line, "name");
	put(&v->state, line, "state");
	put_list(&v->workloads, json_object_get(line, "workloads"));
}

static struct view_job *job_get(struct view *v, uint64_t id)
{
	struct view_job *j;

	for (size_t i = 0; i < v->n_jobs; i++)
		if (v->jobs[i].job == id)
			return &v->jobs[i];
	if (v->n_jobs == VIEW_MAX_JOBS)
		return NULL;
	v->jobs = xgrow(v->jobs, v->n_jobs, &v->cap, sizeof(*v->jobs));
	j = &v->jobs[v->n_jobs++];
	memset(j, 0, sizeof(*j));
	j->job = id;
	return j;
}

static int64_t workload_index(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->workloads.n; i++)
		if (!strcmp(v->workloads.v[i], name))
			return (int64_t)i;
	return 0;
}

/* How far the present build is, as its phase tells; between two workloads that is nothing. */
static double unit_part(const struct view *v, const struct view_job *j)
{
	double trial = 0;

	if (!strcmp(j->phase, "teardown"))
		return 1;
	if (strcmp(j->phase, "workload") || !v->workloads.n)
		return 0;
	if (j->planned_bytes > 0)
		trial = fmin(1, (double)j->bytes / (double)j->planned_bytes);
	return ((double)j->workload_index + trial) / (double)v->workloads.n;
}

static void feed_job(struct view *v, const json_t *line, int64_t now_ns)
{
	struct view_job *j = job_get(v, (uint64_t)json_get_int(line, "job", 0));

	if (!j)
		return;
	if (json_get_int(line, "units_done", 0) != j->units_done ||
		json_get_int(line, "block", 0) != j->block ||
		json_get_int(line, "position", 0) != j->position)
		j->unit_part = 0;
	put(&j->host, line, "host");
	put(&j->state, line, "state");
	put(&j->why, line, "why");
	put(&j->layout, line, "layout");
	put(&j->phase, line, "phase");
	put(&j->what, line, "what");
	put(&j->workload, line, "workload");
	put(&j->headline, line, "headline");
	j->online = json_get_bool(line, "online", 0);
	j->units_done = json_get_int(line, "units_done", 0);
	j->units = json_get_int(line, "units", 0);
	j->block = json_get_int(line, "block", 0);
	j->blocks = json_get_int(line, "blocks", 0);
	j->least_blocks = json_get_int(line, "least_blocks", 0);
	j->position = json_get_int(line, "position", 0);
	j->layouts = json_get_int(line, "layouts", 0);
	j->bytes = json_get_int(line, "bytes", 0);
	j->planned_bytes = json_get_int(line, "planned_bytes", 0);
	j->rate = json_get_num(line, "rate", NAN);
	j->ops_rate = json_get_num(line, "ops_rate", NAN);
	j->left_s = json_get_num(line, "left_s", NAN);
	j->workload_index = workload_index(v, j->workload);
	j->unit_part = fmax(j->unit_part, unit_part(v, j));
	j->at_ns = now_ns;
}

static void feed_event(const json_t *line, struct view_event *ret)
{
	const char *kind = json_get_str(line, "event", "");
	struct buf at = {0};

	ret->what = VIEW_EVENT;
	ret->ok = json_get_bool(line, "ok", 1);
	ret->important = !ret->ok || !strcmp(kind, "stop") ||
			 (!strcmp(kind, "job") &&
				 strcmp(json_get_str(line, "text", ""), "running"));
	print_time(json_get_str(line, "at", NULL), &at);
	/* the time of day is enough for who follows it */
	buf_adds(&ret->line, at.len == 19 ? at.data + 11 : buf_str(&at));
	buf_addc(&ret->line, ' ');
	print_safe(json_get_str(line, "host", "-"), &ret->line);
	buf_adds(&ret->line, ": ");
	print_safe(json_get_str(line, "text", kind), &ret->line);
	buf_free(&at);
}

void view_feed(struct view *v, const json_t *line, int64_t now_ns, struct view_event *ret)
{
	const char *type = json_get_str(line, "type", "");

	memset(ret, 0, sizeof(*ret));
	if (!strcmp(type, "run")) {
		feed_run(v, line);
		ret->what = VIEW_RUN;
	} else if (!strcmp(type, "job")) {
		feed_job(v, line, now_ns);
		ret->what = VIEW_PROGRESS;
	} else if (!strcmp(type, "event")) {
		feed_event(line, ret);
	}
}

void view_clear(struct view *v)
{
	for (size_t i = 0; i < v->n_jobs; i++) {
		struct view_job *j = &v->jobs[i];

		free(j->host);
		free(j->state);
		free(j->why);
		free(j->layout);
		free(j->phase);
		free(j->what);
		free(j->workload);
		free(j->headline);
	}
	free(v->jobs);
	free(v->name);
	free(v->state);
	strv_free(&v->workloads);
	memset(v, 0, sizeof(*v));
}

int view_is_over(const struct view *v)
{
	return v->state && (!strcmp(v->state, "done") || !strcmp(v->state, "failed") ||
				   !strcmp(v->state, "cancelled"));
}
