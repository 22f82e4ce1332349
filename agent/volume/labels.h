/* The agent's own verb `clear-labels`: removes what a volume of ours wrote to say what it is. */
#ifndef AGENT_VOLUME_LABELS_H
#define AGENT_VOLUME_LABELS_H

/*
 * clear-labels --kind zfs --name POOL [--guid GUID] DEVICE…
 * clear-labels --kind zfs-spare [--name POOL] [--guid GUID] [--device-guid GUID] DEVICE…   (spares and
 *     cache devices; their labels name no pool, but the device: without --device-guid any of them goes;
 *     those of POOL, which a spare at work carries, go too)
 * clear-labels --kind xfs|ext4 --uuid UUID DEVICE…
 *
 * Looks first: a label of another pool or a file system with another UUID is an error, and nothing
 * is written to that device. A device without such labels is fine. What is in use (also by a pool
 * that a daemon has imported) is left alone, and disks are opened exclusively.
 * argv[0] is the verb. Returns the exit status: 0, 1 (failed), 2 (usage).
 */
int labels_main(int argc, char **argv);

/* The verb `label-guids [--] DEVICE…`: one line, for each device the GUID that its label as a spare
 * has, or 0, in their order. Exit status 0, or 2 (usage). */
int label_guids_main(int argc, char **argv);

#endif
