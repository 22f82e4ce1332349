/* Telemetry: counters of this very machine, and differences of made-up ones. */
#include "tests/unit/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/telemetry/telemetry.h"
#include "common/base/units.h"

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
	const char *disk = some_disk();
	struct telemetry_source *t;
	struct telemetry first, second, d;
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
	assert_ok(telemetry_open(&disks, &t, &e), e);
	assert_ok(telemetry_read(t, &first, &e), e);
	assert_int_equal(first.disks, disk ? 1 : 0);
	assert_true(first.mem_free_bytes > 0 && first.mem_cached_bytes > 0);
	assert_true(first.cpu_user_ns > 0 && first.cpu_idle_ns > 0);
	/* Busy until the machine's clock tick has counted it. */
	until = clock_mono_ns() + 10 * NS_PER_S;
	do {
		for (int i = 0; i < 1000000; i++)
			spin++;
		assert_ok(telemetry_read(t, &second, &e), e);
		telemetry_delta(&first, &second, &d);
	} while (!d.cpu_user_ns && clock_mono_ns() < until);
	assert_true(d.cpu_user_ns > 0);
	assert_true(d.cpu_user_ns < second.cpu_user_ns);
	assert_int_equal(d.mem_free_bytes, second.mem_free_bytes);
	telemetry_close(t);
	strv_free(&disks);
}

static void no_disks_is_fine(void **state)
{
	struct telemetry_source *t;
	struct strv none = {0};
	struct telemetry r;
	struct err e;

	(void)state;
	assert_ok(telemetry_open(&none, &t, &e), e);
	assert_ok(telemetry_read(t, &r, &e), e);
	assert_int_equal(r.disks, 0);
	assert_int_equal(r.disk_write_bytes, 0);
	telemetry_close(t);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_machine_is_read),
		cmocka_unit_test(no_disks_is_fine),
		cmocka_unit_test(counters_become_differences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
