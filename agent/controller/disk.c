/* Which array a disk of the kernel's is, as sysfs tells. Owns nothing beyond a call. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/controller/controller.h"
#include "agent/controller/fields.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

/* Channels of virtual drives at megaraid_sas: 2 has numbers 0 to 127, 3 those from 128 on. */
#define CHANNEL 2
#define CHANNEL_DRIVES 128

/* "naa.600508b1…" in the device's wwid -> the digits; NULL when it has none. Caller frees. */
static char *naa_of(const char *root, const char *kernel)
{
	char *path = xasprintf("%s/sys/class/block/%s/device/wwid", root, kernel), *naa = NULL;
	struct buf text = {0};
	struct err ignored;

	if (fs_read_file(path, 4096, &text, &ignored) == 0 && str_starts(buf_str(&text), "naa.")) {
		naa = lower(buf_str(&text) + 4);
		naa[strcspn(naa, " \t\n")] = 0;
	}
	buf_free(&text);
	free(path);
	return naa;
}

/* Its device is called host:channel:target:lun. */
static int target_of(const char *root, const char *kernel)
{
	char *path = xasprintf("%s/sys/class/block/%s/device", root, kernel), *real = NULL;
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

const struct raid_volume *raid_volume_of(
	const struct raid_state *s, const char *root, const char *kernel)
{
	char *naa = naa_of(root, kernel), *device = xasprintf("/dev/%s", kernel);
	const struct raid_volume *v = raid_volume_find(s, naa, device, target_of(root, kernel));

	free(naa);
	free(device);
	return v;
}
