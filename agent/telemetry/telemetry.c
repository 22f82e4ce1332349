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

#define STAT_BYTES (256 * 1024) /* a line a CPU, and one that grows with the interrupts */

struct disk {
	int fd;
	char *name;
	struct disk_counters last;
};
struct telemetry_source {
	struct disk *disks;
	size_t n;
	int stat, meminfo, arc; /* arc: -1 where there is none */
	uint64_t tick_ns;
	char *text; /* STAT_BYTES */
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

/* Documentation/block/stat.rst of the kernel: reads, merged, sectors, ms; the same of writes; then in
 * flight, ms busy, ms weighted by what was in flight. */
static int parse_counters(const char *at, struct disk_counters *ret)
{
	static const int fields[DISK_COUNTERS] = {0, 2, 4, 6, 3, 7, 9, 10};
	uint64_t f[11];
	char *end;

	for (size_t i = 0; i < ARRAY_LEN(f); i++, at = end) {
		f[i] = strtoull(at, &end, 10);
		if (end == at)
			return -1;
	}
	for (size_t i = 0; i < DISK_COUNTERS; i++)
		disk_counter_set(ret, i, f[fields[i]] * disk_counter_fields[i].unit);
	return 0;
}

static int read_disk(struct disk *d)
{
	char text[512];

	return read_text(d->fd, text, sizeof(text)) || parse_counters(text, &d->last) ? -1 : 0;
}

static int open_in(const char *root, const char *path)
{
	char *whole = xasprintf("%s%s", root, path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC);

	free(whole);
	return fd;
}

static void add_disk(struct telemetry_source *t, const char *root, const char *name)
{
	struct disk d = {0};
	char path[256];
	int len = snprintf(path, sizeof(path), "/sys/class/block/%s/stat", name);

	if (!*name || strchr(name, '/') || len >= (int)sizeof(path))
		return;
	d.fd = open_in(root, path);
	if (d.fd < 0)
		return;
	if (read_disk(&d)) {
		close(d.fd);
		return;
	}
	d.name = xstrdup(name);
	t->disks[t->n++] = d;
}

int telemetry_open(const char *root, const struct strv *disks, struct telemetry_source **ret,
	struct err *e)
{
	struct telemetry_source *t = xcalloc(1, sizeof(*t));
	long hertz = sysconf(_SC_CLK_TCK);

	t->tick_ns = (uint64_t)NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);
	t->stat = open_in(root, "/proc/stat");
	t->meminfo = open_in(root, "/proc/meminfo");
	t->arc = open_in(root, "/proc/spl/kstat/zfs/arcstats");
	if (t->stat < 0 || t->meminfo < 0) {
		err_sys(e, "cannot read the host's counters in /proc");
		telemetry_close(t);
		return -1;
	}
	t->text = xmalloc(STAT_BYTES);
	t->disks = xcalloc(disks->n ? disks->n : 1, sizeof(*t->disks));
	for (size_t i = 0; i < disks->n; i++)
		add_disk(t, root, disks->v[i]);
	*ret = t;
	return 0;
}

void telemetry_close(struct telemetry_source *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++) {
		close(t->disks[i].fd);
		free(t->disks[i].name);
	}
	if (t->stat >= 0)
		close(t->stat);
	if (t->meminfo >= 0)
		close(t->meminfo);
	if (t->arc >= 0)
		close(t->arc);
	free(t->disks);
	free(t->text);
	free(t);
}

const char *telemetry_disk(const struct telemetry_source *t, size_t i)
{
	return i < t->n ? t->disks[i].name : NULL;
}

void telemetry_reading_clear(struct telemetry_reading *r)
{
	free(r->disks);
	free(r->cores);
	*r = (struct telemetry_reading){0};
}

/* user nice system idle iowait irq softirq steal guest guest_nice (proc(5)); guest time is in user
 * already. How many there were. */
static size_t parse_cpu(const char *at, uint64_t f[8])
{
	size_t n = 0;
	char *end;

	memset(f, 0, 8 * sizeof(*f));
	for (; n < 8; n++, at = end) {
		f[n] = strtoull(at, &end, 10);
		if (end == at)
			break;
	}
	return n;
}

static void add_core(const struct telemetry_source *t, const uint64_t f[8],
	struct telemetry_reading *r)
{
	uint64_t busy = f[0] + f[1] + f[2] + f[5] + f[6];

	if (r->n_cores == EVIDENCE_CORES_MAX)
		return;
	r->cores = xgrow(r->cores, r->n_cores, &r->cap_cores, sizeof(*r->cores));
	r->cores[r->n_cores++] = (struct core_time){
		busy * t->tick_ns, (busy + f[3] + f[4] + f[7]) * t->tick_ns};
}

/* The first line is the sum, then comes a line for each CPU that is online. */
static int read_cpu(struct telemetry_source *t, struct telemetry_reading *r)
{
	const char *at = t->text, *next;
	uint64_t f[8];

	if (read_text(t->stat, t->text, STAT_BYTES) || !str_starts(at, "cpu ") ||
		parse_cpu(at + 4, f) < 4)
		return -1;
	r->sum.cpu_user_ns = (f[0] + f[1]) * t->tick_ns;
	r->sum.cpu_system_ns = (f[2] + f[5] + f[6]) * t->tick_ns;
	r->sum.cpu_idle_ns = f[3] * t->tick_ns;
	r->sum.cpu_iowait_ns = f[4] * t->tick_ns;
	r->steal_ns = f[7] * t->tick_ns;
	r->n_cores = 0;
	while ((next = strchr(at, '\n')) && str_starts(next + 1, "cpu")) {
		at = next + 1;
		if (parse_cpu(at + strcspn(at, " "), f) >= 4)
			add_core(t, f, r);
	}
	return 0;
}

