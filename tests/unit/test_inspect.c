/* What programs print about a host's disks and pools, read in all their dialects; labels of ZFS; and
 * this machine itself. With CAPTURES set, real outputs in $CAPTURES/lsblk and $CAPTURES/zpool too. */
#include "tests/unit/label_kit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/volume/candidates.h"
#include "agent/volume/inspect.h"
#include "agent/volume/lsblk.h"
#include "agent/volume/mounts.h"
#include "agent/volume/usage.h"
#include "agent/volume/zfs_label.h"
#include "agent/volume/zpool_status.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

static char *fixture(const char *name, size_t *len)
{
	char *path = xasprintf("tests/fixtures/%s", name);
	struct buf text = {0};
	struct err e;

	assert_ok(fs_read_file(path, 1 << 20, &text, &e), e);
	free(path);
	if (len)
		*len = text.len;
	return buf_take(&text);
}

static struct blockdevs lsblk_of(const char *name)
{
	struct blockdevs b;
	struct err e;
	size_t len;
	char *text = fixture(name, &len);

	assert_ok(lsblk_parse(text, len, &b, &e), e);
	free(text);
	return b;
}

static const struct blockdev *named(const struct blockdevs *b, const char *kernel)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->v[i].kernel, kernel))
			return &b->v[i];
	fail_msg("no device %s", kernel);
	return NULL;
}

static void todays_lsblk(void **state)
{
	struct blockdevs b = lsblk_of("lsblk-2.38.json");
	const struct blockdev *d = named(&b, "sda");

	(void)state;
	assert_int_equal(b.n, 12);
	assert_string_equal(d->serial, "Z1F0ABCD");
	assert_string_equal(d->wwn, "0x5000c50012345678");
	assert_string_equal(d->transport, "sata");
	assert_true(d->bytes == 3000592982016ULL);
	assert_int_equal(d->logical_sector, 512);
	assert_int_equal(d->physical_sector, 4096);
	assert_true(d->rotational);
	assert_null(d->parent);
	assert_string_equal(named(&b, "sda1")->mount, "/boot");
	assert_string_equal(named(&b, "dm-0")->parent, "sda2");
	assert_false(named(&b, "nvme0n1")->rotational);
	blockdevs_free(&b);
}

static void old_lsblk_writes_strings(void **state)
{
	struct blockdevs b = lsblk_of("lsblk-2.27-strings.json");
	const struct blockdev *d = named(&b, "sda");

	(void)state;
	assert_true(d->bytes == 1000204886016ULL);
	assert_string_equal(d->serial, "WD-WCC3F1234567");
	assert_string_equal(d->model, "WDC WD10EZEX-08W");
	assert_string_equal(d->wwn, "0x50014ee2b1234567");
	assert_true(d->rotational);
	assert_string_equal(named(&b, "sda1")->parent, "sda");
	d = named(&b, "sdb");
	assert_null(d->serial);
	assert_null(d->wwn);
	assert_null(d->mount);
	assert_false(d->rotational);
	blockdevs_free(&b);
}

static void what_is_not_lsblks_is_refused(void **state)
{
	static const char *const wrong[] = {"", "lsblk: not found", "[]", "{}", "{\"blockdevices\":3}",
		"{\"blockdevices\":[3]}", "{\"blockdevices\":[{\"type\":\"disk\"}]}",
		"{\"blockdevices\":[{\"kname\":\"../x\"}]}", "{\"blockdevices\":[{\"name\":\"sda\"}"};
	struct buf deep = {0};
	struct blockdevs b;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (!lsblk_parse(wrong[i], strlen(wrong[i]), &b, &e))
			fail_msg("taken: %s", wrong[i]);
	buf_adds(&deep, "{\"blockdevices\":[");
	for (int i = 0; i < 40; i++)
		buf_adds(&deep, "{\"name\":\"a\",\"children\":[");
	for (int i = 0; i < 40; i++)
		buf_adds(&deep, "]}");
	buf_adds(&deep, "]}");
	assert_int_equal(lsblk_parse(deep.data, deep.len, &b, &e), -1);
	assert_has(e.text, "deep");
	buf_free(&deep);
}

