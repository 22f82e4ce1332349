/* Binding of layouts to disks, and checks of a plan against a host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/plan/bind.h"

#define TB 1000000000000ULL
#define HEAD "name: p\nhosts: all\ntrials: 5\n"
#define WRITE "workloads:\n  w: {stream: {op: write, size: 1G}}\n"

/* A host with 8 disks on one adapter, 3 on another, and those that can't be had. */
struct disk_row {
	const char *name, *serial, *wwn, *model, *controller, *slot;
	uint64_t bytes;
	uint32_t physical;
	int allowed;
	const char *in_use, *signature;
};
static const struct disk_row disk_rows[] = {
	{"sdj", "S10", "0x5000000000000010", "DT01ACA300", "SAS2008 [Falcon]", "10", 3 * TB, 4096,
		1, NULL, NULL},
	{"sda", "S1", "0x5000000000000001", "DT01ACA300", "SAS2008 [Falcon]", "1", 3 * TB, 4096, 1,
		NULL, NULL},
	{"sdb", "S2", "0x5000000000000002", "DT01ACA300", "SAS2008 [Falcon]", "2", 3 * TB, 4096, 1,
		NULL, NULL},
	{"sdc", "S3", NULL, "DT01ACA300", "SAS2008 [Falcon]", "3", 3 * TB, 4096, 1, NULL, NULL},
	{"sdd", "S4", NULL, "DT01ACA300", "SAS2008 [Falcon]", "4", 3 * TB, 4096, 1, NULL,
		"zfs:oldtank"},
	{"sde", "S5", NULL, "OTHER", "SAS2008 [Falcon]", "5", 3 * TB, 512, 1, NULL, NULL},
	{"sdf", "S6", NULL, "DT01ACA300", "AHCI", "1", 3 * TB, 4096, 1, NULL, NULL},
	{"sdg", "S7", NULL, "DT01ACA300", "AHCI", "2", 3 * TB, 4096, 1, "mounted at /", NULL},
	{"sdh", "S8", NULL, "DT01ACA300", "AHCI", "3", 3 * TB, 4096, 0, NULL, NULL},
	{"sdi", NULL, NULL, "DT01ACA300", "AHCI", "4", 3 * TB, 4096, 1, NULL, NULL},
	{"sdk", "S9", NULL, "SSD", "AHCI", "5", TB, 512, 1, NULL, NULL},
	{"sdl", "S9", NULL, "SSD", "AHCI", "5", TB, 512, 1, NULL, NULL}, /* its second path */
	{"sdm", NULL, "0x50000000000000AA", "SSD", "AHCI", "6", TB, 512, 1, NULL, NULL},
};

static void inventory_make(struct inventory *inv)
{
	*inv = (struct inventory){.host = xstrdup("knew"),
		.ram_bytes = 8ULL << 30,
		.zfs = xstrdup("OpenZFS 2.1.11"),
		.scratch_limit = 20ULL << 30};
	inv->n_disks = ARRAY_LEN(disk_rows);
	inv->disks = xcalloc(inv->n_disks, sizeof(*inv->disks));
	for (size_t i = 0; i < inv->n_disks; i++) {
		const struct disk_row *row = &disk_rows[i];
		struct inv_disk *d = &inv->disks[i];

		d->name = xstrdup(row->name);
		d->serial = xstrdup(row->serial);
		d->wwn = xstrdup(row->wwn);
		d->model = xstrdup(row->model);
		d->controller = xstrdup(row->controller);
		d->controller_path = xasprintf("/sys/%s", row->controller);
		d->slot = xstrdup(row->slot);
		d->bytes = row->bytes;
		d->logical_sector = 512;
		d->physical_sector = row->physical;
		d->rotational = row->bytes > TB;
		d->transport = xstrdup(row->bytes > TB ? "sas" : "nvme");
		d->allowed = row->allowed;
		d->in_use = xstrdup(row->in_use);
		if (row->signature)
			strv_add(&d->signatures, row->signature);
	}
}

static struct plan *parse(const char *text)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), NULL, &p, &errs, &e))
		fail_msg("%s", e.text);
	yaml_errors_free(&errs);
	return p;
}

static struct plan *parse_layouts(const char *top, const char *layouts)
{
	char *text = xasprintf(HEAD "%s\nlayouts: %s\n" WRITE, top, layouts);
	struct plan *p = parse(text);

