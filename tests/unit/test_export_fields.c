/* results: each field of each kind of export line, there and back, and with what it must not be. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/measure/inventory.h"
#include "tests/unit/results_kit.h"

/* ---- a set with everything in it, numbers at the ends of what they may be ---- */

static char *layouts[] = {"raid6", "raidz2 \"x\"", NULL}, *workloads[] = {"w\303\244", NULL};
static char *sets[] = {"trials=3", NULL}, *argv[] = {"/sbin/mkfs", "-x", "", NULL};

static void make_hist(struct buf *out)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_add_n(h, 1000, 3);
	hist_add_n(h, (1ull << 42) - 1, 1ull << 40); /* the sum saturates */
	hist_encode(h, out);
	free(h);
}

static void export_environment_of(struct buf *out)
{
	char *texts[] = {"zfs_arc_max=0", NULL}, *words[] = {"ssd", NULL};
	struct inv_disk disk = {.name = "sda", .serial = "S1", .bytes = 1ull << 40, .logical_sector = 512,
		.rotational = 1, .signatures = {words, 1, 0}};
	struct inv_pool pool = {"tank", "17", "ONLINE", 1ull << 41};
	struct inventory inv = {.host = "knew", .os = "Debian", .cpus = 8, .ram_bytes = 1ull << 34,
		.privileged = 1, .zfs_parameters = {texts, 1, 0}, .tags = {words, 1, 0},
		.disks = &disk, .n_disks = 1, .pools = &pool, .n_pools = 1};
	struct result_environment env = {.run = 7, .host = "knew", .inventory = inventory_json(&inv)};
	json_t *disks = json_object_get(env.inventory, "disks");
	json_t *whole = json_deep_copy(json_array_get(disks, 0));

	/* more than fit a line: the last one stands in a line of its own */
	for (int i = 0; i < 99; i++)
		json_array_append_new(disks, json_pack("{si}", "bytes", i));
	json_array_append_new(disks, whole);
	export_environment(&env, out);
	json_decref(env.inventory);
}

static void export_run_of(struct buf *out)
{
	struct result_run run = {.id = 7,
		.name = "elsewhere",
		.state = "done",
		.plan_sha256 = "00ff",
		.plan_text = "name: p\n",
		.tool_version = "0.0.9",
		.user = "ben",
		.sets = {sets, 1, 0},
		.seed = UINT64_MAX,
		.blocks = 1000000,
		.cache = "as-is",
		.design = "random-blocks",
		.started_wall_ns = 1700000000000000000,
		.finished_wall_ns = 9000000000000000000,
		.baseline = 1,
		.margin = 0.1,
		.layouts = {layouts, 2, 0},
		.workloads = {workloads, 1, 0}};

	export_run(&run, out);
}

static void fill_evidence(struct trial_evidence *v, struct disk_evidence disks[2])
{
	static struct setting_evidence setting = {"primarycache", "tank", "all", "metadata"};
	static struct source_evidence source = {
		.id = "serial:D", .name = "sdd", .is_written = 1, .during = {.read_ops = UINT64_MAX}};

	v->settings = &setting;
	v->n_settings = 1;
	v->sources = &source;
	v->n_sources = 1;
	disks[0] = (struct disk_evidence){.id = "serial:A", .name = "sda", .errors_known = 1,
		.errors = 3, .during = {1, 2, 3, 4, 5, 6, 7, UINT64_MAX}, .look_busy_ns = 5,
		.cache_before = "write back", .cache_after = "write through"};
	disks[1] = (struct disk_evidence){.name = "loop0", .backing = "sdb"};
	v->disks = disks;
	v->n_disks = 2;
	for (uint32_t key = 1; key < EVIDENCE_KEY_COUNT; key++)
		evidence_set(v, (enum evidence_key)key, key == EVIDENCE_CLOCK_STEP_NS ? -5 : (int64_t)key);
	v->cores = xcalloc(2, sizeof(*v->cores));
	v->cores[1].busy_ns = UINT64_MAX;
	v->n_cores = 2;
	v->maintenance_before = xstrdup("scrub of tank");
}

