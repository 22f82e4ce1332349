/* PEM texts <-> OpenSSL objects, in memory. Internal to the tls_* files. */
#ifndef COMMON_BASE_TLS_PEM_H
#define COMMON_BASE_TLS_PEM_H

#include "common/base/tls.h"

#define TLS_PEM_MAX (256 * 1024)

/* Each returns NULL and fills e when the text is not what it should be. `what` names it. An
 * encrypted key is refused, never asked about. */
EVP_PKEY *tls_pem_key(const char *pem, const char *what, struct err *e);
X509 *tls_pem_cert(const char *pem, const char *what, struct err *e);
X509_REQ *tls_pem_csr(const char *pem, struct err *e);
/* All certificates of the text, at least one. */
STACK_OF(X509) * tls_pem_certs(const char *pem, const char *what, struct err *e);

int tls_pem_put_cert(X509 *cert, struct buf *out, struct err *e);
/* SHA-256 of the DER, as hex. */
int tls_digest_cert(const X509 *cert, char ret[TLS_FINGERPRINT_LEN], struct err *e);
/* Lower-case hex of the serial number, at most 40 digits. */
void tls_serial_hex(const X509 *cert, char ret[41]);
/* err_set with ": " and OpenSSL's own words appended. */
int tls_err(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
