/* The keys at the top of a plan, except those that are read after the others (see read_later). */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_internal.h"
#include "common/plan/plan_top.h"

#define DAY_NS (86400 * NS_PER_S)
#define UNTIL_MIN_TRIALS 5
#define UNTIL_MAX_TRIALS 30 /* where a plan that says no max stops anyway */

static const struct word cache_words[] = {
	{"cold", CACHE_COLD, NULL}, {"warm", CACHE_WARM, NULL}, {"as-is", CACHE_AS_IS, NULL}};
static const struct word builds_words[] = {
	{"each-block", BUILDS_EACH_BLOCK, NULL}, {"once", BUILDS_ONCE, NULL}};
static const struct word order_words[] = {
	{"random", ORDER_RANDOM, NULL}, {"as-written", ORDER_AS_WRITTEN, NULL}};
static const struct word start_words[] = {
	{"free", START_FREE, NULL}, {"together", START_TOGETHER, ""}};
static const struct word precondition_words[] = {
	{"none", 0, NULL}, {"discard", 1, ""}, {"fill", 2, ""}};
static const struct word_list cache_list = WORD_LIST("a cache state", cache_words);
static const struct word_list builds_list = WORD_LIST("a way to build", builds_words);
static const struct word_list order_list = WORD_LIST("an order", order_words);
static const struct word_list start_list = WORD_LIST("a way to start", start_words);
static const struct word_list precondition_list =
	WORD_LIST("a way to precondition", precondition_words);
static const struct int_range block_range = {1, PLAN_MAX_BLOCKS};
static const struct int_range repeat_range = {1, 1000};
static const struct int_range retry_range = {1, 10};
static const struct int_range sample_range = {100 * NS_PER_MS, 60 * NS_PER_S};
static const struct int_range deadline_range = {NS_PER_S, 365 * DAY_NS};

static void read_later(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)r;
	(void)n;
	(void)path;
	(void)field;
	(void)arg;
}

static void read_plan_name(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct err e;

	read_text(r, n, path, field, arg);
	if (*(char **)field && plan_check_name(*(char **)field, "plan", 0, &e))
		read_error(r, n, path, "%s", e.text);
}

static void read_host(
	struct reading *r, const struct yaml_node *n, const char *path, struct strv *hosts)
{
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	struct err e;
	int rc = 0;

	if (!s)
		return;
	if (str_starts(s, "tag:"))
		rc = plan_check_tag(s + 4, &e);
	else if (strcmp(s, "all"))
		rc = plan_check_name(s, "host", 1, &e);
	if (rc)
		read_error(r, n, path, "%s", e.text);
	else if (strv_has(hosts, s))
		read_error(r, n, path, "'%s' is there twice", shown(s, text));
	else
		strv_add(hosts, s);
}

static void read_hosts(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)arg;
	if (n->kind == YAML_SEQ && n->n == 0)
		read_error(r, n, path, "the list is empty: host names, tag:… or all");
	if (n->kind != YAML_SEQ)
		read_host(r, n, path, field);
	for (size_t i = 0; n->kind == YAML_SEQ && i < n->n; i++)
		read_host(r, n->items[i], path, field);
}

static void read_until(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	double *until = field;

	read_percent(r, n, path, until, arg);
	if (*until == 0 && n->kind == YAML_SCALAR && !strcmp(n->scalar, "0%"))
		read_error(r, n, path, "must be more than 0%%");
}

static const struct key_row trials_rows[] = {
	{"min", read_uint, offsetof(struct plan, trials_min), &block_range, "5 or more"},
	{"max", read_uint, offsetof(struct plan, trials_max), &block_range, NULL},
	{"until", read_until, offsetof(struct plan, until), NULL,
		"the precision that ends the run, such as 2%"},
};
static const struct key_table trials_table = KEY_TABLE("trials", trials_rows);

/* 10, or {min: 5, max: 30, until: 2%}; what spans the plan is in check_until of plan_check.c. */
static void read_trials(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct plan *p = field;

	if (n->kind != YAML_MAP) {
		read_uint(r, n, path, &p->trials_min, arg);
		p->trials_max = p->trials_min;
		return;
	}
	read_map(r, n, path, &trials_table, p);
	if (p->trials_min && p->trials_min < UNTIL_MIN_TRIALS)
		read_error(r, yaml_get(n, "min"), path,
			"min: until needs at least %d trials to judge "
			"from",
			UNTIL_MIN_TRIALS);
	if (!yaml_get(n, "max"))
		p->trials_max = UNTIL_MAX_TRIALS;
	if (p->trials_max && p->trials_max < p->trials_min)
		read_error(r, yaml_get(n, yaml_get(n, "max") ? "max" : "min"), path,
			"max (%u) is less than min (%u)", p->trials_max, p->trials_min);
}

/* Splits "wait 1h" into its word and the rest (or NULL). Caller frees. */
static char *split_word(const char *s, const char **rest)
{
	size_t len = strcspn(s, " ");

	*rest = s[len] ? s + len + strspn(s + len, " ") : NULL;
	if (*rest && !**rest)
		*rest = NULL;
	return xstrndup(s, len);
}

/* The rest of "word rest" as a node at the same place, for a reader of its own. */
static struct yaml_node rest_node(const struct yaml_node *n, const char *rest)
{
	struct yaml_node one = *n;

	one.scalar = (char *)rest;
	return one;
}

