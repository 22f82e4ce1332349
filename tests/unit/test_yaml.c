/* yaml: what a tree looks like, every limit, every refused feature with its place, --set paths. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/yaml.h"

/* The tree on one line: maps {k:v}, lists [a], quoted scalars in '', plain ones bare. */
static void show(const struct yaml_node *n, struct buf *out)
{
	if (n->kind == YAML_SCALAR) {
		buf_addf(out, n->quoted ? "'%s'" : "%s", n->scalar);
		return;
	}
	buf_addc(out, n->kind == YAML_MAP ? '{' : '[');
	for (size_t i = 0; i < n->n; i++) {
		if (i)
			buf_addc(out, ' ');
		if (n->kind == YAML_MAP)
			buf_addf(out, "%s:", n->items[i]->key);
		show(n->items[i], out);
	}
	buf_addc(out, n->kind == YAML_MAP ? '}' : ']');
}

static struct yaml_node *parse(const char *text)
{
	struct yaml_node *n;
	struct err e;

	assert_ok(yaml_parse("f", text, strlen(text), &n, &e), e);
	return n;
}

static void assert_shows(const struct yaml_node *n, const char *want)
{
	struct buf out = {0};

	show(n, &out);
	assert_string_equal(out.data, want);
	buf_free(&out);
}

static void trees(void **state)
{
	static const struct {
		const char *text, *tree;
	} cases[] = {
		{"a: 1\nb: [x, 'y', \"z\"]\nc:\n  d: e\n", "{a:1 b:[x 'y' 'z'] c:{d:e}}"},
		{"- a\n- {b: 2%}\n- |\n  text\n", "[a {b:2%} 'text\n']"},
		{"hosts: [tag:pool-node]", "{hosts:[tag:pool-node]}"},
		{"a:\nb: ~\nc: null\nd: ''", "{a: b:~ c:null d:''}"},
		{"plain", "plain"},
		{"", ""},
		{"# only a comment\n", ""},
		{"---\n", ""},
		{"---\na: 1\n...\n", "{a:1}"},
		{"\xef\xbb\xbf"
		 "a: 1",
			"{a:1}"},
		{"? a\n: 1\n", "{a:1}"},
		{"a: !!str 12", "{a:'12'}"},
		{"a: !!int 12", "{a:12}"},
		{"a: ! 12", "{a:'12'}"},
		{"!!map {a: !!seq [b]}", "{a:[b]}"},
		{"<<: {a: 1}\nb: 2", "{<<:{a:1} b:2}"},
		{"a: 'it''s: # fine'", "{a:'it's: # fine'}"},
		{"{a: 1, b}", "{a:1 b:}"},
		{"12: x", "{12:x}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml_node *n = parse(cases[i].text);

		assert_shows(n, cases[i].tree);
		yaml_node_free(n);
	}
}

static void refusals_say_where(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"a: &x 1", "f:1:4: anchors (&x) are not allowed"},
		{"a: 1\nb: *x", "f:2:4: aliases (*x) are not allowed"},
		{"a: &x [*x]", "f:1:4: anchors"},
		{"? &k a\n: 1", "f:1:3: anchors"},
		{"a: !!binary eA==", "f:1:4: tag tag:yaml.org,2002:binary is not allowed"},
		{"a: !mine x", "f:1:4: tag !mine"},
		{"a: !!map x", "f:1:4: tag"},
		{"a: !!str [x]", "f:1:4: tag"},
		{"a: 1\n  \nb: 2\na: 3", "f:4:1: key 'a' is there twice, first in line 1"},
		{"x: {a: 1, 'a': 2}", "f:1:11: key 'a' is there twice"},
		{"c: 1\nb: 1\nb: 2\nc: 2\na: 1\na: 2",
			"f:3:1: key 'b' is there twice, first in line 2"},
		{"a: 1\n---\nb: 2", "f:2:1: a second document"},
		{"[a]: 1", "f:1:1: a key must be a text"},
		{"? {a: 1}\n: 2", "f:1:3: a key must be a text"},
		{": 1", "f:1:1: not valid YAML: did not find expected key"},
		{"{: 1}", "f:1:2: not valid YAML"},
		{"~: 1", "f:1:1: a key is missing"},
		{"a: \"x\\0y\"", "f:1:4: a text may not contain \\0"},
		{"a: [1, 2", "f:2:1: not valid YAML"},
		{"a: 1\n\tb: 2", "f:2:1: not valid YAML"},
		{"a: b: c", "f:1:5: not valid YAML"},
		{"a: 1\nb: \xff", "f:2:4: not valid YAML"},
		{"a: \x01", "f:1:4: not valid YAML"},
		{"a: @x", "f:1:4: not valid YAML"},
		{"%YAML 3.0\n---\na", "not valid YAML"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml_node *n = NULL;
		struct err e;

		if (yaml_parse("f", cases[i].text, strlen(cases[i].text), &n, &e) != -1)
			fail_msg("taken: %s", cases[i].text);
		assert_int_equal(e.code, ERR_INPUT);
		assert_has(e.text, cases[i].says);
		assert_null(n);
	}
}

