/*
 * Setting a ring up, feeding it, and saying why not. Owns the ring; files and buffers are the
 * caller's and must outlive it.
 *
 * Each completion is followed by its own submission: collecting several before the next system call
 * leaves the disk with a shorter queue meanwhile, which cost a sixth of the operations in trials.
 */
#include "agent/workload/uring.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/units.h"

#define DISABLED "/proc/sys/kernel/io_uring_disabled"

/* The sysctl's value, 0 where it is not. */
static int disabled(void)
{
	struct buf text = {0};
	struct err ignored;
	int value = 0;

	if (fs_read_file(DISABLED, 64, &text, &ignored) == 0)
		value = *buf_str(&text) >= '0' && *buf_str(&text) <= '9' ? *buf_str(&text) - '0' : 0;
	buf_free(&text);
	return value;
}

static int refuse(int error, struct err *e)
{
	int how = disabled();

	if (error == ENOSYS)
		return err_set(e, ERR_DENIED,
			"this kernel has no io_uring (it came with Linux 5.1; a seccomp filter may hide it, "
			"too): use engine: pread");
	if ((error == EPERM || error == EACCES) && how)
		return err_set(e, ERR_DENIED,
			"io_uring is switched off here (sysctl kernel.io_uring_disabled is %d): set it to "
			"0, or use engine: pread",
			how);
	if (error == EPERM || error == EACCES)
		return err_set(e, ERR_DENIED,
			"io_uring is forbidden here, by a seccomp filter (of a container?) or a security "
			"module: allow it, or use engine: pread");
	errno = error;
	if (error == ENOMEM)
		return err_sys(e, "cannot make an io_uring: raise the limit of locked memory "
				  "(RLIMIT_MEMLOCK), lower depth, or use engine: pread");
	return err_sys(e, "cannot make an io_uring: use engine: pread");
}

static int make_ring(struct uring *u, struct err *e)
{
	struct io_uring_params p = {.flags = IORING_SETUP_COOP_TASKRUN};
	int rc = io_uring_queue_init_params(u->depth, &u->ring, &p);

	if (rc == -EINVAL) /* older than 5.19 */
		rc = io_uring_queue_init(u->depth, &u->ring, 0);
	if (rc < 0)
		return refuse(-rc, e);
	u->is_open = 1;
	return 0;
}

int uring_open(struct uring *u, unsigned depth, const int *fd, unsigned n_fd, void *buffers,
	size_t len, struct err *e)
{
	struct iovec all = {.iov_base = buffers, .iov_len = len};
	int rc;

	*u = (struct uring){.depth = depth};
	if (make_ring(u, e))
		return -1;
	rc = io_uring_register_files(&u->ring, fd, n_fd);
	if (rc < 0) {
		errno = -rc;
		err_sys(e, "cannot register %u files with io_uring: use engine: pread", n_fd);
		uring_close(u);
		return -1;
	}
	u->has_buffers = io_uring_register_buffers(&u->ring, &all, 1) == 0;
	return 0;
}

/* The kernel ends a ring some time after this returns: its files are taken out first, so that the
 * volume can be unmounted now. */
void uring_close(struct uring *u)
{
	if (u->is_open) {
		io_uring_unregister_files(&u->ring);
		io_uring_queue_exit(&u->ring);
	}
	u->is_open = 0;
}

/* The ring has an entry for each operation that may be under way, so there is a free one. */
void uring_queue(struct uring *u, int is_read, unsigned file, void *b, size_t len, uint64_t offset,
	uint64_t tag)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&u->ring);

	if (u->has_buffers && is_read)
		io_uring_prep_read_fixed(s, (int)file, b, (unsigned)len, offset, 0);
	else if (u->has_buffers)
		io_uring_prep_write_fixed(s, (int)file, b, (unsigned)len, offset, 0);
	else if (is_read)
		io_uring_prep_read(s, (int)file, b, (unsigned)len, offset);
	else
		io_uring_prep_write(s, (int)file, b, (unsigned)len, offset);
	s->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data64(s, tag);
}

void uring_queue_fsync(struct uring *u, unsigned file, uint64_t tag)
{
	struct io_uring_sqe *s = io_uring_get_sqe(&u->ring);

	io_uring_prep_fsync(s, (int)file, 0);
	s->flags |= IOSQE_FIXED_FILE;
	io_uring_sqe_set_data64(s, tag);
}

/* 1: *ret is a completion; 0: none by due_ns; -errno. */
static int wait_for(struct uring *u, int64_t due_ns, struct io_uring_cqe **ret)
{
	struct __kernel_timespec ts;
	int64_t left;
	int rc;

	if (io_uring_peek_cqe(&u->ring, ret) == 0) {
		rc = io_uring_sq_ready(&u->ring) ? io_uring_submit(&u->ring) : 0;
		return rc < 0 ? rc : 1;
	}
	if (due_ns == INT64_MAX) {
		rc = io_uring_submit_and_wait(&u->ring, 1);
		if (rc >= 0)
			rc = io_uring_peek_cqe(&u->ring, ret);
		return rc < 0 ? rc : 1;
	}
	rc = io_uring_submit(&u->ring);
	left = due_ns - clock_mono_ns();
	if (rc < 0 || left <= 0)
		return rc < 0 ? rc : 0;
	ts.tv_sec = left / NS_PER_S;
	ts.tv_nsec = left % NS_PER_S;
	rc = io_uring_wait_cqe_timeout(&u->ring, ret, &ts);
	return rc == -ETIME ? 0 : rc < 0 ? rc : 1;
}

int uring_next(struct uring *u, int64_t due_ns, uint64_t *ret_tag, int *ret_result, struct err *e)
{
	struct io_uring_cqe *c = NULL;
	int rc;

	do
		rc = wait_for(u, due_ns, &c);
	while (rc == -EINTR || rc == -EAGAIN);
	if (rc < 0) {
		errno = -rc;
		return err_sys(e, "waiting for io_uring");
	}
	if (rc == 0)
		return 0;
	*ret_tag = io_uring_cqe_get_data64(c);
	*ret_result = c->res;
	io_uring_cqe_seen(&u->ring, c);
	return 1;
}

/* ---- whether it can be had ---- */

static int try_ring(void)
{
	struct io_uring ring;
	int rc = io_uring_queue_init(4, &ring, 0);

	if (rc < 0)
		return -rc;
	io_uring_queue_exit(&ring);
	return 0;
}

static _Noreturn void try_as(int drop, uid_t uid, gid_t gid)
{
	if (drop && (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)))
		_exit(EPERM);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	_exit(try_ring());
}

int uring_check_user(int drop, uid_t uid, gid_t gid, struct err *e)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		try_as(drop, uid, gid);
	if (pid < 0)
		return err_sys(e, "cannot start a process");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, "cannot wait for a process");
	if (!WIFEXITED(status))
		return err_set(e, ERR_FAILED, "a process that tried io_uring was killed");
	return WEXITSTATUS(status) == 0 ? 0 : refuse(WEXITSTATUS(status), e);
}
