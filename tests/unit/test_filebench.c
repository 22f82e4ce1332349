/* The filebench engine on real files: what a loop does and counts, and how runs end. */
#include "tests/unit/filebench_kit.h"

#include <math.h>

#include "common/base/units.h"
#include "common/formats/formats.h"

/* ---- varmail ---- */

#define THREADS 4

static void test_varmail_does_its_13_operations_a_loop(void **state)
{
	static const char *const names[] = {"delete", "deliver-create", "deliver-append",
		"deliver-fsync", "deliver-close", "answer-open", "answer-read", "answer-append",
		"answer-fsync", "answer-close", "read-open", "read-read", "read-close"};
	struct wml_setting s[] = {{"nfiles", "100"}, {"nthreads", "4"}, {"filesize", "4K"}};
	struct trial t;
	struct err e;
	uint64_t sum = 0;
	double loops;
	char *path;

	(void)state;
	trial_init(&t, "varmail", NULL);
	t.f.settings = s;
	t.f.n_settings = ARRAY_LEN(s);
	t.w.duration_ns = 300000000;
	assert_ok(trial_run(&t, &e), e);
	loops = fact(&t, "loops");
	assert_true(loops >= THREADS);
	assert_int_equal(t.r->detail.n_parts, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct trial_part *p = part(&t, names[i]);

		/* a thread's last loop may be cut off */
		assert_in_range(p->ops, (uint64_t)loops, (uint64_t)loops + THREADS);
		sum += p->ops;
	}
	assert_int_equal(t.r->ops, sum);
	assert_int_equal(t.r->hist.count, sum);
	assert_true(fact(&t, "reads") == (double)(part(&t, "answer-read")->ops + part(&t, "read-read")->ops));
	assert_true(fact(&t, "writes") ==
		    (double)(part(&t, "deliver-append")->ops + part(&t, "answer-append")->ops));
	assert_true(fact(&t, "read_bytes") + fact(&t, "written_bytes") == (double)t.r->bytes);
	/* an append has 0 … 16383 bytes, 8192 on average */
	assert_in_range(part(&t, "deliver-append")->bytes, part(&t, "deliver-append")->ops * 4096,
		part(&t, "deliver-append")->ops * 12288);
	path = xasprintf("%s/w.files/spool", dir);
	assert_int_equal(count_files(path), 80 + part(&t, "deliver-create")->ops - part(&t, "delete")->ops);
	free(path);
	trial_clear(&t);
}

/* Latency by both divisors, and the line in each dialect as our own reader takes it. */
static void test_summary_lines_are_what_the_versions_print(void **state)
{
	/* 7341.7 ops/s of Sun's time: 444386 ops in 60.53 s, 13 a loop with 2 reads and 2 writes */
	struct fb_summary s = {.ops = 444386, .reads = 68367, .writes = 68367, .seconds = 60.529,
		.bytes = 2291142656, .ns = 902444400000, .cpu_us = 297};
	static const struct {
		int dialect;
		const char *line;
		double latency_ns; /* per operation of any kind */
	} rows[] = {
		{'A', "IO Summary: 444386 ops 7341.7 ops/s, (1129/1129 r/w) 36.1mb/s, 297us cpu/op, 6.6ms "
		      "latency", 2030766},
		{'B', "IO Summary: 444386 ops, 7341.704 ops/s, (1129/1129 r/w), 36.1mb/s, 297us cpu/op, "
		      "6.6ms latency", 2030766},
		{'C', "IO Summary: 444386 ops 7341.704 ops/s 1129/1129 rd/wr 36.1mb/s 6.6ms/op", 2030766},
		{'D', "IO Summary: 444386 ops 7341.704 ops/s 1129/1129 rd/wr 36.1mb/s 2.031ms/op", 2030766},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *line = fb_summary_line(&s, rows[i].dialect);
		struct format_found found = {0};
		struct buf text = {0};
		struct err e;

		assert_string_equal(line, rows[i].line);
		buf_addf(&text, "%s\n", line);
		assert_ok(format_read("x", &text, format_find("filebench"), &found, &e), e);
		assert_int_equal(found.records[0].ops, 444386);
		for (size_t k = 0; k < found.records[0].n_v; k++)
			if (strcmp(found.records[0].v[k].metric, "latency_mean") == 0)
				assert_true(fabs(found.records[0].v[k].value - rows[i].latency_ns) < 20000);
		format_found_clear(&found);
		buf_free(&text);
		free(line);
	}
}

