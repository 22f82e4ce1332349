/*
 * What holds a disk, whoever it is and wherever: real loop devices stand for disks, in a mount namespace
 * of the test's own. Needs root and loop devices.
 */
#include "tests/unit/label_kit.h"
#include "tests/unit/loop_kit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "agent/volume/usage.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DISK_SIZE (16 << 20)
#define DISKS 2

static char home[] = "/tmp/arraymark-usage-XXXXXX";
static char disks[DISKS][32]; /* "/dev/loop3"; "": there are none here */

static char *at(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

static void need_disks(void)
{
	if (!*disks[0])
		skip();
}

/* Caller frees; NULL: nothing. sigs: their names with commas, freed by the caller, or NULL. */
static char *holder_of(const char *device, char **sigs)
{
	struct strv found = {0};
	struct buf list = {0};
	char *why = NULL;
	struct usage u;
	struct err e;

	assert_ok(usage_read(&u, &e), e);
	assert_ok(usage_of_disk(&u, device + strlen("/dev/"), &why, &found, &e), e);
	usage_clear(&u);
	for (size_t i = 0; i < found.n; i++)
		buf_addf(&list, "%s%s", i ? "," : "", found.v[i]);
	if (sigs)
		*sigs = xstrdup(buf_str(&list));
	strv_free(&found);
	buf_free(&list);
	return why;
}

static void assert_held(const char *device, const char *by)
{
	char *why = holder_of(device, NULL);

	if (!why)
		fail_msg("%s: nothing holds it", device);
	assert_has(why, by);
	free(why);
}

static void assert_free(const char *device)
{
	char *why = holder_of(device, NULL);

	if (why)
		fail_msg("%s: %s", device, why);
}

static void blank(const char *device)
{
	int fd = open(device, O_WRONLY | O_CLOEXEC);
	char *zeros = xcalloc(1, 1 << 20);

	for (int i = 0; i < DISK_SIZE >> 20; i++)
		assert_int_equal(write(fd, zeros, 1 << 20), 1 << 20);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	free(zeros);
}

static void make_ext4(const char *device)
{
	if (kit_run("mkfs.ext4", (const char *const[]){"-q", "-F", device, NULL}, NULL))
		skip();
}

static void test_blank_disk(void **state)
{
	char *why, *sigs;

	(void)state;
	need_disks();
	why = holder_of(disks[0], &sigs);
	assert_null(why);
	assert_string_equal(sigs, "");
	free(sigs);
}

static void test_mounted(void **state)
{
	char *sigs, *why;

	(void)state;
	need_disks();
	make_ext4(disks[0]);
	assert_int_equal(mkdir(at("an odd\tplace"), 0755), 0);
	assert_int_equal(mount(disks[0], at("an odd\tplace"), "ext4", 0, NULL), 0);
	assert_held(disks[0], "mounted at /tmp/arraymark-usage-");
	assert_held(disks[0], "an odd\tplace");
	assert_int_equal(umount(at("an odd\tplace")), 0);
	why = holder_of(disks[0], &sigs);
	assert_null(why);
	assert_string_equal(sigs, "ext4");
	free(sigs);
	blank(disks[0]);
}

/* The kernel takes a dead namespace's mounts down a moment later. */
static void await_unclaimed(const char *device)
{
	struct timespec pause_ = {0, 5 * NS_PER_MS};
	int64_t until = clock_mono_ns() + 20 * NS_PER_S;
	int fd;

	while ((fd = open(device, O_RDONLY | O_EXCL | O_CLOEXEC)) < 0 && clock_mono_ns() < until)
		nanosleep(&pause_, NULL);
	assert_true(fd >= 0);
	close(fd);
}

static int mount_elsewhere(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount(disks[0], at("there"), "ext4", 0, NULL);
}

/* As in a container: our list of mounts does not show it. */
static void test_mounted_in_another_namespace(void **state)
{
	char who[128];
	pid_t pid;

	(void)state;
	need_disks();
	make_ext4(disks[0]);
	assert_int_equal(mkdir(at("there"), 0755), 0);
	pid = kit_beside(mount_elsewhere);
	snprintf(who, sizeof(who),
		"opened exclusively by somebody else: process %d (test_usage) has it mounted at '/tmp/",
		(int)pid);
	assert_held(disks[0], who);
	kit_end(pid);
	await_unclaimed(disks[0]);
	blank(disks[0]);
}

/* The kernel claims the loop device, not what is below it. */
static void test_below_a_loop_device(void **state)
{
	char above[32], *why;
	struct usage u;
	struct err e;

	(void)state;
	need_disks();
	assert_int_equal(kit_attach(disks[0], above, sizeof(above)), 0);
	assert_held(disks[0], "below the loop device loop");
	assert_held(disks[0], above + strlen("/dev/"));
	assert_ok(usage_read(&u, &e), e);
	why = usage_listed(&u, disks[0]);
	usage_clear(&u);
	assert_non_null(why);
	free(why);
	assert_int_equal(kit_detach(above), 0);
	assert_free(disks[0]);
}

static int open_for_writing(void)
{
	return open(disks[0], O_RDWR | O_CLOEXEC) < 0;
}

static int open_both_for_writing(void)
{
	return open_for_writing() || open(disks[1], O_RDWR | O_CLOEXEC) < 0;
}

static int open_for_reading(void)
{
	return open(disks[0], O_RDONLY | O_CLOEXEC) < 0;
}

/* Such as a virtual machine, whose disk it is. */
static void test_open_for_writing(void **state)
{
	pid_t pid;
	char number[64], *why;
	struct strv sigs = {0};
	struct usage u;
	struct err e;

	(void)state;
	need_disks();
	pid = kit_beside(open_for_reading);
	assert_free(disks[0]);
	kit_end(pid);
	pid = kit_beside(open_both_for_writing);
	snprintf(number, sizeof(number), "open for writing in process %d (test_usage)", (int)pid);
	assert_ok(usage_read(&u, &e), e);
	assert_ok(usage_of_disk(&u, disks[0] + strlen("/dev/"), &why, &sigs, &e), e);
	assert_has(why, number);
	free(why);
	kit_end(pid);
	/* all disks were waited for together: nobody looks or waits again */
	assert_ok(usage_of_disk(&u, disks[1] + strlen("/dev/"), &why, &sigs, &e), e);
	assert_has(why, number);
	free(why);
	usage_clear(&u);
	strv_free(&sigs);
	assert_free(disks[0]);
}

static void test_writers_of_others_are_no_matter(void **state)
{
	pid_t pid;

	(void)state;
	need_disks();
	pid = kit_beside(open_for_writing);
	assert_free(disks[1]);
	kit_end(pid);
}

/* What watches disks opens them for a moment. */
static void test_opened_for_a_moment(void **state)
{
	pid_t pid;
	struct strv sigs = {0};
	struct usage u;
	struct err e;
	char *why;

	(void)state;
	need_disks();
	pid = kit_beside(open_for_writing);
	assert_ok(usage_read(&u, &e), e);
	kit_end(pid);
	assert_ok(usage_of_disk(&u, disks[0] + strlen("/dev/"), &why, &sigs, &e), e);
	assert_null(why);
	usage_clear(&u);
	strv_free(&sigs);
}

/* The kernel's targets in their own forms; one of them stands on a file. */
static void test_exported(void **state)
{
	static const char *const files[][2] = {
		{"target/core/fileio_0/a/info",
			"Status: ACTIVATED  Max Queue Depth: 128  SectorSize: 512  HwMaxSectors: 16384\n"
			"        TCM FILEIO ID: 0        File: %s  Size: 16777216  Mode: O_DSYNC Async: 0\n"},
		{"target/core/iblock_0/b/udev_path", "%s\n"},
		{"nvmet/subsystems/nqn.x/namespaces/1/device_path", "%s\n"},
		{"target/core/fileio_0/c/info", "        TCM FILEIO ID: 0        File: /etc/fstab  Size: 1\n"},
	};
	struct stat st;

	(void)state;
	need_disks();
	assert_int_equal(stat(disks[0], &st), 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char *path = xasprintf("%s/config/%s", home, files[i][0]);
		char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
		char *mark = strstr(files[i][1], "%s"), *text;
		struct device_users u = {0};
		struct err e;

		text = mark ? xasprintf("%.*s%s%s", (int)(mark - files[i][1]), files[i][1], disks[0],
				      mark + 2)
			    : xstrdup(files[i][1]);
		assert_ok(fs_mkdir_p(folder, 0755, &e), e);
		assert_ok(fs_write_file(path, text, strlen(text), 0644, &e), e);
		device_users_targets(at("config"), &u);
		if (mark)
			assert_has(device_users_find(&u, st.st_rdev), "exported to other hosts (");
		assert_int_equal(u.n, mark ? 1 : 0);
		device_users_free(&u);
		assert_int_equal(unlink(path), 0);
		free(text);
		free(folder);
		free(path);
	}
}

static int claim(void)
{
	return open(disks[0], O_RDONLY | O_EXCL | O_CLOEXEC) < 0;
}

static void test_claimed(void **state)
{
	pid_t pid;

	(void)state;
	need_disks();
	pid = kit_beside(claim);
	assert_held(disks[0], "opened exclusively by somebody else");
	kit_end(pid);
}

static void put_label(const char *device, const char *pool, const char *host, uint64_t hostid)
{
	int fd = open(device, O_WRONLY | O_CLOEXEC);
	struct buf label = {0};

	label_make(&label, pool, 99, host, hostid);
	for (unsigned i = 0; i < ZFS_LABELS; i++)
		assert_int_equal(pwrite(fd, label.data, label.len,
					 (off_t)zfs_label_offset(DISK_SIZE, i) +
						 ZFS_LABEL_NVLIST_OFFSET),
			label.len);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	buf_free(&label);
}

/* A shelf with two heads: the other one has the pool. Our own old pool is but a signature. */
static void test_pool_of_another_host(void **state)
{
	uint64_t own = (uint64_t)gethostid() & 0xffffffff;
	char *why, *sigs;

	(void)state;
	need_disks();
	put_label(disks[0], "tank", "head2", own ^ 0xffff);
	assert_held(disks[0], "pool tank is imported on host head2");
	put_label(disks[0], "tank", "us", own);
	why = holder_of(disks[0], &sigs);
	assert_null(why);
	assert_string_equal(sigs, "zfs:tank");
	free(sigs);
	blank(disks[0]);
}

/* LUKS as cryptsetup writes it: the magic word, then its version, big endian. */
static void test_encrypted(void **state)
{
	static const char luks[] = "LUKS\xba\xbe\0\1";
	int fd = *disks[0] ? open(disks[0], O_WRONLY | O_CLOEXEC) : -1;
	char *why, *sigs;

	(void)state;
	need_disks();
	assert_int_equal(write(fd, luks, sizeof(luks) - 1), sizeof(luks) - 1);
	assert_int_equal(fsync(fd), 0);
	close(fd);
	why = holder_of(disks[0], &sigs);
	assert_null(why);
	assert_string_equal(sigs, "crypto_LUKS");
	free(sigs);
	blank(disks[0]);
}

/* Between the last look and the first write somebody makes the link lead to another disk. */
static void test_a_link_that_is_turned(void **state)
{
	struct stage_disks d = {0};
	char *link;
	struct err e;

	(void)state;
	need_disks();
	link = xstrdup(at("by-id"));
	assert_int_equal(symlink(disks[0], link), 0);
	stage_disks_add(&d, "data", 0, link, disks[0] + strlen("/dev/"));
	d.v[0].pin = open(disks[0], O_RDONLY | O_CLOEXEC);
	assert_ok(stage_disks_check(&d, &e), e);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink(disks[1], link), 0);
	assert_int_equal(stage_disks_check(&d, &e), -1);
	assert_int_equal(e.code, ERR_WRONG_STATE);
	assert_has(e.text, "leads to another device");
	assert_int_equal(unlink(link), 0);
	assert_int_equal(stage_disks_check(&d, &e), -1);
	stage_disks_free(&d);
	free(link);
}

