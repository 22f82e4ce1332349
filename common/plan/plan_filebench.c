/*
 * Reading `filebench` workloads. What is no key of theirs is a variable of the personality; those of
 * a file of the host are checked there, where the file is.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_filebench.h"
#include "common/plan/workload_type.h"

#define PROGRAM_DEFAULT "/usr/local/bin/filebench" /* where its own `make install` puts it */

static const struct word dialect_words[] = {
	{"A", 'A', NULL}, {"B", 'B', NULL}, {"C", 'C', NULL}, {"D", 'D', NULL}};
static const struct word data_words[] = {{"random", DATA_RANDOM, NULL}, {"zero", DATA_ZERO, NULL}};
static const struct word_list dialect_list = WORD_LIST("a dialect of the IO Summary", dialect_words);
static const struct word_list data_list = WORD_LIST("a kind of data", data_words);
static const struct int_range duration_range = {NS_PER_S, 7 * 24 * 3600 * NS_PER_S};

static void read_personality(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct work_filebench *f = field;
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];

	(void)arg;
	if (!s)
		return;
	if (!wml_personality(s)) {
		read_error(r, n, path,
			"'%s' is not a personality (varmail, fileserver, webserver, webproxy, oltp, "
			"videoserver, randomread, randomwrite)%s",
			shown(s, text), suggestion(s, wml_personality_names, near));
		return;
	}
	free(f->personality);
	f->personality = xstrdup(s);
}

/* native, filebench, or the path of one. */
static void read_program(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_filebench *f = field;
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];

	(void)arg;
	if (!s || strcmp(s, "native") == 0)
		return;
	if (strcmp(s, "filebench") == 0) {
		free(f->program);
		f->program = xstrdup(PROGRAM_DEFAULT);
	} else if (s[0] == '/') {
		read_path(r, n, path, &f->program, NULL);
	} else {
		read_error(r, n, path,
			"'%s' must be native, filebench (" PROGRAM_DEFAULT ") or the path of one",
			shown(s, text));
	}
}

static void read_data(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const struct yaml_node *c = yaml_get(n, "compressible");
	struct work_filebench *f = field;
	double share = -1;
	int kind = DATA_RANDOM;

	(void)arg;
	if (n->kind != YAML_MAP) {
		read_word(r, n, path, &kind, &data_list);
		f->data = (enum data_kind)kind;
		return;
	}
	if (!c || n->n != 1) {
		read_error(r, n, path, "must be random, zero or {compressible: 50%%}");
		return;
	}
	read_percent(r, c, path, &share, NULL);
	if (share < 0)
		return;
	if (share < 0.01 || share > 0.99)
		read_error(r, c, path, "compressible takes 1%% to 99%%");
	f->data = DATA_COMPRESSIBLE;
	f->compressible_percent = (unsigned)(share * 100 + 0.5);
}

#define FIELD(name) offsetof(struct work_filebench, name)
static const struct key_row rows[] = {
	{"personality", read_personality, 0, NULL, NULL},
	{"wml", read_path, FIELD(wml), NULL, NULL},
	{"program", read_program, 0, NULL, NULL},
	{"data", read_data, 0, NULL, NULL},
	{"io-summary", read_word, FIELD(dialect), &dialect_list, NULL},
};
#undef FIELD

