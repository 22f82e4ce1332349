/* Clearing labels: only those that were named, whatever a run that was cut short left; what else is on
 * the disk stays. Files stand for disks. */
#include "tests/unit/label_kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/volume/labels.h"
#include "agent/volume/signatures.h"
#include "agent/volume/zfs_label.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

static char home[] = "/tmp/arraymark-labels-XXXXXX";

static const char *at(const char *name)
{
	static char paths[4][4200];
	static unsigned next;
	char *p = paths[next++ % 4];

	snprintf(p, sizeof(paths[0]), "%s/%s", home, name);
	return p;
}

#define DISK_SIZE (8 * 1024 * 1024 + 5000)

/* A file full of 'x' with the label at the places that mask names. */
static void make_disk(const char *path, const char *pool, uint64_t guid, unsigned mask)
{
	char *data = xmalloc(DISK_SIZE);
	struct buf label = {0};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memset(data, 'x', DISK_SIZE);
	label_make(&label, pool, guid, NULL, 0);
	for (unsigned i = 0; i < ZFS_LABELS; i++)
		if (mask & 1u << i)
			memcpy(data + zfs_label_offset(DISK_SIZE, i) + ZFS_LABEL_NVLIST_OFFSET,
				label.data, label.len);
	assert_int_equal(write(fd, data, DISK_SIZE), DISK_SIZE);
	close(fd);
	buf_free(&label);
	free(data);
}

/* Bytes of the file that are zero. */
static size_t zeros_in(const char *path)
{
	struct buf data = {0};
	struct err e;
	size_t n = 0;

	assert_ok(fs_read_file(path, DISK_SIZE, &data, &e), e);
	for (size_t i = 0; i < data.len; i++)
		n += data.data[i] == 0;
	buf_free(&data);
	return n;
}

static int clear(const char *const *words)
{
	struct strv argv = {0};
	int status;

	strv_add(&argv, "clear-labels");
	strv_add_all(&argv, words);
	status = labels_main((int)argv.n, argv.v);
	strv_free(&argv);
	return status;
}

static void labels_are_cleared(void **state)
{
	const size_t ends = 4 * ZFS_LABEL_SIZE + DISK_SIZE % ZFS_LABEL_SIZE;
	const char *disk = at("disk");
	struct strv found = {0};
	struct err e;

	(void)state;
	/* All four, or what a run that was cut short left. */
	for (unsigned mask = 1; mask < 16; mask++) {
		make_disk(disk, "am_5_1_abcdef", 99, mask);
		assert_int_equal(clear((const char *const[]){"--kind", "zfs", "--name",
			"am_5_1_abcdef", "--guid", "99", disk, NULL}), 0);
		assert_int_equal(zeros_in(disk), ends);
	}
	assert_ok(signatures_of_disk(disk, &found, &e), e);
	assert_int_equal(found.n, 0);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs", "--name", "am_5_1_abcdef", disk,
		NULL}), 0);
	make_disk(disk, NULL, 0, 15);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs-spare", disk, NULL}), 0);
	assert_int_equal(zeros_in(disk), ends);
	make_disk(disk, NULL, 0, 15);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs-spare", "--name", "am_5_1_abcdef",
		"--guid", "99", "--device-guid", "4711", disk, NULL}), 0);
	assert_int_equal(zeros_in(disk), ends);
}

static void labels_of_others_stay(void **state)
{
	const char *disk = at("disk"), *mine = at("mine");
	size_t before;

	(void)state;
	make_disk(disk, "am_5_1_abcdef", 99, 8);
	before = zeros_in(disk);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs", "--name", "am_5_1_abcdee", disk,
		NULL}), 1);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs", "--name", "am_5_1_abcdef",
		"--guid", "98", disk, NULL}), 1);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs-spare", disk, NULL}), 1);
	assert_int_equal(zeros_in(disk), before);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs-spare", "--name", "am_5_1_abcdef",
		"--guid", "98", disk, NULL}), 1);
	assert_int_equal(zeros_in(disk), before);
	make_disk(mine, NULL, 0, 15); /* a spare of another pool: the number of the device tells */
	before = zeros_in(mine);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs-spare", "--name", "am_5_1_abcdef",
		"--device-guid", "4712", mine, NULL}), 1);
	assert_int_equal(zeros_in(mine), before);
	before = zeros_in(disk);
	/* One that is refused does not keep the others. */
	make_disk(mine, "am_5_2_abcdef", 7, 15);
	assert_int_equal(clear((const char *const[]){"--kind", "zfs", "--name", "am_5_2_abcdef", disk,
		mine, at("not-there"), NULL}), 1);
	assert_int_equal(zeros_in(disk), before);
	assert_true(zeros_in(mine) > 4 * ZFS_LABEL_SIZE);
}

