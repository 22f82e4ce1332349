/*
 * Volumes that get full, die or turn read-only in the middle of a trial, for every engine: the trial
 * fails, and says the errno, the file, and where in it. Real file systems: a tmpfs whose last pages
 * somebody else takes, an ext4 on a loop device that is shut down or aborted. As root, in a mount
 * namespace of its own.
 */
#include "tests/unit/random_kit.h"

#include <errno.h>
#include <ftw.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "agent/fdpass.h"
#include "agent/workload/stream_spec.h"
#include "common/base/proc.h"

#define SHUT_DOWN _IOR('X', 125, uint32_t) /* of ext4 and xfs */
#define NO_LOG_FLUSH 2u
#define IMAGE_BYTES (24 << 20)

enum fault { FULL = 1, DEAD = 2, READ_ONLY = 4 };

static int can_mount, can_loop;
static char image[] = "/tmp/arraymark-faults-XXXXXX";

/* ---- file systems ---- */

static void run_program(const char *const *words)
{
	struct proc_result r = {0};
	struct strv argv = {0};
	const char *path = fs_find_program(words[0]);
	struct err e;

	assert_non_null(path);
	strv_add(&argv, path);
	for (size_t i = 1; words[i]; i++)
		strv_add(&argv, words[i]);
	assert_ok(proc_run(&argv, 60000, &r, &e), e);
	assert_ok(proc_check(&argv, &r, &e), e);
	proc_result_free(&r);
	strv_free(&argv);
}

/* An empty ext4, to be copied. */
static int make_image(void **state)
{
	int fd = mkstemp(image);

	(void)state;
	if (fd < 0 || ftruncate(fd, IMAGE_BYTES) < 0)
		return -1;
	close(fd);
	run_program((const char *const[]){"mkfs.ext4", "-q", "-F", image, NULL});
	return 0;
}

static int remove_image(void **state)
{
	(void)state;
	return unlink(image);
}

static void mount_volume(struct kit *k, enum fault fault)
{
	char *disk = xasprintf("%s.disk", k->dir);

	if (fault == FULL) {
		assert_int_equal(mount("tmpfs", k->dir, "tmpfs", 0, "size=12m"), 0);
	} else {
		run_program((const char *const[]){"cp", "--sparse=always", image, disk, NULL});
		run_program((const char *const[]){"mount", "-o", "loop,errors=remount-ro", disk, k->dir, NULL});
		assert_int_equal(unlink(disk), 0);
	}
	free(disk);
}

/* ---- faults ---- */

#define OTHER "somebody-elses"

static int punch(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	int fd = -1;

	if (type == FTW_F && S_ISREG(st->st_mode) && strcmp(path + ftw->base, OTHER) != 0)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st->st_size);
		close(fd);
	}
	return 0;
}

