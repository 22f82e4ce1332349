/*
 * Conditions of a trial, as /proc and /sys tell them. Owns what a struct conditions holds.
 * Invariant: what could not be read stays unknown, and is never told as zero.
 */
#include "agent/telemetry/conditions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/telemetry/nvme.h"
#include "agent/telemetry/telemetry.h"
#include "agent/telemetry/under.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define TEXT_MAX (1024 * 1024)
#define SETTING_BYTES 1000

void conditions_clear(struct conditions *c)
{
	for (size_t i = 0; i < c->n_disks; i++) {
		free(c->disks[i].name);
		free(c->disks[i].write_cache);
		strv_free(&c->disks[i].under);
	}
	for (size_t i = 0; i < c->n_settings; i++) {
		free(c->settings[i].name);
		free(c->settings[i].of);
		free(c->settings[i].value);
	}
	for (size_t i = 0; i < c->n_sources; i++)
		free(c->sources[i].name);
	free(c->settings);
	free(c->sources);
	free(c->disks);
	free(c->maintenance_text);
	kmsg_clear(&c->log);
	*c = (struct conditions){0};
}

/* The first line of a small file; NULL when there is none. Caller frees. */
static char *read_line(const char *path)
{
	char line[512], *text = NULL;
	FILE *f = fopen(path, "re");

	if (f && fgets(line, sizeof(line), f))
		text = xstrndup(line, strcspn(line, "\n"));
	if (f)
		fclose(f);
	return text;
}

/* 1 and the number, in any base that C writes. */
static int read_number(const char *path, int64_t *ret)
{
	char *text = read_line(path), *end = NULL;
	int64_t v = text ? strtoll(text, &end, 0) : 0;
	int ok = text && end != text && !*end;

	free(text);
	if (ok)
		*ret = v;
	return ok;
}

/* Calls fn for each entry of a folder whose name begins with the prefix. */
static void each_entry(const char *folder, const char *prefix,
	void (*fn)(void *arg, const char *folder, const char *name), void *arg)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && str_starts(entry->d_name, prefix))
			fn(arg, folder, entry->d_name);
	if (d)
		closedir(d);
}

/* ---- numbers ---- */

/* Commands that failed and that timed out, as the SCSI layer counts them (scsi_device in sysfs). Known
 * only where all disks below have such a layer. */
static void read_scsi_errors(const char *root, struct disk_condition *d)
{
	static const char *const files[] = {"ioerr_cnt", "iotmo_cnt"};
	size_t counted = 0;

	for (size_t i = 0; i < d->under.n; i++)
		for (size_t k = 0; k < ARRAY_LEN(files); k++) {
			char *path = xasprintf("%s/sys/class/block/%s/device/%s", root,
				d->under.v[i], files[k]);
			int64_t n;

			if (read_number(path, &n) && n >= 0) {
				d->errors[ERRORS_SCSI] += (uint64_t)n;
				counted += k == 0;
			}
			free(path);
		}
	d->has_errors[ERRORS_SCSI] = counted && counted == d->under.n;
}

void conditions_add_pool_errors(struct conditions *c, const char *kernel, uint64_t errors)
{
	for (size_t i = 0; i < c->n_disks; i++)
		if (strcmp(c->disks[i].name, kernel) == 0) {
			c->disks[i].has_errors[ERRORS_POOL] = 1;
			c->disks[i].errors[ERRORS_POOL] += errors;
		}
}