static int is_variable(const char *s)
{
	if (!isalpha((unsigned char)*s) || strlen(s) > 64)
		return 0;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

/* A key that is none of ours: its value goes to the variable of that name. */
static void read_setting(struct reading *r, const struct yaml_node *n, const char *path,
	const char *child, struct work_filebench *f)
{
	const char *value;
	char text[SHOWN_LEN];

	if (!is_variable(n->key)) {
		read_error_key(r, n, path, "'%s' is neither a key of filebench nor the name of a variable",
			shown(n->key, text));
		return;
	}
	value = read_scalar(r, n, child);
	if (!value)
		return;
	if (!wml_setting_is_plain(value)) {
		read_error(r, n, child,
			"'%s' is no value of a variable: letters, digits and . _ - $ %%, at most 79",
			shown(value, text));
		return;
	}
	if (f->n_settings == FILEBENCH_MAX_SETTINGS) {
		read_error_key(r, n, path, "more than %d variables", FILEBENCH_MAX_SETTINGS);
		return;
	}
	f->settings = xreallocarray(f->settings, f->n_settings + 1, sizeof(*f->settings));
	f->settings[f->n_settings++] =
		(struct wml_setting){.name = xstrdup(n->key), .value = xstrdup(value)};
}

static void read_key(struct reading *r, const struct yaml_node *n, const char *path,
	struct workload *w)
{
	char *child = read_child_path(path, n->key);
	size_t i = 0;

	while (i < ARRAY_LEN(rows) && strcmp(rows[i].name, n->key))
		i++;
	if (i < ARRAY_LEN(rows))
		rows[i].read(r, n, child, (char *)w->filebench + rows[i].offset, rows[i].arg);
	else if (strcmp(n->key, "duration") == 0)
		read_time(r, n, child, &w->duration_ns, &duration_range);
	else
		read_setting(r, n, path, child, w->filebench);
	free(child);
}

static void read_filebench(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct workload *w = field;

	(void)arg;
	w->filebench = xcalloc(1, sizeof(*w->filebench));
	w->filebench->dialect = 'D';
	if (n->kind != YAML_MAP) {
		read_error(r, n, path, "must be a map, such as {personality: varmail, duration: 60s}");
		return;
	}
	for (size_t i = 0; i < n->n; i++)
		read_key(r, n->items[i], path, w);
}

int filebench_load(const struct work_filebench *f, struct wml_program **ret, struct err *e)
{
	const char *text = wml_personality(f->personality);

	return wml_load(f->personality, text, strlen(text), f->settings, f->n_settings, ret, e);
}

/* Keys that are neither ours nor variables of the personality. Returns how many. */
static unsigned check_names(const struct workload_place *at, const struct work_filebench *f)
{
	static const char *const ours[] = {
		"personality", "wml", "program", "data", "io-summary", "duration"};
	const char *words[FILEBENCH_MAX_SETTINGS + ARRAY_LEN(ours) + 1] = {0};
	struct work_filebench plain = {.personality = f->personality};
	char near[SHOWN_LEN + 24], names[ARRAY_LEN(words)][72];
	struct wml_program *p;
	unsigned wrong = 0;
	size_t n = 0;
	struct err e;

	if (filebench_load(&plain, &p, &e))
		return 0; /* said by whoever loads it next */
	for (; n < p->settings.n && n < FILEBENCH_MAX_SETTINGS; n++) {
		size_t len = strcspn(p->settings.v[n], "=");

		memcpy(names[n], p->settings.v[n], len);
		names[n][len] = '\0';
		words[n] = names[n];
	}
	wml_free(p);
	memcpy(&words[n], ours, sizeof(ours));
	for (size_t i = 0; i < f->n_settings; i++) {
		const char *name = f->settings[i].name;
		size_t k = 0;

		while (k < n && strcmp(words[k], name))
			k++;
		if (k < n)
			continue;
		wrong++;
		read_error_key(at->r, yaml_get(at->n, name), at->path,
			"'%s' is neither a key of filebench nor a variable of %s%s", name,
			f->personality, suggestion(name, words, near));
	}
	return wrong;
}

static void check(const struct workload_place *at)
{
	const struct work_filebench *f = at->w->filebench;
	struct wml_program *p;
	struct err e;

	if (at->n->kind != YAML_MAP)
		return;
	if (f->personality && f->wml)
		workload_error(at, "wml", "beside 'personality': one of them says what runs");
	else if (!f->personality && !f->wml && !yaml_get(at->n, "personality") && !yaml_get(at->n, "wml"))
		workload_error(at, "",
			"'personality' is missing: varmail, fileserver, … (or 'wml', a file of the host)");
	if (f->program && f->data != DATA_RANDOM)
		workload_error(at, "data", "filebench itself writes what its memory holds: only the native "
					   "engine makes data");
	if (!f->personality || check_names(at, f))
		return;
	if (filebench_load(f, &p, &e))
		workload_error(at, "", "%s", e.text);
	else
		wml_free(p);
}

static void clear(struct workload *w)
{
	struct work_filebench *f = w->filebench;

	if (!f)
		return;
	for (size_t i = 0; i < f->n_settings; i++) {
		free((char *)f->settings[i].name);
		free((char *)f->settings[i].value);
	}
	free(f->settings);
	free(f->personality);
	free(f->wml);
	free(f->program);
	free(f);
}

static int64_t to_bytes(double x)
{
	return x < 9e18 ? (int64_t)x : INT64_MAX;
}

static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct work_filebench *f = w->filebench;
	struct wml_program *program;
	double all, prealloc;

	(void)p;
	(void)ram_bytes;
	ret->duration_ns = w->duration_ns;
	ret->compressible = f->data != DATA_RANDOM || f->program;
	if (!f->personality)
		return 0;
	if (filebench_load(f, &program, e))
		return err_prefix(e, "workloads.%s", w->name);
	wml_space(program, &all, &prealloc);
	if (!ret->duration_ns && program->mode == WML_TIMEOUT)
		ret->duration_ns = (program->run_s ? program->run_s : 60) * NS_PER_S;
	ret->kept_bytes = ret->made_bytes = to_bytes(prealloc);
	ret->space_bytes = ret->data_bytes = to_bytes(all);
	wml_free(program);
	return 0;
}

