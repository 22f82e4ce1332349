/*
 * A real store in a folder of its own, its event loop, and batches as an agent would make them:
 * what the tests and the bench of the store share.
 */
#ifndef TESTS_UNIT_STORE_KIT_H
#define TESTS_UNIT_STORE_KIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "coordinator/store/store.h"

#define KIT_DEADLINE_S 60
#define KIT_DESIGN                                                                                 \
	"{\"design\":\"random-blocks\",\"layouts\":[\"hba8\",\"hba10\"],"                          \
	"\"workloads\":[{\"name\":\"write\",\"op\":\"write\"},{\"name\":\"read\",\"op\":\"read\"}" \
	"],"                                                                                       \
	"\"baseline\":0,\"margin\":0.02,\"cache\":\"cold\",\"repeat\":1}"

struct kit {
	char dir[64], path[96];
	struct event_base *base;
	struct store *store;
};

/* What a callback said. */
struct kit_answer {
	int done, failed;
	struct err err;
	struct append_result append;
	uint64_t run, jobs[4];
	struct token_use use;
	char cert[64];
	struct strv serials;
};

static inline void kit_fail(const char *what, const struct err *e)
{
	fprintf(stderr, "kit: %s: %s\n", what, e ? e->text : "");
	abort();
}

static inline void kit_open(struct kit *k)
{
	struct err e = {0};

	k->base = event_base_new();
	if (!k->base || store_open(k->path, k->base, &k->store, &e) != 0)
		kit_fail("open", &e);
}

static inline void kit_close(struct kit *k)
{
	store_close(k->store);
	k->store = NULL;
	event_base_free(k->base);
	k->base = NULL;
}

/* parent: folder that exists. */
static inline void kit_new(struct kit *k, const char *parent)
{
	struct err e = {0};

	memset(k, 0, sizeof(*k));
	snprintf(k->dir, sizeof(k->dir), "%s/am-store-XXXXXX", parent);
	if (!mkdtemp(k->dir))
		kit_fail(k->dir, NULL);
	snprintf(k->path, sizeof(k->path), "%s/store.db", k->dir);
	if (store_create(k->path, &e) != 0)
		kit_fail("create", &e);
	kit_open(k);
}

static inline void kit_free(struct kit *k)
{
	struct err e;

	if (k->store)
		kit_close(k);
	fs_remove_tree(k->dir, &e);
}

static inline void kit_too_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	kit_fail("nothing happened before the deadline", NULL);
}

/* Runs the loop until *flag is at least n. */
static inline void kit_wait(struct kit *k, const int *flag, int n)
{
	struct timeval limit = {KIT_DEADLINE_S, 0};
	struct event *timer = evtimer_new(k->base, kit_too_late, NULL);

	evtimer_add(timer, &limit);
	while (*flag < n)
		event_base_loop(k->base, EVLOOP_ONCE);
	event_free(timer);
}

static inline void kit_note(struct kit_answer *a, const struct err *e)
{
	a->done++;
	a->failed = e != NULL;
	if (e)
		err_copy(&a->err, e);
}

static inline void kit_done(void *arg, const struct err *e)
{
	kit_note(arg, e);
}

static inline void kit_append_done(void *arg, const struct append_result *r, const struct err *e)
{
	struct kit_answer *a = arg;

	a->append = *r;
	kit_note(a, e);
}

static inline void kit_run_done(void *arg, uint64_t run, const uint64_t *jobs, const struct err *e)
{
	struct kit_answer *a = arg;

	a->run = run;
	for (size_t i = 0; jobs && i < 2; i++)
		a->jobs[i] = jobs[i];
	kit_note(a, e);
}

static inline void kit_token_done(void *arg, const struct token_use *u, const struct err *e)
{
	struct kit_answer *a = arg;

	if (u) {
		a->use = *u;
		snprintf(a->cert, sizeof(a->cert), "%s", u->cert_pem ? u->cert_pem : "");
		a->use.cert_pem = NULL;
	}
	kit_note(a, e);
}

