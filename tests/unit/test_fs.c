/* fs: caps, atomic writes, trees and symlinks, locks between processes, ownership. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/sha256.h"

static char home[] = "/tmp/arraymark-fs-XXXXXX";

static const char *at(const char *name)
{
	static char paths[8][256];
	static unsigned next;
	char *p = paths[next++ % 8];

	snprintf(p, sizeof(paths[0]), "%s/%s", home, name);
	return p;
}

static void put(const char *name, const char *text)
{
	struct err e;

	assert_ok(fs_write_file(at(name), text, strlen(text), 0600, &e), e);
}

static int exists(const char *name)
{
	struct stat st;

	return lstat(at(name), &st) == 0;
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

static void reading_is_capped(void **state)
{
	struct buf b = {0};
	struct err e;

	(void)state;
	put("ten", "0123456789");
	buf_adds(&b, ">");
	assert_ok(fs_read_file(at("ten"), 10, &b, &e), e);
	assert_string_equal(b.data, ">0123456789");
	assert_int_equal(fs_read_file(at("ten"), 9, &b, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_has(e.text, "10 bytes, the limit is 9");
	assert_string_equal(b.data, ">0123456789");
	assert_int_equal(fs_read_file("/dev/zero", 9, &b, &e), -1);
	assert_has(e.text, "not a regular file");
	assert_int_equal(fs_read_file(home, 9, &b, &e), -1);
	assert_has(e.text, "not a regular file");
	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	assert_int_equal(fs_read_file(at("fifo"), 9, &b, &e), -1);
	assert_int_equal(fs_read_file(at("gone"), 9, &b, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	buf_reset(&b);
	assert_ok(fs_read_file("/proc/self/stat", 4096, &b, &e), e);
	assert_true(b.len > 20);
	buf_free(&b);
}

static void an_endless_descriptor_ends(void **state)
{
	struct buf b = {0};
	struct err e;
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(fs_read_fd(fd, "zeros", 1000000, &b, &e), -1);
	assert_has(e.text, "zeros is too large: the limit is 1000000");
	assert_int_equal(b.len, 0);
	close(fd);
	buf_free(&b);
}

static void writing_replaces_whole(void **state)
{
	struct buf b = {0};
	struct stat st;
	struct err e;
	mode_t mask = umask(077);

	(void)state;
	put("file", "old and long");
	assert_ok(fs_write_file(at("file"), "new", 3, 0644, &e), e);
	umask(mask);
	assert_int_equal(stat(at("file"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_ok(fs_read_file(at("file"), 100, &b, &e), e);
	assert_string_equal(b.data, "new");
	assert_int_equal(fs_write_file(at("no/such/folder"), "x", 1, 0600, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_ok(fs_mkdir_p(at("taken"), 0700, &e), e);
	assert_int_equal(fs_write_file(at("taken"), "x", 1, 0600, &e), -1);
	buf_free(&b);
}

/* Also: a file system mounted in a tree is never emptied with the tree. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	struct buf b = {0};
	struct err e;
	char *large = xcalloc(1, 1 << 20);
	const char *folder = at("outer/small");

	(void)state;
	assert_ok(fs_mkdir_p(folder, 0700, &e), e);
	if (mount("tmpfs", folder, "tmpfs", 0, "size=64k")) {
		free(large);
		print_message("SKIP: mounting a tmpfs needs root\n");
		skip();
	}
	put("outer/small/file", "old");
	assert_int_equal(fs_write_file(at("outer/small/file"), large, 1 << 20, 0600, &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_ok(fs_read_file(at("outer/small/file"), 10, &b, &e), e);
	assert_string_equal(b.data, "old");
	assert_int_equal(fs_remove_tree(folder, &e), -1);
	assert_int_equal(e.code, ERR_BUSY);
	assert_int_equal(fs_remove_tree(at("outer"), &e), -1);
	assert_has(e.text, "outer/small: a file system is mounted there");
	assert_true(exists("outer/small/file"));
	assert_int_equal(umount(folder), 0);
	buf_free(&b);
	free(large);
}

static void folders(void **state)
{
	struct stat st;
	struct err e;
	mode_t mask = umask(077);

	(void)state;
	assert_ok(fs_mkdir_p(at("a/b//c/"), 0751, &e), e);
	umask(mask);
	assert_int_equal(stat(at("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0751);
	assert_ok(fs_mkdir_p(at("a/b/c"), 0700, &e), e);
	assert_int_equal(stat(at("a/b/c"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0751);
	put("plain", "x");
	assert_int_equal(fs_mkdir_p(at("plain"), 0700, &e), -1);
	assert_has(e.text, "no folder");
	assert_int_equal(fs_mkdir_p(at("plain/x"), 0700, &e), -1);
	assert_int_equal(fs_mkdir_p("", 0700, &e), -1);
	assert_ok(fs_mkdir_p("/", 0700, &e), e);
}

static void removing_spares_link_targets(void **state)
{
	static const char *const refused[] = {"", "/", ".", "..", "a/.."};
	struct err e;

	(void)state;
	put("precious", "x");
	assert_ok(fs_mkdir_p(at("keep"), 0700, &e), e);
	put("keep/inner", "x");
	assert_ok(fs_mkdir_p(at("tree/deep/er"), 0700, &e), e);
	put("tree/deep/file", "x");
	assert_int_equal(symlink(at("precious"), at("tree/link")), 0);
	assert_int_equal(symlink(at("keep"), at("tree/deep/folder-link")), 0);
	assert_int_equal(symlink(at("keep"), at("top-link")), 0);
	assert_ok(fs_remove_tree(at("tree/"), &e), e);
	assert_false(exists("tree"));
	assert_ok(fs_remove_tree(at("top-link"), &e), e);
	assert_false(exists("top-link"));
	assert_true(exists("precious") && exists("keep/inner"));
	assert_ok(fs_remove_tree(at("never/there"), &e), e);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		assert_int_equal(fs_remove_tree(refused[i], &e), -1);
}

/* What was opened stays what it was, whatever its path leads to by then. */
static void a_folder_is_opened_without_links(void **state)
{
	char *inner, *link;
	struct stat a, b;
	struct err e;
	int fd;

	(void)state;
	assert_ok(fs_mkdir_p(at("opened/inner"), 0700, &e), e);
	inner = xstrdup(at("opened/inner"));
	link = xstrdup(at("opened/link"));
	assert_ok(fs_open_folder(inner, O_PATH, &fd, &e), e);
	assert_int_equal(stat(inner, &a), 0);
	assert_int_equal(rename(inner, at("opened/moved")), 0);
	assert_int_equal(symlink("/var", inner), 0);
	assert_int_equal(fstat(fd, &b), 0);
	assert_true(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	close(fd);
	assert_int_equal(fs_open_folder(inner, O_PATH, &fd, &e), -1);
	assert_int_equal(e.code, ERR_WRONG_STATE);
	assert_non_null(strstr(e.text, "opened/inner is a symlink, or no folder"));
	assert_int_equal(symlink(at("opened"), link), 0);
	assert_int_equal(fs_open_folder(at("opened/link/moved"), O_RDONLY, &fd, &e), -1);
	assert_non_null(strstr(e.text, "opened/link is a symlink, or no folder"));
	assert_int_equal(fs_open_folder(at("opened/none"), O_RDONLY, &fd, &e), -1);
	assert_ok(fs_open_folder("/", O_RDONLY, &fd, &e), e);
	close(fd);
	free(inner);
	free(link);
}

static void very_deep_trees_are_refused(void **state)
{
	struct buf path = {0};
	struct err e;

	(void)state;
	buf_adds(&path, at("deep"));
	for (int i = 0; i < 220; i++)
		buf_adds(&path, "/d");
	assert_ok(fs_mkdir_p(path.data, 0700, &e), e);
	assert_int_equal(fs_remove_tree(at("deep"), &e), -1);
	assert_has(e.text, "folders deep");
	path.data[path.len - 2 * 150] = '\0';
	assert_ok(fs_remove_tree(path.data, &e), e);
	assert_ok(fs_remove_tree(at("deep"), &e), e);
	buf_free(&path);
}

static void a_lock_is_held_by_one_process(void **state)
{
	char who[32];
	struct err e;
	int fd, other, status;
	pid_t pid;

	(void)state;
	assert_ok(fs_lock(at("lock"), &fd, &e), e);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	pid = fork();
	if (pid == 0)
		_exit(fs_lock(at("lock"), &other, &e) == -1 && e.code == ERR_BUSY ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(fs_lock(at("lock"), &other, &e), -1);
	snprintf(who, sizeof(who), "process %ld:", (long)getpid());
	assert_has(e.text, who);
	close(fd);
	assert_ok(fs_lock(at("lock"), &other, &e), e);
	close(other);
	assert_int_equal(symlink("lock", at("lock-link")), 0);
	assert_int_equal(fs_lock(at("lock-link"), &other, &e), -1);
}

static void ownership(void **state)
{
	struct err e;

	(void)state;
	assert_ok(fs_mkdir_p(at("own/in"), 0755, &e), e);
	put("own/in/policy", "x");
	assert_ok(fs_check_owned(at("own/in/policy"), &e), e);
	assert_int_equal(symlink("in/policy", at("own/link")), 0);
	assert_ok(fs_check_owned(at("own/link"), &e), e);
	assert_int_equal(chmod(at("own/in/policy"), 0664), 0);
	assert_int_equal(fs_check_owned(at("own/in/policy"), &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, "own/in/policy can be written by others: chmod");
	assert_int_equal(chmod(at("own/in/policy"), 0600), 0);
	assert_int_equal(chmod(at("own/in"), 0757), 0);
	assert_int_equal(fs_check_owned(at("own/in/policy"), &e), -1);
	assert_has(e.text, "own/in can be written by others");
	assert_int_equal(fs_check_owned(at("own/link"), &e), -1);
	assert_int_equal(chmod(at("own/in"), 0755), 0);
	assert_int_equal(fs_check_owned(at("own/in"), &e), -1);
	assert_has(e.text, "not a regular file");
	assert_ok(fs_check_owned_folder(at("own/in"), &e), e);
	assert_int_equal(fs_check_owned_folder(at("own/in/policy"), &e), -1);
	assert_has(e.text, "not a folder");
	assert_int_equal(fs_check_owned(at("own/gone"), &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(at("own/in/policy"), 65534, 65534), 0);
	assert_int_equal(fs_check_owned(at("own/in/policy"), &e), -1);
	assert_has(e.text, "belongs to user 65534");
}

/* Known answers: FIPS 180-2, appendix B.1, and the digest of no bytes. */
static void hashes_and_hex(void **state)
{
	unsigned char a[32], b[32];
	struct sha256 *pieces;
	char out[65], *path;
	struct err e;

	(void)state;
	fs_sha256("abc", 3, out);
	assert_string_equal(
		out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	fs_sha256(NULL, 0, out);
	assert_string_equal(
		out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	pieces = sha256_new();
	sha256_add(pieces, "a", 1);
	sha256_add(pieces, "bc", 2);
	sha256_end(pieces, out);
	sha256_free(pieces);
	assert_string_equal(
		out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	fs_hex("\x00\xab\xff", 3, out);
	assert_string_equal(out, "00abff");
	fs_random(a, sizeof(a));
	fs_random(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_ok(fs_realpath("/proc/../usr/./bin", &path, &e), e);
	assert_string_equal(path, "/usr/bin");
	free(path);
	assert_int_equal(fs_realpath(at("gone"), &path, &e), -1);
}

static void programs(void **state)
{
	const char *sh = fs_find_program("sh");

	(void)state;
	assert_non_null(sh);
	assert_ptr_equal(sh, fs_find_program("sh"));
	assert_null(fs_find_program("no-such-program-here"));
	assert_null(fs_find_program("../bin/sh"));
	assert_null(fs_find_program(""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reading_is_capped),
		cmocka_unit_test(an_endless_descriptor_ends),
		cmocka_unit_test(writing_replaces_whole),
		cmocka_unit_test(folders),
		cmocka_unit_test(removing_spares_link_targets),
		cmocka_unit_test(a_folder_is_opened_without_links),
		cmocka_unit_test(very_deep_trees_are_refused),
		cmocka_unit_test(a_lock_is_held_by_one_process),
		cmocka_unit_test(ownership),
		cmocka_unit_test(hashes_and_hex),
		cmocka_unit_test(programs),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
