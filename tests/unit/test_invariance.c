/*
 * What must not change a comparison, and what must turn it round, on random data: the unit of time,
 * which side is the baseline, how fast a host or a block is, in which order hosts, values, layouts and
 * lines stand. The random numbers start the same each time.
 */
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "coordinator/results/analysis.h"
#include "tests/unit/results_kit.h"

#define SETS 400
#define HOSTS_MAX 5
#define VALUES_MAX 12

static uint64_t seed = 88172645463325252ULL;

static uint64_t random_bits(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static unsigned below(unsigned n)
{
	return (unsigned)(random_bits() % n);
}

static double unit(void)
{
	return ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(unit())) * cos(2 * M_PI * unit());
}

enum kind { PAIRS, LISTS, SUMMARIES, FLEET, KINDS };

/* Everything a comparison is made of, where it can be changed. */
struct data {
	enum kind kind;
	size_t n_hosts;
	struct compare_host host[HOSTS_MAX];
	double values[HOSTS_MAX][2][VALUES_MAX];
	uint32_t blocks[HOSTS_MAX][2][VALUES_MAX];
	struct compare_terms terms;
};

static struct compare_side *side_of(struct data *d, size_t h, int subject)
{
	return subject ? &d->host[h].subject : &d->host[h].base;
}

/* The sides point into their own set. */
static void join(struct data *d)
{
	for (size_t h = 0; h < d->n_hosts; h++)
		for (int s = 0; s < 2; s++) {
			side_of(d, h, s)->values = d->values[h][s];
			side_of(d, h, s)->blocks = d->blocks[h][s];
		}
}

static void draw_side(struct data *d, size_t h, int subject, double at, double spread)
{
	struct compare_side *s = side_of(d, h, subject);

	*s = (struct compare_side){.n = 3 + below(VALUES_MAX - 3)};
	for (unsigned i = 0; i < s->n; i++) {
		d->values[h][subject][i] = at * exp(spread * normal());
		/* some blocks are missing on either side */
		d->blocks[h][subject][i] = 1 + i + (i > 0 && below(4) == 0 ? 1 : 0);
		if (i > 0 && d->blocks[h][subject][i] <= d->blocks[h][subject][i - 1])
			d->blocks[h][subject][i] = d->blocks[h][subject][i - 1] + 1;
	}
	s->resolution = d->kind == LISTS && below(2) ? at * 0.01 : 0;
	if (d->kind != SUMMARIES)
		return;
	s->summary_only = 1;
	s->mean = at;
	s->min = at * (1 - spread);
	s->max = at * (1 + 2 * spread);
	s->resolution = at * 0.005;
	s->has_stddev = (int)below(2);
	s->stddev = at * spread;
	s->stddev_resolution = at * 0.001;
}

static void draw(struct data *d)
{
	double difference = below(2) ? 0 : 0.2 * normal(), spread = below(2) ? 0.003 : 0.1;

	*d = (struct data){.kind = (enum kind)below(KINDS)};
	d->n_hosts = d->kind == FLEET ? 3 + below(HOSTS_MAX - 2) : 1;
	d->terms = (struct compare_terms){
		COMPARE_ALPHA, 1 + below(6), (int)below(2), below(2) ? 0.05 : 0};
	for (size_t h = 0; h < d->n_hosts; h++) {
		double at = 10 * exp(normal());

		draw_side(d, h, 0, at, spread);
		draw_side(d, h, 1, at * exp(difference), spread);
		d->host[h].random_blocks = d->kind == PAIRS || (d->kind == FLEET && below(2));
	}
	join(d);
}

static void judge(struct data *d, struct compared *ret)
{
	join(d);
	compare(d->host, d->n_hosts, &d->terms, ret);
}

static int is_near(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(1, fabs(a));
}

static enum verdict other(enum verdict v)
{
	return v == VERDICT_FASTER ? VERDICT_SLOWER : v == VERDICT_SLOWER ? VERDICT_FASTER : v;
}

/* turned: the other side of every number; words: whether the verdict's words change places. */
static void expect(const struct data *d, const char *what, const struct compared *was,
	const struct compared *now, int turned, int words)
{
	double sign = turned ? -1 : 1;
	int good = was->estimator == now->estimator && was->n == now->n &&
		   now->verdict == (words ? other(was->verdict) : was->verdict) &&
		   was->within_margin == now->within_margin && is_near(sign * was->d, now->d) &&
		   is_near(was->se, now->se) && is_near(was->df, now->df) && is_near(was->r, now->r) &&
		   is_near(turned ? -was->hi : was->lo, now->lo) &&
		   is_near(turned ? -was->lo : was->hi, now->hi) &&
		   is_near(was->p_adjusted, now->p_adjusted);

	if (!good)
		fail_msg("%s, kind %d: %s %.12g (%.12g…%.12g) became %s %.12g (%.12g…%.12g)", what,
			(int)d->kind, verdict_name(was->verdict), was->d, was->lo, was->hi,
			verdict_name(now->verdict), now->d, now->lo, now->hi);
}

