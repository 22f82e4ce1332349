/* The control client's live view: what WATCH's lines become, for every width of a terminal. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "common/base/units.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/view.h"

static void feed(struct view *v, const char *line, struct view_event *event)
{
	json_t *parsed;
	struct err e;

	assert_ok(json_parse("line", line, strlen(line), 65536, &parsed, &e), e);
	view_feed(v, parsed, 0, event);
	json_decref(parsed);
}

static void feed_quietly(struct view *v, const char *line)
{
	struct view_event event;

	feed(v, line, &event);
	buf_free(&event.line);
}

#define RUN_LINE(state)                                                                            \
	"{\"type\":\"run\",\"run\":12,\"name\":\"zfs\",\"state\":\"" state "\",\"blocks\":4,"      \
	"\"layouts\":[\"a\",\"raidz2-10\"],\"workloads\":[\"write\",\"read\"]}"
#define RUNNING                                                                                    \
	"{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\",\"state\":\"running\","          \
	"\"why\":null,\"online\":true,\"attempt\":1,\"units_done\":3,\"units\":8,\"blocks\":4,"    \
	"\"block\":2,\"layout\":\"raidz2-10\",\"position\":2,\"layouts\":2,"                       \
	"\"phase\":\"workload\",\"what\":\"\",\"workload\":\"read\",\"repeat\":1,\"trial\":8,"     \
	"\"bytes\":50,\"planned_bytes\":100,\"rate\":104857600.0,\"ops_rate\":100.0,"              \
	"\"trial_s\":1.0,\"left_s\":192.0}"

static void bars(void **state)
{
	static const struct {
		double part;
		unsigned width;
		int utf8;
		const char *bar;
	} cases[] = {
		{0, 4, 0, "...."},
		{0.5, 4, 0, "##.."},
		{1, 4, 0, "####"},
		{0.99, 4, 0, "###."},
		{-1, 3, 0, "..."},
		{2, 3, 0, "###"},
		{NAN, 3, 0, "..."},
		{0.5, 1, 1, "▌"},
		{0.3125, 2, 1, "▋░"},
		{1, 3, 1, "███"},
		{0, 2, 1, "░░"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};

		view_bar(cases[i].part, cases[i].width, cases[i].utf8, &out);
		assert_string_equal(buf_str(&out), cases[i].bar);
		buf_free(&out);
	}
}

static void view_by_width(void **state)
{
	static const struct {
		unsigned width;
		const char *line;
	} cases[] = {
		/* 3 of 8 builds, the second of two workloads half way: (3 + 0.75) / 8 */
		{110, "knew  ###########.............  46%  block 2/4  raidz2-10 (2/2)  read  100 "
		      "MiB/s  "
		      "3m12s left\n"},
		{80, "knew  #####.......  46%  block 2/4  raidz2-10 (2/2)  read  100 MiB/s  3m12s "
		     "left\n"},
		{70, "knew  #####.......  46%  block 2/4  raidz2-10 (2/2)  read  100 MiB/s\n"},
		{60, "knew  ###.....  46%  block 2/4  raidz2-10 (2/2)  read\n"},
		{40, "knew  ###.....  46%  block 2/4  read\n"},
		{30, "knew  block 2/4  read\n"},
		{20, "knew  read\n"},
		{5, "knew\n"},
		{3, "kn…\n"},
	};
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	feed_quietly(&v, RUNNING);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct view_style style = {.width = cases[i].width, .height = 24};
		struct buf out = {0};

		assert_int_equal(view_render(&v, &style, 0, &out), 1);
		assert_true(utf8_width(buf_str(&out)) <= cases[i].width + 1); /* and the newline */
		assert_string_equal(buf_str(&out), cases[i].line);
		buf_free(&out);
	}
	view_clear(&v);
}

