/*
 * Error rates of the verdict procedure in simulation: how often a difference is called although
 * there is none, at a nominal 5 %, and how often intervals cover the truth. All experiments go
 * through compare() itself. The random numbers start the same each time. The targets are what
 * arraymark-findings(7) says of the estimates, and room for the scatter of so many experiments, which each
 * row names. The rate of a family is that of any false call in it.
 */
#include <math.h>

#include "coordinator/results/compare.h"
#include "coordinator/results/outliers.h"
#include "coordinator/results/stats.h"
#include "tests/bench/bench.h"

#define EXPERIMENTS 40000
#define BLOCKS_MAX 30

static uint64_t seed = 88172645463325252ull;

static double uniform(void)
{
	return ((double)(bench_random(&seed) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* Shapes of a trial's time, all above 0. */
static double times_normal(void)
{
	return 100 + 3 * normal();
}

static double times_lognormal(void)
{
	return exp(0.3 * normal());
}

static double times_floor(void)
{
	return 100 - 10 * log(uniform());
}

static double times_bimodal(void)
{
	return (uniform() < 0.9 ? 100 : 130) + normal();
}

static double times_skewed(void)
{
	return exp(normal());
}

typedef double (*shape)(void);

static const uint32_t numbers[BLOCKS_MAX] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
static const struct compare_terms terms = {COMPARE_ALPHA, 1, 0, 0};

static int is_called(const struct compared *c)
{
	return c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER;
}

struct design {
	const char *what;
	shape shape;
	unsigned a, b; /* values a side; pairs: a */
	int paired;
	double drift;    /* of a slot, as a factor's logarithm */
	double block;    /* spread of blocks, the same for both sides */
	double unequal;  /* the second side's spread is so many times the first's */
	double promised; /* percent; 0: only shown */
};

static void draw(const struct design *d, double *a, double *b)
{
	for (unsigned i = 0; i < d->a; i++) {
		double shift = d->block * normal();
		int first = uniform() < 0.5;

		a[i] = d->shape() * exp(shift + d->drift * (2 * i + (first ? 0 : 1)));
		if (d->paired)
			b[i] = d->shape() * exp(shift + d->drift * (2 * i + (first ? 1 : 0)));
	}
	for (unsigned i = 0; i < d->b && !d->paired; i++)
		b[i] = d->unequal > 0 ? 100 * exp(0.03 * d->unequal * normal()) : d->shape();
	for (unsigned i = 0; i < d->a && d->unequal > 0; i++)
		a[i] = 100 * exp(0.03 * normal());
}

static void false_calls(const struct design *d)
{
	double a[BLOCKS_MAX], b[BLOCKS_MAX];
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		struct compare_host h = {{.values = a, .blocks = numbers, .n = d->a},
			{.values = b, .blocks = numbers, .n = d->paired ? d->a : d->b}, d->paired};
		struct compared c;

		draw(d, a, b);
		compare(&h, 1, &terms, &c);
		called += (unsigned)is_called(&c);
	}
	bench_rate(d->what, called, EXPERIMENTS, "% false",
		d->promised > 0 ? BENCH_AT_MOST : BENCH_SHOWN, d->promised);
}

static const struct design designs[] = {
	{"pairs, n = 4, normal", times_normal, 4, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 10, normal", times_normal, 10, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 4, lognormal", times_lognormal, 4, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 10, lognormal", times_lognormal, 10, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 4, floor + exponential", times_floor, 4, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 10, bimodal", times_bimodal, 10, 0, 1, 0, 0, 0, 5.5},
	{"pairs, n = 4, blocks differ", times_normal, 4, 0, 1, 0, 0.1, 0, 5.5},
	{"pairs, n = 4, drift of half a deviation", times_normal, 4, 0, 1, 0.015, 0, 0, 5.5},
	{"pairs, n = 10, drift of half a deviation", times_normal, 10, 0, 1, 0.015, 0, 0, 5.5},
	{"Welch, 5 and 5, normal", times_normal, 5, 5, 0, 0, 0, 0, 5.7},
	{"Welch, 10 and 10, spread 1 to 3", times_normal, 10, 10, 0, 0, 0, 3, 5.7},
	{"Welch, 4 and 3, normal", times_normal, 4, 3, 0, 0, 0, 0, 6.3},
	/* Where it is furthest off, of spreads 1 to 20 on up to ten values a side. */
	{"Welch, 3 and 3, spread 1 to 7", times_normal, 3, 3, 0, 0, 0, 7, 6.2},
	{"Welch, 6 and 3, spread 1 to 3", times_normal, 6, 3, 0, 0, 0, 3, 7},
	{"guarded Welch, 7 and 3, spread 1 to 20", times_normal, 7, 3, 0, 0, 0, 20, 5.5},
	{"guarded Welch, 3 and 10, spread 1 to 3", times_normal, 3, 10, 0, 0, 0, 3, 0.8},
};

/* What the procedure does not do: of six blocks one side failed in the first and the other in the last
 * `lost`, under a drift of half a deviation a slot, and what is left is taken for two lists. */
static void false_calls_taken_apart(unsigned lost, const char *what)
{
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		double a[6], b[6];
		struct compare_host h = {{.values = a + lost, .n = 6 - lost}, {.values = b, .n = 6 - lost}, 0};
		struct compared c;

		for (unsigned k = 0; k < 6; k++) {
			int first = uniform() < 0.5;

			a[k] = times_normal() * exp(0.015 * (2 * k + (first ? 0 : 1)));
			b[k] = times_normal() * exp(0.015 * (2 * k + (first ? 1 : 0)));
		}
		compare(&h, 1, &terms, &c);
		called += (unsigned)is_called(&c);
	}
	bench_rate(what, called, EXPERIMENTS, "% false", BENCH_SHOWN, 0);
}

#define HOSTS_MAX 5

/* Hosts with ratios of their own, which are 1 on average, three blocks each. */
static void false_calls_of_hosts(unsigned hosts, const char *what)
{
	double a[HOSTS_MAX][3], b[HOSTS_MAX][3];
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		struct compare_host h[HOSTS_MAX];
		struct compared c;

		for (unsigned k = 0; k < hosts; k++) {
			double own = exp(0.05 * normal());

			for (unsigned m = 0; m < 3; m++) {
				a[k][m] = times_normal();
				b[k][m] = times_normal() * own;
			}
			h[k] = (struct compare_host){{.values = a[k], .blocks = numbers, .n = 3},
				{.values = b[k], .blocks = numbers, .n = 3}, 1};
		}
		compare(h, hosts, &terms, &c);
		called += (unsigned)is_called(&c);
	}
	bench_rate(what, called, EXPERIMENTS, "% false", BENCH_AT_MOST, 5.5);
}

#define LAYOUTS_MAX 8

/* Layouts that are alike, each in every block, compared with the first one or (pairs) with each other; on
 * each of so many hosts, which are told apart. Whether any of the family's comparisons is called. */
struct family {
	const char *what;
	unsigned layouts, hosts, blocks;
	int pairs;
	double until; /* precision that ends it, from five blocks on; 0: so many blocks */
};

/* One more block of each layout. */
static void draw_block(double v[LAYOUTS_MAX][BLOCKS_MAX], unsigned layouts, unsigned block)
{
	double shift = exp(0.05 * normal());

	for (unsigned l = 0; l < layouts; l++)
		v[l][block] = times_normal() * shift;
}

/* Compares all after n blocks; how many there are. */
static unsigned compare_family(const struct family *f, const struct compare_terms *t,
	double v[LAYOUTS_MAX][BLOCKS_MAX], unsigned n, struct compared *ret)
{
	unsigned k = 0;

	for (unsigned i = 0; i < (f->pairs ? f->layouts : 1); i++)
		for (unsigned l = i + 1; l < f->layouts; l++) {
			struct compare_host h = {{.values = v[i], .blocks = numbers, .n = n},
				{.values = v[l], .blocks = numbers, .n = n}, 1};

			compare(&h, 1, t, &ret[k++]);
		}
	return k;
}

/* On one host; whether any is called. */
static int family_on_host(const struct family *f, const struct compare_terms *t)
{
	double v[LAYOUTS_MAX][BLOCKS_MAX];
	struct compared c[LAYOUTS_MAX * LAYOUTS_MAX];
	struct compare_precision p[LAYOUTS_MAX * LAYOUTS_MAX];
	unsigned n = 0, k = 0, any = 0;

	while (n < (f->until > 0 ? BLOCKS_MAX : f->blocks)) {
		draw_block(v, f->layouts, n++);
		if (n < 5 && f->until > 0)
			continue;
		if (f->until <= 0 && n < f->blocks)
			continue;
		k = compare_family(f, t, v, n, c);
		for (unsigned i = 0; i < k; i++)
			p[i] = (struct compare_precision){c[i].se, c[i].df};
		if (f->until > 0 && compare_is_precise(p, k, t->k, f->until))
			break;
	}
	for (unsigned i = 0; i < k; i++)
		any |= (unsigned)is_called(&c[i]);
	return any != 0;
}

static void false_calls_of_family(const struct family *f)
{
	unsigned pairs = f->pairs ? f->layouts * (f->layouts - 1) / 2 : f->layouts - 1;
	const struct compare_terms t = {
		f->until > 0 ? COMPARE_ALPHA_UNTIL : COMPARE_ALPHA, pairs * f->hosts, 0, 0};
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		int any = 0;

		for (unsigned h = 0; h < f->hosts; h++)
			any |= family_on_host(f, &t);
		called += (unsigned)any;
	}
	bench_rate(f->what, called, EXPERIMENTS, "% false", BENCH_AT_MOST, 5.5);
}

