/* results: a trial's line that is read without the JSON reader gives what the JSON reader gives. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/export_line.h"
#include "tests/unit/results_kit.h"

#define RUN "{\"type\":\"run\",\"run\":1,\"name\":\"x\",\"layouts\":[\"one\"],\"workloads\":[\"load\"]}\n"

static void make_hist(struct buf *out)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_add_n(h, 100, 3);
	hist_add_n(h, 70000, 2);
	hist_encode(h, out);
	free(h);
}

/* A trial with all that a line may have without going round. */
static void line_of(const char *error, int with_evidence, struct buf *out)
{
	struct result_trial t = a_trial("knew", 1, 1, 0, 0, 12000000000);
	struct evidence_number number = {.key = (enum evidence_key)1, .value = 7};
	struct core_evidence core = {.busy_ns = 5};
	struct disk_evidence disks[2] = {{.id = "serial:A", .name = "sda", .errors_known = 1, .errors = 3},
		{.name = "sdb", .backing = "/srv/b", .cache_before = "write back"}};
	struct trial_evidence v = {.numbers = &number, .n_numbers = 1, .cores = &core, .n_cores = 1,
		.disks = disks, .n_disks = with_evidence > 1 ? 2 : 0};
	struct buf hist = {0};

	make_hist(&hist);
	t.run = 1;
	t.sum.bytes = 1u << 30;
	t.sum.ok = error == NULL;
	t.sum.error = (char *)error;
	t.sum.hist = hist.data;
	t.sum.hist_len = hist.len;
	t.sum.evidence = &v;
	t.sum.n_evidence = with_evidence != 0;
	export_trial(&t, out);
	buf_free(&hist);
}

/* What the line gives, as lines; -1: an error. */
static const char *whose = ""; /* the line, those of its trial */
static int read_as_text(const char *line, size_t len, struct buf *out, struct err *e)
{
	struct result_set set = {0};
	int rc;

	assert_int_equal(export_read_line(&set, "f", 1, RUN, strlen(RUN), e), 0);
	if (*whose)
		assert_int_equal(export_read_line(&set, "f", 2, whose, strlen(whose), e), 0);
	rc = export_read_line(&set, "f", 3, line, len, e);
	for (size_t i = 0; i < export_items(&set) && !rc; i++)
		export_item(&set, i, out);
	result_set_clear(&set);
	return rc;
}

/* A blank in front is as good for the JSON reader, and for that one alone. */
static void both_agree(const char *line, size_t len)
{
	struct buf with_blank = {0}, plain = {0}, json = {0};
	struct err e = {0}, by_json = {0};
	int rc;

	buf_addc(&with_blank, ' ');
	buf_add(&with_blank, line, len);
	rc = read_as_text(line, len, &plain, &e);
	if (rc != read_as_text(with_blank.data, with_blank.len, &json, &by_json) ||
		strcmp(buf_str(&plain), buf_str(&json)) != 0)
		fail_msg("%.*s\n is read as\n%s%s and as\n%s%s", (int)len, line, buf_str(&plain),
			rc ? e.text : "", buf_str(&json), rc ? by_json.text : "");
	buf_free(&with_blank);
	buf_free(&plain);
	buf_free(&json);
}

static int is_plain(const struct buf *line)
{
	struct result_set set = {0};
	uint64_t run = 0;
	int taken = export_read_plain_trial(&set, line->data, line->len - 1, &run);

	assert_int_equal(set.n_trials, (size_t)taken);
	assert_int_equal(run, (size_t)taken);
	result_set_clear(&set);
	return taken;
}

static void what_is_written_is_taken(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct buf line = {0};

		line_of(i & 1 ? "it was late" : NULL, i >> 1, &line);
		assert_true(is_plain(&line));
		both_agree(line.data, line.len);
		buf_free(&line);
	}
}

static void what_json_spells_otherwise_is_not(void **state)
{
	struct buf line = {0};

	(void)state;
	line_of("caf\xc3\xa9 \"closed\"", 0, &line);
	assert_false(is_plain(&line));
	both_agree(line.data, line.len);
	buf_free(&line);
}

/* Each character away, doubled, and as some others. */
static void change_each(struct buf line)
{
	static const char others[] = "0-9\"\\,:}{]e.x ";
	struct buf changed = {0};

	for (size_t i = 0; i < line.len - 1; i++) {
		for (const char *c = others; *c; c++) {
			buf_reset(&changed);
			buf_add(&changed, line.data, line.len - 1);
			changed.data[i] = *c;
			both_agree(changed.data, changed.len);
		}
		buf_reset(&changed);
		buf_add(&changed, line.data, i);
		buf_add(&changed, line.data + i + 1, line.len - 2 - i);
		both_agree(changed.data, changed.len);
		buf_reset(&changed);
		buf_add(&changed, line.data, i + 1);
		buf_add(&changed, line.data + i, line.len - 1 - i);
		both_agree(changed.data, changed.len);
	}
	buf_free(&changed);
}

static void each_change_is_read_alike(void **state)
{
	struct buf line = {0};

	(void)state;
	line_of(NULL, 1, &line);
	change_each(line);
	buf_free(&line);
}

/* Behind its trial's line, which ends before it. */
static void disks_are_read_alike(void **state)
{
	struct result_set set = {0};
	struct buf lines = {0}, disks = {0};
	uint64_t run = 0;
	char *second;

	(void)state;
	line_of(NULL, 2, &lines);
	second = strchr(lines.data, '\n') + 1;
	buf_adds(&disks, second);
	second[-1] = '\0';
	whose = lines.data;
	assert_true(export_read_plain_trial(&set, whose, strlen(whose), &run));
	assert_true(export_read_plain_disks(&set, disks.data, disks.len - 1, &run));
	assert_int_equal(set.trials[0].sum.evidence->n_disks, 2);
	assert_int_equal(set.trials[0].sum.evidence->disks[0].errors, 3);
	assert_false(set.trials[0].sum.evidence->disks[1].errors_known);
	result_set_clear(&set);
	both_agree(disks.data, disks.len);
	change_each(disks);
	whose = "";
	buf_free(&lines);
	buf_free(&disks);
}

/* Numbers at the ends of what fields take. */
static void each_number_is_read_alike(void **state)
{
	static const char *const numbers[] = {"9223372036854775807", "9223372036854775808", "4294967295",
		"4294967296", "20000", "20001", "1000000", "1000001", "-1", "00", "1.0", "1e3",
		"\"9223372036854775808\"", "\"5\"", "null", "true", "\"\"", "{}", "[]",
		"999999999999999999", "1000000000000000000"};
	struct buf line = {0}, changed = {0};

	(void)state;
	line_of(NULL, 1, &line);
	for (const char *p = strchr(line.data, ':'); p; p = strchr(p + 1, ':')) {
		size_t before = (size_t)(p + 1 - line.data), was = strcspn(p + 1, ",}");

		for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
			buf_reset(&changed);
			buf_add(&changed, line.data, before);
			buf_adds(&changed, numbers[i]);
			buf_add(&changed, p + 1 + was, line.len - 1 - before - was);
			both_agree(changed.data, changed.len);
		}
	}
	buf_free(&line);
	buf_free(&changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_taken),
		cmocka_unit_test(what_json_spells_otherwise_is_not),
		cmocka_unit_test(each_change_is_read_alike),
		cmocka_unit_test(each_number_is_read_alike),
		cmocka_unit_test(disks_are_read_alike),
	};

	return cmocka_run_group_tests_name("export_plain", tests, NULL, NULL);
}
