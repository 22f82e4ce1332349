/*
 * Rows that give only how many trials there were, their mean and extremes:
 * n=10 mean=56s min=52s max=59s. Owns nothing.
 * Invariant: there are n values above zero that have such a mean, extremes and deviation, within what
 * rounding allows.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/formats/context.h"
#include "common/formats/number.h"

enum part { MEAN, MIN, MAX, STDDEV, PARTS };

struct row {
	struct context own;
	unsigned long long n;
	int has_n, has[PARTS];
	struct quantity q[PARTS];
	double zero_step; /* of a deviation that was printed as 0: what its last digit counts; 0: none */
};

static const struct {
	const char *key;
	enum part part;
} part_keys[] = {{"mean", MEAN}, {"avg", MEAN}, {"average", MEAN}, {"min", MIN}, {"max", MAX},
	{"sd", STDDEV}, {"stddev", STDDEV}};

static int part_of(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(part_keys); i++)
		if (!strcmp(part_keys[i].key, key))
			return (int)part_keys[i].part;
	return -1;
}

/* The value's end: of "10 sec", "2 min 3 sec" and "549 MB/s" behind the words. */
static char *end_of_value(char *value, int is_quantity)
{
	char *end = value + strcspn(value, " \t");

	while (is_quantity && *end) {
		char *word = skip_blanks(end);
		size_t len = strcspn(word, " \t");

		if (!len || memchr(word, '=', len) || (!isdigit((unsigned char)*word) && !behind_unit(word)))
			break;
		end = word + len;
	}
	return end;
}

/* Key and value of the pair at *s, NUL-terminated in place; *s moves on. 0: no pair here. */
static int next_pair(char **s, char **ret_key, char **ret_value)
{
	char *key = skip_blanks(*s), *equals = strchr(key, '='), *value, *end;

	if (!equals || equals == key || strcspn(key, " \t") < (size_t)(equals - key))
		return 0;
	value = equals + 1;
	*equals = '\0';
	if (*value == '"' && (end = strchr(value + 1, '"'))) {
		value++;
	} else {
		end = end_of_value(value, part_of(key) >= 0);
		if (end > value && end[-1] == ',')
			end[-1] = '\0';
	}
	*s = *end ? end + 1 : end;
	*end = '\0';
	*ret_key = key;
	*ret_value = value;
	return 1;
}

/* A deviation of zero is not one that can be relied on: at that resolution there is no spread to be seen.
 * 1: taken; -1: error. */
static int take_zero(struct row *row, struct reader *r, const char *value)
{
	struct number zero;
	struct quantity one;
	char text[64];
	const char *end;

	if (number_parse(value, COMMA_DECIMAL, &zero, &end, r->e))
		return reader_place(r);
	snprintf(text, sizeof(text), "1%.60s", end);
	if (quantity_parse(text, COMMA_UNSURE, &one, &end, r->e))
		return reader_place(r);
	if (!is_blank(end))
		return reader_wrong(r, "a deviation of '%.40s': not a time, a rate or a number", value);
	row->zero_step = zero.resolution * one.number.value;
	return 0;
}

static int take_part(
	struct row *row, struct reader *r, enum part part, const char *key, const char *value)
{
	const char *end;

	if (row->has[part] || (part == STDDEV && row->zero_step > 0))
		return reader_wrong(r, "%s= is there twice", key);
	if (part == STDDEV && strspn(value, "0.") > 0 &&
		!isdigit((unsigned char)value[strspn(value, "0.")]) && isdigit((unsigned char)*value))
		return take_zero(row, r, value);
	if (quantity_parse(value, COMMA_UNSURE, &row->q[part], &end, r->e)) {
		err_prefix(r->e, "%s", key);
		return reader_place(r);
	}
	if (!is_blank(end))
		return reader_wrong(r, "%s=%.40s: not a time, a rate or a number", key, value);
	row->has[part] = 1;
	return 0;
}

static int take_pair(struct row *row, struct reader *r, const char *key, const char *value)
{
	const char *end;
	int taken, part = part_of(key);

	if (!strcmp(key, "n")) {
		if (!whole_parse(value, &row->n, &end) || *end || row->n == 0 ||
			row->n > 1000000000)
			return reader_wrong(r, "n=%.40s: not a number of trials", value);
		row->has_n = 1;
		return 0;
	}
	if (part >= 0)
		return take_part(row, r, (enum part)part, key, value);
	taken = context_set(&row->own, r, key, value);
	if (taken == 0)
		return reader_wrong(r,
			"'%.40s=': n, mean, min, max, stddev, host, layout, workload, op, bytes, "
			"cache and metric are known",
			key);
	return taken < 0 ? -1 : 0;
}

/* How a row's numbers became what is printed. */
enum digits { ROUNDED, CUT };

/* The least and the most that a number can have been before. */
static double least_of(const struct row *row, enum part part, enum digits how)
{
	return row->q[part].number.value - (how == CUT ? 0 : row->q[part].number.resolution / 2);
}

