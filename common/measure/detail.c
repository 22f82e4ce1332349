/* Filling, fitting and freeing of what a trial tells beside its counters. */
#include "common/measure/detail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define ROW_COST 64 /* numbers and framing of a row on the wire, at most */

static void part_clear(struct trial_part *p)
{
	free(p->name);
	free(p->kind);
	free(p->hist);
	*p = (struct trial_part){0};
}

static void fact_clear(struct trial_fact *f)
{
	free(f->name);
	free(f->unit);
}

struct trial_part *detail_part(
	struct trial_detail *d, const char *kind, const char *name, const struct hist *hist)
{
	struct trial_part *p;
	struct buf wire = {0};

	if (d->n_parts == DETAIL_MAX_PARTS) {
		d->dropped++;
		part_clear(&d->rest);
		return &d->rest;
	}
	d->parts = xreallocarray(d->parts, d->n_parts + 1, sizeof(*d->parts));
	p = &d->parts[d->n_parts++];
	*p = (struct trial_part){.name = xstrdup(name), .kind = xstrdup(kind)};
	if (hist) {
		hist_encode(hist, &wire);
		p->hist_len = wire.len;
		p->hist = buf_take(&wire);
	}
	return p;
}

void detail_fact(struct trial_detail *d, const char *name, double value, const char *unit)
{
	size_t room = strcmp(name, DETAIL_DROPPED) ? DETAIL_MAX_FACTS - 1 : DETAIL_MAX_FACTS;

	if (!isfinite(value))
		return;
	if (d->n_facts >= room) {
		d->dropped++;
		return;
	}
	d->facts = xreallocarray(d->facts, d->n_facts + 1, sizeof(*d->facts));
	d->facts[d->n_facts++] = (struct trial_fact){xstrdup(name), xstrdup(unit), value};
}

void detail_note(struct trial_detail *d, const char *name, const char *text)
{
	size_t len = strlen(text);

	if (d->n_notes == DETAIL_MAX_NOTES) {
		d->dropped++;
		return;
	}
	if (len > DETAIL_NOTE_MAX)
		text += len - DETAIL_NOTE_MAX;
	d->notes = xreallocarray(d->notes, d->n_notes + 1, sizeof(*d->notes));
	d->notes[d->n_notes++] = (struct trial_note){xstrdup(name), xstrdup(text)};
}

const struct trial_fact *detail_find_fact(const struct trial_detail *d, const char *name)
{
	for (size_t i = 0; i < d->n_facts; i++)
		if (strcmp(d->facts[i].name, name) == 0)
			return &d->facts[i];
	return NULL;
}

static size_t cost(const struct trial_detail *d)
{
	size_t sum = 0;

	for (size_t i = 0; i < d->n_parts; i++)
		sum += ROW_COST + strlen(d->parts[i].name) + strlen(d->parts[i].kind) +
		       d->parts[i].hist_len;
	for (size_t i = 0; i < d->n_facts; i++)
		sum += ROW_COST + strlen(d->facts[i].name) + strlen(d->facts[i].unit);
	for (size_t i = 0; i < d->n_notes; i++)
		sum += ROW_COST + strlen(d->notes[i].name) + strlen(d->notes[i].text);
	return sum + ROW_COST + sizeof(DETAIL_DROPPED);
}

/* Whoever fitted it before has told of others. */
static void tell_dropped(struct trial_detail *d)
{
	size_t i = 0;

	while (i < d->n_facts && strcmp(d->facts[i].name, DETAIL_DROPPED))
		i++;
	if (i < d->n_facts)
		d->facts[i].value += (double)d->dropped;
	else
		detail_fact(d, DETAIL_DROPPED, (double)d->dropped, "");
	d->dropped = 0;
}

void detail_fit(struct trial_detail *d)
{
	for (size_t i = d->n_parts; i > 0 && cost(d) > DETAIL_BYTES_MAX; i--) {
		free(d->parts[i - 1].hist);
		d->parts[i - 1].hist = NULL;
		d->parts[i - 1].hist_len = 0;
	}
	for (size_t i = d->n_notes; i > 0 && cost(d) > DETAIL_BYTES_MAX; i--)
		d->notes[i - 1].text[0] = '\0';
	for (; d->n_facts > 0 && cost(d) > DETAIL_BYTES_MAX; d->dropped++)
		fact_clear(&d->facts[--d->n_facts]);
	for (; d->n_parts > 0 && cost(d) > DETAIL_BYTES_MAX; d->dropped++)
		part_clear(&d->parts[--d->n_parts]);
	if (d->dropped)
		tell_dropped(d);
}

void detail_clear(struct trial_detail *d)
{
	for (size_t i = 0; i < d->n_parts; i++)
		part_clear(&d->parts[i]);
	part_clear(&d->rest);
	for (size_t i = 0; i < d->n_facts; i++)
		fact_clear(&d->facts[i]);
	for (size_t i = 0; i < d->n_notes; i++) {
		free(d->notes[i].name);
		free(d->notes[i].text);
	}
	free(d->parts);
	free(d->facts);
	free(d->notes);
	*d = (struct trial_detail){0};
}
