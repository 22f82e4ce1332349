/* The journal: what a crash leaves of it, who may write it, when it may go. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/journal.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

static char home[] = "/tmp/arraymark-journal-XXXXXX";
static const struct job_key key = {12, 3, 1};
#define NAME "journal-12-3-1.jsonl"

static char *path_in(const char *dir)
{
	return xasprintf("%s/%s/" NAME, home, dir);
}

static char *folder(const char *dir)
{
	char *path = xasprintf("%s/%s", home, dir);
	struct err e;

	assert_ok(fs_mkdir_p(path, 0700, &e), e);
	return path;
}

static struct journal *open_in(const char *dir)
{
	char *path = folder(dir);
	struct journal *j;
	struct err e;

	assert_ok(journal_open(path, &key, &j, &e), e);
	free(path);
	return j;
}

static uint64_t begin(struct journal *j, const char *what, const char *op)
{
	struct journal_entry entry = {.unit = {2, 1}, .phase = PHASE_BUILD, .what = (char *)what};
	uint64_t number;
	struct err e;

	strv_add(&entry.argv, "/bin/make");
	strv_add(&entry.argv, "a \"quoted\"\nword");
	entry.undo.op = (char *)op;
	strv_add(&entry.undo.args, "/some/where");
	assert_ok(journal_begin(j, &entry, &number, &e), e);
	strv_free(&entry.argv);
	strv_free(&entry.undo.args);
	return number;
}

/* Two steps, one of which was undone, one step that nothing undoes, a worker, and a step that
 * never ended. */
static void write_sample(const char *dir)
{
	struct journal *j = open_in(dir);
	struct err e;

	assert_int_equal(begin(j, "first", "directory"), 1);
	assert_ok(journal_finish(j, 1, 1, &e), e);
	assert_int_equal(begin(j, "second", "loop"), 2);
	assert_ok(journal_note(j, 2, "device", "/dev/loop3", &e), e);
	assert_ok(journal_finish(j, 2, 1, &e), e);
	assert_int_equal(begin(j, "third", ""), 3);
	assert_ok(journal_finish(j, 3, 0, &e), e);
	assert_ok(journal_worker(j, 4711, 123456789012ULL, &e), e);
	assert_ok(journal_undone(j, 2, &e), e);
	assert_int_equal(begin(j, "fourth", "pool"), 4);
	journal_close(j);
}

struct contents {
	struct job_key key;
	struct journal_entry *v;
	size_t n;
	pid_t worker;
	uint64_t ticks;
};

static struct contents contents_of(const char *dir)
{
	struct contents c = {0};
	char *path = path_in(dir);
	struct err e;

	assert_ok(journal_read(path, &c.key, &c.v, &c.n, &c.worker, &c.ticks, &e), e);
	free(path);
	return c;
}

static void everything_comes_back(void **state)
{
	struct contents c;

	(void)state;
	write_sample("whole");
	c = contents_of("whole");
	assert_true(job_key_equal(&c.key, &key));
	assert_int_equal(c.n, 4);
	assert_int_equal(c.worker, 4711);
	assert_int_equal(c.ticks, 123456789012ULL);
	assert_string_equal(c.v[1].what, "second");
	assert_int_equal(c.v[1].unit.block, 2);
	assert_int_equal(c.v[1].unit.layout, 1);
	assert_string_equal(c.v[1].argv.v[1], "a \"quoted\"\nword");
	assert_string_equal(c.v[1].undo.op, "loop");
	assert_string_equal(c.v[1].undo.args.v[0], "/some/where");
	assert_string_equal(c.v[1].notes.v[0], "device=/dev/loop3");
	assert_true(c.v[1].finished && c.v[1].ok && c.v[1].undone);
	assert_true(c.v[2].finished && !c.v[2].ok);
	assert_string_equal(c.v[2].undo.op, "");
	assert_false(c.v[3].finished);
	journal_entries_free(c.v, c.n);
}

static void put(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static size_t count(const char *text, size_t len, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = memmem(at, len - (size_t)(at - text), part, strlen(part)));
		at++)
		n++;
	return n;
}

