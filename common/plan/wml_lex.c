/* The lexer of workload files. Owns nothing: tokens point into the text. */
#include "common/plan/wml_lex.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/safe.h"

int wml_fail(const char *file, struct wml_place at, struct err *e, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	(void)err_set(e, ERR_INPUT, "%s:%d:%d: %s", file, at.line, at.column, text);
	free(text);
	return -1;
}

#define SHOWN_BYTES 48

const char *wml_token_shown(const struct wml_token *t, char out[WML_SHOWN])
{
	char text[SHOWN_BYTES + 4];

	if (t->kind == TOKEN_END)
		return "the end of the file";
	safe_cut(t->s, t->len, SHOWN_BYTES, text);
	snprintf(out, WML_SHOWN, "'%s%s'", t->kind == TOKEN_VARIABLE ? "$" : "", text);
	return out;
}

int wml_token_is(const struct wml_token *t, const char *word)
{
	return t->kind == TOKEN_WORD && t->len == strlen(word) && memcmp(t->s, word, t->len) == 0;
}

int wml_token_is_mark(const struct wml_token *t, char mark)
{
	return t->kind == TOKEN_MARK && t->mark == mark;
}

static int is_word(int c)
{
	return isalnum(c) || (c && strchr("/._:;-", c));
}

static void skip_blanks(struct wml_lexer *l)
{
	for (; l->p < l->end; l->p++) {
		if (*l->p == '#')
			while (l->p + 1 < l->end && l->p[1] != '\n')
				l->p++;
		else if (*l->p == '\n') {
			l->line++;
			l->line_start = l->p + 1;
		} else if (*l->p != ' ' && *l->p != '\t' && *l->p != '\r') {
			return;
		}
	}
}

static int take_string(struct wml_lexer *l, struct err *e)
{
	struct wml_token *t = &l->now;
	int line = l->line;

	t->kind = TOKEN_STRING;
	t->s = ++l->p;
	for (; l->p < l->end && *l->p != '"'; l->p++) {
		if (*l->p == '\\' && l->p + 1 < l->end)
			l->p++;
		if (*l->p == '\n') {
			l->line++;
			l->line_start = l->p + 1;
		}
	}
	if (l->p == l->end) {
		l->line = line;
		return wml_fail(l->file, t->at, e, "this string has no closing quote");
	}
	t->len = (size_t)(l->p - t->s);
	l->p++;
	return 0;
}

/* $name, ${name}, $(name) */
static int take_variable(struct wml_lexer *l, struct err *e)
{
	struct wml_token *t = &l->now;
	char close = 0;

	t->kind = TOKEN_VARIABLE;
	l->p++;
	if (l->p < l->end && (*l->p == '{' || *l->p == '('))
		close = *l->p++ == '{' ? '}' : ')';
	t->s = l->p;
	while (l->p < l->end && (isalnum((unsigned char)*l->p) || *l->p == '_'))
		l->p++;
	t->len = (size_t)(l->p - t->s);
	if (t->len == 0 || isdigit((unsigned char)*t->s))
		return wml_fail(l->file, t->at, e,
			"'$' wants the name of a variable: letters, digits and '_', first a letter");
	if (t->len > 64)
		return wml_fail(l->file, t->at, e, "the name of a variable has at most 64 letters");
	if (!close)
		return 0;
	if (l->p == l->end || *l->p != close)
		return wml_fail(l->file, t->at, e, "'%c' is missing behind the variable's name", close);
	l->p++;
	return 0;
}

/* The power of 1024 that the letter behind a number stands for, or -1. */
static int suffix_of(char c)
{
	static const char letters[] = "kmgt";
	const char *at = c ? strchr(letters, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - letters) + 1 : -1;
}

static int take_number(struct wml_lexer *l, struct err *e)
{
	struct wml_token *t = &l->now;
	int negative = *l->p == '-', over = 0;
	char text[WML_SHOWN];

	t->kind = TOKEN_NUMBER;
	t->s = l->p;
	t->number = 0;
	for (l->p += negative; l->p < l->end && isdigit((unsigned char)*l->p); l->p++)
		over |= __builtin_mul_overflow(t->number, (int64_t)10, &t->number) ||
			__builtin_add_overflow(t->number, (int64_t)(*l->p - '0'), &t->number);
	if (l->p < l->end && suffix_of(*l->p) > 0)
		over |= __builtin_mul_overflow(
			t->number, (int64_t)1 << (10 * suffix_of(*l->p++)), &t->number);
	while (l->p < l->end && is_word((unsigned char)*l->p)) { /* 10x, 1.5 */
		over |= 2;
		l->p++;
	}
	t->len = (size_t)(l->p - t->s);
	if (over & 2)
		return wml_fail(l->file, t->at, e, "%s is not a number: 10, 16k, 1m, 5g",
			wml_token_shown(t, text));
	if (over)
		return wml_fail(l->file, t->at, e, "%s is more than can be counted",
			wml_token_shown(t, text));
	if (negative)
		t->number = -t->number;
	return 0;
}

int wml_lex_next(struct wml_lexer *l, struct err *e)
{
	struct wml_token *t = &l->now;
	int c, next;

	skip_blanks(l);
	*t = (struct wml_token){.at = {l->line, (int)(l->p - l->line_start) + 1}, .s = l->p};
	if (l->p == l->end)
		return 0;
	c = (unsigned char)*l->p;
	next = l->p + 1 < l->end ? (unsigned char)l->p[1] : 0;
	if (c == '"')
		return take_string(l, e);
	if (c == '$')
		return take_variable(l, e);
	if (isdigit(c) || (c == '-' && isdigit(next)))
		return take_number(l, e);
	if (strchr("{}()=,+*", c) || (c == '-' && !is_word(next))) {
		t->kind = TOKEN_MARK;
		t->mark = (char)c;
		t->len = 1;
		l->p++;
		return 0;
	}
	t->kind = TOKEN_WORD;
	while (l->p < l->end && is_word((unsigned char)*l->p))
		l->p++;
	t->len = (size_t)(l->p - t->s);
	if (t->len == 0)
		return wml_fail(l->file, t->at, e,
			isprint(c) ? "'%c' means nothing here" : "byte 0x%02x means nothing here", c);
	return 0;
}

int wml_lex_start(struct wml_lexer *l, const char *file, const char *text, size_t len,
	struct err *e)
{
	*l = (struct wml_lexer){
		.file = file, .p = text, .end = text + len, .line_start = text, .line = 1};
	if (memchr(text, '\0', len))
		return err_set(e, ERR_INPUT, "%s: not a workload file: it holds bytes of value 0",
			file);
	return wml_lex_next(l, e);
}
