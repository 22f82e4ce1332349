/*
 * Who the other side of a finished handshake is. Owns nothing. Invariant: a name that leaves this
 * file has 1-64 of a-zA-Z0-9_+-. and starts with a letter or digit.
 */
#include <openssl/err.h>
#include <string.h>

#include "common/base/tls_pem.h"

static const char *const role_names[] = {
	[TLS_ROLE_NONE] = "none",
	[TLS_ROLE_AGENT] = "agent",
	[TLS_ROLE_VIEWER] = "viewer",
	[TLS_ROLE_OPERATOR] = "operator",
	[TLS_ROLE_ADMIN] = "admin",
	[TLS_ROLE_COORDINATOR] = "coordinator",
};
#define N_ROLES (sizeof(role_names) / sizeof(role_names[0]))

const char *tls_role_name(enum tls_role role)
{
	return (size_t)role < N_ROLES ? role_names[role] : "none";
}

int tls_role_parse(const char *s, enum tls_role *ret, struct err *e)
{
	for (size_t i = TLS_ROLE_AGENT; i < N_ROLES; i++)
		if (strcmp(s, role_names[i]) == 0) {
			*ret = (enum tls_role)i;
			return 0;
		}
	return err_set(e, ERR_INPUT, "'%.64s' is not a role (agent, viewer, operator, admin)", s);
}

/* The only value of a field of the subject; a field that is there twice is not ours. */
static int subject_field(const X509 *cert, int nid, char *out, size_t len)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	int at = X509_NAME_get_index_by_NID(subject, nid, -1);
	const ASN1_STRING *value;
	size_t n;

	if (at < 0 || X509_NAME_get_index_by_NID(subject, nid, at) >= 0)
		return -1;
	value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
	n = (size_t)ASN1_STRING_length(value);
	if (n == 0 || n >= len || memchr(ASN1_STRING_get0_data(value), 0, n))
		return -1;
	memcpy(out, ASN1_STRING_get0_data(value), n);
	out[n] = '\0';
	return 0;
}

static int name_is_fine(const char *s)
{
	static const char first[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	static const char all[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.";

	return *s && strchr(first, *s) && s[strspn(s, all)] == '\0';
}

static int read_subject(const X509 *cert, struct tls_peer *p, struct err *e)
{
	char org[16], role[32];

	if (subject_field(cert, NID_organizationName, org, sizeof(org)) < 0 ||
		strcmp(org, "arraymark") != 0 ||
		subject_field(cert, NID_organizationalUnitName, role, sizeof(role)) < 0 ||
		tls_role_parse(role, &p->role, e) < 0 ||
		subject_field(cert, NID_commonName, p->name, sizeof(p->name)) < 0 ||
		!name_is_fine(p->name))
		return err_set(e, ERR_DENIED,
			"the peer's certificate has a subject that this coordinator does not "
			"write");
	return 0;
}

static int alpn_selected(SSL *ssl, const char *name)
{
	const unsigned char *alpn;
	unsigned len;

	SSL_get0_alpn_selected(ssl, &alpn, &len);
	return len == strlen(name) && memcmp(alpn, name, len) == 0;
}

int tls_peer(SSL *ssl, struct tls_peer *ret, struct err *e)
{
	struct tls_peer p = {0};
	const X509 *cert;

	if (alpn_selected(ssl, TLS_ALPN_ENROL)) {
		p.enrolling = 1;
		*ret = p;
		return 0;
	}
	if (!alpn_selected(ssl, TLS_ALPN_MAIN))
		return err_set(e, ERR_DENIED, "the peer does not speak arraymark's protocol");
	cert = SSL_get0_peer_certificate(ssl);
	if (!cert || SSL_get_verify_result(ssl) != X509_V_OK)
		return err_set(
			e, ERR_DENIED, "the peer has no certificate of this coordinator's CA");
	if (read_subject(cert, &p, e) < 0 || tls_digest_cert(cert, p.fingerprint, e) < 0)
		return -1;
	tls_serial_hex(cert, p.serial);
	*ret = p;
	return 0;
}

int tls_check_coordinator(SSL *ssl, struct err *e)
{
	const X509 *cert = SSL_get0_peer_certificate(ssl);
	struct tls_peer p = {0};

	if (!cert || SSL_get_verify_result(ssl) != X509_V_OK || read_subject(cert, &p, e) < 0 ||
		p.role != TLS_ROLE_COORDINATOR)
		return err_set(e, ERR_DENIED,
			"the server's certificate is not a coordinator's: is this the right "
			"address?");
	return 0;
}