static void scale_side(struct compare_side *s, double *values, double by)
{
	for (unsigned i = 0; i < s->n; i++)
		values[i] *= by;
	s->mean *= by;
	s->min *= by;
	s->max *= by;
	s->stddev *= by;
	s->stddev_resolution *= by;
	s->resolution *= by;
}

static void scale_host(struct data *d, size_t h, double by)
{
	for (int s = 0; s < 2; s++)
		scale_side(side_of(d, h, s), d->values[h][s], by);
}

static void the_unit(struct data *d)
{
	double by = below(2) ? 1e9 : 1.0 / 60;

	for (size_t h = 0; h < d->n_hosts; h++)
		scale_host(d, h, by);
}

/* A host that is slower in everything. */
static void a_slow_host(struct data *d)
{
	scale_host(d, below((unsigned)d->n_hosts), 3.7);
}

/* Values in any order, with their blocks where these count; hosts too. */
static void another_order(struct data *d)
{
	struct data was = *d;
	size_t turn = below((unsigned)d->n_hosts);

	for (size_t h = 0; h < d->n_hosts; h++) {
		size_t from = (h + turn) % d->n_hosts;

		d->host[h] = was.host[from];
		memcpy(d->values[h], was.values[from], sizeof(d->values[h]));
		memcpy(d->blocks[h], was.blocks[from], sizeof(d->blocks[h]));
		for (int s = 0; s < 2 && !d->host[h].random_blocks; s++) {
			unsigned n = side_of(d, h, s)->n;
			double first = d->values[h][s][0];

			memmove(d->values[h][s], d->values[h][s] + 1, (n - 1) * sizeof(first));
			d->values[h][s][n - 1] = first;
		}
	}
}

/* What a block does to both sides is no difference between them. */
static void slow_blocks(struct data *d)
{
	double by[2 * VALUES_MAX + 2];

	for (size_t h = 0; h < d->n_hosts; h++) {
		for (size_t i = 0; i < ARRAY_LEN(by); i++)
			by[i] = exp(0.3 * normal());
		for (int s = 0; s < 2 && d->host[h].random_blocks; s++)
			for (unsigned i = 0; i < side_of(d, h, s)->n; i++)
				d->values[h][s][i] *= by[d->blocks[h][s][i]];
	}
}

/* A value whose partner failed says nothing, whatever it is. */
static void lone_values(struct data *d)
{
	for (size_t h = 0; h < d->n_hosts; h++)
		for (int s = 0; s < 2 && d->host[h].random_blocks; s++) {
			struct compare_side *side = side_of(d, h, s);

			if (side->n == VALUES_MAX)
				continue;
			d->values[h][s][side->n] = 1e6 * unit();
			d->blocks[h][s][side->n++] = 1000 + (uint32_t)s;
		}
}

static void nothing_changes(void **state)
{
	static const struct {
		const char *what;
		void (*change)(struct data *d);
	} changes[] = {{"another unit", the_unit}, {"a slow host", a_slow_host},
		{"another order", another_order}, {"slow blocks", slow_blocks},
		{"lone values", lone_values}};
	unsigned estimated = 0;

	(void)state;
	for (unsigned i = 0; i < SETS; i++)
		for (size_t k = 0; k < ARRAY_LEN(changes); k++) {
			struct compared was, now;
			struct data d;

			draw(&d);
			judge(&d, &was);
			estimated += was.estimator != ESTIMATOR_NONE;
			changes[k].change(&d);
			judge(&d, &now);
			expect(&d, changes[k].what, &was, &now, 0, 0);
		}
	assert_true(estimated > SETS * 4);
}

