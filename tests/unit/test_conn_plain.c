/*
 * Connections over plain descriptors: callbacks that close, drains, limits, and whole frames
 * without an event loop.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "tests/unit/conn_fixture.h"

struct pair {
	struct event_base *base;
	struct end a, b;
	int raw; /* the other side of a when there is no b */
};

static void pair_open(struct pair *p)
{
	int fd[2];

	*p = (struct pair){.base = event_base_new(), .raw = -1};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	p->a.c = conn_plain(p->base, fd[0], &end_handler, &p->a);
	p->b.c = conn_plain(p->base, fd[1], &end_handler, &p->b);
	assert_int_equal(p->a.opened, 0); /* never from inside a call */
	run_until(p->base, &p->a.opened, 1, "a opens");
	run_until(p->base, &p->b.opened, 1, "b opens");
}

static void pair_open_raw(struct pair *p)
{
	int fd[2];

	*p = (struct pair){.base = event_base_new()};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	p->a.c = conn_plain(p->base, fd[0], &end_handler, &p->a);
	p->raw = fd[1];
	run_until(p->base, &p->a.opened, 1, "a opens");
}

static void pair_close(struct pair *p)
{
	end_drop(&p->a);
	end_drop(&p->b);
	if (p->raw >= 0)
		close(p->raw);
	run_out(p->base);
}

static void test_messages(void **state)
{
	struct pair p;
	struct err why;

	(void)state;
	pair_open(&p);
	assert_null(conn_ssl(p.a.c));
	assert_string_equal(conn_peer(p.a.c), "local");
	for (int i = 0; i < 1000; i++)
		send_ping(p.a.c, i);
	run_until(p.base, &p.b.messages, 1000, "b gets all");
	err_set(&why, ERR_BUSY, "later");
	conn_send_error(p.b.c, 5, &why);
	run_until(p.base, &p.a.messages, 1, "a gets the error");
	assert_int_equal(p.a.last_error.code, ERR_BUSY);
	assert_string_equal(p.a.last_error.text, "later");
	pair_close(&p);
}

static void test_close_in_callback(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	p.b.close_on_message = 1;
	for (int i = 0; i < 10; i++)
		send_ping(p.a.c, i);
	run_until(p.base, &p.a.closed, 1, "a sees the end");
	assert_int_equal(p.b.messages, 1);
	assert_int_equal(p.b.closed, 0);
	assert_int_equal(p.a.why.code, ERR_CONN);
	pair_close(&p);
}

static void test_abort_in_open(void **state)
{
	struct pair p = {.base = event_base_new(), .raw = -1};
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	p.a.abort_on_open = 1;
	p.a.c = conn_plain(p.base, fd[0], &end_handler, &p.a);
	p.b.c = conn_plain(p.base, fd[1], &end_handler, &p.b);
	run_until(p.base, &p.b.closed, 1, "b sees the end");
	assert_int_equal(p.a.opened, 1);
	assert_int_equal(p.a.closed, 0);
	pair_close(&p);
}

/* All that was queued before conn_close arrives, then the end. */
static void test_close_flushes(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	for (int i = 0; i < 20; i++)
		send_chunk(p.a.c, MSG_CHUNK_MAX);
	assert_true(conn_pending(p.a.c) > 0);
	conn_close(p.a.c);
	send_ping(p.a.c, 1); /* dropped: the pointer still lives, this pass */
	p.a.c = NULL;
	run_until(p.base, &p.b.closed, 1, "b sees the end");
	assert_int_equal(p.b.messages, 20);
	assert_int_equal(p.b.last_type, MSG_CHUNK);
	assert_int_equal(p.a.closed, 0);
	pair_close(&p);
}

/* A peer that reads nothing does not keep a closing connection for ever. */
static void test_close_unread(void **state)
{
	struct pair p;
	int64_t start = clock_mono_ns();

	(void)state;
	pair_open_raw(&p);
	for (int i = 0; i < 20; i++)
		send_chunk(p.a.c, MSG_CHUNK_MAX);
	conn_close(p.a.c);
	p.a.c = NULL;
	event_base_dispatch(p.base);
	assert_true(clock_mono_ns() - start < 10 * NS_PER_S);
	assert_int_equal(p.a.closed, 0);
	pair_close(&p);
}

static void on_drain(struct conn *c, void *arg)
{
	struct end *end = arg;

	assert_true(conn_pending(c) < 100000);
	end->drained++;
}

