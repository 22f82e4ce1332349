/* What `lsblk -J -b` prints, of all its versions: pure, text in, structs out. */
#ifndef AGENT_VOLUME_LSBLK_H
#define AGENT_VOLUME_LSBLK_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct blockdev {
	char *kernel;     /* "sdc", without /dev/ */
	char *parent;     /* kernel name of the device it was listed under, or NULL */
	char *type;       /* "disk", "part", "mpath", "lvm", …; "" where the output has none */
	char *serial, *wwn, *model, *transport; /* trimmed; NULL when there is none */
	char *mount;      /* first mount point, or NULL */
	uint64_t bytes;
	uint32_t logical_sector, physical_sector; /* 0 where the output has none */
	int rotational;
};
struct blockdevs {
	struct blockdev *v; /* a device with two parents (multipath, RAID) is there twice */
	size_t n;
};

/* ERR_INPUT when it is not such a document. Numbers may be strings, booleans "0" and "1" (before
 * util-linux 2.33), names may carry /dev/. */
int lsblk_parse(const char *text, size_t len, struct blockdevs *ret, struct err *e);
void blockdevs_free(struct blockdevs *b);
/* Runs lsblk for all devices, or for one (its kernel name). */
int lsblk_read(const char *kernel, struct blockdevs *ret, struct err *e);

#endif
