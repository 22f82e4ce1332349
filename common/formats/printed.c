/*
 * The mean and the extremes that were printed with a list. Owns nothing.
 * Invariant: the values count; what was printed of them is only checked.
 */
#include "common/formats/printed.h"

#include <math.h>
#include <string.h>

#include "common/base/mem.h"

static const struct {
	const char *key;
	enum printed_part part;
} keys[] = {{"mean", PRINTED_MEAN}, {"avg", PRINTED_MEAN}, {"average", PRINTED_MEAN},
	{"min", PRINTED_MIN}, {"max", PRINTED_MAX}};

/* What stands behind the key, or NULL. */
static const char *behind_key(const char *s, enum printed_part *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		size_t n = strlen(keys[i].key);

		s = skip_blanks(s);
		if (strncmp(s, keys[i].key, n) || s[n] != ':' || !strchr(" \t", s[n + 1]))
			continue;
		*ret = keys[i].part;
		return skip_blanks(s + n + 1);
	}
	return NULL;
}

int printed_is_line(const char *s)
{
	enum printed_part ignored;

	return behind_key(s, &ignored) != NULL;
}

int printed_take(
	struct printed *p, struct reader *r, const struct context *c, struct format_found *f)
{
	enum printed_part part = PRINTED_MEAN;
	const char *s = behind_key(r->s, &part), *end;
	struct quantity q;

	if (p->line[part])
		return reader_wrong(r, "line %zu says it of this list already", p->line[part]);
	if (quantity_parse(s, COMMA_UNSURE, &q, &end, r->e))
		return reader_place(r);
	if (!is_blank(end))
		return reader_wrong(r, "'%.40s': not a time, a rate or a number", s);
	if (!q.metric) {
		q.metric = c->metric ? c->metric : "elapsed";
		q.unit = c->metric ? c->unit : "s";
	}
	p->line[part] = r->no;
	p->q[part] = q;
	found_note(f, r->no, r->no, "as printed with the list; it follows from the values");
	return 0;
}

/* Of the records from p->first on; NaN where one has no such value. */
static double computed(const struct printed *p, enum printed_part part, const struct format_found *f)
{
	double sum = 0, min = INFINITY, max = 0;
	size_t n = f->n_records - p->first;

	for (size_t i = p->first; i < f->n_records; i++) {
		const struct format_value *v = f->records[i].v;

		if (!f->records[i].n_v || strcmp(v->metric, p->q[part].metric) != 0)
			return NAN;
		sum += v->value;
		min = fmin(min, v->value);
		max = fmax(max, v->value);
	}
	return part == PRINTED_MIN ? min : part == PRINTED_MAX ? max : sum / (double)n;
}

/* Rounded or cut, a printed number is less than its last digit away. */
static int check(const struct printed *p, enum printed_part part, struct reader *r,
	struct format_found *f)
{
	static const char *const names[] = {"mean", "minimum", "maximum"};
	const struct quantity *q = &p->q[part];
	double is = computed(p, part, f), digit = q->number.resolution;

	if (f->n_records == p->first || isnan(is)) {
		r->no = p->line[part];
		return f->n_records == p->first
			       ? reader_wrong(r, "the %s of a list without values", names[part])
			       : reader_wrong(r, "mixed units: the list is not of %s", q->metric);
	}
	if (fabs(is - q->number.value) < digit + f->records[p->first].v->resolution)
		return 0;
	found_renote(f, p->line[part],
		"a %s of %.9g %s was printed with this list, its values have %.9g %s: the printed one "
		"does not follow from them and is not used",
		names[part], q->number.value, q->unit, is, q->unit);
	found_doubt(f, p->line[part]);
	return 0;
}

int printed_end(struct printed *p, struct reader *r, struct format_found *f)
{
	int bad = 0;

	for (int part = PRINTED_MEAN; part < PRINTED_PARTS && !bad; part++)
		if (p->line[part])
			bad = check(p, (enum printed_part)part, r, f);
	*p = (struct printed){.first = f->n_records};
	return bad;
}
