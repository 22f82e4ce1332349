/*
 * Commands and definitions of workload files: text in, struct wml out. Owns the items it makes
 * through struct wml.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

#define ECHO_MAX 4096 /* bytes of all that `echo` says */

void wml_item_free(struct wml_item *item)
{
	for (size_t i = 0; i < item->n_items; i++)
		wml_item_free(item->items[i]);
	for (int a = 0; a < ATTR_COUNT; a++)
		wml_value_clear(&item->v[a]);
	for (size_t i = 0; i < item->n_locals; i++)
		wml_value_clear(&item->locals[i].v);
	free(item->items);
	free(item->locals);
	free(item->type);
	free(item);
}

static void items_free(struct wml_item **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wml_item_free(v[i]);
	free(v);
}

void wml_source_free(struct wml *w)
{
	if (!w)
		return;
	items_free(w->sets, w->n_sets);
	items_free(w->processes, w->n_processes);
	items_free(w->composites, w->n_composites);
	for (size_t i = 0; i < w->n_vars; i++) {
		wml_value_clear(&w->vars[i].v);
		free(w->vars[i].name);
	}
	wml_value_clear(&w->rate);
	wml_value_clear(&w->run);
	free(w->vars);
	buf_free(&w->echo);
	free(w->file);
	free(w);
}

static int wants(const struct wml_lexer *l, const char *what, struct err *e)
{
	char text[WML_SHOWN];

	return wml_fail(l->file, l->now.at, e, "%s is wanted, not %s", what,
		wml_token_shown(&l->now, text));
}

static struct wml_item *add_item(struct wml_item ***v, size_t *n, size_t *cap,
	enum wml_item_kind kind, struct wml_place at)
{
	struct wml_item *item = xcalloc(1, sizeof(*item));

	item->kind = kind;
	item->at = at;
	*v = xgrow(*v, *n, cap, sizeof(**v));
	return (*v)[(*n)++] = item;
}

static int count_item(struct wml *w, const struct wml_lexer *l, struct err *e)
{
	if (++w->items > WML_MAX_ITEMS)
		return wml_fail(l->file, l->now.at, e, "more than %d definitions and flowops",
			WML_MAX_ITEMS);
	return 0;
}

/* $name or $name=value among the attributes of a composite flowop or of a call of one. */
static int take_local(struct wml *w, struct wml_lexer *l, struct wml_item *item, struct err *e)
{
	struct wml_local *local;

	item->locals = xgrow(item->locals, item->n_locals, &item->cap_locals, sizeof(*item->locals));
	local = &item->locals[item->n_locals++];
	*local = (struct wml_local){.variable = wml_variable_find(w, l->now.s, l->now.len)};
	if (wml_lex_next(l, e))
		return -1;
	if (!wml_token_is_mark(&l->now, '='))
		return 0;
	return wml_lex_next(l, e) || wml_take_value(w, l, &local->v, e) ? -1 : 0;
}

static int take_attr(struct wml *w, struct wml_lexer *l, struct wml_item *item, struct err *e)
{
	int a;

	if (l->now.kind == TOKEN_VARIABLE && item->kind == ITEM_FLOWOP)
		return take_local(w, l, item, e);
	if (l->now.kind != TOKEN_WORD)
		return wants(l, "an attribute", e);
	a = wml_attr_find(l, item, e);
	if (a < 0)
		return -1;
	if (item->v[a].kind != VALUE_NONE)
		return wml_fail(l->file, l->now.at, e, "'%s' is here twice",
			wml_attr_word((enum wml_attr)a));
	item->v[a] = (struct wml_value){.kind = VALUE_BOOL, .number = 1, .at = l->now.at};
	if (wml_lex_next(l, e))
		return -1;
	if (!wml_token_is_mark(&l->now, '='))
		return 0; /* a word alone: true */
	return wml_lex_next(l, e) || wml_take_value(w, l, &item->v[a], e) ? -1 : 0;
}

static int take_attrs(struct wml *w, struct wml_lexer *l, struct wml_item *item, struct err *e)
{
	if (take_attr(w, l, item, e))
		return -1;
	while (wml_token_is_mark(&l->now, ','))
		if (wml_lex_next(l, e) || take_attr(w, l, item, e))
			return -1;
	return 0;
}

