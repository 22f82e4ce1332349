/*
 * What a user waits for who reads results: a report over a fleet, an import of 200 MB of fio's json+.
 * Each is the control client itself on a file that was written before; wall time and peak memory are
 * its own. Usage: bench_report ARRAYMARK FOLDER          the files, and reports of them
 *                bench_report ARRAYMARK FOLDER RUN PID   reports of a run of the coordinator PID
 *                bench_report ARRAYMARK FOLDER RUN       reports of a fleet's run in a store
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/results/export.h"
#include "tests/bench/bench.h"

#define HOSTS 1000
#define LAYOUTS 4
#define BLOCKS 10
#define FIO_BYTES (200ull * 1000 * 1000)
#define ROUNDS 3

extern char **environ;

static const char *program;

static FILE *file_new(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		bench_die(path, NULL);
	return f;
}

static void file_end(FILE *f, const char *path)
{
	if (ferror(f) || fclose(f))
		bench_die(path, NULL);
}

/* ---- a fleet's run ---- */

static void make_hist(uint64_t *state, struct buf *out)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	for (int i = 0; i < 60; i++)
		hist_add_n(h, 500000 + bench_random(state) % 2000000, 1 + bench_random(state) % 50);
	hist_encode(h, out);
	free(h);
}

static void write_trial(FILE *f, uint64_t *state, unsigned host, uint32_t block, uint32_t layout)
{
	static char *names[LAYOUTS] = {"raidz2-8", "raidz2-10", "raid6", "mirror"};
	struct result_trial t = {.run = 1,
		.host = xasprintf("node%04u", host),
		.attempt = 1,
		.layout = layout,
		.block = block,
		.repeat = 1,
		.position = layout + 1,
		.layout_name = names[layout],
		.workload_name = "write",
		.op = "write",
		.complete = 1,
		.cache = "cold: export/import"};
	struct buf hist = {0}, line = {0};
	double noise = (double)(bench_random(state) % 2000) / 1e5;

	make_hist(state, &hist);
	t.sum = (struct trial_summary){.trial = block * LAYOUTS + layout,
		.ok = 1,
		.started_wall_ns = 1700000000000000000 + (int64_t)(block * LAYOUTS + layout) * 70000000000,
		.elapsed_ns = (int64_t)((60.0 + layout) * (1 + noise) * 1e9),
		.bytes = 64ull << 30,
		.ops = 65536,
		.samples = 60,
		.hist = hist.data,
		.hist_len = hist.len,
		.tele = {.disk_write_bytes = 66ull << 30, .disks = 10, .cpu_user_ns = 5}};
	export_trial(&t, &line);
	fwrite(line.data, 1, line.len, f);
	free(t.host);
	buf_free(&hist);
	buf_free(&line);
}

static void write_fleet(const char *path)
{
	static char *layouts[LAYOUTS] = {"raidz2-8", "raidz2-10", "raid6", "mirror"},
		    *workloads[] = {"write"};
	struct result_run run = {.id = 1,
		.name = "fleet",
		.state = "done",
		.plan_sha256 = "00",
		.tool_version = "bench",
		.user = "ann",
		.blocks = BLOCKS,
		.cache = "cold",
		.design = "random-blocks",
		.started_wall_ns = 1700000000000000000,
		.finished_wall_ns = 1700003000000000000,
		.layouts = {layouts, LAYOUTS, 0},
		.workloads = {workloads, 1, 0}};
	uint64_t state = 88172645463325252u;
	FILE *f = file_new(path);
	struct buf line = {0};

	export_run(&run, &line);
	fwrite(line.data, 1, line.len, f);
	for (unsigned h = 0; h < HOSTS; h++)
		for (uint32_t b = 1; b <= BLOCKS; b++)
			for (uint32_t l = 0; l < LAYOUTS; l++)
				write_trial(f, &state, h, b, l);
	buf_reset(&line);
	export_end(run.id, 1 + (uint64_t)HOSTS * BLOCKS * LAYOUTS, &line);
	fwrite(line.data, 1, line.len, f);
	buf_free(&line);
	file_end(f, path);
}

/* A list of times by hand, of so many layouts or hosts. */
static void write_list(const char *path, const char *of, unsigned n)
{
	uint64_t state = 88172645463325252u;
	FILE *f = file_new(path);

	fprintf(f, "run: many\nlayout: one\n");
	for (unsigned i = 0; i < n; i++) {
		fprintf(f, "%s: l%05u\n", of, i);
		for (int k = 0; k < 3; k++)
			fprintf(f, "%u.%03us\n", 60u, (unsigned)(bench_random(&state) % 1000));
	}
	file_end(f, path);
}

/* ---- fio's json+ in the shape of fio 3.33 ---- */

