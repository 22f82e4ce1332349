/* Reading `fio` workloads: jobs and options of a plan. Owns the row of the kind. */
#include "common/plan/work_fio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/fio_option.h"
#include "common/plan/workload_type.h"

/* true and false are the plan's words, 1 and 0 fio's. */
static const char *value_of(const char *name, const struct yaml_node *n)
{
	const struct fio_row *row = fio_option_find(name);
	int on;

	if (!row || (row->kind != FIO_FLAG && row->kind != FIO_BOOL))
		return n->scalar;
	if (yaml_is_null(n))
		return NULL;
	return yaml_bool(n, &on) ? n->scalar : on ? "1" : "0";
}

static void read_options(struct reading *r, const struct yaml_node *n, const char *path,
	struct fio_job *j, struct work_fio *f)
{
	struct err e = {0};

	if (n->kind != YAML_MAP) {
		read_error(r, n, path, "must be a map of fio's options, such as {rw: randread, bs: 4k, "
				       "size: 64m}");
		f->wrong = 1;
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		const struct yaml_node *o = n->items[i];
		char *child = read_child_path(path, o->key), *said = e.text;
		int known;

		if (o->kind != YAML_SCALAR)
			err_set(&e, ERR_INPUT, "has one value: no list and no map");
		else if (!fio_job_set(j, o->key, value_of(o->key, o), 0, &e))
			e.code = ERR_NONE;
		known = fio_option_find(o->key) != NULL;
		if (str_starts(said, o->key) && str_starts(said + strlen(o->key), ": "))
			said += strlen(o->key) + 2; /* the path says it */
		if (e.code != ERR_NONE && known)
			read_error(r, o, child, "%s", said);
		else if (e.code != ERR_NONE)
			read_error_key(r, o, path, "%s", said);
		f->wrong |= e.code != ERR_NONE;
		free(child);
	}
}

static void read_jobs(struct reading *r, const struct yaml_node *n, const char *path,
	struct work_fio *f)
{
	struct err e;

	if (n->kind != YAML_MAP || n->n == 0 || n->n > FIO_MAX_JOBS) {
		read_error(r, n, path, "must be a map of 1 to %d jobs, such as {a: {rw: randread, bs: "
				       "4k, size: 64m}}",
			FIO_MAX_JOBS);
		f->wrong = 1;
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		char *child = read_child_path(path, n->items[i]->key);

		if (fio_job_name_check(n->items[i]->key, &e)) {
			read_error_key(r, n->items[i], path, "%s", e.text);
			f->wrong = 1;
		}
		read_options(r, n->items[i], child,
			fio_jobs_add(&f->jobs, n->items[i]->key, 0), f);
		free(child);
	}
}

/* Keys whose values are read in their own order afterwards. */
static void read_later(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)r;
	(void)n;
	(void)path;
	(void)field;
	(void)arg;
}

static const struct key_row fio_rows_of_plan[] = {
	{"job", read_path, offsetof(struct work_fio, job_file), NULL, NULL},
	{"jobs", read_later, 0, NULL, NULL},
	{"global", read_later, 0, NULL, NULL},
	{"options", read_later, 0, NULL, NULL},
	{"program", read_path, offsetof(struct work_fio, program), NULL, NULL},
	DURATION_BESIDE("fio"),
};
static const struct key_table fio_table = KEY_TABLE("fio", fio_rows_of_plan);

static void read_part(struct reading *r, const struct yaml_node *n, const char *path,
	const char *key, struct fio_job *j, struct work_fio *f)
{
	const struct yaml_node *part = yaml_get(n, key);
	char *child;

	if (!part)
		return;
	child = read_child_path(path, key);
	if (j)
		read_options(r, part, child, j, f);
	else
		read_jobs(r, part, child, f);
	free(child);
}

/* Options alone: one job, called as the workload. */
static void read_one_job(struct reading *r, const struct yaml_node *n, const char *path,
	const char *name, struct work_fio *f)
{
	struct err e;

	if (fio_job_name_check(name, &e)) {
		read_error_key(r, yaml_get(n, "options"), path,
			"%s: its one job is called as the workload: call it otherwise", e.text);
		f->wrong = 1;
		return;
	}
	read_part(r, n, path, "options", fio_jobs_add(&f->jobs, name, 0), f);
}

