/* store queries: lines of runs, show and export; paging, back-pressure, cancelling; series. */
#include "tests/unit/test.h"

#include "common/base/json.h"
#include "coordinator/results/export.h"
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

/* One block of one layout with a written and a read trial, two samples each. */
static uint64_t append_unit(struct kit *k, const struct job_key *key, uint64_t first,
	uint32_t block, uint32_t layout, uint32_t trial, int ok)
{
	char *argv[] = {"zpool", "create", "am_1_1_a1b2c3", "raidz2"};
	struct record v[] = {rec_unit_start(block, layout), rec_step(block, layout, argv, 4),
		rec_volume(block, layout), rec_trial_start(trial, block, layout, 0),
		rec_sample(trial, 0), rec_sample(trial, 1),
		rec_trial_end(trial, block, layout, 0, 2),
		rec_trial_start(trial + 1, block, layout, 1), rec_sample(trial + 1, 0),
		rec_sample(trial + 1, 1), rec_trial_end(trial + 1, block, layout, 1, 2),
		rec_unit_end(block, layout, ok)};

	append(k, key, first, v, ARRAY_LEN(v));
	return first + ARRAY_LEN(v);
}

/* The lines of one type, as an array. */
static json_t *lines_of(const struct kit_text *t, const char *type)
{
	json_t *list = json_array(), *o;
	const char *p = buf_str(&t->text);
	struct err e;

	assert_false(t->failed);
	while (*p) {
		const char *end = strchr(p, '\n');

		assert_non_null(end);
		assert_ok(json_parse("line", p, (size_t)(end - p), 1 << 20, &o, &e), e);
		if (strcmp(json_get_str(o, "type", ""), type) == 0)
			json_array_append(list, o);
		json_decref(o);
		p = end + 1;
	}
	return list;
}

static const json_t *line(const json_t *list, size_t i)
{
	const json_t *o = json_array_get(list, i);

	assert_non_null(o);
	return o;
}

#define assert_text(o, key, want) assert_string_equal(json_get_str(o, key, ""), want)
#define assert_number(o, key, want) assert_int_equal(json_get_int(o, key, -12345), want)

static void show_tells_everything(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record start = rec_start();
	struct kit_text t;
	json_t *l;

	append(k, &key, 1, &start, 1);
	append_unit(k, &key, append_unit(k, &key, 2, 1, 1, 1, 1), 1, 0, 3, 0);
	t = kit_query(k, QUERY_SHOW, "demo");
	l = lines_of(&t, "run");
	assert_int_equal(json_array_size(l), 1);
	assert_text(line(l, 0), "name", "demo");
	assert_text(line(l, 0), "state", "running");
	assert_text(line(l, 0), "user", "ann");
	assert_text(line(l, 0), "seed", "18364758544493064720");
	assert_number(line(l, 0), "jobs", 2);
	assert_number(line(l, 0), "units", 8);
	assert_number(line(l, 0), "units_done", 1);
	assert_number(line(l, 0), "waiting", 1);
	json_decref(l);
	l = lines_of(&t, "job");
	assert_int_equal(json_array_size(l), 2);
	assert_text(line(l, 0), "host", "knew");
	assert_number(line(l, 0), "units", 4);
	assert_number(line(l, 0), "units_done", 1);
	assert_int_equal(json_array_size(json_object_get(line(l, 0), "disks")), 1);
	json_decref(l);
	l = lines_of(&t, "attempt");
	assert_int_equal(json_array_size(l), 1);
	assert_number(line(l, 0), "records", 25);
	assert_number(line(l, 0), "lost", 0);
	json_decref(l);
	l = lines_of(&t, "unit");
	assert_int_equal(json_array_size(l), 2);
	assert_text(line(l, 0), "layout_name", "hba8");
	assert_text(line(l, 0), "state", "failed");
	assert_text(line(l, 0), "error", "no space left");
	assert_text(line(l, 1), "state", "complete");
	assert_text(line(l, 1), "identity", "zfs guid 1");
	json_decref(l);
	l = lines_of(&t, "trial");
	assert_int_equal(json_array_size(l), 4);
	assert_text(line(l, 1), "workload_name", "read");
	assert_text(line(l, 1), "op", "read");
	assert_number(line(l, 1), "elapsed_ns", 2000000000);
	assert_text(line(l, 1), "cache", "cold: export/import");
	json_decref(l);
	l = lines_of(&t, "step");
	assert_int_equal(json_array_size(l), 2);
	assert_int_equal(json_array_size(json_object_get(line(l, 0), "argv")), 4);
	assert_text(line(l, 0), "phase", "build");
	assert_text(line(l, 0), "output", "done\n");
	json_decref(l);
	buf_free(&t.text);
}

