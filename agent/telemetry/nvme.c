/* The SMART log through the kernel's pass-through for admin commands. Reads only; holds nothing. */
#include "agent/telemetry/nvme.h"

#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/buf.h"

#define GET_LOG_PAGE 0x02
#define LOG_SMART 0x02
#define ALL_NAMESPACES 0xffffffffu
#define TIMEOUT_MS 5000

enum place {
	AT_CRITICAL_WARNING = 0,
	AT_MEDIA_ERRORS = 160,
	AT_THERMAL_TRANSITIONS_1 = 216, /* to a light slow-down */
	AT_THERMAL_TRANSITIONS_2 = 220, /* to a heavy one */
};
#define WARNS_OF_HEAT 0x02

static uint64_t little_endian(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

void nvme_smart_parse(const unsigned char page[NVME_SMART_BYTES], struct nvme_smart *ret)
{
	*ret = (struct nvme_smart){
		.too_hot = (page[AT_CRITICAL_WARNING] & WARNS_OF_HEAT) != 0,
		.media_errors = little_endian(page + AT_MEDIA_ERRORS, 8), /* of 16 */
		.slowed = little_endian(page + AT_THERMAL_TRANSITIONS_1, 4) +
			  little_endian(page + AT_THERMAL_TRANSITIONS_2, 4)};
}

int nvme_smart_read(const char *disk, struct nvme_smart *ret)
{
	unsigned char page[NVME_SMART_BYTES] = {0};
	struct nvme_admin_cmd command = {.opcode = GET_LOG_PAGE,
		.nsid = ALL_NAMESPACES,
		.addr = (uintptr_t)page,
		.data_len = sizeof(page),
		.cdw10 = LOG_SMART | (sizeof(page) / 4 - 1) << 16,
		.timeout_ms = TIMEOUT_MS};
	char path[64];
	int fd, status;

	if (!str_starts(disk, "nvme") ||
		snprintf(path, sizeof(path), "/dev/%s", disk) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -1;
	status = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
	close(fd);
	if (status != 0)
		return -1;
	nvme_smart_parse(page, ret);
	return 0;
}
