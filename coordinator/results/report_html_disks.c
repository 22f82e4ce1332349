/*
 * Each disk of a volume by itself: how busy it was and what it moved over a trial. Owns nothing
 * beyond a call.
 * Invariant: one trial of each layout is shown, and the page says which; a redacted page names disks
 * by their place only.
 */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/report_html.h"

#define DRAWN_MAX 16 /* disks in a plot: of more, the busiest and the least busy halves of it */

enum use { USE_BUSY, USE_RATE };

struct shown {
	const struct result_row *row;
	const struct result_trial *trial;
	const struct result_series *series; /* NULL: no disk over time */
	uint32_t block;
	size_t *drawn; /* disks, in the volume's order */
	size_t n_drawn;
};

static const struct trial_evidence *evidence_of(const struct result_trial *t)
{
	return t->sum.n_evidence ? t->sum.evidence : NULL;
}

static double busy_share(const struct shown *s, size_t disk)
{
	double elapsed = (double)s->trial->sum.elapsed_ns;
	double busy = (double)evidence_of(s->trial)->disks[disk].during.busy_ns;

	return elapsed > 0 ? fmin(1, busy / elapsed) : 0;
}

/* The row's first trial that tells of disks. */
static int choose(const struct html *h, const struct result_row *row, struct shown *ret)
{
	*ret = (struct shown){.row = row};
	for (unsigned k = 0; k < row->listed && !ret->trial; k++) {
		const struct trial_evidence *v = evidence_of(row->trials[k]);

		if (v && v->n_disks) {
			ret->trial = row->trials[k];
			ret->block = row->blocks[k];
		}
	}
	if (!ret->trial)
		return 0;
	ret->series = html_series_of(h, ret->trial);
	if (ret->series && ret->series->n_disks != evidence_of(ret->trial)->n_disks)
		ret->series = NULL;
	return 1;
}

struct ranked {
	size_t disk;
	double busy;
};

static int by_busy(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;
	int c = (a->busy > b->busy) - (a->busy < b->busy);

	return c ? c : (a->disk > b->disk) - (a->disk < b->disk);
}

static int by_number(const void *pa, const void *pb)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;

	return (a > b) - (a < b);
}

static void choose_drawn(struct shown *s)
{
	size_t n = evidence_of(s->trial)->n_disks;
	struct ranked *r = xcalloc(n, sizeof(*r));

	s->drawn = xcalloc(DRAWN_MAX, sizeof(*s->drawn));
	for (size_t i = 0; i < n; i++)
		r[i] = (struct ranked){i, busy_share(s, i)};
	qsort(r, n, sizeof(*r), by_busy);
	for (size_t i = 0; i < n; i++)
		if (i < DRAWN_MAX / 2 || i + DRAWN_MAX / 2 >= n)
			s->drawn[s->n_drawn++] = r[i].disk;
	qsort(s->drawn, s->n_drawn, sizeof(*s->drawn), by_number);
	free(r);
}

static char *disk_name(const struct html *h, const struct shown *s, size_t disk)
{
	const struct disk_evidence *d = &evidence_of(s->trial)->disks[disk];

	return h->opt->redact ? xasprintf("disk %zu", disk + 1) : xstrdup(d->name);
}

/* Neighbouring spans go together where there are more than a line has points. */
static json_t *points_of(const struct shown *s, size_t disk, enum use use)
{
	const struct result_series *v = s->series;
	size_t step = (v->n_spans + HTML_POINTS_MAX - 1) / HTML_POINTS_MAX;
	json_t *list = json_array();

	for (size_t i = 0; i < v->n_spans; i += step) {
		size_t end = i + step < v->n_spans ? i + step : v->n_spans;
		double from = (double)v->spans[i].start_ns, to = (double)v->spans[end - 1].end_ns;
		double sum = 0;

		for (size_t k = i; k < end; k++) {
			const struct result_disk_use *u = &v->use[k * v->n_disks + disk];

			sum += use == USE_BUSY ? 100 * (double)u->busy_ns
					       : (double)(u->read_bytes + u->write_bytes) * NS_PER_S;
		}
		/* as of a mean over all disks: more than all the time is a tick too many */
		if (use == USE_BUSY)
			sum = fmin(sum, 100 * (to - from));
		if (to > from)
			json_array_append_new(list,
				json_pack("[oo]", json_number((from + to) / 2 / NS_PER_S),
					json_number(sum / (to - from))));
	}
	return list;
}

