/*
 * Reading a fio job file: sections, options, comments. Owns nothing.
 * A line is understood as fio does, or it is wrong: there is no line that we read in one way and fio
 * in another, since fio gets our own text.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/fio_job.h"
#include "common/plan/read.h"

#define ERRORS_MAX 20

struct job_file {
	const char *name;
	int line;
	struct fio_jobs *jobs;
	struct fio_job *now; /* NULL: no section yet, or one that is wrong */
	int in_section;
	struct strv *errs;
};

static void __attribute__((format(printf, 3, 4)))
say_line(struct job_file *f, int line, const char *fmt, ...)
{
	struct buf text = {0};
	va_list ap;

	if (f->errs->n >= ERRORS_MAX)
		return;
	buf_addf(&text, "%s:", f->name);
	if (line)
		buf_addf(&text, "%d:", line);
	buf_addc(&text, ' ');
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	strv_add(f->errs, buf_str(&text));
	buf_free(&text);
}

static char *trim_line(char *s)
{
	size_t len;

	s += strspn(s, " \t");
	len = strlen(s);
	while (len && strchr(" \t\r", s[len - 1]))
		s[--len] = '\0';
	return s;
}

static void take_section(struct job_file *f, char *s)
{
	char *end = strchr(s, ']');
	struct err e;

	f->in_section = 1;
	f->now = NULL;
	if (!end || *trim_line(end + 1)) {
		say_line(f, f->line, "a section's line is [name]");
		return;
	}
	*end = '\0';
	s = trim_line(s + 1);
	if (strcmp(s, FIO_GLOBAL) == 0) {
		f->now = &f->jobs->global;
	} else if (fio_job_name_check(s, &e)) {
		say_line(f, f->line, "%s", e.text);
	} else {
		f->now = fio_jobs_add(f->jobs, s, f->line);
		if (!f->now)
			say_line(f, f->line, "more than %d jobs", FIO_MAX_JOBS);
	}
}

static void take_option(struct job_file *f, char *s)
{
	char *value = strchr(s, '='), shown_name[SHOWN_LEN];
	struct fio_job unused = {0};
	struct err e;

	if (value) {
		*value++ = '\0';
		value = trim_line(value);
		s = trim_line(s);
	}
	if (str_starts(s, "include ") || str_starts(s, "include\t"))
		s[strlen("include")] = '\0';
	if (!f->in_section)
		say_line(f, f->line, "'%s' stands before the first [section]", shown(s, shown_name));
	/* Of a section that is wrong, the options are still looked at. */
	if (fio_job_set(f->now ? f->now : &unused, s, value, f->line, &e))
		say_line(f, f->line, "%s", e.text);
	fio_job_clear(&unused);
}

static void take_line(struct job_file *f, char *s)
{
	s[strcspn(s, ";#")] = '\0';
	s = trim_line(s);
	if (*s == '[')
		take_section(f, s);
	else if (*s)
		take_option(f, s);
}

static void say_job(void *arg, const struct fio_job *j, const char *option, const char *text)
{
	struct job_file *f = arg;
	const struct fio_option *o = j && option ? fio_job_get(j, option) : NULL;

	if (j)
		say_line(f, o && o->line ? o->line : j->line, "[%s]: %s%s%s", j->name,
			o ? o->name : "", o ? ": " : "", text);
	else
		say_line(f, 0, "%s", text);
}

/* Text with no NUL and no control characters but tabs and line ends. */
static int check_text(const char *name, const char *text, size_t len, struct err *e)
{
	int line = 1;

	if (len > FIO_MAX_JOB_FILE)
		return err_set(e, ERR_INPUT, "%s: a job file of more than %d KiB", name,
			FIO_MAX_JOB_FILE / 1024);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		line += c == '\n';
		if (c < ' ' && !strchr("\t\r\n", c))
			return err_set(e, ERR_INPUT, "%s:%d: a control character: not a job file",
				name, line);
		if (!c)
			return err_set(e, ERR_INPUT, "%s:%d: a NUL: not a job file", name, line);
	}
	return 0;
}

int fio_jobs_parse(const char *name, const char *text, size_t len, const struct fio_job *instead,
	struct fio_jobs *ret, struct strv *errs, struct err *e)
{
	struct fio_jobs jobs = {0};
	struct job_file f = {.name = name, .jobs = &jobs, .errs = errs};

	if (check_text(name, text, len, e)) {
		strv_add(errs, e->text);
		return -1;
	}
	for (size_t at = 0; at < len && errs->n < ERRORS_MAX;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		char *line = xstrndup(text + at, n);

		f.line++;
		take_line(&f, line);
		free(line);
		at += n + 1;
	}
	if (instead)
		fio_jobs_override(&jobs, instead);
	if (errs->n == 0)
		fio_jobs_check(&jobs, say_job, &f);
	if (errs->n == 0) {
		*ret = jobs;
		return 0;
	}
	fio_jobs_clear(&jobs);
	return err_set(e, ERR_INPUT, "%s%s", errs->v[0], errs->n > 1 ? " (and more)" : "");
}
