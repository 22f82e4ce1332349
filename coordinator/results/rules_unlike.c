/*
 * Of rule V13: layouts, or hosts, that are compared stand on other disks, or on the same ones attached
 * otherwise. Owns nothing beyond a call.
 * Invariant: what no disk tells is none of theirs; what some tell and others do not is unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/rules.h"
#include "coordinator/results/volume_disks.h"

static const struct {
	const char *key, *name;
} fields[] = {
	{"model", "disk model"},
	{"controller", "controller"},
	{"link_speed", "link speed"},
	{"scheduler", "I/O scheduler"},
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What the volume's disks tell, each value once: "3.0 Gbit, 6.0 Gbit". Caller frees; NULL where none tells.
 * ret_silent: some do not. */
static char *values_of(const struct volume_disks *d, const char *key, int *ret_silent)
{
	const char **v = xcalloc(d->n + 1, sizeof(*v));
	struct buf out = {0};
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		const char *value = json_get_str(d->v[i].told, key, "");

		if (*value)
			v[n++] = value;
	}
	*ret_silent = n < d->n;
	if (n)
		qsort(v, n, sizeof(*v), by_text);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(v[i], v[i - 1]) != 0)
			buf_addf(&out, "%s%s", out.len ? ", " : "", v[i]);
	free(v);
	return n ? buf_take(&out) : NULL;
}

/* The first volume of a layout or of a host, and what its disks tell. */
struct first {
	const struct volume_disks *of;
	char *text;
	int silent, told; /* a difference was */
};

static void first_set(struct first *f, const struct volume_disks *of, char *text, int silent)
{
	free(f->text);
	*f = (struct first){of, text, silent, 0};
}

static void unlike_told(const struct rule_input *in, size_t field, const struct first *a,
	const struct volume_disks *b, const char *text)
{
	if (rule_compares_hosts(in))
		finding_add(in, SEVERITY_WARNING, NULL, b->layout, NULL,
			json_pack("{ss ss ss ss ss}", "what", fields[field].name, "host", a->of->host,
				"value", a->text, "other_host", b->host, "other_value", text),
			"%s: %s on %s, %s on %s", fields[field].name, a->text, a->of->host, text, b->host);
	else
		finding_add(in, SEVERITY_NOTE, b->host, NULL, NULL,
			json_pack("{ss ss ss ss ss}", "what", fields[field].name, "layout",
				a->of->layout, "value", a->text, "other_layout", b->layout,
				"other_value", text),
			"%s: %s under %s, %s under %s", fields[field].name, a->text, a->of->layout, text,
			b->layout);
}

/* Volumes of one layout on all hosts where these are compared, else all of one host. The first that differs
 * is told. */
static void check_field(const struct rule_input *in, const struct volume_disks *v, size_t n, size_t field,
	struct first *firsts)
{
	int by_host = rule_compares_hosts(in);

	for (size_t i = 0; i < n; i++) {
		struct first *f = &firsts[by_host ? v[i].layout_index : 0];
		int silent;
		char *text;

		if (!rule_inventory_of(in, v[i].host, v[i].layout_index) || !rule_volume_is_told(in, &v[i]))
			continue; /* the rule is unknown already */
		text = values_of(&v[i], fields[field].key, &silent);
		if (!f->of || (!by_host && strcmp(f->of->host, v[i].host) != 0)) {
			first_set(f, &v[i], text, silent);
			continue;
		}
		if ((silent || f->silent) && (text || f->text))
			finding_unknown(in, "no %s of every disk", fields[field].name);
		else if (!f->told && text && f->text && strcmp(text, f->text) != 0) {
			f->told = 1;
			unlike_told(in, field, f, &v[i], text);
		}
		free(text);
	}
}

void rule_disks_unlike(const struct rule_input *in)
{
	struct volume_disks *v;
	struct first *firsts;
	size_t n, layouts = in->run->run->layouts.n + 1;

	if (strcmp(in->run->run->state, "imported") == 0)
		return; /* other tools' results tell of no disks; that they do not is told elsewhere */
	volume_disks_of(in, &v, &n);
	for (size_t field = 0; field < ARRAY_LEN(fields); field++) {
		firsts = xcalloc(layouts, sizeof(*firsts));
		check_field(in, v, n, field, firsts);
		for (size_t i = 0; i < layouts; i++)
			free(firsts[i].text);
		free(firsts);
	}
	volume_disks_free(v, n);
}
