/*
 * How many samples a second the store makes durable, in-process, from 100 streams: batches are
 * decoded on the loop as the coordinator does it, and each stream has at most two unacknowledged.
 * Usage: bench_store [FOLDER]   prints "name value unit" lines.
 */
#include "common/measure/hist.h"
#include "tests/unit/store_kit.h"

#define STREAMS 100
#define IN_FLIGHT 2
#define PAYLOAD_BYTES (400ull * 1000 * 1000) /* for each size of sample */

struct bench {
	struct kit kit;
	struct stream_state *streams;
	char *batch;
	size_t batch_len;
	uint32_t batch_records;
	uint64_t batches_each;
	int running;
	int64_t *waits; /* submit to durable, one per batch */
	size_t n_waits;
};
struct stream_state {
	struct bench *bench;
	char host[16];
	struct job_key key;
	uint64_t sent; /* batches */
	uint64_t acked;
	int64_t at[IN_FLIGHT];
};

static void send_batch(struct stream_state *s);

static void on_ack(void *arg, const struct append_result *r, const struct err *e)
{
	struct stream_state *s = arg;
	struct bench *b = s->bench;

	if (e || r->what != APPEND_ACK)
		kit_fail(e ? e->text : r->text, NULL);
	b->waits[b->n_waits++] = clock_mono_ns() - s->at[s->acked++ % IN_FLIGHT];
	if (s->sent < b->batches_each)
		send_batch(s);
	else if (s->acked == b->batches_each)
		b->running--;
}

static void send_batch(struct stream_state *s)
{
	struct bench *b = s->bench;
	struct msg_batch m = {.epoch = xstrdup(store_epoch(b->kit.store)),
		.key = s->key,
		.first = s->sent * b->batch_records + 1,
		.last = (s->sent + 1) * b->batch_records,
		.payload = xmemdup(b->batch, b->batch_len),
		.payload_len = b->batch_len};
	struct records r = {0};
	struct err e;

	s->at[s->sent++ % IN_FLIGHT] = clock_mono_ns();
	if (records_decode(m.payload, m.payload_len, &r, &e) != 0)
		kit_fail("decode", &e);
	store_append(b->kit.store, s->host, &m, &r, on_ack, s);
}

static void on_run(void *arg, uint64_t run, const uint64_t *jobs, const struct err *e)
{
	struct bench *b = arg;

	if (e)
		kit_fail("run", e);
	for (size_t i = 0; i < STREAMS; i++)
		b->streams[i].key = (struct job_key){run, jobs[i], 1};
	b->running = STREAMS;
}

static void on_begun(void *arg, const struct err *e)
{
	struct bench *b = arg;

	if (e)
		kit_fail("begin", e);
	b->running++;
}

static void make_jobs(struct bench *b)
{
	struct new_job jobs[STREAMS] = {0};
	struct new_run r = {.name = "bench",
		.plan_text = "bench",
		.plan_sha256 = "0",
		.design_json = KIT_DESIGN,
		.blocks = 1,
		.units = 2,
		.jobs = jobs,
		.n_jobs = STREAMS};

	b->streams = xcalloc(STREAMS, sizeof(*b->streams));
	for (size_t i = 0; i < STREAMS; i++) {
		b->streams[i].bench = b;
		snprintf(b->streams[i].host, sizeof(b->streams[i].host), "node%zu", i);
		jobs[i] = (struct new_job){b->streams[i].host, "abcdef", NULL, 0};
	}
	b->running = 0;
	store_run_create(b->kit.store, &r, on_run, b);
	kit_wait(&b->kit, &b->running, STREAMS);
	b->running = 0;
	for (size_t i = 0; i < STREAMS; i++)
		store_attempt_begin(b->kit.store, &b->streams[i].key, on_begun, b);
	kit_wait(&b->kit, &b->running, STREAMS);
}

/* A batch of samples whose records take about `bytes` each. */
static void make_batch(struct bench *b, size_t bytes, uint32_t records)
{
	struct record sample = rec_sample(1, 0);
	struct hist *h = xcalloc(1, sizeof(*h));
	struct buf one = {0}, encoded = {0}, all = {0};

	sample.u.sample.tele = (struct telemetry){123456789, 987654321, 1234, 5678, 900000000, 10,
		300000000, 200000000, 1500000000, 1000000, 8ull << 30, 4ull << 30, 2ull << 30};
	for (uint64_t ns = 20000; one.len < bytes; ns += ns / 60) {
		hist_add_n(h, ns, 1 + ns % 97);
		buf_reset(&encoded);
		buf_reset(&one);
		hist_encode(h, &encoded);
		sample.u.sample.hist = encoded.data;
		sample.u.sample.hist_len = encoded.len;
		record_encode(&sample, &one);
	}
	for (uint32_t i = 0; i < records; i++)
		buf_add(&all, one.data, one.len);
	b->batch_len = all.len;
	b->batch = buf_take(&all);
	b->batch_records = records;
	buf_free(&one);
	buf_free(&encoded);
	free(h);
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void run(const char *folder, const char *name, size_t bytes, uint32_t records)
{
	struct bench b = {0};
	struct timeval tick = {3600, 0};
	struct event *keep;
	int64_t began, took;
	double samples;

	kit_new(&b.kit, folder);
	make_batch(&b, bytes, records);
	make_jobs(&b);
	b.batches_each = PAYLOAD_BYTES / b.batch_len / STREAMS;
	b.waits = xcalloc(b.batches_each * STREAMS, sizeof(*b.waits));
	keep = evtimer_new(b.kit.base, kit_too_late, NULL);
	evtimer_add(keep, &tick);
	began = clock_mono_ns();
	b.running = STREAMS;
	for (int k = 0; k < IN_FLIGHT; k++)
		for (size_t i = 0; i < STREAMS; i++)
			send_batch(&b.streams[i]);
	while (b.running)
		event_base_loop(b.kit.base, EVLOOP_ONCE);
	took = clock_mono_ns() - began;
	samples = (double)(b.batches_each * STREAMS * records);
	qsort(b.waits, b.n_waits, sizeof(*b.waits), by_value);
	printf("store_%s_samples_per_s %.0f samples/s\n", name, samples / (double)took * 1e9);
	printf("store_%s_bytes_per_s %.0f B/s\n", name,
		(double)b.batch_len * (double)b.n_waits / (double)took * 1e9);
	printf("store_%s_sample_bytes %.0f B\n", name, (double)b.batch_len / records);
	printf("store_%s_ack_p50 %.1f ms\n", name, (double)b.waits[b.n_waits / 2] / 1e6);
	printf("store_%s_ack_p99 %.1f ms\n", name, (double)b.waits[b.n_waits * 99 / 100] / 1e6);
	event_free(keep);
	kit_free(&b.kit);
	free(b.streams);
	free(b.batch);
	free(b.waits);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/tmp";

	run(folder, "200B", 200, 100);
	run(folder, "800B", 800, 100);
	return 0;
}
