/* The certificate authority: keys, requests, signatures, fingerprints, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/base/mem.h"
#include "common/base/tls.h"

struct pki {
	struct buf ca_key, ca, key, csr;
};

static int setup(void **state)
{
	struct pki *p = xcalloc(1, sizeof(*p));
	struct err e;

	if (tls_key_new(&p->ca_key, &e) < 0 || tls_ca_new("test", p->ca_key.data, &p->ca, &e) < 0 ||
		tls_key_new(&p->key, &e) < 0 || tls_csr_new(p->key.data, &p->csr, &e) < 0)
		fail_msg("%s", e.text);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pki *p = *state;

	buf_free(&p->ca_key);
	buf_free(&p->ca);
	buf_free(&p->key);
	buf_free(&p->csr);
	free(p);
	return 0;
}

static X509 *parse(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);

	BIO_free(bio);
	assert_non_null(cert);
	return cert;
}

/* OpenSSL's own verification of a certificate under the CA for one purpose. */
static int verifies(const char *cert_pem, const char *ca_pem, int purpose)
{
	X509 *cert = parse(cert_pem), *ca = parse(ca_pem);
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	int ok;

	X509_STORE_add_cert(store, ca);
	X509_STORE_CTX_init(ctx, store, cert, NULL);
	X509_STORE_CTX_set_purpose(ctx, purpose);
	ok = X509_verify_cert(ctx) == 1;
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	X509_free(cert);
	X509_free(ca);
	return ok;
}

static void test_sign(void **state)
{
	static const char *const names[] = {"bench.example.org", "127.0.0.1", "::1", NULL};
	struct pki *p = *state;
	struct buf server = {0}, agent = {0};
	char serial[41] = "", other[41] = "", line[256];
	X509 *cert;
	struct err e;

	assert_int_equal(tls_sign(p->ca.data, p->ca_key.data, p->csr.data, TLS_ROLE_COORDINATOR,
				 "bench", names, 30, &server, serial, &e),
		0);
	assert_int_equal(tls_sign(p->ca.data, p->ca_key.data, p->csr.data, TLS_ROLE_AGENT, "knew",
				 NULL, 30, &agent, other, &e),
		0);
	assert_int_equal(strlen(serial), 32);
	assert_string_not_equal(serial, other);
	assert_true(verifies(server.data, p->ca.data, X509_PURPOSE_SSL_SERVER));
	assert_false(verifies(server.data, p->ca.data, X509_PURPOSE_SSL_CLIENT));
	assert_true(verifies(agent.data, p->ca.data, X509_PURPOSE_SSL_CLIENT));
	assert_false(verifies(agent.data, p->ca.data, X509_PURPOSE_SSL_SERVER));
	cert = parse(agent.data);
	X509_NAME_oneline(X509_get_subject_name(cert), line, sizeof(line));
	assert_string_equal(line, "/O=arraymark/OU=agent/CN=knew");
	assert_int_equal(X509_check_ca(cert), 0);
	X509_free(cert);
	cert = parse(server.data);
	assert_int_equal(X509_check_host(cert, "bench.example.org", 0, 0, NULL), 1);
	assert_int_equal(X509_check_ip_asc(cert, "127.0.0.1", 0), 1);
	assert_int_equal(X509_check_ip_asc(cert, "::1", 0), 1);
	assert_int_equal(X509_check_host(cert, "other.example.org", 0, 0, NULL), 0);
	X509_free(cert);
	buf_free(&server);
	buf_free(&agent);
}

static void test_fingerprints(void **state)
{
	struct pki *p = *state;
	struct buf again = {0};
	char ca[TLS_FINGERPRINT_LEN], a[TLS_FINGERPRINT_LEN], b[TLS_FINGERPRINT_LEN];
	struct err e;

	assert_int_equal(tls_cert_fingerprint(p->ca.data, ca, &e), 0);
	assert_int_equal(strlen(ca), 64);
	/* Two requests of one key differ in their signatures, not in the key. */
	assert_int_equal(tls_csr_new(p->key.data, &again, &e), 0);
	assert_string_not_equal(again.data, p->csr.data);
	assert_int_equal(tls_csr_key_fingerprint(p->csr.data, a, &e), 0);
	assert_int_equal(tls_csr_key_fingerprint(again.data, b, &e), 0);
	assert_string_equal(a, b);
	buf_reset(&again);
	assert_int_equal(tls_csr_new(p->ca_key.data, &again, &e), 0);
	assert_int_equal(tls_csr_key_fingerprint(again.data, b, &e), 0);
	assert_string_not_equal(a, b);
	buf_free(&again);
}

static void test_validity(void **state)
{
	struct pki *p = *state;
	struct buf cert = {0};
	struct err e;

	if (tls_sign(p->ca.data, p->ca_key.data, p->csr.data, TLS_ROLE_AGENT, "knew", NULL, 20, &cert,
		    NULL, &e))
		fail_msg("%s", e.text);
	assert_true(tls_cert_is_valid(cert.data, 0));
	assert_true(tls_cert_is_valid(cert.data, 19));
	assert_false(tls_cert_is_valid(cert.data, 21));
	assert_false(tls_cert_is_valid("", 0));
	assert_false(tls_cert_is_valid(p->key.data, 0));
	buf_free(&cert);
}

