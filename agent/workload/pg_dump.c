/*
 * The engine of `pg_dump`: the database of an earlier restore into a file on the volume, into a folder
 * elsewhere, or into nothing, and the sync of what was written. Owns everything between prepare and
 * clear; a dump outside of the volume goes with it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/engines.h"
#include "agent/workload/pg_cluster.h"
#include "agent/workload/pg_progress.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DUMP_LANES 1
#define SPARE_CONNECTIONS 5

struct dumping {
	const struct work_pg *w;
	struct pg_cluster cluster;
	struct meter meter;
	char *database;
	int target;    /* the open folder of PG_TARGET_PATH; -1 */
	char *path;    /* of the dump; below `target` by its descriptor, so that the folder which was
			  opened is the one that is written to, whatever its path leads to by then */
	int made;      /* something may be there */
	struct strv argv;
	struct proc_result output;
	uint64_t bytes;
	uint64_t ended_before; /* what children wrote before pg_dump's start */
	int64_t dumped_ns, synced_ns; /* ends of the parts, from the begin; the same where nothing is synced */
};

static int remove_dump(const struct dumping *s, struct err *e)
{
	struct stat st;

	if (lstat(s->path, &st))
		return 0;
	if (S_ISDIR(st.st_mode))
		return fs_remove_tree(s->path, e);
	return unlink(s->path) ? err_sys(e, "cannot remove the old %s", s->path) : 0;
}

static void dump_clear(void *state)
{
	struct dumping *s = state;
	struct err ignored;

	if (!s)
		return;
	pg_cluster_close(&s->cluster);
	if (s->made && s->target >= 0)
		remove_dump(s, &ignored);
	if (s->target >= 0)
		close(s->target);
	meter_clear(&s->meter);
	strv_free(&s->argv);
	proc_result_free(&s->output);
	free(s->database);
	free(s->path);
	free(s);
}

/* Whoever may not write there learns it before the time begins. */
static int cannot_write(const char *folder, struct err *e)
{
	const char *user = pg_user_name();

	if (errno == EACCES)
		return err_set(e, ERR_DENIED,
			"the workers' user '%s' may not write into the target %s: `setfacl -m u:%s:rwx "
			"%s`",
			user, folder, user, folder);
	return err_sys(e, "cannot write into the target %s", folder);
}

/* The policy's word is about the path as it is written: nothing else is opened by it. */
static int open_target(struct dumping *s, char **ret, struct err *e)
{
	const char *folder = s->w->target_path;

	if (pg_cluster_is_preview(&s->cluster)) {
		*ret = xstrdup("/proc/<worker>/fd/<target>");
		return 0;
	}
	if (fs_open_folder(folder, O_PATH, &s->target, e))
		return err_prefix(e, "the target");
	*ret = pg_fd_path(s->target, e);
	if (!*ret)
		return -1;
	return access(*ret, W_OK | X_OK) ? cannot_write(folder, e) : 0;
}

static int find_path(struct dumping *s, const struct workload_order *o, struct err *e)
{
	const struct msg_worker_spec *spec = o->spec;
	char *folder = NULL;
	int status = 0;

	switch (s->w->target) {
	case PG_TARGET_NULL:
		s->path = xstrdup("/dev/null");
		break;
	case PG_TARGET_VOLUME:
		s->path = xasprintf("%s/%s-%u.%u.dump", spec->directory, o->w->name, spec->block,
			spec->repeat);
		break;
	case PG_TARGET_PATH:
		status = open_target(s, &folder, e);
		if (!status)
			s->path = xasprintf("%s/arraymark-%s-%u.%u.dump", folder, o->w->name,
				spec->block, spec->repeat);
		free(folder);
	}
	return status;
}

/* What would be there in earnest is taken for granted in a dry run. */
static int check_database(struct dumping *s, const struct workload_order *o, struct err *e)
{
	char *sql = xasprintf("select 1 from pg_database where datname = '%s'", s->database);
	struct buf out = {0};
	int status = pg_cluster_sql(&s->cluster, "postgres", sql, &out, e);

	if (!status && !pg_cluster_is_preview(&s->cluster) && *buf_str(&out) != '1')
		status = err_set(e, ERR_NOTFOUND,
			"there is no database of '%s' in block %u: its restore failed, or did not run",
			s->w->of, o->spec->block);
	buf_free(&out);
	free(sql);
	return status;
}

