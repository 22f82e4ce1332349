/*
 * `filebench`: a personality that is built in, or a workload file of the host, run by our own engine
 * or by the program of that name.
 */
#ifndef COMMON_PLAN_WORK_FILEBENCH_H
#define COMMON_PLAN_WORK_FILEBENCH_H

#include "common/plan/plan.h"
#include "common/plan/wml.h"

#define FILEBENCH_MAX_SETTINGS 64

struct work_filebench {
	char *personality; /* one of wml_personality_names; NULL with wml */
	char *wml;         /* absolute path on the host */
	char *program;     /* NULL: native; else the absolute path of filebench */
	enum data_kind data;
	unsigned compressible_percent; /* of DATA_COMPRESSIBLE */
	int dialect;                   /* 'A' … 'D': how the IO Summary line is written */
	struct wml_setting *settings;  /* own their strings */
	size_t n_settings;
};

/* The text of the built-in personality, as a program with the settings. Not for wml: the file is
 * the host's. */
int filebench_load(const struct work_filebench *f, struct wml_program **ret, struct err *e);

#endif
