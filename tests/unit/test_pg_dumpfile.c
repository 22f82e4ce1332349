/*
 * Dumps that a restore takes, before any program sees them; custom archives are looked at by pg_restore
 * (tests/e2e/workload-pg.t). The texts are in the shape of versions 9.6 to 18.
 */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "agent/workload/pg_dumpfile.h"
#include "agent/workload/pg_shape.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define HEAD "--\n-- PostgreSQL database dump\n--\n\n-- Dumped by pg_dump version 15.18\n\n"
#define ALL_HEAD "--\n-- PostgreSQL database cluster dump\n--\n\n"
#define COPY "COPY public.ports (id, name) FROM stdin;\n1\tone\n2\ttwo\n"
#define END "--\n-- PostgreSQL database dump complete\n--\n\n"
#define ALL_END "--\n-- PostgreSQL database cluster dump complete\n--\n\n"

struct opened {
	char *path;
	struct work_pg w;
	struct pg_cluster cluster;
	struct pg_dumpfile dump;
};

/* middle: how many lines of data are put between the two texts. */
static int open_dump(struct opened *o, const char *begin, unsigned middle, const char *end,
	struct err *e)
{
	struct buf text = {0};
	struct err written;

	buf_add(&text, begin, strlen(begin));
	for (unsigned i = 0; i < middle; i++)
		buf_addf(&text, "%u\tsome data of that row\n", i);
	buf_add(&text, end, strlen(end));
	*o = (struct opened){.path = xasprintf("/tmp/test-dump-%d.sql", (int)getpid())};
	assert_ok(fs_write_file(o->path, text.data, text.len, 0600, &written), written);
	buf_free(&text);
	o->w.dump = o->path;
	o->w.jobs = 1;
	o->cluster = (struct pg_cluster){.w = &o->w,
		.programs = {.version = (char *)"15.18", .major = 15}};
	return pg_dumpfile_open(&o->dump, &o->cluster, e);
}

static void close_dump(struct opened *o)
{
	pg_dumpfile_close(&o->dump);
	unlink(o->path);
	free(o->path);
}

struct script {
	const char *begin;
	unsigned middle;
	const char *end;
	const char *said; /* part of the error; NULL: it is whole */
};

static const struct script scripts[] = {
	{HEAD COPY "\\.\n", 0, END, NULL},
	{HEAD COPY, 200000, "\\.\n\n" END, NULL},
	{HEAD COPY "\\.\n", 0, END "\\unrestrict abcDEF123\n\n", NULL},
	{ALL_HEAD HEAD COPY "\\.\n" END, 0, ALL_END, NULL},
	{HEAD COPY, 0, "", "is cut off: a plain dump ends with the line '-- PostgreSQL database dump complete'"},
	{HEAD COPY, 200000, "", "is cut off"},
	{HEAD COPY "\\.\n", 0, "--\n-- PostgreSQL database dump compl", "is cut off"},
	/* one database of several is whole */
	{ALL_HEAD HEAD COPY "\\.\n", 0, END, "ends with the line '-- PostgreSQL database cluster dump complete'"},
	{HEAD END COPY, 200000, "", "is cut off"},
	{"", 0, "", "it is empty"},
	{"create table a ();\n", 0, "", "is not a dump"},
};

static void plain_dumps_must_be_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		const struct script *s = &scripts[i];
		struct err e = {0};
		struct opened o;

		if (open_dump(&o, s->begin, s->middle, s->end, &e) != (s->said ? -1 : 0))
			fail_msg("script %zu: %s", i, e.text);
		if (s->said && (e.code != ERR_INPUT || !strstr(e.text, s->said)))
			fail_msg("script %zu says: %s", i, e.text);
		if (!s->said)
			assert_int_equal(o.dump.format, PG_FORMAT_PLAIN);
		close_dump(&o);
	}
}

