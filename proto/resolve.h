/* Host names to addresses without blocking the loop: numeric, /etc/hosts, DNS. */
#ifndef PROTO_RESOLVE_H
#define PROTO_RESOLVE_H

#include <event2/event.h>
#include <event2/util.h>

#include "common/base/err.h"

struct resolve;
/* list (NULL on failure, then `why` says more) is valid during the call. Called once, from the
 * loop; the handle is dead then. */
typedef void resolve_fn(void *arg, const struct evutil_addrinfo *list, const struct err *why);

struct resolve *resolve_start(
	struct event_base *base, const char *host, const char *port, resolve_fn *fn, void *arg);
/* fn is not called any more; the handle is dead at once. */
void resolve_cancel(struct resolve *r);

#endif
