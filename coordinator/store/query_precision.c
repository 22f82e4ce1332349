/*
 * Whether a job of a run with `until` has been measured precisely enough: its run and trials are
 * read as for an export, and judged here, in a reader's thread. Owns nothing beyond a call.
 * Invariant: the judgement rests on what is stored and on nothing else, so that it is the same
 * whenever it is asked for.
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/results/export.h"
#include "coordinator/results/until.h"
#include "coordinator/store/query.h"

struct asked {
	uint64_t run, job;
	unsigned hosts;
};

static int read_target(const char *target, struct asked *ret, struct err *e)
{
	unsigned long long run, job;

	if (sscanf(target, "%llu %llu %u", &run, &job, &ret->hosts) != 3 || !run || !job)
		return err_set(e, ERR_USAGE, "'%s' names no job of a run", target);
	ret->run = run;
	ret->job = job;
	return 0;
}

static int read_lines(const struct buf *text, struct result_set *set, struct err *e)
{
	const char *at = buf_str(text);
	size_t no = 1;

	for (; *at; no++) {
		const char *end = strchrnul(at, '\n');

		if (export_read_line(set, "store", no, at, (size_t)(end - at), e) != 0)
			return -1;
		at = *end ? end + 1 : end;
	}
	return 0;
}

/* Everything an export tells about that job. */
static int read_job(
	struct db *db, const struct asked *a, struct result_set *set, struct err *e)
{
	struct buf chunk = {0};
	struct query q;
	char run[24];
	int more;

	snprintf(run, sizeof(run), "%llu", (unsigned long long)a->run);
	query_init(&q, QUERY_EXPORT, run);
	q.only_job = (int64_t)a->job;
	do {
		buf_reset(&chunk);
		more = query_step(&q, db, &chunk, e);
		if (more >= 0 && read_lines(&chunk, set, e) != 0)
			more = -1;
	} while (more > 0);
	buf_free(&chunk);
	query_clear(&q);
	return more < 0 ? -1 : export_read_end(set, e);
}

int query_precision(struct query *q, struct db *db, struct buf *out, struct err *e)
{
	struct result_set set = {0};
	struct until_judgement found;
	struct asked a;
	json_t *o;
	int r;

	if (read_target(q->target, &a, e) != 0)
		return -1;
	r = read_job(db, &a, &set, e);
	if (r == 0)
		r = until_judge(&set, a.hosts, &found, e);
	result_set_clear(&set);
	if (r != 0)
		return -1;
	o = json_object();
	json_object_set_new(o, "type", json_text("precision"));
	json_object_set_new(o, "precise", json_boolean(found.precise));
	json_object_set_new(o, "blocks", json_integer(found.blocks));
	json_object_set_new(o, "widest", json_number(found.widest));
	query_line(o, out);
	return 0;
}
