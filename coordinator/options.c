/*
 * Command line and configuration file. Owns the table of keys, which both share: a key of the file
 * is the long option's name.
 */
#include "coordinator/options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/yaml.h"

#define CONFIG_MAX (64 * 1024)

static const char usage[] =
	"usage: arraymark-coordinator VERB [options]\n"
	"\n"
	"  init [--name NAME] [--dns NAME]…   make the state folder, the certificate authority and the\n"
	"                                     store; print the first admin token\n"
	"  run                                serve until SIGTERM\n"
	"  token [--role ROLE] [--ttl TIME] NAME\n"
	"                                     print a one-time token: ROLE agent (NAME is the host),\n"
	"                                     viewer, operator or admin (NAME is the user)\n"
	"  backup FILE                        consistent copy of the store, also while it is in use\n"
	"  restore FILE                       make a backup the store (the daemon must not run)\n"
	"  check                              verify the store\n"
	"\n"
	"  --config FILE        default " OPTIONS_CONFIG "\n"
	"  --state DIR          default " OPTIONS_STATE "\n"
	"  --listen ADDR:PORT   default " OPTIONS_LISTEN "; port 0 takes a free one\n"
	"  --heartbeat TIME     default 10s\n"
	"  --connections N      most connections at once, default 12000\n"
	"  --log-level LEVEL    error, warning, info or debug\n";

const char *options_usage(void)
{
	return usage;
}

enum key { KEY_CONFIG, KEY_STATE, KEY_LISTEN, KEY_HEARTBEAT, KEY_CONNECTIONS, KEY_LOG_LEVEL,
	KEY_NAME, KEY_DNS, KEY_ROLE, KEY_TTL, KEY_HELP, KEY_VERSION, KEY_COUNT };
static const struct {
	const char *name;
	int argument, in_file;
} keys[KEY_COUNT] = {
	[KEY_CONFIG] = {"config", 1, 0},
	[KEY_STATE] = {"state", 1, 1},
	[KEY_LISTEN] = {"listen", 1, 1},
	[KEY_HEARTBEAT] = {"heartbeat", 1, 1},
	[KEY_CONNECTIONS] = {"connections", 1, 1},
	[KEY_LOG_LEVEL] = {"log-level", 1, 1},
	[KEY_NAME] = {"name", 1, 0},
	[KEY_DNS] = {"dns", 1, 0},
	[KEY_ROLE] = {"role", 1, 0},
	[KEY_TTL] = {"ttl", 1, 0},
	[KEY_HELP] = {"help", 0, 0},
	[KEY_VERSION] = {"version", 0, 0},
};

static const char *const levels[] = {"error", "warning", "info", "debug", NULL};

static void text_once(char **field, const char *value)
{
	if (!*field)
		*field = xstrdup(value);
}

static int set_heartbeat(struct options *o, const char *value, struct err *e)
{
	int64_t ns;

	if (units_parse_time(value, &ns, e))
		return -1;
	if (ns < 100 * NS_PER_MS || ns > 600 * NS_PER_S)
		return err_set(e, ERR_INPUT, "'%s' is not between 100ms and 10m", value);
	if (!o->heartbeat_ms)
		o->heartbeat_ms = (unsigned)(ns / NS_PER_MS);
	return 0;
}

static int set_level(struct options *o, const char *value, struct err *e)
{
	for (size_t i = 0; levels[i]; i++) {
		if (strcmp(levels[i], value))
			continue;
		text_once(&o->log_level, value);
		return 0;
	}
	return err_set(e, ERR_INPUT, "'%s' is not a level (error, warning, info, debug)", value);
}

static int set_key(struct options *o, enum key k, const char *value, struct err *e)
{
	int64_t n;

	switch (k) {
	case KEY_CONFIG:
		text_once(&o->config, value);
		return 0;
	case KEY_STATE:
		text_once(&o->state, value);
		return 0;
	case KEY_LISTEN:
		text_once(&o->listen, value);
		return 0;
	case KEY_HEARTBEAT:
		return set_heartbeat(o, value, e);
	case KEY_CONNECTIONS:
		if (units_parse_int(value, 1, 1000000, &n, e))
			return -1;
		if (!o->connections)
			o->connections = (unsigned)n;
		return 0;
	case KEY_LOG_LEVEL:
		return set_level(o, value, e);
	case KEY_NAME:
		text_once(&o->name, value);
		return 0;
	case KEY_DNS:
		strv_add(&o->dns, value);
		return 0;
	case KEY_ROLE:
		text_once(&o->role, value);
		return 0;
	case KEY_TTL:
		if (units_parse_time(value, &n, e))
			return -1;
		o->ttl_s = n / NS_PER_S;
		return 0;
	default:
		return 0;
	}
}

