/*
 * Reading a host's policy: what its owner allows. Nothing is allowed that it does not name, so an
 * empty file is a valid policy that allows nothing.
 */
#include "common/plan/policy.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan.h"
#include "common/plan/read.h"

#define DEFAULT_PORT 7420
#define DAY_NS (86400 * NS_PER_S)
#define MAX_DIRECTORIES 256

static const struct int_range scratch_range = {64 << 20, INT64_MAX};
static const struct int_range job_range = {60 * NS_PER_S, 365 * DAY_NS};
static const struct word plans_words[] = {{"any", 0, NULL}, {"approved", 1, NULL}};
static const struct word_list plans_list = WORD_LIST("a choice of plans", plans_words);

/* Splits "host", "host:port", "[::1]:port"; returns the port or -1. */
static int64_t split_port(const char *s, size_t *ret_host_len)
{
	const char *end = *s == '[' ? strchr(s, ']') : s + strcspn(s, ":");
	int64_t port = DEFAULT_PORT;
	struct err e;

	if (!end)
		return -1;
	end += *s == '[';
	*ret_host_len = (size_t)(end - s);
	if (*end && (*end != ':' || units_parse_int(end + 1, 1, 65535, &port, &e)))
		return -1;
	return *ret_host_len && *ret_host_len < 256 ? port : -1;
}

static void read_coordinator(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]%_";
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	size_t len = 0;
	int64_t port = -1;

	(void)arg;
	if (!s)
		return;
	if (strspn(s, chars) == strlen(s))
		port = split_port(s, &len);
	if (port < 0) {
		read_error(r, n, path,
			"'%s' must be host or host:port, such as "
			"bench.example.org:%d",
			shown(s, text), DEFAULT_PORT);
		return;
	}
	free(*(char **)field);
	*(char **)field = xasprintf("%.*s:%lld", (int)len, s, (long long)port);
}

static void read_tags(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv *tags = field;
	struct err e;

	read_list(r, n, path, tags, arg);
	for (size_t i = 0; i < tags->n; i++)
		if (plan_check_tag(tags->v[i], &e))
			read_error(r, n, path, "%s", e.text);
}

static int names_kernel_device(const char *s)
{
	static const char *const starts[] = {
		"/dev/", "sd", "hd", "vd", "xvd", "nvme", "dm-", "md", "loop", NULL};

	for (size_t i = 0; starts[i]; i++)
		if (str_starts(s, starts[i]))
			return 1;
	return 0;
}

/* Stable ids, globs possible; a bare "serial:*" is allowed but said. */
static void read_disk_ids(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct strv *list = field;
	char text[SHOWN_LEN];

	read_list(r, n, path, list, arg);
	for (size_t i = 0; i < list->n; i++) {
		const struct yaml_node *at = n->kind == YAML_SEQ && i < n->n ? n->items[i] : n;
		const char *s = list->v[i];

		if ((str_starts(s, "serial:") && s[7]) || (str_starts(s, "wwn:") && s[4]))
			continue;
		if (names_kernel_device(s))
			read_error(r, at, path,
				"'%s' is a name that may be another disk after the next start: use "
				"serial:… or wwn:…, which `arraymark-agent policy init` writes",
				shown(s, text));
		else
			read_error(r, at, path, "'%s' must be serial:… or wwn:…", shown(s, text));
	}
}

/* driver:number */
static void read_controllers(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	static const char *const drivers[] = {
		"md", "storcli", "perccli", "storcli2", "megacli", "ssacli", "arcconf", NULL};
	struct strv *list = field;
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];

	read_list(r, n, path, list, arg);
	for (size_t i = 0; i < list->n; i++) {
		const char *number = strchr(list->v[i], ':');
		char *driver = xstrndup(list->v[i], strcspn(list->v[i], ":"));
		int known = 0;

		for (size_t j = 0; drivers[j]; j++)
			known |= !strcmp(drivers[j], driver);
		if (!known || !number || !number[1] || strlen(number) > 5 ||
			strspn(number + 1, "0123456789") != strlen(number + 1))
			read_error(r, n, path,
				"'%s' must be a driver and a number, such as megacli:0%s",
				shown(list->v[i], text),
				known ? "" : suggestion(driver, drivers, near));
		free(driver);
	}
}

