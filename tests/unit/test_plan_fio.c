/* Workloads of fio and of commands in plans: what is taken over, what is wrong and where. */
#include "tests/unit/test.h"

#include "tests/unit/plan_wrong.h"

#include "common/base/units.h"
#include "common/plan/work_command.h"
#include "common/plan/work_fio.h"
#include "common/plan/workload.h"

#define WORKLOADS(body) TOP EXISTING "workloads:\n" body
#define FIO(body) WORKLOADS("  w: {fio: " body "}\n")
#define COMMAND(body) WORKLOADS("  w: {command: " body "}\n")
#define HAS "workloads.w.fio"

static const struct wrong fios[] = {
	{"nothing", FIO("{}"),
		"7:12: " HAS ": says nothing to do: it needs options, such as {rw: randread, bs: 4k, "
		"size: 64m}, or jobs, or a job file\n"},
	{"no map", FIO("randread"), "7:12: " HAS ": fio must be a map of keys and values\n"},
	{"unknown key", FIO("{optoins: {rw: read}}"),
		"7:12: " HAS ": says nothing to do: it needs options, such as {rw: randread, bs: 4k, "
		"size: 64m}, or jobs, or a job file\n"
		"7:13: " HAS ": 'optoins' is not a key of fio; did you mean 'options'?\n"},
	{"a job file and jobs", FIO("{job: /x, jobs: {a: {rw: read}}}"),
		"7:22: " HAS ": there is a job file already: 'options' take the place of what it says\n"},
	{"jobs and options", FIO("{options: {rw: read}, jobs: {a: {rw: read}}}"),
		"7:13: " HAS ": what all jobs begin with is 'global'\n"},
	{"global and options", FIO("{options: {rw: read, size: 1m}, global: {bs: 4k}}"),
		"7:44: " HAS ": belongs to 'jobs': use 'options'\n"},
	{"a job file that is no path", FIO("{job: x.fio}"),
		"7:18: " HAS ".job: 'x.fio' must be an absolute path\n"},
	{"options that are refused, each at its place",
		FIO("{options: {rw: read, size: 1m, exec_prerun: /bin/x, filename: /dev/sda, bs: [4k], "
		    "iodepht: 1}}"),
		"7:43: " HAS ".options: 'exec_prerun' is refused: it runs a command\n"
		"7:74: " HAS ".options.filename: '/dev/sda' must be a plain name of one file in the "
		"volume's folder: letters, digits, '.', '_', '+', '-', not starting with '.' or '-'\n"
		"7:88: " HAS ".options.bs: has one value: no list and no map\n"
		"7:94: " HAS ".options: 'iodepht' is not an option of fio that is let through; did you "
		"mean 'iodepth'?\n"},
	{"a job's name", FIO("{jobs: {../a: {rw: read, size: 1m}}}"),
		"7:20: " HAS ".jobs: '../a' is not a job's name: files are called by it, so use letters, "
		"digits, '.', '_', '+', '-', not starting with '.' or '-', at most 64 bytes\n"},
	{"jobs' names that fio takes for global",
		FIO("{jobs: {globals: {rw: read, size: 1m}, Global: {rw: read, size: 1m}}}"),
		"7:20: " HAS ".jobs: 'globals' is not a job's name: fio takes what begins with 'global' "
		"for options of all jobs\n"},
	{"such a workload's name",
		WORKLOADS("  global1: {fio: {options: {rw: read, size: 1m}}}\n"),
		"7:19: workloads.global1.fio: 'global1' is not a job's name: fio takes what begins with "
		"'global' for options of all jobs: its one job is called as the workload: call it "
		"otherwise\n"},
	{"no size, no rw", FIO("{jobs: {a: {rw: read}, b: {size: 1m}}}"),
		"7:23: " HAS ".jobs.a: 'size' is missing: how large its files are, such as 64m\n"
		"7:38: " HAS ".jobs.b: 'rw' is missing: read, write, randread, randwrite, randrw\n"},
	{"buffers, by the name that stands there",
		FIO("{options: {rw: read, size: 1g, iodepth: 4096, blocksize: 1m}}"),
		"7:52: " HAS ".options.iodepth: 1 x 4096 blocks of 1 MiB need more than 1 GiB of "
		"buffers\n"},
	{"a duration within", FIO("{options: {rw: read, size: 1m}, duration: 5s}"),
		"7:44: " HAS ".duration: stands beside 'fio', not within it: {fio: {…}, duration: 30s}; "
		"of a member of a parallel workload beside 'parallel'\n"},
	{"a duration among the options", FIO("{options: {rw: read, size: 1m, duration: 5s}}"),
		"7:43: " HAS ".options: 'duration' is refused: the workload's duration stands beside "
		"'fio': {fio: {…}, duration: 30s}; fio's own word is runtime\n"},
	{"who waits for nobody",
		FIO("{jobs: {a: {rw: read, size: 1m}, b: {rw: read, size: 1m, wait_for: c}}}"),
		"7:79: " HAS ".jobs.b.wait_for: there is no job 'c' before this one\n"},
	{"the duration twice",
		WORKLOADS("  w: {fio: {options: {rw: read, size: 1m, timeout: 5}}, duration: 3s}\n"),
		"7:52: " HAS ".options.timeout: the workload's duration says how long each job runs: "
		"leave it out\n"},
};
WRONG_TEST(fios)

