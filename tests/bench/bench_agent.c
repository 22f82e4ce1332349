/*
 * What an agent costs its host, and how long a run takes to get to work.
 *
 * usage: bench_agent idle PID SECONDS HEARTBEAT_S
 *          memory, wake-ups and CPU time of the monitor and the link while nothing is asked of them
 *        bench_agent busy PID SECONDS
 *          their CPU time while a trial's samples stream
 *        bench_agent first N ARRAYMARK PLAN
 *          from the start of `arraymark run` to the start of the first trial's clock
 *   PID: the agent's monitor, or a process whose child it is
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "tests/bench/bench.h"

#define RUN_DEADLINE_MS 60000
#define MONITOR "am-monitor" /* as the agent's processes call themselves */
#define LINK "am-link"
#define EXPORT_MAX (64 * 1024 * 1024)

/* ---- processes ---- */

struct processes {
	pid_t monitor, link;
};

/* Name and parent of a process; -1 when it is gone. */
static int process_facts(pid_t pid, char name[32], pid_t *ret_parent)
{
	char path[64], line[512];
	const char *open, *close;
	int parent, ok;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	ok = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	open = ok ? strchr(line, '(') : NULL;
	close = ok ? strrchr(line, ')') : NULL;
	if (!open || !close || sscanf(close + 1, " %*c %d", &parent) != 1)
		return -1;
	snprintf(name, 32, "%.*s", (int)(close - open - 1), open + 1);
	*ret_parent = (pid_t)parent;
	return 0;
}

/* A child of the process by its name, or 0. */
static pid_t find_child(pid_t of, const char *wanted)
{
	DIR *dir = opendir("/proc");
	pid_t found = 0, parent;
	struct dirent *d;
	char name[32];

	while (dir && !found && (d = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)d->d_name[0]) ? (pid_t)strtol(d->d_name, NULL, 10) : 0;

		if (pid && !process_facts(pid, name, &parent) && parent == of &&
			!strcmp(name, wanted))
			found = pid;
	}
	if (dir)
		closedir(dir);
	return found;
}

static void find_processes(pid_t pid, struct processes *ret)
{
	char name[32];
	pid_t parent;

	if (process_facts(pid, name, &parent))
		bench_die("there is no such process", NULL);
	ret->monitor = strcmp(name, MONITOR) ? find_child(pid, MONITOR) : pid;
	ret->link = ret->monitor ? find_child(ret->monitor, LINK) : 0;
	if (!ret->link)
		bench_die("the agent has no link", NULL);
}

/* The number behind a key of /proc/PID/FILE. */
static uint64_t process_number(pid_t pid, const char *file, const char *key)
{
	unsigned long long n = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (str_starts(line, key) && line[strlen(key)] == ':')
			sscanf(line + strlen(key) + 1, "%llu", &n);
	if (f)
		fclose(f);
	return n;
}

static uint64_t wake_ups(pid_t pid)
{
	return process_number(pid, "status", "voluntary_ctxt_switches");
}

static void wait_seconds(int64_t s)
{
	struct timespec ts = {.tv_sec = s};

	nanosleep(&ts, NULL);
}

/* ---- memory ---- */

/* What a process has of one file's pages that others map too. */
struct shared {
	char file[256];
	uint64_t kib[2]; /* monitor, link */
};
struct memory {
	uint64_t private_kib;
	struct shared v[64];
	size_t n;
};

static struct shared *shared_of(struct memory *m, const char *file)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->v[i].file, file))
			return &m->v[i];
	if (m->n == ARRAY_LEN(m->v))
		bench_die("more mapped files than this bench counts", NULL);
	snprintf(m->v[m->n].file, sizeof(m->v[m->n].file), "%s", file);
	return &m->v[m->n++];
}

static void add_mappings(struct memory *m, pid_t pid, int which)
{
	char path[64], line[512], file[256] = "", key[32];
	unsigned long long kib;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%31[A-Za-z_]: %llu kB", key, &kib) != 2) {
			if (sscanf(line, "%*x-%*x %*s %*x %*s %*u %255s", file) != 1)
				snprintf(file, sizeof(file), "anonymous %d", which);
			continue;
		}
		if (str_starts(key, "Private_") && strcmp(key, "Private_Hugetlb"))
			m->private_kib += kib;
		if (!strcmp(key, "Shared_Clean") || !strcmp(key, "Shared_Dirty"))
			shared_of(m, file)->kib[which] += kib;
	}
	if (f)
		fclose(f);
}

/* What both would take if nobody else used the same libraries: every shared page counts once. */
static double alone_mib(const struct processes *p)
{
	struct memory *m = xcalloc(1, sizeof(*m));
	uint64_t kib;

	add_mappings(m, p->monitor, 0);
	add_mappings(m, p->link, 1);
	kib = m->private_kib;
	for (size_t i = 0; i < m->n; i++)
		kib += m->v[i].kib[0] > m->v[i].kib[1] ? m->v[i].kib[0] : m->v[i].kib[1];
	free(m);
	return (double)kib / 1024;
}

/* ---- idle ---- */

