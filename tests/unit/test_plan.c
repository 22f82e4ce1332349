/* Right plans: what the structs hold, names of files and layouts, sizes, sets, sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan.h"

#define GIB (1LL << 30)
#define HEAD "name: p\nhosts: [all]\ntrials: 5\n"
#define EXISTING "layouts:\n  a: {existing: /tank/bench/}\n"
#define WRITE "workloads:\n  w: {stream: {op: write, size: 1G}}\n"

static struct plan *parse_with(const char *text, const struct strv *sets)
{
	struct yaml_errors errs = {0};
	struct plan *p = NULL;
	struct err e;

	if (plan_parse("plan.yaml", text, strlen(text), sets, &p, &errs, &e)) {
		for (size_t i = 0; i < errs.list.n; i++)
			print_error("%s\n", errs.list.v[i]);
		fail_msg("refused: %s", e.text);
	}
	assert_int_equal(errs.list.n, 0);
	yaml_errors_free(&errs);
	return p;
}

static struct plan *parse(const char *text)
{
	return parse_with(text, NULL);
}

static void test_defaults(void **state)
{
	struct plan *p = parse(HEAD EXISTING WRITE);
	const struct stream *s = &p->workloads[0].stream;

	(void)state;
	assert_string_equal(p->name, "p");
	assert_int_equal(p->hosts.n, 1);
	assert_int_equal(p->trials_min, 5);
	assert_int_equal(p->trials_max, 5);
	assert_int_equal(p->cache, CACHE_COLD);
	assert_int_equal(p->builds, BUILDS_EACH_BLOCK);
	assert_int_equal(p->order, ORDER_RANDOM);
	assert_int_equal(p->start, START_FREE);
	assert_int_equal(p->repeat, 1);
	assert_int_equal(p->baseline, 0);
	assert_int_equal(p->compare_all_pairs, 0);
	assert_string_equal(p->by, "layout");
	assert_int_equal(p->sample_ns, NS_PER_S);
	assert_int_equal(p->on_trial_failure, TRIAL_FAILURE_CONTINUE);
	assert_int_equal(p->on_host_lost, HOST_LOST_WAIT);
	assert_int_equal(p->host_lost_wait_ns, 3600 * NS_PER_S);
	assert_string_equal(p->layouts[0].existing, "/tank/bench");
	assert_int_equal(s->op, OP_WRITE);
	assert_int_equal(s->size.bytes, GIB);
	assert_int_equal(s->block_size, 1 << 20);
	assert_int_equal(s->data, DATA_RANDOM);
	assert_int_equal(s->sync, SYNC_ALL);
	assert_int_equal(s->threads, 1);
	assert_int_equal(s->files, 1);
	assert_null(s->file);
	plan_free(p);
}

static void test_top(void **state)
{
	struct plan *p = parse(
		"name: p\nhosts: [knew.example.org, tag:rack:12]\ntrials: 3\ncache: as-is\n"
		"builds: once\nrepeat: 2\norder: as-written\nstart: free\nsamples: 100ms\n"
		"deadline: 6h\nbuild-deadline: 3d\ntrial-deadline: 2h\nstall: 90s\n"
		"on-host-lost: wait 2h\n"
		"on-trial-failure: retry 3\nwipe: [zfs:oldtank, ext4]\nkeep: true\n"
		"precondition: none\nlayouts:\n  a: {existing: /x}\n  b: {existing: /y}\n" WRITE
		"compare: {baseline: b, margin: 2%, metrics: [elapsed, latency_p99], by: host}\n");

	(void)state;
	assert_int_equal(p->hosts.n, 2);
	assert_string_equal(p->hosts.v[1], "tag:rack:12");
	assert_int_equal(p->cache, CACHE_AS_IS);
	assert_int_equal(p->builds, BUILDS_ONCE);
	assert_int_equal(p->order, ORDER_AS_WRITTEN);
	assert_int_equal(p->repeat, 2);
	assert_int_equal(p->sample_ns, 100 * NS_PER_MS);
	assert_int_equal(p->deadline_ns, 6 * 3600 * NS_PER_S);
	assert_int_equal(p->build_deadline_ns, 72 * 3600 * NS_PER_S);
	assert_int_equal(p->trial_deadline_ns, 2 * 3600 * NS_PER_S);
	assert_int_equal(p->stall_ns, 90 * NS_PER_S);
	assert_int_equal(p->host_lost_wait_ns, 7200 * NS_PER_S);
	assert_int_equal(p->on_trial_failure, TRIAL_FAILURE_RETRY);
	assert_int_equal(p->trial_retries, 3);
	assert_int_equal(p->wipe.n, 2);
	assert_int_equal(p->keep, 1);
	assert_int_equal(p->baseline, 1);
	assert_true(p->margin > 0.0199 && p->margin < 0.0201);
	assert_int_equal(p->metrics.n, 2);
	assert_string_equal(p->by, "host");
	assert_int_equal(p->warnings.n, 0);
	plan_free(p);
}

static void test_pairs(void **state)
{
	struct plan *p = parse(HEAD "layouts:\n  a: {existing: /x}\n  b: {existing: /y}\n" WRITE
				    "compare: {pairs: [[b, a]]}\n");

	(void)state;
	assert_int_equal(p->baseline, -1);
	assert_int_equal(p->n_pairs, 1);
	assert_int_equal(p->pairs[0].first, 1);
	assert_int_equal(p->pairs[0].second, 0);
	plan_free(p);
	p = parse(HEAD "layouts:\n  a: {existing: /x}\n  b: {existing: /y}\n" WRITE
		       "compare: {pairs: all}\n");
	assert_int_equal(p->compare_all_pairs, 1);
	assert_int_equal(p->n_pairs, 0);
	plan_free(p);
}

static void test_pool(void **state)
{
	struct plan *p = parse(HEAD
		"layouts:\n  a:\n    pool:\n      level: raidz2\n"
		"      disks: [{controller: SAS2008, model: DT01, size: 3TB, rotational: true, "
		"exclude: [serial:BAD*], count: 8}, {controller: AHCI, count: 2}]\n"
		"      spares: [serial:S1, wwn:0x5000c500aabbccdd]\n"
		"      log: {level: mirror, disks: 2}\n      cache: 1\n"
		"      special: {level: mirror, disks: {transport: nvme, count: 2}}\n"
		"      ashift: 12\n"
		"      properties: {atime: off, compression: zstd-9, autotrim: on, "
		"feature@large_blocks: enabled, recordsize: 1M}\n"
		"      datasets: {pg: {recordsize: 16K}, plain: }\n" WRITE);
	const struct pool_stage *pool = p->layouts[0].pool;
	const struct disk_selector *s = pool->vdevs[0].disks.v;

	(void)state;
	assert_int_equal(pool->n_vdevs, 1);
	assert_int_equal(pool->vdevs[0].level, LEVEL_RAIDZ2);
	assert_string_equal(pool->vdevs[0].level_text, "raidz2");
	assert_int_equal(pool->vdevs[0].disks.n, 2);
	assert_string_equal(s[0].controller, "SAS2008");
	assert_int_equal(s[0].size, 3000000000000LL);
	assert_int_equal(s[0].rotational, 1);
	assert_int_equal(s[1].rotational, -1);
	assert_int_equal(s[0].exclude.n, 1);
	assert_int_equal(s[1].count, 2);
	assert_int_equal(pool->spares.v[0].ids.n, 2);
	assert_int_equal(pool->log.level, LEVEL_MIRROR);
	assert_int_equal(pool->cache.v[0].count, 1);
	assert_string_equal(pool->special.disks.v[0].transport, "nvme");
	assert_int_equal(pool->ashift, 12);
	assert_int_equal(pool->n_props, 3);
	assert_string_equal(pool->props[1].value, "zstd-9");
	assert_int_equal(pool->n_pool_props, 2);
	assert_string_equal(pool->pool_props[1].name, "feature@large_blocks");
	assert_int_equal(pool->n_datasets, 2);
	assert_int_equal(pool->datasets[0].n_props, 1);
	assert_int_equal(pool->datasets[1].n_props, 0);
	assert_int_equal(layout_disk_count(&p->layouts[0]), 17);
	assert_int_equal(p->warnings.n, 0);
	plan_free(p);
}

static void test_levels(void **state)
{
	static const struct {
		const char *level, *text;
		unsigned disks, parity, data, spares;
		int64_t capacity; /* in disks */
	} table[] = {
		{"stripe", "", 3, 0, 0, 0, 3},
		{"mirror", "mirror", 3, 0, 0, 0, 1},
		{"raidz", "raidz1", 2, 0, 0, 0, 1},
		{"raidz1", "raidz1", 3, 0, 0, 0, 2},
		{"raidz2", "raidz2", 3, 0, 0, 0, 1},
		{"raidz3", "raidz3", 4, 0, 0, 0, 1},
		{"draid", "draid", 3, 1, 0, 0, 2},
		{"draid2:8d:24c:2s", "draid2:8d:24c:2s", 24, 2, 8, 2, 17},
		{"draid1:4d:11c:1s", "draid1:4d:11c:1s", 11, 1, 4, 1, 8},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *text = xasprintf(HEAD
			"layouts:\n  a: {scratch: {disks: 24, size: 1G}, pool: {level: "
			"'%s', disks: %u}}\nworkloads:\n  w: {stream: {op: write, size: "
			"16M}}\n",
			table[i].level, table[i].disks);
		struct plan *p = parse(text);
		const struct vdev_group *g = &p->layouts[0].pool->vdevs[0];

		assert_string_equal(g->level_text, table[i].text);
		assert_int_equal(g->draid_parity, table[i].parity);
		assert_int_equal(g->draid_data, table[i].data);
		assert_int_equal(g->draid_spares, table[i].spares);
		assert_int_equal(layout_capacity(&p->layouts[0]) / GIB, table[i].capacity);
		plan_free(p);
		free(text);
	}
}

