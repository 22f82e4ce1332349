/*
 * Connections over real TLS on loopback: who gets in, who does not and why, and that a stranger
 * costs a deadline at most.
 */
#include <arpa/inet.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/conn_fixture.h"

struct identity {
	struct buf key, cert;
};
static struct authority {
	struct buf key, cert;
	char fingerprint[TLS_FINGERPRINT_LEN];
} ours, theirs;
static struct identity coordinator, agent, stranger, their_coordinator;

static void make_authority(struct authority *a)
{
	struct err e;

	assert_int_equal(tls_key_new(&a->key, &e), 0);
	assert_int_equal(tls_ca_new("test", a->key.data, &a->cert, &e), 0);
	assert_int_equal(tls_cert_fingerprint(a->cert.data, a->fingerprint, &e), 0);
}

static void make_identity(
	struct identity *id, const struct authority *a, enum tls_role role, const char *name)
{
	struct buf csr = {0};
	struct err e;

	assert_int_equal(tls_key_new(&id->key, &e), 0);
	assert_int_equal(tls_csr_new(id->key.data, &csr, &e), 0);
	assert_int_equal(tls_sign(a->cert.data, a->key.data, csr.data, role, name, NULL, 30,
				 &id->cert, NULL, &e),
		0);
	buf_free(&csr);
}

static int group_setup(void **state)
{
	(void)state;
	make_authority(&ours);
	make_authority(&theirs);
	make_identity(&coordinator, &ours, TLS_ROLE_COORDINATOR, "bench");
	make_identity(&agent, &ours, TLS_ROLE_AGENT, "knew");
	make_identity(&stranger, &theirs, TLS_ROLE_AGENT, "knew");
	make_identity(&their_coordinator, &theirs, TLS_ROLE_COORDINATOR, "bench");
	return 0;
}

static int group_teardown(void **state)
{
	struct buf *all[] = {&ours.key, &ours.cert, &theirs.key, &theirs.cert, &coordinator.key,
		&coordinator.cert, &agent.key, &agent.cert, &stranger.key, &stranger.cert,
		&their_coordinator.key, &their_coordinator.cert};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		buf_free(all[i]);
	return 0;
}

/* A server on loopback that accepts one connection at a time, and a client's end. */
struct lab {
	struct event_base *base;
	struct evconnlistener *listener;
	SSL_CTX *server_ctx, *client_ctx;
	char address[32];
	uint16_t port;
	unsigned deadline_ms;
	int accepted;
	struct end server, client;
};

static void on_accept(
	struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *a, int len, void *arg)
{
	struct lab *lab = arg;
	struct err e;

	(void)l;
	(void)a;
	(void)len;
	lab->accepted++;
	lab->server.c = conn_accept_tls(
		lab->base, fd, lab->server_ctx, lab->deadline_ms, &end_handler, &lab->server, &e);
	assert_non_null(lab->server.c);
}

static void lab_open(struct lab *lab, const struct identity *server, const struct authority *ca)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	struct err e;

	*lab = (struct lab){.base = event_base_new(), .deadline_ms = DEADLINE_MS};
	assert_int_equal(tls_server_ctx(server->cert.data, server->key.data, ca->cert.data,
				 &lab->server_ctx, &e),
		0);
	lab->listener = evconnlistener_new_bind(lab->base, on_accept, lab,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE, 16, (struct sockaddr *)&a, sizeof(a));
	assert_non_null(lab->listener);
	getsockname(evconnlistener_get_fd(lab->listener), (struct sockaddr *)&a, &len);
	lab->port = ntohs(a.sin_port);
	snprintf(lab->address, sizeof(lab->address), "127.0.0.1:%u", lab->port);
}

static void lab_close(struct lab *lab)
{
	end_drop(&lab->server);
	end_drop(&lab->client);
	evconnlistener_free(lab->listener);
	run_out(lab->base);
	SSL_CTX_free(lab->server_ctx);
	SSL_CTX_free(lab->client_ctx);
}

static void lab_connect(struct lab *lab, const char *alpn)
{
	struct err e;

	lab->client.c = conn_connect(lab->base, lab->address, lab->client_ctx, alpn, DEADLINE_MS,
		&end_handler, &lab->client, &e);
	assert_non_null(lab->client.c);
}

static void lab_connect_as(struct lab *lab, const struct identity *id)
{
	struct err e;

	assert_int_equal(
		tls_client_ctx(id->cert.data, id->key.data, ours.cert.data, &lab->client_ctx, &e),
		0);
	lab_connect(lab, TLS_ALPN_MAIN);
}

