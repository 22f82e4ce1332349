/*
 * Command lines on getopt_long. Owns nothing.
 * Invariant: the codes given to getopt_long are 1000 + the option's place in both lists.
 */
#include "common/base/args.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define CODE_BASE 1000
#define OPTIONS_MAX 32

/* All options of one command line, in the form that getopt_long wants. */
struct table {
	const struct option_spec *spec[OPTIONS_MAX];
	struct option longs[OPTIONS_MAX + 1];
	char letters[2 * OPTIONS_MAX + 4];
	const char *names[OPTIONS_MAX + 1];
	int n;
};

static void table_add(struct table *t, const struct option_spec *list)
{
	char *end = t->letters + strlen(t->letters);

	for (; list && list->name && t->n < OPTIONS_MAX; list++, t->n++) {
		t->spec[t->n] = list;
		t->names[t->n] = list->name;
		t->longs[t->n] = (struct option){list->name,
			list->value ? required_argument : no_argument, NULL, CODE_BASE + t->n};
		if (!list->letter)
			continue;
		*end++ = list->letter;
		if (list->value)
			*end++ = ':';
		*end = '\0';
	}
}

static const struct option_spec *by_code(const struct table *t, int code)
{
	if (code >= CODE_BASE && code < CODE_BASE + t->n)
		return t->spec[code - CODE_BASE];
	for (int i = 0; i < t->n; i++)
		if (t->spec[i]->letter && t->spec[i]->letter == code)
			return t->spec[i];
	return NULL;
}

static int wrong_option(const struct table *t, const char *word, struct err *e)
{
	const char *near = NULL;
	char *name;

	if (!strncmp(word, "--", 2)) {
		name = xstrndup(word + 2, strcspn(word + 2, "="));
		near = str_nearest(name, t->names);
		free(name);
	}
	if (near)
		return err_set(
			e, ERR_USAGE, "unknown option '%s' (did you mean '--%s'?)", word, near);
	return err_set(e, ERR_USAGE, "unknown option '%s'", word);
}

/* Why getopt_long refused: code is '?' or ':', optopt says what. */
static int refused(const struct table *t, int code, char **argv, struct err *e)
{
	const struct option_spec *s = by_code(t, optopt);
	char letter[3] = {'-', (char)optopt, '\0'};

	if (code == ':' && s)
		return err_set(e, ERR_USAGE, "option '--%s' wants a value: %s", s->name, s->value);
	if (s)
		return err_set(e, ERR_USAGE, "option '--%s' takes no value", s->name);
	return wrong_option(t, optopt ? letter : argv[optind - 1], e);
}

static void add_given(struct args *a, const struct option_spec *s, const char *value)
{
	a->given = xgrow(a->given, a->n_given, &a->cap, sizeof(*a->given));
	a->given[a->n_given++] = (struct given_option){s, s->value ? value : ""};
}

int args_parse(int argc, char **argv, const struct option_spec *common,
	const struct option_spec *own, int in_order, struct args *ret, struct err *e)
{
	struct table t = {.n = 0};
	int code;

	snprintf(t.letters, sizeof(t.letters), "%s", in_order ? "+:" : ":");
	table_add(&t, common);
	table_add(&t, own);
	opterr = 0;
	optind = 0; /* glibc: start anew, also when the last call stopped inside a word */
	while ((code = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct option_spec *s = by_code(&t, code);

		if (!s)
			return refused(&t, code, argv, e);
		add_given(ret, s, optarg);
	}
	ret->v = argv + optind;
	ret->n = argc - optind;
	return 0;
}

void args_clear(struct args *a)
{
	free(a->given);
	memset(a, 0, sizeof(*a));
}

const char *args_get(const struct args *a, const char *name)
{
	for (size_t i = a->n_given; i-- > 0;)
		if (!strcmp(a->given[i].spec->name, name))
			return a->given[i].value;
	return NULL;
}

static void add_split(const char *list, struct strv *ret)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (n)
			strv_add_owned(ret, xstrndup(list, n));
		list += n + (list[n] == ',');
	}
}

void args_all(const struct args *a, const char *name, int commas, struct strv *ret)
{
	for (size_t i = 0; i < a->n_given; i++) {
		if (strcmp(a->given[i].spec->name, name))
			continue;
		if (commas)
			add_split(a->given[i].value, ret);
		else
			strv_add(ret, a->given[i].value);
	}
}
