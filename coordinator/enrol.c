/*
 * Enrolment. Owns the rate limits and one struct request per store operation under way. A token is
 * looked at only after the limits and after the signing request has proved to hold a key we take.
 */
#include "coordinator/enrol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan.h"
#include "coordinator/bucket.h"
#include "coordinator/fleet.h"

#define TOKEN_PREFIX "amt1."
#define CSR_MAX 4096

struct enrol {
	struct coordinator *co;
	struct bucket_table limits;
	struct log_limit refused, limited;
};

struct request {
	struct session *session;
	char token_sha256[65], key[TLS_FINGERPRINT_LEN];
	char *csr_pem, *host, *cert_pem;
	enum tls_role role;
	char name[65];
};

struct enrol *enrol_new(struct coordinator *co)
{
	struct enrol *en = xcalloc(1, sizeof(*en));

	en->co = co;
	en->limits.each = (struct bucket_rule){.burst = 100, .per_s = 5};
	en->limits.all = (struct bucket_rule){.burst = 500, .per_s = 50};
	fs_random(&en->limits.seed, sizeof(en->limits.seed));
	en->refused = (struct log_limit){.burst = 5, .window_ms = 60000};
	en->limited = (struct log_limit){.burst = 1, .window_ms = 60000};
	return en;
}

void enrol_free(struct enrol *en)
{
	free(en);
}

static void request_free(struct request *q)
{
	session_unref(q->session);
	free(q->csr_pem);
	free(q->host);
	free(q->cert_pem);
	free(q);
}

/* The peer is never told which part was wrong. */
static void refuse(struct session *s, const char *reason)
{
	struct enrol *en = s->co->enrol;
	struct err e;
	unsigned more;

	if (s->state == SESSION_CLOSED)
		return;
	if (log_limit_pass(&en->refused, &more))
		log_warning("enrol", "%s refused: %s%s", conn_peer(s->conn), reason,
			more ? " (and more before)" : "");
	err_set(&e, ERR_DENIED, "enrolment refused; ask for a new token (`arraymark token create`)");
	session_close(s, &e);
}

void enrol_opened(struct session *s)
{
	struct enrol *en = s->co->enrol;
	struct err e;
	unsigned more;

	if (bucket_take(&en->limits, &s->address, clock_mono_ns()))
		return;
	if (log_limit_pass(&en->limited, &more))
		log_warning("enrol", "%s: too many enrolments, refused for a while", conn_peer(s->conn));
	err_set(&e, ERR_BUSY, "too many enrolments at once; try again in a minute");
	session_close(s, &e);
}

/* ---- the answer ---- */

static void reply(struct request *q)
{
	struct session *s = q->session;
	struct msg m = {.type = MSG_ENROL_REPLY};

	if (s->state == SESSION_CLOSED)
		return;
	m.u.enrol_reply.cert_pem = q->cert_pem;
	m.u.enrol_reply.ca_pem = s->co->pki.ca_pem;
	m.u.enrol_reply.name = q->name;
	m.u.enrol_reply.role = (char *)tls_role_name(q->role);
	conn_send(s->conn, &m);
	log_info("enrol", "%s %s enrolled from %s", tls_role_name(q->role), q->name,
		conn_peer(s->conn));
	session_close(s, NULL);
}

static void on_issued(void *arg, const struct err *e)
{
	struct request *q = arg;

	coordinator_op_end(q->session->co);
	if (e) {
		log_error("enrol", "can't keep the certificate of %s: %s", q->name, e->text);
		refuse(q->session, "the store failed");
	} else {
		if (q->role == TLS_ROLE_AGENT)
			fleet_enrolled(q->session->co, q->name);
		reply(q);
	}
	request_free(q);
}

static void sign(struct request *q)
{
	struct coordinator *co = q->session->co;
	struct buf cert = {0};
	char serial[41];
	struct err e;

	if (tls_sign(co->pki.ca_pem, co->pki.ca_key, q->csr_pem, q->role, q->name, NULL,
		    PKI_PEER_DAYS, &cert, serial, &e)) {
		buf_free(&cert);
		refuse(q->session, e.text);
		request_free(q);
		return;
	}
	q->cert_pem = buf_take(&cert);
	coordinator_op_begin(co);
	store_token_issued(co->store, q->token_sha256, serial, q->cert_pem, on_issued, q);
}

