/* The agent's place on its host. Owns the strings of struct host. */
#include "agent/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/plan/plan.h"

#define RUN_FOLDER "/run/arraymark"

int host_state_folder(const struct agent_options *opt, char **ret, struct err *e)
{
	struct stat st;

	if (fs_mkdir_p(opt->state, 0711, e) || fs_realpath(opt->state, ret, e))
		return -1;
	if (stat(*ret, &st) || st.st_uid != geteuid() || (st.st_mode & 022)) {
		err_set(e, ERR_DENIED, "%s must belong to user %u and be writable by nobody else",
			*ret, (unsigned)geteuid());
		free(*ret);
		return -1;
	}
	return 0;
}

int host_read(const char *state, const char *file, size_t max, char **ret, struct err *e)
{
	char *path = xasprintf("%s/%s", state, file);
	struct buf text = {0};
	int status = fs_read_file(path, max, &text, e);

	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.data[--text.len] = '\0';
	if (!status)
		*ret = buf_take(&text);
	buf_free(&text);
	free(path);
	return status;
}

static int read_identity(struct host *h, struct err *e)
{
	if (host_read(h->state, "name", 256, &h->name, e) ||
		host_read(h->state, "coordinator", 512, &h->coordinator, e)) {
		if (e->code == ERR_NOTFOUND)
			err_set(e, ERR_NOTFOUND,
				"this host is not enrolled (nothing in %s): make a token on the "
				"coordinator and run `arraymark-agent join HOST:PORT`",
				h->state);
		return -1;
	}
	return plan_check_name(h->name, "host", 1, e);
}

static int find_self(struct host *h, struct err *e)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n < 0)
		return err_sys(e, "cannot find our own program");
	path[n] = '\0';
	h->self = xstrdup(path);
	return 0;
}

int host_open(const struct agent_options *opt, struct host *ret, struct err *e)
{
	struct host h = {.opt = opt, .privileged = geteuid() == 0};

	if (host_state_folder(opt, &h.state, e))
		return -1;
	if (read_identity(&h, e) || find_self(&h, e) ||
		(opt->name && plan_check_name(opt->name, "agent", 1, e)) ||
		spawn_user_find(AGENT_LINK_USER, &h.link_user, e) ||
		spawn_user_find(AGENT_WORK_USER, &h.work_user, e)) {
		host_clear(&h);
		return -1;
	}
	h.lock = xasprintf("%s/work.lock", h.state);
	h.mount_root = h.privileged ? xasprintf(RUN_FOLDER "/%s", opt->name ? opt->name : h.name)
				    : xasprintf("%s/mnt", h.state);
	*ret = h;
	return 0;
}

void host_clear(struct host *h)
{
	free(h->state);
	free(h->name);
	free(h->coordinator);
	free(h->self);
	free(h->mount_root);
	free(h->lock);
	memset(h, 0, sizeof(*h));
}
