/* What a worker leaves for the time after it was killed, in memory that it may fill with nonsense. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/last_words.h"
#include "common/base/mem.h"

static int memory(void)
{
	struct err e;
	int fd;

	assert_ok(last_words_new(&fd, &e), e);
	return fd;
}

static void put(int fd, const char *name, const char *text)
{
	struct last_words *w = last_words_open(fd, name);

	assert_non_null(w);
	last_words_put(w, text, strlen(text));
	last_words_close(w);
}

static const char *note(const struct trial_detail *d, const char *name)
{
	for (size_t i = 0; i < d->n_notes; i++)
		if (!strcmp(d->notes[i].name, name))
			return d->notes[i].text;
	return NULL;
}

static void test_killed_process_leaves_its_text(void **state)
{
	struct trial_detail d = {0};
	int fd = memory(), status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct last_words *w = last_words_open(fd, "log");

		last_words_put(w, "first", 5);
		last_words_put(w, "and last", 8);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	last_words_read(fd, &d);
	assert_int_equal(d.n_notes, 1);
	assert_string_equal(note(&d, "log"), "and last");
	detail_clear(&d);
	close(fd);
}

static void test_names_are_kept_apart(void **state)
{
	struct trial_detail d = {0};
	int fd = memory();

	(void)state;
	put(fd, "w.1/log", "one");
	put(fd, "w.2/log", "two");
	put(fd, "w.1/log", "one again");
	detail_note(&d, "w.2/log", "told by itself");
	last_words_read(fd, &d);
	assert_int_equal(d.n_notes, 2);
	assert_string_equal(note(&d, "w.1/log"), "one again");
	assert_string_equal(note(&d, "w.2/log"), "told by itself");
	detail_clear(&d);
	close(fd);
}

static void test_end_of_a_long_text_is_kept(void **state)
{
	struct trial_detail d = {0};
	int fd = memory();
	char *text = xmalloc(DETAIL_NOTE_MAX + 4);

	(void)state;
	memset(text, 'x', DETAIL_NOTE_MAX);
	memcpy(text + DETAIL_NOTE_MAX, "end", 4);
	put(fd, "log", text);
	last_words_read(fd, &d);
	assert_int_equal(strlen(note(&d, "log")), DETAIL_NOTE_MAX);
	assert_string_equal(note(&d, "log"), text + 3);
	free(text);
	detail_clear(&d);
	close(fd);
}

/* Nor can it be made smaller under the reader, or eat up the memory. */
static void test_nonsense_gives_no_note(void **state)
{
	struct trial_detail d = {0};
	int fd = memory();
	struct stat st;
	char *all;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(ftruncate(fd, st.st_size + 1), -1);
	all = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(all != MAP_FAILED);
	memset(all, 0xff, (size_t)st.st_size);
	last_words_read(fd, &d);
	assert_int_equal(d.n_notes, 0);
	assert_null(last_words_open(fd, "log"));
	memset(all, 1, (size_t)st.st_size);
	last_words_read(fd, &d);
	assert_int_equal(d.n_notes, 0);
	munmap(all, (size_t)st.st_size);
	close(fd);
}

static void test_other_descriptors_keep_nothing(void **state)
{
	struct trial_detail d = {0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_null(last_words_open(0, "log"));
	assert_null(last_words_open(-1, "log"));
	assert_null(last_words_open(null, "log"));
	last_words_put(NULL, "x", 1);
	last_words_close(NULL);
	last_words_read(-1, &d);
	last_words_read(null, &d);
	assert_int_equal(d.n_notes, 0);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_process_leaves_its_text),
		cmocka_unit_test(test_names_are_kept_apart),
		cmocka_unit_test(test_end_of_a_long_text_is_kept),
		cmocka_unit_test(test_nonsense_gives_no_note),
		cmocka_unit_test(test_other_descriptors_keep_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
