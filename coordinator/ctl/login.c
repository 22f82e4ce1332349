/*
 * login: enrols this user with a one-time token. The key is made here and stays here; the token,
 * read from a prompt or stdin, is never on a command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/base/tls.h"
#include "coordinator/ctl/client.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/verbs.h"
#include "proto/conn.h"

#define TOKEN_MAX 1024
#define ENROL_MS 10000

/* ---- the token ---- */

static int read_line(int fd, char line[TOKEN_MAX], struct err *e)
{
	size_t n = 0;
	ssize_t got = 0;

	while (n < TOKEN_MAX - 1 && (got = read(fd, line + n, 1)) == 1 && line[n] != '\n')
		n++;
	if (got < 0)
		return err_sys(e, "cannot read the token");
	line[n] = '\0';
	line[strcspn(line, " \t\r")] = '\0';
	return 0;
}

static int prompt(const char *host_port, char line[TOKEN_MAX], struct err *e)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY), r;
	struct termios was, quiet;

	if (fd < 0 || tcgetattr(fd, &was)) {
		err_sys(e, "no terminal to ask for the token on: give it on stdin");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	quiet = was;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	dprintf(fd, "token for %s: ", host_port);
	tcsetattr(fd, TCSAFLUSH, &quiet);
	r = read_line(fd, line, e);
	tcsetattr(fd, TCSAFLUSH, &was);
	dprintf(fd, "\n");
	close(fd);
	return r;
}

static int read_token(const char *host_port, char token[TOKEN_MAX], struct err *e)
{
	int r = isatty(STDIN_FILENO) ? prompt(host_port, token, e)
				     : read_line(STDIN_FILENO, token, e);

	if (!r && !*token)
		return err_set(e, ERR_USAGE,
			"no token: `arraymark token create --role operator NAME` "
			"or `arraymark-coordinator token` prints one");
	return r;
}

/* The last part of a token: the fingerprint of the authority that we are going to trust. */
static int token_fingerprint(const char *token, const char **ret, struct err *e)
{
	const char *dot = strrchr(token, '.');

	if (strncmp(token, "amt1.", 5) || !dot || strlen(dot + 1) != TLS_FINGERPRINT_LEN - 1 ||
		strspn(dot + 1, "0123456789abcdef") != TLS_FINGERPRINT_LEN - 1)
		return err_set(e, ERR_INPUT, "this is no token: one looks like amt1.NAME.….…");
	*ret = dot + 1;
	return 0;
}

/* ---- the exchange ---- */

struct enrolment {
	struct event_base *base;
	const char *token, *csr;
	int done, failed, late;
	struct err err;
	char *cert, *ca, *name, *role;
};

static void enrol_end(struct enrolment *x, struct conn *c, const struct err *why)
{
	if (x->done)
		return;
	x->done = 1;
	x->failed = why != NULL;
	if (why)
		err_copy(&x->err, why);
	if (c)
		conn_abort(c);
}

static void on_open(struct conn *c, void *arg)
{
	struct enrolment *x = arg;
	struct msg m = {.type = MSG_ENROL_REQUEST};

	m.u.enrol_request.token = (char *)x->token;
	m.u.enrol_request.csr_pem = (char *)x->csr;
	m.u.enrol_request.host = (char *)"";
	conn_send(c, &m);
}

static char *take(char **s)
{
	char *v = *s;

	*s = NULL;
	return v;
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct enrolment *x = arg;
	struct err e;

	if (m->type == MSG_ENROL_REPLY && !x->cert) {
		x->cert = take(&m->u.enrol_reply.cert_pem);
		x->ca = take(&m->u.enrol_reply.ca_pem);
		x->name = take(&m->u.enrol_reply.name);
		x->role = take(&m->u.enrol_reply.role);
		enrol_end(x, c, NULL);
	} else if (m->type == MSG_ERROR) {
		enrol_end(x, c, &m->u.error);
	} else if (m->type != MSG_PING) {
		err_set(&e, ERR_PROTOCOL, "the coordinator answered with %s",
			msg_type_name(m->type));
		enrol_end(x, c, &e);
	}
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	(void)c;
	enrol_end(arg, NULL, why);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct enrolment *x = arg;

	(void)fd;
	(void)what;
	x->late = 1;
}

static const struct conn_handler handler = {on_open, on_msg, on_close};

