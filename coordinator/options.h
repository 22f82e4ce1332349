/* What the daemon was told by its command line and its configuration file. */
#ifndef COORDINATOR_OPTIONS_H
#define COORDINATOR_OPTIONS_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define OPTIONS_CONFIG "/etc/arraymark/coordinator.yaml"
#define OPTIONS_STATE "/var/lib/arraymark/coordinator" /* beside an agent's */
#define OPTIONS_LISTEN "[::]:7420"

struct options {
	char *verb;
	char *config;          /* NULL: OPTIONS_CONFIG if it is there */
	char *state;           /* folder; absolute after options_load */
	char *listen;          /* "ADDR:PORT"; port 0: any free one */
	int listen_is_default; /* then 0.0.0.0 is tried where there is no IPv6 */
	unsigned heartbeat_ms; /* 100 .. 600,000 */
	unsigned connections;  /* most at once */
	int is_private;        /* run: for `arraymark local`, which starts an agent for each run */
	char *log_level;
	char *name;            /* init: of the CA */
	struct strv dns;       /* init: further names of this machine */
	char *role;            /* token */
	int64_t ttl_s;         /* token; 0: a day */
	struct strv args;      /* what follows the verb */
};

/* Command line, then the configuration file (a YAML map with the keys listen, state, heartbeat,
 * connections, log-level), then defaults: the first that says something wins. ERR_USAGE for a wrong
 * command line, ERR_INPUT for a wrong file (all its errors are logged). verb "help" when help was
 * asked for; the first of args is then what about. */
int options_load(int argc, char **argv, struct options *ret, struct err *e);
void options_clear(struct options *o);
/* Appends the help of the program (verb NULL) or of a verb; ERR_USAGE when there is no such one. */
int options_help(const char *verb, struct buf *out, struct err *e);

/* STATE/name; caller frees. */
char *options_path(const struct options *o, const char *name);

#endif
