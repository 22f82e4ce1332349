/* Policies of hosts: right and wrong texts, who may own the file, which disks a list names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/policy.h"

static const char full[] = "coordinator: bench.example.org\n"
			   "tags: [pool-node, rack:12]\n"
			   "allow:\n"
			   "  disks: [serial:9XG4K7Q1, 'serial:9XG5*', wwn:0x5000c5003a1b2c3d]\n"
			   "  wipe: [serial:9XG4K7Q1]\n"
			   "  scan: true\n"
			   "  controllers: [megacli:0]\n"
			   "  directories: [{path: /tank/bench, remount: true}, /srv/other/]\n"
			   "  scratch: {directory: /var/lib/arraymark/scratch, limit: 20G}\n"
			   "  inputs: ['/srv/*.dump']\n"
			   "  programs: [/usr/bin/fio]\n"
			   "  plans: approved\n"
			   "hooks: {before: /etc/arraymark/before, after: /etc/arraymark/after}\n"
			   "hours: 22:00-06:30\n"
			   "limits: {job: 12h}\n";

static void test_full(void **state)
{
	struct yaml_errors errs = {0};
	struct policy *p;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse("agent.yaml", full, strlen(full), &p, &errs, &e), 0);
	assert_string_equal(p->coordinator, "bench.example.org:7420");
	assert_int_equal(p->tags.n, 2);
	assert_int_equal(p->disks.n, 3);
	assert_int_equal(p->wipe.n, 1);
	assert_int_equal(p->scan, 1);
	assert_string_equal(p->controllers.v[0], "megacli:0");
	assert_int_equal(p->n_directories, 2);
	assert_int_equal(p->directories[0].remount, 1);
	assert_string_equal(p->directories[1].path, "/srv/other");
	assert_int_equal(p->directories[1].remount, 0);
	assert_string_equal(p->scratch_directory, "/var/lib/arraymark/scratch");
	assert_int_equal(p->scratch_limit, 20LL << 30);
	assert_string_equal(p->inputs.v[0], "/srv/*.dump");
	assert_string_equal(p->programs.v[0], "/usr/bin/fio");
	assert_int_equal(p->plans_approved_only, 1);
	assert_string_equal(p->hook_before, "/etc/arraymark/before");
	assert_string_equal(p->hook_after, "/etc/arraymark/after");
	assert_int_equal(p->hours_from, 22 * 60);
	assert_int_equal(p->hours_to, 6 * 60 + 30);
	assert_int_equal(p->job_limit_ns, 12 * 3600 * NS_PER_S);
	policy_free(p);
	yaml_errors_free(&errs);
}

/* Nothing named, nothing allowed. */
static void test_empty(void **state)
{
	static const char *const texts[] = {
		"", "# nothing\n", "allow:\n", "allow: {}\n", "allow:\n  disks:\n  wipe: []\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct yaml_errors errs = {0};
		struct policy *p;
		struct err e;

		if (policy_parse("agent.yaml", texts[i], strlen(texts[i]), &p, &errs, &e))
			fail_msg("'%s': %s", texts[i], e.text);
		assert_int_equal(p->disks.n + p->wipe.n + p->controllers.n + p->inputs.n +
					 p->programs.n + p->n_directories,
			0);
		assert_null(p->scratch_directory);
		assert_int_equal(p->scan, 0);
		assert_int_equal(p->hours_from, -1);
		assert_false(policy_names_disk(&p->disks, "serial:A"));
		policy_free(p);
		yaml_errors_free(&errs);
	}
}

