/* The agent's verbs: one function each, found in main.c's table. */
#ifndef AGENT_COMMANDS_H
#define AGENT_COMMANDS_H

#include "agent/host.h"
#include "common/base/args.h"

/* Exit statuses of all verbs. */
#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_DENIED 3

/* a: the verb's own options and arguments, as many as its row in main.c allows. Errors go to stderr
 * by command_error. */
int command_join(const struct agent_options *opt, const struct args *a);
int command_policy_check(const struct agent_options *opt, const struct args *a);
int command_policy_init(const struct agent_options *opt, const struct args *a);
int command_approve(const struct agent_options *opt, const struct args *a);
int command_stop(const struct agent_options *opt, const struct args *a);
int command_volumes(const struct agent_options *opt, const struct args *a);

/* Prints "arraymark-agent: text" and gives the exit status for the code. */
int command_error(const struct err *e);

#endif
