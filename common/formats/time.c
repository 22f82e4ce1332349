/*
 * Timings of commands, alone or within any other text. Owns what is open between two lines.
 * Invariant: one record for each real time; user and system times belong to the real time they
 * were printed with.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/formats/context.h"
#include "common/formats/timing.h"

struct pending {
	struct timing ahead; /* user and system times of a real time to come */
	char failure[80];
	int open; /* the last record still takes user and system times */
};

static void add_cpu(struct format_record *rec, const struct timing *t)
{
	if (t->has_user && !(rec->cpu_user_s > 0))
		rec->cpu_user_s = t->user.value;
	if (t->has_system && !(rec->cpu_system_s > 0))
		rec->cpu_system_s = t->system.value;
}

static int take_real(struct reader *r, struct pending *p, const struct timing *t,
	const struct context *c, struct format_found *f)
{
	struct format_record *rec;

	if (timing_check(r, t))
		return -1;
	rec = found_record(f, r->no);
	rec->seconds = t->real.value;
	rec->seconds_resolution = t->real.resolution;
	add_cpu(rec, t);
	add_cpu(rec, &p->ahead);
	if (*p->failure)
		rec->error = xstrdup(p->failure);
	context_apply(c, rec);
	record_compute(rec);
	found_note(f, r->no, r->no, "%s: elapsed %.9g s", t->kind, rec->seconds);
	*p = (struct pending){.open = 1};
	return 0;
}

static void take_rest(
	struct reader *r, struct pending *p, const struct timing *t, struct format_found *f)
{
	struct format_record *last = f->n_records ? &f->records[f->n_records - 1] : NULL;

	if (*t->failure && t->failure_ahead) {
		memcpy(p->failure, t->failure, sizeof(p->failure));
	} else if (*t->failure && p->open && last && !last->error) {
		last->error = xstrdup(t->failure);
	} else if (t->ahead) {
		p->ahead.has_user |= t->has_user;
		p->ahead.has_system |= t->has_system;
		if (t->has_user)
			p->ahead.user = t->user;
		if (t->has_system)
			p->ahead.system = t->system;
	} else if (p->open && last) {
		add_cpu(last, t);
		last->last_line = r->no;
	}
	found_note(f, r->no, r->no, "%s: %s", t->kind,
		*t->failure     ? t->failure
		: t->has_user   ? "user time"
		: t->has_system ? "system time"
				: "exit status");
}

static int take_line(struct reader *r, struct pending *p, struct context *c, struct format_found *f)
{
	struct timing t;
	int what = timing_line(r->s, &t, r->e);

	if (what < 0)
		return reader_place(r);
	if (what == 1 && t.has_real)
		return take_real(r, p, &t, c, f);
	if (what == 1) {
		take_rest(r, p, &t, f);
		return 0;
	}
	what = context_line(c, r, f);
	if (what == 0)
		found_unused(f, r->no, "not used");
	return what < 0 ? -1 : 0;
}

static int read_time(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct pending p = {0};
	struct context c = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	while (!rc && reader_next(&r))
		rc = take_line(&r, &p, &c, f);
	rc = rc || r.failed ? -1 : 0;
	reader_close(&r);
	context_clear(&c);
	return rc;
}

static int score_time(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	while (!score && reader_next(&r)) {
		struct timing t;
		int what = timing_line(r.s, &t, &ignored);

		score = what == -1 || (what == 1 && (t.has_real || t.has_user)) ? 70 : 0;
	}
	reader_close(&r);
	return score;
}

const struct format format_time = {.name = "time",
	.summary = "bash, posix, zsh, fish, csh, GNU, toybox and BSD time",
	.workload = "command",
	.score = score_time,
	.read = read_time};
