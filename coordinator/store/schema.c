/*
 * The schema as an append-only list of steps. Owns the table definitions.
 * Invariant: user_version is the number of steps applied; a step that was released is never edited.
 *
 * A unit, trial or step is known by (job, attempt, …): a stream of records belongs to one attempt
 * of one job. Batches hold the records as they came and are the only place where samples are.
 */
#include "coordinator/store/schema.h"

#include <stdio.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "proto/msg.h"

#define APPLICATION_ID 0x414d6b4b /* "AMkK" */

#define INT(name) name " INTEGER NOT NULL CHECK (typeof(" name ") = 'integer')"
#define INT0(name) name " INTEGER NOT NULL DEFAULT 0 CHECK (typeof(" name ") = 'integer')"
#define TEXT(name) name " TEXT NOT NULL CHECK (typeof(" name ") = 'text')"
#define TEXT0(name) name " TEXT NOT NULL DEFAULT '' CHECK (typeof(" name ") = 'text')"
#define BLOB(name) name " BLOB NOT NULL CHECK (typeof(" name ") = 'blob')"
#define BLOB_OR_NULL(name) name " BLOB CHECK (typeof(" name ") IN ('blob', 'null'))"
#define TEXT_OR_NULL(name) name " TEXT CHECK (typeof(" name ") IN ('text', 'null'))"

/* clang-format off */
static const char tables_of_runs[] =
	"CREATE TABLE meta ("
	TEXT("key") " PRIMARY KEY, " TEXT("value") ") WITHOUT ROWID;"
	"CREATE TABLE plans ("
	TEXT("sha256") " PRIMARY KEY, " TEXT("text") ");"
	"CREATE TABLE runs ("
	"run INTEGER PRIMARY KEY AUTOINCREMENT, " TEXT("name") ", "
	TEXT("plan_sha256") " REFERENCES plans(sha256), " TEXT("sets") ", " INT("seed") ", "
	INT("blocks") ", " INT("units") ", " INT("layouts") ", " INT("workloads") ", "
	TEXT("design") ", " TEXT("user") ", " TEXT("tool_version") ", " INT("state") ", "
	INT("created_ns") ", " INT0("started_ns") ", " INT0("finished_ns") ");"
	"CREATE INDEX runs_name ON runs(name, run);"
	"CREATE TABLE jobs ("
	"job INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL REFERENCES runs(run), "
	TEXT("host") ", " TEXT("tag") ", " TEXT("disks") ", " INT("state") ", " TEXT0("why") ", "
	INT0("attempt") ", " INT0("resumed") ", UNIQUE (run, host));"
	"CREATE INDEX jobs_open ON jobs(run, job) WHERE state < 2;"
	"CREATE TABLE attempts ("
	"id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES jobs(job), " INT("attempt") ", "
	INT0("last") ", " INT("state") ", " TEXT0("error") ", " INT("began_ns") ", "
	INT0("ended_ns") ", " TEXT0("agent_version") ", UNIQUE (job, attempt));"
	"CREATE TABLE environments ("
	INT("job") ", " INT("attempt") ", " BLOB("inventory") ", PRIMARY KEY (job, attempt), "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));";

