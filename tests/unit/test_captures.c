/*
 * With CAPTURES set: what is read of every real output in $CAPTURES/results/TOOL, against a count of its
 * own. The tool is known by the folder, and each has a rule that finds its figures in the text by the
 * places where that tool prints them: how many there are, and their sum. Where the rule finds none the
 * file has to be an error that names it.
 */
#include "tests/unit/test.h"

#include <ctype.h>
#include <ftw.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/formats.h"

#define FIELDS_MAX 200
#define CSV_FIELDS_MIN 37 /* of a line of bonnie++ */

struct count {
	size_t n;   /* results */
	double sum; /* of their figures as they are printed */
};

/* Divides a text at any of the signs; returns how many parts there are, FIELDS_MAX at most. Empty parts
 * count where `empty` says so. */
static size_t split(char *s, const char *signs, int empty, char **ret)
{
	size_t n = 0;
	char *part;

	while (n < FIELDS_MAX && (part = strsep(&s, signs)))
		if (empty || *part)
			ret[n++] = part;
	return n;
}

static size_t lines_of(char *text, char **ret)
{
	return split(text, "\r\n", 0, ret);
}

/* A decimal comma is a point; "0:18.5", "3m0.305s" and "1034k" end where their figure does. */
static double figure(const char *s)
{
	char copy[32];
	size_t n = strspn(s, "0123456789.,");

	snprintf(copy, sizeof(copy), "%.*s", (int)n, s);
	for (char *p = copy; *p; p++)
		*p = *p == ',' ? '.' : *p;
	return strtod(copy, NULL);
}

static void add(struct count *c, double v)
{
	c->n++;
	c->sum += v;
}

/* The last line: "N bytes …, S s, …" in whatever language. */
static void count_dd(char *text, struct count *ret)
{
	char *lines[FIELDS_MAX], *last, *at;
	size_t n = lines_of(text, lines);

	last = n ? lines[n - 1] : NULL;
	at = last ? strstr(last, " s, ") : NULL;
	if (!at || strtoull(last, NULL, 10) == 0)
		return;
	while (at > last && at[-1] != ' ')
		at--;
	add(ret, figure(at));
}

/* "real 0m1.5s", "1.50 real", "0:01.50elapsed", "… (h:mm:ss or m:ss): 0:01.50". */
static void count_time(char *text, struct count *ret)
{
	char *real = strstr(text, "real"), *elapsed = strstr(text, "elapsed"), *clock = strstr(text, "m:ss): ");
	char *word = elapsed ? elapsed : real, *from = word;
	double seconds = 0;

	while (from > text && from[-1] == ' ')
		from--;
	while (from > text && !isspace((unsigned char)from[-1]))
		from--;
	if (clock)
		from = clock + 7;
	else if (from && !isdigit((unsigned char)*from))
		from = word + 4 + strspn(word + 4, " \t");
	if (!from)
		return;
	while (isdigit((unsigned char)*from)) {
		seconds = 60 * seconds + figure(from);
		from += strspn(from, "0123456789.,");
		from += *from == ':' || *from == 'm';
	}
	if (seconds > 0)
		add(ret, seconds);
}

/* Rows of nothing but numbers: file size, record size, then one figure for each test. */
static void count_iozone(char *text, struct count *ret)
{
	char *lines[FIELDS_MAX], *words[FIELDS_MAX];
	size_t n = lines_of(text, lines);

	for (size_t i = 0; i < n; i++) {
		size_t w;

		if (lines[i][strspn(lines[i], "0123456789 \t")])
			continue;
		w = split(lines[i], " \t", 0, words);
		for (size_t k = 2; k < w; k++)
			add(ret, figure(words[k]));
	}
}

/* The rates of its csv line; without one, those of the table of blocks. Its table of files prints the
 * number of files in their place. */
static void count_bonnie(char *text, struct count *ret)
{
	static const unsigned char rates[] = {9, 11, 13, 15, 17, 19, 26, 28, 30, 32, 34, 36};
	char *lines[FIELDS_MAX], *f[FIELDS_MAX];
	size_t n = lines_of(text, lines), row = 0, columns = 0;

	for (size_t i = 0; i < n; i++) {
		char *copy = xstrdup(lines[i]);
		int csv = split(copy, ",", 1, f) >= CSV_FIELDS_MIN;

		for (size_t k = 0; csv && k < sizeof(rates); k++)
			if (isdigit((unsigned char)*f[rates[k]]))
				add(ret, figure(f[rates[k]]));
		free(copy);
		if (csv)
			return;
		if (strstr(lines[i], "Name:Size")) {
			row = i + 1;
			for (char *p = lines[i]; (p = strstr(p, "%CP")); p++)
				columns++;
		}
	}
	if (!row || row >= n)
		return;
	n = split(lines[row], " \t", 0, f);
	for (size_t k = n - 2 * columns; k < n; k += 2)
		if (isdigit((unsigned char)*f[k]))
			add(ret, figure(f[k]));
}