static void write_section(FILE *f, const char *name, unsigned bins, uint64_t *state)
{
	uint64_t ns = 9000 + bench_random(state) % 100;

	fprintf(f, "        \"%s\" : {\n          \"min\" : %llu,\n          \"max\" : 123139358,\n"
		   "          \"mean\" : 78210.416348,\n          \"stddev\" : 232617.039628,\n"
		   "          \"N\" : %u",
		name, (unsigned long long)ns, bins * 45);
	if (bins) {
		fprintf(f, ",\n          \"percentile\" : {\n            \"50.000000\" : 57088,\n"
			   "            \"99.000000\" : 148480,\n            \"99.900000\" : 2113536\n"
			   "          },\n          \"bins\" : {\n");
		for (unsigned i = 0; i < bins; i++) {
			fprintf(f, "            \"%llu\" : %llu%s\n", (unsigned long long)ns,
				(unsigned long long)(1 + bench_random(state) % 89),
				i + 1 < bins ? "," : "");
			ns += ns / 64 + 1;
		}
		fprintf(f, "          }");
	}
	fprintf(f, "\n        }");
}

static void write_side(FILE *f, const char *op, unsigned bins, uint64_t *state)
{
	fprintf(f, "      \"%s\" : {\n        \"io_bytes\" : 134090752,\n        \"io_kbytes\" : 130948,\n"
		   "        \"bw_bytes\" : 43649333,\n        \"bw\" : 42626,\n"
		   "        \"iops\" : 10656.575521,\n        \"runtime\" : %u,\n"
		   "        \"total_ios\" : 32737,\n        \"short_ios\" : 0,\n"
		   "        \"drop_ios\" : 0,\n",
		op, 3000 + (unsigned)(bench_random(state) % 100));
	write_section(f, "slat_ns", 0, state);
	fprintf(f, ",\n");
	write_section(f, "clat_ns", bins, state);
	fprintf(f, ",\n");
	write_section(f, "lat_ns", 0, state);
	fprintf(f, ",\n        \"bw_min\" : 13168,\n        \"bw_max\" : 60528,\n"
		   "        \"bw_agg\" : 100.000000,\n        \"bw_mean\" : 43182.666667,\n"
		   "        \"bw_dev\" : 6841.893055,\n        \"bw_samples\" : 12,\n"
		   "        \"iops_min\" : 3292,\n        \"iops_max\" : 15132,\n"
		   "        \"iops_mean\" : 10795.666667,\n        \"iops_stddev\" : 1710.473264,\n"
		   "        \"iops_samples\" : 12\n      },\n");
}

static void write_job(FILE *f, unsigned job, uint64_t *state)
{
	fprintf(f, "    {\n      \"jobname\" : \"job%u\",\n      \"groupid\" : 0,\n      \"error\" : 0,\n"
		   "      \"eta\" : 0,\n      \"elapsed\" : 4,\n      \"job options\" : {\n"
		   "        \"name\" : \"job%u\",\n        \"directory\" : \"/srv/bench\",\n"
		   "        \"rw\" : \"randrw\",\n        \"bs\" : \"4k\"\n      },\n",
		job, job);
	write_side(f, "read", 500, state);
	write_side(f, "write", 400, state);
	fprintf(f, "      \"job_runtime\" : 3071,\n      \"usr_cpu\" : 2.800391,\n"
		   "      \"sys_cpu\" : 21.164116,\n      \"ctx\" : 33056,\n      \"latency_us\" : {\n"
		   "        \"2\" : 0.000000,\n        \"4\" : 0.010000\n      }\n    }");
}

static void write_head(FILE *f, unsigned document)
{
	fprintf(f, "{\n  \"fio version\" : \"fio-3.33\",\n  \"timestamp\" : %u,\n"
		   "  \"timestamp_ms\" : %u419,\n  \"time\" : \"Mon Nov 30 11:44:24 2026\",\n"
		   "  \"jobs\" : [\n",
		1700000000 + document * 100, 1700000000 + document * 100);
}

static void write_fio(const char *path, int documents)
{
	uint64_t state = 88172645463325252u;
	FILE *f = file_new(path);
	unsigned n = 0;

	for (unsigned in_document = 0; (uint64_t)ftell(f) < FIO_BYTES; n++) {
		if (!in_document)
			write_head(f, n);
		else
			fprintf(f, ",\n");
		write_job(f, documents ? n % 40 : n, &state);
		in_document++;
		if (documents || (uint64_t)ftell(f) >= FIO_BYTES) {
			fprintf(f, "\n  ]\n}\n");
			in_document = 0;
		}
	}
	printf("%-48s %9u %-10s %.0f MB\n", documents ? "documents of one job" : "jobs in one document", n,
		"", (double)ftell(f) / 1e6);
	file_end(f, path);
}

/* ---- measuring ---- */

