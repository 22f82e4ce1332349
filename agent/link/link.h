/*
 * The link process: the agent's only contact with the network and the sole owner of the spool.
 * Runs as its own user, without rights on disks, volumes and keys' files.
 */
#ifndef AGENT_LINK_LINK_H
#define AGENT_LINK_LINK_H

/* Serves until the monitor closes fd (frames to and from it). Starts with a LINK_SETUP. Returns the
 * exit status. */
int link_main(int fd);

#endif
