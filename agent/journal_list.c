/*
 * Which journals a state folder holds, told by their names alone. Holds nothing.
 * Invariant: a name is a journal's only when it is exactly the one its numbers make.
 */
#include "agent/journal.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

struct listed {
	char *path;
	struct job_key key;
};

static int compare_listed(const void *a, const void *b)
{
	const struct job_key *x = &((const struct listed *)a)->key;
	const struct job_key *y = &((const struct listed *)b)->key;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	return x->attempt < y->attempt ? -1 : x->attempt > y->attempt;
}

/* Numbers only and nothing after them: other files in the folder are not ours to read. */
static int name_parse(const char *name, struct job_key *ret)
{
	char again[128];

	if (sscanf(name, JOURNAL_PREFIX "%" SCNu64 "-%" SCNu64 "-%" SCNu32 JOURNAL_SUFFIX, &ret->run,
		    &ret->job, &ret->attempt) != 3)
		return -1;
	snprintf(again, sizeof(again),
		JOURNAL_PREFIX "%" PRIu64 "-%" PRIu64 "-%" PRIu32 JOURNAL_SUFFIX, ret->run, ret->job,
		ret->attempt);
	return strcmp(name, again) == 0 ? 0 : -1;
}

int journal_list(const char *dir, struct strv *ret, struct err *e)
{
	struct listed *v = NULL;
	size_t n = 0, cap = 0;
	struct job_key key;
	struct dirent *d;
	DIR *folder = opendir(dir);

	if (!folder)
		return err_sys(e, "cannot read the state folder %s", dir);
	while ((d = readdir(folder))) {
		if (name_parse(d->d_name, &key))
			continue;
		v = xgrow(v, n, &cap, sizeof(*v));
		v[n++] = (struct listed){xasprintf("%s/%s", dir, d->d_name), key};
	}
	closedir(folder);
	if (n)
		qsort(v, n, sizeof(*v), compare_listed);
	for (size_t i = 0; i < n; i++) {
		strv_add(ret, v[i].path);
		free(v[i].path);
	}
	free(v);
	return 0;
}
