/*
 * The life of a volume on scratch disks in a folder of the test's own: the program stands in for the agent
 * as the helper of its steps, too. Needs root and loop devices.
 */
#ifndef TESTS_UNIT_VOLUME_KIT_H
#define TESTS_UNIT_VOLUME_KIT_H

#include "tests/unit/loop_kit.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "agent/volume/driver.h"
#include "agent/volume/folder.h"
#include "agent/volume/labels.h"
#include "common/base/mem.h"

#define KIT_FIRST_DISK "am_5_1_0a1b2c/disk01" /* in the folder of scratch disks */

static const struct job_key kit_key = {5, 1, 1};
/* "": not made. */
static char kit_home[64], kit_state[80], kit_scratch[80], kit_mounts[80], kit_self[4096];

/* name: as mkdtemp() wants it. -1: it could not be made. */
static inline int kit_make_home(const char *name)
{
	char *real;
	struct err e;

	if (fs_realpath("/proc/self/exe", &real, &e))
		return -1;
	snprintf(kit_self, sizeof(kit_self), "%s", real);
	free(real);
	snprintf(kit_home, sizeof(kit_home), "%s", name);
	if (!mkdtemp(kit_home)) {
		*kit_home = '\0';
		return -1;
	}
	snprintf(kit_state, sizeof(kit_state), "%s/state", kit_home);
	snprintf(kit_scratch, sizeof(kit_scratch), "%s/scratch", kit_home);
	snprintf(kit_mounts, sizeof(kit_mounts), "%s/mounts", kit_home);
	return 0;
}

/* One layout, with a workload that nothing runs. */
static inline struct plan *kit_plan(const char *layout)
{
	char *text = xasprintf("name: k\nhosts: all\ntrials: 3\ncache: cold\nlayouts: {a: %s}\n"
			       "workloads: {w: {stream: {op: write, size: 1M}}}\n",
		layout);
	struct yaml_errors errs = {0};
	struct plan *plan;
	struct err e;

	assert_ok(plan_parse("plan", text, strlen(text), NULL, &plan, &errs, &e), e);
	yaml_errors_free(&errs);
	free(text);
	return plan;
}

/* plan NULL: as the one who cleans up after a monitor has it, without policy and inventory. */
static inline struct volume_ctx kit_context(struct step_sink *sink, const struct plan *plan)
{
	static struct policy policy = {.scratch_directory = kit_scratch, .scratch_limit = 1LL << 40};
	static struct inventory inventory = {.scratch_loop = 1};

	return (struct volume_ctx){.sink = sink,
		.plan = plan,
		.policy = plan ? &policy : NULL,
		.inv = plan ? &inventory : NULL,
		.key = kit_key,
		.unit = {plan ? 1 : 0, 0},
		.job_tag = plan ? "0a1b2c" : NULL,
		.mount_root = kit_mounts,
		.state_dir = kit_state,
		.worker_uid = 65534,
		.worker_gid = 65534,
		.self = kit_self};
}

/* The journal's file; caller frees. */
static inline char *kit_journal(void)
{
	return xasprintf("%s/journal-5-1-1.jsonl", kit_state);
}

/* By what the journal tells. */
static inline int kit_take_down(struct volume_ctx *ctx, struct journal *j, struct err *e)
{
	char *path = kit_journal();
	struct journal_entry *v;
	struct job_key read_key;
	uint64_t ticks;
	pid_t worker;
	size_t n;
	int status = journal_read(path, &read_key, &v, &n, &worker, &ticks, e);

	free(path);
	if (status)
		return -1;
	status = volume_teardown(ctx, j, v, n, e);
	journal_entries_free(v, n);
	return status;
}

static inline int kit_has_loops(void)
{
	return *kit_home && geteuid() == 0 &&
	       !kit_run("losetup", (const char *const[]){"--find", NULL}, NULL);
}

/* Whether this is a step that needs a process of its own, which was then executed. */
static inline int kit_is_helper(int argc, char **argv, int *ret_status)
{
	if (argc > 1 && !strcmp(argv[1], "clear-labels"))
		*ret_status = labels_main(argc - 1, argv + 1);
	else if (argc > 1 && !strcmp(argv[1], "label-guids"))
		*ret_status = label_guids_main(argc - 1, argv + 1);
	else if (argc > 1 && (!strcmp(argv[1], "give-folder") || !strcmp(argv[1], "empty-folder")))
		*ret_status = folder_main(argc - 1, argv + 1);
	else
		return 0;
	return 1;
}

#endif
