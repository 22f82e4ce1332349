/*
 * Making a cluster and working in it: initdb, databases, client programs, syncing. The part of
 * pg_cluster.h that needs no server process of its own. Owns nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/pg_cluster.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define INITDB_MS (30 * 60 * 1000)
#define NAME_SHOWN 40 /* of a workload's name in a database's: PostgreSQL cuts names at 63 bytes */
#define OPEN_FOLDERS 32

extern char **environ;

const char *pg_user_name(void)
{
	static char text[64];
	struct passwd *pw = getpwuid(geteuid());

	if (pw)
		snprintf(text, sizeof(text), "%s", pw->pw_name);
	else
		snprintf(text, sizeof(text), "%u", (unsigned)geteuid());
	return text;
}

char *pg_database_name(const struct workload_order *o, unsigned workload, const char *name)
{
	return xasprintf("%.*s_%u_%u_%u", NAME_SHOWN, name, workload + 1, o->spec->block,
		o->spec->repeat);
}

/* ---- where it lies ---- */

static int layout_has_dataset(const struct workload_order *o)
{
	const struct pool_stage *pool;

	if (o->spec->layout >= o->plan->n_layouts)
		return 0;
	pool = o->plan->layouts[o->spec->layout].pool;
	for (size_t i = 0; pool && i < pool->n_datasets; i++)
		if (!strcmp(pool->datasets[i].name, PG_DATASET))
			return 1;
	return 0;
}

/* The folder that holds the cluster, on the device that it must be on. */
static int find_home(struct pg_cluster *c, char **ret, struct err *e)
{
	const struct msg_worker_spec *spec = c->order->spec;
	const char *slash = strrchr(spec->directory, '/');
	int own = layout_has_dataset(c->order), status = 0;
	struct stat st;
	char *home;

	home = own ? xasprintf("%.*s/%s", (int)(slash - spec->directory), spec->directory, PG_DATASET)
		   : xasprintf("%s/%s", spec->directory, "pg");
	if (pg_cluster_is_preview(c)) {
		*ret = home;
		return 0;
	}
	if (!own && mkdir(home, 0700) && errno != EEXIST)
		status = err_sys(e, "cannot make %s", home);
	else if (lstat(home, &st))
		status = err_sys(e, "cannot look at %s", home);
	else if (!S_ISDIR(st.st_mode) || (own ? st.st_dev == spec->dev : st.st_dev != spec->dev))
		status = err_set(e, ERR_WRONG_STATE,
			"%s does not lie on %s: the volume is not mounted as it was built", home,
			own ? "the dataset of that name" : "the volume's device");
	if (status)
		free(home);
	else
		*ret = home;
	return status;
}

/* Workloads of a plan share one; members of a parallel one run at once, and a server has its data to
 * itself. */
static char *data_folder(const struct pg_cluster *c, const char *home)
{
	const struct workload_order *o = c->order;

	if (o->w == &o->plan->workloads[o->spec->workload] || c->w->of)
		return xasprintf("%s/data", home);
	return xasprintf("%s/data-%s", home, o->w->name);
}

/* ---- dry runs ---- */

int pg_cluster_is_preview(const struct pg_cluster *c)
{
	return c->order && c->order->preview;
}

static int __attribute__((format(printf, 3, 0)))
tells(struct pg_cluster *c, const struct strv *argv, const char *what, va_list ap)
{
	static const struct strv none;
	struct workload_preview *to;
	struct buf text = {0};

	if (!pg_cluster_is_preview(c))
		return 0;
	to = c->order->preview;
	buf_addv(&text, what, ap);
	to->tell(to->arg, c->order->w, buf_str(&text), argv ? argv : &none);
	buf_free(&text);
	return 1;
}

int pg_cluster_tells(struct pg_cluster *c, const struct strv *argv, const char *what, ...)
{
	va_list ap;
	int told;

	va_start(ap, what);
	told = tells(c, argv, what, ap);
	va_end(ap);
	return told;
}

/* 1: a dry run would have made it by now; it is remembered. */
static int would_be_there(struct pg_cluster *c)
{
	struct strv *made = &c->order->preview->made;

	for (size_t i = 0; i < made->n; i++)
		if (!strcmp(made->v[i], c->data))
			return 1;
	strv_add(made, c->data);
	return 0;
}