static const struct {
	const char *text, *expected;
} wrong_texts[] = {
	{"- a\n", "1:1: a policy must be a map of keys and values\n"},
	{"alow: {}\n", "1:1: 'alow' is not a key of a policy; did you mean 'allow'?\n"},
	{"allow: {disk: [serial:A]}\n",
		"1:9: allow: 'disk' is not a key of allow; did you mean 'disks'?\n"},
	{"allow: {disks: [sdb, /dev/sdc, X, 'serial:']}\n",
		"1:17: allow.disks: 'sdb' is a name that may be another disk after the "
		"next "
		"start: use serial:… or wwn:…, which `arraymark-agent policy init` writes\n"
		"1:22: allow.disks: '/dev/sdc' is a name that may be another disk after "
		"the "
		"next start: use serial:… or wwn:…, which `arraymark-agent policy init` "
		"writes\n"
		"1:32: allow.disks: 'X' must be serial:… or wwn:…\n"
		"1:35: allow.disks: 'serial:' must be serial:… or wwn:…\n"},
	{"allow: {wipe: [nvme0n1]}\n",
		"1:16: allow.wipe: 'nvme0n1' is a name that may be another disk after the "
		"next start: use serial:… or wwn:…, which `arraymark-agent policy init` "
		"writes\n"},
	{"allow: {controllers: [megacli, megaclj:0, md:x]}\n",
		"1:22: allow.controllers: 'megacli' must be a driver and a number, such as "
		"megacli:0\n"
		"1:22: allow.controllers: 'megaclj:0' must be a driver and a number, such "
		"as "
		"megacli:0; did you mean 'megacli'?\n"
		"1:22: allow.controllers: 'md:x' must be a driver and a number, such as "
		"megacli:0\n"},
	{"allow: {directories: [{path: tank}, {remount: true}, /, /a/../b]}\n",
		"1:30: allow.directories.path: 'tank' must be an absolute path\n"
		"1:37: allow.directories: 'path' is missing: the folder\n"
		"1:54: allow.directories: '/' would allow to write anywhere: name a "
		"folder\n"
		"1:57: allow.directories: '/a/../b' must not contain '..'\n"},
	{"allow: {directories: /tank}\n",
		"1:22: allow.directories: must be a list of at most 256 folders: [{path: "
		"/tank/bench, remount: false}]\n"},
	{"allow: {scratch: {directory: /}}\n",
		"1:18: allow.scratch: 'limit' is missing: how much they may take, such as "
		"20G\n"
		"1:18: allow.scratch: '/' is not a folder of its own for scratch files\n"},
	{"allow: {scratch: {directory: /x, limit: 1K}}\n",
		"1:41: allow.scratch.limit: '1K' is outside of 64 MiB to 8 EiB\n"},
	{"allow: {inputs: [a], programs: [fio]}\n",
		"1:18: allow.inputs: 'a' must be an absolute path\n"
		"1:33: allow.programs: 'fio' must be an absolute path\n"},
	{"allow: {plans: all, scan: 2}\n",
		"1:16: allow.plans: 'all' is not a choice of plans (any, approved)\n"
		"1:27: allow.scan: '2' must be true or false\n"},
	{"hours: 25:00-06:00\n", "1:8: hours: '25:00-06:00' must be two different times, such as "
				 "22:00-06:00\n"},
	{"hours: 22:00\n",
		"1:8: hours: '22:00' must be two different times, such as 22:00-06:00\n"},
	{"hours: 22:00-22:00\n", "1:8: hours: '22:00-22:00' must be two different times, such as "
				 "22:00-06:00\n"},
	{"limits: {job: 5}\n", "1:15: limits.job: '5' is not a time (500ms, 30s, 5m, 2h, 3d)\n"},
	{"hooks: {before: run-me}\n", "1:17: hooks.before: 'run-me' must be an absolute path\n"},
	{"coordinator: 'a b'\n", "1:14: coordinator: 'a b' must be host or host:port, such as "
				 "bench.example.org:7420\n"},
	{"coordinator: a:70000\n",
		"1:14: coordinator: 'a:70000' must be host or host:port, such as "
		"bench.example.org:7420\n"},
	{"tags: ['a b']\n", "1:7: tags: 'a b' is not a tag: 1 to 64 letters, digits, '_', "
			    "'+', '-', ':' "
			    "and '.', starting with a letter or digit\n"},
	{"tags: [a\n", "2:1: not valid YAML: did not find expected ',' or ']' while parsing a "
		       "flow sequence\n"},
};

static void test_wrong(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong_texts); i++) {
		struct yaml_errors errs = {0};
		struct policy *p = NULL;
		struct buf got = {0};
		struct err e;

		if (policy_parse("agent.yaml", wrong_texts[i].text, strlen(wrong_texts[i].text), &p,
			    &errs, &e) == 0)
			fail_msg("taken as right: %s", wrong_texts[i].text);
		for (size_t j = 0; j < errs.list.n; j++)
			buf_addf(&got, "%s\n", errs.list.v[j] + strlen("agent.yaml:"));
		if (strcmp(buf_str(&got), wrong_texts[i].expected))
			fail_msg("%sgot:\n%sexpected:\n%s", wrong_texts[i].text, buf_str(&got),
				wrong_texts[i].expected);
		assert_int_equal(e.code, ERR_INPUT);
		buf_free(&got);
		yaml_errors_free(&errs);
	}
}