static inline void kit_revoke_done(void *arg, const struct strv *serials, const struct err *e)
{
	struct kit_answer *a = arg;

	if (serials)
		strv_copy(&a->serials, serials);
	kit_note(a, e);
}

/* A run "demo" with one job on each of knew and kold: 2 blocks, 2 layouts, 2 workloads. */
static inline struct kit_answer kit_run(struct kit *k)
{
	static char *ids[] = {"serial:A1", "wwn:0x50", NULL};
	struct bound_disks disks = {0, "data", 0, {ids, 2, 0}};
	struct new_job jobs[2] = {{"knew", "a1b2c3", &disks, 1}, {"kold", "d4e5f6", NULL, 0}};
	struct new_run r = {.name = "demo",
		.plan_text = "name: demo\n",
		.plan_sha256 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		.design_json = KIT_DESIGN,
		.user = "ann",
		.seed = 0xfedcba9876543210u,
		.blocks = 2,
		.units = 4,
		.jobs = jobs,
		.n_jobs = 2};
	struct kit_answer a = {0};

	store_run_create(k->store, &r, kit_run_done, &a);
	kit_wait(k, &a.done, 1);
	if (a.failed)
		kit_fail("run", &a.err);
	return a;
}

static inline struct kit_answer kit_begin(struct kit *k, const struct job_key *key)
{
	struct kit_answer a = {0};

	store_attempt_begin(k->store, key, kit_done, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

static inline struct kit_answer kit_state(struct kit *k, uint64_t job, enum job_state state)
{
	struct kit_answer a = {0};

	store_job_state(k->store, job, state, "because", kit_done, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

/* The first job of a new run, with its first attempt begun. */
static inline struct job_key kit_job(struct kit *k)
{
	struct kit_answer a = kit_run(k), begun;
	struct job_key key = {a.run, a.jobs[0], 1};

	begun = kit_begin(k, &key);
	if (begun.failed)
		kit_fail("begin", &begun.err);
	return key;
}

/* Queues a batch; the payload is decoded as the coordinator's edge does it. */
static inline void kit_send(struct kit *k, const char *host, const struct job_key *key,
	uint64_t first, const struct record *v, size_t n, const char *epoch, struct kit_answer *a)
{
	struct msg_batch b = {.epoch = xstrdup(epoch ? epoch : store_epoch(k->store)),
		.key = *key,
		.first = first,
		.last = first + n - 1};
	struct records r = {0};
	struct buf payload = {0};
	struct err e;

	for (size_t i = 0; i < n; i++)
		record_encode(&v[i], &payload);
	b.payload_len = payload.len;
	b.payload = buf_take(&payload);
	if (records_decode(b.payload, b.payload_len, &r, &e) != 0)
		kit_fail("decode", &e);
	store_append(k->store, host, &b, &r, kit_append_done, a);
}

static inline struct kit_answer kit_append(struct kit *k, const char *host,
	const struct job_key *key, uint64_t first, const struct record *v, size_t n)
{
	struct kit_answer a = {0};

	kit_send(k, host, key, first, v, n, NULL, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

/* Records first..last are reported as lost. */
static inline struct kit_answer kit_append_lost(
	struct kit *k, const char *host, const struct job_key *key, uint64_t first, uint64_t last)
{
	struct msg_batch b = {.epoch = xstrdup(store_epoch(k->store)),
		.key = *key,
		.first = first,
		.last = last,
		.lost = 1};
	struct records r = {0};
	struct kit_answer a = {0};

	store_append(k->store, host, &b, &r, kit_append_done, &a);
	kit_wait(k, &a.done, 1);
	return a;
}

static inline struct record rec_start(void)
{
	struct record r = {.type = RECORD_ATTEMPT_START, .wall_ns = 1000};

	r.u.attempt_start.agent_version = "0.1.0";
	r.u.attempt_start.job_tag = "a1b2c3"; /* knew's job of kit_run */
	r.u.attempt_start.environment = (struct inventory){.host = "knew",
		.os = "Debian 12",
		.kernel = "6.1",
		.arch = "x86_64",
		.cpu = "Xeon",
		.zfs = "OpenZFS 2.2.2",
		.agent_version = "0.1.0",
		.cpus = 8,
		.ram_bytes = 64ull << 30};
	return r;
}

static inline struct record rec_unit_start(uint32_t block, uint32_t layout)
{
	struct record r = {.type = RECORD_UNIT_START, .wall_ns = 2000};

	r.u.unit_start = (struct record_unit_start){{block, layout}, layout + 1};
	return r;
}

static inline struct record rec_unit_end(uint32_t block, uint32_t layout, int ok)
{
	struct record r = {.type = RECORD_UNIT_END, .wall_ns = 9000};

	r.u.unit_end = (struct record_unit_end){{block, layout}, ok, ok ? "" : "no space left"};
	return r;
}

static inline struct record rec_step(uint32_t block, uint32_t layout, char **argv, size_t n)
{
	struct record r = {.type = RECORD_STEP, .wall_ns = 3000};

	r.u.step = (struct record_step){{block, layout}, PHASE_BUILD, "create the pool",
		{argv, n, 0}, 1500000, 1, "done\n"};
	return r;
}

static inline struct record rec_volume(uint32_t block, uint32_t layout)
{
	struct record r = {.type = RECORD_VOLUME_READY, .wall_ns = 4000};

	r.u.volume_ready = (struct record_volume_ready){
		{block, layout}, "/run/arraymark/x", "zfs guid 1", "zfs", 1ull << 40};
	return r;
}

static inline struct record rec_trial_start(
	uint32_t trial, uint32_t block, uint32_t layout, uint32_t workload)
{
	struct record r = {.type = RECORD_TRIAL_START, .wall_ns = 5000};

	r.u.trial_start = (struct record_trial_start){
		trial, {block, layout}, workload, 1, "cold: export/import", 1 << 20};
	return r;
}

/* One second long, starting at second i. */
static inline struct record rec_sample(uint32_t trial, int i)
{
	struct record r = {.type = RECORD_SAMPLE, .wall_ns = 6000};

	r.u.sample = (struct sample){.trial = trial,
		.start_ns = i * 1000000000ll,
		.end_ns = (i + 1) * 1000000000ll,
		.ops = 10,
		.bytes = 1000,
		.tele = {.disk_write_bytes = 1250, .disks = 8, .cpu_user_ns = 5}};
	return r;
}

static inline struct record rec_trial_end(
	uint32_t trial, uint32_t block, uint32_t layout, uint32_t workload, uint32_t samples)
{
	struct record r = {.type = RECORD_TRIAL_END, .wall_ns = 7000};

	r.u.trial_end = (struct trial_summary){.trial = trial,
		.block = block,
		.layout = layout,
		.workload = workload,
		.repeat = 1,
		.ok = 1,
		.started_wall_ns = 1700000000000000000ll,
		.elapsed_ns = 2000000000ll,
		.sync_ns = 1000,
		.bytes = 2000,
		.ops = 20,
		.tele = {.disk_read_bytes = 1, .disk_write_bytes = 2500, .disks = 8},
		.samples = samples};
	return r;
}

static inline struct record rec_attempt_end(enum attempt_state state)
{
	struct record r = {.type = RECORD_ATTEMPT_END, .wall_ns = 10000};

	r.u.attempt_end = (struct record_attempt_end){state, ""};
	return r;
}

/* A whole query's text. */
struct kit_text {
	struct buf text;
	int ended, chunks, failed;
	size_t largest;
	struct err err;
};

static inline int kit_chunk(void *arg, const char *data, size_t len, int end, const struct err *e)
{
	struct kit_text *t = arg;

	buf_add(&t->text, data, len);
	t->chunks++;
	if (len > t->largest)
		t->largest = len;
	if (end) {
		t->ended = 1;
		t->failed = e != NULL;
		if (e)
			err_copy(&t->err, e);
	}
	return 0;
}

static inline struct kit_text kit_query(struct kit *k, enum store_query q, const char *target)
{
	struct kit_text t = {0};

	store_query(k->store, q, target, kit_chunk, &t);
	kit_wait(k, &t.ended, 1);
	return t;
}

#endif
