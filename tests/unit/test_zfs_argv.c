/* The vectors that volumes are built, made cold and taken down with, through the preview sink: what
 * --dry-run prints. Disks are made up; nothing is run. */
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/volume/volume.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define HEAD "name: p\nhosts: [h]\ntrials: 3\n"
#define TAIL "workloads:\n  w: {stream: {op: write, size: 1M}}\n"
#define DISKS 24

static char home[] = "/tmp/arraymark-argv-XXXXXX";

struct fixture {
	struct plan *plan;
	struct policy *policy;
	struct inventory inv;
	struct bound_disks bound[8];
	size_t n_bound;
	struct strv steps; /* one line each: the program's name and its arguments */
};

static void collect(void *arg, const struct step *s)
{
	struct fixture *f = arg;
	struct buf line = {0};

	for (size_t i = 0; i < s->argv.n; i++) {
		const char *word = s->argv.v[i], *slash = strrchr(word, '/');

		buf_addf(&line, "%s%s", i ? " " : "", i == 0 && slash ? slash + 1 : word);
	}
	strv_add(&f->steps, buf_str(&line));
	buf_free(&line);
}

static void make_inventory(struct inventory *inv)
{
	inv->host = xstrdup("h");
	inv->scratch_loop = 1;
	inv->disks = xcalloc(DISKS, sizeof(*inv->disks));
	inv->n_disks = DISKS;
	for (unsigned i = 0; i < DISKS; i++) {
		struct inv_disk *d = &inv->disks[i];

		d->name = xasprintf("sd%c", 'a' + (int)i);
		d->path = xasprintf("/d/%02u", i);
		d->serial = xasprintf("S%02u", i);
		d->bytes = 1ULL << 40;
		d->allowed = 1;
	}
}

static void set_up_plan(struct fixture *f, const char *layout, const char *more)
{
	char *text = xasprintf(HEAD "%slayouts:\n  L: %s\n" TAIL, more, layout);
	char *allow = xasprintf("allow:\n  disks: [\"serial:S*\"]\n  wipe: [\"serial:S0*\"]\n"
				"  scratch: {directory: %s/scratch, limit: 1T}\n"
				"  directories: [{path: %s}]\n", home, home);
	struct yaml_errors errs = {0};
	struct err e;

	*f = (struct fixture){0};
	assert_ok(plan_parse("p", text, strlen(text), NULL, &f->plan, &errs, &e), e);
	assert_ok(policy_parse("y", allow, strlen(allow), &f->policy, &errs, &e), e);
	make_inventory(&f->inv);
	yaml_errors_free(&errs);
	free(text);
	free(allow);
}

/* The next `count` disks get the role. */
static void bind(struct fixture *f, const char *role, unsigned group, unsigned from, unsigned count)
{
	struct bound_disks *b = &f->bound[f->n_bound++];

	*b = (struct bound_disks){.role = (char *)role, .group = group};
	for (unsigned i = from; i < from + count; i++)
		strv_addf(&b->ids, "serial:S%02u", i);
}

static int preview(struct fixture *f, struct err *e)
{
	char *root = xasprintf("%s/mnt", home), *state = xasprintf("%s/state", home);
	struct step_sink *sink = sink_preview(collect, f);
	struct volume_ctx ctx = {.sink = sink, .plan = f->plan, .policy = f->policy, .inv = &f->inv,
		.disks = f->bound, .n_disks = f->n_bound, .mount_root = root, .state_dir = state,
		.job_tag = "", .self = "/bin/arraymark-agent", .worker_uid = geteuid()};
	int status = volume_preview(&ctx, &f->plan->layouts[0], NULL, NULL, e);

	sink_free(sink);
	free(root);
	free(state);
	return status;
}

static void tear_down_plan(struct fixture *f)
{
	for (size_t i = 0; i < f->n_bound; i++)
		strv_free(&f->bound[i].ids);
	plan_free(f->plan);
	policy_free(f->policy);
	inventory_clear(&f->inv);
	strv_free(&f->steps);
}

/* The only step that begins so. */
static const char *step_like(const struct fixture *f, const char *start)
{
	const char *found = NULL;

	for (size_t i = 0; i < f->steps.n; i++)
		if (str_starts(f->steps.v[i], start)) {
			assert_null(found);
			found = f->steps.v[i];
		}
	if (!found)
		fail_msg("no step '%s'", start);
	return found;
}

struct binding_row {
	const char *role;
	unsigned group, from, count;
};
struct vector_row {
	const char *name, *layout;
	struct binding_row bound[6];
	const char *create; /* after "-R ROOT -m /NAME"; with '!' before it: -f is there too */
};
#define NAME "am_<run>_1_<job>"

