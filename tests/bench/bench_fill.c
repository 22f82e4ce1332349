/*
 * Fills the store of a coordinator that is not running with one run of many samples, through the
 * store's own functions, and waits until each trial has its series.
 * Usage: bench_fill STORE SAMPLES [HOSTS]   4 layouts x 10 blocks, a trial each, on each host (1).
 */
#include <sqlite3.h>

#include "common/measure/hist.h"
#include "tests/bench/bench.h"
#include "tests/unit/store_kit.h"

#define LAYOUTS 4
#define BLOCKS 10
#define HOSTS_MAX 1000
#define BATCH 4000    /* records */
#define IN_FLIGHT 4   /* batches */
#define SERIES_S 300

/* The numbers of a run's jobs, as the store gave them. */
struct numbers {
	int done;
	uint64_t run, jobs[HOSTS_MAX];
	size_t n;
};

static void on_run(void *arg, uint64_t run, const uint64_t *jobs, const struct err *e)
{
	struct numbers *to = arg;

	if (e)
		kit_fail("run", e);
	to->run = run;
	memcpy(to->jobs, jobs, to->n * sizeof(*jobs));
	to->done = 1;
}

static void make_run(struct kit *k, struct numbers *ret)
{
	static struct new_job jobs[HOSTS_MAX];
	struct new_run r = {.name = "many-samples",
		.plan_text = "name: many-samples\n",
		.plan_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		.design_json = "{\"design\":\"random-blocks\",\"layouts\":[\"raidz2-8\",\"raidz2-10\","
			       "\"raid6\",\"mirror\"],\"workloads\":[{\"name\":\"write\",\"op\":\"write\"}"
			       "],\"baseline\":0,\"margin\":0.02,\"cache\":\"cold\",\"repeat\":1}",
		.user = "bench",
		.seed = 1,
		.blocks = BLOCKS,
		.units = BLOCKS * LAYOUTS,
		.jobs = jobs,
		.n_jobs = ret->n};

	for (size_t i = 0; i < ret->n; i++)
		jobs[i] = (struct new_job){xasprintf("node%zu", i + 1), xasprintf("a%zu", i), NULL, 0};
	store_run_create(k->store, &r, on_run, ret);
	kit_wait(k, &ret->done, 1);
	for (size_t i = 0; i < ret->n; i++) {
		free(jobs[i].host);
		free(jobs[i].job_tag);
	}
}

struct filler {
	struct kit k;
	struct job_key key;
	char host[32];
	struct record batch[BATCH];
	size_t n;
	uint64_t next; /* record */
	struct kit_answer acks[IN_FLIGHT];
	unsigned sent;
	char *hist;
	size_t hist_len;
	uint64_t state;
};

static void settle(struct filler *f, struct kit_answer *a)
{
	kit_wait(&f->k, &a->done, 1);
	if (a->failed || a->append.what != APPEND_ACK)
		kit_fail(a->failed ? a->err.text : a->append.text, NULL);
}

static void flush(struct filler *f)
{
	struct kit_answer *a = &f->acks[f->sent % IN_FLIGHT];

	if (!f->n)
		return;
	if (f->sent >= IN_FLIGHT)
		settle(f, a);
	memset(a, 0, sizeof(*a));
	kit_send(&f->k, f->host, &f->key, f->next, f->batch, f->n, NULL, a);
	f->next += f->n;
	f->sent++;
	f->n = 0;
}

static void add(struct filler *f, struct record r)
{
	f->batch[f->n++] = r;
	if (f->n == BATCH)
		flush(f);
}

