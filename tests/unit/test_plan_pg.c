/* Plans of PostgreSQL workloads: what is read, what is wrong and what is said about it. */
#include "tests/unit/plan_wrong.h"

#include "common/base/units.h"
#include "common/plan/work_pg.h"
#include "common/plan/workload.h"

#define KINDS(lines) TOP EXISTING "workloads:\n" lines
#define LOAD "  load: {pg_restore: {dump: /srv/a.dump}}\n"

static const struct wrong restores[] = {
	{"nothing to restore", KINDS("  w: {pg_restore: {jobs: 8}}\n"),
		"7:19: workloads.w.pg_restore: what to restore is missing: dump: FILE, or scale: N for "
		"one that is made\n"},
	{"two dumps", KINDS("  w: {pg_restore: {dump: /srv/a.dump, scale: 3}}\n"),
		"7:46: workloads.w.pg_restore.scale: the dump is given by 'dump' or made by 'scale', "
		"not both\n"},
	{"a relative dump", KINDS("  w: {pg_restore: {dump: a.dump}}\n"),
		"7:26: workloads.w.pg_restore.dump: 'a.dump' must be an absolute path\n"},
	{"keys", KINDS("  w: {pg_restore: {dump: /a, job: 3, encoding: 'a b', template: x}}\n"),
		"7:30: workloads.w.pg_restore: 'job' is not a key of pg_restore; did you mean 'jobs'?\n"
		"7:48: workloads.w.pg_restore.encoding: 'a b' is not a name of 1 to 63 of the "
		"characters abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-\n"
		"7:65: workloads.w.pg_restore.template: 'x' is not a template (template0, template1)\n"},
	{"formats", KINDS("  w: {pg_restore: {scale: 1, format: directory}}\n"
			  "  x: {pg_restore: {dump: /a, format: plain, jobs: 2, no-owner: true}}\n"
			  "  y: {pg_restore: {dump: /a, format: tar, jobs: 2}}\n"),
		"7:38: workloads.w.pg_restore.format: a dump that is made is one file: use custom, "
		"plain or tar\n"
		"8:51: workloads.x.pg_restore.jobs: a plain dump is run by one psql: jobs need custom "
		"or directory\n"
		"8:64: workloads.x.pg_restore.no-owner: a plain dump sets its owners itself: make it "
		"with pg_dump --no-owner\n"
		"9:49: workloads.y.pg_restore.jobs: a tar is read from its front by one pg_restore: "
		"jobs need custom or directory\n"},
	{"hash", KINDS("  w: {pg_restore: {dump: /a, sha256: ABC}}\n"
		       "  x: {pg_restore: {scale: 1, sha256: "
		       "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}}\n"),
		"7:38: workloads.w.pg_restore.sha256: 'ABC' is not a SHA-256 of 64 lower-case hex "
		"digits\n"
		"8:38: workloads.x.pg_restore.sha256: belongs to a 'dump' that is given\n"},
	{"settings that run programs",
		KINDS("  w: {pg_restore: {dump: /a, settings: {archive_command: rm, "
		      "shared_bufers: 1GB, work_mem: 'a;b', fsync: off}}}\n"),
		"7:41: workloads.w.pg_restore.settings: 'archive_command' is not a setting that a plan "
		"may make (arraymark-plan(5) lists them)\n"
		"7:62: workloads.w.pg_restore.settings: 'shared_bufers' is not a setting that a plan "
		"may make; did you mean 'shared_buffers'? (arraymark-plan(5) lists them)\n"
		"7:92: workloads.w.pg_restore.settings.work_mem: 'a;b' is not one plain word, such as "
		"on, 0.9 or 256MB\n"},
	{"settings that are none", KINDS("  w: {pg_restore: {dump: /a, settings: [fsync]}}\n"),
		"7:40: workloads.w.pg_restore.settings: must be a map of at most 64 settings, such as "
		"{shared_buffers: 1GB}\n"},
	{"duration", KINDS("  w: {duration: 1m, pg_restore: {dump: /a}}\n"),
		"7:33: workloads.w.pg_restore: pg_restore takes as long as its work does: leave "
		"'duration' out\n"},
};
WRONG_TEST(restores)

