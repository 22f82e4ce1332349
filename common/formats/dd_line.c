/*
 * One line of dd of GNU, BSD or busybox. Owns nothing.
 * Invariant: a line that begins as a transfer is read whole or is an error; what is read of it does
 * not contradict the rate that it prints.
 */
#include "common/formats/dd_line.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/formats/reader.h"

#define SHOWN 100 /* bytes of a line in messages */

/* Where the seconds stand, and the rate behind them. */
struct parts {
	const char *seconds, *seconds_end, *rate;
};

/* A comma and a blank, or one of the commas that need none; its bytes, or 0. */
static size_t comma_at(const char *s)
{
	static const char *const commas[] = {", ", "\xef\xbc\x8c", "\xe3\x80\x81"}; /* U+FF0C, U+3001 */

	for (size_t i = 0; i < ARRAY_LEN(commas); i++)
		if (!strncmp(s, commas[i], strlen(commas[i])))
			return strlen(commas[i]);
	return 0;
}

/* GNU and busybox, any language: "…, SECONDS s, RATE": the last two of the parts that commas divide. */
static int gnu_parts(const char *line, struct parts *ret)
{
	const char *last = NULL, *before = NULL;

	for (const char *p = line; *p; p++)
		if (comma_at(p)) {
			before = last;
			last = p;
		}
	if (!before || !strchr(last, '/'))
		return 0;
	*ret = (struct parts){before + comma_at(before), last, last + comma_at(last)};
	return 1;
}

/* BSD and GNU of old: "BYTES bytes transferred in SECONDS secs (RATE bytes/sec)". */
static int bsd_parts(const char *line, struct parts *ret)
{
	const char *in = strstr(line, " in "), *open = in ? strchr(in, '(') : NULL, *to = open;

	if (!in || !open)
		return 0;
	while (to > in + 4 && to[-1] == ' ')
		to--;
	*ret = (struct parts){in + 4, to, open + 1};
	return to > in + 4;
}

/* GNU prints six significant digits and leaves zeros at the end out: of a hundred numbers one has lost
 * two of them. One in tenths or whole seconds, without even those, comes from elsewhere: another dd that
 * has fewer decimals, a line of progress, a hand. */
static void sharpen(struct number *seconds)
{
	double step = seconds->value > 0 ? pow(10, floor(log10(seconds->value)) - 5) : 0;

	if (seconds->resolution < 0.011 && step < seconds->resolution && step > seconds->resolution / 101)
		seconds->resolution = step;
}

/* "0,0341215 s", of BSD also "64 MiB) transferred 0.034s": a number and a word, which in some
 * language is a second. */
static int seconds_field(const struct parts *parts, struct number *ret, struct err *e)
{
	char field[64];
	const char *p, *end, *close;
	size_t n = (size_t)(parts->seconds_end - parts->seconds);
	double unit;

	if (n >= sizeof(field))
		return err_set(e, ERR_INPUT, "its time is not a number of seconds");
	memcpy(field, parts->seconds, n);
	field[n] = '\0';
	close = strchr(field, ')');
	p = skip_blanks(close ? close + 1 : field);
	if (close)
		p = skip_blanks(p + strcspn(p, " "));
	if (number_parse(p, COMMA_DECIMAL, ret, &end, e))
		return -1;
	end = skip_blanks(end);
	unit = time_unit(end, &close);
	if (!*end || strcspn(end, "0123456789 /B") != strlen(end) || ispunct((unsigned char)*end) ||
		(unit > 0 && unit < 1) || unit > 1)
		return err_set(e, ERR_INPUT, "'%.40s' is not a number of seconds", p);
	return 0;
}

/* How many bytes the unit at s may be: two readings, the same where it is clear. 0: it is none that
 * is known, such as one of another language. */
static int rate_unit(const char *s, double ret[2])
{
	static const char prefixes[] = "kmgtpezy";
	const char *at = *s ? strchr(prefixes, tolower((unsigned char)*s)) : NULL;
	double step = at ? (double)(at - prefixes + 1) : 0;

	s += at != NULL;
	ret[0] = pow(1000, step);
	ret[1] = pow(1024, step);
	if (at && (*s == 'i' || *s == 'I')) {
		ret[0] = ret[1];
		s++;
	}
	if (!at && after_word(s, "bytes/"))
		return 1;
	return (*s == 'B' || *s == 'b' || *s == 'o') && s[1] == '/';
}

/* The rate is rounded or cut at its last digit, as are the seconds; that of a time that is printed in
 * few digits comes from more. */