static void the_other_way_round(void **state)
{
	unsigned called = 0;

	(void)state;
	for (unsigned i = 0; i < SETS; i++) {
		struct compared was, swapped, better;
		struct data d, turned;

		draw(&d);
		judge(&d, &was);
		called += was.verdict == VERDICT_FASTER || was.verdict == VERDICT_SLOWER;
		turned = d;
		for (size_t h = 0; h < d.n_hosts; h++) {
			turned.host[h].base = d.host[h].subject;
			turned.host[h].subject = d.host[h].base;
			memcpy(turned.values[h][0], d.values[h][1], sizeof(d.values[h][1]));
			memcpy(turned.values[h][1], d.values[h][0], sizeof(d.values[h][0]));
			memcpy(turned.blocks[h][0], d.blocks[h][1], sizeof(d.blocks[h][1]));
			memcpy(turned.blocks[h][1], d.blocks[h][0], sizeof(d.blocks[h][0]));
		}
		judge(&turned, &swapped);
		expect(&d, "the subject is the baseline", &was, &swapped, 1, 1);
		d.terms.higher_is_better = !d.terms.higher_is_better;
		judge(&d, &better);
		expect(&d, "more is better", &was, &better, 0, 1);
	}
	assert_true(called > SETS / 8);
}

/* ---- whole runs ---- */

#define LAYOUTS 4

/* A run on two hosts whose layouts stand in that order; lines in file order, or turned. */
static void run_of(const unsigned order[LAYOUTS], int turned, struct buf *lines)
{
	static char *names[] = {"a", "b", "c", "d"}, *hosts[] = {"knew", "slocum"};
	char *layouts[LAYOUTS + 1] = {0}, *workloads[] = {"load", NULL};
	struct buf trials[2 * 6 * LAYOUTS] = {{0}};
	size_t n = 0;
	struct result_run r = {.id = 1, .name = "demo", .state = "done", .plan_sha256 = "",
		.tool_version = "", .user = "", .cache = "cold", .design = "random-blocks",
		.blocks = 6, .baseline = -1, .layouts = {layouts, LAYOUTS, 0},
		.workloads = {workloads, 1, 0}};

	for (unsigned l = 0; l < LAYOUTS; l++)
		layouts[l] = names[order[l]];
	export_run(&r, lines);
	for (uint32_t h = 0; h < 2; h++)
		for (uint32_t b = 1; b <= 6; b++)
			for (uint32_t l = 0; l < LAYOUTS; l++) {
				unsigned which = order[l];
				struct result_trial t = a_trial(hosts[h], b * LAYOUTS + l, b, l, 0,
					1000000000 + which * 20000000 + (b * 7 + which * 5 + h) % 11 * 3000000);

				t.layout_name = names[which];
				t.sum.ok = (b + which) % 6 != 0;
				t.sum.error = t.sum.ok ? NULL : "no space left";
				export_trial(&t, &trials[n++]);
			}
	for (size_t i = 0; i < n; i++) {
		struct buf *line = &trials[turned ? n - 1 - i : i];

		buf_adds(lines, line->data);
		buf_free(line);
	}
}

static struct compared find(const struct analysis *a, const char *host, const char *base, const char *subject,
	int *ret_turned)
{
	for (size_t i = 0; i < a->n_comparisons; i++) {
		const struct result_comparison *c = &a->comparisons[i];

		*ret_turned = strcmp(c->base, base) != 0;
		if (strcmp(c->host, host) == 0 && strcmp(c->base, *ret_turned ? subject : base) == 0 &&
			strcmp(c->subject, *ret_turned ? base : subject) == 0)
			return c->c;
	}
	fail_msg("%s: %s against %s is not there", host, subject, base);
	return (struct compared){0};
}

static void layouts_and_lines_in_any_order(void **state)
{
	static const unsigned orders[][LAYOUTS] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
	struct analysis a[2 * ARRAY_LEN(orders)];
	struct result_set set[2 * ARRAY_LEN(orders)];
	struct data none = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		struct buf lines = {0};
		struct err e;

		set[i] = (struct result_set){0};
		run_of(orders[i / 2], i % 2, &lines);
		lines_read(lines.data, &set[i]);
		assert_ok(analysis_make(&set[i], &a[i], &e), e);
		assert_int_equal(a[i].n_comparisons, 2 * LAYOUTS * (LAYOUTS - 1) / 2);
		buf_free(&lines);
		for (size_t k = 0; k < a[0].n_comparisons; k++) {
			const struct result_comparison *c = &a[0].comparisons[k];
			int turned = 0;
			struct compared now = find(&a[i], c->host, c->base, c->subject, &turned);

			assert_true(c->c.estimator == ESTIMATOR_PAIRED && c->c.n == 4);
			expect(&none, "another order of layouts or lines", &c->c, &now, turned, turned);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(a); i++) {
		analysis_clear(&a[i]);
		result_set_clear(&set[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes),
		cmocka_unit_test(the_other_way_round),
		cmocka_unit_test(layouts_and_lines_in_any_order),
	};

	return cmocka_run_group_tests_name("invariance", tests, NULL, NULL);
}
