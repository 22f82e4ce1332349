/*
 * Which coordinator to talk to, and who we are there: the files of this user.
 *
 * CONFIG is $XDG_CONFIG_HOME/arraymark or ~/.config/arraymark (0700):
 *   coordinator                      HOST:PORT of the last login
 *   coordinators/HOST:PORT/key.pem   our key (0600), cert.pem, ca.pem
 *   coordinators/HOST:PORT/new.pem   key of a login that has not been answered
 * What `local` keeps is in $XDG_DATA_HOME/arraymark/local or ~/.local/share/arraymark/local; for
 * root without XDG_DATA_HOME in /var/lib/arraymark-local, because the agent's accounts must get
 * there.
 */
#ifndef COORDINATOR_CTL_TARGET_H
#define COORDINATOR_CTL_TARGET_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct target {
	char *name;            /* "bench.example.org:7420", "local", or a path: for messages */
	char *socket;          /* path of a coordinator's local socket; then the PEMs are NULL */
	char *cert, *key, *ca; /* PEM texts */
	int is_private; /* the user's own private coordinator of `local`, started when needed */
	int is_guess;   /* it is taken because nothing names another one */
};

/* option: the value of -c or NULL. The first of: option, $ARRAYMARK_COORDINATOR, the last login,
 * the private one when `local` has been used. ERR_DENIED when there is none, or no identity for it:
 * the text names `arraymark login`. ERR_USAGE when what was given is no HOST:PORT. */
int target_resolve(const char *option, struct target *ret, struct err *e);
void target_clear(struct target *t);

/* Folders; the caller frees. ERR_NOTFOUND when the user has no home. */
int target_config_dir(char **ret, struct err *e);
int target_local_dir(char **ret, struct err *e);
/* "HOST:PORT" in the form that names its folder: the default port added, lower case. */
int target_normalise(const char *host_port, char **ret, struct err *e);

/* The key of a login to come: the one of an unanswered try, or a new one, written before it is
 * used, so that the same token can be tried again with the same key. */
int target_key_prepare(const char *host_port, char **ret_key_pem, struct err *e);
/* The prepared key went to a use that is not ours: the next login makes another. */
void target_key_forget(const char *host_port);
/* Keeps a finished login and remembers it as the last one. */
int target_login_keep(
	const char *host_port, const char *key, const char *cert, const char *ca, struct err *e);

/* Connects to a coordinator's local socket and returns the descriptor, or -1. */
int target_open_socket(const char *path, struct err *e);

#endif
