/* sysfs about disks. Holds nothing; a file that is missing is a fact that is unknown. */
#include "agent/volume/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

#define PCI_IDS_MAX (16 * 1024 * 1024)
#define BY_ID "/dev/disk/by-id"

static ssize_t read_bytes(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	if (n >= 0)
		out[n] = '\0';
	return n;
}

/* The file's text without blanks around it; NULL when there is none. */
static char *read_text(const char *path)
{
	char text[512], *from = text;
	size_t len;

	if (read_bytes(path, text, sizeof(text)) <= 0)
		return NULL;
	from += strspn(from, " \t\n");
	len = strlen(from);
	while (len && strchr(" \t\n", from[len - 1]))
		len--;
	return len ? xstrndup(from, len) : NULL;
}

static char *read_attribute(const char *kernel, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/block/%s/%s", kernel, name);
	return read_text(path);
}

/* Vital product data page 80: four bytes of head, then the serial number. */
static char *read_page_80(const char *kernel)
{
	char path[PATH_MAX], page[256], *from = page + 4;
	ssize_t n;
	size_t len;

	snprintf(path, sizeof(path), "/sys/class/block/%s/device/vpd_pg80", kernel);
	n = read_bytes(path, page, sizeof(page));
	if (n <= 4)
		return NULL;
	from += strspn(from, " ");
	len = strlen(from);
	while (len && from[len - 1] == ' ')
		len--;
	return len ? xstrndup(from, len) : NULL;
}

/* A driver without a serial number prints what the kernel prints for no text: all its disks would
 * seem to be one. */
static char *read_serial(const char *kernel, const char *attribute)
{
	char *serial = read_attribute(kernel, attribute);

	if (!serial || strcmp(serial, "(null)"))
		return serial;
	free(serial);
	return NULL;
}

char *sysfs_serial(const char *kernel)
{
	char *serial = read_serial(kernel, "serial");

	if (!serial)
		serial = read_serial(kernel, "device/serial");
	return serial ? serial : read_page_80(kernel);
}

char *sysfs_wwn(const char *kernel)
{
	char *id = read_attribute(kernel, "wwid"), *hex;

	if (!id)
		id = read_attribute(kernel, "device/wwid");
	if (id && !strncmp(id, "naa.", 4)) {
		hex = xasprintf("0x%s", id + 4);
		free(id);
		return hex;
	}
	/* t10 names are texts of vendor and serial, no world-wide number. */
	if (id && (!strncmp(id, "t10.", 4) || strchr(id, ' '))) {
		free(id);
		return NULL;
	}
	return id;
}

/* "0000:00:1f.2" */
static int is_pci_address(const char *s, size_t len)
{
	return len == 12 && s[4] == ':' && s[7] == ':' && s[10] == '.' &&
	       isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[11]);
}

/* Length of the path up to the adapter: its last PCI device, or what stands before "hostN". */
static size_t adapter_length(const char *path)
{
	size_t best = 0;

	for (const char *p = path; *p == '/';) {
		size_t len = strcspn(p + 1, "/");

		if (is_pci_address(p + 1, len))
			best = (size_t)(p + 1 + len - path);
		else if (!best && len > 4 && !strncmp(p + 1, "host", 4) && isdigit((unsigned char)p[5]))
			return (size_t)(p - path);
		p += 1 + len;
	}
	return best;
}

/* Name of a vendor or, below it, a device in the database of PCI ids: "vvvv  Name", "\tdddd  Name". */
static char *ids_find(const char *text, const char *vendor, const char *device)
{
	char line[16];
	const char *at, *end;

	snprintf(line, sizeof(line), "\n%.4s  ", vendor);
	at = strstr(text, line);
	if (!at)
		return NULL;
	at += strlen(line);
	if (!device)
		return xstrndup(at, strcspn(at, "\n"));
	snprintf(line, sizeof(line), "\t%.4s  ", device);
	for (at = strchr(at, '\n'); at && (at[1] == '\t' || at[1] == '#'); at = end) {
		end = strchr(at + 1, '\n');
		if (!strncmp(at + 1, line, strlen(line)))
			return xstrndup(at + 1 + strlen(line),
				strcspn(at + 1 + strlen(line), "\n"));
	}
	return NULL;
}

