/*
 * What the coordinator orders, through the link: jobs and previews. Owns the previews under way.
 * Invariant: an order is obeyed only after policy, plan and state of this host allow it; whatever
 * else comes is logged and dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/monitor_internal.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define PREVIEW_MS (2 * 60 * 1000)

static void records(void *owner)
{
	monitor_pump(owner);
}

static void job_ended(void *owner, enum attempt_state state, const struct err *why, int dirty)
{
	(void)state;
	(void)why;
	monitor_job_ended(owner, dirty);
}

static void reject(struct monitor *m, const struct job_key *key, const struct err *why)
{
	struct msg out = {.type = MSG_JOB_REJECT};
	unsigned more;

	if (log_limit_pass(&m->refused, &more))
		log_warning("offer", "run %llu refused: %s%s", (unsigned long long)key->run, why->text,
			more ? " (and more before)" : "");
	out.u.job_reject.key = *key;
	out.u.job_reject.error = *why;
	link_proc_send(m->link, &out);
	if (why->code == ERR_BUSY)
		monitor_status_changed(m);
}

static void accept_again(struct monitor *m, const struct job_key *key)
{
	struct msg out = {.type = MSG_JOB_ACCEPT, .u.job_accept = *key};

	link_proc_send(m->link, &out);
}

/* An inventory that is being read can wait; a job can't. */
static void stop_inspecting(struct monitor *m)
{
	helper_free(m->inspecting);
	m->inspecting = NULL;
	policy_free(m->inspect_policy);
	m->inspect_policy = NULL;
}

static void offer(struct monitor *m, struct msg *order)
{
	const struct job_env env = {.base = m->base, .kids = m->kids, .ring = m->ring,
		.host = &m->host, .on_records = records, .on_end = job_ended, .owner = m};
	struct job_key key = order->u.job_offer.key;
	struct policy *policy = NULL;
	struct err e;

	if (m->job && !m->job_over && job_key_equal(job_key(m->job), &key)) {
		accept_again(m, &key);
		return;
	}
	if (monitor_is_free(m, &e) || monitor_policy(m, &policy, &e)) {
		reject(m, &key, &e);
		return;
	}
	if (job_new(&env, order, policy, &m->inventory.u.inventory, m->epoch, &m->job, &e)) {
		policy_free(policy);
		reject(m, &key, &e);
		return;
	}
	stop_inspecting(m);
	accept_again(m, &key);
	monitor_status_changed(m);
	job_start(m->job);
}

static int is_ours(const struct monitor *m, const struct job_key *key)
{
	return m->job && !m->job_over && job_key_equal(job_key(m->job), key);
}

/* ---- previews ---- */

static void preview_free(struct preview *p)
{
	helper_free(p->helper);
	msg_clear(&p->order);
	policy_free(p->policy);
	free(p);
}

void monitor_previews_free(struct monitor *m)
{
	while (m->previews) {
		struct preview *p = m->previews;

		m->previews = p->next;
		preview_free(p);
	}
}

static void preview_error(struct monitor *m, uint64_t request, const struct err *why)
{
	struct msg out = {.type = MSG_PREVIEW_REPLY, .request = request};

	out.u.preview_reply.error = *why;
	link_proc_send(m->link, &out);
}

static void preview_message(void *owner, struct msg *msg)
{
	struct preview *p = owner;

	if (msg->type != MSG_PREVIEW_REPLY || p->answered)
		return;
	p->answered = 1;
	msg->request = p->order.request;
	link_proc_send(p->m->link, msg);
}

static void preview_end(void *owner, const struct err *why, const json_t *result)
{
	struct preview *p = owner, **at = &p->m->previews;

	(void)result;
	p->helper = NULL;
	if (why && !p->answered)
		preview_error(p->m, p->order.request, why);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	preview_free(p);
}

static int preview_start(struct monitor *m, struct msg *order, struct err *e)
{
	struct helper_task task = {.what = "the preview", .run = task_preview,
		.deadline_ms = PREVIEW_MS, .on_msg = preview_message, .on_end = preview_end};
	struct preview *p;
	unsigned n = 0;

	for (p = m->previews; p; p = p->next)
		n++;
	if (n >= MONITOR_PREVIEWS_MAX || m->inventory.type == MSG_NONE)
		return err_set(e, ERR_BUSY, "%s is busy: try the preview again", m->host.name);
	p = xcalloc(1, sizeof(*p));
	p->m = m;
	if (monitor_policy(m, &p->policy, e)) {
		free(p);
		return -1;
	}
	p->order = *order;
	memset(order, 0, sizeof(*order));
	p->task = (struct preview_task){.host = &m->host, .policy = p->policy,
		.inv = &m->inventory.u.inventory, .preview = &p->order.u.preview};
	task.arg = &p->task;
	task.owner = p;
	if (helper_start(m->base, m->kids, &task, &p->helper, e)) {
		preview_free(p);
		return -1;
	}
	p->next = m->previews;
	m->previews = p;
	return 0;
}

void monitor_order(struct monitor *m, struct msg *order)
{
	uint64_t request = order->request;
	unsigned more;
	struct err e;

	switch (order->type) {
	case MSG_JOB_OFFER:
		offer(m, order);
		break;
	case MSG_CONTINUE:
		if (is_ours(m, &order->u.continue_.key))
			job_continue(m->job, &order->u.continue_);
		break;
	case MSG_FINISH:
		if (is_ours(m, &order->u.finish))
			job_finish(m->job);
		break;
	case MSG_CANCEL:
		if (is_ours(m, &order->u.cancel.key))
			job_cancel(m->job, ATTEMPT_CANCELLED,
				order->u.cancel.reason[0] ? order->u.cancel.reason : "cancelled");
		else
			monitor_status_changed(m);
		break;
	case MSG_PREVIEW:
		if (preview_start(m, order, &e))
			preview_error(m, request, &e);
		break;
	default:
		if (log_limit_pass(&m->no_order, &more))
			log_warning("link", "sent %s, which is no order", msg_type_name(order->type));
	}
}
