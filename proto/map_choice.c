/* Messages that hold exactly one of several messages: the envelope and the record. Owns nothing. */
#include "proto/map.h"

int map_choose(const struct map_choice *rows, size_t n, const ProtobufCMessage *holder,
	const struct map_choice **ret, struct err *e)
{
	const struct map_choice *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!map_load((const char *)holder + rows[i].wire))
			continue;
		if (found)
			return err_set(
				e, ERR_PROTOCOL, "holds both %s and %s", found->name, rows[i].name);
		found = &rows[i];
	}
	if (!found)
		return err_set(e, ERR_PROTOCOL, "holds nothing that this version knows");
	*ret = found;
	return 0;
}

const struct map_choice *map_choice_of(const struct map_choice *rows, size_t n, int type)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].type == type)
			return &rows[i];
	return NULL;
}
