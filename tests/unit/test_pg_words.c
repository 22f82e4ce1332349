/*
 * What PostgreSQL's programs say: complaints of pg_restore and psql, pgbench's report and its log of
 * transactions, versions. The texts are in the shape of versions 9.6 to 15.
 */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/pg_errors.h"
#include "agent/workload/pg_find.h"
#include "agent/workload/pgbench_feed.h"
#include "agent/workload/pgbench_report.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

struct complaint {
	const char *name, *program, *text;
	int status, allowed;
	unsigned count;
	enum err_code code; /* NONE: it passes */
	const char *said;   /* part of the error */
};

#define NO_ROLE "pg_restore: error: could not execute query: ERROR:  role \"dan\" does not exist\n"
#define COMMAND "Command was: ALTER TABLE public.ports OWNER TO dan;\n"
static const struct complaint complaints[] = {
	{"none", "pg_restore", "", 0, 0, 0, ERR_NONE, NULL},
	{"a warning is no error", "pg_restore", "pg_restore: warning: invalid creation date\n", 0, 0, 0,
		ERR_NONE, NULL},
	{"a role", "pg_restore",
		"pg_restore: while PROCESSING TOC:\n"
		"pg_restore: from TOC entry 3; 1259 16385 TABLE ports dan\n" NO_ROLE COMMAND
		"pg_restore: warning: errors ignored on restore: 1\n",
		1, 0, 1, ERR_FAILED, "globals"},
	{"a role, allowed", "pg_restore",
		NO_ROLE COMMAND "pg_restore: warning: errors ignored on restore: 1\n", 1, 1, 1, ERR_NONE,
		NULL},
	{"errors with exit status 0", "pg_restore", NO_ROLE COMMAND NO_ROLE COMMAND, 0, 0, 2, ERR_FAILED,
		"met 2 errors"},
	{"the summary knows more", "pg_restore", NO_ROLE "pg_restore: warning: errors ignored on restore: 7\n",
		1, 0, 7, ERR_FAILED, "met 7 errors"},
	{"cut off", "pg_restore",
		"pg_restore: error: could not read from input file: end of file\n", 1, 1, 1, ERR_FAILED,
		"gave up with status 1: could not read from input file"},
	{"version 11", "pg_restore",
		"pg_restore: [archiver (db)] Error while PROCESSING TOC:\n"
		"pg_restore: [archiver (db)] Error from TOC entry 3; 1259 16385 TABLE ports dan\n"
		"pg_restore: [archiver (db)] could not execute query: ERROR:  role \"dan\" does not exist\n"
		"    Command was: ALTER TABLE ports OWNER TO dan;\n"
		"WARNING: errors ignored on restore: 1\n",
		1, 0, 1, ERR_FAILED, "met 1 error, the first: ERROR:  role"},
	{"a full volume", "pg_restore",
		"pg_restore: error: COPY failed for table \"ports\": ERROR:  could not extend file "
		"\"base/16384/16385\": No space left on device\n"
		"pg_restore: warning: errors ignored on restore: 1\n",
		1, 0, 1, ERR_FULL, "the volume is full"},
	{"a locale", "pg_restore",
		"pg_restore: error: could not execute query: ERROR:  collation \"de_DE.utf8\" for encoding "
		"\"UTF8\" does not exist\n" COMMAND "pg_restore: warning: errors ignored on restore: 1\n",
		1, 0, 1, ERR_FAILED, "locale-gen"},
	{"a database's locale", "psql",
		"psql:/srv/a.sql:20: ERROR:  invalid locale name: \"xx_XX.utf8\"\n", 3, 0, 1, ERR_FAILED,
		"locale-gen"},
	{"psql goes on", "psql",
		"psql:/srv/a.sql:12: ERROR:  relation \"ports\" already exists\n"
		"psql:/srv/a.sql:15: NOTICE:  nothing\n",
		0, 0, 1, ERR_FAILED, "met 1 error, the first: ERROR:  relation"},
	{"psql stops", "psql", "psql:/srv/a.sql:12: ERROR:  syntax error at or near \"PGDMP\"\n", 3, 1, 1,
		ERR_FAILED, "gave up with status 3"},
	{"psql has no connection", "psql",
		"psql: error: connection to server on socket failed: FATAL:  database does not exist\n", 2,
		0, 1, ERR_FAILED, "gave up with status 2: connection"},
};

