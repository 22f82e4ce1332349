/*
 * SIGKILL at each step of a volume's life, right after the journal knows of the step and right after it
 * was executed: whoever comes next takes down whatever is there by the journal alone. Real file systems
 * on real loop devices, and real pools where a ZFS answers; as root. It takes long: only with the variable
 * KILL_STEPS, as tests/e2e/kill-steps.t starts it, in a mount namespace of its own; "begun" or "executed"
 * is what the first step of a pool is.
 */
#include "tests/unit/volume_kit.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>

#include "agent/volume/mounts.h"
#include "agent/volume/zpool.h"

#define STEPS_MAX 100

enum when { BEGUN, EXECUTED };
struct killer {
	struct step_sink sink;
	struct step_sink *inner;
	struct journal *j;
	unsigned at, n; /* dies at that step; how many there were */
	enum when when;
};

static _Noreturn void die(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

static int run_or_die(struct step_sink *sink, const struct step *s, struct buf *out, struct err *e)
{
	struct killer *k = (struct killer *)sink;
	struct journal_entry entry = {.unit = {1, 0}, .phase = s->phase, .what = s->what,
		.argv = s->argv, .undo = s->undo};
	uint64_t number;

	if (++k->n == k->at && k->when == BEGUN) {
		(void)journal_begin(k->j, &entry, &number, e);
		die();
	}
	return k->inner->run(k->inner, s, out, e);
}

static void executed(void *arg, const struct step *s, int ok, int64_t elapsed_ns, const char *output)
{
	struct killer *k = arg;

	(void)s;
	(void)ok;
	(void)elapsed_ns;
	(void)output;
	if (k->n == k->at && k->when == EXECUTED)
		die();
}

/* The whole life in a child: built, made cold, taken down. Its exit status: 0 when it got through. */
static int live(const struct plan *plan, unsigned at, enum when when)
{
	struct killer k = {.sink.run = run_or_die, .at = at, .when = when};
	struct volume_ctx ctx;
	struct volume v = {0};
	char *done = NULL;
	struct err e;

	if (journal_open(kit_state, &kit_key, &k.j, &e))
		return 1;
	k.inner = sink_real(k.j, (struct unit){1, 0}, executed, &k);
	ctx = kit_context(&k.sink, plan);
	if (volume_build(&ctx, &plan->layouts[0], &v, &e) ||
		volume_cache_state(&ctx, &v, CACHE_COLD, &done, &e) || kit_take_down(&ctx, k.j, &e)) {
		fprintf(stderr, "step %u: %s\n", k.n, e.text);
		return 1;
	}
	return 0;
}

static void assert_no_entry(const char *folder, const char *but)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.' && (!but || strcmp(entry->d_name, but)))
			fail_msg("%s/%s was left", folder, entry->d_name);
	if (d)
		closedir(d);
}

static void assert_nothing_left(unsigned step)
{
	struct proc_result r;
	struct mounts m;
	struct buf loops = {0};
	struct err e;

	assert_no_entry(kit_scratch, NULL);
	assert_no_entry(kit_mounts, NULL);
	assert_no_entry(kit_state, NULL);
	assert_ok(mounts_read(&m, &e), e);
	for (size_t i = 0; i < m.n; i++)
		if (str_starts(m.v[i].point, kit_mounts))
			fail_msg("step %u: %s is mounted", step, m.v[i].point);
	mounts_free(&m);
	assert_int_equal(kit_run("losetup", (const char *const[]){"-a", NULL}, &loops), 0);
	if (strstr(buf_str(&loops), kit_home))
		fail_msg("step %u: a loop device was left: %s", step, buf_str(&loops));
	buf_free(&loops);
	if (zpool_is_installed() &&
		!zpool_ask((const char *const[]){"list", "-H", "-o", "name", NULL}, &r, &e)) {
		if (strstr(buf_str(&r.out), "am_5_1_0a1b2c"))
			fail_msg("step %u: the pool was left", step);
		proc_result_free(&r);
	}
}

