/*
 * For the tests of connections: an event loop that runs until something happened or a deadline
 * passed, and a handler that writes down what it is told.
 */
#ifndef TESTS_UNIT_CONN_FIXTURE_H
#define TESTS_UNIT_CONN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/units.h"
#include "proto/conn.h"

#define DEADLINE_MS 20000

/* One end of a connection as its owner sees it. */
struct end {
	struct conn *c;
	int opened, closed, messages, drained;
	struct err why;
	enum msg_type last_type;
	struct err last_error;
	uint64_t bytes; /* of chunks */
	/* What to do in the callbacks. */
	int close_on_message, abort_on_open, answer_and_close;
};

static inline void end_on_open(struct conn *c, void *arg)
{
	struct end *end = arg;

	end->opened++;
	if (end->abort_on_open) {
		conn_abort(c);
		end->c = NULL;
	}
}

static inline void end_on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct end *end = arg;
	struct err answer;

	end->messages++;
	end->last_type = m->type;
	if (m->type == MSG_ERROR)
		end->last_error = m->u.error;
	if (m->type == MSG_CHUNK)
		end->bytes += m->u.chunk.len;
	if (end->answer_and_close) {
		err_set(&answer, ERR_DENIED, "go away");
		conn_send_error(c, 0, &answer);
	}
	if (end->close_on_message || end->answer_and_close) {
		conn_close(c);
		end->c = NULL;
	}
}

static inline void end_on_close(struct conn *c, const struct err *why, void *arg)
{
	struct end *end = arg;

	assert_ptr_equal(end->c, c);
	end->closed++;
	end->why = *why;
	end->c = NULL;
}

static const struct conn_handler end_handler = {end_on_open, end_on_msg, end_on_close};

static inline void fixture_deadline(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	*(int *)arg = 1;
}

/* Runs the loop until *flag is at least `least`. */
static inline void run_until(struct event_base *base, const int *flag, int least, const char *what)
{
	struct timeval tv = {DEADLINE_MS / 1000, 0};
	int late = 0;
	struct event *deadline = event_new(base, -1, 0, fixture_deadline, &late);

	event_add(deadline, &tv);
	while (*flag < least && !late)
		event_base_loop(base, EVLOOP_ONCE);
	event_free(deadline);
	if (*flag < least)
		fail_msg("%s: not in %d ms", what, DEADLINE_MS);
}

/* Runs until nothing is pending, as a daemon does at its end, and frees the base. */
static inline void run_out(struct event_base *base)
{
	int64_t start = clock_mono_ns();

	event_base_dispatch(base);
	assert_true(clock_mono_ns() - start < DEADLINE_MS * NS_PER_MS);
	event_base_free(base);
}

static inline void end_drop(struct end *end)
{
	if (end->c)
		conn_abort(end->c);
	end->c = NULL;
}

static inline void send_ping(struct conn *c, int64_t ns)
{
	struct msg m = {.type = MSG_PING, .u.ping.sent_ns = ns};

	conn_send(c, &m);
}

static inline void send_chunk(struct conn *c, size_t len)
{
	struct msg m = {.type = MSG_CHUNK, .u.chunk.len = len};

	m.u.chunk.data = malloc(len);
	memset(m.u.chunk.data, 'x', len);
	conn_send(c, &m);
	free(m.u.chunk.data);
}

#endif
