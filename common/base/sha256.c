/* Hashing in pieces by OpenSSL. A context that cannot be had is lack of memory. */
#include "common/base/sha256.h"

#include <stdlib.h>

#include <openssl/evp.h>

#include "common/base/fs.h"
#include "common/base/mem.h"

struct sha256 {
	EVP_MD_CTX *ctx;
};

struct sha256 *sha256_new(void)
{
	struct sha256 *s = xcalloc(1, sizeof(*s));

	s->ctx = EVP_MD_CTX_new();
	if (!s->ctx || !EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL))
		abort();
	return s;
}

void sha256_add(struct sha256 *s, const void *data, size_t len)
{
	if (len && !EVP_DigestUpdate(s->ctx, data, len))
		abort();
}

void sha256_end(struct sha256 *s, char out[65])
{
	unsigned char digest[EVP_MAX_MD_SIZE] = {0};

	if (!EVP_DigestFinal_ex(s->ctx, digest, NULL))
		abort();
	fs_hex(digest, 32, out);
}

void sha256_free(struct sha256 *s)
{
	if (s)
		EVP_MD_CTX_free(s->ctx);
	free(s);
}
