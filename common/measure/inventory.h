/* What an agent knows about its host: plain structs, filled by agent/, read by everybody. */
#ifndef COMMON_MEASURE_INVENTORY_H
#define COMMON_MEASURE_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

#define INVENTORY_MAX_DISKS 4096
#define INVENTORY_MAX_POOLS 1024

struct inv_disk {
	char *name;       /* kernel name now ("sdc"); never an identity */
	char *path;       /* "/dev/disk/by-id/…" preferred, else "/dev/sdc" */
	char *serial;     /* NULL when the disk has none */
	char *wwn;        /* "0x5000c500…" or NULL */
	char *model;
	char *transport;  /* sas, sata, nvme, iscsi, usb, … or NULL */
	char *controller; /* description of the PCI device or driver it hangs on, or NULL */
	char *controller_path; /* sysfs path of the host adapter, or NULL */
	char *enclosure, *slot; /* or NULL */
	uint64_t bytes;
	uint32_t logical_sector, physical_sector; /* bytes */
	int rotational;
	int allowed;      /* the policy names it */
	char *in_use;     /* why it must not be touched ("mounted at /", "LVM"), NULL when free */
	char *link_speed;  /* as negotiated: "12.0 Gbit/s", "8.0 GT/s x4"; or NULL */
	char *scheduler;   /* the I/O scheduler in use ("mq-deadline", "none"), or NULL */
	char *write_cache; /* "write back", "write through", or NULL */
	char *zoned;       /* "none", "host-aware", "host-managed", or NULL */
	struct strv signatures; /* dormant ones: "zfs:oldtank", "ext4", "gpt" */
};

struct inv_pool {
	char *name, *guid, *health;
	uint64_t bytes;
};

struct inventory {
	char *host;
	char *os, *kernel, *arch, *cpu, *zfs; /* zfs: "OpenZFS 2.2.2", "zfs-fuse 0.7.0", or NULL */
	char *agent_version;
	uint32_t cpus;
	uint64_t ram_bytes;
	int privileged;   /* runs as root, with separate accounts */
	int scratch_loop; /* scratch disks are loop devices (with counters), not plain files */
	uint64_t scratch_limit; /* bytes the policy allows; 0: none */
	char *policy_error;     /* why the policy cannot be used, so that it allows nothing; or NULL */
	char *boot_id;          /* drawn by the kernel at each boot: agents that share it are on one
				   machine; or NULL */
	char *governor;         /* of the CPUs ("performance"), or NULL */
	int per_run;            /* not of the host, nor on the wire: its agent is started for each
				   run (by `local`), and so looks anew each time */
	struct strv zfs_parameters; /* "zfs_arc_max=0": those that change what is measured */
	struct strv tags;
	struct strv capabilities; /* "zfs.syncfs", "zfs.labelclear", "draid", "xfs", "ext4", … */
	struct inv_disk *disks;
	size_t n_disks;
	struct inv_pool *pools;
	size_t n_pools;
};

/* Stable id for plans and policies: "serial:…", else "wwn:…"; NULL when the disk has neither.
 * Into out; returns out or NULL. */
const char *inv_disk_id(const struct inv_disk *d, char *out, size_t len);
const struct inv_disk *inventory_find(const struct inventory *inv, const char *id);
void inv_disk_clear(struct inv_disk *d);
void inventory_clear(struct inventory *inv);
/* As JSON (host show --json, export's environment line). Caller json_decref()s. */
struct json_t *inventory_json(const struct inventory *inv);

#endif
