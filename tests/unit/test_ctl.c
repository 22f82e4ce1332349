/* The control client's pure parts: verbs and options, help, escaping, tables, the live view. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/starter.h"
#include "coordinator/ctl/view.h"

/* ---- verbs and options ---- */

static void verbs_are_found(void **state)
{
	static const struct {
		const char *words[3];
		const char *verb; /* NULL: an error with this text */
		int n;
		const char *error;
	} cases[] = {
		{{"run", "plan.yaml"}, "run", 1, NULL},
		{{"runs"}, "runs", 1, NULL},
		{{"host", "list"}, "host list", 2, NULL},
		{{"host", "show", "knew"}, "host show", 2, NULL},
		{{"token", "revoke", "a"}, "token revoke", 2, NULL},
		{{"hots"}, NULL, 0, "did you mean 'host'?"},
		{{"wacth", "12"}, NULL, 0, "did you mean 'watch'?"},
		{{"frobnicate"}, NULL, 0, "'frobnicate' is no verb"},
		{{"host"}, NULL, 0, "'host' wants one of: list, show, disks"},
		{{"host", "-q"}, NULL, 0, "'host' wants one of"},
		{{"host", "lits"}, NULL, 0, "did you mean 'host list'?"},
		{{"plan", "zzzzzz"}, NULL, 0, "plan has new, check"},
		{{"hos"}, NULL, 0, "did you mean 'host'?"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int n = 0, used = 0;
		const struct verb *v;
		struct err e;

		while (n < 3 && cases[i].words[n])
			n++;
		v = verb_find((char *const *)cases[i].words, n, &used, &e);
		if (cases[i].verb) {
			assert_non_null(v);
			assert_string_equal(v->name, cases[i].verb);
			assert_int_equal(used, cases[i].n);
		} else {
			assert_null(v);
			assert_int_equal(e.code, ERR_USAGE);
			assert_has(e.text, cases[i].error);
		}
	}
}

static const struct option_spec own[] = {
	{"set", 's', "PATH=VALUE", "…"},
	{"dry-run", 'n', NULL, "…"},
	{"hosts", 0, "SEL", "…"},
	{0},
};

/* Words separated by blanks -> argv; at most 15 words. */
static int split(char *line, char *argv[16])
{
	int n = 0;

	for (char *word = strtok(line, " "); word && n < 15; word = strtok(NULL, " "))
		argv[n++] = word;
	argv[n] = NULL;
	return n;
}

static void options_are_parsed(void **state)
{
	static const struct {
		const char *line;
		const char *option, *value; /* value NULL: not given */
		const char *rest;           /* first argument or NULL */
		int in_order;
		const char *error;
	} cases[] = {
		{"x plan.yaml --set a=1", "set", "a=1", "plan.yaml", 0, NULL},
		{"x -s a=1 plan.yaml -s b=2", "set", "b=2", "plan.yaml", 0, NULL},
		{"x --set=a=1", "set", "a=1", NULL, 0, NULL},
		{"x -n", "dry-run", "", NULL, 0, NULL},
		{"x --dry -q", "dry-run", "", NULL, 0, NULL},
		{"x plan.yaml", "dry-run", NULL, "plan.yaml", 0, NULL},
		{"x -c host:1 plan.yaml", "coordinator", "host:1", "plan.yaml", 0, NULL},
		{"x --json -- -n", "dry-run", NULL, "-n", 0, NULL},
		{"x HOST -n", "dry-run", NULL, "HOST", 1, NULL},
		{"x --dry-run=yes", NULL, NULL, NULL, 0, "option '--dry-run' takes no value"},
		{"x --set", NULL, NULL, NULL, 0, "option '--set' wants a value: PATH=VALUE"},
		{"x -s", NULL, NULL, NULL, 0, "option '--set' wants a value"},
		{"x --dry-rum", NULL, NULL, NULL, 0, "did you mean '--dry-run'?"},
		{"x --nonsense", NULL, NULL, NULL, 0, "unknown option '--nonsense'"},
		{"x -Z", NULL, NULL, NULL, 0, "unknown option '-Z'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *line = xstrdup(cases[i].line), *argv[16];
		int argc = split(line, argv), r;
		struct args a = {0};
		struct err e;
		const char *value;

		r = args_parse(argc, argv, own, cases[i].in_order, &a, &e);
		if (cases[i].error) {
			assert_int_equal(r, -1);
			assert_int_equal(e.code, ERR_USAGE);
			assert_has(e.text, cases[i].error);
		} else {
			assert_ok(r, e);
			value = args_get(&a, cases[i].option);
			assert_true(str_equal(value, cases[i].value));
			assert_true(str_equal(a.n ? a.v[0] : NULL, cases[i].rest));
		}
		args_clear(&a);
		free(line);
	}
}

static void options_collect(void **state)
{
	char line[] = "x --hosts a,b --set p=1,2 --hosts tag:c,,d --set q=3", *argv[16];
	int argc = split(line, argv);
	struct strv hosts = {0}, sets = {0};
	struct args a = {0};
	struct buf text = {0};
	struct err e;

	(void)state;
	assert_ok(args_parse(argc, argv, own, 0, &a, &e), e);
	args_all(&a, "hosts", 1, &hosts);
	args_all(&a, "set", 0, &sets);
	strv_quote(&hosts, &text);
	buf_addc(&text, '|');
	strv_quote(&sets, &text);
	assert_string_equal(buf_str(&text), "a b tag:c d|'p=1,2' q=3");
	strv_free(&hosts);
	strv_free(&sets);
	buf_free(&text);
	args_clear(&a);
}

static void statuses(void **state)
{
	static const struct {
		enum err_code code;
		int status;
	} cases[] = {{ERR_NONE, 0}, {ERR_USAGE, 2}, {ERR_CONN, 3}, {ERR_DENIED, 3},
		{ERR_CANCELLED, 130}, {ERR_INPUT, 1}, {ERR_NOTFOUND, 1}, {ERR_FAILED, 1},
		{ERR_BUSY, 1}, {ERR_WRONG_STATE, 1}, {ERR_IO, 1}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(ctl_exit_status(cases[i].code), cases[i].status);
}

/* The letters and names of a verb's options must not clash with the global ones. */
static void options_do_not_clash(void **state)
{
	(void)state;
	for (size_t i = 0; verbs[i]; i++)
		for (const struct option_spec *o = verbs[i]->options; o && o->name; o++)
			for (const struct option_spec *g = global_options; g->name; g++) {
				assert_string_not_equal(o->name, g->name);
				assert_false(o->letter && o->letter == g->letter);
			}
}

static void help_tells_everything(void **state)
{
	struct buf all = {0}, one = {0};

	(void)state;
	ctl_help(NULL, &all);
	for (size_t i = 0; verbs[i]; i++) {
		assert_has(buf_str(&all), verbs[i]->name);
		assert_has(buf_str(&all), verbs[i]->summary);
		buf_reset(&one);
		ctl_help(verbs[i], &one);
		assert_has(buf_str(&one), "usage: arraymark ");
		for (const struct option_spec *o = verbs[i]->options; o && o->name; o++)
			assert_has(buf_str(&one), o->help);
	}
	for (const char *s = buf_str(&all), *end; *s; s = end + 1) {
		char *line;

		end = strchr(s, '\n');
		line = xstrndup(s, (size_t)(end - s));
		assert_true(print_width(line) <= 99);
		free(line);
	}
	buf_free(&all);
	buf_free(&one);
}

/* What is not documented is not there. */
static void manual_and_completion_know_all(void **state)
{
	static const char *const files[] = {"deploy/man/arraymark.1", "deploy/completion/arraymark.bash"};

	(void)state;
	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		struct buf text = {0};
		struct err e;

		assert_ok(fs_read_file(files[f], 1024 * 1024, &text, &e), e);
		for (size_t i = 0; verbs[i]; i++) {
			const char *last = strrchr(verbs[i]->name, ' ');

			assert_has(buf_str(&text), last ? last + 1 : verbs[i]->name);
			for (const struct option_spec *o = verbs[i]->options; o && o->name; o++)
				assert_has(buf_str(&text), o->name);
		}
		for (const struct option_spec *g = global_options; g->name; g++)
			assert_has(buf_str(&text), g->name);
		buf_free(&text);
	}
}

static void starter_is_right(void **state)
{
	struct yaml_errors errs = {0};
	struct plan *p;
	struct err e;

	(void)state;
	assert_ok(plan_parse("starter", starter_plan, strlen(starter_plan), NULL, &p, &errs, &e), e);
	assert_int_equal(p->warnings.n, 0);
	assert_true(p->n_layouts >= 2);
	plan_free(p);
	yaml_errors_free(&errs);
}

/* ---- printing ---- */

static void escapes(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"knew", "knew"},
		{NULL, "-"},
		{"", ""},
		{"Zürich 木", "Zürich 木"},
		{"a\x1b[31mb", "a\\x1b[31mb"},
		{"a\r\nb\tc", "a\\x0d\\x0ab\\x09c"},
		{"\x7f", "\\x7f"},
		{"\xc2\x9b", "\\xc2\\x9b"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xe2\x80\xae"
		 "gpj.exe",
			"\\u{202e}gpj.exe"},
		{"\xe2\x80\x8b", "\\u{200b}"},
		{"cut \xe6\x9c", "cut \\xe6\\x9c"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *got = print_safe_dup(cases[i].in);

		assert_string_equal(got, cases[i].out);
		free(got);
	}
}

static void widths(void **state)
{
	static const struct {
		const char *text;
		unsigned width, fit;
		const char *cut;
	} cases[] = {
		{"knew", 4, 10, "knew"},
		{"knew", 4, 4, "knew"},
		{"knewer", 6, 4, "kne…"},
		{"knew", 4, 1, "…"},
		{"knew", 4, 0, ""},
		{"木木木", 6, 6, "木木木"},
		{"木木木", 6, 5, "木木…"},
		{"木木木", 6, 4, "木…"},
		{"e\xcc\x81té", 3, 3, "e\xcc\x81té"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf out = {0};
		unsigned used = print_fit(cases[i].text, cases[i].fit, &out);

		assert_int_equal(print_width(cases[i].text), cases[i].width);
		assert_string_equal(buf_str(&out), cases[i].cut);
		assert_int_equal(print_width(buf_str(&out)), used);
		assert_true(used <= cases[i].fit);
		buf_free(&out);
	}
}

static void grids(void **state)
{
	static const char *const heads[] = {"HOST", "DISKS", "STATE", NULL};
	struct buf out = {0};
	struct grid g;

	(void)state;
	grid_init(&g, heads, 1 << 1);
	grid_print(&g, 0, &out);
	assert_string_equal(buf_str(&out), "");
	grid_add(&g, "knew\n");
	grid_addf(&g, "%d", 10);
	grid_add_color(&g, "idle", COLOR_GREEN);
	grid_add(&g, "Zürich-1");
	grid_add(&g, NULL);
	grid_add(&g, "");
	grid_print(&g, 0, &out);
	assert_string_equal(buf_str(&out),
		"HOST      DISKS  STATE\n"
		"knew\\x0a     10  idle\n"
		"Zürich-1      -  -\n");
	buf_reset(&out);
	grid_print(&g, 1, &out);
	assert_has(buf_str(&out), "\x1b[32midle\x1b[0m");
	grid_clear(&g);
	buf_free(&out);
}

static void times(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} cases[] = {
		{"2026-11-30T13:18:02Z", 1796044682},
		{"2026-11-30T13:18:02.250Z", 1796044682},
		{"1970-01-01T00:00:00Z", 0},
		{"2026-11-30 13:18:02", -1},
		{"2026-11-30T13:18:02+01:00", -1},
		{"now", -1},
		{NULL, -1},
	};
	struct buf out = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(print_time_seconds(cases[i].text), cases[i].seconds);
	print_ago(5, &out);
	buf_addc(&out, ' ');
	print_ago(600, &out);
	buf_addc(&out, ' ');
	print_ago(7300, &out);
	buf_addc(&out, ' ');
	print_ago(400000, &out);
	assert_string_equal(buf_str(&out), "5s ago 10m ago 2h ago 4d ago");
	buf_free(&out);
}

/* ---- the live view ---- */

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

#define RUN_LINE(state)                                                                    \
	"{\"type\":\"run\",\"run\":12,\"name\":\"zfs\",\"state\":\"" state "\",\"blocks\":4," \
	"\"layouts\":[\"a\",\"raidz2-10\"],\"workloads\":[\"write\",\"read\"]}"
#define RUNNING                                                                                  \
	"{\"type\":\"job\",\"run\":12,\"job\":1,\"host\":\"knew\",\"state\":\"running\","       \
	"\"why\":null,\"online\":true,\"attempt\":1,\"units_done\":3,\"units\":8,\"blocks\":4," \
	"\"block\":2,\"layout\":\"raidz2-10\",\"position\":2,\"layouts\":2,"                    \
	"\"phase\":\"workload\",\"what\":\"\",\"workload\":\"read\",\"repeat\":1,\"trial\":8,"  \
	"\"bytes\":50,\"planned_bytes\":100,\"rate\":104857600.0,\"ops_rate\":100.0,"           \
	"\"trial_s\":1.0,\"left_s\":192.0}"

static void bars(void **state)
{
	static const struct {
		double part;
		unsigned width;
		int utf8;
		const char *bar;
	} cases[] = {
		{0, 4, 0, "...."}, {0.5, 4, 0, "##.."}, {1, 4, 0, "####"}, {0.99, 4, 0, "###."},
		{-1, 3, 0, "..."}, {2, 3, 0, "###"}, {NAN, 3, 0, "..."}, {0.5, 1, 1, "▌"},
		{0.3125, 2, 1, "▋░"}, {1, 3, 1, "███"}, {0, 2, 1, "░░"},
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
		{110, "knew  ###########.............  46%  block 2/4  raidz2-10 (2/2)  read  100 MiB/s  "
		      "3m12s left\n"},
		{80, "knew  #####.......  46%  block 2/4  raidz2-10 (2/2)  read  100 MiB/s  3m12s left\n"},
		{70, "knew  ######........  46%  block 2/4  raidz2-10 (2/2)  read  100 MiB/s\n"},
		{60, "knew  #######........  46%  block 2/4  raidz2-10 (2/2)  read\n"},
		{40, "knew  #####.......  46%  block 2/4  read\n"},
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
		assert_true(print_width(buf_str(&out)) <= cases[i].width + 1); /* and the newline */
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
		assert_true(print_width(buf_str(&out)) <= width + 1);
		assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
		assert_null(strchr(out.data, '\x1b'));
		buf_free(&out);
	}
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

static void view_states(void **state)
{
	static const struct {
		const char *fields, *text;
	} cases[] = {
		{"\"state\":\"waiting\",\"why\":\"host is paused\",\"online\":true", "waiting: host is paused"},
		{"\"state\":\"waiting\",\"why\":null,\"online\":false", "waiting  offline"},
		{"\"state\":\"waiting\",\"why\":\"offline\",\"online\":false", "waiting: offline\n"},
		{"\"state\":\"failed\",\"why\":\"pool 'x'\\u001b[2J is gone\",\"online\":true",
			"failed: pool 'x'\\x1b[2J is gone"},
		{"\"state\":\"cancelled\",\"why\":\"cancelled by dan\",\"online\":true",
			"  cancelled by dan"},
		{"\"state\":\"done\",\"why\":null,\"online\":true,\"units_done\":8", "100%  done\n"},
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
				       "\"units\":8,\"blocks\":4,%s}", cases[i].fields);
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
		char *line = xasprintf("{\"type\":\"job\",\"run\":12,\"job\":%d,\"host\":\"node%02d\","
				       "\"state\":\"%s\",\"units\":8}", i + 1, i, job_state);

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
		{"{\"type\":\"event\",\"host\":\"knew\",\"at\":\"x\",\"event\":\"job\",\"text\":\"done\"}",
			VIEW_EVENT, 1, 1, "x knew: done"},
		{"{\"type\":\"event\",\"host\":\"k\",\"at\":\"x\",\"event\":\"job\",\"text\":\"running\"}",
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

/* A coordinator that says nonsense: wrong types, absurd numbers. */
static void view_of_nonsense(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"run\",\"run\":\"x\",\"name\":7,\"state\":[],\"workloads\":{\"a\":1}}",
		"{\"type\":\"run\",\"run\":-1,\"workloads\":[1,null,\"w\"]}",
		"{\"type\":\"job\",\"job\":-5,\"host\":null,\"state\":null,\"units\":-3}",
		"{\"type\":\"job\",\"job\":1,\"host\":[],\"state\":\"running\",\"units\":9223372036854775807,"
		"\"units_done\":9223372036854775807,\"block\":9223372036854775807,\"phase\":\"workload\","
		"\"bytes\":-9223372036854775807,\"planned_bytes\":1,\"rate\":1e308,\"left_s\":1e308}",
		"{\"type\":\"job\",\"job\":2,\"state\":\"running\",\"left_s\":-1e308,\"rate\":-5.0}",
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
		cmocka_unit_test(verbs_are_found),
		cmocka_unit_test(options_are_parsed),
		cmocka_unit_test(options_collect),
		cmocka_unit_test(statuses),
		cmocka_unit_test(options_do_not_clash),
		cmocka_unit_test(help_tells_everything),
		cmocka_unit_test(manual_and_completion_know_all),
		cmocka_unit_test(starter_is_right),
		cmocka_unit_test(escapes),
		cmocka_unit_test(widths),
		cmocka_unit_test(grids),
		cmocka_unit_test(times),
		cmocka_unit_test(bars),
		cmocka_unit_test(view_by_width),
		cmocka_unit_test(view_never_too_wide),
		cmocka_unit_test(view_time_goes_on),
		cmocka_unit_test(view_states),
		cmocka_unit_test(view_many_jobs),
		cmocka_unit_test(view_events),
		cmocka_unit_test(view_of_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