static uint64_t grown(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* Those of the disk itself, such as a loop device, and of all that it stands on. */
static int64_t log_errors(const struct conditions *before, const struct conditions *after,
	const struct disk_condition *d)
{
	int64_t sum = 0, n;

	if (d->under.n == 0)
		return -1;
	if (kmsg_tells(d->name) && !strv_has(&d->under, d->name))
		sum = kmsg_count(&before->log, &after->log, d->name);
	for (size_t i = 0; i < d->under.n && sum >= 0; i++) {
		n = kmsg_tells(d->under.v[i])
			? kmsg_count(&before->log, &after->log, d->under.v[i]) : -1;
		sum = n < 0 ? -1 : sum + n;
	}
	return sum;
}

int64_t conditions_errors(const struct conditions *before, const struct conditions *after,
	const struct disk_condition *b, const struct disk_condition *a)
{
	int64_t most = b && a ? log_errors(before, after, a) : -1;

	for (int s = 0; b && a && s < ERROR_SOURCES; s++) {
		int64_t n = b->has_errors[s] && a->has_errors[s]
				    ? (int64_t)grown(b->errors[s], a->errors[s]) : -1;

		most = n > most ? n : most;
	}
	return most;
}

/* As the kernel takes it, which flushes what is in a write-back cache and nothing else. */
static void read_write_cache(const char *root, struct disk_condition *d)
{
	for (size_t i = 0; i < d->under.n; i++) {
		char *path = xasprintf("%s/sys/class/block/%s/queue/write_cache", root,
			d->under.v[i]);
		char *here = read_line(path);

		free(path);
		if (here && d->write_cache && strcmp(here, d->write_cache)) {
			free(here);
			here = xstrdup("mixed");
		}
		free(d->write_cache);
		d->write_cache = here;
		if (!here)
			return;
	}
}

/* ---- heat ---- */

struct heat {
	int known, hot;
};

/* Against the temperature that the disk warns at, or else the one it calls critical. */
static void on_sensor(void *arg, const char *folder, const char *name)
{
	struct heat *heat = arg;
	char *now = xasprintf("%s/%s/temp1_input", folder, name);
	char *limit = xasprintf("%s/%s/temp1_max", folder, name);
	char *last = xasprintf("%s/%s/temp1_crit", folder, name);
	int64_t is, most;

	if (read_number(now, &is) && (read_number(limit, &most) || read_number(last, &most)) &&
		most > 0) {
		heat->known = 1;
		heat->hot |= is >= most;
	}
	free(now);
	free(limit);
	free(last);
}

/* drivetemp hangs its sensor below the disk's device/hwmon, nvme right below device. */
static void read_sensors(const char *root, const char *disk, struct heat *heat)
{
	char *device = xasprintf("%s/sys/class/block/%s/device", root, disk);
	char *folder = xasprintf("%s/hwmon", device);

	each_entry(folder, "hwmon", on_sensor, heat);
	each_entry(device, "hwmon", on_sensor, heat);
	free(device);
	free(folder);
}

/* Sensors of each disk, and what NVMe disks say of themselves: only of this host's own. */
static void read_disk_itself(const char *root, struct conditions *c, struct disk_condition *d)
{
	struct nvme_smart smart;
	size_t asked = 0;

	for (size_t i = 0; i < d->under.n; i++) {
		struct heat heat = {0};

		read_sensors(root, d->under.v[i], &heat);
		if (!*root && nvme_smart_read(d->under.v[i], &smart) == 0) {
			asked++;
			d->errors[ERRORS_NVME] += smart.media_errors;
			d->slowed += smart.slowed;
			heat.known = 1;
			heat.hot |= smart.too_hot;
		}
		c->has_hot |= heat.known;
		c->hot_disks += (uint64_t)heat.hot;
	}
	d->has_slowed = asked && asked == d->under.n;
	d->has_errors[ERRORS_NVME] = asked && asked == d->under.n;
}

struct throttle {
	uint64_t cores, package;
	int found;
};

/* A package's count stands with each of its CPUs. */
static void on_cpu(void *arg, const char *folder, const char *name)
{
	struct throttle *t = arg;
	char *core = xasprintf("%s/%s/thermal_throttle/core_throttle_count", folder, name);
	char *package = xasprintf("%s/%s/thermal_throttle/package_throttle_count", folder, name);
	int64_t n;

	if (read_number(core, &n) && n >= 0) {
		t->cores += (uint64_t)n;
		t->found = 1;
	}
	if (read_number(package, &n) && n >= 0) {
		t->package = (uint64_t)n > t->package ? (uint64_t)n : t->package;
		t->found = 1;
	}
	free(core);
	free(package);
}

static void read_throttle(const char *root, struct conditions *c)
{
	char *folder = xasprintf("%s/sys/devices/system/cpu", root);
	struct throttle t = {0};

	each_entry(folder, "cpu", on_cpu, &t);
	c->has_throttle = t.found;
	c->throttle_events = t.cores + t.package;
	free(folder);
}

static void read_load(const char *root, struct conditions *c)
{
	char *path = xasprintf("%s/proc/loadavg", root), *text = read_line(path);
	double load;

	if (text && sscanf(text, "%lf", &load) == 1 && load >= 0 && load < 1e6) {
		c->load1_milli = (int64_t)(load * 1000 + 0.5);
		c->has_load1 = 1;
	}
	free(path);
	free(text);
}

/* Orders to /proc/sys/vm/drop_caches, from whomever. */
static void read_drops(const char *root, struct conditions *c)
{
	static const char key[] = "drop_pagecache ";
	char *path = xasprintf("%s/proc/vmstat", root), *rest, *line, *end;
	struct buf text = {0};
	struct err ignored;

	if (!fs_read_file(path, TEXT_MAX, &text, &ignored))
		for (rest = text.data; (line = strsep(&rest, "\n"));)
			if (str_starts(line, key)) {
				c->cache_drops = strtoull(line + strlen(key), &end, 10);
				c->has_drops = end != line + strlen(key) && !*end;
			}
	buf_free(&text);
	free(path);
}

/* ---- maintenance ---- */

void conditions_add_maintenance(struct conditions *c, const char *text)
{
	char *all = c->maintenance_text ? xasprintf("%s, %s", c->maintenance_text, text)
					: xstrdup(text);

	free(c->maintenance_text);
	c->maintenance_text = all;
	c->maintenance++;
}

static void found_maintenance(void *arg, const char *what)
{
	conditions_add_maintenance(arg, what);
}

void mdstat_running(const char *text, void (*found)(void *arg, const char *what), void *arg)
{
	static const char *const kinds[] = {"resync", "recovery", "check", "repair", "reshape"};
	char *copy = xstrdup(text), *rest = copy, *line, array[64] = "";

	while ((line = strsep(&rest, "\n"))) {
		size_t name = strcspn(line, " ");

		if (str_starts(line, "md") && str_starts(line + name, " : "))
			snprintf(array, sizeof(array), "%.*s", (int)(name < 63 ? name : 63), line);
		for (size_t i = 0; *array && i < ARRAY_LEN(kinds); i++) {
			char *at = strstr(line, kinds[i]), *what;
			const char *value = at ? at + strlen(kinds[i]) : "";

			value += strspn(value, " ");
			if (*value++ != '=')
				continue;
			value += strspn(value, " ");
			if (*value < '0' || *value > '9') /* DELAYED, PENDING, REMOTE */
				continue;
			what = xasprintf("%s of %s, %.*s done", kinds[i], array,
				(int)strcspn(value, " "), value);
			found(arg, what);
			free(what);
			break;
		}
	}
	free(copy);
}

/* Without the file there is no md, and so no array. */
static void read_mdstat(const char *root, struct conditions *c)
{
	char *path = xasprintf("%s/proc/mdstat", root);
	struct buf text = {0};
	struct err e;

	if (fs_read_file(path, TEXT_MAX, &text, &e) == 0) {
		mdstat_running(buf_str(&text), found_maintenance, c);
		c->has_maintenance = 1;
	} else {
		c->has_maintenance = e.code == ERR_NOTFOUND;
	}
	buf_free(&text);
	free(path);
}

static void read_log(const char *root, struct kmsg *ret)
{
	char *path = xasprintf("%s" KMSG, root);

	kmsg_read(path, ret);
	free(path);
}

void conditions_read(const char *root, const struct strv *disks, struct conditions *ret)
{
	size_t n = disks->n < EVIDENCE_DISKS_MAX ? disks->n : EVIDENCE_DISKS_MAX;
	struct conditions c = {.disks = xcalloc(n, sizeof(*c.disks)), .n_disks = n};

	for (size_t i = 0; i < n; i++) {
		struct disk_condition *d = &c.disks[i];

		d->name = xstrdup(disks->v[i]);
		disks_under(root, d->name, &d->under);
		read_scsi_errors(root, d);
		read_disk_itself(root, &c, d);
		read_write_cache(root, d);
	}
	read_log(root, &c.log);
	read_throttle(root, &c);
	read_load(root, &c);
	read_drops(root, &c);
	read_mdstat(root, &c);
	*ret = c;
}

/* ---- how it is set, and where the dump lies ---- */

void conditions_add_setting(
	struct conditions *c, const char *of, const char *name, const char *value)
{
	if (c->n_settings == EVIDENCE_SETTINGS_MAX)
		return;
	c->settings = xreallocarray(c->settings, c->n_settings + 1, sizeof(*c->settings));
	c->settings[c->n_settings++] = (struct condition_setting){
		xstrdup(name), xstrdup(of), xstrndup(value, SETTING_BYTES)};
}

static int is_under_volume(const struct conditions *c, const char *disk)
{
	for (size_t i = 0; i < c->n_disks; i++)
		if (strv_has(&c->disks[i].under, disk))
			return 1;
	return 0;
}

void conditions_add_source(
	const char *root, struct conditions *c, const char *name, int is_written)
{
	struct strv found = {0};

	disks_under(root, name, &found);
	for (size_t i = 0; i < found.n && c->n_sources < EVIDENCE_SOURCES_MAX; i++) {
		size_t k = 0;

		while (k < c->n_sources && (strcmp(c->sources[k].name, found.v[i]) ||
						   c->sources[k].is_written != is_written))
			k++;
		if (k < c->n_sources)
			continue;
		c->sources = xreallocarray(c->sources, c->n_sources + 1, sizeof(*c->sources));
		c->sources[c->n_sources++] = (struct condition_source){
			xstrdup(found.v[i]), is_written, is_under_volume(c, found.v[i])};
	}
	strv_free(&found);
}

/* ---- the look ---- */

static void wait_ms(unsigned ms)
{
	struct timespec left = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		continue;
}

static void looked_at_disk(struct conditions *c, const char *name, const struct disk_counters *d)
{
	for (size_t i = 0; i < c->n_disks; i++)
		if (strcmp(c->disks[i].name, name) == 0) {
			c->disks[i].look_read_bytes = d->read_bytes;
			c->disks[i].look_write_bytes = d->write_bytes;
			c->disks[i].look_busy_ns = d->busy_ns;
		}
}

static void looked(struct conditions *c, const struct telemetry_source *t,
	const struct telemetry_reading *from, const struct telemetry_reading *to)
{
	struct telemetry d;
	uint64_t busy, all;

	for (size_t i = 0; i < to->n_disks; i++) {
		struct disk_counters one;

		telemetry_disk_delta(&from->disks[i], &to->disks[i], &one);
		looked_at_disk(c, telemetry_disk(t, i), &one);
	}
	telemetry_delta(&from->sum, &to->sum, &d);
	busy = d.cpu_user_ns + d.cpu_system_ns;
	all = busy + d.cpu_idle_ns + d.cpu_iowait_ns;
	c->look_cpu_permille = all ? (int64_t)(busy * 1000 / all) : 0;
	c->look_ns = to->mono_ns - from->mono_ns;
}

static void all_under(const struct conditions *c, struct strv *ret)
{
	for (size_t i = 0; i < c->n_disks; i++)
		for (size_t k = 0; k < c->disks[i].under.n; k++)
			if (!strv_has(ret, c->disks[i].under.v[k]))
				strv_add(ret, c->disks[i].under.v[k]);
}

void conditions_look(const char *root, const struct strv *disks, unsigned ms, struct conditions *c)
{
	struct telemetry_reading from = {0}, to = {0};
	uint64_t read[2], written[2];
	struct telemetry_source *t;
	struct strv ours = {0};
	struct err ignored;
	int knows_below;

	if (telemetry_open(root, disks, &t, &ignored) != 0)
		return;
	all_under(c, &ours);
	knows_below = ours.n > 0; /* else the volume's own disks would be taken for others */
	for (size_t i = 0; i < c->n_sources; i++)
		if (!strv_has(&ours, c->sources[i].name))
			strv_add(&ours, c->sources[i].name);
	c->has_look_other =
		knows_below && telemetry_others(root, &ours, &read[0], &written[0]) == 0;
	if (telemetry_read(t, &from, &ignored) == 0) {
		wait_ms(ms);
		if (telemetry_read(t, &to, &ignored) == 0)
			looked(c, t, &from, &to);
	}
	if (c->has_look_other)
		c->has_look_other =
			telemetry_others(root, &ours, &read[1], &written[1]) == 0 &&
			read[1] >= read[0] && written[1] >= written[0];
	if (c->has_look_other)
		c->look_other_bytes =
			(int64_t)(read[1] - read[0] + written[1] - written[0]);
	strv_free(&ours);
	telemetry_reading_clear(&from);
	telemetry_reading_clear(&to);
	telemetry_close(t);
}
