/*
 * What the benches share: series of figures, their rows, CPU time of processes, and the one way to
 * give up. A bench measures and prints; it judges nothing but "met" or "not met" beside a target.
 *
 * A row is: what, median, unit, (min … max, count), target, met or not met.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <dirent.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "common/base/err.h"

#define BENCH_SERIES_MAX 256

struct bench_series {
	double v[BENCH_SERIES_MAX];
	unsigned n;
};
enum bench_goal { BENCH_SHOWN, BENCH_AT_LEAST, BENCH_AT_MOST };

static inline _Noreturn void bench_die(const char *what, const struct err *e)
{
	fprintf(stderr, "bench: %s%s%s\n", what, e ? ": " : "", e ? e->text : "");
	exit(1);
}

static inline void bench_add(struct bench_series *s, double v)
{
	if (s->n < BENCH_SERIES_MAX)
		s->v[s->n++] = v;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the series. */
static inline double bench_median(struct bench_series *s)
{
	if (!s->n)
		return 0;
	qsort(s->v, s->n, sizeof(s->v[0]), bench_compare);
	return s->n % 2 ? s->v[s->n / 2] : (s->v[s->n / 2 - 1] + s->v[s->n / 2]) / 2;
}

static inline const char *bench_figure(double v, char out[32])
{
	snprintf(out, 32, "%.*f", v >= 1000 ? 0 : v >= 100 ? 1 : v >= 10 ? 2 : 3, v);
	return out;
}

static inline void bench_print(const char *what, double v, const char *unit, const char *spread,
	enum bench_goal goal, double target)
{
	int met = goal == BENCH_AT_LEAST ? v >= target : v <= target;
	char a[32], b[32];

	printf("%-48s %9s %-10s %-32s", what, bench_figure(v, a), unit, spread);
	if (goal != BENCH_SHOWN)
		printf("%s %s: %s", goal == BENCH_AT_LEAST ? ">=" : "<=", bench_figure(target, b),
			met ? "met" : "NOT MET");
	printf("\n");
	fflush(stdout);
}

static inline void bench_row(const char *what, struct bench_series *s, const char *unit,
	enum bench_goal goal, double target)
{
	double median = bench_median(s);
	char a[32], b[32], spread[96] = "";

	if (s->n > 1)
		snprintf(spread, sizeof(spread), "(%s … %s, n=%u)", bench_figure(s->v[0], a),
			bench_figure(s->v[s->n - 1], b), s->n);
	bench_print(what, median, unit, spread, goal, target);
}

/* A row of one figure. */
static inline void bench_one(const char *what, double v, const char *unit, enum bench_goal goal,
	double target)
{
	struct bench_series s = {.v = {v}, .n = 1};

	bench_row(what, &s, unit, goal, target);
}

/* A row of how often something came out in so many experiments, in percent, with twice the standard error of
 * that number: what 95 % of such benches would not differ from the true rate by. */
static inline void bench_rate(const char *what, unsigned count, unsigned experiments, const char *unit,
	enum bench_goal goal, double target)
{
	double p = (double)count / experiments;
	char spread[64];

	snprintf(spread, sizeof(spread), "(± %.2f, n=%u)", 200 * sqrt(p * (1 - p) / experiments), experiments);
	bench_print(what, 100 * p, unit, spread, goal, target);
}

/* xorshift64: for orders and contents that need no more. */
static inline uint64_t bench_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline uint64_t bench_task_ns(pid_t pid, const char *task)
{
	char path[320];
	unsigned long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, task);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

/* Nanoseconds on a CPU so far, of all threads that live. */
static inline uint64_t bench_cpu_ns(pid_t pid)
{
	char path[64];
	uint64_t ns = 0;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			ns += bench_task_ns(pid, d->d_name);
	closedir(dir);
	return ns;
}

#endif
