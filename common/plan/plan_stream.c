/* Reading `stream` workloads, and what ties them to each other: of, file, size. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/workload_type.h"

#define FILE_PATTERN_MAX 128
#define BUFFERS_MAX (1LL << 30) /* threads x depth x block-size */
#define DIRECT_UNIT 4096

static const struct word op_words[] = {
	{"read", OP_READ, NULL}, {"write", OP_WRITE, NULL}, {"rewrite", OP_REWRITE, NULL}};
static const struct word data_words[] = {{"random", DATA_RANDOM, NULL}, {"zero", DATA_ZERO, NULL}};
static const struct word sync_words[] = {{"all", SYNC_ALL, NULL}, {"file", SYNC_FILE, NULL},
	{"filesystem", SYNC_FILESYSTEM, NULL}, {"none", SYNC_NONE, NULL}};
static const struct word engine_words[] = {
	{"pread", IO_PREAD, NULL}, {"io_uring", IO_URING, NULL}};
static const struct word_list op_list = WORD_LIST("an op", op_words);
static const struct word_list data_list = WORD_LIST("a kind of data", data_words);
const struct word_list stream_sync_list = WORD_LIST("a kind of sync", sync_words);
const struct word_list io_engine_list = WORD_LIST("an engine", engine_words);
static const struct int_range block_range = {512, 64 << 20};
static const struct int_range thread_range = {1, PLAN_MAX_THREADS};
static const struct int_range file_range = {1, PLAN_MAX_FILES};
static const struct int_range depth_range = {1, 4096};
static const struct int_range rate_range = {4096, INT64_MAX};

/* random, zero, or {compressible: 50%} */
void read_stream_data(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	struct stream *s = field;
	const struct yaml_node *c = yaml_get(n, "compressible");
	double share = -1;
	int kind = s->data;

	(void)arg;
	if (n->kind != YAML_MAP) {
		read_word(r, n, path, &kind, &data_list);
		s->data = (enum data_kind)kind;
		return;
	}
	if (!c || n->n != 1) {
		read_error(r, n, path, "must be random, zero or {compressible: 50%%}");
		return;
	}
	read_percent(r, c, path, &share, NULL);
	if (share < 0) /* said already */
		return;
	if (share < 0.01 || share > 0.99)
		read_error(r, c, path, "compressible takes 1%% to 99%%");
	s->data = DATA_COMPRESSIBLE;
	s->compressible_percent = (unsigned)(share * 100 + 0.5);
}

