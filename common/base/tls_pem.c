/*
 * PEM texts, fingerprints and OpenSSL's error queue. Every function leaves the queue empty, so that
 * an old error is never taken for one of a later connection.
 */
#include "common/base/tls_pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

const char *tls_error_text(char *out, size_t len)
{
	unsigned long code;
	const char *reason;
	size_t at = 0, n;

	out[0] = '\0';
	while ((code = ERR_get_error()) != 0) {
		reason = ERR_reason_error_string(code);
		if (!reason || at + 3 >= len || strstr(out, reason))
			continue;
		n = strlen(reason);
		if (at) {
			memcpy(out + at, ", ", 3);
			at += 2;
		}
		n = n < len - at - 1 ? n : len - at - 1;
		memcpy(out + at, reason, n);
		at += n;
		out[at] = '\0';
	}
	if (at == 0)
		snprintf(out, len, "no reason given");
	return out;
}

int tls_err(struct err *e, enum err_code code, const char *fmt, ...)
{
	char text[512], reason[256] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(e, code, "%s: %s", text, tls_error_text(reason, sizeof(reason)));
}

/* Keys are files of daemons: nobody is there to type a passphrase. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg)
{
	(void)buf;
	(void)size;
	(void)rwflag;
	(void)arg;
	return -1;
}

static BIO *pem_bio(const char *pem, const char *what, struct err *e)
{
	size_t len = strlen(pem);
	BIO *bio;

	if (len > TLS_PEM_MAX) {
		err_set(e, ERR_INPUT, "%s: %zu bytes are too many", what, len);
		return NULL;
	}
	bio = BIO_new_mem_buf(pem, (int)len);
	if (!bio)
		tls_err(e, ERR_FAILED, "%s", what);
	return bio;
}

EVP_PKEY *tls_pem_key(const char *pem, const char *what, struct err *e)
{
	BIO *bio = pem_bio(pem, what, e);
	EVP_PKEY *key;

	if (!bio)
		return NULL;
	key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
	BIO_free(bio);
	if (!key)
		tls_err(e, ERR_INPUT, "%s is not an unencrypted private key in PEM form", what);
	return key;
}

X509 *tls_pem_cert(const char *pem, const char *what, struct err *e)
{
	BIO *bio = pem_bio(pem, what, e);
	X509 *cert;

	if (!bio)
		return NULL;
	cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
	BIO_free(bio);
	if (!cert)
		tls_err(e, ERR_INPUT, "%s is not a certificate in PEM form", what);
	return cert;
}

X509_REQ *tls_pem_csr(const char *pem, struct err *e)
{
	BIO *bio = pem_bio(pem, "signing request", e);
	X509_REQ *csr;

	if (!bio)
		return NULL;
	csr = PEM_read_bio_X509_REQ(bio, NULL, no_passphrase, NULL);
	BIO_free(bio);
	if (!csr)
		tls_err(e, ERR_INPUT, "the signing request is not one in PEM form");
	return csr;
}

STACK_OF(X509) * tls_pem_certs(const char *pem, const char *what, struct err *e)
{
	BIO *bio = pem_bio(pem, what, e);
	STACK_OF(X509) * certs;
	X509 *cert;

	if (!bio)
		return NULL;
	certs = sk_X509_new_null();
	while (certs && (cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL)
		if (!sk_X509_push(certs, cert))
			X509_free(cert);
	BIO_free(bio);
	if (sk_X509_num(certs) <= 0) {
		tls_err(e, ERR_INPUT, "%s holds no certificate in PEM form", what);
		sk_X509_pop_free(certs, X509_free);
		return NULL;
	}
	ERR_clear_error();
	return certs;
}

int tls_pem_put_cert(X509 *cert, struct buf *out, struct err *e)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long len;

	if (!bio || !PEM_write_bio_X509(bio, cert)) {
		BIO_free(bio);
		return tls_err(e, ERR_FAILED, "writing a certificate");
	}
	len = BIO_get_mem_data(bio, &data);
	buf_add(out, data, (size_t)len);
	BIO_free(bio);
	return 0;
}

int tls_digest_cert(const X509 *cert, char ret[TLS_FINGERPRINT_LEN], struct err *e)
{
	unsigned char digest[32];
	unsigned len = sizeof(digest);

	if (!X509_digest(cert, EVP_sha256(), digest, &len) || len != sizeof(digest))
		return tls_err(e, ERR_FAILED, "fingerprint of a certificate");
	fs_hex(digest, len, ret);
	return 0;
}

void tls_serial_hex(const X509 *cert, char ret[41])
{
	const ASN1_INTEGER *serial = X509_get0_serialNumber(cert);
	int len = ASN1_STRING_length(serial);

	fs_hex(ASN1_STRING_get0_data(serial), (size_t)(len > 20 ? 20 : len), ret);
}

int tls_cert_fingerprint(const char *cert_pem, char ret[TLS_FINGERPRINT_LEN], struct err *e)
{
	X509 *cert = tls_pem_cert(cert_pem, "certificate", e);
	int rc;

	if (!cert)
		return -1;
	rc = tls_digest_cert(cert, ret, e);
	X509_free(cert);
	return rc;
}

int tls_cert_is_valid(const char *cert_pem, int days)
{
	time_t then = time(NULL) + (time_t)days * 24 * 60 * 60;
	struct err ignored;
	X509 *cert = tls_pem_cert(cert_pem, "certificate", &ignored);
	int ok = cert && X509_cmp_time(X509_get0_notAfter(cert), &then) > 0;

	X509_free(cert);
	return ok;
}

int tls_csr_key_fingerprint(const char *csr_pem, char ret[TLS_FINGERPRINT_LEN], struct err *e)
{
	X509_REQ *csr = tls_pem_csr(csr_pem, e);
	unsigned char *der = NULL;
	int len, rc = 0;

	if (!csr)
		return -1;
	len = i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(csr), &der);
	if (len > 0)
		fs_sha256(der, (size_t)len, ret);
	else
		rc = tls_err(e, ERR_INPUT, "fingerprint of a signing request's key");
	OPENSSL_free(der);
	X509_REQ_free(csr);
	return rc;
}
