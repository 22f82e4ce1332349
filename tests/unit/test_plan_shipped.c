/* The plans in deploy/plans: each is one, without a warning, and says truly what it needs. */
#include "tests/unit/test.h"

#include <glob.h>
#include <stdlib.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/yaml.h"
#include "common/plan/plan.h"

enum need { NEED_ZFS = 1, NEED_XFS = 2, NEED_EXT4 = 4, NEED_DISKS = 8, NEED_FIO = 16, NEED_PG = 32,
	NEED_POLICY = 64 };
static const struct {
	enum need need;
	const char *word;
} needs_list[] = {{NEED_ZFS, "a ZFS that runs"}, {NEED_XFS, "mkfs.xfs"}, {NEED_EXT4, "mkfs.ext4"},
	{NEED_DISKS, "disks that the policy allows"}, {NEED_FIO, " fio,"}, {NEED_PG, "PostgreSQL"},
	{NEED_POLICY, "a policy with allow: {"}};

static unsigned needs_of(const struct plan *p)
{
	static const unsigned by_kind[WORKLOAD_KIND_COUNT] = {[WORKLOAD_FIO] = NEED_FIO | NEED_POLICY,
		[WORKLOAD_COMMAND] = NEED_POLICY, [WORKLOAD_DISK_SCAN] = NEED_POLICY,
		[WORKLOAD_PG_RESTORE] = NEED_PG, [WORKLOAD_PG_DUMP] = NEED_PG,
		[WORKLOAD_PGBENCH] = NEED_PG};
	unsigned needs = 0;

	for (size_t i = 0; i < p->n_layouts; i++) {
		const struct layout *l = &p->layouts[i];

		needs |= l->pool ? NEED_ZFS : 0;
		needs |= !l->fs ? 0 : l->fs->type == FS_XFS ? NEED_XFS : NEED_EXT4;
		needs |= (l->pool || l->fs) && !l->scratch.disks ? NEED_DISKS : 0;
	}
	for (size_t i = 0; i < p->n_workloads; i++)
		needs |= by_kind[p->workloads[i].kind];
	return needs;
}

/* What its head says that it needs is what it needs; the starter tells it of each part. */
static void check_needs(const char *path, const char *text, const struct plan *p)
{
	const char *at = strstr(text, "\n# Needs: "), *end;
	unsigned needs = needs_of(p);
	char *said;

	if (str_ends(path, "/starter.yaml"))
		return;
	if (!at)
		fail_msg("%s does not say what it needs", path);
	for (end = at + 1; *end == '#'; end = strchr(end, '\n') + 1)
		;
	said = xstrndup(at, (size_t)(end - at));
	for (size_t i = 0; i < ARRAY_LEN(needs_list); i++)
		if (!strstr(said, needs_list[i].word) != !(needs & needs_list[i].need))
			fail_msg("%s: '%s' is %s:%s", path, needs_list[i].word,
				needs & needs_list[i].need ? "not told of" : "not needed", said);
	free(said);
}

static void check_shipped(const char *path)
{
	struct yaml_errors errs = {0};
	struct buf text = {0};
	struct plan *p;
	struct err e;

	if (fs_read_file(path, YAML_MAX_BYTES, &text, &e))
		fail_msg("%s (tests run from the top of the tree)", e.text);
	if (plan_parse(path, text.data, text.len, NULL, &p, &errs, &e))
		fail_msg("%s", errs.list.n ? errs.list.v[0] : e.text);
	assert_int_equal(p->warnings.n, 0);
	check_needs(path, text.data, p);
	plan_free(p);
	yaml_errors_free(&errs);
	buf_free(&text);
}

/* Every plan that is shipped is one, and none has a warning. */
static void test_shipped_plans(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob("deploy/plans/*.yaml", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 10);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_shipped(found.gl_pathv[i]);
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shipped_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
