/* `set`, `define randvar`, and what is set from outside. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/wml_internal.h"

/* A number, or a variable that is one at this place: operands are needed at once. */
static int take_operand(struct wml *w, struct wml_lexer *l, int64_t *ret, struct err *e)
{
	const struct wml_token *t = &l->now;
	const struct wml_value *v;
	char text[WML_SHOWN];

	if (t->kind == TOKEN_NUMBER) {
		*ret = t->number;
		return wml_lex_next(l, e);
	}
	if (t->kind == TOKEN_VARIABLE) {
		v = &wml_variable(w, t->s, t->len)->v;
		if (v->kind != VALUE_NUMBER)
			return wml_fail(l->file, t->at, e, "%s is no number here, and cannot be reckoned with",
				wml_token_shown(t, text));
		*ret = v->number;
		return wml_lex_next(l, e);
	}
	return wml_fail(l->file, t->at, e, "a number or a variable is wanted, not %s",
		wml_token_shown(t, text));
}

static char operator_of(const struct wml_token *t)
{
	if (t->kind == TOKEN_MARK && strchr("+-*", t->mark))
		return t->mark;
	return wml_token_is(t, "/") ? '/' : 0;
}

/* value {+ - * / value}, from left to right. */
static int take_reckoning(struct wml *w, struct wml_lexer *l, struct wml_value *v, struct err *e)
{
	struct wml_place at = v->at;
	int64_t sum = v->number, by = 0;
	char op, text[WML_SHOWN];
	int over;

	if (v->kind == VALUE_VARIABLE) {
		const struct wml_value *of = &w->vars[v->variable].v;

		if (of->kind != VALUE_NUMBER)
			return wml_fail(l->file, at, e, "'$%s' is no number here, and cannot be reckoned with",
				w->vars[v->variable].name);
		sum = of->number;
	} else if (v->kind != VALUE_NUMBER) {
		return wml_fail(l->file, l->now.at, e, "%s stands behind what is no number",
			wml_token_shown(&l->now, text));
	}
	while ((op = operator_of(&l->now))) {
		at = l->now.at;
		if (wml_lex_next(l, e) || take_operand(w, l, &by, e))
			return -1;
		if (op == '/' && by == 0)
			return wml_fail(l->file, at, e, "a division by zero");
		over = op == '+' ? __builtin_add_overflow(sum, by, &sum)
		     : op == '-' ? __builtin_sub_overflow(sum, by, &sum)
		     : op == '*' ? __builtin_mul_overflow(sum, by, &sum)
				 : (by == -1 && sum == INT64_MIN);
		if (over)
			return wml_fail(l->file, at, e, "the result is more than can be counted");
		if (op == '/')
			sum /= by;
	}
	*v = (struct wml_value){.kind = VALUE_NUMBER, .number = sum, .at = v->at};
	return 0;
}

static int set_mode(struct wml *w, struct wml_lexer *l, struct err *e)
{
	static const char *const words[] = {"timeout", "alldone", "firstdone", NULL};
	char text[WML_SHOWN], near[WML_SHOWN];

	if (wml_lex_next(l, e))
		return -1;
	if (wml_token_is(&l->now, "nousestats"))
		return wml_lex_next(l, e);
	if (!wml_token_is(&l->now, "quit"))
		return wml_fail(l->file, l->now.at, e, "set mode: 'quit' or 'nousestats' is wanted, not %s",
			wml_token_shown(&l->now, text));
	if (wml_lex_next(l, e))
		return -1;
	for (int i = 0; words[i]; i++)
		if (wml_token_is(&l->now, words[i])) {
			w->mode = (enum wml_mode)i;
			return wml_lex_next(l, e);
		}
	return wml_fail(l->file, l->now.at, e,
		"set mode quit: timeout, alldone or firstdone is wanted, not %s%s",
		wml_token_shown(&l->now, text), wml_near(&l->now, words, near));
}

/* The file's own value; what is set from outside stays, and gets the file's distribution. */
static void assign(struct wml_variable *var, struct wml_value *v)
{
	var->is_set = 1;
	if (!var->fixed) {
		wml_value_clear(&var->v);
		var->v = *v;
		return;
	}
	if (v->kind == VALUE_RANDOM && var->v.kind == VALUE_NUMBER && var->v.number > 0 &&
		(v->dist->kind == DIST_GAMMA || v->dist->kind == DIST_EXPONENTIAL)) {
		v->dist->a = (double)var->v.number - v->dist->shift;
		if (v->dist->a > 0) {
			v->at = var->v.at;
			var->v = *v;
			return;
		}
	}
	wml_value_clear(v);
}

