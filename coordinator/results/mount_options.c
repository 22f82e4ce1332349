/* Options of a mount. Holds nothing. */
#include "coordinator/results/mount_options.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/mem.h"

/* The option of the list that is called so, or NULL; a name that ends in '=' stands for any value. */
static const char *find(const char *options, const char *name, size_t *ret_len)
{
	size_t want = strlen(name);

	for (const char *at = options; *at; at += *ret_len + (at[*ret_len] == ',')) {
		*ret_len = strcspn(at, ",");
		if (name[want - 1] == '=' ? *ret_len > want && strncmp(at, name, want) == 0
					  : *ret_len == want && strncmp(at, name, want) == 0)
			return at;
	}
	return NULL;
}

char *mount_cache_options(const char *options)
{
	static const char *const names[] = {"sync", "dirsync", "barrier", "barrier=", "nobarrier",
		"data=", "commit=", "journal_async_commit", "dax", "dax=", "wsync", "max_batch_time=",
		"flushoncommit", "noflushoncommit"};
	struct buf out = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len;
		const char *at = find(options, names[i], &len);

		if (!at)
			continue;
		if (out.len)
			buf_addc(&out, ',');
		buf_add(&out, at, len);
	}
	if (!out.len)
		buf_adds(&out, "the defaults");
	return buf_take(&out);
}

int mount_has_no_barrier(const char *options)
{
	size_t len;

	return find(options, "nobarrier", &len) != NULL || find(options, "barrier=0", &len) != NULL;
}

/* Each btrfs mount lists its subvolume. */
int mount_writes_in_place(const char *options)
{
	static const char *const elsewhere[] = {"addr=", "lowerdir=", "user_id="};
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(elsewhere); i++)
		if (find(options, elsewhere[i], &len))
			return -1;
	return !find(options, "subvolid=", &len) || find(options, "nodatacow", &len);
}
