/* The flowops of a program as the threads run them. Owns them and their gates. */
#include <stdlib.h>
#include <string.h>

#include "agent/workload/filebench.h"
#include "common/base/mem.h"

static fb_flow *const flows[] = {
	[FLOW_READ] = fb_read,
	[FLOW_WRITE] = fb_write,
	[FLOW_AIOWRITE] = fb_aiowrite,
	[FLOW_AIOWAIT] = fb_aiowait,
	[FLOW_OPENFILE] = fb_openfile,
	[FLOW_CREATEFILE] = fb_createfile,
	[FLOW_CLOSEFILE] = fb_closefile,
	[FLOW_DELETEFILE] = fb_deletefile,
	[FLOW_MAKEDIR] = fb_makedir,
	[FLOW_REMOVEDIR] = fb_removedir,
	[FLOW_LISTDIR] = fb_listdir,
	[FLOW_FSYNC] = fb_fsync,
	[FLOW_FSYNCSET] = fb_fsyncset,
	[FLOW_STATFILE] = fb_statfile,
	[FLOW_READWHOLEFILE] = fb_readwholefile,
	[FLOW_WRITEWHOLEFILE] = fb_writewholefile,
	[FLOW_APPENDFILE] = fb_appendfile,
	[FLOW_APPENDFILERAND] = fb_appendfilerand,
	[FLOW_BLOCK] = fb_block,
	[FLOW_WAKEUP] = fb_wakeup,
	[FLOW_SEMBLOCK] = fb_semblock,
	[FLOW_SEMPOST] = fb_sempost,
	[FLOW_HOG] = fb_hog,
	[FLOW_DELAY] = fb_delay,
	[FLOW_EVENTLIMIT] = fb_eventlimit,
	[FLOW_BWLIMIT] = fb_bwlimit,
	[FLOW_IOPSLIMIT] = fb_iopslimit,
	[FLOW_OPSLIMIT] = fb_opslimit,
	[FLOW_FINISHONCOUNT] = fb_finishoncount,
	[FLOW_FINISHONBYTES] = fb_finishonbytes,
	[FLOW_PRINT] = fb_print,
	[FLOW_COMPOSITE] = NULL, /* has a body instead */
};

static size_t buffer_bytes(const struct wml_op *d)
{
	if (d->type->flow != FLOW_READ && d->type->flow != FLOW_READWHOLEFILE)
		return 0;
	if (d->iosize.dist || d->iosize.fixed == 0 || d->iosize.fixed > (int64_t)FB_PIECE_BYTES)
		return FB_PIECE_BYTES;
	return (size_t)d->iosize.fixed;
}

/* Descriptors that the flowop may hold open. */
static unsigned fds_of(const struct fb_run *r, const struct wml_op *d)
{
	if (d->set < 0)
		return 0;
	if (!d->next_fd || d->fd > 0)
		return 1;
	return r->sets[d->set].files.n < WML_MAX_FDS ? (unsigned)r->sets[d->set].files.n : WML_MAX_FDS;
}

static void make_gates(struct fb_op *op, const struct wml_group *g)
{
	pthread_condattr_t attr;

	op->n_gates = g->processes * g->instances;
	op->gates = xcalloc(op->n_gates, sizeof(*op->gates));
	pthread_condattr_init(&attr);
	for (unsigned i = 0; i < op->n_gates; i++) {
		pthread_mutex_init(&op->gates[i].lock, NULL);
		pthread_cond_init(&op->gates[i].changed, &attr);
		op->gates[i].room = op->def->high_water;
	}
	pthread_condattr_destroy(&attr);
}

static void build_ops(const struct fb_run *r, struct fb_threads *g, const struct wml_op *v, size_t n,
	struct fb_op **ret)
{
	*ret = xcalloc(n + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++) {
		struct fb_op *op = &(*ret)[i];
		size_t bytes = buffer_bytes(&v[i]);

		op->def = &v[i];
		op->run = flows[v[i].type->flow];
		op->id = g->n_ids++;
		op->n_body = v[i].n_body;
		g->fds += fds_of(r, &v[i]);
		if (bytes > g->read_bytes)
			g->read_bytes = bytes;
		if (v[i].type->flow == FLOW_SEMBLOCK || v[i].type->flow == FLOW_BLOCK)
			make_gates(op, g->def);
		build_ops(r, g, v[i].body, v[i].n_body, &op->body);
	}
}

static const struct fb_op *find(const struct fb_op *v, size_t n, const char *name)
{
	const struct fb_op *found = NULL;

	for (size_t i = 0; i < n && !found; i++)
		found = strcmp(v[i].def->name, name) == 0 ? &v[i] : find(v[i].body, v[i].n_body, name);
	return found;
}

/* Targets: of posts in any group, of limits and finishes in the thread's own. */
static int connect_ops(const struct fb_run *r, const struct fb_threads *own, struct fb_op *v, size_t n,
	struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		struct fb_op *op = &v[i];
		enum wml_flow flow = op->def->type->flow;
		int posts = flow == FLOW_SEMPOST || flow == FLOW_WAKEUP;

		if (connect_ops(r, own, op->body, op->n_body, e) < 0)
			return -1;
		if (!op->def->target)
			continue;
		for (size_t g = 0; posts && g < r->program->n_groups && !op->post; g++)
			op->post = find(r->groups[g].ops, r->groups[g].n_ops, op->def->target);
		if (!posts)
			op->target = find(own->ops, own->n_ops, op->def->target);
		if (!op->post && !op->target)
			return err_set(e, ERR_INPUT,
				"%s:%d:%d: the target '%s' is not among the flowops of the same thread",
				r->program->file, op->def->at.line, op->def->at.column, op->def->target);
	}
	return 0;
}

int fb_build(struct fb_run *r, struct err *e)
{
	size_t n = r->program->n_groups;

	r->groups = xcalloc(n, sizeof(*r->groups));
	for (size_t g = 0; g < n; g++) {
		const struct wml_group *def = &r->program->groups[g];

		r->groups[g].def = def;
		r->groups[g].n_ops = def->n_ops;
		r->groups[g].read_bytes = 4096;
		build_ops(r, &r->groups[g], def->ops, def->n_ops, &r->groups[g].ops);
	}
	for (size_t g = 0; g < n; g++)
		if (connect_ops(r, &r->groups[g], r->groups[g].ops, r->groups[g].n_ops, e) < 0)
			return -1;
	return 0;
}

static void ops_free(struct fb_op *v, size_t n)
{
	for (size_t i = 0; v && i < n; i++) {
		for (unsigned k = 0; k < v[i].n_gates; k++) {
			pthread_mutex_destroy(&v[i].gates[k].lock);
			pthread_cond_destroy(&v[i].gates[k].changed);
		}
		free(v[i].gates);
		ops_free(v[i].body, v[i].n_body);
	}
	free(v);
}

void fb_build_clear(struct fb_run *r)
{
	for (size_t g = 0; r->groups && g < r->program->n_groups; g++)
		ops_free(r->groups[g].ops, r->groups[g].n_ops);
	free(r->groups);
}
