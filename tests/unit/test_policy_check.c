/* Enforcing the policy: each line allows exactly what it names, and a refusal names the line. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/policy/policy_check.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define HEAD "name: p\nhosts: [h]\ntrials: 3\n"
#define TAIL "workloads:\n  w: {stream: {op: write, size: 1M}}\n"
#define POOL "layouts:\n  L: {pool: {level: stripe, disks: 1}}\n"
#define SCRATCH_2G                                                                                 \
	"layouts:\n"                                                                               \
	"  a: {scratch: {disks: 2, size: 1G}, pool: {level: mirror, disks: 2}}\n"                  \
	"  b: {scratch: {disks: 1, size: 1G}, pool: {level: stripe, disks: 1}}\n"

static char home[] = "/tmp/arraymark-policy-XXXXXX";

static struct plan *plan_of(const char *body)
{
	char *text = xasprintf(HEAD "%s" TAIL, body);
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	assert_ok(plan_parse("p", text, strlen(text), NULL, &p, &errs, &e), e);
	yaml_errors_free(&errs);
	free(text);
	return p;
}

static struct policy *policy_of(const char *text)
{
	struct yaml_errors errs = {0};
	struct policy *p = NULL;
	struct err e;

	assert_ok(policy_parse("y", text, strlen(text), &p, &errs, &e), e);
	yaml_errors_free(&errs);
	return p;
}

static struct inv_disk disks[] = {
	{.name = "sda", .serial = "AAA", .wwn = "0x5000c5000000000a"},
	{.name = "sdb", .wwn = "0x5000c5000000000b"},
};
static const struct inventory inventory = {.disks = disks, .n_disks = ARRAY_LEN(disks)};

struct row {
	const char *name, *policy, *plan;
	const char *disk; /* bound to the first layout, or NULL */
	int64_t deadline_s;
	enum err_code code; /* ERR_NONE: allowed */
	const char *text;
};
static const struct row rows[] = {
	{"an empty policy allows no scratch", "tags: [a]\n", SCRATCH_2G, NULL, 0, ERR_DENIED,
		"allow.scratch"},
	{"scratch, one layout at a time",
		"allow: {scratch: {directory: /s, limit: 2G}}\n", SCRATCH_2G, NULL, 0, ERR_NONE, NULL},
	{"scratch, all layouts at once",
		"allow: {scratch: {directory: /s, limit: 2G}}\n", SCRATCH_2G "builds: once\n", NULL, 0,
		ERR_DENIED, "allow.scratch.limit"},
	{"scratch over the limit", "allow: {scratch: {directory: /s, limit: 1500M}}\n", SCRATCH_2G,
		NULL, 0, ERR_DENIED, "allow.scratch.limit"},
	{"an existing directory", "allow: {directories: [{path: /tank/bench}]}\n",
		"layouts:\n  L: {existing: /tank/bench/here}\n", NULL, 0, ERR_NONE, NULL},
	{"its neighbour", "allow: {directories: [{path: /tank/bench}]}\n",
		"layouts:\n  L: {existing: /tank/bench2}\n", NULL, 0, ERR_DENIED, "allow.directories"},
	{"what is above it", "allow: {directories: [{path: /tank/bench}]}\n",
		"layouts:\n  L: {existing: /tank}\n", NULL, 0, ERR_DENIED, "allow.directories"},
	{"no directories", "tags: [a]\n", "layouts:\n  L: {existing: /tank}\n", NULL, 0, ERR_DENIED,
		"allow.directories"},
	{"a disk by its serial", "allow: {disks: [\"serial:AAA\"]}\n", POOL, "serial:AAA", 0,
		ERR_NONE, NULL},
	{"bound by serial, named by WWN", "allow: {disks: [\"wwn:0x5000c5000000000a\"]}\n", POOL,
		"serial:AAA", 0, ERR_NONE, NULL},
	{"a pattern", "allow: {disks: [\"wwn:0x5000c500*\"]}\n", POOL, "wwn:0x5000c5000000000b", 0,
		ERR_NONE, NULL},
	{"another disk", "allow: {disks: [\"serial:AAA\"]}\n", POOL, "wwn:0x5000c5000000000b", 0,
		ERR_DENIED, "allow.disks"},
	{"the layout is named", "tags: [a]\n", POOL, "serial:AAA", 0, ERR_DENIED, "layout L"},
	{"a disk that this host lacks", "allow: {disks: [\"serial:*\"]}\n", POOL, "serial:ZZZ", 0,
		ERR_NOTFOUND, "serial:ZZZ"},
	{"a deadline within the limit", "limits: {job: 2h}\n"
					"allow: {disks: [\"serial:AAA\"]}\n",
		POOL, "serial:AAA", 7200, ERR_NONE, NULL},
	{"a deadline over the limit", "limits: {job: 2h}\n", POOL, NULL, 7201, ERR_DENIED,
		"limits.job"},
	{"a plan that nobody approved", "allow: {plans: approved}\n", POOL, NULL, 0, ERR_DENIED,
		"arraymark-agent approve"},
};

