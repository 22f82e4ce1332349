/*
 * The policy of a host: what its owner allows. Read by the agent only; nothing is allowed that it
 * does not name. Parsing is here because the format is the plan's sibling; enforcing is agent/policy.
 */
#ifndef COMMON_PLAN_POLICY_H
#define COMMON_PLAN_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/yaml.h"

struct policy_directory {
	char *path; /* absolute */
	int remount;
};
struct policy {
	char *coordinator; /* host:port or NULL */
	struct strv tags;
	struct strv disks; /* serial:… wwn:…, globs possible; never sdX */
	struct strv wipe;
	int scan;
	struct strv controllers;
	struct policy_directory *directories;
	size_t n_directories;
	char *scratch_directory; /* NULL: no scratch */
	int64_t scratch_limit;   /* bytes */
	struct strv inputs, programs;
	int plans_approved_only;
	char *hook_before, *hook_after; /* absolute, or NULL */
	int hours_from, hours_to; /* minutes of the day; -1: always */
	int64_t job_limit_ns; /* 0: none */
};

int policy_parse(const char *name, const char *text, size_t len, struct policy **ret,
	struct yaml_errors *errs, struct err *e);
void policy_free(struct policy *p);
/* fs_check_owned + fs_read_file + policy_parse. A missing file is ERR_NOTFOUND with the remedy. */
int policy_load(const char *path, struct policy **ret, struct yaml_errors *errs, struct err *e);
/* The id ("serial:…"/"wwn:…") is named by the list (globs). */
int policy_names_disk(const struct strv *list, const char *id);

#endif
