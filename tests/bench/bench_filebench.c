/*
 * varmail by our engine against filebench's own, on the same directory with the same parameters, in
 * pairs of random order, each in a fresh process. Both are driven through the engine's vtable; each
 * side's own clock counts, and neither includes the making of the files. Then many short runs of ours
 * with address randomisation on: how many end with a summary.
 *
 * usage: bench_filebench DIRECTORY LABEL SECONDS PAIRS RUNS [FILEBENCH]
 *   FILEBENCH: the program's path; without it only our figures are shown
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/workload.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_filebench.h"
#include "tests/bench/bench.h"

struct outcome {
	double ops_per_s;
	int has_summary;
};

static void drop_sample(void *arg, const struct sample *s)
{
	(void)arg;
	(void)s;
}

/* In the child: one trial. */
static int trial(const char *dir, int64_t duration_ns, const char *program, uint64_t seed,
	struct outcome *ret)
{
	struct work_filebench f = {.personality = (char *)"varmail", .program = (char *)program,
		.dialect = 'D'};
	struct workload w = {.name = (char *)"varmail", .kind = WORKLOAD_FILEBENCH, .filebench = &f,
		.duration_ns = duration_ns};
	struct msg_worker_spec spec = {.kind = (char *)"filebench", .directory = (char *)dir,
		.sample_ns = NS_PER_S, .seed = seed, .syncfs_works = 1};
	const struct workload_order order = {.spec = &spec, .w = &w};
	const struct workload_engine *engine = workload_find(WORKLOAD_FILEBENCH);
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct stat st;
	struct err e;
	void *state;

	if (stat(dir, &st) < 0)
		bench_die(dir, NULL);
	spec.dev = st.st_dev;
	if (engine->prepare(&order, &state, &e) < 0 ||
		engine->run(state, 0, drop_sample, NULL, r, &e) < 0) {
		fprintf(stderr, "bench: %s: %s\n", program ? program : "native", e.text);
		return -1;
	}
	ret->ops_per_s = (double)r->ops * 1e9 / (double)r->elapsed_ns;
	for (size_t i = 0; i < r->detail.n_notes; i++)
		ret->has_summary |= strcmp(r->detail.notes[i].name, "IO Summary") == 0;
	engine->clear(state);
	return 0;
}

/* 0, or -1 when the child failed. */
static int run(const char *dir, int64_t duration_ns, const char *program, uint64_t seed,
	struct outcome *ret)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	*ret = (struct outcome){0};
	if (pipe(fds) < 0 || (pid = fork()) < 0)
		bench_die("fork", NULL);
	if (pid == 0) {
		struct outcome o = {0};
		int rc = trial(dir, duration_ns, program, seed, &o);

		_exit(rc == 0 && write(fds[1], &o, sizeof(o)) == sizeof(o) ? 0 : 1);
	}
	close(fds[1]);
	n = read(fds[0], ret, sizeof(*ret));
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0)
		;
	return n == sizeof(*ret) && status == 0 ? 0 : -1;
}

static void measure_pairs(const char *dir, const char *label, int64_t duration_ns, unsigned pairs,
	const char *program)
{
	struct bench_series ours = {0}, theirs = {0}, ratio = {0};
	uint64_t random = 88172645463325252ULL;
	char what[96];

	for (unsigned i = 0; i < pairs; i++) {
		struct outcome a = {0}, b = {0};
		int first = (int)(bench_random(&random) >> 17 & 1), failed = 0;

		for (int k = 0; k < 2 && !failed; k++) {
			if (k == first)
				failed = run(dir, duration_ns, NULL, i, &a);
			else if (program)
				failed = run(dir, duration_ns, program, i, &b);
		}
		if (failed)
			continue;
		bench_add(&ours, a.ops_per_s);
		if (program) {
			bench_add(&theirs, b.ops_per_s);
			bench_add(&ratio, a.ops_per_s / b.ops_per_s);
		}
	}
	snprintf(what, sizeof(what), "varmail, native, %s", label);
	bench_row(what, &ours, "ops/s", BENCH_SHOWN, 0);
	if (!program)
		return;
	snprintf(what, sizeof(what), "varmail, filebench, %s", label);
	bench_row(what, &theirs, "ops/s", BENCH_SHOWN, 0);
	snprintf(what, sizeof(what), "native / filebench, %s", label);
	bench_row(what, &ratio, "x", BENCH_AT_LEAST, 1.0);
}

static void measure_ends(const char *dir, const char *label, unsigned runs)
{
	unsigned whole = 0;
	char what[96];

	for (unsigned i = 0; i < runs; i++) {
		struct outcome o;

		whole += run(dir, NS_PER_S / 2, NULL, 1000 + i, &o) == 0 && o.has_summary;
	}
	snprintf(what, sizeof(what), "of %u runs of 0.5 s with a summary, %s", runs, label);
	bench_one(what, whole, "runs", BENCH_AT_LEAST, runs);
}

static unsigned number(const char *text, int64_t max)
{
	struct err e;
	int64_t n;

	if (units_parse_int(text, 0, max, &n, &e) < 0)
		bench_die(text, &e);
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	const char *program = argc > 6 && *argv[6] ? argv[6] : NULL;

	if (argc < 6)
		bench_die("usage: bench_filebench DIRECTORY LABEL SECONDS PAIRS RUNS [FILEBENCH]", NULL);
	measure_pairs(argv[1], argv[2], number(argv[3], 3600) * NS_PER_S,
		number(argv[4], BENCH_SERIES_MAX), program);
	measure_ends(argv[1], argv[2], number(argv[5], 1000));
	return 0;
}
