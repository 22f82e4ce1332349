/*
 * Command line and configuration file. Owns the table of keys, which both share: a key of the file
 * is the long option's name.
 */
#include "coordinator/options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/args.h"
#include "common/base/fs.h"
#include "common/base/help.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/verbs.h"
#include "common/base/yaml.h"

#define CONFIG_MAX (64 * 1024)

static const struct option_spec common_options[] = {
	{"config", 0, "FILE", "default " OPTIONS_CONFIG ", if it is there"},
	{"state", 0, "DIR", "default " OPTIONS_STATE},
	{"log-level", 0, "LEVEL", "error, warning, info (default) or debug"},
	{"help", 'h', NULL, "help, of a verb after its name"},
	{"version", 0, NULL, "the version"},
	{0},
};
static const struct option_spec init_options[] = {
	{"name", 0, "NAME", "what the certificate authority is called"},
	{"dns", 0, "NAME", "a further name or address of this machine; may be given several times"},
	{"ttl", 0, "TIME", "how long the token can be used: 24h (default), at most 30d"},
	{0},
};
static const struct option_spec run_options[] = {
	{"listen", 0, "ADDR:PORT", "default " OPTIONS_LISTEN "; port 0 takes a free one"},
	{"heartbeat", 0, "TIME", "how often peers are asked whether they are there: 10s (default)"},
	{"connections", 0, "N", "most at once: 12000 (default)"},
	{"private", 0, NULL, "for `arraymark local`: advice in errors is for an agent of each run"},
	{0},
};
static const struct option_spec token_options[] = {
	{"role", 0, "ROLE", "agent (default; NAME is the host), viewer, operator or admin"},
	{"ttl", 0, "TIME", "how long it can be used: 24h (default), at most 30d"},
	{0},
};

static const struct verb {
	const char *name, *args, *summary, *text, *examples;
	const struct option_spec *options;
} verbs[] = {
	{"init", "", "make state folder, authority and store; print the first admin token",
		"The token is all that stdout gets. Refused when there is a store.\n",
		"arraymark-coordinator init --dns bench.example.org\n", init_options},
	{"run", "", "serve until SIGTERM",
		"In the foreground. Killed in any other way it loses nothing that was acknowledged.\n",
		"arraymark-coordinator run\narraymark-coordinator run --listen 10.0.0.1:7420\n",
		run_options},
	{"token", "NAME", "print a one-time token for a host or a user",
		"Also beside a running daemon. The token is all that stdout gets.\n",
		"arraymark-coordinator token knew\narraymark-coordinator token --role operator dan\n",
		token_options},
	{"backup", "FILE", "write a consistent copy of the store", "Also while it is in use.\n",
		"arraymark-coordinator backup /srv/backup/store.db\n", NULL},
	{"restore", "FILE", "make a backup the store",
		"The daemon must not run, and there must be no store. It gets a new epoch, by which "
		"agents see that it may have forgotten something.\n",
		"arraymark-coordinator restore /srv/backup/store.db\n", NULL},
	{"check", "", "verify the store",
		"Its integrity, its references, and that every finished trial has all its samples. "
		"Each finding is a line, and the status is then 1.\n",
		"arraymark-coordinator check\n", NULL},
};

static const struct verb *verb_find(char *const *words, int n, struct err *e)
{
	const char *names[ARRAY_LEN(verbs) + 1] = {0};
	int used, at;

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		names[i] = verbs[i].name;
	at = verb_place(names, words, n, " (init, run, token, backup, restore, check)", &used, e);
	return at < 0 ? NULL : &verbs[at];
}

static void help_program(struct buf *out)
{
	buf_adds(out, "usage: arraymark-coordinator VERB [options] …\n\n");
	help_text("Keeps the plans and results of a fleet of storage hosts, and dispatches runs to its "
		  "agents.\n", out);
	buf_adds(out, "\nverbs (`arraymark-coordinator help VERB` tells more):\n");
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		char *left = xasprintf("%s %s", verbs[i].name, verbs[i].args);

		help_row(left, verbs[i].summary, out);
		free(left);
	}
	buf_adds(out, "\noptions of every verb:\n");
	help_options(common_options, out);
	buf_addc(out, '\n');
	help_text("Status: 0 done, 1 failed or `check` found something, 2 usage.\n", out);
}