/* ---- initdb ---- */

static int check_version(const struct pg_cluster *c, const char *file, struct err *e)
{
	struct buf text = {0};
	unsigned major;

	if (fs_read_file(file, 64, &text, e))
		return -1;
	major = pg_major(buf_str(&text));
	buf_free(&text);
	if (major == c->programs.major)
		return 0;
	return err_set(e, ERR_WRONG_STATE,
		"the cluster in %s was made by another version of PostgreSQL than %s", c->data,
		c->programs.version);
}

static int run_initdb(const struct strv *argv, const char *fresh, const char *data, struct err *e)
{
	if (access(fresh, F_OK) == 0 && fs_remove_tree(fresh, e))
		return -1;
	if (proc_run_ok(argv, INITDB_MS, NULL, e))
		return -1;
	return rename(fresh, data) ? err_sys(e, "cannot rename %s", fresh) : 0;
}

/* Under another name until it is whole: a killed one is begun anew. */
static int init(struct pg_cluster *c, struct err *e)
{
	char *fresh = xasprintf("%s.new", c->data);
	struct strv argv = {0};
	int status = pg_program(&c->programs, "initdb", &argv, e);

	strv_add_all(&argv, (const char *const[]){"-D", fresh, "-U", "postgres", "--auth=trust",
		"--no-locale", "-E", "UTF8", NULL});
	if (!status && !pg_cluster_tells(c, &argv, "make a cluster, which becomes %s when it is whole", c->data))
		status = run_initdb(&argv, fresh, c->data, e);
	strv_free(&argv);
	free(fresh);
	return status ? err_prefix(e, "cannot make a PostgreSQL cluster") : 0;
}

static int make_if_new(struct pg_cluster *c, struct err *e)
{
	char *version = xasprintf("%s/PG_VERSION", c->data);
	int status = 0;

	if (pg_cluster_is_preview(c))
		status = would_be_there(c) ? 0 : init(c, e);
	else
		status = access(version, F_OK) ? init(c, e) : check_version(c, version, e);
	free(version);
	return status;
}

/* Clients find the socket by /proc/self/cwd: a volume's path may be longer than a socket's. */
static int enter(struct pg_cluster *c, struct err *e)
{
	if (pg_cluster_is_preview(c))
		return 0;
	return chdir(c->data) ? err_sys(e, "cannot enter %s", c->data) : 0;
}

/* libpq and the programs take settings from PG…; nothing of the agent's own may reach them. */
static void clean_environment(void)
{
	for (;;) {
		char **at = environ, *name;

		while (*at && !str_starts(*at, "PG"))
			at++;
		if (!*at)
			break;
		name = xstrndup(*at, strcspn(*at, "="));
		unsetenv(name);
		free(name);
	}
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
}

int pg_cluster_open(struct pg_cluster *c, const struct workload_order *order, unsigned connections,
	struct err *e)
{
	char *home;

	*c = (struct pg_cluster){.order = order, .w = order->w->pg, .connections = connections};
	if (geteuid() == 0 && !pg_cluster_is_preview(c))
		return err_set(e, ERR_DENIED,
			"PostgreSQL does not run as root: give the workers an account of their own");
	if (!pg_cluster_is_preview(c))
		clean_environment();
	if (pg_find(c->w->version, &c->programs, e) || find_home(c, &home, e))
		return -1;
	c->data = data_folder(c, home);
	free(home);
	return make_if_new(c, e) || enter(c, e) ? -1 : 0;
}

/* ---- clients ---- */

int pg_cluster_vector(struct pg_cluster *c, const char *program, struct strv *argv, struct err *e)
{
	if (pg_program(&c->programs, program, argv, e))
		return -1;
	strv_add_all(argv, (const char *const[]){"-h", "/proc/self/cwd", "-p", "5432", "-U",
		"postgres", NULL});
	return 0;
}

/* The line that begins with `mark`, appended without it. */
static void add_line(struct buf *text, const char *mark, struct buf *out)
{
	const char *at = strstr(buf_str(text), mark);

	if (at)
		buf_addf(out, "%s%.*s", out->len ? "; " : "", (int)strcspn(at + strlen(mark), "\n"),
			at + strlen(mark));
}

