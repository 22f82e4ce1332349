/*
 * Evidence in the store: a trial's disks and numbers, each disk over time, executed commands; and
 * series that the first version of the store wrote.
 */
#include "tests/unit/test.h"

#include "common/base/varint.h"
#include "coordinator/results/export.h"
#include "coordinator/store/series.h"
#include "tests/unit/store_kit.h"

static int setup(void **state)
{
	struct kit *k = xcalloc(1, sizeof(*k));

	kit_new(k, "/tmp");
	*state = k;
	return 0;
}

static int teardown(void **state)
{
	kit_free(*state);
	free(*state);
	return 0;
}

static void append(
	struct kit *k, const struct job_key *key, uint64_t first, const struct record *v, size_t n)
{
	struct kit_answer a = kit_append(k, "knew", key, first, v, n);

	if (a.failed || a.append.what != APPEND_ACK)
		fail_msg("record %llu: %s%s", (unsigned long long)first, a.err.text, a.append.text);
}

static void read_as(struct kit *k, enum store_query how, const char *target, struct result_set *set)
{
	struct kit_text t = kit_query(k, how, target);
	struct err e;
	size_t no = 1;

	assert_false(t.failed);
	for (const char *p = buf_str(&t.text); *p; no++) {
		const char *end = strchr(p, '\n');

		assert_ok(export_read_line(set, "export", no, p, (size_t)(end - p), &e), e);
		p = end + 1;
	}
	assert_ok(export_read_end(set, &e), e);
	buf_free(&t.text);
}

static void read_set(struct kit *k, struct result_set *set)
{
	read_as(k, QUERY_EXPORT, "last", set);
}

#define SAMPLES 2500

/* Interval i: disk d reads 512 * (i + d) bytes and is busy for d ms; the core i % 1000 permille. */
static struct record usage_sample(int i, size_t disks, struct buf *bytes)
{
	struct disk_counters *d = xcalloc(disks, sizeof(*d));
	struct host_usage h = {.busiest_core_permille = (uint64_t)i % 1000, .arc_hits = 1,
		.dirty_bytes = 1024ull * (uint64_t)i};
	struct record r = rec_sample(1, i);

	for (size_t k = 0; k < disks; k++) {
		d[k].read_bytes = 512 * ((uint64_t)i + k);
		d[k].busy_ns = 1000000 * k;
	}
	usage_encode(&h, d, disks, bytes);
	free(d);
	r.u.sample.usage = bytes->data;
	r.u.sample.usage_len = bytes->len;
	return r;
}

static void append_samples(struct kit *k, const struct job_key *key, size_t disks)
{
	for (int i = 0; i < SAMPLES; i += 50) {
		struct record v[50];
		struct buf bytes[50] = {0};

		for (int n = 0; n < 50; n++)
			v[n] = usage_sample(i + n, disks, &bytes[n]);
		append(k, key, (uint64_t)i + 3, v, 50);
		for (int n = 0; n < 50; n++)
			buf_free(&bytes[n]);
	}
}

static void check_spans(const struct result_series *s, size_t disks)
{
	uint64_t read = 0, busy = 0;

	assert_int_equal(s->n_disks, disks);
	assert_true(s->n_spans > 0 && s->n_spans * disks <= RESULT_DISK_CELLS_MAX);
	for (size_t i = 0; i < s->n_spans; i++) {
		assert_int_equal(s->spans[i].start_ns, i ? s->spans[i - 1].end_ns : 0);
		read += s->use[i * disks + 1].read_bytes;
		busy += s->use[i * disks + disks - 1].busy_ns;
	}
	assert_int_equal(s->spans[s->n_spans - 1].end_ns, SAMPLES * 1000000000ll);
	assert_int_equal(read, 512ull * SAMPLES * (SAMPLES - 1) / 2 + 512ull * SAMPLES);
	assert_int_equal(busy, 1000000ull * (disks - 1) * SAMPLES);
}

static void spans_of(struct kit *k, size_t disks)
{
	struct job_key key = kit_job(k);
	struct record head[] = {rec_start(), rec_trial_start(1, 1, 0, 0)};
	struct record end = rec_trial_end(1, 1, 0, 0, SAMPLES);
	struct result_set set = {0};

	append(k, &key, 1, head, 2);
	append_samples(k, &key, disks);
	append(k, &key, SAMPLES + 3, &end, 1);
	for (int again = 0; again < 2; again++) {
		read_set(k, &set);
		assert_int_equal(set.n_series, 1);
		check_spans(&set.series[0], disks);
		assert_int_equal(set.series[0].points[0].host.busiest_core_permille, 2);
		assert_int_equal(set.series[0].points[0].host.dirty_bytes, 2048);
		assert_int_equal(set.series[0].points[0].host.arc_hits, 3);
		result_set_clear(&set);
		kit_close(k); /* from the store the second time */
		kit_open(k);
	}
}

