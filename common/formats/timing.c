/*
 * One line of a time command, in any of the shapes there are. Owns nothing.
 * Invariant: a line that begins like a timing and has a broken number is an error, not text.
 */
#include "common/formats/timing.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"

/* nan, inf or infinity, and no longer word but for what times print behind a number. */
static int is_no_number(const char *s)
{
	static const char *const heads[] = {"nan", "infinity", "inf"};
	static const char *const tails[] = {"s", "elapsed", "user", "system", "real"};
	const char *p = NULL;

	for (size_t i = 0; i < ARRAY_LEN(heads) && !p; i++)
		p = after_word(s, heads[i]);
	if (!p || !isalpha((unsigned char)*p))
		return p != NULL;
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		const char *end = after_word(p, tails[i]);

		if (end && !isalpha((unsigned char)*end))
			return 1;
	}
	return 0;
}

static int like_number(const char *s)
{
	if (*s == '-' || *s == '+' || *s == '.' || *s == ',')
		return isdigit((unsigned char)s[1]) || is_no_number(s + 1);
	return isdigit((unsigned char)*s) || is_no_number(s);
}

/* A time at s. 0: no number begins here. */
static int time_at(const char *s, struct number *ret, const char **ret_end, struct err *e)
{
	int plain;

	if (!like_number(s))
		return 0;
	return time_parse(s, COMMA_DECIMAL, ret, &plain, ret_end, e) ? -1 : 1;
}

/* What stands behind the number of "real 1.5…". 0: nothing; 1: the line is prose; -1: it was no
 * number, or not all of it. */
static int rest_of_word_line(const char *end, int tab)
{
	const char *p = skip_blanks(end);

	if (!*p)
		return 0;
	if (p == end && !isdigit((unsigned char)*p) && !strchr(".,:'", *p))
		return is_blank(p + strcspn(p, " \t")) ? -1 : 1;
	return p == end || tab || like_number(p) ? -1 : 1;
}

enum { REAL, USER, SYSTEM };

static void set_time(struct timing *t, int which, const struct number *n)
{
	t->has_real = which == REAL;
	t->has_user = which == USER;
	t->has_system = which == SYSTEM;
	*(which == REAL ? &t->real : which == USER ? &t->user : &t->system) = *n;
}

/* "real	18m15.395s", "user 0.00", "sys 0.00". */
static int word_line(const char *s, struct timing *t, struct err *e)
{
	static const char *const words[] = {"real", "user", "sys"};
	const char *at = NULL, *end;
	struct number n;
	size_t i;
	int r, tab;

	for (i = 0; i < ARRAY_LEN(words) && !at; i++)
		if (!strncmp(s, words[i], strlen(words[i])))
			at = s + strlen(words[i]);
	if (!at || (*at && *at != ' ' && *at != '\t'))
		return 0;
	i--;
	tab = *at == '\t';
	if (is_blank(at))
		return i == 0 || *at ? err_set(e, ERR_INPUT, "there is no time behind '%s'", words[i]) : 0;
	at = skip_blanks(at);
	r = time_at(at, &n, &end, e);
	if (r != 1)
		return r;
	r = rest_of_word_line(end, tab);
	if (r < 0 || (r == 0 && end[-1] == 'm'))
		return err_set(e, ERR_INPUT, "'%.40s' is not a time, such as 0m1.234s or 1.23, or not all of it", at);
	t->kind = "bash or posix time";
	set_time(t, (int)i, &n);
	return r == 0;
}

/* A number, then a word: "0.00 real", "0.34elapsed", "0.00s user". */
static int number_word(const char **s, const char *word, struct number *ret, struct err *e)
{
	const char *p = skip_blanks(*s), *after;
	int r = time_at(p, ret, &p, e);

	if (r != 1)
		return r;
	after = after_word(skip_blanks(p), word);
	if (!after)
		return 0;
	*s = after;
	return 1;
}

/* "0.00 real  0.00 user  0.00 sys" (BSD; ksh with 0m0.00s). */
static int bsd_line(const char *s, struct timing *t, struct err *e)
{
	int r = number_word(&s, "real", &t->real, e);

	r = r == 1 ? number_word(&s, "user", &t->user, e) : r;
	r = r == 1 ? number_word(&s, "sys", &t->system, e) : r;
	if (r != 1)
		return r;
	t->kind = "BSD time";
	t->has_real = t->has_user = t->has_system = 1;
	return 1;
}

