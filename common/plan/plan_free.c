/* Freeing of plans and their parts; each takes what reading left behind, however incomplete. */
#include <stdlib.h>
#include <string.h>

#include "common/plan/workload_type.h"

void disk_selector_clear(struct disk_selector *s)
{
	strv_free(&s->ids);
	strv_free(&s->exclude);
	free(s->controller);
	free(s->enclosure);
	free(s->slot);
	free(s->model);
	free(s->transport);
	free(s->serial);
	free(s->wwn);
	memset(s, 0, sizeof(*s));
}

void disk_set_clear(struct disk_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		disk_selector_clear(&s->v[i]);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

void vdev_group_clear(struct vdev_group *g)
{
	free(g->level_text);
	disk_set_clear(&g->disks);
	memset(g, 0, sizeof(*g));
}

void properties_free(struct property *props, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(props[i].name);
		free(props[i].value);
	}
	free(props);
}

void pool_stage_free(struct pool_stage *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_vdevs; i++)
		vdev_group_clear(&p->vdevs[i]);
	free(p->vdevs);
	disk_set_clear(&p->spares);
	disk_set_clear(&p->cache);
	vdev_group_clear(&p->log);
	vdev_group_clear(&p->special);
	properties_free(p->props, p->n_props);
	properties_free(p->pool_props, p->n_pool_props);
	for (size_t i = 0; i < p->n_datasets; i++) {
		free(p->datasets[i].name);
		properties_free(p->datasets[i].props, p->datasets[i].n_props);
	}
	free(p->datasets);
	free(p);
}

void fs_stage_free(struct fs_stage *f)
{
	if (!f)
		return;
	disk_set_clear(&f->disks);
	strv_free(&f->options);
	strv_free(&f->mount);
	free(f);
}

void layout_clear(struct layout *l)
{
	free(l->name);
	free(l->existing);
	pool_stage_free(l->pool);
	fs_stage_free(l->fs);
	memset(l, 0, sizeof(*l));
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->name);
	strv_free(&p->hosts);
	for (size_t i = 0; i < p->n_layouts; i++)
		layout_clear(&p->layouts[i]);
	free(p->layouts);
	for (size_t i = 0; i < p->n_workloads; i++)
		workload_clear(&p->workloads[i]);
	free(p->workloads);
	free(p->pairs);
	free(p->by);
	strv_free(&p->metrics);
	strv_free(&p->wipe);
	strv_free(&p->warnings);
	free(p);
}