static int parse_len(const char *text, size_t len, struct err *e)
{
	struct yaml_node *n = NULL;
	int status = yaml_parse("f", text, len, &n, e);

	yaml_node_free(n);
	return status;
}

static void nul_bytes(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(parse_len("a: x\0y", 6, &e), -1);
	assert_has(e.text, "f:1:5: not valid YAML");
	assert_int_equal(parse_len(NULL, 0, &e), 0);
}

static void places(void **state)
{
	struct yaml_node *n = parse("# c\nlayouts:\n  hba8:\n    - 'x'\n    - {k: [v]}\n");
	const struct yaml_node *list = yaml_get(yaml_get(n, "layouts"), "hba8"), *v;

	(void)state;
	assert_int_equal(list->key_line, 3);
	assert_int_equal(list->key_column, 3);
	assert_int_equal(list->line, 4);
	assert_int_equal(list->column, 5);
	assert_int_equal(list->items[0]->line, 4);
	assert_int_equal(list->items[0]->column, 7);
	v = yaml_get(list->items[1], "k");
	assert_int_equal(v->key_column, 8);
	assert_int_equal(v->items[0]->column, 12);
	assert_null(v->items[0]->key);
	yaml_node_free(n);
}

static char *repeat(const char *part, size_t times)
{
	struct buf b = {0};

	for (size_t i = 0; i < times; i++)
		buf_adds(&b, part);
	return buf_take(&b);
}

static void depth_is_limited(void **state)
{
	static const struct {
		const char *open, *close;
	} shapes[] = {{"[", "]"}, {"{a: ", "}"}, {"- ", ""}, {"? ", ""}, {"[{a: ", "}]"}};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		size_t levels = i == 4 ? 16 : 32;
		char *open = repeat(shapes[i].open, levels),
		     *close = repeat(shapes[i].close, levels);
		char *fits = xasprintf("%sx%s", open, close);
		char *deeper = xasprintf("%s%sx%s%s", shapes[i].open, open, close, shapes[i].close);

		if (i != 3) /* there a map would have to be a key */
			assert_ok(parse_len(fits, strlen(fits), &e), e);
		assert_int_equal(parse_len(deeper, strlen(deeper), &e), -1);
		assert_has(e.text, i == 3 ? "a key must be a text" : "more than 32 levels");
		free(open);
		free(close);
		free(fits);
		free(deeper);
	}
}

/* Texts that are small and make a careless reader work for minutes or take gigabytes. */
static void hostile_texts_are_refused_at_once(void **state)
{
	static const struct {
		const char *part;
		size_t times;
		const char *says;
	} cases[] = {
		{"[", 400 * 1024, "f:1:1: too large: 409600 bytes, the limit is 262144"},
		{"[", YAML_MAX_BYTES, "f:1:33: nested more than 32"},
		{"{", YAML_MAX_BYTES, "f:1:2: a key must be a text"},
		{"- ", YAML_MAX_BYTES / 2, "f:1:65: nested"},
		{"? ", YAML_MAX_BYTES / 2, "a key must be a text"},
		{"[[[[[[],", YAML_MAX_BYTES / 8, "nested"},
		{"a: &a [*a, *a]\n", 15000, "anchors"},
		{"- x\n", 60000, "f:20000:3: more than 20000 keys and values"},
		{"- \n", 60000, "more than 20000"},
		{"'", YAML_MAX_BYTES - 1, NULL},
		{"a\n", YAML_MAX_BYTES / 2, NULL},
		{"x", YAML_MAX_BYTES, NULL},
		{"x", YAML_MAX_BYTES + 1, "too large"},
		{"\"\\x", YAML_MAX_BYTES / 3, "not valid YAML"},
		{"!", YAML_MAX_BYTES, "tag tag:yaml.org,2002:!!!"},
		{"&", YAML_MAX_BYTES, "not valid YAML"},
		{"%", YAML_MAX_BYTES, "not valid YAML"},
		{"#\n", YAML_MAX_BYTES / 2, NULL},
		{"\n", YAML_MAX_BYTES, NULL},
		{"---\n", YAML_MAX_BYTES / 4, "second document"},
		{"a:\n ", 3000, "twice"},
	};
	int64_t started = clock_mono_ns();
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = repeat(cases[i].part, cases[i].times);
		int status = parse_len(text, strlen(text), &e);

		free(text);
		if (!cases[i].says)
			continue;
		if (status == 0)
			fail_msg("case %zu is taken", i);
		assert_has(e.text, cases[i].says);
	}
	/* A generous bound, for slow machines under sanitizers: the careless way takes minutes. */
	assert_true(clock_mono_ns() - started < 30 * NS_PER_S);
}