static const struct family families[] = {
	{"any of 3 with a baseline, n = 4", 4, 1, 4, 0, 0},
	{"any of 6 pairs of layouts, n = 6", 4, 1, 6, 1, 0},
	{"any of 3 with a baseline on 2 hosts, n = 4", 4, 2, 4, 0, 0},
	/* The spread is 3 %: near the precisions at which looking again and again inflates a pair most. */
	{"any of 3 with a baseline, until: 3%", 4, 1, 0, 0, 0.03},
	{"a pair on 2 hosts, until: 2.5%", 2, 2, 0, 0, 0.025},
};

/* Five values a side, all around 30 s and read in whole seconds, that scatter by so many of these. */
static void false_calls_of_timers(double deviation, const char *what)
{
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		double v[2][5], mean = 30 + uniform();
		struct compare_host h = {{.values = v[0], .n = 5, .resolution = 1},
			{.values = v[1], .n = 5, .resolution = 1}, 0};
		struct compared c;

		for (unsigned k = 0; k < 10; k++)
			v[k / 5][k % 5] = floor(mean + deviation * normal());
		compare(&h, 1, &terms, &c);
		called += (unsigned)is_called(&c);
	}
	bench_rate(what, called, EXPERIMENTS, "% false", BENCH_AT_MOST, 5.5);
}

