/* What a trial tells beside its counters: its limits, its bytes, its export lines. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "proto/msg.h"

static void fill(struct trial_detail *d)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct trial_part *p;

	hist_add_n(h, 1000, 3);
	p = detail_part(d, "flowop", "append1", h);
	p->ops = 3;
	p->bytes = 4096;
	p->errors = 1;
	p->elapsed_ns = 77;
	detail_fact(d, "latency_rw_mean", 1234.5, "ns");
	detail_fact(d, "left-out", NAN, "ns");
	detail_note(d, "settings", "fsync = on\nport = 0\n");
	free(h);
}

static void assert_same(const struct trial_detail *a, const struct trial_detail *b)
{
	assert_int_equal(a->n_parts, b->n_parts);
	assert_int_equal(a->n_facts, b->n_facts);
	assert_int_equal(a->n_notes, b->n_notes);
	assert_string_equal(a->parts[0].name, b->parts[0].name);
	assert_string_equal(a->parts[0].kind, b->parts[0].kind);
	assert_int_equal(a->parts[0].ops, b->parts[0].ops);
	assert_int_equal(a->parts[0].bytes, b->parts[0].bytes);
	assert_int_equal(a->parts[0].errors, b->parts[0].errors);
	assert_int_equal(a->parts[0].elapsed_ns, b->parts[0].elapsed_ns);
	assert_int_equal(a->parts[0].hist_len, b->parts[0].hist_len);
	assert_memory_equal(a->parts[0].hist, b->parts[0].hist, a->parts[0].hist_len);
	assert_string_equal(a->facts[0].name, b->facts[0].name);
	assert_string_equal(a->facts[0].unit, b->facts[0].unit);
	assert_true(a->facts[0].value == b->facts[0].value);
	assert_string_equal(a->notes[0].name, b->notes[0].name);
	assert_string_equal(a->notes[0].text, b->notes[0].text);
}

static void detail_comes_back_from_its_bytes(void **state)
{
	struct trial_detail d = {0}, again;
	struct buf bytes = {0};
	struct err e;

	(void)state;
	fill(&d);
	assert_int_equal(d.n_facts, 1);
	detail_encode(&d, &bytes);
	assert_ok(detail_decode(bytes.data, bytes.len, &again, &e), e);
	assert_same(&d, &again);
	assert_int_equal(detail_decode("\xff\xff", 2, &again, &e), -1);
	detail_clear(&again);
	detail_clear(&d);
	buf_free(&bytes);
}

static void detail_comes_back_from_an_export(void **state)
{
	struct result_trial t = {.run = 3,
		.host = (char *)"knew",
		.attempt = 1,
		.block = 1,
		.layout_name = (char *)"a",
		.workload_name = (char *)"w",
		.op = (char *)"write",
		.cache = (char *)"cold"};
	struct result_run r = {.id = 3, .name = (char *)"x"};
	struct result_set s = {0};
	struct buf lines = {0};
	struct err e;
	size_t no = 0;

	(void)state;
	t.sum.trial = 1;
	t.sum.ok = 1;
	fill(&t.sum.detail);
	export_run(&r, &lines);
	export_trial(&t, &lines);
	for (char *at = lines.data, *end; *at; at = end + 1) {
		end = strchr(at, '\n');
		assert_ok(export_read_line(&s, "x", ++no, at, (size_t)(end - at), &e), e);
	}
	assert_ok(export_read_end(&s, &e), e);
	assert_int_equal(s.n_trials, 1);
	assert_same(&t.sum.detail, &s.trials[0].sum.detail);
	result_set_clear(&s);
	detail_clear(&t.sum.detail);
	buf_free(&lines);
}

static void a_line_without_its_trial_is_refused(void **state)
{
	static const char line[] =
		"{\"type\":\"fact\",\"run\":1,\"host\":\"a\",\"attempt\":1,\"trial\":1,\"name\":\"x\","
		"\"value\":1}";
	struct result_set s = {0};
	struct err e;

	(void)state;
	assert_int_equal(export_read_line(&s, "f", 1, line, strlen(line), &e), -1);
	assert_has(e.text,
		"f:1: fact: no trial of run 1, host 'a', attempt 1, trial 1 stands before this line");
	result_set_clear(&s);
}

/* Histograms go before texts, parts keep their counts. */
static void too_much_is_made_to_fit(void **state)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct trial_detail d = {0};
	struct buf bytes = {0};

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		hist_add(h, i * i);
	for (unsigned i = 0; i < DETAIL_MAX_PARTS + 5; i++)
		detail_part(&d, "flowop", "op", h)->ops = 1;
	assert_int_equal(d.n_parts, DETAIL_MAX_PARTS);
	for (unsigned i = 0; i < DETAIL_MAX_NOTES + 5; i++) {
		char *text = xmalloc(DETAIL_NOTE_MAX + 100);

		memset(text, 'x', DETAIL_NOTE_MAX + 99);
		text[DETAIL_NOTE_MAX + 99] = '\0';
		detail_note(&d, "n", text);
		free(text);
	}
	assert_int_equal(d.n_notes, DETAIL_MAX_NOTES);
	assert_int_equal(strlen(d.notes[0].text), DETAIL_NOTE_MAX);
	detail_fit(&d);
	detail_encode(&d, &bytes);
	assert_true(bytes.len <= DETAIL_BYTES_MAX);
	assert_int_equal(d.n_parts, DETAIL_MAX_PARTS);
	detail_clear(&d);
	buf_free(&bytes);
	free(h);
}

