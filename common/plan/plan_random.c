/* Reading `random` workloads, and what ties them to the writes whose files they take. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_random.h"
#include "common/plan/workload_type.h"

#define BUFFERS_MAX (1LL << 30) /* threads x depth x block-size */
#define DIRECT_UNIT 512
#define ZIPF_MIN 0.05
#define ZIPF_MAX 5.0

static const struct word op_words[] = {
	{"read", RANDOM_READ, NULL}, {"write", RANDOM_WRITE, NULL}, {"mixed", RANDOM_MIXED, NULL}};
static const struct word_list op_list = WORD_LIST("an op", op_words);
static const struct int_range block_range = {512, 64 << 20};
static const struct int_range thread_range = {1, PLAN_MAX_THREADS};
static const struct int_range file_range = {1, PLAN_MAX_FILES};
static const struct int_range depth_range = {1, 4096};
static const struct int_range ops_range = {1, 4000000000};
static const struct int_range rate_range = {1, 100000000};
static const struct int_range every_range = {1, 1000000000};
static const struct int_range time_range = {NS_PER_S, 7 * 24 * 3600 * NS_PER_S};

static void read_data(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_random *w = field;
	struct stream s = {.data = DATA_RANDOM};

	read_stream_data(r, n, path, &s, arg);
	w->data = s.data;
	w->compressible_percent = s.compressible_percent;
}

static void read_share(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	double share = -1;

	read_percent(r, n, path, &share, arg);
	if (share < 0) /* said already */
		return;
	if (share < 0.01 || share > 0.99)
		read_error(r, n, path, "takes 1%% to 99%%: what is left are writes");
	else
		*(double *)field = share;
}

/* uniform, or zipf:1.1 */
static void read_distribution(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	const char *s = read_scalar(r, n, path);
	char text[SHOWN_LEN];
	double exponent;
	struct err e;

	(void)arg;
	if (!s || strcmp(s, "uniform") == 0)
		return;
	if (!str_starts(s, "zipf:") || units_parse_double(s + strlen("zipf:"), &exponent, &e))
		read_error(r, n, path, "'%s' is not a distribution: uniform, or zipf:1.1",
			shown(s, text));
	else if (exponent < ZIPF_MIN || exponent > ZIPF_MAX)
		read_error(r, n, path, "zipf takes an exponent of %g to %g", ZIPF_MIN, ZIPF_MAX);
	else
		*(double *)field = exponent;
}

/* The words of a stream, or {every: 100} */
static void read_sync(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct work_random *w = field;
	const struct yaml_node *every = yaml_get(n, "every");
	int sync = w->sync;

	if (n->kind != YAML_MAP) {
		read_word(r, n, path, &sync, arg);
		w->sync = (enum sync_kind)sync;
	} else if (!every || n->n != 1) {
		read_error(r, n, path, "must be all, file, filesystem, none or {every: 100}");
	} else {
		read_uint(r, every, path, &w->fsync_every, &every_range);
	}
}

#define FIELD(name) offsetof(struct work_random, name)
static const struct key_row rows[] = {
	{"op", read_word, FIELD(op), &op_list, "read, write or mixed"},
	{"reads", read_share, FIELD(reads), NULL, NULL},
	{"block-size", read_bytes, FIELD(block_size), &block_range, NULL},
	{"size", read_plan_size, FIELD(size), NULL, NULL},
	{"files", read_uint, FIELD(files), &file_range, NULL},
	{"threads", read_uint, FIELD(threads), &thread_range, NULL},
	{"depth", read_uint, FIELD(depth), &depth_range, NULL},
	{"direct", read_bool, FIELD(direct), NULL, NULL},
	{"engine", read_word, FIELD(engine), &io_engine_list, NULL},
	{"duration", read_time, FIELD(duration_ns), &time_range, NULL},
	{"ops", read_uint, FIELD(ops), &ops_range, NULL},
	{"rate", read_uint, FIELD(rate), &rate_range, NULL},
	{"distribution", read_distribution, FIELD(zipf), NULL, NULL},
	{"data", read_data, 0, NULL, NULL},
	{"sync", read_sync, 0, &stream_sync_list, NULL},
	{"verify", read_bool, FIELD(verify), NULL, NULL},
	{"of", read_text, FIELD(of), NULL, NULL},
};
#undef FIELD
static const struct key_table table = KEY_TABLE("random", rows);

static void read_random(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct workload *w = field;

	(void)arg;
	w->random = xcalloc(1, sizeof(*w->random));
	*w->random = (struct work_random){
		.block_size = 4096, .files = 1, .threads = 1, .depth = 1, .sync = SYNC_ALL};
	read_map(r, n, path, &table, w->random);
	if (w->random->duration_ns)
		w->duration_ns = w->random->duration_ns;
}

#define fail(at, key, ...) workload_error(at, key, __VA_ARGS__)

static int is_given(const struct workload_place *at, const char *key)
{
	return yaml_get(at->n, key) != NULL;
}

/* ---- the files of another ---- */

