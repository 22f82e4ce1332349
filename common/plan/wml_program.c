/*
 * What a workload file says, made a program: names looked up, values checked, calls of composite
 * flowops taken apart. Owns the program and, through it, the source.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

#define NAME_MAX_LEN 64
#define DEPTH_MAX 8 /* composite flowops in each other */
#define RUN_MAX_S (7 * 24 * 3600)
#define IOSIZE_MAX (1LL << 30)

struct build {
	struct wml *w;
	struct wml_program *p;
	size_t ops; /* so far, each once a thread */
	struct err *e;
};

static void ops_free(struct wml_op *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].target);
		free(v[i].text);
		ops_free(v[i].body, v[i].n_body);
	}
	free(v);
}

void wml_free(struct wml_program *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_sets; i++)
		free(p->sets[i].name);
	for (size_t i = 0; i < p->n_groups; i++) {
		free(p->groups[i].process);
		free(p->groups[i].name);
		ops_free(p->groups[i].ops, p->groups[i].n_ops);
	}
	free(p->sets);
	free(p->groups);
	free(p->file);
	free(p->echo);
	strv_free(&p->settings);
	wml_source_free(p->source);
	free(p);
}

/* A name that is also one of a folder. */
static int take_name(const struct wml_eval *x, const struct wml_item *item, const char *otherwise,
	char **ret)
{
	const char *c;

	if (wml_eval_text(x, item, ATTR_NAME, ret))
		return -1;
	if (!*ret) {
		if (!otherwise)
			return wml_fail(x->w->file, item->at, x->e, "'name=' is missing");
		*ret = xstrdup(otherwise);
		return 0;
	}
	for (c = *ret; isalnum((unsigned char)*c) || (*c && strchr("._:-+", *c)); c++)
		;
	if (*c || c == *ret || **ret == '.' || c - *ret > NAME_MAX_LEN)
		return wml_fail(x->w->file, item->v[ATTR_NAME].at, x->e,
			"'%.64s' is not a name: letters, digits, '.', '_', ':', '+' and '-', at most %d, "
			"not starting with '.'",
			*ret, NAME_MAX_LEN);
	return 0;
}

/* ---- filesets ---- */

/* A percentage, or a word alone: all of them. */
static int take_prealloc(const struct wml_eval *x, const struct wml_item *item, int *ret)
{
	struct wml_value v;
	int64_t n;

	*ret = 0;
	if (item->v[ATTR_PREALLOC].kind == VALUE_NONE)
		return 0;
	if (wml_eval(x, &item->v[ATTR_PREALLOC], &v))
		return -1;
	if (v.kind == VALUE_BOOL)
		n = v.number ? 100 : 0;
	else if (wml_eval_int(x, item, ATTR_PREALLOC, 0, 0, 100, &n))
		return -1;
	*ret = (int)n;
	return 0;
}

static int take_widths(const struct wml_eval *x, const struct wml_item *item, struct wml_set *s)
{
	int64_t gamma;

	if (wml_eval_int(x, item, ATTR_ENTRIES, item->is_file ? 1 : 0, 0, WML_MAX_ENTRIES, &s->entries) ||
		wml_eval_int(x, item, ATTR_LEAFDIRS, 0, 0, WML_MAX_ENTRIES, &s->leaf_dirs) ||
		wml_eval_int(x, item, ATTR_DIRGAMMA, item->is_file ? 0 : 1500, 0, 1000000, &gamma) ||
		wml_eval_number(x, item, ATTR_DIRWIDTH, item->is_file ? 10 : 0, &s->width))
		return -1;
	s->dir_gamma = (double)gamma / 1000;
	if (s->entries == 0 && s->leaf_dirs == 0)
		return wml_fail(x->w->file, item->at, x->e,
			"fileset '%s' has no files: 'entries=' is missing or 0", s->name);
	if (wml_number_mean(&s->width) != 0 && wml_number_mean(&s->width) < 2)
		return wml_fail(x->w->file,
			item->v[ATTR_DIRWIDTH].at, x->e,
			"fileset '%s': 'dirwidth' must be 2 or more (0 or left out: one folder)",
			s->name);
	return 0;
}

static int build_set(struct build *b, const struct wml_item *item, struct wml_set *s)
{
	struct wml_eval x = {b->w, NULL, b->e};
	int trust;

	s->at = item->at;
	if (take_name(&x, item, NULL, &s->name) ||
		wml_eval_number(&x, item, ATTR_SIZE, 1024, &s->size) || take_widths(&x, item, s) ||
		take_prealloc(&x, item, &s->prealloc) ||
		wml_eval_bool(&x, item, ATTR_REUSE, &s->reuse) ||
		wml_eval_bool(&x, item, ATTR_TRUSTTREE, &trust) ||
		wml_eval_bool(&x, item, ATTR_READONLY, &s->read_only) ||
		wml_eval_bool(&x, item, ATTR_WRITEONLY, &s->write_only))
		return -1;
	s->reuse |= trust;
	for (const struct wml_set *o = b->p->sets; o < s; o++)
		if (strcmp(o->name, s->name) == 0)
			return wml_fail(b->w->file, item->at, b->e,
				"a second fileset '%s': the first is in line %d", s->name, o->at.line);
	return 0;
}

