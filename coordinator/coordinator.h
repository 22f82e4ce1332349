/*
 * The coordinator's parts, as they know each other. One event loop, one thread: everything declared
 * here runs on it. Each part owns its own state; this struct only holds them together.
 */
#ifndef COORDINATOR_COORDINATOR_H
#define COORDINATOR_COORDINATOR_H

#include <event2/event.h>
#include <openssl/ssl.h>

#include "coordinator/options.h"
#include "coordinator/pki.h"
#include "coordinator/store/store.h"
#include "proto/window.h"

struct sessions;
struct listener;
struct local;
struct enrol;
struct fleet;
struct jobs;
struct background;
struct preview;

struct coordinator {
	const struct options *opt;
	struct event_base *base;
	struct store *store;
	struct pki pki;
	SSL_CTX *ctx;
	struct window_pool credit;
	struct listener *listener;
	struct local *local;
	struct sessions *sessions;
	struct enrol *enrol;
	struct fleet *fleet;
	struct jobs *jobs;
	struct background *background;
	struct preview *previews;
	uint64_t last_request; /* numbers for what we ask agents */
	unsigned store_pending; /* store operations of ours whose callback has not run */
	unsigned imports; /* under way: calls that take results in */
	int stopping;
};

/* Around each store operation with a callback: stopping waits until none is pending. */
void coordinator_op_begin(struct coordinator *co);
void coordinator_op_end(struct coordinator *co);

/* `run`: serves until SIGTERM or SIGINT. 0 after a clean stop. */
int coordinator_run(const struct options *opt, struct err *e);

#endif