static void fill_detail(struct trial_detail *d, const struct buf *hist)
{
	struct trial_part *p = detail_part(d, "flowop", "append1", NULL);

	*p = (struct trial_part){p->name, p->kind, 3, UINT64_MAX, 1, 77,
		xmemdup(hist->data, hist->len), hist->len};
	detail_part(d, "", "no latencies", NULL);
	detail_fact(d, "change", -0.1, "");
	detail_note(d, "settings", "fsync = on\n");
}

static void export_trial_of(struct buf *out)
{
	struct result_printed printed[] = {{METRIC_OPS, 7294.3, 0.1, 1}, {METRIC_LAT_P50, 1e-300, 0, 0}};
	struct result_trial t = a_trial("knew", 4000000000u, 5, 1, 0, 8999999999999999999);
	struct disk_evidence disks[2];
	struct trial_evidence evidence = {0};
	struct buf hist = {0};

	make_hist(&hist);
	fill_evidence(&evidence, disks);
	fill_detail(&t.sum.detail, &hist);
	t.run = 7;
	t.layout_name = layouts[1];
	t.workload_name = workloads[0];
	t.lost = 2;
	t.usable_bytes = UINT64_MAX;
	t.sum.ok = 0;
	t.sum.error = "no space left: \x1b[31m";
	t.sum.bytes = UINT64_MAX;
	t.sum.ops = (uint64_t)INT64_MAX;
	t.sum.tele = (struct telemetry){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	t.sum.hist = hist.data;
	t.sum.hist_len = hist.len;
	t.sum.evidence = &evidence;
	t.sum.n_evidence = 1;
	t.printed = printed;
	t.n_printed = 2;
	t.data = (struct data_told){1, DATA_ZERO, 0};
	export_trial(&t, out);
	free(evidence.cores);
	free(evidence.numbers);
	free(evidence.maintenance_before);
	detail_clear(&t.sum.detail);
	buf_free(&hist);
}

static void export_rest_of(struct buf *out)
{
	struct result_summary m = {7, "kold", 0, 0, layouts[0], workloads[0], METRIC_ELAPSED, 10, 305.1,
		265, NAN, 2.5, 0.1, 0.01, 1, {1, DATA_COMPRESSIBLE, 50}};
	/* one of each: they are put into the order of time */
	struct result_point point = {
		0, 1000000000, UINT64_MAX, 7, 1, 2, 3, {.disks = 2, .arc_bytes = 9}, {.arc_misses = 4}};
	struct result_span span = {0, 1000000000};
	struct result_disk_use use[2] = {{1, 2, 3}, {UINT64_MAX, 0, 0}};
	struct result_series series = {7, "knew", 1, 4000000000u, &point, 1, &span, use, 1, 2};
	struct result_stop stop = {7, "knew", 5};
	struct result_step step = {.run = 7, .host = "knew", .attempt = 1, .block = 1, .layout = 1,
		.layout_name = layouts[1], .phase = "build", .what = "make it", .argv = {argv, 3, 0},
		.elapsed_ns = 5, .at_wall_ns = 1700000000000000000, .ok = 1, .output = "a\nb\n"};

	export_summary(&m, out);
	export_series(&series, out);
	export_stop(&stop, out);
	export_step(&step, out);
}

static void export_all(struct buf *out)
{
	export_run_of(out);
	export_environment_of(out);
	export_trial_of(out);
	export_rest_of(out);
}

static void export_set(const struct result_set *s, struct buf *out)
{
	for (size_t i = 0; i < export_items(s); i++)
		export_item(s, i, out);
}

static void all_comes_back_as_it_was(void **state)
{
	struct buf lines = {0}, again = {0};
	struct result_set set = {0};

	(void)state;
	export_all(&lines);
	lines_read(lines.data, &set);
	assert_true(set.trials[0].sum.bytes == UINT64_MAX);
	assert_true(set.trials[0].sum.evidence->disks[0].during.queue_ns == UINT64_MAX);
	assert_true(set.series[0].use[1].read_bytes == UINT64_MAX);
	assert_true(set.trials[0].sum.detail.facts[0].value == -0.1);
	export_set(&set, &again);
	assert_string_equal(lines.data, again.data);
	result_set_clear(&set);
	buf_free(&lines);
	buf_free(&again);
}

/* ---- each value in each line, replaced ---- */

#define LINES_MAX 32
#define PATH_MAX_STEPS 6

struct lines {
	char *v[LINES_MAX];
	size_t n;
};
/* Where a value stands: the keys and indices that lead to it. */
struct path {
	const char *key[PATH_MAX_STEPS]; /* NULL: an index */
	size_t index[PATH_MAX_STEPS];
	size_t n;
};

static json_t *at(json_t *o, const struct path *p, size_t steps)
{
	for (size_t i = 0; i < steps && o; i++)
		o = p->key[i] ? json_object_get(o, p->key[i]) : json_array_get(o, p->index[i]);
	return o;
}

static void put(json_t *line, const struct path *p, json_t *v)
{
	json_t *in = at(line, p, p->n - 1);

	if (p->key[p->n - 1])
		json_object_set_new(in, p->key[p->n - 1], v);
	else
		json_array_set_new(in, p->index[p->n - 1], v);
}

static void path_text(const struct path *p, char *out, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n && n < len; i++)
		n += (size_t)(p->key[i] ? snprintf(out + n, len - n, ".%s", p->key[i])
					: snprintf(out + n, len - n, "[%zu]", p->index[i]));
}