static const struct wrong commands[] = {
	{"nothing", COMMAND("{}"),
		"7:16: workloads.w.command: 'argv' is missing: the program and its arguments, such as "
		"[/usr/bin/dd, if=/dev/zero, \"of={dir}/x\"]\n"},
	{"one text", COMMAND("{argv: ls -l}"),
		"7:23: workloads.w.command.argv: must be a list of 1 to 256 words, such as [/usr/bin/dd, "
		"if=/dev/zero, \"of={dir}/x\"]: there is no shell\n"},
	{"no absolute path", COMMAND("{argv: [dd]}"),
		"7:24: workloads.w.command.argv: 'dd' must be an absolute path\n"},
	{"a way up", COMMAND("{argv: [/usr/bin/../x]}"),
		"7:24: workloads.w.command.argv: '/usr/bin/../x' must not contain '..'\n"},
	{"a placeholder", COMMAND("{argv: [/x, 'a{fir}']}"),
		"7:28: workloads.w.command.argv: 'a{fir}': {dir} and {trial} are the only "
		"placeholders\n"},
	{"a map within", COMMAND("{argv: [/x, {a: b}]}"),
		"7:28: workloads.w.command.argv: must be a word\n"},
	{"words", COMMAND("{argv: [/x], sync: all, parse: dx}"),
		"7:35: workloads.w.command.sync: 'all' is not a kind of sync (filesystem, none)\n"
		"7:47: workloads.w.command.parse: 'dx' is not a format (auto, none, dd, time, filebench, "
		"fio, bonnie, iozone, elbencho)\n"},
	{"fio, past the list of its options", COMMAND("{argv: [/usr/bin/fio, --exec_prerun=/bin/x]}"),
		"7:24: workloads.w.command.argv: a command does not run /usr/bin/fio, whose arguments "
		"would go unchecked: use the fio workload\n"},
	{"filebench, wherever it is", COMMAND("{argv: [/opt/fb/filebench, -f, x]}"),
		"7:24: workloads.w.command.argv: a command does not run /opt/fb/filebench, whose "
		"arguments would go unchecked: use the filebench workload\n"},
	{"fio among others",
		WORKLOADS("  w: {parallel: [{command: {argv: [/usr/bin/fio, -]}}]}\n"),
		"7:36: workloads.w.parallel.1.command.argv: a command does not run /usr/bin/fio, whose "
		"arguments would go unchecked: use the fio workload\n"},
	{"a duration within", COMMAND("{argv: [/x], duration: 5s}"),
		"7:29: workloads.w.command.duration: a command runs to its end: 'timeout' says how long it "
		"may take, 'duration' means nothing here\n"},
	{"a duration", WORKLOADS("  w: {command: {argv: [/x]}, duration: 5s}\n"),
		"7:16: workloads.w.command: a command runs to its end: 'timeout' says how long it may "
		"take, 'duration' means nothing here\n"},
};
WRONG_TEST(commands)

static struct plan *good(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e))
		fail_msg("%s", e.text);
	yaml_errors_free(&errs);
	return p;
}