static double most_of(const struct row *row, enum part part, enum digits how)
{
	return row->q[part].number.value + row->q[part].number.resolution * (how == CUT ? 1 - 1e-6 : 0.5);
}

/* One value is the least, one the most, and the n - 2 others lie between them: n means are at least
 * (n - 1) min + max and at most min + (n - 1) max. Of a single value all three are the same. */
static int mean_is_possible(const struct row *row, enum digits how)
{
	double n = (double)row->n, least = 0, most = INFINITY;

	if (row->has[MIN])
		least = least_of(row, MIN, how);
	if (row->has[MAX])
		most = most_of(row, MAX, how);
	if (row->has[MIN] && row->has[MAX]) {
		least = ((n - 1) * least + least_of(row, MAX, how)) / n;
		most = (most_of(row, MIN, how) + (n - 1) * most) / n;
	}
	if (row->n == 1 && row->has[MIN] && row->has[MAX] && least > most * (1 + 1e-9))
		return 0;
	return most_of(row, MEAN, how) >= least * (1 - 1e-9) &&
	       least_of(row, MEAN, how) <= most * (1 + 1e-9);
}

static int check_mean(const struct row *row, struct reader *r)
{
	const struct number *mean = &row->q[MEAN].number, *min = &row->q[MIN].number,
			    *max = &row->q[MAX].number;
	double n = (double)row->n;

	if (mean_is_possible(row, ROUNDED) || mean_is_possible(row, CUT))
		return 0;
	if (row->has[MIN] && mean->value < min->value)
		return reader_wrong(r, "the minimum is above the mean");
	if (row->has[MAX] && mean->value > max->value)
		return reader_wrong(r, "the maximum is below the mean");
	if (row->n == 1)
		return reader_wrong(r, "one value is its own mean, minimum and maximum: %.9g, %.9g and %.9g "
				       "are not the same",
			mean->value, min->value, max->value);
	return reader_wrong(r,
		"%llu values from %.9g to %.9g, both of them there, cannot have a mean of %.9g, only one of "
		"%.6g to %.6g: put right which is wrong, n or one of them",
		row->n, min->value, max->value, mean->value,
		((n - 1) * min->value + max->value) / n, (min->value + (n - 1) * max->value) / n);
}

/* n values between min and max with that mean have a standard deviation (with n - 1) of at most what the
 * inequality of Bhatia and Davis (Amer. Math. Monthly 107, 2000) allows, sqrt((max - mean) (mean - min)
 * n / (n - 1)), which is never more than that of Popoviciu (1935), (max - min) / 2 sqrt(n / (n - 1)); and
 * (over n) of at least range / sqrt(2 n). Values are above 0: that bounds them where no extremes are
 * known. A "standard deviation" beyond is something else: of another unit, a percentage, a standard
 * error. */
static int check_stddev(const struct row *row, struct reader *r)
{
	double n = (double)row->n, mean = row->q[MEAN].number.value, sd = row->q[STDDEV].number.value;
	double min = row->has[MIN] ? row->q[MIN].number.value : 0;
	double max = row->has[MAX] ? row->q[MAX].number.value : n * mean - (n - 1) * min;
	double digits = 0, least, most;

	if (!row->has[STDDEV] && !(row->zero_step > 0))
		return 0;
	if (row->has[STDDEV] && row->n < 2)
		return reader_wrong(r, "a standard deviation of %.6g of one value, which has none", sd);
	for (int i = MEAN; i < PARTS; i++)
		digits += row->has[i] ? row->q[i].number.resolution : 0;
	digits += row->zero_step;
	most = sqrt(fmax(0, (max + digits - mean) * (mean - min + digits) * n / (n - 1)));
	least = row->has[MIN] && row->has[MAX] ? (max - min - digits) / sqrt(2 * n) : 0;
	if (row->has[STDDEV] && sd - digits > most)
		return reader_wrong(r,
			"a standard deviation of %.6g is more than n, mean%s allow (%.3g)", sd,
			row->has[MIN] || row->has[MAX] ? ", min and max" : "", most);
	if (sd + digits < least)
		return reader_wrong(r,
			"a standard deviation of %.6g is less than n, min and max allow (%.3g)", sd, least);
	return 0;
}

/* KiB are clear, kB are not: in one row the doubt is told. */
static void check_powers(const struct row *row, struct reader *r, struct format_found *f)
{
	int assumed = 0, power2 = 0;

	for (int i = MEAN; i < PARTS; i++) {
		assumed |= row->has[i] && row->q[i].assumed;
		power2 |= row->has[i] && row->q[i].power2;
	}
	if (!assumed || !power2)
		return;
	found_note(f, r->no, r->no,
		"units of 2^10 (KiB/s, MiB/s, GiB/s) and of 10^3 (kB/s, MB/s, GB/s) in one row: each is taken as "
		"it is written; where the latter were meant as 2^10, too, write them so");
	found_doubt(f, r->no);
}

