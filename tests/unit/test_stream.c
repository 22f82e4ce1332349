/* The stream engine on real files: what it writes, counts, cuts, refuses. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload/datagen.h"
#include "agent/workload/stream_files.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "proto/conn.h"

#define K 1024ULL

struct totals {
	uint64_t ops, bytes, count, n;
	int64_t end_ns;
};

static char *dir;

static int make_dir(void **state)
{
	char path[] = "/tmp/arraymark-stream-XXXXXX";

	(void)state;
	dir = xstrdup(mkdtemp(path));
	return dir ? 0 : -1;
}

static int remove_dir(void **state)
{
	struct err e;

	(void)state;
	assert_ok(fs_remove_tree(dir, &e), e);
	free(dir);
	return 0;
}

static struct msg_worker_spec make_spec(enum op_kind op, uint64_t size, unsigned files)
{
	struct msg_worker_spec s = {.kind = (char *)"stream", .directory = dir, .op = op,
		.size = size, .block_size = 64 * K, .sync = SYNC_ALL, .threads = 1, .files = files,
		.sample_ns = 100000000, .seed = 5, .syncfs_works = 1};
	struct stat st;

	assert_int_equal(stat(dir, &st), 0);
	s.dev = st.st_dev;
	for (unsigned i = 0; i < files; i++)
		strv_addf(&s.names, "f%u", i);
	return s;
}

static void add_sample(void *arg, const struct sample *s)
{
	struct totals *t = arg;
	struct hist *h = xmalloc(sizeof(*h));
	struct err e;

	assert_ok(hist_decode(s->hist, s->hist_len, h, &e), e);
	assert_int_equal(s->start_ns, t->end_ns);
	assert_true(s->end_ns > s->start_ns);
	assert_int_equal(h->count, s->ops);
	t->end_ns = s->end_ns;
	t->ops += s->ops;
	t->bytes += s->bytes;
	t->n++;
	free(h);
}

static int run_spec(struct msg_worker_spec *s, struct totals *t, struct err *e)
{
	const struct workload_engine *g = workload_find(WORKLOAD_STREAM);
	const struct workload_order order = {.spec = s};
	struct workload_result *r = xcalloc(1, sizeof(*r));
	void *state;
	int rc;

	memset(t, 0, sizeof(*t));
	rc = g->prepare(&order, &state, e);
	if (rc == 0) {
		rc = g->run(state, 0, add_sample, t, r, e);
		g->clear(state);
	}
	if (rc == 0) {
		assert_int_equal(t->bytes, r->bytes);
		assert_int_equal(t->ops, r->ops);
		assert_int_equal(r->hist.count, r->ops);
		assert_true(t->end_ns >= r->elapsed_ns);
		assert_true(r->sync_ns <= r->elapsed_ns);
	}
	strv_free(&s->names);
	free(r);
	return rc;
}

static void check_contents(unsigned file, uint64_t size, uint64_t seed)
{
	struct datagen g = {.kind = DATA_RANDOM, .seed = seed};
	struct buf b = {0};
	struct err e;
	uint64_t bad;
	char path[300];

	snprintf(path, sizeof(path), "%s/f%u", dir, file);
	assert_ok(fs_read_file(path, size, &b, &e), e);
	assert_int_equal(b.len, size);
	assert_int_equal(datagen_verify(&g, file, 0, b.data, b.len, &bad), 0);
	buf_free(&b);
}

/* Any way of dividing the work writes the same files, whole, and counts each block once. */
static void files_and_threads_divide_the_size(void **state)
{
	static const struct {
		unsigned files, threads;
		uint64_t size, first, last;
	} cases[] = {
		{1, 1, 1024 * K, 1024 * K, 1024 * K},
		{1, 4, 1024 * K + 100, 1024 * K + 100, 1024 * K + 100},
		{3, 1, 640 * K, 256 * K, 192 * K},
		{4, 2, 1024 * K, 256 * K, 256 * K},
		{2, 5, 1024 * K, 512 * K, 512 * K},
		{1, 8, 64 * K, 64 * K, 64 * K},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct msg_worker_spec s = make_spec(OP_WRITE, cases[i].size, cases[i].files);
		struct totals t;
		struct err e;

		s.threads = cases[i].threads;
		assert_ok(run_spec(&s, &t, &e), e);
		assert_int_equal(t.bytes, cases[i].size);
		assert_int_equal(t.ops, (cases[i].size + 64 * K - 1) / (64 * K));
		check_contents(0, cases[i].first, 5);
		check_contents(cases[i].files - 1, cases[i].last, 5);
	}
}