static int check_rate(const struct parts *parts, const struct dd_transfer *t, struct err *e)
{
	double bytes = (double)t->bytes, digit = t->seconds.resolution, units[2], most, least;
	const char *rate = skip_blanks(parts->rate), *end;
	char is[UNITS_LEN];
	struct number n;

	if (!(t->seconds.value > 0))
		return 0;
	if (number_parse(rate, COMMA_DECIMAL, &n, &end, e))
		return err_prefix(e, "the rate");
	if (!rate_unit(skip_blanks(end), units))
		return 0;
	least = bytes / (t->seconds.value + digit);
	most = t->seconds.value > digit ? bytes / (t->seconds.value - digit) : INFINITY;
	for (int i = 0; i < 2; i++)
		if ((n.value + n.resolution) * units[i] >= least * (1 - 1e-9) &&
			(n.value - n.resolution) * units[i] <= most * (1 + 1e-9))
			return 0;
	return err_set(e, ERR_INPUT,
		"%llu bytes in '%.*s', read as %.9g s, are %s bytes a second, but its rate is '%.*s'",
		t->bytes, (int)(parts->seconds_end - parts->seconds), parts->seconds,
		t->seconds.value, units_number(bytes / t->seconds.value, 9, is),
		(int)strcspn(rate, "),"), rate);
}

/* A digit, maybe behind a sign, or nan, inf. */
static int begins_number(const char *s)
{
	s += *s == '-' || *s == '+';
	return isdigit((unsigned char)*s) || !strncasecmp(s, "nan", 3) || !strncasecmp(s, "inf", 3);
}

/* Behind "N bytes": dd goes on with a size or with what it did. */
static int english_goes_on(const char *s, int last)
{
	static const char *const words[] = {"copied,", "transferred in ", "transferred "};
	size_t n = strlen(s);

	if (*s == '(')
		return isdigit((unsigned char)s[1]) || (last && !s[1]);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!strncmp(s, words[i], strlen(words[i])) && (i < 2 || begins_number(s + strlen(words[i]))))
			return 1;
		if (last && n > 0 && !strncmp(s, words[i], n))
			return 1;
	}
	return 0;
}

/* "67108864 Bytes (67 MB": the size is told twice. */
static int is_told_twice(const char *s)
{
	unsigned long long bytes;
	const char *open = strchr(s, '(');
	struct number n;
	struct err ignored;
	double units[2];

	if (!open || !whole_parse(s, &bytes, &s) || number_parse(open + 1, COMMA_DECIMAL, &n, &s, &ignored))
		return 0;
	s = skip_blanks(s);
	if (!strchr("kKMGTPEZY", *s) || !*s)
		return 0;
	for (int i = 0; i < 2; i++) {
		rate_unit(s, units);
		if (fabs(n.value * units[i] - (double)bytes) <= 1.5 * n.resolution * units[i])
			return 1;
	}
	return 0;
}

/* dd's line, whole but for what stands before it: a time of day, the name of a host. */
static int has_transfer_inside(const char *s)
{
	const char *bytes = strstr(s, " bytes (");

	if (bytes && bytes > s && isdigit((unsigned char)bytes[-1]))
		return strstr(bytes, ") copied, ") != NULL;
	bytes = strstr(s, " bytes transferred in ");
	return bytes && bytes > s && isdigit((unsigned char)bytes[-1]) && strchr(bytes, '(');
}

/* Whether what ends there is " s": GNU's seconds in most languages. */
static int ends_in_seconds(const char *end)
{
	return end[-1] == 's' && (end[-2] == ' ' || end[-2] == '\xa0');
}

/* Seconds that may have been printed with more digits, zeros: toybox, which has 0.030 s, prints M/s, GNU
 * MB/s. */
static int may_lack_zeros(const struct parts *parts)
{
	const char *last = parts->seconds_end - 1, *unit = strchr(parts->rate, '/');

	if (!ends_in_seconds(parts->seconds_end) || (unit && strchr("kKMGTPEZY", unit[-1])))
		return 0;
	while (last > parts->seconds && !isdigit((unsigned char)*last))
		last--;
	return *last != '0';
}

static int is_like_transfer(const char *s, int last)
{
	const char *word = s + strcspn(s, " \t\xc2"), *rest;
	struct parts parts;

	if (*s == '#')
		return 0;
	if (begins_number(s)) {
		if (gnu_parts(s, &parts) && ends_in_seconds(parts.seconds_end))
			return 1;
		rest = after_word(skip_blanks(word), "byte");
		rest = rest && *rest == 's' ? rest + 1 : rest;
		if (rest && !isalnum((unsigned char)*rest) && english_goes_on(skip_blanks(rest), last))
			return 1;
		if (is_told_twice(s))
			return 1;
	}
	return has_transfer_inside(s);
}

