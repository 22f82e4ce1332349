/* The coordinator's state folder: whose its files are, and what is told where there is none. */
#include "tests/unit/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "coordinator/state.h"

#define SERVICE 65534

struct folder {
	char dir[32], file[4][64]; /* the state folder, and what is in it */
};

static int setup(void **state)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/test_state.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;
	struct err e;

	assert_ok(fs_remove_tree(f->dir, &e), e);
	free(f);
	return 0;
}

static const char *at(struct folder *f, int i, const char *name)
{
	snprintf(f->file[i], sizeof(f->file[i]), "%s/%s", f->dir, name);
	return f->file[i];
}

static void make(const char *path)
{
	struct err e;

	assert_ok(fs_write_file(path, "x", 1, 0600, &e), e);
}

static void assert_owner(const char *path, uid_t uid)
{
	struct stat st;

	if (lstat(path, &st))
		fail_msg("%s: %s", path, strerror(errno));
	if (st.st_uid != uid || st.st_gid != uid)
		fail_msg("%s belongs to %u:%u, not %u", path, st.st_uid, st.st_gid, uid);
}

static void test_given_to_the_folders_owner(void **state)
{
	static const char *const names[] = {"lock", "store.db", "ca.pem", "ca.key", "server.pem", "server.key"};
	struct folder *f = *state;
	struct err e;

	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		make(at(f, 0, names[i]));
	make(at(f, 1, "notes.txt"));
	assert_ok(state_give(f->dir, &e), e);
	assert_owner(at(f, 0, "store.db"), 0);
	assert_int_equal(chown(f->dir, SERVICE, SERVICE), 0);
	assert_ok(state_give(f->dir, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_owner(at(f, 0, names[i]), SERVICE);
	assert_owner(f->file[1], 0);
}

/* The folder's owner may have put there what leads to a file that is not its own. */
static void test_not_what_is_elsewhere(void **state)
{
	struct folder *f = *state;
	struct err e;

	if (geteuid() != 0)
		skip();
	make(at(f, 0, "secret"));
	assert_int_equal(link(f->file[0], at(f, 1, "store.db")), 0);
	assert_int_equal(symlink(f->file[0], at(f, 2, "lock")), 0);
	assert_int_equal(mkfifo(at(f, 3, "ca.key"), 0600), 0);
	assert_int_equal(chown(f->dir, SERVICE, SERVICE), 0);
	assert_ok(state_give(f->dir, &e), e);
	for (size_t i = 0; i < ARRAY_LEN(f->file); i++)
		assert_owner(f->file[i], 0);
	assert_ok(state_give(at(f, 0, "nowhere"), &e), e);
}

static void assert_remedy(const char *dir, const char *usual, const char *former, const char *part)
{
	char *text = state_remedy(dir, usual, former);

	assert_has(text, part);
	free(text);
}

static void test_remedy(void **state)
{
	struct folder *f = *state;
	char *moved = xasprintf("mv %s/store.db* %s/ca.* %s/server.* /new/`", f->dir, f->dir, f->dir);
	struct err e;

	assert_remedy("/new", "/new", f->dir, "init --state /new`");
	make(at(f, 0, "store.db"));
	assert_remedy("/new", "/new", f->dir, moved);
	assert_remedy("/srv/am", "/new", f->dir, "init --state /srv/am`");
	assert_int_equal(state_missing("/srv/am/ca.pem", "/srv/am", &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_has(e.text, "/srv/am/ca.pem is not there; make it with");
	free(moved);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_given_to_the_folders_owner, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_what_is_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_remedy, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