static int build_sets(struct build *b)
{
	b->p->sets = xcalloc(b->w->n_sets + 1, sizeof(*b->p->sets));
	for (size_t i = 0; i < b->w->n_sets; i++) {
		b->p->n_sets = i + 1;
		if (build_set(b, b->w->sets[i], &b->p->sets[i]))
			return -1;
	}
	return 0;
}

/* ---- flowops ---- */

static int find_set(struct build *b, const struct wml_eval *x, const struct wml_item *item,
	struct wml_op *op)
{
	const char **words;
	char *name;
	const char *near;

	op->set = -1;
	if (wml_eval_text(x, item, ATTR_FILE, &name))
		return -1;
	if (!name)
		return 0;
	for (size_t i = 0; i < b->p->n_sets; i++)
		if (strcmp(b->p->sets[i].name, name) == 0)
			op->set = (int)i;
	if (op->set < 0) {
		words = xcalloc(b->p->n_sets + 1, sizeof(*words));
		for (size_t i = 0; i < b->p->n_sets; i++)
			words[i] = b->p->sets[i].name;
		near = str_nearest(name, words);
		(void)wml_fail(b->w->file, item->v[ATTR_FILE].at, b->e,
			"there is no fileset '%.64s'%s%s%s", name, near ? "; did you mean '" : "",
			near ? near : "", near ? "'?" : "");
		free(words);
	}
	free(name);
	return op->set < 0 ? -1 : 0;
}

static int take_value(const struct wml_eval *x, const struct wml_item *item, struct wml_op *op)
{
	if (op->type->flow == FLOW_PRINT)
		return wml_eval_text(x, item, ATTR_VALUE, &op->text);
	return wml_eval_number(x, item, ATTR_VALUE, 0, &op->value);
}

static int take_numbers(const struct wml_eval *x, const struct wml_item *item, struct wml_op *op)
{
	int64_t fd, srcfd;

	if (wml_eval_int(x, item, ATTR_FD, 0, 0, WML_MAX_FDS - 1, &fd) ||
		wml_eval_int(x, item, ATTR_SRCFD, 0, 0, WML_MAX_FDS - 1, &srcfd) ||
		wml_eval_number(x, item, ATTR_IOSIZE, 0, &op->iosize) || take_value(x, item, op) ||
		wml_eval_number(x, item, ATTR_INDEXED, 0, &op->index) ||
		wml_eval_int(x, item, ATTR_WORKINGSET, 0, 0, INT64_MAX, &op->working_set) ||
		wml_eval_int(x, item, ATTR_HIGHWATER, 1, 0, INT32_MAX, &op->high_water))
		return -1;
	op->fd = (int)fd;
	op->srcfd = (int)srcfd;
	op->has_index = item->v[ATTR_INDEXED].kind != VALUE_NONE;
	return 0;
}

static int take_flags(const struct wml_eval *x, const struct wml_item *item, struct wml_op *op)
{
	return wml_eval_bool(x, item, ATTR_RANDOM, &op->random) ||
			       wml_eval_bool(x, item, ATTR_DSYNC, &op->dsync) ||
			       wml_eval_bool(x, item, ATTR_DIRECTIO, &op->direct) ||
			       wml_eval_bool(x, item, ATTR_OPENNEXT, &op->next_fd) ||
			       wml_eval_bool(x, item, ATTR_BLOCKING, &op->blocking) ||
			       wml_eval_bool(x, item, ATTR_NOREADAHEAD, &op->no_readahead)
		       ? -1
		       : 0;
}

