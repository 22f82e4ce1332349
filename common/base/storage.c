/* Looking at kernel and programs. Owns nothing. */
#include "common/base/storage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"

#define FILE_MAX (16 * 1024 * 1024)
#define ZPOOL_MS 10000

static int file_has(const char *path, const char *word)
{
	struct buf text = {0};
	struct err ignored;
	int found = !fs_read_file(path, FILE_MAX, &text, &ignored) && strstr(buf_str(&text), word);

	buf_free(&text);
	return found;
}

/* In the kernel already, or as a module that mount would load. */
static int kernel_has(const char *type)
{
	static const char *const lists[] = {"modules.builtin", "modules.dep"};
	char path[512], word[32];
	struct utsname u;

	snprintf(word, sizeof(word), "\t%s\n", type);
	if (file_has("/proc/filesystems", word))
		return 1;
	if (uname(&u))
		return 0;
	snprintf(word, sizeof(word), "/%s.ko", type);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		snprintf(path, sizeof(path), "/lib/modules/%s/%s", u.release, lists[i]);
		if (file_has(path, word))
			return 1;
	}
	return 0;
}

int storage_can_make(const char *type)
{
	char program[32];

	snprintf(program, sizeof(program), "mkfs.%s", type);
	return geteuid() == 0 && fs_find_program(program) && kernel_has(type);
}

int storage_has_loops(void)
{
	int fd;

	if (geteuid() || !fs_find_program("losetup"))
		return 0;
	fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int storage_has_zfs(void)
{
	const char *zpool = fs_find_program("zpool");
	struct strv argv = {0};
	struct err ignored;
	int r;

	if (!zpool)
		return 0;
	strv_add_all(&argv, (const char *const[]){zpool, "list", "-H", "-o", "name", NULL});
	r = !proc_run_ok(&argv, ZPOOL_MS, NULL, &ignored);
	strv_free(&argv);
	return r;
}
