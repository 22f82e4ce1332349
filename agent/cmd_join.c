/*
 * `join`: enrols this host. A key is made here, a one-time token gets its certificate; the token's
 * last part pins the authority, so that no stranger can take the coordinator's place.
 *
 * Invariant: the key that belongs to the stored certificate is never lost: a new one waits in
 * key.pem.new until its certificate is there. An attempt whose answer got lost can be repeated with
 * the same token, because it finds the same key.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "agent/commands.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/tls.h"
#include "common/plan/plan.h"
#include "proto/conn.h"

#define TOKEN_PREFIX "amt1."
#define TOKEN_MAX 512
#define JOIN_MS 15000
#define PEM_MAX (64 * 1024)

struct join {
	const struct agent_options *opt;
	struct event_base *base;
	struct conn *conn; /* NULL at its end */
	const char *address;
	char *state, *token, *name, *fingerprint; /* the last two point into parts */
	char *parts;
	struct buf key;
	struct msg reply; /* MSG_ENROL_REPLY when it came */
	struct err why;
};

/* amt1.<name>.<secret>.<fingerprint>; a name may have dots. */
static int parse_token(struct join *j, struct err *e)
{
	char *fingerprint, *secret;

	if (!str_starts(j->token, TOKEN_PREFIX))
		goto bad;
	j->parts = xstrdup(j->token + strlen(TOKEN_PREFIX));
	fingerprint = strrchr(j->parts, '.');
	if (!fingerprint || strlen(fingerprint + 1) != TLS_FINGERPRINT_LEN - 1)
		goto bad;
	*fingerprint = '\0';
	secret = strrchr(j->parts, '.');
	if (!secret)
		goto bad;
	*secret = '\0';
	j->fingerprint = fingerprint + 1;
	j->name = j->parts;
	if (plan_check_name(j->name, "host", 1, e) == 0)
		return 0;
bad:
	return err_set(e, ERR_INPUT, "that is not a token (amt1.NAME.SECRET.FINGERPRINT, whole, as "
				     "`arraymark token create NAME` printed it)");
}

static int read_line(int fd, struct buf *out, struct err *e)
{
	char c;
	ssize_t n;

	while (out->len < TOKEN_MAX) {
		n = read(fd, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "cannot read the token");
		if (n == 0 || c == '\n')
			return 0;
		buf_addc(out, c);
	}
	return err_set(e, ERR_INPUT, "that is too long for a token");
}

/* From a terminal without echo, else the first line of stdin. */
static int ask_token(struct buf *out, struct err *e)
{
	struct termios old, quiet;
	int status, tty = tcgetattr(0, &old) == 0;

	if (tty) {
		quiet = old;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		fputs("Token: ", stderr);
		tcsetattr(0, TCSAFLUSH, &quiet);
	}
	status = read_line(0, out, e);
	if (tty) {
		tcsetattr(0, TCSAFLUSH, &old);
		fputc('\n', stderr);
	}
	return status;
}

static int get_token(struct join *j, const char *file, struct err *e)
{
	struct buf text = {0};
	int status;

	if (file && strcmp(file, "-"))
		status = fs_read_file(file, TOKEN_MAX, &text, e);
	else
		status = ask_token(&text, e);
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	if (!status && !text.len)
		status = err_set(e, ERR_INPUT, "no token: `arraymark token create NAME` prints one");
	j->token = buf_take(&text);
	return status ? -1 : parse_token(j, e);
}

static char *in_state(const struct join *j, const char *file)
{
	return xasprintf("%s/%s", j->state, file);
}

static int put(const struct join *j, const char *file, const char *text, mode_t mode, struct err *e)
{
	char *path = in_state(j, file);
	int status = fs_write_file(path, text, strlen(text), mode, e);

	free(path);
	return status;
}

/* The key that waits for its certificate; made when there is none. */
static int get_key(struct join *j, struct err *e)
{
	char *path = in_state(j, "key.pem.new");
	int status = fs_read_file(path, PEM_MAX, &j->key, e);

	if (status && e->code == ERR_NOTFOUND) {
		buf_reset(&j->key);
		status = tls_key_new(&j->key, e) || put(j, "key.pem.new", buf_str(&j->key), 0600, e);
	}
	free(path);
	return status ? -1 : 0;
}

static void done(struct join *j)
{
	event_base_loopbreak(j->base);
}

static void on_open(struct conn *c, void *arg)
{
	struct join *j = arg;
	struct msg m = {.type = MSG_ENROL_REQUEST};
	struct buf csr = {0};

	if (tls_csr_new(buf_str(&j->key), &csr, &j->why)) {
		done(j);
	} else {
		m.u.enrol_request.token = j->token;
		m.u.enrol_request.csr_pem = csr.data;
		m.u.enrol_request.host = j->name;
		conn_send(c, &m);
	}
	buf_free(&csr);
}

