/* fio's documents to samples and a result: what is cut adds up to the last document, whatever the
 * pieces that the output comes in. The documents are written here in fio's json+ shape. */
#include "tests/unit/test.h"

#include <stdlib.h>

#include "agent/workload/fio_status.h"
#include "common/base/mem.h"
#include "common/base/units.h"

struct totals {
	uint64_t ops, bytes, count, n;
	int64_t end_ns;
	int gaps;
};

static void take(void *arg, const struct sample *s)
{
	struct totals *t = arg;
	struct hist *h = xcalloc(1, sizeof(*h));
	struct err e;

	assert_ok(hist_decode(s->hist, s->hist_len, h, &e), e);
	t->gaps += s->start_ns != t->end_ns || s->end_ns <= s->start_ns;
	t->end_ns = s->end_ns;
	t->ops += s->ops;
	t->bytes += s->bytes;
	t->count += h->count;
	t->n++;
	free(h);
}

/* A direction; lat 0: no latencies, as while a job ramps up. Two bins, 1000 ns and 100000 ns. */
static void add_side(struct buf *b, const char *op, uint64_t ios, uint64_t runtime, int lat)
{
	buf_addf(b, "\"%s\":{\"io_bytes\":%llu,\"total_ios\":%llu,\"runtime\":%llu,\"iops\":%d.0,", op,
		(unsigned long long)ios * 4096, (unsigned long long)ios, (unsigned long long)runtime,
		ios > 0);
	if (lat && ios > 1)
		buf_addf(b, "\"clat_ns\":{\"min\":1000,\"max\":100000,\"mean\":2000.0,\"N\":%llu,"
			    "\"bins\":{\"1004\":%llu,\"99840\":1}}}",
			(unsigned long long)ios, (unsigned long long)ios - 1);
	else
		buf_adds(b, "\"clat_ns\":{\"min\":0,\"max\":0,\"mean\":0.0,\"N\":0}}");
}

static void add_job(struct buf *b, const char *name, int error, uint64_t reads, uint64_t writes,
	uint64_t runtime, int lat)
{
	buf_addf(b, "%s{\"jobname\":\"%s\",\"error\":%d,", b->data[b->len - 1] == '}' ? "," : "", name,
		error);
	add_side(b, "read", reads, runtime, lat);
	buf_addc(b, ',');
	add_side(b, "write", writes, writes ? runtime : 0, lat);
	buf_adds(b, ",\"sync\":{\"total_ios\":0,\"lat_ns\":{\"min\":0,\"max\":0,\"mean\":500.0,"
		    "\"N\":4}}}");
}

static void begin(struct buf *b)
{
	buf_adds(b, "some text }\n{\n\"fio version\":\"fio-3.33\",\"text\":\"a } brace \\\" {\",\"jobs\":[");
}

static void end(struct buf *b)
{
	buf_adds(b, "]}\n");
}

static void jobs_of(const char *text, struct fio_jobs *ret)
{
	struct strv errs = {0};
	struct err e;

	assert_ok(fio_jobs_parse("x", text, strlen(text), NULL, ret, &errs, &e), e);
	strv_free(&errs);
}

static int run(const char *job_text, const struct buf *text, size_t piece, struct totals *t,
	struct workload_result *ret, struct err *e)
{
	struct fio_jobs jobs = {0};
	struct fio_status s;
	int r;

	jobs_of(job_text, &jobs);
	fio_status_init(&s, &jobs, take, t);
	for (size_t at = 0; at < text->len; at += piece)
		fio_status_feed(&s, text->data + at,
			text->len - at < piece ? text->len - at : piece);
	r = fio_status_finish(&s, ret, e);
	fio_status_clear(&s);
	fio_jobs_clear(&jobs);
	return r;
}

static void samples_add_up_to_the_last_document(void **state)
{
	static const size_t pieces[] = {1, 7, 4096, 1 << 20};
	struct buf text = {0};

	(void)state;
	begin(&text);
	add_job(&text, "a", 0, 10, 0, 1000, 1);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 30, 5, 2000, 1);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 40, 5, 2500, 1);
	end(&text);
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct workload_result *r = xcalloc(1, sizeof(*r));
		struct totals t = {0};
		struct err e;

		assert_ok(run("[a]\nrw=randrw\nsize=1m\n", &text, pieces[i], &t, r, &e), e);
		assert_int_equal(r->ops, 45);
		assert_int_equal(r->bytes, 45 * 4096);
		assert_int_equal(r->elapsed_ns, 2500 * NS_PER_MS);
		assert_int_equal(r->hist.count, 45);
		assert_int_equal(r->hist.max, 100000);
		assert_int_equal(t.ops, 45);
		assert_int_equal(t.bytes, 45 * 4096);
		assert_int_equal(t.count, 45);
		assert_int_equal(t.n, 3);
		assert_int_equal(t.end_ns, 2500 * NS_PER_MS);
		assert_int_equal(t.gaps, 0);
		assert_int_equal(r->detail.n_parts, 2);
		assert_string_equal(r->detail.parts[0].name, "a read");
		assert_int_equal(r->detail.parts[0].ops + r->detail.parts[1].ops, 45);
		assert_non_null(r->detail.parts[1].hist);
		assert_int_equal(detail_find_fact(&r->detail, "sync_ops")->value, 4);
		assert_int_equal(detail_find_fact(&r->detail, "sync_latency_mean")->value, 500);
		detail_clear(&r->detail);
		free(r);
	}
	buf_free(&text);
}

