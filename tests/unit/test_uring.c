/*
 * io_uring where the kernel says no: a seccomp filter of the test's own makes it say so, and the
 * error names the reason and the remedy before anything is laid out.
 */
#include "tests/unit/random_kit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void forbid(int error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_LEN(code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}

/* What kit_run says in a process of its own that may not use io_uring; 0: it could not be forbidden. */
static int refused(struct kit *k, int error, char *text, size_t len)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		forbid(error);
		if (kit_run(k, 0) == 0)
			_exit(1);
		_exit(write(fds[1], k->e.text, strlen(k->e.text)) > 0 && k->e.code == ERR_DENIED ? 0
												 : 2);
	}
	close(fds[1]);
	n = read(fds[0], text, len - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 0;
	assert_int_equal(status, 0);
	return 1;
}

static void a_kernel_that_says_no_is_an_error_with_a_remedy(void **state)
{
	static const struct {
		int error;
		const char *says;
	} cases[] = {
		{EPERM, "forbidden here, by a seccomp filter (of a container?) or a security module: "
			"allow it, or use engine: pread"},
		{ENOSYS, "this kernel has no io_uring (it came with Linux 5.1; a seccomp filter may hide "
			 "it, too): use engine: pread"},
	};
	struct kit *k = *state;
	char text[600], path[300];

	kit_plan(k, "  w: {random: {op: read, size: 64K, engine: io_uring}}\n");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (!refused(k, cases[i].error, text, sizeof(text))) {
			print_message("SKIP: no seccomp filters here\n");
			return;
		}
		/* Where the sysctl says no already, that is what is named. */
		if (!strstr(text, "io_uring_disabled"))
			assert_has(text, cases[i].says);
		assert_has(text, "engine: pread");
	}
	snprintf(path, sizeof(path), "%s/w.random", k->dir);
	assert_int_equal(access(path, F_OK), -1);
}

static void other_users_are_tried_as_themselves(void **state)
{
	struct err e, own;
	int allowed = uring_check_user(0, 0, 0, &own) == 0;

	(void)state;
	if (geteuid() != 0) {
		print_message("SKIP: not root\n");
		return;
	}
	if (uring_check_user(1, 65534, 65534, &e) == 0)
		assert_true(allowed);
	else
		assert_has(e.text, "engine: pread");
}

static void stream_spec(struct kit *k, enum op_kind op, unsigned files, unsigned threads)
{
	k->spec.op = op;
	k->spec.size = 3 * 1024 * 1024 + 4096;
	k->spec.block_size = 64 * 1024;
	k->spec.threads = threads;
	k->spec.files = files;
	k->spec.verify = op == OP_READ;
}

/* What one engine writes the other one reads and verifies; each block is counted once. */
static void a_stream_may_have_many_blocks_under_way(void **state)
{
	struct kit *k = *state;

	if (!kit_has_uring())
		return;
	for (unsigned threads = 1; threads <= 4; threads += 3) {
		kit_plan(k, "  w: {stream: {op: write, size: 3M, files: 2, engine: io_uring, depth: 8}}\n"
			    "  r: {stream: {op: read, of: w, engine: io_uring, depth: 4, verify: true}}\n"
			    "  p: {stream: {op: read, of: w, verify: true}}\n"
			    "  o: {stream: {op: rewrite, of: w, engine: io_uring, rate: 64M}}\n");
		strv_free(&k->spec.names);
		plan_stream_names(k->plan, 0, 1, 1, &k->spec.names);
		for (unsigned i = 0; i < 4; i++) {
			stream_spec(k, i == 0 ? OP_WRITE : i == 3 ? OP_REWRITE : OP_READ, 2, threads);
			k->spec.rate = i == 3 ? 64 << 20 : 0;
			assert_ok(kit_run(k, i), k->e);
			assert_int_equal(k->r->ops, 49);
			assert_int_equal(k->r->bytes, 3 * 1024 * 1024 + 4096);
		}
		k->spec.rate = 0;
		k->spec.seed++; /* what it wrote is not that */
		stream_spec(k, OP_READ, 2, threads);
		assert_int_equal(kit_run(k, 1), -1);
		assert_has(k->e.text, "does not hold what was written from byte ");
	}
}

static void a_timed_stream_goes_around_until_its_end(void **state)
{
	struct kit *k = *state;

	if (!kit_has_uring())
		return;
	kit_plan(k, "  w: {stream: {op: write, size: 3M, engine: io_uring, depth: 8}, duration: 1s}\n");
	plan_stream_names(k->plan, 0, 1, 1, &k->spec.names);
	stream_spec(k, OP_WRITE, 1, 1);
	k->spec.rate = 32 << 20;
	assert_ok(kit_run(k, 0), k->e);
	assert_true(k->r->elapsed_ns >= NS_PER_S);
	assert_true(k->r->ops > 49);
	assert_true(k->r->bytes <= (32 << 20) + 64 * 1024);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_open, kit_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_kernel_that_says_no_is_an_error_with_a_remedy),
		TEST(a_stream_may_have_many_blocks_under_way),
		TEST(a_timed_stream_goes_around_until_its_end),
		cmocka_unit_test(other_users_are_tried_as_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
