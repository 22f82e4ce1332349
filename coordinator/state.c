/*
 * Owns nothing between calls. Invariant: root gives away only files of the closed list below which it made
 * itself and which have no other name: the folder is another account's, who may put anything in it.
 */
#include "coordinator/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "coordinator/options.h"

static const char *const files[] = {"lock", "store.db", "store.db-wal", "store.db-shm", "ca.pem", "ca.key",
	"server.pem", "server.key"};

static int give(int folder, const char *name, const struct stat *of, struct err *e)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r = 0;

	if (fd < 0) /* a symlink, or what is no file, is none of ours */
		return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : err_sys(e, "cannot open %s", name);
	if (fstat(fd, &st))
		r = err_sys(e, "cannot look at %s", name);
	else if (S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid == 0 &&
		 fchown(fd, of->st_uid, of->st_gid))
		r = err_sys(e, "cannot give %s to the owner of its folder", name);
	close(fd);
	return r;
}

int state_give(const char *state, struct err *e)
{
	struct stat st;
	int folder, r = 0;

	if (geteuid() != 0)
		return 0;
	folder = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : err_sys(e, "cannot open %s", state);
	if (fstat(folder, &st))
		r = err_sys(e, "cannot look at %s", state);
	for (size_t i = 0; !r && st.st_uid != 0 && i < ARRAY_LEN(files); i++)
		r = give(folder, files[i], &st, e) ? err_prefix(e, "%s", state) : 0;
	close(folder);
	return r;
}

char *state_remedy(const char *state, const char *usual, const char *former)
{
	char *store = xasprintf("%s/store.db", former), *ret;

	if (strcmp(state, usual) == 0 && access(store, F_OK) == 0)
		ret = xasprintf("there is a store in %s, where the state was by default before: move it with "
				"`mkdir -p -m 700 %s && mv %s/store.db* %s/ca.* %s/server.* %s/`, or go on there with "
				"--state %s",
			former, state, former, former, former, state, former);
	else
		ret = xasprintf("make it with `arraymark-coordinator init --state %s`", state);
	free(store);
	return ret;
}

int state_missing(const char *path, const char *state, struct err *e)
{
	char *remedy = state_remedy(state, OPTIONS_STATE, STATE_FORMER);
	int r = err_set(e, ERR_NOTFOUND, "%s is not there; %s", path, remedy);

	free(remedy);
	return r;
}