static int find_of(const struct workload_place *at)
{
	const char *names[PLAN_MAX_WORKLOADS + 1] = {0};
	const char *of = at->w->random->of;
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	const struct workload *v = at->p->workloads;
	unsigned i;

	shown(of, text);
	for (i = 0; i < at->p->n_workloads && strcmp(v[i].name, of); i++)
		names[i] = v[i].name;
	if (i == at->p->n_workloads)
		fail(at, "of", "there is no workload '%s'%s", text, suggestion(of, names, near));
	else if (i >= at->index)
		fail(at, "of", "'%s' %s, and workloads run in the order of the plan", text,
			i == at->index ? "is this workload itself" : "comes later");
	else if (v[i].kind != WORKLOAD_STREAM || v[i].stream.op != OP_WRITE)
		fail(at, "of", "'%s' is not a stream that writes: name the one that makes the files",
			text);
	else
		return (int)i;
	return -1;
}

/* Whoever verifies those files later expects what the stream wrote. */
static void check_later(const struct workload_place *at)
{
	for (unsigned i = at->index + 1; i < at->p->n_workloads; i++) {
		const struct workload *w = &at->p->workloads[i];
		const char *of = w->random ? w->random->of : w->stream.of;
		int verifies = w->random ? w->random->verify : w->stream.verify;

		if (verifies && str_equal(of, at->w->random->of))
			fail(at, "of", "'%s' verifies what '%s' wrote, and this writes over it",
				w->name, of);
	}
}

static void check_of(const struct workload_place *at)
{
	struct work_random *r = at->w->random;
	const struct workload *from;
	int of = find_of(at);

	if (of < 0) { /* said; nobody may follow it */
		free(r->of);
		r->of = NULL;
		return;
	}
	from = &at->p->workloads[of];
	r->of_index = (unsigned)of;
	if (is_given(at, "files"))
		fail(at, "files", "come from '%s', leave it out", from->name);
	r->files = from->stream.files;
	if (is_given(at, "size") && r->size.ram_factor == from->stream.size.ram_factor &&
		from->stream.size.bytes && r->size.bytes > from->stream.size.bytes)
		fail(at, "size", "larger than what '%s' writes", from->name);
	if (r->op != RANDOM_READ) {
		if (r->verify)
			fail(at, "verify",
				"needs files of its own where it writes: leave out 'of', give a size");
		check_later(at);
		return;
	}
	r->data = from->stream.data;
	r->compressible_percent = from->stream.compressible_percent;
}

/* ---- one workload ---- */

static void check_op(const struct workload_place *at)
{
	struct work_random *r = at->w->random;

	if (r->op == RANDOM_MIXED && !is_given(at, "reads"))
		fail(at, "op", "a mixed one needs the share of reads, such as reads: 70%%");
	if (r->op != RANDOM_MIXED && is_given(at, "reads"))
		fail(at, "reads", "belongs to op: mixed");
	if (r->op != RANDOM_READ)
		return;
	if (is_given(at, "sync") && (r->sync != SYNC_NONE || r->fsync_every))
		fail(at, "sync", "a read has nothing to sync");
	if (is_given(at, "data") && r->of)
		fail(at, "data", "a read takes what is in the files of '%s'", r->of);
	r->sync = SYNC_NONE;
}

static void check_end(const struct workload_place *at)
{
	const struct work_random *r = at->w->random;

	if (at->w->duration_ns && r->ops)
		fail(at, "ops", "and a duration: give one of them");
	if (r->zipf && !at->w->duration_ns && !r->ops)
		fail(at, "distribution",
			"zipf comes back to the same blocks: say when to end with a duration or ops");
}

static void check_buffers(const struct workload_place *at)
{
	const struct work_random *r = at->w->random;
	int64_t bytes;
	char a[UNITS_LEN];

	if (r->engine == IO_PREAD && r->depth > 1)
		fail(at, "depth", "of more than 1 needs engine: io_uring; with pread, use threads");
	if (__builtin_mul_overflow((int64_t)r->threads * r->depth, r->block_size, &bytes) ||
		bytes > BUFFERS_MAX)
		fail(at, is_given(at, "depth") ? "depth" : "block-size",
			"%llu blocks of %s need more than 1 GiB of buffers",
			(unsigned long long)r->threads * r->depth, units_size(r->block_size, a));
	if (r->direct && r->block_size % DIRECT_UNIT)
		fail(at, "block-size", "direct needs a multiple of %d bytes", DIRECT_UNIT);
	if (r->verify && r->block_size % 8)
		fail(at, "block-size", "verify needs a multiple of 8 bytes");
}

