/* What the files of the tasks share. */
#ifndef AGENT_TASKS_INTERNAL_H
#define AGENT_TASKS_INTERNAL_H

#include "agent/tasks.h"

/* All that the host itself says; zero else. */
void task_fill_ctx(struct volume_ctx *ctx, const struct host *h);

#endif
