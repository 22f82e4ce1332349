/* What an NVMe disk counts about itself: its SMART log, asked of the kernel without any other program. */
#ifndef AGENT_TELEMETRY_NVME_H
#define AGENT_TELEMETRY_NVME_H

#include <stdint.h>

#define NVME_SMART_BYTES 512

struct nvme_smart {
	int too_hot;           /* now above the limit that it warns at */
	uint64_t media_errors; /* data that it could not give back, since it was made */
	uint64_t slowed;       /* times that it slowed itself down because of heat */
};
/* NVM Express base specification, log page 02h: little endian. */
void nvme_smart_parse(const unsigned char page[NVME_SMART_BYTES], struct nvme_smart *ret);
/* Of the disk with that kernel name, "nvme0n1". -1 where it is no NVMe disk, or may not be asked. May
 * wait for the disk. */
int nvme_smart_read(const char *disk, struct nvme_smart *ret);

#endif