/* The trial's files lose their pages, and another file takes those. */
static void fill(const struct kit *k)
{
	static char block[4096];
	char *path = xasprintf("%s/" OTHER, k->dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	memset(block, 1, sizeof(block));
	while (write(fd, block, sizeof(block)) > 0)
		;
	nftw(k->dir, punch, 16, FTW_PHYS);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
	free(path);
}

static void break_it(struct kit *k, enum fault fault)
{
	uint32_t flags = NO_LOG_FLUSH;
	int fd;

	switch (fault) {
	case FULL:
		fill(k);
		break;
	case DEAD:
		fd = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(fd >= 0);
		assert_int_equal(ioctl(fd, SHUT_DOWN, &flags), 0);
		close(fd);
		break;
	case READ_ONLY:
		assert_int_equal(mount(NULL, k->dir, NULL, MS_REMOUNT, "abort"), 0);
		break;
	}
}

/* ---- trials ---- */

struct trial {
	struct kit *k;
	enum fault fault;
	uint64_t ops;
	int broken;
};

/* Once it does something, but not before; pages that the trial got back are taken again. */
static void at_sample(void *arg, const struct sample *s)
{
	struct trial *t = arg;

	t->ops += s->ops;
	if (t->ops == 0 || (t->broken && t->fault != FULL))
		return;
	t->broken = 1;
	break_it(t->k, t->fault);
}

static int run_trial(struct kit *k, unsigned index, struct trial *t)
{
	struct workload_order o = kit_order(k, index);
	const struct workload_engine *g = workload_find(o.w->kind);
	void *engine;
	int rc;

	strv_free(&k->spec.names);
	k->spec.names = (struct strv){0};
	if (o.w->kind == WORKLOAD_STREAM)
		assert_ok(stream_spec_fill(k->plan, o.w, &k->spec, &k->e), k->e);
	detail_clear(&k->r->detail);
	memset(k->r, 0, sizeof(*k->r));
	if (g->make)
		assert_ok(g->make(&o, &k->e), k->e);
	assert_ok(g->prepare(&o, &engine, &k->e), k->e);
	rc = g->run(engine, 0, at_sample, t, k->r, &k->e);
	g->clear(engine);
	return rc;
}

static const struct row {
	const char *workload;
	unsigned faults;
	const char *file; /* what the error names */
	int uring;
} rows[] = {
	{"{stream: {op: write, size: 4M, block-size: 64K}, duration: 20s}", FULL | DEAD | READ_ONLY,
		"writing 'w'", 0},
	{"{stream: {op: write, size: 4M, block-size: 64K, engine: io_uring, depth: 4}, duration: 20s}",
		FULL | DEAD | READ_ONLY, "writing 'w'", 1},
	{"{stream: {op: read, of: f, block-size: 64K}, duration: 20s}", DEAD, "reading 'f'", 0},
	{"{stream: {op: read, of: f, block-size: 64K, engine: io_uring, depth: 4}, duration: 20s}", DEAD,
		"reading 'f'", 1},
	{"{random: {op: write, size: 4M, duration: 20s}}", FULL | DEAD | READ_ONLY, "writing 'w.random'",
		0},
	{"{random: {op: write, size: 4M, engine: io_uring, depth: 4, duration: 20s}}",
		FULL | DEAD | READ_ONLY, "writing 'w.random'", 1},
	{"{random: {op: read, size: 4M, duration: 20s}}", DEAD, "reading 'w.random'", 0},
	{"{random: {op: read, size: 4M, engine: io_uring, depth: 4, duration: 20s}}", DEAD,
		"reading 'w.random'", 1},
	{"{filebench: {wml: \"@.f\", duration: 20s}}", FULL | DEAD | READ_ONLY,
		"flowop 'w': writing 'w.files/set/", 0},
	{"{parallel: [{stream: {op: write, size: 4M, block-size: 64K}}], duration: 20s}",
		FULL | DEAD | READ_ONLY, "member w.1 (stream): writing 'w.1'", 0},
	{"{fio: {options: {rw: write, size: 4m, bs: 64k, filename: w}}, duration: 20s}",
		FULL | DEAD | READ_ONLY, "file ./w: ", 0},
};

/* A workload file of one writer. */
static void write_wml(const struct kit *k)
{
	static const char text[] =
		"define fileset name=set,path=$dir,entries=2,dirwidth=10,size=1m,prealloc=100\n"
		"define process name=p { thread name=t {\n"
		" flowop write name=w,filesetname=set,iosize=64k,random\n} }\n";
	char *path = xasprintf("%s.f", k->dir);
	struct err e;

	assert_ok(fs_write_file(path, text, strlen(text), 0644, &e), e);
	free(path);
}

static void plan_row(struct kit *k, const struct row *row)
{
	struct buf text = {0};

	buf_adds(&text, "  f: {stream: {op: write, size: 4M, block-size: 64K}}\n  w: ");
	for (const char *c = row->workload; *c; c++)
		if (*c == '@')
			buf_adds(&text, k->dir);
		else
			buf_addc(&text, *c);
	buf_adds(&text, "\nsamples: 100ms\n");
	kit_plan(k, buf_str(&text));
	buf_free(&text);
}

static const char *const errnos[] = {
	[FULL] = "No space left on device (ENOSPC)",
	[DEAD] = "Input/output error (EIO)",
	[READ_ONLY] = "Read-only file system (EROFS)",
};

static void check_words(const struct kit *k, const struct row *row, enum fault fault)
{
	const char *place = strstr(row->workload, "{fio:") ? " offset=" : " at byte ";

	if (!strstr(k->e.text, row->file) || !strstr(k->e.text, place) ||
		!strstr(k->e.text, errnos[fault]))
		fail_msg("%s, %s: the error is: %s", row->workload, errnos[fault], k->e.text);
	assert_int_equal(k->e.code, fault == FULL ? ERR_FULL : ERR_IO);
}

/* What a stream could not write to its end does not stand in the way of the next trial. */
static void check_room(const struct kit *k, const struct row *row)
{
	const char *name = strchr(row->file, '\'') + 1;
	char *path = xasprintf("%s/%.*s", k->dir, (int)strcspn(name, "'"), name);

	if (access(path, F_OK) == 0)
		fail_msg("%s: %s is still there", row->workload, path);
	free(path);
}

static void check(struct kit *k, const struct row *row, enum fault fault)
{
	struct trial writer = {.k = k, .fault = DEAD, .broken = 1}, t = {.k = k, .fault = fault};

	mount_volume(k, fault);
	plan_row(k, row);
	if (strstr(row->workload, "of: f"))
		assert_ok(run_trial(k, 0, &writer), k->e);
	if (run_trial(k, 1, &t) == 0)
		fail_msg("%s, %s: the trial did not fail", row->workload, errnos[fault]);
	check_words(k, row, fault);
	if (fault == FULL && strstr(row->workload, "{stream: {op: write"))
		check_room(k, row);
	if (umount(k->dir) < 0)
		fail_msg("%s: cannot unmount: %s", row->workload, strerror(errno));
}

/* Each engine, each fault that it can meet; the next trial, on another volume, goes on. */
static void check_all(void **state, enum fault fault)
{
	struct kit *k = *state;
	int uring = kit_has_uring(), fio = access("/usr/bin/fio", X_OK) == 0;
	char *wml;

	if (!can_mount || (fault != FULL && !can_loop))
		skip();
	write_wml(k);
	k->spec.sample_ns = 20 * NS_PER_MS;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if ((rows[i].faults & fault) && (uring || !rows[i].uring) &&
			(fio || !strstr(rows[i].workload, "{fio:")))
			check(k, &rows[i], fault);
	wml = xasprintf("%s.f", k->dir);
	assert_int_equal(unlink(wml), 0);
	free(wml);
}

/* ---- disks ---- */

/* A loop device whose file ends in the middle of it: what lies behind cannot be read. */
static int half_a_disk(char name[64])
{
	static const char *const words[] = {"--find", "--show", "--read-only"};
	char file[] = "/tmp/arraymark-faults-XXXXXX";
	struct proc_result r = {0};
	struct strv argv = {0};
	int fd = mkstemp(file);
	struct err e;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 8 << 20), 0);
	strv_add(&argv, fs_find_program("losetup"));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		strv_add(&argv, words[i]);
	strv_add(&argv, file);
	assert_ok(proc_run(&argv, 60000, &r, &e), e);
	assert_ok(proc_check(&argv, &r, &e), e);
	snprintf(name, 64, "%.*s", (int)strcspn(buf_str(&r.out), "\n"), buf_str(&r.out));
	assert_int_equal(ftruncate(fd, 4 << 20), 0);
	close(fd);
	unlink(file);
	proc_result_free(&r);
	strv_free(&argv);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	run_program((const char *const[]){"losetup", "--detach", name, NULL}); /* when it is closed */
	return fd;
}

