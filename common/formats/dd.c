/*
 * dd of GNU, BSD and busybox, in any language, with the time of the whole command where it was
 * timed. Owns what is open between two lines.
 * Invariant: throughput is computed from bytes and seconds; the printed rate, in whatever unit, is
 * never taken.
 *
 * The time of `time (dd … && sync)` follows dd's own lines and includes the sync: it takes the
 * place of dd's own seconds.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/formats/context.h"
#include "common/formats/dd_line.h"
#include "common/formats/timing.h"

enum { IN, OUT, SIDES };

struct state {
	struct context c;
	int transfers;   /* since the last line that was nothing of dd's or time's */
	int records;     /* "N+N records" lines since the last transfer */
	int had_records; /* the last transfer had such lines before it */
	struct dd_blocks count[SIDES], had[SIDES]; /* what these lines say: now, and of the last transfer */
	int in_progress; /* the last transfer took the place of an earlier state of it */
	int untimed;     /* "N+N records" lines, one under the other, that had no transfer or time yet */
	size_t untimed_line; /* the last of them */
	int at_records;      /* it says "record", and nothing but blank lines came behind it */
	struct data_told command; /* what the dd of the last command line wrote */
	int had_command;          /* nothing was told of that dd yet */
	char *failure;       /* of the transfer to come, NULL: none */
	size_t failure_line; /* where it stood */
	int interrupted;     /* "^C" stood there, and nothing but what dd says of it since */
	int timed;           /* the last record has the time of its command */
	int cut;             /* the last transfer failed, but as a line of progress, which is no end */
	char *unopened;      /* what was said last of a dd that began none, or NULL */
};

/* 0: there were others than whole blocks. */
static unsigned long long block_size(unsigned long long bytes, const struct dd_blocks *b)
{
	return b->whole && !b->part && bytes % b->whole == 0 ? bytes / b->whole : 0;
}

/* Within one transfer the counts only grow, and a block has one size. */
static int counts_go_on(const struct state *s, unsigned long long had_bytes, unsigned long long bytes)
{
	unsigned long long had_size = block_size(had_bytes, &s->had[OUT]),
			   size = block_size(bytes, &s->count[OUT]);

	for (int i = IN; i < SIDES; i++)
		if (s->count[i].whole < s->had[i].whole || s->count[i].part < s->had[i].part)
			return 0;
	return !had_size || !size || had_size == size;
}

/* What was printed before is an earlier state of the same transfer (signal, status=progress): the
 * counts of records stood between the two, and bytes, seconds and the counts have grown. Lines of
 * progress that were not overwritten follow each other without counts, in whole seconds. */
static int is_progress(const struct state *s, const struct format_record *last,
	const struct dd_transfer *t, const struct number *seconds)
{
	if (!s->transfers || (last->error && !s->cut) || t->bytes < last->bytes ||
		seconds->value < last->seconds)
		return 0;
	if (!s->records)
		return !s->had_records && last->seconds_resolution > 0.99 && t->bytes > last->bytes &&
		       seconds->value > last->seconds;
	return !s->had_records || (t->bytes > last->bytes && seconds->value > last->seconds &&
					  counts_go_on(s, last->bytes, t->bytes));
}

/* A block that was read and not yet written, which later ones all were: only within a transfer. A line
 * of status=progress has no counts before it. Anything else could have been the end of a shorter one. */
static int is_surely_progress(const struct state *s)
{
	unsigned long long had_in = s->had[IN].whole + s->had[IN].part,
			   had_out = s->had[OUT].whole + s->had[OUT].part;

	if (!s->had_records)
		return s->records > 0;
	return had_in == had_out + 1 && s->count[IN].whole + s->count[IN].part ==
						s->count[OUT].whole + s->count[OUT].part;
}

