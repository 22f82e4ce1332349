/*
 * The filebench engine: a workload file's filesets made, its threads run for a time, what they did
 * told. Owns everything between prepare and clear; the files stay in the volume, in a folder
 * "WORKLOAD.files".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/workload/datagen.h"
#include "agent/workload/engines.h"
#include "agent/workload/filebench.h"
#include "agent/workload/filebench_program.h"
#include "agent/workload/made_mark.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define DURATION_DEFAULT_S 60
#define MARK ".made" /* in the workload's folder: its files are as a trial wants them */
#define FDS_BESIDE 64 /* descriptors that the process needs for other things */

static int load_program(const struct workload_order *o, struct wml_program **ret, struct err *e)
{
	const struct work_filebench *f = o->w->filebench;
	struct buf text = {0};
	int rc;

	if (f->personality)
		return filebench_load(f, ret, e);
	if (fs_read_file(f->wml, WML_MAX_BYTES, &text, e) < 0)
		return err_prefix(e, "the workload file");
	rc = wml_load(f->wml, buf_str(&text), text.len, f->settings, f->n_settings, ret, e);
	buf_free(&text);
	return rc;
}

/* The workload's own folder in the volume. */
static int open_folder(struct fb_run *r, const char *name, struct err *e)
{
	int volume = open(r->spec->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	r->dir_name = xasprintf("%s.files", name);
	if (volume < 0)
		return err_sys(e, "cannot open the volume's directory %s", r->spec->directory);
	if (mkdirat(volume, r->dir_name, 0755) < 0 && errno != EEXIST)
		(void)err_io(e, "cannot make '%s' in %s", r->dir_name, r->spec->directory);
	else
		r->dir = openat(volume, r->dir_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	close(volume);
	if (r->dir < 0 || fstat(r->dir, &st) < 0)
		return err_io(e, "cannot open '%s' in %s", r->dir_name, r->spec->directory);
	if (st.st_dev != r->spec->dev)
		return err_set(e, ERR_WRONG_STATE,
			"%s lies on another device than the volume that was built: it is not mounted any "
			"more",
			r->spec->directory);
	return 0;
}

/* Files that cannot fit are told of before hours are spent on making them. */
static int check_space(const struct fb_run *r, uint64_t bytes, struct err *e)
{
	char need[UNITS_LEN], room[UNITS_LEN];
	struct statvfs v;
	uint64_t free_bytes;

	if (fstatvfs(r->dir, &v) < 0)
		return err_sys(e, "cannot ask for the room in %s", r->spec->directory);
	free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	if (bytes <= free_bytes || r->w->data != DATA_RANDOM)
		return 0;
	return err_set(e, ERR_FULL, "the files of %s take %s, and %s has room for %s: fewer or smaller "
				    "files, or a larger volume",
		r->program->file, units_size((int64_t)(bytes & INT64_MAX), need), r->spec->directory,
		units_size((int64_t)(free_bytes & INT64_MAX), room));
}

static int make_source(struct fb_run *r, struct err *e)
{
	struct datagen gen = {.kind = r->w->data,
		.compressible_percent = r->w->compressible_percent,
		.seed = r->spec->seed};

	if (posix_memalign((void **)&r->source, 4096, FB_SOURCE_BYTES) != 0) {
		r->source = NULL;
		return err_set(e, ERR_FULL, "no memory for the data to write");
	}
	datagen_fill(&gen, 0, 0, r->source, FB_SOURCE_BYTES);
	return 0;
}

/* Which files there are and how large each is follows from the seed alone. */
static int plan_sets(struct fb_run *r, uint64_t seed, struct err *e)
{
	size_t n = r->program->n_sets;
	struct wml_random random;

	r->sets = xcalloc(n + 1, sizeof(*r->sets));
	r->made_bytes = xcalloc(n + 1, sizeof(*r->made_bytes));
	for (size_t i = 0; i < n; i++)
		r->sets[i].fd = -1;
	for (size_t i = 0; i < n; i++) {
		wml_random_seed(&random, seed, i);
		if (fb_set_plan(&r->sets[i], &r->program->sets[i], &random, e) < 0)
			return -1;
		r->sets[i].files.stop = r->sets[i].leaves.stop = &r->stop;
		r->made_bytes[i] = fb_set_bytes(&r->sets[i]);
	}
	return 0;
}

static int open_sets(struct fb_run *r, struct err *e)
{
	for (size_t i = 0; i < r->program->n_sets; i++)
		if (fb_set_open(&r->sets[i], r->spec, r->dir, r->dir_name, e) < 0)
			return -1;
	return 0;
}

static int remove_sets(const struct fb_run *r, struct err *e)
{
	for (size_t i = 0; i < r->program->n_sets; i++)
		if (fb_set_remove_old(&r->sets[i], r->spec, r->dir, r->dir_name, e) < 0)
			return -1;
	return 0;
}

/* What comes after a full volume has its room again. Sets that are reused stay: they may be of before. */
static void give_room(const struct fb_run *r, const struct err *why)
{
	struct err ignored;

	if (why->code == ERR_FULL)
		remove_sets(r, &ignored);
}

static int make_sets(struct fb_run *r, struct err *e)
{
	size_t n = r->program->n_sets;
	uint64_t bytes = 0;

	if (remove_sets(r, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(bytes, fb_set_missing(&r->sets[i], r->dir), &bytes))
			bytes = UINT64_MAX;
	if (check_space(r, bytes, e) < 0 || open_sets(r, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (fb_set_make(&r->sets[i], r->spec, r->source, FB_SOURCE_BYTES, e) < 0)
			return -1;
	return 0;
}

/* The making of the files shall not weigh on the timed region, nor help it where it is to be cold. */
static int settle(struct fb_run *r, int cold, struct err *e)
{
	if (r->spec->syncfs_works ? syncfs(r->dir) < 0 : fsync(r->dir) < 0)
		return err_io(e, "cannot sync %s", r->spec->directory);
	for (size_t i = 0; cold && i < r->program->n_sets; i++)
		fb_set_drop(&r->sets[i]);
	return 0;
}

static int check_descriptors(const struct fb_run *r, struct err *e)
{
	uint64_t need = FDS_BESIDE + r->program->n_sets;
	struct rlimit limit;

	for (size_t g = 0; g < r->program->n_groups; g++)
		need += (uint64_t)r->groups[g].fds * r->groups[g].def->processes *
			r->groups[g].def->instances;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_sys(e, "cannot ask for the limit of open files");
	limit.rlim_cur = limit.rlim_max;
	if (need > limit.rlim_max || setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_set(e, ERR_FULL,
			"%s may hold %llu files open, this process only %llu: fewer threads, or a "
			"larger LimitNOFILE of the agent",
			r->program->file, (unsigned long long)need,
			(unsigned long long)limit.rlim_max);
	return 0;
}

static int make_threads(struct fb_run *r, struct err *e)
{
	struct fb_thread *t;

	r->n_threads = r->program->threads;
	if (meter_init(&r->meter, r->n_threads, r->spec->sample_ns, e) < 0)
		return -1;
	if (posix_memalign((void **)&r->threads, 128, r->n_threads * sizeof(*r->threads)) != 0) {
		r->threads = NULL;
		return err_set(e, ERR_FULL, "no memory for %u threads", r->n_threads);
	}
	memset(r->threads, 0, r->n_threads * sizeof(*r->threads));
	t = r->threads;
	for (size_t g = 0; g < r->program->n_groups; g++) {
		const struct wml_group *def = r->groups[g].def;

		for (unsigned i = 0; i < def->processes * def->instances; i++, t++) {
			t->run = r;
			t->group = &r->groups[g];
			t->instance = i;
			t->lane = &r->meter.lanes[t - r->threads];
			wml_random_seed(&t->random, r->spec->seed, 1000000 + (uint64_t)(t - r->threads));
		}
	}
	for (unsigned i = 0; i < r->n_threads; i++)
		if (fb_thread_prepare(&r->threads[i], e) < 0)
			return -1;
	return 0;
}

static void run_clear(struct fb_run *r)
{
	for (unsigned i = 0; r->threads && i < r->n_threads; i++)
		fb_thread_clear(&r->threads[i]);
	free(r->threads);
	if (r->program) {
		fb_build_clear(r);
		for (size_t i = 0; r->sets && i < r->program->n_sets; i++)
			fb_set_clear(&r->sets[i]);
	}
	free(r->sets);
	free(r->made_bytes);
	free(r->source);
	free(r->dir_name);
	if (r->dir >= 0)
		close(r->dir);
	meter_clear(&r->meter);
	pthread_cond_destroy(&r->stopped);
	pthread_mutex_destroy(&r->lock);
	wml_free(r->program);
	free(r);
}

static struct fb_run *run_new(const struct workload_order *o)
{
	struct fb_run *r = xcalloc(1, sizeof(*r));
	pthread_condattr_t attr;

	r->spec = o->spec;
	r->w = o->w->filebench;
	r->dir = r->meter.done_fd = -1;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->stopped, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

/* 0: the flowops themselves end it. */
static int64_t duration_of(const struct workload_order *o, const struct wml_program *p)
{
	if (o->w->duration_ns)
		return o->w->duration_ns;
	if (p->run_s)
		return p->run_s * NS_PER_S;
	return p->mode == WML_TIMEOUT ? DURATION_DEFAULT_S * NS_PER_S : 0;
}

/* Up to the folder; what both the making of files and a trial begin with. */
static int begin(const struct workload_order *o, struct fb_run **ret, struct err *e)
{
	struct fb_run *r = run_new(o);

	if (load_program(o, &r->program, e) < 0 ||
		open_folder(r, o->w->name ? o->w->name : "filebench", e) < 0 || make_source(r, e) < 0) {
		run_clear(r);
		return -1;
	}
	r->duration_ns = duration_of(o, r->program);
	*ret = r;
	return 0;
}

static int make_files(struct fb_run *r, const struct workload_order *o, struct err *e)
{
	if (plan_sets(r, r->spec->seed, e) < 0)
		return -1;
	if (make_sets(r, e) < 0 || settle(r, o->plan && o->plan->cache == CACHE_COLD, e) < 0) {
		give_room(r, e);
		return -1;
	}
	return 0;
}

static int engine_make(const struct workload_order *o, struct err *e)
{
	struct fb_run *r;
	int rc;

	if (o->w->filebench->program)
		return 0;
	if (begin(o, &r, e) < 0)
		return -1;
	rc = make_files(r, o, e);
	if (rc == 0)
		rc = made_mark_write(r->dir, r->dir_name, MARK, r->spec->seed, e);
	run_clear(r);
	return rc;
}

/* Files that a make left are taken as they are; else they are made now. */
static int native_prepare(const struct workload_order *o, struct fb_run **ret, struct err *e)
{
	struct fb_run *r;
	uint64_t seed;
	int rc;

	if (begin(o, &r, e) < 0)
		return -1;
	if (made_mark_take(r->dir, MARK, &seed))
		rc = plan_sets(r, seed, e) < 0 ? -1 : open_sets(r, e);
	else
		rc = make_files(r, o, e);
	if (rc < 0 || fb_build(r, e) < 0 || check_descriptors(r, e) < 0 || make_threads(r, e) < 0) {
		run_clear(r);
		return -1;
	}
	*ret = r;
	return 0;
}

/* Ends the run when its time is over. */
static void *keep_time(void *arg)
{
	struct fb_run *r = arg;
	int64_t end = r->meter.start_ns + r->duration_ns;
	struct timespec until = {.tv_sec = end / NS_PER_S, .tv_nsec = end % NS_PER_S};

	pthread_mutex_lock(&r->lock);
	while (!fb_stopping(r)) {
		if (r->duration_ns == 0)
			pthread_cond_wait(&r->stopped, &r->lock);
		else if (pthread_cond_timedwait(&r->stopped, &r->lock, &until) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&r->lock);
	fb_stop(r);
	return NULL;
}

static int start_threads(struct fb_run *r, struct err *e)
{
	for (r->n_started = 0; r->n_started < r->n_threads; r->n_started++)
		if (fb_thread_start(&r->threads[r->n_started], e) < 0) {
			fb_stop(r);
			return -1;
		}
	return 0;
}

/* The first error, in the order of the threads. */
static int collect_errors(const struct fb_run *r, struct err *e)
{
	for (unsigned i = 0; i < r->n_threads; i++)
		if (r->threads[i].failed) {
			err_copy(e, &r->threads[i].error);
			return -1;
		}
	return 0;
}

static int native_run(struct fb_run *r, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	pthread_t keeper;
	int rc;

	meter_start(&r->meter, start_ns, cut, arg, ret);
	r->events_ns = r->meter.start_ns;
	r->cpu_before[0] = fb_host_cpu_ns();
	r->cpu_before[1] = fb_own_user_ns();
	rc = pthread_create(&keeper, NULL, keep_time, r);
	if (rc != 0)
		return err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc));
	rc = start_threads(r, e);
	meter_watch(&r->meter, r->n_started);
	for (unsigned i = 0; i < r->n_started; i++)
		fb_thread_join(&r->threads[i]);
	fb_stop(r);
	pthread_join(keeper, NULL);
	meter_stop(&r->meter);
	r->cpu_after[0] = fb_host_cpu_ns();
	r->cpu_after[1] = fb_own_user_ns();
	fb_report(r, ret);
	rc = rc == 0 ? collect_errors(r, e) : -1;
	if (rc < 0)
		give_room(r, e);
	return rc;
}

/* ---- the vtable: our own engine, or the program ---- */

struct state {
	struct fb_run *native;
	struct fb_program *program;
};

static void engine_clear(void *state)
{
	struct state *s = state;

	if (!s)
		return;
	if (s->native)
		run_clear(s->native);
	fb_program_clear(s->program);
	free(s);
}

static int engine_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct state *s = xcalloc(1, sizeof(*s));
	int rc;

	if (order->w->filebench->program)
		rc = fb_program_prepare(order, &s->program, e);
	else
		rc = native_prepare(order, &s->native, e);
	if (rc < 0) {
		engine_clear(s);
		return -1;
	}
	*ret_state = s;
	return 0;
}

static int engine_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct state *s = state;

	return s->program ? fb_program_run(s->program, start_ns, cut, arg, ret, e)
			  : native_run(s->native, start_ns, cut, arg, ret, e);
}

/* Our own engine starts no program; a workload file of the host is read and judged. */
static int engine_preview(const struct workload_order *o, struct err *e)
{
	struct wml_program *p;

	if (o->w->filebench->program)
		return fb_program_preview(o, e);
	if (load_program(o, &p, e) < 0)
		return -1;
	wml_free(p);
	return 0;
}

const struct workload_engine filebench_engine = {
	.kind = WORKLOAD_FILEBENCH,
	.make = engine_make,
	.prepare = engine_prepare,
	.run = engine_run,
	.preview = engine_preview,
	.clear = engine_clear,
};
