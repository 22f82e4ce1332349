/*
 * Conditions of a trial: what stands below a disk, errors, temperatures, throttling, load and
 * maintenance of a made-up host; what is not there stays unknown; there and back as JSON.
 */
#include "agent/telemetry/conditions.h"
#include "agent/telemetry/under.h"
#include "agent/volume/zfs_get.h"
#include "agent/volume/zpool_status.h"
#include "common/base/json.h"
#include "common/base/units.h"
#include "tests/unit/host_kit.h"

#define HBA "/sys/devices/pci0/host0"

/* md0 over a partition of sda and over sdb; loop0 over a plain file of this machine. */
static void make_disks(const struct host *h)
{
	host_file(h, HBA "/sda/stat", "0\n");
	host_file(h, HBA "/sda/device/ioerr_cnt", "0x1f\n");
	host_file(h, HBA "/sda/device/iotmo_cnt", "0x2\n");
	host_file(h, HBA "/sda/device/hwmon/hwmon3/temp1_input", "61000\n");
	host_file(h, HBA "/sda/device/hwmon/hwmon3/temp1_max", "60000\n");
	host_file(h, HBA "/sda/sda1/partition", "1\n");
	host_file(h, HBA "/sda/sda2/partition", "2\n");
	host_file(h, HBA "/sda/queue/write_cache", "write back\n");
	host_file(h, HBA "/sdb/queue/write_cache", "write through\n");
	host_file(h, HBA "/nvme0n1/queue/write_cache", "write back\n");
	host_file(h, HBA "/sdb/device/ioerr_cnt", "0x0\n");
	host_file(h, HBA "/sdb/device/hwmon/hwmon4/temp1_input", "70000\n");
	host_file(h, HBA "/sdb/device/hwmon/hwmon4/temp1_crit", "70000\n");
	host_file(h, HBA "/nvme0n1/device/hwmon1/temp1_input", "40000\n");
	host_file(h, HBA "/nvme0n1/device/hwmon1/temp1_max", "81850\n");
	host_file(h, "/sys/devices/virtual/block/md0/slaves/sda1", "");
	host_file(h, "/sys/devices/virtual/block/md0/slaves/sdb", "");
	host_link(h, "/sys/class/block/sda", "../../devices/pci0/host0/sda");
	host_link(h, "/sys/class/block/sda1", "../../devices/pci0/host0/sda/sda1");
	host_link(h, "/sys/class/block/sda2", "../../devices/pci0/host0/sda/sda2");
	host_link(h, "/sys/class/block/sdb", "../../devices/pci0/host0/sdb");
	host_link(h, "/sys/class/block/nvme0n1", "../../devices/pci0/host0/nvme0n1");
	host_link(h, "/sys/class/block/md0", "../../devices/virtual/block/md0");
}

static void make_host(const struct host *h)
{
	static const char cpu[] = "/sys/devices/system/cpu/cpu";
	char path[128];

	make_disks(h);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%d/thermal_throttle/core_throttle_count", cpu, i);
		host_file(h, path, "2\n");
		snprintf(path, sizeof(path), "%s%d/thermal_throttle/package_throttle_count", cpu, i);
		host_file(h, path, "5\n");
	}
	host_file(h, "/sys/devices/system/cpu/cpufreq/policy0/x", "1\n");
	host_file(h, "/proc/loadavg", "3.25 1.00 0.50 2/345 6789\n");
	host_file(h, "/proc/vmstat", "nr_dirty 4\ndrop_pagecache 12\ndrop_slab 7\n");
	host_file(h, "/proc/mdstat",
		"Personalities : [raid1]\n"
		"md0 : active raid1 sda1[0] sdb[1]\n"
		"      124967936 blocks super 1.2 [2/2] [UU]\n"
		"      [=>...................]  check =  5.0% (6248396/124967936) finish=9.9min\n"
		"      bitmap: 1/1 pages [4KB], 65536KB chunk\n"
		"md1 : active raid5 sdc[0]\n"
		"        resync=DELAYED\n"
		"unused devices: <none>\n");
}

