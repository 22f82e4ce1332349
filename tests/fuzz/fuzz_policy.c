/* Any text as a policy: never a crash or a leak, and nothing dangerous in what is accepted. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/plan/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static void use_disks(const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		MUST(!strncmp(list->v[i], "serial:", 7) || !strncmp(list->v[i], "wwn:", 4));
	(void)policy_names_disk(list, "serial:A");
}

static void use_paths(const struct strv *list)
{
	for (size_t i = 0; i < list->n; i++)
		MUST(list->v[i][0] == '/' && !strstr(list->v[i], "/../"));
}

static void use(const struct policy *p)
{
	use_disks(&p->disks);
	use_disks(&p->wipe);
	use_paths(&p->inputs);
	use_paths(&p->programs);
	for (size_t i = 0; i < p->n_directories; i++)
		MUST(p->directories[i].path && strlen(p->directories[i].path) > 1);
	MUST(!p->scratch_directory == !p->scratch_limit);
	MUST((p->hours_from < 0) == (p->hours_to < 0) && p->hours_from < 1440);
	MUST(!p->coordinator || strchr(p->coordinator, ':'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_errors errs = {0};
	struct policy *p = NULL;
	struct err e;

	if (policy_parse("fuzz.yaml", (const char *)data, size, &p, &errs, &e) == 0)
		use(p);
	else
		MUST(errs.list.n > 0 && !p);
	policy_free(p);
	yaml_errors_free(&errs);
	return 0;
}