/* The lines before it, then this one; what it gives, or an error. */
static int read_with(const struct lines *l, size_t changed, const json_t *line, struct buf *out,
	struct err *e)
{
	struct result_set set = {0};
	struct buf text = {0};
	int rc = 0;

	json_line(line, &text);
	for (size_t i = 0; i < changed && !rc; i++)
		rc = export_read_line(&set, "f", i + 1, l->v[i], strlen(l->v[i]), e);
	assert_int_equal(rc, 0);
	rc = export_read_line(&set, "f", changed + 1, text.data, text.len, e);
	rc = rc ? rc : export_read_end(&set, e);
	if (!rc)
		export_set(&set, out);
	result_set_clear(&set);
	buf_free(&text);
	return rc;
}

static int same_value(const json_t *a, const json_t *b)
{
	return json_is_number(a) && json_is_number(b) ? json_number_value(a) == json_number_value(b)
						      : json_equal(a, b);
}

/* Whether some line of that type has the value there. */
static int comes_back(const struct buf *out, const char *type, const struct path *p, const json_t *v)
{
	int found = 0;

	for (char *from = out->data, *end; *from && !found; from = end + 1) {
		json_t *o;

		end = strchr(from, '\n');
		o = json_loadb(from, (size_t)(end - from), 0, NULL);
		found = !strcmp(json_get_str(o, "type", ""), type) && same_value(at(o, p, p->n), v);
		json_decref(o);
	}
	return found;
}

static int kind_of(const json_t *v)
{
	return json_is_boolean(v) ? JSON_TRUE : json_is_number(v) ? JSON_INTEGER : (int)json_typeof(v);
}

/* An empty text, list or object says as little as one that is not there. */
static int is_nothing(const json_t *v)
{
	return (json_is_array(v) && !json_array_size(v)) ||
	       (json_is_object(v) && !json_object_size(v)) ||
	       (json_is_string(v) && !*json_string_value(v));
}

/* Another kind of value is an error that names the field; so is another value of its kind, unless it
 * comes back as it is. */
