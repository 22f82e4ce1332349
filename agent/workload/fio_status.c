/* From fio's documents to samples and a result. Owns the last document's sides and histograms. */
#include "agent/workload/fio_status.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define DOCUMENT_MAX (32u << 20)

void fio_status_init(struct fio_status *s, const struct fio_jobs *jobs, workload_cut *cut, void *arg)
{
	*s = (struct fio_status){.jobs = jobs, .cut = cut, .cut_arg = arg};
	s->hist = xcalloc(1, sizeof(*s->hist));
	s->now = xcalloc(1, sizeof(*s->now));
	s->step = xcalloc(1, sizeof(*s->step));
	s->side = xcalloc(1, sizeof(*s->side));
}

void fio_status_clear(struct fio_status *s)
{
	fio_sides_clear(&s->sides);
	buf_free(&s->text);
	buf_free(&s->wire);
	free(s->hist);
	free(s->now);
	free(s->step);
	free(s->side);
	*s = (struct fio_status){0};
}

static const struct fio_job *job_of(const struct fio_status *s, const struct fio_side *side,
	size_t *ret_index)
{
	for (size_t i = 0; i < s->jobs->n; i++)
		if (strcmp(s->jobs->v[i].name, side->job) == 0) {
			*ret_index = i;
			return &s->jobs->v[i];
		}
	return NULL;
}

/* While a job ramps up fio counts its operations but not their latencies, and starts from 0
 * afterwards. */
static int is_ramping(const struct fio_status *s, const struct fio_side *side)
{
	size_t i;
	const struct fio_job *j = job_of(s, side, &i);

	return j && fio_job_get(j, "ramp_time") && !(side->lat_n > 0);
}

/* In which a job ran: stages follow each other, the jobs of one run at the same time. */
static int64_t elapsed_ns(const struct fio_status *s, int last)
{
	int64_t took_ns[FIO_MAX_JOBS] = {0};
	struct fio_time time;

	for (size_t k = 0; k < s->sides.n; k++) {
		int64_t ns = (int64_t)(s->sides.v[k].runtime_ms * NS_PER_MS);
		size_t i;

		if (job_of(s, &s->sides.v[k], &i) && (last || !is_ramping(s, &s->sides.v[k])) &&
			ns > took_ns[i])
			took_ns[i] = ns;
	}
	fio_jobs_time(s->jobs, took_ns, &time);
	return time.ran_ns;
}

/* Into `side`; 0: it has none. */
static int read_hist(struct fio_status *s, const struct fio_side *side)
{
	struct err ignored;

	return side->hist && hist_decode(side->hist, side->hist_len, s->side, &ignored) == 0;
}

static void sum_up(struct fio_status *s, int last, uint64_t *ret_ops, uint64_t *ret_bytes)
{
	uint64_t ops = 0, bytes = 0;

	hist_clear(s->now);
	for (size_t i = 0; i < s->sides.n; i++) {
		const struct fio_side *side = &s->sides.v[i];

		if (!last && is_ramping(s, side))
			continue;
		ops += side->ops;
		bytes += side->bytes;
		if (read_hist(s, side))
			hist_merge(s->now, s->side);
	}
	*ret_ops = ops;
	*ret_bytes = bytes;
}

/* What is in `now` and not in `hist`. fio's bins are our buckets: only the longest of all may have
 * moved into another one. */
static void make_step(struct fio_status *s)
{
	hist_clear(s->step);
	for (unsigned i = s->now->lo; i < s->now->hi; i++)
		if (s->now->bucket[i] > s->hist->bucket[i])
			hist_add_n(s->step, hist_bucket_mid(i), s->now->bucket[i] - s->hist->bucket[i]);
}