/* After a crash at any byte the journal tells of all steps whose line is whole, and goes on. */
static void every_prefix_replays(void **state)
{
	struct buf text = {0};
	char *whole = path_in("prefix-of"), *dir = folder("prefix"), *cut = path_in("prefix");
	struct err e;

	(void)state;
	write_sample("prefix-of");
	assert_ok(fs_read_file(whole, 1 << 20, &text, &e), e);
	for (size_t len = 0; len <= text.len; len++) {
		size_t lines = count(text.data, len, "\n"), begun = 0;
		struct contents c;
		struct journal *j;

		for (size_t at = 0, line = 0; line < lines; line++) {
			begun += !strncmp(text.data + at, "{\"begin\"", 8);
			at += strcspn(text.data + at, "\n") + 1;
		}
		put(cut, text.data, len);
		c = contents_of("prefix");
		assert_int_equal(c.n, begun);
		journal_entries_free(c.v, c.n);
		assert_ok(journal_open(dir, &key, &j, &e), e);
		assert_int_equal(begin(j, "after the crash", "file"), begun + 1);
		journal_close(j);
		c = contents_of("prefix");
		assert_true(job_key_equal(&c.key, &key));
		assert_int_equal(c.n, begun + 1);
		assert_string_equal(c.v[begun].what, "after the crash");
		journal_entries_free(c.v, c.n);
	}
	buf_free(&text);
	free(whole);
	free(dir);
	free(cut);
}

/* Blocks that were allocated and never written: zeros instead of a line's end. */
static void zeros_at_the_end_are_cut(void **state)
{
	char *path = path_in("zeros");
	struct contents c;
	struct journal *j;
	int fd;

	(void)state;
	write_sample("zeros");
	fd = open(path, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"undone\":1}\0\0\0\0", 16), 16);
	close(fd);
	j = open_in("zeros");
	assert_int_equal(begin(j, "next", "file"), 5);
	journal_close(j);
	c = contents_of("zeros");
	assert_int_equal(c.n, 5);
	assert_false(c.v[0].undone);
	journal_entries_free(c.v, c.n);
	free(path);
}

static void a_wrong_line_in_the_middle_stops(void **state)
{
	static const struct {
		const char *name, *line;
	} wrong[] = {
		{"no JSON", "what is this?\n"},
		{"a list", "[1]\n"},
		{"unknown event", "{\"sing\":1}\n"},
		{"number out of order", "{\"begin\":9,\"phase\":\"build\"}\n"},
		{"unknown phase", "{\"begin\":2,\"phase\":\"lunch\"}\n"},
		{"finish of a step that never began", "{\"finish\":2,\"ok\":true}\n"},
		{"negative", "{\"undone\":-1}\n"},
	};
	static const char head[] = "{\"journal\":1,\"run\":12,\"job\":3,\"attempt\":1}\n"
				   "{\"begin\":1,\"phase\":\"build\"}\n";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		char *text = xasprintf("%s%s{\"finish\":1,\"ok\":true}\n", head, wrong[i].line);
		char *dir = folder("wrong"), *path = path_in("wrong");
		struct contents c;
		struct journal *j;
		struct err e;

		put(path, text, strlen(text));
		if (!journal_read(path, &c.key, &c.v, &c.n, &c.worker, &c.ticks, &e))
			fail_msg("%s: was read", wrong[i].name);
		assert_int_equal(e.code, ERR_INPUT);
		assert_has(e.text, ":3:");
		assert_int_equal(journal_open(dir, &key, &j, &e), -1);
		free(text);
		free(dir);
		free(path);
	}
}

static void only_one_writes(void **state)
{
	struct journal *first = open_in("locked"), *second;
	char *dir = folder("locked");
	struct err e;

	(void)state;
	assert_int_equal(journal_open(dir, &key, &second, &e), -1);
	assert_int_equal(e.code, ERR_BUSY);
	journal_close(first);
	assert_ok(journal_open(dir, &key, &second, &e), e);
	journal_close(second);
	free(dir);
}

static void it_goes_when_all_is_undone(void **state)
{
	char *path = path_in("remove");
	struct journal *j;
	struct err e;

	(void)state;
	write_sample("remove");
	assert_int_equal(journal_remove(path, &e), -1);
	assert_int_equal(e.code, ERR_WRONG_STATE);
	assert_has(e.text, "2 steps");
	assert_has(e.text, "first");
	j = open_in("remove");
	assert_ok(journal_undone(j, 1, &e), e);
	assert_ok(journal_undone(j, 4, &e), e);
	journal_close(j);
	assert_ok(journal_remove(path, &e), e);
	assert_int_equal(access(path, F_OK), -1);
	free(path);
}

