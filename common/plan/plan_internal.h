/* Between the files of the plan parser: its tables' readers and the checks after reading. */
#ifndef COMMON_PLAN_PLAN_INTERNAL_H
#define COMMON_PLAN_PLAN_INTERNAL_H

#include "common/plan/plan.h"
#include "common/plan/read.h"

#define PLAN_MAX_DISKS 4096   /* of one selector or one set of scratch disks */
#define PLAN_MAX_GROUPS 64    /* vdev groups of a pool; selectors of a set */
#define PLAN_MAX_DATASETS 64
#define PLAN_MAX_FILES 4096
#define PLAN_MAX_THREADS 256

/* Readers by file. Each fills the type that its comment names. */
key_reader read_plan_size;  /* plan_size.c: struct plan_size */
key_reader read_disks;      /* plan_disks.c: struct disk_set */
key_reader read_pool;       /* plan_pool.c: struct pool_stage * */
key_reader read_level;      /* plan_level.c: struct vdev_group */
key_reader read_properties; /* plan_props.c: struct pool_stage */
key_reader read_datasets;   /* plan_props.c: struct pool_stage */
key_reader read_filesystem; /* plan_fs.c: struct fs_stage * */
key_reader read_stream;     /* plan_stream.c: struct workload */
key_reader read_stream_data; /* plan_stream.c: struct stream's data */
extern const struct word_list io_engine_list, stream_sync_list; /* plan_stream.c */

/* plan_layout.c: all layouts of the map, combined with the matrix (or NULL), into the plan. */
void plan_read_layouts(struct reading *r, struct yaml_node *layouts, const struct yaml_node *matrix);
/* One layout from its node; base: what the plan calls it, name: with the matrix's values. */
void plan_read_layout(struct reading *r, const struct yaml_node *n, const char *base,
	const char *name);
/* plan_matrix.c */
void plan_expand_matrix(struct reading *r, struct yaml_node *layout,
	const struct yaml_node *matrix);
/* 0 when the matrix can be used; problems are reported. */
int plan_check_matrix(struct reading *r, const struct yaml_node *matrix);
/* plan_scan.c: all workloads are scans of disks, so that a plan needs no layouts; the layout that it
 * has then. */
int plan_only_scans(const struct yaml_node *workloads);
void plan_build_nothing(struct plan *p);
/* plan_workload.c: all of them, then what spans several. */
void plan_read_workloads(struct reading *r, const struct yaml_node *n);
void plan_check_workloads(struct reading *r, const struct yaml_node *n);
/* plan_stream.c: what a stream that says nothing does; s is zeroed. */
void stream_defaults(struct stream *s);
struct workload_place;
/* plan_stream.c: what spans keys and workloads (of, file, size). */
void stream_check(const struct workload_place *at);
/* plan_compare.c: n may be NULL; layouts must be there. */
void plan_read_compare(struct reading *r, const struct yaml_node *n);
/* plan_fs_options.c */
void plan_check_fs_options(struct reading *r, const struct yaml_node *n, const char *path,
	const struct fs_stage *fs);
void plan_check_mount_options(struct reading *r, const struct yaml_node *n, const char *path,
	const struct fs_stage *fs);
/* plan_check.c: what spans layouts, workloads and the top level. */
void plan_check_whole(struct reading *r, const struct yaml_node *root);

/* One role of a layout's stage and the disks it asks for. */
struct role_set {
	const char *role; /* static, see bind.h */
	const char *key;  /* static: where the plan says so, below the layout */
	unsigned group;   /* within the role */
	const struct disk_set *disks;
	const struct vdev_group *vdev; /* NULL: a plain set */
};
#define LAYOUT_MAX_ROLES (PLAN_MAX_GROUPS + 5)
/* All roles of a layout that ask for disks, data first; returns how many. */
size_t layout_roles(const struct layout *l, struct role_set ret[LAYOUT_MAX_ROLES]);

/* "layouts.x: known are a, b, c" for wrong layout and workload names. Caller frees. */
char *plan_layout_names(const struct plan *p);
int plan_find_layout(const struct plan *p, const char *name); /* index or -1 */
void layout_clear(struct layout *l);
void vdev_group_clear(struct vdev_group *g);
void disk_set_clear(struct disk_set *s);
void disk_selector_clear(struct disk_selector *s);
void properties_free(struct property *props, size_t n);
void pool_stage_free(struct pool_stage *p);
void fs_stage_free(struct fs_stage *f);
/* Data per group of a draid: what zpool would choose for n children. */
unsigned draid_data_disks(const struct vdev_group *g, unsigned n);

#endif
