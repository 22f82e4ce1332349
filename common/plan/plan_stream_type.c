/* The row of `stream`: what it moves and leaves behind. Owns nothing. */
#include <stdlib.h>
#include <string.h>

#include "common/base/units.h"
#include "common/plan/workload_type.h"

/* How many copies of a write's files are on the volume at once. */
static int64_t copies_kept(const struct plan *p, const struct stream *s)
{
	int64_t n = 1;

	if (!s->file || !strstr(s->file, "{trial}"))
		return 1;
	n *= p->repeat;
	return p->builds == BUILDS_ONCE ? n * p->trials_max : n;
}

static int stream_bytes(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	int64_t *ret, struct err *e)
{
	const struct stream *s = &w->stream;
	int64_t bytes, whole;

	if (plan_size_bytes(&s->size, ram_bytes, &bytes, e))
		return err_prefix(e, "workloads.%s.size", w->name);
	if (s->of) {
		if (plan_stream_bytes(p, s->of_index, ram_bytes, &whole, e))
			return -1;
		if (bytes > whole)
			bytes = whole;
	}
	*ret = bytes;
	return 0;
}

int plan_stream_bytes(
	const struct plan *p, unsigned workload, uint64_t ram_bytes, int64_t *ret, struct err *e)
{
	return stream_bytes(p, &p->workloads[workload], ram_bytes, ret, e);
}

int64_t stream_rate(const struct stream *s)
{
	int64_t at_once = s->threads < s->files ? s->threads : s->files, rate;

	if (!s->file_rate)
		return s->rate;
	return __builtin_mul_overflow(s->file_rate, at_once, &rate) ? INT64_MAX : rate;
}

static int makes(const struct workload *w)
{
	return w->stream.own_files;
}

/* Of files of so many bytes, in its time: by its pace, where it is timed; 0: not known. */
static int64_t stream_moves(const struct workload *w, int64_t bytes, int64_t *ret_ns)
{
	int64_t rate = stream_rate(&w->stream);
	double moved = (double)rate * (double)w->duration_ns / NS_PER_S;

	*ret_ns = w->duration_ns;
	if (w->duration_ns)
		return moved < 9e18 ? (int64_t)moved : INT64_MAX;
	if (rate && bytes / rate < INT64_MAX / NS_PER_S)
		*ret_ns = bytes / rate * NS_PER_S;
	return bytes;
}

static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct stream *s = &w->stream;
	int64_t bytes, moved;

	if (stream_bytes(p, w, ram_bytes, &bytes, e))
		return -1;
	ret->data_bytes = bytes;
	moved = stream_moves(w, bytes, &ret->duration_ns);
	if (s->op == OP_READ)
		ret->read_bytes = moved;
	else
		ret->written_bytes = moved;
	if (s->op != OP_WRITE && !s->own_files)
		return 0;
	if (__builtin_mul_overflow(bytes, copies_kept(p, s), &ret->kept_bytes))
		return err_set(e, ERR_INPUT, "workloads.%s: more bytes than can be counted", w->name);
	ret->space_bytes = ret->kept_bytes;
	if (s->own_files)
		ret->laid_bytes = bytes;
	ret->compressible = s->data != DATA_RANDOM;
	return 0;
}

static void clear(struct workload *w)
{
	free(w->stream.file);
	free(w->stream.of);
}

static const char *headline(const struct workload *w)
{
	return w->duration_ns ? "throughput" : "elapsed";
}

static const char *op(const struct workload *w)
{
	switch (w->stream.op) {
	case OP_READ:
		return "read";
	case OP_REWRITE:
		return "rewrite";
	default:
		return "write";
	}
}

static int syncs(const struct workload *w)
{
	return w->stream.op == OP_READ ? -1 : w->stream.sync != SYNC_NONE;
}

/* Of files that were there already, nobody knows what is in them. */
static void nature(const struct workload *w, struct workload_nature *ret)
{
	const struct stream *s = &w->stream;

	ret->moves = s->op == OP_READ ? MOVES_READS : MOVES_WRITES;
	ret->data_known = s->op != OP_READ || s->of || s->own_files;
	ret->data = s->data;
	ret->compressible_percent = s->compressible_percent;
	ret->threads = s->threads;
	ret->paced = ret->all_paced = stream_rate(s) > 0;
}

static void lacks(const struct workload *w, const struct inventory *inv, struct buf *ret)
{
	if (w->stream.engine == IO_URING)
		workload_lacks_io_uring(inv, ret);
}

const struct workload_type work_stream_type = {
	.key = "stream",
	.headline_of = headline,
	.read = read_stream,
	.check = stream_check,
	.clear = clear,
	.needs = needs,
	.op = op,
	.syncs = syncs,
	.nature = nature,
	.makes = makes,
	.lacks = lacks,
};
