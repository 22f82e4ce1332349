/* Asks a disk for its persistent reservation through the kernel's SCSI pass-through. Reads only. */
#include "agent/volume/reservation.h"

#include <inttypes.h>
#include <scsi/sg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "common/base/mem.h"

/* SPC-4: PERSISTENT RESERVE IN, service action READ RESERVATION; 8 bytes of head, then 16 bytes
 * when there is one, which begin with the key. */
#define PERSISTENT_RESERVE_IN 0x5e
#define READ_RESERVATION 0x01
#define STATUS_RESERVATION_CONFLICT 0x18
#define TIMEOUT_MS 10000

static uint64_t big_endian(const unsigned char *p, int n)
{
	uint64_t v = 0;

	for (int i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

char *reservation_find(int fd)
{
	unsigned char command[10] = {PERSISTENT_RESERVE_IN, READ_RESERVATION, [8] = 32};
	unsigned char answer[32] = {0}, sense[32] = {0};
	struct sg_io_hdr io = {.interface_id = 'S',
		.dxfer_direction = SG_DXFER_FROM_DEV,
		.cmd_len = sizeof(command), .cmdp = command,
		.dxfer_len = sizeof(answer), .dxferp = answer,
		.mx_sb_len = sizeof(sense), .sbp = sense,
		.timeout = TIMEOUT_MS};

	if (ioctl(fd, SG_IO, &io))
		return NULL;
	if (io.status == STATUS_RESERVATION_CONFLICT)
		return xstrdup("reserved by another host (SCSI reservation conflict)");
	if (io.status || io.host_status || big_endian(answer + 4, 4) < 16)
		return NULL;
	return xasprintf("reserved (SCSI persistent reservation, key 0x%" PRIx64 ")",
		big_endian(answer + 8, 8));
}
