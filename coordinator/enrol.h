/*
 * Enrolment: a one-time token and a key's signing request against a certificate.
 *
 * A token is "amt1.<name>.<32 hex>.<CA fingerprint>": the client pins the authority by its last
 * part; name is the host (or user) the certificate will be for. Only its SHA-256 is stored, its id
 * is that hash's beginning. The same token with the same key gets the same certificate again while
 * that is valid; everything else is refused with the same words, whatever the reason.
 */
#ifndef COORDINATOR_ENROL_H
#define COORDINATOR_ENROL_H

#include "common/base/tls.h"
#include "coordinator/sessions.h"
#include "proto/msg.h"

#define ENROL_TTL_S (24 * 60 * 60)
#define ENROL_TTL_MAX_S (30 * 24 * 60 * 60)
#define ENROL_ID_LEN 13 /* 12 hex digits */

struct enrol *enrol_new(struct coordinator *co);
void enrol_free(struct enrol *en);

/* A handshake on the enrolment ALPN ended well; then its one request. */
void enrol_opened(struct session *s);
void enrol_request(struct session *s, struct msg_enrol_request *q);

struct new_token {
	char text[192];
	char sha256[65];
	char id[ENROL_ID_LEN];
	enum tls_role role;
	char name[65];
	int64_t expires_wall_ns;
};
/* Draws a token. role "" is agent; ttl_s 0 is ENROL_TTL_S. ERR_INPUT for a bad role, name or time. */
int enrol_token_new(const char *ca_fingerprint, const char *role, const char *name, uint64_t ttl_s,
	struct new_token *ret, struct err *e);

#endif