static void nodes_are_counted_with_their_keys(void **state)
{
	struct buf b = {0};
	struct err e;

	(void)state;
	for (int i = 0; i < 9999; i++)
		buf_addf(&b, "k%d: v\n", i);
	assert_ok(parse_len(b.data, b.len, &e), e);
	buf_adds(&b, "last: v\n");
	assert_int_equal(parse_len(b.data, b.len, &e), -1);
	assert_has(e.text, "f:10000:7: more than 20000");
	buf_free(&b);
}

static void nulls_and_booleans(void **state)
{
	static const struct {
		const char *text;
		int null, boolean; /* -1: is none */
	} cases[] = {
		{"", 1, -1},
		{"~", 1, -1},
		{"null", 1, -1},
		{"''", 0, -1},
		{"'null'", 0, -1},
		{"\"true\"", 0, -1},
		{"true", 0, 1},
		{"yes", 0, 1},
		{"on", 0, 1},
		{"false", 0, 0},
		{"no", 0, 0},
		{"off", 0, 0},
		{"1", 0, -1},
		{"[]", 0, -1},
		{"{}", 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml_node *n = parse(cases[i].text);
		int value = -1;

		assert_int_equal(yaml_is_null(n), cases[i].null);
		assert_int_equal(yaml_bool(n, &value), cases[i].boolean < 0 ? -1 : 0);
		assert_int_equal(value, cases[i].boolean);
		yaml_node_free(n);
	}
	assert_true(yaml_is_null(NULL));
	assert_null(yaml_get(NULL, "a"));
}

static void setting_paths(void **state)
{
	static const struct {
		const char *before, *path, *value, *after; /* after NULL: an error with `says` */
		const char *says;
	} cases[] = {
		{"trials: 10", "trials", "3", "{trials:3}", NULL},
		{"trials: 10", "trials", "{min: 5, until: 2%}", "{trials:{min:5 until:2%}}", NULL},
		{"trials: {min: 5}", "trials", "4", "{trials:4}", NULL},
		{"a: {b: {c: 1, d: 2}}", "a.b.c", "30G", "{a:{b:{c:30G d:2}}}", NULL},
		{"a: 1", "x.y.z", "[p, 'q']", "{a:1 x:{y:{z:[p 'q']}}}", NULL},
		{"a:\nb: 1", "a.c", "2", "{a:{c:2} b:1}", NULL},
		{"", "a.b", "1", "{a:{b:1}}", NULL},
		{"a: 1", "a", "", "{a:}", NULL},
		{"a: 1", "a", "tag:x", "{a:tag:x}", NULL},
		{"a: 1", "a", "x # y", "{a:x}", NULL},
		{"a: 1", "a+b_c-d", "x", "{a:1 a+b_c-d:x}", NULL},
		{"a: 1", "a.b", "1", NULL, "a.b: 'a' is a single value, not a map"},
		{"a: {b: [1]}", "a.b.c.d", "1", NULL, "a.b.c.d: 'a.b' is a list, not a map"},
		{"[1]", "a", "1", NULL, "a: the file is a list, not a map"},
		{"a: 1", "", "1", NULL, "'' is not a path"},
		{"a: 1", "a..b", "1", NULL, "'a..b' is not a path"},
		{"a: 1", ".a", "1", NULL, "not a path"},
		{"a: 1", "a.", "1", NULL, "not a path"},
		{"a: 1", "b", "1, 2", NULL, "b: '1, 2' is not one value"},
		{"a: 1", "b", "c: 2", NULL, "not one value"},
		{"a: 1", "b", "[1", NULL, "b: cannot take the value '[1': not valid YAML"},
		{"a: 1", "b", "1] #", NULL, "b: cannot take the value"},
		{"a: 1", "b", "*x", NULL, "aliases"},
		{"a: 1", "b", "{c: 1, c: 2}", NULL, "twice"},
		{"a: 1", "b", "- c", NULL, "not valid YAML"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml_node *n = parse(cases[i].before), *same = parse(cases[i].before);
		struct buf unchanged = {0};
		struct err e;
		int status = yaml_set_path(n, cases[i].path, cases[i].value, &e);

		if (cases[i].after) {
			assert_ok(status, e);
			assert_shows(n, cases[i].after);
		} else {
			assert_int_equal(status, -1);
			assert_has(e.text, cases[i].says);
			show(same, &unchanged);
			assert_shows(n, unchanged.data);
		}
		buf_free(&unchanged);
		yaml_node_free(n);
		yaml_node_free(same);
	}
}

static void set_values_have_no_place_and_a_depth(void **state)
{
	struct yaml_node *n = parse("a: 1"), *set;
	char *maps = repeat("a.", 31), *deep = repeat("[", 31), *path = xasprintf("x%sy", maps + 1);
	struct err e;

	(void)state;
	assert_ok(yaml_set_path(n, "b.c", "{d: [e]}", &e), e);
	set = yaml_get(yaml_get(n, "b"), "c");
	assert_int_equal(set->line, 0);
	assert_int_equal(yaml_get(set, "d")->key_line, 0);
	assert_int_equal(yaml_get(set, "d")->items[0]->column, 0);
	assert_ok(yaml_set_path(n, path, "1", &e), e);
	assert_int_equal(yaml_set_path(n, path, "[1]", &e), -1);
	assert_has(e.text, "more than 32 levels");
	assert_int_equal(yaml_set_path(n, "q", deep, &e), -1);
	free(maps);
	free(path);
	free(deep);
	yaml_node_free(n);
}

static void errors_are_sorted_and_capped(void **state)
{
	struct yaml_node *n = parse("a: 1\nb: [2, 3]\nc: 4\n");
	struct yaml_errors errs = {.file = "plan.yaml", .max = 5};
	const struct yaml_node *b = yaml_get(n, "b");

	(void)state;
	yaml_error(&errs, yaml_get(n, "c"), "c", "%d is wrong", 4);
	yaml_error(&errs, b->items[1], "b[1]", "three");
	yaml_error(&errs, b->items[0], NULL, "two\nlines");
	yaml_error_key(&errs, yaml_get(n, "c"), "c", "key");
	yaml_error(&errs, NULL, "hosts", "missing");
	yaml_error(&errs, b, "b", "too much");
	assert_int_equal(errs.list.n, 6);
	assert_string_equal(errs.list.v[0], "plan.yaml: hosts: missing");
	assert_string_equal(errs.list.v[1], "plan.yaml:2:5: two\\x0alines");
	assert_string_equal(errs.list.v[2], "plan.yaml:2:8: b[1]: three");
	assert_string_equal(errs.list.v[3], "plan.yaml:3:1: c: key");
	assert_string_equal(errs.list.v[4], "plan.yaml:3:4: c: 4 is wrong");
	assert_string_equal(errs.list.v[5], "plan.yaml: 1 more error");
	yaml_error(&errs, b, "b", "too much");
	assert_int_equal(errs.list.n, 6);
	assert_string_equal(errs.list.v[5], "plan.yaml: 2 more errors");
	yaml_errors_free(&errs);
	assert_int_equal(errs.list.n, 0);
	yaml_node_free(n);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(refusals_say_where),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(places),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(hostile_texts_are_refused_at_once),
		cmocka_unit_test(nodes_are_counted_with_their_keys),
		cmocka_unit_test(nulls_and_booleans),
		cmocka_unit_test(setting_paths),
		cmocka_unit_test(set_values_have_no_place_and_a_depth),
		cmocka_unit_test(errors_are_sorted_and_capped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
