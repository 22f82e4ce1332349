/*
 * The engine of `pg_restore`: a dump into a database of its own, the checkpoint and the sync after it
 * as the plan says. Owns everything between prepare and clear.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/workload/engines.h"
#include "agent/workload/pg_dumpfile.h"
#include "agent/workload/pg_errors.h"
#include "agent/workload/pg_progress.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define RESTORE_LANES 1
#define SPARE_CONNECTIONS 5

struct restoring {
	const struct work_pg *w;
	struct pg_cluster cluster;
	struct pg_dumpfile dump;
	struct meter meter;
	char *database;
	char globals_sha256[65];
	struct strv argv;
	struct proc_result output;
	int64_t restored_ns, checkpoint_ns, synced_ns; /* ends of the parts, from the begin: one that
							* is left out ends with the one before it */
};

static const char *program_of(const struct restoring *s)
{
	return s->dump.format == PG_FORMAT_PLAIN ? "psql" : "pg_restore";
}

static void restore_clear(void *state)
{
	struct restoring *s = state;

	if (!s)
		return;
	pg_cluster_close(&s->cluster);
	pg_dumpfile_close(&s->dump);
	meter_clear(&s->meter);
	strv_free(&s->argv);
	proc_result_free(&s->output);
	free(s->database);
	free(s);
}

/* psql's arguments for a script. Errors end it, unless they are allowed. */
static int script_vector(struct pg_cluster *c, const char *database, const char *file,
	int allow_errors, struct strv *argv, struct err *e)
{
	if (pg_cluster_vector(c, "psql", argv, e))
		return -1;
	strv_add_all(argv, (const char *const[]){"-X", "-q", "-o", "/dev/null", "-v", NULL});
	strv_addf(argv, "ON_ERROR_STOP=%d", !allow_errors);
	strv_add_all(argv, (const char *const[]){"-d", database, "-f", file, NULL});
	return 0;
}

static int restore_vector(struct restoring *s, struct err *e)
{
	const struct work_pg *w = s->w;

	if (s->dump.format == PG_FORMAT_PLAIN)
		return script_vector(&s->cluster, s->database, s->dump.path, w->allow_errors,
			&s->argv, e);
	if (pg_cluster_vector(&s->cluster, "pg_restore", &s->argv, e))
		return -1;
	if (w->jobs > 1) {
		strv_add(&s->argv, "-j");
		strv_addf(&s->argv, "%u", w->jobs);
	}
	if (w->no_owner)
		strv_add(&s->argv, "--no-owner");
	strv_add_all(&s->argv, (const char *const[]){"-d", s->database, s->dump.path, NULL});
	return 0;
}

/* Roles first: what a dump gives away must find its owner. `postgres` is there already, and so is what an
 * earlier restore of the build made; a file of pg_dumpall -g makes them again: these errors are none. */
static int run_globals(struct restoring *s, struct err *e)
{
	int is_preview = pg_cluster_is_preview(&s->cluster);
	struct proc_result r = {0};
	struct pg_errors found;
	struct strv argv = {0};
	char stamp[65];
	int status;

	if (!s->w->globals)
		return 0;
	pg_input_stamp(s->w->globals, stamp);
	if (!is_preview && pg_input_hash(s->w->globals, "file of globals", s->globals_sha256, e))
		return -1;
	if (script_vector(&s->cluster, "postgres", s->w->globals, 1, &argv, e))
		return -1;
	status = pg_cluster_try(&s->cluster, &argv, "make the roles", &r, e);
	if (!status) {
		pg_errors_read("psql", &r, &found);
		if (found.count == found.known_roles)
			found.count = 0;
		status = pg_errors_check(&found, "psql", s->w->allow_errors, &r, e);
		if (status)
			err_prefix(e, "globals: %s", s->w->globals);
		pg_errors_clear(&found);
	}
	if (!status)
		status = pg_input_is_same(s->w->globals, stamp, e);
	proc_result_free(&r);
	strv_free(&argv);
	return status;
}

static int get_dump(struct restoring *s, struct err *e)
{
	if (s->w->dump)
		return pg_dumpfile_open(&s->dump, &s->cluster, e);
	/* The server that made it has its data in memory, and its time was not the trial's. */
	if (pg_dumpfile_make(&s->dump, &s->cluster, e) || pg_cluster_stop(&s->cluster, e))
		return -1;
	return pg_cluster_start(&s->cluster, e);
}

static int prepare(struct restoring *s, const struct workload_order *order, struct err *e)
{
	if (meter_init(&s->meter, RESTORE_LANES, order->spec->sample_ns, e) ||
		pg_cluster_open(&s->cluster, order, s->w->jobs + SPARE_CONNECTIONS, e))
		return -1;
	if (s->w->dump && get_dump(s, e)) /* before a server runs: a wrong file costs no time */
		return -1;
	if (pg_cluster_start(&s->cluster, e) || (!s->w->dump && get_dump(s, e)))
		return -1;
	s->database = pg_database_name(order, order->spec->workload, order->w->name);
	if (run_globals(s, e) || pg_cluster_new_database(&s->cluster, s->database, s->w->encoding,
					s->w->template_, e))
		return -1;
	return restore_vector(s, e) || pg_cluster_settle(&s->cluster, e) ? -1 : 0;
}

static struct restoring *restoring_new(const struct workload_order *order)
{
	struct restoring *s = xcalloc(1, sizeof(*s));