static void they_are_listed_oldest_first(void **state)
{
	static const char *const names[] = {"journal-10-1-1.jsonl", "journal-9-2-1.jsonl",
		"journal-9-1-10.jsonl", "journal-9-1-9.jsonl", "journal-9-1-9.jsonl.bak",
		"journal-09-1-1.jsonl", "journal-x.jsonl", "spool.db"};
	static const char *const sorted[] = {"journal-9-1-9.jsonl", "journal-9-1-10.jsonl",
		"journal-9-2-1.jsonl", "journal-10-1-1.jsonl"};
	char *dir = folder("list");
	struct strv found = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char *path = xasprintf("%s/%s", dir, names[i]);

		put(path, "", 0);
		free(path);
	}
	assert_ok(journal_list(dir, &found, &e), e);
	assert_int_equal(found.n, ARRAY_LEN(sorted));
	for (size_t i = 0; i < found.n; i++)
		assert_string_equal(strrchr(found.v[i], '/') + 1, sorted[i]);
	strv_free(&found);
	free(dir);
}

/* No room for the line: it is taken back whole, so that the next one is not glued to a half. */
static void a_failed_write_leaves_whole_lines(void **state)
{
	struct journal_entry entry = {.what = (char *)"for which there is no room"};
	struct journal *j = open_in("full");
	struct rlimit old, small;
	struct contents c;
	struct stat st;
	uint64_t number;
	struct err e;
	char *path = path_in("full");

	(void)state;
	assert_int_equal(begin(j, "first", "file"), 1);
	assert_int_equal(stat(path, &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){(rlim_t)st.st_size + 20, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(journal_begin(j, &entry, &number, &e), -1);
	assert_has(e.text, NAME);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(begin(j, "second", "file"), 2);
	journal_close(j);
	c = contents_of("full");
	assert_int_equal(c.n, 2);
	assert_string_equal(c.v[1].what, "second");
	journal_entries_free(c.v, c.n);
	free(path);
}

/* ---- a shorter journal ---- */

static struct buf file_text(const char *path)
{
	struct buf text = {0};
	struct err e;

	assert_ok(fs_read_file(path, 64 << 20, &text, &e), e);
	return text;
}

/* Of the sample everything but the undone step and the one that nothing undoes is needed. */
static void shorter_tells_what_is_pending(void **state)
{
	struct journal *j, *second;
	char *dir = folder("short");
	struct contents c;
	struct err e;

	(void)state;
	write_sample("short");
	j = open_in("short");
	assert_ok(journal_shorten(j, 2, &e), e); /* one is too few to begin a new file for */
	c = contents_of("short");
	assert_int_equal(c.n, 4);
	journal_entries_free(c.v, c.n);
	assert_ok(journal_shorten(j, 1, &e), e);
	assert_int_equal(journal_open(dir, &key, &second, &e), -1);
	assert_int_equal(e.code, ERR_BUSY);
	assert_int_equal(begin(j, "later", "mount"), 4);
	journal_close(j);
	c = contents_of("short");
	assert_true(job_key_equal(&c.key, &key));
	assert_int_equal(c.worker, 4711);
	assert_int_equal(c.ticks, 123456789012ULL);
	assert_int_equal(c.n, 4);
	assert_string_equal(c.v[0].what, "first");
	assert_string_equal(c.v[0].argv.v[1], "a \"quoted\"\nword");
	assert_string_equal(c.v[0].undo.args.v[0], "/some/where");
	assert_true(c.v[0].finished && c.v[0].ok && !c.v[0].undone);
	assert_int_equal(c.v[0].unit.block, 2);
	assert_string_equal(c.v[1].what, "second"); /* its note may be asked for by the first */
	assert_string_equal(c.v[1].notes.v[0], "device=/dev/loop3");
	assert_true(c.v[1].undone);
	assert_string_equal(c.v[2].what, "fourth");
	assert_false(c.v[2].finished);
	assert_string_equal(c.v[3].what, "later");
	for (size_t i = 0; i < c.n; i++)
		assert_int_equal(c.v[i].number, i + 1);
	journal_entries_free(c.v, c.n);
	free(dir);
}

/* A crash while the new file is written, at any of its bytes: the old one holds, the torn new one is
 * no journal, is in nobody's way and goes with the old one. */
static void crash_before_the_rename(void **state)
{
	char *path = path_in("torn"), *done = path_in("torn-done"), *dir = folder("torn");
	char *torn = xasprintf("%s.new", path);
	struct buf old, new;
	struct journal *j;
	struct err e;

	(void)state;
	write_sample("torn-done");
	old = file_text(done);
	j = open_in("torn-done");
	assert_ok(journal_shorten(j, 1, &e), e);
	journal_close(j);
	new = file_text(done);
	assert_true(new.len < old.len);
	for (size_t len = 0; len <= new.len; len++) {
		struct strv found = {0};
		struct contents c;

		put(path, old.data, old.len);
		put(torn, new.data, len);
		assert_ok(journal_list(dir, &found, &e), e);
		assert_int_equal(found.n, 1);
		strv_free(&found);
		c = contents_of("torn");
		assert_int_equal(c.n, 4);
		journal_entries_free(c.v, c.n);
		j = open_in("torn");
		assert_ok(journal_shorten(j, 1, &e), e);
		for (uint64_t n = 1; n <= 3; n += 2)
			assert_ok(journal_undone(j, n, &e), e);
		journal_close(j);
		c = contents_of("torn");
		assert_int_equal(c.n, 3);
		journal_entries_free(c.v, c.n);
		put(torn, new.data, len);
		assert_ok(journal_remove(path, &e), e);
		assert_int_equal(access(torn, F_OK), -1);
	}
	buf_free(&old);
	buf_free(&new);
	free(path);
	free(done);
	free(torn);
	free(dir);
}

static void without_room_it_stays_long(void **state)
{
	char *path = path_in("no-room"), *fresh = xasprintf("%s.new", path);
	struct rlimit before, small;
	struct contents c;
	struct journal *j;
	struct err e;

	(void)state;
	write_sample("no-room");
	j = open_in("no-room");
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){100, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_ok(journal_shorten(j, 1, &e), e);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(access(fresh, F_OK), -1);
	assert_int_equal(begin(j, "goes on", "file"), 5);
	journal_close(j);
	c = contents_of("no-room");
	assert_int_equal(c.n, 5);
	journal_entries_free(c.v, c.n);
	free(path);
	free(fresh);
}

/* A job of many blocks: what its journal takes does not grow with their number. */
static void many_blocks_take_no_room(void **state)
{
	char *path = path_in("many");
	struct journal *j = open_in("many");
	off_t most = 0;
	struct stat st;
	struct err e;

	(void)state;
	for (unsigned block = 0; block < 40; block++) {
		uint64_t made[8];

		for (size_t i = 0; i < ARRAY_LEN(made); i++) {
			made[i] = begin(j, "something", "file");
			assert_ok(journal_finish(j, made[i], 1, &e), e);
		}
		for (size_t i = ARRAY_LEN(made); i-- > 0;)
			assert_ok(journal_undone(j, made[i], &e), e);
		assert_int_equal(stat(path, &st), 0);
		most = st.st_size > most ? st.st_size : most;
		assert_ok(journal_shorten(j, 16, &e), e);
	}
	journal_close(j);
	assert_true(most < 2 * 8 * 400);
	assert_ok(journal_remove(path, &e), e);
	free(path);
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
		cmocka_unit_test(everything_comes_back),
		cmocka_unit_test(every_prefix_replays),
		cmocka_unit_test(zeros_at_the_end_are_cut),
		cmocka_unit_test(a_wrong_line_in_the_middle_stops),
		cmocka_unit_test(only_one_writes),
		cmocka_unit_test(it_goes_when_all_is_undone),
		cmocka_unit_test(they_are_listed_oldest_first),
		cmocka_unit_test(a_failed_write_leaves_whole_lines),
		cmocka_unit_test(shorter_tells_what_is_pending),
		cmocka_unit_test(crash_before_the_rename),
		cmocka_unit_test(without_room_it_stays_long),
		cmocka_unit_test(many_blocks_take_no_room),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
