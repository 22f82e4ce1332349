/* What a session of an agent does: statuses, inventories, job answers, previews, batches. */
#ifndef COORDINATOR_AGENTS_H
#define COORDINATOR_AGENTS_H

#include "coordinator/sessions.h"
#include "proto/msg.h"

/* The hello fits: takes the host's place (an older session of the same name ends) and credit. */
void agent_opened(struct session *s);
/* A message that the session's table lets pass; fields are taken by setting them NULL. */
void agent_message(struct session *s, struct msg *m);
void agent_closed(struct session *s);

#endif
