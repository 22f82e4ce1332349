/* Reading `parallel`: a list of workloads, and what a member cannot be. Owns the members. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/work_parallel.h"
#include "common/plan/workload_type.h"

/* What a kind can be among others. */
enum member_use { NEVER, FIXED, TIMED };

static enum member_use use_of(enum workload_kind kind)
{
	switch (kind) {
	case WORKLOAD_STREAM:
	case WORKLOAD_RANDOM:
	case WORKLOAD_FILEBENCH:
	case WORKLOAD_FIO:
	case WORKLOAD_PGBENCH:
		return TIMED;
	case WORKLOAD_COMMAND:
	case WORKLOAD_PG_RESTORE:
	case WORKLOAD_PG_DUMP:
		return FIXED;
	default:
		return NEVER;
	}
}

static char *member_path(const char *path, size_t i)
{
	return xasprintf("%s.%zu", path, i + 1);
}

static void read_parallel(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	struct workload *w = field;
	struct work_parallel *p = xcalloc(1, sizeof(*p));

	(void)arg;
	w->parallel = p;
	if (n->kind != YAML_SEQ || n->n < 1 || n->n > PARALLEL_MAX_MEMBERS) {
		read_error(r, n, path,
			"must be a list of 1 to %d workloads, such as [{stream: {op: write, size: 30G}}, "
			"{stream: {op: read, of: load}}]",
			PARALLEL_MAX_MEMBERS);
		return;
	}
	p->members = xcalloc(n->n, sizeof(*p->members));
	for (size_t i = 0; i < n->n; i++) {
		struct workload *m = &p->members[p->n++];
		char *child = member_path(path, i);

		m->name = xasprintf("%s.%zu", w->name, i + 1);
		plan_read_workload(r, n->items[i], child, m);
		free(child);
	}
}

/* Contents that a later read checks would be written over without its knowing. */
static void check_rewrite(const struct workload_place *at)
{
	const struct stream *s = &at->w->stream;

	if (at->w->kind != WORKLOAD_STREAM || s->op != OP_REWRITE || !s->of)
		return;
	for (unsigned i = at->index + 1; i < at->p->n_workloads; i++) {
		const struct workload *later = &at->p->workloads[i];

		if (later->kind == WORKLOAD_STREAM && later->stream.verify && later->stream.of &&
			!strcmp(later->stream.of, s->of))
			workload_error(at, "of", "'%s' verifies what '%s' wrote: rewrite other files",
				later->name, s->of);
	}
}

static void check_stream_member(const struct workload_place *at)
{
	const struct stream *s = &at->w->stream;

	if (at->w->kind != WORKLOAD_STREAM)
		return;
	if (s->verify)
		workload_error(at, "verify", "does not go with parallel: read alone to verify");
	if (s->file && s->op == OP_WRITE)
		workload_error(at, "file", "leave it out: what members write has names of its own");
	check_rewrite(at);
}

static const struct yaml_node *duration_node(
	const struct yaml_node *member, const struct yaml_node *kind)
{
	const struct yaml_node *n = yaml_get(member, "duration");

	if (!n && kind && kind->kind == YAML_MAP)
		n = yaml_get(kind, "duration");
	return n ? n : member;
}

static void check_member(const struct workload_place *at, const struct yaml_node *n, size_t i)
{
	struct workload *m = &at->w->parallel->members[i];
	const struct workload_type *type = workload_types[m->kind];
	const struct yaml_node *kind = yaml_get(n, type->key);
	char *path = member_path(at->path, i), *child = read_child_path(path, type->key);
	struct workload_place place = {at->r, at->p, at->index, m, kind, child};

	int own = m->duration_ns > 0; /* written beside its kind, or within it */

	if (own)
		read_error(at->r, duration_node(n, kind), path,
			"duration: stands beside parallel, for all of them");
	m->duration_ns = at->w->duration_ns;
	if (kind && use_of(m->kind) == NEVER)
		read_error_key(at->r, kind, path, "'%s' cannot run beside others", type->key);
	else if (kind && m->duration_ns && use_of(m->kind) == FIXED)
		read_error_key(at->r, kind, path,
			"'%s' ends when it is done, not with the time: leave duration out", type->key);
	else if (kind && !own) {
		if (type->check)
			type->check(&place);
		check_stream_member(&place);
	}
	free(child);
	free(path);
}

static void check(const struct workload_place *at)
{
	for (size_t i = 0; i < at->w->parallel->n; i++)
		check_member(at, at->n->items[i], i);
}

