/* From the command line's coordinator to a connected client. */
#ifndef COORDINATOR_CTL_CONNECT_H
#define COORDINATOR_CTL_CONNECT_H

#include "coordinator/ctl/client.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/private.h"

struct connection {
	struct client *client;
	struct private *private; /* held while the client uses the private coordinator; or NULL */
};

/* Resolves, starts the private coordinator when it is that, connects, says hello. */
int connection_open(struct ctl *ctl, struct connection *ret, struct err *e);
void connection_close(struct connection *c);

/* For people: why the coordinator stores nothing now, or, trouble NULL, that it does again. */
void connection_trouble_text(const char *trouble, struct buf *out);

/* A whole session for one call, whose lines are collected as an array, or whose first line is
 * the answer. The caller owns *ret. */
int connection_collect(struct ctl *ctl, const struct msg_call *call, json_t **ret, struct err *e);
int connection_one(struct ctl *ctl, const struct msg_call *call, json_t **ret, struct err *e);

#endif