	free(text);
	return p;
}

/* "0 data 0: S1 S2; 0 spare 0: S3", "serial:" left out. */
static char *bindings_text(const struct bindings *b)
{
	struct buf out = {0};

	for (size_t i = 0; i < b->n; i++) {
		buf_addf(&out, "%s%u %s %u:", i ? "; " : "", b->v[i].layout, b->v[i].role,
			b->v[i].group);
		for (size_t j = 0; j < b->v[i].ids.n; j++) {
			const char *id = b->v[i].ids.v[j];

			buf_addf(&out, " %s", str_starts(id, "serial:") ? id + 7 : id);
		}
	}
	return buf_take(&out);
}

struct bind_row {
	const char *name, *top, *layouts, *expected; /* bindings, or lines of errors */
};

static void check_bind(const struct bind_row *row, int want)
{
	struct plan *p = parse_layouts(row->top, row->layouts);
	struct bindings b = {0};
	struct inventory inv;
	struct strv errs = {0};
	struct err e;
	char *got;

	inventory_make(&inv);
	if (plan_bind(p, &inv, &b, &errs, &e) != want)
		fail_msg("%s: %s", row->name, want ? "bound" : errs.v[0]);
	if (want == 0) {
		got = bindings_text(&b);
	} else {
		struct buf out = {0};

		for (size_t i = 0; i < errs.n; i++)
			buf_addf(&out, "%s%s", i ? "\n" : "", errs.v[i]);
		got = buf_take(&out);
		assert_string_equal(e.text, errs.v[0]);
	}
	if (strcmp(got, row->expected))
		fail_msg("%s:\ngot:      %s\nexpected: %s", row->name, got, row->expected);
	free(got);
	bindings_free(&b);
	strv_free(&errs);
	inventory_clear(&inv);
	plan_free(p);
}

static const struct bind_row bound[] = {
	{"in order of slots", "", "{a: {pool: {level: raidz1, disks: 4}}}",
		"0 data 0: S6 S1 S2 S3"},
	{"by controller", "",
		"{a: {pool: {level: raidz1, disks: {controller: sas2008, count: 4}}}}",
		"0 data 0: S1 S2 S3 S10"},
	{"two selectors", "",
		"{a: {pool: {level: raidz1, disks: [{controller: SAS2008, count: 3}, "
		"{controller: AHCI, count: 1}]}}}",
		"0 data 0: S1 S2 S3 S6"},
	{"equal selectors, equal disks", "",
		"{a: {pool: {level: raidz1, disks: {controller: SAS2008, count: 3}}}, b: "
		"{pool: {level: raidz1, disks: [{controller: SAS2008, count: 3}, "
		"{controller: "
		"AHCI, count: 1}]}}}",
		"0 data 0: S1 S2 S3; 1 data 0: S1 S2 S3 S6"},
	{"roles", "",
		"{a: {pool: {level: mirror, disks: 2, spares: 1, log: {level: mirror, "
		"disks: "
		"{transport: nvme, count: 2}}}}}",
		"0 data 0: S6 S1; 0 log 0: S9 wwn:0x50000000000000AA; 0 spare 0: S2"},
	{"groups share a class", "",
		"{a: {pool: {vdevs: [{level: mirror, disks: 2}, {level: mirror, disks: "
		"2}]}}}",
		"0 data 0: S6 S1; 0 data 1: S2 S3"},
	{"named ids are set aside", "",
		"{a: {pool: {level: mirror, disks: 2, spares: [serial:S6]}}}",
		"0 data 0: S1 S2; 0 spare 0: S6"},
	{"id by WWN", "",
		"{a: {pool: {level: mirror, disks: [wwn:0x50000000000000aa, serial:S9]}}}",
		"0 data 0: wwn:0x50000000000000AA S9"},
	{"wipe frees a disk", "wipe: [zfs:oldtank]",
		"{a: {pool: {level: raidz1, disks: {controller: SAS2008, count: 4}}}}",
		"0 data 0: S1 S2 S3 S4"},
	{"the class that has enough", "",
		"{a: {pool: {level: mirror, disks: {rotational: false, count: 2}}}}",
		"0 data 0: S9 wwn:0x50000000000000AA"},
	{"mixed", "",
		"{a: {pool: {level: raidz1, mixed: true, disks: {controller: SAS2008, "
		"count: "
		"5}}}}",
		"0 data 0: S1 S2 S3 S5 S10"},
	{"size", "", "{a: {pool: {level: stripe, disks: {size: 1TB, count: 1}}}}", "0 data 0: S9"},
	{"exclude and slot glob", "",
		"{a: {pool: {level: mirror, disks: {slot: '[1-3]', exclude: [serial:S2, "
		"wwn:0x5000000000000001], count: 2}}}}",
		"0 data 0: S6 S3"},
	{"all that match", "", "{a: {pool: {level: mirror, disks: {model: ssd}}}}",
		"0 data 0: S9 wwn:0x50000000000000AA"},
	{"file system", "", "{a: {filesystem: {type: xfs, disks: [serial:S3]}}}", "0 fs 0: S3"},
	{"scratch and existing need none", "",
		"{a: {existing: /x}, b: {scratch: {disks: 3, size: 4G}, pool: {level: "
		"raidz1, "
		"disks: 3}}}",
		""},
};