/* ---- processes, threads, flowops ---- */

static int find_flow(const struct wml *w, const struct wml_lexer *l, struct wml_item *item,
	struct err *e)
{
	const char **words = xcalloc(wml_flow_count + w->n_composites + 1, sizeof(*words));
	char near[WML_SHOWN], text[WML_SHOWN];
	size_t n = 0;
	int found = 0;

	for (size_t i = 0; i < wml_flow_count && !found; i++) {
		words[n++] = wml_flow_types[i].word;
		found = wml_token_is(&l->now, wml_flow_types[i].word);
		if (found)
			item->flow = &wml_flow_types[i];
	}
	for (size_t i = 0; i < w->n_composites && !found; i++) {
		const struct wml_value *name = &w->composites[i]->v[ATTR_NAME];

		if (name->kind == VALUE_TEXT) {
			words[n++] = name->text;
			found = wml_token_is(&l->now, name->text);
		}
	}
	if (!found)
		(void)wml_fail(l->file, l->now.at, e, "%s is not a flowop%s",
			wml_token_shown(&l->now, text), wml_near(&l->now, words, near));
	free(words);
	return found ? 0 : -1;
}

static int take_flowop(struct wml *w, struct wml_lexer *l, struct wml_item *parent, struct err *e)
{
	struct wml_item *item = add_item(&parent->items, &parent->n_items, &parent->cap_items,
		ITEM_FLOWOP, l->now.at);

	if (count_item(w, l, e) || wml_lex_next(l, e))
		return -1;
	if (l->now.kind != TOKEN_WORD)
		return wants(l, "the kind of a flowop", e);
	if (find_flow(w, l, item, e))
		return -1;
	item->type = xstrndup(l->now.s, l->now.len);
	item->at = l->now.at;
	if (wml_lex_next(l, e))
		return -1;
	if (wml_token_is(&l->now, "flowop") || wml_token_is_mark(&l->now, '}'))
		return 0; /* no attribute */
	return take_attrs(w, l, item, e);
}

typedef int take_inner(struct wml *w, struct wml_lexer *l, struct wml_item *parent, struct err *e);

/* { word … word … } */
static int take_block(struct wml *w, struct wml_lexer *l, struct wml_item *parent, const char *word,
	take_inner *take, struct err *e)
{
	struct wml_place open = l->now.at;
	char text[WML_SHOWN];

	if (!wml_token_is_mark(&l->now, '{'))
		return wants(l, "'{'", e);
	if (wml_lex_next(l, e))
		return -1;
	while (wml_token_is(&l->now, word))
		if (take(w, l, parent, e))
			return -1;
	if (!wml_token_is_mark(&l->now, '}'))
		return wml_fail(l->file, l->now.at, e,
			"'%s' or the '}' to the '{' of line %d is wanted, not %s", word, open.line,
			wml_token_shown(&l->now, text));
	if (parent->n_items == 0)
		return wml_fail(l->file, open, e, "there is no %s in this block", word);
	return wml_lex_next(l, e);
}

static int take_thread(struct wml *w, struct wml_lexer *l, struct wml_item *parent, struct err *e)
{
	struct wml_item *item = add_item(&parent->items, &parent->n_items, &parent->cap_items,
		ITEM_THREAD, l->now.at);

	if (count_item(w, l, e) || wml_lex_next(l, e))
		return -1;
	if (!wml_token_is_mark(&l->now, '{') && take_attrs(w, l, item, e))
		return -1;
	return take_block(w, l, item, "flowop", take_flowop, e);
}

/* Its name is new: a call could mean either. */
static int check_composite(const struct wml *w, const struct wml_lexer *l, const struct wml_item *item,
	struct err *e)
{
	const struct wml_value *name = &item->v[ATTR_NAME];