/* A TCP socket without any TLS. */
static int lab_raw(struct lab *lab)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(lab->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void test_handshake(void **state)
{
	struct tls_peer peer;
	struct lab lab;
	struct err e;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	lab_connect_as(&lab, &agent);
	run_until(lab.base, &lab.client.opened, 1, "client opens");
	run_until(lab.base, &lab.server.opened, 1, "server opens");
	assert_int_equal(tls_peer(conn_ssl(lab.server.c), &peer, &e), 0);
	assert_int_equal(peer.role, TLS_ROLE_AGENT);
	assert_string_equal(peer.name, "knew");
	assert_int_equal(strlen(peer.serial), 32);
	assert_int_equal(peer.enrolling, 0);
	assert_int_equal(strncmp(conn_peer(lab.server.c), "127.0.0.1:", 10), 0);
	assert_int_equal(SSL_version(conn_ssl(lab.client.c)), TLS1_3_VERSION);
	send_ping(lab.client.c, 1);
	send_ping(lab.server.c, 2);
	run_until(lab.base, &lab.client.messages, 1, "client gets a message");
	run_until(lab.base, &lab.server.messages, 1, "server gets a message");
	/* Killed without a word: an end, not an error of TLS. */
	conn_abort(lab.client.c);
	lab.client.c = NULL;
	run_until(lab.base, &lab.server.closed, 1, "server sees the end");
	assert_int_equal(lab.server.why.code, ERR_CONN);
	assert_non_null(strstr(lab.server.why.text, "closed"));
	lab_close(&lab);
}

static void test_stranger(void **state)
{
	struct lab lab;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	lab_connect_as(&lab, &stranger);
	run_until(lab.base, &lab.server.closed, 1, "server refuses");
	assert_int_equal(lab.server.opened, 0);
	assert_int_equal(lab.server.why.code, ERR_DENIED);
	run_until(lab.base, &lab.client.closed, 1, "client learns");
	assert_int_equal(lab.client.why.code, ERR_DENIED);
	lab_close(&lab);
}

/* A context of a client that is not ours: it knows the CA, has no certificate, any version. */
static SSL_CTX *foreign_ctx(int max_version)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	BIO *bio = BIO_new_mem_buf(ours.cert.data, -1);
	X509 *ca = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca);
	X509_free(ca);
	BIO_free(bio);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_max_proto_version(ctx, max_version);
	return ctx;
}