static void test_bound(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bound); i++)
		check_bind(&bound[i], 0);
}

static const struct bind_row lacking[] = {
	{"too few", "",
		"{a: {pool: {level: raidz2, disks: {controller: AHCI, model: DT01, count: "
		"4}}}}",
		"host knew: layouts.a.pool.disks: wants 4 disks (controller AHCI, model "
		"DT01), "
		"1 is free: sdg in use: mounted at /; sdh not allowed by the host's "
		"policy; "
		"sdi has neither serial nor WWN"},
	{"signature", "", "{a: {pool: {level: mirror, disks: [serial:S4, serial:S1]}}}",
		"host knew: layouts.a.pool.disks: serial:S4 (sdd) cannot be used: holds "
		"zfs:oldtank, which the plan's wipe does not name"},
	{"not there, in use, not allowed", "",
		"{a: {pool: {level: raidz1, disks: [serial:S99, serial:S7, serial:S8]}}}",
		"host knew: layouts.a.pool.disks: serial:S99 is not on this host: "
		"`arraymark "
		"host disks knew` lists what is\n"
		"host knew: layouts.a.pool.disks: serial:S7 (sdg) cannot be used: in use: "
		"mounted at /\n"
		"host knew: layouts.a.pool.disks: serial:S8 (sdh) cannot be used: not "
		"allowed "
		"by the host's policy"},
	{"nothing like it", "", "{a: {pool: {level: mirror, disks: {model: WD, count: 2}}}}",
		"host knew: layouts.a.pool.disks: wants 2 disks (model WD), 0 are free: "
		"the "
		"host has no other that fits"},
	{"mixed sectors", "",
		"{a: {pool: {level: raidz1, disks: {controller: SAS2008, count: 5}}}}",
		"host knew: layouts.a.pool.disks: there are enough disks, but not of one "
		"size "
		"and sector size (2.73 TiB with 512/4096-byte sectors, 2.73 TiB with "
		"512/512-byte sectors): select by size or model, or say mixed: true"},
	{"used twice", "",
		"{a: {pool: {level: mirror, disks: [serial:S1, serial:S2], spares: "
		"[wwn:0x5000000000000002]}}}",
		"host knew: layouts.a.pool.spares: wwn:0x5000000000000002 (sdb) is used "
		"twice "
		"in this layout"},
	{"taken by another role", "",
		"{a: {pool: {level: mirror, disks: {transport: nvme, count: 2}, cache: "
		"{transport: nvme, count: 1}}}}",
		"host knew: layouts.a.pool.cache: wants 1 disk (transport nvme), 0 are "
		"free: "
		"2 taken by other parts of this layout"},
	{"too few for the level", "", "{a: {pool: {level: raidz2, disks: {model: SSD}}}}",
		"host knew: layouts.a.pool.disks: raidz2 wants at least 3 disks, has 2"},
	{"all layouts are judged", "",
		"{a: {pool: {level: stripe, disks: [serial:X]}}, b: {filesystem: {type: "
		"ext4, "
		"disks: [serial:Y]}}}",
		"host knew: layouts.a.pool.disks: serial:X is not on this host: `arraymark "
		"host disks knew` lists what is\n"
		"host knew: layouts.b.filesystem.disks: serial:Y is not on this host: "
		"`arraymark host disks knew` lists what is"},
};

static void test_lacking(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lacking); i++)
		check_bind(&lacking[i], -1);
}