	if (name->kind != VALUE_TEXT)
		return wml_fail(l->file, item->at, e, "define flowop: 'name=' is missing");
	for (size_t i = 0; i < wml_flow_count; i++)
		if (strcmp(wml_flow_types[i].word, name->text) == 0)
			return wml_fail(l->file, name->at, e,
				"define flowop: '%.64s' is a flowop of the language already: another name",
				name->text);
	for (size_t i = 0; i < w->n_composites; i++)
		if (w->composites[i] != item && strcmp(w->composites[i]->v[ATTR_NAME].text, name->text) == 0)
			return wml_fail(l->file, name->at, e,
				"define flowop: a second '%.64s': the first is in line %d", name->text,
				w->composites[i]->at.line);
	return 0;
}

static int take_define(struct wml *w, struct wml_lexer *l, struct err *e)
{
	static const char *const words[] = {
		"file", "fileset", "process", "flowop", "randvar", NULL};
	struct wml_place at = l->now.at;
	char near[WML_SHOWN], text[WML_SHOWN];
	struct wml_item *item;
	int which = 0;

	while (words[which] && !wml_token_is(&l->now, words[which]))
		which++;
	if (!words[which])
		return wml_fail(l->file, at, e, "define: %s is wanted, not %s%s",
			"file, fileset, process, flowop or randvar", wml_token_shown(&l->now, text),
			wml_near(&l->now, words, near));
	if (count_item(w, l, e) || wml_lex_next(l, e))
		return -1;
	switch (which) {
	case 0:
	case 1:
		item = add_item(&w->sets, &w->n_sets, &w->cap_sets, ITEM_FILESET, at);
		item->is_file = which == 0;
		return take_attrs(w, l, item, e);
	case 2:
		item = add_item(&w->processes, &w->n_processes, &w->cap_processes, ITEM_PROCESS, at);
		if (take_attrs(w, l, item, e))
			return -1;
		return take_block(w, l, item, "thread", take_thread, e);
	case 3:
		item = add_item(&w->composites, &w->n_composites, &w->cap_composites, ITEM_FLOWOP, at);
		if (take_attrs(w, l, item, e))
			return -1;
		return check_composite(w, l, item, e) ? -1 : take_block(w, l, item, "flowop", take_flowop, e);
	default:
		return wml_take_randvar(w, l, e);
	}
}

/* ---- the other commands ---- */

static int take_run(struct wml *w, struct wml_lexer *l, struct err *e)
{
	wml_value_clear(&w->run);
	w->run = (struct wml_value){.kind = VALUE_NUMBER, .number = 60, .at = l->now.at};
	if (l->now.kind != TOKEN_NUMBER && l->now.kind != TOKEN_VARIABLE)
		return 0;
	return wml_take_value(w, l, &w->run, e);
}

/* psrun [period [seconds]]: a period under 0 starts the counters anew each time. */
static int take_psrun(struct wml *w, struct wml_lexer *l, struct err *e)
{
	if (l->now.kind == TOKEN_NUMBER && wml_lex_next(l, e))
		return -1;
	return take_run(w, l, e);
}

static int take_eventgen(struct wml *w, struct wml_lexer *l, struct err *e)
{
	struct wml_item item = {.kind = ITEM_EVENTGEN};
	int rc = take_attrs(w, l, &item, e);

	wml_value_clear(&w->rate);
	w->rate = item.v[ATTR_RATE];
	return rc;
}

/* "… $nfiles files": variables are shown with their values of this moment. */
static void say(struct wml *w, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end && w->echo.len < ECHO_MAX) {
		size_t n = 1;

		if (*s == '$' && s + 1 < end) {
			struct wml_value *v;

			while (s + n < end && (s[n] == '_' || (s[n] | 32) >= 'a' || (s[n] >= '0' && s[n] <= '9')) &&
				(s[n] | 32) <= 'z')
				n++;
			v = n > 1 ? &wml_variable(w, s + 1, n - 1)->v : NULL;
			if (v && v->kind == VALUE_TEXT)
				buf_adds(&w->echo, v->text);
			else if (v && (v->kind == VALUE_NUMBER || v->kind == VALUE_BOOL))
				buf_addf(&w->echo, "%lld", (long long)v->number);
			else
				buf_add(&w->echo, s, n);
		} else {
			buf_addc(&w->echo, (unsigned char)*s < ' ' ? ' ' : *s);
		}
		s += n;
	}
	buf_addc(&w->echo, '\n');
}

