/* Output files. Invariant: after outfile_close no temporary file is left. */
#include "coordinator/ctl/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"

static int fail(const char *path, struct err *e)
{
	err_sys(e, "cannot write %s", path);
	if (e->code == ERR_DENIED)
		e->code = ERR_IO; /* no question of access to a coordinator */
	return -1;
}

/* Devices and pipes (/dev/stdout, >(…)) cannot be renamed over. */
static int is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

int outfile_open(const char *path, struct outfile *ret, struct err *e)
{
	struct outfile o = {.f = stdout};
	int fd;

	if (!path || !strcmp(path, "-")) {
		*ret = o;
		return 0;
	}
	o.path = xstrdup(path);
	if (!is_special(path))
		o.temporary = xasprintf("%s.%ld.part", path, (long)getpid());
	fd = open(o.temporary ? o.temporary : path,
		O_WRONLY | O_CLOEXEC | (o.temporary ? O_CREAT | O_EXCL : 0), 0666);
	o.f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!o.f) {
		fail(path, e);
		free(o.path);
		free(o.temporary);
		return -1;
	}
	*ret = o;
	return 0;
}

int outfile_write(struct outfile *o, const void *data, size_t len, struct err *e)
{
	if (fwrite(data, 1, len, o->f) == len)
		return 0;
	return fail(o->path ? o->path : "standard output", e);
}

int outfile_close(struct outfile *o, int keep, struct err *e)
{
	const char *name = o->path ? o->path : "standard output";
	int bad = fflush(o->f) || (o->temporary && fsync(fileno(o->f)));

	if (o->path)
		bad = fclose(o->f) || bad;
	if (!bad && keep && o->temporary)
		bad = rename(o->temporary, o->path) != 0;
	if (bad && keep)
		fail(name, e);
	if ((bad || !keep) && o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	memset(o, 0, sizeof(*o));
	return bad && keep ? -1 : 0;
}
