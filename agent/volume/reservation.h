/* SCSI reservations: a disk of a shared shelf that another host has claimed. */
#ifndef AGENT_VOLUME_RESERVATION_H
#define AGENT_VOLUME_RESERVATION_H

/* Why the open disk is reserved, or NULL (also for what speaks no SCSI); caller frees. */
char *reservation_find(int fd);

#endif
