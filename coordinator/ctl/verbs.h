/* All verbs, each from the file of its (first) word. */
#ifndef COORDINATOR_CTL_VERBS_H
#define COORDINATOR_CTL_VERBS_H

#include "coordinator/ctl/ctl.h"

extern const struct verb verb_local, verb_login, verb_plan_new, verb_plan_check, verb_run,
	verb_runs, verb_show, verb_watch, verb_cancel, verb_resume, verb_report, verb_compare, verb_import,
	verb_export,
	verb_host_list, verb_host_show, verb_host_disks, verb_host_tag, verb_host_pause,
	verb_host_revoke, verb_host_remove, verb_token_create, verb_token_list, verb_token_revoke;

#endif
