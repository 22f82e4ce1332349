/*
 * Programs that are run, loop devices that stand for disks, and children that hold something. Loop devices
 * need root.
 */
#ifndef TESTS_UNIT_LOOP_KIT_H
#define TESTS_UNIT_LOOP_KIT_H

#include "tests/unit/test.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/proc.h"

/* words: what follows the program's name, NULL-terminated; out: its output, or NULL. 0: it ended well;
 * -1: it did not, or is not there. */
static inline int kit_run(const char *program, const char *const *words, struct buf *out)
{
	const char *path = fs_find_program(program);
	struct strv argv = {0};
	struct err ignored;
	int status = -1;

	if (path) {
		strv_add(&argv, path);
		strv_add_all(&argv, words);
		status = proc_run_ok(&argv, 20000, out, &ignored);
	}
	strv_free(&argv);
	return status;
}

/* The loop device that stands for the file, into ret. -1: this machine or this user has none. */
static inline int kit_attach(const char *file, char *ret, size_t size)
{
	struct buf out = {0};
	int status = kit_run("losetup", (const char *const[]){"--find", "--show", file, NULL}, &out);

	if (!status)
		snprintf(ret, size, "%.*s", (int)strcspn(out.data, "\n"), out.data);
	buf_free(&out);
	return status;
}

static inline int kit_detach(const char *device)
{
	return kit_run("losetup", (const char *const[]){"-d", device, NULL}, NULL);
}

/* A child that does its part, tells so, and lives until it is killed or we are gone. Returns its pid. */
static inline pid_t kit_beside(int (*part)(void))
{
	int ready[2];
	char c = 'n';
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!part() && write(ready[1], "y", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(c, 'y');
	close(ready[0]);
	return pid;
}

static inline void kit_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#endif
