/*
 * The `parallel` workload: several workloads at once, started at one instant. Each member is a
 * workload of its own named "<parallel>.<n>", n from 1. With a duration all members end with it;
 * without one, each does its fixed work.
 */
#ifndef COMMON_PLAN_WORK_PARALLEL_H
#define COMMON_PLAN_WORK_PARALLEL_H

#include "common/plan/plan.h"

#define PARALLEL_MAX_MEMBERS 32

struct work_parallel {
	struct workload *members; /* their duration_ns is that of the whole */
	size_t n;
};

#endif
