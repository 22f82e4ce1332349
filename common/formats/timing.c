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

/* A time at s that ends the line or is followed by a blank. 0: no number begins here. */
static int time_at(const char *s, struct number *ret, const char **ret_end, struct err *e)
{
	int plain,
		like_number =
			isdigit((unsigned char)*s) || !strncasecmp(s, "nan", 3) ||
			!strncasecmp(s, "inf", 3) ||
			(*s == '-' && (isdigit((unsigned char)s[1]) || s[1] == 'n' || s[1] == 'i'));

	if (!like_number)
		return 0;
	return time_parse(s, COMMA_DECIMAL, ret, &plain, ret_end, e) ? -1 : 1;
}

/* "real	18m15.395s", "user 0.00", "sys 0.00". */
static int word_line(const char *s, struct timing *t, struct err *e)
{
	static const char *const words[] = {"real", "user", "sys"};
	struct number n;
	const char *end;
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (!strncmp(s, words[i], strlen(words[i])) && strchr(" \t", s[strlen(words[i])]) &&
			s[strlen(words[i])])
			break;
	if (i == ARRAY_LEN(words))
		return 0;
	r = time_at(skip_blanks(s + strlen(words[i])), &n, &end, e);
	if (r != 1)
		return r;
	/* busybox: "0m 3.50s" */
	if (*end == ' ' && end[-1] == 'm') {
		struct number seconds;

		r = time_at(skip_blanks(end), &seconds, &end, e);
		if (r != 1)
			return r;
		n.value += seconds.value;
		n.resolution = seconds.resolution;
	}
	if (!is_blank(end))
		return 0;
	t->kind = "bash or posix time";
	t->has_real = i == 0;
	t->has_user = i == 1;
	t->has_system = i == 2;
	*(i == 0 ? &t->real : i == 1 ? &t->user : &t->system) = n;
	return 1;
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
	static const char *const heads[] = {"Elapsed (wall clock) time (h:mm:ss or m:ss):",
		"User time (seconds):", "System time (seconds):"};
	struct number n;
	const char *at = NULL, *end;
	size_t i;
	int r;

	for (i = 0; i < ARRAY_LEN(heads) && !at; i++)
		at = after_word(s, heads[i]);
	if (!at)
		return 0;
	r = time_at(skip_blanks(at), &n, &end, e);
	if (r != 1)
		return r;
	t->kind = "GNU time -v";
	t->has_real = i == 1;
	t->has_user = i == 2;
	t->has_system = i == 3;
	t->ahead = i != 1;
	*(i == 1 ? &t->real : i == 2 ? &t->user : &t->system) = n;
	return 1;
}

/* What GNU time says of a command that failed. */
static int failure_line(const char *s, struct timing *t)
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
	if (!status || !isdigit((unsigned char)*skip_blanks(status)))
		return 0;
	if (strspn(skip_blanks(status), "0") != strlen(skip_blanks(status)))
		snprintf(t->failure, sizeof(t->failure), "the command's exit status was %.20s",
			skip_blanks(status));
	return 1;
}

int timing_line(const char *line, struct timing *ret, struct err *e)
{
	static int (*const shapes[])(const char *, struct timing *, struct err *) = {
		word_line, bsd_line, gnu_line, zsh_line, verbose_line};
	const char *s = skip_blanks(line);

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		struct timing t = {0};
		int r = shapes[i](s, &t, e);

		/* Only a shape that begins with a word of its own may turn a number down. */
		if (r == 1 || (r == -1 && (shapes[i] == word_line || shapes[i] == verbose_line))) {
			*ret = t;
			return r;
		}
	}
	*ret = (struct timing){0};
	return failure_line(s, ret);
}
