/* Result sets. Owns nothing beyond what it fills. */
#include "coordinator/ctl/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/wrap.h"
#include "coordinator/results/export.h"
#include "coordinator/results/report.h"

#define LINE_MAX_BYTES (16 * 1024 * 1024)

struct reading {
	struct result_set *set;
	const char *name;
	size_t line_no;
};

static int on_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct reading *r = arg;

	return export_read_line(r->set, r->name, ++r->line_no, line, len, e);
}

static int fetch_export(struct client *c, const char *run, const struct strv *what,
	client_line on, struct reading *r, struct err *e)
{
	struct msg_call call = {.verb = CALL_EXPORT, .target = (char *)run, .args = *what};

	return client_call(c, &call, on, r, e);
}

/* A coordinator that does not know the question answers with everything. */
static int on_series(void *arg, const char *line, size_t len, struct err *e)
{
	static const char begin[] = "{\"type\":\"series";

	if (len < sizeof(begin) - 1 || memcmp(line, begin, sizeof(begin) - 1) != 0)
		return 0;
	return on_line(arg, line, len, e);
}

/* Of the run that was read last, by its number: "last" may be another one meanwhile. */
static int add_series(
	struct client *c, enum series_plots plots, struct result_set *set, struct err *e)
{
	struct reading r = {.set = set};
	struct strv words = {0};
	char run[24];
	int bad;

	strv_add(&words, "series");
	bad = series_want_of(set, plots, &words, e);
	if (!bad && words.n > 1) {
		snprintf(run, sizeof(run), "%llu", (unsigned long long)set->runs[0].id);
		r.name = run;
		bad = fetch_export(c, run, &words, on_series, &r, e) || fetch_end(set, e) ? -1 : 0;
	}
	strv_free(&words);
	return bad;
}

int fetch_run(struct client *c, const char *run, enum series_plots plots, struct result_set *ret,
	struct err *e)
{
	char *results[] = {"results", NULL};
	const struct strv what = {.v = results, .n = 1};
	struct result_set set = {0};
	struct reading r = {.set = &set, .name = run};

	if (fetch_export(c, run, &what, on_line, &r, e) || export_read_whole(&set, run, e) ||
		fetch_end(&set, e) ||
		(!set.n_series && add_series(c, plots, &set, e))) {
		result_set_clear(&set);
		return -1;
	}
	*ret = set;
	return 0;
}

/* Lines of a file, none longer than LINE_MAX_BYTES. */
struct lines {
	FILE *f;
	char chunk[65536];
	size_t at, n; /* what of the chunk is not taken yet */
	struct buf line;
};

/* 1: a line, without its end; 0: there is none left; -1: it is too long. */
static int next_line(struct lines *l)
{
	buf_reset(&l->line);
	for (;;) {
		const char *from = l->chunk + l->at, *end;
		size_t take = l->n;

		if (l->n == 0) {
			l->at = 0;
			l->n = fread(l->chunk, 1, sizeof(l->chunk), l->f);
			if (l->n == 0)
				return l->line.len > 0;
			continue;
		}
		end = memchr(from, '\n', l->n);
		take = end ? (size_t)(end - from) : l->n;
		if (l->line.len + take > LINE_MAX_BYTES)
			return -1;
		buf_add(&l->line, from, take);
		take += end != NULL;
		l->at += take;
		l->n -= take;
		if (end)
			return 1;
	}
}

/* Exports are read line by line: they may be longer than what is held of other texts. */
static int add_export(FILE *f, const char *path, struct result_set *set, struct err *e)
{
	struct reading r = {.set = set, .name = path};
	struct lines l = {.f = f};
	int more, bad = 0;

	while (!bad && (more = next_line(&l)) != 0) {
		if (more < 0)
			bad = err_set(e, ERR_INPUT,
				"%s:%zu: a line of more than %d bytes is no export", r.name,
				r.line_no + 1, LINE_MAX_BYTES);
		else if (l.line.len)
			bad = on_line(&r, l.line.data, l.line.len, e);
		else
			r.line_no++;
	}
	if (!bad && ferror(f))
		bad = err_sys(e, "cannot read %s", r.name);
	bad = bad || export_read_whole(set, path, e);
	buf_free(&l.line);
	return bad ? -1 : 0;
}

/* Whether a file begins as exports do; what cannot be read twice, such as a pipe, does not. */
static int begins_as_export(FILE *f)
{
	char head[16] = "";
	size_t n;

	if (fseek(f, 0, SEEK_SET))
		return 0;
	n = fread(head, 1, sizeof(head) - 1, f);
	return fseek(f, 0, SEEK_SET) == 0 && n && str_starts(head, "{\"type\":");
}

