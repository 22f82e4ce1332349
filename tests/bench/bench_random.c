/*
 * Random I/O: what an operation costs without a disk, what samples cost, and pairs with fio in random
 * order. Ours is the worker process of the agent's own program, driven over its descriptor as the
 * monitor drives it, with full histograms; fio is the system's, with its own. Both read and write the
 * same file, and each side's own clock counts.
 *
 * usage: bench_random AGENT MEMORY_DIRECTORY DISK_DIRECTORY LABEL PAIRS
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agent/workload/random_thread.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "proto/conn.h"
#include "tests/bench/bench.h"

#define ROUNDS 15
#define COUNTS 2000000u
#define THREADS 16
#define SAMPLE_PAIRS 9
#define SAMPLE_NS (NS_PER_S / 20)
#define SAMPLED_NS (NS_PER_S)
#define WORKER_FD 3
#define FILE_MIB 256

static int64_t cpu_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* ---- without a disk ---- */

static void no_cut(void *arg, const struct sample *s)
{
	(void)arg;
	(void)s;
}

/* One read of the clock and one count, as after each operation. */
static void bench_recording(void)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct bench_series s = {.n = 0};
	struct meter m;
	struct err e;

	if (meter_init(&m, 1, 3600 * NS_PER_S, &e))
		bench_die("meter", &e);
	meter_start(&m, 0, no_cut, NULL, r);
	for (unsigned round = 0; round < ROUNDS; round++) {
		int64_t begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID), before = clock_mono_ns();

		for (unsigned i = 0; i < COUNTS; i++) {
			int64_t now = clock_mono_ns();

			meter_count(&m.lanes[0], now - before, 4096);
			before = now;
		}
		bench_add(&s, (double)(cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / COUNTS);
	}
	bench_row("recording: clock, histogram, counters", &s, "ns/op", BENCH_AT_MOST, 40);
	meter_stop(&m);
	meter_clear(&m);
	free(r);
}

/* The engine's own steps, with nothing in the place of the system call. */
struct null_thread {
	struct random_thread t;
	uint64_t ops;
	int64_t cpu_ns;
	pthread_t id;
};

static void null_init(struct null_thread *n, struct random_files *f, struct work_random *w,
	struct meter *m, atomic_int *stop, unsigned i)
{
	*n = (struct null_thread){.t = {.w = w, .files = f, .reads_below = UINT64_MAX,
		.meter = m, .lanes = &m->lanes[RANDOM_LANES * i], .stop = stop,
		.ops_left = UINT64_MAX, .end_ns = INT64_MAX}};
	picker_init(&n->t.picker, PICK_UNIFORM, i + 1, 0, f->blocks, 0);
}

static void null_move(struct null_thread *n, uint64_t ops)
{
	struct random_thread *t = &n->t;
	int64_t now = clock_mono_ns(), begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	struct random_io op = {0};

	while (n->ops < ops && !random_is_over(t, now) && random_begin(t, &op)) {
		op.due_ns = now;
		now = clock_mono_ns();
		random_finish(t, &op, NULL, now);
		n->ops++;
	}
	n->cpu_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static struct random_files null_files(void)
{
	return (struct random_files){.n = 1, .file_blocks = 1 << 20, .blocks = 1 << 20,
		.block_size = 4096};
}

static void bench_null(void)
{
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct random_files f = null_files();
	struct work_random w = {.op = RANDOM_READ};
	struct bench_series s = {.n = 0};
	atomic_int stop = 0;
	struct meter m;
	struct err e;

	if (meter_init(&m, RANDOM_LANES, 3600 * NS_PER_S, &e))
		bench_die("meter", &e);
	meter_start(&m, 0, no_cut, NULL, r);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct null_thread n;

		null_init(&n, &f, &w, &m, &stop, 0);
		null_move(&n, COUNTS);
		bench_add(&s, (double)n.cpu_ns / (double)n.ops);
	}
	bench_row("null engine, 1 thread", &s, "ns/op", BENCH_AT_MOST, 60);
	meter_stop(&m);
	meter_clear(&m);
	free(r);
}