static void complaints_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(complaints); i++) {
		const struct complaint *c = &complaints[i];
		struct proc_result r = {.exited = 1, .exit_status = c->status};
		struct pg_errors found;
		struct err e = {0};
		int rc;

		buf_adds(&r.err, c->text);
		pg_errors_read(c->program, &r, &found);
		if (found.count != c->count)
			fail_msg("%s: %u errors", c->name, found.count);
		rc = pg_errors_check(&found, c->program, c->allowed, &r, &e);
		if ((rc != 0) != (c->code != ERR_NONE) || (rc && e.code != c->code))
			fail_msg("%s: %d, code %d: %s", c->name, rc, (int)e.code, e.text);
		if (c->said && !strstr(e.text, c->said))
			fail_msg("%s: '%s' says no '%s'", c->name, e.text, c->said);
		pg_errors_clear(&found);
		proc_result_free(&r);
	}
}

/* Those of a file of pg_dumpall -g that ran before; the first other one is what is said. */
static void roles_that_are_there_are_counted_by_themselves(void **state)
{
	struct proc_result r = {.exited = 1};
	struct pg_errors found;

	(void)state;
	buf_adds(&r.err, "psql:/g.sql:12: ERROR:  role \"postgres\" already exists\n"
			 "psql:/g.sql:14: ERROR:  role \"dan\" already exists\n");
	pg_errors_read("psql", &r, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.known_roles, 2);
	assert_string_equal(found.first, "ERROR:  role \"postgres\" already exists");
	pg_errors_clear(&found);
	buf_adds(&r.err, "psql:/g.sql:16: ERROR:  tablespace \"fast\" does not exist\n"
			 "psql:/g.sql:18: ERROR:  role \"eve\" already exists\n");
	pg_errors_read("psql", &r, &found);
	assert_int_equal(found.count, 4);
	assert_int_equal(found.known_roles, 3);
	assert_string_equal(found.first, "ERROR:  tablespace \"fast\" does not exist");
	pg_errors_clear(&found);
	proc_result_free(&r);
}

/* Over the cap the summary is cut off. */
static void cut_output_is_a_lower_bound(void **state)
{
	struct proc_result r = {.exited = 1, .exit_status = 1, .err_dropped = 1000};
	struct pg_errors found;
	struct err e;

	(void)state;
	buf_adds(&r.err, NO_ROLE COMMAND);
	pg_errors_read("pg_restore", &r, &found);
	assert_int_equal(pg_errors_check(&found, "pg_restore", 1, &r, &e), 0);
	assert_int_equal(pg_errors_check(&found, "pg_restore", 0, &r, &e), -1);
	assert_non_null(strstr(e.text, "at least 1 error"));
	pg_errors_clear(&found);
	proc_result_free(&r);
}

static void reports_are_read(void **state)
{
	struct pgbench_report r;

	(void)state;
	pgbench_report_read("transaction type: <builtin: TPC-B (sort of)>\n"
			    "number of transactions actually processed: 5959\n"
			    "number of failed transactions: 3 (0.050%)\n"
			    "latency average = 1.004 ms\n"
			    "initial connection time = 13.540 ms\n"
			    "tps = 1992.989920 (without initial connection time)\n",
		&r);
	assert_int_equal(r.transactions, 5959);
	assert_int_equal(r.failed, 3);
	assert_true(r.tps > 1992.98 && r.tps < 1992.99 && r.tps_with_connecting < 0);
	assert_true(r.connecting_ms > 13.5 && r.connecting_ms < 13.6);
	pgbench_report_read("number of transactions actually processed: 12\n"
			    "latency average = 16.546 ms\n"
			    "tps = 120.5 (including connections establishing)\n"
			    "tps = 121.5 (excluding connections establishing)\n",
		&r);
	assert_true(r.tps > 121.4 && r.tps < 121.6);
	assert_true(r.tps_with_connecting > 120.4 && r.tps_with_connecting < 120.6);
	assert_int_equal(r.failed, -1);
	pgbench_report_read("pgbench: error: client 0 aborted in command 4\n", &r);
	assert_int_equal(r.transactions, -1);
	assert_true(r.aborted);
}

