/*
 * Words of a workload file (filebench's language, "*.f"). Internal to the reader of such files.
 */
#ifndef COMMON_PLAN_WML_LEX_H
#define COMMON_PLAN_WML_LEX_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct wml_place {
	int line, column; /* from 1, column in bytes */
};

enum wml_token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_VARIABLE, TOKEN_STRING, TOKEN_MARK };
struct wml_token {
	enum wml_token_kind kind;
	struct wml_place at;
	const char *s; /* its characters in the text: of a variable without $ and brackets, of a
			  string without the quotes */
	size_t len;
	int64_t number; /* TOKEN_NUMBER: 16k is 16384 */
	char mark;      /* TOKEN_MARK: one of { } ( ) = , + - * */
};

struct wml_lexer {
	const char *file; /* for messages */
	const char *p, *end;
	const char *line_start;
	int line;
	struct wml_token now; /* the token that is looked at */
};

/* Looks at the first token. */
int wml_lex_start(struct wml_lexer *l, const char *file, const char *text, size_t len,
	struct err *e);
/* On to the next one; at the end it stays there. */
int wml_lex_next(struct wml_lexer *l, struct err *e);
int wml_token_is(const struct wml_token *t, const char *word); /* a word, as written here */
int wml_token_is_mark(const struct wml_token *t, char mark);
/* "'…'" or "the end of the file", for messages, into out. */
#define WML_SHOWN 72
const char *wml_token_shown(const struct wml_token *t, char out[WML_SHOWN]);
/* Fills e with "FILE:line:column: text"; returns -1. */
int wml_fail(const char *file, struct wml_place at, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