static void test_filesystem(void **state)
{
	struct plan *p =
		parse(HEAD "layouts:\n  x: {scratch: {disks: 1, size: 2G}, filesystem: {type: xfs, "
			   "options: '-m reflink=0 -i size=512,maxpct=50 -K', mount: [noatime, "
			   "logbsize=256k]}}\n"
			   "  e: {filesystem: {type: ext4, disks: [serial:A], options: [-m, 0, -O, "
			   "^has_journal], mount: 'noatime,data=ordered'}}\n" WRITE);
	const struct fs_stage *x = p->layouts[0].fs, *e = p->layouts[1].fs;

	(void)state;
	assert_int_equal(x->type, FS_XFS);
	assert_int_equal(x->disks.v[0].count, 1);
	assert_int_equal(x->options.n, 5);
	assert_string_equal(x->options.v[3], "size=512,maxpct=50");
	assert_int_equal(x->mount.n, 2);
	assert_int_equal(e->type, FS_EXT4);
	assert_int_equal(e->options.n, 4);
	assert_int_equal(e->mount.n, 2);
	assert_int_equal(layout_capacity(&p->layouts[0]), 2 * GIB);
	assert_int_equal(layout_capacity(&p->layouts[1]), -1);
	plan_free(p);
}

static void test_streams(void **state)
{
	struct plan *p = parse(HEAD EXISTING
		"workloads:\n"
		"  w: {stream: {op: write, size: 30G, block-size: 64K, data: {compressible: 35%}, "
		"file: 'test30G-{trial}', sync: file, threads: 8, files: 4, rate: 100M, direct: "
		"true}}\n"
		"  r: {stream: {op: read, of: w, verify: true}}\n"
		"  same: {stream: {op: read, file: 'test30G-{trial}', threads: 4}}\n"
		"  over: {stream: {op: rewrite, of: w, size: 1G, data: zero}}\n"
		"  old: {stream: {op: read, file: there-before, size: ram / 2}}\n");
	const struct stream *w = &p->workloads[0].stream, *r = &p->workloads[1].stream;
	struct strv names = {0};

	(void)state;
	assert_int_equal(w->data, DATA_COMPRESSIBLE);
	assert_int_equal(w->compressible_percent, 35);
	assert_int_equal(w->rate, 100 << 20);
	assert_int_equal(r->size.bytes, 30 * GIB);
	assert_int_equal(r->files, 4);
	assert_int_equal(r->threads, 8);
	assert_int_equal(r->data, DATA_COMPRESSIBLE);
	assert_int_equal(r->sync, SYNC_NONE);
	assert_int_equal(r->of_index, 0);
	assert_string_equal(p->workloads[2].stream.of, "w");
	assert_int_equal(p->workloads[2].stream.threads, 4);
	assert_int_equal(p->workloads[3].stream.size.bytes, GIB);
	assert_int_equal(p->workloads[3].stream.data, DATA_ZERO);
	assert_null(p->workloads[4].stream.of);
	plan_stream_names(p, 1, 3, 1, &names);
	assert_int_equal(names.n, 4);
	assert_string_equal(names.v[0], "test30G-3.1");
	assert_string_equal(names.v[3], "test30G-3.4");
	strv_free(&names);
	plan_stream_names(p, 4, 3, 1, &names);
	assert_int_equal(names.n, 1);
	assert_string_equal(names.v[0], "there-before");
	strv_free(&names);
	plan_free(p);
}

