/*
 * Disks for a scan. Owns the descriptors until they are sent.
 * Invariant: nothing here opens for writing, and a disk that is not the layout's own is opened only
 * where the policy says scan: true.
 */
#include "agent/volume/scan_disks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/fdpass.h"
#include "agent/volume/device.h"
#include "common/base/mem.h"
#include "common/plan/bind_disk.h"

/* A disk by its kernel name, opened under a path that stays. */
struct chosen {
	struct strv names, paths;
};

static void choose(struct chosen *c, const struct inv_disk *d)
{
	if (strv_has(&c->names, d->name))
		return;
	strv_add(&c->names, d->name);
	strv_add(&c->paths, d->path);
}

static int choose_ids(struct chosen *c, const struct bind_disks *all, const struct strv *ids,
	struct err *e)
{
	for (size_t i = 0; i < ids->n; i++) {
		const struct bind_disk *d = bind_disks_find(all, ids->v[i]);

		if (!d)
			return err_set(e, ERR_NOTFOUND, "the disk %s is not in this host",
				ids->v[i]);
		choose(c, d->d);
	}
	return 0;
}

static int choose_selected(struct chosen *c, const struct bind_disks *all,
	const struct disk_selector *s, struct err *e)
{
	struct buf what = {0};
	unsigned n = 0;

	if (s->ids.n)
		return choose_ids(c, all, &s->ids, e);
	for (size_t i = 0; i < all->n && (!s->count || n < s->count); i++)
		if (selector_matches(s, &all->v[i])) {
			choose(c, all->v[i].d);
			n++;
		}
	if (n > 0 && n >= s->count)
		return 0;
	selector_text(s, &what);
	err_set(e, ERR_NOTFOUND, "%u disks of this host fit (%s), the scan wants %u", n,
		what.len ? buf_str(&what) : "any", s->count ? s->count : 1);
	buf_free(&what);
	return -1;
}

static int choose_of_host(const struct volume_ctx *ctx, const struct work_scan *s,
	struct chosen *c, struct err *e)
{
	const struct disk_selector any = {.rotational = -1};
	struct bind_disks all;
	int status = 0;

	bind_disks_init(&all, ctx->plan, ctx->inv);
	if (s->all)
		status = choose_selected(c, &all, &any, e);
	for (size_t i = 0; i < s->disks.n && !status; i++)
		status = choose_selected(c, &all, &s->disks.v[i], e);
	bind_disks_clear(&all);
	return status;
}

static int choose_own(const struct volume *v, struct chosen *c, struct err *e)
{
	for (size_t i = 0; i < v->disks.n; i++) {
		strv_add(&c->names, v->disks.v[i]);
		strv_addf(&c->paths, "/dev/%s", v->disks.v[i]);
	}
	if (c->names.n)
		return 0;
	return err_set(e, ERR_INPUT,
		"the layout stands on plain files, and not on disks that could be read one by one: "
		"run the agent as root, or select the host's disks");
}

/* What is open is the block device that the kernel calls by that name. */
static int check_open(int fd, const char *name, const char *path, struct err *e)
{
	struct stat st;
	char *kernel, *link;
	int same;

	if (fstat(fd, &st))
		return err_sys(e, "cannot look at %s", path);
	if (!S_ISBLK(st.st_mode))
		return err_set(e, ERR_WRONG_STATE, "%s is not a disk", path);
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return err_set(e, ERR_DENIED, "%s was opened for more than reading", path);
	link = xasprintf("/proc/self/fd/%d", fd);
	kernel = device_kernel_name(link);
	same = kernel && !strcmp(kernel, name);
	if (!same)
		err_set(e, ERR_WRONG_STATE, "%s leads to %s now, it was %s when the host was read",
			path, kernel ? kernel : "something else", name);
	free(kernel);
	free(link);
	return same ? 0 : -1;
}

static int open_disk(const char *name, const char *path, int *ret, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return err_set(e, ERR_DENIED, "cannot open %s for reading: %s", path,
			geteuid() == 0 ? "the agent runs as root, but in a container or sandbox that "
					 "keeps it from this disk"
				       : "an agent that runs as an ordinary user reads the disks that "
					 "its user may read");
	if (fd < 0)
		return err_sys(e, "cannot open %s for reading", path);
	if (check_open(fd, name, path, e)) {
		close(fd);
		return -1;
	}
	*ret = fd;
	return 0;
}

static int open_and_send(const struct chosen *c, int to, struct strv *ret, struct err *e)
{
	int fds[SCAN_MAX_DISKS] = {0}, status;
	struct err why;
	size_t n = 0;

	for (size_t i = 0; i < c->names.n; i++) {
		if (open_disk(c->names.v[i], c->paths.v[i], &fds[n], &why)) {
			strv_addf(ret, "%s %s", c->names.v[i], why.text);
			if (i == 0)
				*e = why;
		} else {
			strv_add(ret, c->names.v[i]);
			n++;
		}
	}
	status = n ? fds_send(to, fds, n, e) : -1;
	while (n > 0)
		close(fds[--n]);
	return status;
}

int scan_disks_send(const struct volume_ctx *ctx, const struct volume *v, const struct work_scan *s,
	int to, struct strv *ret, struct err *e)
{
	int of_host = scan_is_of_host(s) || v->kind == VOLUME_EXISTING;
	struct chosen c = {0};
	int status;

	if (of_host && !(ctx->policy && ctx->policy->scan))
		return err_set(e, ERR_DENIED,
			"the policy has no line 'allow.scan: true': only a layout's own disks may be "
			"read");
	status = scan_is_of_host(s) ? choose_of_host(ctx, s, &c, e) : choose_own(v, &c, e);
	if (!status && c.names.n > SCAN_MAX_DISKS)
		status = err_set(e, ERR_INPUT, "%zu disks are more than the %d of one scan: select some",
			c.names.n, SCAN_MAX_DISKS);
	if (!status)
		status = open_and_send(&c, to, ret, e);
	strv_free(&c.names);
	strv_free(&c.paths);
	return status;
}
