/*
 * What is no regular file, in the place of a workload's file: each engine says what it is and where,
 * opens nothing of it, and leaves it as it was.
 */
#include "tests/unit/random_kit.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "agent/workload/stream_spec.h"

enum kind { FIFO, SOCKET, FOLDER, LINK, DEVICE, KINDS };

static const char *const said[KINDS] = {
	"a FIFO", "a socket", "a folder", "a symbolic link", "a character device"};

static void make_socket(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
}

/* 0: this user may not make one. */
static int make(enum kind kind, const char *path)
{
	switch (kind) {
	case FIFO:
		assert_int_equal(mkfifo(path, 0666), 0);
		return 1;
	case SOCKET:
		make_socket(path);
		return 1;
	case FOLDER:
		assert_int_equal(mkdir(path, 0777), 0);
		return 1;
	case LINK:
		assert_int_equal(symlink("/dev/zero", path), 0);
		return 1;
	default:
		return mknod(path, S_IFCHR | 0666, makedev(1, 5)) == 0;
	}
}

static void fill_spec(struct kit *k, const struct workload_order *o)
{
	strv_free(&k->spec.names);
	k->spec.names = (struct strv){0};
	if (o->w->kind == WORKLOAD_STREAM)
		assert_ok(stream_spec_fill(k->plan, o->w, &k->spec, &k->e), k->e);
}

/* The engine's own way to its files: what makes them first, where it does that, then a trial. */
static int begin(struct kit *k, unsigned index)
{
	struct workload_order o = kit_order(k, index);
	const struct workload_engine *g = workload_find(o.w->kind);
	void *engine;

	fill_spec(k, &o);
	if (g->make && g->make(&o, &k->e) < 0)
		return -1;
	if (g->prepare(&o, &engine, &k->e) < 0)
		return -1;
	g->clear(engine);
	return 0;
}

static void run(struct kit *k, unsigned index)
{
	struct workload_order o = kit_order(k, index);

	fill_spec(k, &o);
	assert_ok(kit_run(k, index), k->e);
}

static void check(struct kit *k, unsigned index, const char *name)
{
	char *path = xasprintf("%s/%s", k->dir, name);

	for (int kind = 0; kind < KINDS; kind++) {
		char *expected = xasprintf("'%s' in %s is %s, not a regular file: remove it, or ", name,
			k->dir, said[kind]);
		struct stat before, after;

		(void)unlink(path);
		if (!make((enum kind)kind, path)) {
			free(expected);
			continue;
		}
		assert_int_equal(lstat(path, &before), 0);
		if (begin(k, index) == 0)
			fail_msg("workload %u takes %s for a file", index, said[kind]);
		assert_has(k->e.text, expected);
		assert_int_equal(k->e.code, ERR_INPUT);
		assert_int_equal(lstat(path, &after), 0);
		assert_int_equal(after.st_ino, before.st_ino);
		assert_int_equal(kind == FOLDER ? rmdir(path) : unlink(path), 0);
		free(expected);
	}
	free(path);
}

static void streams(void **state)
{
	struct kit *k = *state;

	kit_plan(k, "  w: {stream: {op: write, size: 1M, block-size: 64K, files: 2}}\n"
		    "  r: {stream: {op: read, of: w, block-size: 64K}}\n"
		    "  x: {stream: {op: rewrite, of: w, block-size: 64K}}\n");
	check(k, 0, "w.2");
	run(k, 0); /* the first one is whole then */
	check(k, 1, "w.2");
	check(k, 2, "w.2");
}

static void randoms(void **state)
{
	struct kit *k = *state;

	kit_plan(k, "  w: {stream: {op: write, size: 64K, block-size: 64K}}\n"
		    "  r: {random: {op: read, size: 64K}}\n"
		    "  x: {random: {op: write, size: 64K, files: 2, verify: true}}\n"
		    "  of: {random: {op: mixed, reads: 50%, of: w}}\n");
	check(k, 1, "r.random");
	check(k, 2, "x.random.2");
	check(k, 3, "w");
}

static void fios(void **state)
{
	struct kit *k = *state;

	if (access("/usr/bin/fio", X_OK))
		skip();
	kit_plan(k, "  a: {fio: {options: {rw: write, size: 64k, filename: x}}}\n"
		    "  b: {fio: {options: {rw: read, size: 64k, filename: x}}}\n"
		    "  c: {fio: {jobs: {j: {rw: randread, filesize: 4k, nrfiles: 2, numjobs: 2}}}}\n");
	check(k, 0, "x");
	check(k, 1, "x");
	check(k, 2, "j.1.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(streams, kit_open, kit_close),
		cmocka_unit_test_setup_teardown(randoms, kit_open, kit_close),
		cmocka_unit_test_setup_teardown(fios, kit_open, kit_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
