/* From "host:port" to a connected TCP socket, without blocking; each address is tried in turn. */
#ifndef PROTO_DIAL_H
#define PROTO_DIAL_H

#include <event2/event.h>

#include "common/base/err.h"

struct dial;
/* fd >= 0: connected, non-blocking, now the callee's; -1: `why` tells the last failure. Called once
 * from the loop; the handle is dead then. */
typedef void dial_fn(void *arg, int fd, const struct err *why);

/* deadline_ms: what the caller will wait; no single address gets all of it. ERR_USAGE when
 * host_port is not one. */
int dial_start(struct event_base *base, const char *host_port, unsigned deadline_ms, dial_fn *fn,
	void *arg, struct dial **ret, struct err *e);
/* fn is not called any more; the handle is dead at once. */
void dial_cancel(struct dial *d);

#endif
