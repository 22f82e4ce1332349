/* Values of fio's options: what may stand behind the '='. Owns nothing. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_job.h"
#include "common/plan/fio_option.h"
#include "common/plan/read.h"

#define VALUE_MAX 1000
#define NAME_BYTES_MAX 128

/* "4k", "64m", "1gb": powers of 1024, as fio takes them. What ends in "ib" is a power of 1000 for
 * fio and of 1024 for everybody else, so it is no size here. */
int fio_parse_size(const char *s, int64_t *ret_bytes)
{
	static const char units[] = "kmgtp";
	char number[24], letter;
	const char *at;
	size_t len = strspn(s, "0123456789");
	int64_t n, scale = 1;
	struct err ignored;

	if (len == 0 || len >= sizeof(number))
		return -1;
	memcpy(number, s, len);
	number[len] = '\0';
	s += len;
	if (*s) {
		letter = (char)tolower((unsigned char)*s++);
		at = strchr(units, letter);
		if (!at)
			return -1;
		scale = 1LL << (10 * (at - units + 1));
		if (*s == 'b' || *s == 'B')
			s++;
	}
	if (*s || units_parse_int(number, 0, FIO_SIZE_MAX / scale, &n, &ignored))
		return -1;
	*ret_bytes = n * scale;
	return 0;
}

int fio_parse_time(const char *s, int64_t plain_ns, int64_t *ret_ns)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = {{"us", 1000}, {"usec", 1000}, {"ms", NS_PER_MS}, {"msec", NS_PER_MS},
		{"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"d", 86400 * NS_PER_S}};
	size_t len = strspn(s, "0123456789");
	int64_t n, scale = s[len] ? 0 : plain_ns;
	struct err ignored;
	char number[24];

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(s + len, units[i].unit) == 0)
			scale = units[i].ns;
	if (len == 0 || len >= sizeof(number) || !scale)
		return -1;
	memcpy(number, s, len);
	number[len] = '\0';
	if (units_parse_int(number, 0, INT64_MAX / scale, &n, &ignored))
		return -1;
	*ret_ns = n * scale;
	return 0;
}

static int outside(const struct fio_row *row, int64_t v)
{
	return v < row->min || v > row->max;
}

static int check_int(const struct fio_row *row, const char *s, struct err *e)
{
	int64_t v;

	if (!units_parse_int(s, row->min, row->max, &v, e))
		return 0;
	return err_set(e, ERR_INPUT, "must be a whole number from %lld to %lld",
		(long long)row->min, (long long)row->max);
}

static int check_size(const struct fio_row *row, const char *s, struct err *e)
{
	char low[UNITS_LEN], high[UNITS_LEN];
	int64_t v;

	if (strchr(s, '%'))
		return err_set(e, ERR_INPUT, "must be a size: a share of the volume is not known "
					     "before it is built");
	if (fio_parse_size(s, &v))
		return err_set(e, ERR_INPUT, "is not a size of fio's: 4096, 4k, 64m, 1g");
	if (outside(row, v))
		return err_set(e, ERR_INPUT, "is outside of %s to %s", units_size(row->min, low),
			units_size(row->max, high));
	return 0;
}

static int check_range(const struct fio_row *row, const char *s, struct err *e)
{
	const char *dash = strchr(s, '-');
	int64_t from, to;
	char *first;
	int r;

	if (!dash && row->kind == FIO_RANGE)
		return check_size(row, s, e);
	if (!dash)
		return err_set(e, ERR_INPUT, "must be a range such as 1k-4k");
	first = xstrndup(s, (size_t)(dash - s));
	r = check_size(row, first, e) || check_size(row, dash + 1, e) ? -1 : 0;
	if (!r && (fio_parse_size(first, &from) || fio_parse_size(dash + 1, &to) || from > to))
		r = err_set(e, ERR_INPUT, "must go from the smaller to the larger size");
	free(first);
	return r;
}

/* Up to three parts between commas; empty ones are fine behind the first. */
static int check_parts(const struct fio_row *row, const char *s, struct err *e,
	int (*check)(const struct fio_row *row, const char *s, struct err *e))
{
	int r = 0, n = 0, filled = 0;

	for (const char *p = s; !r; n++) {
		size_t len = strcspn(p, ",");
		char *part = xstrndup(p, len);

		if (len) {
			r = check(row, part, e);
			filled++;
		}
		free(part);
		if (!p[len])
			break;
		p += len + 1;
	}
	if (!r && (n > 2 || !filled))
		return err_set(e, ERR_INPUT, "takes one to three values: read,write,trim");
	return r;
}

