/* Reading `pg_restore`, `pg_dump` and `pgbench`: their keys. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_pg_internal.h"

#define NAME_BYTES 63

static const struct word format_words[] = {{"custom", PG_FORMAT_CUSTOM, NULL},
	{"directory", PG_FORMAT_DIRECTORY, NULL}, {"plain", PG_FORMAT_PLAIN, NULL},
	{"tar", PG_FORMAT_TAR, NULL}};
static const struct word template_words[] = {{"template0", 0, NULL}, {"template1", 1, NULL}};
static const struct word checkpoint_words[] = {{"included", 1, NULL}, {"excluded", 0, NULL}};
static const struct word sync_words[] = {{"all", 1, NULL}, {"none", 0, NULL}};
static const struct word mode_words[] = {{"simple", PG_MODE_SIMPLE, NULL},
	{"extended", PG_MODE_EXTENDED, NULL}, {"prepared", PG_MODE_PREPARED, NULL}};
static const struct word script_words[] = {{"tpcb-like", PG_SCRIPT_TPCB, NULL},
	{"select-only", PG_SCRIPT_SELECT, NULL}, {"simple-update", PG_SCRIPT_SIMPLE_UPDATE, NULL}};
static const struct word_list format_list = WORD_LIST("a format of dumps", format_words);
static const struct word_list template_list = WORD_LIST("a template", template_words);
static const struct word_list checkpoint_list =
	WORD_LIST("a word for the checkpoint", checkpoint_words);
static const struct word_list sync_list = WORD_LIST("a kind of sync", sync_words);
static const struct word_list mode_list = WORD_LIST("a query mode", mode_words);
static const struct word_list script_list = WORD_LIST("a script", script_words);
static const struct int_range job_range = {1, PLAN_MAX_THREADS};
static const struct int_range scale_range = {1, 100000};
static const struct int_range client_range = {1, 1000};
static const struct int_range rate_range = {1, 10000000};
static const struct int_range compress_range = {0, 9};
static const struct int_range duration_range = {NS_PER_S, 7 * 24 * 3600 * NS_PER_S};

/* Its word in a list of words, by value. */
static const char *word_of(const struct word *words, size_t n, int value)
{
	for (size_t i = 0; i < n; i++)
		if (words[i].value == value)
			return words[i].name;
	return "?";
}

const char *pg_script_name(enum pg_script s)
{
	return word_of(script_words, ARRAY_LEN(script_words), (int)s);
}

const char *pg_mode_name(enum pg_mode m)
{
	return word_of(mode_words, ARRAY_LEN(mode_words), (int)m);
}

const char *pg_format_name(enum pg_format f)
{
	return f == PG_FORMAT_AUTO ? "unknown" :
		word_of(format_words, ARRAY_LEN(format_words), (int)f);
}

/* A word that programs and servers take as a name; arg: the characters it may have. */
static void read_name(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	const char *chars = arg, *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];

	if (!s)
		return;
	if (!*s || strlen(s) > NAME_BYTES || strspn(s, chars) != strlen(s)) {
		read_error(r, n, path, "'%s' is not a name of 1 to %d of the characters %s",
			shown(s, text), NAME_BYTES, chars);
		return;
	}
	free(*(char **)field);
	*(char **)field = xstrdup(s);
}

static void read_template(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	int which = -1;

	read_word(r, n, path, &which, arg);
	if (which < 0)
		return;
	free(*(char **)field);
	*(char **)field = xstrdup(template_words[which].name);
}

static void read_sha256(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	if (strlen(s) != 64 || strspn(s, "0123456789abcdef") != 64) {
		read_error(r, n, path, "'%s' is not a SHA-256 of 64 lower-case hex digits",
			shown(s, text));
		return;
	}
	free(*(char **)field);
	*(char **)field = xstrdup(s);
}

