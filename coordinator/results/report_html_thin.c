/*
 * Which of very many trials the HTML report shows: no person can look at more, and no browser likes
 * to. Pure; owns what html_thin_init made, until html_thin_clear.
 * Invariant: the extremes of each layout are drawn, and of all layouts the same blocks; what is left
 * out is told.
 */
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/report_html.h"

#define LEAST 50 /* a share is not smaller than this */

size_t html_share(size_t n, size_t total, size_t page)
{
	size_t most = n < HTML_DOTS_MAX ? n : HTML_DOTS_MAX;
	/* n <= total: in floating point nothing overflows */
	double share = total > page ? (double)n * (double)page / (double)total : (double)n;

	if (share < (double)most)
		most = (size_t)share;
	return most > LEAST ? most : LEAST;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The blocks that the group's trials are of, each once, in order. */
static void take_blocks(struct html_thin *t, const struct html_group *g)
{
	size_t n = 0;

	t->blocks = xcalloc(t->of + 1, sizeof(*t->blocks));
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < g->rows[i]->listed; k++)
			t->blocks[n++] = g->rows[i]->blocks[k];
	qsort(t->blocks, n, sizeof(*t->blocks), by_number);
	for (size_t i = 0; i < n; i++)
		if (t->n_blocks == 0 || t->blocks[t->n_blocks - 1] != t->blocks[i])
			t->blocks[t->n_blocks++] = t->blocks[i];
}

static size_t place(const struct html_thin *t, uint32_t block)
{
	const uint32_t *at =
		bsearch(&block, t->blocks, t->n_blocks, sizeof(block), by_number);

	return (size_t)(at - t->blocks);
}

/* The first trial of the least value, and of the greatest. */
static void find_extremes(const struct result_row *r, unsigned ret[2])
{
	ret[0] = ret[1] = 0;
	for (unsigned k = 1; k < r->listed; k++) {
		if (r->values[k] < r->values[ret[0]])
			ret[0] = k;
		if (r->values[k] > r->values[ret[1]])
			ret[1] = k;
	}
}

int html_thin_keeps(const struct html_thin *t, size_t row, unsigned k)
{
	return t->step == 1 || k == t->extremes[row][0] || k == t->extremes[row][1] ||
	       place(t, t->rows[row]->blocks[k]) % t->step == 0;
}

/* Where the extremes of many layouts are spread over the blocks, the table goes without them: its
 * cells are blocks x layouts. */
static void limit_table(struct html_thin *t, size_t layouts)
{
	for (size_t b = 0; b < t->n_blocks; b++)
		t->n_shown += t->shows[b];
	if (t->step == 1 || t->n_shown * layouts <= 4 * HTML_DOTS_MAX)
		return;
	t->n_shown = 0;
	for (size_t b = 0; b < t->n_blocks; b++) {
		t->shows[b] = b % t->step == 0;
		t->n_shown += t->shows[b];
	}
}

void html_thin_init(struct html_thin *t, const struct html *h, const struct html_group *g)
{
	size_t most;

	*t = (struct html_thin){.rows = g->rows, .step = 1};
	for (size_t i = 0; i < g->n; i++)
		t->of += g->rows[i]->listed;
	most = html_share(t->of, h->set->n_trials, HTML_PAGE_DOTS);
	if (t->of > most)
		t->step = (t->of + most - 1) / most;
	take_blocks(t, g);
	t->extremes = xcalloc(g->n + 1, sizeof(*t->extremes));
	t->shows = xcalloc(t->n_blocks + 1, sizeof(*t->shows));
	for (size_t i = 0; i < g->n; i++) {
		find_extremes(g->rows[i], t->extremes[i]);
		for (unsigned k = 0; k < g->rows[i]->listed; k++) {
			if (!html_thin_keeps(t, i, k))
				continue;
			t->kept++;
			t->shows[place(t, g->rows[i]->blocks[k])] = 1;
		}
	}
	limit_table(t, g->n);
}

void html_thin_clear(struct html_thin *t)
{
	free(t->blocks);
	free(t->shows);
	free(t->extremes);
	*t = (struct html_thin){0};
}

void html_thin_tell(const struct html_thin *t, struct html *h)
{
	if (t->kept < t->of)
		html_textf(h->out,
			"%zu of %zu trials are drawn: each layout's least and greatest, and those of one "
			"of %zu blocks. --format json has all of them, --format csv --long too.",
			t->kept, t->of, t->step);
}
