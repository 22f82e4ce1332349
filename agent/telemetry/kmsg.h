/*
 * Failed requests to disks, as the kernel's log tells them: of every driver that takes requests, in one
 * form. The log has limits: it forgets its oldest records, and of more than KMSG_BURST failures within
 * KMSG_BURST_US, of whatever disks, the kernel leaves out the rest, so that a count is what there was at
 * least.
 */
#ifndef AGENT_TELEMETRY_KMSG_H
#define AGENT_TELEMETRY_KMSG_H

#include <stddef.h>
#include <stdint.h>

#define KMSG "/dev/kmsg"
#define KMSG_ERRORS_MAX 1000 /* the last ones are kept */
#define KMSG_DISK_MAX 32
#define KMSG_BURST 10
#define KMSG_BURST_US (6 * 1000000LL) /* 5 s, and one to spare */

struct kmsg_error {
	uint64_t number; /* of the record */
	int64_t us;      /* of the log's own clock */
	char disk[KMSG_DISK_MAX]; /* kernel name of a whole disk */
};
struct kmsg {
	int known;
	uint64_t first, next; /* numbers of the oldest record and of the one that is still to come */
	int64_t us;           /* of the newest record; later where that was long before it was read */
	struct kmsg_error *errors;
	size_t n, cap;
};
/* Reads what is there, without waiting. Where it may not be read, known is 0. */
void kmsg_read(const char *path, struct kmsg *ret);
void kmsg_clear(struct kmsg *k);
/* One record as /dev/kmsg gives it, "6,1234,567,-;text": taken into k. */
void kmsg_take(struct kmsg *k, const char *record);
/* Failures on that disk between two readings; -1: some records between them are gone, or there are none of
 * that disk while others failed so often that its own may have been left out. */
int64_t kmsg_count(const struct kmsg *before, const struct kmsg *after, const char *disk);
/* Whether failed requests of that disk would be in the log at all: not of memory, and not of what only
 * hands requests on. */
int kmsg_tells(const char *disk);

#endif