static void read_set(const struct kit_text *t, struct result_set *set)
{
	const char *p = buf_str(&t->text);
	struct err e;

	assert_false(t->failed);
	for (size_t no = 1; *p; no++) {
		const char *end = strchr(p, '\n');

		assert_ok(export_read_line(set, "export", no, p, (size_t)(end - p), &e), e);
		p = end + 1;
	}
	assert_ok(export_read_end(set, &e), e);
}

static void export_can_be_read_back(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record start = rec_start();
	struct result_set set = {0};
	struct kit_text t;

	append(k, &key, 1, &start, 1);
	append_unit(k, &key, 2, 1, 1, 1, 1);
	t = kit_query(k, QUERY_EXPORT, "1");
	read_set(&t, &set);
	assert_int_equal(set.n_runs, 1);
	assert_string_equal(set.runs[0].name, "demo");
	assert_string_equal(set.runs[0].plan_text, "name: demo\n");
	assert_string_equal(set.runs[0].design, "random-blocks");
	assert_string_equal(set.runs[0].layouts.v[1], "hba10");
	assert_true(set.runs[0].seed == 0xfedcba9876543210u);
	assert_true(set.runs[0].margin == 0.02);
	assert_int_equal(set.n_envs, 1);
	assert_string_equal(json_get_str(set.envs[0].inventory, "os", ""), "Debian 12");
	assert_int_equal(set.n_trials, 2);
	assert_string_equal(set.trials[0].layout_name, "hba10");
	assert_string_equal(set.trials[0].host, "knew");
	assert_int_equal(set.trials[0].position, 2);
	assert_true(set.trials[0].complete);
	assert_false(set.trials[0].superseded);
	assert_int_equal(set.trials[0].usable_bytes, 1ll << 40);
	assert_int_equal(set.trials[0].sum.tele.disk_write_bytes, 2500);
	assert_int_equal(set.n_series, 2);
	assert_int_equal(set.series[0].n, 2);
	assert_int_equal(set.series[0].points[1].bytes, 1000);
	assert_int_equal(set.series[0].points[1].tele.disks, 8);
	result_set_clear(&set);
	buf_free(&t.text);
}

/* Attempt 1 completed unit (1,0) and left (1,1) half done; attempt 2 did (1,1) and, once more,
 * (1,0). */
static void later_attempts_supersede(void **state)
{
	static const struct {
		uint32_t attempt, layout;
		int superseded, complete;
	} want[] = {{1, 0, 1, 1}, {1, 0, 1, 1}, {1, 1, 1, 0}, {2, 1, 0, 1}, {2, 1, 0, 1},
		{2, 0, 0, 1}, {2, 0, 0, 1}};
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record half[] = {
		rec_unit_start(1, 1), rec_trial_start(3, 1, 1, 0), rec_trial_end(3, 1, 1, 0, 0)};
	struct result_set set = {0};
	struct kit_text t;
	struct record start = rec_start();

	append(k, &key, 1, &start, 1);
	append(k, &key, append_unit(k, &key, 2, 1, 0, 1, 1), half, ARRAY_LEN(half));
	key.attempt = 2;
	assert_false(kit_begin(k, &key).failed);
	append(k, &key, 1, &start, 1);
	append_unit(k, &key, append_unit(k, &key, 2, 1, 1, 1, 1), 1, 0, 3, 1);
	t = kit_query(k, QUERY_EXPORT, "last");
	read_set(&t, &set);
	assert_int_equal(set.n_trials, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(set.trials[i].attempt, want[i].attempt);
		assert_int_equal(set.trials[i].layout, want[i].layout);
		assert_int_equal(set.trials[i].superseded, want[i].superseded);
		assert_int_equal(set.trials[i].complete, want[i].complete);
	}
	result_set_clear(&set);
	buf_free(&t.text);
}

