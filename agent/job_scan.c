/*
 * Disks for a scan on their way to its worker: a helper opens them, for reading only, and sends the
 * descriptors into a socket whose other end the worker gets. The monitor never holds one of them.
 * Owns both ends of the socket from the making of the cache state to the start of the worker.
 */
#include "agent/job_internal.h"

#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/plan/work_scan.h"

int scan_begin(struct job *j, struct err *e)
{
	if (j->plan->workloads[j->trial.workload].kind != WORKLOAD_DISK_SCAN)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, j->trial.scan_fds)) {
		memset(j->trial.scan_fds, 0, sizeof(j->trial.scan_fds));
		return err_sys(e, "cannot make a socket for a scan's disks");
	}
	return 0;
}

static void close_end(int *fd)
{
	if (*fd)
		close(*fd);
	*fd = 0;
}

void scan_end(struct trial *t)
{
	close_end(&t->scan_fds[0]);
	close_end(&t->scan_fds[1]);
}

void scan_opened(struct job *j, const json_t *result, struct msg_worker_spec *spec)
{
	const json_t *name;
	size_t i;

	close_end(&j->trial.scan_fds[0]); /* so that a worker waits for nobody */
	json_array_foreach(json_object_get(result, "scan_disks"), i, name)
		strv_add(&spec->disks, json_string_value(name));
}

int scan_reads_host(const struct plan *p)
{
	for (size_t i = 0; i < p->n_workloads; i++)
		if (p->workloads[i].kind == WORKLOAD_DISK_SCAN &&
			scan_is_of_host(p->workloads[i].scan))
			return 1;
	return 0;
}