static int dump_vector(struct dumping *s, struct err *e)
{
	static const char letters[] = {[PG_FORMAT_CUSTOM] = 'c', [PG_FORMAT_DIRECTORY] = 'd',
		[PG_FORMAT_PLAIN] = 'p', [PG_FORMAT_AUTO] = 'p'};
	const struct work_pg *w = s->w;

	if (pg_cluster_vector(&s->cluster, "pg_dump", &s->argv, e))
		return -1;
	strv_addf(&s->argv, "-F%c", letters[w->format]);
	if (w->jobs > 1) {
		strv_add(&s->argv, "-j");
		strv_addf(&s->argv, "%u", w->jobs);
	}
	if (w->compress >= 0) {
		strv_add(&s->argv, "-Z");
		strv_addf(&s->argv, "%d", w->compress);
	}
	/* The sync is ours, so that its part of the time is known. */
	strv_add_all(&s->argv,
		(const char *const[]){"--no-sync", "-f", s->path, s->database, NULL});
	return 0;
}

static int prepare(struct dumping *s, const struct workload_order *o, struct err *e)
{
	if (meter_init(&s->meter, DUMP_LANES, o->spec->sample_ns, e) ||
		pg_cluster_open(&s->cluster, o, s->w->jobs + SPARE_CONNECTIONS, e))
		return -1;
	s->database = pg_database_name(o, s->w->of_index, s->w->of);
	if (find_path(s, o, e) || pg_cluster_start(&s->cluster, e) || check_database(s, o, e))
		return -1;
	if (s->w->target != PG_TARGET_NULL && !pg_cluster_is_preview(&s->cluster) && remove_dump(s, e))
		return -1;
	return dump_vector(s, e) || pg_cluster_settle(&s->cluster, e) ? -1 : 0;
}

static struct dumping *dumping_new(const struct workload_order *order)
{
	struct dumping *s = xcalloc(1, sizeof(*s));

	s->w = order->w->pg;
	s->meter.done_fd = s->target = -1;
	return s;
}

static int dump_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct dumping *s = dumping_new(order);

	if (prepare(s, order, e)) {
		pg_cluster_leave_log(&s->cluster);
		dump_clear(s);
		return -1;
	}
	*ret_state = s;
	return 0;
}

/* ---- sizes and syncing ---- */

