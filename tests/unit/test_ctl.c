/* The control client's pure parts: verbs and options, help and manual, escaping, tables. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/help.h"
#include "common/base/mem.h"
#include "common/base/utf8.h"
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
		{{"host", "resume", "knew"}, NULL, 0, "no verb: say `arraymark host pause HOST off`"},
		{{"backup", "f"}, NULL, 0, "'backup' is no verb: `arraymark-coordinator backup FILE`"},
		{{"restore"}, NULL, 0, "`arraymark-coordinator restore FILE`"},
		{{"retry", "--failed", "12"}, NULL, 0, "'retry' is no verb: `arraymark resume RUN`"},
		{{"schedule", "list"}, NULL, 0, "`arraymark run --detach FILE`"},
		{{"resume", "12"}, "resume", 1, NULL},
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

		r = args_parse(argc, argv, global_options, own, cases[i].in_order, &a, &e);
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
	assert_ok(args_parse(argc, argv, global_options, own, 0, &a, &e), e);
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

/* The text with blanks and breaks as one blank each: what a help says, however it is broken. */
static char *flat(const char *text)
{
	struct buf out = {0};

	for (; *text; text++)
		if (*text != ' ' && *text != '\n')
			buf_addc(&out, *text);
		else if (out.len && out.data[out.len - 1] != ' ')
			buf_addc(&out, ' ');
	return buf_take(&out);
}

static void help_fits(const char *text)
{
	for (const char *s = text, *end; *s; s = end + 1) {
		char *line;

		end = strchr(s, '\n');
		assert_non_null(end);
		line = xstrndup(s, (size_t)(end - s));
		if (utf8_width(line) > 80)
			fail_msg("wider than 80 columns: %s", line);
		free(line);
	}
}

static void help_says(const char *text, const char *part)
{
	char *a = flat(text), *b = flat(part);

	assert_has(a, b);
	free(a);
	free(b);
}

static void help_tells_everything(void **state)
{
	struct buf all = {0}, one = {0};

	(void)state;
	ctl_help(NULL, &all);
	help_fits(buf_str(&all));
	for (size_t i = 0; verbs[i]; i++) {
		help_says(buf_str(&all), verbs[i]->name);
		help_says(buf_str(&all), verbs[i]->summary);
		buf_reset(&one);
		ctl_help(verbs[i], &one);
		help_fits(buf_str(&one));
		help_says(buf_str(&one), verbs[i]->summary + 1);
		assert_has(buf_str(&one), "usage: arraymark ");
		for (const struct option_spec *o = verbs[i]->options; o && o->name; o++)
			help_says(buf_str(&one), o->help);
	}
	buf_free(&all);
	buf_free(&one);
}

/* It is a command, and its options and arguments are right. */
static void check_example(char *line)
{
	const struct verb *v;
	char *argv[16], *quote;
	struct args a = {0};
	struct err e;
	int argc, used;

	*strchrnul(line, '<') = '\0'; /* what the shell takes */
	while ((quote = strchr(line, '\''))) { /* a word of several */
		for (*quote++ = '_'; *quote != '\''; quote++)
			*quote = *quote == ' ' ? '_' : *quote;
		*quote = '_';
	}
	for (char *end = line + strlen(line); end > line && end[-1] == ' ';)
		*--end = '\0';
	argc = split(line, argv);
	assert_string_equal(argv[0], "arraymark");
	if (argv[1][0] == '-') /* what comes next, by another verb */
		return;
	v = verb_find(argv + 1, argc - 1, &used, &e);
	assert_non_null(v);
	assert_ok(args_parse(argc - used, argv + used, global_options, v->options, v->in_order, &a, &e), e);
	assert_true(a.n >= v->min_args && (v->max_args < 0 || a.n <= v->max_args));
	args_clear(&a);
}

static void examples_are_commands(void **state)
{
	(void)state;
	for (size_t i = 0; verbs[i]; i++) {
		const char *end;

		assert_true(verbs[i]->examples && *verbs[i]->examples);
		for (const char *s = verbs[i]->examples; *s; s = end + 1) {
			char *line;

			end = strchr(s, '\n');
			line = xstrndup(s, (size_t)(end - s));
			check_example(line);
			free(line);
		}
	}
}

static void help_is_broken_at_words(void **state)
{
	static const struct option_spec list[] = {
		{"zebra", 'z', NULL, "last"},
		{"ape", 0, "WORDS", "one two three four five six seven eight nine ten eleven twelve"},
		{"hidden", 0, NULL, NULL},
		{0},
	};
	struct buf out = {0};

	(void)state;
	help_options(list, &out);
	assert_string_equal(buf_str(&out),
		"      --ape WORDS              one two three four five six seven eight nine ten\n"
		"                               eleven twelve\n"
		"  -z, --zebra                  last\n");
	buf_reset(&out);
	help_row("host pause HOST and thirty more", "right", &out);
	assert_string_equal(buf_str(&out), "  host pause HOST and thirty more\n"
					   "                               right\n");
	buf_reset(&out);
	help_text("a b\nc\n", &out);
	assert_string_equal(buf_str(&out), "a b\nc\n");
	buf_free(&out);
}

