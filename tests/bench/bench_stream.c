/*
 * The stream workload against dd: same block size, file, sync and cache state, on the same file
 * system, in pairs of random order. Ours is the worker process of the agent's own program, driven
 * over its descriptor as the monitor drives it. Both sides' own clocks count: neither includes
 * starting a process or opening the file.
 *
 * usage: bench_stream AGENT DIRECTORY LABEL MIB PAIRS BLOCK_KIB
 *   MIB: the file's size at most; less where dd would take longer than TAKES_S
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "proto/conn.h"
#include "tests/bench/bench.h"

#define MIB (1024 * 1024)
#define LEAST_BYTES (128ull * MIB)
#define TAKES_S 0.8
#define WORKER_FD 3
#define FILE_NAME "bench.stream"

struct target {
	const char *agent, *dir;
	char *file;
	uint64_t bytes, block; /* bytes is a multiple of block */
	int is_tmpfs;
	double resident; /* the largest part of the file in memory before a read */
};

/* ---- the state before each side ---- */

static void sync_directory(const struct target *t)
{
	int fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
}

static void remove_file(const struct target *t)
{
	if (unlink(t->file) < 0 && errno != ENOENT)
		bench_die(t->file, NULL);
	sync_directory(t);
}

static double resident_part(int fd, uint64_t bytes)
{
	size_t pages = (bytes + 4095) / 4096, in = 0;
	unsigned char *map = xcalloc(pages, 1);
	void *p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED && mincore(p, bytes, map) == 0)
		for (size_t i = 0; i < pages; i++)
			in += map[i] & 1;
	if (p != MAP_FAILED)
		munmap(p, bytes);
	free(map);
	return (double)in / (double)pages;
}

/* Cold: written back, dropped, and looked at whether it is gone. A tmpfs is memory: always warm. */
static void make_cold(struct target *t)
{
	int fd = open(t->file, O_RDONLY | O_CLOEXEC);
	double part;

	if (fd < 0)
		bench_die(t->file, NULL);
	if (!t->is_tmpfs) {
		fsync(fd);
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		part = resident_part(fd, t->bytes);
		if (part > t->resident)
			t->resident = part;
	}
	close(fd);
}

/* ---- dd ---- */

/* "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.512345 s, 2.1 GB/s" */
static double dd_seconds(const char *said)
{
	const char *at = strstr(said, "copied, ");
	char *end;
	double s = at ? strtod(at + 8, &end) : 0;

	if (s <= 0)
		bench_die(said, NULL);
	return s;
}

static double run_dd(const struct target *t, enum op_kind op)
{
	struct strv argv = {0};
	struct proc_result r = {0};
	struct err e;
	double s;

	strv_add(&argv, fs_find_program("dd"));
	strv_addf(&argv, "if=%s", op == OP_READ ? t->file : "/dev/zero");
	strv_addf(&argv, "of=%s", op == OP_READ ? "/dev/null" : t->file);
	strv_addf(&argv, "bs=%llu", (unsigned long long)t->block);
	strv_addf(&argv, "count=%llu", (unsigned long long)(t->bytes / t->block));
	if (op == OP_WRITE)
		strv_add(&argv, "conv=fsync");
	if (proc_run(&argv, 120000, &r, &e) || proc_check(&argv, &r, &e))
		bench_die("dd", &e);
	s = dd_seconds(buf_str(&r.err));
	proc_result_free(&r);
	strv_free(&argv);
	return s;
}

/* ---- ours ---- */

/* In a session of its own, as the monitor starts it: schedulers share by session. */
static _Noreturn void exec_worker(const struct target *t, int fd)
{
	char *argv[] = {(char *)"arraymark-agent", (char *)"worker", (char *)"--fd", (char *)"3",
		NULL};

	setsid();
	if (fd != WORKER_FD && dup2(fd, WORKER_FD) < 0)
		_exit(127);
	if (fd == WORKER_FD)
		fcntl(fd, F_SETFD, 0);
	execv(t->agent, argv);
	_exit(127);
}

static pid_t start_worker(const struct target *t, int *ret_fd)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		bench_die("socketpair", NULL);
	pid = fork();
	if (pid == 0)
		exec_worker(t, fds[1]);
	close(fds[1]);
	if (pid < 0)
		bench_die("fork", NULL);
	*ret_fd = fds[0];
	return pid;
}

