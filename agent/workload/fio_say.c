/* Finding fio's own words in what it printed. Owns nothing. */
#include "agent/workload/fio_say.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define WORDS_MAX 500 /* bytes of fio's own text */
#define SHOWN 3       /* lines */

void fio_say_all(const struct strv *lines, struct err *e)
{
	struct buf text = {0};

	for (size_t i = 0; i < lines->n && i < SHOWN; i++)
		buf_addf(&text, "%s%s", i ? "; " : "", lines->v[i]);
	if (lines->n > SHOWN)
		buf_addf(&text, "; and %zu more", lines->n - SHOWN);
	err_set(e, e->code, "%s", buf_str(&text));
	buf_free(&text);
}

/* The first line that begins so, without its end; caller frees. NULL: there is none. */
static char *line_with(const struct buf *text, const char *begin)
{
	for (const char *p = buf_str(text); *p;) {
		size_t len = strcspn(p, "\n");

		if (str_starts(p, begin))
			return xstrndup(p, len < WORDS_MAX ? len : WORDS_MAX);
		p += len + (p[len] == '\n');
	}
	return NULL;
}

/* All lines in one, for what fio says before it starts a job. */
static char *joined(const struct buf *text)
{
	struct buf out = {0};

	for (const char *p = buf_str(text); *p && out.len < WORDS_MAX;) {
		size_t len = strcspn(p, "\n");

		if (len)
			buf_addf(&out, "%s%.*s", out.len ? "; " : "", (int)(len < WORDS_MAX ? len : WORDS_MAX), p);
		p += len + (p[len] == '\n');
	}
	return buf_take(&out);
}

static char *words(const struct program_end *end)
{
	static const char *const begins[] = {"fio: io_u error", "verify:", "fio: pid="};
	char *line = NULL;

	for (size_t i = 0; i < ARRAY_LEN(begins) && !line; i++)
		line = line_with(&end->err, begins[i]);
	for (size_t i = 0; i < ARRAY_LEN(begins) && !line; i++)
		line = line_with(&end->out, begins[i]);
	if (!line)
		line = joined(end->err.len ? &end->err : &end->out);
	return line;
}

/* The line of the job file that has the option which fio names as <name=value> or name=value. */
static int line_of(const struct fio_jobs *jobs, const char *said, const char **ret_job)
{
	int line = 0;

	for (size_t i = 0; i < jobs->n; i++)
		for (size_t k = 0; k < jobs->v[i].n; k++) {
			const struct fio_option *o = &jobs->v[i].v[k];
			char *text = o->value ? xasprintf("%s=%s", o->name, o->value)
					      : xasprintf("<%s>", o->name);

			if (!*ret_job && strstr(said, text)) {
				line = o->line;
				*ret_job = jobs->v[i].name;
			}
			free(text);
		}
	return line;
}

static const struct fio_side *failed_side(const struct fio_status *s)
{
	for (size_t i = 0; s && i < s->sides.n; i++)
		if (s->sides.v[i].error)
			return &s->sides.v[i];
	return NULL;
}

static enum err_code code_of(const char *said, int number)
{
	if (number == 28 || number == 122 || strstr(said, "err=28/") || strstr(said, "No space left"))
		return ERR_FULL;
	return number || strstr(said, "error") ? ERR_IO : ERR_FAILED;
}

int fio_say_end(const struct fio_jobs *jobs, const char *job_file, const struct fio_status *status,
	const struct program_end *end, struct err *e)
{
	const struct fio_side *side = failed_side(status);
	const char *job = side ? side->job : NULL;
	char *said, what[ERRNO_LEN];
	int line;

	if (end->exited && end->exit_status == 0 && !side)
		return 0;
	if (!end->exited)
		return err_set(e, ERR_FAILED, "fio was killed by signal %d (%s)", end->signal,
			sigdescr_np(end->signal) ? sigdescr_np(end->signal) : "unknown");
	said = words(end);
	line = job ? 0 : line_of(jobs, said, &job);
	if (side)
		err_set(e, code_of(said, side->error), "fio's job '%s' failed: %s%s%s", job,
			errno_text(side->error, what), *said ? ": " : "", said);
	else if (line && job_file)
		err_set(e, ERR_INPUT, "%s:%d: [%s]: %s", job_file, line, job, said);
	else
		err_set(e, job ? ERR_INPUT : code_of(said, 0), "fio ended with status %d%s%s%s%s%s",
			end->exit_status, job ? ", job '" : "", job ? job : "", job ? "'" : "",
			*said ? ": " : "", said);
	free(said);
	return -1;
}