static void *null_thread(void *arg)
{
	struct null_thread *n = arg;

	null_move(n, UINT64_MAX);
	meter_ended(n->t.meter);
	return NULL;
}

/* Operations per CPU second of 16 threads, cutting of samples included. */
static double null_rate(int64_t sample_ns)
{
	struct null_thread *n = xcalloc(THREADS, sizeof(*n));
	struct workload_result *r = xcalloc(1, sizeof(*r));
	struct random_files f = null_files();
	struct work_random w = {.op = RANDOM_READ};
	int64_t begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t ops = 0;
	atomic_int stop = 0;
	struct meter m;
	struct err e;
	double rate;

	if (meter_init(&m, RANDOM_LANES * THREADS, sample_ns, &e))
		bench_die("meter", &e);
	meter_start(&m, 0, no_cut, NULL, r);
	for (unsigned i = 0; i < THREADS; i++) {
		null_init(&n[i], &f, &w, &m, &stop, i);
		n[i].t.end_ns = m.start_ns + SAMPLED_NS;
		if (pthread_create(&n[i].id, NULL, null_thread, &n[i]))
			bench_die("cannot start a thread", NULL);
	}
	meter_watch(&m, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(n[i].id, NULL);
		ops += n[i].ops;
	}
	meter_stop(&m);
	rate = (double)ops / (double)(cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) * NS_PER_S;
	meter_clear(&m);
	free(n);
	free(r);
	return rate;
}

/* 20 samples a second against none, so that the machine's noise is a twentieth of itself. */
static void bench_samples(void)
{
	struct bench_series cost = {.n = 0};
	double per_s = (double)NS_PER_S / SAMPLE_NS;
	uint64_t r;

	for (unsigned i = 0; i < SAMPLE_PAIRS; i++) {
		double rate[2];
		int first;

		fs_random(&r, sizeof(r));
		first = (int)(r & 1);
		rate[first] = null_rate(first ? SAMPLE_NS : 3600 * NS_PER_S);
		rate[!first] = null_rate(first ? 3600 * NS_PER_S : SAMPLE_NS);
		bench_add(&cost, (1 - rate[1] / rate[0]) / per_s * 100);
	}
	bench_row("a sample a second, 16 threads (of 20 a second)", &cost, "% of rate",
		BENCH_AT_MOST, 0.5);
}

/* ---- ours ---- */

struct pairing {
	const char *what, *ours, *fio; /* ours: of the map of `random` */
	double target;
	int on_disk, is_write;
};
struct place {
	const char *agent, *dir;
	dev_t dev;
};

/* In a session of its own, as the monitor starts it: schedulers share by session. */
static _Noreturn void exec_worker(const char *agent, int fd)
{
	char *argv[] = {(char *)"arraymark-agent", (char *)"worker", (char *)"--fd", (char *)"3",
		NULL};

	setsid();
	if (fd != WORKER_FD && dup2(fd, WORKER_FD) < 0)
		_exit(127);
	if (fd == WORKER_FD)
		fcntl(fd, F_SETFD, 0);
	execv(agent, argv);
	_exit(127);
}

static pid_t start_worker(const char *agent, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		bench_die("socketpair", NULL);
	pid = fork();
	if (pid == 0)
		exec_worker(agent, fds[1]);
	close(fds[1]);
	if (pid < 0)
		bench_die("fork", NULL);
	*ret_fd = fds[0];
	return pid;
}