static const struct wrong dumps[] = {
	{"of nothing", KINDS("  w: {pg_dump: {format: plain}}\n"),
		"7:16: workloads.w.pg_dump: 'of' is missing: the pg_restore whose database is dumped\n"},
	{"of nobody", KINDS(LOAD "  w: {pg_dump: {of: laod}}\n"),
		"8:21: workloads.w.pg_dump.of: there is no workload 'laod'; did you mean 'load'?\n"},
	{"of a later one", KINDS("  w: {pg_dump: {of: load}}\n" LOAD),
		"7:21: workloads.w.pg_dump.of: 'load' comes later, and workloads run in the order of "
		"the plan\n"},
	{"of itself", KINDS("  w: {pg_dump: {of: w}}\n"),
		"7:21: workloads.w.pg_dump.of: 'w' is this workload itself, and workloads run in the "
		"order of the plan\n"},
	{"of a stream", KINDS("  s: {stream: {op: write, size: 1G}}\n  w: {pg_dump: {of: s}}\n"),
		"8:21: workloads.w.pg_dump.of: 's' is not a pg_restore\n"},
	{"shape", KINDS(LOAD "  w: {pg_dump: {of: load, jobs: 3}}\n"
			     "  x: {pg_dump: {of: load, format: directory, target: null}}\n"
			     "  y: {pg_dump: {of: load, target: here, compress: 10}}\n"
			     "  z: {pg_dump: {of: load, format: tar}}\n"),
		"8:33: workloads.w.pg_dump.jobs: pg_dump takes jobs with format: directory alone\n"
		"9:54: workloads.x.pg_dump.target: a directory cannot be written to null\n"
		"10:35: workloads.y.pg_dump.target: 'here' is not a target: volume, null, or the "
		"absolute path of a folder\n"
		"10:51: workloads.y.pg_dump.compress: '10' must be a whole number from 0 to 9\n"
		"11:35: workloads.z.pg_dump.format: pg_dump collects the tables of a tar in /tmp, "
		"which is not the volume: use plain, custom or directory\n"},
	{"another version", KINDS(LOAD "  w: {pg_dump: {of: load, version: 15}}\n"),
		"8:36: workloads.w.pg_dump.version: 'load' has no version of its own, and all "
		"PostgreSQL workloads of a plan share one cluster\n"},
};
WRONG_TEST(dumps)

#define PARALLEL(body) KINDS(LOAD "  p: {parallel: " body "}\n")

static const struct wrong members[] = {
	{"a time for fixed work", KINDS("  p: {parallel: [{pg_restore: {dump: /a}}], duration: 1m}\n"),
		"7:19: workloads.p.parallel.1: 'pg_restore' ends when it is done, not with the time: leave "
		"duration out\n"},
	{"two times", PARALLEL("[{pgbench: {duration: 5s}}], duration: 1m"),
		"8:39: workloads.p.parallel.1.pgbench.duration: is there twice: also beside 'parallel'\n"},
	{"two dumps of one server", PARALLEL("[{pg_dump: {of: load}}, {pg_dump: {of: load, target: ~}}]"),
		"8:56: workloads.p.parallel.2.pg_dump.of: 'p.1' dumps from the same server, which ends with "
		"it: one of them at a time\n"},
	{"a dump of its neighbour", PARALLEL("[{pg_restore: {dump: /a}}, {pg_dump: {of: p}}]"),
		"8:59: workloads.p.parallel.2.pg_dump.of: 'p' is this workload itself, and workloads run in "
		"the order of the plan\n"},
	{"another version of its server",
		PARALLEL("[{pg_restore: {dump: /a, version: 14}}, {pg_dump: {of: load, version: 15}}]"),
		"8:87: workloads.p.parallel.2.pg_dump.version: 'load' has no version of its own, and all "
		"PostgreSQL workloads of a plan share one cluster\n"},
};
WRONG_TEST(members)