/* Small blocks travel from the generator in chunks, more of them than it has room for. */
static void contents_do_not_depend_on_the_block_size(void **state)
{
	static const uint64_t blocks[] = {512, 4 * K, 96 * K, 256 * K, 1024 * K};
	uint64_t size = 3 * 1024 * K + 4 * K;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		struct msg_worker_spec s = make_spec(OP_WRITE, 2 * size, 2);
		uint64_t whole = 2 * size / blocks[i], first = (whole / 2 + whole % 2) * blocks[i];
		struct totals t;
		struct err e;

		s.block_size = blocks[i];
		assert_ok(run_spec(&s, &t, &e), e);
		assert_int_equal(t.bytes, 2 * size);
		check_contents(0, first, 5);
		check_contents(1, 2 * size - first, 5);
	}
}

static void a_read_verifies_what_a_write_left(void **state)
{
	struct msg_worker_spec w = make_spec(OP_WRITE, 512 * K, 2);
	struct msg_worker_spec r = make_spec(OP_READ, 512 * K, 2);
	struct msg_worker_spec again = make_spec(OP_READ, 512 * K, 2);
	struct totals t;
	struct err e;
	char path[300];
	int fd;

	(void)state;
	assert_ok(run_spec(&w, &t, &e), e);
	r.verify = again.verify = 1;
	assert_ok(run_spec(&r, &t, &e), e);
	assert_int_equal(t.bytes, 512 * K);
	snprintf(path, sizeof(path), "%s/f1", dir);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "x", 1, 70000), 1);
	close(fd);
	assert_int_equal(run_spec(&again, &t, &e), -1);
	assert_has(e.text, "f1");
	assert_has(e.text, "from byte 69632 on");
}

static void a_rewrite_keeps_the_file(void **state)
{
	struct msg_worker_spec w = make_spec(OP_WRITE, 256 * K, 1);
	struct msg_worker_spec again = make_spec(OP_REWRITE, 256 * K, 1);
	struct stat before, after;
	struct totals t;
	struct err e;
	char path[300];

	(void)state;
	snprintf(path, sizeof(path), "%s/f0", dir);
	assert_ok(run_spec(&w, &t, &e), e);
	assert_int_equal(stat(path, &before), 0);
	again.seed = 6;
	assert_ok(run_spec(&again, &t, &e), e);
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	check_contents(0, 256 * K, 6);
}

static void a_rate_cuts_samples_in_time(void **state)
{
	struct msg_worker_spec s = make_spec(OP_WRITE, 1024 * K, 1);
	struct totals t;
	struct err e;

	(void)state;
	s.rate = 2048 * K; /* half a second at this rate: at least 4 samples of 100 ms */
	assert_ok(run_spec(&s, &t, &e), e);
	assert_true(t.n >= 4);
}

static void a_directory_on_another_device_is_refused(void **state)
{
	struct msg_worker_spec s = make_spec(OP_WRITE, 64 * K, 1);
	struct totals t;
	struct err e;
	char path[300];

	(void)state;
	s.dev++;
	s.names.v[0][1] = '9';
	assert_int_equal(run_spec(&s, &t, &e), -1);
	assert_int_equal(e.code, ERR_WRONG_STATE);
	snprintf(path, sizeof(path), "%s/f9", dir);
	assert_int_equal(access(path, F_OK), -1);
}

