/* Scans of disks: where they read, what they tell, and that a descriptor that could write is refused.
 * The disks are files here; tests/e2e/workload-scan.t has real ones. */
#include "tests/unit/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/fdpass.h"
#include "agent/volume/scan_disks.h"
#include "agent/workload/scan.h"
#include "agent/workload/workload.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define K 1024ULL
#define MAX 4

struct fixture {
	struct plan *plan;
	struct msg_worker_spec spec;
	struct workload_order order;
	struct workload_result *result;
	char paths[MAX][64];
	unsigned n;
	int ends[2];
	uint64_t bytes, errors;
	struct err e;
};

static void setup(struct fixture *f, unsigned n, off_t size)
{
	static const char text[] = "name: t\nhosts: all\ntrials: 3\nworkloads: {x: {disk-scan: {span: "
				   "1M, block-size: 64K}}}\n";
	struct yaml_errors errs = {0};

	memset(f, 0, sizeof(*f));
	assert_ok(plan_parse("plan", text, strlen(text), NULL, &f->plan, &errs, &f->e), f->e);
	yaml_errors_free(&errs);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, f->ends), 0);
	f->spec.sample_ns = 50 * NS_PER_MS;
	f->result = xcalloc(1, sizeof(*f->result));
	f->order = (struct workload_order){.spec = &f->spec, .plan = f->plan,
		.w = &f->plan->workloads[0], .disks_fd = f->ends[1]};
	for (f->n = 0; f->n < n; f->n++) {
		int fd;

		snprintf(f->paths[f->n], sizeof(f->paths[f->n]), "/tmp/arraymark-test-XXXXXX");
		fd = mkstemp(f->paths[f->n]);
		assert_int_equal(ftruncate(fd, size), 0);
		close(fd);
		strv_addf(&f->spec.disks, "sd%c", 'a' + f->n);
	}
}

static void teardown(struct fixture *f)
{
	for (unsigned i = 0; i < f->n; i++)
		unlink(f->paths[i]);
	close(f->ends[1]);
	strv_free(&f->spec.disks);
	detail_clear(&f->result->detail);
	free(f->result);
	plan_free(f->plan);
}

static void pass(struct fixture *f, unsigned n, int flags)
{
	int fds[MAX] = {0};

	for (unsigned i = 0; i < n; i++)
		fds[i] = open(f->paths[i], flags);
	assert_ok(fds_send(f->ends[0], fds, n, &f->e), f->e);
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	close(f->ends[0]);
}

static void on_sample(void *arg, const struct sample *s)
{
	struct fixture *f = arg;

	f->bytes += s->bytes;
	f->errors += s->errors;
}

static int run(struct fixture *f, void (*before)(struct fixture *f))
{
	const struct workload_engine *engine = workload_find(WORKLOAD_DISK_SCAN);
	void *state;
	int rc;

	if (engine->prepare(&f->order, &state, &f->e))
		return -1;
	if (before)
		before(f);
	rc = engine->run(state, 0, on_sample, f, f->result, &f->e);
	engine->clear(state);
	assert_int_equal(f->bytes, f->result->bytes);
	assert_int_equal(f->errors, f->result->errors);
	return rc;
}

static const struct trial_part *part(const struct fixture *f, const char *kind, const char *name)
{
	const struct trial_detail *d = &f->result->detail;

	for (size_t i = 0; i < d->n_parts; i++)
		if (!strcmp(d->parts[i].name, name) && !strcmp(d->parts[i].kind, kind))
			return &d->parts[i];
	fail_msg("there is no part %s %s", kind, name);
	return NULL;
}

