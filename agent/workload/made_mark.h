/*
 * A mark in a volume that says: a workload's files were made for this trial, and are as it wants them.
 * Whoever makes them before the caches are made cold leaves it; the trial takes it, and makes nothing.
 */
#ifndef AGENT_WORKLOAD_MADE_MARK_H
#define AGENT_WORKLOAD_MADE_MARK_H

#include <stdint.h>

#include "common/base/err.h"

/* Writes the file `name` in the folder, and syncs it. shown: the folder, for the error. */
int made_mark_write(int dir, const char *shown, const char *name, uint64_t seed, struct err *e);
/* 1: it was there, with that seed, and is gone now: it is good for one trial. */
int made_mark_take(int dir, const char *name, uint64_t *ret_seed);

#endif