/* Every width, with and without colour: never too wide, always one line. */
static void view_never_too_wide(void **state)
{
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	feed_quietly(&v, RUNNING);
	for (unsigned width = 1; width < 200; width++) {
		struct view_style style = {.width = width, .height = 24, .utf8 = 1};
		struct buf out = {0};

		assert_int_equal(view_render(&v, &style, 0, &out), 1);
		assert_true(utf8_width(buf_str(&out)) <= width + 1);
		assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
		assert_null(strchr(out.data, '\x1b'));
		buf_free(&out);
	}
	view_clear(&v);
}

/* A workload that is judged by its operations shows these, though it moves bytes as well. */
static void view_shows_what_judges(void **state)
{
	static const struct {
		const char *headline, *rates, *shown;
	} cases[] = {
		{"\"ops_per_s\"", "\"rate\":104857600.0,\"ops_rate\":1834.5", "  1835 ops/s  "},
		{"\"ops_per_s\"", "\"rate\":0,\"ops_rate\":0", "  0 ops/s  "},
		{"\"throughput\"", "\"rate\":104857600.0,\"ops_rate\":1834.5", "  100 MiB/s  "},
		{"\"elapsed\"", "\"rate\":104857600.0,\"ops_rate\":1834.5", "  100 MiB/s  "},
		{"\"elapsed\"", "\"rate\":0,\"ops_rate\":12.5", "  12.5 ops/s  "},
		{"null", "\"rate\":104857600.0,\"ops_rate\":null", "  100 MiB/s  "},
	};
	struct view_style style = {.width = 100, .height = 24};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *line = xasprintf("{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\","
				       "\"state\":\"running\",\"online\":true,\"units\":8,\"blocks\":4,"
				       "\"block\":2,\"layout\":\"a\",\"layouts\":1,\"phase\":\"workload\","
				       "\"workload\":\"mail\",\"headline\":%s,\"bytes\":50,%s,"
				       "\"left_s\":192.0}",
			cases[i].headline, cases[i].rates);
		struct buf out = {0};
		struct view v = {0};

		feed_quietly(&v, line);
		view_render(&v, &style, 0, &out);
		assert_has(out.data, cases[i].shown);
		view_clear(&v);
		buf_free(&out);
		free(line);
	}
}

/* A long step is cut; the bar, the block and the layout stay where they were. */
static void view_long_step(void **state)
{
	struct view_style style = {.width = 80, .height = 24};
	struct buf out = {0};
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	feed_quietly(&v,
		"{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\",\"state\":\"running\","
		"\"online\":true,\"units\":8,\"blocks\":4,\"block\":2,\"layout\":\"a\",\"layouts\":1,"
		"\"phase\":\"build\",\"what\":\"attach /srv/scratch/am_12_1_ab12cd/disk01 to a "
		"loop device\",\"left_s\":192.0}");
	view_render(&v, &style, 0, &out);
	assert_string_equal(buf_str(&out),
		"knew  ............   0%  block 2/4  a  build: attach /srv/scratch/a…  3m12s left\n");
	buf_free(&out);
	view_clear(&v);
}

static void view_time_goes_on(void **state)
{
	struct view_style style = {.width = 110, .height = 24, .color = 1};
	struct buf out = {0};
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	feed_quietly(&v, RUNNING);
	view_render(&v, &style, 10 * NS_PER_S, &out);
	assert_has(buf_str(&out), "3m02s left");
	assert_has(buf_str(&out), "\x1b[36mread\x1b[0m");
	buf_reset(&out);
	view_render(&v, &style, 1000 * NS_PER_S, &out);
	assert_has(buf_str(&out), "0s left");
	buf_free(&out);
	view_clear(&v);
}

