/* Agreement on a protocol version. */
#include "proto/msg.h"

int hello_agree(const struct msg_hello *h, uint32_t *ret_version, struct err *e)
{
	uint32_t low = h->min_version > PROTO_VERSION_MIN ? h->min_version : PROTO_VERSION_MIN;
	uint32_t high = h->max_version < PROTO_VERSION_MAX ? h->max_version : PROTO_VERSION_MAX;

	if (low > high)
		return err_set(e, ERR_PROTOCOL,
			"no common protocol version: the peer (version %s) speaks %u to %u, this "
			"program "
			"(version %s) speaks %d to %d; update the older one",
			h->program_version && *h->program_version ? h->program_version : "unknown",
			h->min_version, h->max_version, ARRAYMARK_VERSION, PROTO_VERSION_MIN,
			PROTO_VERSION_MAX);
	*ret_version = high;
	return 0;
}