/* Before its end a stage that has not begun shows the time since fio's start. */
static void stages_follow_each_other_and_ramps_do_not_count(void **state)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct totals t = {0};
	struct buf text = {0};
	struct err e;

	(void)state;
	begin(&text);
	add_job(&text, "a", 0, 500, 0, 900, 0); /* ramping */
	add_job(&text, "b", 0, 0, 0, 900, 0);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 20, 0, 800, 1);
	add_job(&text, "b", 0, 0, 0, 1900, 0);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 30, 0, 1000, 1);
	add_job(&text, "b", 0, 8, 0, 300, 1);
	end(&text);
	assert_ok(run("[a]\nrw=randread\nsize=1m\nramp_time=1\n[b]\nrw=read\nsize=1m\nstonewall\n",
			  &text, 100, &t, r, &e),
		e);
	assert_int_equal(r->ops, 38);
	assert_int_equal(r->elapsed_ns, 1300 * NS_PER_MS);
	assert_int_equal(t.ops, 38);
	assert_int_equal(t.count, 38);
	assert_int_equal(t.end_ns, 1300 * NS_PER_MS);
	assert_int_equal(t.gaps, 0);
	detail_clear(&r->detail);
	buf_free(&text);
	free(r);
}

static void jobs_at_the_same_time_take_as_long_as_the_longest(void **state)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct totals t = {0};
	struct buf text = {0};
	struct err e;

	(void)state;
	begin(&text);
	add_job(&text, "a", 0, 10, 0, 700, 1);
	add_job(&text, "b", 28, 0, 3, 900, 1);
	end(&text);
	assert_ok(run("[a]\nrw=read\nsize=1m\n[b]\nrw=write\nsize=1m\n", &text, 100, &t, r, &e), e);
	assert_int_equal(r->elapsed_ns, 900 * NS_PER_MS);
	assert_int_equal(r->errors, 1);
	assert_int_equal(r->detail.n_parts, 2);
	assert_string_equal(r->detail.parts[1].name, "b write");
	assert_int_equal(r->detail.parts[1].errors, 1);
	detail_clear(&r->detail);
	buf_free(&text);
	free(r);
}

/* Neither the delay nor the pause before the one that waits counts. */
static void delays_do_not_count_and_those_who_wait_follow(void **state)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct totals t = {0};
	struct buf text = {0};
	struct err e;

	(void)state;
	begin(&text);
	add_job(&text, "a", 0, 0, 0, 0, 0);
	add_job(&text, "b", 0, 0, 0, 0, 0);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 10, 0, 400, 1);
	add_job(&text, "b", 0, 0, 0, 0, 0);
	end(&text);
	begin(&text);
	add_job(&text, "a", 0, 20, 0, 800, 1);
	add_job(&text, "b", 0, 5, 0, 300, 1);
	end(&text);
	assert_ok(run("[a]\nrw=read\nsize=1m\nstartdelay=5\n[b]\nrw=read\nsize=1m\nwait_for=a\n"
		      "startdelay=500ms\n",
			  &text, 100, &t, r, &e),
		e);
	assert_int_equal(r->elapsed_ns, 1100 * NS_PER_MS);
	assert_int_equal(r->ops, 25);
	assert_int_equal(t.end_ns, 1100 * NS_PER_MS);
	assert_int_equal(t.ops, 25);
	assert_int_equal(t.gaps, 0);
	detail_clear(&r->detail);
	buf_free(&text);
	free(r);
}

static void what_is_no_result_is_an_error(void **state)
{
	static const char *const texts[] = {"", "fio: job a dropped\n", "{\"jobs\": [", "{\"x\": 1}",
		"{\"jobs\": 5}", "{]}", "{\"jobs\": [{\"jobname\":\"a\",\"read\":{\"io_bytes\":-1}}]}"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct workload_result *r = xcalloc(1, sizeof(*r));
		struct totals t = {0};
		struct buf text = {0};
		struct err e = {0};

		buf_adds(&text, texts[i]);
		if (run("[a]\nrw=read\nsize=1m\n", &text, 3, &t, r, &e) == 0)
			fail_msg("'%s' gave a result", texts[i]);
		assert_int_equal(e.code, ERR_INPUT);
		assert_int_equal(t.n, 0);
		buf_free(&text);
		free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_add_up_to_the_last_document),
		cmocka_unit_test(stages_follow_each_other_and_ramps_do_not_count),
		cmocka_unit_test(jobs_at_the_same_time_take_as_long_as_the_longest),
		cmocka_unit_test(delays_do_not_count_and_those_who_wait_follow),
		cmocka_unit_test(what_is_no_result_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