static void test_file_names(void **state)
{
	static const struct {
		const char *pattern;
		unsigned repeats;
		const char *expected;
	} table[] = {{"test30G-{trial}", 1, "test30G-3"}, {"test30G-{trial}", 4, "test30G-3.2"},
		{"{trial}{trial}", 1, "33"}, {"plain", 4, "plain"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *got = plan_file_name(table[i].pattern, 3, 2, table[i].repeats);

		assert_string_equal(got, table[i].expected);
		free(got);
	}
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t ram;
		int64_t expected; /* -1: an error */
	} table[] = {
		{"1000001", 0, 1000001},
		{"30GB", 0, 30000000000LL},
		{"ram", 8 * GIB, 8 * GIB},
		{"ram * 1.25", 8 * GIB, 10 * GIB},
		{"ram*2", 4 * GIB, 8 * GIB},
		{"2 * ram", 4 * GIB, 8 * GIB},
		{"ram / 4", 8 * GIB, 2 * GIB},
		{"ram * 2 + 1G", 4 * GIB, 9 * GIB},
		{"ram - 512M", GIB, GIB / 2},
		{"ram", 8 * GIB + 4097, 8 * GIB + 4096},
		{"ram", 0, -1},
		{"ram - 2G", GIB, -1},
		{"ram * 1000", 1ULL << 60, -1},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *text = xasprintf(HEAD EXISTING
			"workloads:\n  w: {stream: {op: write, block-size: 512, "
			"size: %s}}\n",
			table[i].text);
		struct plan *p = parse(text);
		int64_t got = -1;

		if (plan_size_bytes(&p->workloads[0].stream.size, table[i].ram, &got, &e))
			assert_int_equal(e.code, ERR_INPUT);
		if (got != table[i].expected)
			fail_msg("%s: %lld", table[i].text, (long long)got);
		plan_free(p);
		free(text);
	}
}