/* Between two workloads of a build the bar stays; with the next build it goes on from there. */
static void view_bar_never_falls(void **state)
{
#define AT(done, position, phase, workload)                                                        \
	"{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\",\"state\":\"running\","          \
	"\"units_done\":" done ",\"units\":4,\"block\":1,\"position\":" position                   \
	",\"phase\":\"" phase "\",\"workload\":" workload ",\"bytes\":50,\"planned_bytes\":100}"
	static const struct {
		const char *line;
		double part;
	} steps[] = {
		{AT("0", "1", "build", "null"), 0},
		{AT("0", "1", "workload", "\"write\""), 0.0625},
		{AT("0", "1", "cache", "null"), 0.0625},
		{AT("0", "1", "workload", "\"read\""), 0.1875},
		{AT("0", "1", "teardown", "null"), 0.25},
		{AT("1", "2", "build", "null"), 0.25},
		{AT("1", "2", "workload", "\"write\""), 0.3125},
	};
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		feed_quietly(&v, steps[i].line);
		assert_true(fabs(view_job_done(&v.jobs[0]) - steps[i].part) < 1e-9);
	}
	view_clear(&v);
#undef AT
}

static void view_states(void **state)
{
	static const struct {
		const char *fields, *text;
	} cases[] = {
		{"\"state\":\"waiting\",\"why\":\"host is paused\",\"online\":true",
			"waiting: host is paused"},
		{"\"state\":\"waiting\",\"why\":null,\"online\":false", "waiting  offline"},
		{"\"state\":\"waiting\",\"why\":\"offline\",\"online\":false",
			"waiting: offline\n"},
		{"\"state\":\"failed\",\"why\":\"pool 'x'\\u001b[2J is gone\",\"online\":true",
			"failed: pool 'x'\\x1b[2J is gone"},
		{"\"state\":\"cancelled\",\"why\":\"cancelled by dan\",\"online\":true",
			"  cancelled by dan"},
		{"\"state\":\"done\",\"why\":null,\"online\":true,\"units_done\":8",
			"100%  done\n"},
		{"\"state\":\"cancelling\",\"why\":null,\"online\":true,\"phase\":\"teardown\","
		 "\"what\":\"destroy the pool\"",
			"cancelling  teardown: destroy the pool"},
		{"\"state\":\"running\",\"why\":null,\"online\":false,\"phase\":\"build\","
		 "\"what\":\"create the pool\",\"block\":1,\"layouts\":1,\"layout\":\"a\"",
			"block 1/4  a  build: create the pool  offline"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct view_style style = {.width = 100, .height = 24};
		char *line = xasprintf("{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\","
				       "\"units\":8,\"blocks\":4,%s}",
			cases[i].fields);
		struct buf out = {0};
		struct view v = {0};

		feed_quietly(&v, RUN_LINE("running"));
		feed_quietly(&v, line);
		view_render(&v, &style, 0, &out);
		assert_has(buf_str(&out), cases[i].text);
		buf_free(&out);
		view_clear(&v);
		free(line);
	}
}

static void view_many_jobs(void **state)
{
	struct view_style style = {.width = 80, .height = 6};
	struct buf out = {0};
	struct view v = {0};

	(void)state;
	feed_quietly(&v, RUN_LINE("running"));
	for (int i = 0; i < 40; i++) {
		const char *job_state = i < 10 ? "done" : i < 37 ? "waiting" : "running";
		char *line =
			xasprintf("{\"type\":\"job\",\"run\":12,\"job\":%d,\"host\":\"node%02d\","
				  "\"state\":\"%s\",\"units\":8}",
				i + 1, i, job_state);

		feed_quietly(&v, line);
		free(line);
	}
	assert_int_equal(view_render(&v, &style, 0, &out), 5);
	assert_has(buf_str(&out), "node37");
	assert_has(buf_str(&out), "node38");
	assert_has(buf_str(&out), "node39");
	assert_has(buf_str(&out), "node10");
	assert_null(strstr(out.data, "node00"));
	assert_has(buf_str(&out), "… and 26 waiting, 10 done\n");
	buf_free(&out);
	view_clear(&v);
}

static void view_events(void **state)
{
	static const struct {
		const char *line;
		int what, ok, important;
		const char *text;
	} cases[] = {
		{"{\"type\":\"event\",\"host\":\"knew\",\"at\":\"2026-11-30T13:18:02Z\","
		 "\"event\":\"trial-end\",\"ok\":true,\"text\":\"block 1 write: 12.3s\"}",
			VIEW_EVENT, 1, 0, " knew: block 1 write: 12.3s"},
		{"{\"type\":\"event\",\"host\":\"knew\",\"at\":\"2026-11-30T13:18:02Z\","
		 "\"event\":\"step-failed\",\"ok\":false,\"text\":\"no\\u001b[31m\"}",
			VIEW_EVENT, 0, 1, " knew: no\\x1b[31m"},
		{"{\"type\":\"event\",\"host\":\"knew\",\"at\":\"x\",\"event\":\"job\",\"text\":"
		 "\"done\"}",
			VIEW_EVENT, 1, 1, "x knew: done"},
		{"{\"type\":\"event\",\"host\":\"k\",\"at\":\"x\",\"event\":\"job\",\"text\":"
		 "\"running\"}",
			VIEW_EVENT, 1, 0, "x k: running"},
		{RUN_LINE("done"), VIEW_RUN, 0, 0, ""},
		{RUNNING, VIEW_PROGRESS, 0, 0, ""},
		{"{\"type\":\"something new\"}", VIEW_NOTHING, 0, 0, ""},
		{"{}", VIEW_NOTHING, 0, 0, ""},
	};
	struct view v = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct view_event event;

		feed(&v, cases[i].line, &event);
		assert_int_equal(event.what, cases[i].what);
		assert_int_equal(event.ok, cases[i].ok);
		assert_int_equal(event.important, cases[i].important);
		assert_has(buf_str(&event.line), cases[i].text);
		buf_free(&event.line);
	}
	assert_true(view_is_over(&v));
	assert_int_equal(v.run, 12);
	assert_int_equal(v.n_jobs, 1);
	view_clear(&v);
}