static size_t find_candidates(const char *name, struct blockdevs *b, struct inv_disk **ret,
	const char **first)
{
	*b = lsblk_of(name);
	*ret = xcalloc(b->n, sizeof(**ret));
	return candidates_find(b, *ret, first);
}

static void free_candidates(struct blockdevs *b, struct inv_disk *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		inv_disk_clear(&v[i]);
	free(v);
	blockdevs_free(b);
}

static void only_disks_are_candidates(void **state)
{
	static const char *const want[] = {"sda", "nvme0n1", "nvme0n2"};
	const char *first[32];
	struct blockdevs b;
	struct inv_disk *v;
	size_t n = find_candidates("lsblk-2.38.json", &b, &v, first);

	(void)state;
	assert_int_equal(n, ARRAY_LEN(want));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(v[i].name, want[i]);
	/* Two namespaces of one NVMe disk share its serial: only the WWN is an identity. */
	assert_string_equal(v[0].serial, "Z1F0ABCD");
	assert_null(v[1].serial);
	assert_null(v[2].serial);
	assert_string_equal(v[2].wwn, "eui.0025385a81b01235");
	free_candidates(&b, v, n);
}

static void two_paths_are_one_disk(void **state)
{
	const char *first[32];
	struct blockdevs b;
	struct inv_disk *v;
	size_t n = find_candidates("lsblk-multipath.json", &b, &v, first);

	(void)state;
	assert_int_equal(n, 4);
	assert_string_equal(v[0].name, "dm-0");
	assert_string_equal(v[0].serial, "K4GABC12");
	assert_string_equal(first[0], "sda");
	assert_null(v[0].in_use);
	assert_string_equal(v[1].name, "sdb");
	assert_has(v[1].in_use, "sdd");
	/* A cheap bridge's serial on two media of different size is nobody's. */
	assert_null(v[2].serial);
	assert_null(v[3].serial);
	assert_null(v[2].in_use);
	free_candidates(&b, v, n);
}

static struct zpool_leaves leaves_of(const char *name)
{
	char *text = fixture(name, NULL);
	struct zpool_leaves l;
	struct err e;

	assert_ok(zpool_status_parse(text, &l, &e), e);
	free(text);
	return l;
}

static void check_leaves(const struct zpool_leaves *l, const char *const (*want)[3], size_t n)
{
	for (size_t i = 0; i < l->n && i < n; i++) {
		assert_string_equal(l->v[i].pool, want[i][0]);
		assert_string_equal(l->v[i].name, want[i][1]);
		assert_string_equal(l->v[i].state, want[i][2]);
	}
	assert_int_equal(l->n, n);
}

static void status_of_openzfs(void **state)
{
	static const char *const want[][3] = {
		{"tank", "/dev/disk/by-id/wwn-0x5000c50011110001-part1", "ONLINE"},
		{"tank", "1234567890123456789", "UNAVAIL"},
		{"tank", "/dev/sdr1", "ONLINE"},
		{"tank", "/dev/loop7", "ONLINE"},
		{"tank", "/dev/nvme0n1p1", "ONLINE"},
		{"tank", "/dev/nvme1n1p1", "ONLINE"},
		{"tank", "/dev/nvme2n1p1", "ONLINE"},
		{"tank", "/dev/nvme3n1p1", "ONLINE"},
		{"tank", "/dev/sds1", "AVAIL"},
		{"wide", "sda", "ONLINE"},
		{"wide", "sdb", "ONLINE"},
	};
	struct zpool_leaves l = leaves_of("zpool-status-openzfs.txt");

	(void)state;
	check_leaves(&l, want, ARRAY_LEN(want));
	assert_true(l.v[0].has_errors && l.v[0].errors == 0);
	assert_false(l.v[8].has_errors); /* a spare that waits */
	zpool_leaves_free(&l);
}

