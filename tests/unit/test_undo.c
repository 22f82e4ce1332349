/* Undoing: each operation takes down what was made and nothing else, may run twice, and stops where
 * something is not as the journal says. Files stand for disks, except in the one test that needs
 * root. The program is its own `clear-labels` and `empty-folder`. */
#include "tests/unit/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/volume/folder.h"
#include "agent/volume/labels.h"
#include "agent/volume/signatures.h"
#include "agent/volume/volume.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define ORDINARY 65534 /* a user who owns nothing */

static char home[] = "/tmp/arraymark-undo-XXXXXX";
static char self[4096];
static const struct job_key key = {5, 1, 1};

static const char *at(const char *name)
{
	static char paths[16][4200];
	static unsigned next;
	char *p = paths[next++ % 16];

	snprintf(p, sizeof(paths[0]), "%s/%s", home, name);
	return p;
}

static void put(const char *path, const char *text)
{
	struct err e;

	assert_ok(fs_write_file(path, text, strlen(text), 0600, &e), e);
}

static void make_folder(const char *path)
{
	struct err e;

	assert_ok(fs_mkdir_p(path, 0755, &e), e);
}

static int exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* A journal under test: open, with the entries that were begun. */
struct world {
	struct journal *j;
	char *state, *path;
};

static struct world world_in(const char *folder)
{
	struct world w = {.state = xstrdup(folder)};
	struct err e;

	w.path = xasprintf("%s/journal-5-1-1.jsonl", w.state);
	make_folder(w.state);
	assert_ok(journal_open(w.state, &key, &w.j, &e), e);
	return w;
}

static struct world world_new(void)
{
	static unsigned n;
	char name[32];

	snprintf(name, sizeof(name), "state%u", n++);
	return world_in(at(name));
}

static void world_free(struct world *w)
{
	journal_close(w->j);
	free(w->state);
	free(w->path);
}

/* ok: 1 well, 0 failed, -1 never ended. args ends with NULL. */
static void did_in(struct world *w, uint32_t block, int ok, const char *op, const char *const *args)
{
	struct journal_entry entry = {.unit = {block, 0}, .what = (char *)op};
	uint64_t number;
	struct err e;

	entry.undo.op = (char *)op;
	strv_add(&entry.argv, "/bin/true");
	strv_add_all(&entry.undo.args, args);
	assert_ok(journal_begin(w->j, &entry, &number, &e), e);
	if (ok >= 0)
		assert_ok(journal_finish(w->j, number, ok, &e), e);
	strv_free(&entry.argv);
	strv_free(&entry.undo.args);
}

static void did(struct world *w, int ok, const char *op, const char *path)
{
	did_in(w, 1, ok, op, (const char *const[]){path, NULL});
}

static int teardown(struct world *w, struct err *e)
{
	struct step_sink *sink = sink_real(w->j, (struct unit){1, 0}, NULL, NULL);
	struct volume_ctx ctx = {.sink = sink, .key = key, .state_dir = w->state, .self = self};
	struct journal_entry *v;
	uint64_t ticks;
	struct job_key read_key;
	pid_t worker;
	size_t n;
	int status;
	struct err bad;

	assert_ok(journal_read(w->path, &read_key, &v, &n, &worker, &ticks, &bad), bad);
	status = volume_teardown(&ctx, w->j, v, n, e);
	journal_entries_free(v, n);
	sink_free(sink);
	return status;
}

/* Done, done again with nothing left to do, and the journal may go. */
static void assert_taken_down(struct world *w)
{
	struct err e;

	assert_ok(teardown(w, &e), e);
	assert_ok(teardown(w, &e), e);
	journal_close(w->j);
	w->j = NULL;
	assert_ok(journal_remove(w->path, &e), e);
}

static void what_was_made_goes(void **state)
{
	struct world w = world_new();
	const char *dir = at("made"), *file = at("made/file"), *links = at("made/links");

	(void)state;
	make_folder(dir);
	did(&w, 1, "directory", dir);
	put(file, "x");
	did(&w, 1, "file", file);
	make_folder(links);
	did(&w, 1, "links", links);
	assert_int_equal(symlink("/dev/null", at("made/links/null")), 0);
	make_folder(at("made/arraymark-5-1-abcdef/deep/er"));
	put(at("made/arraymark-5-1-abcdef/deep/data"), "much");
	did(&w, 1, "bench", at("made/arraymark-5-1-abcdef"));
	assert_taken_down(&w);
	assert_false(exists(dir));
	world_free(&w);
}

/* A workload's folder with closed ones in it, and closed itself, goes also where the agent is no more
 * than an ordinary user: in a child that becomes one. */
