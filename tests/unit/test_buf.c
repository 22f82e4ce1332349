/* buf and strv: growth, terminators, quoting that a shell reads back, suggestions. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

static void buffers_grow_and_end_in_nul(void **state)
{
	struct buf b = {0};
	char *taken;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 5000; i++) {
		buf_addc(&b, (char)('a' + i % 26));
		assert_int_equal(b.data[b.len], '\0');
	}
	assert_int_equal(b.len, 5000);
	buf_reset(&b);
	assert_string_equal(buf_str(&b), "");
	buf_addf(&b, "%0300d|%s", 7, "x");
	assert_int_equal(b.len, 302);
	assert_string_equal(b.data + 299, "7|x");
	buf_add(&b, "\0z", 2);
	assert_int_equal(b.len, 304);
	taken = buf_take(&b);
	assert_memory_equal(taken + 302, "\0z", 3);
	assert_null(b.data);
	free(taken);
	taken = buf_take(&b);
	assert_string_equal(taken, "");
	free(taken);
	buf_free(&b);
}

static void lists_end_in_null(void **state)
{
	static const char *const more[] = {"c", "d", NULL};
	struct strv s = {0}, copy;

	(void)state;
	for (int i = 0; i < 40; i++) {
		strv_addf(&s, "item%d", i);
		assert_null(s.v[s.n]);
	}
	strv_add(&s, "b");
	strv_add_all(&s, more);
	assert_int_equal(s.n, 43);
	assert_true(strv_has(&s, "d"));
	assert_false(strv_has(&s, "item4x"));
	strv_copy(&copy, &s);
	strv_free(&s);
	assert_null(s.v);
	assert_string_equal(copy.v[39], "item39");
	assert_null(copy.v[43]);
	strv_free(&copy);
}

static void quoting(void **state)
{
	static const struct {
		const char *words[4], *out;
	} cases[] = {
		{{"zpool", "create", "-o", "ashift=12"}, "zpool create -o ashift=12"},
		{{"a=b", "a=b", NULL}, "'a=b' a=b"},
		{{"x", "", NULL}, "x ''"},
		{{"x", "two words", NULL}, "x 'two words'"},
		{{"x", "it's", NULL}, "x 'it'\\''s'"},
		{{"x", "$(rm)", NULL}, "x '$(rm)'"},
		{{"x", "~", "*"}, "x '~' '*'"},
		{{"x", "line\nbreak\\", NULL}, "x $'line\\012break\\\\'"},
		{{"x", "raw\xff'", NULL}, "x $'raw\\377\\''"},
		{{"x", "Zürich", NULL}, "x 'Zürich'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct strv s = {0};
		struct buf out = {0};

		for (size_t k = 0; k < 4 && cases[i].words[k]; k++)
			strv_add(&s, cases[i].words[k]);
		strv_quote(&s, &out);
		assert_string_equal(out.data, cases[i].out);
		buf_free(&out);
		strv_free(&s);
	}
}

/* Every byte but NUL, each between letters, must come back from a real shell unchanged. */
static void a_shell_reads_the_same_words(void **state)
{
	struct strv words = {0}, argv = {0};
	struct buf script = {0}, want = {0}, got = {0};
	struct err e;

	(void)state;
	strv_add(&words, "printf");
	strv_add(&words, "%s|");
	buf_adds(&want, "");
	for (int c = 1; c < 256; c++) {
		strv_addf(&words, "a%cb1", c);
		buf_addf(&want, "a%cb1|", c);
	}
	strv_quote(&words, &script);
	assert_null(strchr(script.data, '\n'));
	strv_add(&argv, "/bin/bash");
	strv_add(&argv, "-c");
	strv_add(&argv, script.data);
	assert_ok(proc_run_ok(&argv, 20000, &got, &e), e);
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.data, want.data, want.len);
	buf_free(&script);
	buf_free(&want);
	buf_free(&got);
	strv_free(&words);
	strv_free(&argv);
}

static void suggestions(void **state)
{
	static const char *const words[] = {
		"raidz1", "raidz2", "raidz3", "mirror", "stripe", "trials", "off", NULL};
	static const struct {
		const char *word, *nearest;
	} cases[] = {
		{"miror", "mirror"},
		{"mirrro", "mirror"},
		{"Stripe", "stripe"},
		{"trails", "trials"},
		{"tirlas", "trials"},
		{"raidz4", "raidz1"},
		{"layouts", NULL},
		{"of", NULL}, /* 1 of 2 letters is no near miss */
		{"offf", "off"},
		{"", NULL},
	};
	char huge[500];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = str_nearest(cases[i].word, words);

		if (!str_equal(got, cases[i].nearest))
			fail_msg("'%s' suggests '%s'", cases[i].word, got ? got : "nothing");
	}
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_null(str_nearest(huge, words));
}

static void small_questions(void **state)
{
	(void)state;
	assert_true(str_equal(NULL, NULL) && str_equal("a", "a"));
	assert_false(str_equal(NULL, "") || str_equal("a", "b"));
	assert_true(str_starts("tag:x", "tag:") && str_starts("x", ""));
	assert_false(str_starts("ta", "tag:"));
	assert_true(str_ends("plan.yaml", ".yaml") && str_ends("", ""));
	assert_false(str_ends("yaml", ".yaml"));
}

static void memory(void **state)
{
	char *s = xstrndup("abcdef", 3), *f = xasprintf("%d-%s", 7, s);
	size_t cap = 0;
	int *grown = NULL;

	(void)state;
	assert_string_equal(s, "abc");
	assert_string_equal(f, "7-abc");
	assert_null(xstrdup(NULL));
	for (int i = 0; i < 1000; i++) {
		grown = xgrow(grown, (size_t)i, &cap, sizeof(*grown));
		assert_true(cap > (size_t)i);
		grown[i] = i;
	}
	assert_int_equal(grown[999], 999);
	assert_int_equal(cap, 1024);
	free(grown);
	free(s);
	free(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_grow_and_end_in_nul),
		cmocka_unit_test(lists_end_in_null),
		cmocka_unit_test(quoting),
		cmocka_unit_test(a_shell_reads_the_same_words),
		cmocka_unit_test(suggestions),
		cmocka_unit_test(small_questions),
		cmocka_unit_test(memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
