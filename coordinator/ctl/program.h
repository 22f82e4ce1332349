/* Programs of ours, started beside this one: in a session of their own, said to a log file. */
#ifndef COORDINATOR_CTL_PROGRAM_H
#define COORDINATOR_CTL_PROGRAM_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/err.h"

/* Absolute path of a program in the folder of this one; the caller frees. ERR_NOTFOUND. */
int program_find(const char *name, char **ret, struct err *e);
/* Starts it with stdin from `input` (a text, may be NULL) and everything said appended to the log.
 * dies_with_us: gets SIGTERM when this process ends, however it does. */
int program_start(const struct strv *argv, const char *input, const char *log, int dies_with_us,
	pid_t *ret, struct err *e);
/* As program_start, then waits for its end; a status other than 0 is an error with the log's last
 * line. */
int program_run(const struct strv *argv, const char *input, const char *log, struct err *e);
/* 1 when the child has ended (and is gone); ret_status is waitpid's. timeout_ms -1: for ever. */
int program_ended(pid_t pid, int timeout_ms, int *ret_status);
/* Waits until any process is gone, child or not. 1: gone. */
int program_gone(pid_t pid, int timeout_ms);
/* "ended with status 3: <the log's last line>" or "was killed by signal 9". */
void program_say_end(const char *name, int status, const char *log, struct err *e);

#endif
