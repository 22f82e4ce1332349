/*
 * The fio engine: the host's own fio, with jobs that were checked. Files are laid out before the
 * timed region; fio's own clock, which begins when its jobs do, says how long it took.
 * Owns the jobs of a job file, the folder's descriptor and what fio says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "agent/workload/engines.h"
#include "agent/workload/fio_files.h"
#include "agent/workload/fio_say.h"
#include "agent/workload/fio_status.h"
#include "agent/workload/program.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_fio.h"

#define VERSION_NS (10 * NS_PER_S)

struct fio_state {
	const struct workload_order *order;
	const struct work_fio *fio;
	struct fio_jobs own; /* of a job file */
	const struct fio_jobs *jobs;
	int dir;
	char *version;   /* "fio-3.33" */
	struct strv made; /* files that were not there before: its own */
	int64_t laid_ns; /* how long laying out the files took; 0: nothing was to be laid out */
};

static void fio_clear(void *state)
{
	struct fio_state *f = state;

	if (!f)
		return;
	fio_jobs_clear(&f->own);
	if (f->dir >= 0)
		close(f->dir);
	free(f->version);
	strv_free(&f->made);
	free(f);
}

/* What comes after a full volume has its room again. Files of before may be another workload's. */
static void give_room(const struct fio_state *f, const struct err *why)
{
	for (size_t i = 0; why->code == ERR_FULL && i < f->made.n; i++)
		(void)unlinkat(f->dir, f->made.v[i], 0);
}

/* Runs fio with the jobs on its standard input. */
static int run_fio(const struct fio_state *f, const struct strv *argv, const struct buf *jobs,
	struct fio_status *status, struct program_end *end, struct err *e)
{
	struct program p = {.argv = argv, .dir = f->dir, .home = f->order->spec->directory};
	int fd = memfd_create("fio jobs", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_sys(e, "cannot hold fio's jobs");
	if (write(fd, jobs->data, jobs->len) != (ssize_t)jobs->len || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return err_sys(e, "cannot hold fio's jobs");
	}
	p.in_fd = fd;
	if (status) {
		p.on_out = (void (*)(void *, const char *, size_t))fio_status_feed;
		p.arg = status;
	}
	r = program_run(&p, end, e);
	close(fd);
	return r;
}

static int find_version(struct fio_state *f, struct err *e)
{
	struct strv argv = {0};
	struct program p = {.argv = &argv, .dir = f->dir, .home = f->order->spec->directory,
		.in_fd = -1, .timeout_ns = VERSION_NS};
	struct program_end end = {0};
	unsigned major = 0;
	int r;

	strv_add(&argv, f->fio->program);
	strv_add(&argv, "--version");
	r = program_run(&p, &end, e) || program_check(&p, &end, e) ? -1 : 0;
	if (r && e->code == ERR_NOTFOUND)
		err_set(e, ERR_NOTFOUND, "there is no %s: install fio on this host",
			f->fio->program);
	if (!r && sscanf(buf_str(&end.out), "fio-%u", &major) != 1)
		r = err_set(e, ERR_INPUT, "%s is no fio: it says '%.60s'", f->fio->program,
			buf_str(&end.out));
	if (!r && major < FIO_OLDEST)
		r = err_set(e, ERR_INPUT, "%s is %.40s: fio %d or later is needed", f->fio->program,
			buf_str(&end.out), FIO_OLDEST);
	if (!r)
		f->version = xstrndup(buf_str(&end.out), strcspn(buf_str(&end.out), "\r\n"));
	program_end_clear(&end);
	strv_free(&argv);
	return r;
}

static int read_jobs(struct fio_state *f, struct err *e)
{
	const struct work_fio *w = f->fio;
	struct buf text = {0};
	struct strv errs = {0};
	int r;

	f->jobs = &w->jobs;
	if (!w->job_file)
		return 0;
	f->jobs = &f->own;
	r = fs_read_file(w->job_file, FIO_MAX_JOB_FILE, &text, e);
	if (!r)
		r = fio_jobs_parse(w->job_file, buf_str(&text), text.len, &w->options, &f->own, &errs,
			e);
	if (r && errs.n > 1)
		fio_say_all(&errs, e);
	fio_jobs_set_duration(&f->own, f->order->w->duration_ns);
	strv_free(&errs);
	buf_free(&text);
	return r;
}

/* What the files grow to must be there: fio would write until the volume is full. */
static int check_space(const struct fio_state *f, struct err *e)
{
	int64_t need = fio_files_missing(f->jobs, f->dir), room;
	char a[UNITS_LEN], b[UNITS_LEN];
	struct statvfs st;

	if (fstatvfs(f->dir, &st))
		return err_sys(e, "cannot look at %s", f->order->spec->directory);
	room = (int64_t)st.f_bavail * (int64_t)st.f_frsize;
	if (need <= room)
		return 0;
	return err_set(e, ERR_FULL, "fio's files need %s more, %s has %s left",
		units_size(need, a), f->order->spec->directory, units_size(room, b));
}

static int lay_out(struct fio_state *f, struct err *e)
{
	struct strv argv = {0};
	struct buf text = {0};
	struct program_end end = {0};
	int64_t from = clock_mono_ns();
	int r = 0;

	fio_files_absent(f->jobs, f->dir, &f->made);
	fio_files_layout(f->jobs, f->dir, &text);
	if (text.len) {
		strv_add(&argv, f->fio->program);
		strv_add(&argv, "--output-format=json");
		strv_add(&argv, "-");
		r = run_fio(f, &argv, &text, NULL, &end, e);
		if (!r)
			r = fio_say_end(f->jobs, f->fio->job_file, NULL, &end, e);
		if (r) {
			err_prefix(e, "laying out the files");
			give_room(f, e);
		}
		f->laid_ns = clock_mono_ns() - from;
	}
	program_end_clear(&end);
	strv_free(&argv);
	buf_free(&text);
	return r;
}

/* Everything but the run: it also serves to make the files before the caches are made cold. */
static int fio_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct fio_state *f = xcalloc(1, sizeof(*f));