static int take_echo(struct wml *w, struct wml_lexer *l, struct err *e)
{
	if (l->now.kind != TOKEN_STRING)
		return wants(l, "a string in quotes", e);
	say(w, l->now.s, l->now.len);
	return wml_lex_next(l, e);
}

/* One word of several, or a number: commands that change nothing here. */
static int take_word(struct wml_lexer *l, const char *what, struct err *e)
{
	if (l->now.kind != TOKEN_WORD && l->now.kind != TOKEN_NUMBER && l->now.kind != TOKEN_STRING)
		return wants(l, what, e);
	return wml_lex_next(l, e);
}

static int take_create(struct wml_lexer *l, struct err *e)
{
	static const char *const words[] = {"files", "fileset", "filesets", "processes", NULL};

	for (int i = 0; words[i]; i++)
		if (wml_token_is(&l->now, words[i]))
			return wml_lex_next(l, e);
	return wants(l, "'files' or 'processes'", e);
}

static int take_enable(struct wml_lexer *l, struct err *e)
{
	if (wml_token_is(&l->now, "multi"))
		return wml_fail(l->file, l->now.at, e,
			"enable multi is not supported: hosts start together by the plan's 'start: together'");
	return wml_token_is(&l->now, "lathist") ? wml_lex_next(l, e) : wants(l, "'lathist'", e);
}

enum command { CREATE, DEFINE, DEBUG, MULTISYNC, ECHO, ENABLE, EVENTGEN, QUIT, LIST, RUN, PSRUN, SET,
	SLEEP, SYSTEM, VERSION, STATS, USAGE };

static int take_command(struct wml *w, struct wml_lexer *l, enum command c, struct wml_place at,
	struct err *e)
{
	switch (c) {
	case CREATE:
		return take_create(l, e);
	case DEFINE:
		return take_define(w, l, e);
	case MULTISYNC:
		return wml_fail(l->file, at, e,
			"domultisync is not supported: hosts start together by the plan's 'start: together'");
	case ECHO:
		return take_echo(w, l, e);
	case ENABLE:
		return take_enable(l, e);
	case EVENTGEN:
		return take_eventgen(w, l, e);
	case RUN:
	case SLEEP: /* older files: create processes, sleep, stats snap */
		return take_run(w, l, e);
	case PSRUN:
		return take_psrun(w, l, e);
	case SET:
		return wml_take_set(w, l, e);
	case SYSTEM:
		return wml_fail(l->file, at, e,
			"'system' runs a shell command, which is never done for a workload file: take the "
			"line out, and let the host's policy say what runs before (hooks)");
	case QUIT:
	case VERSION:
		return 0;
	case STATS:
		return take_word(l, "'clear' or 'snap'", e);
	case DEBUG:
		return take_word(l, "a number", e);
	case LIST:
		return take_word(l, "'fileset' or 'flowop'", e);
	case USAGE:
		return take_word(l, "a string in quotes", e);
	}
	return 0;
}

int wml_parse(struct wml *w, const char *text, size_t len, struct err *e)
{
	static const char *const words[] = {"create", "define", "debug", "domultisync", "echo", "enable",
		"eventgen", "quit", "list", "run", "psrun", "set", "sleep", "system", "version", "stats",
		"usage", NULL};
	char near[WML_SHOWN], shown[WML_SHOWN];
	struct wml_lexer l;
	int which;

	if (wml_lex_start(&l, w->file, text, len, e))
		return -1;
	while (l.now.kind != TOKEN_END) {
		struct wml_place at = l.now.at;

		for (which = 0; words[which] && !wml_token_is(&l.now, words[which]); which++)
			;
		if (wml_token_is_mark(&l.now, '}'))
			return wml_fail(l.file, at, e, "there is no '{' to this '}'");
		if (!words[which])
			return wml_fail(l.file, at, e, "%s is not a command%s",
				wml_token_shown(&l.now, shown), wml_near(&l.now, words, near));
		if (wml_lex_next(&l, e) || take_command(w, &l, (enum command)which, at, e))
			return -1;
	}
	return 0;
}
