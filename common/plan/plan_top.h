/* The table of a plan's top level: plan_top.c, used by plan_parse.c only. */
#ifndef COMMON_PLAN_PLAN_TOP_H
#define COMMON_PLAN_PLAN_TOP_H

#include "common/plan/read.h"

extern const struct key_table plan_top_table;

#endif
