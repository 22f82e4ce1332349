/*
 * Making, copying and bringing back a store. Owns its connections for the time of a call.
 * Invariant: a file appears under its final name only when it is whole and on the disk, and none
 * that is there is ever replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "coordinator/store/db.h"
#include "coordinator/store/schema.h"
#include "coordinator/store/store.h"

#define BUSY_TRIES 100

static int refuse_existing(const char *path, struct err *e)
{
	if (access(path, F_OK) == 0)
		return err_set(e, ERR_EXISTS, "%s: is already there: move it away first", path);
	return 0;
}

static int sync_path(const char *path, int flags, struct err *e)
{
	int fd = open(path, flags | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return err_sys(e, "%s", path);
	rc = fsync(fd);
	close(fd);
	return rc == 0 ? 0 : err_sys(e, "%s: fsync", path);
}

static int sync_folder_of(const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char *folder =
		slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
	int rc = sync_path(folder, O_RDONLY | O_DIRECTORY, e);

	free(folder);
	return rc;
}

/* The finished file gets its name; link() does not replace. */
static int publish(const char *from, const char *to, struct err *e)
{
	if (sync_path(from, O_RDONLY, e) != 0)
		return -1;
	if (link(from, to) != 0)
		return errno == EEXIST ? refuse_existing(to, e) : err_sys(e, "%s", to);
	unlink(from);
	return sync_folder_of(to, e);
}

static char *partial_name(const char *path)
{
	return xasprintf("%s.part", path);
}

/* A leftover of a call that was interrupted; its companions too. */
static void remove_partial(const char *part)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		char *path = xasprintf("%s%s", part, ends[i]);

		unlink(path);
		free(path);
	}
}

int store_create(const char *path, struct err *e)
{
	char *part = partial_name(path), epoch[33];
	struct db *db = NULL;
	int rc = -1;

	if (refuse_existing(path, e) != 0)
		goto out;
	remove_partial(part);
	if (db_open(part, DB_CREATE, &db, e) != 0)
		goto out;
	if (schema_migrate(db, e) == 0 && schema_new_epoch(db, NULL, epoch, e) == 0)
		rc = 0;
	db_close(db);
	if (rc == 0)
		rc = publish(part, path, e);
	if (rc != 0)
		remove_partial(part);
out:
	free(part);
	return rc;
}

/* All pages in one step: stepwise, a copy starts over whenever someone writes. */
static int copy_pages(struct db *from, struct db *to, struct err *e)
{
	sqlite3_backup *b = sqlite3_backup_init(db_handle(to), "main", db_handle(from), "main");
	int rc = SQLITE_BUSY;

	if (!b)
		return db_error(to, "copy", e);
	for (int i = 0; i < BUSY_TRIES && (rc == SQLITE_BUSY || rc == SQLITE_LOCKED); i++) {
		rc = sqlite3_backup_step(b, -1);
		if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			sqlite3_sleep(50);
	}
	sqlite3_backup_finish(b);
	return rc == SQLITE_DONE ? 0 : db_error(to, "copy", e);
}

/* The copy is an ordinary file without companions when this returns. */
static int copy_store(const char *from, const char *part, struct err *e)
{
	struct db *source, *copy;
	int rc = -1;

	if (db_open(from, DB_READ, &source, e) != 0)
		return -1;
	db_set_wait(source, 5000);
	remove_partial(part);
	if (schema_verify(source, e) == 0 && db_open(part, DB_COPY, &copy, e) == 0) {
		rc = copy_pages(source, copy, e);
		db_close(copy);
	}
	db_close(source);
	return rc;
}

int store_backup(const char *path, const char *to, struct err *e)
{
	char *part = partial_name(to);
	int rc = refuse_existing(to, e);

	if (rc == 0) {
		rc = copy_store(path, part, e);
		if (rc == 0)
			rc = publish(part, to, e);
		if (rc != 0)
			remove_partial(part);
	}
	free(part);
	return rc;
}

/* What came after the backup is not in it: its batches must not be taken for those of this store,
 * and tokens that were used since must not work again. */
static int start_anew(const char *part, struct err *e)
{
	char old[33], epoch[33];
	struct db *db;
	int rc;

	if (db_open(part, DB_WRITE, &db, e) != 0)
		return -1;
	rc = schema_migrate(db, e);
	if (rc == 0)
		rc = DB_RUN(db, e,
			"UPDATE tokens SET revoked_ns = max(created_ns, 1)"
			" WHERE used_ns = 0 AND revoked_ns = 0");
	if (rc == 0)
		rc = schema_epoch(db, old, e);
	if (rc == 0)
		rc = schema_new_epoch(db, old, epoch, e);
	db_close(db);
	return rc;
}

int store_restore(const char *backup, const char *path, struct err *e)
{
	char *part = partial_name(path);
	struct strv findings = {0};
	int rc = refuse_existing(path, e);

	if (rc == 0) {
		rc = copy_store(backup, part, e);
		if (rc == 0 && store_check(part, &findings, e) != 0)
			rc = err_prefix(e, "%s: is damaged and was not restored", backup);
		if (rc == 0)
			rc = start_anew(part, e);
		if (rc == 0)
			rc = publish(part, path, e);
		if (rc != 0)
			remove_partial(part);
	}
	strv_free(&findings);
	free(part);
	return rc;
}
