/* The kernel's list of mounts as structs. Owns the texts of the entries it returns. */
#include "agent/volume/mounts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

#define MOUNTINFO_MAX (16 * 1024 * 1024)

static int octal(const char *p)
{
	int value = 0;

	for (int i = 0; i < 3; i++) {
		if (p[i] < '0' || p[i] > '7')
			return -1;
		value = value * 8 + (p[i] - '0');
	}
	return value < 256 ? value : -1;
}

/* Blanks, tabs, newlines and backslashes are written as \ooo. */
static char *unescape(const char *field)
{
	char *text = xstrdup(field), *to = text;

	for (const char *from = field; *from; from++) {
		int c = *from == '\\' ? octal(from + 1) : -1;

		if (c > 0)
			from += 3;
		*to++ = c > 0 ? (char)c : *from;
	}
	*to = '\0';
	return text;
}

/* id parent major:minor root point options [optional fields] - type source super-options */
static int parse_line(char *line, struct mount_entry *ret)
{
	char *field[32] = {0}, *word;
	unsigned major_number, minor_number;
	size_t n = 0, dash;

	/* a source may be empty: two blanks in a row */
	while ((word = strsep(&line, " ")))
		if (n < ARRAY_LEN(field))
			field[n++] = word;
	for (dash = 6; dash < n && strcmp(field[dash], "-"); dash++) {
	}
	if (dash + 2 >= n || sscanf(field[2], "%u:%u", &major_number, &minor_number) != 2)
		return -1;
	ret->dev = makedev(major_number, minor_number);
	ret->root = unescape(field[3]);
	ret->point = unescape(field[4]);
	ret->options = unescape(field[5]);
	ret->type = unescape(field[dash + 1]);
	ret->source = unescape(field[dash + 2]);
	ret->super_options = unescape(dash + 3 < n ? field[dash + 3] : "");
	return 0;
}

void mounts_parse(const char *text, struct mounts *ret)
{
	char *copy = xstrdup(text), *rest = NULL;
	size_t cap = 0;

	*ret = (struct mounts){0};
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct mount_entry entry;

		if (parse_line(line, &entry))
			continue;
		ret->v = xgrow(ret->v, ret->n, &cap, sizeof(*ret->v));
		ret->v[ret->n++] = entry;
	}
	free(copy);
}

int mounts_read(struct mounts *ret, struct err *e)
{
	struct buf text = {0};

	if (fs_read_file("/proc/self/mountinfo", MOUNTINFO_MAX, &text, e))
		return -1;
	mounts_parse(buf_str(&text), ret);
	buf_free(&text);
	return 0;
}

void mounts_free(struct mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].root);
		free(m->v[i].point);
		free(m->v[i].options);
		free(m->v[i].type);
		free(m->v[i].source);
		free(m->v[i].super_options);
	}
	free(m->v);
	*m = (struct mounts){0};
}

const struct mount_entry *mounts_at(const struct mounts *m, const char *point)
{
	for (size_t i = m->n; i-- > 0;)
		if (strcmp(m->v[i].point, point) == 0)
			return &m->v[i];
	return NULL;
}

static int is_around(const char *point, const char *path)
{
	size_t len = strlen(point);

	if (strcmp(point, "/") == 0)
		return 1;
	return strncmp(point, path, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

const struct mount_entry *mounts_around(const struct mounts *m, const char *path)
{
	const struct mount_entry *best = NULL;

	for (size_t i = 0; i < m->n; i++)
		if (is_around(m->v[i].point, path) &&
			(!best || strlen(m->v[i].point) >= strlen(best->point)))
			best = &m->v[i];
	return best;
}