static void status_of_zfs_fuse(void **state)
{
	static const char *const want[][3] = {
		{"am_7_1_abcdef", "loop0", "ONLINE"},
		{"am_7_1_abcdef", "disk/by-id/wwn-0x6001405aaa0001", "ONLINE"},
		{"am_7_1_abcdef", "/state/am.devices/loop2", "ONLINE"},
		{"am_7_1_abcdef", "loop4", "ONLINE"},
		{"am_7_1_abcdef", "loop5", "ONLINE"},
		{"am_7_1_abcdef", "loop3", "AVAIL"},
	};
	struct zpool_leaves l = leaves_of("zpool-status-fuse.txt");
	struct err e;

	(void)state;
	check_leaves(&l, want, ARRAY_LEN(want));
	zpool_leaves_free(&l);
	assert_ok(zpool_status_parse("no pools available\n", &l, &e), e);
	assert_int_equal(l.n, 0);
	assert_ok(zpool_status_parse("", &l, &e), e);
	assert_int_equal(zpool_status_parse("connect: Connection refused\n", &l, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
}

/* What each device's columns add up to; short forms are of 1024. */
static void errors_of_leaves(void **state)
{
	static const char text[] = "  pool: p\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n"
				   "\tp      DEGRADED   0   0    0\n"
				   "\t  sda  ONLINE     3   0   12\n"
				   "\t  sdb  DEGRADED   0 1.5K 2M  too many errors\n"
				   "\t  sdc  UNAVAIL    0   0    -  cannot open\n";
	struct zpool_leaves l;
	struct err e;

	(void)state;
	assert_ok(zpool_status_parse(text, &l, &e), e);
	assert_int_equal(l.n, 3);
	assert_true(l.v[0].has_errors && l.v[0].errors == 15);
	assert_true(l.v[1].has_errors && l.v[1].errors == 1536 + 2 * 1024 * 1024);
	assert_false(l.v[2].has_errors);
	zpool_leaves_free(&l);
}

static void lists_of_pools(void **state)
{
	struct inv_pool *v = NULL;
	struct err e;
	size_t n = 0;

	(void)state;
	assert_ok(zpool_list_parse("tank\t9501338321094880558\tONLINE\t3.94G\n"
				   "b\t12\tDEGRADED\t9981503995904\n", &v, &n, &e), e);
	assert_int_equal(n, 2);
	assert_string_equal(v[0].name, "tank");
	assert_string_equal(v[0].guid, "9501338321094880558");
	assert_true(v[0].bytes > 4230000000ULL && v[0].bytes < 4231000000ULL);
	assert_true(v[1].bytes == 9981503995904ULL);
	assert_int_equal(zpool_list_parse("tank ONLINE\n", &v, &n, &e), -1);
	assert_ok(zpool_list_parse("no pools available\n", &v, &n, &e), e);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].guid);
		free(v[i].health);
	}
	free(v);
}

static void members_of_md_arrays(void **state)
{
	static const char text[] = "Personalities : [raid6] [raid5] [raid4] [raid1]\n"
				   "md0 : active raid5 sdc1[3](F) sdb1[0] sdd[2](S)\n"
				   "      8385664 blocks level 5, 64k chunk, algorithm 2 [3/2] [U_U]\n"
				   "      [>....................]  recovery =  0.2% (35/146) finish=1638.2min\n"
				   "\nmd127 : inactive nvme0n1[0](S)\n"
				   "      5288 blocks super external:imsm\n\nunused devices: <none>\n";
	static const char *const want[] = {"sdc1", "sdb1", "sdd", "nvme0n1"};
	struct strv found = {0};

	(void)state;
	mdstat_parse(text, &found);
	assert_int_equal(found.n, ARRAY_LEN(want));
	for (size_t i = 0; i < found.n; i++)
		assert_string_equal(found.v[i], want[i]);
	strv_free(&found);
}

