/* Names: which are allowed, and how trials name their files. Pure. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/plan_internal.h"

static int is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int plan_check_name(const char *name, const char *what, int dots, struct err *e)
{
	size_t len = strlen(name), digits = strspn(name, "0123456789");
	char text[SHOWN_LEN];

	shown(name, text);
	if (len == 0)
		return err_set(e, ERR_INPUT, "an empty %s name", what);
	if (len > PLAN_NAME_MAX)
		return err_set(e, ERR_INPUT, "'%s' is %zu bytes long: a %s name has at most %d",
			text, len, what, PLAN_NAME_MAX);
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if (is_letter_or_digit(c) || (i && (strchr("_+-", c) || (dots && c == '.'))))
			continue;
		return err_set(e, ERR_INPUT,
			"'%s' is not a %s name: use letters, digits, '_', '+', '-'%s, starting "
			"with a letter or digit",
			text, what, dots ? " and '.'" : "");
	}
	if (dots && (strstr(name, "..") || name[len - 1] == '.'))
		return err_set(e, ERR_INPUT,
			"'%s' is not a %s name: a '.' stands between two parts", text, what);
	if (digits == len)
		return err_set(e, ERR_INPUT,
			"'%s' is not a %s name: only digits, which would read as a number", text,
			what);
	if (!strcmp(name, "last") || !strcmp(name, "all"))
		return err_set(e, ERR_INPUT,
			"'%s' is not a %s name: the word has a meaning of its "
			"own on the command line",
			text, what);
	return 0;
}

int plan_check_tag(const char *tag, struct err *e)
{
	size_t len = strlen(tag);
	char text[SHOWN_LEN];
	int ok = len > 0 && len <= PLAN_NAME_MAX;

	for (size_t i = 0; ok && i < len; i++)
		ok = is_letter_or_digit(tag[i]) || (i && strchr("_+-:.", tag[i]));
	if (ok)
		return 0;
	return err_set(e, ERR_INPUT,
		"'%s' is not a tag: 1 to %d letters, digits, '_', '+', '-', ':' and '.', starting "
		"with a letter or digit",
		shown(tag, text), PLAN_NAME_MAX);
}

char *plan_file_name(const char *pattern, unsigned block, unsigned repeat, unsigned repeats)
{
	static const char mark[] = "{trial}";
	struct buf out = {0};
	const char *p;

	while ((p = strstr(pattern, mark))) {
		buf_add(&out, pattern, (size_t)(p - pattern));
		if (repeats > 1)
			buf_addf(&out, "%u.%u", block, repeat);
		else
			buf_addf(&out, "%u", block);
		pattern = p + strlen(mark);
	}
	buf_adds(&out, pattern);
	return buf_take(&out);
}

void plan_stream_names(
	const struct plan *p, unsigned workload, unsigned block, unsigned repeat, struct strv *ret)
{
	const struct workload *w = &p->workloads[workload];
	const struct stream *s = &w->stream;
	char *name;

	if (s->of) {
		plan_stream_names(p, s->of_index, block, repeat, ret);
		return;
	}
	name = plan_file_name(s->file ? s->file : w->name, block, repeat, p->repeat);
	if (s->files == 1)
		strv_add(ret, name);
	for (unsigned i = 1; s->files > 1 && i <= s->files; i++)
		strv_addf(ret, "%s.%u", name, i);
	free(name);
}

const char *plan_cache_name(enum plan_cache c)
{
	static const char *const names[] = {"cold", "warm", "as-is"};

	return (size_t)c < ARRAY_LEN(names) ? names[c] : "?";
}

const char *pool_level_name(enum pool_level l)
{
	static const char *const names[] = {
		"stripe", "mirror", "raidz1", "raidz2", "raidz3", "draid"};

	return (size_t)l < ARRAY_LEN(names) ? names[l] : "?";
}

const char *fs_type_name(enum fs_type t)
{
	static const char *const names[] = {"xfs", "ext4", "btrfs"};

	return (size_t)t < ARRAY_LEN(names) ? names[t] : "?";
}

int plan_find_layout(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n_layouts; i++)
		if (str_equal(p->layouts[i].name, name))
			return (int)i;
	return -1;
}

char *plan_layout_names(const struct plan *p)
{
	struct buf out = {0};

	for (size_t i = 0; i < p->n_layouts && i < 8; i++)
		buf_addf(&out, "%s%s", i ? ", " : "", p->layouts[i].name);
	if (p->n_layouts > 8)
		buf_addf(&out, ", … %zu more", p->n_layouts - 8);
	return buf_take(&out);
}
