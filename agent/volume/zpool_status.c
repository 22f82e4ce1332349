/*
 * Parser of zpool's texts. In a status' config the tree is drawn by indentation: a leaf is what has
 * nothing below it and is not at the level of its pool.
 */
#include "agent/volume/zpool_status.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

#define MAX_LEAVES 100000

struct row {
	size_t indent;
	char *name, *state;
	int has_errors;
	uint64_t errors;
};
struct rows {
	struct row *v;
	size_t n, cap;
};

static size_t indent_of(const char *line)
{
	size_t columns = 0;

	for (; *line == ' ' || *line == '\t'; line++)
		columns = *line == '\t' ? (columns / 8 + 1) * 8 : columns + 1;
	return columns;
}

static char *word(const char **at)
{
	const char *from;

	while (**at == ' ' || **at == '\t')
		(*at)++;
	from = *at;
	while (**at && !isspace((unsigned char)**at))
		(*at)++;
	return xstrndup(from, (size_t)(*at - from));
}

static void rows_clear(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].name);
		free(r->v[i].state);
	}
	r->n = 0;
}

/* draid's distributed spares are not devices of their own. */
static int is_device(const struct rows *r, size_t i)
{
	const struct row *row = &r->v[i];

	if (row->indent <= r->v[0].indent || (i + 1 < r->n && r->v[i + 1].indent > row->indent))
		return 0;
	return !str_starts(row->name, "draid") && *row->state;
}

/* Takes the rows of one pool's config; the first is the pool itself. */
static void take_leaves(struct rows *r, const char *pool, struct zpool_leaves *out, size_t *cap)
{
	for (size_t i = 1; i < r->n && out->n < MAX_LEAVES; i++) {
		if (!is_device(r, i))
			continue;
		out->v = xgrow(out->v, out->n, cap, sizeof(*out->v));
		out->v[out->n++] = (struct zpool_leaf){.pool = xstrdup(pool),
			.name = xstrdup(r->v[i].name), .state = xstrdup(r->v[i].state),
			.has_errors = r->v[i].has_errors, .errors = r->v[i].errors};
	}
	rows_clear(r);
}

/* The columns READ, WRITE and CKSUM: "0", "12", "1.50K". Spares have none. */
static void read_errors(const char *line, struct row *row)
{
	int64_t n[3];
	int i;

	for (i = 0; i < 3; i++) {
		char *text = word(&line);
		struct err ignored;
		int bad = !isdigit((unsigned char)*text) || units_parse_size(text, &n[i], &ignored);

		free(text);
		if (bad)
			return;
		row->errors += (uint64_t)n[i];
	}
	row->has_errors = 1;
}

/* Rows of the config are indented by at least a tab; its head line and blank ones are not rows. */
static void add_row(struct rows *r, const char *line)
{
	struct row row = {.indent = indent_of(line)};

	row.name = word(&line);
	row.state = word(&line);
	read_errors(line, &row);
	if (row.indent < 8 || !*row.name || (!strcmp(row.name, "NAME") && !r->n)) {
		free(row.name);
		free(row.state);
		return;
	}
	r->v = xgrow(r->v, r->n, &r->cap, sizeof(*r->v));
	r->v[r->n++] = row;
}

struct parser {
	char *pool; /* the one whose part of the text this is; NULL before the first */
	int in_config;
	struct rows rows;
};

static const char *field(const char *line, const char *name)
{
	while (*line == ' ')
		line++;
	if (!str_starts(line, name) || line[strlen(name)] != ':')
		return NULL;
	return line + strlen(name) + 1;
}

static void parse_line(struct parser *p, const char *line, struct zpool_leaves *out, size_t *cap)
{
	const char *value;

	if ((value = field(line, "pool"))) {
		take_leaves(&p->rows, p->pool ? p->pool : "", out, cap);
		free(p->pool);
		p->pool = word(&value);
		p->in_config = 0;
	} else if (p->pool && field(line, "config")) {
		p->in_config = 1;
	} else if (field(line, "errors")) {
		p->in_config = 0;
	} else if (p->in_config) {
		add_row(&p->rows, line);
	}
}

int zpool_status_parse(const char *text, struct zpool_leaves *ret, struct err *e)
{
	struct zpool_leaves out = {0};
	struct parser p = {0};
	char *copy = xstrdup(text), *rest = copy, *line;
	size_t cap = 0;
	int seen;

	while ((line = strsep(&rest, "\n")))
		parse_line(&p, line, &out, &cap);
	take_leaves(&p.rows, p.pool ? p.pool : "", &out, &cap);
	seen = p.pool != NULL;
	free(p.rows.v);
	free(p.pool);
	free(copy);
	if (!seen && !strstr(text, "no pools available") && text[strspn(text, " \t\r\n")]) {
		zpool_leaves_free(&out);
		return err_set(e, ERR_INPUT, "this is not what zpool status prints: '%.60s'", text);
	}
	*ret = out;
	return 0;
}

void zpool_leaves_free(struct zpool_leaves *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].pool);
		free(l->v[i].name);
		free(l->v[i].state);
	}
	free(l->v);
	*l = (struct zpool_leaves){0};
}

static int is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

int zpool_list_parse(const char *text, struct inv_pool **v, size_t *n, struct err *e)
{
	char *copy = xstrdup(text), *rest = copy, *line;
	int status = 0;

	while (!status && (line = strsep(&rest, "\n"))) {
		char *at = line, *name = strsep(&at, "\t"), *guid = strsep(&at, "\t");
		char *health = strsep(&at, "\t"), *size = strsep(&at, "\t");
		struct err ignored;
		int64_t bytes = 0;

		if (!*name || str_starts(name, "no pools available"))
			continue;
		if (!guid || !health || !size || !is_number(guid) || *n >= INVENTORY_MAX_POOLS) {
			status = err_set(e, ERR_INPUT, "zpool list: cannot read the line '%.80s'", line);
			continue;
		}
		units_parse_size(size, &bytes, &ignored);
		*v = xreallocarray(*v, *n + 1, sizeof(**v));
		(*v)[(*n)++] = (struct inv_pool){xstrdup(name), xstrdup(guid), xstrdup(health),
			(uint64_t)bytes};
	}
	free(copy);
	return status;
}