static void mounts_are_read(void **state)
{
	static const char text[] =
		"20 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
		"66 20 0:40 / /run/a\\040b/v8 rw,relatime - fuse.zfs am_7_1_abcdef rw,user_id=0\n"
		"67 66 0:41 / /run/a\\040b/v8 rw - tmpfs over rw\n"
		"broken line\n"
		"68 20 0:50 / /odd\\134x rw -  \n"
		"69 20 0:51 / /no\\011name\\012at rw - tmpfs  rw,size=1k\n"
		"70 20 8:1 / /home rw shared:2 master:1 - xfs /dev/sda1 rw\n";
	struct mounts m;

	(void)state;
	mounts_parse(text, &m);
	assert_int_equal(m.n, 6);
	assert_string_equal(mounts_at(&m, "/odd\\x")->source, "");
	assert_string_equal(mounts_at(&m, "/no\tname\nat")->type, "tmpfs");
	assert_string_equal(mounts_at(&m, "/no\tname\nat")->source, "");
	assert_string_equal(mounts_at(&m, "/no\tname\nat")->super_options, "rw,size=1k");
	assert_string_equal(mounts_at(&m, "/run/a b/v8")->source, "over");
	assert_string_equal(mounts_at(&m, "/home")->type, "xfs");
	assert_null(mounts_at(&m, "/hom"));
	assert_string_equal(mounts_around(&m, "/homework")->point, "/");
	assert_string_equal(mounts_around(&m, "/home/x/y")->point, "/home");
	assert_string_equal(mounts_around(&m, "/run/a b/v8")->source, "over");
	mounts_free(&m);
}

static void sample_label(struct buf *b)
{
	label_put32(b, 0x01010000);
	label_put32(b, 0);
	label_put32(b, 1);
	label_put_pair(b, "version", NULL, 5000);
	label_put_pair(b, "name", "oldtank", 0);
	label_put_pair(b, "state", NULL, ZFS_ACTIVE);
	label_put_pair(b, "pool_guid", NULL, 0xfedcba9876543210ULL);
	label_put_pair(b, "hostid", NULL, 0x7f0100);
	label_put_pair(b, "hostname", "head1", 0);
	label_put_pair(b, "guid", NULL, 77);
	label_put32(b, 0);
	label_put32(b, 0);
}

static void labels_are_read(void **state)
{
	struct zfs_label l = {0};
	struct buf b = {0};

	(void)state;
	sample_label(&b);
	assert_int_equal(zfs_label_parse(b.data, b.len, &l), 0);
	assert_true(l.valid);
	assert_string_equal(l.name, "oldtank");
	assert_string_equal(l.hostname, "head1");
	assert_int_equal(l.state, ZFS_ACTIVE);
	assert_true(l.pool_guid == 0xfedcba9876543210ULL);
	assert_true(l.guid == 77 && l.hostid == 0x7f0100);
	buf_free(&b);
}

/* No cut and no changed byte of a label makes the reader leave its buffer (sanitizers watch) or
 * take a cut list for a whole one. */
static void broken_labels_are_none(void **state)
{
	struct zfs_label l;
	struct buf b = {0};

	(void)state;
	sample_label(&b);
	for (size_t len = 0; len < b.len; len++) {
		char *cut = xmemdup(b.data, len ? len : 1);

		assert_int_equal(zfs_label_parse(cut, len, &l), -1);
		free(cut);
	}
	for (size_t i = 0; i < b.len; i++) {
		char *bent = xmemdup(b.data, b.len);

		bent[i] = (char)(bent[i] ^ 0xff);
		zfs_label_parse(bent, b.len, &l);
		free(bent);
	}
	buf_free(&b);
}

static void label_offsets(void **state)
{
	const uint64_t k = ZFS_LABEL_SIZE;

	(void)state;
	assert_true(zfs_label_offset(10 * k + 4096, 0) == 0);
	assert_true(zfs_label_offset(10 * k + 4096, 1) == k);
	assert_true(zfs_label_offset(10 * k + 4096, 2) == 8 * k);
	assert_true(zfs_label_offset(10 * k + 4096, 3) == 9 * k);
}

/* This machine: whatever it has, it is read without a complaint and makes sense. */
static void this_machine_is_inspected(void **state)
{
	struct inventory inv;
	struct err e;

	(void)state;
	if (!fs_find_program("lsblk"))
		skip();
	assert_ok(inspect_host(NULL, &inv, &e), e);
	assert_non_null(inv.kernel);
	assert_true(inv.ram_bytes > 0 && inv.cpus > 0);
	for (size_t i = 0; i < inv.n_disks; i++) {
		const struct inv_disk *d = &inv.disks[i];

		assert_true(d->bytes > 0);
		assert_true(str_starts(d->path, "/dev/"));
		assert_false(str_starts(d->name, "loop"));
		assert_false(d->allowed);
		if (geteuid() != 0)
			assert_non_null(d->in_use);
	}
	inventory_clear(&inv);
}