/* The order in which the kernel lists disks must not matter. */
static void test_listing_order(void **state)
{
	struct plan *p = parse_layouts(
		"", "{a: {pool: {level: raidz1, disks: 4, spares: {transport: nvme, count: 1}}}}");
	struct bindings a = {0}, b = {0};
	struct inventory inv;
	struct strv errs = {0};
	struct err e;
	char *ta, *tb;

	(void)state;
	inventory_make(&inv);
	assert_int_equal(plan_bind(p, &inv, &a, &errs, &e), 0);
	for (size_t i = 0; i < inv.n_disks / 2; i++) {
		struct inv_disk d = inv.disks[i];

		inv.disks[i] = inv.disks[inv.n_disks - 1 - i];
		inv.disks[inv.n_disks - 1 - i] = d;
	}
	assert_int_equal(plan_bind(p, &inv, &b, &errs, &e), 0);
	ta = bindings_text(&a);
	tb = bindings_text(&b);
	assert_string_equal(ta, tb);
	free(ta);
	free(tb);
	bindings_free(&a);
	bindings_free(&b);
	inventory_clear(&inv);
	plan_free(p);
}

/* One path in use forbids the disk, whichever is listed first. */
static void test_multipath(void **state)
{
	struct plan *p = parse_layouts("", "{a: {pool: {level: stripe, disks: [serial:S9]}}}");

	(void)state;
	for (size_t path = 10; path <= 11; path++) {
		struct bindings b = {0};
		struct inventory inv;
		struct strv errs = {0};
		struct err e;

		inventory_make(&inv);
		inv.disks[path].in_use = xstrdup("multipath");
		assert_int_equal(plan_bind(p, &inv, &b, &errs, &e), -1);
		assert_non_null(strstr(e.text, "in use: multipath"));
		strv_free(&errs);
		inventory_clear(&inv);
	}
	plan_free(p);
}

struct host_row {
	const char *name, *layouts, *zfs, *capability;
	uint64_t scratch_limit;
	const char *expected; /* part of the only error; NULL: none */
};

static void check_host(const struct host_row *row)
{
	struct plan *p = parse_layouts("", row->layouts);
	struct inventory inv;
	struct strv errs = {0};
	int rc;

	inventory_make(&inv);
	free(inv.zfs);
	inv.zfs = xstrdup(row->zfs);
	inv.scratch_limit = row->scratch_limit;
	inv.scratch_loop = 1;
	if (row->capability)
		strv_add(&inv.capabilities, row->capability);
	rc = plan_check_host(p, &inv, &errs);
	if (!row->expected && rc)
		fail_msg("%s: %s", row->name, errs.v[0]);
	if (row->expected && (rc == 0 || errs.n != 1 || !strstr(errs.v[0], row->expected)))
		fail_msg("%s: %zu errors, %s", row->name, errs.n, errs.n ? errs.v[0] : "");
	strv_free(&errs);
	inventory_clear(&inv);
	plan_free(p);
}

