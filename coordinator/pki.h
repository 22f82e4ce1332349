/*
 * The coordinator's keys and certificates: a small authority of its own in the state folder
 * (ca.pem, ca.key, server.pem, server.key). Keys are readable by their owner only.
 */
#ifndef COORDINATOR_PKI_H
#define COORDINATOR_PKI_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/tls.h"
#include "coordinator/options.h"

#define PKI_SERIAL_LEN 41
#define PKI_PEER_DAYS 1825 /* certificates of agents and users */

struct pki {
	char *ca_pem, *ca_key, *server_pem, *server_key;
	char fingerprint[TLS_FINGERPRINT_LEN]; /* of the CA: the last part of each token */
};

/* Makes all four files; what is there is overwritten (init has checked). */
int pki_create(const struct options *o, struct err *e);
/* Reads them. A server certificate that ends within 30 days is signed anew first. */
int pki_load(const struct options *o, struct pki *ret, struct err *e);
void pki_clear(struct pki *p);

/* Its serial number as revocations name it (struct tls_peer); -1 when the text is no certificate. */
int pki_serial(const char *cert_pem, char ret[PKI_SERIAL_LEN]);

#endif
