/*
 * Unsigned LEB128 numbers, the packed form of counters on the wire and in the store. One number has
 * one spelling: a reader refuses what is longer than it needs to be. Owns nothing.
 */
#ifndef COMMON_BASE_VARINT_H
#define COMMON_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

#define VARINT_MAX 10 /* bytes of a 64-bit number */

/* out has room for VARINT_MAX bytes; returns how many were written. */
static inline size_t varint_put(unsigned char *out, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (unsigned char)(v | 0x80);
	out[n++] = (unsigned char)v;
	return n;
}

static inline void varint_add(struct buf *out, uint64_t v)
{
	unsigned char bytes[VARINT_MAX];

	buf_add(out, bytes, varint_put(bytes, v));
}

struct varint_reader {
	const unsigned char *p, *end;
};

/* -1 when the number is cut off, longer than it needs to be, or more than 64 bits. */
static inline int varint_get(struct varint_reader *r, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; r->p < r->end && shift < 64; shift += 7) {
		unsigned char c = *r->p++;

		if (shift == 63 && c > 1)
			return -1;
		v |= (uint64_t)(c & 0x7f) << shift;
		if (c & 0x80)
			continue;
		if (c == 0 && shift > 0)
			return -1;
		*ret = v;
		return 0;
	}
	return -1;
}

#endif
