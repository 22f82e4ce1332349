/*
 * Frames of a connection, in and out. Invariant: nothing beyond frame_max + 4 bytes (and one TLS
 * record) is buffered for a peer before a frame is taken or refused.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <stdlib.h>

#include "common/base/log.h"
#include "common/base/units.h"
#include "proto/conn_priv.h"

#define BY_REFERENCE_MIN 4096 /* smaller frames are copied, so that they share TLS records */

/* 1 when a frame was taken and more may be there. */
static int take_frame(struct conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	size_t have = evbuffer_get_length(in);
	uint32_t length;
	unsigned char *data;
	struct msg m;
	struct err e;
	int rc;

	if (have < sizeof(length))
		return 0;
	evbuffer_copyout(in, &length, sizeof(length));
	length = ntohl(length);
	if (length > c->frame_max) {
		err_set(&e, ERR_PROTOCOL, "frame: %u bytes are more than %zu", length,
			c->frame_max);
		conn_fail(c, &e, 1);
		return 0;
	}
	if (have - sizeof(length) < length)
		return 0;
	data = evbuffer_pullup(in, (ev_ssize_t)(sizeof(length) + length));
	rc = data ? msg_decode(data + sizeof(length), length, &m, &e)
		  : err_set(&e, ERR_FULL, "frame: no memory for %u bytes", length);
	evbuffer_drain(in, sizeof(length) + length);
	if (rc < 0) {
		conn_fail(c, &e, 1);
		return 0;
	}
	c->handler->on_msg(c, &m, c->arg);
	msg_clear(&m);
	return 1;
}

void conn_io_readable(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	if (c->idle_ms)
		c->last_read_ns = clock_mono_ns();
	while (c->state == CONN_OPEN && take_frame(c))
		;
	if (c->state != CONN_OPEN && c->state != CONN_OPENING)
		evbuffer_drain(bufferevent_get_input(bev), (size_t)-1);
}

void conn_io_drain(struct conn *c)
{
	void (*fn)(struct conn * c, void *arg) = c->drain;

	if (!fn || c->state != CONN_OPEN || conn_pending(c) >= c->drain_low)
		return;
	c->drain = NULL;
	bufferevent_setwatermark(c->bev, EV_WRITE, 0, 0);
	fn(c, c->arg);
}

void conn_io_writable(struct bufferevent *bev, void *arg)
{
	struct conn *c = arg;

	(void)bev;
	if (c->state == CONN_FLUSHING && conn_pending(c) == 0)
		conn_flushed(c);
	else
		conn_io_drain(c);
}

void conn_on_drain(struct conn *c, size_t low, void (*fn)(struct conn *c, void *arg))
{
	c->drain = fn;
	c->drain_low = low ? low : 1;
	if (c->state != CONN_OPEN)
		return;
	bufferevent_setwatermark(c->bev, EV_WRITE, fn ? c->drain_low - 1 : 0, 0);
	if (fn && conn_pending(c) < c->drain_low)
		conn_kick(c);
}

size_t conn_pending(const struct conn *c)
{
	return c->bev ? evbuffer_get_length(bufferevent_get_output(c->bev)) : 0;
}

static void free_frame(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	free(arg);
}

static int queue(struct conn *c, struct buf *frame)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	size_t len = frame->len;
	char *data;

	if (len < BY_REFERENCE_MIN)
		return evbuffer_add(out, frame->data, len);
	data = buf_take(frame);
	if (evbuffer_add_reference(out, data, len, free_frame, data) == 0)
		return 0;
	free(data);
	return -1;
}

void conn_send(struct conn *c, const struct msg *m)
{
	struct buf frame = {0};
	struct err e;
	int rc;

	if (c->state != CONN_OPEN)
		return;
	rc = msg_encode(m, &frame, &e);
	if (rc < 0)
		log_debug(c->peer, "message not sent: %s", e.text);
	else if (conn_pending(c) > CONN_PENDING_MAX)
		rc = err_set(&e, ERR_FULL, "the peer does not read: %zu bytes wait for it",
			conn_pending(c));
	else if (queue(c, &frame) < 0)
		rc = err_set(&e, ERR_FULL, "no memory for a message");
	buf_free(&frame);
	if (rc < 0)
		conn_fail(c, &e, 0);
}

void conn_send_error(struct conn *c, uint64_t request, const struct err *why)
{
	struct msg m = {.type = MSG_ERROR, .request = request};

	err_copy(&m.u.error, why);
	if (m.u.error.code == ERR_NONE)
		m.u.error.code = ERR_FAILED;
	conn_send(c, &m);
}
