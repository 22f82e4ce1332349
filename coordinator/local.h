/*
 * Local administration through STATE/control.sock: the same frames as TLS, peer credentials in the
 * place of a certificate. Only root and the daemon's own user get in.
 */
#ifndef COORDINATOR_LOCAL_H
#define COORDINATOR_LOCAL_H

#include "coordinator/coordinator.h"
#include "proto/msg.h"

int local_open(struct coordinator *co, struct local **ret, struct err *e);
void local_close(struct local *l);

/* ---- the other end, for the daemon's own verbs; blocking ---- */

/* Connected and greeted; ERR_CONN when no daemon runs there (then *ret_fd is untouched). */
int local_connect(const struct options *o, int *ret_fd, struct err *e);
/* One call; every JSON line goes to line(). Fails with the coordinator's own error. */
int local_call(int fd, const struct msg_call *call, void (*line)(void *arg, const char *text),
	void *arg, struct err *e);

#endif