static void test_refused_clients(void **state)
{
	static const struct {
		const char *name, *alpn;
		int max_version;
		enum err_code server, client;
		const char *client_text;
	} cases[] = {
		{"no certificate", TLS_ALPN_MAIN, TLS1_3_VERSION, ERR_DENIED, ERR_DENIED, "enrol"},
		{"TLS 1.2", TLS_ALPN_MAIN, TLS1_2_VERSION, ERR_PROTOCOL, ERR_PROTOCOL, "TLS 1.3"},
		{"another ALPN", "h2", TLS1_3_VERSION, ERR_PROTOCOL, ERR_PROTOCOL, "right port"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lab lab;

		lab_open(&lab, &coordinator, &ours);
		lab.client_ctx = foreign_ctx(cases[i].max_version);
		lab_connect(&lab, cases[i].alpn);
		run_until(lab.base, &lab.server.closed, 1, cases[i].name);
		run_until(lab.base, &lab.client.closed, 1, cases[i].name);
		if (lab.server.opened || lab.client.why.code != cases[i].client ||
			lab.server.why.code != cases[i].server ||
			!strstr(lab.client.why.text, cases[i].client_text))
			fail_msg("%s: server: %s; client: %s", cases[i].name, lab.server.why.text,
				lab.client.why.text);
		lab_close(&lab);
	}
}

/* The server is not who it should be: the client never opens. */
static void test_refused_servers(void **state)
{
	const struct {
		const char *name;
		const struct identity *id;
		const struct authority *ca;
	} cases[] = {
		{"another CA", &their_coordinator, &theirs},
		{"an agent's certificate", &agent, &ours},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lab lab;

		lab_open(&lab, cases[i].id, cases[i].ca);
		lab_connect_as(&lab, &agent);
		run_until(lab.base, &lab.client.closed, 1, cases[i].name);
		assert_int_equal(lab.client.opened, 0);
		assert_int_equal(lab.client.why.code, ERR_DENIED);
		lab_close(&lab);
	}
}

static void test_enrol(void **state)
{
	struct tls_peer peer;
	struct lab lab;
	struct err e;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	assert_int_equal(tls_enrol_ctx(ours.fingerprint, &lab.client_ctx, &e), 0);
	lab_connect(&lab, TLS_ALPN_ENROL);
	run_until(lab.base, &lab.client.opened, 1, "client opens");
	run_until(lab.base, &lab.server.opened, 1, "server opens");
	assert_int_equal(tls_peer(conn_ssl(lab.server.c), &peer, &e), 0);
	assert_int_equal(peer.enrolling, 1);
	assert_int_equal(peer.role, TLS_ROLE_NONE);
	lab_close(&lab);
}

static void test_enrol_pin(void **state)
{
	char leaf[TLS_FINGERPRINT_LEN];
	struct err e;

	(void)state;
	assert_int_equal(tls_cert_fingerprint(coordinator.cert.data, leaf, &e), 0);
	for (int i = 0; i < 2; i++) { /* another CA; the certificate itself is not its CA */
		struct lab lab;

		lab_open(&lab, &coordinator, &ours);
		assert_int_equal(
			tls_enrol_ctx(i ? leaf : theirs.fingerprint, &lab.client_ctx, &e), 0);
		lab_connect(&lab, TLS_ALPN_ENROL);
		run_until(lab.base, &lab.client.closed, 1, "client refuses");
		assert_int_equal(lab.client.opened, 0);
		assert_int_equal(lab.client.why.code, ERR_DENIED);
		lab_close(&lab);
	}
}

static void test_raw_bytes(void **state)
{
	static const struct {
		const char *name, *bytes;
		size_t len;
	} cases[] = {
		{"plain HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 27},
		{"garbage", "\x00\xff\x01\x02\x93\x81zzzzzzzzzzzzzzzzzzzzzz", 28},
		{"a frame without TLS", "\x00\x00\x00\x02\x62\x00", 6},
		{"a handshake record that lies", "\x16\x03\x01\x00\x05\x01\xff\xff\xff\xff", 10},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lab lab;
		int fd;

		lab_open(&lab, &coordinator, &ours);
		fd = lab_raw(&lab);
		assert_int_equal(
			send(fd, cases[i].bytes, cases[i].len, MSG_NOSIGNAL), cases[i].len);
		shutdown(fd, SHUT_WR);
		run_until(lab.base, &lab.server.closed, 1, cases[i].name);
		assert_int_equal(lab.server.opened, 0);
		close(fd);
		lab_close(&lab);
	}
}

static void test_half_open(void **state)
{
	struct lab lab;
	int64_t start = clock_mono_ns();
	int fd;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	lab.deadline_ms = 100;
	fd = lab_raw(&lab);
	run_until(lab.base, &lab.server.closed, 1, "the handshake's deadline");
	assert_int_equal(lab.server.why.code, ERR_TIMEOUT);
	/* libevent's clock is coarse: a few ms early is on time. */
	assert_true(clock_mono_ns() - start >= 90 * NS_PER_MS);
	close(fd);
	lab_close(&lab);
}

/* A connection to somewhere that accepts and says nothing ends at its own deadline. */
static void test_silent_server(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct lab lab;
	char address[32];
	struct err e;

	(void)state;
	bind(fd, (struct sockaddr *)&a, sizeof(a));
	listen(fd, 1);
	getsockname(fd, (struct sockaddr *)&a, &len);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(a.sin_port));
	lab_open(&lab, &coordinator, &ours);
	assert_int_equal(tls_enrol_ctx(ours.fingerprint, &lab.client_ctx, &e), 0);
	lab.client.c = conn_connect(lab.base, address, lab.client_ctx, TLS_ALPN_ENROL, 100,
		&end_handler, &lab.client, &e);
	run_until(lab.base, &lab.client.closed, 1, "the client's deadline");
	assert_int_equal(lab.client.why.code, ERR_TIMEOUT);
	close(fd);
	lab_close(&lab);
}

static void test_no_server(void **state)
{
	static const struct {
		const char *address;
		enum err_code code;
	} cases[] = {
		{"127.0.0.1:1", ERR_CONN},
		{"localhost:1", ERR_CONN},
		{"no such host:7420", ERR_NOTFOUND},
	};
	struct lab lab;
	struct err e;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	assert_int_equal(tls_enrol_ctx(ours.fingerprint, &lab.client_ctx, &e), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lab.client = (struct end){0};
		lab.client.c = conn_connect(lab.base, cases[i].address, lab.client_ctx,
			TLS_ALPN_ENROL, DEADLINE_MS, &end_handler, &lab.client, &e);
		run_until(lab.base, &lab.client.closed, 1, cases[i].address);
		if (lab.client.why.code != cases[i].code)
			fail_msg("%s: %s", cases[i].address, lab.client.why.text);
	}
	assert_null(conn_connect(lab.base, "host:port", lab.client_ctx, TLS_ALPN_ENROL, 1000,
		&end_handler, &lab.client, &e));
	assert_int_equal(e.code, ERR_USAGE);
	/* Given up while the lookup and the connection are under way. */
	for (size_t i = 0; i < 2; i++) {
		lab_connect(&lab, TLS_ALPN_ENROL);
		conn_close(lab.client.c);
		lab.client.c = NULL;
	}
	lab_close(&lab);
}

/* "localhost" may be ::1 first; the listener is on 127.0.0.1 only. */
static void test_second_address(void **state)
{
	struct lab lab;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	snprintf(lab.address, sizeof(lab.address), "localhost:%u", lab.port);
	lab_connect_as(&lab, &agent);
	run_until(lab.base, &lab.client.opened, 1, "client opens by name");
	lab_close(&lab);
}

/* Frames of the largest size in both directions at once: read watermarks must not stall TLS. */
static void test_bulk(void **state)
{
	struct lab lab;
	int n = 40;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	lab_connect_as(&lab, &agent);
	run_until(lab.base, &lab.client.opened, 1, "client opens");
	run_until(lab.base, &lab.server.opened, 1, "server opens");
	for (int i = 0; i < n; i++) {
		send_chunk(lab.client.c, MSG_CHUNK_MAX);
		send_chunk(lab.server.c, MSG_CHUNK_MAX);
		send_ping(lab.client.c, i);
	}
	run_until(lab.base, &lab.server.messages, 2 * n, "server gets all");
	run_until(lab.base, &lab.client.messages, n, "client gets all");
	assert_true(lab.server.bytes == (uint64_t)n * MSG_CHUNK_MAX);
	lab_close(&lab);
}

/* The last word of a refusal arrives although the refused side had sent much that is never read. */
static void test_last_word(void **state)
{
	struct lab lab;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	lab.server.answer_and_close = 1;
	lab_connect_as(&lab, &agent);
	run_until(lab.base, &lab.client.opened, 1, "client opens");
	for (int i = 0; i < 20; i++)
		send_chunk(lab.client.c, MSG_CHUNK_MAX);
	run_until(lab.base, &lab.client.messages, 1, "the refusal arrives");
	assert_int_equal(lab.client.last_type, MSG_ERROR);
	assert_string_equal(lab.client.last_error.text, "go away");
	assert_int_equal(lab.server.messages, 1);
	run_until(lab.base, &lab.client.closed, 1, "and then the end");
	lab_close(&lab);
}

static void test_enrol_frame_max(void **state)
{
	struct lab lab;
	struct err e;

	(void)state;
	lab_open(&lab, &coordinator, &ours);
	assert_int_equal(tls_enrol_ctx(ours.fingerprint, &lab.client_ctx, &e), 0);
	lab_connect(&lab, TLS_ALPN_ENROL);
	run_until(lab.base, &lab.client.opened, 1, "client opens");
	run_until(lab.base, &lab.server.opened, 1, "server opens");
	conn_set_frame_max(lab.server.c, 1000);
	send_chunk(lab.client.c, 900);
	run_until(lab.base, &lab.server.messages, 1, "a small frame");
	send_chunk(lab.client.c, 1001);
	run_until(lab.base, &lab.server.closed, 1, "a large frame ends it");
	assert_int_equal(lab.server.why.code, ERR_PROTOCOL);
	assert_int_equal(lab.server.messages, 1);
	lab_close(&lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_refused_clients),
		cmocka_unit_test(test_refused_servers),
		cmocka_unit_test(test_enrol),
		cmocka_unit_test(test_enrol_pin),
		cmocka_unit_test(test_raw_bytes),
		cmocka_unit_test(test_half_open),
		cmocka_unit_test(test_silent_server),
		cmocka_unit_test(test_no_server),
		cmocka_unit_test(test_second_address),
		cmocka_unit_test(test_bulk),
		cmocka_unit_test(test_last_word),
		cmocka_unit_test(test_enrol_frame_max),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