static const struct wrong benches[] = {
	{"shape", KINDS("  w: {pgbench: {clients: 2, jobs: 3, duration: 1500ms, script: tpcb}}\n"),
		"7:35: workloads.w.pgbench.jobs: 3 threads have nothing to do with 2 clients\n"
		"7:48: workloads.w.pgbench.duration: pgbench counts whole seconds\n"
		"7:64: workloads.w.pgbench.script: 'tpcb' is not a script (tpcb-like, select-only, "
		"simple-update)\n"},
	{"duration twice", KINDS("  w: {duration: 3s, pgbench: {duration: 4s}}\n"),
		"7:41: workloads.w.pgbench.duration: is there twice: also beside 'pgbench'\n"},
	{"ranges", KINDS("  w: {pgbench: {scale: 0, clients: 5000, rate: 0}}\n"),
		"7:24: workloads.w.pgbench.scale: '0' must be a whole number from 1 to 100000\n"
		"7:36: workloads.w.pgbench.clients: '5000' must be a whole number from 1 to 1000\n"
		"7:48: workloads.w.pgbench.rate: '0' must be a whole number from 1 to 10000000\n"},
};
WRONG_TEST(benches)

static struct plan *parse(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e))
		fail_msg("%s", e.text);
	yaml_errors_free(&errs);
	return p;
}

static void everything_is_read(void **state)
{
	struct plan *p = parse(KINDS(
		"  load: {pg_restore: {dump: /srv/a.dump, jobs: 8, encoding: SQL_ASCII, template: "
		"template0, no-owner: true, globals: /srv/g.sql, allow-errors: true, checkpoint: "
		"excluded, sync: none, settings: {fsync: off, shared_buffers: 1GB}, version: 15}}\n"
		"  dump: {pg_dump: {of: load, format: directory, jobs: 4, target: /srv/out, compress: "
		"0, version: 15}}\n"
		"  bench: {pgbench: {scale: 10, clients: 8, jobs: 2, duration: 5m, mode: prepared, "
		"script: select-only, rate: 100, version: 15}}\n"));
	const struct work_pg *r = p->workloads[0].pg, *d = p->workloads[1].pg,
			     *b = p->workloads[2].pg;
	struct strv inputs = {0}, programs = {0}, folders = {0};

	(void)state;
	assert_string_equal(r->dump, "/srv/a.dump");
	assert_string_equal(r->globals, "/srv/g.sql");
	assert_string_equal(r->encoding, "SQL_ASCII");
	assert_string_equal(r->template_, "template0");
	assert_true(r->no_owner && r->allow_errors && !r->checkpoint && !r->sync);
	assert_int_equal(r->jobs, 8);
	assert_string_equal(pg_setting_value(r, "shared_buffers"), "1GB");
	assert_string_equal(r->version, "15");
	assert_string_equal(d->of, "load");
	assert_int_equal(d->of_index, 0);
	assert_int_equal(d->format, PG_FORMAT_DIRECTORY);
	assert_int_equal(d->target, PG_TARGET_PATH);
	assert_string_equal(d->target_path, "/srv/out");
	assert_int_equal(d->compress, 0);
	assert_string_equal(pg_setting_value(d, "fsync"), "off"); /* the restore's */
	assert_int_equal(b->duration_ns, 300 * NS_PER_S);
	assert_int_equal(b->mode, PG_MODE_PREPARED);
	assert_int_equal(b->script, PG_SCRIPT_SELECT);
	assert_int_equal(b->rate, 100);
	for (size_t i = 0; i < p->n_workloads; i++) {
		workload_access(&p->workloads[i], &inputs, &programs);
		workload_folders(&p->workloads[i], &folders);
	}
	assert_int_equal(inputs.n, 2);
	assert_int_equal(programs.n, 0);
	assert_int_equal(folders.n, 1);
	assert_string_equal(folders.v[0], "/srv/out");
	strv_free(&inputs);
	strv_free(&programs);
	strv_free(&folders);
	plan_free(p);
}