static void test_both_latencies_are_told(void **state)
{
	struct wml_setting s[] = {{"nfiles", "40"}, {"nthreads", "2"}};
	struct trial t;
	struct err e;
	double ratio;

	(void)state;
	trial_init(&t, "varmail", NULL);
	t.f.settings = s;
	t.f.n_settings = ARRAY_LEN(s);
	t.w.duration_ns = 1000000000; /* some reads on a busy host, too */
	t.f.dialect = 'A';
	assert_ok(trial_run(&t, &e), e);
	ratio = fact(&t, "latency_rw_mean") / fact(&t, "latency_all_mean");
	assert_true(fabs(ratio - (double)t.r->ops / (fact(&t, "reads") + fact(&t, "writes"))) < 1e-9);
	assert_true(fabs(fact(&t, "latency_all_mean") - (double)t.r->hist.sum / (double)t.r->ops) < 1e-6 *
		fact(&t, "latency_all_mean"));
	assert_has(note(&t, "IO Summary"), "ms latency");
	assert_has(note(&t, "settings"), "nfiles=40\n");
	trial_clear(&t);
}

/* ---- files of the host ---- */

static void test_a_file_deleted_while_open_is_counted(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL, ONE("flowop openfile name=o,filesetname=f,fd=1\n"
				 "flowop deletefile name=d,filesetname=f\n"
				 "flowop closefile name=c,fd=1\n"
				 "flowop createfile name=n,filesetname=f,fd=1\n"
				 "flowop closefile name=c2,fd=1\n"
				 "flowop finishoncount name=e,value=50", ""));
	assert_ok(trial_run(&t, &e), e);
	assert_int_equal(t.r->ops, 50);
	assert_int_equal(part(&t, "d")->ops, 10);
	assert_true(fact(&t, "deleted_while_open") == 10);
	trial_clear(&t);
}

static void test_reads_go_round_and_whole_files_are_one_operation(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL, ONE("flowop read name=r,filesetname=f,iosize=3k,iters=8\n"
				 "flowop readwholefile name=w,filesetname=f,iosize=1k\n"
				 "flowop appendfile name=a,filesetname=f,iosize=1k,iters=2\n"
				 "flowop read name=r2,filesetname=f,iosize=2k,random,iters=10\n"
				 "flowop statfile name=s,filesetname=f\n"
				 "flowop finishoncount name=e,value=1", ""));
	assert_ok(trial_run(&t, &e), e);
	/* 3k 3k 2k, from the start again, 3k 3k 2k, 3k 3k */
	assert_int_equal(part(&t, "r")->bytes, 22 * 1024);
	assert_int_equal(part(&t, "w")->ops, 1);
	assert_int_equal(part(&t, "w")->bytes, 8192);
	assert_int_equal(part(&t, "a")->bytes, 2048);
	assert_int_equal(part(&t, "r2")->bytes, 20480);
	assert_int_equal(t.r->ops, 8 + 1 + 2 + 10 + 1);
	trial_clear(&t);
}

static void test_composite_flowops_repeat(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL, "define flowop name=twice { flowop statfile name=s,filesetname=f,iters=2 }\n"
		ONE("flowop twice name=x,iters=5\nflowop finishoncount name=e,value=1", ""));
	assert_ok(trial_run(&t, &e), e);
	assert_int_equal(part(&t, "x.s")->ops, 10);
	trial_clear(&t);
}

/* As in the first example that people find: a fileset that says nothing of folders. */
static void test_a_set_without_a_width_is_one_folder(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL,
		"define fileset name=\"testF\",path=$dir,entries=30,filesize=4k,prealloc\n"
		"define process name=\"reader\",instances=1 { thread name=\"r\",instances=2 {\n"
		" flowop openfile name=\"open\",filesetname=\"testF\",fd=1\n"
		" flowop readwholefile name=\"read\",fd=1,iosize=1m\n"
		" flowop closefile name=\"close\",fd=1\n"
		" flowop finishoncount name=e,value=60,target=read\n"
		"} }\n");
	t.w.duration_ns = 20000000000; /* it ends by itself long before */
	assert_ok(trial_run(&t, &e), e);
	assert_true(part(&t, "read")->ops >= 60);
	assert_has(note(&t, "settings"), "testF: 30 files, 1 folder, ");
	trial_clear(&t);
}

static void test_threads_wait_for_each_other(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL,
		"define fileset name=f,path=$dir,entries=20,dirwidth=10\n"
		"define process name=maker { thread name=m {\n"
		" flowop createfile name=c,filesetname=f,fd=1\n"
		" flowop closefile name=cc,fd=1\n"
		" flowop sempost name=post,value=1,target=wait,blocking\n"
		" flowop wakeup name=wake,target=door\n"
		"} }\n"
		"define process name=taker { thread name=t {\n"
		" flowop semblock name=wait,value=1,highwater=3\n"
		" flowop block name=door\n"
		" flowop deletefile name=d,filesetname=f\n"
		" flowop finishoncount name=e,value=200,target=d\n"
		"} }\n");
	t.w.duration_ns = 20000000000; /* it ends by itself long before */
	assert_ok(trial_run(&t, &e), e);
	assert_int_equal(part(&t, "d")->ops, 200);
	/* the semaphore has room for highwater + value posts at most */
	assert_in_range(part(&t, "c")->ops, 200, 205);
	assert_true(t.r->elapsed_ns < 10000000000);
	trial_clear(&t);
}

