/* Shapes of dumps. Owns nothing. */
#include "agent/workload/pg_shape.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/workload/pg_cluster.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define TAR_BLOCK 512
#define TAR_END (2 * TAR_BLOCK) /* zeros */
#define TAR_MAGIC_AT 257

void pg_ends_add(struct pg_ends *ends, const char *chunk, size_t n)
{
	size_t room = PG_HEAD_BYTES - ends->head_len, first = n < room ? n : room;
	size_t take = n < PG_TAIL_BYTES ? n : PG_TAIL_BYTES;
	size_t keep = PG_TAIL_BYTES - take;

	if (ends->bytes == ends->head_len) {
		memcpy(ends->head + ends->head_len, chunk, first);
		ends->head_len += first;
		ends->head[ends->head_len] = '\0';
	}
	if (keep > ends->tail_len)
		keep = ends->tail_len;
	memmove(ends->tail, ends->tail + ends->tail_len - keep, keep);
	memcpy(ends->tail + keep, chunk + n - take, take);
	ends->tail_len = keep + take;
	ends->tail[ends->tail_len] = '\0';
	ends->bytes += n;
}

/* "PGDMP" begins a custom archive, the member toc.dat a tar; plain ones are text. */
int pg_shape_of_file(const struct pg_ends *ends, const char *shown, enum pg_format *ret,
	struct err *e)
{
	if (ends->bytes == 0)
		return err_set(e, ERR_INPUT, "%s is not a dump: it is empty", shown);
	if (ends->head_len >= 5 && !memcmp(ends->head, "PGDMP", 5))
		*ret = PG_FORMAT_CUSTOM;
	else if (ends->head_len >= TAR_BLOCK && !memcmp(ends->head + TAR_MAGIC_AT, "ustar", 5) &&
		 !strcmp(ends->head, "toc.dat"))
		*ret = PG_FORMAT_TAR;
	else if (memchr(ends->head, '\0', ends->head_len) || !strstr(ends->head, "PostgreSQL database"))
		return err_set(e, ERR_INPUT,
			"%s is not a dump: it begins neither with PGDMP (pg_dump -Fc), nor with toc.dat "
			"(-Ft), nor with the words of a plain one; what is compressed must be unpacked "
			"first",
			shown);
	else
		*ret = PG_FORMAT_PLAIN;
	return 0;
}

int pg_shape_of_folder(const char *path, const char *shown, struct err *e)
{
	char *toc = xasprintf("%s/toc.dat", path);
	int rc = access(toc, R_OK);

	free(toc);
	return rc ? err_set(e, ERR_INPUT,
			    "%s is not a dump: the folder that pg_dump -Fd makes has a toc.dat", shown)
		  : 0;
}

/* psql runs what there is of a script and ends well: a COPY whose data break off ends with the file.
 * Only the closing comment shows that nothing is missing; lines may follow it (\unrestrict, since the
 * releases of August 2025). That of a whole cluster has each database's in its middle. */
static int script_is_closed(const struct pg_ends *ends, const char *shown, struct err *e)
{
	const char *closing = strstr(ends->head, "-- PostgreSQL database cluster dump")
		? "\n-- PostgreSQL database cluster dump complete"
		: "\n-- PostgreSQL database dump complete";

	if (memmem(ends->tail, ends->tail_len, closing, strlen(closing)))
		return 0;
	return err_set(e, ERR_INPUT,
		"%s is cut off: a plain dump ends with the line '%s'; copy it again, or make it again",
		shown, closing + 1);
}

static int tar_is_closed(const struct pg_ends *ends, const char *shown, struct err *e)
{
	static const char zeros[TAR_END];

	if (ends->bytes % TAR_BLOCK == 0 && ends->tail_len >= TAR_END &&
		!memcmp(ends->tail + ends->tail_len - TAR_END, zeros, TAR_END))
		return 0;
	return err_set(e, ERR_INPUT,
		"%s is cut off: a tar ends with two blocks of zeros; copy it again, or make it again",
		shown);
}

int pg_shape_is_whole(enum pg_format format, const struct pg_ends *ends, const char *shown,
	struct err *e)
{
	if (format == PG_FORMAT_PLAIN)
		return script_is_closed(ends, shown, e);
	return format == PG_FORMAT_TAR ? tar_is_closed(ends, shown, e) : 0;
}

/* ---- one file of a folder ---- */

static int cut_off(const char *path, const char *how, struct err *e)
{
	return err_set(e, ERR_INPUT, "%s is cut off: %s; copy the dump again, or make it again", path,
		how);
}

/* Of these pg_restore takes the end of the file for the end of its data, wherever that is; not so of
 * what gzip made. */
static int stream_is_whole(const char *name, const char *path, struct err *e)
{
	const char *program = fs_find_program(name);
	struct strv argv = {0};
	struct err why;
	int status;

	if (!program)
		return 0;
	strv_add_all(&argv, (const char *const[]){program, "-t", path, NULL});
	status = proc_run_ok(&argv, PG_LONG_MS, NULL, &why);
	strv_free(&argv);
	return status ? cut_off(path, why.text, e) : 0;
}

/* "NUMBER.dat": rows of a table, as COPY or as INSERTs; either ends with two empty lines. pg_restore ends
 * well without them, and without whatever else is missing. */
static int rows_are_whole(const char *path, const struct pg_ends *ends, struct err *e)
{
	static const char closing[] = "\n\n\n";
	size_t len = strlen(closing);

	if (ends->tail_len >= len && !memcmp(ends->tail + ends->tail_len - len, closing, len))
		return 0;
	return cut_off(path, "a table's rows end with two empty lines", e);
}

int pg_shape_part_is_whole(const char *path, const struct pg_ends *ends, struct err *e)
{
	static const struct {
		const char *suffix, *program;
	} packed[] = {{".lz4", "lz4"}, {".zst", "zstd"}};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *suffix = strrchr(name, '.');

	for (size_t i = 0; suffix && i < ARRAY_LEN(packed); i++)
		if (!strcmp(suffix, packed[i].suffix))
			return stream_is_whole(packed[i].program, path, e);
	if (strspn(name, "0123456789") > 0 && !strcmp(name + strspn(name, "0123456789"), ".dat"))
		return rows_are_whole(path, ends, e);
	return 0;
}
