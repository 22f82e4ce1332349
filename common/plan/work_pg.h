/*
 * PostgreSQL workloads: pg_restore, pg_dump and pgbench on a private cluster whose data lie on the
 * volume. The cluster lives as long as its build, so that a dump can take what an earlier restore
 * made. Owned by struct workload.
 */
#ifndef COMMON_PLAN_WORK_PG_H
#define COMMON_PLAN_WORK_PG_H

#include <stddef.h>
#include <stdint.h>

#define PG_DATASET "pg" /* a pool's dataset of that name holds the cluster */
#define PG_MADE_IN "/var/tmp" /* where a dump is made that the plan does not name */
#define PG_SCALE_BYTES (16LL << 20) /* what one step of pgbench's scale takes, rounded up */
#define PG_CLUSTER_BYTES (96LL << 20) /* of an empty cluster with its first WAL segments */

enum pg_format { PG_FORMAT_AUTO, PG_FORMAT_CUSTOM, PG_FORMAT_DIRECTORY, PG_FORMAT_PLAIN, PG_FORMAT_TAR };
enum pg_target { PG_TARGET_VOLUME, PG_TARGET_NULL, PG_TARGET_PATH };
enum pg_script { PG_SCRIPT_TPCB, PG_SCRIPT_SELECT, PG_SCRIPT_SIMPLE_UPDATE };
enum pg_mode { PG_MODE_SIMPLE, PG_MODE_EXTENDED, PG_MODE_PREPARED };

struct pg_setting {
	char *name, *value; /* of the allow-list; the value is one plain word */
};
struct work_pg {
	char *version; /* "15": that of several that are installed; NULL: the newest */
	struct pg_setting *settings;
	size_t n_settings;
	enum pg_format format; /* AUTO: of a restore, as its dump is; of a dump, plain */
	unsigned jobs;         /* of pg_restore and pg_dump; pgbench's threads */
	unsigned scale;        /* pgbench's; of a restore: makes its dump; 0: not given */
	int sync;              /* the volume is synced within the time */
	/* pg_restore */
	char *dump, *sha256;   /* the file or folder, and what it must be (64 hex digits); or NULL */
	char *globals;         /* roles, run first; or NULL */
	char *encoding, *template_; /* createdb's -E and -T; encoding may be NULL */
	int no_owner, allow_errors;
	int checkpoint; /* within the time */
	/* pg_dump */
	char *of; /* the restore whose database it takes */
	unsigned of_index;
	enum pg_target target;
	char *target_path; /* a folder; of PG_TARGET_PATH */
	int compress;      /* 0 to 9; -1: as pg_dump likes */
	/* pgbench */
	unsigned clients, rate; /* rate: transactions/s, 0: unlimited */
	int64_t duration_ns;    /* whole seconds */
	enum pg_mode mode;
	enum pg_script script;
};

const char *pg_script_name(enum pg_script s);
const char *pg_mode_name(enum pg_mode m);
const char *pg_format_name(enum pg_format f);
/* Value of a setting as the plan gives it, or NULL. */
const char *pg_setting_value(const struct work_pg *p, const char *name);
/* Whether the plan turns it off; a setting that it leaves alone is not off. */
int pg_setting_is_off(const struct work_pg *p, const char *name);

#endif
