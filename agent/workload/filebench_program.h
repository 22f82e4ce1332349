/*
 * `program: filebench`: the external program, driven and its output read. It gets the personality's
 * (or the host's) text with the plan's variables and the volume's folder written into it.
 */
#ifndef AGENT_WORKLOAD_FILEBENCH_PROGRAM_H
#define AGENT_WORKLOAD_FILEBENCH_PROGRAM_H

#include "agent/workload/workload.h"

struct fb_program;

/* Checks that the program is there, and what it is. */
int fb_program_prepare(const struct workload_order *order, struct fb_program **ret, struct err *e);
int fb_program_run(struct fb_program *p, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e);
/* See workload_engine. */
int fb_program_preview(const struct workload_order *order, struct err *e);
void fb_program_clear(struct fb_program *p);

#endif