static void disks_of(struct strv *disks)
{
	strv_add(disks, "md0");
	strv_add(disks, "nvme0n1");
}

static void check_conditions(const struct conditions *c)
{
	assert_int_equal(c->n_disks, 2);
	assert_int_equal(c->disks[0].under.n, 2);
	assert_true(strv_has(&c->disks[0].under, "sda") && strv_has(&c->disks[0].under, "sdb"));
	assert_true(c->disks[0].has_errors[ERRORS_SCSI]);
	assert_int_equal(c->disks[0].errors[ERRORS_SCSI], 0x1f + 2);
	assert_false(c->disks[0].has_errors[ERRORS_NVME] || c->disks[0].has_errors[ERRORS_POOL]);
	assert_string_equal(c->disks[1].under.v[0], "nvme0n1");
	assert_false(c->disks[1].has_errors[ERRORS_SCSI]);
	assert_false(c->log.known);
	assert_true(c->has_hot && c->hot_disks == 2);
	assert_string_equal(c->disks[0].write_cache, "mixed");
	assert_string_equal(c->disks[1].write_cache, "write back");
	assert_int_equal(c->n_settings, 2);
	assert_null(c->settings[0].of);
	assert_string_equal(c->settings[1].of, "pg");
	assert_string_equal(c->settings[1].value, "none");
	assert_int_equal(c->n_sources, 3); /* sda once from, once to; sdc */
	assert_string_equal(c->sources[0].name, "sda");
	assert_true(c->sources[0].is_shared && !c->sources[0].is_written);
	assert_true(c->sources[1].is_shared && c->sources[1].is_written);
	assert_string_equal(c->sources[2].name, "sdc");
	assert_false(c->sources[2].is_shared);
	assert_true(c->has_throttle);
	assert_int_equal(c->throttle_events, 4 * 2 + 5);
	assert_true(c->has_load1 && c->load1_milli == 3250);
	assert_true(c->has_maintenance && c->maintenance == 1);
	assert_string_equal(c->maintenance_text, "check of md0, 5.0% done");
	assert_true(c->has_drops && c->cache_drops == 12);
	assert_false(c->has_ratio);
	assert_int_equal(c->look_ns, 0);
}

static void a_host_is_looked_at(void **state)
{
	struct conditions c, back;
	struct strv disks = {0};
	struct host h;
	json_t *o;

	(void)state;
	host_new(&h);
	make_host(&h);
	disks_of(&disks);
	conditions_read(h.root, &disks, &c);
	conditions_add_setting(&c, NULL, "sync", "standard");
	conditions_add_setting(&c, "pg", "primarycache", "none");
	conditions_add_source(h.root, &c, "sda1", 0);
	conditions_add_source(h.root, &c, "sda2", 0);
	conditions_add_source(h.root, &c, "sda2", 1);
	conditions_add_source(h.root, &c, "sdc", 0);
	check_conditions(&c);
	o = conditions_json(&c);
	conditions_from_json(o, &back);
	check_conditions(&back);
	json_decref(o);
	conditions_clear(&c);
	conditions_clear(&back);
	conditions_clear(&back);
	strv_free(&disks);
	host_free(&h);
}

static void what_is_not_there_is_unknown(void **state)
{
	struct conditions c;
	struct strv disks = {0};
	struct host h;
	json_t *o;

	(void)state;
	host_new(&h);
	strv_add(&disks, "sdz");
	conditions_read(h.root, &disks, &c);
	conditions_look(h.root, &disks, 1, &c);
	assert_false(c.has_load1 || c.has_throttle || c.has_hot || c.has_ratio || c.has_drops);
	assert_false(c.disks[0].has_errors[ERRORS_SCSI] || c.disks[0].has_slowed);
	assert_string_equal(c.disks[0].under.v[0], "sdz");
	assert_true(c.has_maintenance && !c.maintenance); /* no /proc/mdstat: no md arrays */
	assert_int_equal(c.look_ns, 0);
	o = conditions_json(&c);
	assert_null(json_object_get(o, "throttle_events"));
	assert_null(json_object_get(o, "look_cpu_permille"));
	json_decref(o);
	conditions_clear(&c);
	conditions_from_json(NULL, &c);
	assert_int_equal(c.n_disks, 0);
	assert_false(c.has_maintenance);
	conditions_clear(&c);
	strv_free(&disks);
	host_free(&h);
}