static void test_host(void **state)
{
#define POOL(more) "{a: {scratch: {disks: 4, size: 1G}, pool: {level: raidz1, disks: 4" more "}}}"
	static const struct host_row table[] = {
		{"fine", POOL(""), "OpenZFS 2.1", NULL, 4ULL << 30, NULL},
		{"no ZFS", POOL(""), NULL, NULL, 4ULL << 30, "layouts.a: there is no ZFS"},
		{"scratch limit", POOL(""), "OpenZFS 2.1", NULL, 2ULL << 30,
			"host knew: scratch disks of 4 GiB are wanted, its policy's limit is 2 "
			"GiB"},
		{"no scratch", POOL(""), "OpenZFS 2.1", NULL, 0,
			"its policy allows no scratch disks"},
		{"draid", "{a: {pool: {level: draid1, disks: 4}}}", "OpenZFS 2.0", NULL, 0,
			"OpenZFS 2.0 has no draid"},
		{"draid there", "{a: {pool: {level: draid1, disks: 4}}}", "OpenZFS 2.1", "draid", 0,
			NULL},
		{"special on zfs-fuse", "{a: {pool: {level: stripe, disks: 1, special: 1}}}",
			"zfs-fuse 0.7.0", NULL, 0, "zfs-fuse 0.7.0 has no special vdevs"},
		{"special there", "{a: {pool: {level: stripe, disks: 1, special: 1}}}",
			"OpenZFS 2.1", "special", 0, NULL},
		{"property of zfs-fuse", POOL(", properties: {sync: disabled}"), "zfs-fuse 0.7.0",
			NULL, 4ULL << 30, "has no property 'sync'"},
		{"value of zfs-fuse", POOL(", properties: {compression: lz4}"), "zfs-fuse 0.7.0",
			NULL, 4ULL << 30, "has no compression=lz4"},
		{"recordsize of zfs-fuse", POOL(", datasets: {pg: {recordsize: 1M}}"),
			"zfs-fuse 0.7.0", NULL, 4ULL << 30, "has no recordsize=1M"},
		{"fine on zfs-fuse",
			POOL(", properties: {atime: off, compression: gzip-9, recordsize: 128K}"),
			"zfs-fuse 0.7.0", NULL, 4ULL << 30, NULL},
		{"xfs", "{a: {scratch: {disks: 1, size: 2G}, filesystem: {type: xfs}}}", NULL, NULL,
			4ULL << 30, "cannot make xfs there"},
		{"xfs there", "{a: {scratch: {disks: 1, size: 2G}, filesystem: {type: xfs}}}", NULL,
			"xfs", 4ULL << 30, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		check_host(&table[i]);
}

/* Advice is for the way the agent is started: one of each run looks anew by itself. */
static void test_advice(void **state)
{
#define FILES "{a: {scratch: {disks: 1, size: 2G}, filesystem: {type: ext4}}}"
	static const struct {
		const char *layouts;
		int per_run;
		uint64_t scratch_limit;
		const char *said, *unsaid;
	} table[] = {
		{POOL(""), 0, 4ULL << 30,
			"send its agent SIGHUP, which makes it look again; or leave the host out",
			"plan new"},
		{POOL(""), 1, 4ULL << 30,
			"instead of `pool`; `arraymark plan new` writes what this machine can build",
			"SIGHUP"},
		{FILES, 0, 0, "limit: 20G}} there, and send its agent SIGHUP", "plan new"},
		{FILES, 1, 0, "limit: 20G}} there", "SIGHUP"},
		{FILES, 1, 4ULL << 30, "no ext4 on scratch disks there: it needs loop devices", "SIGHUP"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct plan *p = parse_layouts("", table[i].layouts);
		struct strv errs = {0};
		struct inventory inv;

		inventory_make(&inv);
		free(inv.zfs);
		inv.zfs = NULL;
		strv_add(&inv.capabilities, "ext4");
		inv.scratch_limit = table[i].scratch_limit;
		inv.scratch_loop = table[i].scratch_limit == 0;
		inv.per_run = table[i].per_run;
		assert_int_equal(plan_check_host(p, &inv, &errs), -1);
		assert_int_equal(errs.n, 1);
		if (!strstr(errs.v[0], table[i].said) || strstr(errs.v[0], table[i].unsaid))
			fail_msg("%zu: %s", i, errs.v[0]);
		strv_free(&errs);
		inventory_clear(&inv);
		plan_free(p);
	}
}

/* A policy that could not be read is the reason, not what it lacks. */
static void test_policy_error(void **state)
{
	struct plan *p = parse_layouts("", "{a: {scratch: {disks: 1, size: 1G}, pool: {level: stripe, "
					   "disks: 1}}, b: {filesystem: {type: xfs, disks: "
					   "[serial:S8]}}}");
	struct inventory inv;
	struct bindings b;
	struct strv errs = {0};
	struct err e;

	(void)state;
	inventory_make(&inv);
	strv_add(&inv.capabilities, "xfs");
	inv.scratch_limit = 0;
	inv.policy_error = xstrdup("agent.yaml:3:1: 'alow' is not a key");
	assert_int_equal(plan_check_host(p, &inv, &errs), -1);
	assert_int_equal(errs.n, 1);
	assert_non_null(strstr(errs.v[0], "host knew: its policy cannot be used, so nothing is allowed "
					  "there: agent.yaml:3:1: 'alow' is not a key"));
	assert_int_equal(plan_bind(p, &inv, &b, &errs, &e), -1);
	assert_non_null(strstr(e.text, "serial:S8 (sdh) cannot be used: the host's policy cannot be "
				       "used: agent.yaml:3:1"));
	strv_free(&errs);
	inventory_clear(&inv);
	plan_free(p);
}

/* On disks of 3 TB and SSDs of 1 TB. */
static void test_room(void **state)
{
	static const struct {
		const char *name, *layout, *size, *expected;
	} table[] = {
		{"raidz1 holds it", "{pool: {level: raidz1, disks: {model: DT01, count: 3}}}", "5TB",
			NULL},
		{"raidz1 does not", "{pool: {level: raidz1, disks: {model: DT01, count: 3}}}", "7TB",
			"host knew: layouts.a: too small: the workloads write 6.37 TiB"},
		{"spares hold nothing",
			"{pool: {level: mirror, disks: {model: DT01, count: 2}, spares: 1}}", "4TB",
			"layouts.a: too small"},
		{"a log of another size does not matter",
			"{pool: {level: mirror, disks: {transport: sas, count: 2}, log: {level: mirror, "
			"disks: {model: SSD, count: 2}}}}",
			"2TB", NULL},
		{"one file system", "{filesystem: {type: xfs, disks: [serial:S9]}}", "2TB",
			"layouts.a: too small"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct bindings b = {0};
		struct strv errs = {0};
		struct inventory inv;
		struct plan *p;
		struct err e;
		char *text;

		text = xasprintf(HEAD "layouts: {a: %s}\nworkloads:\n"
				      "  w: {stream: {op: write, size: %s}}\n",
			table[i].layout, table[i].size);
		p = parse(text);
		inventory_make(&inv);
		if (plan_bind(p, &inv, &b, &errs, &e))
			fail_msg("%s: %s", table[i].name, e.text);
		plan_check_bound(p, &inv, &b, &errs);
		if (!table[i].expected != !errs.n ||
			(errs.n && !strstr(errs.v[0], table[i].expected)))
			fail_msg("%s: %s", table[i].name, errs.n ? errs.v[0] : "nothing is said");
		bindings_free(&b);
		strv_free(&errs);
		inventory_clear(&inv);
		plan_free(p);
		free(text);
	}
}

/* What only the host's memory shows to be too small. */
static void test_host_memory(void **state)
{
	struct plan *p = parse(HEAD "layouts:\n  a: {scratch: {disks: 3, size: 4G}, pool: {level: "
				    "raidz1, disks: 3}}\n"
				    "workloads:\n  w: {stream: {op: write, size: ram * 2}}\n");
	struct inventory inv;
	struct strv errs = {0};

	(void)state;
	inventory_make(&inv);
	assert_int_equal(plan_check_host(p, &inv, &errs), -1);
	assert_string_equal(errs.v[0],
		"host knew: layouts.a: too small: the workloads write 16 GiB, "
		"the volume holds less than 8 GiB");
	strv_free(&errs);
	inv.ram_bytes = 0;
	assert_int_equal(plan_check_host(p, &inv, &errs), -1);
	assert_non_null(strstr(errs.v[0], "depends on the host's memory, which is not known"));
	strv_free(&errs);
	inv.ram_bytes = 2ULL << 30;
	assert_int_equal(plan_check_host(p, &inv, &errs), 0);
	inventory_clear(&inv);
	plan_free(p);
}

static void test_host_without_io_uring(void **state)
{
	struct plan *p = parse(HEAD "layouts:\n  a: {existing: /x}\nworkloads:\n"
				    "  w: {stream: {op: write, size: 1G, engine: io_uring}}\n"
				    "  r: {random: {op: read, of: w}}\n"
				    "  u: {random: {op: read, of: w, engine: io_uring, depth: 32}}\n");
	struct inventory inv;
	struct strv errs = {0};

	(void)state;
	inventory_make(&inv);
	assert_int_equal(plan_check_host(p, &inv, &errs), -1);
	assert_int_equal(errs.n, 2);
	assert_non_null(strstr(errs.v[0], "host knew: workloads.w: workers cannot use io_uring there"));
	assert_non_null(strstr(errs.v[1], "host knew: workloads.u: workers cannot use io_uring there"));
	strv_free(&errs);
	strv_add(&inv.capabilities, "io_uring");
	assert_int_equal(plan_check_host(p, &inv, &errs), 0);
	inventory_clear(&inv);
	plan_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_listing_order),
		cmocka_unit_test(test_multipath),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_advice),
		cmocka_unit_test(test_host_memory),
		cmocka_unit_test(test_host_without_io_uring),
		cmocka_unit_test(test_policy_error),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