/* Opened again, as the plan names another hash; in a dry run, too. */
static void another_file_is_told_before_its_shape(void **state)
{
	static const char *const begins[] = {"", "create table a ();\n", HEAD COPY, HEAD COPY END};
	char other[65];

	(void)state;
	memset(other, 'a', sizeof(other) - 1);
	other[sizeof(other) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		for (int is_dry = 0; is_dry < 2; is_dry++) {
			struct workload_preview to = {0};
			struct workload_order order = {.preview = is_dry ? &to : NULL};
			struct err e = {0};
			struct opened o;
			int rc;

			open_dump(&o, begins[i], 0, "", &e);
			pg_dumpfile_close(&o.dump);
			o.w.sha256 = other;
			o.cluster.order = &order;
			rc = pg_dumpfile_open(&o.dump, &o.cluster, &e);
			/* a dry run does not read what looks right */
			assert_int_equal(rc, is_dry && i > 1 ? 0 : -1);
			if (rc)
				assert_has(e.text, "is not the dump of the plan: its SHA-256 is ");
			if (is_dry && i == 1)
				assert_has(e.text, "is not a dump");
			close_dump(&o);
		}
}

#define TAR_BLOCK 512

/* The head of a tar's first member, as far as it is looked at, then blocks of `fill`, then zeros. */
static void make_tar(struct buf *out, const char *member, unsigned blocks, unsigned zeros)
{
	char block[TAR_BLOCK] = {0};

	memcpy(block, member, strlen(member));
	memcpy(block + 257, "ustar", strlen("ustar"));
	buf_add(out, block, sizeof(block));
	memset(block, 'x', sizeof(block));
	for (unsigned i = 0; i < blocks; i++)
		buf_add(out, block, sizeof(block));
	memset(block, 0, sizeof(block));
	for (; zeros; zeros -= zeros < sizeof(block) ? zeros : sizeof(block))
		buf_add(out, block, zeros < sizeof(block) ? zeros : sizeof(block));
}

static void tars_are_known_and_must_be_whole(void **state)
{
	static const struct {
		const char *member;
		unsigned blocks, zeros;
		const char *said;
	} cases[] = {
		{"toc.dat", 3, 1024, NULL},
		{"toc.dat", 5000, 1024, NULL},
		{"toc.dat", 5000, 0, "is cut off: a tar ends with two blocks of zeros"},
		{"toc.dat", 5000, 512, "is cut off"},
		{"toc.dat", 5000, 1023, "is cut off"},
		{"photos/1.jpg", 3, 1024, "is not a dump"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum pg_format format = PG_FORMAT_AUTO;
		struct pg_ends ends = {0};
		struct buf tar = {0};
		struct err e = {0};
		int status;

		make_tar(&tar, cases[i].member, cases[i].blocks, cases[i].zeros);
		for (size_t at = 0; at < tar.len; at += 3000)
			pg_ends_add(&ends, tar.data + at, tar.len - at < 3000 ? tar.len - at : 3000);
		status = pg_shape_of_file(&ends, "a.tar", &format, &e) ||
			 pg_shape_is_whole(format, &ends, "a.tar", &e);
		assert_int_equal(status, cases[i].said != NULL);
		if (cases[i].said)
			assert_non_null(strstr(e.text, cases[i].said));
		else
			assert_int_equal(format, PG_FORMAT_TAR);
		buf_free(&tar);
	}
}

static void rows_in_a_folder_must_be_whole(void **state)
{
	static const struct {
		const char *name, *text;
		int is_whole;
	} cases[] = {
		{"3347.dat", "1\tone\n\\.\n\n\n", 1},
		{"3347.dat", "INSERT INTO a VALUES (1);\n\n\n", 1},
		{"3347.dat", "\\.\n\n\n", 1},
		{"3347.dat", "1\tone\n2\tt", 0},
		{"3347.dat", "1\tone\n", 0},
		{"3347.dat", "1\tone\n\\.\n\n", 0},
		{"3347.dat", "", 0},
		{"blob_3347.dat", "ab", 1}, /* anything */
		{"blobs.toc", "3347 blob_3347.dat\n", 1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *path = xasprintf("/srv/dump/%s", cases[i].name);
		struct pg_ends ends = {0};
		struct err e = {0};

		pg_ends_add(&ends, cases[i].text, strlen(cases[i].text));
		assert_int_equal(!pg_shape_part_is_whole(path, &ends, &e), cases[i].is_whole);
		if (!cases[i].is_whole)
			assert_non_null(strstr(e.text, "/srv/dump/3347.dat is cut off: "));
		free(path);
	}
}

/* Where the host has zstd, which PostgreSQL 16 and later compress with. */
static void a_compressed_part_must_be_whole(void **state)
{
	const char *zstd = fs_find_program("zstd");
	char *path = xasprintf("/tmp/test-part-%d.dat", (int)getpid()), *packed = xasprintf("%s.zst", path);
	struct strv argv = {0};
	struct pg_ends ends = {0};
	struct err e = {0};

	(void)state;
	if (zstd) {
		assert_ok(fs_write_file(path, END END END, strlen(END END END), 0600, &e), e);
		strv_add_all(&argv, (const char *const[]){zstd, "-q", path, NULL});
		assert_ok(proc_run_ok(&argv, 0, NULL, &e), e);
		assert_ok(pg_shape_part_is_whole(packed, &ends, &e), e);
		assert_int_equal(truncate(packed, 30), 0);
		assert_int_equal(pg_shape_part_is_whole(packed, &ends, &e), -1);
		assert_non_null(strstr(e.text, ".zst is cut off: "));
		unlink(path);
		unlink(packed);
	}
	strv_free(&argv);
	free(packed);
	free(path);
	if (!zstd)
		skip();
}

static void a_change_after_the_hash_is_seen(void **state)
{
	struct err e = {0};
	struct opened o;

	(void)state;
	assert_ok(open_dump(&o, HEAD COPY "\\.\n", 0, END, &e), e);
	assert_ok(pg_dumpfile_is_same(&o.dump, &e), e);
	assert_ok(fs_write_file(o.path, HEAD END, strlen(HEAD END), 0600, &e), e);
	assert_int_equal(pg_dumpfile_is_same(&o.dump, &e), -1);
	assert_non_null(strstr(e.text, "was changed during the trial"));
	unlink(o.path);
	assert_int_equal(pg_dumpfile_is_same(&o.dump, &e), -1);
	close_dump(&o);
}

/* 2^31 times 16 MiB is 32 PiB. */
static void a_made_dump_needs_room(void **state)
{
	struct work_pg w = {.scale = 0};
	struct err e = {0};

	(void)state;
	assert_ok(pg_dumpfile_room(&w, "/tmp", &e), e);
	w = (struct work_pg){.scale = 1u << 31, .format = PG_FORMAT_PLAIN};
	assert_int_equal(pg_dumpfile_room(&w, "/tmp", &e), -1);
	assert_int_equal(e.code, ERR_FULL);
	assert_non_null(strstr(e.text, "may take 32 PiB, and /tmp has "));
	w.format = PG_FORMAT_TAR; /* not compressed either */
	assert_int_equal(pg_dumpfile_room(&w, "/tmp", &e), -1);
	assert_non_null(strstr(e.text, "may take 32 PiB, and /tmp has "));
}

static int open_input(const char *path, struct err *e)
{
	int fd = -1;

	if (pg_input_open(path, "dump", &fd, e))
		return -1;
	close(fd);
	return 0;
}

/* Of some devices already the opening is an act: a tape is wound, a watchdog begins to watch. */
static void devices_are_not_opened(void **state)
{
	char home[] = "/tmp/test-input-XXXXXX";
	char *link, *fifo;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(home));
	link = xasprintf("%s/link", home);
	fifo = xasprintf("%s/fifo", home);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(open_input(link, &e), -1);
	assert_has(e.text, "is neither a file nor a folder");
	assert_int_equal(open_input(fifo, &e), -1);
	assert_has(e.text, "is neither a file nor a folder");
	assert_ok(open_input(home, &e), e);
	assert_ok(fs_remove_tree(home, &e), e);
	assert_int_equal(open_input(link, &e), -1);
	assert_has(e.text, "there is no dump");
	free(link);
	free(fifo);
}

/* As a dry run looks, which is root's, for a worker, which isn't. */
static void rights_that_are_lent_are_the_users(void **state)
{
	const struct spawn_user nobody = {.drop = 1, .uid = 65534, .gid = 65534};
	char path[] = "/tmp/test-input-XXXXXX";
	int fd = mkstemp(path);
	struct strv argv = {0};
	struct buf out = {0};
	struct spawn_lent lent;
	struct err e;

	(void)state;
	close(fd);
	if (geteuid() != 0) {
		unlink(path);
		skip();
	}
	assert_ok(spawn_lend(&nobody, &lent, &e), e);
	fd = open_input(path, &e);
	strv_add_all(&argv, (const char *const[]){"/usr/bin/id", "-r", "-u", NULL});
	if (proc_run_ok(&argv, 20000, &out, &e))
		buf_addf(&out, "%s", e.text);
	spawn_take_back(&lent);
	assert_int_equal(fd, -1);
	assert_string_equal(buf_str(&out), "65534\n");
	assert_ok(open_input(path, &e), e);
	assert_int_equal(chmod(path, 0644), 0);
	assert_ok(spawn_lend(&nobody, &lent, &e), e);
	fd = open_input(path, &e);
	spawn_take_back(&lent);
	assert_int_equal(fd, 0);
	assert_int_equal(getuid() + geteuid() + getgid(), 0);
	strv_free(&argv);
	buf_free(&out);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_dumps_must_be_whole),
		cmocka_unit_test(another_file_is_told_before_its_shape),
		cmocka_unit_test(tars_are_known_and_must_be_whole),
		cmocka_unit_test(rows_in_a_folder_must_be_whole),
		cmocka_unit_test(a_compressed_part_must_be_whole),
		cmocka_unit_test(a_made_dump_needs_room),
		cmocka_unit_test(a_change_after_the_hash_is_seen),
		cmocka_unit_test(devices_are_not_opened),
		cmocka_unit_test(rights_that_are_lent_are_the_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
