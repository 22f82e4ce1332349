/* A plan file as the verbs use it: read, parsed here before anything is sent, told about. */
#ifndef COORDINATOR_CTL_PLANFILE_H
#define COORDINATOR_CTL_PLANFILE_H

#include "common/plan/estimate.h"
#include "common/plan/plan.h"
#include "coordinator/ctl/ctl.h"
#include "proto/msg.h"

struct planfile {
	char *name; /* as the user gave it; "-" is standard input */
	struct buf text;
	struct strv sets, hosts; /* of --set and --hosts */
	struct plan *plan;       /* NULL when it has errors */
	struct yaml_errors errors;
};

/* For the verbs' tables of options. */
#define PLANFILE_OPTION_SET                                                                        \
	{                                                                                          \
		"set", 's', "PATH=VALUE",                                                          \
			"change the plan, e.g. trials=3; may be given several times"               \
	}
#define PLANFILE_OPTION_HOSTS                                                                      \
	{                                                                                          \
		"hosts", 'H', "SEL", "names, tag:TAG or all, by commas, instead of the plan's"     \
	}

/* Reads and parses. 0 also when the plan has errors (plan NULL then). */
int planfile_read(const char *name, const struct args *a, struct planfile *ret, struct err *e);
/* As planfile_read, and a plan with errors is an error: all of them go to c->more. Warnings are
 * shown. */
int planfile_load(
	struct ctl *c, const char *name, const struct args *a, struct planfile *ret, struct err *e);
void planfile_clear(struct planfile *p);

/* The call's plan, sets and hosts: borrowed from the plan file. */
void planfile_call(const struct planfile *p, enum call_verb verb, struct msg_call *ret);

/* An estimate in a few lines for people, from the JSON that calls.h describes. */
void planfile_estimate_text(const json_t *estimate, struct buf *out);

#endif