static void test_a_rate_holds_all_threads_together(void **state)
{
	struct trial t;
	struct err e;
	double most;

	(void)state;
	trial_init(&t, NULL,
		"set mode quit firstdone\n"
		"eventgen rate=200\n"
		"define fileset name=f,path=$dir,entries=10,dirwidth=10,prealloc\n"
		"define process name=p { thread name=t,instances=5 {\n"
		" flowop statfile name=s,filesetname=f\n"
		" flowop opslimit name=l\n"
		" flowop finishoncount name=e,value=40,target=s\n} }\n");
	t.w.duration_ns = 20000000000; /* a limit that lets no more through would wait until then */
	assert_ok(trial_run(&t, &e), e);
	/* each thread does one before it asks */
	most = 200 * (double)t.r->elapsed_ns / 1e9 + 5 + 1;
	assert_true((double)t.r->ops <= most);
	assert_true(t.r->ops >= 40);
	trial_clear(&t);
}

/* On a busy host a thread may not have begun to wait when a short run ends: then a longer one is taken. */
static void test_a_delay_ends_with_the_run(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	for (int64_t ns = 50 * NS_PER_MS;; ns *= 4) {
		trial_init(&t, NULL, ONE("flowop delay name=d,value=1000", "set mode quit timeout"));
		t.w.duration_ns = ns;
		assert_ok(trial_run(&t, &e), e);
		if (part(&t, "d")->ops || ns > 10 * NS_PER_S)
			break;
		trial_clear(&t);
	}
	assert_true(t.r->elapsed_ns < 500 * NS_PER_S); /* not 1000 s */
	assert_int_equal(t.r->ops, 0); /* waiting is no operation */
	assert_int_equal(part(&t, "d")->ops, 1);
	assert_string_equal(part(&t, "d")->kind, "wait");
	trial_clear(&t);
}

static void test_a_small_database_runs(void **state)
{
	struct wml_setting s[] = {{"nshadows", "6"}, {"ndbwriters", "2"}, {"filesize", "256K"},
		{"logfilesize", "512K"}, {"nfiles", "3"}, {"usermode", "100"}};
	struct trial t;
	struct err e;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* the C library's own asynchronous I/O takes locks that the sanitizer doesn't see */
#endif
	trial_init(&t, "oltp", NULL);
	t.f.settings = s;
	t.f.n_settings = ARRAY_LEN(s);
	t.w.duration_ns = 300000000;
	assert_ok(trial_run(&t, &e), e);
	assert_true(part(&t, "block-read")->ops > 0);
	assert_int_equal(part(&t, "block-read")->bytes, part(&t, "block-read")->ops * 2048);
	assert_true(part(&t, "block-write")->ops >= 2 && part(&t, "log-write")->ops >= 1);
	trial_clear(&t);
}

static void test_folders_are_made_listed_and_removed(void **state)
{
	struct trial t;
	struct err e;

	(void)state;
	trial_init(&t, NULL,
		"set mode quit firstdone\n"
		"define fileset name=f,path=$dir,leafdirs=50,dirwidth=5,size=0\n"
		"define process name=p { thread name=t {\n"
		" flowop makedir name=m,filesetname=f,iters=2\n"
		" flowop listdir name=l,filesetname=f\n"
		" flowop removedir name=r,filesetname=f\n} }\n");
	assert_ok(trial_run(&t, &e), e); /* until none is left to make */
	assert_int_equal(part(&t, "m")->ops - part(&t, "r")->ops, 50);
	trial_clear(&t);
}

static ino_t inode_of(const char *name)
{
	char *path = xasprintf("%s/w.files/f/00000001/%s", dir, name);
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	free(path);
	return st.st_ino;
}

static void test_reuse_keeps_the_files(void **state)
{
	static const char text[] =
		"set mode quit firstdone\n"
		"define fileset name=f,path=$dir,entries=5,dirwidth=100,dirgamma=0,size=8k,prealloc,reuse\n"
		"define process name=p { thread name=t {\n"
		" flowop statfile name=s,filesetname=f\n flowop finishoncount name=e,value=1\n} }\n";
	struct trial t;
	struct err e;
	ino_t before;

	(void)state;
	for (int i = 0; i < 2; i++) {
		trial_init(&t, NULL, text);
		assert_ok(trial_run(&t, &e), e);
		trial_clear(&t);
		if (i == 0)
			before = inode_of("00000003");
		else
			assert_int_equal(inode_of("00000003"), before);
	}
}

