/*
 * One job of fio -> sides. Owns nothing.
 * Invariant: counts are whole and not negative, times are ns, whatever version wrote them.
 *
 * fio >= 3 prints ns under clat_ns and lat_ns and bytes under io_bytes; older versions print us
 * under clat and lat, and KiB under io_bytes. bw is KiB/s in all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/formats/fio.h"
#include "common/measure/hist.h"

#define COUNT_MAX 9e15 /* whole numbers that a double keeps exactly */
#define HIST_COUNT_MAX (UINT64_C(1) << 56) /* as hist_decode() */

static const char *const ops[] = {"read", "write", "trim", "mixed"};

static int wrong(const char *name, size_t line, struct err *e, const char *job, const char *what)
{
	return err_set(e, ERR_INPUT, "%s:%zu: fio job '%.60s': %s", name, line, job, what);
}

static double number(const json_t *o, const char *key)
{
	return json_get_num(o, key, 0);
}

/* Bytes of a direction in this document. */
static double bytes_of(const json_t *d)
{
	double bytes = number(d, "io_bytes"), seconds = number(d, "runtime") / 1e3;
	double printed = number(d, "bw") * 1024 * seconds;

	if (json_object_get(d, "io_kbytes") || !(printed > 0) || !(bytes > 0))
		return bytes;
	/* Before fio 3 these were KiB: which reading agrees with bw? */
	return fabs(log(bytes * 1024 / printed)) < fabs(log(bytes / printed)) ? bytes * 1024
									      : bytes;
}

static double percentile(const json_t *section, const char *key, double scale)
{
	return json_get_num(json_object_get(section, "percentile"), key, 0) * scale;
}

/* fio's last bin holds whatever was longer; one of its entries is known to be the maximum. */
static void fit_maximum(struct hist *h, uint64_t max)
{
	unsigned last = h->hi - 1;

	if (hist_index(max) <= last) {
		if (hist_index(max) == last)
			h->max = max;
		return;
	}
	h->bucket[last]--;
	h->count--;
	if (h->count == 0) {
		hist_clear(h);
	} else {
		while (h->bucket[h->hi - 1] == 0)
			h->hi--;
	}
	hist_add(h, max);
}

/* Bins that fio_lean() left as they were, into h. */
static int read_bins(json_t *bins, struct hist *h)
{
	const char *key;
	json_t *value;

	hist_clear(h);
	json_object_foreach(bins, key, value)
	{
		char *end;
		unsigned long long ns = strtoull(key, &end, 10);
		double n = json_number_value(value);

		if (*end || end == key || *key == '-' || !json_is_number(value) || n < 0 ||
			n > COUNT_MAX || floor(n) != n)
			return -1;
		if (n > 0)
			hist_add_n(h, ns, (uint64_t)n);
	}
	return 0;
}

/* The bins as a histogram, in the table or in the table's extra place; NULL when there are none.
 * *ret_bad: a bin that is no count. */
static struct hist *bins_of(const json_t *section, struct fio_bins *table, int *ret_bad)
{
	json_t *bins = json_object_get(section, "bins");
	struct hist *h = NULL;
	double min = number(section, "min"), max = number(section, "max"), sum;

	if (json_is_integer(bins)) {
		json_int_t i = json_integer_value(bins);

		h = i >= 0 && (size_t)i < table->n ? table->v[i] : NULL;
	} else if (json_is_object(bins)) {
		h = xmalloc(sizeof(*h));
		table->v = xgrow(table->v, table->n, &table->cap, sizeof(*table->v));
		table->v[table->n++] = h;
		*ret_bad = read_bins(bins, h) != 0;
	}
	if (!h || *ret_bad || h->count == 0)
		return NULL;
	if (h->count > HIST_COUNT_MAX) {
		*ret_bad = 1;
		return NULL;
	}
	if (max >= (double)h->min && max < COUNT_MAX)
		fit_maximum(h, (uint64_t)max);
	if (min >= 0 && min < COUNT_MAX && hist_index((uint64_t)min) == h->lo)
		h->min = (uint64_t)min;
	sum = number(section, "mean") * (double)h->count;
	if (sum >= (double)h->min * (double)h->count && sum <= (double)h->max * (double)h->count &&
		sum < 1.8e19)
		h->sum = (uint64_t)sum;
	return h;
}

