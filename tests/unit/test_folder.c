/* Giving a folder away: only what was made, whatever stands on the way to it; and emptying it. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/volume/folder.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define OTHER 65534

static char home[4096];

static const char *at(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	return path;
}

static uid_t taker(void)
{
	return geteuid() ? geteuid() : OTHER;
}

static int order(const char *verb, const char *path)
{
	char owner[64];
	char *argv[] = {(char *)verb, (char *)"--owner", owner, (char *)"--", (char *)path,
		NULL};

	snprintf(owner, sizeof(owner), "%u:%u", (unsigned)taker(),
		(unsigned)(geteuid() ? getegid() : OTHER));
	return folder_main(5, argv);
}

static int give(const char *path)
{
	return order("give-folder", path);
}

/* In a child: it drops its rights for good. */
static int empty(const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(order("empty-folder", path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static uid_t owner_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(at(name), &st), 0);
	return st.st_uid;
}

/* As whoever owns the folder above could arrange it between our mkdir and this. */
static void test_what_is_given(void **state)
{
	static const struct {
		const char *name;
		int status;
	} cases[] = {
		{"new", 0},
		{"link", 1},           /* to target */
		{"way/target", 1},     /* way leads to home itself */
		{"full", 1},
		{"file", 1},
		{"gone", 1},
		{"new/../target", 0},  /* no link, if an odd way to say it */
	};
	struct err e;

	(void)state;
	assert_int_equal(mkdir(at("new"), 0755) | mkdir(at("target"), 0755) | mkdir(at("full"), 0755), 0);
	assert_ok(fs_write_file(at("full/x"), "x", 1, 0600, &e), e);
	assert_ok(fs_write_file(at("file"), "x", 1, 0600, &e), e);
	assert_int_equal(symlink("target", at("link")) | symlink(home, at("way")), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (geteuid() == 0 && i + 1 < ARRAY_LEN(cases))
			assert_int_equal(owner_of("target"), 0);
		if (give(at(cases[i].name)) != cases[i].status)
			fail_msg("%s: not %d", cases[i].name, cases[i].status);
	}
	assert_int_equal(owner_of("new"), taker());
	assert_int_equal(owner_of("full"), geteuid());
}

static void test_what_is_not_ours(void **state)
{
	(void)state;
	if (geteuid() != 0)
		return;
	assert_int_equal(mkdir(at("theirs"), 0755), 0);
	assert_int_equal(chown(at("theirs"), 12345, 12345), 0);
	assert_int_equal(give(at("theirs")), 1);
	assert_int_equal(owner_of("theirs"), 12345);
}

static void put(const char *name)
{
	struct err e;

	assert_ok(fs_write_file(at(name), "x", 1, 0644, &e), e);
}

static void test_emptying(void **state)
{
	(void)state;
	assert_int_equal(mkdir(at("bench"), 0755) | mkdir(at("keep"), 0755), 0);
	put("keep/x");
	assert_int_equal(give(at("bench")), 0);
	put("bench/a");
	assert_int_equal(mkdir(at("bench/deep"), 0755), 0);
	assert_int_equal(chown(at("bench/deep"), taker(), (gid_t)-1), 0);
	put("bench/deep/b");
	assert_int_equal(symlink("../keep", at("bench/link")), 0);
	assert_int_equal(empty(at("bench")), 0);
	assert_int_equal(rmdir(at("bench")), 0);
	assert_int_equal(access(at("keep/x"), F_OK), 0);
	assert_int_equal(symlink("keep", at("bench")), 0);
	assert_int_equal(empty(at("bench")), 1);
	assert_int_equal(unlink(at("bench")), 0);
	if (geteuid() == 0) /* root's, moved to where ours was */
		assert_int_equal(empty(at("keep")), 1);
	assert_int_equal(access(at("keep/x"), F_OK), 0);
}

/* A workload took its own rights away: to write in a folder, to read one, to enter one. */
static void test_emptying_what_is_closed(void **state)
{
	static const char *const folders[] = {"closed/a", "closed/a/b", "closed/a/b/c"};
	static const mode_t modes[] = {0555, 0000, 0444};
	char name[64];

	(void)state;
	assert_int_equal(mkdir(at("closed"), 0755), 0);
	assert_int_equal(give(at("closed")), 0);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		assert_int_equal(mkdir(at(folders[i]), 0755), 0);
		snprintf(name, sizeof(name), "%s/f", folders[i]);
		put(name);
	}
	for (size_t i = ARRAY_LEN(folders); i-- > 0;) {
		assert_int_equal(chown(at(folders[i]), taker(), (gid_t)-1), 0);
		assert_int_equal(chmod(at(folders[i]), modes[i]), 0);
	}
	assert_int_equal(chmod(at("closed"), 0000), 0);
	assert_int_equal(empty(at("closed")), 0);
	assert_int_equal(rmdir(at("closed")), 0);
}

/* Whoever is not its owner opens nothing by it. */
static void test_closed_by_another(void **state)
{
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(at("strange"), 0755), 0);
	put("strange/x");
	assert_int_equal(chmod(at("strange"), 0000), 0);
	assert_int_equal(empty(at("strange")), 1);
	assert_int_equal(stat(at("strange"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0);
	assert_int_equal(access(at("strange/x"), F_OK), 0);
}

static void test_usage(void **state)
{
	static const char *const wrong[][4] = {
		{"--owner", "1:1", "--", "relative"},
		{"--owner", "1", "--", "/tmp"},
		{"--owner", ":", "--", "/tmp"},
		{"--owner", "-1:-1", "--", "/tmp"},
		{"--owner", "4294967295:1", "--", "/tmp"}, /* to chown: leave it */
		{"--group", "1:1", "--", "/tmp"},
		{"--owner", "1:1", "/tmp", "/tmp"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		char *argv[6] = {(char *)"give-folder"};

		memcpy(argv + 1, wrong[i], sizeof(wrong[i]));
		assert_int_equal(folder_main(5, argv), 2);
		assert_int_equal(folder_main(4, argv), 2);
	}
}

static int set_up(void **state)
{
	char name[] = "/tmp/arraymark-folder-XXXXXX", *real;
	struct err e;

	(void)state;
	if (!mkdtemp(name) || fs_realpath(name, &real, &e))
		return -1;
	snprintf(home, sizeof(home), "%s", real);
	free(real);
	return chmod(home, 0755);
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
		cmocka_unit_test(test_what_is_given),
		cmocka_unit_test(test_what_is_not_ours),
		cmocka_unit_test(test_emptying),
		cmocka_unit_test(test_emptying_what_is_closed),
		cmocka_unit_test(test_closed_by_another),
		cmocka_unit_test(test_usage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