static void fill_trial(struct filler *f, uint32_t trial, uint32_t block, uint32_t layout, uint32_t samples)
{
	struct record end = rec_trial_end(trial, block, layout, 0, samples);

	add(f, rec_unit_start(block, layout));
	add(f, rec_volume(block, layout));
	add(f, rec_trial_start(trial, block, layout, 0));
	for (uint32_t i = 0; i < samples; i++) {
		struct record s = rec_sample(trial, (int)i);

		s.u.sample.bytes = (400u << 20) + bench_random(&f->state) % (50u << 20);
		s.u.sample.hist = f->hist;
		s.u.sample.hist_len = f->hist_len;
		add(f, s);
	}
	end.u.trial_end.started_wall_ns += (int64_t)trial * samples * NS_PER_S;
	end.u.trial_end.elapsed_ns = (int64_t)samples * NS_PER_S +
				     (int64_t)(bench_random(&f->state) % (uint64_t)NS_PER_S);
	end.u.trial_end.bytes = (uint64_t)samples * (425u << 20);
	end.u.trial_end.hist = f->hist;
	end.u.trial_end.hist_len = f->hist_len;
	add(f, end);
	add(f, rec_unit_end(block, layout, 1));
}

static int64_t series_missing_of(const char *path)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *db;
	int64_t n = -1;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		sqlite3_prepare_v2(db,
			"SELECT (SELECT count(*) FROM trials) - (SELECT count(*) FROM series)", -1, &s,
			NULL) == SQLITE_OK &&
		sqlite3_step(s) == SQLITE_ROW)
		n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

static void wait_for_series(struct filler *f)
{
	struct timeval second = {1, 0};

	for (int i = 0; i < SERIES_S && series_missing_of(f->k.path); i++) {
		event_base_loopexit(f->k.base, &second);
		event_base_loop(f->k.base, EVLOOP_NO_EXIT_ON_EMPTY);
	}
	if (series_missing_of(f->k.path))
		bench_die("the series are not made", NULL);
}

static void make_hist(struct filler *f)
{
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf bytes = {0};

	for (int i = 0; i < 6; i++)
		hist_add_n(h, 500000 + (uint64_t)i * 60000, 2);
	hist_encode(h, &bytes);
	f->hist_len = bytes.len;
	f->hist = buf_take(&bytes);
	free(h);
}

static void fill_host(struct filler *f, uint32_t samples)
{
	struct kit_answer begun = kit_begin(&f->k, &f->key);
	uint32_t trial = 0;

	if (begun.failed)
		kit_fail("begin", &begun.err);
	f->next = 1;
	f->sent = 0;
	add(f, rec_start());
	for (uint32_t b = 1; b <= BLOCKS; b++)
		for (uint32_t l = 0; l < LAYOUTS; l++)
			fill_trial(f, ++trial, b, l, samples);
	add(f, rec_attempt_end(ATTEMPT_DONE));
	flush(f);
	for (unsigned i = 0; i < IN_FLIGHT && i < f->sent; i++)
		settle(f, &f->acks[i]);
	kit_state(&f->k, f->key.job, JOB_DONE);
}

static void fill(struct filler *f, uint32_t samples, size_t hosts)
{
	static struct numbers numbers;

	numbers.n = hosts;
	make_run(&f->k, &numbers);
	for (size_t i = 0; i < hosts; i++) {
		f->key = (struct job_key){numbers.run, numbers.jobs[i], 1};
		snprintf(f->host, sizeof(f->host), "node%zu", i + 1);
		fill_host(f, samples);
	}
}

int main(int argc, char **argv)
{
	struct filler *f = xcalloc(1, sizeof(*f));
	int64_t began = clock_mono_ns();
	long samples = argc >= 3 ? strtol(argv[2], NULL, 10) : 0;
	long hosts = argc == 4 ? strtol(argv[3], NULL, 10) : 1;

	if (hosts < 1 || hosts > HOSTS_MAX || samples < hosts * LAYOUTS * BLOCKS ||
		strlen(argv[1]) >= sizeof(f->k.path))
		bench_die("usage: bench_fill STORE SAMPLES [HOSTS]", NULL);
	snprintf(f->k.path, sizeof(f->k.path), "%s", argv[1]);
	f->state = 88172645463325252u;
	make_hist(f);
	kit_open(&f->k);
	fill(f, (uint32_t)(samples / hosts / (LAYOUTS * BLOCKS)), (size_t)hosts);
	bench_one("samples into the store, in one process",
		(double)samples / ((double)(clock_mono_ns() - began) / 1e9), "samples/s", BENCH_SHOWN, 0);
	wait_for_series(f);
	kit_close(&f->k);
	free(f->hist);
	free(f);
	return 0;
}
