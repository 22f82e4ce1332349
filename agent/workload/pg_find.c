/*
 * Finding PostgreSQL: Debian keeps one folder a version, so does the PostgreSQL project's own
 * repository for RPM systems; elsewhere pg_config knows. Owns nothing.
 */
#include "agent/workload/pg_find.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define ASK_MS 20000

static const char *const system_patterns[] = {
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", NULL};

unsigned pg_major(const char *version)
{
	char *end;
	unsigned long first = strtoul(version, &end, 10);

	if (end == version || first > 1000)
		return 0;
	if (first < 10 && *end == '.')
		return (unsigned)first * 100 + (unsigned)strtoul(end + 1, NULL, 10);
	return (unsigned)first;
}

void pg_programs_clear(struct pg_programs *p)
{
	free(p->bin);
	free(p->version);
	*p = (struct pg_programs){0};
}

/* Compares number by number: 15.9 < 15.18 < 16beta1 < 16.0. */
static int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		char *end_a, *end_b;
		unsigned long x = strtoul(a, &end_a, 10), y = strtoul(b, &end_b, 10);

		if (x != y)
			return x < y ? -1 : 1;
		if (*end_a != *end_b)
			return isalpha((unsigned char)*end_a) ? -1 :
			       isalpha((unsigned char)*end_b) ? 1 :
			       *end_a ? 1 : -1;
		if (end_a == a || end_b == b) /* words after the number: no order among them */
			return strcmp(a, b);
		a = *end_a ? end_a + 1 : end_a;
		b = *end_b ? end_b + 1 : end_b;
	}
	return 0;
}

/* "15" fits 15.18 and 15beta1, not 150. */
static int version_fits(const char *version, const char *wanted)
{
	size_t len = wanted ? strlen(wanted) : 0;

	return !len || (!strncmp(version, wanted, len) && !isdigit((unsigned char)version[len]));
}

/* "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)" -> "15.18"; NULL: something else. */
static char *ask_version(const char *bin)
{
	struct strv argv = {0};
	struct buf out = {0};
	const char *at;
	char *version = NULL;
	struct err ignored;

	strv_addf(&argv, "%s/postgres", bin);
	strv_add(&argv, "--version");
	if (!access(argv.v[0], X_OK) && !proc_run_ok(&argv, ASK_MS, &out, &ignored) &&
		(at = strstr(buf_str(&out), ") ")) && isdigit((unsigned char)at[2]))
		version = xstrndup(at + 2, strcspn(at + 2, " \n"));
	strv_free(&argv);
	buf_free(&out);
	return version;
}

/* Takes the folder if it is the newest one that fits; `seen` gets what is there at all. */
static void consider(const char *bin, const char *wanted, struct pg_programs *best, struct buf *seen)
{
	char *version = ask_version(bin);

	if (!version)
		return;
	buf_addf(seen, "%s%s in %s", seen->len ? ", " : "", version, bin);
	if (!version_fits(version, wanted) ||
		(best->version && version_compare(version, best->version) <= 0)) {
		free(version);
		return;
	}
	pg_programs_clear(best);
	best->bin = xstrdup(bin);
	best->version = version;
	best->major = pg_major(version);
}

static int found(const char *wanted, struct pg_programs *best, const struct buf *seen,
	struct pg_programs *ret, struct err *e)
{
	if (best->bin) {
		*ret = *best;
		return 0;
	}
	if (seen->len)
		return err_set(e, ERR_NOTFOUND,
			"PostgreSQL %s is not installed here: there is %s (leave 'version' out for "
			"the newest)",
			wanted, seen->data);
	return err_set(e, ERR_NOTFOUND,
		"no PostgreSQL server is installed here: install it (Debian: apt-get install "
		"postgresql; RHEL: dnf install postgresql-server postgresql-contrib); no system "
		"cluster is needed");
}

static void consider_globs(const char *const *patterns, const char *wanted,
	struct pg_programs *best, struct buf *seen)
{
	for (size_t i = 0; patterns[i]; i++) {
		glob_t g = {0};

		if (glob(patterns[i], 0, NULL, &g) == 0)
			for (size_t k = 0; k < g.gl_pathc; k++)
				consider(g.gl_pathv[k], wanted, best, seen);
		globfree(&g);
	}
}

int pg_find_in(const char *const *patterns, const char *version, struct pg_programs *ret,
	struct err *e)
{
	struct pg_programs best = {0};
	struct buf seen = {0};
	int status;

	consider_globs(patterns, version, &best, &seen);
	status = found(version, &best, &seen, ret, e);
	buf_free(&seen);
	return status;
}

/* Where the system's pg_config says the programs are; NULL: no pg_config. */
static char *ask_pg_config(void)
{
	const char *program = fs_find_program("pg_config");
	struct strv argv = {0};
	struct buf out = {0};
	char *bin = NULL;
	struct err ignored;

	if (!program)
		return NULL;
	strv_add(&argv, program);
	strv_add(&argv, "--bindir");
	if (!proc_run_ok(&argv, ASK_MS, &out, &ignored) && *buf_str(&out) == '/')
		bin = xstrndup(out.data, strcspn(out.data, "\n"));
	strv_free(&argv);
	buf_free(&out);
	return bin;
}

int pg_find(const char *version, struct pg_programs *ret, struct err *e)
{
	struct pg_programs best = {0};
	struct buf seen = {0};
	char *bin;
	int status;

	consider_globs(system_patterns, version, &best, &seen);
	bin = best.bin ? NULL : ask_pg_config();
	if (bin && !strstr(buf_str(&seen), bin))
		consider(bin, version, &best, &seen);
	free(bin);
	status = found(version, &best, &seen, ret, e);
	buf_free(&seen);
	return status;
}

int pg_program(const struct pg_programs *p, const char *name, struct strv *argv, struct err *e)
{
	char *path = xasprintf("%s/%s", p->bin, name);

	if (access(path, X_OK)) {
		err_set(e, ERR_NOTFOUND,
			"there is no %s: install the rest of PostgreSQL %s (client programs and "
			"contrib)",
			path, p->version);
		free(path);
		return -1;
	}
	strv_add_owned(argv, path);
	return 0;
}