static void replace(const struct lines *l, size_t i, const struct path *p, json_t *by)
{
	json_t *line = json_loads(l->v[i], 0, NULL);
	const json_t *was = at(line, p, p->n);
	int other = !json_is_null(was) && kind_of(was) != kind_of(by);
	const char *type = json_get_str(line, "type", "");
	struct buf out = {0};
	struct err e = {0};
	char name[128];
	int rc;

	/* Counts beyond JSON's integers are texts. */
	other = other && !(json_is_string(was) && json_is_integer(by));
	path_text(p, name, sizeof(name));
	put(line, p, json_incref(by));
	rc = read_with(l, i, line, &out, &e);
	if (other && !rc)
		fail_msg("%s%s of another kind is taken: %s", type, name, json_dumps(by, JSON_ENCODE_ANY));
	/* A column of another name is one of a newer version. */
	if (!rc && !is_nothing(by) && strcmp(p->key[0], "columns") &&
		!comes_back(&out, type, p, by))
		fail_msg("%s%s: %s is taken as something else", type, name,
			json_dumps(by, JSON_ENCODE_ANY));
	if (rc && (e.code != ERR_INPUT || !strstr(e.text, p->key[0])))
		fail_msg("%s%s: '%s' does not name it", type, name, e.text);
	json_decref(line);
	buf_free(&out);
}

static unsigned replaced; /* values */

static void replace_by_all(const struct lines *l, size_t i, const struct path *p)
{
	json_t *const by[] = {json_string("12s"), json_string(""), json_integer(-1), json_integer(1ll << 40),
		json_integer(INT64_MAX), json_integer(INT64_MIN), json_real(1.5), json_real(-1e300),
		json_true(), json_array(), json_object(), json_pack("[o]", json_null())};

	for (size_t k = 0; k < ARRAY_LEN(by); k++) {
		replace(l, i, p, by[k]);
		json_decref(by[k]);
	}
	replaced++;
}

static void walk(const struct lines *l, size_t i, const json_t *v, struct path *p)
{
	const char *key;
	json_t *item;
	size_t k;

	if (p->n)
		replace_by_all(l, i, p);
	assert_true(p->n < PATH_MAX_STEPS);
	json_object_foreach((json_t *)v, key, item)
	{
		if (!p->n && !strcmp(key, "type"))
			continue;
		p->key[p->n++] = key;
		walk(l, i, item, p);
		p->n--;
	}
	json_array_foreach(v, k, item)
	{
		if (k != 0 && k + 1 != json_array_size(v))
			continue;
		p->key[p->n] = NULL;
		p->index[p->n++] = k;
		walk(l, i, item, p);
		p->n--;
	}
}

static void no_value_is_taken_for_another(void **state)
{
	struct buf text = {0};
	struct lines l = {0};

	(void)state;
	export_all(&text);
	for (char *from = text.data, *end; *from; from = end + 1) {
		end = strchr(from, '\n');
		*end = '\0';
		assert_true(l.n < LINES_MAX);
		l.v[l.n++] = from;
	}
	for (size_t i = 0; i < l.n; i++) {
		json_t *line = json_loads(l.v[i], 0, NULL);
		struct path p = {0};

		walk(&l, i, line, &p);
		json_decref(line);
	}
	assert_true(replaced > 200);
	buf_free(&text);
}

/* ---- what errors say ---- */

#define RUN "{\"type\":\"run\",\"run\":1,\"name\":\"x\",\"layouts\":[\"l\"],\"workloads\":[\"w\"]"
#define TRIAL                                                                                      \
	"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"attempt\":1,\"trial\":1,\"block\":1,"      \
	"\"workload\":0,"
#define SUMMARY                                                                                    \
	"{\"type\":\"summary\",\"run\":1,\"host\":\"h\",\"layout\":0,\"workload\":0,\"n\":3,"
#define EXPECTED_COUNT " is found, a whole number from 0 to 18446744073709551615 is expected"

