/* What `zfs get -H -o name,property,value` prints. Pure. */
#ifndef AGENT_VOLUME_ZFS_GET_H
#define AGENT_VOLUME_ZFS_GET_H

/* Calls found for each line; lines of another shape are left out. */
void zfs_get_parse(const char *text,
	void (*found)(void *arg, const char *dataset, const char *property, const char *value),
	void *arg);
/* Whether a property says what caches do, or what a sync waits for. */
int zfs_is_cache_property(const char *name);

#endif