static void test_places(void **state)
{
	static const struct {
		uint64_t size, span, block, want_span, middle, inner, together;
	} cases[] = {
		{100 << 20, 1 << 20, 1 << 20, 1 << 20, 49 << 20, 99 << 20, 1 << 20},
		{100 << 20, 10 << 20, 1 << 20, 10 << 20, 45 << 20, 90 << 20, 10 << 20},
		{9 << 20, 10 << 20, 1 << 20, 3 << 20, 3 << 20, 6 << 20, 3 << 20},
		{(3 << 20) + 12345, 10 << 20, 1 << 20, 1 << 20, 1 << 20, 2 << 20, 1 << 20},
		{1 << 20, 10 << 20, 1 << 20, 1 << 20, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scan_disk *d = xcalloc(1, sizeof(*d));

		d->size = cases[i].size;
		assert_int_equal(scan_disk_divide(d, cases[i].span, cases[i].block), 0);
		assert_int_equal(d->span, cases[i].want_span);
		assert_int_equal(d->at[SCAN_OUTER], 0);
		assert_int_equal(d->at[SCAN_MIDDLE], cases[i].middle);
		assert_int_equal(d->at[SCAN_INNER], cases[i].inner);
		assert_int_equal(d->at[SCAN_TOGETHER], cases[i].together);
		d->size = 1000;
		assert_int_equal(scan_disk_divide(d, cases[i].span, cases[i].block), -1);
		free(d);
	}
}

static void test_reads_each_disk(void **state)
{
	static const char *const kinds[] = {
		"disk-outer", "disk-middle", "disk-inner", "disk-together"};
	struct fixture f;

	(void)state;
	setup(&f, 3, 16 << 20);
	pass(&f, 3, O_RDONLY);
	assert_ok(run(&f, NULL), f.e);
	assert_int_equal(f.bytes, 3 * 4 * 1024 * K);
	for (unsigned i = 0; i < 3; i++) {
		char name[4] = {'s', 'd', (char)('a' + i), 0};

		assert_int_equal(part(&f, "disk", name)->bytes, 3 * 1024 * K);
		assert_int_equal(part(&f, "disk", name)->ops, 48);
		assert_true(part(&f, "disk", name)->hist_len > 0);
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			assert_int_equal(part(&f, kinds[k], name)->bytes, 1024 * K);
	}
	assert_non_null(detail_find_fact(&f.result->detail, "together_throughput"));
	assert_non_null(detail_find_fact(&f.result->detail, "slowest_to_median"));
	assert_int_equal(f.result->detail.n_notes, 1);
	teardown(&f);
}

/* Whatever sends it: what could write is never read from. */
static void test_writable_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 2, 16 << 20);
	pass(&f, 2, O_RDWR);
	assert_int_equal(run(&f, NULL), -1);
	assert_int_equal(f.e.code, ERR_DENIED);
	assert_has(f.e.text, "sda was opened for more than reading");
	teardown(&f);
}

static void test_too_few_descriptors(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 3, 16 << 20);
	pass(&f, 2, O_RDONLY);
	assert_int_equal(run(&f, NULL), -1);
	assert_has(f.e.text, "2 descriptors came where 3 were due");
	teardown(&f);
}

static void test_no_descriptors(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 1, 16 << 20);
	close(f.ends[0]); /* the helper died */
	assert_int_equal(run(&f, NULL), -1);
	assert_has(f.e.text, "0 descriptors came where 1 were due");
	teardown(&f);
}

static void shrink_second(struct fixture *f)
{
	assert_int_equal(truncate(f->paths[1], 8 << 20), 0);
}

static void shrink_both(struct fixture *f)
{
	assert_int_equal(truncate(f->paths[0], 0), 0);
	assert_int_equal(truncate(f->paths[1], 0), 0);
}

/* The other disks are read to their end, and the bad one as far as it goes. */
static void test_a_place_that_cannot_be_read(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 2, 16 << 20);
	pass(&f, 2, O_RDONLY);
	assert_ok(run(&f, shrink_second), f.e);
	assert_int_equal(part(&f, "disk-inner", "sda")->bytes, 1024 * K);
	assert_int_equal(part(&f, "disk-outer", "sdb")->bytes, 1024 * K);
	assert_int_equal(part(&f, "disk-inner", "sdb")->bytes, 0);
	assert_int_equal(part(&f, "disk-inner", "sdb")->errors, 16);
	assert_true(f.errors >= 16);
	assert_has(f.result->detail.notes[0].text, "cannot be read at byte");
	teardown(&f);
}

static void test_nothing_can_be_read(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 2, 16 << 20);
	pass(&f, 2, O_RDONLY);
	assert_int_equal(run(&f, shrink_both), -1);
	assert_has(f.e.text, "no disk could be read: sda at byte 0");
	teardown(&f);
}

/* The others are read; the one is told by its name, with an error and the reason. */
static void test_a_disk_that_could_not_be_opened(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 2, 16 << 20);
	strv_free(&f.spec.disks);
	strv_add(&f.spec.disks, "sda");
	strv_add(&f.spec.disks, "sdx cannot open /dev/sdx for reading: No medium found");
	strv_add(&f.spec.disks, "sdb");
	pass(&f, 2, O_RDONLY);
	assert_ok(run(&f, NULL), f.e);
	assert_int_equal(f.bytes, 2 * 4 * 1024 * K);
	assert_int_equal(part(&f, "disk", "sda")->bytes, 3 * 1024 * K);
	assert_int_equal(part(&f, "disk", "sdb")->bytes, 3 * 1024 * K);
	assert_int_equal(part(&f, "disk", "sdx")->bytes, 0);
	assert_int_equal(part(&f, "disk", "sdx")->errors, 1);
	assert_true(detail_find_fact(&f.result->detail, "slowest_to_median")->value > 0);
	assert_has(f.result->detail.notes[0].text,
		"not read: cannot open /dev/sdx for reading: No medium found");
	teardown(&f);
}

/* Too small for one block: told, and the others are read. What has room for fewer than three places is
 * read as far as it goes. */