static void on_msg(struct conn *c, struct msg *m, void *arg)
{
	struct join *j = arg;

	(void)c;
	if (m->type == MSG_ENROL_REPLY) {
		j->reply = *m;
		memset(m, 0, sizeof(*m));
	} else if (m->type == MSG_ERROR) {
		j->why = m->u.error;
	} else {
		err_set(&j->why, ERR_PROTOCOL, "%s answered with something else than a certificate",
			j->address);
	}
	done(j);
}

static void on_close(struct conn *c, const struct err *why, void *arg)
{
	struct join *j = arg;

	(void)c;
	j->conn = NULL;
	if (why && j->why.code == ERR_NONE)
		err_copy(&j->why, why);
	done(j);
}

static const struct conn_handler handler = {
	.on_open = on_open, .on_msg = on_msg, .on_close = on_close};

static void explain(const struct join *j, struct err *e)
{
	err_copy(e, &j->why);
	if (e->code == ERR_NONE)
		err_set(e, ERR_CONN, "the connection ended without an answer");
	if (!strstr(e->text, j->address))
		err_prefix(e, "%s", j->address);
}

static int ask(struct join *j, struct err *e)
{
	SSL_CTX *ctx;

	if (tls_enrol_ctx(j->fingerprint, &ctx, e))
		return -1;
	j->base = event_base_new();
	j->conn = conn_connect(j->base, j->address, ctx, TLS_ALPN_ENROL, JOIN_MS, &handler, j, e);
	if (j->conn) {
		conn_set_idle(j->conn, JOIN_MS);
		event_base_dispatch(j->base);
		if (j->conn)
			conn_abort(j->conn);
		event_base_dispatch(j->base); /* until it is gone */
		if (j->reply.type == MSG_NONE)
			explain(j, e);
	}
	event_base_free(j->base);
	SSL_CTX_free(ctx);
	return j->reply.type == MSG_NONE ? -1 : 0;
}

static int check_reply(const struct join *j, struct err *e)
{
	const struct msg_enrol_reply *r = &j->reply.u.enrol_reply;
	char fingerprint[TLS_FINGERPRINT_LEN];
	SSL_CTX *ctx;

	if (strcmp(r->role, tls_role_name(TLS_ROLE_AGENT)))
		return err_set(e, ERR_INPUT,
			"the token is for role '%s': make one for this host with `arraymark token "
			"create NAME`",
			r->role);
	if (tls_cert_fingerprint(r->ca_pem, fingerprint, e))
		return -1;
	if (strcmp(fingerprint, j->fingerprint))
		return err_set(e, ERR_DENIED, "%s answered with another authority than the token's",
			j->address);
	if (tls_client_ctx(r->cert_pem, buf_str(&j->key), r->ca_pem, &ctx, e))
		return -1;
	SSL_CTX_free(ctx);
	return plan_check_name(r->name, "host", 1, e);
}

static int keep(const struct join *j, struct err *e)
{
	const struct msg_enrol_reply *r = &j->reply.u.enrol_reply;
	char *from = in_state(j, "key.pem.new"), *to = in_state(j, "key.pem");
	int status = put(j, "ca.pem", r->ca_pem, 0644, e) || put(j, "name", r->name, 0644, e) ||
		put(j, "coordinator", j->address, 0644, e) ||
		put(j, "cert.pem", r->cert_pem, 0644, e);

	if (!status && rename(from, to))
		status = err_sys(e, "cannot rename %s", from);
	free(from);
	free(to);
	return status ? -1 : 0;
}

int command_join(const struct agent_options *opt, const struct args *a)
{
	struct join j = {.opt = opt, .address = a->v[0]};
	const char *file = args_get(a, "token-file");
	char host[256], port[8];
	struct err e;
	int status;

	status = conn_split_host_port(j.address, host, port, &e) ||
		host_state_folder(opt, &j.state, &e) || get_token(&j, file, &e) ||
		get_key(&j, &e) || ask(&j, &e) || check_reply(&j, &e) || keep(&j, &e);
	if (!status)
		printf("This host is '%s' at %s. Next: %s`arraymark-agent run` (an agent that runs "
		       "already must be restarted).\n",
			j.reply.u.enrol_reply.name, j.address,
			access(opt->config, F_OK) ? "`arraymark-agent policy init`, then " : "");
	explicit_bzero(j.key.data, j.key.len);
	buf_free(&j.key);
	msg_clear(&j.reply);
	free(j.state);
	free(j.token);
	free(j.parts);
	return status ? command_error(&e) : EXIT_DONE;
}