/* Part of a character beyond ASCII: in Chinese no blank stands between a number and a word. */
static int is_letter_beyond(char c)
{
	return (unsigned char)c >= 0x80;
}

/* Behind a word of such letters, which Chinese and Ukrainian have before their numbers. */
static const char *behind_word_beyond(const char *s)
{
	while (is_letter_beyond(*s))
		s++;
	return skip_blanks(s);
}

/* 1: read; 0: it cannot be, and e says why. */
static int read_transfer(const char *s, struct dd_transfer *ret, struct err *e)
{
	struct dd_transfer t = {0};
	struct parts parts;
	const char *p;

	if (!whole_parse(s, &t.bytes, &p) || (skip_blanks(p) == p && !is_letter_beyond(*p))) {
		err_set(e, ERR_INPUT, "it does not begin with a number of bytes");
		return 0;
	}
	if (isdigit((unsigned char)*skip_blanks(p)) || (!gnu_parts(p, &parts) && !bsd_parts(p, &parts))) {
		err_set(e, ERR_INPUT,
			"it is not whole: 'BYTES bytes … copied, SECONDS s, RATE' or 'BYTES bytes transferred "
			"in SECONDS secs (RATE)'");
		return 0;
	}
	if (seconds_field(&parts, &t.seconds, e) || check_rate(&parts, &t, e))
		return 0;
	if (may_lack_zeros(&parts))
		sharpen(&t.seconds);
	*ret = t;
	return 1;
}

int dd_transfer_line(const char *line, int last, struct dd_transfer *ret, struct err *e)
{
	const char *s = behind_word_beyond(skip_blanks(line));
	int like = isdigit((unsigned char)*s) ? -1 : is_like_transfer(s, last);
	struct err why;

	if (like == 0)
		return 0;
	if (read_transfer(s, ret, &why))
		return 1;
	if (like < 0 && !is_like_transfer(s, last))
		return 0;
	return err_set(e, ERR_INPUT,
		"dd's line '%.*s' cannot be used: %s; put it right or take it away",
		SHOWN, s, why.text);
}

int dd_records_line(const char *line, struct dd_blocks *ret)
{
	struct dd_blocks b;
	const char *p = skip_blanks(line);

	if (!strncmp(p, "^C", 2))
		p += 2;
	p = behind_word_beyond(p);
	if (!whole_parse(p, &b.whole, &p) || *p != '+' || !whole_parse(p + 1, &b.part, &p) ||
		skip_blanks(p) == p || isdigit((unsigned char)*skip_blanks(p)))
		return 0;
	*ret = b;
	return 1;
}

/* The dd of a command line, behind its name: "time (dd if=…", "$ sudo /bin/dd if=…"; else NULL. */
static const char *behind_dd(const char *line)
{
	for (const char *s = strstr(line, "dd"); s; s = strstr(s + 1, "dd"))
		if ((s == line || strchr(" \t(/`;{&", s[-1])) && (s[2] == ' ' || s[2] == '\t'))
			return s + 2;
	return NULL;
}

static int is_word(const char *s, size_t len, const char *word)
{
	return len == strlen(word) && !strncmp(s, word, len);
}

static struct data_told data_from(const char *file, size_t len)
{
	if (is_word(file, len, "/dev/zero"))
		return (struct data_told){1, DATA_ZERO, 0};
	if (is_word(file, len, "/dev/urandom") || is_word(file, len, "/dev/random"))
		return (struct data_told){1, DATA_RANDOM, 0};
	return (struct data_told){0};
}

int dd_command_line(const char *line, struct data_told *ret)
{
	const char *s = behind_dd(line), *from = NULL;
	size_t from_len = 0;
	int has_to = 0, piped;

	while (s && *(s = skip_blanks((char *)s))) {
		size_t key = strspn(s, "abcdefghijklmnopqrstuvwxyz"), len;

		if (!key || s[key] != '=') /* no operand: the command has ended */
			break;
		len = key + 1 + strcspn(s + key + 1, " \t);&|`<>");
		if (is_word(s, key, "if")) {
			from = s + key + 1;
			from_len = len - key - 1;
		}
		has_to |= is_word(s, key, "of");
		s += len;
	}
	if (!from || !has_to)
		return 0;
	piped = strchr(line, '|') && !strstr(line, "||");
	*ret = piped || strstr(s, "if=") ? (struct data_told){0} : data_from(from, from_len);
	return 1;
}

int dd_failure_line(const char *line)
{
	const char *s = after_word(skip_blanks(line), "dd: ");

	return s && !strstr(s, "warning") && !strstr(s, "iflag=fullblock") && strchr(s, ':');
}
