/*
 * Failures of disks: what the kernel's log, the pool and the disk itself tell, and what is unknown. The
 * last test makes a real disk fail (as root): a loop device whose file was cut off.
 */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/telemetry/conditions.h"
#include "agent/telemetry/kmsg.h"
#include "agent/telemetry/nvme.h"
#include "common/base/fs.h"
#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

/* Records in the kernel's forms from 3.10 to 6.x. */
static const char *const records[] = {
	"6,100,5000,-;virtio_blk virtio0: [vda] 536870912 512-byte logical blocks\n SUBSYSTEM=virtio\n",
	"3,101,5001,-;end_request: I/O error, dev sda, sector 2048\n",
	"3,102,5002,-;blk_update_request: critical medium error, dev sda, sector 4096 op 0x0:(READ) "
	"flags 0x80700 phys_seg 4 prio class 0\n SUBSYSTEM=block\n DEVICE=b8:0\n",
	"3,103,5003,c;I/O error, dev loop0, sector 0 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2\n",
	"3,104,5004,-;critical target error, dev nvme0n1, sector 8 op 0x3:(DISCARD) flags 0x0 phys_seg 1\n",
	"12,105,5005,-;I/O error, dev sda, sector 1\n", /* somebody's words in the log: facility 1 */
	"3,106,5006,-;Buffer I/O error on dev sda, logical block 0, async page read\n",
	"3,107,5007,-;EXT4-fs error (device sda1): ext4_find_entry:1455: reading directory lblock 0\n",
	"not a record\n",
};

static void take_all(struct kmsg *k)
{
	*k = (struct kmsg){0};
	for (size_t i = 0; i < ARRAY_LEN(records); i++)
		kmsg_take(k, records[i]);
}

static void failures_are_counted(void **state)
{
	static const struct {
		const char *disk;
		uint64_t from;
		int64_t n;
	} table[] = {{"sda", 100, 2}, {"sda", 102, 1}, {"sda", 103, 0}, {"loop0", 100, 1},
		{"nvme0n1", 101, 1}, {"sd", 100, 0}, {"sda1", 100, 0}, {"sda", 108, 0},
		{"sda", 99, -1}}; /* 99 is gone from the log */
	struct kmsg before = {.known = 1}, k;

	(void)state;
	take_all(&k);
	assert_true(k.known && k.first == 100 && k.next == 108);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		before.next = table[i].from;
		if (kmsg_count(&before, &k, table[i].disk) != table[i].n)
			fail_msg("row %zu: not %d", i, (int)table[i].n);
	}
	before.known = 0;
	assert_int_equal(kmsg_count(&before, &k, "sda"), -1);
	kmsg_clear(&k);
	before.known = 1;
	assert_int_equal(kmsg_count(&before, &k, "sda"), -1);
	assert_false(kmsg_tells("dm-3") || kmsg_tells("md0") || kmsg_tells("zram0"));
	assert_true(kmsg_tells("vda") && kmsg_tells("nvme0n1") && kmsg_tells("loop3"));
}

/* More than is kept: what is before it is not told as none. And what the flood hid of another disk is
 * not either, while it lasts. */
static void a_flood_is_known_as_one(void **state)
{
	struct kmsg before = {.known = 1, .next = 10, .us = 1}, k = {0};

	(void)state;
	for (int i = 0; i < KMSG_ERRORS_MAX + 10; i++) {
		char record[80];

		snprintf(record, sizeof(record), "3,%d,1,-;I/O error, dev sda, sector 1\n", i);
		kmsg_take(&k, record);
	}
	assert_int_equal(k.n, KMSG_ERRORS_MAX);
	assert_int_equal(kmsg_count(&before, &k, "sda"), KMSG_ERRORS_MAX);
	assert_int_equal(kmsg_count(&before, &k, "sdb"), -1);
	before.us += 2 * KMSG_BURST_US; /* long after it */
	before.next = k.next;
	assert_int_equal(kmsg_count(&before, &k, "sdb"), 0);
	before.next = 9;
	assert_int_equal(kmsg_count(&before, &k, "sda"), -1);
	kmsg_clear(&k);
}

static void take_flood(struct kmsg *k, int from, int64_t us)
{
	for (int i = from; i < from + 2 * KMSG_BURST; i++) {
		char record[80];

		snprintf(record, sizeof(record), "3,%d,%lld,-;I/O error, dev sda, sector 1\n", i,
			(long long)us);
		kmsg_take(k, record);
	}
}

