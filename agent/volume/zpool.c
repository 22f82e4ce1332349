/* One way to ask zpool. Owns nothing. */
#include "agent/volume/zpool.h"

#include "common/base/fs.h"

int zpool_is_installed(void)
{
	return fs_find_program("zpool") != NULL;
}

int zpool_ask(const char *const *words, struct proc_result *ret, struct err *e)
{
	const char *zpool = fs_find_program("zpool");
	struct strv argv = {0};
	int status;

	if (!zpool)
		return err_set(e, ERR_NOTFOUND, "the program 'zpool' is not installed here");
	strv_add(&argv, zpool);
	strv_add_all(&argv, words);
	status = proc_run(&argv, 0, ret, e);
	if (!status && (ret->timed_out || !ret->exited)) {
		status = proc_check(&argv, ret, e);
		proc_result_free(ret);
	}
	strv_free(&argv);
	return status;
}