static const struct {
	const char *line, *error;
} wrong[] = {
	{TRIAL "\"layout\":0,\"elapsed_ns\":\"12s\"}",
		"f:2: trial: elapsed_ns: \"12s\" is found, a whole number from 0 to "
		"9223372036854775807 is expected"},
	{TRIAL "\"layout\":-1}",
		"f:2: trial: layout: -1 is found, a whole number from 0 to 20000 is expected"},
	{TRIAL "\"layout\":0,\"bytes\":-1}", "f:2: trial: bytes: -1" EXPECTED_COUNT},
	{TRIAL "\"layout\":0,\"bytes\":\"5\"}", "f:2: trial: bytes: \"5\"" EXPECTED_COUNT},
	{TRIAL "\"layout\":0,\"samples\":-1}",
		"f:2: trial: samples: -1 is found, a whole number from 0 to 4294967295 is expected"},
	{TRIAL "\"layout\":0,\"error\":{}}",
		"f:2: trial: error: an object is found, a text, or null, is expected"},
	{TRIAL "\"layout\":0,\"ok\":true,\"error\":\"late\"}",
		"f:2: trial: error: \"late\" is found, null beside \"ok\":true is expected"},
	{TRIAL "\"layout\":0,\"telemetry\":{\"arc_bytes\":true}}",
		"f:2: trial: telemetry.arc_bytes: true" EXPECTED_COUNT},
	{TRIAL "\"layout\":0,\"printed\":[{\"metric\":\"speed\",\"value\":1}]}",
		"f:2: trial: printed[0].metric: \"speed\" is found, elapsed, throughput, "},
	{TRIAL "\"layout\":0,\"printed\":[{\"metric\":\"elapsed\",\"value\":1},"
	       "{\"metric\":\"elapsed\",\"value\":2}]}",
		"f:2: trial: printed[1].metric: \"elapsed\" is found, another metric is expected"},
	{"{\"type\":\"trial\",\"run\":1,\"host\":\"h\",\"attempt\":1099511627776}",
		"f:2: trial: attempt: 1099511627776 is found, a whole number from 0 to "
		"4294967295 is expected"},
	{"{\"type\":\"trial\",\"run\":0}",
		"f:2: trial: run: 0 is found, a whole number from 1 to 9223372036854775807"},
	{RUN ",\"run\":2}", "not valid JSON: duplicate object key"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"blocks\":2147483648}",
		"f:2: run: blocks: 2147483648 is found, a whole number from 0 to 1000000"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"state\":\"asleep\"}",
		"f:2: run: state: \"asleep\" is found, waiting, running, done, failed, cancelled or "
		"imported is expected"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"design\":\"chaos\"}",
		"random-blocks, as-written, once or unknown is expected"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"cache\":\"hot\"}",
		"cold, warm or as-is is expected"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"seed\":5}",
		"a whole number from 0 to 18446744073709551615 as a text is expected"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"layouts\":[\"a\"],\"baseline\":1}",
		"f:2: run: baseline: 1 is found, the index of one of the layouts"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"started_wall_ns\":1e400}",
		"f:2: not a line of an export: not valid JSON: real number overflow"},
	{"{\"type\":\"run\",\"run\":2,\"name\":\"y\",\"blocks\":99999999999999999999}",
		"f:2: not a line of an export: not valid JSON: too big integer"},
	{SUMMARY "\"metric\":\"elapsed\",\"mean\":0}",
		"f:2: summary: mean: 0 is found, a number above 0 is expected"},
	{SUMMARY "\"metric\":\"elapsed\",\"mean\":2,\"max\":1}",
		"f:2: summary: max: 1 is found, at least the mean is expected"},
	{SUMMARY "\"metric\":\"elapsed\",\"mean\":2,\"data\":\"zeros\"}",
		"f:2: summary: data: \"zeros\" is found, random, zero or compressible 50% is expected"},
	{TRIAL "\"layout\":0,\"data\":7}",
		"f:2: trial: data: 7 is found, random, zero or compressible 50% is expected"},
	{"{\"type\":\"step\",\"run\":1,\"host\":\"h\",\"phase\":\"party\",\"argv\":[]}",
		"build, cache, workload or teardown is expected"},
	{"{\"type\":\"environment\",\"run\":1,\"host\":\"h\",\"inventory\":{\"disks\":["
	 "{\"bytes\":\"big\"}]}}",
		"f:2: environment: inventory.disks[0].bytes: \"big\"" EXPECTED_COUNT},
	{"{\"type\":\"series\",\"run\":1,\"host\":\"h\",\"trial\":1,\"columns\":[\"ops\"],"
	 "\"points\":[[1],[2,3]]}",
		"f:2: series: points[1]: a list is found, a list of a number for each of the columns"},
	{"{\"type\":\"stop\",\"run\":1,\"host\":\"\",\"block\":1}",
		"f:2: stop: host: \"\" is found, a text that is not empty is expected"},
};

