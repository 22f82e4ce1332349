/*
 * Of rule V13: runs that stand beside each other were measured on different hosts, under other
 * programs or settings, or with other caches. Owns nothing beyond a call.
 * Invariant: each host is held against itself in another run, never against another host.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"

typedef const struct result_environment *env_ref;

static const char *label_of(const struct rule_input *in, uint32_t source)
{
	return in->run->run->sources[source - 1].label;
}

static void differs(const struct rule_input *in, const char *what, const char *host,
	uint32_t source, const char *a, uint32_t other, const char *b)
{
	int many = in->run->n_hosts > 1 && host;

	finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
		json_pack("{ss ss* ss ss ss ss}", "what", what, "host", host, "source",
			label_of(in, source), "value", a, "other_source", label_of(in, other),
			"other_value", b),
		"%s%s%s: %s in %s, %s in %s", what, many ? " of " : "", many ? host : "", a,
		label_of(in, source), b, label_of(in, other));
}

/* Sources whose results have one host, or caches, that are told: the first two that differ. What some of
 * them tell and others do not is unknown; what NULL: sources with many hosts tell of none. */
static int first_two(const struct rule_input *in, const char *what, size_t offset, uint32_t ret[2],
	const char *values[2])
{
	const struct result_run *r = in->run->run;
	int found = 0, silent = 0;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		const char *now = *(char *const *)((const char *)&r->sources[i] + offset);

		silent |= !*now;
		if (!*now || found == 2 || (found && strcmp(values[0], now) == 0))
			continue;
		values[found] = now;
		ret[found++] = i + 1;
	}
	if (what && found && silent)
		finding_unknown(in, "not told by every run: %s", what);
	return found == 2;
}

/* The hosts' names stand over the tables: those of a redacted report are not to be seen here. */
static void hosts_differ(const struct rule_input *in)
{
	const char *values[2];
	uint32_t v[2];

	if (first_two(in, NULL, offsetof(struct result_source, host), v, values))
		finding_add(in, SEVERITY_WARNING, NULL, NULL, NULL,
			json_pack("{ss ss ss}", "what", "host", "source", label_of(in, v[0]),
				"other_source", label_of(in, v[1])),
			"%s and %s were measured on different hosts", label_of(in, v[0]),
			label_of(in, v[1]));
}

static void caches_differ(const struct rule_input *in)
{
	const char *values[2];
	uint32_t v[2];

	if (first_two(in, "caches", offsetof(struct result_source, cache), v, values))
		differs(in, "caches", NULL, v[0], values[0], v[1], values[1]);
}

static int by_host(const void *pa, const void *pb)
{
	env_ref a = *(const env_ref *)pa, b = *(const env_ref *)pb;
	int c = strcmp(a->host, b->host);

	return c ? c : (a->source > b->source) - (a->source < b->source);
}

/* The run's environments by host, then source. Caller frees. */
static env_ref *sorted(const struct rule_input *in, size_t *ret_n)
{
	env_ref *v = xcalloc(in->set->n_envs + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < in->set->n_envs; i++)
		if (in->set->envs[i].run == in->run->run->id && in->set->envs[i].source)
			v[n++] = &in->set->envs[i];
	if (n)
		qsort(v, n, sizeof(*v), by_host);
	*ret_n = n;
	return v;
}

/* A host that tells in one source what it does not in another. */
static int some_silent(const env_ref *v, size_t n, size_t field)
{
	int told = 0, silent = 0, both = 0;

	for (size_t i = 0; i < n; i++) {
		char *now = rule_environment_text(v[i]->inventory, field);

		if (i > 0 && strcmp(v[i]->host, v[i - 1]->host) != 0)
			told = silent = 0;
		told |= now != NULL;
		silent |= !now;
		both |= told && silent;
		free(now);
	}
	return both;
}

/* The first host that was another one in some source than in an earlier one. */
static void field_differs(const struct rule_input *in, const env_ref *v, size_t n, size_t field)
{
	char *first = NULL;
	size_t from = 0;
	int found = 0;

	if (some_silent(v, n, field))
		finding_unknown(in, "not told by every run: %s", rule_environment_name(field));
	for (size_t i = 0; i < n && !found; i++) {
		char *now = rule_environment_text(v[i]->inventory, field);

		if (i > 0 && strcmp(v[i]->host, v[i - 1]->host) != 0) {
			free(first);
			first = NULL;
		}
		found = now && first && strcmp(now, first) != 0;
		if (found)
			differs(in, rule_environment_name(field), v[i]->host, v[from]->source,
				first, v[i]->source, now);
		if (now && !first) {
			first = now;
			from = i;
		} else {
			free(now);
		}
	}
	free(first);
}

/* The same of memory, in which 0 is none told. */
static void memory_untold(const struct rule_input *in, const env_ref *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		int now = json_get_num(v[i]->inventory, "ram_bytes", 0) > 0;
		int before = json_get_num(v[i - 1]->inventory, "ram_bytes", 0) > 0;

		if (now != before && strcmp(v[i]->host, v[i - 1]->host) == 0)
			finding_unknown(in, "not told by every run: memory");
	}
}

/* Memory, in which what firmware keeps makes no difference. */
static void memory_differs(const struct rule_input *in, const env_ref *v, size_t n)
{
	size_t from = 0;

	memory_untold(in, v, n);
	for (size_t i = 0; i < n; i++) {
		double now = json_get_num(v[i]->inventory, "ram_bytes", 0), first;
		char a[UNITS_LEN], b[UNITS_LEN];

		if (i == 0 || strcmp(v[i]->host, v[from]->host) != 0 ||
			!(json_get_num(v[from]->inventory, "ram_bytes", 0) > 0))
			from = i;
		first = json_get_num(v[from]->inventory, "ram_bytes", 0);
		if (!(now > 0) || fabs(now - first) <= RULE_RAM_DIFFERS * fmax(now, first))
			continue;
		differs(in, "memory", v[i]->host, v[from]->source, units_size((int64_t)first, a),
			v[i]->source, units_size((int64_t)now, b));
		return;
	}
}

static void every_source_tells(const struct rule_input *in, const env_ref *v, size_t n)
{
	size_t sources = in->run->run->n_sources, silent = sources;
	unsigned char *tells = xcalloc(sources + 1, 1);

	for (size_t i = 0; i < n; i++) {
		silent -= !tells[v[i]->source];
		tells[v[i]->source] = 1;
	}
	free(tells);
	if (silent)
		finding_unknown(in, "no description of every host");
}

void rule_sources_differ(const struct rule_input *in)
{
	size_t n;
	env_ref *v = sorted(in, &n);

	every_source_tells(in, v, n);
	hosts_differ(in);
	caches_differ(in);
	for (size_t field = 0; rule_environment_name(field); field++)
		field_differs(in, v, n, field);
	memory_differs(in, v, n);
	free(v);
}