static int take_bins(const json_t *section, struct fio_bins *table, struct fio_side *s)
{
	struct buf bytes = {0};
	struct hist *h;
	int bad = 0;

	h = bins_of(section, table, &bad);
	if (bad)
		return -1;
	if (!h)
		return 0;
	hist_encode(h, &bytes);
	s->hist_len = bytes.len;
	s->hist = buf_take(&bytes);
	return 0;
}

/* Completion latency unless only the total one has percentiles. */
static int latency_of(const json_t *d, struct fio_bins *table, struct fio_side *s)
{
	static const struct {
		const char *key;
		double scale;
	} sections[] = {{"clat_ns", 1}, {"lat_ns", 1}, {"clat", 1e3}, {"lat", 1e3}};
	const json_t *best = NULL;
	double scale = 1;

	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		const json_t *o = json_object_get(d, sections[i].key);

		if (!(number(o, "max") > 0))
			continue;
		if (best &&
			(json_object_get(best, "percentile") || !json_object_get(o, "percentile")))
			continue;
		best = o;
		scale = sections[i].scale;
	}
	if (!best)
		return 0;
	s->lat_step = scale > 1 ? scale : 0;
	s->lat_n = json_get_num(best, "N", (double)s->ops);
	s->lat_mean = number(best, "mean") * scale;
	s->lat_max = number(best, "max") * scale;
	/* Each is the middle of a bin, and may lie above the maximum, which is exact. */
	s->p50 = fmin(percentile(best, "50.000000", scale), s->lat_max);
	s->p99 = fmin(percentile(best, "99.000000", scale), s->lat_max);
	s->p999 = fmin(percentile(best, "99.900000", scale), s->lat_max);
	return scale == 1 ? take_bins(best, table, s) : 0;
}

/* When fio and the job started. job_start may be of another clock than that of the day
 * (job_start_clock_id): then it only tells jobs apart. */
static void take_starts(const struct fio_place *p, const json_t *job, struct fio_side *s)
{
	double ms = number(job, "job_start"), elapsed = number(job, "elapsed") * 1e3;

	s->job_start_ms = ms > 0 && ms < COUNT_MAX ? (int64_t)ms : 0;
	if (p->written_ms > 0 && elapsed > 0 && elapsed < (double)p->written_ms)
		s->fio_start_ms = p->written_ms - (int64_t)elapsed;
	if (!(ms > 1e12) && p->written_ms > 0)
		ms = (double)p->written_ms - s->runtime_ms;
	s->started_wall_ns = ms > 0 && ms < 4e12 ? (int64_t)ms * 1000000 : 0;
}

/* The first of the members that is there and no number from 0 on; NULL: there is none. */
static const char *wrong_number(const json_t *o, const char *const *keys)
{
	for (; *keys; keys++) {
		const json_t *v = json_object_get(o, *keys);

		if (v && !(json_is_number(v) && json_number_value(v) >= 0))
			return *keys;
	}
	return NULL;
}

/* What is computed with is a number: nothing is taken as 0 for being something else. */
static int check_side(const struct fio_place *p, const json_t *d, const char *op, const char *job)
{
	static const char *const counts[] = {
		"io_bytes", "io_kbytes", "bw", "iops", "runtime", "total_ios", NULL};
	static const char *const of_section[] = {"min", "max", "mean", "N", NULL};
	static const char *const of_percentiles[] = {"50.000000", "99.000000", "99.900000", NULL};
	static const char *const sections[] = {"clat_ns", "lat_ns", "clat", "lat"};
	const char *key = json_is_object(d) ? wrong_number(d, counts) : "";
	const char *in = "";

	for (size_t i = 0; i < ARRAY_LEN(sections) && !key; i++) {
		const json_t *o = json_object_get(d, sections[i]);

		in = sections[i];
		key = wrong_number(o, of_section);
		key = key ? key : wrong_number(json_object_get(o, "percentile"), of_percentiles);
	}
	if (!key)
		return 0;
	return err_set(p->e, ERR_INPUT, "%s:%zu: fio job '%.60s': %s%s%s%s%s is no %s", p->name, p->line,
		job, op, *in ? "." : "", in, *key ? "." : "", key,
		*key ? "number from 0 on" : "object");
}

