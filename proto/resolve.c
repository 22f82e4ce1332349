/*
 * Name resolution on evdns. A handle owns its own resolver, which reads the machine's files anew,
 * so that a daemon notices when they change. Freed from its own event, never inside evdns.
 */
#include "proto/resolve.h"

#include <event2/dns.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/base/mem.h"

struct resolve {
	struct evdns_base *dns;
	struct evdns_getaddrinfo_request *request;
	struct event *finish;
	struct evutil_addrinfo *list;
	int failure; /* EVUTIL_EAI_… */
	char *host;
	resolve_fn *fn; /* NULL: cancelled */
	void *arg;
};

static void on_answer(int failure, struct evutil_addrinfo *list, void *arg)
{
	struct resolve *r = arg;

	r->request = NULL;
	r->failure = failure;
	r->list = list;
	event_active(r->finish, EV_TIMEOUT, 0);
}

static void on_finish(evutil_socket_t fd, short what, void *arg)
{
	struct resolve *r = arg;
	struct err e;

	(void)fd;
	(void)what;
	if (!r->list)
		err_set(&e, ERR_NOTFOUND, "host '%s' has no address: %s", r->host,
			evutil_gai_strerror(r->failure));
	if (r->fn)
		r->fn(r->arg, r->list, r->list ? NULL : &e);
	if (r->list)
		evutil_freeaddrinfo(r->list);
	if (r->dns)
		evdns_base_free(r->dns, 0);
	event_free(r->finish);
	free(r->host);
	free(r);
}

struct resolve *resolve_start(
	struct event_base *base, const char *host, const char *port, resolve_fn *fn, void *arg)
{
	struct evutil_addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct evdns_getaddrinfo_request *request;
	struct resolve *r = xcalloc(1, sizeof(*r));

	r->host = xstrdup(host);
	r->fn = fn;
	r->arg = arg;
	r->finish = event_new(base, -1, 0, on_finish, r);
	r->dns = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!r->dns) {
		r->failure = EVUTIL_EAI_MEMORY;
		event_active(r->finish, EV_TIMEOUT, 0);
		return r;
	}
	evdns_base_resolv_conf_parse(r->dns, DNS_OPTIONS_ALL, "/etc/resolv.conf");
	/* NULL when on_answer was called already. */
	request = evdns_getaddrinfo(r->dns, host, port, &hints, on_answer, r);
	if (request)
		r->request = request;
	return r;
}

void resolve_cancel(struct resolve *r)
{
	r->fn = NULL;
	if (r->request)
		evdns_getaddrinfo_cancel(r->request);
}