/* "0.00user 0.00system 0:00.34elapsed 0%CPU (…)". */
static int gnu_line(const char *s, struct timing *t, struct err *e)
{
	int r = number_word(&s, "user", &t->user, e);

	r = r == 1 ? number_word(&s, "system", &t->system, e) : r;
	r = r == 1 ? number_word(&s, "elapsed", &t->real, e) : r;
	if (r != 1)
		return r;
	t->kind = "GNU time";
	t->has_real = t->has_user = t->has_system = 1;
	return 1;
}

/* "COMMAND  0.00s user 0.00s system 0% cpu 0.305 total". */
static int zsh_line(const char *s, struct timing *t, struct err *e)
{
	const char *user = strstr(s, "s user "), *cpu = user ? strstr(user, "% cpu ") : NULL;
	const char *p = user;
	int r;

	if (!cpu)
		return 0;
	while (p > s && (isdigit((unsigned char)p[-1]) || strchr(".,", p[-1])))
		p--;
	r = number_word(&p, "user", &t->user, e);
	r = r == 1 ? number_word(&p, "system", &t->system, e) : r;
	p = cpu + strlen("% cpu ");
	r = r == 1 ? number_word(&p, "total", &t->real, e) : r;
	if (r != 1)
		return r;
	t->kind = "zsh time";
	t->has_real = t->has_user = t->has_system = 1;
	return 1;
}

static int verbose_line(const char *s, struct timing *t, struct err *e)
{
	static const struct {
		const char *head, *kind;
		int which;
	} lines[] = {{"User time (seconds):", "GNU time -v", USER},
		{"System time (seconds):", "GNU time -v", SYSTEM},
		{"Elapsed (wall clock) time (h:mm:ss or m:ss):", "GNU time -v", REAL},
		{"Real time (s):", "toybox time -v", REAL}, {"User time (s):", "toybox time -v", USER},
		{"System time (s):", "toybox time -v", SYSTEM}};
	struct number n;
	const char *at = NULL, *end;
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(lines) && !at; i++)
		at = after_word(s, lines[i].head);
	if (!at)
		return after_word(s, "Elapsed (wall clock) ")
			       ? err_set(e, ERR_INPUT, "'%.60s' is not a whole line of GNU time -v", s)
			       : 0;
	at = skip_blanks(at);
	r = time_at(at, &n, &end, e);
	t->kind = lines[--i].kind;
	if (r < 0)
		return -1;
	if (r == 0 || !is_blank(end))
		return err_set(e, ERR_INPUT, "'%.40s' is not a time of %s, or not all of it", at, t->kind);
	set_time(t, lines[i].which, &n);
	t->ahead = i < 2;
	t->step = i < 3 ? 0 : 1e-6;
	return 1;
}

/* "Executed in    1.50 secs      fish           external", and the processor's below it. */
static int fish_line(const char *s, struct timing *t, struct err *e)
{
	static const char *const heads[] = {"Executed in ", "usr time ", "sys time "};
	struct number n;
	const char *at = NULL, *end;
	int i, plain;

	for (i = 0; i < 3 && !at; i++)
		at = after_word(s, heads[i]);
	if (!at || !like_number(skip_blanks(at)))
		return 0;
	at = skip_blanks(at);
	if (time_parse(at, COMMA_DECIMAL, &n, &plain, &end, e))
		return -1;
	if (plain || is_blank(end))
		return err_set(e, ERR_INPUT, "'%.60s' is not a whole line of fish's time", s);
	t->kind = "fish time";
	set_time(t, i - 1, &n);
	return 1;
}

/* "1.500u 0.100s 0:03.25 49.2%	0+0k 0+0io 0pf+0w". */
static int csh_line(const char *s, struct timing *t, struct err *e)
{
	const char *p = s;

	if (!isdigit((unsigned char)*p) || time_at(p, &t->user, &p, e) != 1 || *p != 'u' || p[1] != ' ')
		return 0;
	p = skip_blanks(p + 1);
	if (!isdigit((unsigned char)*p) || time_at(p, &t->system, &p, e) != 1 || p[-1] != 's' || *p != ' ')
		return 0;
	p = skip_blanks(p);
	if (time_at(p, &t->real, &p, e) < 0)
		return -1;
	if (*p != ' ' || !strchr(p, '%'))
		return err_set(e, ERR_INPUT, "'%.60s' is not a whole line of csh's time", s);
	t->kind = "csh time";
	t->has_real = t->has_user = t->has_system = 1;
	return 1;
}

