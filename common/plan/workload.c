/* What any workload asks of a host: the table of kinds, asked. Owns nothing. */
#include "common/plan/workload.h"

#include <string.h>

#include "common/plan/workload_type.h"

static const struct workload_type *type_of(const struct workload *w)
{
	return workload_types[w->kind];
}

int workload_needs(const struct plan *p, unsigned workload, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct workload *w = &p->workloads[workload];
	struct workload_needs found = {.duration_ns = w->duration_ns};

	if (type_of(w)->needs && type_of(w)->needs(p, w, ram_bytes, &found, e))
		return -1;
	found.moves_unknown |= !found.written_bytes && !found.read_bytes;
	*ret = found;
	return 0;
}

void workload_access(const struct workload *w, struct strv *inputs, struct strv *programs)
{
	if (type_of(w)->access)
		type_of(w)->access(w, inputs, programs);
}

void workload_folders(const struct workload *w, struct strv *folders)
{
	if (type_of(w)->folders)
		type_of(w)->folders(w, folders);
}

void workload_outside(const struct workload *w, struct strv *from, struct strv *to)
{
	if (type_of(w)->outside)
		type_of(w)->outside(w, from, to);
}

int workload_lacks(const struct workload *w, const struct inventory *inv, struct buf *ret)
{
	size_t before = ret->len;

	if (type_of(w)->lacks)
		type_of(w)->lacks(w, inv, ret);
	return ret->len > before;
}

void workload_programs(const struct workload *w, const struct plan *p, workload_program *each, void *arg)
{
	struct strv argv = {0};

	if (type_of(w)->programs)
		type_of(w)->programs(w, p, each, arg);
	if (type_of(w)->argv)
		type_of(w)->argv(w, p, &argv);
	if (argv.n)
		each(arg, w, &argv);
}

const char *workload_kind_name(enum workload_kind kind)
{
	return (unsigned)kind < WORKLOAD_KIND_COUNT ? workload_types[kind]->key : "?";
}

const char *workload_op(const struct workload *w)
{
	return type_of(w)->op ? type_of(w)->op(w) : type_of(w)->key;
}

int workload_syncs(const struct workload *w)
{
	return type_of(w)->syncs ? type_of(w)->syncs(w) : -1;
}

void workload_nature(const struct workload *w, struct workload_nature *ret)
{
	*ret = (struct workload_nature){0};
	if (type_of(w)->nature)
		type_of(w)->nature(w, ret);
}

const char *workload_headline(const struct workload *w)
{
	const struct workload_type *t = type_of(w);
	struct workload_nature n;

	workload_nature(w, &n);
	if (n.all_paced)
		return "latency_p99";
	return t->headline_of ? t->headline_of(w) : t->headline ? t->headline : "elapsed";
}

/* Shrinks by so many percent. */
static unsigned shrinks(const struct workload_nature *n)
{
	return n->data == DATA_ZERO ? 100 : n->data == DATA_COMPRESSIBLE ? n->compressible_percent : 0;
}

void workload_nature_join(struct workload_nature *to, const struct workload_nature *other)
{
	if (to->moves != other->moves)
		to->moves = to->moves && other->moves ? MOVES_BOTH : MOVES_UNKNOWN;
	to->other_bytes |= other->other_bytes;
	to->raw &= other->raw;
	to->data_known &= other->data_known;
	if (shrinks(other) > shrinks(to)) {
		to->data = other->data;
		to->compressible_percent = other->compressible_percent;
	}
	to->threads = to->threads && other->threads ? to->threads + other->threads : 0;
	to->paced |= other->paced;
	to->all_paced &= other->all_paced;
	to->pace_ops = 0; /* whose it would be, nobody could tell */
	to->sync_bound &= other->sync_bound;
}

int workload_makes_late(const struct workload *w)
{
	return type_of(w)->makes_late ? type_of(w)->makes_late(w) : 0;
}

int workload_makes(const struct workload *w)
{
	return type_of(w)->makes ? type_of(w)->makes(w) : 0;
}
