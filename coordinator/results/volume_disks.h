/* The disks that a layout stood on at a host, as the evidence of its trials names them. */
#ifndef COORDINATOR_RESULTS_VOLUME_DISKS_H
#define COORDINATOR_RESULTS_VOLUME_DISKS_H

#include <stddef.h>

#include "coordinator/results/rules.h"

struct volume_disk {
	const char *id;            /* stable id; NULL for disks without one, such as loop devices */
	const char *name;          /* kernel name during the trial */
	const struct json_t *told; /* of the host's inventory; NULL: it is not there */
};
struct volume_disks {
	const char *host, *layout;
	uint32_t layout_index;
	struct volume_disk *v;
	size_t n;
	const struct trial_evidence *evidence; /* of the first trial that has some; or NULL */
	const struct trial_evidence **told; /* of each trial that has some, in their order */
	size_t n_told, cap_told;
	size_t first; /* the host's first trial in the set; its others follow */
};
/* One entry per host and layout of the run that has trials, in the order of hosts; n is 0 where no
 * trial has evidence. Texts are borrowed; volume_disks_free. */
void volume_disks_of(const struct rule_input *in, struct volume_disks **ret, size_t *ret_n);
/* Whether a disk of a host's list hangs behind an adapter whose firmware has a cache, rebuilds, patrols
 * and checks on its own: told by its driver. */
int inventory_disk_behind_raid(const struct json_t *disk);
int inventory_has_raid(const struct json_t *inventory);
int volume_disks_behind_raid(const struct volume_disks *d);
/* Whether an agent read properties of ZFS beside the trial of that evidence, which may be NULL. */
int evidence_is_of_zfs(const struct trial_evidence *v);
void volume_disks_free(struct volume_disks *v, size_t n);

#endif