static int make_disk(int i)
{
	char name[16];
	int fd, status;

	snprintf(name, sizeof(name), "disk%d", i);
	fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	status = fd < 0 || ftruncate(fd, DISK_SIZE);
	if (fd >= 0)
		close(fd);
	if (!status && kit_attach(at(name), disks[i], sizeof(disks[i])))
		*disks[i] = '\0';
	return status;
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(home))
		return -1;
	if (geteuid() != 0 || unshare(CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 0;
	return make_disk(0) || make_disk(1) ? -1 : 0;
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	for (int i = 0; i < DISKS; i++)
		if (*disks[i])
			assert_int_equal(kit_detach(disks[i]), 0);
	return fs_remove_tree(home, &e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blank_disk),
		cmocka_unit_test(test_mounted),
		cmocka_unit_test(test_mounted_in_another_namespace),
		cmocka_unit_test(test_below_a_loop_device),
		cmocka_unit_test(test_open_for_writing),
		cmocka_unit_test(test_writers_of_others_are_no_matter),
		cmocka_unit_test(test_opened_for_a_moment),
		cmocka_unit_test(test_exported),
		cmocka_unit_test(test_claimed),
		cmocka_unit_test(test_pool_of_another_host),
		cmocka_unit_test(test_encrypted),
		cmocka_unit_test(test_a_link_that_is_turned),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