static int check_op(struct build *b, const struct wml_item *item, const struct wml_op *op)
{
	const struct wml_flow_type *t = op->type;
	const char *file = b->w->file;

	if ((t->needs & NEED_SET) && op->set < 0)
		return wml_fail(file, item->at, b->e, "%s wants a fileset: 'filesetname=' is missing",
			t->word);
	if ((t->needs & NEED_SET_OR_FD) && op->set < 0 && op->fd == 0)
		return wml_fail(file, item->at, b->e, "%s wants 'fd=' or 'filesetname='", t->word);
	if ((t->needs & NEED_IOSIZE) && !op->iosize.dist && op->iosize.fixed == 0)
		return wml_fail(file, item->at, b->e, "%s wants an 'iosize=' of more than 0", t->word);
	if (!op->iosize.dist && op->iosize.fixed > IOSIZE_MAX)
		return wml_fail(file, item->v[ATTR_IOSIZE].at, b->e, "'iosize' is %lld, the most is 1g",
			(long long)op->iosize.fixed);
	if ((t->needs & NEED_TARGET) && !op->target)
		return wml_fail(file, item->at, b->e, "%s wants 'target=': the name of a flowop", t->word);
	if ((t->needs & NEED_VALUE) && item->v[ATTR_VALUE].kind == VALUE_NONE)
		return wml_fail(file, item->at, b->e, "%s wants 'value='", t->word);
	if (t->flow == FLOW_AIOWRITE && !op->random)
		return wml_fail(file, item->at, b->e, "aiowrite wants 'random'");
	if (op->direct && op->iosize.fixed % 512 && !op->iosize.dist && (t->is_read || t->is_write))
		return wml_fail(file, item->at, b->e,
			"directio wants an 'iosize' in multiples of 512, not %lld",
			(long long)op->iosize.fixed);
	return 0;
}

/* Flowops on files want a fileset that has some; those on folders do with leaf folders alone. */
static int check_files(struct build *b, const struct wml_item *item, const struct wml_op *op)
{
	const struct wml_set *s = op->set < 0 ? NULL : &b->p->sets[op->set];
	enum wml_flow flow = op->type->flow;

	if (!s || s->entries || flow == FLOW_MAKEDIR || flow == FLOW_REMOVEDIR || flow == FLOW_LISTDIR)
		return 0;
	return wml_fail(b->w->file, item->at, b->e,
		"%s: the fileset '%s' has no files, only folders: give it 'entries='", op->type->word,
		s->name);
}

static int build_ops(struct build *b, const struct wml_env *env, const struct wml_item *parent,
	const char *prefix, int depth, struct wml_op **ret, size_t *ret_n);

static const struct wml_flow_type composite_type = {"composite", FLOW_COMPOSITE, 0, 0, 0, 0};

static int build_call(struct build *b, const struct wml_env *env, const struct wml_item *item,
	int depth, struct wml_op *op)
{
	struct wml_env inner = {item, NULL, env};

	op->type = &composite_type;
	if (depth == DEPTH_MAX)
		return wml_fail(b->w->file, item->at, b->e,
			"composite flowops in each other more than %d deep", DEPTH_MAX);
	for (size_t i = 0; i < b->w->n_composites; i++)
		if (strcmp(b->w->composites[i]->v[ATTR_NAME].text, item->type) == 0)
			inner.definition = b->w->composites[i];
	return build_ops(b, &inner, inner.definition, op->name, depth + 1, &op->body, &op->n_body);
}

static int build_op(struct build *b, const struct wml_env *env, const struct wml_item *item,
	const char *prefix, int depth, struct wml_op *op)
{
	struct wml_eval x = {b->w, env, b->e};
	char *own;

	op->at = item->at;
	op->type = item->flow ? item->flow : &composite_type;
	op->set = -1;
	if (++b->ops > WML_MAX_OPS)
		return wml_fail(b->w->file, item->at, b->e, "more than %d flowops over all threads",
			WML_MAX_OPS);
	if (take_name(&x, item, item->type, &op->name))
		return -1;
	if (prefix) {
		own = op->name;
		op->name = xasprintf("%s.%s", prefix, own);
		free(own);
	}
	if (wml_eval_number(&x, item, ATTR_ITERS, 1, &op->iters))
		return -1;
	if (!item->flow)
		return build_call(b, env, item, depth, op);
	if (find_set(b, &x, item, op) || take_numbers(&x, item, op) || take_flags(&x, item, op) ||
		wml_eval_text(&x, item, ATTR_TARGET, &op->target))
		return -1;
	return check_op(b, item, op) || check_files(b, item, op) ? -1 : 0;
}

static int build_ops(struct build *b, const struct wml_env *env, const struct wml_item *parent,
	const char *prefix, int depth, struct wml_op **ret, size_t *ret_n)
{
	*ret = xcalloc(parent->n_items + 1, sizeof(**ret));
	for (size_t i = 0; i < parent->n_items; i++) {
		*ret_n = i + 1;
		if (build_op(b, env, parent->items[i], prefix, depth, &(*ret)[i]))
			return -1;
	}
	return 0;
}

/* ---- groups of threads ---- */

static int build_group(struct build *b, const struct wml_item *process, const struct wml_item *thread,
	struct wml_group *g)
{
	struct wml_eval x = {b->w, NULL, b->e};
	int64_t processes, instances;
	size_t before = b->ops, each;