static void kinds_know_what_they_are(void **state)
{
	static const struct {
		const char *line, *headline, *op;
		int syncs;
	} cases[] = {
		{"{pg_restore: {dump: /a}}", "elapsed", "restore", 1},
		{"{pg_restore: {dump: /a, checkpoint: excluded}}", "elapsed", "restore", 0},
		{"{pg_restore: {dump: /a, sync: none}}", "elapsed", "restore", 0},
		{"{pg_restore: {dump: /a, settings: {fsync: off}}}", "elapsed", "restore", 1},
		{"{pgbench: {}}", "ops_per_s", "tpcb-like", 1},
		{"{pgbench: {settings: {synchronous_commit: off}}}", "ops_per_s", "tpcb-like", 0},
		{"{pgbench: {script: select-only}}", "ops_per_s", "select-only", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = xasprintf(KINDS("  w: %s\n"), cases[i].line);
		struct plan *p = parse(text);

		assert_string_equal(workload_headline(&p->workloads[0]), cases[i].headline);
		assert_string_equal(workload_op(&p->workloads[0]), cases[i].op);
		assert_int_equal(workload_syncs(&p->workloads[0]), cases[i].syncs);
		assert_int_equal(workload_makes(&p->workloads[0]), p->workloads[0].kind == WORKLOAD_PGBENCH);
		plan_free(p);
		free(text);
	}
}

static void needs_grow_with_the_scale(void **state)
{
	struct plan *p = parse(KINDS("  a: {pg_restore: {scale: 10}}\n  b: {pg_dump: {of: a, target: "
				     "~}}\n  c: {pgbench: {scale: 2, duration: 7s}}\n"));
	struct workload_needs a, c;
	struct err e;

	(void)state;
	assert_int_equal(workload_needs(p, 0, 0, &a, &e), 0);
	assert_int_equal(a.kept_bytes, PG_CLUSTER_BYTES + 10 * PG_SCALE_BYTES);
	assert_int_equal(a.space_bytes, PG_CLUSTER_BYTES + 20 * PG_SCALE_BYTES);
	assert_int_equal(p->workloads[1].pg->target, PG_TARGET_NULL);
	assert_int_equal(workload_needs(p, 2, 0, &c, &e), 0);
	assert_int_equal(c.kept_bytes, 2 * PG_SCALE_BYTES); /* the cluster is there already */
	assert_int_equal(c.duration_ns, 7 * NS_PER_S);
	plan_free(p);
}

/* And what they ask of the host is asked of the whole. */
static void members_have_clusters_of_their_own(void **state)
{
	struct plan *p = parse(KINDS(
		LOAD "  p: {parallel: [{pg_restore: {dump: /b, globals: /g}}, {pgbench: {scale: 3, duration: 7s}}, "
		     "{pg_dump: {of: load, target: /srv/out}}]}\n"));
	struct strv inputs = {0}, programs = {0}, folders = {0}, from = {0}, to = {0};
	struct workload_needs n;
	struct err e;

	(void)state;
	assert_int_equal(workload_needs(p, 1, 0, &n, &e), 0);
	assert_int_equal(n.kept_bytes, 2 * PG_CLUSTER_BYTES + 3 * PG_SCALE_BYTES);
	assert_int_equal(n.duration_ns, 7 * NS_PER_S);
	assert_true(workload_makes(&p->workloads[1]));
	workload_access(&p->workloads[1], &inputs, &programs);
	workload_folders(&p->workloads[1], &folders);
	workload_outside(&p->workloads[1], &from, &to);
	assert_int_equal(inputs.n, 2);
	assert_int_equal(folders.n, 1);
	assert_string_equal(folders.v[0], "/srv/out");
	assert_int_equal(from.n, 1);
	assert_string_equal(from.v[0], "/b");
	assert_int_equal(to.n, 1);
	strv_free(&from);
	strv_free(&to);
	strv_free(&inputs);
	strv_free(&programs);
	strv_free(&folders);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restores),
		cmocka_unit_test(test_dumps),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_benches),
		cmocka_unit_test(everything_is_read),
		cmocka_unit_test(kinds_know_what_they_are),
		cmocka_unit_test(needs_grow_with_the_scale),
		cmocka_unit_test(members_have_clusters_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