int options_help(const char *verb, struct buf *out, struct err *e)
{
	struct help h = {.program = "arraymark-coordinator", .common = common_options};
	const struct verb *v;
	char *word;

	if (!verb) {
		help_program(out);
		return 0;
	}
	word = xstrdup(verb);
	v = verb_find(&word, 1, e);
	free(word);
	if (!v)
		return -1;
	h.verb = v->name;
	h.args = v->args;
	h.summary = v->summary;
	h.text = v->text;
	h.examples = v->examples;
	h.options = v->options;
	help_verb(&h, out);
	return 0;
}

enum key { KEY_CONFIG, KEY_STATE, KEY_LISTEN, KEY_HEARTBEAT, KEY_CONNECTIONS, KEY_LOG_LEVEL,
	KEY_PRIVATE, KEY_NAME, KEY_DNS, KEY_ROLE, KEY_TTL, KEY_COUNT };
static const struct {
	const char *name;
	int in_file;
} keys[KEY_COUNT] = {
	[KEY_CONFIG] = {"config", 0},
	[KEY_STATE] = {"state", 1},
	[KEY_LISTEN] = {"listen", 1},
	[KEY_HEARTBEAT] = {"heartbeat", 1},
	[KEY_CONNECTIONS] = {"connections", 1},
	[KEY_LOG_LEVEL] = {"log-level", 1},
	[KEY_PRIVATE] = {"private", 0},
	[KEY_NAME] = {"name", 0},
	[KEY_DNS] = {"dns", 0},
	[KEY_ROLE] = {"role", 0},
	[KEY_TTL] = {"ttl", 0},
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
	case KEY_PRIVATE:
		o->is_private = 1;
		return 0;
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

static int take_given(struct options *o, const struct args *a, struct err *e)
{
	struct err why;

	for (size_t i = 0; i < a->n_given; i++) {
		const char *name = a->given[i].spec->name;

		for (unsigned k = 0; k < KEY_COUNT; k++)
			if (!strcmp(keys[k].name, name) && set_key(o, (enum key)k, a->given[i].value, &why))
				return err_set(e, ERR_USAGE, "--%s: %s", name, why.text);
	}
	return 0;
}

/* Help and version take the place of the verb; the verb is then what help is wanted about. */
static void take_words(struct options *o, const struct args *a, const char *verb, int first)
{
	int help = args_get(a, "help") != NULL;

	if (args_get(a, "version"))
		o->verb = xstrdup("version");
	else
		o->verb = xstrdup(help ? "help" : verb);
	if (help && verb)
		strv_add(&o->args, verb);
	for (int i = first; i < a->n && !help; i++)
		strv_add(&o->args, a->v[i]);
}

static int read_args(int argc, char **argv, struct options *o, struct err *e)
{
	const struct verb *v = NULL;
	struct args a = {0};
	int r = -1, words;

	if (args_parse(argc, argv, common_options, NULL, 1, &a, e))
		goto out;
	words = a.n;
	if (!words && !args_get(&a, "help") && !args_get(&a, "version")) {
		err_set(e, ERR_USAGE, "a verb is missing: init, run, token, backup, restore or check");
		goto out;
	}
	if (!words || !strcmp(a.v[0], "help")) {
		take_words(o, &a, words ? "help" : NULL, 1);
		r = 0;
		goto out;
	}
	v = verb_find(a.v, a.n, e);
	if (!v || args_parse(argc - (int)(a.v - argv), a.v, common_options, v->options, 0, &a, e) ||
		take_given(o, &a, e))
		goto out;
	take_words(o, &a, v->name, 0);
	r = 0;
out:
	args_clear(&a);
	return r;
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
