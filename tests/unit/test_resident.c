/* What the page cache holds of files, as the kernel tells. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "agent/volume/resident.h"
#include "common/base/fs.h"

#define BYTES (64 * 4096)

static char dir[64];

static int write_file(const char *name)
{
	static char block[BYTES];
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	assert_int_equal(write(fd, block, sizeof(block)), BYTES);
	assert_int_equal(fsync(fd), 0);
	return fd;
}

static void make(void)
{
	char path[80];

	snprintf(dir, sizeof(dir), "/tmp/arraymark-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/below", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/link", dir);
	assert_int_equal(symlink("/etc/passwd", path), 0);
}

/* As large as before, and no page of it in memory: what was cut off leaves for certain, which
 * advice to the kernel does not promise. */
static void forget(int fd)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
}

static void test_pages(void **state)
{
	struct resident r;
	struct err e;
	int one, two;

	(void)state;
	make();
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.files, 0); /* a link is not followed */
	one = write_file("one");
	two = write_file("below/two");
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.files, 2);
	assert_int_equal(r.pages, 2 * BYTES / sysconf(_SC_PAGESIZE));
	assert_non_null(r.example);
	free(r.example);
	forget(one);
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.pages, BYTES / sysconf(_SC_PAGESIZE));
	assert_has(r.example, "below/two");
	free(r.example);
	forget(two);
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.pages, 0);
	assert_null(r.example);
	close(one);
	close(two);
	assert_ok(fs_remove_tree(dir, &e), e);
}

/* A file that may not be looked into is not among those of which no page is in memory. */
static void test_what_cannot_be_asked(void **state)
{
	struct volume v = {.directory = dir};
	struct buf done = {0};
	struct resident r;
	struct err e;
	int one, two, rc;

	(void)state;
	make();
	one = write_file("one");
	two = write_file("below/two");
	forget(one);
	forget(two);
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(fchmod(two, 0), 0);
	if (getuid() == 0) {
		assert_int_equal(fchown(one, 65534, 65534), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	rc = resident_read(dir, &r, &e);
	if (rc == 0)
		rc = volume_check_cold(&v, &done, &e);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_ok(rc, e);
	assert_int_equal(r.files, 1);
	assert_int_equal(r.unasked, 1);
	assert_int_equal(r.pages, 0);
	assert_string_equal(
		buf_str(&done), ", no page of 1 file in memory, 1 file could not be asked about");
	buf_free(&done);
	close(one);
	close(two);
	assert_ok(fs_remove_tree(dir, &e), e);
}

/* Makes a sparse file of the largest size there is. -1: no file system here takes one. */
static int make_sparse(const char *name)
{
	char path[128];
	struct err e;
	int fd;

	snprintf(dir, sizeof(dir), "/dev/shm/arraymark-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDWR | O_CREAT, 0644);
	if (fd >= 0 && ftruncate(fd, INT64_MAX) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	assert_ok(fs_remove_tree(dir, &e), e);
	return -1;
}

/* Of a file of 8 EiB only what has data is asked for: this would not come to an end otherwise. */
static void test_sparse(void **state)
{
	struct resident r;
	struct err e;
	int fd = make_sparse("huge");

	(void)state;
	if (fd < 0)
		skip();
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.files, 1);
	assert_int_equal(r.unasked, 0);
	assert_int_equal(r.pages, 0);
	assert_int_equal(pwrite(fd, "x", 1, 0), 1);
	assert_int_equal(pwrite(fd, "x", 1, 1LL << 62), 1);
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.files, 1);
	assert_int_equal(r.unasked, 0);
	assert_int_equal(r.pages, 2);
	free(r.example);
	close(fd);
	assert_ok(fs_remove_tree(dir, &e), e);
}

/* Data in more places than are asked for: the file is told as one that was not asked about. */
static void test_scattered(void **state)
{
	struct resident r;
	struct err e;
	int fd = make_sparse("scattered");

	(void)state;
	if (fd < 0)
		skip();
	for (off_t i = 0; i < 16385; i++)
		if (pwrite(fd, "x", 1, i << 22) != 1) {
			close(fd);
			assert_ok(fs_remove_tree(dir, &e), e);
			skip(); /* no room for 64 MiB of pages */
		}
	assert_ok(resident_read(dir, &r, &e), e);
	assert_int_equal(r.files, 0);
	assert_int_equal(r.unasked, 1);
	assert_int_equal(r.pages, 16384);
	free(r.example);
	close(fd);
	assert_ok(fs_remove_tree(dir, &e), e);
}

static void test_no_folder(void **state)
{
	struct resident r;
	struct err e;

	(void)state;
	assert_int_equal(resident_read("/nonexistent/folder", &r, &e), -1);
	assert_has(e.text, "/nonexistent/folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_what_cannot_be_asked),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