static const struct key_row directory_rows[] = {
	{"path", read_path, offsetof(struct policy_directory, path), NULL, "the folder"},
	{"remount", read_bool, offsetof(struct policy_directory, remount), NULL, NULL},
};
static const struct key_table directory_table = KEY_TABLE("a directory", directory_rows);

static void read_directories(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct policy *p = field;

	(void)arg;
	if (n->kind != YAML_SEQ || n->n > MAX_DIRECTORIES) {
		read_error(r, n, path,
			"must be a list of at most %d folders: [{path: /tank/bench, "
			"remount: false}]",
			MAX_DIRECTORIES);
		return;
	}
	p->directories = xcalloc(n->n + 1, sizeof(*p->directories));
	p->n_directories = n->n;
	for (size_t i = 0; i < n->n; i++) {
		struct policy_directory *d = &p->directories[i];

		if (n->items[i]->kind == YAML_SCALAR)
			read_path(r, n->items[i], path, &d->path, NULL);
		else
			read_map(r, n->items[i], path, &directory_table, d);
		if (d->path && !strcmp(d->path, "/"))
			read_error(r, n->items[i], path,
				"'/' would allow to write anywhere: name a "
				"folder");
	}
}

static const struct key_row scratch_rows[] = {
	{"directory", read_path, offsetof(struct policy, scratch_directory), NULL,
		"where the files lie"},
	{"limit", read_bytes, offsetof(struct policy, scratch_limit), &scratch_range,
		"how much they may take, such as 20G"},
};
static const struct key_table scratch_table = KEY_TABLE("scratch", scratch_rows);

static void read_scratch(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	const struct policy *p = field;

	(void)arg;
	read_map(r, n, path, &scratch_table, field);
	if (p->scratch_directory && !strcmp(p->scratch_directory, "/"))
		read_error(r, n, path, "'/' is not a folder of its own for scratch files");
}

/* Absolute paths; inputs are globs. */
static void read_paths(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv *list = field;
	const char *why;
	char text[SHOWN_LEN];

	read_list(r, n, path, list, arg);
	for (size_t i = 0; i < list->n; i++)
		if (path_is_sane(list->v[i], &why))
			read_error(r, n->kind == YAML_SEQ && i < n->n ? n->items[i] : n, path,
				"'%s' %s", shown(list->v[i], text), why);
}

#define FIELD(name) offsetof(struct policy, name)
static const struct key_row allow_rows[] = {
	{"disks", read_disk_ids, FIELD(disks), NULL, NULL},
	{"wipe", read_disk_ids, FIELD(wipe), NULL, NULL},
	{"scan", read_bool, FIELD(scan), NULL, NULL},
	{"controllers", read_controllers, FIELD(controllers), NULL, NULL},
	{"directories", read_directories, 0, NULL, NULL},
	{"scratch", read_scratch, 0, NULL, NULL},
	{"inputs", read_paths, FIELD(inputs), NULL, NULL},
	{"programs", read_paths, FIELD(programs), NULL, NULL},
	{"plans", read_word, FIELD(plans_approved_only), &plans_list, NULL},
};
static const struct key_table allow_table = KEY_TABLE("allow", allow_rows);
static const struct key_row hook_rows[] = {
	{"before", read_path, FIELD(hook_before), NULL, NULL},
	{"after", read_path, FIELD(hook_after), NULL, NULL},
};
static const struct key_table hook_table = KEY_TABLE("hooks", hook_rows);
static const struct key_row limit_rows[] = {
	{"job", read_time, FIELD(job_limit_ns), &job_range, NULL},
};
static const struct key_table limit_table = KEY_TABLE("limits", limit_rows);

/* A map within the policy that fills the same struct; an empty one says nothing. arg: its table. */
static void read_part(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	if (!yaml_is_null(n))
		read_map(r, n, path, arg, field);
}

