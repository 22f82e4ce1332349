/*
 * Telemetry: counters of this very machine and of a made-up one, differences, and a whole trial's
 * evidence gathered from them.
 */
#include <dirent.h>
#include <fcntl.h>

#include "agent/telemetry/conditions.h"
#include "agent/telemetry/gather.h"
#include "agent/telemetry/telemetry.h"
#include "common/base/json.h"
#include "common/base/units.h"
#include "tests/unit/host_kit.h"

/* A disk of this machine with a size, or NULL. Static. */
static const char *some_disk(void)
{
	static char name[64];
	struct dirent *d;
	DIR *folder = opendir("/sys/block");
	int found = 0;

	while (folder && !found && (d = readdir(folder))) {
		unsigned long long sectors = 0;
		char path[512];
		FILE *f;

		snprintf(path, sizeof(path), "/sys/block/%s/size", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		found = fscanf(f, "%llu", &sectors) == 1 && sectors > 0;
		fclose(f);
		snprintf(name, sizeof(name), "%.60s", d->d_name);
	}
	if (folder)
		closedir(folder);
	return found ? name : NULL;
}

static void this_machine_is_read(void **state)
{
	struct telemetry_reading first = {0}, second = {0};
	const char *disk = some_disk();
	struct telemetry_source *t;
	struct telemetry d;
	struct strv disks = {0};
	volatile unsigned spin = 0;
	int64_t until;
	struct err e;

	(void)state;
	strv_add(&disks, "no-such-disk");
	strv_add(&disks, "../../etc");
	strv_add(&disks, "");
	if (disk)
		strv_add(&disks, disk);
	assert_ok(telemetry_open("", &disks, &t, &e), e);
	assert_ok(telemetry_read(t, &first, &e), e);
	assert_int_equal(first.sum.disks, disk ? 1 : 0);
	assert_true(first.sum.mem_free_bytes > 0 && first.sum.mem_cached_bytes > 0);
	assert_true(first.sum.cpu_user_ns > 0 && first.sum.cpu_idle_ns > 0);
	assert_int_equal(first.n_cores, sysconf(_SC_NPROCESSORS_ONLN));
	/* Busy until the machine's clock tick has counted it. */
	until = clock_mono_ns() + 10 * NS_PER_S;
	do {
		for (int i = 0; i < 1000000; i++)
			spin++;
		assert_ok(telemetry_read(t, &second, &e), e);
		telemetry_delta(&first.sum, &second.sum, &d);
		/* the sum of all CPUs may reach its next tick before any one of them does */
	} while ((!d.cpu_user_ns || !telemetry_busiest_core(&first, &second)) &&
		 clock_mono_ns() < until);
	assert_true(d.cpu_user_ns > 0);
	assert_true(d.cpu_user_ns < second.sum.cpu_user_ns);
	assert_true(telemetry_busiest_core(&first, &second) > 0);
	assert_int_equal(d.mem_free_bytes, second.sum.mem_free_bytes);
	assert_int_equal(telemetry_others("", &disks, &d.disk_read_bytes, &d.disk_write_bytes), 0);
	telemetry_close(t);
	telemetry_reading_clear(&first);
	telemetry_reading_clear(&second);
	strv_free(&disks);
}

static void no_disks_is_fine(void **state)
{
	struct telemetry_reading r = {0};
	struct telemetry_source *t;
	struct strv none = {0};
	struct err e;

	(void)state;
	assert_ok(telemetry_open("", &none, &t, &e), e);
	assert_ok(telemetry_read(t, &r, &e), e);
	assert_int_equal(r.sum.disks, 0);
	assert_int_equal(r.sum.disk_write_bytes, 0);
	telemetry_close(t);
	telemetry_reading_clear(&r);
}

static void counters_become_differences(void **state)
{
	const struct telemetry from = {.disk_read_bytes = 100, .disk_write_bytes = 500,
		.disk_read_ops = 1, .disk_write_ops = 9, .disk_busy_ns = 50, .disks = 2,
		.cpu_user_ns = 10, .cpu_system_ns = 20, .cpu_idle_ns = 30, .cpu_iowait_ns = 40,
		.mem_free_bytes = 7, .mem_cached_bytes = 8, .arc_bytes = 9};
	const struct telemetry to = {.disk_read_bytes = 150, .disk_write_bytes = 400,
		.disk_read_ops = 3, .disk_write_ops = 9, .disk_busy_ns = 80, .disks = 2,
		.cpu_user_ns = 11, .cpu_system_ns = 22, .cpu_idle_ns = 33, .cpu_iowait_ns = 39,
		.mem_free_bytes = 70, .mem_cached_bytes = 80, .arc_bytes = 90};
	struct telemetry d;

	(void)state;
	telemetry_delta(&from, &to, &d);
	assert_int_equal(d.disk_read_bytes, 50);
	assert_int_equal(d.disk_write_bytes, 0); /* it ran backwards: a reset, not 2^64 */
	assert_int_equal(d.disk_read_ops, 2);
	assert_int_equal(d.disk_write_ops, 0);
	assert_int_equal(d.disk_busy_ns, 30);
	assert_int_equal(d.disks, 2);
	assert_int_equal(d.cpu_user_ns, 1);
	assert_int_equal(d.cpu_system_ns, 2);
	assert_int_equal(d.cpu_idle_ns, 3);
	assert_int_equal(d.cpu_iowait_ns, 0);
	assert_int_equal(d.mem_free_bytes, 70);
	assert_int_equal(d.mem_cached_bytes, 80);
	assert_int_equal(d.arc_bytes, 90);
}

/* A host of two cores and OpenZFS. The clock tick is 10 ms wherever Linux runs. */
static void first_moment(const struct host *h)
{
	host_file(h, "/proc/stat",
		"cpu  100 10 200 5000 40 5 5 30 50 0\n"
		"cpu0 60 5 100 2500 20 5 5 10 50 0\n"
		"cpu1 40 5 100 2500 20 0 0 20 0 0\n"
		"intr 12345 0 9 cpu77 1 2 3\nctxt 1\n");
	host_file(h, "/proc/meminfo", HOST_MEMINFO);
	host_file(h, "/proc/spl/kstat/zfs/arcstats",
		"9 1 0x01 96 4608 1 2\nname                            type data\n"
		"hits                            4    1000\n"
		"misses                          4    50\n"
		"size                            4    77777\n"
		"c_max                           4    99999\n"
		"demand_data_hits                4    5\n");
	host_disk(h, "sda", 10, 800, 20, 1600, 100);
	host_disk(h, "sdb", 1, 8, 2, 16, 50);
	host_disk(h, "sdc", 10, 1000, 10, 2000, 10);
	host_file(h, "/proc/diskstats",
		"   8       0 sda 10 5 800 200 20 6 1600 300 0 100 500\n"
		"   8       1 sda1 10 5 800 200 20 6 1600 300 0 100 500\n"
		"   8      16 sdb 1 5 8 100 2 6 16 150 0 50 250\n"
		"   8      32 sdc 10 0 1000 1 10 0 2000 1 0 1 1\n"
		"   7       0 loop0 10 0 99 1 10 0 99 1 0 1 1\n"
		"   9       0 md0 10 0 99 1 10 0 99 1 0 1 1\n");
	host_file(h, "/sys/class/block/sda1/partition", "1\n");
}

static void second_moment(const struct host *h)
{
	host_file(h, "/proc/stat",
		"cpu  150 10 240 5100 50 5 5 40 50 0\n"
		"cpu0 110 5 130 2500 30 5 5 20 50 0\n"
		"cpu1 40 5 110 2600 20 0 0 20 0 0\n");
	host_file(h, "/proc/spl/kstat/zfs/arcstats",
		"9 1 0x01 96 4608 1 2\nname type data\nhits 4 1500\nmisses 4 51\nsize 4 88888\n"
		"c_max 4 99999\n");
	host_disk(h, "sda", 15, 1800, 20, 1600, 180);
	host_disk(h, "sdb", 1, 8, 7, 8016, 90);
	host_disk(h, "sdc", 20, 2000, 10, 2000, 40);
	host_file(h, "/proc/diskstats",
		"   8       0 sda 15 5 1800 200 20 6 1600 300 0 100 500\n"
		"   8      16 sdb 1 5 8 100 7 6 8016 150 0 50 250\n"
		"   8      32 sdc 10 0 1004 1 10 0 2010 1 0 1 1\n");
}

static void a_made_up_host_is_read(void **state)
{
	struct telemetry_reading r = {0}, later = {0};
	struct strv disks = {0};
	struct telemetry_source *t;
	uint64_t read, written;
	struct host h;
	struct err e;

	(void)state;
	host_new(&h);
	first_moment(&h);
	strv_add(&disks, "sda");
	strv_add(&disks, "gone");
	strv_add(&disks, "sdb");
	assert_ok(telemetry_open(h.root, &disks, &t, &e), e);
	assert_ok(telemetry_read(t, &r, &e), e);
	assert_int_equal(r.n_disks, 2);
	assert_string_equal(telemetry_disk(t, 1), "sdb");
	assert_null(telemetry_disk(t, 2));
	assert_int_equal(r.disks[0].read_ops, 10);
	assert_int_equal(r.disks[0].read_bytes, 800 * 512);
	assert_int_equal(r.disks[0].read_wait_ns, 200 * NS_PER_MS);
	assert_int_equal(r.disks[0].write_ops, 20);
	assert_int_equal(r.disks[0].write_bytes, 1600 * 512);
	assert_int_equal(r.disks[0].write_wait_ns, 300 * NS_PER_MS);
	assert_int_equal(r.disks[0].busy_ns, 100 * NS_PER_MS);
	assert_int_equal(r.disks[0].queue_ns, 500 * NS_PER_MS);
	assert_int_equal(r.sum.disk_busy_ns, 150 * NS_PER_MS);
	assert_int_equal(r.n_cores, 2);
	assert_int_equal(r.cores[0].busy_ns, 175 * 10 * NS_PER_MS);
	assert_int_equal(r.steal_ns, 300 * NS_PER_MS);
	assert_int_equal(r.dirty_bytes, 32 * 1024);
	assert_int_equal(r.writeback_bytes, 4 * 1024);
	assert_int_equal(r.sum.mem_cached_bytes, 24 * 1024);
	assert_true(r.has_arc);
	assert_int_equal(r.sum.arc_bytes, 77777);
	assert_int_equal(r.arc_hits, 1000);
	assert_int_equal(r.arc_max_bytes, 99999);
	assert_ok(telemetry_others(h.root, &disks, &read, &written), e);
	assert_int_equal(read, 1000 * 512); /* sdc's only: sda1 is a part, loop0 and md0 stand on others */
	assert_int_equal(written, 2000 * 512);
	second_moment(&h);
	telemetry_close(t);
	assert_ok(telemetry_open(h.root, &disks, &t, &e), e);
	assert_ok(telemetry_read(t, &later, &e), e);
	assert_int_equal(telemetry_busiest_core(&r, &later), 80 * 1000 / 100);
	telemetry_close(t);
	telemetry_reading_clear(&r);
	telemetry_reading_clear(&later);
	strv_free(&disks);
	host_free(&h);
}

static void check_interval(const struct telemetry *tele, const struct buf *usage)
{
	struct disk_counters d[2];
	struct host_usage u;
	struct err e;
	size_t n;

	assert_int_equal(tele->disk_read_bytes, 1000 * 512);
	assert_int_equal(tele->disk_write_bytes, 8000 * 512);
	assert_ok(usage_decode(usage->data, usage->len, &u, d, 2, &n, &e), e);
	assert_int_equal(n, 2);
	assert_int_equal(d[0].read_bytes, 1000 * 512);
	assert_int_equal(d[0].busy_ns, 80 * NS_PER_MS);
	assert_int_equal(d[1].write_ops, 5);
	assert_int_equal(d[1].write_bytes, 8000 * 512);
	assert_int_equal(u.busiest_core_permille, 800);
	assert_int_equal(u.cpu_steal_ns, 100 * NS_PER_MS);
	assert_int_equal(u.arc_hits, 500);
}

static int64_t number(const struct trial_evidence *v, enum evidence_key key)
{
	int64_t n = INT64_MIN;

	if (!evidence_get(v, key, &n))
		fail_msg("%s is absent", evidence_key_name(key));
	return n;
}

static void check_evidence(const struct trial_evidence *v)
{
	int64_t absent;

	assert_int_equal(v->n_disks, 2);
	assert_string_equal(v->disks[0].id, "serial:S1");
	assert_null(v->disks[1].id);
	assert_int_equal(v->disks[0].during.read_ops, 5);
	assert_int_equal(v->disks[1].during.write_wait_ns, 3 * 40 * NS_PER_MS);
	assert_int_equal(v->disks[0].look_busy_ns, 4);
	assert_true(v->disks[0].errors_known && v->disks[0].errors == 2);
	assert_false(v->disks[1].errors_known);
	assert_int_equal(v->n_cores, 2);
	assert_int_equal(v->cores[0].busy_ns, 80 * 10 * NS_PER_MS);
	assert_int_equal(number(v, EVIDENCE_OTHER_READ_BYTES), 0); /* sdc has the dump: not others' */
	assert_int_equal(number(v, EVIDENCE_OTHER_WRITE_BYTES), 0);
	assert_null(v->disks[0].cache_before);
	assert_string_equal(v->disks[1].cache_before, "write back");
	assert_string_equal(v->disks[1].cache_after, "write through");
	assert_int_equal(v->n_settings, 3);
	assert_string_equal(evidence_setting(v, NULL, "sync")->before, "standard");
	assert_string_equal(evidence_setting(v, NULL, "sync")->after, "disabled");
	assert_null(evidence_setting(v, "pg", "sync")->after);
	assert_null(evidence_setting(v, NULL, "logbias")->before);
	assert_int_equal(v->n_sources, 2); /* one without counters is not told */
	assert_string_equal(v->sources[0].name, "sdc");
	assert_int_equal(v->sources[0].during.read_bytes, 1000 * 512);
	assert_int_equal(v->sources[0].during.busy_ns, 30 * NS_PER_MS);
	assert_false(v->sources[0].is_shared || v->sources[0].is_written);
	assert_true(v->sources[1].is_shared && v->sources[1].is_written);
	assert_int_equal(number(v, EVIDENCE_BUSIEST_CORE_PERMILLE), 800);
	assert_int_equal(number(v, EVIDENCE_ARC_MISSES), 1);
	assert_int_equal(number(v, EVIDENCE_ARC_BYTES), 88888);
	assert_int_equal(number(v, EVIDENCE_LOAD1_MILLI), 1250);
	assert_int_equal(number(v, EVIDENCE_MAINTENANCE_BEFORE), 0);
	assert_int_equal(number(v, EVIDENCE_MAINTENANCE_AFTER), 1);
	assert_int_equal(number(v, EVIDENCE_THROTTLE_EVENTS), 3);
	assert_int_equal(number(v, EVIDENCE_CACHE_DROPS), 2);
	assert_int_equal(number(v, EVIDENCE_COMPRESS_RATIO_PERMILLE), 1530);
	assert_true(llabs(number(v, EVIDENCE_CLOCK_STEP_NS)) < NS_PER_S);
	assert_false(evidence_get(v, EVIDENCE_HOT_DISKS, &absent));
	assert_false(evidence_get(v, EVIDENCE_LOOK_NS, &absent));
	assert_string_equal(v->maintenance_after, "scrub of tank");
	assert_null(v->maintenance_before);
}

static const char before[] =
	"{\"disks\":[{\"name\":\"sda\",\"under\":[\"sda\"],\"errors\":{\"scsi\":7},\"look_busy_ns\":4},"
	"{\"name\":\"sdb\",\"under\":[\"sdb\"],\"errors\":{\"scsi\":7},\"write_cache\":\"write back\"}],"
	"\"settings\":[{\"name\":\"sync\",\"of\":null,\"value\":\"standard\"},"
	"{\"name\":\"sync\",\"of\":\"pg\",\"value\":\"always\"}],"
	"\"sources\":[{\"name\":\"sdc\"},{\"name\":\"sdb\",\"is_written\":true,\"is_shared\":true},"
	"{\"name\":\"gone\"}],"
	"\"load1_milli\":1250,\"maintenance\":0,\"throttle_events\":10,\"cache_drops\":12}";
static const char after[] =
	"{\"disks\":[{\"name\":\"sda\",\"under\":[\"sda\"],\"errors\":{\"scsi\":9,\"nvme\":4},\"slowed\":1},"
	"{\"name\":\"sdb\",\"under\":[\"sdb\"],\"write_cache\":\"write through\"}],"
	"\"settings\":[{\"name\":\"sync\",\"of\":null,\"value\":\"disabled\"},"
	"{\"name\":\"logbias\",\"of\":null,\"value\":\"latency\"}],"
	"\"maintenance\":1,\"maintenance_text\":\"scrub of tank\",\"throttle_events\":13,\"cache_drops\":14,"
	"\"ratio_permille\":1530}";

static json_t *parsed(const char *text)
{
	struct err e;
	json_t *o;

	assert_ok(json_parse("conditions", text, strlen(text), 65536, &o, &e), e);
	return o;
}

static void a_trial_is_gathered(void **state)
{
	struct inv_disk disk = {.name = "sda", .serial = "S1"};
	struct inventory inv = {.disks = &disk, .n_disks = 1};
	json_t *b = parsed(before), *a = parsed(after);
	struct trial_evidence v;
	struct telemetry tele, sums;
	struct buf usage = {0};
	struct strv disks = {0};
	struct gather *g;
	struct host h;
	struct err e;

	(void)state;
	host_new(&h);
	first_moment(&h);
	strv_add(&disks, "sda");
	strv_add(&disks, "sdb");
	assert_ok(gather_open(h.root, &disks, b, &g, &e), e);
	assert_int_equal(gather_sample(g, &tele, &usage), -1); /* not before the start */
	assert_int_equal(usage.len, 0);
	assert_ok(gather_start(g, &e), e);
	second_moment(&h);
	assert_int_equal(gather_sample(g, &tele, &usage), 0);
	check_interval(&tele, &usage);
	gather_end(g);
	gather_after(g, a);
	gather_sums(g, &sums);
	assert_int_equal(sums.disk_read_bytes, tele.disk_read_bytes);
	assert_int_equal(sums.disk_busy_ns, 120 * NS_PER_MS);
	gather_evidence(g, &inv, &v);
	check_evidence(&v);
	trial_evidence_clear(&v);
	gather_free(g);
	json_decref(a);
	json_decref(b);
	buf_free(&usage);
	strv_free(&disks);
	host_free(&h);
}

/* A worker that never came to its start, and no look: nothing is told, nothing is zero. */
static void what_did_not_happen_is_absent(void **state)
{
	struct trial_evidence v;
	struct telemetry sums;
	struct strv disks = {0};
	struct gather *g;
	struct host h;
	struct err e;

	(void)state;
	host_new(&h);
	first_moment(&h);
	strv_add(&disks, "sda");
	assert_ok(gather_open(h.root, &disks, NULL, &g, &e), e);
	gather_end(g);
	gather_after(g, NULL);
	gather_sums(g, &sums);
	assert_int_equal(sums.disks, 0);
	gather_evidence(g, NULL, &v);
	assert_int_equal(v.n_disks, 0);
	assert_int_equal(v.n_numbers, 0);
	trial_evidence_clear(&v);
	gather_free(g);
	strv_free(&disks);
	host_free(&h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_is_read),
		cmocka_unit_test(no_disks_is_fine),
		cmocka_unit_test(counters_become_differences),
		cmocka_unit_test(a_made_up_host_is_read),
		cmocka_unit_test(a_trial_is_gathered),
		cmocka_unit_test(what_did_not_happen_is_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