static void what_was_closed_goes(void **state)
{
	const char *bench = at("user/arraymark-5-1-abcdef"), *inside = at("user/arraymark-5-1-abcdef/a/b");
	pid_t pid;
	int status;

	(void)state;
	make_folder(at("user"));
	assert_int_equal(chmod(home, 0755), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(at("user"), ORDINARY, ORDINARY), 0);
	pid = fork();
	if (pid == 0) {
		struct world w;

		if (geteuid() == 0 && (setgid(ORDINARY) || setuid(ORDINARY)))
			_exit(2);
		snprintf(self, sizeof(self), "/proc/self/exe"); /* its folder may be closed to users */
		w = world_in(at("user/state"));
		make_folder(inside);
		put(at("user/arraymark-5-1-abcdef/a/b/data"), "much");
		did(&w, 1, "bench", bench);
		if (chmod(inside, 0000) || chmod(at("user/arraymark-5-1-abcdef/a"), 0100) ||
			chmod(bench, 0000))
			_exit(2);
		assert_taken_down(&w);
		world_free(&w);
		_exit(exists(bench));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Cut off by a crash between the journal's line and the step, or in the middle of the step. */
static void what_was_only_begun_goes(void **state)
{
	struct world w = world_new();

	(void)state;
	did(&w, -1, "directory", at("never"));
	did(&w, -1, "file", at("never/file"));
	did(&w, -1, "links", at("never/links"));
	did(&w, -1, "bench", at("never/arraymark-5-1-abcdef"));
	did(&w, -1, "loop", at("never/file"));
	did_in(&w, 1, -1, "mount", (const char *const[]){"/dev/nothing", at("never/mnt"), NULL});
	make_folder(at("half"));
	did(&w, -1, "directory", at("half"));
	assert_taken_down(&w);
	assert_false(exists(at("half")));
	world_free(&w);
}

static void what_is_not_ours_stays(void **state)
{
	static const struct {
		const char *name, *op, *path;
		char kind; /* what is there: f file, d folder with a file in it, l link to one */
	} rows[] = {
		{"a folder in a file's place", "file", "theirs", 'd'},
		{"a link in a file's place", "file", "theirs", 'l'},
		{"a file in a folder's place", "directory", "theirs", 'f'},
		{"a folder that is not empty", "directory", "theirs", 'd'},
		{"a folder of links with a file in it", "links", "theirs", 'd'},
		{"a tree that has not our name", "bench", "theirs", 'd'},
		{"a link with our name", "bench", "arraymark-9-1-abcdef", 'l'},
		{"a file with our name", "bench", "arraymark-9-1-abcdef", 'f'},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w = world_new();
		const char *path = at(rows[i].path), *inside = at("kept/file");
		char *own = xasprintf("%s/file", path);
		struct err e;

		make_folder(at("kept"));
		put(inside, "kept");
		if (rows[i].kind == 'd') {
			make_folder(path);
			put(own, "kept");
		} else if (rows[i].kind == 'f') {
			put(path, "kept");
		} else {
			assert_int_equal(symlink(at("kept"), path), 0);
		}
		did(&w, 1, rows[i].op, path);
		if (!teardown(&w, &e))
			fail_msg("%s: was taken down", rows[i].name);
		assert_int_equal(e.code, ERR_WRONG_STATE);
		assert_has(e.text, path);
		assert_true(exists(path) && exists(inside));
		if (rows[i].kind == 'd')
			assert_true(exists(own));
		assert_int_equal(fs_remove_tree(path, &e), 0);
		free(own);
		world_free(&w);
	}
}

/* mkdir fails where a folder is: that folder was there before us. */
static void what_a_failed_step_met_stays(void **state)
{
	static const char *const ops[] = {"directory", "bench", "links"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		struct world w = world_new();
		const char *path = at("arraymark-before");

		make_folder(path);
		did(&w, 0, ops[i], path);
		assert_taken_down(&w);
		assert_true(exists(path));
		world_free(&w);
	}
}

/* What cannot be undone keeps what it stands on; other units go; the next try finishes. */
static void an_obstacle_keeps_what_is_below(void **state)
{
	struct world w = world_new();
	const char *base = at("base"), *top = at("base/top"), *other = at("other");
	struct err e;

	(void)state;
	make_folder(other);
	did_in(&w, 2, 1, "directory", (const char *const[]){other, NULL});
	put(at("file-below"), "x");
	did(&w, 1, "file", at("file-below"));
	make_folder(top);
	did(&w, 1, "directory", base);
	did(&w, 1, "directory", top);
	put(at("base/top/obstacle"), "x");
	assert_int_equal(teardown(&w, &e), -1);
	assert_has(e.text, "top");
	assert_false(exists(other));
	assert_true(exists(base) && exists(at("file-below")));
	assert_int_equal(unlink(at("base/top/obstacle")), 0);
	assert_taken_down(&w);
	assert_false(exists(base) || exists(at("file-below")));
	world_free(&w);
}

/* No room for another line in the journal: what was made goes all the same. */
static void a_full_disk_keeps_nothing(void **state)
{
	struct world w = world_new();
	struct rlimit old, small;
	struct stat st;
	struct err e;

	(void)state;
	make_folder(at("full"));
	did(&w, 1, "directory", at("full"));
	put(at("full/file"), "x");
	did(&w, 1, "file", at("full/file"));
	assert_int_equal(stat(w.path, &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){(rlim_t)st.st_size, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(teardown(&w, &e), -1);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	assert_has(e.text, "journal");
	assert_false(exists(at("full")));
	assert_taken_down(&w);
	world_free(&w);
}

static void an_unknown_operation_stops(void **state)
{
	struct world w = world_new();
	struct err e;

	(void)state;
	did(&w, 1, "rm -rf", "/");
	assert_int_equal(teardown(&w, &e), -1);
	assert_int_equal(e.code, ERR_WRONG_STATE);
	world_free(&w);
	w = world_new();
	did_in(&w, 1, 1, "mount", (const char *const[]){"/dev/x", NULL});
	assert_int_equal(teardown(&w, &e), -1);
	world_free(&w);
	w = world_new();
	did_in(&w, 1, 1, "pool", (const char *const[]){"tank", "/tank", "data=/dev/x", NULL});
	assert_int_equal(teardown(&w, &e), -1);
	assert_has(e.text, "tank");
	world_free(&w);
}

static const char uuid[] = "0548c898-39d5-4d7a-bb37-f60a02304730";

static int run(const char *program, const char *const *words, struct buf *out, struct err *e)
{
	const char *path = fs_find_program(program);
	struct strv argv = {0};
	int status;

	if (!path)
		return err_set(e, ERR_NOTFOUND, "no %s", program);
	strv_add(&argv, path);
	strv_add_all(&argv, words);
	status = proc_run_ok(&argv, 0, out, e);
	strv_free(&argv);
	return status;
}

static void make_ext4(const char *disk)
{
	struct err e;

	assert_int_equal(truncate(disk, 32 << 20), 0);
	assert_ok(run("mkfs.ext4", (const char *const[]){"-q", "-U", uuid, disk, NULL}, NULL, &e), e);
}

static void file_systems_are_known_by_their_uuid(void **state)
{
	struct world w = world_new();
	const char *disk = at("fsdisk");
	struct strv found = {0};
	struct err e;

	(void)state;
	if (!fs_find_program("mkfs.ext4"))
		skip();
	put(disk, "");
	make_ext4(disk);
	did_in(&w, 1, 1, "filesystem", (const char *const[]){disk, "ext4",
		"00000000-0000-4000-8000-000000000000", NULL});
	assert_int_equal(teardown(&w, &e), -1);
	assert_ok(signatures_of_disk(disk, &found, &e), e);
	assert_true(strv_has(&found, "ext4"));
	strv_free(&found);
	world_free(&w);
	w = world_new();
	did(&w, 1, "file", disk);
	did_in(&w, 1, 1, "filesystem", (const char *const[]){disk, "ext4", uuid, NULL});
	assert_taken_down(&w);
	assert_false(exists(disk));
	world_free(&w);
}

/* The real thing: a file, a loop device on it, a file system, its mount, from the end. */
static void mounts_and_loops_go(void **state)
{
	struct world w = world_new();
	const char *disk = at("loopdisk"), *point = at("mnt");
	struct buf out = {0}, list = {0};
	struct err e;

	(void)state;
	put(disk, "");
	if (geteuid() != 0 || !fs_find_program("mkfs.ext4")) {
		world_free(&w);
		skip();
	}
	make_ext4(disk);
	did(&w, 1, "file", disk);
	did(&w, -1, "loop", disk);
	if (run("losetup", (const char *const[]){"--find", "--show", disk, NULL}, &out, &e)) {
		world_free(&w);
		skip();
	}
	out.data[strcspn(out.data, "\n")] = '\0';
	assert_ok(journal_note(w.j, 2, "device", out.data, &e), e);
	did_in(&w, 1, 1, "filesystem", (const char *const[]){out.data, "ext4", uuid, NULL});
	make_folder(point);
	did(&w, 1, "directory", point);
	did_in(&w, 1, 1, "mount", (const char *const[]){out.data, point, NULL});
	assert_ok(run("mount", (const char *const[]){out.data, point, NULL}, NULL, &e), e);
	assert_taken_down(&w);
	assert_false(exists(disk) || exists(point));
	assert_ok(run("losetup", (const char *const[]){"-a", NULL}, &list, &e), e);
	assert_null(strstr(buf_str(&list), disk));
	buf_free(&list);
	buf_free(&out);
	world_free(&w);
}

/* The host was started anew: the loop device's number is free, or another file's by now. What stands on
 * the file goes with it, and the other file is left alone. */
static void a_loop_device_that_is_anothers(void **state)
{
	const char *disk = at("olddisk"), *other = at("otherdisk");
	struct strv found = {0};
	struct buf out = {0};
	struct world w;
	struct err e;
	int taken;

	(void)state;
	put(disk, "");
	put(other, "");
	if (geteuid() != 0 || !fs_find_program("mkfs.ext4"))
		skip();
	make_ext4(disk);
	assert_int_equal(truncate(other, 32 << 20), 0);
	assert_ok(run("mkfs.ext4", (const char *const[]){"-q", other, NULL}, NULL, &e), e);
	if (run("losetup", (const char *const[]){"--find", "--show", disk, NULL}, &out, &e))
		skip();
	out.data[strcspn(out.data, "\n")] = '\0';
	assert_ok(run("losetup", (const char *const[]){"-d", out.data, NULL}, NULL, &e), e);
	for (int i = 0; i < 2; i++) { /* first the device is free, where nobody takes it */
		put(disk, "");
		make_ext4(disk);
		w = world_new();
		did(&w, 1, "file", disk);
		did(&w, 1, "loop", disk);
		assert_ok(journal_note(w.j, 2, "device", out.data, &e), e);
		did_in(&w, 1, 1, "filesystem", (const char *const[]){out.data, "ext4", uuid, NULL});
		taken = i && !run("losetup", (const char *const[]){out.data, other, NULL}, NULL, &e);
		assert_taken_down(&w);
		assert_false(exists(disk));
		if (taken)
			assert_ok(run("losetup", (const char *const[]){"-d", out.data, NULL}, NULL,
					  &e),
				e);
		world_free(&w);
	}
	assert_ok(signatures_of_disk(other, &found, &e), e);
	assert_true(strv_has(&found, "ext4"));
	strv_free(&found);
	buf_free(&out);
}

/* What was unmounted comes back, but only the very file system: the name may be another disk's by now. */
static void what_was_unmounted_comes_back(void **state)
{
	const char *disk = at("owndisk"), *point = at("ownmnt");
	struct buf out = {0};
	struct world w;
	struct err e;

	(void)state;
	put(disk, "");
	if (geteuid() != 0 || !fs_find_program("mkfs.ext4"))
		skip();
	make_ext4(disk);
	make_folder(point);
	if (run("losetup", (const char *const[]){"--find", "--show", disk, NULL}, &out, &e))
		skip();
	out.data[strcspn(out.data, "\n")] = '\0';
	w = world_new();
	did_in(&w, 1, 1, "remount", (const char *const[]){out.data, point, "ext4", "rw,noatime",
		"00000000-0000-4000-8000-000000000000", NULL});
	assert_int_equal(teardown(&w, &e), -1);
	assert_has(e.text, "is not on /dev/loop");
	assert_int_equal(run("umount", (const char *const[]){point, NULL}, NULL, &e), -1);
	world_free(&w);
	w = world_new();
	did_in(&w, 1, 1, "remount",
		(const char *const[]){out.data, point, "ext4", "rw,noatime", uuid, NULL});
	assert_taken_down(&w);
	assert_ok(run("umount", (const char *const[]){point, NULL}, NULL, &e), e);
	assert_ok(run("losetup", (const char *const[]){"-d", out.data, NULL}, NULL, &e), e);
	buf_free(&out);
	world_free(&w);
}

static int set_up(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	return n > 0 && mkdtemp(home) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	return fs_remove_tree(home, &e);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_made_goes),
		cmocka_unit_test(what_was_closed_goes),
		cmocka_unit_test(what_was_only_begun_goes),
		cmocka_unit_test(what_is_not_ours_stays),
		cmocka_unit_test(what_a_failed_step_met_stays),
		cmocka_unit_test(an_obstacle_keeps_what_is_below),
		cmocka_unit_test(a_full_disk_keeps_nothing),
		cmocka_unit_test(an_unknown_operation_stops),
		cmocka_unit_test(file_systems_are_known_by_their_uuid),
		cmocka_unit_test(mounts_and_loops_go),
		cmocka_unit_test(a_loop_device_that_is_anothers),
		cmocka_unit_test(what_was_unmounted_comes_back),
	};

	if (argc > 1 && !strcmp(argv[1], "clear-labels"))
		return labels_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "empty-folder"))
		return folder_main(argc - 1, argv + 1);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
