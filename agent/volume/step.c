/*
 * Steps and their sinks. The real sink is the only place that executes anything on behalf of a
 * volume; its invariant: what a step does and how it is undone is on the disk before the step runs.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/volume/driver.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"

#define RETRY_FIRST_MS 200
#define RETRY_MOST_MS 3000
#define REPORT_MAX (16 * 1024)

struct real_sink {
	struct step_sink sink;
	struct journal *journal;
	struct unit unit;
	void (*report)(void *arg, const struct step *s, int ok, int64_t elapsed_ns,
		const char *output);
	void *arg;
};
struct preview_sink {
	struct step_sink sink;
	void (*collect)(void *arg, const struct step *s);
	void *arg;
};

void step_start(struct step *s, enum step_phase phase, const char *what, ...)
{
	va_list ap;

	*s = (struct step){.phase = phase};
	va_start(ap, what);
	s->what = xvasprintf(what, ap);
	va_end(ap);
}

static void add_words(struct strv *to, const char *first, va_list ap)
{
	for (const char *word = first; word; word = va_arg(ap, const char *))
		strv_add(to, word);
}

void step_words(struct step *s, const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	add_words(&s->argv, first, ap);
	va_end(ap);
}

void step_undo(struct step *s, const char *op, ...)
{
	va_list ap;

	free(s->undo.op);
	s->undo.op = xstrdup(op);
	va_start(ap, op);
	add_words(&s->undo.args, va_arg(ap, const char *), ap);
	va_end(ap);
}

void step_clear(struct step *s)
{
	free(s->what);
	strv_free(&s->argv);
	free(s->undo.op);
	strv_free(&s->undo.args);
	*s = (struct step){0};
}

/* A preview names the usual place of a program that this host lacks: it is not run. */
static int find_program(struct step *s, int preview, struct err *e)
{
	const char *path;
	char *name = s->argv.v[0];

	if (*name == '/')
		return 0;
	path = fs_find_program(name);
	if (!path && !preview)
		return err_set(e, ERR_NOTFOUND, "cannot %s: the program '%s' is not installed here",
			s->what, name);
	s->argv.v[0] = path ? xstrdup(path) : xasprintf("/usr/sbin/%s", name);
	free(name);
	return 0;
}

int step_run(struct volume_ctx *ctx, struct step *s, struct buf *out, struct err *e)
{
	struct buf ignored = {0};
	int status = find_program(s, ctx->sink->preview, e);

	if (!status)
		status = ctx->sink->run(ctx->sink, s, out ? out : &ignored, e);
	buf_free(&ignored);
	step_clear(s);
	return status;
}

const char *entry_note(const struct journal_entry *entry, const char *key)
{
	size_t len = strlen(key);

	for (size_t i = entry->notes.n; i-- > 0;)
		if (str_starts(entry->notes.v[i], key) && entry->notes.v[i][len] == '=')
			return entry->notes.v[i] + len + 1;
	return NULL;
}

static int is_busy(const struct proc_result *r)
{
	return r->exited && r->exit_status && !r->timed_out &&
	       (strstr(buf_str(&r->err), "busy") || strstr(buf_str(&r->out), "busy"));
}

static void wait_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&t, &t)) {
	}
}

/* Runs until it succeeds, fails for another reason than something busy, or was tried enough. */
static int execute(const struct step *s, struct proc_result *ret, struct err *e)
{
	unsigned pause = RETRY_FIRST_MS;

	for (unsigned left = s->retries;; left--) {
		if (proc_run(&s->argv, s->deadline_ms, ret, e))
			return -1;
		if (!left || !is_busy(ret))
			return proc_check(&s->argv, ret, e);
		proc_result_free(ret);
		wait_ms(pause);
		pause = pause * 2 < RETRY_MOST_MS ? pause * 2 : RETRY_MOST_MS;
	}
}

