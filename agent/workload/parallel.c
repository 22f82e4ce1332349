/*
 * The parallel engine: each member is a process of its own that runs its engine as a worker does,
 * and tells us what it counts. Owns the processes between prepare and clear.
 *
 * Invariants: all begin at one instant; a combined sample is cut when every member that still runs
 * has told of its interval, so that no interval lacks one of them; when a member fails, the others
 * are killed.
 */
#include "agent/workload/parallel.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "agent/workload/engines.h"
#include "agent/workload/stream_spec.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn.h"

#define GOLDEN 0x9e3779b97f4a7c15ULL
#define START_AHEAD_NS (20 * NS_PER_MS) /* time for the last member to hear of the start */

static int fail_member(const struct member *m, const char *kind, struct err *e)
{
	return err_prefix(e, "member %s (%s)", m->w->name, kind);
}

static const char *kind_of(const struct member *m)
{
	return workload_kind_name(m->w->kind);
}

/* ---- members ---- */

static int fill_spec(const struct workload_order *of, struct member *m, unsigned i, struct err *e)
{
	m->spec = *of->spec;
	m->spec.names = (struct strv){0};
	m->spec.kind = (char *)kind_of(m);
	m->spec.seed = of->spec->seed + (i + 1) * GOLDEN;
	m->order = (struct workload_order){.spec = &m->spec, .plan = of->plan, .w = m->w,
		.told = of->told, .words_fd = of->words_fd};
	return m->w->kind == WORKLOAD_STREAM ? stream_spec_fill(of->plan, m->w, &m->spec, e) : 0;
}

static int members_new(const struct workload_order *order, struct parallel *p, struct err *e)
{
	const struct work_parallel *w = order->w->parallel;

	p->v = xcalloc(w->n, sizeof(*p->v));
	for (p->n = 0; p->n < w->n; p->n++) {
		p->v[p->n].w = &w->members[p->n];
		p->v[p->n].fd = -1;
	}
	for (unsigned i = 0; i < p->n; i++)
		if (fill_spec(order, &p->v[i], i, e))
			return fail_member(&p->v[i], kind_of(&p->v[i]), e);
	return 0;
}

static _Noreturn void member_main(const struct member *m, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	spawn_close_but(fd, m->order.words_fd ? m->order.words_fd : -1);
	_exit(worker_trial(fd, &m->order) ? 1 : 0);
}

static int member_start(struct member *m, struct err *e)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return err_sys(e, "cannot start it");
	m->pid = fork();
	if (m->pid == 0)
		member_main(m, fds[1]);
	close(fds[1]);
	if (m->pid < 0) {
		close(fds[0]);
		m->pid = 0;
		return err_sys(e, "cannot start it");
	}
	m->fd = fds[0];
	return 0;
}