static int take_side(const struct fio_place *p, const json_t *o, const char *op,
	struct fio_bins *table, struct fio_side *s)
{
	const json_t *d = json_object_get(o, op);
	const char *job = json_get_str(o, "jobname", "");
	const char *host = json_get_str(o, "hostname", NULL);
	double bytes = bytes_of(d), total = number(d, "total_ios"), error = number(o, "error");

	*s = (struct fio_side){.op = op, .line = p->line, .jobs = 1};
	if (check_side(p, d, op, job))
		return -1;
	s->runtime_ms = number(d, "runtime");
	if (bytes < 0 || bytes > COUNT_MAX || total < 0 || total > COUNT_MAX || s->runtime_ms < 0)
		return wrong(p->name, p->line, p->e, job, "negative or impossible counts");
	if (!(total > 0))
		total = number(d, "iops") * s->runtime_ms / 1e3;
	s->bytes = (uint64_t)bytes;
	s->ops = total > 0 && total < COUNT_MAX ? (uint64_t)(total + 0.5) : 0;
	s->error = error > -1e6 && error < 1e6 ? (int)error : -1;
	s->group = (long)fmin(number(o, "groupid"), 1e6);
	s->passed = number(o, "total_err");
	take_starts(p, o, s);
	if (latency_of(d, table, s))
		return wrong(p->name, p->line, p->e, job, "bins that are no histogram");
	s->job = clean_name(*job ? job : "job", strlen(*job ? job : "job"));
	s->host = host ? clean_name(host, strlen(host)) : NULL;
	return 0;
}

/* fio adds a job "All clients" whose host name is that of whoever reported last. */
static int is_sum_of_clients(const json_t *job, size_t jobs)
{
	return jobs > 1 && !strcmp(json_get_str(job, "jobname", ""), "All clients");
}

/* They are no reads and no writes. */
static void take_syncs(const json_t *job, struct fio_sides *out)
{
	const json_t *lat = json_object_get(json_object_get(job, "sync"), "lat_ns");
	double n = number(lat, "N"), mean = number(lat, "mean");

	if (n > 0 && n < COUNT_MAX && mean >= 0 && mean < COUNT_MAX) {
		out->syncs += n;
		out->sync_ns += n * mean;
	}
}

/* What a job that did nothing was to do, as far as its options say so. */
static const char *op_meant(const json_t *job)
{
	const char *rw = json_get_str(json_object_get(job, "job options"), "rw", "");

	if (!*rw)
		rw = json_get_str(json_object_get(job, "job options"), "readwrite", "");
	if (json_object_get(job, "mixed") && !json_object_get(job, "read"))
		return "mixed";
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (strstr(rw, ops[i]))
			return ops[i];
	return ops[0];
}

/* A job that failed before it did anything says so once. */
static int take_sides(
	const struct fio_place *p, const json_t *job, struct fio_bins *table, struct fio_sides *out)
{
	const char *meant = op_meant(job);
	struct fio_side s, none = {0};
	int some = 0;

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (!json_object_get(job, ops[i]))
			continue;
		if (take_side(p, job, ops[i], table, &s)) {
			fio_side_clear(&none);
			return -1;
		}
		if (s.bytes > 0 || s.ops > 0) {
			some = 1;
			fio_add(out, p->from, &s);
		} else if (s.error && (!none.job || !strcmp(ops[i], meant))) {
			fio_side_clear(&none);
			none = s;
		} else {
			fio_side_clear(&s);
		}
	}
	if (none.job && !some)
		fio_add(out, p->from, &none);
	else
		fio_side_clear(&none);
	return 0;
}

int fio_json_job(const struct fio_place *p, const json_t *job, struct fio_bins *table,
	struct fio_sides *out)
{
	if (!json_is_object(job))
		return err_set(
			p->e, ERR_INPUT, "%s:%zu: a fio job that is no object", p->name, p->line);
	if (is_sum_of_clients(job, p->jobs))
		return 0;
	if (json_object_get(job, "error") && !json_is_number(json_object_get(job, "error")))
		return wrong(p->name, p->line, p->e, json_get_str(job, "jobname", ""),
			"error is no number");
	take_syncs(job, out);
	return take_sides(p, job, table, out);
}

int64_t fio_json_written_ms(const json_t *doc)
{
	double ms = number(doc, "timestamp_ms");

	if (!(ms > 0))
		ms = number(doc, "timestamp") * 1e3;
	return ms > 0 && ms < 4e12 ? (int64_t)ms : 0;
}