static void test_drain(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p);
	for (int i = 0; i < 20; i++)
		send_chunk(p.a.c, MSG_CHUNK_MAX);
	conn_on_drain(p.a.c, 100000, on_drain);
	assert_int_equal(p.a.drained, 0);
	run_until(p.base, &p.a.drained, 1, "the drain callback");
	run_until(p.base, &p.b.messages, 20, "b gets all");
	assert_int_equal(p.a.drained, 1);
	/* Already below: at the next pass, not inside the call. */
	conn_on_drain(p.a.c, 100000, on_drain);
	assert_int_equal(p.a.drained, 1);
	run_until(p.base, &p.a.drained, 2, "the drain callback again");
	/* Taken back. */
	conn_on_drain(p.a.c, 100000, on_drain);
	conn_on_drain(p.a.c, 100000, NULL);
	send_ping(p.a.c, 1);
	run_until(p.base, &p.b.messages, 21, "b gets one more");
	assert_int_equal(p.a.drained, 2);
	pair_close(&p);
}

static void test_oversize(void **state)
{
	uint32_t header = htonl(MSG_FRAME_MAX + 1);
	struct pair p;

	(void)state;
	pair_open_raw(&p);
	assert_int_equal(write(p.raw, &header, 4), 4);
	run_until(p.base, &p.a.closed, 1, "an oversize frame ends it");
	assert_int_equal(p.a.why.code, ERR_PROTOCOL);
	assert_int_equal(p.a.messages, 0);
	pair_close(&p);
}

static void test_bad_frame(void **state)
{
	static const char frame[] = "\0\0\0\3abc";
	struct pair p;

	(void)state;
	pair_open_raw(&p);
	assert_int_equal(write(p.raw, frame, 7), 7);
	run_until(p.base, &p.a.closed, 1, "a bad frame ends it");
	assert_int_equal(p.a.why.code, ERR_PROTOCOL);
	pair_close(&p);
}

/* Frames cut anywhere are put together again. */
static void test_pieces(void **state)
{
	struct msg ping = {.type = MSG_PING, .u.ping.sent_ns = 123456789};
	struct buf frame = {0};
	struct pair p;
	struct err e;

	(void)state;
	pair_open_raw(&p);
	assert_int_equal(msg_encode(&ping, &frame, &e), 0);
	assert_int_equal(msg_encode(&ping, &frame, &e), 0);
	for (size_t i = 0; i < frame.len; i++) {
		assert_int_equal(write(p.raw, frame.data + i, 1), 1);
		event_base_loop(p.base, EVLOOP_NONBLOCK);
	}
	run_until(p.base, &p.a.messages, 2, "both messages");
	assert_int_equal(p.a.closed, 0);
	buf_free(&frame);
	pair_close(&p);
}

static void test_idle(void **state)
{
	struct pair p;
	int64_t start;

	(void)state;
	pair_open(&p);
	start = clock_mono_ns();
	conn_set_idle(p.a.c, 100);
	run_until(p.base, &p.a.closed, 1, "the idle limit");
	assert_int_equal(p.a.why.code, ERR_TIMEOUT);
	assert_true(clock_mono_ns() - start >= 100 * NS_PER_MS);
	pair_close(&p);
}

/* A peer that never reads loses the connection instead of our memory; told later, not inside. */
static void test_pending_max(void **state)
{
	struct pair p;
	int sent;

	(void)state;
	pair_open_raw(&p);
	for (sent = 0; sent < 100; sent++)
		send_chunk(p.a.c, MSG_CHUNK_MAX);
	assert_int_equal(p.a.closed, 0);
	run_until(p.base, &p.a.closed, 1, "the limit of what is pending");
	assert_int_equal(p.a.why.code, ERR_FULL);
	pair_close(&p);
}

static void test_unsendable(void **state)
{
	struct msg bad = {.type = MSG_HELLO_REPLY, .u.hello_reply.name = (char *)"no name"};
	struct pair p;

	(void)state;
	pair_open(&p);
	conn_send(p.a.c, &bad);
	assert_int_equal(p.a.closed, 0);
	run_until(p.base, &p.a.closed, 1, "a message that cannot be sent ends it");
	assert_int_equal(p.a.why.code, ERR_INPUT);
	run_until(p.base, &p.b.closed, 1, "b sees the end");
	/* Closed by its owner before on_close came: then it does not come. */
	pair_close(&p);
	pair_open(&p);
	conn_send(p.a.c, &bad);
	conn_close(p.a.c);
	p.a.c = NULL;
	run_until(p.base, &p.b.closed, 1, "b sees the end");
	assert_int_equal(p.a.closed, 0);
	pair_close(&p);
}

