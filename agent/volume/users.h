/*
 * Who uses a block device without any claim on it that the kernel would tell: a loop device that stands
 * on it, a target that exports it to other hosts, a process that has it open for writing, such as a
 * virtual machine's. O_EXCL finds none of them.
 */
#ifndef AGENT_VOLUME_USERS_H
#define AGENT_VOLUME_USERS_H

#include <stddef.h>
#include <sys/types.h>

struct device_user {
	dev_t dev; /* disk or partition */
	char *who; /* "below the loop device loop3" */
};
struct device_users {
	struct device_user *v;
	size_t n, cap;
};
/* Block devices that loop devices stand on. Appended. */
void device_users_loops(struct device_users *ret);
/* Block devices that the kernel's targets (SCSI and NVMe) export, by what their configuration in `root`
 * says ("/sys/kernel/config"). Appended. */
void device_users_targets(const char *root, struct device_users *ret);
/* Block devices that processes of this host have open for writing, as far as we may see; our own and
 * what hangs are passed over. Appended. */
void device_users_writers(struct device_users *ret);
/* Drops the devices of u that are not among those of `still`; of the others it says what that says. */
void device_users_keep(struct device_users *u, const struct device_users *still);
void device_users_free(struct device_users *u);
/* Borrowed; NULL when nobody is known. */
const char *device_users_find(const struct device_users *u, dev_t dev);

#endif