static void plot_of(struct html *h, const struct html_group *g, const struct shown *s, enum use use)
{
	json_t *plot, *lines = json_array(), *names = json_array();
	struct buf label = {0};

	if (!*h->assets->chart) {
		json_decref(lines);
		json_decref(names);
		return;
	}
	buf_addf(&label, "%s of each disk of %s over one trial of %s on %s",
		use == USE_BUSY ? "busy share" : "bytes read and written", s->row->layout,
		g->workload, g->shown);
	plot = html_plot(h, "lines", label.data);
	buf_free(&label);
	for (size_t i = 0; i < s->n_drawn; i++) {
		char *name = disk_name(h, s, s->drawn[i]);

		json_array_append_new(names, html_label(name));
		json_array_append_new(lines,
			json_pack("{si so so}", "l", (int)i, "label",
				json_text(use == USE_BUSY ? "busy" : "moved"), "p",
				points_of(s, s->drawn[i], use)));
		free(name);
	}
	html_set(plot, "unit", json_text(use == USE_BUSY ? "%" : "B/s"));
	html_set(plot, "log", json_false());
	html_set(plot, "layouts", names);
	html_set(plot, "lines", lines);
}

static void wait_cell(struct html *h, uint64_t wait_ns, uint64_t ops)
{
	char s[UNITS_LEN];

	html_number(h, "%s", ops ? units_duration((int64_t)(wait_ns / ops), s) : "-");
}

static void disk_row(struct html *h, const struct shown *s, size_t disk, double all_bytes)
{
	const struct disk_evidence *d = &evidence_of(s->trial)->disks[disk];
	const struct disk_counters *c = &d->during;
	double bytes = (double)(c->read_bytes + c->write_bytes);
	char *name = disk_name(h, s, disk), text[UNITS_LEN];

	html_row(h);
	html_cell(h, "%s%s%s", name, d->backing && !h->opt->redact ? " on " : "",
		d->backing && !h->opt->redact ? d->backing : "");
	html_cell(h, "%s", d->id && !h->opt->redact ? d->id : "-");
	html_number(h, "%.0f %%", 100 * busy_share(s, disk));
	html_number(h, "%s", units_size((int64_t)c->read_bytes, text));
	html_number(h, "%s", units_size((int64_t)c->write_bytes, text));
	if (all_bytes > 0)
		html_number(h, "%.1f %%", 100 * bytes / all_bytes);
	else
		html_number(h, "-");
	wait_cell(h, c->read_wait_ns, c->read_ops);
	wait_cell(h, c->write_wait_ns, c->write_ops);
	if (d->errors_known)
		html_number(h, "%llu", (unsigned long long)d->errors);
	else
		html_number(h, "-");
	free(name);
}

static void disk_table(struct html *h, const struct shown *s)
{
	static const char *const headings[] = {"disk", ":id", "#busy", "#read", "#written",
		"#share", "#read waits", "#write waits", "#errors", NULL};
	const struct trial_evidence *v = evidence_of(s->trial);
	double all = 0;

	for (size_t i = 0; i < v->n_disks; i++)
		all += (double)(v->disks[i].during.read_bytes + v->disks[i].during.write_bytes);
	html_table(h, 0, "Per disk", headings);
	for (size_t i = 0; i < v->n_disks; i++)
		disk_row(h, s, i, all);
	html_table_end(h);
}

void html_disk_use(struct html *h, const struct html_group *g)
{
	for (size_t i = 0; i < g->n; i++) {
		struct shown s;

		if (!choose(h, g->rows[i], &s))
			continue;
		choose_drawn(&s);
		html_figure(h, "%s on %s, %s: how busy each disk was, and what it moved, in block %u%s",
			g->workload, g->shown, s.row->layout, s.block,
			s.n_drawn < evidence_of(s.trial)->n_disks
				? "; drawn are the busiest and the least busy ones"
				: "");
		if (s.series && s.series->n_spans) {
			plot_of(h, g, &s, USE_BUSY);
			plot_of(h, g, &s, USE_RATE);
		}
		disk_table(h, &s);
		html_figure_end(h);
		free(s.drawn);
	}
}