/* The reader is overtaken in the middle of the log. */
static void what_was_lost_is_unknown(void **state)
{
	struct kmsg before = {.known = 1}, k = {0};

	(void)state;
	kmsg_take(&k, "6,100,1,-;one\n");
	kmsg_take(&k, "6,101,1,-;two\n");
	kmsg_take(&k, "6,105,1,-;three\n");
	assert_true(k.first == 105 && k.next == 106);
	before.next = 102;
	assert_int_equal(kmsg_count(&before, &k, "sda"), -1);
	before.next = 105;
	assert_int_equal(kmsg_count(&before, &k, "sda"), 0);
	kmsg_clear(&k);
}

/* The log's clock is slower than ours, by whatever came together since the host was started. */
static void a_flood_is_known_by_its_numbers(void **state)
{
	struct kmsg before = {.known = 1, .next = 10, .us = 100 * KMSG_BURST_US}, k = {0};

	(void)state;
	take_flood(&k, 10, before.us - 2 * KMSG_BURST_US);
	assert_int_equal(kmsg_count(&before, &k, "sdb"), -1);
	before.next = k.next;
	assert_int_equal(kmsg_count(&before, &k, "sdb"), 0);
	kmsg_clear(&k);
}

static void read_one(int64_t us, struct kmsg *ret)
{
	char path[] = "/tmp/arraymark-log-XXXXXX", record[80];
	int fd = mkstemp(path), len;

	len = snprintf(record, sizeof(record), "3,10,%lld,-;I/O error, dev sda, sector 1\n",
		(long long)us);
	assert_int_equal(write(fd, record, (size_t)len), len);
	close(fd);
	kmsg_read(path, ret);
	unlink(path);
	assert_true(ret->known && ret->n == 1);
}

/* Just before, one may still go on; long before, none does. */
static void time_is_the_newest_records(void **state)
{
	int64_t now = clock_mono_ns() / 1000;
	struct kmsg k;

	(void)state;
	read_one(now + 5, &k); /* its clock may be ahead */
	assert_int_equal(k.us, now + 5);
	kmsg_clear(&k);
	read_one(now - 3600 * 1000000LL - now / 100, &k);
	assert_true(k.us >= now);
	kmsg_clear(&k);
}

static void a_log_that_cannot_be_read_is_unknown(void **state)
{
	struct kmsg k;

	(void)state;
	kmsg_read("/nonexistent/kmsg", &k);
	assert_false(k.known);
	kmsg_clear(&k);
}

static struct conditions conditions_of(const char *text)
{
	struct conditions c;
	struct err e;
	json_t *o;

	assert_ok(json_parse("test", text, strlen(text), 65536, &o, &e), e);
	conditions_from_json(o, &c);
	json_decref(o);
	return c;
}