static int take_set_value(struct wml *w, struct wml_lexer *l, struct wml_value *v, struct err *e)
{
	struct wml_place at = l->now.at;
	int custom = wml_token_is(&l->now, "cvar");
	char text[WML_SHOWN];
	int rc;

	if (!custom && !wml_token_is(&l->now, "randvar")) {
		if (wml_take_value(w, l, v, e))
			return -1;
		if (operator_of(&l->now)) {
			rc = take_reckoning(w, l, v, e);
			if (rc)
				wml_value_clear(v);
			return rc;
		}
		return 0;
	}
	if (wml_lex_next(l, e))
		return -1;
	if (!wml_token_is_mark(&l->now, '('))
		return wml_fail(l->file, l->now.at, e, "'(' is wanted, not %s",
			wml_token_shown(&l->now, text));
	if (wml_lex_next(l, e))
		return -1;
	*v = (struct wml_value){.kind = VALUE_RANDOM, .at = at};
	return custom ? wml_take_cvar(w, l, &v->dist, e)
		      : wml_take_randvar_attrs(w, l, ')', NULL, &v->dist, e);
}

int wml_take_set(struct wml *w, struct wml_lexer *l, struct err *e)
{
	struct wml_value v = {0};
	char text[WML_SHOWN];
	unsigned variable;

	if (wml_token_is(&l->now, "mode"))
		return set_mode(w, l, e);
	if (l->now.kind != TOKEN_VARIABLE)
		return wml_fail(l->file, l->now.at, e, "set: a $variable is wanted, not %s",
			wml_token_shown(&l->now, text));
	variable = wml_variable_find(w, l->now.s, l->now.len);
	if (wml_lex_next(l, e))
		return -1;
	if (!wml_token_is_mark(&l->now, '='))
		return wml_fail(l->file, l->now.at, e, "'=' is wanted behind '$%s', not %s",
			w->vars[variable].name, wml_token_shown(&l->now, text));
	if (wml_lex_next(l, e) || take_set_value(w, l, &v, e))
		return -1;
	assign(&w->vars[variable], &v);
	return 0;
}

int wml_take_randvar(struct wml *w, struct wml_lexer *l, struct err *e)
{
	struct wml_value v = {.kind = VALUE_RANDOM, .at = l->now.at};
	unsigned variable = UINT32_MAX;

	if (wml_take_randvar_attrs(w, l, 0, &variable, &v.dist, e))
		return -1;
	if (variable == UINT32_MAX) {
		wml_dist_free(v.dist);
		return wml_fail(l->file, v.at, e, "define randvar: 'name=$variable' is missing");
	}
	assign(&w->vars[variable], &v);
	return 0;
}

int wml_setting_is_plain(const char *value)
{
	const char *c = value;

	while (isalnum((unsigned char)*c) || (*c && strchr("._-$%", *c)))
		c++;
	return c > value && !*c && c - value < 80;
}

/* filebench's own letters are small, and powers of 1024 as the capital ones here. */
int wml_setting_number(const char *value, int64_t *ret, struct err *e)
{
	size_t digits = strspn(value, "0123456789.");
	char text[80];

	if (strlen(value) != digits + 1 || !strchr("kmgt", value[digits]))
		return units_parse_size(value, ret, e);
	snprintf(text, sizeof(text), "%.*s%c", (int)digits, value, toupper((unsigned char)value[digits]));
	return units_parse_size(text, ret, e);
}

int wml_apply_settings(struct wml *w, const struct wml_setting *s, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct wml_variable *var = wml_variable(w, s[i].name, strlen(s[i].name));
		struct wml_value *v = &var->v;

		if (var->fixed)
			return err_set(e, ERR_INPUT, "the variable '%s' is set twice", s[i].name);
		if (!wml_setting_is_plain(s[i].value))
			return err_set(e, ERR_INPUT,
				"the variable '%s' takes letters, digits and . _ - $ %%, at most 79",
				s[i].name);
		var->fixed = 1;
		if (isdigit((unsigned char)s[i].value[0])) {
			v->kind = VALUE_NUMBER;
			if (wml_setting_number(s[i].value, &v->number, e))
				return err_prefix(e, "variable '%s'", s[i].name);
		} else if (!strcmp(s[i].value, "true") || !strcmp(s[i].value, "false")) {
			v->kind = VALUE_BOOL;
			v->number = s[i].value[0] == 't';
		} else {
			v->kind = VALUE_TEXT;
			v->text = xstrdup(s[i].value);
		}
	}
	return 0;
}

int wml_check_settings(const struct wml *w, const struct wml_setting *s, size_t n, struct err *e)
{
	const char **words = xcalloc(w->n_vars + 1, sizeof(*words));
	struct buf all = {0};
	size_t n_words = 0;
	int rc = 0;

	for (size_t i = 0; i < w->n_vars; i++)
		if (w->vars[i].is_set && strcmp(w->vars[i].name, "dir"))
			words[n_words++] = w->vars[i].name;
	for (size_t i = 0; i < n_words; i++)
		buf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	for (size_t i = 0; i < n && !rc; i++) {
		const char *near = str_nearest(s[i].name, words);
		size_t k = 0;

		while (k < n_words && strcmp(words[k], s[i].name))
			k++;
		if (k == n_words)
			rc = err_set(e, ERR_INPUT, "%s sets no variable '%.64s' (%.400s)%s%s%s", w->file,
				s[i].name, n_words ? buf_str(&all) : "it sets none",
				near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	buf_free(&all);
	free(words);
	return rc;
}