static void test_coordinators(void **state)
{
	static const struct {
		const char *text, *expected;
	} table[] = {{"coordinator: h\n", "h:7420"}, {"coordinator: h:1\n", "h:1"},
		{"coordinator: '[::1]'\n", "[::1]:7420"},
		{"coordinator: '[fe80::1]:99'\n", "[fe80::1]:99"},
		{"coordinator: 10.0.0.1:7420\n", "10.0.0.1:7420"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct yaml_errors errs = {0};
		struct policy *p;
		struct err e;

		if (policy_parse("agent.yaml", table[i].text, strlen(table[i].text), &p, &errs, &e))
			fail_msg("%s", e.text);
		assert_string_equal(p->coordinator, table[i].expected);
		policy_free(p);
		yaml_errors_free(&errs);
	}
}

static void test_disk_names(void **state)
{
	static const struct {
		const char *id;
		int named;
	} table[] = {{"serial:9XG4K7Q1", 1}, {"serial:9XG5ABC", 1}, {"serial:9xg4k7q1", 0},
		{"serial:9XG4K7Q", 0}, {"serial:9XG4K7Q11", 0}, {"wwn:0x5000C5003A1B2C3D", 1},
		{"wwn:0x5000c5003a1b2c3e", 0}, {"", 0}, {"serial:", 0}};
	struct strv list = {0};

	(void)state;
	strv_add(&list, "serial:9XG4K7Q1");
	strv_add(&list, "serial:9XG5*");
	strv_add(&list, "wwn:0x5000c5003a1b2c3d");
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (policy_names_disk(&list, table[i].id) != table[i].named)
			fail_msg("%s", table[i].id);
	strv_free(&list);
}

/* A folder that only we write to, as the check of owners wants it for every parent. */
static char *make_folder(void)
{
	char template[] = "build/test-policy-XXXXXX", *path;
	struct err e;

	assert_int_equal(fs_mkdir_p("build", 0755, &e), 0);
	assert_non_null(mkdtemp(template));
	assert_int_equal(fs_realpath(template, &path, &e), 0);
	return path;
}

static void write_policy(const char *path, mode_t mode)
{
	struct err e;

	assert_int_equal(fs_write_file(path, full, strlen(full), 0600, &e), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_load(void **state)
{
	char *dir = make_folder(), *path = xasprintf("%s/agent.yaml", dir);
	struct yaml_errors errs = {0};
	struct policy *p = NULL;
	struct err e;

	(void)state;
	assert_int_equal(policy_load(path, &p, &errs, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_non_null(strstr(e.text, "arraymark-agent policy init"));
	write_policy(path, 0666);
	assert_int_equal(policy_load(path, &p, &errs, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_non_null(strstr(e.text, path));
	write_policy(path, 0620);
	assert_int_equal(policy_load(path, &p, &errs, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_null(p);
	write_policy(path, 0600);
	if (policy_load(path, &p, &errs, &e))
		fail_msg("%s", e.text);
	assert_int_equal(p->disks.n, 3);
	policy_free(p);
	yaml_errors_free(&errs);
	assert_int_equal(fs_remove_tree(dir, &e), 0);
	free(path);
	free(dir);
}

static void test_shipped(void **state)
{
	struct yaml_errors errs = {0};
	struct buf text = {0};
	struct policy *p;
	struct err e;

	(void)state;
	if (fs_read_file("deploy/examples/agent.yaml", YAML_MAX_BYTES, &text, &e))
		fail_msg("%s (tests run from the top of the tree)", e.text);
	if (policy_parse("agent.yaml", text.data, text.len, &p, &errs, &e))
		fail_msg("%s", e.text);
	assert_int_equal(p->disks.n, 0);
	policy_free(p);
	buf_free(&text);
	yaml_errors_free(&errs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_coordinators),
		cmocka_unit_test(test_disk_names),
		cmocka_unit_test(test_load),
		cmocka_unit_test(test_shipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