/* Of a volume whose disks nobody knows, such as one on the network: all disks could be its own. */
static void what_others_did_is_unknown_without_own_disks(void **state)
{
	struct conditions c;
	struct strv none = {0};
	struct host h;

	(void)state;
	host_new(&h);
	make_host(&h);
	host_file(&h, "/proc/stat", "cpu  1 0 1 10 0 0 0 0 0 0\ncpu0 1 0 1 10 0 0 0 0 0 0\n");
	host_file(&h, "/proc/meminfo", HOST_MEMINFO);
	host_file(&h, "/proc/diskstats", "   8 0 sda 1 0 9 0 1 0 9 0 0 0 0\n");
	host_disk(&h, "nvme0n1", 1, 8, 1, 8, 1);
	conditions_read(h.root, &none, &c);
	conditions_add_source(h.root, &c, "nvme0n1", 0);
	assert_int_equal(c.n_sources, 1);
	conditions_look(h.root, &none, 1, &c);
	assert_true(c.look_ns > 0);
	assert_false(c.has_look_other);
	conditions_clear(&c);
	host_free(&h);
}

static void a_look_tells_what_others_did(void **state)
{
	struct conditions c;
	struct strv disks = {0};
	struct host h;

	(void)state;
	host_new(&h);
	make_host(&h);
	disks_of(&disks);
	host_file(&h, "/proc/stat", "cpu  1 0 1 10 0 0 0 0 0 0\ncpu0 1 0 1 10 0 0 0 0 0 0\n");
	host_file(&h, "/proc/meminfo", HOST_MEMINFO);
	host_file(&h, "/proc/diskstats", "   8 0 sda 1 0 9 0 1 0 9 0 0 0 0\n");
	host_disk(&h, "nvme0n1", 1, 8, 1, 8, 1);
	conditions_read(h.root, &disks, &c);
	conditions_look(h.root, &disks, 5, &c);
	assert_true(c.look_ns >= 5 * NS_PER_MS);
	assert_true(c.has_look_other && c.look_other_bytes == 0);
	assert_int_equal(c.disks[1].look_busy_ns, 0);
	conditions_clear(&c);
	strv_free(&disks);
	host_free(&h);
}

/* Two partitions of a disk are one disk. */
static void a_disk_is_found_once(void **state)
{
	struct strv found = {0};
	struct host h;

	(void)state;
	host_new(&h);
	make_disks(&h);
	disks_under(h.root, "sda1", &found);
	disks_under(h.root, "sda2", &found);
	disks_under(h.root, "md0", &found);
	assert_int_equal(found.n, 2);
	assert_true(strv_has(&found, "sda") && strv_has(&found, "sdb"));
	strv_free(&found);
	host_free(&h);
}

static void found_property(void *arg, const char *dataset, const char *property, const char *value)
{
	if (zfs_is_cache_property(property))
		buf_addf(arg, "%s %s=%s;", dataset, property, value);
}

static void zfs_get_is_taken_apart(void **state)
{
	struct buf all = {0};

	(void)state;
	zfs_get_parse("am_1\ttype\tfilesystem\nam_1\tsync\tstandard\n\nam_1\tlogbias\n"
		      "am_1/pg\tprimarycache\tmetadata\nam_1/pg\tuser:note\ta\tb",
		found_property, &all);
	assert_string_equal(buf_str(&all), "am_1 sync=standard;am_1/pg primarycache=metadata;");
	buf_free(&all);
}

static void collect(void *arg, const char *what)
{
	struct buf *all = arg;

	buf_addf(all, "%s;", what);
}