/* What a capture must give: `disks` candidates, or pools' devices; -1: a clear error. */
static const struct {
	const char *file;
	int count;
} known[] = {
	{"lsblk/local_J_O_b.json", 1},
	{"lsblk/ipa_incomplete.json", 2},
	{"lsblk/ipa_multipath_blockdevices.json", 3},
	{"lsblk/ironlib_lsblk.json", 0},
	{"lsblk/jc_centos-7.7_lsblk.txt", -1},
	{"zpool/dan_input-01-corrupted.txt", 4},
	{"zpool/dan_input-02-online-data-corruption.txt", 2},
	{"zpool/dan_input-04-scrub-progress.txt", 2},
	{"zpool/dan_input-08-features-alt.txt", 2},
	{"zpool/dan_input-09-scrub-cancel.txt", 2},
	{"zpool/dan_input-10-new-pool.txt", 2},
	{"zpool/dan_input-11-degraded-no-scan.txt", 2},
	{"zpool/draid_howto_1.txt", 11},
	{"zpool/jc_zpool-iostat-v.txt", -1},
	{"zpool/bitranox_status_ok.json", -1},
};

static int parse_lsblk(const char *text, size_t len, struct err *e)
{
	const char **first;
	struct blockdevs b;
	struct inv_disk *v;
	size_t n;

	if (lsblk_parse(text, len, &b, e))
		return -1;
	v = xcalloc(b.n + 1, sizeof(*v));
	first = xcalloc(b.n + 1, sizeof(*first));
	n = candidates_find(&b, v, first);
	free_candidates(&b, v, n);
	free(first);
	return (int)n;
}

static int parse_zpool(const char *text, size_t len, struct err *e)
{
	struct zpool_leaves l;
	int n;

	(void)len;
	if (zpool_status_parse(text, &l, e))
		return -1;
	n = (int)l.n;
	zpool_leaves_free(&l);
	return n;
}

static void parse_capture(const char *captures, const char *kind, const char *name)
{
	char *file = xasprintf("%s/%s", kind, name), *path = xasprintf("%s/%s", captures, file);
	struct buf text = {0};
	struct err e = {0};
	int n;

	assert_ok(fs_read_file(path, 8 << 20, &text, &e), e);
	n = strcmp(kind, "lsblk") ? parse_zpool(buf_str(&text), text.len, &e)
				  : parse_lsblk(buf_str(&text), text.len, &e);
	if (n < 0 && !*e.text)
		fail_msg("%s: an error without a text", file);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(known[i].file, file) && known[i].count != n)
			fail_msg("%s: %d, should be %d: %s", file, n, known[i].count, e.text);
	buf_free(&text);
	free(path);
	free(file);
}

static void captures_are_read(void **state)
{
	static const char *const kinds[] = {"lsblk", "zpool"};
	const char *captures = getenv("CAPTURES");

	(void)state;
	if (!captures)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		char *dir = xasprintf("%s/%s", captures, kinds[i]);
		DIR *folder = opendir(dir);
		struct dirent *d;

		assert_non_null(folder);
		while ((d = readdir(folder)))
			if (d->d_name[0] != '.')
				parse_capture(captures, kinds[i], d->d_name);
		closedir(folder);
		free(dir);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(todays_lsblk),
		cmocka_unit_test(old_lsblk_writes_strings),
		cmocka_unit_test(what_is_not_lsblks_is_refused),
		cmocka_unit_test(only_disks_are_candidates),
		cmocka_unit_test(two_paths_are_one_disk),
		cmocka_unit_test(status_of_openzfs),
		cmocka_unit_test(status_of_zfs_fuse),
		cmocka_unit_test(errors_of_leaves),
		cmocka_unit_test(lists_of_pools),
		cmocka_unit_test(members_of_md_arrays),
		cmocka_unit_test(mounts_are_read),
		cmocka_unit_test(labels_are_read),
		cmocka_unit_test(broken_labels_are_none),
		cmocka_unit_test(label_offsets),
		cmocka_unit_test(this_machine_is_inspected),
		cmocka_unit_test(captures_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