static struct record hist_sample(int i, struct buf *bytes)
{
	struct record r = rec_sample(1, i);
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_add_n(h, 1000 * (uint64_t)(i + 1), 10);
	buf_reset(bytes);
	hist_encode(h, bytes);
	r.u.sample.hist = bytes->data;
	r.u.sample.hist_len = bytes->len;
	free(h);
	return r;
}

/* 2,500 samples: 3 a point; the one that is left goes with the last three. Sample i took 1000 · (i + 1) ns
 * for each of 10 ops. */
static void check_points(const struct result_series *s)
{
	uint64_t bytes = 0;

	assert_int_equal(s->n, 833);
	for (size_t i = 0; i < s->n; i++) {
		const struct result_point *p = &s->points[i];
		double middle = 1000.0 * (double)(3 * i + 2);

		bytes += p->bytes;
		assert_int_equal(p->start_ns, 3000000000ll * (int64_t)i);
		assert_int_equal(p->ops, i == 832 ? 40 : 30);
		assert_true((double)p->p50_ns > middle * 0.99 && (double)p->p50_ns < middle * 1.01);
		assert_int_equal(p->max_ns, 1000 * (i == 832 ? 2500 : 3 * i + 3));
	}
	assert_int_equal(s->points[s->n - 1].end_ns, 2500000000000ll);
	assert_int_equal(bytes, 2500 * 1000);
}

static void series_merges_neighbours(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record head[] = {rec_start(), rec_trial_start(1, 1, 0, 0)};
	struct record end = rec_trial_end(1, 1, 0, 0, 2500);
	struct result_set set = {0};
	struct kit_text t;

	append(k, &key, 1, head, 2);
	for (int i = 0; i < 2500; i += 100) {
		struct record v[100];
		struct buf bytes[100] = {0};

		for (int n = 0; n < 100; n++)
			v[n] = hist_sample(i + n, &bytes[n]);
		append(k, &key, (uint64_t)i + 3, v, 100);
		for (int n = 0; n < 100; n++)
			buf_free(&bytes[n]);
	}
	append(k, &key, 2503, &end, 1);
	for (int again = 0; again < 2; again++) {
		t = kit_query(k, QUERY_EXPORT, "last");
		read_set(&t, &set);
		assert_int_equal(set.n_series, 1);
		check_points(&set.series[0]);
		result_set_clear(&set);
		buf_free(&t.text);
		kit_close(k);
		kit_open(k);
	}
}

/* The trial's start and some samples were in a lost range: the rest still makes a series. */
static void series_survives_lost_records(void **state)
{
	struct kit *k = *state;
	struct job_key key = kit_job(k);
	struct record v[] = {rec_sample(1, 2), rec_sample(1, 3), rec_trial_end(1, 1, 0, 0, 4)};
	struct result_set set = {0};
	struct kit_text t;
	struct record start = rec_start();

	append(k, &key, 1, &start, 1);
	assert_int_equal(kit_append_lost(k, "knew", &key, 2, 4).append.what, APPEND_ACK);
	append(k, &key, 5, v, 3);
	t = kit_query(k, QUERY_EXPORT, "last");
	read_set(&t, &set);
	assert_int_equal(set.n_trials, 1);
	assert_int_equal(set.trials[0].lost, 4 - 1);
	assert_int_equal(set.series[0].n, 2);
	assert_int_equal(set.series[0].points[0].start_ns, 2000000000);
	result_set_clear(&set);
	buf_free(&t.text);
}

struct ending {
	int64_t last_ns, lost_ns; /* of the last sample; between it and the one before it */
	size_t points;
};