static const char tables_of_records[] =
	"CREATE TABLE batches ("
	"id INTEGER PRIMARY KEY, " INT("job") ", " INT("attempt") ", " INT("first") ", "
	INT("last") " CHECK (last >= first), " INT("lost") ", " BLOB("payload") ", "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));"
	"CREATE UNIQUE INDEX batches_first ON batches(job, attempt, first);"
	"CREATE INDEX batches_lost ON batches(job, attempt, last, first) WHERE lost = 1;"
	"CREATE TABLE units ("
	INT("job") ", " INT("attempt") ", " INT("block") ", " INT("layout") ", "
	INT0("position") ", " INT0("state") ", " TEXT0("error") ", " INT0("superseded") ", "
	INT0("started_ns") ", " INT0("ended_ns") ", PRIMARY KEY (job, attempt, block, layout), "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));"
	"CREATE TABLE volumes ("
	INT("job") ", " INT("attempt") ", " INT("block") ", " INT("layout") ", "
	TEXT("mount") ", " TEXT("identity") ", " TEXT("filesystem") ", " INT("usable_bytes") ", "
	INT("ready_ns") ", PRIMARY KEY (job, attempt, block, layout), "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));"
	"CREATE TABLE steps ("
	"id INTEGER PRIMARY KEY, " INT("job") ", " INT("attempt") ", " INT("block") ", "
	INT("layout") ", " INT("phase") ", " TEXT("what") ", " TEXT("argv") ", "
	INT("elapsed_ns") ", " INT("ok") ", " TEXT("output") ", " INT("at_ns") ", "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));"
	"CREATE INDEX steps_job ON steps(job, id);"
	"CREATE TABLE trials ("
	INT("job") ", " INT("attempt") ", " INT("trial") ", " INT("block") ", " INT("layout") ", "
	INT("workload") ", " INT("repeat") ", " INT0("state") ", " INT0("first_record") ", "
	INT0("last_record") ", " TEXT0("cache") ", " INT0("planned_bytes") ", "
	INT0("started_wall_ns") ", " TEXT_OR_NULL("error") ", " INT0("elapsed_ns") ", "
	INT0("sync_ns") ", " INT0("bytes") ", " INT0("ops") ", " INT0("errors") ", "
	INT0("cpu_user_ns") ", " INT0("cpu_system_ns") ", " INT0("samples") ", "
	INT0("disks") ", " INT0("disk_read_bytes") ", " INT0("disk_write_bytes") ", "
	INT0("disk_read_ops") ", " INT0("disk_write_ops") ", " INT0("disk_busy_ns") ", "
	INT0("host_user_ns") ", " INT0("host_system_ns") ", " INT0("host_idle_ns") ", "
	INT0("host_iowait_ns") ", " INT0("mem_free_bytes") ", " INT0("mem_cached_bytes") ", "
	INT0("arc_bytes") ", " BLOB_OR_NULL("hist") ", PRIMARY KEY (job, attempt, trial), "
	"FOREIGN KEY (job, attempt) REFERENCES attempts(job, attempt));"
	"CREATE INDEX trials_running ON trials(job, attempt) WHERE state = 0;"
	"CREATE TABLE series ("
	INT("job") ", " INT("attempt") ", " INT("trial") ", " INT("points") ", "
	INT("samples") ", " BLOB("data") ", PRIMARY KEY (job, attempt, trial), "
	"FOREIGN KEY (job, attempt, trial) REFERENCES trials(job, attempt, trial));";

static const char tables_of_people[] =
	"CREATE TABLE hosts ("
	TEXT("name") " PRIMARY KEY, " TEXT("tags") " DEFAULT '[]', " INT0("paused") ", "
	INT0("last_seen_ns") ", " BLOB_OR_NULL("inventory") ");"
	"CREATE TABLE tokens ("
	TEXT("id") " PRIMARY KEY, " TEXT("sha256") " UNIQUE, " TEXT("role") ", " TEXT("name") ", "
	INT("created_ns") ", " INT("expires_ns") ", " INT0("revoked_ns") ", " INT0("used_ns") ", "
	TEXT0("key_fingerprint") ", " TEXT0("serial") ", " TEXT_OR_NULL("cert_pem") ");"
	"CREATE TABLE identities ("
	TEXT("serial") " PRIMARY KEY, " TEXT("name") ", " TEXT("role") ", " TEXT("token") ", "
	INT("issued_ns") ", " INT0("revoked_ns") ");"
	"CREATE INDEX identities_name ON identities(name);"
	"CREATE TABLE audit ("
	"id INTEGER PRIMARY KEY, " INT("at_ns") ", " TEXT("what") ", " TEXT("subject") ", "
	TEXT("text") ");";

/* The last block that is wanted, once a precision has decided it (0: not yet), and the unit that an
 * attempt waits to be told about (block 0: none). */
static const char columns_of_until[] =
	"ALTER TABLE jobs ADD COLUMN " INT0("stop_block") ";"
	"ALTER TABLE attempts ADD COLUMN " INT0("await_block") ";"
	"ALTER TABLE attempts ADD COLUMN " INT0("await_layout") ";";
/* clang-format on */

/* What disturbed a trial and what each disk did: a TrialEvidence; null where nothing was told. */
static const char evidence_of_trials[] =
	"ALTER TABLE trials ADD COLUMN " BLOB_OR_NULL("evidence") ";";

/* What a trial tells beside its counters: a TrialDetail; null where nothing was told. */
static const char detail_of_trials[] = "ALTER TABLE trials ADD COLUMN " BLOB_OR_NULL("detail") ";";

/* clang-format off */
/* Runs that came from files: their export lines, each as {"type":TYPE,"run":RUN and the rest. */
static const char tables_of_imports[] =
	"ALTER TABLE runs ADD COLUMN " TEXT0("content_sha256") ";"
	"CREATE INDEX runs_content ON runs(content_sha256) WHERE content_sha256 <> '';"
	"CREATE TABLE imports ("
	"run INTEGER NOT NULL REFERENCES runs(run), " INT("n") ", " TEXT("type") ", " TEXT("host") ", "
	TEXT("rest") ", PRIMARY KEY (run, n));"
	"INSERT OR IGNORE INTO plans(sha256, text) VALUES('', '');";
