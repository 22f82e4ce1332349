/*
 * The monitor's loop: link, owner, signals, inventory, status. Orders are in monitor_orders.c, what
 * was left over in monitor_clean.c.
 * Invariants: at most one job; while one runs nothing else touches the host; the status that is sent
 * is younger than every record given to the link before it.
 */
#include "agent/monitor.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/monitor_internal.h"
#include "agent/volume/zpool.h"
#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/notify.h"
#include "common/base/units.h"
#include "proto/record.h"

#define INSPECT_MS (3 * 60 * 1000)
#define INSPECT_OLD_NS (60 * NS_PER_S)
#define INSPECT_AGAIN_S 30 /* without an inventory no job can come */
#define INSPECT_AGAIN_MOST_S 300
#define GIVE_UP_S 3 /* how long an ending monitor waits for the link to take the rest */

static const int signals[] = {SIGTERM, SIGINT, SIGHUP};

int monitor_policy(const struct monitor *m, struct policy **ret, struct err *e)
{
	struct yaml_errors errs = {0};
	int status = policy_load(m->host.opt->config, ret, &errs, e);

	yaml_errors_free(&errs);
	return status;
}

/* ---- records and status out ---- */

static void fill_status(const struct monitor *m, struct msg_agent_status *s)
{
	memset(s, 0, sizeof(*s));
	s->note = (char *)"";
	if (m->job && !m->job_over) {
		s->state = AGENT_RUNNING;
		s->key = *job_key(m->job);
	} else if (!m->clean || m->inventory.type == MSG_NONE) {
		s->state = AGENT_CLEANING;
		s->note = (char *)(m->clean_error[0] ? m->clean_error : m->inspect_error);
	} else if (m->stopped) {
		s->state = AGENT_STOPPED;
		s->note = (char *)"stopped by the owner";
	} else if (m->exiting) {
		s->state = AGENT_STOPPED;
		s->note = (char *)"the agent is stopping";
	} else {
		s->state = AGENT_IDLE;
	}
}

static void send_status(struct monitor *m)
{
	struct msg status = {.type = MSG_AGENT_STATUS};

	m->status_due = 0;
	fill_status(m, &status.u.agent_status);
	link_proc_send(m->link, &status);
	owner_tell(m->owner, &status);
}

void monitor_pump(struct monitor *m)
{
	const struct msg_batch *b;
	struct ring_facts facts;

	while ((b = ring_next(m->ring))) {
		struct msg out = {.type = MSG_RECORD_BATCH, .u.batch = *b};

		link_proc_send(m->link, &out);
	}
	if (!m->status_due)
		return;
	ring_facts(m->ring, &facts);
	if (facts.waiting == 0)
		send_status(m);
}

void monitor_status_changed(struct monitor *m)
{
	m->status_due = 1;
	monitor_pump(m);
}

/* ---- inventory ---- */

static void inspect_message(void *owner, struct msg *msg)
{
	struct monitor *m = owner;

	if (msg->type != MSG_INVENTORY)
		return;
	msg_clear(&m->inventory);
	m->inventory = *msg;
	memset(msg, 0, sizeof(*msg));
	m->inventory_ns = clock_mono_ns();
	link_proc_send(m->link, &m->inventory);
}

static void inspect_over(struct monitor *m)
{
	m->inspecting = NULL;
	policy_free(m->inspect_policy);
	m->inspect_policy = NULL;
}

static void inspect_failed(struct monitor *m, const struct err *why)
{
	if (strcmp(m->inspect_error, why->text))
		log_error("inventory", "%s", why->text);
	snprintf(m->inspect_error, sizeof(m->inspect_error), "%s", why->text);
	if (m->inventory.type == MSG_NONE)
		evtimer_add(m->inspect_again, &(struct timeval){.tv_sec = INSPECT_AGAIN_S});
}

/* A ZFS that is installed and does not answer comes up without telling us. */
static void wait_for_zfs(struct monitor *m)
{
	if (m->inventory.type == MSG_NONE || m->inventory.u.inventory.zfs || !zpool_is_installed()) {
		m->zfs_wait_s = 0;
		return;
	}
	m->zfs_wait_s = !m->zfs_wait_s ? INSPECT_AGAIN_S
		: m->zfs_wait_s * 2 < INSPECT_AGAIN_MOST_S ? m->zfs_wait_s * 2 : INSPECT_AGAIN_MOST_S;
	evtimer_add(m->inspect_again, &(struct timeval){.tv_sec = m->zfs_wait_s});
}

static void inspect_end(void *owner, const struct err *why, const json_t *result)
{
	struct monitor *m = owner;

	(void)result;
	inspect_over(m);
	if (why)
		inspect_failed(m, why);
	else
		m->inspect_error[0] = '\0';
	wait_for_zfs(m);
	malloc_trim(0);
	monitor_status_changed(m);
}