static int exchange(struct enrolment *x, const char *host_port, SSL_CTX *ctx, struct err *e)
{
	struct timeval tv = {ENROL_MS / 1000, 0};
	struct event *deadline;
	struct conn *c;

	x->base = event_base_new();
	if (!x->base)
		return err_set(e, ERR_IO, "no event loop can be made");
	c = conn_connect(x->base, host_port, ctx, TLS_ALPN_ENROL, ENROL_MS, &handler, x, e);
	if (c) {
		deadline = event_new(x->base, -1, 0, on_deadline, x);
		event_add(deadline, &tv);
		while (!x->done && !x->late && event_base_loop(x->base, EVLOOP_ONCE) == 0)
			;
		event_free(deadline);
		if (!x->done) {
			err_set(&x->err, ERR_TIMEOUT, "no answer within %d s", ENROL_MS / 1000);
			enrol_end(x, c, &x->err);
		}
		event_base_dispatch(x->base); /* until the connection's memory is gone */
		if (x->failed)
			err_copy(e, &x->err);
	}
	event_base_free(x->base);
	return c && !x->failed ? 0 : -1;
}

static int enrol(struct enrolment *x, const char *host_port, const char *fingerprint, struct err *e)
{
	SSL_CTX *ctx;
	int r;

	if (tls_enrol_ctx(fingerprint, &ctx, e))
		return -1;
	r = exchange(x, host_port, ctx, e);
	SSL_CTX_free(ctx);
	if (!r)
		return 0;
	if (e->code != ERR_DENIED && e->code != ERR_PROTOCOL)
		e->code = ERR_CONN;
	if (!strstr(e->text, host_port))
		err_prefix(e, "%s", host_port);
	return -1;
}

/* What came back must be ours: the pinned authority, a certificate for our key, a user's role. */
static int check_reply(
	const struct enrolment *x, const char *fingerprint, const char *key, struct err *e)
{
	char got[TLS_FINGERPRINT_LEN];
	SSL_CTX *ctx;

	if (tls_cert_fingerprint(x->ca, got, e))
		return -1;
	if (strcmp(got, fingerprint))
		return err_set(
			e, ERR_DENIED, "the coordinator sent another authority than the token's");
	if (!strcmp(x->role, "agent"))
		return err_set(e, ERR_DENIED,
			"the token is for host %s: use it there, with "
			"`arraymark-agent join`",
			x->name);
	if (tls_client_ctx(x->cert, key, x->ca, &ctx, e))
		return -1;
	SSL_CTX_free(ctx);
	return 0;
}

/* ---- the verb ---- */

static int tell(struct ctl *c, const char *host_port, const struct enrolment *x, struct err *e)
{
	struct buf out = {0};
	int r;

	if (c->json)
		return ctl_out_json(json_pack("{s:o,s:o,s:o}", "coordinator", json_text(host_port),
					    "name", json_text(x->name), "role", json_text(x->role)),
			e);
	buf_addf(&out, "logged in to %s as ", host_port);
	print_safe(x->name, &out);
	buf_adds(&out, ", ");
	print_safe(x->role, &out);
	buf_addc(&out, '\n');
	r = ctl_out(&out, e);
	buf_free(&out);
	return r;
}

static int login(struct ctl *c, const char *host_port, struct err *e)
{
	char token[TOKEN_MAX], *key = NULL;
	struct enrolment x = {0};
	const char *fingerprint;
	struct buf csr = {0};
	int r = -1;

	if (read_token(host_port, token, e) || token_fingerprint(token, &fingerprint, e))
		goto out;
	if (target_key_prepare(host_port, &key, e)) {
		if (e->code == ERR_DENIED)
			e->code = ERR_IO; /* of a file system, not of the coordinator */
		goto out;
	}
	if (tls_csr_new(key, &csr, e))
		goto out;
	x.token = token;
	x.csr = buf_str(&csr);
	if (enrol(&x, host_port, fingerprint, e))
		goto out;
	if (check_reply(&x, fingerprint, key, e))
		target_key_forget(host_port);
	else if (!target_login_keep(host_port, key, x.cert, x.ca, e))
		r = tell(c, host_port, &x, e);
out:
	explicit_bzero(token, sizeof(token));
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
	free(x.cert);
	free(x.ca);
	free(x.name);
	free(x.role);
	buf_free(&csr);
	return r;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	char *host_port;
	int r;

	if (target_normalise(a->v[0], &host_port, e)) {
		e->code = ERR_USAGE;
		return -1;
	}
	r = login(c, host_port, e);
	free(host_port);
	return r;
}

const struct verb verb_login = {
	.name = "login",
	.args = "HOST[:PORT]",
	.summary = "enrol here with a one-time token, remember the coordinator",
	.help = "The token is read from a prompt, or from stdin when that is no terminal. The "
		"key is made here, in ~/.config/arraymark, and never leaves this machine. The "
		"default port is 7420.\n",
	.examples = "arraymark login bench.example.org\n"
		"arraymark login bench.example.org:7420 <token\n",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
