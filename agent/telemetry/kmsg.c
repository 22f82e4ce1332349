/*
 * The kernel's log. Owns the list of failures. The texts are those of blk_print_req_error() and its
 * predecessors since Linux 3.10: "I/O error, dev sda, sector 2048 …", "critical medium error, dev …".
 */
#include "agent/telemetry/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define RECORD_MAX 8192  /* Documentation/ABI/testing/dev-kmsg */
#define RECORDS_MAX 1000000 /* a log that is written to faster than it is read ends somewhere */
#define CLOCKS_APART 1000
#define FACILITY(priority) ((priority) >> 3) /* 0: the kernel's own words */

void kmsg_clear(struct kmsg *k)
{
	free(k->errors);
	*k = (struct kmsg){0};
}

static void add(struct kmsg *k, uint64_t number, int64_t us, const char *disk, size_t len)
{
	struct kmsg_error *e;

	if (k->n == KMSG_ERRORS_MAX) {
		memmove(k->errors, k->errors + 1, --k->n * sizeof(*k->errors));
		k->first = k->errors[0].number; /* what is before it is told no more */
	}
	k->errors = xgrow(k->errors, k->n, &k->cap, sizeof(*k->errors));
	e = &k->errors[k->n++];
	e->number = number;
	e->us = us;
	snprintf(e->disk, sizeof(e->disk), "%.*s", (int)len, disk);
}

void kmsg_take(struct kmsg *k, const char *record)
{
	static const char mark[] = " error, dev ", after[] = ", sector ";
	const char *text = strchr(record, ';'), *disk;
	unsigned priority;
	uint64_t number;
	int64_t us;
	size_t len;

	if (!text || sscanf(record, "%u,%" SCNu64 ",%" SCNd64 ",", &priority, &number, &us) != 3)
		return;
	if (!k->known || number != k->next) /* some were lost before they were read */
		k->first = number;
	k->known = 1;
	k->next = number + 1;
	k->us = us;
	disk = FACILITY(priority) ? NULL : strstr(text, mark);
	if (!disk)
		return;
	disk += strlen(mark);
	len = strcspn(disk, ", \n");
	if (len && len < KMSG_DISK_MAX && str_starts(disk + len, after))
		add(k, number, us, disk, len);
}

/* A burst that the newest record ended goes on only when that is not long ago. The log's clock and the
 * monotonic one go apart with time: by less than one part in CLOCKS_APART, the most that a clock is ever
 * slewed by being half of it. */
static void settle_time(struct kmsg *k, int64_t now_us)
{
	if (now_us - k->us > KMSG_BURST_US + now_us / CLOCKS_APART)
		k->us = now_us;
}

void kmsg_read(const char *path, struct kmsg *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *record = xmalloc(RECORD_MAX + 1);
	struct kmsg k = {0};

	for (int i = 0; fd >= 0 && i < RECORDS_MAX; i++) {
		ssize_t n = read(fd, record, RECORD_MAX);

		if (n < 0 && (errno == EPIPE || errno == EINTR)) /* overtaken: goes on at the oldest */
			continue;
		if (n <= 0)
			break;
		record[n] = '\0';
		kmsg_take(&k, record);
	}
	if (fd >= 0)
		close(fd);
	free(record);
	if (k.known)
		settle_time(&k, clock_mono_ns() / 1000);
	*ret = k;
}

int64_t kmsg_count(const struct kmsg *before, const struct kmsg *after, const char *disk)
{
	int64_t n = 0, all = 0;

	if (!before->known || !after->known || after->first > before->next)
		return -1;
	for (size_t i = 0; i < after->n; i++) {
		const struct kmsg_error *e = &after->errors[i];

		n += e->number >= before->next && strcmp(e->disk, disk) == 0;
		all += e->number >= before->next || e->us >= before->us - KMSG_BURST_US;
	}
	return n == 0 && all >= KMSG_BURST ? -1 : n;
}

int kmsg_tells(const char *disk)
{
	static const char *const others[] = {"ram", "zram", "pmem", "btt", "zd", "md", "dm-"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_starts(disk, others[i]))
			return 0;
	return 1;
}