static const struct vector_row vectors[] = {
	{"stripe", "{pool: {level: stripe, disks: 2}}", {{"data", 0, 0, 2}}, NAME " /d/00 /d/01"},
	{"mirror", "{pool: {level: mirror, disks: 2}}", {{"data", 0, 4, 2}},
		NAME " mirror /d/04 /d/05"},
	{"raidz1", "{pool: {level: raidz1, disks: 3}}", {{"data", 0, 0, 3}},
		NAME " raidz1 /d/00 /d/01 /d/02"},
	{"raidz3", "{pool: {level: raidz3, disks: 5, spares: 1}}",
		{{"data", 0, 0, 5}, {"spare", 0, 9, 1}},
		NAME " raidz3 /d/00 /d/01 /d/02 /d/03 /d/04 spare /d/09"},
	{"two groups with everything beside them",
		"{pool: {vdevs: [{level: raidz2, disks: 4}, {level: raidz2, disks: 4}], ashift: 12, "
		"spares: 1, log: {level: mirror, disks: 2}, cache: 1, "
		"properties: {atime: off, recordsize: 1M, failmode: continue}}}",
		{{"data", 1, 4, 4}, {"data", 0, 0, 4}, {"spare", 0, 8, 1}, {"log", 0, 9, 2},
			{"cache", 0, 11, 1}},
		"-o ashift=12 -o failmode=continue -O atime=off -O recordsize=1M " NAME
		" raidz2 /d/00 /d/01 /d/02 /d/03 raidz2 /d/04 /d/05 /d/06 /d/07"
		" log mirror /d/09 /d/10 cache /d/11 spare /d/08"},
	{"draid, and a special mirror that zpool takes only with -f",
		"{pool: {level: \"draid2:4d:8c:1s\", disks: 8, special: {level: mirror, disks: 2}}}",
		{{"data", 0, 0, 8}, {"special", 0, 8, 2}},
		"!" NAME " draid2:4d:8c:1s /d/00 /d/01 /d/02 /d/03 /d/04 /d/05 /d/06 /d/07"
		" special mirror /d/08 /d/09"},
	{"special as redundant as the data", "{pool: {level: mirror, disks: 2, special: {level: "
					     "mirror, disks: 2}}}",
		{{"data", 0, 0, 2}, {"special", 0, 2, 2}},
		NAME " mirror /d/00 /d/01 special mirror /d/02 /d/03"},
	{"disks of different sizes", "{pool: {level: raidz1, disks: 3, mixed: true}}",
		{{"data", 0, 0, 3}}, "!" NAME " raidz1 /d/00 /d/01 /d/02"},
	{"a log disk alone", "{pool: {level: raidz1, disks: 3, log: 1}}",
		{{"data", 0, 0, 3}, {"log", 0, 3, 1}},
		NAME " raidz1 /d/00 /d/01 /d/02 log /d/03"},
};

static void pools_get_these_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		const struct vector_row *row = &vectors[i];
		int force = *row->create == '!';
		char *want = xasprintf("zpool create %s-o cachefile=none -R %s/mnt -m /" NAME " %s",
			force ? "-f " : "", home, row->create + force);
		struct fixture f;
		struct err e;

		set_up_plan(&f, row->layout, "");
		for (size_t k = 0; k < ARRAY_LEN(row->bound) && row->bound[k].role; k++)
			bind(&f, row->bound[k].role, row->bound[k].group, row->bound[k].from,
				row->bound[k].count);
		if (preview(&f, &e))
			fail_msg("%s: %s", row->name, e.text);
		if (strcmp(step_like(&f, "zpool create"), want))
			fail_msg("%s:\n%s\nwanted:\n%s", row->name, step_like(&f, "zpool create"),
				want);
		tear_down_plan(&f);
		free(want);
	}
}

/* Where the file system under the test's folder cannot preallocate, files stay sparse. */
static int is_step(const char *step, const char *want)
{
	if (str_starts(step, "truncate -s ") && str_starts(want, "fallocate -l "))
		return !strcmp(step + strlen("truncate -s "), want + strlen("fallocate -l "));
	return !strcmp(step, want);
}

static void check_steps(const struct fixture *f, const char *const *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *line = xstrdup(want[i]), *tilde = strchr(line, '~');
		char *full = tilde ? NULL : xstrdup(line);

		/* Each ~ stands for the test's own folder. */
		while (tilde) {
			*tilde = '\0';
			free(full);
			full = xasprintf("%s%s%s", line, home, tilde + 1);
			free(line);
			line = xstrdup(full);
			tilde = strchr(line, '~');
		}
		if (i >= f->steps.n || !is_step(f->steps.v[i], full))
			fail_msg("step %zu: %s\nwanted: %s", i, i < f->steps.n ? f->steps.v[i] : "none",
				full);
		free(full);
		free(line);
	}
	assert_int_equal(f->steps.n, n);
}

