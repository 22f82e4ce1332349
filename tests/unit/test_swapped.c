/*
 * Somebody detaches our loop device between two steps and attaches another file in its place: what a
 * machine does to names of disks that are pulled and put in. Nothing is written to that file. Needs root
 * and loop devices; in a mount namespace of the test's own.
 */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/volume/driver.h"
#include "agent/volume/folder.h"
#include "agent/volume/labels.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define OTHER_SIZE (16 << 20)

static char home[] = "/tmp/arraymark-swapped-XXXXXX";
static char state[64], scratch[64], mounts[64], other[64], ours[96], self[4096];
static const struct job_key key = {7, 1, 1};

static int run(const char *program, const char *const *words)
{
	struct strv argv = {0};
	struct err ignored;
	int status;

	strv_add(&argv, fs_find_program(program));
	strv_add_all(&argv, words);
	status = proc_run_ok(&argv, 20000, NULL, &ignored);
	strv_free(&argv);
	return status;
}

/* Runs steps, and puts the other file in the place of ours right before or after one. */
struct swapper {
	struct step_sink sink;
	struct step_sink *inner;
	const char *at; /* how that step begins */
	int after, swapped;
	char *device; /* ours, from when it was attached */
};

static void swap(struct swapper *w)
{
	run("losetup", (const char *const[]){"-d", w->device, NULL});
	w->swapped = run("losetup", (const char *const[]){w->device, other, NULL}) == 0;
}

static int run_and_swap(struct step_sink *sink, const struct step *s, struct buf *out, struct err *e)
{
	struct swapper *w = (struct swapper *)sink;
	int hit = str_starts(s->what, w->at), status;

	if (!w->device)
		w->device = loop_find(ours);
	if (hit && !w->after)
		swap(w);
	status = w->inner->run(w->inner, s, out, e);
	if (hit && w->after)
		swap(w);
	return status;
}

static void make_other(int with_file_system)
{
	int fd = open(other, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, OTHER_SIZE), 0);
	close(fd);
	if (with_file_system)
		assert_int_equal(run("mkfs.ext4", (const char *const[]){"-q", "-F", other, NULL}), 0);
}

static void sum_other(char out[65])
{
	struct buf text = {0};
	struct err e;

	assert_ok(fs_read_file(other, OTHER_SIZE, &text, &e), e);
	fs_sha256(text.data, text.len, out);
	buf_free(&text);
}

static struct plan *make_plan(void)
{
	static const char text[] =
		"name: k\nhosts: all\ntrials: 3\ncache: cold\nlayouts: {a: {scratch: {disks: 1, size: 64M}, "
		"filesystem: {type: ext4}}}\nworkloads: {w: {stream: {op: write, size: 1M}}}\n";
	struct yaml_errors errs = {0};
	struct plan *plan;
	struct err e;

	assert_ok(plan_parse("plan", text, strlen(text), NULL, &plan, &errs, &e), e);
	yaml_errors_free(&errs);
	return plan;
}

static void take_down(struct volume_ctx *ctx, struct journal *j)
{
	char *path = xasprintf("%s/journal-7-1-1.jsonl", state);
	struct journal_entry *v;
	struct job_key read_key;
	uint64_t ticks;
	pid_t worker;
	struct err e;
	size_t n;

	assert_ok(journal_read(path, &read_key, &v, &n, &worker, &ticks, &e), e);
	assert_ok(volume_teardown(ctx, j, v, n, &e), e);
	journal_entries_free(v, n);
	assert_ok(journal_remove(path, &e), e);
	assert_int_equal(access(ours, F_OK), -1);
	free(path);
}

/* The life of a volume up to its caches, with the swap. Returns how the caches were made, or -1 and e. */
static int live(struct swapper *w, struct err *e)
{
	struct policy policy = {.scratch_directory = scratch, .scratch_limit = 1LL << 40};
	struct inventory inv = {.scratch_loop = 1};
	struct plan *plan = make_plan();
	struct volume_ctx ctx = {.plan = plan, .policy = &policy, .inv = &inv, .key = key,
		.unit = {1, 0}, .job_tag = "0a1b2c", .mount_root = mounts, .state_dir = state,
		.worker_uid = 65534, .worker_gid = 65534, .self = self};
	struct volume v = {0};
	struct journal *j;
	char *done = NULL;
	struct err bad;
	int status;

	assert_ok(journal_open(state, &key, &j, &bad), bad);
	w->sink.run = run_and_swap;
	w->inner = sink_real(j, ctx.unit, NULL, NULL);
	ctx.sink = &w->sink;
	assert_ok(volume_build(&ctx, &plan->layouts[0], &v, &bad), bad);
	status = volume_cache_state(&ctx, &v, CACHE_COLD, &done, e);
	take_down(&ctx, j);
	free(done);
	volume_clear(&v);
	sink_free(w->inner);
	journal_close(j);
	plan_free(plan);
	return status;
}

static void need_loops(void)
{
	if (!*self || !fs_find_program("mkfs.ext4") || run("losetup", (const char *const[]){"--find", NULL}))
		skip();
}

/* mkfs would take it without a question. */
static void before_the_file_system_is_made(void **unused)
{
	struct swapper w = {.at = "make ext4"};
	char before[65], after[65];
	struct err ignored;

	(void)unused;
	need_loops();
	make_other(0);
	sum_other(before);
	live(&w, &ignored); /* the device may go with its last user, once it was to be detached */
	assert_non_null(w.device);
	assert_false(w.swapped);
	sum_other(after);
	assert_string_equal(before, after);
	free(w.device);
}

/* A mount writes to what it mounts. */
static void while_nothing_is_mounted(void **unused)
{
	struct swapper w = {.at = "unmount", .after = 1};
	char before[65], after[65];
	struct err e;

	(void)unused;
	need_loops();
	make_other(1);
	sum_other(before);
	assert_int_equal(live(&w, &e), -1);
	assert_has(e.text, "does not carry the file system with UUID");
	assert_true(w.swapped);
	assert_int_equal(run("losetup", (const char *const[]){"-d", w.device, NULL}), 0);
	sum_other(after);
	assert_string_equal(before, after);
	free(w.device);
}

static int set_up(void **unused)
{
	char *real;
	struct err e;

	(void)unused;
	if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 0;
	if (!mkdtemp(home) || fs_realpath("/proc/self/exe", &real, &e))
		return -1;
	snprintf(self, sizeof(self), "%s", real);
	free(real);
	snprintf(state, sizeof(state), "%s/state", home);
	snprintf(scratch, sizeof(scratch), "%s/scratch", home);
	snprintf(mounts, sizeof(mounts), "%s/mounts", home);
	snprintf(other, sizeof(other), "%s/other", home);
	snprintf(ours, sizeof(ours), "%s/am_7_1_0a1b2c/disk01", scratch);
	return mkdir(state, 0700) || mkdir(scratch, 0700);
}

static int tear_down(void **unused)
{
	struct err e;

	(void)unused;
	return *self ? fs_remove_tree(home, &e) : 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_file_system_is_made),
		cmocka_unit_test(while_nothing_is_mounted),
	};

	if (argc > 1 && !strcmp(argv[1], "give-folder"))
		return folder_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "clear-labels"))
		return labels_main(argc - 1, argv + 1);
	return cmocka_run_group_tests_name("swapped devices", tests, set_up, tear_down);
}