/* The same key asked again: the reply must have been lost. */
static int give_again(struct request *q, const char *cert_pem)
{
	char serial[PKI_SERIAL_LEN];

	if (!tls_cert_is_valid(cert_pem, 0) || pki_serial(cert_pem, serial) ||
		sessions_is_revoked(q->session->co, serial))
		return -1;
	q->cert_pem = xstrdup(cert_pem);
	return 0;
}

static void on_taken(void *arg, const struct token_use *u, const struct err *e)
{
	struct request *q = arg;
	struct err why;

	coordinator_op_end(q->session->co);
	if (e) {
		refuse(q->session, e->text);
	} else if (tls_role_parse(u->role, &q->role, &why)) {
		refuse(q->session, why.text);
	} else if (q->role == TLS_ROLE_AGENT && *q->host && strcmp(q->host, u->name)) {
		refuse(q->session, "the token is for another host");
	} else {
		snprintf(q->name, sizeof(q->name), "%s", u->name);
		if (!u->cert_pem) {
			sign(q);
			return;
		}
		if (give_again(q, u->cert_pem))
			refuse(q->session, "its certificate has ended or is revoked");
		else
			reply(q);
	}
	request_free(q);
}

void enrol_request(struct session *s, struct msg_enrol_request *q)
{
	struct request *r;
	char key[TLS_FINGERPRINT_LEN];
	struct err e;

	if (s->asked) {
		session_violation(s, "one request is all that an enrolment takes");
		return;
	}
	s->asked = 1;
	if (strlen(q->token) >= sizeof(((struct new_token *)0)->text) ||
		!str_starts(q->token, TOKEN_PREFIX)) {
		refuse(s, "what was sent is no token");
		return;
	}
	if (strlen(q->csr_pem) > CSR_MAX || tls_csr_key_fingerprint(q->csr_pem, key, &e)) {
		refuse(s, "the signing request is not one we take");
		return;
	}
	r = xcalloc(1, sizeof(*r));
	r->session = session_ref(s);
	memcpy(r->key, key, sizeof(r->key));
	fs_sha256(q->token, strlen(q->token), r->token_sha256);
	r->csr_pem = xstrdup(q->csr_pem);
	r->host = xstrdup(q->host);
	coordinator_op_begin(s->co);
	store_token_take(s->co->store, r->token_sha256, r->key, on_taken, r);
}

int enrol_token_new(const char *ca_fingerprint, const char *role, const char *name, uint64_t ttl_s,
	struct new_token *ret, struct err *e)
{
	struct new_token t = {.role = TLS_ROLE_AGENT};
	unsigned char secret[16];
	char hex[33];

	if (*role && tls_role_parse(role, &t.role, e))
		return -1;
	if (t.role == TLS_ROLE_NONE || t.role == TLS_ROLE_COORDINATOR)
		return err_set(e, ERR_INPUT, "a token is for role agent, viewer, operator or admin");
	if (plan_check_name(name, t.role == TLS_ROLE_AGENT ? "host" : "user",
		    t.role == TLS_ROLE_AGENT, e))
		return -1;
	if (ttl_s > ENROL_TTL_MAX_S)
		return err_set(e, ERR_INPUT, "a token lives at most 30 days");
	snprintf(t.name, sizeof(t.name), "%s", name);
	fs_random(secret, sizeof(secret));
	fs_hex(secret, sizeof(secret), hex);
	snprintf(t.text, sizeof(t.text), TOKEN_PREFIX "%s.%s.%s", name, hex, ca_fingerprint);
	fs_sha256(t.text, strlen(t.text), t.sha256);
	snprintf(t.id, sizeof(t.id), "%.12s", t.sha256);
	t.expires_wall_ns = clock_wall_ns() + (int64_t)(ttl_s ? ttl_s : ENROL_TTL_S) * NS_PER_S;
	*ret = t;
	return 0;
}
