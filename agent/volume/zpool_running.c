/*
 * What `zpool status` says of work that runs in the background, and the text of a compression ratio.
 * Pure: text in, numbers out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/volume/zpool_status.h"
#include "common/base/mem.h"

/* "  scan: …" -> "…"; NULL where the line is no such field. OpenZFS says scan, remove and expand; what
 * came before it says scrub, also of a resilver. */
static const char *work_of(const char *line)
{
	static const char *const fields[] = {"scan:", "scrub:", "remove:", "expand:"};

	line += strspn(line, " \t");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (str_starts(line, fields[i]))
			return line + strlen(fields[i]) + strspn(line + strlen(fields[i]), " ");
	return NULL;
}

/* "scrub in progress since …" -> "scrub"; "Evacuation of mirror in progress" -> its first word. */
static void work_told(const char *work, const char *pool,
	void (*found)(void *arg, const char *what), void *arg)
{
	char *what;

	if (!strstr(work, "in progress"))
		return;
	what = xasprintf("%.*s of %s", (int)strcspn(work, " "), work, pool);
	found(arg, what);
	free(what);
}

/* A device's row ends in "(12% initialized, started at …)" or, of older ones, "(initializing)". */
static int is_initializing(const char *line)
{
	const char *at = strstr(line, "% initialized");

	if (strstr(line, "(initializing"))
		return 1;
	return at && !strstr(at, "completed") && !strstr(at, "suspended");
}

int zpool_running_parse(const char *text, void (*found)(void *arg, const char *what), void *arg)
{
	char *copy = xstrdup(text), *rest = copy, *line, pool[256] = "";
	int initializing = 0;

	while ((line = strsep(&rest, "\n"))) {
		const char *work = work_of(line), *name = line + strspn(line, " ");

		if (str_starts(name, "pool:")) {
			name += strlen("pool:") + strspn(name + strlen("pool:"), " ");
			snprintf(pool, sizeof(pool), "%.*s", (int)strcspn(name, " \t"), name);
			initializing = 0;
		} else if (*pool && work) {
			work_told(work, pool, found, arg);
		} else if (*pool && !initializing && is_initializing(line)) {
			initializing = 1;
			work_told("initialisation in progress", pool, found, arg);
		}
	}
	free(copy);
	return *pool || strstr(text, "no pools available") ? 0 : -1;
}

int zfs_ratio_parse(const char *text, int64_t *ret_permille)
{
	char *end;
	double ratio = strtod(text, &end);

	if (end == text || !(ratio >= 1 && ratio < 1e6))
		return -1;
	end += *end == 'x';
	if (end[strspn(end, " \t\r\n")])
		return -1;
	*ret_permille = (int64_t)(ratio * 1000 + 0.5);
	return 0;
}