/* Bytes over milliseconds, of one direction; jobs of one name ran together, as long as the longest. A name
 * counts where it stands first. */
static void count_fio_jobs(const json_t *jobs, size_t at, const char *way, struct count *ret)
{
	const char *name = json_string_value(json_object_get(json_array_get(jobs, at), "jobname"));
	double bytes = 0, longest = 0;
	json_t *job;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		const json_t *side = json_object_get(job, way);

		if (strcmp(json_string_value(json_object_get(job, "jobname")), name) != 0)
			continue;
		if (i < at)
			return;
		bytes += json_number_value(json_object_get(side, "io_bytes"));
		longest = fmax(longest, json_number_value(json_object_get(side, "runtime")));
	}
	if (bytes > 0)
		add(ret, bytes * 1000 / longest);
}

/* The last document: those before it show an earlier moment. */
static void count_fio_json(const char *text, struct count *ret)
{
	static const char *const ways[] = {"read", "write", "trim"};
	json_error_t e;
	json_t *doc = json_loads(text, JSON_DISABLE_EOF_CHECK, &e), *jobs;

	assert_non_null(doc);
	jobs = json_object_get(doc, "jobs");
	for (size_t i = 0; i < json_array_size(jobs); i++)
		for (size_t w = 0; w < ARRAY_LEN(ways); w++)
			count_fio_jobs(jobs, i, ways[w], ret);
	json_decref(doc);
}

static void count_fio(char *text, struct count *ret)
{
	static const unsigned char ways[] = {5, 46}; /* KiB; three fields on, milliseconds */
	const char *last = *text == '{' ? text : NULL;
	char *f[FIELDS_MAX];

	for (const char *p = text; (p = strstr(p, "\n{")); p++)
		last = p + 1;
	if (last) {
		count_fio_json(last, ret);
	} else if (!strncmp(text, "3;", 2) && split(text, ";", 1, f) > 50) {
		for (size_t w = 0; w < sizeof(ways); w++)
			if (figure(f[ways[w]]) > 0)
				add(ret, figure(f[ways[w]]) * 1024 * 1000 / figure(f[ways[w] + 3]));
	}
}

static const struct rule {
	const char *tool;
	void (*count)(char *text, struct count *ret); /* may change the text */
	struct {
		const char *metric;
		double unit; /* of what is printed, in ours */
	} figures[2];
} rules[] = {
	{"dd", count_dd, {{"elapsed", 1}}},
	{"time", count_time, {{"elapsed", 1}}},
	{"iozone", count_iozone, {{"throughput", 1024}}},
	{"bonnie++", count_bonnie, {{"throughput", 1024}, {"ops_per_s", 1}}},
	{"fio", count_fio, {{"throughput", 1}}},
};

static size_t captures, captures_read;

static const struct rule *rule_of(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		char folder[32];

		snprintf(folder, sizeof(folder), "/results/%s/", rules[i].tool);
		if (strstr(path, folder))
			return &rules[i];
	}
	return NULL;
}

static double value_of(const struct format_record *r, const char *metric)
{
	for (size_t i = 0; metric && i < r->n_v; i++)
		if (!strcmp(r->v[i].metric, metric))
			return r->v[i].value;
	return NAN;
}

/* Storage of this world: no figure is further off than its unit could be mistaken for. */
static void check_sane(const char *path, const struct format_record *r)
{
	static const struct {
		const char *metric;
		double least, most;
	} bounds[] = {{"elapsed", 1e-4, 1e6}, {"throughput", 1e3, 1e11}, {"ops_per_s", 0.1, 1e8},
		{"latency_mean", 100, 1e11}, {"latency_p50", 100, 1e11}, {"latency_p99", 100, 1e11},
		{"latency_p999", 100, 1e11}, {"latency_max", 100, 1e12}, {"cpu_per_op", 1e-3, 1e7}};
	static const char *const rising[] = {"latency_p50", "latency_p99", "latency_p999", "latency_max"};
	double last = 0;

	for (size_t i = 0; i < r->n_v; i++) {
		size_t k = 0;

		while (k < ARRAY_LEN(bounds) && strcmp(bounds[k].metric, r->v[i].metric))
			k++;
		if (k == ARRAY_LEN(bounds) || !(r->v[i].value >= bounds[k].least && r->v[i].value <= bounds[k].most))
			fail_msg("%s:%zu: %s is %g", path, r->line, r->v[i].metric, r->v[i].value);
	}
	for (size_t i = 0; i < ARRAY_LEN(rising); i++) {
		double v = value_of(r, rising[i]);

		if (v < last)
			fail_msg("%s:%zu: %s is %g, below the one before it", path, r->line, rising[i], v);
		last = isnan(v) ? last : v;
	}
}