/* Two samples of a second, then one that may be short. */
static void check_ending(struct kit *k, struct job_key *key, const struct ending *c)
{
	struct record v[] = {rec_start(), rec_trial_start(1, 1, 0, 0), rec_sample(1, 0), rec_sample(1, 1),
		rec_sample(1, 2), rec_trial_end(1, 1, 0, 0, 3)};
	struct sample *last = &v[4].u.sample;
	const struct result_point *p = NULL;
	struct result_set set = {0};
	struct kit_text t;
	uint64_t bytes = 0, written = 0;

	last->start_ns += c->lost_ns;
	last->end_ns = last->start_ns + c->last_ns;
	append(k, key, 1, v, ARRAY_LEN(v));
	t = kit_query(k, QUERY_EXPORT, "last");
	read_set(&t, &set);
	assert_int_equal(set.n_series, 1);
	assert_int_equal(set.series[0].n, c->points);
	for (size_t i = 0; i < c->points; i++) {
		p = &set.series[0].points[i];
		bytes += p->bytes;
		written += p->tele.disk_write_bytes;
	}
	assert_non_null(p);
	assert_int_equal(p->end_ns, last->end_ns);
	assert_int_equal(bytes, 3 * last->bytes);
	assert_int_equal(written, 3 * last->tele.disk_write_bytes);
	result_set_clear(&set);
	buf_free(&t.text);
}

/* The rate of what is left at a trial's end is noise, and no point of its own; all of it is counted. */
static void a_short_last_sample_is_part_of_the_point_before(void **state)
{
	static const struct ending cases[] = {
		{1000000, 0, 2},
		{499999999, 0, 2},
		{500000000, 0, 3},
		{1000000000, 0, 3},
		{1000000, 1000000, 3}, /* what came before it is not known */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct job_key key;

		if (i > 0) {
			teardown(state);
			setup(state);
		}
		key = kit_job(*state);
		check_ending(*state, &key, &cases[i]);
	}
}

static void runs_are_found(void **state)
{
	static const struct {
		const char *target;
		int run; /* 0: not found */
	} table[] = {{"1", 1}, {"2", 2}, {"3", 0}, {"0", 0}, {"last", 2}, {"demo", 2},
		{"nodemo", 0}, {"", 0}, {"99999999999999999999999", 0}, {"-1", 0}, {"1 OR 1", 0}};
	struct kit *k = *state;
	struct kit_text t;
	json_t *l;

	t = kit_query(k, QUERY_RUN_ID, "last");
	assert_true(t.failed);
	assert_has(t.err.text, "no run yet");
	buf_free(&t.text);
	kit_run(k);
	kit_run(k);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		t = kit_query(k, QUERY_RUN_ID, table[i].target);
		assert_int_equal(t.failed, table[i].run == 0);
		if (table[i].run) {
			l = lines_of(&t, "run-id");
			assert_number(line(l, 0), "run", table[i].run);
			json_decref(l);
		} else {
			assert_int_equal(t.err.code, ERR_NOTFOUND);
		}
		buf_free(&t.text);
	}
	t = kit_query(k, QUERY_EXPORT, "nothing");
	assert_true(t.failed);
	buf_free(&t.text);
}

/* More rows than a page, more bytes than a chunk; steps with outputs of 16 KiB. */
static void many_steps(struct kit *k, int n)
{
	struct job_key key = kit_job(k);
	char *output = xmalloc(16 * 1024 + 1), *argv[] = {"true"};

	memset(output, '"', 16 * 1024);
	output[16 * 1024] = '\0';
	for (int i = 0; i < n; i++) {
		struct record r = rec_step(1, 0, argv, 1);

		r.u.step.output = output;
		append(k, &key, (uint64_t)i + 1, &r, 1);
	}
	free(output);
}

static void long_answers_come_in_chunks(void **state)
{
	struct kit *k = *state;
	struct kit_text t;
	json_t *l;

	many_steps(k, 300);
	t = kit_query(k, QUERY_SHOW, "last");
	assert_true(t.chunks > 30);
	assert_true(t.largest <= MSG_CHUNK_MAX);
	l = lines_of(&t, "step");
	assert_int_equal(json_array_size(l), 300);
	json_decref(l);
	buf_free(&t.text);
}

struct slow {
	struct kit_text text;
	struct store_reading *reading;
	struct event *timer;
	int calls, stop_at, resume_inside;
};

static void resume_later(evutil_socket_t fd, short what, void *arg)
{
	struct slow *s = arg;

	(void)fd;
	(void)what;
	store_query_resume(s->reading);
}