static void test_bad_descriptor(void **state)
{
	struct pair p = {.base = event_base_new(), .raw = -1};

	(void)state;
	p.a.c = conn_plain(p.base, 12345, &end_handler, &p.a);
	assert_non_null(p.a.c);
	run_until(p.base, &p.a.closed, 1, "a bad descriptor");
	assert_int_equal(p.a.opened, 0);
	pair_close(&p);
}

static void test_frames_fd(void **state)
{
	struct msg ping = {.type = MSG_PING, .u.ping.sent_ns = 7}, m;
	int fd[2];
	struct err e;

	(void)state;
	for (int kind = 0; kind < 2; kind++) {
		if (kind == 0)
			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
		else
			assert_int_equal(pipe(fd), 0);
		assert_int_equal(frame_write_fd(fd[1], &ping, &e), 0);
		assert_int_equal(frame_write_fd(fd[1], &ping, &e), 0);
		assert_int_equal(frame_read_fd(fd[0], -1, &m, &e), 0);
		assert_int_equal(m.u.ping.sent_ns, 7);
		msg_clear(&m);
		assert_int_equal(frame_read_fd(fd[0], 0, &m, &e), 0); /* was not read along */
		msg_clear(&m);
		assert_int_equal(frame_read_fd(fd[0], 10, &m, &e), -1);
		assert_int_equal(e.code, ERR_TIMEOUT);
		assert_int_equal(write(fd[1], "\0\0\0\5x", 5), 5);
		assert_int_equal(frame_read_fd(fd[0], 10, &m, &e), -1);
		assert_int_equal(e.code, ERR_TIMEOUT);
		close(fd[1]);
		assert_int_equal(frame_read_fd(fd[0], -1, &m, &e), -1);
		assert_int_equal(e.code, ERR_CONN);
		close(fd[0]);
	}
}

static void test_frames_fd_refused(void **state)
{
	uint32_t header = htonl(MSG_FRAME_MAX + 1);
	struct msg ping = {.type = MSG_PING}, m;
	int fd[2];
	struct err e;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(write(fd[1], &header, 4), 4);
	assert_int_equal(frame_read_fd(fd[0], -1, &m, &e), -1);
	assert_int_equal(e.code, ERR_PROTOCOL);
	close(fd[0]);
	assert_int_equal(frame_write_fd(fd[1], &ping, &e), -1); /* and no SIGPIPE */
	assert_int_equal(e.code, ERR_CONN);
	close(fd[1]);
}

static void test_split(void **state)
{
	static const struct {
		const char *in, *host, *port;
	} cases[] = {
		{"bench.example.org:7421", "bench.example.org", "7421"},
		{"bench", "bench", "7420"},
		{"127.0.0.1:1", "127.0.0.1", "1"},
		{"[::1]:99", "::1", "99"},
		{"[fe80::1]", "fe80::1", "7420"},
		{"::1", "::1", "7420"},
		{"", NULL, NULL},
		{":7420", NULL, NULL},
		{"host:", NULL, NULL},
		{"host:0", NULL, NULL},
		{"host:65536", NULL, NULL},
		{"host:12x", NULL, NULL},
		{"[::1", NULL, NULL},
		{"[::1]x", NULL, NULL},
		{"[]:1", NULL, NULL},
	};
	char host[256], port[8], longest[400];
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int rc = conn_split_host_port(cases[i].in, host, port, &e);

		if ((rc == 0) != (cases[i].host != NULL))
			fail_msg("'%s' was %s", cases[i].in, rc ? "refused" : "accepted");
		if (rc < 0) {
			assert_int_equal(e.code, ERR_USAGE);
			continue;
		}
		assert_string_equal(host, cases[i].host);
		assert_string_equal(port, cases[i].port);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(conn_split_host_port(longest, host, port, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_fd_refused),
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_close_in_callback),
		cmocka_unit_test(test_abort_in_open),
		cmocka_unit_test(test_close_flushes),
		cmocka_unit_test(test_close_unread),
		cmocka_unit_test(test_drain),
		cmocka_unit_test(test_oversize),
		cmocka_unit_test(test_bad_frame),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_pending_max),
		cmocka_unit_test(test_unsendable),
		cmocka_unit_test(test_bad_descriptor),
		cmocka_unit_test(test_frames_fd),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