static void check_row(const struct row *row)
{
	struct plan *plan = plan_of(row->plan);
	struct policy *policy = policy_of(row->policy);
	struct bound_disks bound = {.role = (char *)"data"};
	struct policy_request r = {.plan = plan, .disks = &bound, .n_disks = row->disk ? 1 : 0,
		.inv = &inventory, .state_dir = home, .policy_path = "/etc/policy.yaml",
		.now = time(NULL), .deadline_ns = row->deadline_s * NS_PER_S};
	struct err e = {0};
	int status;

	if (row->disk)
		strv_add(&bound.ids, row->disk);
	status = policy_check_job(policy, &r, &e);
	if ((status != 0) != (row->code != ERR_NONE) || e.code != row->code)
		fail_msg("%s: %s", row->name, status ? e.text : "was allowed");
	if (row->text) {
		assert_has(e.text, row->text);
		assert_has(e.text, "/etc/policy.yaml");
	}
	strv_free(&bound.ids);
	policy_free(policy);
	plan_free(plan);
}

static void jobs_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_row(&rows[i]);
}

static time_t at(int hour, int minute)
{
	struct tm t = {.tm_year = 126, .tm_mon = 10, .tm_mday = 30, .tm_hour = hour,
		.tm_min = minute, .tm_sec = 30, .tm_isdst = -1};

	return mktime(&t);
}