static void send_spec(const struct place *p, const char *options, int fd)
{
	struct msg m = {.type = MSG_WORKER_SPEC};
	struct msg_worker_spec *s = &m.u.worker_spec;
	char *text = xasprintf("name: p\nhosts: [all]\ntrials: 3\ncache: as-is\n"
			       "layouts: {a: {existing: %s}}\n"
			       "workloads: {w: {random: {size: %uM, duration: 1s, %s}}}\n",
		p->dir, FILE_MIB, options);
	struct err e;

	*s = (struct msg_worker_spec){.kind = (char *)"random", .directory = (char *)p->dir,
		.sample_ns = NS_PER_S, .seed = 1, .dev = p->dev, .syncfs_works = 1,
		.plan_text = text, .block = 1, .repeat = 1};
	if (frame_write_fd(fd, &m, &e) < 0)
		bench_die("worker", &e);
	free(text);
}

/* Reads up to READY, or up to DONE, past the samples. */
static void await(int fd, enum msg_type type, struct msg *m)
{
	struct err e;

	for (;;) {
		if (frame_read_fd(fd, 120000, m, &e) < 0)
			bench_die("worker", &e);
		if (m->type == MSG_WORKER_DONE && !m->u.worker_done.ok)
			bench_die("worker", &m->u.worker_done.error);
		if (m->type == type)
			return;
		msg_clear(m);
	}
}

/* Of one side of a pair. CPU of an operation is less moved by what else the machine does. */
struct side {
	double rate, cpu_ns;
};

static struct side run_ours(const struct place *p, const struct pairing *what)
{
	struct msg go = {.type = MSG_WORKER_GO}, m;
	struct err e;
	struct side side;
	int fd;
	pid_t pid = start_worker(p->agent, &fd);

	send_spec(p, what->ours, fd);
	await(fd, MSG_WORKER_READY, &m);
	msg_clear(&m);
	if (frame_write_fd(fd, &go, &e) < 0)
		bench_die("worker", &e);
	await(fd, MSG_WORKER_DONE, &m);
	side.rate = (double)m.u.worker_done.ops / (double)m.u.worker_done.elapsed_ns * NS_PER_S;
	side.cpu_ns = (double)(m.u.worker_done.cpu_user_ns + m.u.worker_done.cpu_system_ns) /
		      (double)m.u.worker_done.ops;
	msg_clear(&m);
	close(fd);
	waitpid(pid, NULL, 0);
	return side;
}

/* ---- fio ---- */

static struct side fio_side(const char *said, int is_write)
{
	json_t *root = json_loads(said, 0, NULL), *job, *side;
	struct side s;

	job = json_array_get(json_object_get(root, "jobs"), 0);
	side = json_object_get(job, is_write ? "write" : "read");
	s.rate = json_number_value(json_object_get(side, "iops"));
	if (s.rate <= 0)
		bench_die("fio said nothing of its rate", NULL);
	s.cpu_ns = (json_number_value(json_object_get(job, "usr_cpu")) +
			   json_number_value(json_object_get(job, "sys_cpu"))) /
		   100 * NS_PER_S / s.rate;
	json_decref(root);
	return s;
}

static struct side run_fio(const struct place *p, const struct pairing *what)
{
	struct strv argv = {0};
	struct proc_result r = {0};
	char *options = xstrdup(what->fio), *rest = options, *word;
	struct side side;
	struct err e;

	strv_add(&argv, fs_find_program("fio"));
	strv_add(&argv, "--name=bench");
	strv_addf(&argv, "--filename=%s/w.random", p->dir);
	strv_addf(&argv, "--size=%uM", FILE_MIB);
	strv_add(&argv, "--bs=4k");
	strv_add(&argv, "--time_based");
	strv_add(&argv, "--runtime=1");
	strv_add(&argv, "--norandommap");
	strv_add(&argv, "--thread");
	strv_add(&argv, "--output-format=json");
	while ((word = strsep(&rest, " ")))
		strv_add(&argv, word);
	if (proc_run(&argv, 120000, &r, &e) || proc_check(&argv, &r, &e))
		bench_die("fio", &e);
	side = fio_side(buf_str(&r.out), what->is_write);
	proc_result_free(&r);
	strv_free(&argv);
	free(options);
	return side;
}

