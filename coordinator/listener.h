/* The TCP socket that agents and control clients connect to. */
#ifndef COORDINATOR_LISTENER_H
#define COORDINATOR_LISTENER_H

#include "coordinator/coordinator.h"

/* Binds, listens, writes the bound address to STATE/listen. */
int listener_open(struct coordinator *co, struct listener **ret, struct err *e);
void listener_close(struct listener *l);
const char *listener_address(const struct listener *l); /* "127.0.0.1:7420", "[::]:7420" */

#endif