static void test_matrix(void **state)
{
	static const char *const names[] = {"a,recordsize=128K,ashift=9",
		"a,recordsize=128K,ashift=12", "a,recordsize=1M,ashift=9",
		"a,recordsize=1M,ashift=12", "b,recordsize=128K,ashift=9",
		"b,recordsize=128K,ashift=12", "b,recordsize=1M,ashift=9",
		"b,recordsize=1M,ashift=12"};
	struct plan *p = parse(
		HEAD "matrix: {pool.properties.recordsize: [128K, 1M], pool.ashift: [9, 12]}\n"
		     "layouts:\n  a: {pool: {level: raidz1, disks: 4}}\n"
		     "  b: {pool: {level: raidz2, disks: 4, properties: {atime: off}}}\n" WRITE
		     "compare: {baseline: 'a,recordsize=1M,ashift=9'}\n");

	(void)state;
	assert_int_equal(p->n_layouts, 8);
	for (size_t i = 0; i < 8; i++) {
		const struct pool_stage *pool = p->layouts[i].pool;

		assert_string_equal(p->layouts[i].name, names[i]);
		assert_int_equal(pool->ashift, i % 2 ? 12 : 9);
		assert_string_equal(
			pool->props[pool->n_props - 1].value, i % 4 < 2 ? "128K" : "1M");
		assert_int_equal(pool->n_props, i < 4 ? 1 : 2);
	}
	assert_int_equal(p->baseline, 2);
	plan_free(p);
	p = parse(HEAD "matrix: {pool.properties.recordsize: [128K], "
		       "pool.datasets.pg.recordsize: [16K]}\n"
		       "layouts:\n  a: {pool: {level: raidz1, disks: 4}}\n" WRITE);
	assert_string_equal(p->layouts[0].name, "a,properties.recordsize=128K,pg.recordsize=16K");
	plan_free(p);
}