static void on_inspect_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	monitor_inspect(arg);
}

void monitor_inspect(struct monitor *m)
{
	struct helper_task task = {.what = "reading the host", .run = task_inspect,
		.arg = &m->inspect_task, .deadline_ms = INSPECT_MS, .on_msg = inspect_message,
		.on_end = inspect_end, .owner = m};
	struct err e;

	if (m->inspecting || m->cleaning || (m->job && !m->job_over) || m->exiting)
		return;
	m->policy_error[0] = '\0';
	if (monitor_policy(m, &m->inspect_policy, &e)) {
		log_warning("policy", "%s", e.text);
		m->inspect_policy = NULL;
		snprintf(m->policy_error, sizeof(m->policy_error), "%s", e.text);
	}
	m->inspect_task = (struct host_task){.host = &m->host, .policy = m->inspect_policy,
		.policy_error = m->inspect_policy ? NULL : m->policy_error};
	if (helper_start(m->base, m->kids, &task, &m->inspecting, &e)) {
		inspect_over(m);
		inspect_failed(m, &e);
	}
}

/* ---- jobs ---- */

int monitor_is_free(const struct monitor *m, struct err *e)
{
	if (m->job)
		return err_set(e, ERR_BUSY, "%s has another job", m->host.name);
	if (m->stopped)
		return err_set(e, ERR_BUSY, "the owner of %s stopped its agent", m->host.name);
	if (m->exiting)
		return err_set(e, ERR_BUSY, "the agent of %s is stopping", m->host.name);
	if (!m->clean || m->inventory.type == MSG_NONE)
		return err_set(e, ERR_BUSY, "%s is not ready: %s", m->host.name,
			m->clean_error[0]     ? m->clean_error
			: m->inspect_error[0] ? m->inspect_error : "it starts");
	return 0;
}

static void maybe_exit(struct monitor *m)
{
	struct ring_facts facts;

	if (!m->exiting || (m->job && !m->job_over) || m->cleaning)
		return;
	ring_facts(m->ring, &facts);
	if (facts.batches == 0)
		event_base_loopbreak(m->base);
	else if (!evtimer_pending(m->give_up, NULL))
		evtimer_add(m->give_up, &(struct timeval){.tv_sec = GIVE_UP_S});
}

static void on_later(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;

	(void)fd;
	(void)what;
	if (m->job && m->job_over) {
		job_free(m->job);
		m->job = NULL;
		m->job_over = 0;
		malloc_trim(0);
		monitor_status_changed(m);
		if (m->stopped || !m->clean)
			monitor_clean(m);
		else
			monitor_inspect(m);
	}
	maybe_exit(m);
}

void monitor_job_ended(struct monitor *m, int dirty)
{
	m->job_over = 1;
	if (dirty)
		m->clean = 0;
	event_active(m->later, EV_TIMEOUT, 1);
}

/* ---- the link ---- */

static void link_started(void *owner)
{
	struct monitor *m = owner;

	m->connected = 0;
	ring_rewind(m->ring);
	if (m->inventory.type != MSG_NONE)
		link_proc_send(m->link, &m->inventory);
	monitor_status_changed(m);
}

static void link_lost(void *owner)
{
	struct monitor *m = owner;

	m->connected = 0;
}

static void link_state(struct monitor *m, struct msg_link_state *s)
{
	int came = s->connected && !m->connected;

	m->connected = s->connected;
	if (s->store_epoch[0]) {
		free(m->epoch);
		m->epoch = s->store_epoch;
		s->store_epoch = NULL;
	}
	if (came && m->inventory.type != MSG_NONE &&
		clock_mono_ns() - m->inventory_ns > INSPECT_OLD_NS)
		monitor_inspect(m);
}

static void link_message(void *owner, struct msg *msg)
{
	struct monitor *m = owner;

	switch (msg->type) {
	case MSG_BATCH_STORED:
		ring_confirm(m->ring, &msg->u.batch_stored.key, msg->u.batch_stored.last);
		monitor_pump(m);
		maybe_exit(m);
		break;
	case MSG_LINK_STATE:
		link_state(m, &msg->u.link_state);
		break;
	default:
		monitor_order(m, msg);
	}
}

/* ---- the owner and signals ---- */

