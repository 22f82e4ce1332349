/*
 * The monitor: the agent's own process, as root where there is root. It owns policy, journal and job
 * state, runs the event loop, and touches neither network nor disks itself.
 */
#ifndef AGENT_MONITOR_H
#define AGENT_MONITOR_H

#include "agent/host.h"

/* `run`: serves until SIGTERM or SIGINT, which stop the job cleanly first; a second one hurries.
 * 0 after a clean stop. */
int monitor_run(const struct agent_options *opt, struct err *e);

/* For `stop` when no agent runs: takes down whatever journals and kept volumes there are. */
int monitor_clean_up(const struct agent_options *opt, struct err *e);

#endif
