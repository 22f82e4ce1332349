/*
 * A fileset: a tree of folders with numbered files, some of which exist. Threads pick files without
 * a lock: which exist and which don't are two sets of bits, and who clears a file's bit owns it until
 * it sets one of them again.
 *
 * Invariant: a file has at most one of its two bits set; none while a thread creates or deletes it.
 * So what is held by threads is n less the bits that are set.
 */
#ifndef AGENT_WORKLOAD_FILEBENCH_SET_H
#define AGENT_WORKLOAD_FILEBENCH_SET_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/plan/wml.h"
#include "proto/msg.h"

struct fb_bits {
	_Atomic uint64_t *words;
	uint64_t n; /* bits */
	_Atomic uint64_t rotor; /* where the next pick looks first */
};
struct fb_entry {
	uint64_t size; /* bytes it is made with */
	uint32_t dir, number;
	_Atomic uint32_t open; /* by how many descriptors */
};
struct fb_group { /* files, or leaf folders */
	struct fb_entry *v;
	uint64_t n;
	struct fb_bits exist, absent;
	const atomic_int *stop; /* nobody waits for a file any more */
};
struct fb_set {
	const struct wml_set *def;
	char *path;    /* below the volume's folder, for messages: "mail.files/spool" */
	int fd;        /* its own folder */
	char **dirs;   /* "", "00000001/", "00000001/00000003/" */
	uint32_t n_dirs;
	_Atomic uint32_t dir_rotor;
	struct fb_group files, leaves;
};

#define FB_PATH_MAX 1024
#define FB_NONE UINT64_MAX

/* Draws the tree and the sizes of its files; touches no disk. */
int fb_set_plan(struct fb_set *s, const struct wml_set *def, struct wml_random *r, struct err *e);
void fb_set_clear(struct fb_set *s);
/* Bytes of the files that exist at the start. */
uint64_t fb_set_bytes(const struct fb_set *s);
/* Of those, what fb_set_make will write: with reuse, less than what lies below parent already. */
uint64_t fb_set_missing(const struct fb_set *s, int parent);
/* Removes what a trial before made, but for reuse. parent_path: of parent, below the volume's. */
int fb_set_remove_old(const struct fb_set *s, const struct msg_worker_spec *spec, int parent,
	const char *parent_path, struct err *e);
/* Opens the set's own folder below parent (a descriptor), which is made where it isn't there. */
int fb_set_open(struct fb_set *s, const struct msg_worker_spec *spec, int parent,
	const char *parent_path, struct err *e);
/* Makes folders and files in it. With reuse, what is there is kept where it fits. source: data to
 * write, len bytes of it. */
int fb_set_make(struct fb_set *s, const struct msg_worker_spec *spec, const char *source, size_t len,
	struct err *e);
/* Takes the files' pages out of the cache, as far as the system does so. */
void fb_set_drop(const struct fb_set *s);

/* The path of a file, below s->fd, into out. */
const char *fb_path(const struct fb_set *s, const struct fb_entry *f, char out[FB_PATH_MAX]);
/* "mail.files/spool/00000001/00000017", for messages, into out. */
const char *fb_shown(const struct fb_set *s, const struct fb_entry *f, char out[FB_PATH_MAX]);

/* Where none is left and other threads hold some, picking waits for those.
 * The next one in rotation that exists, by that rotor (NULL: the set's), or FB_NONE. Not taken:
 * another thread may delete it at any moment. */
uint64_t fb_pick(struct fb_group *g, uint64_t *rotor);
/* The first that exists from index on. */
uint64_t fb_pick_from(struct fb_group *g, uint64_t index);
/* The next one that exists, or that doesn't, taken; FB_NONE. */
uint64_t fb_take(struct fb_group *g, struct fb_bits *from);
/* That very one, if it exists: 0; else -1. */
int fb_take_this(struct fb_group *g, uint64_t index);
/* Gives back what was taken. */
void fb_give(struct fb_bits *to, uint64_t index);
uint64_t fb_bits_count(const struct fb_bits *b);

#endif
