/* The control client's pure parts: verbs and options, help and manual, escaping, tables. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/plan/plan.h"
#include "coordinator/ctl/ctl.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/starter.h"

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

	for (char *word; (word = strsep(&line, " ")) && n < 15;)
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
	static const char *const files[] = {
		"deploy/man/arraymark.1", "deploy/completion/arraymark.bash"};

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
	assert_ok(
		plan_parse("starter", starter_plan, strlen(starter_plan), NULL, &p, &errs, &e), e);
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
	assert_string_equal(buf_str(&out), "HOST      DISKS  STATE\n"
					   "knew\\x0a     10  idle\n"
					   "Zürich-1      -  -\n");
	buf_reset(&out);
	grid_print(&g, 1, &out);
	assert_has(buf_str(&out), "\x1b[32midle\x1b[0m");
	grid_clear(&g);
	buf_free(&out);
}

static void grids_leave_columns_out(void **state)
{
	static const char *const heads[] = {"HOST", "DISKS", "STATE", "TAGS", NULL};
	static const unsigned char order[] = {3, 0, 1, 255};
	struct buf out = {0};
	struct grid g;

	(void)state;
	grid_init(&g, heads, 1 << 1);
	for (int i = 0; i < 2; i++) {
		grid_add(&g, i ? "knew" : "kold");
		grid_add(&g, NULL);
		grid_add(&g, i ? "idle" : "new");
		grid_add(&g, "local");
	}
	grid_hide(&g, 0, "knew");
	grid_hide(&g, 2, NULL);
	assert_int_equal(g.hidden, 0);
	grid_hide(&g, 1, "-");
	assert_int_equal(grid_fit(&g, 0, order), 0);
	assert_int_equal(grid_fit(&g, 18, order), 0);
	grid_print(&g, 0, &out);
	assert_string_equal(buf_str(&out), "HOST  STATE  TAGS\nkold  new    local\nknew  idle   local\n");
	assert_int_equal(grid_fit(&g, 17, order), 1);
	buf_reset(&out);
	grid_print(&g, 0, &out);
	assert_string_equal(buf_str(&out), "HOST  STATE\nkold  new\nknew  idle\n");
	/* A last one stays, however wide. */
	assert_int_equal(grid_fit(&g, 3, order), 1);
	buf_reset(&out);
	grid_print(&g, 0, &out);
	assert_string_equal(buf_str(&out), "STATE\nnew\nidle\n");
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
		cmocka_unit_test(grids_leave_columns_out),
		cmocka_unit_test(times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