static void access_of(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	if (w->filebench->wml)
		strv_add(inputs, w->filebench->wml);
	if (w->filebench->program)
		strv_add(programs, w->filebench->program);
}

static const char *op(const struct workload *w)
{
	return w->filebench->personality ? w->filebench->personality : "wml";
}

static int syncs(const struct workload *w)
{
	struct wml_program *p;
	struct err e;
	int rc = -1;

	if (!w->filebench->personality || filebench_load(w->filebench, &p, &e))
		return -1; /* only the host knows */
	if (wml_writes(p))
		rc = wml_syncs(p);
	wml_free(p);
	return rc;
}

/* What the external program writes, it does not say; a file of the host is not read here. */
static void nature(const struct workload *w, struct workload_nature *ret)
{
	const struct work_filebench *f = w->filebench;
	struct wml_program *p;
	struct err e;
	int reads, writes;

	ret->data_known = !f->program;
	ret->data = f->data;
	ret->compressible_percent = f->compressible_percent;
	if (!f->personality || filebench_load(f, &p, &e))
		return;
	reads = wml_reads(p);
	writes = wml_writes(p);
	ret->moves = reads && writes ? MOVES_BOTH
		     : reads         ? MOVES_READS
		     : writes        ? MOVES_WRITES
				     : MOVES_UNKNOWN;
	ret->threads = p->threads;
	ret->paced = ret->all_paced = p->event_rate > 0;
	ret->sync_bound = wml_syncs(p);
	wml_free(p);
}

static int makes(const struct workload *w)
{
	return !w->filebench->program;
}

/* The external program makes its files by itself, when its caches are cold already. */
static int makes_late(const struct workload *w)
{
	return w->filebench->program != NULL;
}

const struct workload_type work_filebench_type = {
	.key = "filebench",
	.headline = "ops_per_s",
	.read = read_filebench,
	.takes_duration = 1,
	.check = check,
	.clear = clear,
	.needs = needs,
	.access = access_of,
	.op = op,
	.syncs = syncs,
	.nature = nature,
	.makes = makes,
	.makes_late = makes_late,
};