static void cut(struct fio_status *s, int last)
{
	struct sample out = {0};
	uint64_t ops, bytes;
	int64_t now = elapsed_ns(s, last);

	sum_up(s, last, &ops, &bytes);
	if (!last && (now <= s->end_ns || ops < s->ops || bytes < s->bytes))
		return;
	if (last && s->end_ns > 0 && now <= s->end_ns && ops == s->ops && bytes == s->bytes)
		return; /* the last document was cut already */
	if (now <= s->end_ns)
		now = s->end_ns + 1;
	make_step(s);
	out.start_ns = s->end_ns;
	out.end_ns = now;
	out.ops = ops > s->ops ? ops - s->ops : 0;
	out.bytes = bytes > s->bytes ? bytes - s->bytes : 0;
	buf_reset(&s->wire);
	hist_encode(s->step, &s->wire);
	out.hist = s->wire.data;
	out.hist_len = s->wire.len;
	s->cut(s->cut_arg, &out);
	s->ops = ops;
	s->bytes = bytes;
	s->end_ns = now;
	*s->hist = *s->now;
}

static void take_document(struct fio_status *s)
{
	struct fio_sides sides = {0};
	int64_t written_ms;
	size_t used;

	if (fio_document("fio", 1, s->text.data, s->text.len, &sides, &used, &written_ms, &s->wrong)) {
		fio_sides_clear(&sides);
		return;
	}
	fio_sides_clear(&s->sides);
	s->sides = sides;
	s->documents++;
	cut(s, 0);
}

/* Braces outside of strings count; what stands between documents is passed over. */
static void feed_char(struct fio_status *s, char c)
{
	if (s->depth == 0 && c != '{')
		return;
	buf_addc(&s->text, c);
	if (s->in_string) {
		s->in_string = s->escaped || c != '"';
		s->escaped = !s->escaped && c == '\\';
		return;
	}
	s->in_string = c == '"';
	s->depth += (c == '{') - (c == '}');
	if (s->depth > 0 && s->text.len < DOCUMENT_MAX)
		return;
	if (s->depth == 0)
		take_document(s);
	else
		err_set(&s->wrong, ERR_INPUT, "fio's output has no end");
	s->depth = 0;
	buf_reset(&s->text);
}

void fio_status_feed(struct fio_status *s, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		feed_char(s, data[i]);
}

/* fio gives a job's error to all its directions: to those that did nothing, too. */
static int says_nothing(const struct fio_status *s, size_t i)
{
	const struct fio_side *side = &s->sides.v[i];

	for (size_t k = 0; side->ops == 0 && k < s->sides.n; k++)
		if (k != i && strcmp(s->sides.v[k].job, side->job) == 0)
			return 1;
	return 0;
}

static void add_parts(struct fio_status *s, struct workload_result *ret)
{
	for (size_t i = 0; i < s->sides.n; i++) {
		const struct fio_side *side = &s->sides.v[i];
		struct trial_part *p;
		char *name;

		if (says_nothing(s, i))
			continue;
		name = xasprintf("%s %s", side->job, side->op);
		p = detail_part(&ret->detail, "job", name, read_hist(s, side) ? s->side : NULL);
		p->ops += side->ops;
		p->bytes += side->bytes;
		p->errors += side->error != 0;
		p->elapsed_ns = (int64_t)(side->runtime_ms * NS_PER_MS);
		ret->errors += side->error != 0;
		free(name);
	}
	if (s->sides.syncs > 0) {
		detail_fact(&ret->detail, "sync_ops", s->sides.syncs, "");
		detail_fact(&ret->detail, "sync_latency_mean", s->sides.sync_ns / s->sides.syncs, "ns");
	}
}

int fio_status_finish(struct fio_status *s, struct workload_result *ret, struct err *e)
{
	if (s->documents == 0) {
		if (s->wrong.code != ERR_NONE)
			err_copy(e, &s->wrong);
		else
			err_set(e, ERR_INPUT, "fio printed no result");
		return -1;
	}
	cut(s, 1);
	ret->ops = s->ops;
	ret->bytes = s->bytes;
	ret->elapsed_ns = s->end_ns;
	ret->hist = *s->hist;
	add_parts(s, ret);
	return 0;
}