static void clear(struct workload *w)
{
	for (size_t i = 0; w->parallel && i < w->parallel->n; i++)
		workload_clear(&w->parallel->members[i]);
	if (w->parallel)
		free(w->parallel->members);
	free(w->parallel);
}

static int add(int64_t *to, int64_t n)
{
	return __builtin_add_overflow(*to, n, to);
}

static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	int known = 1;

	for (size_t i = 0; i < w->parallel->n; i++) {
		const struct workload *m = &w->parallel->members[i];
		const struct workload_type *type = workload_types[m->kind];
		struct workload_needs n = {0};

		if (type->needs && type->needs(p, m, ram_bytes, &n, e))
			return -1;
		ret->moves_unknown |= n.moves_unknown || (!n.written_bytes && !n.read_bytes);
		if (add(&ret->written_bytes, n.written_bytes) ||
			add(&ret->read_bytes, n.read_bytes) ||
			add(&ret->made_bytes, n.made_bytes) ||
			add(&ret->laid_bytes, n.laid_bytes) ||
			add(&ret->kept_bytes, n.kept_bytes) ||
			add(&ret->space_bytes, n.space_bytes) ||
			add(&ret->data_bytes, n.data_bytes))
			return err_set(e, ERR_INPUT, "workloads.%s: more bytes than can be counted",
				w->name);
		if (n.duration_ns > ret->duration_ns)
			ret->duration_ns = n.duration_ns;
		ret->compressible |= n.compressible;
		known &= n.data_bytes > 0;
	}
	if (!known)
		ret->data_bytes = 0;
	return 0;
}

static void access(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	for (size_t i = 0; i < w->parallel->n; i++)
		workload_access(&w->parallel->members[i], inputs, programs);
}

static void folders(const struct workload *w, struct strv *ret)
{
	for (size_t i = 0; i < w->parallel->n; i++)
		workload_folders(&w->parallel->members[i], ret);
}

static void outside(const struct workload *w, struct strv *from, struct strv *to)
{
	for (size_t i = 0; i < w->parallel->n; i++)
		workload_outside(&w->parallel->members[i], from, to);
}

/* Each thing once, whoever of the members lacks it. */
static void lacks(const struct workload *w, const struct inventory *inv, struct buf *ret)
{
	struct buf one = {0};

	for (size_t i = 0; i < w->parallel->n; i++) {
		buf_reset(&one);
		if (!workload_lacks(&w->parallel->members[i], inv, &one) ||
			strstr(buf_str(ret), buf_str(&one)))
			continue;
		buf_addf(ret, "%s%s", ret->len ? "; " : "", buf_str(&one));
	}
	buf_free(&one);
}

static int makes_late(const struct workload *w)
{
	int any = 0;

	for (size_t i = 0; i < w->parallel->n; i++)
		any |= workload_makes_late(&w->parallel->members[i]);
	return any;
}

static int makes(const struct workload *w)
{
	int any = 0;

	for (size_t i = 0; i < w->parallel->n; i++)
		any |= workload_makes(&w->parallel->members[i]);
	return any;
}

static const char *headline(const struct workload *w)
{
	return w->duration_ns ? "throughput" : "elapsed";
}

static void nature(const struct workload *w, struct workload_nature *ret)
{
	for (size_t i = 0; i < w->parallel->n; i++) {
		struct workload_nature one;

		workload_nature(&w->parallel->members[i], &one);
		if (i == 0)
			*ret = one;
		else
			workload_nature_join(ret, &one);
	}
}

/* As the least careful of those that write. */
static int syncs(const struct workload *w)
{
	int least = -1;

	for (size_t i = 0; i < w->parallel->n; i++) {
		int one = workload_syncs(&w->parallel->members[i]);

		if (one >= 0 && (least < 0 || one < least))
			least = one;
	}
	return least;
}

static void programs(
	const struct workload *w, const struct plan *p, workload_program *each, void *arg)
{
	for (size_t i = 0; i < w->parallel->n; i++)
		workload_programs(&w->parallel->members[i], p, each, arg);
}

const struct workload_type work_parallel_type = {
	.key = "parallel",
	.headline_of = headline,
	.read = read_parallel,
	.check = check,
	.clear = clear,
	.needs = needs,
	.access = access,
	.folders = folders,
	.outside = outside,
	.makes = makes,
	.makes_late = makes_late,
	.lacks = lacks,
	.syncs = syncs,
	.nature = nature,
	.programs = programs,
};