#define LARGE "9223372036854775807"
#define ABSURD_JOB                                                                                 \
	"{\"type\":\"job\",\"job\":1,\"host\":[],\"state\":\"running\",\"units\":" LARGE           \
	",\"units_done\":" LARGE ",\"block\":" LARGE ",\"phase\":\"workload\",\"bytes\":-" LARGE   \
	",\"planned_bytes\":1,\"rate\":1e308,\"left_s\":1e308}"

/* A coordinator that says nonsense: wrong types, absurd numbers. */
static void view_of_nonsense(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"run\",\"run\":\"x\",\"name\":7,\"state\":[],\"workloads\":{\"a\":1}}",
		"{\"type\":\"run\",\"run\":-1,\"workloads\":[1,null,\"w\"]}",
		"{\"type\":\"job\",\"job\":-5,\"host\":null,\"state\":null,\"units\":-3}",
		ABSURD_JOB,
		"{\"type\":\"job\",\"job\":2,\"state\":\"running\",\"left_s\":-1e308}",
		"{\"type\":7}",
	};
	struct view_style style = {.width = 80, .height = 24, .color = 1, .utf8 = 1};
	struct buf out = {0};
	struct view v = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		feed_quietly(&v, lines[i]);
		view_render(&v, &style, 0, &out);
		buf_reset(&out);
	}
	assert_int_equal(v.n_jobs, 3);
	buf_free(&out);
	view_clear(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars),
		cmocka_unit_test(view_by_width),
		cmocka_unit_test(view_shows_what_judges),
		cmocka_unit_test(view_long_step),
		cmocka_unit_test(view_never_too_wide),
		cmocka_unit_test(view_time_goes_on),
		cmocka_unit_test(view_bar_never_falls),
		cmocka_unit_test(view_states),
		cmocka_unit_test(view_many_jobs),
		cmocka_unit_test(view_events),
		cmocka_unit_test(view_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
