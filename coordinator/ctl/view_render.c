/*
 * struct view -> lines of text. Owns nothing.
 * Invariant: no line is wider than the style says.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/base/utf8.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/view.h"
#include "coordinator/results/report_details.h"

#define HOST_MAX 24 /* columns of the host's name */
#define TEXT_MIN 10 /* what the bar leaves for words, or there is none */
#define DOING_MIN 20
#define PARTS_MAX 10

double view_job_done(const struct view_job *j)
{
	double part;

	if (j->units <= 0)
		return 0;
	part = ((double)j->units_done + (strcmp(j->state, "running") ? 0 : j->unit_part)) /
	       (double)j->units;
	return fmax(0, fmin(1, part));
}

void view_bar(double part, unsigned width, int utf8, struct buf *out)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned steps = utf8 ? 8 : 1;
	unsigned filled = isnan(part) ? 0 : (unsigned)floor(fmax(0, fmin(1, part)) * width * steps);
	unsigned full = filled / steps, rest = filled % steps;

	for (unsigned i = 0; i < width; i++) {
		if (i < full)
			buf_adds(out, utf8 ? "█" : "#");
		else if (i == full && rest)
			buf_adds(out, eighths[rest]);
		else
			buf_adds(out, utf8 ? "░" : ".");
	}
}

/* One piece of a line; those with the largest `drop` go first when the line is too long. What the
 * job does now is cut to DOING_MIN before anything goes. */
#define DROP_DOING 1
struct part {
	char *text;
	unsigned drop;
	enum print_color color;
};
struct line {
	struct part v[PARTS_MAX];
	unsigned n;
};

static void add_part(struct line *l, unsigned drop, enum print_color color, char *text)
{
	if (l->n < PARTS_MAX && text && *text)
		l->v[l->n++] = (struct part){text, drop, color};
	else
		free(text);
}

static char *duration_left(const struct view_job *j, int64_t now_ns)
{
	double s = j->left_s - (double)(now_ns - j->at_ns) / (double)NS_PER_S;
	char text[UNITS_LEN];

	if (!isfinite(s) || s > 1e9)
		return NULL;
	s = fmax(0, round(s));
	return xasprintf("%s%s left", j->least_blocks ? "at most " : "",
		units_duration((int64_t)s * NS_PER_S, text));
}

/* Of what judges the workload: operations, else bytes where it moves any. */
static char *rate_text(const struct view_job *j)
{
	int by_ops = !strcmp(j->headline, "ops_per_s") || (!(j->rate > 0) && j->ops_rate > 0);
	char text[UNITS_LEN];

	if (strcmp(j->phase, "workload") || (j->bytes <= 0 && !(j->ops_rate > 0)))
		return NULL; /* no sample has come yet */
	if (by_ops && isfinite(j->ops_rate))
		return xstrdup(report_quantity(j->ops_rate, "ops/s", text));
	return isfinite(j->rate) ? xstrdup(units_rate(j->rate, text)) : NULL;
}

/* What it does now: "write", "build: create the pool am_12_1_ab12cd". */
static char *doing(const struct view_job *j)
{
	if (!strcmp(j->phase, "workload") && *j->workload)
		return xstrdup(j->workload);
	if (!strcmp(j->phase, "workload"))
		return xstrdup("between trials");
	if (*j->what && *j->phase)
		return xasprintf("%s: %s", j->phase, j->what);
	return xstrdup(j->phase);
}

/* "block 3/10", or "block 3/5…30" where the run may stop before its last one. */
static char *block_text(const struct view_job *j)
{
	if (j->block <= 0)
		return NULL;
	if (j->least_blocks)
		return xasprintf("block %lld/%lld…%lld", (long long)j->block,
			(long long)j->least_blocks, (long long)j->blocks);
	return xasprintf("block %lld/%lld", (long long)j->block, (long long)j->blocks);
}

static void running_parts(struct line *l, const struct view_job *j, int64_t now_ns)
{
	add_part(l, 2, COLOR_NONE, block_text(j));
	add_part(l, 3, COLOR_NONE,
		*j->layout && j->layouts > 1
			? xasprintf("%s (%lld/%lld)", j->layout, (long long)j->position,
				  (long long)j->layouts)
			: xstrdup(j->layout));
	add_part(l, DROP_DOING, COLOR_CYAN, doing(j));
	add_part(l, 4, COLOR_NONE, rate_text(j));
	add_part(l, 5, COLOR_DIM, duration_left(j, now_ns));
	if (!j->online)
		add_part(l, 0, COLOR_YELLOW, xstrdup("offline"));
}

static void job_parts(struct line *l, const struct view_job *j, int64_t now_ns)
{
	enum print_color color = print_state_color(j->state);

	if (!strcmp(j->state, "running")) {
		running_parts(l, j, now_ns);
		return;
	}
	add_part(l, 0, color, print_state_why(j->state, j->why));
	if (!strcmp(j->state, "cancelling"))
		add_part(l, DROP_DOING, COLOR_NONE, doing(j));
	if (!strcmp(j->state, "waiting") && !j->online && !strstr(j->why, "offline"))
		add_part(l, 1, COLOR_DIM, xstrdup("offline"));
}

/* Columns that the line needs at least. */
static unsigned parts_width(const struct line *l)
{
	unsigned width = 0, w;

	for (unsigned i = 0; i < l->n; i++) {
		w = utf8_width(l->v[i].text);
		width += 2 + (l->v[i].drop == DROP_DOING && w > DOING_MIN ? DOING_MIN : w);
	}
	return width;
}

