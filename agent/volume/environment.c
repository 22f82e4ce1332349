/*
 * Links, queues, governors and parameters from sysfs. Holds nothing; a file that is missing is a fact
 * that is unknown.
 */
#include "agent/volume/environment.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

/* The first line of a file without blanks around it; NULL when there is none. Caller frees. */
static char *read_text(const char *path)
{
	char text[512] = "", *from = text;
	FILE *f = fopen(path, "re");
	size_t len;

	if (!f)
		return NULL;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	from += strspn(from, " \t\n");
	len = strlen(from);
	while (len && strchr(" \t\n", from[len - 1]))
		len--;
	return len ? xstrndup(from, len) : NULL;
}

static char *read_in(const char *root, const char *folder, const char *name)
{
	char *path = xasprintf("%s%s/%s", root, folder, name), *text = read_text(path);

	free(path);
	return text;
}

/* "none [mq-deadline] kyber" -> "mq-deadline" */
static char *chosen(char *list)
{
	char *from = list ? strchr(list, '[') : NULL, *one;

	if (!from)
		return list;
	one = xstrndup(from + 1, strcspn(from + 1, "]"));
	free(list);
	return one;
}

/* "6.0 Gbps", "12.0 Gbit" -> "6.0 Gbit/s"; anything else ("<unknown>", "Unknown") is not known. */
static char *rate_text(char *text)
{
	char *end, *rate = NULL;
	double gbit = text ? strtod(text, &end) : 0;

	if (gbit > 0 && (str_starts(end, " Gbps") || str_starts(end, " Gbit")))
		rate = xasprintf("%.1f Gbit/s", gbit);
	free(text);
	return rate;
}

/* The first entry of a folder that begins so; NULL when there is none. Caller frees. */
static char *first_entry(const char *path, const char *prefix)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	char *found = NULL;

	while (d && (entry = readdir(d)))
		if (str_starts(entry->d_name, prefix) &&
			(!found || strcmp(entry->d_name, found) < 0)) {
			free(found);
			found = xstrdup(entry->d_name);
		}
	if (d)
		closedir(d);
	return found;
}

/* …/ata3/host2/target…: its link is …/ata3/link3. */
static char *ata_speed(const char *device)
{
	for (const char *at = strstr(device, "/ata"); at; at = strstr(at + 1, "/ata")) {
		size_t digits = strspn(at + 4, "0123456789");
		int head = (int)(at + 4 + digits - device), n = (int)digits;
		char *path, *rate;

		if (!digits || at[4 + digits] != '/')
			continue;
		path = xasprintf("%.*s/link%.*s/ata_link/link%.*s/sata_spd", head, device, n,
			at + 4, n, at + 4);
		rate = rate_text(read_text(path));
		free(path);
		return rate;
	}
	return NULL;
}

/* …/port-0:0:3/end_device-0:0:3/…: the port's phys are beside the device. */
static char *sas_speed(const char *root, const char *device)
{
	const char *at = strstr(device, "/end_device-");
	char *port = at ? xstrndup(device, (size_t)(at - device)) : NULL;
	char *phy = port ? first_entry(port, "phy-") : NULL, *folder, *rate = NULL;

	if (phy) {
		folder = xasprintf("/sys/class/sas_phy/%s", phy);
		rate = rate_text(read_in(root, folder, "negotiated_linkrate"));
		free(folder);
	}
	free(port);
	free(phy);
	return rate;
}

/* "8.0 GT/s PCIe" and "4" -> "8.0 GT/s x4" */
static char *pcie_speed(const char *device)
{
	char *speed = read_in(device, "/device", "current_link_speed");
	char *width = read_in(device, "/device", "current_link_width"), *end, *rate = NULL;
	double gt = speed ? strtod(speed, &end) : 0;

	if (gt > 0 && str_starts(end, " GT/s") && width && isdigit((unsigned char)*width) &&
		strcmp(width, "0") != 0)
		rate = xasprintf("%.1f GT/s x%s", gt, width);
	free(speed);
	free(width);
	return rate;
}

static char *link_speed(const char *root, const char *kernel)
{
	char *link = xasprintf("%s/sys/class/block/%s/device", root, kernel), *device = NULL;
	char *rate = NULL;
	struct err ignored;

	if (fs_realpath(link, &device, &ignored) == 0) {
		if (str_starts(kernel, "nvme"))
			rate = pcie_speed(device);
		else
			rate = ata_speed(device);
		if (!rate)
			rate = sas_speed(root, device);
	}
	free(link);
	free(device);
	return rate;
}

void environment_of_disk(const char *root, const char *kernel, struct inv_disk *d)
{
	char *queue = xasprintf("/sys/class/block/%s/queue", kernel);

	d->scheduler = chosen(read_in(root, queue, "scheduler"));
	d->write_cache = read_in(root, queue, "write_cache");
	d->zoned = read_in(root, queue, "zoned");
	d->link_speed = link_speed(root, kernel);
	free(queue);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Each governor that a CPU has, once. */
static char *governors(const char *root)
{
	char *folder = xasprintf("%s/sys/devices/system/cpu", root);
	DIR *d = opendir(folder);
	struct strv found = {0};
	struct buf all = {0};
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char *path = xasprintf("%s/%s/cpufreq/scaling_governor", folder, entry->d_name);
		char *one = str_starts(entry->d_name, "cpu") ? read_text(path) : NULL;

		if (one && !strv_has(&found, one))
			strv_add(&found, one);
		free(one);
		free(path);
	}
	if (d)
		closedir(d);
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_text);
	for (size_t i = 0; i < found.n; i++)
		buf_addf(&all, "%s%s", i ? ", " : "", found.v[i]);
	strv_free(&found);
	free(folder);
	return all.len ? buf_take(&all) : NULL;
}

void environment_of_host(const char *root, struct inventory *inv)
{
	/* What people set to make a pool faster or safer (zfs(4)). */
	static const char *const parameters[] = {"l2arc_noprefetch", "zfs_arc_max", "zfs_arc_min",
		"zfs_compressed_arc_enabled", "zfs_dirty_data_max", "zfs_max_recordsize",
		"zfs_nocacheflush", "zfs_prefetch_disable", "zfs_sync_pass_dont_compress",
		"zfs_txg_timeout", "zfs_vdev_aggregation_limit",
		"zfs_vdev_async_read_max_active", "zfs_vdev_async_write_max_active",
		"zfs_vdev_max_active", "zfs_vdev_scrub_max_active",
		"zfs_vdev_sync_read_max_active", "zfs_vdev_sync_write_max_active",
		"zil_nocacheflush"};

	inv->governor = governors(root);
	for (size_t i = 0; i < ARRAY_LEN(parameters); i++) {
		char *value = read_in(root, "/sys/module/zfs/parameters", parameters[i]);

		if (value)
			strv_addf(&inv->zfs_parameters, "%s=%s", parameters[i], value);
		free(value);
	}
}