static void fio_is_taken_over(void **state)
{
	struct plan *p = good(WORKLOADS(
		"  lay:  {fio: {options: {rw: write, bs: 1m, size: 64m, end_fsync: true, numjobs: 2, "
		"time_based: false}}}\n"
		"  rand: {fio: {jobs: {lay: {rw: randread, size: 64m, numjobs: 3, norandommap: }, b: "
		"{rw: randwrite, size: 8m, stonewall: yes}}, global: {direct: on, bs: 4k}}, duration: "
		"5s}\n"
		"  file: {fio: {job: /etc/x.fio, options: {size: 1m}, program: /opt/fio}}\n"));
	struct strv inputs = {0}, programs = {0};
	struct workload_needs n;
	struct buf text = {0};
	struct err e;

	(void)state;
	fio_jobs_write(&p->workloads[1].fio->jobs, FIO_WRITE_RUN, &text);
	assert_string_equal(buf_str(&text),
		"[lay]\ndirectory=.\ngroup_reporting\ndirect=1\nbs=4k\nrw=randread\nsize=64m\nnumjobs=3\n"
		"norandommap\nruntime=5000ms\ntime_based=1\n"
		"[b]\ndirectory=.\ngroup_reporting\ndirect=1\nbs=4k\nrw=randwrite\nsize=8m\nstonewall=1\n"
		"runtime=5000ms\ntime_based=1\n");
	buf_reset(&text);
	fio_jobs_write(&p->workloads[0].fio->jobs, FIO_WRITE_WARM, &text);
	assert_non_null(strstr(buf_str(&text), "\ninvalidate=0\n"));
	assert_ok(workload_needs(p, 0, 0, &n, &e), e);
	assert_int_equal(n.written_bytes, 128 << 20);
	assert_int_equal(n.kept_bytes, 128 << 20);
	/* The third clone's file is new, two are there. */
	assert_ok(workload_needs(p, 1, 0, &n, &e), e);
	assert_int_equal(n.kept_bytes, 72 << 20);
	assert_int_equal(n.duration_ns, 10 * NS_PER_S);
	assert_string_equal(workload_headline(&p->workloads[1]), "ops_per_s");
	assert_string_equal(workload_op(&p->workloads[0]), "write");
	assert_string_equal(workload_op(&p->workloads[1]), "fio");
	assert_int_equal(workload_syncs(&p->workloads[0]), 1);
	assert_int_equal(workload_syncs(&p->workloads[1]), 0);
	assert_int_equal(workload_syncs(&p->workloads[2]), -1);
	workload_access(&p->workloads[2], &inputs, &programs);
	assert_string_equal(inputs.v[0], "/etc/x.fio");
	assert_string_equal(programs.v[0], "/opt/fio");
	strv_free(&inputs);
	strv_free(&programs);
	buf_free(&text);
	plan_free(p);
}

static void a_host_without_fio_is_told(void **state)
{
	struct plan *p = good(FIO("{options: {rw: read, size: 1m}}"));
	static const struct {
		const char *capability, *says;
	} cases[] = {{NULL, "there is no /usr/bin/fio"}, {"fio 2.21", "too old"}, {"fio 3.33", NULL},
		{"fio 3.33-1-gabc", NULL}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct inventory inv = {0};
		struct buf text = {0};

		if (cases[i].capability)
			strv_add(&inv.capabilities, cases[i].capability);
		assert_int_equal(workload_lacks(&p->workloads[0], &inv, &text), cases[i].says != NULL);
		if (cases[i].says && !strstr(buf_str(&text), cases[i].says))
			fail_msg("%s", buf_str(&text));
		strv_free(&inv.capabilities);
		buf_free(&text);
	}
	plan_free(p);
}

static void a_command_is_taken_over(void **state)
{
	struct plan *p = good(COMMAND("{argv: [/usr/bin/dd, 'of={dir}/x-{trial}', 'a{}b{ {x'], "
				      "timeout: 2m, sync: none, parse: dd}"));
	const struct work_command *c = p->workloads[0].command;
	char *arg = command_argument(c->argv.v[1], "/mnt/v", "3.2");

	(void)state;
	assert_string_equal(arg, "of=/mnt/v/x-3.2");
	free(arg);
	arg = command_argument(c->argv.v[2], "/mnt/v", "3.2");
	assert_string_equal(arg, "a{}b{ {x");
	free(arg);
	assert_int_equal(c->timeout_ns, 120 * NS_PER_S);
	assert_int_equal(c->sync, 0);
	assert_string_equal(command_format((enum command_parse)c->parse), "dd");
	assert_null(command_format(PARSE_AUTO));
	plan_free(p);
}

static void add_line(void *arg, const struct workload *w, struct strv *argv)
{
	struct buf *out = arg;

	buf_addf(out, "%s:", w->name);
	for (size_t i = 0; i < argv->n; i++)
		buf_addf(out, " %s", argv->v[i]);
	buf_addc(out, '\n');
	strv_free(argv);
}

static void each_program_is_told(void **state)
{
	struct plan *p = good(
		WORKLOADS("  s: {stream: {op: write, size: 1M}}\n"
			  "  c: {command: {argv: [/usr/bin/ls, -l]}}\n"
			  "  p: {parallel: [{fio: {options: {rw: write, size: 1m}}}, "
			  "{stream: {op: write, size: 1M}}, {command: {argv: [/usr/bin/dd]}}]}\n") "samples: "
			  "500ms\n");
	struct buf out = {0};

	(void)state;
	for (size_t i = 0; i < p->n_workloads; i++)
		workload_programs(&p->workloads[i], p, add_line, &out);
	assert_string_equal(buf_str(&out),
		"c: /usr/bin/ls -l\n"
		"p.1: /usr/bin/fio --output-format=json+ --status-interval=500ms -\n"
		"p.3: /usr/bin/dd\n");
	buf_free(&out);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fios),
		cmocka_unit_test(test_commands),
		cmocka_unit_test(fio_is_taken_over),
		cmocka_unit_test(a_host_without_fio_is_told),
		cmocka_unit_test(a_command_is_taken_over),
		cmocka_unit_test(each_program_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