/* Any other text: pipes, such as those of <(…), are read as they are. */
static int add_text(FILE *f, const char *path, const struct import_options *o,
	struct result_set *set, struct buf *log, uint64_t *ret_run, struct err *e)
{
	struct buf text = {0};
	struct stat st;
	int bad;

	if (!f || fstat(fileno(f), &st) || !S_ISFIFO(st.st_mode))
		return import_file(set, path, o, log, ret_run, e);
	bad = fs_read_fd(fileno(f), path, FORMAT_MAX_BYTES, &text, e);
	if (!bad)
		bad = import_text(set, path, &text, o, log, ret_run, e);
	buf_free(&text);
	return bad;
}

int fetch_import(const char *path, const struct import_options *o, struct result_set *set,
	struct buf *log, uint64_t *ret_run, struct err *e)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : NULL;
	int bad, export = f && (!o->format || !o->format->read) && begins_as_export(f);

	if (export) {
		bad = add_export(f, path, set, e);
		if (!bad && log)
			buf_addf(log, "%s: read as arraymark\n", path);
		if (!bad)
			*ret_run = 0;
	} else {
		bad = add_text(f, path, o, set, log, ret_run, e);
	}
	if (f)
		fclose(f);
	/* no question of access to a coordinator */
	if (bad && e->code == ERR_DENIED)
		e->code = ERR_IO;
	return bad;
}

int fetch_add_file(const char *path, const struct format *format, struct result_set *set,
	struct buf *log, struct buf *doubts, struct err *e)
{
	struct import_options o = {.format = format, .doubts = doubts};
	uint64_t ignored;

	return fetch_import(path, &o, set, log, &ignored, e);
}

int fetch_format(const char *option, const char *name, const struct format **ret, struct err *e)
{
	const struct format *found = name ? format_find(name) : NULL;
	struct buf names = {0};

	if (name && !found) {
		format_names(&names);
		err_set(e, ERR_USAGE, "%s %s: one of %s is expected", option, name, buf_str(&names));
		buf_free(&names);
		return -1;
	}
	*ret = found;
	return 0;
}

void fetch_warn(const struct ctl *c, const struct buf *doubts)
{
	const char *end;

	for (const char *s = buf_str(doubts); *s; s = end + 1) {
		end = strchr(s, '\n');
		ctl_warn(c, "%.*s", (int)(end - s), s);
	}
}

json_t *fetch_log_json(const struct buf *log)
{
	json_t *list = json_array();
	const char *end;

	for (const char *s = buf_str(log); *s; s = end + 1) {
		end = strchr(s, '\n');
		json_array_append_new(list, json_text_n(s, (size_t)(end - s)));
	}
	return list;
}

int fetch_end(struct result_set *set, struct err *e)
{
	return export_read_end(set, e);
}

static const struct {
	const char *name, *extensions; /* of files, with blanks around each */
	int (*make)(const struct result_set *s, const struct report_options *o, struct buf *out,
		struct err *e);
} formats[] = {
	{"text", " txt ", report_text},
	{"markdown", " md markdown ", report_markdown},
	{"csv", " csv ", report_csv},
	{"json", " json ", report_json},
	{"html", " html htm ", report_html},
};

int fetch_format_check(const char *format, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(format, formats[i].name))
			return 0;
	return err_set(e, ERR_USAGE, "--format %s: text, markdown, csv, json or html is expected",
		format);
}

const char *fetch_format_of(const char *path)
{
	const char *dot = strrchr(path, '.');
	char word[16];

	if (!dot || strchr(dot, '/') || !dot[1] || strlen(dot) + 2 > sizeof(word))
		return NULL;
	snprintf(word, sizeof(word), " %s ", dot + 1);
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (strcasestr(formats[i].extensions, word))
			return formats[i].name;
	return NULL;
}

int fetch_report(const struct result_set *set, const char *format, struct report_options *o,
	struct buf *out, struct err *e)
{
	struct buf text = {0};
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(formats) && strcmp(format, formats[i].name))
		i++;
	o->tool_version = ARRAYMARK_VERSION;
	if (strcmp(formats[i].name, "text") || !o->width)
		return formats[i].make(set, o, out, e);
	if (formats[i].make(set, o, &text, e)) {
		buf_free(&text);
		return -1;
	}
	wrap_lines(buf_str(&text), o->width, out);
	buf_free(&text);
	return 0;
}
