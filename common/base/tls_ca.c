/*
 * The little certificate authority of a coordinator: keys, CA, signing requests, signatures.
 * Owns nothing between calls. Invariant: what a request says about its subject is never copied; a
 * certificate says only what the signer was told to write.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/tls_pem.h"

#define CA_DAYS (10 * 365)
#define BACKDATE_S (24 * 3600) /* clocks of hosts differ */

int tls_key_new(struct buf *ret_key_pem, struct err *e)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long len;
	int rc = 0;

	if (!key || !bio || !PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL)) {
		rc = tls_err(e, ERR_FAILED, "making a key");
	} else {
		len = BIO_get_mem_data(bio, &data);
		buf_add(ret_key_pem, data, (size_t)len);
		OPENSSL_cleanse(data, (size_t)len);
	}
	BIO_free(bio);
	EVP_PKEY_free(key);
	return rc;
}

static int add_ext(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	int ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = ext && X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

static int add_name(X509_NAME *subject, const char *field, const char *text)
{
	return X509_NAME_add_entry_by_txt(
		subject, field, MBSTRING_UTF8, (const unsigned char *)text, -1, -1, 0);
}

/* 127 random bits: positive, and 32 hex digits at most. */
static int set_serial(X509 *cert)
{
	unsigned char raw[16];
	BIGNUM *bn;
	int ok;

	fs_random(raw, sizeof(raw));
	raw[0] = (raw[0] & 0x7f) | 0x40;
	bn = BN_bin2bn(raw, sizeof(raw), NULL);
	ok = bn && BN_to_ASN1_INTEGER(bn, X509_get_serialNumber(cert));
	BN_free(bn);
	return ok;
}

/* A certificate with version, serial, times and subject; no key, issuer or extensions yet. */
static X509 *cert_new(const char *role, const char *name, int days)
{
	X509 *cert = X509_new();
	X509_NAME *subject;

	if (!cert)
		return NULL;
	subject = X509_get_subject_name(cert);
	if (X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
		X509_gmtime_adj(X509_getm_notBefore(cert), -BACKDATE_S) &&
		X509_time_adj_ex(X509_getm_notAfter(cert), days, 0, NULL) &&
		add_name(subject, "O", "arraymark") && add_name(subject, "OU", role) &&
		add_name(subject, "CN", name))
		return cert;
	X509_free(cert);
	return NULL;
}

int tls_ca_new(const char *name, const char *key_pem, struct buf *ret_cert_pem, struct err *e)
{
	EVP_PKEY *key = tls_pem_key(key_pem, "CA key", e);
	X509 *cert;
	int rc = -1;

	if (!key)
		return -1;
	cert = cert_new("ca", name, CA_DAYS);
	if (!cert || !X509_set_issuer_name(cert, X509_get_subject_name(cert)) ||
		!X509_set_pubkey(cert, key) ||
		!add_ext(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
		!add_ext(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
		!add_ext(cert, cert, NID_subject_key_identifier, "hash") ||
		!X509_sign(cert, key, EVP_sha256()))
		tls_err(e, ERR_FAILED, "making the CA certificate '%s'", name);
	else
		rc = tls_pem_put_cert(cert, ret_cert_pem, e);
	X509_free(cert);
	EVP_PKEY_free(key);
	return rc;
}

int tls_csr_new(const char *key_pem, struct buf *ret_csr_pem, struct err *e)
{
	EVP_PKEY *key = tls_pem_key(key_pem, "key", e);
	X509_REQ *csr;
	BIO *bio;
	char *data;
	long len;
	int rc = 0;

	if (!key)
		return -1;
	csr = X509_REQ_new();
	bio = BIO_new(BIO_s_mem());
	if (!csr || !bio || !X509_REQ_set_pubkey(csr, key) ||
		!X509_REQ_sign(csr, key, EVP_PKEY_is_a(key, "ED25519") ? NULL : EVP_sha256()) ||
		!PEM_write_bio_X509_REQ(bio, csr)) {
		rc = tls_err(e, ERR_FAILED, "making a signing request");
	} else {
		len = BIO_get_mem_data(bio, &data);
		buf_add(ret_csr_pem, data, (size_t)len);
	}
	BIO_free(bio);
	X509_REQ_free(csr);
	EVP_PKEY_free(key);
	return rc;
}

static int key_is_taken(const EVP_PKEY *key)
{
	char group[64];

	if (EVP_PKEY_is_a(key, "ED25519"))
		return 1;
	return EVP_PKEY_is_a(key, "EC") &&
	       EVP_PKEY_get_group_name(key, group, sizeof(group), NULL) &&
	       strcmp(group, "prime256v1") == 0;
}

/* The key of a CSR whose signature proves that the asker has it. */
static EVP_PKEY *csr_key(const char *csr_pem, struct err *e)
{
	X509_REQ *csr = tls_pem_csr(csr_pem, e);
	EVP_PKEY *key;

	if (!csr)
		return NULL;
	key = X509_REQ_get_pubkey(csr);
	if (!key || !key_is_taken(key)) {
		err_set(e, ERR_INPUT,
			"the signing request has another kind of key than P-256 or Ed25519");
		EVP_PKEY_free(key);
		key = NULL;
	} else if (X509_REQ_verify(csr, key) != 1) {
		tls_err(e, ERR_DENIED, "the signing request is not signed with its own key");
		EVP_PKEY_free(key);
		key = NULL;
	}
	ERR_clear_error();
	X509_REQ_free(csr);
	return key;
}

/* Host names and addresses as one SAN extension. */
static int add_san(X509 *cert, const char *const *dns)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	int ok = names != NULL;

	for (; ok && *dns; dns++) {
		GENERAL_NAME *g = GENERAL_NAME_new();
		ASN1_OCTET_STRING *ip = a2i_IPADDRESS(*dns);
		ASN1_IA5STRING *host = ip ? NULL : ASN1_IA5STRING_new();

		ok = g && (ip || (host && ASN1_STRING_set(host, *dns, -1)));
		if (ok) {
			GENERAL_NAME_set0_value(
				g, ip ? GEN_IPADD : GEN_DNS, ip ? (void *)ip : host);
			ok = sk_GENERAL_NAME_push(names, g) > 0;
		}
		if (!ok)
			GENERAL_NAME_free(g);
	}
	ok = ok && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1;
	GENERAL_NAMES_free(names);
	ERR_clear_error();
	return ok;
}

static int add_leaf_exts(X509 *cert, X509 *ca, enum tls_role role, const char *const *dns)
{
	const char *use = role == TLS_ROLE_COORDINATOR ? "serverAuth" : "clientAuth";

	return add_ext(cert, ca, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_ext(cert, ca, NID_key_usage, "critical,digitalSignature") &&
	       add_ext(cert, ca, NID_ext_key_usage, use) &&
	       add_ext(cert, ca, NID_subject_key_identifier, "hash") &&
	       add_ext(cert, ca, NID_authority_key_identifier, "keyid") &&
	       (!dns || !*dns || add_san(cert, dns));
}

int tls_sign(const char *ca_cert_pem, const char *ca_key_pem, const char *csr_pem,
	enum tls_role role, const char *name, const char *const *dns, int days,
	struct buf *ret_cert_pem, char *ret_serial, struct err *e)
{
	X509 *ca = tls_pem_cert(ca_cert_pem, "CA certificate", e), *cert = NULL;
	EVP_PKEY *ca_key = ca ? tls_pem_key(ca_key_pem, "CA key", e) : NULL;
	EVP_PKEY *key = ca_key ? csr_key(csr_pem, e) : NULL;
	int rc = -1;

	if (!key)
		goto out;
	cert = cert_new(tls_role_name(role), name, days);
	if (!cert || !X509_set_issuer_name(cert, X509_get_subject_name(ca)) ||
		!X509_set_pubkey(cert, key) || !add_leaf_exts(cert, ca, role, dns) ||
		!X509_sign(cert, ca_key, EVP_PKEY_is_a(ca_key, "ED25519") ? NULL : EVP_sha256())) {
		tls_err(e, ERR_FAILED, "signing a certificate for '%s'", name);
		goto out;
	}
	rc = tls_pem_put_cert(cert, ret_cert_pem, e);
	if (rc == 0 && ret_serial)
		tls_serial_hex(cert, ret_serial);
out:
	X509_free(cert);
	EVP_PKEY_free(key);
	EVP_PKEY_free(ca_key);
	X509_free(ca);
	return rc;
}
