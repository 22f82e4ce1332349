/*
 * Other tools' outputs: the first byte chooses the reader (or detection), the rest is the text.
 * Never a crash or a leak; what is accepted is finite, above zero, inside the text, and becomes a
 * sound result set.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure/hist.h"
#include "coordinator/results/export.h"
#include "coordinator/results/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static void check_record(const struct format_record *r, size_t lines)
{
	static struct hist h;
	struct err e;

	MUST(r->line >= 1 && r->line <= lines && r->last_line >= r->line && r->last_line <= lines);
	MUST(r->n_v <= FORMAT_VALUES && !(r->seconds < 0));
	for (size_t i = 0; i < r->n_v && !r->error; i++) {
		MUST(isfinite(r->v[i].value) && r->v[i].value > 0);
		MUST(isfinite(r->v[i].resolution) && r->v[i].resolution >= 0);
		MUST(metric_find(r->v[i].metric) < METRIC_COUNT);
		MUST(!strcmp(metric_table[metric_find(r->v[i].metric)].unit, r->v[i].unit));
		for (size_t k = 0; k < i; k++)
			MUST(strcmp(r->v[k].metric, r->v[i].metric) != 0);
	}
	if (r->hist)
		MUST(hist_decode(r->hist, r->hist_len, &h, &e) == 0 && h.count > 0);
}

/* A CR may end a line, too: there are at most so many. */
static void check_found(const struct format_found *f, const struct buf *text)
{
	size_t lines = 1, last = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n' || text->data[i] == '\r';
	MUST(f->n_records > 0);
	for (size_t i = 0; i < f->n_records; i++)
		check_record(&f->records[i], lines);
	for (size_t i = 0; i < f->n_notes; i++) {
		MUST(f->notes[i].first >= last && f->notes[i].last >= f->notes[i].first);
		MUST(f->notes[i].last <= lines && f->notes[i].text);
		last = f->notes[i].first;
	}
}

static void check_import(const struct buf *text, const struct format *format)
{
	struct import_options o = {.format = format};
	struct result_set s = {0};
	struct buf copy = {0}, log = {0};
	struct err e;
	uint64_t run;

	buf_add(&copy, text->data, text->len);
	if (import_text(&s, "fuzz", &copy, &o, &log, &run, &e) == 0 && run > 0) {
		MUST(export_read_end(&s, &e) == 0);
		MUST(s.n_trials + s.n_summaries > 0 && log.len > 0);
		for (size_t i = 0; i < s.n_trials; i++)
			export_trial(&s.trials[i], &log);
	}
	result_set_clear(&s);
	buf_free(&copy);
	buf_free(&log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct format *format = NULL;
	struct format_found f = {0};
	struct buf text = {0};
	struct err e = {0};
	size_t n = 0;

	if (size < 1)
		return 0;
	while (format_table[n])
		n++;
	/* '0' … '9': one reader each; anything else: by content. */
	if (data[0] >= '0' && (size_t)(data[0] - '0') < n)
		format = format_table[data[0] - '0'];
	buf_add(&text, data + 1, size - 1);
	check_import(&text, format);
	if (format_decode("fuzz", &text, &e) == 0 &&
		(format || format_detect("fuzz", &text, &format, &e) == 0) && format->read) {
		if (format_read("fuzz", &text, format, &f, &e) == 0)
			check_found(&f, &text);
		else
			MUST(e.code != ERR_NONE && strstr(e.text, "fuzz"));
	}
	format_found_clear(&f);
	buf_free(&text);
	return 0;
}