static struct plan *parse_starter(const struct buf *text)
{
	struct yaml_errors errs = {0};
	struct plan *p;
	struct err e;

	if (plan_parse("starter", text->data, text->len, NULL, &p, &errs, &e))
		fail_msg("%s in:\n%s", errs.list.n ? errs.list.v[0] : e.text, text->data);
	assert_int_equal(p->warnings.n, 0);
	yaml_errors_free(&errs);
	return p;
}

/* Each form is a plan of just its layouts; the others are there as comments. */
static void starters_are_right(void **state)
{
	static const char folder[] = "/home/a \"b\"/bench";
	static const struct {
		unsigned forms;
		const char *layouts, *comment;
	} cases[] = {
		{STARTER_POOL, "raidz2 mirrors ", "\n  # here: {existing: "},
		{STARTER_XFS | STARTER_EXT4, "xfs ext4 ", "\n  # raidz2:\n  #   scratch: "},
		{STARTER_XFS, "xfs ", "\n  # ext4:\n  #   scratch: "},
		{STARTER_EXT4, "ext4 ", "\n  # xfs:\n"},
		{STARTER_EXISTING, "here ", "\n# cache: cold\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct buf text = {0}, names = {0};
		struct plan *p;

		starter_write(cases[i].forms, folder, &text);
		p = parse_starter(&text);
		for (size_t j = 0; j < p->n_layouts; j++)
			buf_addf(&names, "%s ", p->layouts[j].name);
		assert_string_equal(buf_str(&names), cases[i].layouts);
		assert_has(buf_str(&text), cases[i].comment);
		assert_null(strstr(buf_str(&text), "#-"));
		assert_null(strstr(buf_str(&text), "# ["));
		if (cases[i].forms == STARTER_EXISTING)
			assert_string_equal(p->layouts[0].existing, folder);
		assert_int_equal(p->n_workloads, 2);
		assert_int_equal(p->workloads[1].stream.direct, cases[i].forms == STARTER_EXISTING);
		assert_int_equal(p->cache, cases[i].forms == STARTER_EXISTING ? CACHE_AS_IS : CACHE_COLD);
		plan_free(p);
		buf_free(&text);
		buf_free(&names);
	}
}

/* Without the signs of a comment the other forms are layouts, too. */
static void other_forms_are_right(void **state)
{
	static const char *const heads[] = {"xfs", "ext4", "here"};
	struct buf text = {0};
	struct strv sets = {0};
	struct yaml_errors errs = {0};
	struct plan *p;
	struct err e;

	(void)state;
	starter_write(STARTER_POOL, "/srv/bench", &text);
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		char *head = xasprintf("\n  # %s:", heads[i]), *at = strstr(buf_str(&text), head);

		assert_non_null(at);
		while (!strncmp(at, "\n  # ", 5)) {
			memmove(at + 3, at + 5, strlen(at + 5) + 1);
			at = strchr(at + 1, '\n');
		}
		text.len = strlen(text.data);
		free(head);
	}
	strv_add(&sets, "cache=as-is");
	assert_ok(plan_parse("starter", text.data, text.len, &sets, &p, &errs, &e), e);
	assert_int_equal(p->n_layouts, 5);
	strv_free(&sets);
	yaml_errors_free(&errs);
	plan_free(p);
	buf_free(&text);
}

static void starter_finds_a_form(void **state)
{
	unsigned forms = starter_forms_here("/nowhere/at/all");

	(void)state;
	assert_true(forms == STARTER_POOL || forms == STARTER_EXISTING ||
		(forms && !(forms & ~(unsigned)(STARTER_XFS | STARTER_EXT4))));
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

		assert_int_equal(utf8_width(cases[i].text), cases[i].width);
		assert_string_equal(buf_str(&out), cases[i].cut);
		assert_int_equal(utf8_width(buf_str(&out)), used);
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
		cmocka_unit_test(examples_are_commands),
		cmocka_unit_test(help_is_broken_at_words),
		cmocka_unit_test(starters_are_right), cmocka_unit_test(other_forms_are_right),
		cmocka_unit_test(starter_finds_a_form),
		cmocka_unit_test(escapes),
		cmocka_unit_test(widths),
		cmocka_unit_test(grids),
		cmocka_unit_test(grids_leave_columns_out),
		cmocka_unit_test(times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
