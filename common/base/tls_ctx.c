/*
 * TLS contexts. Invariant: TLS 1.3 only, no tickets, and a peer on the main ALPN without a
 * certificate of our CA never finishes its handshake.
 */
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/tls_pem.h"

static int enrol_pin_index = -1;

static SSL_CTX *ctx_new(const SSL_METHOD *method, struct err *e)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx || !SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) ||
		!SSL_CTX_set_num_tickets(ctx, 0)) {
		tls_err(e, ERR_FAILED, "making a TLS context");
		SSL_CTX_free(ctx);
		return NULL;
	}
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_options(ctx, SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	return ctx;
}

/* Our certificate (first of the text, its intermediates after it) and key. */
static int use_identity(SSL_CTX *ctx, const char *cert_pem, const char *key_pem, struct err *e)
{
	STACK_OF(X509) *certs = tls_pem_certs(cert_pem, "our certificate", e);
	EVP_PKEY *key = certs ? tls_pem_key(key_pem, "our key", e) : NULL;
	int rc = -1;

	if (!key)
		goto out;
	if (!SSL_CTX_use_certificate(ctx, sk_X509_value(certs, 0)) ||
		!SSL_CTX_use_PrivateKey(ctx, key) || !SSL_CTX_check_private_key(ctx)) {
		tls_err(e, ERR_INPUT, "our certificate and key do not fit together");
		goto out;
	}
	for (int i = 1; i < sk_X509_num(certs); i++)
		if (!SSL_CTX_add1_chain_cert(ctx, sk_X509_value(certs, i))) {
			tls_err(e, ERR_INPUT, "our certificate's chain");
			goto out;
		}
	rc = 0;
out:
	EVP_PKEY_free(key);
	sk_X509_pop_free(certs, X509_free);
	return rc;
}

/* Trusts the CA certificates; with `send`, the one that signed us is sent along, since a client
 * that enrols knows it by its fingerprint only. */
static int use_ca(SSL_CTX *ctx, const char *ca_pem, int send, struct err *e)
{
	STACK_OF(X509) *certs = tls_pem_certs(ca_pem, "CA certificate", e);
	X509_STORE *store = SSL_CTX_get_cert_store(ctx);
	X509 *own = SSL_CTX_get0_certificate(ctx);
	int rc = 0;

	if (!certs)
		return -1;
	for (int i = 0; rc == 0 && i < sk_X509_num(certs); i++) {
		X509 *ca = sk_X509_value(certs, i);

		if (!X509_STORE_add_cert(store, ca) ||
			(send && X509_check_issued(ca, own) == X509_V_OK &&
				!SSL_CTX_add1_chain_cert(ctx, ca)))
			rc = tls_err(e, ERR_INPUT, "CA certificate");
	}
	sk_X509_pop_free(certs, X509_free);
	return rc;
}

static int alpn_is(const unsigned char *p, unsigned len, const char *name)
{
	return len == strlen(name) && memcmp(p, name, len) == 0;
}

/* Runs before the server decides whether to ask for a certificate: who enrols is not asked. */
static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
	const unsigned char *in, unsigned in_len, void *arg)
{
	(void)arg;
	for (unsigned at = 0; at < in_len; at += 1 + in[at]) {
		unsigned len = in[at];

		if (at + 1 + len > in_len)
			break;
		if (alpn_is(in + at + 1, len, TLS_ALPN_ENROL))
			SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
		else if (!alpn_is(in + at + 1, len, TLS_ALPN_MAIN))
			continue;
		*out = in + at + 1;
		*out_len = (unsigned char)len;
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

int tls_server_ctx(
	const char *cert_pem, const char *key_pem, const char *ca_pem, SSL_CTX **ret, struct err *e)
{
	SSL_CTX *ctx = ctx_new(TLS_server_method(), e);

	if (!ctx)
		return -1;
	SSL_CTX_set_alpn_select_cb(ctx, select_alpn, NULL);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	if (use_identity(ctx, cert_pem, key_pem, e) < 0 || use_ca(ctx, ca_pem, 1, e) < 0) {
		SSL_CTX_free(ctx);
		return -1;
	}
	*ret = ctx;
	return 0;
}

int tls_client_ctx(
	const char *cert_pem, const char *key_pem, const char *ca_pem, SSL_CTX **ret, struct err *e)
{
	SSL_CTX *ctx = ctx_new(TLS_client_method(), e);

	if (!ctx)
		return -1;
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	if (use_identity(ctx, cert_pem, key_pem, e) < 0 || use_ca(ctx, ca_pem, 0, e) < 0) {
		SSL_CTX_free(ctx);
		return -1;
	}
	*ret = ctx;
	return 0;
}

/* Verifies the chain with the pinned certificate, if the peer sent it, as the only trust. */
static int verify_pinned(X509_STORE_CTX *store, void *arg)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	const char *pin = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), enrol_pin_index);
	STACK_OF(X509) *sent = X509_STORE_CTX_get0_untrusted(store);
	STACK_OF(X509) * trusted;
	char digest[TLS_FINGERPRINT_LEN];
	struct err e;
	int ok = 0;

	(void)arg;
	for (int i = 0; i < sk_X509_num(sent); i++) {
		X509 *cert = sk_X509_value(sent, i);

		if (tls_digest_cert(cert, digest, &e) < 0 || strcmp(digest, pin) != 0)
			continue;
		trusted = sk_X509_new_null();
		if (trusted && sk_X509_push(trusted, cert)) {
			X509_STORE_CTX_set0_trusted_stack(store, trusted);
			ok = X509_verify_cert(store) == 1;
			X509_STORE_CTX_set0_trusted_stack(store, NULL);
		}
		sk_X509_free(trusted);
		return ok;
	}
	X509_STORE_CTX_set_error(store, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
	return 0;
}

static void free_pin(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl, void *argp)
{
	(void)parent;
	(void)ad;
	(void)idx;
	(void)argl;
	(void)argp;
	free(ptr);
}

int tls_enrol_ctx(const char *ca_fingerprint, SSL_CTX **ret, struct err *e)
{
	SSL_CTX *ctx;

	if (strspn(ca_fingerprint, "0123456789abcdef") != TLS_FINGERPRINT_LEN - 1 ||
		ca_fingerprint[TLS_FINGERPRINT_LEN - 1])
		return err_set(e, ERR_INPUT, "the CA's fingerprint is not 64 hex digits");
	if (enrol_pin_index < 0)
		enrol_pin_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_pin);
	ctx = ctx_new(TLS_client_method(), e);
	if (!ctx)
		return -1;
	SSL_CTX_set_ex_data(ctx, enrol_pin_index, xstrdup(ca_fingerprint));
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(ctx, verify_pinned, NULL);
	*ret = ctx;
	return 0;
}

int tls_client_ssl(SSL_CTX *ctx, SSL **ret, struct err *e)
{
	SSL *ssl = SSL_new(ctx);

	if (!ssl)
		return tls_err(e, ERR_FAILED, "making a TLS connection");
	*ret = ssl;
	return 0;
}