/* Both looks at one disk, and what must come of them; -1: nobody counted. */
static void sources_are_weighed(void **state)
{
	static const struct {
		const char *before, *after;
		int64_t errors;
	} table[] = {
		{"", "", -1},
		{"'errors':{'scsi':3}", "'errors':{'scsi':5}", 2},
		{"'errors':{'scsi':3,'nvme':1}", "'errors':{'scsi':5,'nvme':4}", 3},
		{"'errors':{'pool':3}", "'errors':{'pool':0}", 0}, /* imported anew */
		{"'errors':{'scsi':3}", "'errors':{}", -1},
		{"", "'errors':{'scsi':3}", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *texts[2];
		struct conditions b, a;

		for (int k = 0; k < 2; k++) {
			const char *more = k ? table[i].after : table[i].before;

			texts[k] = xasprintf("{'disks':[{'name':'sda','under':['sda']%s%s}]}",
				*more ? "," : "", more);
			for (char *p = texts[k]; *p; p++)
				*p = *p == '\'' ? '"' : *p;
		}
		b = conditions_of(texts[0]);
		a = conditions_of(texts[1]);
		if (conditions_errors(&b, &a, &b.disks[0], &a.disks[0]) != table[i].errors)
			fail_msg("row %zu", i);
		conditions_clear(&b);
		conditions_clear(&a);
		free(texts[0]);
		free(texts[1]);
	}
}

/* loop0 over sda: both in the log; md0 over something that the log is silent of. */
static void the_log_counts_for_what_is_below(void **state)
{
	static const char disks[] =
		"\"disks\":[{\"name\":\"loop0\",\"under\":[\"sda\"]},"
		"{\"name\":\"md0\",\"under\":[\"sda\",\"nvme0n1\"]},"
		"{\"name\":\"md1\",\"under\":[\"zram0\"]},{\"name\":\"vda\",\"under\":[\"vda\"]}]";
	static const int64_t want[] = {3, 3, -1, 0};
	char *text = xasprintf("{%s,\"log\":{\"first\":50,\"next\":100,\"us\":5000}}", disks);
	struct conditions b = conditions_of(text), a, back;
	json_t *o;

	(void)state;
	free(text);
	text = xasprintf("{%s}", disks);
	a = conditions_of(text);
	free(text);
	take_all(&a.log);
	o = conditions_json(&a);
	conditions_from_json(o, &back);
	json_decref(o);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		if (conditions_errors(&b, &back, &b.disks[i], &back.disks[i]) != want[i])
			fail_msg("%s: not %d", b.disks[i].name, (int)want[i]);
	b.log.next = 99; /* a record since then is gone */
	assert_int_equal(conditions_errors(&b, &back, &b.disks[3], &back.disks[3]), -1);
	conditions_clear(&b);
	conditions_clear(&a);
	conditions_clear(&back);
}

/* Places of the NVM Express specification's log page 02h. */
static void smart_logs_are_read(void **state)
{
	unsigned char page[NVME_SMART_BYTES] = {0};
	struct nvme_smart s;

	(void)state;
	page[0] = 0x01; /* spare below its threshold: nothing of heat */
	page[160] = 0x2c;
	page[161] = 0x01;
	page[176] = 0xff; /* entries in the error log: also for commands that it does not know */
	page[216] = 2;
	page[220] = 3;
	nvme_smart_parse(page, &s);
	assert_false(s.too_hot);
	assert_int_equal(s.media_errors, 300);
	assert_int_equal(s.slowed, 5);
	page[0] = 0x02;
	nvme_smart_parse(page, &s);
	assert_true(s.too_hot);
	assert_int_equal(nvme_smart_read("sda", &s), -1);
	assert_int_equal(nvme_smart_read("nvme99n1", &s), -1);
}

/* ---- a real one ---- */

static char file[] = "/tmp/arraymark-kmsg-XXXXXX";

static int losetup(const char *const *words, struct buf *out)
{
	const char *program = fs_find_program("losetup");
	struct strv argv = {0};
	struct err ignored;
	int status = -1;

	if (program) {
		strv_add(&argv, program);
		strv_add_all(&argv, words);
		status = proc_run_ok(&argv, 10000, out, &ignored);
	}
	strv_free(&argv);
	return status;
}

/* Reads what its file does not have any more. */
static int fails_to_read(const char *device)
{
	char *page = NULL;
	int fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC), failed;

	assert_true(fd >= 0);
	assert_int_equal(posix_memalign((void **)&page, 4096, 4096), 0);
	failed = pread(fd, page, 4096, 4 << 20) < 0;
	free(page);
	close(fd);
	return failed;
}

static void a_real_failure_is_seen(void **state)
{
	struct conditions before, after;
	struct strv disks = {0};
	struct buf device = {0};
	int fd = mkstemp(file), failed;
	int64_t n;

	(void)state;
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	if (geteuid() != 0 ||
		losetup((const char *const[]){"--find", "--show", file, NULL}, &device)) {
		close(fd);
		unlink(file);
		skip();
	}
	device.data[strcspn(device.data, "\n")] = '\0';
	strv_add(&disks, device.data + strlen("/dev/"));
	conditions_read("", &disks, &before);
	assert_int_equal(ftruncate(fd, 4096), 0);
	failed = fails_to_read(device.data);
	conditions_read("", &disks, &after);
	losetup((const char *const[]){"-d", device.data, NULL}, NULL);
	close(fd);
	unlink(file);
	failed = failed && before.log.known;
	n = conditions_errors(&before, &after, &before.disks[0], &after.disks[0]);
	if (failed) /* unknown where others fail all the time; never none */
		assert_int_not_equal(n, 0);
	conditions_clear(&before);
	conditions_clear(&after);
	strv_free(&disks);
	buf_free(&device);
	if (!failed || n < 0)
		skip(); /* the kernel's log may not be read here */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_counted),
		cmocka_unit_test(a_flood_is_known_as_one),
		cmocka_unit_test(what_was_lost_is_unknown),
		cmocka_unit_test(a_flood_is_known_by_its_numbers),
		cmocka_unit_test(time_is_the_newest_records),
		cmocka_unit_test(a_log_that_cannot_be_read_is_unknown),
		cmocka_unit_test(sources_are_weighed),
		cmocka_unit_test(the_log_counts_for_what_is_below),
		cmocka_unit_test(smart_logs_are_read),
		cmocka_unit_test(a_real_failure_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