/* ---- pairs ---- */

/* The first pair only warms up. */
static void run_pairs(const struct place *p, const struct pairing *what, const char *label,
	unsigned pairs)
{
	struct bench_series ratio = {.n = 0}, ours = {.n = 0}, fio = {.n = 0};
	struct bench_series ours_cpu = {.n = 0}, fio_cpu = {.n = 0};
	char *text = xasprintf("%s: %s", label, what->what);
	uint64_t r;

	for (unsigned i = 0; i <= pairs; i++) {
		struct side side[2];

		fs_random(&r, sizeof(r));
		/* Ours first of all: it lays the file out. */
		if (i == 0 || (r & 1)) {
			side[1] = run_ours(p, what);
			side[0] = run_fio(p, what);
		} else {
			side[0] = run_fio(p, what);
			side[1] = run_ours(p, what);
		}
		if (i == 0)
			continue;
		bench_add(&ratio, side[1].rate / side[0].rate);
		bench_add(&ours, side[1].rate);
		bench_add(&fio, side[0].rate);
		bench_add(&ours_cpu, side[1].cpu_ns);
		bench_add(&fio_cpu, side[0].cpu_ns);
	}
	bench_row(text, &ratio, "of fio", BENCH_AT_LEAST, what->target);
	bench_row("    ours", &ours, "ops/s", BENCH_SHOWN, 0);
	bench_row("    fio", &fio, "ops/s", BENCH_SHOWN, 0);
	bench_row("    ours, CPU of an operation", &ours_cpu, "ns", BENCH_SHOWN, 0);
	bench_row("    fio, CPU of an operation", &fio_cpu, "ns", BENCH_SHOWN, 0);
	free(text);
}

static const struct pairing pairings[] = {
	{"random 4k reads, pread", "op: read", "--ioengine=psync --rw=randread", 1.10, 0, 0},
	{"random 4k writes, pwrite", "op: write, sync: none", "--ioengine=psync --rw=randwrite", 1.15,
		0, 1},
	{"random 4k reads, io_uring, direct, depth 32",
		"op: read, direct: true, engine: io_uring, depth: 32",
		"--ioengine=io_uring --iodepth=32 --direct=1 --rw=randread", 0.98, 1, 0},
};

static int takes_direct(const char *dir)
{
	char *path = xasprintf("%s/direct", dir);
	int fd = open(path, O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	unlink(path);
	free(path);
	return fd >= 0;
}

static void bench_pairs(const char *agent, const char *memory, const char *disk, const char *label,
	unsigned pairs)
{
	struct err e;

	if (!fs_find_program("fio")) {
		printf("there is no fio here: install it (deploy/install-deps bench)\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(pairings); i++) {
		const struct pairing *p = &pairings[i];
		struct place at = {.agent = agent, .dir = p->on_disk ? disk : memory};
		struct stat st;

		if (p->on_disk && (!takes_direct(disk) || uring_check_user(0, 0, 0, &e))) {
			printf("%s: not possible here: %s\n", p->what,
				takes_direct(disk) ? e.text : "the disk takes no direct I/O");
			continue;
		}
		if (stat(at.dir, &st) < 0)
			bench_die(at.dir, NULL);
		at.dev = st.st_dev;
		run_pairs(&at, p, p->on_disk ? label : "tmpfs", pairs);
	}
}

int main(int argc, char **argv)
{
	struct err e;
	int64_t pairs;

	if (argc != 6 || units_parse_int(argv[5], 1, BENCH_SERIES_MAX, &pairs, &e))
		bench_die("usage: bench_random AGENT MEMORY_DIRECTORY DISK_DIRECTORY LABEL PAIRS", NULL);
	setsid();
	bench_recording();
	bench_null();
	bench_samples();
	bench_pairs(argv[1], argv[2], argv[3], argv[4], (unsigned)pairs);
	return 0;
}
