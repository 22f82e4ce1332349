/* Each personality that is built in runs on real files: its flowops all do something, in the numbers
 * that a loop of it has. */
#include "tests/unit/filebench_kit.h"

#include "common/plan/wml.h"

#define MAX_SETTINGS 8
#define MAX_FLOWOPS 14
#define LONGEST_NS  10000000000
#define SELDOM ~0U /* each: it waits for what may not come within the test */

struct flowop {
	const char *name;
	unsigned each; /* in a loop; 0: its threads loop at another pace than others */
};
static const struct row {
	const char *personality;
	unsigned threads;
	struct wml_setting settings[MAX_SETTINGS];
	struct flowop flowops[MAX_FLOWOPS];
} rows[] = {
	{"varmail", 2, {{"nfiles", "40"}, {"nthreads", "2"}, {"filesize", "4K"}},
		{{"delete", 1}, {"deliver-create", 1}, {"deliver-append", 1}, {"deliver-fsync", 1},
			{"deliver-close", 1}, {"answer-open", 1}, {"answer-read", 1}, {"answer-append", 1},
			{"answer-fsync", 1}, {"answer-close", 1}, {"read-open", 1}, {"read-read", 1},
			{"read-close", 1}}},
	{"fileserver", 2, {{"nfiles", "40"}, {"nthreads", "2"}, {"filesize", "16K"}},
		{{"new-create", 1}, {"new-write", 1}, {"new-close", 1}, {"add-open", 1}, {"add-append", 1},
			{"add-close", 1}, {"read-open", 1}, {"read-read", 1}, {"read-close", 1},
			{"delete", 1}, {"stat", 1}}},
	{"webserver", 2, {{"nfiles", "40"}, {"nthreads", "2"}, {"filesize", "4K"}},
		{{"page.open", 10}, {"page.read", 10}, {"page.close", 10}, {"log-append", 1}}},
	{"webproxy", 2, {{"nfiles", "40"}, {"nthreads", "2"}, {"filesize", "4K"}},
		{{"evict", 1}, {"store-create", 1}, {"store-append", 1}, {"store-close", 1}, {"hit.open", 5},
			{"hit.read", 5}, {"hit.close", 5}}},
#ifndef __SANITIZE_THREAD__ /* the C library's own asynchronous I/O takes locks that it doesn't see */
	{"oltp", 9, {{"nshadows", "6"}, {"ndbwriters", "2"}, {"filesize", "256K"}, {"logfilesize", "512K"},
		{"nfiles", "3"}, {"usermode", "100"}},
		{{"log-write", 0}, {"log-wait", 0}, {"block-write", 0}, {"block-wait", SELDOM},
			{"block-read", 0}}},
#endif
	{"videoserver", 5, {{"nthreads", "4"}, {"filesize", "1M"}, {"numactivevids", "3"},
		{"numpassivevids", "4"}},
		{{"old-delete", 0}, {"new-create", 0}, {"new-write", 0}, {"new-close", 0},
			{"film-read", 0}}},
	{"randomread", 2, {{"filesize", "256K"}, {"nthreads", "2"}}, {{"random-read", 1}}},
	{"randomwrite", 2, {{"filesize", "256K"}, {"nthreads", "2"}}, {{"random-write", 1}}},
};

static size_t settings_of(const struct row *row, struct wml_setting *ret)
{
	size_t n = 0;

	for (; n < MAX_SETTINGS && row->settings[n].name; n++)
		ret[n] = row->settings[n];
	return n;
}

/* Its flowops and no other operation. */
static void check_flowops(const struct row *row, const struct trial *t)
{
	uint64_t loops = (uint64_t)fact(t, "loops"), sum = 0;
	size_t n = 0, told = 0;

	for (; n < MAX_FLOWOPS && row->flowops[n].name; n++) {
		const struct flowop *f = &row->flowops[n];
		uint64_t ops = part(t, f->name)->ops;

		sum += ops;
		if (f->each == SELDOM)
			continue;
		/* a thread's last loop may be cut off */
		if (ops == 0 || (f->each && (ops < f->each * loops || ops > f->each * (loops + row->threads))))
			fail_msg("%s: '%s' did %llu operations in %llu loops", row->personality, f->name,
				(unsigned long long)ops, (unsigned long long)loops);
	}
	for (size_t i = 0; i < t->r->detail.n_parts; i++)
		told += strcmp(t->r->detail.parts[i].kind, "flowop") == 0;
	assert_int_equal(told, n);
	assert_int_equal(t->r->ops, sum);
}

static int is_through(const struct row *row, const struct trial *t)
{
	for (size_t n = 0; n < MAX_FLOWOPS && row->flowops[n].name; n++)
		if (row->flowops[n].each != SELDOM && part(t, row->flowops[n].name)->ops == 0)
			return 0;
	return 1;
}

/* As long as each of its flowops needs to be done once, on a busy machine too. */
static void check_personality(const struct row *row)
{
	for (int64_t duration = 100000000;; duration *= 2) {
		struct wml_setting s[MAX_SETTINGS];
		struct trial t;
		struct err e;
		int last;

		trial_init(&t, row->personality, NULL);
		t.w.name = (char *)row->personality; /* a folder of its own */
		t.f.settings = s;
		t.f.n_settings = settings_of(row, s);
		t.w.duration_ns = duration;
		assert_ok(trial_run(&t, &e), e);
		last = is_through(row, &t) || duration > LONGEST_NS;
		if (last)
			check_flowops(row, &t);
		trial_clear(&t);
		if (last)
			return;
	}
}

static void test_each_personality_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_personality(&rows[i]);
}

static void test_none_is_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; wml_personality_names[i]; i++) {
		int found = 0;

		for (size_t k = 0; k < ARRAY_LEN(rows); k++)
			found |= strcmp(rows[k].personality, wml_personality_names[i]) == 0;
#ifdef __SANITIZE_THREAD__
		found |= strcmp("oltp", wml_personality_names[i]) == 0;
#endif
		if (!found)
			fail_msg("%s is not run", wml_personality_names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_each_personality_runs),
		cmocka_unit_test(test_none_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
