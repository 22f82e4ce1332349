/*
 * Readers of what vendors' tools print, one a tool. Pure: text in, state out. Each adds to *s; -1 and
 * ERR_INPUT when the text is not that tool's, or says that it failed. A text that says that there is no
 * controller adds nothing.
 */
#ifndef AGENT_CONTROLLER_READERS_H
#define AGENT_CONTROLLER_READERS_H

#include <stddef.h>

#include "agent/controller/controller.h"

/* storcli and perccli, both generations, with J: `/call show all`, `/call/vall show all`,
 * `/call show patrolread`; any of them, told by content. */
int storcli_read(const char *text, size_t len, struct raid_state *s, struct err *e);
/* MegaCli: -LDInfo -Lall -aALL, -PDList -aALL, -AdpPR -Info -aALL, -AdpBbuCmd -GetBbuStatus -aALL. */
int megacli_read(const char *text, size_t len, struct raid_state *s, struct err *e);
/* ssacli, hpssacli, hpacucli: ctrl all show config detail. */
int ssacli_read(const char *text, size_t len, struct raid_state *s, struct err *e);
/* arcconf: GETCONFIG n, GETSTATUS n; controller is n, from 1. One that is beyond those found adds
 * nothing. */
int arcconf_read(
	const char *text, size_t len, unsigned controller, struct raid_state *s, struct err *e);

#endif
