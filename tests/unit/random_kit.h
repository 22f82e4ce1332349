/* Runs a random (or stream) workload of a plan in this process, in a folder of its own. */
#ifndef TESTS_UNIT_RANDOM_KIT_H
#define TESTS_UNIT_RANDOM_KIT_H

#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/datagen.h"
#include "agent/workload/uring.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_random.h"

struct kit {
	char *dir;
	struct plan *plan;
	struct msg_worker_spec spec;
	struct workload_result *r;
	struct trial_detail detail; /* r's, kept */
	struct err e;
	uint64_t sampled;
	int disks_fd; /* of a scan */
	/* called between prepare and run, and with each sample; may be NULL */
	void (*before)(struct kit *k);
	void (*at_sample)(struct kit *k);
};

static inline int kit_open(void **state)
{
	char path[] = "/tmp/arraymark-random-XXXXXX";
	struct kit *k = xcalloc(1, sizeof(*k));

	k->dir = xstrdup(mkdtemp(path));
	k->r = xcalloc(1, sizeof(*k->r));
	*state = k;
	return 0;
}

static inline int kit_close(void **state)
{
	struct kit *k = *state;
	struct err e;
	int rc = fs_remove_tree(k->dir, &e);

	free(k->dir);
	plan_free(k->plan);
	detail_clear(&k->r->detail);
	free(k->r);
	strv_free(&k->spec.names);
	free(k);
	return rc;
}

static inline void kit_cut(void *arg, const struct sample *s)
{
	struct kit *k = arg;

	k->sampled += s->ops;
	if (k->at_sample)
		k->at_sample(k);
}

static inline void kit_plan(struct kit *k, const char *workloads)
{
	char *text = xasprintf("name: p\nhosts: [all]\ntrials: 3\ncache: as-is\n"
			       "layouts: {a: {existing: %s}}\nworkloads:\n%s",
		k->dir, workloads);
	struct yaml_errors errs = {0};
	struct err e;

	plan_free(k->plan);
	k->plan = NULL;
	assert_ok(plan_parse("plan", text, strlen(text), NULL, &k->plan, &errs, &e), e);
	yaml_errors_free(&errs);
	free(text);
}

static inline struct workload_order kit_order(struct kit *k, unsigned index)
{
	struct stat st;

	assert_int_equal(stat(k->dir, &st), 0);
	k->spec.directory = k->dir;
	k->spec.dev = st.st_dev;
	k->spec.seed = k->spec.seed ? k->spec.seed : 7;
	k->spec.sample_ns = k->spec.sample_ns ? k->spec.sample_ns : 3600 * NS_PER_S;
	k->spec.block = k->spec.repeat = 1;
	k->spec.syncfs_works = 1;
	return (struct workload_order){
		.spec = &k->spec, .plan = k->plan, .w = &k->plan->workloads[index],
		.disks_fd = k->disks_fd};
}

static inline int kit_make(struct kit *k, unsigned index)
{
	struct workload_order o = kit_order(k, index);

	return workload_find(o.w->kind)->make(&o, &k->e);
}

/* Workload `index` of the plan: 0 or -1 and k->e. */
static inline int kit_run(struct kit *k, unsigned index)
{
	struct workload_order o = kit_order(k, index);
	const struct workload_engine *g = workload_find(o.w->kind);
	void *engine;
	int rc;

	detail_clear(&k->r->detail);
	memset(k->r, 0, sizeof(*k->r));
	k->sampled = 0;
	if (g->prepare(&o, &engine, &k->e) < 0)
		return -1;
	if (k->before)
		k->before(k);
	rc = g->run(engine, 0, kit_cut, k, k->r, &k->e);
	g->clear(engine);
	assert_int_equal(k->sampled, k->r->ops);
	assert_int_equal(k->r->hist.count, k->r->ops);
	return rc;
}

static inline const struct trial_part *kit_part(const struct kit *k, const char *name)
{
	for (size_t i = 0; i < k->r->detail.n_parts; i++)
		if (!strcmp(k->r->detail.parts[i].name, name))
			return &k->r->detail.parts[i];
	return NULL;
}

static inline int kit_file(const struct kit *k, const char *name)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", k->dir, name);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

/* Whether this machine lets us use io_uring; says why not. */
static inline int kit_has_uring(void)
{
	struct err e;

	if (uring_check_user(0, 0, 0, &e) == 0)
		return 1;
	print_message("SKIP io_uring: %s\n", e.text);
	return 0;
}

#endif