static void test_sets(void **state)
{
	static const char *const right[] = {"trials=3", "workloads.w.stream.size=2G",
		"layouts.a.existing=/other", "repeat=2", NULL};
	static const struct {
		const char *set, *error;
	} wrong[] = {
		{"trials", "'trials' must be written as key=value, such as trials=3"},
		{"=3", "'=3' must be written as key=value, such as trials=3"},
		{"trials=x", "--set trials: 'x' must be a whole number from 1 to 10000"},
		{"tirals=3", "--set: 'tirals' is not a key of a plan; did you mean 'trials'?"},
		{"workloads.ww.stream.size=1G", "the plan has no 'ww' in workloads"},
		{"layouts.b.existing=/x", "the plan has no 'b' in layouts"},
		{"name.x=1", "is a single value, not a map"},
		{"a..b=1", "is not a path"},
	};
	const char *text = HEAD EXISTING WRITE;
	struct strv sets = {0};
	struct plan *p;

	(void)state;
	strv_add_all(&sets, right);
	p = parse_with(text, &sets);
	assert_int_equal(p->trials_max, 3);
	assert_int_equal(p->repeat, 2);
	assert_int_equal(p->workloads[0].stream.size.bytes, 2 * GIB);
	assert_string_equal(p->layouts[0].existing, "/other");
	plan_free(p);
	strv_free(&sets);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct yaml_errors errs = {0};
		struct err e;

		strv_add(&sets, wrong[i].set);
		assert_int_equal(
			plan_parse("plan.yaml", text, strlen(text), &sets, &p, &errs, &e), -1);
		if (!strstr(e.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].set, e.text);
		yaml_errors_free(&errs);
		strv_free(&sets);
	}
}

static void test_hash(void **state)
{
	static const char text[] = HEAD EXISTING WRITE;
	struct strv sets = {0};
	char plain[65];
	struct plan *p = parse(text);

	(void)state;
	fs_sha256(text, strlen(text), plain);
	assert_string_equal(p->sha256, plain);
	plan_free(p);
	strv_add(&sets, "trials=5");
	p = parse_with(text, &sets);
	fs_sha256(HEAD EXISTING WRITE "\n--set trials=5", strlen(text) + 15, plain);
	assert_string_equal(p->sha256, plain);
	plan_free(p);
	strv_free(&sets);
}