static void transactions_are_read(void **state)
{
	static const struct {
		const char *line;
		int rc, failed;
		int64_t ns;
	} cases[] = {
		{"0 1 1537 0 1796058814 123456", 1, 0, 1537000},
		{"12 99 0 0 1796058814 999999 15 0", 1, 0, 0},
		{"0 2 skipped 0 1796058814 5", 0, 0, 0},
		{"0 2 failed 0 1796058814 5 1", 0, 1, 0},
		{"0 2 serialization 0 1796058814 5 1", 0, 1, 0},
		{"", -1, 0, 0},
		{"words", -1, 0, 0},
		{"0 1 -5 0 0 0", -1, 0, 0},
		{"0 1 99999999999999999999 0 0 0", -1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t ns = 0;
		int failed;

		assert_int_equal(pgbench_line(cases[i].line, &ns, &failed), cases[i].rc);
		assert_int_equal(failed, cases[i].failed);
		assert_int_equal(ns, cases[i].ns);
	}
}

/* ---- versions ---- */

static void majors_are_read(void **state)
{
	(void)state;
	assert_int_equal(pg_major("15.18"), 15);
	assert_int_equal(pg_major("9.6.24"), 906);
	assert_int_equal(pg_major("18beta1"), 18);
	assert_int_equal(pg_major("15\n"), 15);
	assert_int_equal(pg_major("x"), 0);
}

/* A server that only knows its version: a script, as the programs are run by their paths. */
static void install(const char *dir, const char *version)
{
	char *bin = xasprintf("%s/%s/bin", dir, version), *path = xasprintf("%s/postgres", bin);
	char *text = xasprintf("#!/bin/sh\necho 'postgres (PostgreSQL) %s (a test)'\n", version);
	struct err e;

	assert_ok(fs_mkdir_p(bin, 0755, &e), e);
	assert_ok(fs_write_file(path, text, strlen(text), 0755, &e), e);
	free(bin);
	free(path);
	free(text);
}

static void expect(const char *const *patterns, const char *wanted, const char *version)
{
	struct pg_programs found = {0};
	struct err e;

	assert_ok(pg_find_in(patterns, wanted, &found, &e), e);
	assert_string_equal(found.version, version);
	pg_programs_clear(&found);
}

static void the_newest_is_found(void **state)
{
	char dir[] = "/tmp/arraymark-test-XXXXXX";
	char *pattern;
	const char *patterns[2] = {0};
	struct pg_programs found;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	patterns[0] = pattern = xasprintf("%s/*/bin", dir);
	assert_int_equal(pg_find_in(patterns, NULL, &found, &e), -1);
	assert_int_equal(e.code, ERR_NOTFOUND);
	assert_non_null(strstr(e.text, "no PostgreSQL server is installed here"));
	install(dir, "9.6.24");
	install(dir, "15.9");
	install(dir, "15.18");
	install(dir, "17beta1");
	expect(patterns, NULL, "17beta1");
	expect(patterns, "15", "15.18");
	expect(patterns, "15.9", "15.9");
	expect(patterns, "9.6", "9.6.24");
	install(dir, "17.0");
	expect(patterns, "17", "17.0");
	assert_int_equal(pg_find_in(patterns, "1", &found, &e), -1);
	assert_int_equal(pg_find_in(patterns, "16", &found, &e), -1);
	assert_non_null(strstr(e.text, "PostgreSQL 16 is not installed here: there is 15.18 in"));
	assert_ok(fs_remove_tree(dir, &e), e);
	free(pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complaints_are_read),
		cmocka_unit_test(roles_that_are_there_are_counted_by_themselves),
		cmocka_unit_test(cut_output_is_a_lower_bound),
		cmocka_unit_test(reports_are_read),
		cmocka_unit_test(transactions_are_read),
		cmocka_unit_test(majors_are_read),
		cmocka_unit_test(the_newest_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