/* The last interval of a millisecond: what it did is part of the span before. */
static void a_short_last_interval_is_part_of_the_span_before(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_trial_start(1, 1, 0, 0), {0}, {0}, {0},
		rec_trial_end(1, 1, 0, 0, 3)};
	struct buf bytes[3] = {{0}};
	const struct result_series *s;
	struct result_set set = {0};

	for (int i = 0; i < 3; i++)
		v[2 + i] = usage_sample(i, 2, &bytes[i]);
	v[4].u.sample.end_ns = v[4].u.sample.start_ns + 1000000;
	append(k, &key, 1, v, ARRAY_LEN(v));
	for (int i = 0; i < 3; i++)
		buf_free(&bytes[i]);
	read_set(k, &set);
	assert_int_equal(set.n_series, 1);
	s = &set.series[0];
	assert_int_equal(s->n_spans, 2);
	assert_int_equal(s->spans[1].end_ns, 2001000000);
	assert_int_equal(s->use[2].read_bytes, 512 * (1 + 2));
	assert_int_equal(s->use[3].read_bytes, 512 * (2 + 3));
	assert_int_equal(s->use[3].busy_ns, 2000000);
	assert_int_equal(s->points[1].host.dirty_bytes, 2048);
	assert_int_equal(s->points[1].host.arc_hits, 2);
	result_set_clear(&set);
}

static void each_disk_has_its_series(void **state)
{
	spans_of(*state, 12);
}

static void many_disks_have_longer_spans(void **state)
{
	spans_of(*state, 300);
}

static void a_trial_keeps_its_evidence(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record head[] = {rec_start(), rec_trial_start(1, 1, 0, 0)};
	struct record end[] = {rec_trial_end(1, 1, 0, 0, 0), rec_trial_start(2, 1, 0, 1),
		rec_trial_end(2, 1, 0, 1, 0)};
	struct disk_evidence disk = {.id = "serial:S1", .name = "sdc", .during.busy_ns = 7,
		.errors_known = 1};
	struct evidence_number number = {EVIDENCE_MAINTENANCE_BEFORE, 0};
	struct trial_evidence v = {.disks = &disk, .n_disks = 1, .numbers = &number, .n_numbers = 1};
	struct result_set set = {0};
	int64_t n;

	end[0].u.trial_end.evidence = &v;
	end[0].u.trial_end.n_evidence = 1;
	append(k, &key, 1, head, 2);
	append(k, &key, 3, end, 3);
	read_set(k, &set);
	assert_int_equal(set.n_trials, 2);
	assert_non_null(set.trials[0].sum.evidence);
	assert_string_equal(set.trials[0].sum.evidence->disks[0].id, "serial:S1");
	assert_int_equal(set.trials[0].sum.evidence->disks[0].during.busy_ns, 7);
	assert_true(evidence_get(set.trials[0].sum.evidence, EVIDENCE_MAINTENANCE_BEFORE, &n));
	assert_int_equal(n, 0);
	assert_false(evidence_get(set.trials[0].sum.evidence, EVIDENCE_MAINTENANCE_AFTER, &n));
	assert_null(set.trials[1].sum.evidence); /* of an agent that told none */
	result_set_clear(&set);
}

static void commands_are_exported(void **state)
{
	char *argv[] = {"/sbin/zpool", "create", "am_1_1_a1b2c3", "raidz2"};
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_step(1, 1, argv, 4), rec_step(2, 0, argv, 2)};
	struct result_set set = {0};

	append(k, &key, 1, v, 3);
	read_set(k, &set);
	assert_int_equal(set.n_steps, 2);
	assert_string_equal(set.steps[0].host, "knew");
	assert_string_equal(set.steps[0].layout_name, "hba10");
	assert_string_equal(set.steps[0].phase, "build");
	assert_string_equal(set.steps[0].argv.v[3], "raidz2");
	assert_string_equal(set.steps[0].output, "done\n");
	assert_int_equal(set.steps[0].elapsed_ns, 1500000);
	assert_int_equal(set.steps[1].block, 2);
	result_set_clear(&set);
}

/* A fleet's commands are mostly the same ones again: a report takes one block's, and what failed. */
static void a_report_takes_less(void **state)
{
	char *argv[] = {"/bin/true"};
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_start(), rec_step(1, 0, argv, 1), rec_step(1, 1, argv, 1),
		rec_step(2, 0, argv, 1), rec_step(2, 1, argv, 1), rec_trial_start(1, 1, 0, 0)};
	struct buf usage = {0};
	struct record end[] = {usage_sample(0, 2, &usage), rec_trial_end(1, 1, 0, 0, 1)};
	struct result_set set = {0};

	v[4].u.step.ok = 0;
	append(k, &key, 1, v, ARRAY_LEN(v));
	append(k, &key, ARRAY_LEN(v) + 1, end, 2);
	read_as(k, QUERY_EXPORT, "last", &set);
	assert_int_equal(set.n_steps, 4);
	result_set_clear(&set);
	read_as(k, QUERY_EXPORT_REPORT, "last", &set);
	assert_int_equal(set.n_steps, 3);
	assert_false(set.steps[2].ok);
	assert_int_equal(set.n_trials, 1);
	assert_int_equal(set.n_series, 0);
	result_set_clear(&set);
	buf_free(&usage);
}

