/*
 * What an agent is on this host: its options, identity, accounts and folders. Read once at start,
 * then read-only.
 *
 * STATE (mode 0711; everything in it is the monitor's user's alone unless said otherwise):
 *   key.pem cert.pem ca.pem name coordinator   made by `join`
 *   approved/   a file for each plan that the owner accepts, named by its SHA-256
 *   stopped     there while the owner wants no job here
 *   agent.pid   locked while an agent runs; agent.sock: the owner's verbs
 *   work.lock   locked by the helper that works on the host
 *   journal-*.jsonl, kept-*.jsonl              what was built; the latter stays on purpose
 *   spool/      the link's, owned by its user
 */
#ifndef AGENT_HOST_H
#define AGENT_HOST_H

#include "agent/spawn.h"
#include "common/base/buf.h"
#include "common/base/err.h"

#define AGENT_CONFIG "/etc/arraymark/agent.yaml"
#define AGENT_STATE "/var/lib/arraymark/agent"
#define AGENT_LINK_USER "arraymark"
#define AGENT_WORK_USER "arraymark-work"

struct agent_options {
	const char *config; /* the policy */
	const char *state;
	const char *name;   /* for mount points; NULL: the enrolled name */
};

struct host {
	const struct agent_options *opt;
	char *state;       /* absolute */
	char *name;        /* enrolled: what the fleet calls this host */
	char *coordinator; /* HOST:PORT from `join` */
	char *self;        /* absolute path of this program */
	char *mount_root;
	char *lock;        /* STATE/work.lock */
	struct spawn_user link_user, work_user;
	int privileged;
};

/* Absolute path of STATE; makes the folder (0711) when it is missing. Caller frees. */
int host_state_folder(const struct agent_options *opt, char **ret, struct err *e);
/* ERR_NOTFOUND names `arraymark-agent join` when this host was never enrolled. */
int host_open(const struct agent_options *opt, struct host *ret, struct err *e);
void host_clear(struct host *h);
/* A small file of STATE, trailing blanks cut off; max bytes. Caller frees. */
int host_read(const char *state, const char *file, size_t max, char **ret, struct err *e);

#endif
