/*
 * The link process: between the monitor and the spool. The coordinator's side is in server.c.
 * Owns the process's event loop and the batches that wait for room in the spool.
 * Invariants: a batch is confirmed to the monitor only after the spool committed it, and in the
 * order in which the monitor gave them.
 */
#include "agent/link/link.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/link/link_internal.h"
#include "common/base/log.h"
#include "common/base/mem.h"

#define SPOOL_RETRY_MS 1000

struct pending {
	struct pending *next;
	struct msg m;
};

static void set_timer(struct event *ev, unsigned ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};

	event_add(ev, &tv);
}

uint32_t link_unsent(const struct link *l)
{
	uint32_t n = l->spool ? spool_count(l->spool) : 0;

	for (const struct pending *p = l->first_pending; p; p = p->next)
		n++;
	return n;
}

void link_tell_state(struct link *l, const char *error)
{
	struct msg m = {.type = MSG_LINK_STATE};

	m.u.link_state.connected = l->accepted;
	m.u.link_state.store_epoch = (char *)(l->spool ? spool_epoch(l->spool) : "");
	m.u.link_state.unsent = link_unsent(l);
	m.u.link_state.error = (char *)error;
	conn_send(l->monitor, &m);
}

void link_spool_failed(struct link *l, const struct err *why)
{
	if (strcmp(l->spool_error, why->text))
		log_error("spool", "%s: what is measured stays in memory until there is room",
			why->text);
	set_timer(l->retry, SPOOL_RETRY_MS);
	if (!strcmp(l->spool_error, why->text))
		return;
	memcpy(l->spool_error, why->text, sizeof(l->spool_error));
	server_send_status(l);
}

static void spool_works(struct link *l)
{
	if (!l->spool_error[0])
		return;
	log_info("spool", "works again");
	l->spool_error[0] = '\0';
	server_send_status(l);
}

static int store(struct link *l, const struct msg *m)
{
	struct msg stored = {.type = MSG_BATCH_STORED};
	struct err e;

	if (spool_put(l->spool, &m->u.batch, &e)) {
		if (e.code != ERR_PROTOCOL) {
			link_spool_failed(l, &e);
			return -1;
		}
		log_error("spool", "%s: dropped", e.text);
	}
	spool_works(l);
	stored.u.batch_stored.key = m->u.batch.key;
	stored.u.batch_stored.last = m->u.batch.last;
	conn_send(l->monitor, &stored);
	return 0;
}

static void take_batch(struct link *l, struct msg *m)
{
	struct pending *p;

	if (!l->first_pending && l->spool && store(l, m) == 0) {
		server_pump(l);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->m = *m;
	memset(m, 0, sizeof(*m));
	if (l->last_pending)
		l->last_pending->next = p;
	else
		l->first_pending = p;
	l->last_pending = p;
}

static void open_spool(struct link *l)
{
	const struct msg_link_setup *s = &l->setup.u.link_setup;
	char *moved;
	struct err e;

	if (spool_open(s->spool, s->spool_limit, &l->spool, &moved, &e)) {
		link_spool_failed(l, &e);
		return;
	}
	if (moved)
		log_error("spool", "was damaged; it is now %s and a new one was begun", moved);
	free(moved);
	if (spool_tidy(l->spool, &e))
		link_spool_failed(l, &e);
	l->tidied_ns = clock_mono_ns();
	server_connect(l);
}

static void store_pending(struct link *l)
{
	while (l->spool && l->first_pending && store(l, &l->first_pending->m) == 0) {
		struct pending *p = l->first_pending;

		l->first_pending = p->next;
		if (!p->next)
			l->last_pending = NULL;
		msg_clear(&p->m);
		free(p);
	}
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	struct err e;

	(void)fd;
	(void)what;
	if (!l->spool)
		open_spool(l);
	else if (spool_tidy(l->spool, &e)) /* what is in the log may have room in the file */
		set_timer(l->retry, SPOOL_RETRY_MS);
	store_pending(l);
	if (evtimer_pending(l->retry, NULL))
		return;
	spool_works(l);
	if (l->answer_missed)
		server_ask_again(l);
	l->answer_missed = 0;
	server_pump(l);
}

static void keep_latest(struct msg *to, struct msg *m)
{
	msg_clear(to);
	*to = *m;
	memset(m, 0, sizeof(*m));
}

static void set_up(struct link *l, struct msg *m)
{
	struct msg_link_setup *s = &m->u.link_setup;
	struct err e;

	if (l->setup.type != MSG_NONE)
		return;
	if (tls_client_ctx(s->cert_pem, s->key_pem, s->ca_pem, &l->ctx, &e)) {
		log_error("link", "%s: enrol this host again with `arraymark-agent join`", e.text);
		event_base_loopbreak(l->base);
		return;
	}
	explicit_bzero(s->key_pem, strlen(s->key_pem));
	keep_latest(&l->setup, m);
	open_spool(l);
}

static void on_monitor_msg(struct conn *c, struct msg *m, void *arg)
{
	struct link *l = arg;

	(void)c;
	switch (m->type) {
	case MSG_LINK_SETUP:
		set_up(l, m);
		break;
	case MSG_RECORD_BATCH:
		take_batch(l, m);
		break;
	case MSG_INVENTORY:
		keep_latest(&l->inventory, m);
		server_forward(l, &l->inventory);
		break;
	case MSG_AGENT_STATUS:
		keep_latest(&l->status, m);
		server_send_status(l);
		break;
	case MSG_JOB_ACCEPT:
	case MSG_JOB_REJECT:
	case MSG_PREVIEW_REPLY:
		server_forward(l, m);
		break;
	default:
		log_error("link", "the monitor sent %s, which is not for us",
			msg_type_name(m->type));
	}
}

static void on_monitor_close(struct conn *c, const struct err *why, void *arg)
{
	struct link *l = arg;

	(void)c;
	(void)why;
	l->monitor = NULL;
	event_base_loopbreak(l->base);
}

static const struct conn_handler monitor_handler = {
	.on_msg = on_monitor_msg, .on_close = on_monitor_close};

static void link_clear(struct link *l)
{
	server_close(l);
	while (l->first_pending) {
		struct pending *p = l->first_pending;

		l->first_pending = p->next;
		msg_clear(&p->m);
		free(p);
	}
	spool_close(l->spool);
	SSL_CTX_free(l->ctx);
	msg_clear(&l->setup);
	msg_clear(&l->inventory);
	msg_clear(&l->status);
	event_free(l->retry);
}

int link_main(int fd)
{
	struct link l = {0};

	log_set_program("link");
	prctl(PR_SET_NAME, "am-link");
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	l.base = event_base_new();
	l.retry = evtimer_new(l.base, on_retry, &l);
	l.monitor = conn_plain(l.base, fd, &monitor_handler, &l);
	event_base_dispatch(l.base);
	link_clear(&l);
	event_base_free(l.base);
	return l.monitor ? 1 : 0;
}
