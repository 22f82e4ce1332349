/*
 * What a redacted report says of what was found: findings name hosts and disks in their texts and
 * evidence. Owns nothing beyond a call.
 * Invariant: a name that the set knows stands in no text or evidence that a renderer is given.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/export_write.h"
#include "coordinator/results/report.h"

#define DISK_SHOWN "redacted" /* in the place of what identifies a disk */

struct secret {
	const char *text; /* borrowed from the set */
	char *host;       /* what the host is called instead; NULL: of a disk */
};
struct secrets {
	struct secret *v; /* sorted by text, each once */
	size_t n, cap, longest;
};

static void add(struct secrets *s, const char *text)
{
	if (!text || !*text)
		return;
	s->v = xgrow(s->v, s->n, &s->cap, sizeof(*s->v));
	s->v[s->n++] = (struct secret){text, NULL};
	if (strlen(text) > s->longest)
		s->longest = strlen(text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct secret *)a)->text, ((const struct secret *)b)->text);
}

/* Sorted; of the same text one is left, a host's where there is one. */
static void sort_once(struct secrets *s)
{
	size_t kept = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_text);
	for (size_t i = 0; i < s->n; i++) {
		if (kept && strcmp(s->v[kept - 1].text, s->v[i].text) == 0) {
			if (!s->v[kept - 1].host)
				s->v[kept - 1].host = s->v[i].host;
			else
				free(s->v[i].host);
		} else {
			s->v[kept++] = s->v[i];
		}
	}
	s->n = kept;
}

static void add_hosts(
	struct secrets *to, const struct result_set *s, const struct report_options *o)
{
	char shown[REPORT_HOST_MAX];

	for (size_t i = 0; i < s->n_trials; i++)
		add(to, s->trials[i].host);
	for (size_t i = 0; i < s->n_envs; i++)
		add(to, s->envs[i].host);
	for (size_t i = 0; i < s->n_summaries; i++)
		add(to, s->summaries[i].host);
	for (size_t i = 0; i < s->n_stops; i++)
		add(to, s->stops[i].host);
	for (size_t i = 0; i < s->n_steps; i++)
		add(to, s->steps[i].host);
	sort_once(to);
	for (size_t i = 0; i < to->n; i++)
		to->v[i].host = xstrdup(report_host(s, o, to->v[i].text, shown));
}

/* "serial:S", and S where it stands alone. */
static void add_id(struct secrets *to, const char *id)
{
	const char *colon = id ? strchr(id, ':') : NULL;

	add(to, id);
	add(to, colon ? colon + 1 : NULL);
}

static void add_disks(struct secrets *to, const struct result_set *s)
{
	static const char *const keys[] = {"serial", "wwn", "path", "controller_path"};
	const json_t *disk;
	size_t k;

	for (size_t i = 0; i < s->n_envs; i++)
		json_array_foreach(json_object_get(s->envs[i].inventory, "disks"), k, disk)
		{
			add_id(to, json_get_str(disk, "id", NULL));
			for (size_t m = 0; m < ARRAY_LEN(keys); m++)
				add(to, json_get_str(disk, keys[m], NULL));
		}
	for (size_t i = 0; i < s->n_trials; i++) {
		const struct trial_summary *t = &s->trials[i].sum;

		for (size_t m = 0; t->n_evidence && m < t->evidence->n_disks; m++)
			add_id(to, t->evidence->disks[m].id);
		for (size_t m = 0; t->n_evidence && m < t->evidence->n_sources; m++)
			add_id(to, t->evidence->sources[m].id);
	}
}

static void secrets_clear(struct secrets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].host);
	free(s->v);
}

/* Whether a word may begin or end between the two bytes. */
static int is_edge(char before, char after)
{
	return !isalnum((unsigned char)before) || !isalnum((unsigned char)after);
}

/* The longest secret that begins here and ends with a word, or NULL. */
static const struct secret *secret_at(const struct secrets *s, const char *text, size_t at)
{
	char *word = xstrndup(text + at, s->longest);
	const struct secret *found = NULL;

	for (size_t len = strlen(word); len > 0 && !found; len--) {
		const struct secret key = {word, NULL};

		if (is_edge(text[at + len - 1], text[at + len])) {
			word[len] = '\0';
			found = bsearch(&key, s->v, s->n, sizeof(*s->v), by_text);
		}
	}
	free(word);
	return found;
}

/* Caller frees. */
static char *without(const struct secrets *s, const char *text)
{
	struct buf out = {0};

	for (size_t at = 0; text[at];) {
		const struct secret *found = NULL;

		if (at == 0 || is_edge(text[at - 1], text[at]))
			found = secret_at(s, text, at);
		if (found)
			buf_adds(&out, found->host ? found->host : DISK_SHOWN);
		else
			buf_addc(&out, text[at]);
		at += found ? strlen(found->text) : 1;
	}
	return buf_take(&out);
}

/* A copy, however deep it is: evidence is made by the rules. */
static json_t *json_without(const struct secrets *s, const json_t *v)
{
	json_t *copy, *item;
	const char *key;
	char *text;
	size_t i;

	if (json_is_string(v)) {
		text = without(s, json_string_value(v));
		copy = json_text(text);
		free(text);
	} else if (json_is_object(v)) {
		copy = json_object();
		json_object_foreach((json_t *)v, key, item)
			json_object_set_new_nocheck(copy, key, json_without(s, item));
	} else if (json_is_array(v)) {
		copy = json_array();
		json_array_foreach(v, i, item) json_array_append_new(copy, json_without(s, item));
	} else {
		copy = json_copy((json_t *)v);
	}
	return copy;
}

int report_analysis(const struct result_set *s, const struct report_options *o,
	struct analysis *ret, struct err *e)
{
	struct secrets secrets = {0};

	if (analysis_make(s, ret, e) != 0)
		return -1;
	if (!o->redact)
		return 0;
	add_hosts(&secrets, s, o);
	add_disks(&secrets, s);
	sort_once(&secrets);
	for (size_t i = 0; i < ret->findings.n; i++) {
		struct finding *f = &ret->findings.v[i];
		char *text = without(&secrets, f->text);
		json_t *evidence = json_without(&secrets, f->evidence);

		free(f->text);
		json_decref(f->evidence);
		f->text = text;
		f->evidence = evidence;
	}
	secrets_clear(&secrets);
	return 0;
}
