/* Which array a disk of the kernel's is, as sysfs tells. Owns nothing beyond a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/controller/controller.h"
#include "agent/controller/fields.h"
#include "agent/volume/sysfs.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

/* Channels of virtual drives at megaraid_sas: 2 has numbers 0 to 127, 3 those from 128 on. */
#define CHANNEL 2
#define CHANNEL_DRIVES 128

/* Its device is called host:channel:target:lun. */
static int target_of(const char *kernel)
{
	char *path = xasprintf("/sys/class/block/%s/device", kernel), *real = NULL;
	unsigned host, channel, target, lun;
	const char *base;
	struct err ignored;
	int found = -1;

	if (fs_realpath(path, &real, &ignored) == 0) {
		base = strrchr(real, '/');
		if (base &&
			sscanf(base + 1, "%u:%u:%u:%u", &host, &channel, &target, &lun) == 4 &&
			channel >= CHANNEL && channel <= CHANNEL + 1 && target < CHANNEL_DRIVES)
			found = (int)((channel - CHANNEL) * CHANNEL_DRIVES + target);
	}
	free(real);
	free(path);
	return found;
}

const struct raid_volume *raid_volume_of(const struct raid_state *s, const char *kernel)
{
	char *wwn = sysfs_wwn(kernel), *naa = wwn ? lower(wwn) : NULL;
	char *device = xasprintf("/dev/%s", kernel);
	const struct raid_volume *v = raid_volume_find(
		s, naa && str_starts(naa, "0x") ? naa + 2 : naa, device, target_of(kernel));

	free(wwn);
	free(naa);
	free(device);
	return v;
}