static void a_whole_life_on_scratch_disks(void **state)
{
	static const char *const want[] = {
		"mkdir -p -m 0755 -- ~/mnt",
		"mkdir -p -m 0700 -- ~/scratch",
		"mkdir -m 0700 -- ~/scratch/" NAME,
		"fallocate -l 67108864 -- ~/scratch/" NAME "/disk01",
		"losetup --find --show --direct-io=on ~/scratch/" NAME "/disk01",
		"fallocate -l 67108864 -- ~/scratch/" NAME "/disk02",
		"losetup --find --show --direct-io=on ~/scratch/" NAME "/disk02",
		"mkdir -m 0700 -- ~/state/" NAME ".devices",
		"zpool create -o cachefile=none -R ~/mnt -m /" NAME " " NAME
		" mirror <loop1> <loop2>",
		"zpool list -H -o guid " NAME,
		"ln -s -t ~/state/" NAME ".devices -- <loop1> <loop2>",
		"zfs create -o recordsize=16K " NAME "/pg",
		"mkdir -m 0755 -- ~/mnt/" NAME "/bench",
		"zpool export " NAME,
		"zpool import -d ~/state/" NAME ".devices -o cachefile=none -R ~/mnt <guid>",
		"zpool destroy " NAME,
		"rmdir -- ~/mnt/" NAME,
		"arraymark-agent clear-labels --kind zfs --name " NAME
		" --guid <guid> -- <loop1> <loop2>",
		"find ~/state/" NAME ".devices -maxdepth 1 -type l -delete",
		"rmdir -- ~/state/" NAME ".devices",
		"losetup -d <loop2>",
		"rm -f -- ~/scratch/" NAME "/disk02",
		"losetup -d <loop1>",
		"rm -f -- ~/scratch/" NAME "/disk01",
		"rmdir -- ~/scratch/" NAME,
		"rmdir -- ~/scratch",
		"rmdir -- ~/mnt",
	};
	struct fixture f;
	struct err e;

	(void)state;
	set_up_plan(&f, "{scratch: {disks: 2, size: 64M}, pool: {level: mirror, disks: 2, "
			"datasets: {pg: {recordsize: 16K}}}}", "");
	assert_ok(preview(&f, &e), e);
	check_steps(&f, want, ARRAY_LEN(want));
	tear_down_plan(&f);
}

/* Each by the number that its own label has; a cache device gets another one at each import. */
static void spares_are_cleared_by_their_own_guid(void **state)
{
	static const char clear[] =
		"arraymark-agent clear-labels --kind zfs-spare --name " NAME " --guid <guid> ";
	static const char *const rest[] = {"--device-guid <guid1> -- ", "--device-guid <guid2> -- ", "-- "};
	struct fixture f;
	struct err e;

	(void)state;
	set_up_plan(&f, "{scratch: {disks: 5, size: 64M}, pool: {level: mirror, disks: 2, spares: 2, "
			"cache: 1}}", "");
	assert_ok(preview(&f, &e), e);
	assert_string_equal(step_like(&f, "arraymark-agent label-guids"),
		"arraymark-agent label-guids -- <loop4> <loop5>");
	for (unsigned i = 0; i < ARRAY_LEN(rest); i++) {
		char *start = xasprintf("%s%s", clear, rest[i]);
		char *want = xasprintf("%s<loop%u>", start, i < 2 ? i + 4 : 3);

		assert_string_equal(step_like(&f, start), want);
		free(start);
		free(want);
	}
	tear_down_plan(&f);
}