static void hours_are_kept(void **state)
{
	static const struct {
		const char *policy;
		int hour, minute, allowed;
		long left; /* seconds until they end; 0: they never do */
	} cases[] = {
		{"tags: [a]\n", 12, 0, 1, 0},
		{"hours: 22:00-06:00\n", 21, 59, 0, 0},
		{"hours: 22:00-06:00\n", 22, 0, 1, 8 * 3600 - 30},
		{"hours: 22:00-06:00\n", 0, 0, 1, 6 * 3600 - 30},
		{"hours: 22:00-06:00\n", 5, 59, 1, 30},
		{"hours: 22:00-06:00\n", 6, 0, 0, 0},
		{"hours: 09:30-17:00\n", 9, 29, 0, 0},
		{"hours: 09:30-17:00\n", 9, 30, 1, 7 * 3600 + 1800 - 30},
		{"hours: 09:30-17:00\n", 17, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct policy *p = policy_of(cases[i].policy);
		time_t now = at(cases[i].hour, cases[i].minute), until = -1;
		struct err e = {0};
		int status = policy_check_hours(p, now, &until, &e);

		assert_int_equal(status, cases[i].allowed ? 0 : -1);
		if (!cases[i].allowed)
			assert_has(e.text, "hours: ");
		else
			assert_int_equal(until ? until - now : 0, cases[i].left);
		policy_free(p);
	}
}

static void the_lesser_limit_counts(void **state)
{
	struct policy *p = policy_of("limits: {job: 2h}\n"), *none = policy_of("tags: [a]\n");
	const int64_t hour = 3600 * NS_PER_S;

	(void)state;
	assert_true(policy_job_limit(p, 0) == 2 * hour);
	assert_true(policy_job_limit(p, hour) == hour);
	assert_true(policy_job_limit(p, 3 * hour) == 2 * hour);
	assert_true(policy_job_limit(none, 0) == 0);
	assert_true(policy_job_limit(none, hour) == hour);
	policy_free(p);
	policy_free(none);
}

static void approvals_are_files_of_the_owner(void **state)
{
	struct plan *plan = plan_of(POOL);
	struct policy *policy = policy_of("allow: {plans: approved, disks: [\"serial:*\"]}\n");
	struct policy_request r = {.plan = plan, .inv = &inventory, .state_dir = home,
		.policy_path = "y", .now = time(NULL)};
	char *path = xasprintf("%s/approved/%s", home, plan->sha256);
	struct err e;

	(void)state;
	assert_int_equal(policy_check_job(policy, &r, &e), -1);
	assert_has(e.text, plan->sha256);
	assert_int_equal(policy_approve(home, "../../etc/passwd", &e), -1);
	assert_int_equal(policy_approve(home, "ABCDEF", &e), -1);
	assert_ok(policy_approve(home, plan->sha256, &e), e);
	assert_ok(policy_check_job(policy, &r, &e), e);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(policy_check_job(policy, &r, &e), -1);
	free(path);
	policy_free(policy);
	plan_free(plan);
}

static void directories_are_resolved(void **state)
{
	char *allowed = xasprintf("%s/allowed", home), *other = xasprintf("%s/other", home);
	char *deep = xasprintf("%s/deep", allowed), *out = xasprintf("%s/out", allowed);
	char *in = xasprintf("%s/in", home), *file = xasprintf("%s/file", allowed);
	char *text = xasprintf("allow: {directories: [{path: %s/none}, {path: %s, remount: true}]}\n",
		home, allowed);
	struct policy *p = policy_of(text);
	char *real = NULL;
	int remount = 0;
	struct err e;

	(void)state;
	assert_ok(fs_mkdir_p(deep, 0755, &e), e);
	assert_ok(fs_mkdir_p(other, 0755, &e), e);
	assert_ok(fs_write_file(file, "", 0, 0644, &e), e);
	assert_int_equal(symlink(other, out), 0);
	assert_int_equal(symlink(deep, in), 0);
	assert_ok(policy_check_directory(p, deep, &real, &remount, &e), e);
	assert_string_equal(real, deep);
	assert_int_equal(remount, 1);
	free(real);
	/* A link into the directory is fine, a link out of it is where it leads. */
	assert_ok(policy_check_directory(p, in, &real, &remount, &e), e);
	assert_string_equal(real, deep);
	free(real);
	assert_int_equal(policy_check_directory(p, out, &real, &remount, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, other);
	assert_int_equal(policy_check_directory(p, other, &real, &remount, &e), -1);
	assert_int_equal(policy_check_directory(p, file, &real, &remount, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	policy_free(p);
	free(allowed);
	free(other);
	free(deep);
	free(out);
	free(in);
	free(file);
	free(text);
}

/* Who may write in the folder above it could put a link to anywhere in its place. */
static void others_cannot_move_a_directory(void **state)
{
	char *above = xasprintf("%s/above", home), *named = xasprintf("%s/bench/", above);
	char *link = xasprintf("%s/link", home);
	char *text = xasprintf("allow: {directories: [{path: %s}]}\n", named);
	char *linked = xasprintf("allow: {directories: [{path: %s}]}\n", link);
	struct policy *p = policy_of(text), *by_link = policy_of(linked);
	char *real = NULL;
	int remount;
	struct err e;

	(void)state;
	if (geteuid() != 0)
		skip(); /* an ordinary user's agent leaves this to its user's rights */
	assert_ok(fs_mkdir_p(named, 0755, &e), e);
	assert_int_equal(chmod(named, 0777), 0);
	assert_int_equal(symlink(named, link), 0);
	assert_ok(policy_check_directory(p, named, &real, &remount, &e), e);
	free(real);
	assert_ok(policy_check_directory(by_link, link, &real, &remount, &e), e);
	free(real);
	assert_int_equal(chmod(above, 0777), 0);
	assert_int_equal(policy_check_directory(p, named, &real, &remount, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, "allow.directories");
	assert_has(e.text, above);
	assert_int_equal(policy_check_directory(by_link, link, &real, &remount, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	policy_free(p);
	policy_free(by_link);
	free(above);
	free(named);
	free(link);
	free(text);
	free(linked);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	return fs_remove_tree(home, &e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_checked),
		cmocka_unit_test(hours_are_kept),
		cmocka_unit_test(the_lesser_limit_counts),
		cmocka_unit_test(approvals_are_files_of_the_owner),
		cmocka_unit_test(directories_are_resolved),
		cmocka_unit_test(others_cannot_move_a_directory),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
