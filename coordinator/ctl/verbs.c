/* The table of verbs, and how one is found in it. */
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/verbs.h"

const struct verb *const verbs[] = {&verb_local, &verb_login, &verb_plan_new, &verb_plan_check,
	&verb_run, &verb_runs, &verb_show, &verb_watch, &verb_cancel, &verb_resume, &verb_report, &verb_compare,
	&verb_import, &verb_export, &verb_host_list, &verb_host_show, &verb_host_disks, &verb_host_tag,
	&verb_host_pause, &verb_host_revoke, &verb_host_remove, &verb_token_create,
	&verb_token_list, &verb_token_revoke, NULL};

#define VERBS_MAX (sizeof(verbs) / sizeof(verbs[0]))

/* How many of the words the verb's name is made of; 0 when they are not the verb. */
static int matches(const struct verb *v, char *const *words, int n)
{
	const char *space = strchr(v->name, ' ');
	size_t first = space ? (size_t)(space - v->name) : strlen(v->name);

	if (strncmp(words[0], v->name, first) || words[0][first])
		return 0;
	if (!space)
		return 1;
	return n > 1 && !strcmp(words[1], space + 1) ? 2 : 0;
}

/* The second words of a group such as "host"; returns how many. */
static size_t group_words(const char *group, const char *ret[VERBS_MAX])
{
	size_t n = 0, len = strlen(group);

	for (size_t i = 0; verbs[i]; i++)
		if (!strncmp(verbs[i]->name, group, len) && verbs[i]->name[len] == ' ')
			ret[n++] = verbs[i]->name + len + 1;
	ret[n] = NULL;
	return n;
}

static int no_verb_of_group(const char *group, const char *word, struct err *e)
{
	const char *names[VERBS_MAX], *near;
	struct buf list = {0};
	size_t n = group_words(group, names);

	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", names[i]);
	near = word ? str_nearest(word, names) : NULL;
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

const struct verb *verb_find(char *const *words, int n, int *ret_words, struct err *e)
{
	const char *names[VERBS_MAX + 2], *near;
	size_t count = 0;
	int used;

	for (size_t i = 0; verbs[i]; i++) {
		used = matches(verbs[i], words, n);
		if (used) {
			*ret_words = used;
			return verbs[i];
		}
	}
	if (group_words(words[0], names)) {
		no_verb_of_group(words[0], n > 1 ? words[1] : NULL, e);
		return NULL;
	}
	for (size_t i = 0; verbs[i]; i++)
		if (!strchr(verbs[i]->name, ' '))
			names[count++] = verbs[i]->name;
	names[count++] = "host";
	names[count++] = "token";
	names[count++] = "plan";
	names[count] = NULL;
	near = str_nearest(words[0], names);
	if (near)
		err_set(e, ERR_USAGE, "'%s' is no verb (did you mean '%s'?)", words[0], near);
	else
		err_set(e, ERR_USAGE, "'%s' is no verb", words[0]);
	return NULL;
}