/* A client's own words: its error, and what it advises. */
static int client_failed(const struct strv *argv, struct proc_result *r, struct err *e)
{
	const char *slash = strrchr(argv->v[0], '/');
	struct buf words = {0};

	add_line(&r->err, "error: ", &words);
	if (!words.len)
		add_line(&r->err, "ERROR:  ", &words);
	add_line(&r->err, "HINT:  ", &words);
	if (words.len && r->exited)
		err_set(e, strstr(words.data, "No space left") ? ERR_FULL : ERR_FAILED, "%s: %s",
			slash ? slash + 1 : argv->v[0], words.data);
	else
		proc_check(argv, r, e);
	buf_free(&words);
	return -1;
}

int pg_cluster_try(struct pg_cluster *c, const struct strv *argv, const char *what,
	struct proc_result *ret, struct err *e)
{
	if (!pg_cluster_tells(c, argv, "%s", what))
		return proc_run(argv, PG_LONG_MS, ret, e);
	*ret = (struct proc_result){.exited = 1};
	return 0;
}

int pg_cluster_run(struct pg_cluster *c, struct strv *argv, struct buf *out, struct err *e,
	const char *what, ...)
{
	struct proc_result r = {0};
	struct buf text = {0};
	va_list ap;
	int status;

	va_start(ap, what);
	buf_addv(&text, what, ap);
	va_end(ap);
	status = pg_cluster_try(c, argv, buf_str(&text), &r, e);
	buf_free(&text);
	if (!status && (!r.exited || r.exit_status || r.timed_out))
		status = client_failed(argv, &r, e);
	if (!status && out)
		buf_add(out, buf_str(&r.out), r.out.len);
	proc_result_free(&r);
	strv_free(argv);
	return status;
}

int pg_cluster_sql(struct pg_cluster *c, const char *database, const char *sql, struct buf *out,
	struct err *e)
{
	struct strv argv = {0};

	if (pg_cluster_vector(c, "psql", &argv, e))
		return -1;
	strv_add_all(&argv, (const char *const[]){"-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1",
		"-d", database, "-c", sql, NULL});
	return pg_cluster_run(c, &argv, out, e, "%s", sql);
}

int pg_cluster_new_database(struct pg_cluster *c, const char *name, const char *encoding,
	const char *template_, struct err *e)
{
	struct strv drop = {0}, make = {0};

	if (pg_cluster_vector(c, "dropdb", &drop, e))
		return -1;
	strv_add_all(&drop, (const char *const[]){"--if-exists", name, NULL});
	if (pg_cluster_run(c, &drop, NULL, e, "drop an old database %s", name) ||
		pg_cluster_vector(c, "createdb", &make, e))
		return -1;
	if (encoding)
		strv_add_all(&make, (const char *const[]){"-E", encoding, NULL});
	if (template_)
		strv_add_all(&make, (const char *const[]){"-T", template_, NULL});
	strv_add(&make, name);
	return pg_cluster_run(c, &make, NULL, e, "make the database %s", name);
}

/* ---- syncing ---- */

static int sync_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	int fd, rc = 0;

	(void)st;
	(void)at;
	if (type != FTW_F && type != FTW_DP)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) /* sockets; files that PostgreSQL removed meanwhile */
		return errno == ENXIO || errno == ENOENT ? 0 : -1;
	if (fsync(fd) && errno != EINVAL)
		rc = -1;
	close(fd);
	return rc;
}

int pg_cluster_sync(struct pg_cluster *c, struct err *e)
{
	int fd, rc;

	if (pg_cluster_tells(c, NULL, "sync the volume: syncfs, or where that does nothing fsync of each file"))
		return 0;
	if (!c->order->spec->syncfs_works) {
		if (nftw(c->data, sync_one, OPEN_FOLDERS, FTW_PHYS | FTW_MOUNT | FTW_DEPTH))
			return err_sys(e, "fsync of the files in %s failed", c->data);
		return 0;
	}
	fd = open(c->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "cannot open %s", c->data);
	rc = syncfs(fd);
	if (rc)
		err_sys(e, "syncfs of %s failed", c->data);
	close(fd);
	return rc ? -1 : 0;
}

int pg_cluster_settle(struct pg_cluster *c, struct err *e)
{
	return pg_cluster_sql(c, "postgres", "checkpoint", NULL, e) || pg_cluster_sync(c, e) ? -1 : 0;
}