/* What GNU time says of a command that failed. */
static int failure_line(const char *s, struct timing *t, struct err *e)
{
	static const char *const ahead[] = {
		"Command exited with non-zero status ", "Command terminated by signal "};
	const char *status = after_word(s, "Exit status:");

	t->kind = "GNU time";
	for (size_t i = 0; i < ARRAY_LEN(ahead); i++)
		if (after_word(s, ahead[i])) {
			snprintf(t->failure, sizeof(t->failure), "%.70s", s);
			t->failure_ahead = 1;
			return 1;
		}
	if (!status)
		return 0;
	status = skip_blanks(status);
	if (!isdigit((unsigned char)*status))
		return err_set(e, ERR_INPUT, "'%.40s' does not say the command's exit status", s);
	if (strspn(status, "0") != strlen(status))
		snprintf(t->failure, sizeof(t->failure), "the command's exit status was %.20s", status);
	return 1;
}

/* "3.25 real", and a number or nothing behind it: how BSD's line begins. */
static int begins_bsd(const char *s)
{
	const char *p;

	if (!like_number(s))
		return 0;
	p = skip_blanks(s + strcspn(s, " \t"));
	if (strncmp(p, "real", 4) != 0)
		return 0;
	p += 4;
	return is_blank(p) || (skip_blanks(p) != p && like_number(skip_blanks(p)));
}

/* "0.00user" at the beginning, or "0:01.50elapsed" anywhere. */
static int begins_gnu(const char *s)
{
	const char *user = strstr(s, "user"), *word = strstr(s, "elapsed");

	if (user && user > s && like_number(s) && strcspn(s, " \t") == (size_t)(user - s) + 4)
		return 1;
	while (word && word > s && !isspace((unsigned char)word[-1]))
		word--;
	return word && like_number(word);
}

/* "1.50s user 0.10s system", or what is left of it at the end of the line. */
static int has_zsh(const char *s)
{
	const char *user = strstr(s, "s user "), *from = user, *number, *end;

	while (from && from > s && !isspace((unsigned char)from[-1]))
		from--;
	if (!user || !like_number(from))
		return 0;
	number = skip_blanks(user + strlen("s user "));
	end = number + strcspn(number, " \t");
	return like_number(number) && (is_blank(end) || after_word(skip_blanks(end), "system"));
}

/* The error with what to do about it; returns -1. */
static int wrong_line(struct err *e)
{
	struct err why = *e;

	return err_set(e, ERR_INPUT, "%s: put this line of time right or take it away", why.text);
}

int timing_line(const char *line, struct timing *ret, struct err *e)
{
	static int (*const shapes[])(const char *, struct timing *, struct err *) = {
		word_line, verbose_line, failure_line, fish_line, csh_line, bsd_line, gnu_line, zsh_line};
	enum { OWN_WORDS = 5 }; /* shapes that begin with a word of their own: they may turn a number down */
	const char *s = skip_blanks(line);
	struct err why;
	int broken = 0;

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct timing t = {0};
		int r = shapes[i](s, &t, i < OWN_WORDS || broken ? e : &why);

		if (r == 1) {
			*ret = t;
			return 1;
		}
		if (r == -1 && i < OWN_WORDS)
			return wrong_line(e);
		broken |= r == -1;
	}
	*ret = (struct timing){0};
	if (!begins_bsd(s) && !begins_gnu(s) && !has_zsh(s))
		return 0;
	if (broken)
		*e = why;
	else
		err_set(e, ERR_INPUT, "'%.60s' is cut off or has another number than a time", s);
	return wrong_line(e);
}

/* No tool prints a time without a unit in less than hundredths of a second, toybox -v less than six
 * decimals, or leaves the end of the line away. */
int timing_check(struct reader *r, const struct timing *t)
{
	double step = t->step > 0 ? t->step : 0.01;

	if (reader_is_open(r) && isdigit((unsigned char)r->s[r->len - 1]) && t->real.resolution > 1.1 * step)
		return reader_wrong(r,
			"the text ends in '%.40s', which is cut off: end the line where it is not",
			skip_blanks(r->s));
	return seconds_check(&t->real, r->e) ? reader_place(r) : 0;
}