static void test_what_is_written_does_not_compress(void **state)
{
	static const enum data_kind kinds[] = {DATA_RANDOM, DATA_ZERO};
	unsigned counts[256];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct buf data = {0};
		struct trial t;
		unsigned most = 0;
		struct err e;
		char *path;

		trial_init(&t, NULL, ONE("flowop appendfile name=a,filesetname=f,iosize=24k\n"
					 "flowop finishoncount name=e,value=1", ""));
		t.f.data = kinds[i];
		assert_ok(trial_run(&t, &e), e);
		trial_clear(&t);
		path = xasprintf("%s/w.files/f/00000001/00000001", dir);
		assert_ok(fs_read_file(path, 1 << 20, &data, &e), e);
		assert_int_equal(data.len, 32 * 1024);
		memset(counts, 0, sizeof(counts));
		for (size_t k = 0; k < data.len; k++)
			counts[(unsigned char)data.data[k]]++;
		for (size_t k = 0; k < 256; k++)
			most = counts[k] > most ? counts[k] : most;
		if (kinds[i] == DATA_ZERO)
			assert_int_equal(most, data.len);
		else /* 128 of each on average, sigma 11 */
			assert_in_range(most, 128, 128 + 8 * 11);
		free(path);
		buf_free(&data);
	}
}

/* A worker makes the files, the caches are made cold, another one finds them: the same ones. */
static void test_files_are_made_before_and_taken_once(void **state)
{
	static const char text[] =
		"set mode quit firstdone\n"
		"set $s=cvar(type=cvar-uniform,parameters=lower:1;upper:9000)\n"
		"define fileset name=f,path=$dir,entries=40,dirwidth=100,dirgamma=0,prealloc=50,size=$s\n"
		"define process name=p { thread name=t {\n"
		" flowop openfile name=o,filesetname=f,fd=1\n flowop readwholefile name=r,fd=1\n"
		" flowop closefile name=c,fd=1\n flowop finishoncount name=e,value=60\n} }\n";
	const struct workload_engine *g = workload_find(WORKLOAD_FILEBENCH);
	ino_t before, after;
	struct trial t;
	struct err e;
	char *name = NULL, *path;

	(void)state;
	trial_init(&t, NULL, text);
	assert_ok(g->make(&(struct workload_order){.spec = &t.spec, .plan = &t.plan, .w = &t.w}, &e), e);
	path = xasprintf("%s/w.files/f/00000001", dir);
	assert_int_equal(count_files(path), 20);
	for (unsigned i = 1; i <= 40 && !name; i++) {
		char *file = xasprintf("%s/%08u", path, i);

		if (access(file, F_OK) == 0)
			name = xasprintf("%08u", i);
		free(file);
	}
	assert_non_null(name);
	before = inode_of(name);
	t.spec.seed++; /* that of the files counts */
	assert_ok(trial_run(&t, &e), e);
	after = inode_of(name);
	assert_int_equal(before, after);
	assert_int_equal(part(&t, "r")->ops, 20); /* each of the 20 once */
	assert_int_equal(count_files(path), 20);
	detail_clear(&t.r->detail);
	free(t.r);
	t.sampled_ops = t.sampled_bytes = 0;
	assert_ok(trial_run(&t, &e), e); /* the mark is gone: they are made anew */
	assert_int_equal(count_files(path), 20);
	trial_clear(&t);
	free(path);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(test_varmail_does_its_13_operations_a_loop),
		cmocka_unit_test(test_summary_lines_are_what_the_versions_print),
		IN_DIR(test_both_latencies_are_told),
		IN_DIR(test_a_file_deleted_while_open_is_counted),
		IN_DIR(test_reads_go_round_and_whole_files_are_one_operation),
		IN_DIR(test_composite_flowops_repeat),
		IN_DIR(test_a_set_without_a_width_is_one_folder),
		IN_DIR(test_threads_wait_for_each_other),
		IN_DIR(test_a_rate_holds_all_threads_together),
		IN_DIR(test_a_delay_ends_with_the_run),
		IN_DIR(test_a_small_database_runs),
		IN_DIR(test_folders_are_made_listed_and_removed),
		IN_DIR(test_reuse_keeps_the_files),
		IN_DIR(test_files_are_made_before_and_taken_once),
		IN_DIR(test_what_is_written_does_not_compress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