static void drop_one(struct line *l)
{
	unsigned worst = 0;

	for (unsigned i = 1; i < l->n; i++)
		if (l->v[i].drop >= l->v[worst].drop)
			worst = i;
	free(l->v[worst].text);
	memmove(&l->v[worst], &l->v[worst + 1], (--l->n - worst) * sizeof(l->v[0]));
}

static void add_padding(struct buf *out, unsigned n)
{
	while (n--)
		buf_addc(out, ' ');
}

/* The terminal decides, not the words: bars stand below each other and keep still. Why a job ended
 * is worth more than its bar. */
static unsigned bar_width(
	const struct view_job *j, const struct view_style *s, const struct line *l, unsigned room)
{
	unsigned width = s->width >= 100 ? 24 : s->width >= 64 ? 12 : 8;

	if (s->width < 40 || room < width + 7 + TEXT_MIN)
		return 0;
	return strcmp(j->state, "running") && parts_width(l) > room - width - 7 ? 0 : width;
}

/* The bar with its percentage. Returns the columns used. */
static unsigned put_bar(
	const struct view_job *j, const struct view_style *s, unsigned width, struct buf *out)
{
	double part = view_job_done(j);
	struct buf bar = {0};

	if (!width)
		return 0;
	view_bar(part, width, s->utf8, &bar);
	buf_adds(out, "  ");
	print_colored(buf_str(&bar), print_state_color(j->state), s->color, out);
	buf_addf(out, " %3d%%", (int)floor(part * 100));
	buf_free(&bar);
	return width + 7;
}

static void render_job(const struct view_job *j, unsigned host_width,
	const struct view_style *s, int64_t now_ns, struct buf *out)
{
	unsigned room = s->width, used, spare;
	struct line l = {.n = 0};
	struct buf text = {0};

	used = print_fit(j->host, host_width < room ? host_width : room, out);
	if (used < host_width && host_width < room) {
		add_padding(out, host_width - used);
		used = host_width;
	}
	room -= used;
	job_parts(&l, j, now_ns);
	room -= put_bar(j, s, bar_width(j, s, &l, room), out);
	while (l.n > 1 && parts_width(&l) > room)
		drop_one(&l);
	spare = room > parts_width(&l) ? room - parts_width(&l) : 0;
	for (unsigned i = 0; i < l.n && room > 2; i++) {
		unsigned most = l.v[i].drop == DROP_DOING ? DOING_MIN + spare : room;

		buf_adds(out, "  ");
		room -= 2;
		buf_reset(&text);
		room -= print_fit(l.v[i].text, most < room ? most : room, &text);
		print_colored(buf_str(&text), l.v[i].color, s->color, out);
	}
	buf_addc(out, '\n');
	for (unsigned i = 0; i < l.n; i++)
		free(l.v[i].text);
	buf_free(&text);
}

/* Order in which jobs get a line when there are too many. */
static int rank(const struct view_job *j)
{
	static const char *const order[] = {"running", "cancelling", "failed", "waiting"};

	for (int i = 0; i < (int)ARRAY_LEN(order); i++)
		if (!strcmp(j->state, order[i]))
			return i;
	return (int)ARRAY_LEN(order);
}

static void render_rest(const struct view *v, const char *shown, unsigned width, struct buf *out)
{
	static const char *const states[] = {
		"running", "cancelling", "waiting", "done", "failed", "cancelled"};
	struct buf text = {0};

	buf_adds(&text, "…");
	for (size_t s = 0; s < ARRAY_LEN(states); s++) {
		unsigned n = 0;

		for (size_t i = 0; i < v->n_jobs; i++)
			n += !shown[i] && !strcmp(v->jobs[i].state, states[s]);
		if (n)
			buf_addf(&text, "%s %u %s", text.len > 3 ? "," : " and", n, states[s]);
	}
	print_fit(buf_str(&text), width, out);
	buf_addc(out, '\n');
	buf_free(&text);
}

/* Marks the `room` jobs that get a line. */
static void choose_shown(const struct view *v, size_t room, char *shown)
{
	for (int r = 0; r <= 4; r++)
		for (size_t i = 0; i < v->n_jobs && room; i++)
			if (rank(&v->jobs[i]) == r) {
				shown[i] = 1;
				room--;
			}
}

unsigned view_render(
	const struct view *v, const struct view_style *style, int64_t now_ns, struct buf *out)
{
	size_t most = style->height > 2 ? style->height - 1 : 1, room = most;
	char *shown = xcalloc(v->n_jobs + 1, 1);
	unsigned host_width = 0, lines = 0, w;

	if (v->n_jobs > most)
		room = most - 1;
	choose_shown(v, room, shown);
	for (size_t i = 0; i < v->n_jobs; i++)
		if (shown[i] && (w = utf8_width(v->jobs[i].host)) > host_width)
			host_width = w < HOST_MAX ? w : HOST_MAX;
	for (size_t i = 0; i < v->n_jobs; i++) {
		if (!shown[i])
			continue;
		render_job(&v->jobs[i], host_width, style, now_ns, out);
		lines++;
	}
	if (v->n_jobs > most) {
		render_rest(v, shown, style->width, out);
		lines++;
	}
	free(shown);
	return lines;
}