static int slow_chunk(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	struct slow *s = arg;
	struct timeval soon = {0, 1000};

	kit_chunk(&s->text, data, len, end, e);
	if (++s->calls == s->stop_at)
		return -1;
	if (end)
		return 0;
	if (s->resume_inside)
		store_query_resume(s->reading);
	else
		evtimer_add(s->timer, &soon);
	return 1;
}

static void receivers_set_the_pace(void **state)
{
	struct kit *k = *state;
	struct slow s = {0};
	json_t *l;

	many_steps(k, 40);
	s.timer = evtimer_new(k->base, resume_later, &s);
	for (s.resume_inside = 0; s.resume_inside < 2; s.resume_inside++) {
		s.text = (struct kit_text){0};
		s.reading = store_query(k->store, QUERY_SHOW, "last", slow_chunk, &s);
		kit_wait(k, &s.text.ended, 1);
		l = lines_of(&s.text, "step");
		assert_int_equal(json_array_size(l), 40);
		json_decref(l);
		buf_free(&s.text.text);
	}
	event_free(s.timer);
}

static int never(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	int *calls = arg;

	(void)data;
	(void)len;
	(void)end;
	(void)e;
	++*calls;
	return 1;
}

/* Stopped by the receiver, cancelled at once, cancelled while parked, and left to store_close. */
static void readings_can_be_given_up(void **state)
{
	struct kit *k = *state;
	struct slow s = {.stop_at = 2, .resume_inside = 1};
	int at_once = 0, parked = 0, left = 0;
	struct store_reading *r;
	struct kit_text t;

	many_steps(k, 60);
	s.reading = store_query(k->store, QUERY_SHOW, "last", slow_chunk, &s);
	kit_wait(k, &s.calls, 2);
	r = store_query(k->store, QUERY_SHOW, "last", never, &at_once);
	store_query_cancel(r);
	r = store_query(k->store, QUERY_SHOW, "last", never, &parked);
	kit_wait(k, &parked, 1);
	store_query_cancel(r);
	store_query(k->store, QUERY_SHOW, "last", never, &left);
	kit_wait(k, &left, 1);
	store_query(k->store, QUERY_SHOW, "last", never, &left);
	t = kit_query(k, QUERY_SHOW, "last");
	assert_false(t.failed);
	assert_int_equal(at_once, 0);
	assert_int_equal(parked, 1);
	assert_int_equal(s.calls, 2);
	kit_close(k);
	buf_free(&s.text.text);
	buf_free(&t.text);
}

static void tokens_are_listed(void **state)
{
	struct kit *k = *state;
	struct kit_answer a = {0};
	struct kit_text t;
	json_t *l;

	store_token_create(k->store, "aa", "t1", "agent", "knew", 1, kit_done, &a);
	store_token_create(k->store, "bb", "t2", "viewer", "ann", INT64_MAX, kit_done, &a);
	store_token_create(k->store, "cc", "t3", "admin", "bob", INT64_MAX, kit_done, &a);
	store_token_revoke(k->store, "t3", kit_done, &a);
	kit_wait(k, &a.done, 4);
	t = kit_query(k, QUERY_TOKENS, NULL);
	l = lines_of(&t, "token");
	assert_int_equal(json_array_size(l), 3);
	assert_text(line(l, 0), "state", "revoked");
	assert_text(line(l, 1), "id", "t2");
	assert_text(line(l, 1), "state", "open");
	assert_text(line(l, 2), "state", "expired");
	assert_null(strstr(buf_str(&t.text), "\"bb\""));
	json_decref(l);
	buf_free(&t.text);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(show_tells_everything),
		T(export_can_be_read_back),
		T(later_attempts_supersede),
		T(series_merges_neighbours),
		T(series_survives_lost_records),
		T(a_short_last_sample_is_part_of_the_point_before),
		T(runs_are_found),
		T(long_answers_come_in_chunks),
		T(receivers_set_the_pace),
		T(readings_can_be_given_up),
		T(tokens_are_listed),
	};

	return cmocka_run_group_tests_name("store_query", tests, NULL, NULL);
}
