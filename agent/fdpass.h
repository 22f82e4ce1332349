/* Descriptors from one process of the agent to another, over a socket. */
#ifndef AGENT_FDPASS_H
#define AGENT_FDPASS_H

#include <stddef.h>

#include "common/base/err.h"

#define FDPASS_MAX 250 /* of one message; the kernel takes 253 */

/* In one message; it waits in the socket until somebody takes it, whoever sent it may be gone. */
int fds_send(int to, const int *fds, size_t n, struct err *e);
/* Takes exactly n, which close on exec; the caller closes them. Anything else is an error. */
int fds_receive(int from, int *fds, size_t n, struct err *e);

#endif
