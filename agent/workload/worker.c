/*
 * The worker process: one trial, one descriptor. Reads the order, prepares, says ready, waits for
 * the start, runs, reports; a rehearsal makes files first, and may end there. A thread of its own ends
 * the process when the monitor goes away.
 * Owns nothing that outlives it.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/spawn.h"
#include "agent/workload/workload.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "proto/conn.h"

#define WORKER_SPEC_TIMEOUT_MS 30000

/* Ends the process when the other side of the descriptor is gone: nobody would read the result. */
static void *watch_monitor(void *arg)
{
	struct pollfd p = {.fd = (int)(intptr_t)arg, .events = 0};

	while (poll(&p, 1, -1) <= 0)
		;
	_exit(1);
}

static void send_sample(void *arg, const struct sample *s)
{
	struct msg m = {.type = MSG_WORKER_SAMPLE, .u.worker_sample = *s};
	struct err e;

	m.u.worker_sample.trial = 1; /* the monitor knows which one it is */
	if (frame_write_fd(*(int *)arg, &m, &e) < 0)
		_exit(1);
}

struct cpu_used {
	uint64_t user_ns, system_ns;
};

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

/* Of this process and of those that it waited for. */
static struct cpu_used cpu_now(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (struct cpu_used){timeval_ns(&own.ru_utime) + timeval_ns(&children.ru_utime),
		timeval_ns(&own.ru_stime) + timeval_ns(&children.ru_stime)};
}

static int send_done(int fd, const struct workload_result *r, const struct err *error,
	const struct cpu_used *from, const struct cpu_used *to)
{
	struct msg m = {.type = MSG_WORKER_DONE};
	struct msg_worker_done *d = &m.u.worker_done;
	struct buf hist = {0};
	struct err e;
	int rc;

	d->ok = error->code == ERR_NONE;
	d->error = *error;
	d->elapsed_ns = r->elapsed_ns;
	d->sync_ns = r->sync_ns;
	d->started_wall_ns = r->started_wall_ns;
	d->bytes = r->bytes;
	d->ops = r->ops;
	d->errors = r->errors;
	d->cpu_user_ns = r->has_cpu ? r->cpu_user_ns : to->user_ns - from->user_ns;
	d->cpu_system_ns = r->has_cpu ? r->cpu_system_ns : to->system_ns - from->system_ns;
	d->detail = r->detail;
	hist_encode(&r->hist, &hist);
	d->hist = hist.data;
	d->hist_len = hist.len;
	rc = frame_write_fd(fd, &m, &e);
	buf_free(&hist);
	return rc;
}

static int wait_go(int fd, int64_t *ret_start_ns, struct err *e)
{
	struct msg ready = {.type = MSG_WORKER_READY, .u.worker_ready_pid = (uint64_t)getpid()};
	struct msg go;

	if (frame_write_fd(fd, &ready, e) < 0 || frame_read_fd(fd, -1, &go, e) < 0)
		return -1;
	if (go.type != MSG_WORKER_GO) {
		err_set(e, ERR_PROTOCOL, "the monitor sent %s where a start was due",
			msg_type_name(go.type));
		msg_clear(&go);
		return -1;
	}
	*ret_start_ns = go.u.worker_go_start_ns;
	msg_clear(&go);
	return 0;
}

/* The plan that the order speaks of, parsed again: the text is the source of truth. */
static int read_plan(const struct msg_worker_spec *spec, struct plan **ret, struct err *e)
{
	struct yaml_errors errs = {0};
	int rc;

	*ret = NULL;
	if (!spec->plan_text)
		return 0;
	rc = plan_parse("plan", spec->plan_text, strlen(spec->plan_text), &spec->sets, ret, &errs, e);
	yaml_errors_free(&errs);
	if (rc == 0 && spec->workload >= (*ret)->n_workloads) {
		rc = err_set(e, ERR_PROTOCOL, "the order names workload %u of %zu", spec->workload,
			(*ret)->n_workloads);
		plan_free(*ret);
		*ret = NULL;
	}
	return rc;
}

static int find_engine(const struct workload_order *o, const struct workload_engine **ret,
	struct err *e)
{
	*ret = workload_find(o->w ? o->w->kind : WORKLOAD_STREAM);
	if (*ret)
		return 0;
	return err_set(e, ERR_INPUT, "this agent has no workload '%s'", o->spec->kind);
}

static int run_trial(int fd, const struct workload_order *order, struct workload_result *result,
	struct cpu_used *from, struct err *e)
{
	const struct workload_engine *engine;
	void *state;
	int64_t start_ns;
	pthread_t watcher;
	int rc;

	if (find_engine(order, &engine, e) < 0)
		return -1;
	if (order->spec->rehearse && engine->make && engine->make(order, e) < 0)
		return -1;
	if (order->spec->rehearse == REHEARSE_FILES)
		return 0;
	if (engine->prepare(order, &state, e) < 0)
		return -1;
	rc = wait_go(fd, &start_ns, e);
	if (rc == 0 && pthread_create(&watcher, NULL, watch_monitor, (void *)(intptr_t)fd) != 0)
		rc = err_set(e, ERR_FULL, "cannot start a thread");
	if (rc == 0) {
		pthread_detach(watcher);
		*from = cpu_now();
		rc = engine->run(state, start_ns, send_sample, &fd, result, e);
	}
	engine->clear(state);
	return rc;
}

int worker_trial(int fd, const struct workload_order *order)
{
	struct workload_result *result = xcalloc(1, sizeof(*result));
	struct workload_order own = *order;
	struct cpu_used from = {0}, to;
	struct err e = {0};
	int rc;

	own.told = &result->detail;
	rc = run_trial(fd, &own, result, &from, &e);
	if (rc == 0)
		err_clear(&e);
	to = cpu_now();
	detail_fit(&result->detail);
	if (send_done(fd, result, &e, &from, &to) < 0)
		rc = -1;
	detail_clear(&result->detail);
	free(result);
	return rc;
}

/* The order cannot be understood. */
static int refuse(int fd, const struct err *why)
{
	static const struct workload_result nothing;
	const struct cpu_used none = {0};

	(void)send_done(fd, &nothing, why, &none, &none);
	return -1;
}

int worker_main(int fd)
{
	struct workload_order order = {0};
	struct plan *plan = NULL;
	struct err e = {0};
	struct msg m;
	int rc;

	if (frame_read_fd(fd, WORKER_SPEC_TIMEOUT_MS, &m, &e) < 0 || m.type != MSG_WORKER_SPEC) {
		log_error("worker", "no order from the monitor: %s", e.text);
		return 1;
	}
	order.spec = &m.u.worker_spec;
	rc = read_plan(order.spec, &plan, &e);
	order.plan = plan;
	order.disks_fd = SPAWN_PASSED_FD;
	order.words_fd = SPAWN_SHARED_FD;
	fcntl(order.words_fd, F_SETFD, FD_CLOEXEC);
	order.w = plan ? &plan->workloads[order.spec->workload] : NULL;
	rc = rc ? refuse(fd, &e) : worker_trial(fd, &order);
	plan_free(plan);
	msg_clear(&m);
	return rc == 0 ? 0 : 1;
}