/* "HH:MM" at *s, which moves on; minutes of the day or -1. */
static int read_clock(const char **s)
{
	const char *p = *s;
	int h, m;

	for (int i = 0; i < 5; i++)
		if (i == 2 ? p[i] != ':' : p[i] < '0' || p[i] > '9')
			return -1;
	h = (p[0] - '0') * 10 + p[1] - '0';
	m = (p[3] - '0') * 10 + p[4] - '0';
	*s = p + 5;
	return h < 24 && m < 60 ? h * 60 + m : -1;
}

static void read_hours(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct policy *p = field;
	const char *s = read_scalar(r, n, path), *at = s;
	char text[SHOWN_LEN];
	int from, to;

	(void)arg;
	if (!s)
		return;
	from = read_clock(&at);
	to = from >= 0 && *at++ == '-' ? read_clock(&at) : -1;
	if (to < 0 || *at || from == to) {
		read_error(r, n, path, "'%s' must be two different times, such as 22:00-06:00",
			shown(s, text));
		return;
	}
	p->hours_from = from;
	p->hours_to = to;
}

static const struct key_row policy_rows[] = {
	{"coordinator", read_coordinator, FIELD(coordinator), NULL, NULL},
	{"tags", read_tags, FIELD(tags), NULL, NULL},
	{"allow", read_part, 0, &allow_table, NULL},
	{"hooks", read_part, 0, &hook_table, NULL},
	{"hours", read_hours, 0, NULL, NULL},
	{"limits", read_part, 0, &limit_table, NULL},
};
#undef FIELD
static const struct key_table policy_table = KEY_TABLE("a policy", policy_rows);

int policy_parse(const char *name, const char *text, size_t len, struct policy **ret,
	struct yaml_errors *errs, struct err *e)
{
	struct policy *p;
	struct yaml_errors warnings = {.file = name};
	struct reading r = {.errs = errs, .warnings = &warnings};
	struct yaml_node *root;

	errs->file = name;
	if (yaml_parse(name, text, len, &root, e)) {
		strv_add(&errs->list, e->text);
		return -1;
	}
	p = xcalloc(1, sizeof(*p));
	p->hours_from = p->hours_to = -1;
	if (!yaml_is_null(root))
		read_map(&r, root, "", &policy_table, p);
	yaml_node_free(root);
	strv_free(&r.seen);
	yaml_errors_free(&warnings);
	if (errs->list.n) {
		policy_free(p);
		return read_errors_fail(errs, e);
	}
	*ret = p;
	return 0;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	free(p->coordinator);
	strv_free(&p->tags);
	strv_free(&p->disks);
	strv_free(&p->wipe);
	strv_free(&p->controllers);
	for (size_t i = 0; i < p->n_directories; i++)
		free(p->directories[i].path);
	free(p->directories);
	free(p->scratch_directory);
	strv_free(&p->inputs);
	strv_free(&p->programs);
	free(p->hook_before);
	free(p->hook_after);
	free(p);
}

int policy_load(const char *path, struct policy **ret, struct yaml_errors *errs, struct err *e)
{
	struct buf text = {0};
	int rc;

	errs->file = path;
	if (fs_check_owned(path, e) || fs_read_file(path, YAML_MAX_BYTES, &text, e)) {
		if (e->code == ERR_NOTFOUND)
			err_set(e, ERR_NOTFOUND,
				"%s: there is no policy, so nothing is allowed here: "
				"write one with `arraymark-agent policy init`",
				path);
		buf_free(&text);
		return -1;
	}
	rc = policy_parse(path, buf_str(&text), text.len, ret, errs, e);
	buf_free(&text);
	return rc;
}

int policy_names_disk(const struct strv *list, const char *id)
{
	for (size_t i = 0; i < list->n; i++)
		if (fnmatch(list->v[i], id, str_starts(id, "wwn:") ? FNM_CASEFOLD : 0) == 0)
			return 1;
	return 0;
}
