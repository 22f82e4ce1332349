/* Reading `command` workloads. Owns the row of the kind. */
#include "common/plan/work_command.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload_type.h"

static const struct word sync_words[] = {{"filesystem", 1, NULL}, {"none", 0, NULL}};
static const struct word_list sync_list = WORD_LIST("a kind of sync", sync_words);
/* Formats that are outputs of programs; by name in common/formats. */
static const struct word parse_words[] = {{"auto", PARSE_AUTO, NULL}, {"none", PARSE_NONE, NULL},
	{"dd", PARSE_DD, NULL}, {"time", PARSE_TIME, NULL}, {"filebench", PARSE_FILEBENCH, NULL},
	{"fio", PARSE_FIO, NULL}, {"bonnie", PARSE_BONNIE, NULL}, {"iozone", PARSE_IOZONE, NULL},
	{"elbencho", PARSE_ELBENCHO, NULL}};
static const struct word_list parse_list = WORD_LIST("a format", parse_words);
static const char no_duration[] = "a command runs to its end: 'timeout' says how long it may take, "
				   "'duration' means nothing here";
static const struct int_range timeout_range = {NS_PER_S, 7 * 24 * 3600 * NS_PER_S};

/* The length of a placeholder at s ("{dir}"), 0: there is none; *ret_word: which. */
static size_t placeholder(const char *s, size_t *ret_len)
{
	size_t len;

	if (*s != '{')
		return 0;
	len = strspn(s + 1, "abcdefghijklmnopqrstuvwxyz");
	if (!len || s[len + 1] != '}')
		return 0;
	*ret_len = len;
	return len + 2;
}

static int is_word(const char *s, size_t len, const char *word)
{
	return strlen(word) == len && strncmp(s + 1, word, len) == 0;
}

char *command_argument(const char *arg, const char *dir, const char *trial)
{
	struct buf out = {0};
	size_t len;

	while (*arg) {
		size_t all = placeholder(arg, &len);

		if (!all)
			buf_addc(&out, *arg++);
		else
			buf_adds(&out, is_word(arg, len, "dir") ? dir : trial);
		arg += all;
	}
	return buf_take(&out);
}

const char *command_format(enum command_parse parse)
{
	for (size_t i = 0; i < ARRAY_LEN(parse_words); i++)
		if (parse_words[i].value == (int)parse && parse > PARSE_NONE)
			return parse_words[i].name;
	return NULL;
}

int command_program_check(const char *path, struct err *e)
{
	static const char *const own[] = {"fio", "filebench"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char text[SHOWN_LEN];

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(name, own[i]) == 0)
			return err_set(e, ERR_DENIED,
				"a command does not run %s, whose arguments would go unchecked: use the "
				"%s workload",
				shown(path, text), own[i]);
	return 0;
}

static void check_argument(struct reading *r, const struct yaml_node *n, const char *path)
{
	char text[SHOWN_LEN];
	size_t len;

	if (strlen(n->scalar) > COMMAND_ARG_MAX) {
		read_error(r, n, path, "an argument of more than %d bytes", COMMAND_ARG_MAX);
		return;
	}
	for (const char *p = n->scalar; *p; p++) {
		if ((unsigned char)*p < ' ' && *p != '\t' && *p != '\n') {
			read_error(r, n, path, "'%s' has a control character",
				shown(n->scalar, text));
			return;
		}
		if (placeholder(p, &len) && !is_word(p, len, "dir") && !is_word(p, len, "trial")) {
			read_error(r, n, path, "'%s': {dir} and {trial} are the only placeholders",
				shown(n->scalar, text));
			return;
		}
	}
}

static void read_argv(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct strv *argv = field;
	const char *why;
	char text[SHOWN_LEN];
	struct err e;

	(void)arg;
	if (n->kind != YAML_SEQ || n->n == 0 || n->n > COMMAND_MAX_ARGS) {
		read_error(r, n, path, "must be a list of 1 to %d words, such as [/usr/bin/dd, "
				       "if=/dev/zero, \"of={dir}/x\"]: there is no shell",
			COMMAND_MAX_ARGS);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		if (n->items[i]->kind != YAML_SCALAR) {
			read_error(r, n->items[i], path, "must be a word");
			continue;
		}
		check_argument(r, n->items[i], path);
		strv_add(argv, n->items[i]->scalar);
	}
	if (argv->n && path_is_sane(argv->v[0], &why))
		read_error(r, n->items[0], path, "'%s' %s", shown(argv->v[0], text), why);
	else if (argv->n && command_program_check(argv->v[0], &e))
		read_error(r, n->items[0], path, "%s", e.text);
}

#define FIELD(name) offsetof(struct work_command, name)
static const struct key_row command_rows[] = {
	{"argv", read_argv, FIELD(argv), NULL,
		"the program and its arguments, such as [/usr/bin/dd, if=/dev/zero, \"of={dir}/x\"]"},
	{"timeout", read_time, FIELD(timeout_ns), &timeout_range, NULL},
	{"sync", read_word, FIELD(sync), &sync_list, NULL},
	{"parse", read_word, FIELD(parse), &parse_list, NULL},
	{"duration", read_elsewhere, 0, no_duration, NULL},
};
#undef FIELD
static const struct key_table command_table = KEY_TABLE("command", command_rows);

static void read_command(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct workload *w = field;

	(void)arg;
	w->command = xcalloc(1, sizeof(*w->command));
	w->command->sync = 1;
	read_map(r, n, path, &command_table, w->command);
}

static void check(const struct workload_place *at)
{
	if (at->w->duration_ns)
		workload_error(at, "duration", "%s", no_duration);
}

static void clear(struct workload *w)
{
	if (!w->command)
		return;
	strv_free(&w->command->argv);
	free(w->command);
	w->command = NULL;
}

static void access_of(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	(void)inputs;
	if (w->command->argv.n)
		strv_add(programs, w->command->argv.v[0]);
}

static int syncs(const struct workload *w)
{
	return w->command->sync;
}

static void argv(const struct workload *w, const struct plan *p, struct strv *ret)
{
	(void)p;
	for (size_t i = 0; i < w->command->argv.n; i++)
		strv_add(ret, w->command->argv.v[i]);
}

const struct workload_type work_command_type = {
	.key = "command",
	.headline = "elapsed",
	.read = read_command,
	.check = check,
	.clear = clear,
	.access = access_of,
	.syncs = syncs,
	.argv = argv,
};
