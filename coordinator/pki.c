/* Owns the four files named in pki.h. They are written whole or not at all. */
#include "coordinator/pki.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/plan/plan.h"
#include "coordinator/state.h"

#define PKI_SERVER_DAYS 825
#define PKI_FILE_MAX (64 * 1024)

static int put(const struct options *o, const char *name, const struct buf *b, mode_t mode,
	struct err *e)
{
	char *path = options_path(o, name);
	int r = fs_write_file(path, b->data, b->len, mode, e);

	free(path);
	return r;
}

static int get(const struct options *o, const char *name, char **ret, struct err *e)
{
	char *path = options_path(o, name);
	struct buf b = {0};
	int r = fs_read_file(path, PKI_FILE_MAX, &b, e);

	if (!r)
		*ret = buf_take(&b);
	else if (e->code == ERR_NOTFOUND)
		(void)state_missing(path, o->state, e);
	buf_free(&b);
	free(path);
	return r;
}

/* The machine's name cut to what a certificate's subject may hold. A machine may have none, or one
 * that peers refuse in a subject ("(none)", "build_host!"). */
static void subject_name(const char *host, char ret[PLAN_NAME_MAX + 1])
{
	struct err ignored;

	snprintf(ret, PLAN_NAME_MAX + 1, "%.*s", PLAN_NAME_MAX, host);
	if (plan_check_name(ret, "host", 1, &ignored))
		snprintf(ret, PLAN_NAME_MAX + 1, "localhost");
}

static int sign_server(const struct options *o, const char *ca_pem, const char *ca_key,
	const char *key, struct err *e)
{
	struct buf csr = {0}, cert = {0};
	struct strv dns = {0};
	char host[256] = "", name[PLAN_NAME_MAX + 1];
	int r = -1;

	if (gethostname(host, sizeof(host) - 1))
		*host = '\0';
	subject_name(host, name);
	strv_add(&dns, strncmp(host, name, strlen(name)) ? name : host);
	strv_add_all(&dns, (const char *const[]){"localhost", "127.0.0.1", "::1", NULL});
	for (size_t i = 0; i < o->dns.n; i++)
		strv_add(&dns, o->dns.v[i]);
	if (!tls_csr_new(key, &csr, e) &&
		!tls_sign(ca_pem, ca_key, buf_str(&csr), TLS_ROLE_COORDINATOR, name,
			(const char *const *)dns.v, PKI_SERVER_DAYS, &cert, NULL, e))
		r = put(o, "server.pem", &cert, 0644, e);
	buf_free(&csr);
	buf_free(&cert);
	strv_free(&dns);
	return r;
}

static void wipe(struct buf *b)
{
	if (b->data)
		OPENSSL_cleanse(b->data, b->cap);
	buf_free(b);
}

int pki_create(const struct options *o, struct err *e)
{
	struct buf ca_key = {0}, ca = {0}, key = {0};
	char *name = o->name ? xstrdup(o->name) : xstrdup("arraymark");
	int r = -1;

	if (tls_key_new(&ca_key, e) || tls_ca_new(name, buf_str(&ca_key), &ca, e) ||
		tls_key_new(&key, e))
		goto out;
	if (put(o, "ca.key", &ca_key, 0600, e) || put(o, "ca.pem", &ca, 0644, e) ||
		put(o, "server.key", &key, 0600, e))
		goto out;
	r = sign_server(o, buf_str(&ca), buf_str(&ca_key), buf_str(&key), e);
out:
	wipe(&ca_key);
	wipe(&key);
	buf_free(&ca);
	free(name);
	return r;
}

static X509 *read_cert(const char *cert_pem)
{
	BIO *bio = BIO_new_mem_buf(cert_pem, -1);
	X509 *x = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	BIO_free(bio);
	return x;
}

int pki_serial(const char *cert_pem, char ret[PKI_SERIAL_LEN])
{
	X509 *x = read_cert(cert_pem);
	const ASN1_INTEGER *serial;
	int len;

	if (!x)
		return -1;
	serial = X509_get0_serialNumber(x);
	len = ASN1_STRING_length(serial);
	fs_hex(ASN1_STRING_get0_data(serial), (size_t)(len > 20 ? 20 : len), ret);
	X509_free(x);
	return 0;
}

int pki_load(const struct options *o, struct pki *ret, struct err *e)
{
	struct pki p = {0};

	if (get(o, "ca.pem", &p.ca_pem, e) || get(o, "ca.key", &p.ca_key, e) ||
		get(o, "server.key", &p.server_key, e) || get(o, "server.pem", &p.server_pem, e))
		goto fail;
	if (!tls_cert_is_valid(p.server_pem, 30)) {
		log_info("pki", "the server's certificate ends within 30 days: signing a new one");
		free(p.server_pem);
		p.server_pem = NULL;
		if (sign_server(o, p.ca_pem, p.ca_key, p.server_key, e) ||
			get(o, "server.pem", &p.server_pem, e))
			goto fail;
	}
	if (tls_cert_fingerprint(p.ca_pem, p.fingerprint, e))
		goto fail;
	*ret = p;
	return 0;
fail:
	pki_clear(&p);
	return -1;
}

void pki_clear(struct pki *p)
{
	if (p->ca_key)
		OPENSSL_cleanse(p->ca_key, strlen(p->ca_key));
	if (p->server_key)
		OPENSSL_cleanse(p->server_key, strlen(p->server_key));
	free(p->ca_pem);
	free(p->ca_key);
	free(p->server_pem);
	free(p->server_key);
	memset(p, 0, sizeof(*p));
}