/* volume, null, or a folder of the host */
static void read_target(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_pg *p = field;
	const char *s = yaml_is_null(n) ? "null" : read_scalar(r, n, path);

	(void)arg;
	if (!s)
		return;
	if (*s == '/') {
		read_path(r, n, path, &p->target_path, NULL);
		p->target = PG_TARGET_PATH;
	} else if (!strcmp(s, "volume") || !strcmp(s, "null")) {
		p->target = *s == 'v' ? PG_TARGET_VOLUME : PG_TARGET_NULL;
	} else {
		char text[SHOWN_LEN];

		read_error(r, n, path,
			"'%s' is not a target: volume, null, or the absolute path of a folder",
			shown(s, text));
	}
}

#define FIELD(name) offsetof(struct work_pg, name)
static const char version_chars[] = "0123456789.";
static const char name_chars[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
static const struct key_row restore_rows[] = {
	{"dump", read_path, FIELD(dump), NULL, NULL},
	{"scale", read_uint, FIELD(scale), &scale_range, NULL},
	{"sha256", read_sha256, FIELD(sha256), NULL, NULL},
	{"format", read_word, FIELD(format), &format_list, NULL},
	{"jobs", read_uint, FIELD(jobs), &job_range, NULL},
	{"encoding", read_name, FIELD(encoding), name_chars, NULL},
	{"template", read_template, FIELD(template_), &template_list, NULL},
	{"no-owner", read_bool, FIELD(no_owner), NULL, NULL},
	{"globals", read_path, FIELD(globals), NULL, NULL},
	{"allow-errors", read_bool, FIELD(allow_errors), NULL, NULL},
	{"checkpoint", read_word, FIELD(checkpoint), &checkpoint_list, NULL},
	{"sync", read_word, FIELD(sync), &sync_list, NULL},
	{"settings", read_pg_settings, 0, NULL, NULL},
	{"version", read_name, FIELD(version), version_chars, NULL},
};
static const struct key_row dump_rows[] = {
	{"of", read_text, FIELD(of), NULL, "the pg_restore whose database is dumped"},
	{"format", read_word, FIELD(format), &format_list, NULL},
	{"jobs", read_uint, FIELD(jobs), &job_range, NULL},
	{"target", read_target, 0, NULL, NULL},
	{"compress", read_int, FIELD(compress), &compress_range, NULL},
	{"sync", read_word, FIELD(sync), &sync_list, NULL},
	{"settings", read_pg_settings, 0, NULL, NULL},
	{"version", read_name, FIELD(version), version_chars, NULL},
};
static const struct key_row bench_rows[] = {
	{"scale", read_uint, FIELD(scale), &scale_range, NULL},
	{"clients", read_uint, FIELD(clients), &client_range, NULL},
	{"jobs", read_uint, FIELD(jobs), &job_range, NULL},
	{"duration", read_time, FIELD(duration_ns), &duration_range, NULL},
	{"mode", read_word, FIELD(mode), &mode_list, NULL},
	{"script", read_word, FIELD(script), &script_list, NULL},
	{"rate", read_uint, FIELD(rate), &rate_range, NULL},
	{"settings", read_pg_settings, 0, NULL, NULL},
	{"version", read_name, FIELD(version), version_chars, NULL},
};
#undef FIELD
static const struct key_table restore_table = KEY_TABLE("pg_restore", restore_rows);
static const struct key_table dump_table = KEY_TABLE("pg_dump", dump_rows);
static const struct key_table bench_table = KEY_TABLE("pgbench", bench_rows);

static struct work_pg *make(struct workload *w)
{
	struct work_pg *p = xcalloc(1, sizeof(*p));

	p->jobs = p->clients = 1;
	p->sync = p->checkpoint = 1;
	p->compress = -1;
	p->template_ = xstrdup("template0");
	w->pg = p;
	return p;
}

void read_pg_restore(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)arg;
	read_map(r, n, path, &restore_table, make(field));
}

void read_pg_dump(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)arg;
	read_map(r, n, path, &dump_table, make(field));
}

void read_pgbench(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_pg *p = make(field);

	(void)arg;
	p->scale = 1;
	p->duration_ns = 60 * NS_PER_S;
	read_map(r, n, path, &bench_table, p);
}