/* wait 1h | continue | fail */
static void read_host_lost(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct plan *p = field;
	const char *s = read_scalar(r, n, path), *rest;
	char *word, text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	word = split_word(s, &rest);
	if (!strcmp(word, "wait")) {
		struct yaml_node at = rest_node(n, rest ? rest : "1h");

		p->on_host_lost = HOST_LOST_WAIT;
		read_time(r, &at, path, &p->host_lost_wait_ns, &deadline_range);
	} else if (!rest && !strcmp(word, "continue")) {
		p->on_host_lost = HOST_LOST_CONTINUE;
	} else if (!rest && !strcmp(word, "fail")) {
		p->on_host_lost = HOST_LOST_FAIL;
	} else {
		read_error(r, n, path, "'%s' must be wait 1h, continue or fail", shown(s, text));
	}
	free(word);
}

/* retry 1 | continue | stop */
static void read_trial_failure(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct plan *p = field;
	const char *s = read_scalar(r, n, path), *rest;
	char *word, text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	word = split_word(s, &rest);
	if (!strcmp(word, "retry")) {
		struct yaml_node at = rest_node(n, rest ? rest : "1");

		p->on_trial_failure = TRIAL_FAILURE_RETRY;
		read_uint(r, &at, path, &p->trial_retries, &retry_range);
	} else if (!rest && !strcmp(word, "continue")) {
		p->on_trial_failure = TRIAL_FAILURE_CONTINUE;
	} else if (!rest && !strcmp(word, "stop")) {
		p->on_trial_failure = TRIAL_FAILURE_STOP;
	} else {
		read_error(r, n, path, "'%s' must be retry 1, continue or stop", shown(s, text));
	}
	free(word);
}

/* 10m | none */
static void read_stall(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	if (n->kind == YAML_SCALAR && !strcmp(n->scalar, "none"))
		*(int64_t *)field = 0;
	else
		read_time(r, n, path, field, arg);
}

/* "type" or "type:label": each signature by name, never a pattern. */
static int wipe_is_sane(const char *s)
{
	size_t type = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
	const char *label = s + type;

	if (type == 0 || type > 32 || *s == '-' || !strcmp(s, "all"))
		return 0;
	if (!*label)
		return strcmp(s, "zfs") && strcmp(s, "zfs_member");
	if (*label++ != ':' || !*label || strlen(label) > 255 || strpbrk(label, "*?["))
		return 0;
	for (; *label; label++)
		if ((unsigned char)*label < 0x20 || *label == 0x7f)
			return 0;
	return 1;
}

static void read_wipe(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv *list = field;
	char text[SHOWN_LEN];

	read_list(r, n, path, list, arg);
	for (size_t i = 0; i < list->n; i++)
		if (!wipe_is_sane(list->v[i]))
			read_error(r, n->kind == YAML_SEQ && i < n->n ? n->items[i] : n, path,
				"'%s' is not one signature: name each as `arraymark host disks "
				"HOST` "
				"prints it, such as zfs:oldtank or ext4",
				shown(list->v[i], text));
}

static void read_precondition(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	int word;

	(void)field;
	if (n->kind == YAML_MAP)
		read_unsupported(r, n, path, NULL, NULL);
	else
		read_word(r, n, path, &word, arg);
}

#define FIELD(name) offsetof(struct plan, name)
static const struct key_row top_rows[] = {
	{"name", read_plan_name, FIELD(name), NULL, "what the run is called"},
	{"hosts", read_hosts, FIELD(hosts), NULL, "host names, tag:… or all"},
	{"trials", read_trials, 0, &block_range, "how many blocks, such as 5"},
	{"cache", read_word, FIELD(cache), &cache_list, NULL},
	{"layouts", read_later, 0, NULL, NULL},
	{"workloads", read_later, 0, NULL, "what to time on it"},
	{"matrix", read_later, 0, NULL, NULL},
	{"compare", read_later, 0, NULL, NULL},
	{"builds", read_word, FIELD(builds), &builds_list, NULL},
	{"repeat", read_uint, FIELD(repeat), &repeat_range, NULL},
	{"order", read_word, FIELD(order), &order_list, NULL},
	{"start", read_word, FIELD(start), &start_list, NULL},
	{"samples", read_time, FIELD(sample_ns), &sample_range, NULL},
	{"deadline", read_time, FIELD(deadline_ns), &deadline_range, NULL},
	{"build-deadline", read_time, FIELD(build_deadline_ns), &deadline_range, NULL},
	{"trial-deadline", read_time, FIELD(trial_deadline_ns), &deadline_range, NULL},
	{"stall", read_stall, FIELD(stall_ns), &deadline_range, NULL},
	{"on-host-lost", read_host_lost, 0, NULL, NULL},
	{"on-trial-failure", read_trial_failure, 0, NULL, NULL},
	{"wipe", read_wipe, FIELD(wipe), NULL, NULL},
	{"keep", read_bool, FIELD(keep), NULL, NULL},
	{"precondition", read_precondition, 0, &precondition_list, NULL},
	{"disk-cache", read_unsupported, 0, NULL, NULL},
	{"fill", read_unsupported, 0, NULL, NULL},
	{"age", read_unsupported, 0, NULL, NULL},
	{"steady", read_unsupported, 0, NULL, NULL},
	{"duration", read_elsewhere, 0,
		"belongs to a workload, beside its kind: workloads: {w: {stream: {…}, duration: 30s}}", NULL},
};
#undef FIELD
const struct key_table plan_top_table = KEY_TABLE("a plan", top_rows);
