/* Trials of the filebench engine in a folder of their own, for its tests. */
#ifndef TESTS_UNIT_FILEBENCH_KIT_H
#define TESTS_UNIT_FILEBENCH_KIT_H

#include "tests/unit/test.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/filebench.h"
#include "agent/workload/workload.h"
#include "common/base/fs.h"
#include "common/base/mem.h"

static char *dir;

static inline int make_dir(void **state)
{
	char path[] = "/tmp/arraymark-filebench-XXXXXX";

	(void)state;
	dir = xstrdup(mkdtemp(path));
	return dir ? 0 : -1;
}

static inline int remove_dir(void **state)
{
	struct err e;

	(void)state;
	assert_ok(fs_remove_tree(dir, &e), e);
	free(dir);
	return 0;
}

struct trial {
	struct workload w;
	struct work_filebench f;
	struct msg_worker_spec spec;
	struct plan plan;
	struct workload_result *r;
	uint64_t sampled_ops, sampled_bytes;
};

static inline void add_sample(void *arg, const struct sample *s)
{
	struct trial *t = arg;

	t->sampled_ops += s->ops;
	t->sampled_bytes += s->bytes;
}

/* A trial of a personality, or of a text (written to a file of its own). */
static inline void trial_init(struct trial *t, const char *personality, const char *text)
{
	struct stat st;
	struct err e;

	memset(t, 0, sizeof(*t));
	assert_int_equal(stat(dir, &st), 0);
	t->w = (struct workload){.name = (char *)"w", .kind = WORKLOAD_FILEBENCH, .filebench = &t->f};
	t->f.personality = (char *)personality;
	t->f.dialect = 'D';
	t->spec = (struct msg_worker_spec){.kind = (char *)"filebench", .directory = dir,
		.sample_ns = 50000000, .seed = 11, .syncfs_works = 0, .dev = st.st_dev};
	if (text) {
		t->f.wml = xasprintf("%s/x.f", dir);
		assert_ok(fs_write_file(t->f.wml, text, strlen(text), 0644, &e), e);
	}
}

static inline int trial_run(struct trial *t, struct err *e)
{
	const struct workload_engine *g = workload_find(WORKLOAD_FILEBENCH);
	const struct workload_order order = {.spec = &t->spec, .plan = &t->plan, .w = &t->w};
	void *state;
	int rc;

	t->r = xcalloc(1, sizeof(*t->r));
	rc = g->prepare(&order, &state, e);
	if (rc == 0) {
		rc = g->run(state, 0, add_sample, t, t->r, e);
		g->clear(state);
		/* of the external program, samples say nothing */
		assert_int_equal(t->f.program ? 0 : t->r->ops, t->sampled_ops);
		assert_int_equal(t->f.program ? 0 : t->r->bytes, t->sampled_bytes);
	}
	return rc;
}

static inline void trial_clear(struct trial *t)
{
	detail_clear(&t->r->detail);
	free(t->r);
	free(t->f.wml);
}

static inline const struct trial_part *part(const struct trial *t, const char *name)
{
	for (size_t i = 0; i < t->r->detail.n_parts; i++)
		if (strcmp(t->r->detail.parts[i].name, name) == 0)
			return &t->r->detail.parts[i];
	fail_msg("no part '%s'", name);
	return NULL;
}

static inline double fact(const struct trial *t, const char *name)
{
	const struct trial_fact *f = detail_find_fact(&t->r->detail, name);

	assert_non_null(f);
	return f->value;
}

static inline const char *note(const struct trial *t, const char *name)
{
	for (size_t i = 0; i < t->r->detail.n_notes; i++)
		if (strcmp(t->r->detail.notes[i].name, name) == 0)
			return t->r->detail.notes[i].text;
	fail_msg("no note '%s'", name);
	return NULL;
}

static inline unsigned count_files(const char *path)
{
	struct dirent *entry;
	DIR *d = opendir(path);
	unsigned n = 0;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.') {
			char *child = xasprintf("%s/%s", path, entry->d_name);

			n += entry->d_type == DT_DIR ? count_files(child) : 1;
			free(child);
		}
	closedir(d);
	return n;
}

/* One thread on a fileset of one file of 8 KiB. */
#define ONE(flowops, rest)                                                                         \
	"set mode quit firstdone\n"                                                                \
	"define fileset name=f,path=$dir,entries=1,dirwidth=10,size=8k,prealloc=100\n"             \
	"define process name=p { thread name=t {\n" flowops "\n} }\n" rest

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

#endif