static void report(const struct real_sink *real, const struct step *s, int ok, int64_t elapsed_ns,
	const struct proc_result *r)
{
	struct buf text = {0};

	if (!real->report)
		return;
	buf_adds(&text, buf_str(&r->out));
	buf_adds(&text, buf_str(&r->err));
	if (text.len > REPORT_MAX) {
		text.len = REPORT_MAX;
		text.data[text.len] = '\0';
	}
	real->report(real->arg, s, ok, elapsed_ns, buf_str(&text));
	buf_free(&text);
}

static char *trimmed(const struct buf *b)
{
	const char *from = buf_str(b), *to = from + b->len;

	while (to > from && strchr(" \t\r\n", to[-1]))
		to--;
	while (from < to && strchr(" \t\r\n", *from))
		from++;
	return xstrndup(from, (size_t)(to - from));
}

static int note(const struct real_sink *real, uint64_t number, const struct step *s,
	const struct buf *output, struct err *e)
{
	char *value;
	int status;

	if (!s->note)
		return 0;
	value = trimmed(output);
	status = journal_note(real->journal, number, s->note, value, e);
	free(value);
	return status;
}

/* A teardown goes on without the journal: nothing undoes its steps, and a full disk under the
 * journal must not keep us from freeing it. */
static int begin(const struct real_sink *real, const struct step *s, uint64_t *ret_number,
	struct err *e)
{
	struct journal_entry entry = {.unit = real->unit, .phase = s->phase, .what = s->what,
		.argv = s->argv, .undo = s->undo};

	if (!journal_begin(real->journal, &entry, ret_number, e))
		return 0;
	*ret_number = 0;
	return s->phase == PHASE_TEARDOWN ? 0 : -1;
}

static int finish(const struct real_sink *real, const struct step *s, uint64_t number, int ok,
	const struct buf *output, struct err *e)
{
	struct err later;
	int status = 0;

	if (!number)
		return 0;
	if (ok && note(real, number, s, output, e))
		status = -1;
	if (journal_finish(real->journal, number, ok && !status, ok && !status ? e : &later) && ok)
		status = s->phase == PHASE_TEARDOWN ? 0 : -1;
	return status;
}

static int run_real(struct step_sink *sink, const struct step *s, struct buf *output, struct err *e)
{
	struct real_sink *real = (struct real_sink *)sink;
	struct proc_result r = {0};
	int64_t started = clock_mono_ns();
	uint64_t number;
	int status;

	if (begin(real, s, &number, e))
		return -1;
	status = execute(s, &r, e);
	if (status)
		err_prefix(e, "cannot %s", s->what);
	report(real, s, !status, clock_mono_ns() - started, &r);
	if (finish(real, s, number, !status, &r.out, e))
		status = -1;
	if (!status)
		buf_add(output, buf_str(&r.out), r.out.len);
	proc_result_free(&r);
	return status;
}

struct step_sink *sink_real(struct journal *j, struct unit unit,
	void (*report_step)(void *arg, const struct step *s, int ok, int64_t elapsed_ns,
		const char *output),
	void *arg)
{
	struct real_sink *real = xcalloc(1, sizeof(*real));

	real->sink.run = run_real;
	real->journal = j;
	real->unit = unit;
	real->report = report_step;
	real->arg = arg;
	return &real->sink;
}

static int run_preview(struct step_sink *sink, const struct step *s, struct buf *output,
	struct err *e)
{
	struct preview_sink *preview = (struct preview_sink *)sink;

	(void)e;
	preview->collect(preview->arg, s);
	if (s->dry_output)
		buf_adds(output, s->dry_output);
	return 0;
}

struct step_sink *sink_preview(void (*collect)(void *arg, const struct step *s), void *arg)
{
	struct preview_sink *preview = xcalloc(1, sizeof(*preview));

	preview->sink.run = run_preview;
	preview->sink.preview = 1;
	preview->collect = collect;
	preview->arg = arg;
	return &preview->sink;
}

void sink_free(struct step_sink *s)
{
	free(s);
}
