/*
 * Reading messages of pg_restore (before and since version 12) and psql. Owns nothing but the text of
 * the first error.
 */
#include "agent/workload/pg_errors.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

#define SHOWN_BYTES 300

/* Where its message begins, or NULL when the line is no error of the program's. */
static const char *error_in(const char *program, const char *line)
{
	const char *at;

	if (!str_starts(line, program))
		return NULL;
	line += strlen(program);
	if (str_starts(line, ": error: ") || str_starts(line, ": fatal: "))
		return line + strlen(": error: ");
	/* psql:FILE:LINE: ERROR:  …  */
	if ((at = strstr(line, ": ERROR:  ")) || (at = strstr(line, ": FATAL:  ")) ||
		(at = strstr(line, ": PANIC:  ")))
		return at + 2;
	if ((at = strstr(line, ": error: ")))
		return at + strlen(": error: ");
	/* pg_restore: [archiver (db)] …, up to version 11 */
	if (str_starts(line, ": [") && (at = strstr(line, "] ")) && !str_starts(at + 2, "Error ") &&
		!str_starts(at + 2, "Command was") && !strstr(line, "WARNING"))
		return at + 2;
	return NULL;
}

/* "errors ignored on restore: 3" -> 3 */
static int ignored_in(const char *line, unsigned *ret)
{
	static const char words[] = "errors ignored on restore: ";
	const char *at = strstr(line, words);

	if (!at)
		return 0;
	*ret = (unsigned)strtoul(at + strlen(words), NULL, 10);
	return 1;
}

static void read_line(const char *program, const char *line, struct pg_errors *p,
	unsigned *ignored, int *summary)
{
	const char *message = error_in(program, line);
	int is_known;

	if (ignored_in(line, ignored)) {
		*summary = 1;
		return;
	}
	if (!message)
		return;
	is_known = strstr(message, "role \"") && strstr(message, "already exists");
	if (!p->first || (p->count == p->known_roles && !is_known)) {
		free(p->first);
		p->first = xstrndup(message, SHOWN_BYTES);
	}
	p->count++;
	p->known_roles += is_known;
	p->is_full |= strstr(message, "No space left on device") != NULL;
	p->misses_role |= strstr(message, "role \"") && strstr(message, "does not exist");
	p->misses_locale |= strstr(message, "invalid locale name") ||
			    (strstr(message, "collation \"") && strstr(message, "does not exist"));
}

void pg_errors_read(const char *program, const struct proc_result *r, struct pg_errors *ret)
{
	char *text = xstrdup(buf_str(&r->err)), *rest = NULL;
	unsigned ignored = 0;
	int summary = 0;

	*ret = (struct pg_errors){.is_least = r->err_dropped > 0};
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(program, line, ret, &ignored, &summary);
	/* Over the cap the summary may be cut off: the status is all that is left then. */
	ret->gave_up = !r->exited || r->timed_out ||
		       (r->exit_status && !summary && !(ret->is_least && r->exit_status == 1));
	if (ignored > ret->count)
		ret->count = ignored;
	free(text);
}

void pg_errors_clear(struct pg_errors *p)
{
	free(p->first);
	*p = (struct pg_errors){0};
}

static const char *remedy(const struct pg_errors *p, int allowed)
{
	if (p->misses_role)
		return " (a dump holds no roles: give them by 'globals', or use 'no-owner: true')";
	if (p->misses_locale)
		return " (the cluster takes its collations from the host's locales: make that one there, as "
		       "with locale-gen)";
	if (p->gave_up || allowed)
		return "";
	return " ('allow-errors: true' lets a trial count all the same)";
}

int pg_errors_check(const struct pg_errors *p, const char *program, int allowed,
	const struct proc_result *r, struct err *e)
{
	enum err_code code = p->is_full ? ERR_FULL : ERR_FAILED;
	const char *first = p->first ? p->first : "it did not say why";

	if (!p->gave_up && (!p->count || allowed))
		return 0;
	if (r->timed_out || !r->exited)
		return err_set(e, code, "%s was killed by signal %d: %s", program, r->signal, first);
	if (p->is_full)
		return err_set(e, code, "the volume is full: %s: %s", program, first);
	if (p->gave_up)
		return err_set(e, code, "%s gave up with status %d: %s%s", program, r->exit_status,
			first, remedy(p, allowed));
	return err_set(e, code, "%s met %s%u error%s, the first: %s%s", program,
		p->is_least ? "at least " : "", p->count, p->count == 1 ? "" : "s", first,
		remedy(p, allowed));
}