/* Units: all the same metric, or all plain. */
static int check_row(struct row *row, struct reader *r)
{
	const struct quantity *mean = &row->q[MEAN];

	if (!row->has_n || !row->has[MEAN])
		return reader_wrong(r, "a summary needs n= and mean=");
	for (int i = MIN; i < PARTS; i++)
		if (row->has[i] && !str_equal(row->q[i].metric, mean->metric))
			return reader_wrong(r, "mixed units: mean is %s, another is %s",
				mean->metric ? mean->metric : "a plain number",
				row->q[i].metric ? row->q[i].metric : "a plain number");
	return check_mean(row, r) || check_stddev(row, r) ? -1 : 0;
}

/* Of a summary of times: all bytes over all of the time, which is the bytes of a trial over the mean,
 * between those over its extremes. The deviation is relatively the same, to first order. */
static void add_throughput(struct format_record *rec)
{
	const struct format_value t = rec->v[0];
	struct format_value *v;
	double bytes = (double)rec->bytes, rate = bytes / t.value;

	if (!rec->bytes || strcmp(t.metric, "elapsed") != 0)
		return;
	v = record_value(rec, "throughput", "B/s", rate, rate * t.resolution / t.value);
	v->marks = FORMAT_COMPUTED;
	v->min = bytes / t.max;
	v->max = bytes / t.min;
	if (!isnan(v->min))
		v->min_resolution = v->min * t.max_resolution / t.max;
	if (!isnan(v->max))
		v->max_resolution = v->max * t.min_resolution / t.min;
	v->stddev = rate * t.stddev / t.value;
	v->stddev_resolution = rate * t.stddev_resolution / t.value;
}

static void add_row(struct row *row, struct reader *r, struct context *c, struct format_found *f)
{
	const struct quantity *mean = &row->q[MEAN];
	const struct context *named = row->own.metric ? &row->own : c;
	const char *metric = mean->metric    ? mean->metric
			     : named->metric ? named->metric
					     : "elapsed";
	const char *unit = mean->metric ? mean->unit : named->metric ? named->unit : "s";
	struct format_record *rec = found_record(f, r->no);
	struct format_value *v;
	char of[512], told[UNITS_LEN];
	int assumed = 0;

	context_apply(&row->own, rec);
	context_apply(c, rec);
	rec->n = (uint32_t)row->n;
	v = record_value(rec, metric, unit, mean->number.value, mean->number.resolution);
	for (int i = MEAN; i < PARTS; i++)
		assumed |= row->has[i] && row->q[i].assumed;
	v->marks = assumed ? FORMAT_UNIT_ASSUMED : 0;
	if (row->has[MIN]) {
		v->min = row->q[MIN].number.value;
		v->min_resolution = row->q[MIN].number.resolution;
	}
	if (row->has[MAX]) {
		v->max = row->q[MAX].number.value;
		v->max_resolution = row->q[MAX].number.resolution;
	}
	if (row->has[STDDEV]) {
		v->stddev = row->q[STDDEV].number.value;
		v->stddev_resolution = row->q[STDDEV].number.resolution;
	}
	add_throughput(rec);
	found_note(f, r->no, r->no, "summary of %llu trials: %s, mean %s %s%s%s", row->n, metric,
		units_number(mean->number.value, 9, told), unit, context_of(rec, of, sizeof(of)),
		assumed ? " (a power of 1000 assumed)" : "");
	check_powers(row, r, f);
}

static int is_row(const char *s)
{
	int n = !strncmp(skip_blanks(s), "n=", 2) || strstr(s, " n=") || strstr(s, "\tn=");

	return n && (strstr(s, "mean=") || strstr(s, "avg=") || strstr(s, "average="));
}

static int take_row(struct reader *r, struct context *c, struct format_found *f)
{
	struct row row = {0};
	char *s = trim(r->s), *key, *value;
	int rc = 0;

	while (!rc && *s && next_pair(&s, &key, &value)) {
		rc = take_pair(&row, r, key, value);
		s = skip_blanks(s);
	}
	if (!rc && *s)
		rc = reader_wrong(
			r, "'%.40s': a summary has the form n=10 mean=56s min=52s max=59s", s);
	rc = rc ? rc : check_row(&row, r);
	if (!rc)
		add_row(&row, r, c, f);
	context_clear(&row.own);
	return rc;
}

static int read_summary(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct context c = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r)) {
		rc = context_line(&c, &r, f);
		rc = rc == 0 ? take_row(&r, &c, f) : rc == 1 ? 0 : -1;
	}
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	return rc;
}

static int score_summary(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	while (!score && reader_next(&r))
		score = is_row(r.s) ? 75 : 0;
	reader_close(&r);
	return score;
}

const struct format format_summary = {.name = "summary",
	.summary = "rows such as n=10 mean=56s min=52s max=59s",
	.workload = "command",
	.score = score_summary,
	.read = read_summary};
