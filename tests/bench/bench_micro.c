/*
 * Inner loops on one core: the generator of stream data, adding to a histogram, and an interval's
 * counters. The clock is
 * the thread's CPU time, so that other work on the machine counts less.
 */
#include <stdlib.h>
#include <time.h>

#include "agent/telemetry/gather.h"
#include "agent/workload/datagen.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/measure/hist.h"
#include "tests/bench/bench.h"

#define ROUNDS 15
#define BLOCK (1024 * 1024)
#define BLOCKS 512
#define ADDS 4000000
#define LATENCIES 65536

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static double generate_gb_per_s(const struct datagen *g, char *block)
{
	int64_t begin = cpu_ns();

	for (uint64_t i = 0; i < BLOCKS; i++)
		datagen_fill(g, 0, i * BLOCK, block, BLOCK);
	return (double)BLOCKS * BLOCK / (double)(cpu_ns() - begin);
}

/* Into one block, as a stream does: the cache of the core that fills it takes it. */
static void bench_generator(void)
{
	static const struct {
		const char *what;
		struct datagen gen;
		enum bench_goal goal;
	} rows[] = {
		{"generator, random data", {DATA_RANDOM, 0, 1}, BENCH_AT_LEAST},
		{"generator, compressible by 50%", {DATA_COMPRESSIBLE, 50, 1}, BENCH_SHOWN},
	};
	char *block = xmalloc(BLOCK);

	memset(block, 1, BLOCK);
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		struct bench_series s = {.n = 0};

		for (unsigned i = 0; i < ROUNDS; i++)
			bench_add(&s, generate_gb_per_s(&rows[r].gen, block));
		bench_row(rows[r].what, &s, "GB/s/core", rows[r].goal, 8);
	}
	free(block);
}

/* Latencies around 50 us with a tail, drawn beforehand. */
static void bench_hist(void)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	uint64_t *ns = xcalloc(LATENCIES, sizeof(*ns)), state = 88172645463325252ULL;
	struct bench_series s = {.n = 0};

	for (unsigned i = 0; i < LATENCIES; i++) {
		ns[i] = 40000 + (bench_random(&state) >> 50);
		if (ns[i] % 64 == 0)
			ns[i] <<= 7;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		int64_t begin = cpu_ns();

		for (unsigned i = 0; i < ADDS; i++)
			hist_add(h, ns[i % LATENCIES]);
		bench_add(&s, (double)(cpu_ns() - begin) / ADDS);
	}
	bench_row("one latency into a histogram", &s, "ns", BENCH_AT_MOST, 15);
	free(ns);
	free(h);
}

/* What the monitor does for a sample on a volume of many disks, without sending it: half a percent of
 * a core is 5 ms in an interval of a second. */
static void bench_usage(void)
{
	struct bench_series s = {.n = 0};
	struct strv disks = {0};
	struct telemetry tele;
	struct buf usage = {0};
	struct gather *g;
	char name[16], row[64];
	struct err e;

	for (unsigned i = 0; i < 64; i++) {
		snprintf(name, sizeof(name), "loop%u", i);
		strv_add(&disks, name);
	}
	if (gather_open("", &disks, NULL, &g, &e) || gather_start(g, &e)) {
		printf("counters of disks: %s\n", e.text);
		strv_free(&disks);
		return;
	}
	for (unsigned i = 0; i < 20 * ROUNDS; i++) {
		int64_t begin = cpu_ns();

		buf_reset(&usage);
		gather_sample(g, &tele, &usage);
		bench_add(&s, (double)(cpu_ns() - begin) / 1000);
	}
	snprintf(row, sizeof(row), "one interval's counters, %u disks", tele.disks);
	bench_row(row, &s, "us", BENCH_AT_MOST, 5000);
	gather_free(g);
	buf_free(&usage);
	strv_free(&disks);
}

int main(void)
{
	bench_generator();
	bench_hist();
	bench_usage();
	return 0;
}
