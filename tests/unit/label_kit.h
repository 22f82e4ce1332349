/* For tests that need ZFS labels: the name-value list of one as ZFS writes it (XDR, big endian). */
#ifndef TESTS_UNIT_LABEL_KIT_H
#define TESTS_UNIT_LABEL_KIT_H

#include "tests/unit/test.h"

#include "agent/volume/zfs_label.h"
#include "common/base/buf.h"

#define LABEL_NUMBER 8
#define LABEL_STRING 9

static inline void label_put32(struct buf *b, uint32_t v)
{
	const unsigned char bytes[4] = {v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255};

	buf_add(b, bytes, 4);
}

static inline void label_put_string(struct buf *b, const char *s)
{
	static const char zeros[4];

	label_put32(b, (uint32_t)strlen(s));
	buf_add(b, s, strlen(s));
	buf_add(b, zeros, (4 - strlen(s) % 4) % 4);
}

/* A pair: sizes, name, type, count, value; text NULL: the number. */
static inline void label_put_pair(struct buf *b, const char *name, const char *text, uint64_t number)
{
	struct buf body = {0};

	label_put_string(&body, name);
	label_put32(&body, text ? LABEL_STRING : LABEL_NUMBER);
	label_put32(&body, 1);
	if (text) {
		label_put_string(&body, text);
	} else {
		label_put32(&body, (uint32_t)(number >> 32));
		label_put32(&body, (uint32_t)number);
	}
	label_put32(b, (uint32_t)body.len + 8);
	label_put32(b, (uint32_t)body.len + 8);
	buf_add(b, body.data, body.len);
	buf_free(&body);
}

/* pool NULL: of a spare. host not NULL: the pool is imported there, under that id. */
static inline void label_make(struct buf *b, const char *pool, uint64_t guid, const char *host,
	uint64_t hostid)
{
	label_put32(b, 0x01010000);
	label_put32(b, 0);
	label_put32(b, 1);
	label_put_pair(b, "state", NULL, host ? ZFS_ACTIVE : pool ? ZFS_EXPORTED : ZFS_SPARE);
	label_put_pair(b, "guid", NULL, 4711);
	if (pool) {
		label_put_pair(b, "pool_guid", NULL, guid);
		label_put_pair(b, "name", pool, 0);
	}
	if (host) {
		label_put_pair(b, "hostid", NULL, hostid);
		label_put_pair(b, "hostname", host, 0);
	}
	label_put32(b, 0);
	label_put32(b, 0);
}

#endif
