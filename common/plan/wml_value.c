/* Values and variables of workload files. Owns what struct wml_value holds. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

void wml_value_clear(struct wml_value *v)
{
	free(v->text);
	wml_dist_free(v->dist);
	*v = (struct wml_value){0};
}

unsigned wml_variable_find(struct wml *w, const char *name, size_t len)
{
	for (size_t i = 0; i < w->n_vars; i++)
		if (strlen(w->vars[i].name) == len && memcmp(w->vars[i].name, name, len) == 0)
			return (unsigned)i;
	w->vars = xgrow(w->vars, w->n_vars, &w->cap_vars, sizeof(*w->vars));
	w->vars[w->n_vars] = (struct wml_variable){.name = xstrndup(name, len)};
	return (unsigned)w->n_vars++;
}

struct wml_variable *wml_variable(struct wml *w, const char *name, size_t len)
{
	unsigned i = wml_variable_find(w, name, len);

	return &w->vars[i];
}

int wml_take_value(struct wml *w, struct wml_lexer *l, struct wml_value *ret, struct err *e)
{
	const struct wml_token *t = &l->now;
	struct wml_value v = {.at = t->at};
	char text[WML_SHOWN];

	switch (t->kind) {
	case TOKEN_NUMBER:
		v.kind = VALUE_NUMBER;
		v.number = t->number;
		break;
	case TOKEN_VARIABLE:
		v.kind = VALUE_VARIABLE;
		v.variable = wml_variable_find(w, t->s, t->len);
		break;
	case TOKEN_WORD:
		if (wml_token_is(t, "true") || wml_token_is(t, "false")) {
			v.kind = VALUE_BOOL;
			v.number = wml_token_is(t, "true");
			break;
		}
		/* fall through */
	case TOKEN_STRING:
		v.kind = VALUE_TEXT;
		v.text = xstrndup(t->s, t->len);
		break;
	default:
		return wml_fail(l->file, t->at, e, "a value is wanted behind '=', not %s",
			wml_token_shown(t, text));
	}
	*ret = v;
	if (wml_lex_next(l, e) == 0)
		return 0;
	wml_value_clear(ret);
	return -1;
}
