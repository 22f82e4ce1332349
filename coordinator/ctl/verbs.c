/* The table of verbs, and how one is found in it. */
#include "common/base/verbs.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/verbs.h"

const struct verb *const verbs[] = {&verb_local, &verb_login, &verb_plan_new, &verb_plan_check,
	&verb_run, &verb_runs, &verb_show, &verb_watch, &verb_cancel, &verb_resume, &verb_report, &verb_compare,
	&verb_import, &verb_export, &verb_host_list, &verb_host_show, &verb_host_disks, &verb_host_tag,
	&verb_host_pause, &verb_host_revoke, &verb_host_remove, &verb_token_create,
	&verb_token_list, &verb_token_revoke, NULL};

#define VERBS_MAX (sizeof(verbs) / sizeof(verbs[0]))

const struct verb *verb_find(char *const *words, int n, int *ret_words, struct err *e)
{
	const char *names[VERBS_MAX] = {0};
	int at;

	for (size_t i = 0; verbs[i]; i++)
		names[i] = verbs[i]->name;
	at = verb_place(names, words, n, "", ret_words, e);
	return at < 0 ? NULL : verbs[at];
}