/* The last record was an earlier state of the transfer at the line. */
static void take_back(struct state *s, size_t line, struct format_found *f)
{
	size_t at = f->records[f->n_records - 1].line;
	int sure = s->in_progress || is_surely_progress(s);

	found_renote(f, at, "dd: taken as progress of the transfer that line %zu tells of%s", line,
		sure ? ""
		     : ", whose bytes and time are more; if it was one of its own, put a line such as "
		       "'# next' between them");
	if (!sure)
		found_doubt(f, at);
	found_drop(f);
	s->in_progress = 1;
}

/* At the record's last line. */
static void note_transfer(struct format_found *f, const struct format_record *rec, const char *how)
{
	double rate = (double)rec->bytes / rec->seconds;
	char of[512], mb[UNITS_LEN], mib[UNITS_LEN];

	found_note(f, rec->last_line, rec->last_line,
		"dd: %llu bytes in %.9g s (%s) = %s MB/s = %s MiB/s%s",
		(unsigned long long)rec->bytes, rec->seconds, how, units_number(rate / 1e6, 4, mb),
		units_number(rate / 1048576, 4, mib), context_of(rec, of, sizeof(of)));
}

/* Why the transfer that is reported now failed, and takes it; NULL: it did not. */
static char *failure_of(struct state *s)
{
	char *failure = s->failure;

	s->failure = NULL;
	return failure ? failure : s->interrupted ? xstrdup("dd was interrupted") : NULL;
}

static int take_transfer(
	struct reader *r, struct state *s, const struct dd_transfer *t, struct format_found *f)
{
	char *failure;
	struct format_record *rec;

	if (f->n_records && is_progress(s, &f->records[f->n_records - 1], t, &t->seconds))
		take_back(s, r->no, f);
	else
		s->in_progress = 0;
	failure = failure_of(s);
	if (!failure && t->bytes == 0)
		failure = xstrdup("dd transferred no bytes");
	if (!failure && seconds_check(&t->seconds, r->e))
		return reader_place(r);
	rec = found_record(f, r->no);
	rec->bytes = t->bytes;
	rec->seconds = t->seconds.value;
	rec->seconds_resolution = t->seconds.resolution;
	rec->error = failure;
	rec->data = s->command;
	context_apply(&s->c, rec);
	if (rec->error) {
		found_note(f, r->no, r->no, "dd: a transfer that failed: %s", rec->error);
	} else {
		record_compute(rec);
		note_transfer(f, rec, "its own time");
	}
	s->interrupted = strstr(r->s, "^C") != NULL;
	s->cut = s->interrupted || (t->bytes == 0 && !s->records);
	s->had_records = s->records > 0;
	memcpy(s->had, s->count, sizeof(s->had));
	memset(s->count, 0, sizeof(s->count));
	s->records = s->untimed = s->had_command = s->timed = 0;
	s->transfers = 1;
	return 0;
}

/* The whole command's time, behind its dd. */
static int take_real(
	struct reader *r, struct state *s, const struct timing *t, struct format_found *f)
{
	struct format_record *last = f->n_records ? &f->records[f->n_records - 1] : NULL;
	int own = last && s->transfers;

	if (timing_check(r, t))
		return -1;
	if (own && t->real.value + t->real.resolution < last->seconds) {
		found_unused(f, r->no, "a time shorter than the dd before it: not its time, not used");
		found_doubt(f, r->no);
		return 0;
	}
	if (own && last->error) {
		found_unused(f, r->no, "the time of a dd that failed");
		s->timed = 1;
		return 0;
	}
	if (!own && !s->records && !s->had_command) {
		found_unused(f, r->no,
			"a time with no dd right before it: of another command, not used (of one that has more "
			"than a dd in it, take the lines between away)");
		found_doubt(f, r->no);
		return 0;
	}
	if (!own) {
		last = found_record(f, r->no);
		context_apply(&s->c, last);
		last->error = failure_of(s);
	} else {
		found_renote(f, last->line, "dd: %llu bytes in %.9g s; line %zu has the time of its command",
			(unsigned long long)last->bytes, last->seconds, r->no);
	}
	last->seconds = t->real.value;
	last->seconds_resolution = t->real.resolution;
	last->n_v = 0;
	last->last_line = r->no;
	record_compute(last);
	if (last->bytes && !last->error)
		note_transfer(f, last, "the command's time");
	else
		found_note(f, r->no, r->no, "%s: elapsed %.9g s, bytes not known", t->kind,
			last->seconds);
	s->transfers = s->untimed = s->records = s->interrupted = s->had_command = 0;
	s->timed = 1;
	return 0;
}