static void test_tiny_disks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 4, 16 << 20);
	assert_int_equal(truncate(f.paths[0], 4096), 0);
	assert_int_equal(truncate(f.paths[1], 64 * K), 0);
	assert_int_equal(truncate(f.paths[2], 0), 0);
	pass(&f, 4, O_RDONLY);
	assert_ok(run(&f, NULL), f.e);
	assert_int_equal(part(&f, "disk", "sda")->bytes, 0);
	assert_int_equal(part(&f, "disk", "sda")->errors, 1);
	assert_int_equal(part(&f, "disk", "sdb")->bytes, 3 * 64 * K);
	assert_int_equal(part(&f, "disk", "sdc")->errors, 1);
	assert_int_equal(part(&f, "disk", "sdd")->bytes, 3 * 1024 * K);
	assert_has(f.result->detail.notes[0].text, "not read: it has 4 KiB, and one block is 64 KiB");
	teardown(&f);
}

static void test_only_tiny_disks(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, 1, 4096);
	pass(&f, 1, O_RDONLY);
	assert_int_equal(run(&f, NULL), -1);
	assert_has(f.e.text, "no disk could be read: sda: it has 4 KiB");
	teardown(&f);
}

/* The size cannot be asked of what is no disk. */
static void test_a_disk_that_tells_no_size(void **state)
{
	struct fixture f;
	int fds[2];

	(void)state;
	setup(&f, 2, 16 << 20);
	fds[0] = open("/dev/null", O_RDONLY);
	fds[1] = open(f.paths[1], O_RDONLY);
	assert_ok(fds_send(f.ends[0], fds, 2, &f.e), f.e);
	close(fds[0]);
	close(fds[1]);
	close(f.ends[0]);
	assert_ok(run(&f, NULL), f.e);
	assert_int_equal(part(&f, "disk", "sdb")->bytes, 3 * 1024 * K);
	assert_has(f.result->detail.notes[0].text, "not read: sda is neither a disk nor a file");
	teardown(&f);
}

/* Appends one, where there is one. */
static void readable_disk(struct strv *ret)
{
	size_t before = ret->n;
	struct dirent *entry;
	DIR *d = opendir("/sys/block");

	while (d && ret->n == before && (entry = readdir(d))) {
		char *path = xasprintf("/dev/%s", entry->d_name);
		int fd = entry->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_DIRECT | O_NONBLOCK);

		if (fd >= 0) {
			strv_add(ret, entry->d_name);
			close(fd);
		}
		free(path);
	}
	if (d)
		closedir(d);
}

static void test_one_disk_that_cannot_be_opened_is_passed_over(void **state)
{
	const struct work_scan own = {.span = 1 << 20, .block_size = 1 << 16};
	struct volume_ctx ctx = {0};
	struct volume v = {.kind = VOLUME_FILESYSTEM};
	struct strv got = {0};
	struct err e = {0};
	int ends[2], fd;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	strv_add(&v.disks, "arraymark-none");
	assert_int_equal(scan_disks_send(&ctx, &v, &own, ends[0], &got, &e), -1);
	assert_has(e.text, "cannot open /dev/arraymark-none for reading");
	strv_free(&got);
	readable_disk(&v.disks);
	if (v.disks.n > 1) {
		assert_ok(scan_disks_send(&ctx, &v, &own, ends[0], &got, &e), e);
		assert_int_equal(got.n, 2);
		assert_has(got.v[0], "arraymark-none cannot open /dev/arraymark-none for reading");
		assert_string_equal(got.v[1], v.disks.v[1]);
		assert_ok(fds_receive(ends[1], &fd, 1, &e), e);
		close(fd);
		strv_free(&got);
	}
	strv_free(&v.disks);
	close(ends[0]);
	close(ends[1]);
}

static void test_the_slowest_is_told(void **state)
{
	struct scan_disk *v = xcalloc(3, sizeof(*v));
	struct trial_detail d = {0};
	char *names[] = {(char *)"sda", (char *)"sdb", (char *)"sdc"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		v[i].name = names[i];
		hist_clear(&v[i].alone);
		hist_clear(&v[i].together);
		for (int p = 0; p < SCAN_PLACES; p++)
			v[i].of[p] = (struct scan_counts){.ops = 1, .bytes = 100000000,
				.elapsed_ns = i == 1 ? 4 * NS_PER_S : NS_PER_S};
	}
	scan_tell(v, 3, &d);
	assert_true(detail_find_fact(&d, "slowest_to_median")->value == 0.25);
	assert_true(detail_find_fact(&d, "together_throughput")->value == 225000000);
	assert_has(d.notes[0].text, "sdb               25.0      25.0      25.0      25.0");
	detail_clear(&d);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_reads_each_disk),
		cmocka_unit_test(test_writable_is_refused),
		cmocka_unit_test(test_too_few_descriptors),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_a_place_that_cannot_be_read),
		cmocka_unit_test(test_nothing_can_be_read),
		cmocka_unit_test(test_a_disk_that_could_not_be_opened),
		cmocka_unit_test(test_tiny_disks),
		cmocka_unit_test(test_only_tiny_disks),
		cmocka_unit_test(test_a_disk_that_tells_no_size),
		cmocka_unit_test(test_one_disk_that_cannot_be_opened_is_passed_over),
		cmocka_unit_test(test_the_slowest_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