	f->order = order;
	f->fio = order->w->fio;
	f->dir = -1;
	if (program_open_folder(order->spec, &f->dir, e) || find_version(f, e) || read_jobs(f, e) ||
		fio_files_check(f->jobs, f->dir, order->spec->directory, e) || check_space(f, e) ||
		lay_out(f, e)) {
		fio_clear(f);
		return -1;
	}
	*ret_state = f;
	return 0;
}

static int fio_make(const struct workload_order *order, struct err *e)
{
	void *state;

	if (fio_prepare(order, &state, e))
		return -1;
	fio_clear(state);
	return 0;
}

static void wait_until(int64_t start_ns)
{
	struct timespec ts = {.tv_sec = start_ns / NS_PER_S, .tv_nsec = start_ns % NS_PER_S};

	while (start_ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static void tell(const struct fio_state *f, const struct buf *jobs, const struct program_end *end,
	struct workload_result *ret)
{
	struct buf note = {0};

	buf_addf(&note, "%s\n%s", f->version, buf_str(jobs));
	detail_note(&ret->detail, "settings", buf_str(&note));
	buf_free(&note);
	if (end->err.len)
		detail_note(&ret->detail, "messages", buf_str(&end->err));
	if (f->laid_ns)
		detail_fact(&ret->detail, "layout_time", (double)f->laid_ns, "ns");
	detail_fact(&ret->detail, "fio_time", (double)end->elapsed_ns, "ns");
}

static int fio_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct fio_state *f = state;
	struct program_end end = {0};
	struct fio_status status;
	struct strv argv = {0};
	struct buf jobs = {0};
	struct err none;
	int rc;

	fio_status_init(&status, f->jobs, cut, arg);
	fio_argv(f->order->w, f->order->plan, &argv);
	fio_jobs_write(f->jobs, f->order->plan->cache == CACHE_WARM ? FIO_WRITE_WARM : FIO_WRITE_RUN,
		&jobs);
	wait_until(start_ns);
	ret->started_wall_ns = clock_wall_ns();
	rc = run_fio(f, &argv, &jobs, &status, &end, e);
	if (rc == 0) {
		int said = fio_status_finish(&status, ret, &none);

		rc = fio_say_end(f->jobs, f->fio->job_file, &status, &end, e);
		if (rc == 0 && said) {
			err_copy(e, &none);
			rc = -1;
		}
		tell(f, &jobs, &end, ret);
		if (rc)
			give_room(f, e);
	}
	fio_status_clear(&status);
	program_end_clear(&end);
	strv_free(&argv);
	buf_free(&jobs);
	return rc;
}

/* A job file is read and judged; fio is asked for its version and nothing else. No volume is there. */
static int fio_preview(const struct workload_order *order, struct err *e)
{
	struct msg_worker_spec spec = *order->spec;
	struct workload_order here = *order;
	struct fio_state f = {.order = &here, .fio = order->w->fio};
	struct workload_preview *to = order->preview;
	struct strv argv = {0};
	int rc;

	spec.directory = (char *)"/";
	here.spec = &spec;
	f.dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f.dir < 0)
		return err_sys(e, "cannot open /");
	rc = find_version(&f, e) || read_jobs(&f, e) ? -1 : 0;

	if (rc == 0) {
		fio_argv(order->w, order->plan, &argv);
		to->tell(to->arg, order->w, "run in the volume's folder", &argv);
	}
	strv_free(&argv);
	fio_jobs_clear(&f.own);
	free(f.version);
	close(f.dir);
	return rc;
}

const struct workload_engine fio_engine = {
	.kind = WORKLOAD_FIO,
	.make = fio_make,
	.prepare = fio_prepare,
	.run = fio_run,
	.preview = fio_preview,
	.clear = fio_clear,
};