static void member_reap(struct member *m, int *status)
{
	*status = 0;
	while (m->pid && waitpid(m->pid, status, 0) < 0)
		;
	m->pid = 0;
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

static void members_kill(struct parallel *p)
{
	int status;

	for (unsigned i = 0; i < p->n; i++)
		if (p->v[i].pid)
			kill(p->v[i].pid, SIGKILL);
	for (unsigned i = 0; i < p->n; i++)
		member_reap(&p->v[i], &status);
}

/* Its end of the socket is closed and nothing came that explains it. */
static int lost(struct member *m, struct err *e)
{
	int status;

	member_reap(m, &status);
	if (WIFSIGNALED(status))
		return err_set(e, ERR_FAILED, "was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return err_set(e, ERR_FAILED, "ended with status %d before it was over",
		WEXITSTATUS(status));
}

/* ---- what they say ---- */

static void take_sample(struct parallel *p, struct member *m, const struct sample *s)
{
	struct err ignored;

	p->open.ops += s->ops;
	p->open.bytes += s->bytes;
	p->open.errors += s->errors;
	if (s->end_ns > p->open.end_ns)
		p->open.end_ns = s->end_ns;
	if (s->hist && hist_decode(s->hist, s->hist_len, p->one, &ignored) == 0)
		hist_merge(p->open_hist, p->one);
	m->cuts++;
}

static void take_done(struct parallel *p, struct member *m, struct msg_worker_done *d)
{
	int status;

	m->result = *d;
	memset(d, 0, sizeof(*d));
	m->is_done = 1;
	if (!p->first_end_ns || m->result.elapsed_ns < p->first_end_ns)
		p->first_end_ns = m->result.elapsed_ns;
	if (m->result.elapsed_ns >= p->last_end_ns) {
		p->last_end_ns = m->result.elapsed_ns;
		p->last_sync_ns = m->result.sync_ns;
	}
	member_reap(m, &status);
}

/* One message of a member. -1: it failed, or is gone. */
static int hear(struct parallel *p, struct member *m, enum msg_type *ret_type, struct err *e)
{
	struct msg msg;
	int rc = 0;

	if (frame_read_fd(m->fd, -1, &msg, e) < 0)
		return lost(m, e);
	*ret_type = msg.type;
	if (msg.type == MSG_WORKER_SAMPLE) {
		take_sample(p, m, &msg.u.worker_sample);
	} else if (msg.type == MSG_WORKER_DONE) {
		take_done(p, m, &msg.u.worker_done);
		if (!m->result.ok) {
			err_copy(e, &m->result.error);
			rc = -1;
		}
	}
	msg_clear(&msg);
	return rc;
}

/* ---- the region ---- */

static void cut_open(struct parallel *p, struct workload_result *ret)
{
	struct sample s = p->open;

	if (s.end_ns <= p->cut_ns)
		s.end_ns = p->cut_ns + 1;
	s.start_ns = p->cut_ns;
	buf_reset(&p->wire);
	hist_encode(p->open_hist, &p->wire);
	s.hist = p->wire.data;
	s.hist_len = p->wire.len;
	ret->ops += s.ops;
	ret->bytes += s.bytes;
	ret->errors += s.errors;
	hist_merge(&ret->hist, p->open_hist);
	if (!p->first_end_ns) {
		p->window_bytes += s.bytes;
		p->window_ns = s.end_ns;
	}
	p->cut(p->cut_arg, &s);
	p->cut_ns = s.end_ns;
	p->cuts++;
	p->open = (struct sample){0};
	hist_clear(p->open_hist);
}

static unsigned running(const struct parallel *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++)
		n += p->v[i].fd >= 0;
	return n;
}

static int all_have_cut(const struct parallel *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->v[i].fd >= 0 && p->v[i].cuts <= p->cuts)
			return 0;
	return running(p) > 0;
}

/* Until all have ended; -1 when one fails. */
static int watch(struct parallel *p, struct workload_result *ret, struct err *e)
{
	struct pollfd fds[PARALLEL_MAX_MEMBERS];
	enum msg_type type;

	while (running(p)) {
		for (unsigned i = 0; i < p->n; i++)
			fds[i] = (struct pollfd){.fd = p->v[i].fd, .events = POLLIN};
		if (poll(fds, p->n, -1) < 0)
			continue;
		for (unsigned i = 0; i < p->n; i++)
			if (fds[i].revents && hear(p, &p->v[i], &type, e))
				return fail_member(&p->v[i], kind_of(&p->v[i]), e);
		while (all_have_cut(p))
			cut_open(p, ret);
	}
	return 0;
}

static int send_go(struct parallel *p, int64_t start_ns, struct err *e)
{
	struct msg go = {.type = MSG_WORKER_GO, .u.worker_go_start_ns = start_ns};

	for (unsigned i = 0; i < p->n; i++)
		if (frame_write_fd(p->v[i].fd, &go, e) < 0) {
			lost(&p->v[i], e);
			return fail_member(&p->v[i], kind_of(&p->v[i]), e);
		}
	return 0;
}