/* Calls fn with each file of the dump (a descriptor for reading, its stat), then the folder's own. */
static int each_file(const struct dumping *s,
	int (*fn)(int fd, const struct stat *st, const char *name, void *arg, struct err *e),
	void *arg, struct err *e)
{
	int top = open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), status = 0;
	struct dirent *entry;
	struct stat st;
	DIR *d;

	if (top < 0 || fstat(top, &st)) {
		if (top >= 0)
			close(top);
		return err_sys(e, "cannot open the dump %s", s->path);
	}
	d = S_ISDIR(st.st_mode) ? fdopendir(dup(top)) : NULL;
	while (d && !status && (entry = readdir(d))) {
		int fd = openat(top, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
		struct stat file;

		if (fd >= 0 && !fstat(fd, &file) && S_ISREG(file.st_mode))
			status = fn(fd, &file, entry->d_name, arg, e);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	if (!status)
		status = fn(top, &st, s->path, arg, e);
	close(top);
	return status;
}

static int add_size(int fd, const struct stat *st, const char *name, void *arg, struct err *e)
{
	(void)fd;
	(void)name;
	(void)e;
	if (S_ISREG(st->st_mode))
		*(uint64_t *)arg += (uint64_t)st->st_size;
	return 0;
}

static int sync_file(int fd, const struct stat *st, const char *name, void *arg, struct err *e)
{
	(void)st;
	(void)arg;
	return fsync(fd) ? err_sys(e, "fsync of %s failed", name) : 0;
}

static uint64_t dump_written(void *arg)
{
	const struct dumping *s = arg;
	struct err ignored;
	uint64_t sum = 0;

	if (s->w->target == PG_TARGET_NULL)
		return pg_children_moved("pg_dump", 1) + pg_ended_moved(1) - s->ended_before;
	return each_file(s, add_size, &sum, &ignored) ? 0 : sum;
}

static int sync_dump(struct dumping *s, struct err *e)
{
	char *folder;
	int fd, rc;

	if (s->w->target == PG_TARGET_NULL || !s->w->sync)
		return 0;
	if (pg_cluster_tells(&s->cluster, NULL, "sync what was written"))
		return 0;
	if (each_file(s, sync_file, NULL, e))
		return -1;
	folder = xstrndup(s->path, (size_t)(strrchr(s->path, '/') - s->path));
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = fd < 0 || (s->w->target == PG_TARGET_VOLUME && s->cluster.order->spec->syncfs_works
				       ? syncfs(fd) : fsync(fd));
	if (rc)
		err_sys(e, "the sync of %s failed", folder);
	if (fd >= 0)
		close(fd);
	free(folder);
	s->synced_ns = meter_now(&s->meter);
	return rc ? -1 : 0;
}

/* What was written lies where the plan wants it. */
static int check_place(const struct dumping *s, struct err *e)
{
	struct stat st;

	if (s->w->target != PG_TARGET_VOLUME)
		return 0;
	if (lstat(s->path, &st))
		return err_sys(e, "pg_dump ended well, but there is no %s", s->path);
	if (st.st_dev == s->cluster.order->spec->dev)
		return 0;
	return err_set(e, ERR_WRONG_STATE, "%s lies on another device than the volume", s->path);
}

static int dump_database(struct dumping *s, struct err *e)
{
	int status = pg_cluster_try(&s->cluster, &s->argv, "dump it (timed)", &s->output, e);

	if (!status)
		status = proc_check(&s->argv, &s->output, e);
	s->dumped_ns = s->synced_ns = meter_now(&s->meter);
	return status;
}

static int dump_preview(const struct workload_order *order, struct err *e)
{
	struct dumping *s = dumping_new(order);
	int status = prepare(s, order, e) || dump_database(s, e) || sync_dump(s, e) ||
		     pg_cluster_stop(&s->cluster, e);

	dump_clear(s);
	return status ? -1 : 0;
}

/* The timed part, in a thread of its own while samples are cut. */
static int work(void *arg, struct err *e)
{
	struct dumping *s = arg;
	struct pg_progress progress = {.lane = &s->meter.lanes[0], .moved = dump_written, .arg = s,
		.interval_ns = s->meter.sample_ns};
	int status;

	s->ended_before = pg_ended_moved(1);
	if (pg_progress_start(&progress, e))
		return -1;
	s->made = 1;
	status = dump_database(s, e);
	if (!status)
		status = sync_dump(s, e);
	if (!status)
		status = check_place(s, e);
	if (!status)
		s->bytes = dump_written(s);
	pg_progress_end(&progress, s->bytes);
	return status;
}

static void tell(struct dumping *s, int failed, struct workload_result *ret)
{
	struct trial_detail *d = &ret->detail;
	struct buf words = {0};

	strv_quote(&s->argv, &words);
	detail_note(d, "command", buf_str(&words));
	buf_free(&words);
	if (s->w->target == PG_TARGET_PATH)
		detail_note(d, "target", s->w->target_path);
	if (s->output.err.len)
		detail_note(d, "pg_dump", buf_str(&s->output.err));
	detail_fact(d, "dump_time", (double)s->dumped_ns / NS_PER_S, "s");
	detail_fact(d, "sync_time", (double)(s->synced_ns - s->dumped_ns) / NS_PER_S, "s");
	detail_note(d, "timed",
		s->w->target == PG_TARGET_NULL ? "dump into nothing" :
		s->w->sync ? "dump, sync of its file" : "dump");
	if (failed)
		return;
	pg_cluster_tell(&s->cluster, d);
	if (s->w->target != PG_TARGET_NULL)
		detail_fact(d, "dump_bytes", (double)s->bytes, "B");
}

static int dump_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct dumping *s = state;
	int status;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	status = meter_watch_call(&s->meter, work, s, e);
	meter_stop(&s->meter);
	ret->sync_ns = s->synced_ns - s->dumped_ns;
	if (status && strstr(buf_str(&s->output.err), "No space left on device")) {
		err_prefix(e, "%s is full", s->w->target == PG_TARGET_PATH ? "the target" : "the volume");
		e->code = ERR_FULL;
	}
	status = pg_cluster_explain(&s->cluster, status, e);
	tell(s, status, ret);
	if (!status)
		status = pg_cluster_stop(&s->cluster, e);
	if (status)
		pg_cluster_tell_log(&s->cluster, &ret->detail);
	return status;
}

const struct workload_engine pg_dump_engine = {
	.kind = WORKLOAD_PG_DUMP,
	.prepare = dump_prepare,
	.run = dump_run,
	.preview = dump_preview,
	.clear = dump_clear,
};