/* What the verb says of the devices. */
static void tell_guids(const char *const *devices, struct buf *out)
{
	const char *said = at("said");
	struct strv argv = {0};
	struct err e;
	int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), old, status;

	strv_add(&argv, "label-guids");
	strv_add_all(&argv, devices);
	fflush(stdout);
	old = dup(1);
	assert_int_equal(dup2(fd, 1), 1);
	status = label_guids_main((int)argv.n, argv.v);
	fflush(stdout);
	assert_int_equal(dup2(old, 1), 1);
	close(old);
	close(fd);
	assert_int_equal(status, 0);
	assert_ok(fs_read_file(said, 4096, out, &e), e);
	strv_free(&argv);
}

static void spares_are_known_by_their_own_guid(void **state)
{
	const char *spare = at("spare"), *data = at("data"), *last = at("last");
	struct buf said = {0};

	(void)state;
	make_disk(spare, NULL, 0, 15);
	make_disk(data, "am_5_1_abcdef", 99, 15); /* no spare's label: nothing is told */
	make_disk(last, NULL, 0, 8);
	tell_guids((const char *const[]){"--", spare, data, "/tmp/no/such/device", last, NULL}, &said);
	assert_string_equal(buf_str(&said), "4711 0 0 4711\n");
	buf_free(&said);
}

static void wrong_usage_is_told(void **state)
{
	static const char *const wrong[][6] = {
		{NULL}, {"--kind", "zfs", "/dev/null", NULL}, {"--kind", "zfs", "--name", "x", NULL},
		{"--kind", "dos", "--name", "x", "/dev/null", NULL},
		{"--kind", "xfs", "/dev/null", NULL}, {"--name", "x", "/dev/null", NULL},
		{"--kind", "zfs", "--guid", "-1x", "/dev/null", NULL},
		{"--kind", "zfs-spare", "--device-guid", "0", "/dev/null", NULL},
		{"--kind", "xfs", "--device-guid", "1", "/dev/null", NULL}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(clear(wrong[i]), 2);
}

/* Runs it with that input; its exit status, -1 when it is not there. */
static int feed(const char *program, const char *argument, const char *input)
{
	const char *path = fs_find_program(program), *script = at("input");
	struct err e;
	int status;
	pid_t pid;

	if (!path)
		return -1;
	assert_ok(fs_write_file(script, input, strlen(input), 0600, &e), e);
	pid = fork();
	if (pid == 0) {
		int in = open(script, O_RDONLY | O_CLOEXEC);
		int out = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
			_exit(1);
		execl(path, program, argument, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_table(const char *disk)
{
	int fd = open(disk, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, 64 << 20), 0);
	close(fd);
	return feed("sfdisk", disk, "label: gpt\nstart=2048, size=65536, name=zfs-data\n");
}

/* What mkswap writes: version 1 and the last page beside the magic word (linux/swap.h). */
static void put_swap(int fd, off_t at_byte)
{
	const uint32_t info[] = {1, 8191};

	assert_int_equal(pwrite(fd, info, sizeof(info), at_byte + 1024), sizeof(info));
	assert_int_equal(pwrite(fd, "SWAPSPACE2", 10, at_byte + 4096 - 10), 10);
}

static size_t signatures_on(const char *disk)
{
	struct strv found = {0};
	struct err e;
	size_t n;

	assert_ok(signatures_of_disk(disk, &found, &e), e);
	n = found.n;
	strv_free(&found);
	return n;
}

/* OpenZFS' own table goes with the pool; one that only looks like it stays, with what is in it. */
static void a_table_goes_only_when_it_is_empty(void **state)
{
	const char *const words[] = {"--kind", "zfs", "--name", "am_5_1_abcdef", at("table"), NULL};
	const char *disk = words[4];
	int fd;

	(void)state;
	if (make_table(disk))
		skip();
	assert_true(signatures_on(disk) > 0);
	assert_int_equal(clear(words), 0);
	assert_int_equal(signatures_on(disk), 0);
	assert_int_equal(make_table(disk), 0);
	fd = open(disk, O_WRONLY | O_CLOEXEC);
	put_swap(fd, 2048 * 512);
	close(fd);
	assert_int_equal(clear(words), 1);
	assert_true(signatures_on(disk) > 0);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : -1;
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
		cmocka_unit_test(labels_are_cleared),
		cmocka_unit_test(labels_of_others_stay),
		cmocka_unit_test(spares_are_known_by_their_own_guid),
		cmocka_unit_test(wrong_usage_is_told),
		cmocka_unit_test(a_table_goes_only_when_it_is_empty),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
