/* The system's own facts, from /proc, /etc/os-release and uname. Holds nothing. */
#include "agent/volume/inspect_system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/host.h"
#include "agent/volume/environment.h"
#include "agent/workload/uring.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/storage.h"
#include "common/plan/work_fio.h"

#define FILE_MAX (16 * 1024 * 1024)
#define FIO_MS 10000

/* The rest of the first line that begins with key, without blanks, colon and quotes around it. */
static char *line_value(const char *file, const char *key)
{
	struct buf text = {0};
	struct err ignored;
	char *value = NULL, *rest, *line;

	if (fs_read_file(file, FILE_MAX, &text, &ignored))
		return NULL;
	rest = text.data;
	while (!value && (line = strsep(&rest, "\n"))) {
		size_t len;

		if (!str_starts(line, key))
			continue;
		line += strlen(key);
		line += strspn(line, " \t:=\"");
		len = strlen(line);
		while (len && strchr(" \t\"", line[len - 1]))
			len--;
		value = len ? xstrndup(line, len) : NULL;
	}
	buf_free(&text);
	return value;
}

static uint64_t ram_bytes(void)
{
	char *kib = line_value("/proc/meminfo", "MemTotal");
	uint64_t bytes = kib ? strtoull(kib, NULL, 10) * 1024 : 0;

	free(kib);
	return bytes;
}

static void add_filesystem(struct inventory *inv, const char *type)
{
	if (storage_can_make(type))
		strv_add(&inv->capabilities, type);
}

/* NULL where the kernel does not tell. */
static char *boot_id(void)
{
	struct buf text = {0};
	struct err ignored;

	if (fs_read_file("/proc/sys/kernel/random/boot_id", 64, &text, &ignored) != 0) {
		buf_free(&text);
		return NULL;
	}
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	return buf_take(&text);
}

/* "fio 3.33": of the program that plans get when they name none. */
static void add_fio(struct inventory *inv)
{
	struct strv argv = {0};
	struct buf out = {0};
	struct err ignored;

	strv_add(&argv, FIO_PROGRAM);
	strv_add(&argv, "--version");
	if (!access(FIO_PROGRAM, X_OK) && !proc_run_ok(&argv, FIO_MS, &out, &ignored) &&
		str_starts(buf_str(&out), "fio-") && strlen(buf_str(&out)) < 64)
		strv_addf(&inv->capabilities, "fio %.*s", (int)strcspn(out.data + 4, "\r\n"),
			out.data + 4);
	buf_free(&out);
	strv_free(&argv);
}

/* By the user that workers run as: the sysctl lets some and not others. */
static void add_io_uring(struct inventory *inv)
{
	struct spawn_user u;
	struct err ignored;

	if (spawn_user_find(AGENT_WORK_USER, &u, &ignored) == 0 &&
		uring_check_user(u.drop, u.uid, u.gid, &ignored) == 0)
		strv_add(&inv->capabilities, "io_uring");
}

void inspect_system(struct inventory *inv)
{
	struct utsname u;
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	inv->os = line_value("/etc/os-release", "PRETTY_NAME");
	inv->cpu = line_value("/proc/cpuinfo", "model name");
	inv->boot_id = boot_id();
	inv->cpus = n > 0 ? (uint32_t)n : 1;
	inv->ram_bytes = ram_bytes();
	inv->agent_version = xstrdup(ARRAYMARK_VERSION);
	environment_of_host("", inv);
	inv->scratch_loop = storage_has_loops();
	add_io_uring(inv);
	if (uname(&u))
		return;
	inv->kernel = xasprintf("%s %s", u.sysname, u.release);
	inv->arch = xstrdup(u.machine);
	add_filesystem(inv, "xfs");
	add_filesystem(inv, "ext4");
	add_fio(inv);
}