	if (take_name(&x, process, "process", &g->process) || take_name(&x, thread, "thread", &g->name) ||
		wml_eval_int(&x, process, ATTR_INSTANCES, 1, 1, WML_MAX_THREADS, &processes) ||
		wml_eval_int(&x, thread, ATTR_INSTANCES, 1, 1, WML_MAX_THREADS, &instances))
		return -1;
	g->processes = (unsigned)processes;
	g->instances = (unsigned)instances;
	if (processes * instances + b->p->threads > WML_MAX_THREADS)
		return wml_fail(b->w->file, thread->at, b->e, "more than %d threads over all processes",
			WML_MAX_THREADS);
	b->p->threads += g->processes * g->instances;
	if (build_ops(b, NULL, thread, NULL, 0, &g->ops, &g->n_ops))
		return -1;
	each = b->ops - before;
	b->ops = before + each * g->processes * g->instances;
	if (b->ops > WML_MAX_OPS)
		return wml_fail(b->w->file, thread->at, b->e, "more than %d flowops over all threads",
			WML_MAX_OPS);
	return 0;
}

static int build_groups(struct build *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->w->n_processes; i++)
		n += b->w->processes[i]->n_items;
	if (n == 0)
		return err_set(b->e, ERR_INPUT, "%s: there is no 'define process': nothing would run",
			b->w->file);
	b->p->groups = xcalloc(n, sizeof(*b->p->groups));
	for (size_t i = 0; i < b->w->n_processes; i++)
		for (size_t k = 0; k < b->w->processes[i]->n_items; k++)
			if (build_group(b, b->w->processes[i], b->w->processes[i]->items[k],
				    &b->p->groups[b->p->n_groups++]))
				return -1;
	return 0;
}

/* ---- targets ---- */

static const struct wml_op *find_op(const struct wml_op *v, size_t n, const char *name)
{
	const struct wml_op *found = NULL;

	for (size_t i = 0; i < n && !found; i++)
		found = strcmp(v[i].name, name) == 0 ? &v[i] : find_op(v[i].body, v[i].n_body, name);
	return found;
}

/* What may be at the other end; NULL: anything that is counted. */
static const char *wrong_target(const struct wml_op *op, const struct wml_op *target)
{
	switch (op->type->flow) {
	case FLOW_SEMPOST:
		return target->type->flow == FLOW_SEMBLOCK ? NULL : "a semblock";
	case FLOW_WAKEUP:
		return target->type->flow == FLOW_BLOCK ? NULL : "a block";
	case FLOW_BWLIMIT:
	case FLOW_IOPSLIMIT:
	case FLOW_FINISHONBYTES:
		return target->type->is_read || target->type->is_write ? NULL : "a flowop that reads or writes";
	default:
		return NULL;
	}
}

static int check_targets(const struct build *b, const struct wml_op *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct wml_op *found = NULL;
		const char *wanted;

		if (check_targets(b, v[i].body, v[i].n_body))
			return -1;
		if (!v[i].target)
			continue;
		for (size_t g = 0; g < b->p->n_groups && !found; g++)
			found = find_op(b->p->groups[g].ops, b->p->groups[g].n_ops, v[i].target);
		if (!found)
			return wml_fail(b->w->file, v[i].at, b->e, "there is no flowop '%.64s' to be the target",
				v[i].target);
		wanted = wrong_target(&v[i], found);
		if (wanted)
			return wml_fail(b->w->file, v[i].at, b->e, "the target of %s must be %s, '%.64s' is a %s",
				v[i].type->word, wanted, v[i].target, found->type->word);
	}
	return 0;
}

/* ---- the whole ---- */

static int take_top(struct build *b)
{
	struct wml_item top = {.kind = ITEM_EVENTGEN};
	struct wml_eval x = {b->w, NULL, b->e};
	int rc;

	top.v[ATTR_RATE] = b->w->rate;
	top.v[ATTR_VALUE] = b->w->run;
	rc = wml_eval_int(&x, &top, ATTR_RATE, 0, 0, 1000000000, &b->p->event_rate);
	if (!rc)
		rc = wml_eval_int(&x, &top, ATTR_VALUE, 0, 0, INT64_MAX, &b->p->run_s);
	if (!rc && b->p->run_s > RUN_MAX_S)
		rc = wml_fail(b->w->file, b->w->run.at, b->e, "run: %lld seconds are more than 7 days",
			(long long)b->p->run_s);
	b->p->mode = b->w->mode;
	b->p->echo = buf_take(&b->w->echo);
	return rc;
}

int wml_build(struct wml *w, struct wml_program *p, struct err *e)
{
	struct build b = {w, p, 0, e};

	if (take_top(&b) || build_sets(&b) || build_groups(&b))
		return -1;
	for (size_t g = 0; g < p->n_groups; g++)
		if (check_targets(&b, p->groups[g].ops, p->groups[g].n_ops))
			return -1;
	return 0;
}