/* A link wakes three times a heartbeat: for its own ping, for the answer, for the other's ping. */
static void bench_idle(pid_t pid, int64_t seconds, int64_t heartbeat_s)
{
	double beats = (double)seconds / (double)heartbeat_s, kib;
	uint64_t monitor, link, cpu;
	struct processes p;

	find_processes(pid, &p);
	kib = (double)(process_number(p.monitor, "smaps_rollup", "Pss") +
		process_number(p.link, "smaps_rollup", "Pss"));
	monitor = wake_ups(p.monitor);
	link = wake_ups(p.link);
	cpu = bench_cpu_ns(p.monitor) + bench_cpu_ns(p.link);
	wait_seconds(seconds);
	bench_one("idle agent: PSS of monitor and link", kib / 1024, "MiB", BENCH_AT_MOST, 8);
	bench_one("    monitor", (double)process_number(p.monitor, "smaps_rollup", "Pss") / 1024,
		"MiB", BENCH_SHOWN, 0);
	bench_one("    link", (double)process_number(p.link, "smaps_rollup", "Pss") / 1024, "MiB",
		BENCH_SHOWN, 0);
	bench_one("    both, if nobody else used their libraries", alone_mib(&p), "MiB",
		BENCH_SHOWN, 0);
	bench_one("    wake-ups of the monitor", (double)(wake_ups(p.monitor) - monitor), "",
		BENCH_AT_MOST, 0);
	bench_one("    wake-ups of the link a heartbeat", (double)(wake_ups(p.link) - link) / beats,
		"", BENCH_AT_MOST, 3);
	cpu = bench_cpu_ns(p.monitor) + bench_cpu_ns(p.link) - cpu;
	bench_one("    CPU of both", (double)cpu / ((double)seconds * NS_PER_S) * 100, "% core",
		BENCH_SHOWN, 0);
}

/* ---- busy ---- */

static void bench_busy(pid_t pid, int64_t seconds)
{
	struct bench_series share = {.n = 0}, monitor = {.n = 0}, link = {.n = 0}, woken = {.n = 0};
	struct processes p;

	find_processes(pid, &p);
	for (int64_t i = 0; i < seconds; i += 2) {
		uint64_t m = bench_cpu_ns(p.monitor), l = bench_cpu_ns(p.link);
		uint64_t wakes = wake_ups(p.monitor) + wake_ups(p.link);
		int64_t begin = clock_mono_ns();
		double percent;

		wait_seconds(2);
		wakes = wake_ups(p.monitor) + wake_ups(p.link) - wakes;
		bench_add(&woken, (double)wakes / 2);
		percent = 100 / (double)(clock_mono_ns() - begin);
		m = bench_cpu_ns(p.monitor) - m;
		l = bench_cpu_ns(p.link) - l;
		bench_add(&share, (double)(m + l) * percent);
		bench_add(&monitor, (double)m * percent);
		bench_add(&link, (double)l * percent);
	}
	bench_row("a sample a second: CPU of monitor and link", &share, "% core", BENCH_AT_MOST, 0.5);
	bench_row("    monitor", &monitor, "% core", BENCH_SHOWN, 0);
	bench_row("    link", &link, "% core", BENCH_SHOWN, 0);
	bench_row("    wake-ups of both", &woken, "/s", BENCH_SHOWN, 0);
}

/* ---- from run to first trial ---- */

static void run_control(const char *program, const char *a, const char *b, struct proc_result *r)
{
	struct strv argv = {0};
	struct err e;

	strv_add(&argv, program);
	strv_add(&argv, "-q");
	strv_add(&argv, a);
	strv_add(&argv, b);
	memset(r, 0, sizeof(*r));
	if (proc_run(&argv, RUN_DEADLINE_MS, r, &e) || proc_check(&argv, r, &e))
		bench_die("arraymark", &e);
	strv_free(&argv);
}

/* Wall time at which the clock of the run's first trial started. */
static int64_t first_trial(const char *text)
{
	int64_t first = 0;
	struct err e;

	while (*text) {
		size_t len = strcspn(text, "\n");
		int64_t at;
		json_t *v;

		if (json_parse("export", text, len, EXPORT_MAX, &v, &e))
			bench_die("export", &e);
		at = json_get_int(v, "started_wall_ns", 0);
		if (!strcmp(json_get_str(v, "type", ""), "trial") && (!first || at < first))
			first = at;
		json_decref(v);
		text += len + (text[len] == '\n');
	}
	return first;
}

static void bench_first(int64_t n, const char *program, const char *plan)
{
	struct bench_series ms = {.n = 0};

	for (int64_t i = 0; i < n; i++) {
		int64_t begin = clock_wall_ns(), first;
		struct proc_result r;

		run_control(program, "run", plan, &r);
		proc_result_free(&r);
		run_control(program, "export", "last", &r);
		first = first_trial(buf_str(&r.out));
		proc_result_free(&r);
		if (first <= begin)
			bench_die("the run had no trial", NULL);
		bench_add(&ms, (double)(first - begin) / NS_PER_MS);
	}
	bench_row("run to first trial, existing directory", &ms, "ms", BENCH_AT_MOST, 300);
}

static int64_t number(const char *s)
{
	struct err e;
	int64_t n;

	if (units_parse_int(s, 1, 1 << 30, &n, &e))
		bench_die("usage", &e);
	return n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc == 5 && !strcmp(what, "idle"))
		bench_idle((pid_t)number(argv[2]), number(argv[3]), number(argv[4]));
	else if (argc == 4 && !strcmp(what, "busy"))
		bench_busy((pid_t)number(argv[2]), number(argv[3]));
	else if (argc == 5 && !strcmp(what, "first"))
		bench_first(number(argv[2]), argv[3], argv[4]);
	else
		bench_die("usage: bench_agent idle PID SECONDS HEARTBEAT_S | busy PID SECONDS | "
			"first N ARRAYMARK PLAN", NULL);
	return 0;
}