/* A request for `claimed`'s key that is signed by `signer`. */
static struct buf forged_csr(EVP_PKEY *claimed, EVP_PKEY *signer)
{
	X509_REQ *csr = X509_REQ_new();
	BIO *bio = BIO_new(BIO_s_mem());
	struct buf out = {0};
	char *data;
	long len;

	X509_REQ_set_pubkey(csr, claimed);
	assert_true(X509_REQ_sign(csr, signer, EVP_sha256()) > 0);
	PEM_write_bio_X509_REQ(bio, csr);
	len = BIO_get_mem_data(bio, &data);
	buf_add(&out, data, (size_t)len);
	BIO_free(bio);
	X509_REQ_free(csr);
	return out;
}

static void test_refused(void **state)
{
	struct pki *p = *state;
	EVP_PKEY *a = EVP_EC_gen("P-256"), *b = EVP_EC_gen("P-256"), *rsa = EVP_RSA_gen(2048);
	EVP_PKEY *p384 = EVP_EC_gen("P-384");
	struct {
		const char *name;
		struct buf csr;
		enum err_code code;
	} cases[] = {
		{"signed by another key", forged_csr(a, b), ERR_DENIED},
		{"RSA", forged_csr(rsa, rsa), ERR_INPUT},
		{"P-384", forged_csr(p384, p384), ERR_INPUT},
		{"a certificate", {0}, ERR_INPUT},
		{"nothing", {0}, ERR_INPUT},
	};
	struct buf out = {0};
	struct err e;

	buf_adds(&cases[3].csr, p->ca.data);
	buf_adds(&cases[4].csr, "");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (tls_sign(p->ca.data, p->ca_key.data, cases[i].csr.data, TLS_ROLE_AGENT, "x",
			    NULL, 1, &out, NULL, &e) == 0)
			fail_msg("%s was signed", cases[i].name);
		assert_int_equal(e.code, cases[i].code);
		assert_int_equal(out.len, 0);
		buf_free(&cases[i].csr);
	}
	EVP_PKEY_free(a);
	EVP_PKEY_free(b);
	EVP_PKEY_free(rsa);
	EVP_PKEY_free(p384);
}

static void test_contexts(void **state)
{
	struct pki *p = *state;
	struct buf cert = {0};
	SSL_CTX *ctx = NULL;
	struct err e;

	assert_int_equal(tls_sign(p->ca.data, p->ca_key.data, p->csr.data, TLS_ROLE_COORDINATOR,
				 "bench", NULL, 30, &cert, NULL, &e),
		0);
	assert_int_equal(tls_server_ctx(cert.data, p->key.data, p->ca.data, &ctx, &e), 0);
	assert_int_equal(SSL_CTX_get_min_proto_version(ctx), TLS1_3_VERSION);
	assert_int_equal(SSL_CTX_get_num_tickets(ctx), 0);
	assert_true(SSL_CTX_get_mode(ctx) & SSL_MODE_RELEASE_BUFFERS);
	assert_true(SSL_CTX_get_options(ctx) & SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_free(ctx);
	/* The wrong key, no certificate at all, a fingerprint that is none. */
	assert_int_equal(tls_server_ctx(cert.data, p->ca_key.data, p->ca.data, &ctx, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	assert_int_equal(tls_client_ctx("", p->key.data, p->ca.data, &ctx, &e), -1);
	assert_int_equal(tls_client_ctx(cert.data, p->key.data, "", &ctx, &e), -1);
	assert_int_equal(tls_enrol_ctx("abc", &ctx, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	buf_free(&cert);
}

static void test_encrypted_key(void **state)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());
	struct buf pem = {0}, csr = {0};
	char *data;
	long len;
	struct err e;

	(void)state;
	PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_128_cbc(), "secret", 6, NULL, NULL);
	len = BIO_get_mem_data(bio, &data);
	buf_add(&pem, data, (size_t)len);
	assert_int_equal(tls_csr_new(pem.data, &csr, &e), -1);
	assert_int_equal(e.code, ERR_INPUT);
	BIO_free(bio);
	EVP_PKEY_free(key);
	buf_free(&pem);
}

static void test_roles(void **state)
{
	enum tls_role role = TLS_ROLE_NONE;
	struct err e;

	(void)state;
	for (int i = TLS_ROLE_AGENT; i <= TLS_ROLE_COORDINATOR; i++) {
		assert_int_equal(tls_role_parse(tls_role_name((enum tls_role)i), &role, &e), 0);
		assert_int_equal(role, i);
	}
	assert_int_equal(tls_role_parse("root", &role, &e), -1);
	assert_int_equal(tls_role_parse("none", &role, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sign),
		cmocka_unit_test(test_fingerprints),
		cmocka_unit_test(test_validity),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_encrypted_key),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
