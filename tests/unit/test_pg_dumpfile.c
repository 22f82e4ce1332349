/*
 * Dumps that a restore takes, before any program sees them. Plain ones only: archives are looked at by
 * pg_restore (tests/e2e/workload-pg.t). The texts are in the shape of versions 9.6 to 18.
 */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <unistd.h>

#include "agent/workload/pg_dumpfile.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_dumps_must_be_whole),
		cmocka_unit_test(a_made_dump_needs_room),
		cmocka_unit_test(a_change_after_the_hash_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
