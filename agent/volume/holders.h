/*
 * Who keeps a file system that was unmounted here alive: copies of its mount in other mount namespaces
 * (of containers, of services), other mounts of it, files that are still open on it.
 */
#ifndef AGENT_VOLUME_HOLDERS_H
#define AGENT_VOLUME_HOLDERS_H

#include <sys/types.h>

#include "agent/volume/mounts.h"
#include "common/base/err.h"

/* "process 4242 (sleep) has it mounted at /x in another mount namespace: end …" for the file system on
 * the block device of that number; caller frees. NULL: nobody is found. */
char *holders_of_device(dev_t dev);
/* To an error of an unmount: which process has files open on what is mounted there. Left as it is when
 * that is nobody. */
void holders_explain_mount(const char *point, struct err *e);
/* The same for a pool that could not be exported or destroyed, and who has it or a dataset of it mounted
 * in another namespace. */
void holders_explain_pool(const char *pool, const char *point, struct err *e);
/* Some file system, or somebody else, claims the block device now. */
int holders_are_there(const char *device);
/* After an unmount: waits until no file system holds the device, 10 s at most; ERR_BUSY then says who
 * does. What cannot be opened at all is left to whoever needs it next. */
int holders_await_none(const char *device, struct err *e);
/* A dataset's name, or a mount's source, is the pool or in it. */
int holders_is_of_pool(const char *source, const char *pool);

#endif