static void check_size(const struct workload_place *at)
{
	const struct work_random *r = at->w->random;
	unsigned parts = r->threads > r->files ? r->threads : r->files;
	int64_t bytes = r->size.ram_factor == 0 ? r->size.bytes : 0;
	char a[UNITS_LEN], b[UNITS_LEN];

	if (!is_given(at, "size") && !is_given(at, "of"))
		fail(at, "size", "'size' is missing: over how much to spread, such as 30G or ram * 2");
	if (bytes && bytes / parts < r->block_size)
		fail(at, "size", "%s in %u part%s is less than one block of %s each",
			units_size(bytes, a), parts, parts == 1 ? "" : "s",
			units_size(r->block_size, b));
	if (r->verify && !r->of && bytes / r->block_size > RANDOM_MAX_VERIFIED)
		fail(at, "verify", "%s are more than %d blocks of %s to keep in mind: use larger ones",
			units_size(bytes, a), RANDOM_MAX_VERIFIED, units_size(r->block_size, b));
}

static void check(const struct workload_place *at)
{
	if (at->n->kind != YAML_MAP || !is_given(at, "op"))
		return;
	if (at->w->random->of)
		check_of(at);
	check_op(at);
	check_end(at);
	check_buffers(at);
	check_size(at);
}

/* ---- what it asks of a host ---- */

int random_file_blocks(const struct work_random *r, uint64_t ram_bytes, uint64_t *ret, struct err *e)
{
	int64_t bytes;

	if (plan_size_bytes(&r->size, ram_bytes, &bytes, e))
		return -1;
	*ret = (uint64_t)bytes / (uint64_t)r->block_size / r->files;
	if (*ret * r->files < r->threads || *ret == 0)
		return err_set(e, ERR_INPUT,
			"%lld bytes are less than a block for each of %u files and %u threads",
			(long long)bytes, r->files, r->threads);
	return 0;
}

static int makes(const struct workload *w)
{
	return !w->random->of;
}

/* What is verified after it was written begins anew. */
static int makes_each_time(const struct workload *w)
{
	return w->random->op != RANDOM_READ && w->random->verify;
}

/* Bytes that a timed one moves at its rate; 0: it has none. */
static int64_t in_time(const struct workload *w)
{
	double bytes = (double)w->random->rate * (double)w->random->block_size *
		       (double)w->duration_ns / NS_PER_S;

	return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static int needs(const struct plan *p, const struct workload *w, uint64_t ram_bytes,
	struct workload_needs *ret, struct err *e)
{
	const struct work_random *r = w->random;
	int64_t bytes = 0, moved;
	uint64_t blocks;

	if (r->of && r->size.ram_factor == 0 && r->size.bytes == 0) {
		if (plan_stream_bytes(p, r->of_index, ram_bytes, &bytes, e))
			return -1;
	} else {
		if (random_file_blocks(r, ram_bytes, &blocks, e))
			return err_prefix(e, "workloads.%s.size", w->name);
		bytes = (int64_t)(blocks * r->files) * r->block_size;
	}
	if (!r->of) {
		ret->kept_bytes = ret->space_bytes = bytes;
		ret->compressible = r->data != DATA_RANDOM;
		*(makes_each_time(w) ? &ret->made_bytes : &ret->laid_bytes) = bytes;
	}
	ret->data_bytes = bytes;
	ret->duration_ns = w->duration_ns;
	moved = r->ops ? (int64_t)r->ops * r->block_size : bytes;
	if (w->duration_ns)
		moved = in_time(w); /* 0: not known */
	else if (r->rate)
		ret->duration_ns = moved / r->block_size * NS_PER_S / r->rate;
	if (r->op == RANDOM_MIXED)
		ret->read_bytes = (int64_t)((double)moved * r->reads);
	else if (r->op == RANDOM_READ)
		ret->read_bytes = moved;
	ret->written_bytes = moved - ret->read_bytes;
	return 0;
}

static void clear(struct workload *w)
{
	if (w->random)
		free(w->random->of);
	free(w->random);
	w->random = NULL;
}

static const char *op(const struct workload *w)
{
	return op_words[w->random->op].name;
}

static int syncs(const struct workload *w)
{
	return w->random->op == RANDOM_READ ? -1 : w->random->sync != SYNC_NONE;
}

static void nature(const struct workload *w, struct workload_nature *ret)
{
	const struct work_random *r = w->random;

	ret->moves = r->op == RANDOM_READ    ? MOVES_READS
		     : r->op == RANDOM_WRITE ? MOVES_WRITES
					     : MOVES_BOTH;
	ret->data_known = 1;
	ret->data = r->data;
	ret->compressible_percent = r->compressible_percent;
	ret->threads = r->threads;
	ret->paced = ret->all_paced = r->rate > 0;
	ret->pace_ops = (double)r->rate;
	ret->sync_bound = r->fsync_every > 0;
}

static void lacks(const struct workload *w, const struct inventory *inv, struct buf *ret)
{
	if (w->random->engine == IO_URING)
		workload_lacks_io_uring(inv, ret);
}

const struct workload_type work_random_type = {
	.key = "random",
	.headline = "ops_per_s",
	.read = read_random,
	.takes_duration = 1,
	.check = check,
	.clear = clear,
	.needs = needs,
	.op = op,
	.syncs = syncs,
	.nature = nature,
	.lacks = lacks,
	.makes = makes,
};