static void a_disk_that_cannot_be_read_in_a_place(void **state)
{
	struct kit *k = *state;
	struct trial t = {.k = k, .fault = DEAD, .broken = 1};
	char name[64];
	int ends[2], disk;

	if (!can_loop)
		skip();
	kit_plan(k, "  s: {disk-scan: {span: 1M, block-size: 64K}}\n");
	disk = half_a_disk(name);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_ok(fds_send(ends[0], &disk, 1, &k->e), k->e);
	k->disks_fd = ends[1];
	strv_add(&k->spec.disks, name);
	assert_ok(run_trial(k, 0, &t), k->e); /* the places that can be read are told all the same */
	/* The whole of the outer and of the shared place, half of the middle one. */
	assert_int_equal(k->r->bytes, (2 << 20) + (512 << 10));
	assert_int_equal(k->r->errors, 8 + 16);
	assert_int_equal(k->r->detail.parts[0].errors, 8 + 16);
	assert_has(k->r->detail.notes[0].text, "cannot be read at byte 4194304: Input/output error (EIO)");
	strv_free(&k->spec.disks);
	close(disk);
	close(ends[0]);
	close(ends[1]);
}

static void a_volume_that_gets_full(void **state)
{
	check_all(state, FULL);
}

static void a_volume_that_dies(void **state)
{
	check_all(state, DEAD);
}

static void a_volume_that_turns_read_only(void **state)
{
	check_all(state, READ_ONLY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_disk_that_cannot_be_read_in_a_place, kit_open, kit_close),
		cmocka_unit_test_setup_teardown(a_volume_that_gets_full, kit_open, kit_close),
		cmocka_unit_test_setup_teardown(a_volume_that_dies, kit_open, kit_close),
		cmocka_unit_test_setup_teardown(a_volume_that_turns_read_only, kit_open, kit_close),
	};

	can_mount = unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	if (!can_mount)
		print_message("SKIP: volumes of its own need root\n");
	can_loop = can_mount && fs_find_program("mkfs.ext4") && fs_find_program("losetup") &&
		   access("/dev/loop-control", R_OK | W_OK) == 0;
	if (can_mount && !can_loop)
		print_message("SKIP: a disk of its own needs mkfs.ext4 and loop devices\n");
	return cmocka_run_group_tests(
		tests, can_loop ? make_image : NULL, can_loop ? remove_image : NULL);
}