/* One of: a job file, jobs, options alone. */
static void check_shape(struct reading *r, const struct yaml_node *n, const char *path,
	struct work_fio *f)
{
	const struct yaml_node *job = yaml_get(n, "job"), *jobs = yaml_get(n, "jobs");
	const struct yaml_node *options = yaml_get(n, "options"), *global = yaml_get(n, "global");

	if (!job && !jobs && !options)
		read_error(r, n, path, "says nothing to do: it needs options, such as {rw: randread, "
				       "bs: 4k, size: 64m}, or jobs, or a job file");
	else if (job && jobs)
		read_error_key(r, jobs, path, "there is a job file already: 'options' take the place of "
					      "what it says");
	else if (jobs && options)
		read_error_key(r, options, path, "what all jobs begin with is 'global'");
	else if (global && !jobs)
		read_error_key(r, global, path, "belongs to 'jobs': use 'options'");
	else
		return;
	f->wrong = 1;
}

static void read_fio(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct workload *w = field;
	struct work_fio *f = w->fio = xcalloc(1, sizeof(*f));

	(void)arg;
	f->program = xstrdup(FIO_PROGRAM);
	if (read_map(r, n, path, &fio_table, f)) {
		f->wrong = 1;
		return;
	}
	check_shape(r, n, path, f);
	f->wrong |= yaml_get(n, "job") && !f->job_file;
	if (f->wrong)
		return;
	read_part(r, n, path, "global", &f->jobs.global, f);
	read_part(r, n, path, "jobs", NULL, f);
	if (yaml_get(n, "jobs"))
		return;
	if (yaml_get(n, "job"))
		read_part(r, n, path, "options", &f->options, f);
	else
		read_one_job(r, n, path, w->name, f);
}

/* ---- what spans options ---- */

static const struct yaml_node *option_node(const struct yaml_node *map, const char *option)
{
	for (size_t i = 0; map && option && map->kind == YAML_MAP && i < map->n; i++) {
		const struct fio_row *row = fio_option_find(map->items[i]->key);

		if (row && strcmp(row->name, option) == 0)
			return map->items[i];
	}
	return NULL;
}

static void say(void *arg, const struct fio_job *j, const char *option, const char *text)
{
	const struct workload_place *at = arg;
	const struct yaml_node *jobs = yaml_get(at->n, "jobs");
	const struct yaml_node *job = jobs && j ? yaml_get(jobs, j->name) : yaml_get(at->n, "options");
	const struct yaml_node *o = option_node(job, option);
	char *path = jobs && j ? xasprintf("%s.jobs.%s%s%s", at->path, j->name, o ? "." : "",
					 o ? o->key : "")
			       : xasprintf("%s.options%s%s", at->path, o ? "." : "", o ? o->key : "");

	read_error(at->r, o ? o : job ? job : at->n, path, "%s", text);
	free(path);
}

static void check_duration(const struct workload_place *at, const struct fio_job *j)
{
	static const char *const both[] = {"runtime", "time_based"};

	for (size_t i = 0; at->w->duration_ns && i < ARRAY_LEN(both); i++)
		if (fio_job_get(j, both[i]))
			say((void *)at, j, both[i],
				"the workload's duration says how long each job runs: leave it out");
}

static void check(const struct workload_place *at)
{
	struct work_fio *f = at->w->fio;

	if (f->wrong)
		return;
	check_duration(at, &f->options);
	for (size_t i = 0; i < f->jobs.n; i++)
		check_duration(at, &f->jobs.v[i]);
	if (f->job_file)
		return;
	fio_jobs_check(&f->jobs, say, (void *)at);
	fio_jobs_set_duration(&f->jobs, at->w->duration_ns);
}

static void clear(struct workload *w)
{
	if (!w->fio)
		return;
	fio_jobs_clear(&w->fio->jobs);
	fio_job_clear(&w->fio->options);
	free(w->fio->program);
	free(w->fio->job_file);
	free(w->fio);
	w->fio = NULL;
}

/* ---- what it asks of a host ---- */

/* What an earlier workload left of the same files. */
static int64_t already_there(const struct plan *p, const struct workload *w, const char *files)
{
	int64_t most = 0;
	size_t before = 0;

	while (before < p->n_workloads && &p->workloads[before] != w)
		before++;
	if (before == p->n_workloads) /* a member of a parallel one */
		return 0;
	for (const struct workload *k = p->workloads; k < w; k++)
		for (size_t i = 0; k->kind == WORKLOAD_FIO && i < k->fio->jobs.n; i++) {
			struct fio_sums s;

			fio_job_sums(&k->fio->jobs.v[i], &s);
			if (!strcmp(fio_job_files(&k->fio->jobs.v[i]), files) && s.file_bytes > most)
				most = s.file_bytes;
		}
	return most;
}