static void errors_say_what_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct result_set set = {0};
		struct err e = {0};

		assert_ok(export_read_line(&set, "f", 1, RUN "}", strlen(RUN "}"), &e), e);
		assert_int_equal(
			export_read_line(&set, "f", 2, wrong[i].line, strlen(wrong[i].line), &e), -1);
		assert_has(e.text, wrong[i].error);
		result_set_clear(&set);
	}
}

/* What an agent may send can be in a store, and what is in a store can be read: times before 1970, a
 * sample that began before its trial, the largest numbers. */
static void what_agents_send_can_be_read(void **state)
{
	struct result_point point = {.start_ns = INT64_MIN / 2, .end_ns = -1};
	struct result_span span = {-5, INT64_MAX};
	struct result_disk_use use = {.busy_ns = UINT64_MAX};
	struct result_series series = {1, "h", 1, INT32_MAX, &point, 1, &span, &use, 1, 1};
	struct evidence_number number = {EVIDENCE_DIRTY_BYTES, INT64_MIN};
	struct trial_evidence evidence = {.numbers = &number, .n_numbers = 1};
	struct result_trial t = a_trial("h", INT32_MAX, 1000000, 0, 0, INT64_MAX);
	struct buf lines = {0}, again = {0};
	struct result_set set = {0};

	(void)state;
	t.repeat = 1000000;
	t.sum.started_wall_ns = INT64_MIN;
	t.sum.sync_ns = INT64_MAX;
	t.sum.evidence = &evidence;
	t.sum.n_evidence = 1;
	lines_run(&lines, 1, "r", 1, layouts, 2, workloads, 1);
	t.layout_name = layouts[0];
	t.workload_name = workloads[0];
	export_trial(&t, &lines);
	export_series(&series, &lines);
	lines_read(lines.data, &set);
	export_set(&set, &again);
	assert_string_equal(lines.data, again.data);
	result_set_clear(&set);
	buf_free(&lines);
	buf_free(&again);
}

/* A line of a newer version has members that are not known here. */
static void unknown_members_are_passed_over(void **state)
{
	static const char lines[] = RUN ",\"moon\":\"full\"}\n" TRIAL
					"\"layout\":0,\"evidence\":{\"moons\":2},\"telemetry\":{\"x\":[]}}\n";
	struct result_set set = {0};

	(void)state;
	lines_read(lines, &set);
	assert_int_equal(set.n_trials, 1);
	result_set_clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_comes_back_as_it_was),
		cmocka_unit_test(no_value_is_taken_for_another),
		cmocka_unit_test(errors_say_what_and_where),
		cmocka_unit_test(what_agents_send_can_be_read),
		cmocka_unit_test(unknown_members_are_passed_over),
	};

	return cmocka_run_group_tests_name("export_fields", tests, NULL, NULL);
}