static void file_systems_get_these_vectors(void **state)
{
	static const struct {
		const char *layout, *mkfs, *mount;
	} rows[] = {
		{"{filesystem: {type: xfs, disks: 1, options: [\"-i size=512\"], mount: [noatime]}}",
			"mkfs.xfs -q -K -m uuid=<uuid> -i size=512 /d/00",
			"mount -t xfs -o nodev,nosuid,noatime -- /d/00 "},
		{"{filesystem: {type: ext4, disks: 1, options: [\"-E stride=16\", \"-m 0\"]}}",
			"mkfs.ext4 -q -U <uuid> -m 0 -E "
			"nodiscard,lazy_itable_init=0,lazy_journal_init=0,stride=16 /d/00",
			"mount -t ext4 -o nodev,nosuid -- /d/00 "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct err e;

		set_up_plan(&f, rows[i].layout, "cache: as-is\n");
		bind(&f, "fs", 0, 0, 1);
		assert_ok(preview(&f, &e), e);
		assert_string_equal(step_like(&f, "mkfs"), rows[i].mkfs);
		assert_has(step_like(&f, "mount"), rows[i].mount);
		step_like(&f, "umount -- ");
		assert_has(step_like(&f, "arraymark-agent clear-labels"), " --uuid <uuid> -- /d/00");
		tear_down_plan(&f);
	}
}

static void what_both_gave_away_is_wiped(void **state)
{
	struct fixture f;
	struct err e;

	(void)state;
	set_up_plan(&f, "{pool: {level: mirror, disks: 2}}", "wipe: [\"zfs:old\", ext4, gpt]\n");
	bind(&f, "data", 0, 0, 2);
	strv_add(&f.inv.disks[0].signatures, "zfs:old");
	strv_add(&f.inv.disks[1].signatures, "gpt");
	strv_add(&f.inv.disks[1].signatures, "ext4");
	assert_ok(preview(&f, &e), e);
	assert_string_equal(step_like(&f, "arraymark-agent clear-labels --kind zfs --name old"),
		"arraymark-agent clear-labels --kind zfs --name old -- /d/00");
	assert_string_equal(step_like(&f, "wipefs"), "wipefs -a -q -- /d/01");
	tear_down_plan(&f);
}

static void disks_are_refused(void **state)
{
	static const struct {
		const char *name, *in_use, *signature, *wipe;
		unsigned disk;
		enum err_code code;
		const char *text;
	} rows[] = {
		{"in use, whatever is named", "mounted at /", NULL, "wipe: [ext4]\n", 1, ERR_BUSY,
			"mounted at /"},
		{"a signature that the plan does not name", NULL, "zfs:mine", "wipe: [\"zfs:other\"]\n",
			1, ERR_DENIED, "zfs:mine"},
		{"a signature on a disk that the policy does not give away", NULL, "ext4",
			"wipe: [ext4]\n", 10, ERR_DENIED, "allow.wipe"},
		{"a disk that is not there", NULL, NULL, "", 90, ERR_NOTFOUND, "serial:S90"},
		{"a disk twice", NULL, NULL, "", 0, ERR_INPUT, "twice"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture f;
		struct err e;

		set_up_plan(&f, "{pool: {level: mirror, disks: 2}}", rows[i].wipe);
		bind(&f, "data", 0, 0, 1);
		bind(&f, "data", 0, rows[i].disk, 1);
		if (rows[i].disk < DISKS) {
			f.inv.disks[rows[i].disk].in_use = xstrdup(rows[i].in_use);
			if (rows[i].signature)
				strv_add(&f.inv.disks[rows[i].disk].signatures, rows[i].signature);
		}
		if (!preview(&f, &e))
			fail_msg("%s: was taken", rows[i].name);
		assert_int_equal(e.code, rows[i].code);
		assert_has(e.text, rows[i].text);
		for (size_t k = 0; k < f.steps.n; k++)
			assert_true(str_starts(f.steps.v[k], "mkdir"));
		tear_down_plan(&f);
	}
}

static void a_disk_outside_the_policy_is_refused(void **state)
{
	struct fixture f;
	struct err e;

	(void)state;
	set_up_plan(&f, "{pool: {level: stripe, disks: 1}}", "");
	bind(&f, "data", 0, 3, 1);
	free(f.inv.disks[3].serial);
	f.inv.disks[3].serial = NULL;
	f.inv.disks[3].wwn = xstrdup("0x5000c5000a0b0c0d");
	strv_free(&f.bound[0].ids);
	strv_add(&f.bound[0].ids, "wwn:0x5000c5000a0b0c0d");
	assert_int_equal(preview(&f, &e), -1);
	assert_int_equal(e.code, ERR_DENIED);
	assert_has(e.text, "allow.disks");
	tear_down_plan(&f);
}

static void an_existing_directory_gets_one_folder(void **state)
{
	static const char *const want[] = {
		"mkdir -m 0755 -- ~/arraymark-<run>-1-<job>",
		"arraymark-agent empty-folder --owner 0:0 -- ~/arraymark-<run>-1-<job>",
		"rmdir -- ~/arraymark-<run>-1-<job>",
	};
	char *layout = xasprintf("{existing: %s}", home);
	struct fixture f;
	struct err e;

	(void)state;
	set_up_plan(&f, layout, "");
	assert_ok(preview(&f, &e), e);
	check_steps(&f, want, ARRAY_LEN(want));
	tear_down_plan(&f);
	free(layout);
}

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(home) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	return fs_remove_tree(home, &e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_get_these_vectors),
		cmocka_unit_test(a_whole_life_on_scratch_disks),
		cmocka_unit_test(spares_are_cleared_by_their_own_guid),
		cmocka_unit_test(file_systems_get_these_vectors),
		cmocka_unit_test(what_both_gave_away_is_wiped),
		cmocka_unit_test(disks_are_refused),
		cmocka_unit_test(a_disk_outside_the_policy_is_refused),
		cmocka_unit_test(an_existing_directory_gets_one_folder),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
