/* SHA-256 of what comes in pieces, for files that are larger than memory. */
#ifndef COMMON_BASE_SHA256_H
#define COMMON_BASE_SHA256_H

#include <stddef.h>

struct sha256;

struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *s, const void *data, size_t len);
/* 64 lower-case hex digits and NUL; nothing may be added afterwards. */
void sha256_end(struct sha256 *s, char out[65]);
void sha256_free(struct sha256 *s); /* NULL is fine */

#endif
