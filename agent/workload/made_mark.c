/* The mark of files that were made. Owns nothing. */
#include "agent/workload/made_mark.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS 16

/* Synced: no cache gives up what is dirty, where the file system is mounted elsewhere, too. */
int made_mark_write(int dir, const char *shown, const char *name, uint64_t seed, struct err *e)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	int rc = 0;

	if (fd < 0 || dprintf(fd, "%016llx\n", (unsigned long long)seed) < 0 || fsync(fd) < 0)
		rc = err_io(e, "cannot write '%s' in %s", name, shown);
	if (fd >= 0)
		close(fd);
	return rc;
}

int made_mark_take(int dir, const char *name, uint64_t *ret_seed)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[DIGITS + 1] = {0};
	uint64_t seed = 0;
	int found = 0;

	if (fd < 0)
		return 0;
	if (read(fd, text, DIGITS) == DIGITS && strspn(text, "0123456789abcdef") == DIGITS) {
		seed = strtoull(text, NULL, 16);
		found = 1;
	}
	close(fd);
	if (unlinkat(dir, name, 0) || !found)
		return 0;
	*ret_seed = seed;
	return 1;
}
