/* Lines of `zfs get`, taken apart. Holds nothing. */
#include "agent/volume/zfs_get.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/mem.h"

void zfs_get_parse(const char *text,
	void (*found)(void *arg, const char *dataset, const char *property, const char *value),
	void *arg)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		char *dataset = strsep(&line, "\t"), *property = strsep(&line, "\t");
		char *value = strsep(&line, "\t");

		if (*dataset && property && *property && value)
			found(arg, dataset, property, value);
	}
	free(copy);
}

int zfs_is_cache_property(const char *name)
{
	static const char *const names[] = {"compression", "direct", "logbias", "prefetch",
		"primarycache", "secondarycache", "sync"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	return 0;
}