/* Its series come by themselves: whole ones of some hosts, how fast it went of some workloads. */
static void series_are_asked_for(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct buf usage = {0};
	struct record v[] = {rec_start(), rec_trial_start(1, 1, 0, 0), usage_sample(0, 2, &usage),
		rec_trial_end(1, 1, 0, 0, 1)};
	struct result_set set = {0};

	append(k, &key, 1, v, ARRAY_LEN(v));
	read_as(k, QUERY_EXPORT_SERIES, "last\nhost=knew\nrates=0", &set);
	assert_int_equal(set.n_trials + set.n_runs, 0);
	assert_int_equal(set.n_series, 1);
	assert_int_equal(set.series[0].n_spans, 1);
	assert_int_not_equal(set.series[0].points[0].bytes, 0);
	assert_int_not_equal(set.series[0].points[0].tele.disks, 0);
	result_set_clear(&set);
	read_as(k, QUERY_EXPORT_SERIES, "last\nhost=other\nrates=0", &set);
	assert_int_equal(set.n_series, 1);
	assert_int_equal(set.series[0].n, 1);
	assert_int_equal(set.series[0].n_spans, 0);
	assert_int_not_equal(set.series[0].points[0].end_ns, 0);
	assert_int_not_equal(set.series[0].points[0].bytes, 0);
	assert_int_equal(set.series[0].points[0].tele.disks, 0);
	result_set_clear(&set);
	read_as(k, QUERY_EXPORT_SERIES, "last\nhost=other\nrates=1", &set);
	assert_int_equal(set.n_series, 0);
	result_set_clear(&set);
	buf_free(&usage);
}

/* Takes away what later steps of the schema added. */
static void make_first_version(struct kit *k)
{
	static const char later[] =
		"ALTER TABLE trials DROP COLUMN evidence; ALTER TABLE trials DROP COLUMN detail;"
		"DROP INDEX runs_content; ALTER TABLE runs DROP COLUMN content_sha256;"
		"DROP TABLE imports; DELETE FROM plans WHERE sha256 = '';"
		"ALTER TABLE jobs DROP COLUMN stop_block;"
		"ALTER TABLE attempts DROP COLUMN await_block;"
		"ALTER TABLE attempts DROP COLUMN await_layout; PRAGMA user_version = 1;";
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(k->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, later, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s", why);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_store_of_the_first_version_goes_on(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record first[] = {rec_start(), rec_trial_start(1, 1, 0, 0), rec_trial_end(1, 1, 0, 0, 0)};
	struct record second[] = {rec_trial_start(2, 1, 0, 1), rec_trial_end(2, 1, 0, 1, 0)};
	struct evidence_number number = {EVIDENCE_DIRTY_BYTES, 7};
	struct trial_evidence v = {.numbers = &number, .n_numbers = 1};
	struct result_set set = {0};
	int64_t n;

	append(k, &key, 1, first, 3);
	kit_close(k);
	make_first_version(k);
	kit_open(k);
	second[1].u.trial_end.evidence = &v;
	second[1].u.trial_end.n_evidence = 1;
	append(k, &key, 4, second, 2);
	read_set(k, &set);
	assert_int_equal(set.n_trials, 2);
	assert_null(set.trials[0].sum.evidence);
	assert_true(evidence_get(set.trials[1].sum.evidence, EVIDENCE_DIRTY_BYTES, &n) && n == 7);
	result_set_clear(&set);
}

static void the_first_version_of_a_series_is_read(void **state)
{
	struct result_series s = {0};
	struct buf old = {0};
	struct err e;

	(void)state;
	varint_add(&old, 1); /* points */
	varint_add(&old, 5); /* starts, lasts */
	varint_add(&old, 6);
	varint_add(&old, 8); /* disks */
	for (uint64_t i = 0; i < 17; i++)
		varint_add(&old, 100 + i);
	assert_ok(series_decode(old.data, old.len, &s, &e), e);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.points[0].end_ns, 11);
	assert_int_equal(s.points[0].tele.arc_bytes, 116);
	assert_int_equal(s.points[0].host.arc_misses, 0);
	assert_int_equal(s.n_disks, 0);
	result_series_clear(&s);
	assert_int_equal(series_decode(old.data, old.len - 1, &s, &e), -1);
	buf_free(&old);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(each_disk_has_its_series),
		T(a_short_last_interval_is_part_of_the_span_before),
		T(many_disks_have_longer_spans),
		T(a_trial_keeps_its_evidence),
		T(commands_are_exported),
		T(a_report_takes_less),
		T(series_are_asked_for),
		T(a_store_of_the_first_version_goes_on),
		cmocka_unit_test(the_first_version_of_a_series_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
