/*
 * The end line of an export: how many lines of its run stand before it, so that a file that was cut
 * off, or lost lines on its way, is no finished run. Owns nothing.
 * Invariant: what export_read_whole() lets pass is all that was written.
 */
#include <string.h>

#include "coordinator/results/export.h"
#include "coordinator/results/export_line.h"
#include "coordinator/results/export_write.h"

uint64_t export_count_lines(const struct buf *lines, size_t from)
{
	uint64_t n = 0;

	for (const char *nl; from < lines->len; n++) {
		nl = memchr(lines->data + from, '\n', lines->len - from);
		if (!nl)
			break;
		from = (size_t)(nl - lines->data) + 1;
	}
	return n;
}

void export_end(uint64_t run, uint64_t lines, struct buf *out)
{
	json_t *o = export_line_new("end", run);

	json_object_set_new_nocheck(o, "lines", export_count(lines));
	export_line_end(o, out);
}

int export_read_end_line(struct result_set *s, const struct export_line *l, uint64_t run,
	struct err *e)
{
	static const struct field lines = {
		.key = "lines", .kind = FIELD_U64, .flags = FIELD_MUST, .least = 1};
	struct export_count *c = export_count_of(s, run);
	uint64_t told = 0;

	if (c->end)
		return err_set(e, ERR_INPUT, "%s:%zu: the end of run %llu is there twice", l->name,
			l->no, (unsigned long long)run);
	if (export_field_take(l, FIELD_OF_LINE, json_object_get(l->o, "lines"), &lines, &told, e))
		return -1;
	c->end = l->no;
	c->told = told;
	return 0;
}

static int check_count(const struct export_count *c, const char *name, struct err *e)
{
	unsigned long long run = c->run, lines = c->lines, told = c->told;

	if (!c->end)
		return err_set(e, ERR_INPUT,
			"%s:%zu: the export of run %llu is cut off behind this line, there is no end "
			"line: export the run again; was it written by an older version?",
			name, c->last, run);
	if (lines != told)
		return err_set(e, ERR_INPUT,
			"%s:%zu: the export of run %llu was written with %llu line%s, and has %llu: "
			"export the run again",
			name, c->end, run, told, told == 1 ? "" : "s", lines);
	return 0;
}

int export_read_whole(struct result_set *s, const char *name, struct err *e)
{
	const struct export_count *counts;
	size_t n;
	int bad = 0;

	counts = export_counts(s, &n);
	for (size_t i = 0; i < n && !bad; i++)
		bad = check_count(&counts[i], name, e);
	result_set_unindex(s);
	return bad;
}