static char *pci_name(const char *vendor, const char *device)
{
	static const char *const files[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};
	char *name = NULL;

	for (size_t i = 0; i < ARRAY_LEN(files) && !name; i++) {
		struct buf text = {0};
		struct err ignored;
		char *maker, *model;

		if (!fs_read_file(files[i], PCI_IDS_MAX, &text, &ignored)) {
			maker = ids_find(buf_str(&text), vendor, NULL);
			model = ids_find(buf_str(&text), vendor, device);
			if (maker && model)
				name = xasprintf("%s %s", maker, model);
			free(maker);
			free(model);
		}
		buf_free(&text);
	}
	return name;
}

static char *link_name(const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	return xstrdup(strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
}

/* "Broadcom / LSI SAS2008 … [Falcon] (mpt3sas)", "1000:0072 (mpt3sas)", or the adapter's driver. */
static char *describe_adapter(const char *adapter)
{
	char path[PATH_MAX + 16];
	char *vendor, *device, *driver, *name = NULL, *text;

	snprintf(path, sizeof(path), "%s/driver", adapter);
	driver = link_name(path);
	snprintf(path, sizeof(path), "%s/vendor", adapter);
	vendor = read_text(path);
	snprintf(path, sizeof(path), "%s/device", adapter);
	device = read_text(path);
	if (vendor && device && strlen(vendor) == 6 && strlen(device) == 6) {
		name = pci_name(vendor + 2, device + 2);
		if (!name)
			name = xasprintf("%s:%s", vendor + 2, device + 2);
	}
	if (name && driver)
		text = xasprintf("%s (%s)", name, driver);
	else
		text = name ? xstrdup(name) : driver ? xstrdup(driver) : link_name(adapter);
	free(vendor);
	free(device);
	free(driver);
	free(name);
	return text;
}

static void place_adapter(const char *kernel, struct inv_disk *d)
{
	char link[PATH_MAX], *path = NULL;
	struct err ignored;
	size_t len;

	snprintf(link, sizeof(link), "/sys/class/block/%s/device", kernel);
	if (fs_realpath(link, &path, &ignored))
		return;
	len = adapter_length(path);
	if (len) {
		path[len] = '\0';
		d->controller_path = xstrdup(path);
		d->controller = describe_adapter(path);
		if (!d->controller)
			d->controller = xstrdup(strrchr(path, '/') + 1);
	}
	free(path);
}

/* device/enclosure_device:SLOT leads to …/enclosure/ID/SLOT. */
static void place_enclosure(const char *kernel, struct inv_disk *d)
{
	char path[PATH_MAX], *real = NULL, *slash;
	struct err ignored;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/sys/class/block/%s/device", kernel);
	folder = opendir(path);
	while (folder && !d->slot && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "enclosure_device:", 17))
			continue;
		d->slot = xstrdup(entry->d_name + 17);
		snprintf(path, sizeof(path), "/sys/class/block/%s/device/%s", kernel, entry->d_name);
		if (fs_realpath(path, &real, &ignored))
			continue;
		slash = strrchr(real, '/');
		*slash = '\0';
		slash = strrchr(real, '/');
		d->enclosure = slash ? xstrdup(slash + 1) : NULL;
		free(real);
	}
	if (folder)
		closedir(folder);
}

void sysfs_place(const char *kernel, struct inv_disk *d)
{
	place_adapter(kernel, d);
	place_enclosure(kernel, d);
}

/* World-wide names first: they survive another controller and another cable. */
static int rank_of(const char *name)
{
	static const char *const kinds[] = {"wwn-", "nvme-eui.", "nvme-", "dm-uuid-mpath-", "ata-",
		"scsi-", "virtio-"};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return (int)i;
	return ARRAY_LEN(kinds);
}

char *sysfs_stable_path(const char *kernel)
{
	char *best = NULL;
	struct dirent *entry;
	DIR *folder = opendir(BY_ID);

	while (folder && (entry = readdir(folder))) {
		char *path = xasprintf(BY_ID "/%s", entry->d_name), *target = link_name(path);
		const char *known = best ? best + strlen(BY_ID "/") : NULL;
		int better = target && !strcmp(target, kernel) &&
			     (!known || rank_of(entry->d_name) < rank_of(known) ||
				     (rank_of(entry->d_name) == rank_of(known) &&
					     strcmp(entry->d_name, known) < 0));

		free(target);
		if (!better) {
			free(path);
			continue;
		}
		free(best);
		best = path;
	}
	if (folder)
		closedir(folder);
	return best ? best : xasprintf("/dev/%s", kernel);
}