static int parallel_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct parallel *p = state;
	int64_t now = clock_mono_ns();
	int rc;

	p->cut = cut;
	p->cut_arg = arg;
	if (start_ns < now)
		start_ns = now + START_AHEAD_NS;
	ret->started_wall_ns = clock_wall_ns() + (start_ns - now);
	rc = send_go(p, start_ns, e);
	if (rc == 0)
		rc = watch(p, ret, e);
	if (rc)
		members_kill(p);
	ret->elapsed_ns = p->last_end_ns;
	if (rc && clock_mono_ns() - start_ns > ret->elapsed_ns)
		ret->elapsed_ns = clock_mono_ns() - start_ns;
	ret->sync_ns = p->last_sync_ns;
	if (p->open.end_ns < ret->elapsed_ns)
		p->open.end_ns = ret->elapsed_ns;
	cut_open(p, ret);
	parallel_tell(p, &ret->detail);
	return rc;
}

/* ---- before and after ---- */

static void parallel_clear(void *state)
{
	struct parallel *p = state;

	if (!p)
		return;
	members_kill(p);
	for (unsigned i = 0; i < p->n; i++) {
		strv_free(&p->v[i].spec.names);
		free(p->v[i].result.hist);
		detail_clear(&p->v[i].result.detail);
	}
	free(p->v);
	free(p->one);
	free(p->open_hist);
	buf_free(&p->wire);
	free(p);
}

/* They open and allocate side by side, as they will run. */
static int all_ready(struct parallel *p, struct err *e)
{
	enum msg_type type = MSG_NONE;

	for (unsigned i = 0; i < p->n; i++)
		if (member_start(&p->v[i], e))
			return fail_member(&p->v[i], kind_of(&p->v[i]), e);
	for (unsigned i = 0; i < p->n; i++) {
		int rc = hear(p, &p->v[i], &type, e);

		if (rc == 0 && type != MSG_WORKER_READY)
			rc = err_set(e, ERR_PROTOCOL, "said %s before it was ready",
				msg_type_name(type));
		if (rc)
			return fail_member(&p->v[i], kind_of(&p->v[i]), e);
	}
	return 0;
}

static int parallel_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct parallel *p = xcalloc(1, sizeof(*p));

	p->one = xcalloc(1, sizeof(*p->one));
	p->open_hist = xcalloc(1, sizeof(*p->open_hist));
	hist_clear(p->open_hist);
	if (members_new(order, p, e) || all_ready(p, e)) {
		if (order->told)
			parallel_tell_notes(p, order->told);
		parallel_clear(p);
		return -1;
	}
	*ret_state = p;
	return 0;
}

static int parallel_make(const struct workload_order *order, struct err *e)
{
	struct parallel p = {0};
	int rc = members_new(order, &p, e);

	for (unsigned i = 0; i < p.n && rc == 0; i++) {
		const struct workload_engine *engine = workload_find(p.v[i].w->kind);

		if (engine && engine->make && (rc = engine->make(&p.v[i].order, e)))
			fail_member(&p.v[i], kind_of(&p.v[i]), e);
	}
	for (unsigned i = 0; i < p.n; i++)
		strv_free(&p.v[i].spec.names);
	free(p.v);
	return rc;
}

static int parallel_preview(const struct workload_order *order, struct err *e)
{
	const struct work_parallel *w = order->w->parallel;

	for (size_t i = 0; i < w->n; i++) {
		struct workload_order one = *order;

		one.w = &w->members[i];
		if (workload_preview(&one, e))
			return err_prefix(e, "member %s", one.w->name);
	}
	return 0;
}

const struct workload_engine parallel_engine = {
	.kind = WORKLOAD_PARALLEL,
	.make = parallel_make,
	.prepare = parallel_prepare,
	.run = parallel_run,
	.preview = parallel_preview,
	.clear = parallel_clear,
};
