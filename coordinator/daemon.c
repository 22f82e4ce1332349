/*
 * The daemon: brings the parts up in the order in which they need each other, runs the loop, and
 * takes them down again. Owns struct coordinator and the lock of the state folder.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/notify.h"
#include "common/base/tls.h"
#include "common/base/units.h"
#include "coordinator/background.h"
#include "coordinator/coordinator.h"
#include "coordinator/enrol.h"
#include "coordinator/fleet.h"
#include "coordinator/jobs.h"
#include "coordinator/listener.h"
#include "coordinator/local.h"
#include "coordinator/sessions.h"
#include "coordinator/state.h"

#define CREDIT_LIMIT (512ull * 1024 * 1024) /* unacknowledged payload over all agents */
#define STOP_STORE_S 30
#define STOP_PEERS_S 3
#define SPARE_FILES 128 /* descriptors that are not connections */

struct daemon {
	struct coordinator co;
	int lock, manager; /* of the service; -1 */
	struct event *term, *interrupt, *late;
};

void coordinator_op_begin(struct coordinator *co)
{
	co->store_pending++;
}

void coordinator_op_end(struct coordinator *co)
{
	co->store_pending--;
	if (co->stopping && !co->store_pending)
		event_base_loopbreak(co->base);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct daemon *d = arg;
	struct coordinator *co = &d->co;

	(void)what;
	notify_say(d->manager, "STOPPING=1");
	log_info("daemon", "stopping (%s)", sig == SIGTERM ? "SIGTERM" : "SIGINT");
	co->stopping = 1;
	event_base_loopbreak(co->base);
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
	struct coordinator *co = arg;

	(void)fd;
	(void)what;
	log_warning("store", "%u operations were not stored within %d s; their senders keep them",
		co->store_pending, STOP_STORE_S);
	event_base_loopbreak(co->base);
}

static unsigned raise_limit(unsigned wanted)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return wanted;
	rl.rlim_cur = rl.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &rl);
	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur == RLIM_INFINITY ||
		rl.rlim_cur >= (rlim_t)wanted + SPARE_FILES)
		return wanted;
	if (rl.rlim_cur < 2 * SPARE_FILES)
		return (unsigned)(rl.rlim_cur / 2);
	return (unsigned)(rl.rlim_cur - SPARE_FILES);
}

static void load_revoked(void *arg, const char *serial)
{
	sessions_revoked_add(arg, serial);
}

static int open_store(struct coordinator *co, struct err *e)
{
	char *path = options_path(co->opt, "store.db");
	int r = store_open(path, co->base, &co->store, e);

	free(path);
	return r;
}

static int lock_state(const struct options *o, int *ret_fd, struct err *e)
{
	char *path = options_path(o, "lock");
	int r = fs_lock(path, ret_fd, e);

	if (r && e->code == ERR_BUSY)
		err_set(e, ERR_BUSY, "%s: another arraymark-coordinator uses this state folder", o->state);
	else if (r && e->code == ERR_NOTFOUND)
		(void)state_missing(o->state, o->state, e);
	free(path);
	return r;
}

/* Left by a killed daemon; whoever waits for the file must not read the old address. */
static void remove_stale(const struct options *o)
{
	char *path = options_path(o, "listen");

	(void)unlink(path);
	free(path);
}

static int start(struct daemon *d, struct err *e)
{
	struct coordinator *co = &d->co;

	if (lock_state(co->opt, &d->lock, e))
		return -1;
	remove_stale(co->opt);
	if (pki_load(co->opt, &co->pki, e) || state_give(co->opt->state, e) ||
		tls_server_ctx(co->pki.server_pem, co->pki.server_key, co->pki.ca_pem, &co->ctx, e) ||
		open_store(co, e))
		return -1;
	co->credit.limit = CREDIT_LIMIT;
	co->sessions = sessions_new(co);
	co->enrol = enrol_new(co);
	co->jobs = jobs_new(co);
	if (store_load_revoked(co->store, load_revoked, co, e) || fleet_load(co, &co->fleet, e) ||
		jobs_load(co, e))
		return -1;
	d->term = evsignal_new(co->base, SIGTERM, on_signal, d);
	d->interrupt = evsignal_new(co->base, SIGINT, on_signal, d);
	event_add(d->term, NULL);
	event_add(d->interrupt, NULL);
	if (local_open(co, &co->local, e) || listener_open(co, &co->listener, e))
		return -1;
	jobs_pump(co);
	return 0;
}

/* What is queued becomes durable and is acknowledged; nothing new is taken. One limit of time holds
 * for all calls together. */
static void drain(struct daemon *d)
{
	static const struct timeval late = {STOP_STORE_S, 0};
	struct coordinator *co = &d->co;

	if (!d->late) {
		d->late = event_new(co->base, -1, 0, on_late, co);
		event_add(d->late, &late);
	}
	if (co->store_pending && event_pending(d->late, EV_TIMEOUT, NULL))
		event_base_dispatch(co->base);
}

static void free_events(struct daemon *d)
{
	struct event *all[] = {d->term, d->interrupt, d->late};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i])
			event_free(all[i]);
}

/* Lets the connections say their last words; none keeps us for long. */
static void let_peers_go(struct event_base *base)
{
	int64_t until = clock_mono_ns() + STOP_PEERS_S * NS_PER_S;

	while (event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED) > 0 && clock_mono_ns() < until)
		if (event_base_loop(base, EVLOOP_ONCE))
			break;
}

static void stop(struct daemon *d)
{
	struct coordinator *co = &d->co;
	struct err why;

	co->stopping = 1;
	listener_close(co->listener);
	local_close(co->local);
	co->listener = NULL;
	co->local = NULL;
	background_finish(co);
	if (co->sessions && co->store)
		drain(d);
	err_set(&why, ERR_CONN, "the coordinator stops");
	if (co->sessions)
		sessions_close_all(co->sessions, &why);
	if (co->sessions && co->store)
		drain(d);
	store_close(co->store);
	sessions_free(co->sessions);
	jobs_free(co->jobs);
	fleet_free(co->fleet);
	enrol_free(co->enrol);
	free_events(d);
	if (co->base) {
		let_peers_go(co->base);
		event_base_free(co->base);
	}
	SSL_CTX_free(co->ctx);
	pki_clear(&co->pki);
	if (d->lock >= 0)
		close(d->lock);
	if (d->manager >= 0)
		close(d->manager);
}

int coordinator_run(const struct options *opt, struct err *e)
{
	struct options effective = *opt;
	struct daemon d = {.lock = -1, .manager = notify_open()};
	struct coordinator *co = &d.co;
	int r;

	signal(SIGPIPE, SIG_IGN);
	effective.connections = raise_limit(opt->connections);
	co->opt = &effective;
	co->base = event_base_new();
	r = co->base ? start(&d, e) : err_set(e, ERR_IO, "event_base_new failed");
	if (!r) {
		log_info("daemon", "version %s serves %s, store epoch %s", ARRAYMARK_VERSION,
			opt->state, store_epoch(co->store));
		notify_say(d.manager, "READY=1");
		event_base_dispatch(co->base);
	}
	stop(&d);
	return r;
}