static int add(int64_t *sum, int64_t more)
{
	return more > 0 && __builtin_add_overflow(*sum, more, sum);
}

static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct fio_jobs *jobs = &w->fio->jobs;
	int64_t took_ns[FIO_MAX_JOBS] = {0};
	struct fio_time time;
	int known = jobs->n > 0;

	(void)ram_bytes;
	for (size_t i = 0; i < jobs->n; i++) {
		struct fio_sums s;
		int64_t more;

		fio_job_sums(&jobs->v[i], &s);
		more = s.file_bytes - already_there(p, w, fio_job_files(&jobs->v[i]));
		if (add(&ret->kept_bytes, more) ||
			add(&ret->laid_bytes, fio_job_finds_files(&jobs->v[i]) ? more : 0) ||
			add(&ret->read_bytes, s.read_bytes) || add(&ret->written_bytes, s.write_bytes))
			return err_set(e, ERR_INPUT, "workloads.%s: more bytes than can be counted",
				w->name);
		ret->compressible |= s.compressible;
		ret->moves_unknown |= s.time_ns > 0;
		if (add(&ret->data_bytes, s.file_bytes))
			ret->data_bytes = 0;
		known &= s.time_ns > 0;
		took_ns[i] = s.time_ns;
	}
	fio_jobs_time(jobs, took_ns, &time);
	if (jobs->n)
		ret->duration_ns = known ? time.end_ns : 0;
	ret->space_bytes = ret->kept_bytes;
	return 0;
}

static void access_of(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	if (w->fio->job_file)
		strv_add(inputs, w->fio->job_file);
	strv_add(programs, w->fio->program);
}

static const char *op(const struct workload *w)
{
	const struct fio_option *rw =
		w->fio->jobs.n == 1 ? fio_job_get(&w->fio->jobs.v[0], "rw") : NULL;

	return rw && rw->value && !strchr(rw->value, ':') ? rw->value : "fio";
}

/* Of a job file nothing is known here. */
static int syncs(const struct workload *w)
{
	int result = -1;

	for (size_t i = 0; i < w->fio->jobs.n; i++) {
		struct fio_sums s;

		fio_job_sums(&w->fio->jobs.v[i], &s);
		if (s.writes && result != 0)
			result = s.syncs;
	}
	return result;
}

/* Of a job file it isn't known here. */
static int makes(const struct workload *w)
{
	int finds = w->fio->job_file != NULL;

	for (size_t i = 0; i < w->fio->jobs.n; i++)
		finds |= fio_job_finds_files(&w->fio->jobs.v[i]);
	return finds;
}

static void nature(const struct workload *w, struct workload_nature *ret)
{
	fio_nature(w->fio, ret);
}

static void lacks(const struct workload *w, const struct inventory *inv, struct buf *ret)
{
	unsigned major;

	if (strcmp(w->fio->program, FIO_PROGRAM))
		return;
	for (size_t i = 0; i < inv->capabilities.n; i++) {
		if (sscanf(inv->capabilities.v[i], "fio %u", &major) != 1)
			continue;
		if (major < FIO_OLDEST)
			buf_addf(ret, "%s is too old: fio %d or later is needed",
				inv->capabilities.v[i], FIO_OLDEST);
		return;
	}
	buf_addf(ret, "there is no " FIO_PROGRAM ": install fio there%s",
		inv->per_run ? "" : ", and send its agent SIGHUP, which makes it look again");
}

void fio_argv(const struct workload *w, const struct plan *p, struct strv *ret)
{
	strv_add(ret, w->fio->program);
	strv_add(ret, "--output-format=json+");
	strv_addf(ret, "--status-interval=%lldms", (long long)(p->sample_ns / NS_PER_MS));
	strv_add(ret, "-");
}

const struct workload_type work_fio_type = {
	.key = "fio",
	.headline = "ops_per_s",
	.read = read_fio,
	.check = check,
	.clear = clear,
	.needs = needs,
	.access = access_of,
	.op = op,
	.syncs = syncs,
	.nature = nature,
	.makes = makes,
	.lacks = lacks,
	.argv = fio_argv,
};