/* clang-format on */

static const char *const version_1[] = {tables_of_runs, tables_of_records, tables_of_people, NULL};
static const char *const version_2[] = {evidence_of_trials, NULL};
static const char *const version_3[] = {detail_of_trials, NULL};
static const char *const version_4[] = {tables_of_imports, NULL};
static const char *const version_5[] = {columns_of_until, NULL};

/* Step i brings user_version from i to i + 1. Only appended to. */
static const char *const *const steps[] = {version_1, version_2, version_3, version_4, version_5};

static int pragma_int(struct db *db, const char *sql, int64_t *ret, struct err *e)
{
	return DB_QUERY_INT(db, e, 0, ret, sql);
}

/* The file is ours; *ret_version is how many steps it has. Empty files are version 0. */
static int identify(struct db *db, int64_t *ret_version, struct err *e)
{
	int64_t id, version, tables;

	if (pragma_int(db, "PRAGMA application_id", &id, e) != 0 ||
		pragma_int(db, "PRAGMA user_version", &version, e) != 0 ||
		pragma_int(db, "SELECT count(*) FROM sqlite_master", &tables, e) != 0)
		return -1;
	if (id != APPLICATION_ID && (id != 0 || version != 0 || tables != 0))
		return err_set(
			e, ERR_INPUT, "%s: is a database, but no store of arraymark", db_path(db));
	if (version < 0 || version > (int64_t)ARRAY_LEN(steps))
		return err_set(e, ERR_INPUT,
			"%s: has schema %lld, this version knows up to %zu: use the newer "
			"arraymark",
			db_path(db), (long long)version, ARRAY_LEN(steps));
	*ret_version = version;
	return 0;
}

static int apply_step(struct db *db, size_t i, struct err *e)
{
	char mark[96];

	if (db_script(db, "BEGIN IMMEDIATE", e) != 0)
		return -1;
	snprintf(mark, sizeof(mark), "PRAGMA application_id=%d; PRAGMA user_version=%zu; COMMIT;",
		APPLICATION_ID, i + 1);
	for (const char *const *text = steps[i]; *text; text++)
		if (db_script(db, *text, e) != 0)
			goto undo;
	if (db_script(db, mark, e) == 0)
		return 0;
undo:
	sqlite3_exec(db_handle(db), "ROLLBACK", NULL, NULL, NULL);
	return err_prefix(e, "schema step %zu", i + 1);
}

int schema_migrate(struct db *db, struct err *e)
{
	int64_t version;

	if (identify(db, &version, e) != 0)
		return -1;
	for (size_t i = (size_t)version; i < ARRAY_LEN(steps); i++)
		if (apply_step(db, i, e) != 0)
			return -1;
	return 0;
}

int schema_verify(struct db *db, struct err *e)
{
	int64_t version;

	if (identify(db, &version, e) != 0)
		return -1;
	if (version != (int64_t)ARRAY_LEN(steps))
		return err_set(e, ERR_INPUT,
			"%s: has schema %lld, this version wants %zu: "
			"start the coordinator once, it brings the store up to date",
			db_path(db), (long long)version, ARRAY_LEN(steps));
	return 0;
}

int schema_new_epoch(struct db *db, const char *from, char epoch[33], struct err *e)
{
	unsigned char drawn[16];
	char hex[33];

	fs_random(drawn, sizeof(drawn));
	fs_hex(drawn, sizeof(drawn), hex);
	if (from)
		memcpy(hex, from, MSG_EPOCH_KIN);
	if (DB_RUN(db, e, "INSERT OR REPLACE INTO meta(key, value) VALUES('epoch', ?1)",
		    db_text(hex)) != 0)
		return -1;
	memcpy(epoch, hex, sizeof(hex));
	return 0;
}

int schema_epoch(struct db *db, char epoch[33], struct err *e)
{
	sqlite3_stmt *row;
	int more;

	if (DB_QUERY(db, &row, e, "SELECT value FROM meta WHERE key = 'epoch'") != 0)
		return -1;
	more = db_next(db, row, e);
	if (more < 0)
		return -1;
	if (more == 0 || strlen(db_get_text(row, 0)) != 32) {
		db_done(row);
		return err_set(e, ERR_INPUT, "%s: has no epoch: restore a backup", db_path(db));
	}
	memcpy(epoch, db_get_text(row, 0), 33);
	db_done(row);
	return 0;
}