static void test_warnings(void **state)
{
	static const struct {
		const char *text, *warning;
	} table[] = {
		{"name: p\nhosts: all\ntrials: 2\ncache: as-is\n" EXISTING WRITE,
			"plan.yaml:3:9: trials: fewer than 3"},
		{HEAD EXISTING WRITE, "plan.yaml:5:3: layouts.a: an existing folder"},
		{HEAD "layouts:\n  a: {scratch: {disks: 3, size: 550M}, pool: {level: raidz1, "
		      "disks: 3}}\n" WRITE,
			"plan.yaml:5:3: layouts.a: nearly full"},
		{HEAD "layouts:\n  a: {pool: {level: raidz1, disks: 3, special: 1}}\n" WRITE,
			"plan.yaml:5:48: layouts.a.pool: special without redundancy"},
		{HEAD "builds: once\nlayouts:\n  a: {pool: {level: raidz1, disks: 3}}\n  b: {pool: "
		      "{level: mirror, disks: 3}}\n" WRITE,
			"plan.yaml:4:9: builds: layouts that may share disks"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct plan *p = parse(table[i].text);

		assert_int_equal(p->warnings.n, 1);
		if (!str_starts(p->warnings.v[0], table[i].warning))
			fail_msg("%s", p->warnings.v[0]);
		plan_free(p);
	}
}

/* Only lists of ids show that layouts stand on different disks. */
static void test_order_when_built_once(void **state)
{
	static const struct {
		const char *a, *b;
		enum plan_order order;
	} table[] = {
		{"pool: {level: stripe, disks: [serial:A]}",
			"pool: {level: stripe, disks: [serial:B]}", ORDER_RANDOM},
		{"pool: {level: stripe, disks: [serial:A]}",
			"pool: {level: stripe, disks: [serial:A]}", ORDER_AS_WRITTEN},
		{"pool: {level: stripe, disks: [serial:A]}", "pool: {level: stripe, disks: 1}",
			ORDER_AS_WRITTEN},
		{"pool: {level: stripe, disks: 1}", "existing: /x", ORDER_RANDOM},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *text = xasprintf(HEAD "builds: once\nlayouts:\n  a: {%s}\n  b: {%s}\n" WRITE,
			table[i].a, table[i].b);
		struct plan *p = parse(text);

		assert_int_equal(p->order, table[i].order);
		plan_free(p);
		free(text);
	}
}

#define MAIL "m: {filebench: {personality: varmail, nfiles: 100, filesize: 32K}}"

static void test_needed_bytes(void **state)
{
	static const struct {
		const char *top, *workloads;
		uint64_t ram;
		int64_t expected; /* -1: an error */
	} table[] = {
		{"", "w: {stream: {op: write, size: 1G}}, r: {stream: {op: read, of: w}}", 0, GIB},
		{"repeat: 3", "w: {stream: {op: write, size: 1G}}", 0, GIB},
		{"repeat: 3", "w: {stream: {op: write, size: 1G, file: 'a-{trial}'}}", 0, 3 * GIB},
		{"builds: once", "w: {stream: {op: write, size: 1G, file: 'a-{trial}'}}", 0,
			5 * GIB},
		{"", "w: {stream: {op: write, size: ram}}, x: {stream: {op: write, size: 1G}}", GIB,
			2 * GIB},
		/* varmail takes 100 files at most, and leaves 80 */
		{"", MAIL ", w: {stream: {op: write, size: 1M}}", 0, 80 * 32768 + 1048576},
		{"repeat: 2", MAIL ", w: {stream: {op: write, size: 1M}}", 0, 100 * 32768 + 1048576},
		{"builds: once", MAIL ", w: {stream: {op: write, size: 1M}}", 0,
			100 * 32768 + 1048576},
		{"", "w: {stream: {op: write, size: 1M}}, " MAIL, 0, 100 * 32768 + 1048576},
		{"", "w: {stream: {op: write, size: ram}}", 0, -1},
		{"", "w: {stream: {op: write, size: 8000P}}, x: {stream: {op: write, size: 8000P}}",
			0, -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *text = xasprintf(
			HEAD "%s\n" EXISTING "workloads: {%s}\n", table[i].top, table[i].workloads);
		struct plan *p = parse(text);
		int64_t got = -1;
		struct err e;

		plan_needed_bytes(p, table[i].ram, &got, &e);
		if (got != table[i].expected)
			fail_msg("%s: %lld", table[i].workloads, (long long)got);
		if (got >= 0)
			assert_int_equal(layout_stored_bytes(p, &p->layouts[0], table[i].ram), got);
		plan_free(p);
		free(text);
	}
}

/* 400 KB of '[' and a text above the limit: refused at once, by one error. */
static void test_hostile(void **state)
{
	size_t len = 400 * 1024;
	char *text = xmalloc(len + 1);
	struct yaml_errors errs = {0};
	struct plan *p;
	struct err e;

	(void)state;
	memset(text, '[', len);
	text[len] = '\0';
	assert_int_equal(plan_parse("plan.yaml", text, len, NULL, &p, &errs, &e), -1);
	assert_int_equal(errs.list.n, 1);
	yaml_errors_free(&errs);
	assert_int_equal(plan_parse("plan.yaml", text, 200 * 1024, NULL, &p, &errs, &e), -1);
	assert_int_equal(errs.list.n, 1);
	yaml_errors_free(&errs);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_filesystem),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_file_names),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_order_when_built_once),
		cmocka_unit_test(test_needed_bytes),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