	s->w = order->w->pg;
	s->dump.fd = s->meter.done_fd = -1;
	return s;
}

static int restore_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct restoring *s = restoring_new(order);

	if (prepare(s, order, e)) {
		pg_cluster_leave_log(&s->cluster);
		restore_clear(s);
		return -1;
	}
	*ret_state = s;
	return 0;
}

static uint64_t dump_read(void *arg)
{
	return pg_children_moved(program_of(arg), 0);
}

static int restore_dump(struct restoring *s, struct err *e)
{
	struct pg_errors found;
	int status = pg_cluster_try(&s->cluster, &s->argv, "restore the dump (timed)", &s->output, e);

	s->restored_ns = s->checkpoint_ns = s->synced_ns = meter_now(&s->meter);
	if (status)
		return -1;
	pg_errors_read(program_of(s), &s->output, &found);
	status = pg_errors_check(&found, program_of(s), s->w->allow_errors, &s->output, e);
	pg_errors_clear(&found);
	return status;
}

/* Still timed. */
static int put_on_disks(struct restoring *s, struct err *e)
{
	int status = 0;

	if (s->w->checkpoint) {
		status = pg_cluster_sql(&s->cluster, "postgres", "checkpoint", NULL, e);
		s->checkpoint_ns = s->synced_ns = meter_now(&s->meter);
	}
	/* A checkpoint has synced each file already, unless the server is told to sync none: without
	 * syncfs there is nothing left to do. */
	if (!status && s->w->sync &&
		(s->cluster.order->spec->syncfs_works || !s->w->checkpoint ||
			pg_setting_is_off(s->w, "fsync"))) {
		status = pg_cluster_sync(&s->cluster, e);
		s->synced_ns = meter_now(&s->meter);
	}
	return status;
}

/* The timed part, in a thread of its own while samples are cut. */
static int work(void *arg, struct err *e)
{
	struct restoring *s = arg;
	struct pg_progress progress = {.lane = &s->meter.lanes[0], .moved = dump_read, .arg = s,
		.interval_ns = s->meter.sample_ns, .limit = s->dump.bytes};
	int status;

	if (pg_progress_start(&progress, e))
		return -1;
	status = restore_dump(s, e);
	pg_progress_end(&progress, status ? 0 : s->dump.bytes);
	return status ? -1 : put_on_disks(s, e);
}

static int restore_preview(const struct workload_order *order, struct err *e)
{
	struct restoring *s = restoring_new(order);
	int status = prepare(s, order, e) || restore_dump(s, e) || put_on_disks(s, e) ||
		     pg_cluster_stop(&s->cluster, e);

	restore_clear(s);
	return status ? -1 : 0;
}

static void tell_errors(struct restoring *s, struct trial_detail *d)
{
	struct pg_errors found;

	pg_errors_read(program_of(s), &s->output, &found);
	detail_fact(d, "restore_errors", found.count, "");
	pg_errors_clear(&found);
	if (s->output.err.len)
		detail_note(d, program_of(s), buf_str(&s->output.err));
}

static void tell_sizes(struct restoring *s, struct trial_detail *d)
{
	char *sql = xasprintf("select pg_database_size('%s')", s->database);
	struct buf out = {0};
	struct err ignored;

	if (!pg_cluster_sql(&s->cluster, "postgres", sql, &out, &ignored))
		detail_fact(d, "database_bytes", strtod(buf_str(&out), NULL), "B");
	buf_free(&out);
	free(sql);
}

static void tell(struct restoring *s, int failed, struct workload_result *ret)
{
	struct trial_detail *d = &ret->detail;
	struct buf words = {0};

	pg_dumpfile_tell(&s->dump, d);
	if (s->w->globals) {
		char *text = xasprintf("%s\nsha256 %s", s->w->globals, s->globals_sha256);

		detail_note(d, "globals", text);
		free(text);
	}
	tell_errors(s, d);
	strv_quote(&s->argv, &words);
	detail_note(d, "command", buf_str(&words));
	buf_free(&words);
	detail_fact(d, "restore_time", (double)s->restored_ns / NS_PER_S, "s");
	detail_fact(d, "checkpoint_time", (double)(s->checkpoint_ns - s->restored_ns) / NS_PER_S, "s");
	detail_fact(d, "sync_time", (double)(s->synced_ns - s->checkpoint_ns) / NS_PER_S, "s");
	detail_note(d, "timed", s->w->checkpoint ?
		s->w->sync ? "restore, checkpoint, sync" : "restore, checkpoint" :
		s->w->sync ? "restore, sync" : "restore");
	if (!failed) {
		pg_cluster_tell(&s->cluster, d);
		tell_sizes(s, d);
	}
}

static int restore_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct restoring *s = state;
	int status;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	status = meter_watch_call(&s->meter, work, s, e);
	meter_stop(&s->meter);
	if (!status)
		status = pg_dumpfile_is_same(&s->dump, e);
	ret->sync_ns = s->synced_ns - s->restored_ns;
	status = pg_cluster_explain(&s->cluster, status, e);
	tell(s, status, ret);
	if (!status)
		status = pg_cluster_stop(&s->cluster, e);
	if (status)
		pg_cluster_tell_log(&s->cluster, &ret->detail);
	return status;
}

const struct workload_engine pg_restore_engine = {
	.kind = WORKLOAD_PG_RESTORE,
	.prepare = restore_prepare,
	.run = restore_run,
	.preview = restore_preview,
	.clear = restore_clear,
};
