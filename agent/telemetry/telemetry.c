/*
 * The host's counters. Owns one open descriptor per file it reads again and again.
 * Invariant: a disk that goes away keeps its last counters, so that a sum over the disks never runs
 * backwards because of it.
 */
#include "agent/telemetry/telemetry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define SECTOR 512 /* the kernel counts in these, whatever the disk's own sectors are */

struct disk {
	int fd;
	uint64_t read_ops, read_bytes, write_ops, write_bytes, busy_ns;
};
struct telemetry_source {
	struct disk *disks;
	size_t n;
	int stat, meminfo, arc; /* arc: -1 where there is none */
	uint64_t tick_ns;
};

/* From the file's start, as one string; an empty one when it cannot be read any more. */
static int read_text(int fd, char *out, size_t size)
{
	ssize_t n;

	do
		n = pread(fd, out, size - 1, 0);
	while (n < 0 && errno == EINTR);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

/* Documentation/block/stat.rst of the kernel: fields 1, 3, 5, 7 and 10. */
static int read_disk(struct disk *d)
{
	uint64_t f[10];
	char text[512], *at = text, *end;

	if (read_text(d->fd, text, sizeof(text)))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(f); i++, at = end) {
		f[i] = strtoull(at, &end, 10);
		if (end == at)
			return -1;
	}
	d->read_ops = f[0];
	d->read_bytes = f[2] * SECTOR;
	d->write_ops = f[4];
	d->write_bytes = f[6] * SECTOR;
	d->busy_ns = f[9] * NS_PER_MS;
	return 0;
}

static void add_disk(struct telemetry_source *t, const char *name)
{
	struct disk d = {0};
	char path[256];
	int len = snprintf(path, sizeof(path), "/sys/class/block/%s/stat", name);

	if (!*name || strchr(name, '/') || len >= (int)sizeof(path))
		return;
	d.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (d.fd < 0)
		return;
	if (read_disk(&d))
		close(d.fd);
	else
		t->disks[t->n++] = d;
}

int telemetry_open(const struct strv *disks, struct telemetry_source **ret, struct err *e)
{
	struct telemetry_source *t = xcalloc(1, sizeof(*t));
	long hertz = sysconf(_SC_CLK_TCK);

	t->tick_ns = (uint64_t)NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);
	t->stat = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	t->meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	t->arc = open("/proc/spl/kstat/zfs/arcstats", O_RDONLY | O_CLOEXEC);
	if (t->stat < 0 || t->meminfo < 0) {
		err_sys(e, "cannot read the host's counters in /proc");
		telemetry_close(t);
		return -1;
	}
	t->disks = xcalloc(disks->n ? disks->n : 1, sizeof(*t->disks));
	for (size_t i = 0; i < disks->n; i++)
		add_disk(t, disks->v[i]);
	*ret = t;
	return 0;
}

void telemetry_close(struct telemetry_source *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		close(t->disks[i].fd);
	if (t->stat >= 0)
		close(t->stat);
	if (t->meminfo >= 0)
		close(t->meminfo);
	if (t->arc >= 0)
		close(t->arc);
	free(t->disks);
	free(t);
}

/* First line of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice;
 * guest time is in user already. */
static int read_cpu(struct telemetry_source *t, struct telemetry *out)
{
	uint64_t f[8] = {0};
	char text[512];

	if (read_text(t->stat, text, sizeof(text)))
		return -1;
	if (sscanf(text,
		    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		    " %" SCNu64 " %" SCNu64,
		    &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7]) < 4)
		return -1;
	out->cpu_user_ns = (f[0] + f[1]) * t->tick_ns;
	out->cpu_system_ns = (f[2] + f[5] + f[6]) * t->tick_ns;
	out->cpu_idle_ns = f[3] * t->tick_ns;
	out->cpu_iowait_ns = f[4] * t->tick_ns;
	return 0;
}

static uint64_t kib_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static int read_memory(struct telemetry_source *t, struct telemetry *out)
{
	char text[4096];

	if (read_text(t->meminfo, text, sizeof(text)))
		return -1;
	out->mem_free_bytes = kib_field(text, "MemFree:");
	out->mem_cached_bytes = kib_field(text, "\nCached:") + kib_field(text, "\nBuffers:");
	return 0;
}

/* A line of a kstat is "name type value"; the one wanted is named exactly "size". */
static uint64_t read_arc(struct telemetry_source *t)
{
	char text[16384], *at;

	if (t->arc < 0 || read_text(t->arc, text, sizeof(text)))
		return 0;
	at = strstr(text, "\nsize ");
	if (!at)
		return 0;
	strtoull(at + strlen("\nsize "), &at, 10);
	return strtoull(at, NULL, 10);
}

int telemetry_read(struct telemetry_source *t, struct telemetry *ret, struct err *e)
{
	struct telemetry out = {.disks = (uint32_t)t->n};

	for (size_t i = 0; i < t->n; i++) {
		struct disk *d = &t->disks[i];

		read_disk(d);
		out.disk_read_ops += d->read_ops;
		out.disk_read_bytes += d->read_bytes;
		out.disk_write_ops += d->write_ops;
		out.disk_write_bytes += d->write_bytes;
		out.disk_busy_ns += d->busy_ns;
	}
	if (read_cpu(t, &out) || read_memory(t, &out))
		return err_set(e, ERR_IO, "the host's counters in /proc could not be read");
	out.arc_bytes = read_arc(t);
	*ret = out;
	return 0;
}

static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void telemetry_delta(const struct telemetry *from, const struct telemetry *to,
	struct telemetry *ret)
{
	struct telemetry d = *to;

	d.disk_read_bytes = grown(from->disk_read_bytes, to->disk_read_bytes);
	d.disk_write_bytes = grown(from->disk_write_bytes, to->disk_write_bytes);
	d.disk_read_ops = grown(from->disk_read_ops, to->disk_read_ops);
	d.disk_write_ops = grown(from->disk_write_ops, to->disk_write_ops);
	d.disk_busy_ns = grown(from->disk_busy_ns, to->disk_busy_ns);
	d.cpu_user_ns = grown(from->cpu_user_ns, to->cpu_user_ns);
	d.cpu_system_ns = grown(from->cpu_system_ns, to->cpu_system_ns);
	d.cpu_idle_ns = grown(from->cpu_idle_ns, to->cpu_idle_ns);
	d.cpu_iowait_ns = grown(from->cpu_iowait_ns, to->cpu_iowait_ns);
	*ret = d;
}
