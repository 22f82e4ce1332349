/* The table of verbs, and how one is found in it. */
#include <string.h>

#include "common/base/verbs.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/verbs.h"

const struct verb *const verbs[] = {&verb_local, &verb_login, &verb_plan_new, &verb_plan_check,
	&verb_run, &verb_runs, &verb_show, &verb_watch, &verb_cancel, &verb_resume, &verb_report, &verb_compare,
	&verb_import, &verb_export, &verb_host_list, &verb_host_show, &verb_host_disks, &verb_host_tag,
	&verb_host_pause, &verb_host_revoke, &verb_host_remove, &verb_token_create,
	&verb_token_list, &verb_token_revoke, NULL};

#define VERBS_MAX (sizeof(verbs) / sizeof(verbs[0]))

/* What people look for under another name, with a second word where the first is a group. */
static const struct {
	const char *first, *second, *instead;
} elsewhere[] = {
	{"host", "resume", "say `arraymark host pause HOST off`"},
	{"backup", NULL, "`arraymark-coordinator backup FILE` does it, on the coordinator's machine"},
	{"restore", NULL, "`arraymark-coordinator restore FILE` does it, on the coordinator's machine"},
	{"retry", NULL, "`arraymark resume RUN` runs what is missing, `arraymark run FILE` all anew"},
	{"schedule", NULL, "have cron or a timer of systemd say `arraymark run --detach FILE`"},
};

/* -1 and an error when the words are one of these, else 0. */
static int is_elsewhere(char *const *words, int n, struct err *e)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		const char *second = elsewhere[i].second;

		if (strcmp(words[0], elsewhere[i].first))
			continue;
		if (!second || (n > 1 && !strcmp(words[1], second)))
			return err_set(e, ERR_USAGE, "'%s%s%s' is no verb: %s", words[0],
				second ? " " : "", second ? second : "", elsewhere[i].instead);
	}
	return 0;
}

const struct verb *verb_find(char *const *words, int n, int *ret_words, struct err *e)
{
	const char *names[VERBS_MAX] = {0};
	int at;

	for (size_t i = 0; verbs[i]; i++)
		names[i] = verbs[i]->name;
	if (is_elsewhere(words, n, e))
		return NULL;
	at = verb_place(names, words, n, "", ret_words, e);
	return at < 0 ? NULL : verbs[at];
}
