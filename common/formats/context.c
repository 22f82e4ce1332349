/*
 * Lines that say what the results after them are. Owns the names it keeps.
 * Invariant: a key is taken whole or is an error with its line.
 */
#include "common/formats/context.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

void context_clear(struct context *c)
{
	free(c->host);
	free(c->layout);
	free(c->workload);
	free(c->op);
	free(c->cache);
	*c = (struct context){0};
}

static const struct {
	const char *key;
	size_t offset; /* of a char * in struct context */
} texts[] = {
	{"host", offsetof(struct context, host)},
	{"layout", offsetof(struct context, layout)},
	{"workload", offsetof(struct context, workload)},
	{"op", offsetof(struct context, op)},
	{"cache", offsetof(struct context, cache)},
};

/* What a plain number under "metric: …" is. */
static const struct {
	const char *metric, *unit;
} metrics[] = {{"elapsed", "s"}, {"throughput", "B/s"}, {"ops_per_s", "ops/s"},
	{"latency_mean", "ns"}, {"latency_p50", "ns"}, {"latency_p99", "ns"},
	{"latency_p999", "ns"}, {"latency_max", "ns"}, {"cpu_per_op", "us/op"}};

static int set_metric(struct context *c, struct reader *r, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
		if (!strcmp(metrics[i].metric, value)) {
			c->metric = metrics[i].metric;
			c->unit = metrics[i].unit;
			return 1;
		}
	return reader_wrong(r,
		"metric '%.60s' is not known: elapsed, throughput, ops_per_s, latency_mean, "
		"latency_p50, latency_p99, latency_p999, latency_max or cpu_per_op",
		value);
}

static int set_bytes(struct context *c, struct reader *r, const char *value)
{
	int64_t bytes;

	if (units_parse_size(value, &bytes, r->e))
		return reader_place(r);
	if (bytes == 0)
		return reader_wrong(r, "bytes: a trial of no bytes has no throughput");
	c->bytes = (uint64_t)bytes;
	return 1;
}

static int set_data(struct context *c, struct reader *r, const char *value)
{
	if (data_told_parse(value, &c->data))
		return reader_wrong(
			r, "data '%.60s' is not known: %s%s", value, DATA_TOLD_WORDS,
			str_starts(value, "zero") ? " (did you mean zero?)" : "");
	return 1;
}

int context_set(struct context *c, struct reader *r, const char *key, const char *value)
{
	if (!strcmp(key, "metric"))
		return set_metric(c, r, value);
	if (!strcmp(key, "bytes"))
		return set_bytes(c, r, value);
	if (!strcmp(key, "data"))
		return set_data(c, r, value);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char **at = (char **)((char *)c + texts[i].offset);

		if (strcmp(texts[i].key, key) != 0)
			continue;
		if (!*value)
			return reader_wrong(r, "'%s' without a name behind it", key);
		free(*at);
		*at = clean_name(value, strlen(value));
		return 1;
	}
	return 0;
}

/* run: names everything in the text, so it stands once and first. */
static int set_run(struct reader *r, struct format_found *f, const char *value)
{
	if (!*value)
		return reader_wrong(r, "'run' without a name behind it");
	if (f->run || f->n_records)
		return reader_wrong(r, "run: one name for the whole text, before the first result");
	f->run = clean_name(value, strlen(value));
	return 1;
}

int context_line(struct context *c, struct reader *r, struct format_found *f)
{
	char *s = trim(r->s), *colon = strchr(s, ':'), key[16];
	size_t n;
	int taken;

	if (*s == '\0' || *s == '#') {
		found_unused(f, r->no, *s ? "a comment" : "blank");
		return 1;
	}
	n = colon ? (size_t)(colon - s) : 0;
	if (n == 0 || n >= sizeof(key) || (colon[1] && !isspace((unsigned char)colon[1])))
		return 0;
	memcpy(key, s, n);
	key[n] = '\0';
	taken = !strcmp(key, "run") ? set_run(r, f, skip_blanks(colon + 1))
				    : context_set(c, r, key, skip_blanks(colon + 1));
	if (taken == 1)
		found_note(f, r->no, r->no, "%s of what follows", key);
	return taken;
}

int context_unknown(struct reader *r, const char *s)
{
	static const char *const keys[] = {
		"run", "host", "layout", "workload", "op", "cache", "data", "bytes", "metric", NULL};
	char *key = xstrndup(s, strcspn(s, ":"));
	const char *near = str_nearest(key, keys);

	if (near)
		reader_wrong(r, "'%.40s:' is no key (did you mean '%s:'?)", key, near);
	else
		reader_wrong(r,
			"'%.40s:' is no key: run, host, layout, workload, op, cache, data, bytes and "
			"metric are",
			key);
	free(key);
	return -1;
}

static void fill(char **to, const char *from)
{
	if (!*to)
		*to = xstrdup(from);
}

void context_apply(const struct context *c, struct format_record *rec)
{
	fill(&rec->host, c->host);
	fill(&rec->layout, c->layout);
	fill(&rec->workload, c->workload);
	fill(&rec->op, c->op);
	fill(&rec->cache, c->cache);
	if (!rec->data.known)
		rec->data = c->data;
	if (!rec->bytes)
		rec->bytes = c->bytes;
}

const char *context_of(const struct format_record *rec, char *out, size_t len)
{
	snprintf(out, len, "%s%s%s%s", rec->layout ? " · " : "", rec->layout ? rec->layout : "",
		rec->workload ? " · " : "", rec->workload ? rec->workload : "");
	return out;
}