/* Ten trials told by their mean and range in whole seconds, around so many seconds; the other side too, or
 * (listed) the ten of it each for itself. */
static void false_calls_of_summaries(double mean, int listed, const char *what)
{
	unsigned called = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		struct compare_host h = {.random_blocks = 0};
		struct compare_side *sides[] = {&h.base, &h.subject};
		double v[2][10];
		struct compared c;

		for (unsigned s = 0; s < 2; s++) {
			struct stats d;

			for (unsigned k = 0; k < 10; k++)
				v[s][k] = mean * (1 + 0.03 * normal());
			stats_describe(v[s], 10, &d);
			*sides[s] = (struct compare_side){.summary_only = 1,
				.n = 10,
				.mean = floor(d.mean),
				.min = floor(d.min),
				.max = floor(d.max),
				.resolution = 1};
			if (s && listed)
				*sides[s] = (struct compare_side){.values = v[s], .n = 10};
		}
		compare(&h, 1, &terms, &c);
		called += (unsigned)is_called(&c);
	}
	bench_rate(what, called, EXPERIMENTS, "% false", BENCH_AT_MOST, 5.5);
}

/* From five blocks on until the interval is within T, thirty at most. */
static void false_calls_of_until(double until, const char *what)
{
	const struct compare_terms t = {COMPARE_ALPHA_UNTIL, 1, 0, 0};
	unsigned called = 0, blocks = 0, experiments = EXPERIMENTS;
	double a[BLOCKS_MAX], b[BLOCKS_MAX];

	for (unsigned i = 0; i < experiments; i++) {
		struct compared c = {.d = 0};
		unsigned n = 0;

		while (n < BLOCKS_MAX) {
			struct compare_host h = {{.values = a, .blocks = numbers},
				{.values = b, .blocks = numbers}, 1};
			struct compare_precision p;

			a[n] = times_normal();
			b[n++] = times_normal();
			if (n < 5)
				continue;
			h.base.n = h.subject.n = n;
			compare(&h, 1, &t, &c);
			p = (struct compare_precision){c.se, c.df};
			if (compare_is_precise(&p, 1, 1, until))
				break;
		}
		called += (unsigned)is_called(&c);
		blocks += n;
	}
	bench_rate(what, called, experiments, "% false", BENCH_AT_MOST, 5.5);
	bench_one("    blocks that took", (double)blocks / experiments, "blocks", BENCH_SHOWN, 0);
}

/* How often the interval of pairs covers a true ratio of 1.2. */
static void coverage(shape times, unsigned n, const char *what, double at_least)
{
	double a[BLOCKS_MAX], b[BLOCKS_MAX];
	unsigned covered = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		struct compare_host h = {{.values = a, .blocks = numbers, .n = n},
			{.values = b, .blocks = numbers, .n = n}, 1};
		struct compared c;

		for (unsigned k = 0; k < n; k++) {
			a[k] = times();
			b[k] = 1.2 * times();
		}
		compare(&h, 1, &terms, &c);
		covered += c.lo <= log(1.2) && log(1.2) <= c.hi;
	}
	bench_rate(what, covered, EXPERIMENTS, "% covered",
		at_least > 0 ? BENCH_AT_LEAST : BENCH_SHOWN, at_least);
	if (at_least > 0)
		bench_rate("    no wider than it must be", covered, EXPERIMENTS, "% covered",
			BENCH_AT_MOST, 100 - (100 - at_least) * 2 / 3);
}

