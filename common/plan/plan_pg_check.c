/* PostgreSQL workloads after reading: keys that exclude each other, and the restore that a dump takes. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/plan_pg_internal.h"
#include "common/plan/work_parallel.h"

static int has(const struct workload_place *at, const char *key)
{
	return at->n->kind == YAML_MAP && yaml_get(at->n, key) != NULL;
}

static int is_member(const struct workload_place *at)
{
	return at->w != &at->p->workloads[at->index];
}

static void check_duration_beside(const struct workload_place *at)
{
	if (at->w->duration_ns)
		workload_error(at, "duration", "%s takes as long as its work does: leave 'duration' out",
			workload_kind_name(at->w->kind));
}

/* The cluster is one: another version cannot open it. Members of a parallel workload have their own, but
 * dumps. */
static void check_versions(const struct workload_place *at)
{
	if (is_member(at) && !at->w->pg->of)
		return;
	for (unsigned i = 0; i < at->index; i++) {
		const struct workload *w = &at->p->workloads[i];

		if (w->pg && !str_equal(w->pg->version, at->w->pg->version)) {
			workload_error(at, "version",
				"'%s' has %s, and all PostgreSQL workloads of a plan share one cluster",
				w->name, w->pg->version ? w->pg->version : "no version of its own");
			return;
		}
	}
}

void pg_check_restore(const struct workload_place *at)
{
	const struct work_pg *p = at->w->pg;

	check_duration_beside(at);
	check_versions(at);
	if (p->dump && p->scale)
		workload_error(at, "scale", "the dump is given by 'dump' or made by 'scale', not both");
	else if (!has(at, "dump") && !has(at, "scale"))
		workload_error(at, "dump",
			"what to restore is missing: dump: FILE, or scale: N for one that is made");
	if (p->scale && p->format == PG_FORMAT_DIRECTORY)
		workload_error(at, "format", "a dump that is made is one file: use custom, plain or tar");
	if (p->sha256 && !p->dump && p->scale)
		workload_error(at, "sha256", "belongs to a 'dump' that is given");
	if (p->format == PG_FORMAT_PLAIN && p->jobs > 1)
		workload_error(at, "jobs", "a plain dump is run by one psql: jobs need custom or directory");
	if (p->format == PG_FORMAT_TAR && p->jobs > 1)
		workload_error(at, "jobs", "a tar is read from its front by one pg_restore: jobs need "
					   "custom or directory");
	if (p->format == PG_FORMAT_PLAIN && p->no_owner)
		workload_error(at, "no-owner", "a plain dump sets its owners itself: make it with "
					       "pg_dump --no-owner");
}

/* The earlier restore that `of` names, or -1 after saying what is wrong with it. */
static int find_of(const struct workload_place *at)
{
	const struct work_pg *p = at->w->pg;
	const char *names[PLAN_MAX_WORKLOADS + 1] = {0};
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	unsigned i;

	shown(p->of, text);
	for (i = 0; i < at->p->n_workloads; i++) {
		names[i] = at->p->workloads[i].name;
		if (!strcmp(names[i], p->of))
			break;
	}
	if (i == at->p->n_workloads)
		workload_error(at, "of", "there is no workload '%s'%s", text,
			suggestion(p->of, names, near));
	else if (i >= at->index)
		workload_error(at, "of", "'%s' %s, and workloads run in the order of the plan", text,
			i == at->index ? "is this workload itself" : "comes later");
	else if (at->p->workloads[i].kind != WORKLOAD_PG_RESTORE)
		workload_error(at, "of", "'%s' is not a pg_restore", text);
	else
		return (int)i;
	return -1;
}

/* Both speak to the same server, as long as the plan does not say otherwise. */
static void inherit_settings(struct work_pg *p, const struct work_pg *from)
{
	p->settings = xcalloc(from->n_settings + 1, sizeof(*p->settings));
	for (size_t i = 0; i < from->n_settings; i++)
		p->settings[p->n_settings++] = (struct pg_setting){
			xstrdup(from->settings[i].name), xstrdup(from->settings[i].value)};
}

/* A server has its data to itself. */
static void check_other_dumps(const struct workload_place *at)
{
	const struct work_parallel *all = at->p->workloads[at->index].parallel;

	for (size_t i = 0; is_member(at) && &all->members[i] != at->w; i++)
		if (all->members[i].kind == WORKLOAD_PG_DUMP) {
			workload_error(at, "of",
				"'%s' dumps from the same server, which ends with it: one of them at a time",
				all->members[i].name);
			return;
		}
}

void pg_check_dump(const struct workload_place *at)
{
	struct work_pg *p = at->w->pg;
	int of = p->of ? find_of(at) : -1;

	check_duration_beside(at);
	check_versions(at);
	check_other_dumps(at);
	if (of >= 0) {
		p->of_index = (unsigned)of;
		if (!has(at, "settings"))
			inherit_settings(p, at->p->workloads[of].pg);
	} else {
		free(p->of);
		p->of = NULL;
	}
	if (p->format == PG_FORMAT_AUTO)
		p->format = PG_FORMAT_PLAIN;
	if (p->format == PG_FORMAT_TAR)
		workload_error(at, "format", "pg_dump collects the tables of a tar in /tmp, which is not the "
					     "volume: use plain, custom or directory");
	else if (p->jobs > 1 && p->format != PG_FORMAT_DIRECTORY)
		workload_error(at, "jobs", "pg_dump takes jobs with format: directory alone");
	if (p->format == PG_FORMAT_DIRECTORY && p->target == PG_TARGET_NULL)
		workload_error(at, "target", "a directory cannot be written to null");
}

void pg_check_bench(const struct workload_place *at)
{
	struct work_pg *p = at->w->pg;

	check_versions(at);
	if (at->w->duration_ns && has(at, "duration"))
		workload_error(at, "duration", "is there twice: also beside '%s'",
			is_member(at) ? "parallel" : "pgbench");
	if (at->w->duration_ns)
		p->duration_ns = at->w->duration_ns;
	if (p->duration_ns % NS_PER_S)
		workload_error(at, "duration", "pgbench counts whole seconds");
	if (p->jobs > p->clients)
		workload_error(at, "jobs", "%u threads have nothing to do with %u client%s", p->jobs,
			p->clients, p->clients == 1 ? "" : "s");
}