/* Rows past the limits change none of those before, and are counted. */
static void what_finds_no_room_is_counted(void **state)
{
	struct trial_detail d = {0}, again;
	struct buf bytes = {0};
	struct trial_part *p;
	struct hist *h = xcalloc(1, sizeof(*h));
	struct err e;

	(void)state;
	hist_add(h, 5);
	for (unsigned i = 0; i < DETAIL_MAX_PARTS + 3; i++) {
		p = detail_part(&d, "flowop", "op", i < DETAIL_MAX_PARTS ? NULL : h);
		p->ops += i;
		if (!p->hist) /* as who adds up members does */
			p->hist = xstrdup("x");
	}
	for (unsigned i = 0; i < DETAIL_MAX_FACTS + 4; i++)
		detail_fact(&d, "f", i, "");
	for (unsigned i = 0; i < DETAIL_MAX_NOTES + 6; i++)
		detail_note(&d, "n", "text");
	assert_int_equal(d.n_parts, DETAIL_MAX_PARTS);
	assert_int_equal(d.parts[DETAIL_MAX_PARTS - 1].ops, DETAIL_MAX_PARTS - 1);
	assert_int_equal(d.n_facts, DETAIL_MAX_FACTS - 1);
	assert_int_equal(d.dropped, 3 + 5 + 6);
	detail_fit(&d);
	assert_int_equal(d.n_facts, DETAIL_MAX_FACTS);
	detail_encode(&d, &bytes);
	assert_ok(detail_decode(bytes.data, bytes.len, &again, &e), e);
	assert_int_equal(again.n_parts, DETAIL_MAX_PARTS);
	assert_int_equal(again.n_notes, DETAIL_MAX_NOTES);
	assert_true(detail_find_fact(&again, "detail_dropped")->value == 14);
	detail_clear(&again);
	detail_clear(&d);
	buf_free(&bytes);
	free(h);
}

/* With names as long as they may be, rows alone are too much. */
static void rows_go_where_they_alone_are_too_much(void **state)
{
	char name[DETAIL_NAME_MAX + 1];
	struct trial_detail d = {0}, again;
	struct buf bytes = {0};
	struct err e;

	(void)state;
	memset(name, 'n', DETAIL_NAME_MAX);
	name[DETAIL_NAME_MAX] = '\0';
	for (unsigned i = 0; i < DETAIL_MAX_PARTS; i++)
		detail_part(&d, name, name, NULL)->ops = 1;
	for (unsigned i = 0; i < DETAIL_MAX_FACTS - 1; i++)
		detail_fact(&d, name, i, name);
	detail_fit(&d);
	detail_encode(&d, &bytes);
	assert_true(bytes.len <= DETAIL_BYTES_MAX);
	assert_ok(detail_decode(bytes.data, bytes.len, &again, &e), e);
	assert_true(again.n_parts > 700);
	assert_true(detail_find_fact(&again, "detail_dropped")->value ==
		    (double)(DETAIL_MAX_PARTS - again.n_parts + DETAIL_MAX_FACTS - 1 - (again.n_facts - 1)));
	detail_clear(&again);
	detail_clear(&d);
	buf_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(detail_comes_back_from_its_bytes),
		cmocka_unit_test(detail_comes_back_from_an_export),
		cmocka_unit_test(a_line_without_its_trial_is_refused),
		cmocka_unit_test(too_much_is_made_to_fit),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(rows_go_where_they_alone_are_too_much),
	};

	return cmocka_run_group_tests_name("detail", tests, NULL, NULL);
}