/* What GNU time says of the command that it timed, before its times or behind them: that the dd in it did
 * well is not enough. */
static void take_rest(
	struct reader *r, struct state *s, const struct timing *t, struct format_found *f)
{
	struct format_record *last = f->n_records ? &f->records[f->n_records - 1] : NULL;

	if (!*t->failure) {
		found_unused(f, r->no, "user and system time: not used");
		return;
	}
	found_note(f, r->no, r->no, "%s: %s", t->kind, t->failure);
	if (last && (t->failure_ahead ? s->transfers : s->timed)) {
		last->error = last->error ? last->error : xstrdup(t->failure);
	} else if (t->failure_ahead) {
		free(s->failure);
		s->failure = xstrdup(t->failure);
		s->failure_line = r->no;
	}
}

/* What GNU time -v prints between a dd and its time. */
static int is_of_verbose_time(const char *line)
{
	const char *s = skip_blanks(line);

	return after_word(s, "Command being timed:") || after_word(s, "Percent of CPU this job got:");
}

/* What dd could not open, or was not asked for in the right words, it did not begin. */
static int is_before_transfer(const char *line)
{
	static const char *const words[] = {"failed to open", "opening ", "can't open", "cannot open",
		"unrecognized ", "invalid ", "No such file or directory", "Permission denied",
		"Is a directory", "Read-only file system"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(line, words[i]))
			return 1;
	return 0;
}

static void take_failure(struct reader *r, struct state *s, struct format_found *f)
{
	char *line = trim(r->s);

	if (is_before_transfer(line)) {
		free(s->unopened);
		s->unopened = clean_name(line, strlen(line));
		found_note(f, r->no, r->no, "dd: it began no transfer, so this is no trial: %s", s->unopened);
		found_doubt(f, r->no);
		return;
	}
	free(s->failure);
	s->failure = clean_name(line, strlen(line));
	s->failure_line = r->no;
	found_note(f, r->no, r->no, "dd: an error of the transfer that is reported next");
}

/* "3000+0 rec", and nothing more in the text. */
static int is_cut_records(const struct reader *r)
{
	const char *p = skip_blanks(r->s), *word;

	if (!reader_is_open(r) || !isdigit((unsigned char)*p))
		return 0;
	p += strspn(p, "0123456789+");
	word = skip_blanks(p);
	return !*word || (word > p && after_word("records in", word));
}

/* dd's counts stand right behind its error, or it began nothing: the error is of no transfer. */
static void drop_failure(struct state *s, struct format_found *f)
{
	if (!s->failure || s->records)
		return;
	free(s->unopened);
	s->unopened = s->failure;
	s->failure = NULL;
	found_renote(f, s->failure_line, "dd: it transferred nothing, so this is no trial: %s", s->unopened);
	found_doubt(f, s->failure_line);
}

static int take_other(struct reader *r, struct state *s, struct format_found *f)
{
	char data[DATA_TOLD_LEN];
	int taken;

	if (f->n_records && is_cut_records(r))
		return reader_wrong(r, "'%.40s' is cut off, as is the dd that it begins to tell of", r->s);
	if (!is_blank(r->s) && !is_of_verbose_time(r->s)) {
		drop_failure(s, f);
		s->transfers = s->at_records = 0;
		s->interrupted = strstr(r->s, "^C") != NULL;
	}
	if (dd_command_line(r->s, &s->command)) {
		s->had_command = 1;
		if (s->command.known)
			found_note(f, r->no, r->no, "dd's command line: data %s of what follows",
				data_told_text(&s->command, data));
		else
			found_unused(f, r->no, "dd's command line: not used");
		return 0;
	}
	taken = context_line(&s->c, r, f);
	if (taken == 1 && str_starts(skip_blanks(r->s), "data:"))
		s->command = (struct data_told){0};
	if (taken == 0)
		found_unused(f, r->no, "not used");
	return taken < 0 ? -1 : 0;
}

