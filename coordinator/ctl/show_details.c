/* show: what trials tell beside their counters. Owns nothing beyond a call. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/show.h"
#include "coordinator/results/report_details.h"

static int is_of_trial(const json_t *v, const json_t *trial)
{
	return show_number_of(v, "attempt") == show_number_of(trial, "attempt") &&
	       show_number_of(v, "trial") == show_number_of(trial, "trial");
}

/* Details stand behind their trial's line, so that it is nearly always the one before: *last. */
static const json_t *trial_of(
	const struct show *s, const json_t *v, const json_t *job, const json_t **last)
{
	const json_t *t;
	size_t i;

	if (*last && is_of_trial(v, *last))
		return *last;
	json_array_foreach(s->lines, i, t)
	{
		if (show_is_of(t, "trial", job) && is_of_trial(v, t))
			return *last = t;
	}
	return NULL;
}

static void part_row(struct grid *g, const json_t *v, const json_t *trial)
{
	static const char *const latencies[] = {
		"latency_mean_ns", "latency_p50_ns", "latency_p99_ns"};
	int64_t bytes = json_get_int(v, "bytes", 0);
	double seconds = json_get_num(v, "elapsed_ns", 0) / NS_PER_S;
	char text[UNITS_LEN];

	grid_addf(g, "%lld", show_number_of(trial, "block"));
	grid_add(g, show_text_of(trial, "layout_name"));
	grid_add(g, show_text_of(trial, "workload_name"));
	grid_addf(g, "%lld", show_number_of(trial, "repeat"));
	grid_addf(g, "%lld", show_number_of(v, "attempt"));
	grid_add(g, show_text_of(v, "name"));
	grid_add(g, show_text_of(v, "kind"));
	grid_addf(g, "%lld", show_number_of(v, "ops"));
	grid_add(g, bytes > 0 ? units_size(bytes, text) : NULL);
	grid_add(g, seconds > 0 && bytes > 0 ? units_rate((double)bytes / seconds, text) : NULL);
	for (size_t i = 0; i < ARRAY_LEN(latencies); i++)
		grid_add(g, report_quantity(json_get_num(v, latencies[i], NAN), "ns", text));
	grid_addf(g, "%lld", show_number_of(v, "errors"));
}

static void show_parts(struct show *s, const json_t *job)
{
	static const char *const heads[] = {"BLOCK", "LAYOUT", "WORKLOAD", "REPEAT", "ATTEMPT", "PART",
		"KIND", "OPS", "BYTES", "RATE", "MEAN", "P50", "P99", "ERRORS", NULL};
	static const char *const plain[] = {
		NULL, NULL, NULL, "1", "1", NULL, NULL, NULL, "-", "-", "-", "-", "-", "0"};
	static const unsigned char order[] = {4, 3, 8, 11, 10, 255};
	const json_t *v, *trial, *last = NULL;
	struct grid g;
	size_t i;

	grid_init(&g, heads, 1 | 1 << 3 | 1 << 4 | 0x7f << 7);
	json_array_foreach(s->lines, i, v)
	{
		if (show_is_of(v, "trial", job))
			last = v;
		trial = show_is_of(v, "part", job) ? trial_of(s, v, job, &last) : NULL;
		if (trial)
			part_row(&g, v, trial);
	}
	for (unsigned c = 0; c < ARRAY_LEN(plain); c++)
		grid_hide(&g, c, plain[c]);
	if (g.n)
		buf_addc(&s->out, '\n');
	grid_fit(&g, s->width, order);
	grid_print(&g, s->color, &s->out);
	grid_clear(&g);
}

static void put_trial(struct show *s, const json_t *trial)
{
	show_put(s, "  block %lld, %s, %s", show_number_of(trial, "block"),
		show_text_of(trial, "layout_name"), show_text_of(trial, "workload_name"));
	if (show_number_of(trial, "repeat") > 1)
		show_put(s, ", repeat %lld", show_number_of(trial, "repeat"));
	if (show_number_of(trial, "attempt") > 1)
		show_put(s, ", attempt %lld", show_number_of(trial, "attempt"));
	buf_adds(&s->out, ": ");
}

static void put_fact(struct show *s, const json_t *v)
{
	char text[UNITS_LEN];

	show_put(s, "%s %s", show_text_of(v, "name"),
		report_quantity(json_get_num(v, "value", NAN), json_get_str(v, "unit", ""), text));
}

#define MODELS_MAX 64

/* The notes that were told, and of which trial each is. */
struct models {
	const json_t *notes[MODELS_MAX], *trials[MODELS_MAX];
	size_t n;
};

/* "as in block 1, raidz, but for: seed 7" where one that was told of the same workload says nearly the
 * same; else it is told itself. 0 then. */
static int told_before(struct models *m, const json_t *note, const json_t *trial, struct buf *ret)
{
	struct buf different = {0};
	int like = 0;

	for (size_t i = 0; i < m->n && !like; i++) {
		if (strcmp(show_text_of(m->notes[i], "name"), show_text_of(note, "name")) ||
			show_number_of(m->trials[i], "workload") != show_number_of(trial, "workload"))
			continue;
		like = detail_note_is_like(json_get_str(m->notes[i], "text", ""),
			json_get_str(note, "text", ""), &different);
		if (like)
			buf_addf(ret, "as in block %lld, %s%s%s", show_number_of(m->trials[i], "block"),
				show_text_of(m->trials[i], "layout_name"), different.len ? ", but for: " : "",
				buf_str(&different));
	}
	if (!like && m->n < MODELS_MAX) {
		m->notes[m->n] = note;
		m->trials[m->n++] = trial;
	}
	buf_free(&different);
	return like;
}

static void show_note(struct show *s, struct models *m, const json_t *note, const json_t *trial)
{
	struct buf as = {0};
	size_t from = s->out.len;

	put_trial(s, trial);
	if (told_before(m, note, trial, &as)) {
		show_put(s, "%s, %s", show_text_of(note, "name"), buf_str(&as));
		buf_addc(&s->out, '\n');
		show_wrap_since(s, from);
	} else {
		show_put(s, "%s", show_text_of(note, "name"));
		buf_addc(&s->out, '\n');
		print_safe_lines(json_get_str(note, "text", ""), "  | ", &s->out);
	}
	buf_free(&as);
}

/* A line for the facts of a trial that stand together, then each note with its text. */
static void show_told(struct show *s, const json_t *job)
{
	const json_t *v, *trial, *last = NULL, *of = NULL; /* of: whose facts the line tells */
	struct models models = {.n = 0};
	size_t i, any = 0, from = 0;

	json_array_foreach(s->lines, i, v)
	{
		int fact = show_is_of(v, "fact", job), note = show_is_of(v, "note", job);

		if (show_is_of(v, "trial", job))
			last = v;
		trial = fact || note ? trial_of(s, v, job, &last) : NULL;
		if (of && !(fact && trial == of)) {
			buf_addc(&s->out, '\n');
			show_wrap_since(s, from);
			of = NULL;
		}
		if (!trial)
			continue;
		if (!any++)
			buf_addc(&s->out, '\n');
		if (note) {
			show_note(s, &models, v, trial);
			continue;
		}
		if (of) {
			buf_adds(&s->out, " · ");
		} else {
			from = s->out.len;
			put_trial(s, trial);
		}
		put_fact(s, v);
		of = trial;
	}
	if (of) {
		buf_addc(&s->out, '\n');
		show_wrap_since(s, from);
	}
}

void show_details(struct show *s, const json_t *job)
{
	show_parts(s, job);
	show_told(s, job);
}
