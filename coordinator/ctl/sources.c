/*
 * Arguments -> one result set. Owns what a struct sources owns.
 * Invariant: each run of the set has exactly one entry in v.
 */
#include "coordinator/ctl/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "coordinator/results/merge.h"

static int is_path(const char *s)
{
	return !strcmp(s, "-") || strchr(s, '/') || !access(s, F_OK);
}

/* The path of "NAME=PATH"; NULL where the argument is no such thing. */
static const char *named_path(const char *arg)
{
	size_t n = strcspn(arg, "=/");

	return n && arg[n] == '=' && access(arg, F_OK) && arg[n + 1] ? arg + n + 1 : NULL;
}

int sources_is_file(const char *arg)
{
	return is_path(arg) || named_path(arg);
}

int sources_input_format(const struct args *a, const struct format **ret, struct err *e)
{
	const char *out = args_get(a, "format");

	if (out && format_find(out))
		return err_set(e, ERR_USAGE,
			"--format %s: text, markdown, csv, json or html is expected; what the files are is "
			"told by --input-format %s",
			out, out);
	return fetch_format("--input-format", args_get(a, "input-format"), ret, e);
}

int sources_keep(const struct args *a, struct err *e)
{
	const char *out = args_get(a, "output");
	struct stat to, from;

	if (!out || !strcmp(out, "-") || stat(out, &to) || !S_ISREG(to.st_mode))
		return 0;
	for (int i = 0; i < a->n; i++) {
		const char *named = named_path(a->v[i]), *path = named ? named : a->v[i];
		int bad = strcmp(path, "-") ? stat(path, &from) : fstat(STDIN_FILENO, &from);

		if (!bad && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
			return err_set(e, ERR_USAGE,
				"--output %s: results are read from there, and would be lost: name another file",
				out);
	}
	return 0;
}

/* An argument that could have been a file, or the name of a run. */
static int not_there(const char *arg, struct err *e)
{
	return err_set(e, ERR_NOTFOUND,
		"%s: there is neither such a file nor such a run: `arraymark runs` lists the runs", arg);
}

/* No name of a run has a dot: there is no need to ask a coordinator. */
static int read_one(struct sources *s, struct ctl *c, const char *arg, const char *path,
	const struct format *format, struct result_set *one, struct err *e)
{
	if (path)
		return fetch_add_file(path, format, one, &s->log, &s->doubts, e);
	if (strchr(arg, '.'))
		return not_there(arg, e);
	if (!s->conn.client && connection_open(c, &s->conn, e))
		return err_prefix(e, "%s is no file; as a run", arg);
	if (fetch_run(s->conn.client, arg, s->plots, one, e) == 0)
		return 0;
	return e->code == ERR_NOTFOUND && strspn(arg, "0123456789") < strlen(arg) ? not_there(arg, e)
										  : -1;
}

static void add_source(struct sources *s, uint64_t run, char *label, char *longer)
{
	size_t n = s->n++;

	s->v = xgrow(s->v, n, &s->cap, sizeof(*s->v));
	s->longer = xgrow(s->longer, n, &s->cap_longer, sizeof(*s->longer));
	s->v[n] = (struct pivot_source){run, label};
	s->longer[n] = longer;
}

/* A coordinator's runs are told apart by their numbers there, which merging may change. */
static void take(struct sources *s, struct result_set *one, const char *arg, const char *path)
{
	size_t first = s->set.n_runs, n = one->n_runs;
	char *name = path && path != arg ? xstrndup(arg, (size_t)(path - arg) - 1) : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct result_run *r = &one->runs[i];
		char *label = name && n > 1 ? xasprintf("%s %s", name, r->name)
					    : xstrdup(name ? name : r->name);

		add_source(s, 0, label,
			path ? NULL : xasprintf("%s (run %llu)", label, (unsigned long long)r->id));
	}
	result_set_merge(&s->set, one);
	for (size_t i = 0; i < n; i++)
		s->v[s->n - n + i].run = s->set.runs[first + i].id;
	free(name);
}

int sources_add(struct sources *s, struct ctl *c, const char *arg, const struct format *format,
	struct err *e)
{
	const char *path = named_path(arg);
	struct result_set one = {0};

	path = path || !is_path(arg) ? path : arg;
	if (read_one(s, c, arg, path, format, &one, e) || fetch_end(&one, e)) {
		result_set_clear(&one);
		return -1;
	}
	if (!one.n_runs)
		return err_set(e, ERR_INPUT, "%s: there is no run in it", arg);
	if (result_set_room(&s->set, one.n_trials + one.n_summaries, e)) {
		result_set_clear(&one);
		return err_prefix(e, "with %s", arg);
	}
	fetch_warn(c, &s->doubts);
	buf_reset(&s->doubts);
	take(s, &one, arg, path);
	return 0;
}

static int is_label(const struct sources *s, const char *label, size_t but)
{
	for (size_t i = 0; i < s->n; i++)
		if (i != but && !strcmp(s->v[i].label, label))
			return 1;
	return 0;
}

static void relabel(struct sources *s, size_t i, char *label)
{
	free((char *)s->v[i].label);
	s->v[i].label = label;
}

/* By a run's number, else the first of one name keeps it. */
static void make_labels_differ(struct sources *s)
{
	unsigned char *same = xcalloc(s->n + 1, 1);

	for (size_t i = 0; i < s->n; i++)
		same[i] = s->longer[i] && is_label(s, s->v[i].label, i);
	for (size_t i = 0; i < s->n; i++)
		if (same[i])
			relabel(s, i, xstrdup(s->longer[i]));
	free(same);
	for (size_t i = 1; i < s->n; i++) {
		char *label = xstrdup(s->v[i].label);

		for (unsigned k = 2; is_label(s, label, i); k++) {
			free(label);
			label = xasprintf("%s (%u)", s->v[i].label, k);
		}
		relabel(s, i, label);
	}
}

int sources_end(struct sources *s, struct err *e)
{
	connection_close(&s->conn);
	make_labels_differ(s);
	return fetch_end(&s->set, e);
}

void sources_clear(struct sources *s)
{
	connection_close(&s->conn);
	for (size_t i = 0; i < s->n; i++) {
		free((char *)s->v[i].label);
		free(s->longer[i]);
	}
	free(s->v);
	free(s->longer);
	buf_free(&s->log);
	buf_free(&s->doubts);
	result_set_clear(&s->set);
	memset(s, 0, sizeof(*s));
}