static int check_time(const struct fio_row *row, const char *s, struct err *e)
{
	char low[UNITS_LEN], high[UNITS_LEN];
	int64_t ns;

	if (fio_parse_time(s, row->kind == FIO_SECONDS ? NS_PER_S : 1000, &ns))
		return err_set(e, ERR_INPUT, "is not a time of fio's: 100us, 5ms, 30s, 2m");
	if (outside(row, ns))
		return err_set(e, ERR_INPUT, "is outside of %s to %s",
			units_duration(row->min, low), units_duration(row->max, high));
	return 0;
}

static int check_real(const struct fio_row *row, const char *s, struct err *e)
{
	double v;

	if (!units_parse_double(s, &v, e) && v >= (double)row->min && v <= (double)row->max)
		return 0;
	return err_set(e, ERR_INPUT, "must be a number from %lld to %lld", (long long)row->min,
		(long long)row->max);
}

static int check_word(const struct fio_row *row, const char *s, struct err *e)
{
	size_t len = row->kind == FIO_WORDS ? strcspn(s, ":") : strlen(s);
	char *word = xasprintf(" %.*s ", (int)len, s);
	int known = len && !memchr(s, ' ', len) && strstr(row->words, word) != NULL;

	free(word);
	if (!known)
		return err_set(e, ERR_INPUT, "must be one of:%.*s",
			(int)(strlen(row->words) - 1), row->words);
	if (s[len] && strspn(s + len + 1, row->also) != strlen(s + len + 1))
		return err_set(e, ERR_INPUT, "has a wrong part behind the ':'");
	return 0;
}

static int check_pattern(const char *s, struct err *e)
{
	const char *digits = str_starts(s, "0x") ? s + 2 : s;
	const char *set = digits == s ? "0123456789" : "0123456789abcdefABCDEF";

	if (strcmp(s, "%o") == 0 || (*digits && strspn(digits, set) == strlen(digits)))
		return 0;
	return err_set(e, ERR_INPUT, "must be 0x and hexadecimal digits, a number or %%o: texts could "
				     "name a file");
}

/* One name within the folder: fio splits at ':' and expands '$'. */
static int check_name(const char *s, struct err *e)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

	if (*s && *s != '.' && *s != '-' && strlen(s) <= NAME_BYTES_MAX &&
		strspn(s, chars) == strlen(s))
		return 0;
	return err_set(e, ERR_DENIED,
		"must be a plain name of one file in the volume's folder: letters, digits, '.', '_', "
		"'+', '-', not starting with '.' or '-'");
}

/* fio trims through the ioctl of block devices: on a file it fails. */
static int check_trim(const struct fio_row *row, const char *s, struct err *e)
{
	if (strcmp(row->name, "rw") || !strstr(s, "trim"))
		return 0;
	return err_set(e, ERR_DENIED, "is refused: fio trims block devices alone, and a workload's files "
				      "are files");
}

static int check_kind(const struct fio_row *row, const char *s, struct err *e)
{
	switch (row->kind) {
	case FIO_INT:
		return check_int(row, s, e);
	case FIO_INTS:
		return check_parts(row, s, e, check_int);
	case FIO_REAL:
		return check_real(row, s, e);
	case FIO_SIZE:
		return check_size(row, s, e);
	case FIO_SIZES:
		return check_parts(row, s, e, check_size);
	case FIO_RANGE:
		return check_range(row, s, e);
	case FIO_RANGES:
		return check_parts(row, s, e, check_range);
	case FIO_SECONDS:
	case FIO_USEC:
		return check_time(row, s, e);
	case FIO_BOOL:
	case FIO_FLAG:
		return !strcmp(s, "0") || !strcmp(s, "1")
			       ? 0
			       : err_set(e, ERR_INPUT, "must be 0 or 1");
	case FIO_WORD:
	case FIO_WORDS:
		return check_word(row, s, e);
	case FIO_CHARS:
		return *s && strspn(s, row->also) == strlen(s)
			       ? 0
			       : err_set(e, ERR_INPUT, "has characters that don't belong there");
	case FIO_PATTERN:
		return check_pattern(s, e);
	case FIO_NAME:
		return check_name(s, e);
	case FIO_JOB:
		return fio_job_name_check(s, e) ? err_set(e, ERR_INPUT, "is not a job's name") : 0;
	default:
		return 0;
	}
}

int fio_value_check(const struct fio_row *row, const char *value, struct err *e)
{
	char text[SHOWN_LEN];
	struct err why = {0};

	if (strlen(value) > VALUE_MAX)
		return err_set(e, ERR_INPUT, "longer than %d bytes", VALUE_MAX);
	if (strchr(value, '$') || strchr(value, '`'))
		return err_set(e, ERR_DENIED, "'%s': fio would expand the '$' or '`', by the environment or "
					      "through a shell",
			shown(value, text));
	if (!check_trim(row, value, &why) && !check_kind(row, value, &why))
		return 0;
	return err_set(e, why.code, "'%s' %s", shown(value, text), why.text);
}
