/*
 * Who keeps a file system alive that was unmounted here: a loop device stands for the disk, children with
 * mounts of their own for containers. In a mount namespace of the test's own. Needs root and loop devices.
 */
#include "tests/unit/loop_kit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/volume/holders.h"

#define DISK_SIZE (16 << 20)

static char home[] = "/tmp/arraymark-holders-XXXXXX";
static char disk[32]; /* "/dev/loop3"; "": there is none here */
static char point[64], second[64];
static dev_t number;

static int copy_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static int open_a_file(void)
{
	char path[80];

	snprintf(path, sizeof(path), "%s/file", point);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) < 0;
}

static void mount_it(void)
{
	if (!*disk)
		skip();
	assert_int_equal(mount(disk, point, "ext4", 0, NULL), 0);
}

/* The file system goes a moment after the last who holds it. */
static void assert_released(void)
{
	struct err e;

	assert_ok(holders_await_none(disk, &e), e);
	assert_null(holders_of_device(number));
}

static void assert_held_by(pid_t pid, const char *how)
{
	char *who = holders_of_device(number), begin[64];

	snprintf(begin, sizeof(begin), "process %d (test_holders) has ", (int)pid);
	assert_non_null(who);
	assert_has(who, begin);
	assert_has(who, how);
	free(who);
}

static void test_nobody(void **state)
{
	(void)state;
	mount_it();
	assert_int_equal(umount(point), 0);
	assert_released();
}

static void test_a_copy_in_another_namespace(void **state)
{
	char text[320];
	pid_t one, two;

	(void)state;
	mount_it();
	one = kit_beside(copy_mounts);
	assert_int_equal(umount(point), 0);
	two = kit_beside(copy_mounts); /* of ours, where it is not mounted any more */
	snprintf(text, sizeof(text),
		"it mounted at '%s' in a mount namespace of its own: end that container or service, or unmount "
		"it there (by nsenter -t %d -m)",
		point, (int)one);
	assert_held_by(one, text);
	kit_end(two);
	kit_end(one);
	assert_released();
}

static void test_copies_in_two_namespaces(void **state)
{
	pid_t one, two;
	char *who;

	(void)state;
	mount_it();
	one = kit_beside(copy_mounts);
	two = kit_beside(copy_mounts);
	assert_int_equal(umount(point), 0);
	who = holders_of_device(number);
	assert_non_null(who);
	assert_has(who, "of its own (and so in 1 more): end");
	free(who);
	kit_end(one);
	assert_held_by(two, "of its own: end");
	kit_end(two);
	assert_released();
}

static void test_another_mount_of_ours(void **state)
{
	char *who, text[128];

	(void)state;
	mount_it();
	assert_int_equal(mount(point, second, NULL, MS_BIND, NULL), 0);
	assert_int_equal(umount(point), 0);
	snprintf(text, sizeof(text), "it is mounted at %s too: unmount it there", second);
	who = holders_of_device(number);
	assert_non_null(who);
	assert_string_equal(who, text);
	free(who);
	assert_int_equal(umount(second), 0);
	assert_released();
}

/* umount -l leaves it in no list. */
static void test_open_files_of_a_detached_mount(void **state)
{
	pid_t pid;

	(void)state;
	mount_it();
	pid = kit_beside(open_a_file);
	assert_int_equal(umount2(point, MNT_DETACH), 0);
	assert_held_by(pid, "files of it open: end it");
	kit_end(pid);
	assert_released();
}

static void test_why_an_unmount_failed(void **state)
{
	struct err e = {ERR_FAILED, "target is busy"};
	char text[128];
	pid_t pid;

	(void)state;
	mount_it();
	pid = kit_beside(open_a_file);
	assert_int_equal(umount(point), -1);
	holders_explain_mount(point, &e);
	snprintf(text, sizeof(text), "target is busy; process %d (test_holders) has files of it open: end it",
		(int)pid);
	assert_string_equal(e.text, text);
	assert_int_equal(e.code, ERR_BUSY);
	kit_end(pid);
	assert_int_equal(umount(point), 0);
	assert_released();
	assert_int_equal(mount("none", second, "tmpfs", 0, NULL), 0);
	e = (struct err){ERR_FAILED, "nothing is open"};
	holders_explain_mount(second, &e);
	assert_string_equal(e.text, "nothing is open");
	assert_int_equal(umount(second), 0);
}

/* A tmpfs' source is any text: it stands for a dataset of ZFS. */
static int mount_a_dataset(void)
{
	return unshare(CLONE_NEWNS) || mount("am_7_1_abcdef/data", second, "tmpfs", 0, NULL);
}

static void test_a_dataset_in_another_namespace(void **state)
{
	struct err e = {ERR_FAILED, "pool is busy"};
	char text[128];
	pid_t pid;

	(void)state;
	if (!*disk)
		skip();
	pid = kit_beside(mount_a_dataset);
	holders_explain_pool("am_7_1_abcdef", "/nowhere", &e);
	snprintf(text, sizeof(text), "pool is busy; process %d (test_holders) has it mounted at '%s' in",
		(int)pid, second);
	assert_has(e.text, text);
	e = (struct err){ERR_FAILED, "pool is busy"};
	holders_explain_pool("am_7_1_abcde", "/nowhere", &e);
	assert_string_equal(e.text, "pool is busy");
	kit_end(pid);
}

static int set_up(void **state)
{
	char file[64];
	struct stat st;
	int fd;

	(void)state;
	if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		!mkdtemp(home))
		return 0;
	snprintf(file, sizeof(file), "%s/disk", home);
	snprintf(point, sizeof(point), "%s/point", home);
	snprintf(second, sizeof(second), "%s/second", home);
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, DISK_SIZE) || mkdir(point, 0755) || mkdir(second, 0755))
		return -1;
	close(fd);
	if (kit_run("mkfs.ext4", (const char *const[]){"-q", "-F", file, NULL}, NULL) ||
		kit_attach(file, disk, sizeof(disk)))
		*disk = '\0';
	if (*disk && stat(disk, &st) == 0)
		number = st.st_rdev;
	return 0;
}

static int tear_down(void **state)
{
	struct err ignored;

	(void)state;
	if (*disk)
		(void)kit_detach(disk);
	(void)fs_remove_tree(home, &ignored);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_a_copy_in_another_namespace),
		cmocka_unit_test(test_copies_in_two_namespaces),
		cmocka_unit_test(test_another_mount_of_ours),
		cmocka_unit_test(test_open_files_of_a_detached_mount),
		cmocka_unit_test(test_why_an_unmount_failed),
		cmocka_unit_test(test_a_dataset_in_another_namespace),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