static void check_found(const char *path, const struct rule *rule, const struct count *want,
	const struct format_found *f)
{
	struct count got = {0};

	if (strcmp(f->format, rule->tool))
		fail_msg("%s is read as %s", path, f->format);
	for (size_t i = 0; i < f->n_records; i++) {
		for (size_t k = 0; k < 2; k++) {
			double v = value_of(&f->records[i], rule->figures[k].metric);

			if (!isnan(v))
				add(&got, v / rule->figures[k].unit);
		}
		check_sane(path, &f->records[i]);
	}
	if (f->n_records != want->n || got.n != want->n || fabs(got.sum - want->sum) > 1e-6 * want->sum)
		fail_msg("%s: %zu records with %zu figures, sum %.9g; counted by hand: %zu, sum %.9g", path,
			f->n_records, got.n, got.sum, want->n, want->sum);
}

static int read_capture(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const struct rule *rule = rule_of(path);
	struct format_found f = {0};
	struct count want = {0};
	struct buf b = {0};
	char *copy;
	struct err e = {0};

	(void)st;
	(void)at;
	if (type != FTW_F)
		return 0;
	if (!rule)
		fail_msg("%s: there is no rule for that tool", path);
	captures++;
	assert_ok(format_load(path, &b, &e), e);
	copy = xstrdup(buf_str(&b));
	rule->count(copy, &want);
	free(copy);
	if (format_decode(path, &b, &e) || format_read(path, &b, NULL, &f, &e)) {
		assert_has(e.text, path);
		if (want.n)
			fail_msg("%zu figures counted by hand: %s", want.n, e.text);
	} else {
		captures_read++;
		check_found(path, rule, &want, &f);
	}
	format_found_clear(&f);
	buf_free(&b);
	return 0;
}

static void what_tools_printed_is_what_is_read(void **state)
{
	const char *root = getenv("CAPTURES");
	char path[4096];

	(void)state;
	if (!root || !*root)
		skip();
	snprintf(path, sizeof(path), "%s/results", root);
	assert_int_equal(nftw(path, read_capture, 8, FTW_PHYS), 0);
	assert_true(captures > 0);
	assert_true(captures_read * 2 > captures);
}

/* The rules themselves, without any capture. */
static void the_rules_count(void **state)
{
	static const struct {
		const char *tool, *text;
		size_t n;
		double sum;
	} cases[] = {
		{"dd", "1+0 in\n1+0 out\n1024 bytes (1 kB) copied, 0,25 s, 4 kB/s\n", 1, 0.25},
		{"dd", "1+0 in\n1+0 out\n", 0, 0},
		{"time", "\nreal\t1m2,5s\nuser\t0m0,0s\n", 1, 62.5},
		{"time", "real 2.50\nuser 0\n", 1, 2.5},
		{"time", "   3.50 real    0.00 user\n", 1, 3.5},
		{"time", "0.00user 0.00system 1:04.50elapsed 0%CPU\n", 1, 64.5},
		{"time", "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:07.25\n", 1, 7.25},
		{"time", "real 0.00\n", 0, 0},
		{"iozone", "  kB  reclen  write\n  64  4  100  200\n  64  8  300\n\ndone\n", 3, 600},
		{"bonnie++", "Name:Size  /sec %CP  /sec %CP\nh  64M  12k  5 +++++ +++\nfiles\n", 1, 12},
		{"fio",
			"g: x\n{\"jobs\": [{\"jobname\": \"j\", \"read\": {\"io_bytes\": 500, \"runtime\": 1000}},"
			"{\"jobname\": \"j\", \"read\": {\"io_bytes\": 700, \"runtime\": 2000}}]}\nrest\n",
			1, 600},
		{"fio", "fio: failed\n", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char path[64], *copy = xstrdup(cases[i].text);
		struct count c = {0};

		snprintf(path, sizeof(path), "x/results/%s/y", cases[i].tool);
		rule_of(path)->count(copy, &c);
		if (c.n != cases[i].n || fabs(c.sum - cases[i].sum) > 1e-9)
			fail_msg("case %zu: %zu, sum %g", i, c.n, c.sum);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rules_count),
		cmocka_unit_test(what_tools_printed_is_what_is_read),
	};

	return cmocka_run_group_tests_name("captures", tests, NULL, NULL);
}
