/* Lines of keys and values. Pure: cuts up the caller's text. */
#include "agent/controller/fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/mem.h"

#define NUMBER_MAX 100000

static char *trimmed(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r", end[-1]))
		*--end = 0;
	return s;
}

int field_next(char **rest, struct field *ret)
{
	char *line, *colon;

	while ((line = strsep(rest, "\n"))) {
		size_t indent = strspn(line, " \t");

		if (!line[indent] || line[indent] == '\r')
			continue;
		colon = strchr(line, ':');
		if (colon)
			*colon = 0;
		*ret = (struct field){indent, trimmed(line), colon ? trimmed(colon + 1) : NULL};
		return 1;
	}
	return 0;
}

int field_is(const struct field *f, const char *key)
{
	return strcasecmp(f->key, key) == 0;
}

int number_behind(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);
	long v;

	if (strncasecmp(text, prefix, len) != 0 || !isdigit((unsigned char)text[len]))
		return -1;
	v = strtol(text + len, NULL, 10);
	return v <= NUMBER_MAX ? (int)v : -1;
}

int text_is_on(const char *text)
{
	static const char *const on[] = {"enable", "on", "yes", "true"};
	static const char *const off[] = {"disable", "off", "no", "false"};

	for (size_t i = 0; i < ARRAY_LEN(on); i++) {
		if (strncasecmp(text, on[i], strlen(on[i])) == 0)
			return 1;
		if (strncasecmp(text, off[i], strlen(off[i])) == 0)
			return 0;
	}
	return -1;
}

char *lower(const char *text)
{
	char *s = xstrdup(text);

	for (char *p = s; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return s;
}
