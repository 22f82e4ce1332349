/* A `command` workload: one program of the host, timed. */
#ifndef COMMON_PLAN_WORK_COMMAND_H
#define COMMON_PLAN_WORK_COMMAND_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

#define COMMAND_MAX_ARGS 256
#define COMMAND_ARG_MAX 4096 /* bytes */

/* A fact of its trials: bytes that it wrote into files. */
#define COMMAND_WRITTEN "file_bytes_written"

enum command_parse {
	PARSE_AUTO, /* whatever it looks like, if anything */
	PARSE_NONE, /* text */
	PARSE_DD,
	PARSE_TIME,
	PARSE_FILEBENCH,
	PARSE_FIO,
	PARSE_BONNIE,
	PARSE_IOZONE,
	PARSE_ELBENCHO,
};
struct work_command {
	struct strv argv;    /* argv[0]: absolute path; {dir} and {trial} in the others */
	int64_t timeout_ns;  /* 0: as long as the job may take */
	int sync;            /* what it wrote goes to the disks within its time */
	int parse;           /* enum command_parse: what its output is */
};

/* Programs whose arguments only their own workloads choose and check, whatever folder they are in: fio,
 * filebench. ERR_DENIED for their names; links are the caller's to follow. */
int command_program_check(const char *path, struct err *e);
/* The name of the format in common/formats; NULL for auto and none. */
const char *command_format(enum command_parse parse);
/* An argument with its placeholders replaced; caller frees. */
char *command_argument(const char *arg, const char *dir, const char *trial);

#endif
