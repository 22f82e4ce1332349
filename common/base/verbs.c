/* Verbs of one word or two. Owns nothing beyond a call. */
#include "common/base/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"

/* How many of the words the verb's name is made of; 0 when they are not the verb. */
static int matches(const char *name, char *const *words, int n)
{
	const char *space = strchr(name, ' ');
	size_t first = space ? (size_t)(space - name) : strlen(name);

	if (strncmp(words[0], name, first) || words[0][first])
		return 0;
	if (!space)
		return 1;
	return n > 1 && !strcmp(words[1], space + 1) ? 2 : 0;
}

/* Second words of a group. */
static void group_words(const char *const *names, const char *group, struct strv *ret)
{
	size_t len = strlen(group);

	for (size_t i = 0; names[i]; i++)
		if (!strncmp(names[i], group, len) && names[i][len] == ' ')
			strv_add(ret, names[i] + len + 1);
}

static int no_verb_of_group(
	const char *group, const struct strv *of, const char *word, struct err *e)
{
	const char *near = word ? str_nearest(word, (const char *const *)of->v) : NULL;
	struct buf list = {0};

	for (size_t i = 0; i < of->n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", of->v[i]);
	if (!word || word[0] == '-')
		err_set(e, ERR_USAGE, "'%s' wants one of: %s", group, buf_str(&list));
	else if (near)
		err_set(e, ERR_USAGE, "'%s %s' is no verb (did you mean '%s %s'?)", group, word,
			group, near);
	else
		err_set(e, ERR_USAGE, "'%s %s' is no verb: %s has %s", group, word, group,
			buf_str(&list));
	buf_free(&list);
	return -1;
}

/* Nor is it a group. */
static int no_verb(const char *const *names, const char *word, const char *hint, struct err *e)
{
	struct strv firsts = {0};
	const char *near;

	for (size_t i = 0; names[i]; i++)
		strv_addf(&firsts, "%.*s", (int)strcspn(names[i], " "), names[i]);
	near = str_nearest(word, (const char *const *)firsts.v);
	if (near)
		err_set(e, ERR_USAGE, "'%s' is no verb (did you mean '%s'?)", word, near);
	else
		err_set(e, ERR_USAGE, "'%s' is no verb%s", word, hint);
	strv_free(&firsts);
	return -1;
}

int verb_place(const char *const *names, char *const *words, int n, const char *hint, int *ret_words,
	struct err *e)
{
	struct strv group = {0};
	int rc;

	for (int i = 0; names[i]; i++) {
		*ret_words = matches(names[i], words, n);
		if (*ret_words)
			return i;
	}
	group_words(names, words[0], &group);
	rc = group.n ? no_verb_of_group(words[0], &group, n > 1 ? words[1] : NULL, e)
		     : no_verb(names, words[0], hint, e);
	strv_free(&group);
	return rc;
}