static void owner_wants(void *arg, enum agent_state state)
{
	struct monitor *m = arg;
	char *path = xasprintf("%s/stopped", m->host.state);
	struct err e;

	m->stopped = state == AGENT_STOPPED;
	if (m->stopped && fs_write_file(path, "", 0, 0600, &e))
		log_error("owner", "%s: the stop holds until the agent restarts", e.text);
	if (!m->stopped)
		(void)unlink(path);
	free(path);
	log_info("owner", m->stopped ? "stopped this agent: no job runs here until `stop --undo`"
				     : "lets jobs run here again");
	if (m->job && !m->job_over && m->stopped)
		job_cancel(m->job, ATTEMPT_CANCELLED, "stopped by the owner of the host");
	else if (m->stopped)
		monitor_clean(m);
	monitor_status_changed(m);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct monitor *m = arg;

	(void)what;
	if (sig == SIGHUP) {
		log_info("agent", "reads the policy and the host again");
		monitor_inspect(m);
		return;
	}
	if (m->exiting++) {
		log_warning("agent", "stops at once; the next start takes down what is left");
		event_base_loopbreak(m->base);
		return;
	}
	log_info("agent", "stopping");
	notify_say(m->manager, "STOPPING=1");
	if (m->job && !m->job_over)
		job_cancel(m->job, ATTEMPT_INTERRUPTED, "the agent was stopped");
	monitor_status_changed(m);
	maybe_exit(m);
}

static void on_give_up(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *m = arg;

	(void)fd;
	(void)what;
	log_warning("agent", "the link did not take the last records: the attempt's end is lost");
	event_base_loopbreak(m->base);
}

/* ---- start and end ---- */

static int add_events(struct monitor *m, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		m->sigs[i] = evsignal_new(m->base, signals[i], on_signal, m);
		if (!m->sigs[i] || event_add(m->sigs[i], NULL))
			return err_set(e, ERR_FAILED, "cannot watch signals");
	}
	m->later = event_new(m->base, -1, 0, on_later, m);
	m->give_up = evtimer_new(m->base, on_give_up, m);
	m->inspect_again = evtimer_new(m->base, on_inspect_again, m);
	return 0;
}

static const char *coordinator_of(const struct monitor *m, struct policy *policy)
{
	return policy && policy->coordinator ? policy->coordinator : m->host.coordinator;
}

static int open_all(struct monitor *m, struct err *e)
{
	const struct link_handler handler = {.on_start = link_started, .on_msg = link_message,
		.on_lost = link_lost, .owner = m};
	char *lock = xasprintf("%s/agent.pid", m->host.state);
	char *stopped = xasprintf("%s/stopped", m->host.state);
	struct policy *policy = NULL;
	int status = fs_lock(lock, &m->lock_fd, e);

	m->stopped = access(stopped, F_OK) == 0;
	free(lock);
	free(stopped);
	if (status)
		return -1;
	if (monitor_policy(m, &policy, e))
		log_warning("policy", "%s", e->text);
	status = children_new(m->base, &m->kids, e) || add_events(m, e) ||
		owner_open(m->base, m->host.state, owner_wants, m, &m->owner, e) ||
		link_proc_start(m->base, m->kids, &m->host, coordinator_of(m, policy), &handler,
			&m->link, e);
	policy_free(policy);
	return status ? -1 : 0;
}

static void close_all(struct monitor *m)
{
	job_free(m->job);
	helper_free(m->inspecting);
	policy_free(m->inspect_policy);
	helper_free(m->cleaning);
	monitor_previews_free(m);
	link_proc_free(m->link);
	owner_close(m->owner);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (m->sigs[i])
			event_free(m->sigs[i]);
	if (m->later)
		event_free(m->later);
	if (m->give_up)
		event_free(m->give_up);
	if (m->clean_again)
		event_free(m->clean_again);
	if (m->inspect_again)
		event_free(m->inspect_again);
	children_free(m->kids);
	ring_free(m->ring);
	msg_clear(&m->inventory);
	free(m->epoch);
	if (m->lock_fd >= 0)
		close(m->lock_fd);
	if (m->manager >= 0)
		close(m->manager);
	/* what was closed goes on the next passes */
	event_base_loop(m->base, EVLOOP_NONBLOCK);
	event_base_loop(m->base, EVLOOP_NONBLOCK);
	event_base_free(m->base);
	host_clear(&m->host);
}

int monitor_run(const struct agent_options *opt, struct err *e)
{
	struct monitor m = {.lock_fd = -1, .manager = -1,
		.refused = {.burst = 20, .window_ms = 60000},
		.no_order = {.burst = 5, .window_ms = 60000}};
	int status;

	if (host_open(opt, &m.host, e))
		return -1;
	m.manager = notify_open();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "am-monitor");
	m.base = event_base_new();
	m.ring = ring_new(RING_LIMIT);
	m.epoch = xstrdup("");
	status = open_all(&m, e);
	if (!status) {
		if (!m.host.privileged)
			log_warning("agent", "runs as an ordinary user: link and workers are not "
					     "separated from it");
		log_info("agent", "%s (version %s) started", m.host.name, ARRAYMARK_VERSION);
		notify_say(m.manager, "READY=1");
		monitor_clean(&m);
		event_base_dispatch(m.base);
		log_info("agent", "stopped");
	}
	close_all(&m);
	return status;
}