static void take_records(
	struct reader *r, struct state *s, const struct dd_blocks *blocks, struct format_found *f)
{
	int goes_on = s->untimed && s->untimed_line + 1 == r->no;

	if (s->untimed >= SIDES && !goes_on) {
		found_renote(f, s->untimed_line,
			"dd: counts of records without bytes and a time behind them: not used");
		found_doubt(f, s->untimed_line);
	}
	s->count[s->records == 0 ? IN : OUT] = *blocks;
	s->records++;
	s->untimed = goes_on ? s->untimed + 1 : 1;
	s->untimed_line = r->no;
	s->at_records = strstr(r->s, "record") != NULL || is_cut_records(r);
	found_note(f, r->no, r->no, "dd: records");
}

static int take_line(struct reader *r, struct state *s, struct format_found *f)
{
	struct dd_transfer t;
	struct dd_blocks blocks;
	struct timing time;
	int what;

	if (strstr(r->s, "^C"))
		s->interrupted = 1;
	what = dd_transfer_line(r->s, reader_is_last(r), &t, r->e);
	if (what == 1)
		return take_transfer(r, s, &t, f);
	if (what == 0 && dd_records_line(r->s, &blocks)) {
		take_records(r, s, &blocks, f);
		return 0;
	}
	what = what ? what : timing_line(r->s, &time, r->e);
	if (what < 0)
		return reader_place(r);
	if (what == 1 && time.has_real)
		return take_real(r, s, &time, f);
	if (what == 1) {
		take_rest(r, s, &time, f);
		return 0;
	}
	if (dd_failure_line(r->s)) {
		take_failure(r, s, f);
		return 0;
	}
	return take_other(r, s, f);
}

/* What was begun and has not ended with the text. */
static int check_end(struct reader *r, const struct state *s, const struct format_found *f)
{
	const char *failure = s->failure	? s->failure
			      : s->interrupted	? "it was interrupted"
						: s->unopened;

	if (!f->n_records && failure)
		return reader_wrong(r, "dd failed: %s", failure);
	if (!s->untimed || (f->n_records && s->untimed < SIDES && !s->at_records))
		return 0;
	r->no = s->untimed_line;
	return reader_wrong(r,
		"dd without its third line (it is cut off, or of busybox, which prints none): there "
		"are no bytes and no time; run it under `time`");
}

static int read_dd(const struct format_text *text, struct format_found *f, struct err *e)
{
	struct state s = {0};
	struct reader r;
	int rc = 0;

	reader_open(&r, text, e);
	r.overwrites = 1;
	while (!rc && reader_next(&r))
		rc = take_line(&r, &s, f);
	rc = rc || r.failed ? -1 : check_end(&r, &s, f);
	reader_close(&r);
	context_clear(&s.c);
	free(s.failure);
	free(s.unopened);
	return rc;
}

static int score_dd(const struct format_text *head)
{
	struct dd_transfer t;
	struct dd_blocks blocks;
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	r.overwrites = 1;
	while (score < 80 && reader_next(&r)) {
		int now = dd_transfer_line(r.s, reader_is_last(&r), &t, &ignored) ? 80
			  : dd_records_line(r.s, &blocks)                         ? 75
			  : !strncmp(r.s, "dd: ", 4) && dd_failure_line(r.s)      ? 40
										  : 0;

		score = now > score ? now : score;
	}
	reader_close(&r);
	return score;
}

const struct format format_dd = {.name = "dd",
	.summary = "dd of GNU, BSD, busybox, with or without time",
	.workload = "dd",
	.score = score_dd,
	.read = read_dd};