static void wrong_orders_are_refused(void **state)
{
	static const struct {
		const char *name, *text;
		uint64_t size, block;
		unsigned threads;
		int direct;
	} cases[] = {
		{"../up", "not a name", 64 * K, 4096, 1, 0},
		{".hidden", "not a name", 64 * K, 4096, 1, 0},
		{"f0", "needs a size", 0, 4096, 1, 0},
		{"f0", "block-size", 64 * K, 100, 1, 0},
		{"f0", "multiples of 4K", 64 * K, 1000, 1, 1},
		{"f0", "multiples of 4K", 64 * K + 512, 4096, 1, 1},
		{"f0", "threads", 64 * K, 4096, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct msg_worker_spec s = make_spec(OP_WRITE, cases[i].size, 1);
		struct totals t;
		struct err e;

		free(s.names.v[0]);
		s.names.v[0] = xstrdup(cases[i].name);
		s.block_size = cases[i].block;
		s.threads = cases[i].threads;
		s.direct = cases[i].direct;
		assert_int_equal(run_spec(&s, &t, &e), -1);
		assert_has(e.text, cases[i].text);
	}
}

static void reading_more_than_there_is_says_so(void **state)
{
	struct msg_worker_spec w = make_spec(OP_WRITE, 128 * K, 1);
	struct msg_worker_spec r = make_spec(OP_READ, 256 * K, 1);
	struct totals t;
	struct err e;

	(void)state;
	assert_ok(run_spec(&w, &t, &e), e);
	assert_int_equal(run_spec(&r, &t, &e), -1);
	assert_has(e.text, "has 131072 bytes, 262144 are to be read");
}

/* Somebody put it there between two trials: neither waited for nor followed. */
static void what_stands_in_a_files_place_is_refused(void **state)
{
	static const enum op_kind ops[] = {OP_READ, OP_REWRITE};
	char path[300];
	struct totals t;
	struct err e;

	(void)state;
	snprintf(path, sizeof(path), "%s/f0", dir);
	for (size_t i = 0; i < 2 * ARRAY_LEN(ops); i++) {
		struct msg_worker_spec s = make_spec(ops[i / 2], 64 * K, 1);

		assert_true(unlink(path) == 0 || errno == ENOENT);
		assert_int_equal(i % 2 ? symlink("/dev/zero", path) : mkfifo(path, 0600), 0);
		assert_int_equal(run_spec(&s, &t, &e), -1);
		assert_has(e.text, "'f0'");
	}
	assert_int_equal(unlink(path), 0);
}

/* The whole process: order in, ready, go, samples, done. */
static void a_worker_process_reports_over_its_descriptor(void **state)
{
	struct msg m = {.type = MSG_WORKER_SPEC};
	struct msg go = {.type = MSG_WORKER_GO};
	struct err e;
	int fd[2], status;
	uint64_t bytes = 0;
	pid_t pid;

	(void)state;
	m.u.worker_spec = make_spec(OP_WRITE, 300 * K, 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		_exit(worker_main(fd[1]));
	}
	close(fd[1]);
	assert_ok(frame_write_fd(fd[0], &m, &e), e);
	strv_free(&m.u.worker_spec.names);
	assert_ok(frame_read_fd(fd[0], 10000, &m, &e), e);
	assert_int_equal(m.type, MSG_WORKER_READY);
	msg_clear(&m);
	assert_ok(frame_write_fd(fd[0], &go, &e), e);
	for (;;) {
		assert_ok(frame_read_fd(fd[0], 10000, &m, &e), e);
		if (m.type != MSG_WORKER_SAMPLE)
			break;
		bytes += m.u.worker_sample.bytes;
		msg_clear(&m);
	}
	assert_int_equal(m.type, MSG_WORKER_DONE);
	assert_true(m.u.worker_done.ok);
	assert_int_equal(m.u.worker_done.bytes, 300 * K);
	assert_int_equal(bytes, 300 * K);
	msg_clear(&m);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_and_threads_divide_the_size),
		cmocka_unit_test(contents_do_not_depend_on_the_block_size),
		cmocka_unit_test(a_read_verifies_what_a_write_left),
		cmocka_unit_test(a_rewrite_keeps_the_file),
		cmocka_unit_test(a_rate_cuts_samples_in_time),
		cmocka_unit_test(a_directory_on_another_device_is_refused),
		cmocka_unit_test(wrong_orders_are_refused),
		cmocka_unit_test(reading_more_than_there_is_says_so),
		cmocka_unit_test(what_stands_in_a_files_place_is_refused),
		cmocka_unit_test(a_worker_process_reports_over_its_descriptor),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
