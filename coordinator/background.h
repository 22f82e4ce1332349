/*
 * Work that blocks for long (a backup, a check of the store), in a thread of its own so that the
 * loop goes on. One at a time; a second is told to wait.
 */
#ifndef COORDINATOR_BACKGROUND_H
#define COORDINATOR_BACKGROUND_H

#include "coordinator/coordinator.h"

/* work runs in the thread and may touch only its arg; done runs on the loop afterwards. ERR_BUSY
 * while another is under way. */
int background_start(struct coordinator *co, void (*work)(void *arg), void (*done)(void *arg),
	void *arg, struct err *e);
/* Waits for what is under way; its done runs. */
void background_finish(struct coordinator *co);

#endif
