/*
 * fio's terse lines, versions 3, 4 and 5: fields divided by semicolons, times in us, sizes in KiB.
 * Owns nothing.
 * Invariant: a line with fewer fields than its version has is an error, never half a result.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/fio.h"
#include "common/formats/number.h"

#define FIELDS_MAX 512
#define FIRST 5   /* behind version, fio's version, job, group, error */
#define SIDE 41   /* fields of one direction in versions 3 and 4 */
#define SIDE_5 47 /* version 5 adds the samples of bw and iops */

/* Places within a direction. */
enum place {
	IO_KIB,
	BW_KIB,
	IOPS,
	RUNTIME_MS,
	CLAT_MIN = 8,
	CLAT_MAX,
	CLAT_MEAN,
	PERCENTILES = 12,
	PERCENTILES_END = 32
};

int fio_is_terse(const char *line)
{
	return (*line == '3' || *line == '4' || *line == '5') && !strncmp(line + 1, ";fio-", 5);
}

int fio_is_near_terse(const char *line)
{
	size_t fields = 0, digits = strspn(line, "0123456789");

	for (const char *p = line; (p = strchr(p, ';')); p++)
		fields++;
	return line[digits] == ';' && digits > 0 && (fields > 20 || !strncmp(line + digits, ";fio-", 5));
}

static int field(struct reader *r, char *const *fields, size_t i, double *ret)
{
	struct number n;
	const char *end;

	if (number_parse(fields[i], COMMA_UNSURE, &n, &end, r->e)) {
		err_prefix(r->e, "field %zu of fio's terse line", i + 1);
		return reader_place(r);
	}
	if (!is_blank(end))
		return reader_wrong(r, "field %zu of fio's terse line: '%.40s' is not a number",
			i + 1, fields[i]);
	*ret = n.value;
	return 0;
}

/* "99.000000%=5": us. */
static int take_percentiles(struct reader *r, char *const *fields, struct fio_side *s)
{
	static const struct {
		const char *head;
		size_t offset;
	} wanted[] = {{"50.000000%=", offsetof(struct fio_side, p50)},
		{"99.000000%=", offsetof(struct fio_side, p99)},
		{"99.900000%=", offsetof(struct fio_side, p999)}};

	for (size_t i = PERCENTILES; i < PERCENTILES_END; i++)
		for (size_t k = 0; k < ARRAY_LEN(wanted); k++) {
			const char *v = after_word(fields[i], wanted[k].head), *end;
			struct number n;

			if (!v)
				continue;
			if (number_parse(v, COMMA_UNSURE, &n, &end, r->e))
				return reader_place(r);
			if (!is_blank(end))
				return reader_wrong(r, "'%.40s' is not a percentile of fio", fields[i]);
			*(double *)((char *)s + wanted[k].offset) = n.value * 1e3;
		}
	return 0;
}

static int take_side(struct reader *r, char *const *names, char *const *fields, const char *op,
	struct fio_sides *out)
{
	struct fio_side s = {.op = op, .line = r->no, .jobs = 1, .lat_step = 1e3, .bytes_step = 1024,
		.iops_step = 1};
	double kib, iops, max, mean, error, group;

	if (field(r, fields, IO_KIB, &kib) || field(r, fields, IOPS, &iops) ||
		field(r, fields, RUNTIME_MS, &s.runtime_ms) || field(r, fields, CLAT_MAX, &max) ||
		field(r, fields, CLAT_MEAN, &mean) || field(r, names, 3, &group) ||
		field(r, names, 4, &error))
		return -1;
	if (kib > 8e12 || iops > 1e12 || s.runtime_ms > 1e12 || error > 1e6)
		return reader_wrong(r, "fio's terse line has an impossible figure");
	if (!(kib > 0) && !(error > 0 && !strcmp(op, "read")))
		return 0;
	if (take_percentiles(r, fields, &s))
		return -1;
	s.bytes = (uint64_t)kib * 1024;
	s.ops = (uint64_t)(iops * s.runtime_ms / 1e3 + 0.5);
	s.lat_n = (double)s.ops;
	s.lat_mean = mean * 1e3;
	s.lat_max = max * 1e3;
	/* as in JSON */
	s.p50 = fmin(s.p50, s.lat_max);
	s.p99 = fmin(s.p99, s.lat_max);
	s.p999 = fmin(s.p999, s.lat_max);
	s.group = (long)fmin(group, 1e6);
	s.error = (int)error;
	s.job = clean_name(names[2], strlen(names[2]));
	fio_add(out, out->n, &s);
	return 0;
}

int fio_terse_line(struct reader *r, struct fio_sides *out)
{
	static const char *const ops[] = {"read", "write", "trim"};
	char *fields[FIELDS_MAX];
	size_t n = split_fields(r->s, ';', fields, FIELDS_MAX);
	size_t side = *r->s == '5' ? SIDE_5 : SIDE, sides = *r->s == '3' ? 2 : 3;

	if (n < FIRST + sides * side)
		return reader_wrong(r,
			"fio's terse line has %zu fields, version %c has %zu at least: it is cut "
			"off",
			n, *r->s, FIRST + sides * side);
	for (size_t i = 0; i < sides; i++)
		if (take_side(r, fields, fields + FIRST + i * side, ops[i], out))
			return -1;
	return 0;
}