/* Letters, digits, "._+-" and {trial}; so it is one name within the volume's folder. */
static void read_file_pattern(struct reading *r, const struct yaml_node *n, const char *path,
	void *field, const void *arg)
{
	static const char chars[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
	const char *s = read_scalar(r, n, path), *p;
	char text[SHOWN_LEN];

	(void)arg;
	if (!s)
		return;
	for (p = s; *p;) {
		if (str_starts(p, "{trial}"))
			p += strlen("{trial}");
		else if (strchr(chars, *p))
			p++;
		else
			break;
	}
	if (*p == '{' || *p == '}') {
		read_error(r, n, path, "'%s': {trial} is the only placeholder", shown(s, text));
	} else if (*p || *s == '.' || *s == '-' || strlen(s) > FILE_PATTERN_MAX) {
		read_error(r, n, path,
			"'%s' is not a file name: use letters, digits, '.', '_', '+', '-' and "
			"{trial}, not starting with '.' or '-', at most %d bytes",
			shown(s, text), FILE_PATTERN_MAX);
	} else {
		free(*(char **)field);
		*(char **)field = xstrdup(s);
	}
}

#define FIELD(name) offsetof(struct stream, name)
static const struct key_row stream_rows[] = {
	{"op", read_word, FIELD(op), &op_list, "write, read or rewrite"},
	{"size", read_plan_size, FIELD(size), NULL, NULL},
	{"block-size", read_bytes, FIELD(block_size), &block_range, NULL},
	{"data", read_stream_data, 0, NULL, NULL},
	{"sync", read_word, FIELD(sync), &stream_sync_list, NULL},
	{"direct", read_bool, FIELD(direct), NULL, NULL},
	{"engine", read_word, FIELD(engine), &io_engine_list, NULL},
	{"depth", read_uint, FIELD(depth), &depth_range, NULL},
	{"threads", read_uint, FIELD(threads), &thread_range, NULL},
	{"files", read_uint, FIELD(files), &file_range, NULL},
	{"rate", read_bytes, FIELD(rate), &rate_range, NULL},
	{"file-rate", read_bytes, FIELD(file_rate), &rate_range, NULL},
	{"verify", read_bool, FIELD(verify), NULL, NULL},
	{"file", read_file_pattern, FIELD(file), NULL, NULL},
	{"of", read_text, FIELD(of), NULL, NULL},
	DURATION_BESIDE("stream"),
};
#undef FIELD
static const struct key_table stream_table = KEY_TABLE("stream", stream_rows);

void stream_defaults(struct stream *s)
{
	s->block_size = 1 << 20;
	s->sync = SYNC_ALL;
	s->threads = s->files = s->depth = 1;
}

void read_stream(struct reading *r, const struct yaml_node *n, const char *path, void *field,
	const void *arg)
{
	(void)arg;
	read_map(r, n, path, &stream_table, &((struct workload *)field)->stream);
}

static int is_write(const struct workload *w)
{
	return w->kind == WORKLOAD_STREAM && w->stream.op == OP_WRITE;
}

static const char *file_of(const struct workload *w)
{
	return w->stream.file ? w->stream.file : w->name;
}

/* The workload whose stream is being checked, with its place in plan and file. */
struct stream_check {
	const struct workload_place *at;
	struct plan *p;
	struct stream *s;
};

#define fail(c, key, ...) workload_error((c)->at, key, __VA_ARGS__)

/* Index of the write that `of` names, or -1 after saying what is wrong with it. */
static int find_of(const struct stream_check *c)
{
	const char *names[PLAN_MAX_WORKLOADS + 1] = {0};
	char text[SHOWN_LEN], near[SHOWN_LEN + 24];
	unsigned i;

	shown(c->s->of, text);
	for (i = 0; i < c->p->n_workloads; i++) {
		names[i] = c->p->workloads[i].name;
		if (!strcmp(names[i], c->s->of))
			break;
	}
	if (i == c->p->n_workloads)
		fail(c, "of", "there is no workload '%s'%s", text,
			suggestion(c->s->of, names, near));
	else if (i >= c->at->index)
		fail(c, "of", "'%s' %s, and workloads run in the order of the plan", text,
			i == c->at->index ? "is this workload itself" : "comes later");
	else if (!is_write(&c->p->workloads[i]))
		fail(c, "of",
			"'%s' is not a write: name the workload that makes "
			"the files",
			text);
	else if (c->p->workloads[i].duration_ns)
		fail(c, "of",
			"'%s' is timed, and may be over before its files are whole: name a write "
			"without a duration",
			text);
	else
		return (int)i;
	return -1;
}

/* An earlier write of the same file, or -1. */
static int find_file(const struct stream_check *c)
{
	for (unsigned i = c->at->index; i > 0; i--) {
		const struct workload *w = &c->p->workloads[i - 1];

		if (is_write(w) && !w->duration_ns && !strcmp(file_of(w), c->s->file))
			return (int)i - 1;
	}
	return -1;
}

static int all_layouts_exist(const struct plan *p)
{
	for (size_t i = 0; i < p->n_layouts; i++)
		if (!p->layouts[i].existing)
			return 0;
	return p->n_layouts > 0;
}

static void inherit(struct stream_check *c, unsigned of)
{
	const struct workload *from = &c->p->workloads[of];
	struct stream *s = c->s;

	if (!s->of)
		s->of = xstrdup(from->name);
	s->of_index = of;
	if (yaml_get(c->at->n, "files") && s->files != from->stream.files)
		fail(c, "files", "'%s' makes %u, and they are what is used here", from->name,
			from->stream.files);
	if (s->file && strcmp(s->file, file_of(from)))
		fail(c, "file", "comes from '%s', leave it out", from->name);
	s->files = from->stream.files;
	if (!yaml_get(c->at->n, "threads"))
		s->threads = from->stream.threads;
	if (!yaml_get(c->at->n, "size"))
		s->size = from->stream.size;
	else if (s->size.ram_factor == from->stream.size.ram_factor &&
		 s->size.bytes > from->stream.size.bytes && from->stream.size.bytes)
		fail(c, "size", "larger than what '%s' writes", from->name);
	if (s->op == OP_READ) {
		s->data = from->stream.data;
		s->compressible_percent = from->stream.compressible_percent;
	}
}

static void forget_of(struct stream *s)
{
	free(s->of);
	s->of = NULL;
}

static int is_member(const struct stream_check *c)
{
	return c->at->w != &c->p->workloads[c->at->index];
}

/* A member of a parallel workload makes the files that nobody else does. */
static void check_own_files(struct stream_check *c, const char *verb)
{
	c->s->own_files = 1;
	if (!yaml_get(c->at->n, "size"))
		fail(c, "size", "'size' is missing: how much to %s, such as 30G, or 'of', the workload "
				"whose files it takes",
			verb);
}

static void check_source(struct stream_check *c)
{
	const char *verb = c->s->op == OP_READ ? "read" : "rewrite";
	int of = -1;

	if (c->s->of) {
		of = find_of(c);
		if (of < 0) /* said; nobody may follow it */
			forget_of(c->s);
	} else if (!c->s->file && is_member(c)) {
		check_own_files(c, verb);
		return;
	} else if (!c->s->file) {
		fail(c, "of",
			"'of' is missing: a %s needs to know the workload whose files it takes",
			verb);
		return;
	} else if ((of = find_file(c)) < 0 && !all_layouts_exist(c->p)) {
		fail(c, "file", "no earlier workload writes '%s', and volumes start empty",
			c->s->file);
	}
	if (of >= 0)
		inherit(c, (unsigned)of);
	else if (c->s->file && all_layouts_exist(c->p) && !yaml_get(c->at->n, "size"))
		fail(c, "size", "'size' is missing: how much of '%s' to %s", c->s->file, verb);
}

static void check_write(struct stream_check *c)
{
	const struct plan *p = c->p;

	if (c->s->of)
		fail(c, "of", "a write makes its own files; use op: rewrite to write over others");
	forget_of(c->s);
	if (!yaml_get(c->at->n, "size"))
		fail(c, "size",
			"'size' is missing: how much to write, such as 30G or "
			"ram * 2");
	for (unsigned i = 0; i < c->at->index; i++)
		if (is_write(&p->workloads[i]) &&
			!strcmp(file_of(&p->workloads[i]), file_of(c->at->w)))
			fail(c, "file",
				"writes the same file as '%s': use another file, or {op: rewrite, "
				"of: %s}",
				p->workloads[i].name, p->workloads[i].name);
}

/* A timed rewrite leaves files that are new here and old there. */
static void check_contents(const struct stream_check *c)
{
	for (unsigned i = c->s->of_index; i < c->at->index; i++) {
		const struct workload *w = &c->p->workloads[i];

		if (w->kind == WORKLOAD_STREAM && w->stream.op == OP_REWRITE && w->duration_ns &&
			w->stream.of && !strcmp(w->stream.of, c->s->of))
			fail(c, "verify", "'%s' rewrites a part that its duration decides", w->name);
	}
}

/* What makes no sense for the op. */
static void check_op(struct stream_check *c)
{
	const struct yaml_node *sync = yaml_get(c->at->n, "sync"), *data = yaml_get(c->at->n, "data");
	struct stream *s = c->s;

	if (s->op == OP_READ) {
		if (sync && s->sync != SYNC_NONE)
			fail(c, "sync", "a read has nothing to sync");
		if (data && !s->own_files)
			fail(c, "data", "a read takes what is in the files");
		s->sync = SYNC_NONE;
	}
	if (s->verify && (s->op != OP_READ || !s->of))
		fail(c, "verify", "belongs to a read of what an earlier workload writes");
	else if (s->verify)
		check_contents(c);
	if (s->file_rate && s->rate)
		fail(c, "file-rate", "either 'rate', of all files, or 'file-rate', of each");
}

static void check_shape(const struct stream_check *c)
{
	const struct stream *s = c->s;
	unsigned parts = s->threads > s->files ? s->threads : s->files;
	int64_t bytes = s->size.ram_factor == 0 ? s->size.bytes : 0;
	char a[UNITS_LEN], b[UNITS_LEN];

	if (s->threads > s->files && s->threads % s->files)
		fail(c, "threads", "%u threads cannot share %u files evenly: use a multiple of %u",
			s->threads, s->files, s->files);
	if (bytes && bytes / parts < s->block_size)
		fail(c, yaml_get(c->at->n, "size") ? "size" : "block-size",
			"%s in %u part%s is less than one block of %s each", units_size(bytes, a),
			parts, parts == 1 ? "" : "s", units_size(s->block_size, b));
	if (s->engine == IO_PREAD && s->depth > 1)
		fail(c, "depth", "of more than 1 needs engine: io_uring; with pread, use threads");
	if ((int64_t)s->threads * s->depth > BUFFERS_MAX / s->block_size)
		fail(c, s->depth > 1 ? "depth" : "threads",
			"%llu blocks of %s need more than 1 GiB of buffers",
			(unsigned long long)s->threads * s->depth, units_size(s->block_size, a));
	if (s->direct && s->block_size % DIRECT_UNIT)
		fail(c, "block-size", "direct needs a block-size that is a multiple of %d bytes",
			DIRECT_UNIT);
	if (s->direct && bytes % DIRECT_UNIT)
		fail(c, "size", "direct needs a size that is a multiple of %d bytes", DIRECT_UNIT);
}

void stream_check(const struct workload_place *at)
{
	struct stream_check c = {at, at->p, &at->w->stream};

	if (at->n->kind != YAML_MAP || !yaml_get(at->n, "op"))
		return;
	if (c.s->op == OP_WRITE)
		check_write(&c);
	else
		check_source(&c);
	check_op(&c);
	check_shape(&c);
}