/* cpu may be NULL: seconds on a CPU, its own and the kernel's. */
static void run_once(char *const *argv, const char *out, struct bench_series *seconds,
	struct bench_series *mib, struct bench_series *cpu)
{
	posix_spawn_file_actions_t files;
	int64_t began = clock_mono_ns();
	struct rusage use;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ))
		bench_die(argv[0], NULL);
	posix_spawn_file_actions_destroy(&files);
	while (wait4(pid, &status, 0, &use) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		bench_die("the control client failed", NULL);
	bench_add(seconds, (double)(clock_mono_ns() - began) / 1e9);
	bench_add(mib, (double)use.ru_maxrss / 1024);
	if (cpu)
		bench_add(cpu, (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
				       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
}

static void measure(const char *what, char *const *argv, const char *out, double most_s, double most_mib)
{
	struct bench_series seconds = {0}, mib = {0}, cpu = {0};

	for (int i = 0; i < ROUNDS; i++)
		run_once(argv, out, &seconds, &mib, &cpu);
	bench_row(what, &seconds, "s", BENCH_AT_MOST, most_s);
	bench_row("    CPU time", &cpu, "s", BENCH_SHOWN, 0);
	bench_row("    peak memory", &mib, "MiB", most_mib > 0 ? BENCH_AT_MOST : BENCH_SHOWN, most_mib);
}

static void report(const char *what, const char *file, const char *format, const char *out,
	double most_s, double most_mib)
{
	char *const argv[] = {(char *)program, "report", (char *)file, "--format", (char *)format, NULL};

	measure(what, argv, out, most_s, most_mib);
}

/* Each with the first one. */
static void compare_list(const char *of, unsigned n, const char *file, const char *out)
{
	char *const argv[] = {
		(char *)program, "compare", "--by", (char *)of, (char *)file, NULL};
	char *what = xasprintf("compare %u %ss, 3 trials each", n, of);

	measure(what, argv, out, 1, 0);
	free(what);
}

/* The most memory that the process had so far. */
static double peak_mib(const char *pid)
{
	char *path = xasprintf("/proc/%s/status", pid), line[256];
	FILE *f = fopen(path, "re");
	double kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			kib = strtod(line + 6, NULL);
	if (f)
		fclose(f);
	free(path);
	return kib / 1024;
}

/* Into the store: each time a run of another name. The CPU times of both sides tell what it takes on a
 * machine that has other work. */
static void import(const char *file, const char *out, pid_t coordinator)
{
	struct bench_series seconds = {0}, mib = {0}, cpu = {0}, served = {0};

	write_fio(file, 1);
	for (int i = 0; i < ROUNDS; i++) {
		char *name = xasprintf("fio-%d", i);
		char *const argv[] = {(char *)program, "-q", "import", (char *)file, "--as", name, NULL};
		uint64_t before = bench_cpu_ns(coordinator);

		run_once(argv, out, &seconds, &mib, &cpu);
		bench_add(&served, (double)(bench_cpu_ns(coordinator) - before) / 1e9);
		free(name);
	}
	bench_row("import of 200 MB of fio json+ into the store", &seconds, "s", BENCH_AT_MOST, 5);
	bench_row("    CPU time of the client", &cpu, "s", BENCH_SHOWN, 0);
	bench_row("    CPU time of the coordinator", &served, "s", BENCH_SHOWN, 0);
	bench_row("    peak memory", &mib, "MiB", BENCH_SHOWN, 0);
}

static void of_run(const char *run, const char *pid, const char *file, const char *out)
{
	char *const argv[] = {(char *)program, "export", (char *)run, NULL};

	report("report RUN, text", run, "text", out, 5, 300);
	report("report RUN, html", run, "html", out, 5, 300);
	measure("export RUN", argv, out, 5, 300);
	import(file, out, (pid_t)strtol(pid, NULL, 10));
	bench_one("    peak memory of the coordinator", peak_mib(pid), "MiB", BENCH_AT_MOST, 300);
}

static void of_files(const char *file, const char *out)
{
	write_fleet(file);
	report("report, 1000 hosts x 4 layouts x 10 blocks, text", file, "text", out, 1, 0);
	report("the same as html", file, "html", out, 1, 0);
	report("the same as json", file, "json", out, 1, 300);
	report("the same as csv", file, "csv", out, 1, 0);
	for (unsigned n = 1000; n <= 16000; n *= 4) {
		write_list(file, "layout", n);
		compare_list("layout", n, file, out);
		write_list(file, "host", n);
		compare_list("host", n, file, out);
	}
	write_fio(file, 0);
	report("200 MB of fio json+, one document", file, "csv", out, 5, 0);
	write_fio(file, 1);
	report("200 MB of fio json+, many documents", file, "csv", out, 5, 0);
}

static void of_fleet(const char *run, const char *out)
{
	report("report RUN, 1000 hosts with their series, text", run, "text", out, 1, 0);
	report("the same as html", run, "html", out, 1, 0);
	report("the same as json", run, "json", out, 1, 300);
}

int main(int argc, char **argv)
{
	char *file, *out;

	if (argc < 3 || argc > 5)
		bench_die("usage: bench_report ARRAYMARK FOLDER [RUN [PID]]", NULL);
	program = argv[1];
	file = xasprintf("%s/results", argv[2]);
	out = xasprintf("%s/report", argv[2]);
	if (argc == 5)
		of_run(argv[3], argv[4], file, out);
	else if (argc == 4)
		of_fleet(argv[3], out);
	else
		of_files(file, out);
	unlink(file);
	unlink(out);
	free(file);
	free(out);
	return 0;
}