static int read_args(int argc, char **argv, struct options *o, struct err *e)
{
	struct option longs[KEY_COUNT + 1];
	struct err why;
	int c, i;

	memset(longs, 0, sizeof(longs));
	for (i = 0; i < KEY_COUNT; i++)
		longs[i] = (struct option){keys[i].name, keys[i].argument, NULL, 1000 + i};
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h' || c == 1000 + KEY_HELP) {
			text_once(&o->verb, "help");
			return 0;
		}
		if (c == 1000 + KEY_VERSION) {
			text_once(&o->verb, "version");
			return 0;
		}
		if (c < 1000)
			return err_set(e, ERR_USAGE, "'%s' is not an option, or lacks its value",
				argv[optind - 1]);
		if (set_key(o, (enum key)(c - 1000), optarg, &why))
			return err_set(e, ERR_USAGE, "--%s: %s", keys[c - 1000].name, why.text);
	}
	if (optind == argc)
		return err_set(e, ERR_USAGE, "a verb is missing: init, run, token, backup, restore or check");
	o->verb = xstrdup(argv[optind]);
	for (i = optind + 1; i < argc; i++)
		strv_add(&o->args, argv[i]);
	return 0;
}

static void read_file_key(struct options *o, const struct yaml_node *n, struct yaml_errors *errs)
{
	const char *names[KEY_COUNT + 1], *near;
	struct err why;
	size_t count = 0;

	for (int k = 0; k < KEY_COUNT; k++) {
		if (!keys[k].in_file)
			continue;
		names[count++] = keys[k].name;
		if (strcmp(keys[k].name, n->key))
			continue;
		if (n->kind != YAML_SCALAR || yaml_is_null(n))
			yaml_error(errs, n, n->key, "one value is expected");
		else if (set_key(o, (enum key)k, n->scalar, &why))
			yaml_error(errs, n, n->key, "%s", why.text);
		return;
	}
	names[count] = NULL;
	near = str_nearest(n->key, names);
	yaml_error_key(errs, n, n->key, "unknown key%s%s%s", near ? " (did you mean '" : "",
		near ? near : "", near ? "'?)" : "");
}

static int read_config(struct options *o, struct err *e)
{
	const char *path = o->config ? o->config : OPTIONS_CONFIG;
	struct yaml_errors errs = {.file = path};
	struct yaml_node *root = NULL;
	struct buf text = {0};
	int r = -1;

	if (!o->config && access(path, F_OK))
		return 0;
	if (fs_read_file(path, CONFIG_MAX, &text, e) ||
		yaml_parse(path, buf_str(&text), text.len, &root, e))
		goto out;
	if (root->kind != YAML_MAP && !yaml_is_null(root)) {
		err_set(e, ERR_INPUT, "%s: a map of keys and values is expected", path);
		goto out;
	}
	for (size_t i = 0; i < root->n; i++)
		read_file_key(o, root->items[i], &errs);
	for (size_t i = 1; i < errs.list.n; i++)
		log_error("config", "%s", errs.list.v[i]);
	r = errs.list.n ? err_set(e, ERR_INPUT, "%s", errs.list.v[0]) : 0;
out:
	yaml_node_free(root);
	yaml_errors_free(&errs);
	buf_free(&text);
	return r;
}

static int state_absolute(struct options *o, struct err *e)
{
	char here[PATH_MAX], *absolute;

	if (o->state[0] == '/')
		return 0;
	if (!getcwd(here, sizeof(here)))
		return err_sys(e, "the current folder");
	absolute = xasprintf("%s/%s", here, o->state);
	free(o->state);
	o->state = absolute;
	return 0;
}

int options_load(int argc, char **argv, struct options *ret, struct err *e)
{
	struct options o = {0};

	if (read_args(argc, argv, &o, e))
		goto fail;
	if (strcmp(o.verb, "help") && strcmp(o.verb, "version") && read_config(&o, e))
		goto fail;
	o.listen_is_default = !o.listen;
	text_once(&o.state, OPTIONS_STATE);
	text_once(&o.listen, OPTIONS_LISTEN);
	text_once(&o.log_level, "info");
	if (!o.heartbeat_ms)
		o.heartbeat_ms = 10000;
	if (!o.connections)
		o.connections = 12000;
	if (state_absolute(&o, e))
		goto fail;
	for (int i = 0; levels[i]; i++)
		if (!strcmp(levels[i], o.log_level))
			log_set_level((enum log_level)i);
	*ret = o;
	return 0;
fail:
	options_clear(&o);
	return -1;
}

void options_clear(struct options *o)
{
	free(o->verb);
	free(o->config);
	free(o->state);
	free(o->listen);
	free(o->log_level);
	free(o->name);
	free(o->role);
	strv_free(&o->dns);
	strv_free(&o->args);
	memset(o, 0, sizeof(*o));
}

char *options_path(const struct options *o, const char *name)
{
	return xasprintf("%s/%s", o->state, name);
}
