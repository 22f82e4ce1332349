/*
 * Reader of ZFS labels. The layout of a label and of its name-value list (XDR, big endian) is that
 * of "ZFS On-Disk Specification" (Sun Microsystems, 2006), chapter 1.
 * Invariant: nothing is believed of the bytes read: every length is checked against what is left.
 */
#include "agent/volume/zfs_label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/mem.h"

#define TYPE_UINT64 8
#define TYPE_STRING 9
#define PAIR_HEAD 8 /* encoded size, decoded size */

struct xdr {
	const unsigned char *p;
	size_t left;
};

static int get32(struct xdr *x, uint32_t *ret)
{
	if (x->left < 4)
		return -1;
	*ret = (uint32_t)x->p[0] << 24 | (uint32_t)x->p[1] << 16 | (uint32_t)x->p[2] << 8 | x->p[3];
	x->p += 4;
	x->left -= 4;
	return 0;
}

static int get64(struct xdr *x, uint64_t *ret)
{
	uint32_t high, low;

	if (get32(x, &high) || get32(x, &low))
		return -1;
	*ret = (uint64_t)high << 32 | low;
	return 0;
}

/* Into out, cut to its size; padded to four bytes in the list. */
static int get_string(struct xdr *x, char *out, size_t size)
{
	uint32_t len;
	size_t padded, take;

	if (get32(x, &len))
		return -1;
	padded = ((size_t)len + 3) & ~(size_t)3;
	if (padded > x->left)
		return -1;
	take = len < size ? len : size - 1;
	memcpy(out, x->p, take);
	out[take] = '\0';
	x->p += padded;
	x->left -= padded;
	return 0;
}

static uint64_t *number_field(struct zfs_label *l, const char *name)
{
	if (!strcmp(name, "state"))
		return &l->state;
	if (!strcmp(name, "pool_guid"))
		return &l->pool_guid;
	if (!strcmp(name, "guid"))
		return &l->guid;
	if (!strcmp(name, "hostid"))
		return &l->hostid;
	return !strcmp(name, "txg") ? &l->txg : NULL;
}

/* One name and its value; types and names that are of no interest are left alone. */
static int parse_pair(struct xdr *x, struct zfs_label *l)
{
	char name[64];
	uint32_t type, count;
	uint64_t *number;

	if (get_string(x, name, sizeof(name)) || get32(x, &type) || get32(x, &count))
		return -1;
	number = number_field(l, name);
	if (type == TYPE_UINT64 && number)
		return get64(x, number);
	if (type == TYPE_STRING && !strcmp(name, "name"))
		return get_string(x, l->name, sizeof(l->name));
	if (type == TYPE_STRING && !strcmp(name, "hostname"))
		return get_string(x, l->hostname, sizeof(l->hostname));
	return 0;
}

int zfs_label_is_aux(const struct zfs_label *l)
{
	return !*l->name && (l->state == ZFS_SPARE || l->state == ZFS_L2CACHE);
}

int zfs_label_parse(const void *data, size_t len, struct zfs_label *ret)
{
	struct xdr x = {data, len};
	struct zfs_label l = {0};
	uint32_t head, version, flags, encoded, decoded;

	/* Encoding 1 is XDR; then the writer's byte order, which XDR makes irrelevant. */
	if (get32(&x, &head) || head >> 24 != 1 || get32(&x, &version) || get32(&x, &flags) ||
		version != 0)
		return -1;
	for (;;) {
		struct xdr pair;

		if (get32(&x, &encoded) || get32(&x, &decoded))
			return -1;
		if (encoded == 0 && decoded == 0)
			break;
		if (encoded < PAIR_HEAD || encoded - PAIR_HEAD > x.left)
			return -1;
		pair = (struct xdr){x.p, encoded - PAIR_HEAD};
		if (parse_pair(&pair, &l))
			return -1;
		x.p += encoded - PAIR_HEAD;
		x.left -= encoded - PAIR_HEAD;
	}
	if (!l.guid && !l.pool_guid)
		return -1;
	l.valid = 1;
	*ret = l;
	return 0;
}

uint64_t zfs_label_offset(uint64_t size, unsigned i)
{
	uint64_t end = size - size % ZFS_LABEL_SIZE;

	return i < 2 ? i * (uint64_t)ZFS_LABEL_SIZE : end - (4 - i) * (uint64_t)ZFS_LABEL_SIZE;
}

static int read_all(int fd, unsigned char *out, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, out + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	memset(out + done, 0, len - done);
	return 0;
}

int zfs_labels_read(int fd, uint64_t size, const char *name, struct zfs_label ret[ZFS_LABELS],
	struct err *e)
{
	unsigned char *nvlist = xmalloc(ZFS_LABEL_NVLIST_SIZE);
	struct zfs_label labels[ZFS_LABELS] = {0};
	int status = 0;

	for (unsigned i = 0; size >= ZFS_LABELS * ZFS_LABEL_SIZE && i < ZFS_LABELS && !status; i++) {
		status = read_all(fd, nvlist, ZFS_LABEL_NVLIST_SIZE,
			zfs_label_offset(size, i) + ZFS_LABEL_NVLIST_OFFSET);
		if (!status && zfs_label_parse(nvlist, ZFS_LABEL_NVLIST_SIZE, &labels[i]))
			labels[i] = (struct zfs_label){0};
	}
	if (status)
		err_sys(e, "cannot read the ZFS labels of %s", name);
	else
		memcpy(ret, labels, sizeof(labels));
	free(nvlist);
	return status;
}
