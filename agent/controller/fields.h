/* Lines "  Key  : value" as vendors' tools print them. */
#ifndef AGENT_CONTROLLER_FIELDS_H
#define AGENT_CONTROLLER_FIELDS_H

#include <stddef.h>

struct field {
	size_t indent;   /* blanks before the key */
	char *key;       /* without the blanks around it; the whole line where there is no colon */
	char *value;     /* NULL where there is no colon; "" where nothing stands behind it */
};
/* The next line that isn't empty, cut out of *rest, which it changes; 0 at the end. Borrowed. */
int field_next(char **rest, struct field *ret);
int field_is(const struct field *f, const char *key); /* in any case of letters */
/* The number behind `prefix` at the text's begin ("Adapter 12 --" -> 12); -1 when it is not there. */
int number_behind(const char *text, const char *prefix);
/* "Enabled…", "On", "Yes" -> 1; "Disabled", "Off", "No" -> 0; else -1. */
int text_is_on(const char *text);
/* In lower case, of ASCII. Caller frees. */
char *lower(const char *text);

#endif
