/* Workload files: reading one whole, and questions about what was read. */
#include "common/plan/wml.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/wml_internal.h"

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_settings(const struct wml *w, struct strv *out)
{
	for (size_t i = 0; i < w->n_vars; i++) {
		const struct wml_variable *var = &w->vars[i];

		if (var->v.kind == VALUE_NUMBER)
			strv_addf(out, "%s=%lld", var->name, (long long)var->v.number);
		else if (var->v.kind == VALUE_BOOL)
			strv_addf(out, "%s=%s", var->name, var->v.number ? "true" : "false");
		else if (var->v.kind == VALUE_TEXT && strcmp(var->name, "dir"))
			strv_addf(out, "%s=%.200s", var->name, var->v.text);
		else if (var->v.kind == VALUE_RANDOM)
			strv_addf(out, "%s=random, mean %.10g", var->name, wml_dist_mean(var->v.dist));
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), compare_text);
}

int wml_load(const char *name, const char *text, size_t len, const struct wml_setting *settings,
	size_t n, struct wml_program **ret, struct err *e)
{
	struct wml_program *p = xcalloc(1, sizeof(*p));
	struct wml *w = xcalloc(1, sizeof(*w));

	p->file = xstrdup(name);
	p->source = w;
	w->file = xstrdup(name);
	if (len > WML_MAX_BYTES) {
		(void)err_set(e, ERR_INPUT, "%s: %zu bytes, a workload file has at most %d", name, len,
			WML_MAX_BYTES);
		goto fail;
	}
	if (wml_apply_settings(w, settings, n, e) || wml_parse(w, text, len, e) ||
		wml_check_settings(w, settings, n, e) || wml_build(w, p, e))
		goto fail;
	list_settings(w, &p->settings);
	*ret = p;
	return 0;
fail:
	wml_free(p);
	return -1;
}

void wml_space(const struct wml_program *p, double *ret_all, double *ret_prealloc)
{
	*ret_all = *ret_prealloc = 0;
	for (size_t i = 0; i < p->n_sets; i++) {
		const struct wml_set *s = &p->sets[i];
		double bytes = (double)s->entries * wml_number_mean(&s->size);

		*ret_all += bytes;
		*ret_prealloc += bytes * s->prealloc / 100;
	}
}

static int any_op(const struct wml_op *v, size_t n, int (*is)(const struct wml_op *op))
{
	for (size_t i = 0; i < n; i++)
		if (is(&v[i]) || any_op(v[i].body, v[i].n_body, is))
			return 1;
	return 0;
}

static int any(const struct wml_program *p, int (*is)(const struct wml_op *op))
{
	for (size_t g = 0; g < p->n_groups; g++)
		if (any_op(p->groups[g].ops, p->groups[g].n_ops, is))
			return 1;
	return 0;
}

static int is_write(const struct wml_op *op)
{
	return op->type->is_write || op->type->flow == FLOW_CREATEFILE;
}

static int is_read(const struct wml_op *op)
{
	return op->type->is_read;
}

static int is_sync(const struct wml_op *op)
{
	return op->type->flow == FLOW_FSYNC || op->type->flow == FLOW_FSYNCSET ||
	       (op->type->is_write && op->dsync);
}

int wml_reads(const struct wml_program *p)
{
	return any(p, is_read);
}

int wml_writes(const struct wml_program *p)
{
	return any(p, is_write);
}

int wml_syncs(const struct wml_program *p)
{
	return any(p, is_sync);
}