static void send_spec(const struct target *t, int fd, enum op_kind op, enum data_kind data,
	uint64_t seed)
{
	struct msg m = {.type = MSG_WORKER_SPEC};
	struct msg_worker_spec *s = &m.u.worker_spec;
	struct stat st;
	struct err e;

	if (stat(t->dir, &st) < 0)
		bench_die(t->dir, NULL);
	*s = (struct msg_worker_spec){.kind = (char *)"stream", .directory = (char *)t->dir,
		.op = op, .size = t->bytes, .block_size = t->block, .data = data, .sync = SYNC_FILE,
		.threads = 1, .files = 1, .sample_ns = NS_PER_S, .seed = seed, .dev = st.st_dev,
		.syncfs_works = 1};
	strv_add(&s->names, FILE_NAME);
	if (frame_write_fd(fd, &m, &e) < 0)
		bench_die("worker", &e);
	strv_free(&s->names);
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

static double run_ours(const struct target *t, enum op_kind op, enum data_kind data, uint64_t seed)
{
	struct msg go = {.type = MSG_WORKER_GO}, m;
	struct err e;
	double s;
	int fd;
	pid_t pid = start_worker(t, &fd);

	send_spec(t, fd, op, data, seed);
	await(fd, MSG_WORKER_READY, &m);
	msg_clear(&m);
	if (frame_write_fd(fd, &go, &e) < 0)
		bench_die("worker", &e);
	await(fd, MSG_WORKER_DONE, &m);
	if (m.u.worker_done.bytes != t->bytes)
		bench_die("worker: moved another number of bytes than asked for", NULL);
	s = (double)m.u.worker_done.elapsed_ns / NS_PER_S;
	msg_clear(&m);
	close(fd);
	waitpid(pid, NULL, 0);
	return s;
}

/* ---- pairs ---- */

struct side {
	enum op_kind op;
	enum data_kind data;
};
struct pairing {
	const char *what;
	struct side ours;
	enum op_kind dd;
	double target;
};

static double one_side(struct target *t, const struct pairing *p, int ours, uint64_t seed)
{
	if (p->dd == OP_READ)
		make_cold(t);
	else
		remove_file(t);
	return ours ? run_ours(t, p->ours.op, p->ours.data, seed) : run_dd(t, p->dd);
}

/* Ratios of throughput, ours to dd's; the first pair only warms up. */
static void run_pairs(struct target *t, const struct pairing *p, const char *label, unsigned pairs)
{
	struct bench_series ratio = {.n = 0}, ours = {.n = 0}, dd = {.n = 0};
	double mib = (double)t->bytes / MIB;
	char *what = xasprintf("%s: %s", label, p->what);
	uint64_t r;

	for (unsigned i = 0; i <= pairs; i++) {
		double s[2];
		int first;

		fs_random(&r, sizeof(r));
		first = (int)(r & 1);
		s[first] = one_side(t, p, first, r >> 8);
		s[!first] = one_side(t, p, !first, r >> 8);
		if (i == 0)
			continue;
		bench_add(&ratio, s[0] / s[1]);
		bench_add(&dd, mib / s[0]);
		bench_add(&ours, mib / s[1]);
	}
	bench_row(what, &ratio, "of dd", BENCH_AT_LEAST, p->target);
	bench_row("    ours", &ours, "MiB/s", BENCH_SHOWN, 0);
	bench_row("    dd", &dd, "MiB/s", BENCH_SHOWN, 0);
	free(what);
}

static void choose_size(struct target *t, uint64_t most)
{
	double s;

	t->bytes = most < LEAST_BYTES ? most : LEAST_BYTES;
	t->bytes -= t->bytes % t->block;
	remove_file(t);
	s = run_dd(t, OP_WRITE);
	if (s < TAKES_S && (double)t->bytes * TAKES_S / s < (double)most)
		most = (uint64_t)((double)t->bytes * TAKES_S / s);
	if (s < TAKES_S)
		t->bytes = most - most % t->block;
}

static const struct pairing pairings[] = {
	{"write of zeros, fsync", {OP_WRITE, DATA_ZERO}, OP_WRITE, 0.97},
	{"write of random data (dd: zeros), fsync", {OP_WRITE, DATA_RANDOM}, OP_WRITE, 0.90},
	{"read", {OP_READ, DATA_ZERO}, OP_READ, 0.97},
};

int main(int argc, char **argv)
{
	struct target t = {0};
	struct statfs fs;
	struct err e;
	int64_t mib, pairs, block;

	if (argc != 7)
		bench_die("usage: bench_stream AGENT DIRECTORY LABEL MIB PAIRS BLOCK_KIB", NULL);
	if (units_parse_int(argv[4], 1, 1 << 20, &mib, &e) ||
		units_parse_int(argv[5], 1, BENCH_SERIES_MAX, &pairs, &e) ||
		units_parse_int(argv[6], 1, mib * 1024, &block, &e))
		bench_die("usage", &e);
	t = (struct target){.agent = argv[1], .dir = argv[2], .block = (uint64_t)block * 1024};
	if (statfs(t.dir, &fs) < 0)
		bench_die(t.dir, NULL);
	t.is_tmpfs = fs.f_type == TMPFS_MAGIC;
	t.file = xasprintf("%s/%s", t.dir, FILE_NAME);
	setsid();
	choose_size(&t, (uint64_t)mib * MIB);
	printf("%s: a file of %.0f MiB in blocks of %.0f KiB\n", argv[3],
		(double)t.bytes / MIB, (double)t.block / 1024);
	for (size_t i = 0; i < ARRAY_LEN(pairings); i++) {
		const char *state = pairings[i].dd != OP_READ ? "" : t.is_tmpfs ? " warm" : " cold";

		char *label = xasprintf("%s%s", argv[3], state);

		run_pairs(&t, &pairings[i], label, (unsigned)pairs);
		free(label);
	}
	if (!t.is_tmpfs)
		bench_one("    of the file in memory before a cold read", t.resident * 100, "%",
			BENCH_SHOWN, 0);
	unlink(t.file);
	free(t.file);
	return 0;
}
