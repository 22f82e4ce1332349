/*
 * The driver of a layout that builds nothing: for plans that only scan the host's disks. Owns
 * nothing. Invariant: it makes no step, so there is nothing to take down.
 */
#include "agent/volume/driver.h"

#include "common/base/mem.h"

static int is_for(const struct layout *l)
{
	return l->none;
}

static int build(struct volume_ctx *ctx, const struct layout *l, struct volume *ret, struct err *e)
{
	(void)ctx;
	(void)e;
	ret->kind = VOLUME_NONE;
	ret->name = xstrdup(l->name);
	ret->mount = xstrdup("/");
	ret->directory = xstrdup("/");
	ret->filesystem = xstrdup("none");
	ret->identity = xstrdup("nothing is built: the host's disks as they are, for reading");
	return 0;
}

static int check(struct volume_ctx *ctx, const struct volume *v, struct err *e)
{
	(void)ctx;
	(void)v;
	(void)e;
	return 0;
}

static int make_cold(struct volume_ctx *ctx, struct volume *v, struct buf *done, struct err *e)
{
	(void)ctx;
	(void)v;
	(void)e;
	buf_adds(done, "as it was: a scan reads past every cache of the host");
	return 0;
}

const struct volume_driver none_driver = {"none", is_for, build, check, make_cold};