/* What the next monitor's helper does: without plan, policy and inventory. */
static void clean_up(unsigned step)
{
	char *path = kit_journal();
	struct volume_ctx ctx = kit_context(NULL, NULL);
	struct journal *j;
	struct err e;

	assert_ok(journal_open(kit_state, &kit_key, &j, &e), e);
	ctx.sink = sink_real(j, (struct unit){0}, NULL, NULL);
	if (kit_take_down(&ctx, j, &e))
		fail_msg("after step %u: %s", step, e.text);
	sink_free(ctx.sink);
	journal_close(j);
	if (journal_remove(path, &e))
		fail_msg("after step %u: %s", step, e.text);
	free(path);
	assert_nothing_left(step);
}

/* As a start of the host leaves it: no mount and no loop device of ours. */
static void start_anew(void)
{
	char *file = xasprintf("%s/" KIT_FIRST_DISK, kit_scratch), *device;
	struct mounts m;
	struct err e;

	assert_ok(mounts_read(&m, &e), e);
	for (size_t i = m.n; i-- > 0;)
		if (str_starts(m.v[i].point, kit_mounts))
			assert_int_equal(umount(m.v[i].point), 0);
	mounts_free(&m);
	device = loop_find(file);
	if (device)
		assert_int_equal(kit_detach(device), 0);
	free(device);
	free(file);
}

/* first: of the steps; then it takes turns. anew: the host is started anew after each kill. Returns how
 * many steps a life has. */
static unsigned kill_at_each(const struct plan *plan, enum when first, int anew)
{
	for (unsigned at = 1; at < STEPS_MAX; at++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(live(plan, at, at % 2 ? first : first == BEGUN ? EXECUTED : BEGUN));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (anew)
			start_anew();
		clean_up(at);
		if (WIFSIGNALED(status))
			continue;
		assert_int_equal(WEXITSTATUS(status), 0);
		return at - 1;
	}
	fail_msg("a life of more than %d steps", STEPS_MAX);
	return 0;
}

static void kill_lives(const char *layout, enum when first, int anew, unsigned least)
{
	struct plan *plan = kit_plan(layout);

	assert_in_range(kill_at_each(plan, first, anew), least, STEPS_MAX);
	plan_free(plan);
}

static void a_file_system_at_each_step(void **unused)
{
	(void)unused;
	if (!kit_has_loops() || !fs_find_program("mkfs.ext4"))
		skip();
	kill_lives("{scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}", BEGUN, 0, 15);
	kill_lives("{scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}", EXECUTED, 0, 15);
	kill_lives("{scratch: {disks: 1, size: 64M}, filesystem: {type: ext4}}", EXECUTED, 1, 15);
}

static void a_pool_at_each_step(void **unused)
{
	struct proc_result r;
	struct err ignored;
	int answers;

	(void)unused;
	if (!kit_has_loops() || !zpool_is_installed() ||
		zpool_ask((const char *const[]){"list", "-H", NULL}, &r, &ignored))
		skip();
	answers = r.exit_status == 0;
	proc_result_free(&r);
	if (!answers)
		skip();
	/* one after the other, half of them each: a life of a pool takes seconds */
	kill_lives("{scratch: {disks: 4, size: 64M}, pool: {level: mirror, disks: 2, cache: 1, spares: 1, "
		   "ashift: 12, datasets: {pg: {}}}}",
		*getenv("KILL_STEPS") == 'e' ? EXECUTED : BEGUN, 0, 25);
}

static int set_up(void **unused)
{
	(void)unused;
	if (!getenv("KILL_STEPS"))
		return 0;
	if (kit_make_home("/tmp/arraymark-steps-XXXXXX"))
		return -1;
	if (mount("tmpfs", kit_home, "tmpfs", 0, "size=1g,mode=755")) /* many flushes: in memory */
		fprintf(stderr, "without a tmpfs\n");
	return mkdir(kit_state, 0700);
}

static int tear_down(void **unused)
{
	struct err e;

	(void)unused;
	if (!*kit_home)
		return 0;
	(void)umount(kit_home);
	return fs_remove_tree(kit_home, &e);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_system_at_each_step),
		cmocka_unit_test(a_pool_at_each_step),
	};
	int status;

	if (kit_is_helper(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
