/*
 * Somebody detaches our loop device between two steps and attaches another file in its place: what a
 * machine does to names of disks that are pulled and put in. Nothing is written to that file. Needs root
 * and loop devices; in a mount namespace of the test's own.
 */
#include "tests/unit/volume_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include "common/base/units.h"

#define OTHER_SIZE (16 << 20)
#define LIVES 10 /* each of which somebody else may spoil, who takes the number between two calls */
#define DEADLINE 20.0 /* s, for whoever looks at a device as it goes, such as udev */

static char other[80], ours[128];

/* Runs steps, and puts the other file in the place of ours right before or after one. */
struct swapper {
	struct step_sink sink;
	struct step_sink *inner;
	const char *at; /* how that step begins */
	int after, swapped, taken; /* taken: somebody else was faster */
	char *device; /* ours, from when it was attached */
};

/* Whether the device is in use, and not by our disk. */
static int is_taken(int device)
{
	struct loop_info64 info;
	struct stat st;

	return !ioctl(device, LOOP_GET_STATUS64, &info) &&
	       (stat(ours, &st) || info.lo_inode != st.st_ino || info.lo_device != st.st_dev);
}

/* Puts the other file behind our number, in one call. A device that is ours still goes with its last
 * user, so that it is not held here meanwhile. */
static void put_other(struct swapper *w)
{
	int64_t until = clock_mono_ns() + (int64_t)((w->after ? DEADLINE : 0) * 1e9);
	int file = open(other, O_RDWR | O_CLOEXEC), device;

	assert_true(file >= 0);
	do {
		device = open(w->device, O_RDWR | O_CLOEXEC);
		if (device < 0)
			break;
		w->swapped = ioctl(device, LOOP_SET_FD, file) == 0;
		w->taken = !w->swapped && is_taken(device);
		close(device);
	} while (!w->swapped && !w->taken && clock_mono_ns() < until && !poll(NULL, 0, 5));
	close(file);
}

static void swap(struct swapper *w)
{
	(void)kit_detach(w->device);
	put_other(w);
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
		assert_int_equal(
			kit_run("mkfs.ext4", (const char *const[]){"-q", "-F", other, NULL}, NULL), 0);
}

static void sum_other(char out[65])
{
	struct buf text = {0};
	struct err e;

	assert_ok(fs_read_file(other, OTHER_SIZE, &text, &e), e);
	fs_sha256(text.data, text.len, out);
	buf_free(&text);
}

/* The life of a volume up to its caches, with the swap. Returns how the caches were made, or -1 and e. */
static int live(struct swapper *w, struct err *e)
{
	struct plan *plan = kit_plan("{scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}");
	struct volume_ctx ctx = kit_context(NULL, plan);
	struct volume v = {0};
	struct journal *j;
	char *done = NULL, *path;
	struct err bad;
	int status;

	assert_ok(journal_open(kit_state, &kit_key, &j, &bad), bad);
	w->sink.run = run_and_swap;
	w->inner = sink_real(j, ctx.unit, NULL, NULL);
	ctx.sink = &w->sink;
	assert_ok(volume_build(&ctx, &plan->layouts[0], &v, &bad), bad);
	status = volume_cache_state(&ctx, &v, CACHE_COLD, &done, e);
	assert_ok(kit_take_down(&ctx, j, &bad), bad);
	path = kit_journal();
	assert_ok(journal_remove(path, &bad), bad);
	assert_int_equal(access(ours, F_OK), -1);
	free(path);
	free(done);
	volume_clear(&v);
	sink_free(w->inner);
	journal_close(j);
	plan_free(plan);
	return status;
}

static void need_loops(void)
{
	if (!kit_has_loops() || !fs_find_program("mkfs.ext4"))
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
	struct swapper w = {0};
	char before[65], after[65];
	struct err e;
	int status = 0;

	(void)unused;
	need_loops();
	make_other(1);
	sum_other(before);
	for (int i = 0; i < LIVES && !w.swapped; i++) {
		free(w.device);
		w = (struct swapper){.at = "unmount", .after = 1};
		status = live(&w, &e);
		assert_true(w.swapped || w.taken);
	}
	assert_true(w.swapped);
	assert_int_equal(status, -1);
	assert_has(e.text, "does not carry the file system with UUID");
	assert_int_equal(kit_detach(w.device), 0);
	sum_other(after);
	assert_string_equal(before, after);
	free(w.device);
}

static int set_up(void **unused)
{
	(void)unused;
	if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 0;
	if (kit_make_home("/tmp/arraymark-swapped-XXXXXX"))
		return -1;
	snprintf(other, sizeof(other), "%s/other", kit_home);
	snprintf(ours, sizeof(ours), "%s/" KIT_FIRST_DISK, kit_scratch);
	return mkdir(kit_state, 0700) || mkdir(kit_scratch, 0700);
}

static int tear_down(void **unused)
{
	struct err e;

	(void)unused;
	return *kit_home ? fs_remove_tree(kit_home, &e) : 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_the_file_system_is_made),
		cmocka_unit_test(while_nothing_is_mounted),
	};
	int status;

	if (kit_is_helper(argc, argv, &status))
		return status;
	return cmocka_run_group_tests_name("swapped devices", tests, set_up, tear_down);
}