/* How often the mean's own interval covers it: printed beside every mean, promised for none. */
static void mean_coverage(shape times, double truth, unsigned n, const char *what)
{
	double v[BLOCKS_MAX];
	unsigned covered = 0;

	for (unsigned i = 0; i < EXPERIMENTS; i++) {
		struct stats d;

		for (unsigned k = 0; k < n; k++)
			v[k] = times();
		stats_describe(v, n, &d);
		covered += d.ci95[0] <= truth && truth <= d.ci95[1];
	}
	bench_rate(what, covered, EXPERIMENTS, "% covered", BENCH_SHOWN, 0);
}

static void false_outliers(size_t hosts, unsigned experiments, const char *what)
{
	double *v = calloc(hosts, sizeof(*v));
	size_t *out = calloc(hosts, sizeof(*out));
	unsigned called = 0;

	if (!v || !out)
		bench_die("out of memory", NULL);
	for (unsigned i = 0; i < experiments; i++) {
		for (size_t k = 0; k < hosts; k++)
			v[k] = 0.05 * normal();
		called += outliers_hosts(v, hosts, 0, out, NULL) > 0;
	}
	bench_rate(what, called, experiments, "% false", BENCH_AT_MOST, 5.7);
	free(v);
	free(out);
}

/* One host of 40 that is slower by so many of the others' deviations: is it named, and is anybody
 * else? */
static void true_outlier(double deviations, const char *what)
{
	unsigned found = 0, others = 0, experiments = EXPERIMENTS / 4;
	size_t out[40];
	double v[40];

	for (unsigned i = 0; i < experiments; i++) {
		size_t n;
		int other = 0;

		for (size_t k = 0; k < 40; k++)
			v[k] = normal() + (k == 7 ? deviations : 0);
		n = outliers_hosts(v, 40, 0, out, NULL);
		for (size_t k = 0; k < n; k++) {
			found += out[k] == 7;
			other |= out[k] != 7;
		}
		others += (unsigned)other;
	}
	bench_rate(what, found, experiments, "% found", BENCH_SHOWN, 0);
	bench_rate("    somebody else beside it", others, experiments, "% false", BENCH_AT_MOST, 6);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(designs) / sizeof(designs[0]); i++)
		false_calls(&designs[i]);
	false_calls_taken_apart(2, "not done: two pairs of six taken apart");
	false_calls_taken_apart(3, "not done: no pair of six taken apart");
	false_calls_of_hosts(3, "3 hosts, 3 blocks each");
	false_calls_of_hosts(5, "5 hosts, 3 blocks each");
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		false_calls_of_family(&families[i]);
	false_calls_of_timers(0.1, "whole seconds that hardly ever differ");
	false_calls_of_timers(0.5, "whole seconds that often differ");
	false_calls_of_summaries(30, 0, "summaries of 10, whole seconds, around 30 s");
	false_calls_of_summaries(300, 0, "summaries of 10, whole seconds, around 300 s");
	false_calls_of_summaries(300, 1, "a summary of 10 and a list of 10, around 300 s");
	/* Spread 3 %: of all precisions asked for, 2 % stops where it inflates most. */
	false_calls_of_until(0.02, "until: 2%, pairs, normal");
	false_calls_of_until(0.03, "until: 3%, pairs, normal");
	false_calls_of_until(0.05, "until: 5%, pairs, normal");
	coverage(times_lognormal, 4, "ratio, n = 4, lognormal", 94);
	coverage(times_lognormal, 10, "ratio, n = 10, lognormal", 94);
	coverage(times_bimodal, 4, "ratio, n = 4, bimodal", 0);
	mean_coverage(times_lognormal, exp(0.045), 3, "mean, n = 3, lognormal, sigma 0.3");
	mean_coverage(times_skewed, exp(0.5), 3, "mean, n = 3, lognormal, sigma 1");
	mean_coverage(times_bimodal, 103, 3, "mean, n = 3, bimodal");
	false_outliers(5, EXPERIMENTS, "a host that stands out among 5 alike");
	false_outliers(40, EXPERIMENTS, "a host that stands out among 40 alike");
	false_outliers(100, EXPERIMENTS / 2, "a host that stands out among 100 alike");
	true_outlier(4, "one of 40 that is 4 deviations off");
	true_outlier(6, "one of 40 that is 6 deviations off");
	return 0;
}