static void mdstat_tells_what_runs(void **state)
{
	static const struct {
		const char *text, *runs;
	} table[] = {
		{"Personalities : \nunused devices: <none>\n", ""},
		{"md0 : active raid6 sdc1[6] sdb1[0]\n      [>....]  recovery =  0.2% (1/2) finish=1min\n",
			"recovery of md0, 0.2% done;"},
		{"md0 : active raid6 sde1[6](S)\n [=>..]  reshape = 48.4% (7/14) finish=1m\n",
			"reshape of md0, 48.4% done;"},
		{"md1 : active raid1 a[0]\n  resync=PENDING\nmd2 : active raid1 b[0]\n"
		 "  [..]  resync = 12.6% (37043392/292945152) finish=127.5min speed=33440K/sec\n",
			"resync of md2, 12.6% done;"},
		{"checkpoint = 5%\n", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf all = {0};

		mdstat_running(table[i].text, collect, &all);
		assert_string_equal(buf_str(&all), table[i].runs);
		buf_free(&all);
	}
}

static void zpool_tells_what_runs(void **state)
{
	static const struct {
		const char *text, *runs;
		int status;
	} table[] = {
		{"no pools available\n", "", 0},
		{"something else\n", "", -1},
		{"", "", -1},
		{"  pool: tank\n state: ONLINE\n  scan: scrub in progress since Sun Feb 11 11:54:20 2024\n"
		 "\t17.8T scanned at 16.2G/s\nconfig:\n",
			"scrub of tank;", 0},
		{"  pool: tank\n state: ONLINE\n  scan: scrub repaired 0B in 08:37:48 with 0 errors\n",
			"", 0},
		{"  pool: a\n state: ONLINE\n scrub: none requested\nconfig:\n\n"
		 "  pool: b\n state: ONLINE\n scrub: resilver in progress, 1.25% done, 0h1m to go\n",
			"resilver of b;", 0},
		{"  pool: p\n  scan: scrub paused since Sun Feb 11\n", "", 0},
		{"  pool: p\nexpand: expansion of raidz2-0 in progress since Fri Feb  2\n",
			"expansion of p;", 0},
		{"  pool: p\nconfig:\n\tp  ONLINE  0 0 0\n"
		 "\t  sda  ONLINE  0 0 0  (12% initialized, started at Fri Feb  2)\n"
		 "\t  sdb  ONLINE  0 0 0  (14% initialized, started at Fri Feb  2)\n"
		 "  pool: q\nconfig:\n\tq  ONLINE  0 0 0\n"
		 "\t  sdc  ONLINE  0 0 0  (100% initialized, completed at Fri Feb  2)\n",
			"initialisation of p;", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct buf all = {0};

		assert_int_equal(
			zpool_running_parse(table[i].text, collect, &all), table[i].status);
		assert_string_equal(buf_str(&all), table[i].runs);
		buf_free(&all);
	}
}

static void a_ratio_is_read(void **state)
{
	static const struct {
		const char *text;
		int64_t permille; /* -1: refused */
	} table[] = {{"1.00x\n", 1000}, {"1.53x", 1530}, {"12.04\n", 12040}, {"-\n", -1}, {"", -1},
		{"0.5x\n", -1}, {"1.5y\n", -1}, {"nanx\n", -1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		int64_t n = -1;

		assert_int_equal(
			zfs_ratio_parse(table[i].text, &n), table[i].permille < 0 ? -1 : 0);
		assert_int_equal(n, table[i].permille);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_looked_at),
		cmocka_unit_test(what_is_not_there_is_unknown),
		cmocka_unit_test(what_others_did_is_unknown_without_own_disks),
		cmocka_unit_test(a_look_tells_what_others_did),
		cmocka_unit_test(a_disk_is_found_once),
		cmocka_unit_test(zfs_get_is_taken_apart),
		cmocka_unit_test(mdstat_tells_what_runs),
		cmocka_unit_test(zpool_tells_what_runs),
		cmocka_unit_test(a_ratio_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