static uint64_t kib_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoull(at + strlen(name), NULL, 10) * 1024 : 0;
}

static int read_memory(struct telemetry_source *t, struct telemetry_reading *r)
{
	char text[8192];

	if (read_text(t->meminfo, text, sizeof(text)))
		return -1;
	r->sum.mem_free_bytes = kib_field(text, "MemFree:");
	r->sum.mem_cached_bytes = kib_field(text, "\nCached:") + kib_field(text, "\nBuffers:");
	r->dirty_bytes = kib_field(text, "\nDirty:");
	r->writeback_bytes = kib_field(text, "\nWriteback:");
	return 0;
}

/* A line of a kstat is "name type value"; 0 where the name is none of them. */
static uint64_t kstat(const char *text, const char *name)
{
	char line[32], *at;
	const char *found;

	snprintf(line, sizeof(line), "\n%s ", name);
	found = strstr(text, line);
	if (!found)
		return 0;
	strtoull(found + strlen(line), &at, 10);
	return strtoull(at, NULL, 10);
}

static void read_arc(struct telemetry_source *t, struct telemetry_reading *r)
{
	char text[16384];

	r->has_arc = t->arc >= 0 && read_text(t->arc, text, sizeof(text)) == 0 &&
		     strstr(text, "\nsize ");
	if (!r->has_arc)
		return;
	r->sum.arc_bytes = kstat(text, "size");
	r->arc_max_bytes = kstat(text, "c_max");
	r->arc_hits = kstat(text, "hits");
	r->arc_misses = kstat(text, "misses");
}

static void add_to_sum(struct telemetry *sum, const struct disk_counters *d)
{
	sum->disk_read_ops += d->read_ops;
	sum->disk_read_bytes += d->read_bytes;
	sum->disk_write_ops += d->write_ops;
	sum->disk_write_bytes += d->write_bytes;
	sum->disk_busy_ns += d->busy_ns;
}

int telemetry_read(struct telemetry_source *t, struct telemetry_reading *r, struct err *e)
{
	r->sum = (struct telemetry){.disks = (uint32_t)t->n};
	if (!r->disks)
		r->disks = xcalloc(t->n, sizeof(*r->disks));
	r->n_disks = t->n;
	for (size_t i = 0; i < t->n; i++) {
		read_disk(&t->disks[i]);
		r->disks[i] = t->disks[i].last;
		add_to_sum(&r->sum, &r->disks[i]);
	}
	if (read_cpu(t, r) || read_memory(t, r))
		return err_set(e, ERR_IO, "the host's counters in /proc could not be read");
	read_arc(t, r);
	r->mono_ns = clock_mono_ns();
	r->wall_ns = clock_wall_ns();
	return 0;
}

int telemetry_disk_counters(const char *root, const char *disk, struct disk_counters *ret)
{
	struct disk d = {0};
	char path[256];
	int len = snprintf(path, sizeof(path), "/sys/class/block/%s/stat", disk), status;

	if (!*disk || strchr(disk, '/') || len >= (int)sizeof(path))
		return -1;
	d.fd = open_in(root, path);
	if (d.fd < 0)
		return -1;
	status = read_disk(&d);
	close(d.fd);
	if (status == 0)
		*ret = d.last;
	return status;
}

/* Not memory, not another disk's image, not a stack of other disks, no part of a disk. */
static int is_whole_disk(const char *root, const char *name)
{
	static const char *const others[] = {"loop", "ram", "zram", "dm-", "md", "fd", "sr", "zd",
		"nbd"};
	char *path;
	int part;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_starts(name, others[i]))
			return 0;
	path = xasprintf("%s/sys/class/block/%s/partition", root, name);
	part = access(path, F_OK) == 0;
	free(path);
	return !part;
}

int telemetry_others(const char *root, const struct strv *except, uint64_t *ret_read,
	uint64_t *ret_written)
{
	char *path = xasprintf("%s/proc/diskstats", root), *line = NULL, name[64];
	uint64_t read = 0, written = 0;
	FILE *f = fopen(path, "re");
	size_t cap = 0;
	int end;

	free(path);
	if (!f)
		return -1;
	while (getline(&line, &cap, f) > 0) {
		struct disk_counters d;

		if (sscanf(line, "%*u %*u %63s%n", name, &end) != 1 || strv_has(except, name) ||
			!is_whole_disk(root, name) || parse_counters(line + end, &d))
			continue;
		read += d.read_bytes;
		written += d.write_bytes;
	}
	free(line);
	fclose(f);
	*ret_read = read;
	*ret_written = written;
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

void telemetry_disk_delta(const struct disk_counters *from, const struct disk_counters *to,
	struct disk_counters *ret)
{
	for (size_t i = 0; i < DISK_COUNTERS; i++)
		disk_counter_set(ret, i, grown(disk_counter(from, i), disk_counter(to, i)));
}

uint64_t telemetry_busiest_core(
	const struct telemetry_reading *from, const struct telemetry_reading *to)
{
	uint64_t most = 0;

	for (size_t i = 0; i < from->n_cores && i < to->n_cores; i++) {
		uint64_t busy = grown(from->cores[i].busy_ns, to->cores[i].busy_ns);
		uint64_t all = grown(from->cores[i].all_ns, to->cores[i].all_ns);
		uint64_t share = all ? busy * 1000 / all : 0;

		if (share > most)
			most = share;
	}
	return most > 1000 ? 1000 : most;
}
