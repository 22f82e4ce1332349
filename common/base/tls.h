/*
 * TLS 1.3, mutual, and the little certificate authority of a coordinator (P-256 keys).
 *
 * Contexts: TLS 1.3 only, no tickets, SSL_MODE_RELEASE_BUFFERS, SSL_OP_IGNORE_UNEXPECTED_EOF.
 * Two ALPNs: "arraymark/1" (client certificate required) and "arraymark-enrol/1" (none). A server
 * context asks for a client certificate optionally; whoever accepts the connection refuses a peer
 * on "arraymark/1" that has none (tls_peer does).
 */
#ifndef COMMON_BASE_TLS_H
#define COMMON_BASE_TLS_H

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define TLS_ALPN_MAIN "arraymark/1"
#define TLS_ALPN_ENROL "arraymark-enrol/1"
#define TLS_FINGERPRINT_LEN 65 /* SHA-256 of the certificate's DER, hex, NUL */

/* Subjects we write: O=arraymark, OU=<role>, CN=<name>. */
enum tls_role {
	TLS_ROLE_NONE,
	TLS_ROLE_AGENT,
	TLS_ROLE_VIEWER,
	TLS_ROLE_OPERATOR,
	TLS_ROLE_ADMIN,
	TLS_ROLE_COORDINATOR
};
const char *tls_role_name(enum tls_role role);
int tls_role_parse(const char *s, enum tls_role *ret, struct err *e);

/* A new P-256 key as PEM (PKCS#8). */
int tls_key_new(struct buf *ret_key_pem, struct err *e);
/* CA: self-signed, valid 10 years, from its key. */
int tls_ca_new(const char *name, const char *key_pem, struct buf *ret_cert_pem, struct err *e);
/* CSR (PEM) made from a key: proves possession; the subject in it is ignored by the signer. */
int tls_csr_new(const char *key_pem, struct buf *ret_csr_pem, struct err *e);
/* Signs the CSR's key for role and name, days valid. The CSR's signature is verified; only P-256
 * and Ed25519 keys are taken. dns: NULL-terminated SAN list (server certificate; IP addresses
 * become IP SANs), may be NULL. ret_serial: hex, 41 bytes; may be NULL. */
int tls_sign(const char *ca_cert_pem, const char *ca_key_pem, const char *csr_pem,
	enum tls_role role, const char *name, const char *const *dns, int days,
	struct buf *ret_cert_pem, char *ret_serial, struct err *e);
/* SHA-256 fingerprint of a certificate's DER / of the public key (SPKI) in a CSR. */
int tls_cert_fingerprint(const char *cert_pem, char ret[TLS_FINGERPRINT_LEN], struct err *e);
int tls_csr_key_fingerprint(const char *csr_pem, char ret[TLS_FINGERPRINT_LEN], struct err *e);

/* 1 when a certificate (PEM) is one, and still valid `days` days from now. */
int tls_cert_is_valid(const char *cert_pem, int days);

/* Contexts; all PEM texts are in memory (the agent's monitor reads the files and passes them on).
 * Caller frees with SSL_CTX_free. */
int tls_server_ctx(const char *cert_pem, const char *key_pem, const char *ca_pem, SSL_CTX **ret,
	struct err *e);
/* ca_pem set, cert and key NULL: not allowed on the main ALPN; use tls_enrol_ctx. */
int tls_client_ctx(const char *cert_pem, const char *key_pem, const char *ca_pem, SSL_CTX **ret,
	struct err *e);
/* Client of the enrolment ALPN: accepts a chain whose CA has exactly this fingerprint. */
int tls_enrol_ctx(const char *ca_fingerprint, SSL_CTX **ret, struct err *e);
/* Client SSL for one connection: SNI + host check are by certificate role, since names are the
 * user's: the peer must carry OU=coordinator under our CA. */
int tls_client_ssl(SSL_CTX *ctx, SSL **ret, struct err *e);
/* After the client's handshake on the main ALPN: the peer is a coordinator of our CA. */
int tls_check_coordinator(SSL *ssl, struct err *e);

struct tls_peer {
	enum tls_role role;
	char name[65];   /* CN: host name or user name */
	char serial[41]; /* hex, lower case */
	char fingerprint[TLS_FINGERPRINT_LEN];
	int enrolling; /* ALPN is the enrolment one; role is NONE and the rest is empty */
};
/* Identity of a finished server-side handshake; ERR_DENIED when it has no certificate on the main
 * ALPN or a subject that is not ours. */
int tls_peer(SSL *ssl, struct tls_peer *ret, struct err *e);
/* What a failed handshake or read means for people; code is OpenSSL's (ERR_get_error), 0: unknown.
 * ERR_DENIED: one side refused the other's certificate; ERR_PROTOCOL: the peer does not speak TLS
 * 1.3 or our ALPN; ERR_CONN: anything else. Empties the error queue. Returns -1. */
int tls_describe_failure(SSL *ssl, unsigned long code, struct err *e);
/* The OpenSSL error queue as one text, queue emptied. */
const char *tls_error_text(char *out, size_t len);

#endif
