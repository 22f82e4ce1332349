/* Scratch disks: how much may be there in all, and where nobody else can put something in the way. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define MIB (1024 * 1024LL)

static char home[] = "/tmp/arraymark-scratch-XXXXXX";
static char scratch[64];

/* Two disks of 100 MiB under that limit, as plain files; they are gone again afterwards. */
static int try_limit(int64_t limit, struct err *e)
{
	static const struct job_key key = {7, 1, 1};
	struct policy policy = {.scratch_directory = scratch, .scratch_limit = limit};
	struct inventory inv = {0};
	struct layout l = {.name = (char *)"a", .scratch = {.disks = 2, .size = 100 * MIB}};
	struct fs_stage fs = {.type = FS_EXT4};
	struct disk_selector sel = {.count = 2};
	struct volume_ctx ctx = {.policy = &policy, .inv = &inv, .key = key, .job_tag = "0a1b2c",
		.unit = {1, 0}, .state_dir = home, .mount_root = home};
	struct stage_disks disks = {0};
	struct journal *j;
	struct err bad;
	int status;

	fs.disks.v = &sel;
	fs.disks.n = 1;
	l.fs = &fs;
	assert_ok(journal_open(home, &key, &j, &bad), bad);
	ctx.sink = sink_real(j, ctx.unit, NULL, NULL);
	status = scratch_prepare(&ctx, &l, &disks, e);
	assert_int_equal(disks.n, status ? 0 : 2);
	stage_disks_free(&disks);
	sink_free(ctx.sink);
	journal_close(j);
	return status;
}

static void clear(void)
{
	char path[128];
	struct err e;

	snprintf(path, sizeof(path), "%s/am_7_1_0a1b2c", scratch);
	assert_ok(fs_remove_tree(path, &e), e);
}

static void test_limit(void **state)
{
	char path[128];
	struct err e;
	int fd;

	(void)state;
	assert_int_equal(try_limit(200 * MIB - 1, &e), -1);
	assert_ok(try_limit(200 * MIB, &e), e);
	clear();
	/* what an earlier plan kept; what is not ours does not count */
	snprintf(path, sizeof(path), "%s/am_6_1_ffffff", scratch);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/am_6_1_ffffff/disk01", scratch);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, 300 * MIB), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/other", scratch);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(try_limit(500 * MIB - 1, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, "scratch disks of 300 MiB are in");
	assert_has(e.text, "200 MiB more are wanted");
	assert_ok(try_limit(500 * MIB, &e), e);
	clear();
}

static void test_place(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(chmod(scratch, 0777), 0);
	assert_int_equal(try_limit(1000 * MIB, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, "can be written by others");
	assert_int_equal(chmod(scratch, 01777), 0);
	assert_ok(try_limit(1000 * MIB, &e), e);
	clear();
	assert_int_equal(chmod(scratch, 0700), 0);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(scratch, 12345, 12345), 0);
	assert_int_equal(try_limit(1000 * MIB, &e), -1);
	assert_has(e.text, "belongs to user 12345");
}

static void make_disk(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, MIB), 0);
	close(fd);
}

/* In a mount namespace of its own: the same path, once more, on a tmpfs over the folder. */
static int covered_file_is_found(const char *file)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		char *found;
		int fd;

		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			mount("tmpfs", scratch, "tmpfs", 0, "size=4m"))
			_exit(2);
		fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, MIB))
			_exit(2);
		found = loop_find(file);
		_exit(found != NULL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

static void test_loop_of_another_file(void **state)
{
	struct strv attach = {0}, detach = {0};
	struct buf device = {0};
	struct err e;
	char file[300], *found;
	int covered;

	(void)state;
	snprintf(file, sizeof(file), "%s/disk", scratch);
	make_disk(file);
	strv_add(&attach, "/sbin/losetup");
	strv_add(&attach, "--find");
	strv_add(&attach, "--show");
	strv_add(&attach, file);
	if (geteuid() != 0 || proc_run_ok(&attach, 10000, &device, &e)) {
		strv_free(&attach);
		skip();
	}
	device.data[strcspn(device.data, "\n")] = '\0';
	found = loop_find(file);
	covered = covered_file_is_found(file);
	strv_add(&detach, "/sbin/losetup");
	strv_add(&detach, "-d");
	strv_add(&detach, device.data);
	assert_ok(proc_run_ok(&detach, 10000, NULL, &e), e);
	assert_non_null(found);
	assert_string_equal(found, device.data);
	assert_int_equal(covered, 0);
	free(found);
	strv_free(&attach);
	strv_free(&detach);
	buf_free(&device);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(home))
		return -1;
	snprintf(scratch, sizeof(scratch), "%s/scratch", home);
	return mkdir(scratch, 0700);
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	return fs_remove_tree(home, &e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_loop_of_another_file),
		cmocka_unit_test(test_place),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
