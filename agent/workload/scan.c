/*
 * The scan engine: one disk after the other at its outer, middle and inner part, then all at once.
 * Owns the descriptors that it was given, and the buffers.
 *
 * A read that fails is counted and left out: a disk with bad places still tells how fast it is. After
 * SCAN_MAX_ERRORS of them at one place the rest of that place is left out.
 */
#include "agent/workload/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/fdpass.h"
#include "agent/volume/device.h"
#include "agent/workload/engines.h"
#include "agent/workload/stream_ring.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/plan/work_scan.h"

#define SCAN_MAX_ERRORS 16

struct scanning {
	struct scan_disk *v;
	size_t n;
	uint64_t block;
	struct meter meter;
};

int scan_disk_divide(struct scan_disk *d, uint64_t span, uint64_t block)
{
	uint64_t blocks = d->size / block, want = span / block, least = blocks / 3;

	if (blocks == 0)
		return -1;
	if (least == 0)
		least = 1;
	d->span = (want < least ? want : least) * block;
	d->at[SCAN_OUTER] = 0;
	d->at[SCAN_MIDDLE] = (blocks - d->span / block) / 2 * block;
	d->at[SCAN_INNER] = (blocks - d->span / block) * block;
	/* not what the disk's own cache may hold from its turn alone */
	d->at[SCAN_TOGETHER] = blocks * block >= 2 * d->span ? d->span : 0;
	return 0;
}

/* ---- reading ---- */

static int read_block(const struct scan_disk *d, uint64_t at, uint64_t len)
{
	uint64_t got = 0;

	while (got < len) {
		ssize_t n = pread(d->fd, d->buffer + got, len - got, (off_t)(at + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (n == 0)
				errno = ENXIO;
			return -1;
		}
		got += (uint64_t)n;
	}
	return 0;
}

static void read_place(const struct scanning *s, struct scan_disk *d, enum scan_place place)
{
	struct hist *hist = place == SCAN_TOGETHER ? &d->together : &d->alone;
	struct scan_counts *c = &d->of[place];
	int64_t begin = clock_mono_ns(), before = begin;

	if (d->fd < 0)
		return;
	for (uint64_t at = 0; at < d->span && c->errors < SCAN_MAX_ERRORS; at += s->block) {
		int failed = read_block(d, d->at[place] + at, s->block), why = errno;
		int64_t now = clock_mono_ns();
		char what[ERRNO_LEN];

		if (failed) {
			c->errors++;
			meter_error(d->lane);
			if (!*d->trouble)
				snprintf(d->trouble, sizeof(d->trouble), "byte %llu: %s",
					(unsigned long long)(d->at[place] + at), errno_text(why, what));
		} else {
			c->ops++;
			c->bytes += s->block;
			hist_add(hist, (uint64_t)(now - before));
			meter_count(d->lane, now - before, s->block);
		}
		before = now;
	}
	c->elapsed_ns = clock_mono_ns() - begin;
}

struct turn {
	const struct scanning *s;
	struct scan_disk *d;
	pthread_t thread;
};

static void *read_together(void *arg)
{
	struct turn *t = arg;

	read_place(t->s, t->d, SCAN_TOGETHER);
	return NULL;
}

static int all_at_once(struct scanning *s, struct err *e)
{
	struct turn *v = xcalloc(s->n, sizeof(*v));
	size_t started = 0;
	int rc = 0;

	for (; started < s->n && rc == 0; started++) {
		v[started] = (struct turn){.s = s, .d = &s->v[started]};
		rc = pthread_create(&v[started].thread, NULL, read_together, &v[started]);
		if (rc != 0)
			break;
	}
	for (size_t i = 0; i < started; i++)
		pthread_join(v[i].thread, NULL);
	free(v);
	return rc ? err_set(e, ERR_FULL, "cannot start a thread: %s", strerror(rc)) : 0;
}

static int scan_all(void *arg, struct err *e)
{
	struct scanning *s = arg;

	for (size_t i = 0; i < s->n; i++)
		for (enum scan_place p = SCAN_OUTER; p <= SCAN_INNER; p++)
			read_place(s, &s->v[i], p);
	return all_at_once(s, e);
}

static int check_read(const struct scanning *s, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		for (enum scan_place p = SCAN_OUTER; p < SCAN_PLACES; p++)
			if (s->v[i].of[p].bytes)
				return 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].fd >= 0)
			return err_set(e, ERR_IO, "no disk could be read: %s at %s", s->v[i].name,
				s->v[i].trouble);
	return err_set(e, ERR_IO, "no disk could be read: %s: %s", s->v[0].name, s->v[0].trouble);
}

static int scan_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct scanning *s = state;
	int rc;

	meter_start(&s->meter, start_ns, cut, arg, ret);
	rc = meter_watch_call(&s->meter, scan_all, s, e);
	meter_stop(&s->meter);
	scan_tell(s->v, s->n, &ret->detail);
	return rc ? rc : check_read(s, e);
}

/* ---- before and after ---- */

static void scan_clear(void *state)
{
	struct scanning *s = state;

	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i].fd >= 0)
			close(s->v[i].fd);
		free(s->v[i].buffer);
		free(s->v[i].name);
	}
	free(s->v);
	meter_clear(&s->meter);
	free(s);
}

/* Passed over, and told; the others go on. */
static void leave_out(struct scan_disk *d, const char *why)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
	d->of[SCAN_OUTER].errors = 1;
	snprintf(d->trouble, sizeof(d->trouble), "%.*s", (int)sizeof(d->trouble) - 1, why);
}

static int take_disks(const struct workload_order *order, struct scanning *s, struct err *e)
{
	const struct strv *disks = &order->spec->disks;
	int fds[SCAN_MAX_DISKS];
	size_t n = disks->n, n_open = 0, taken = 0;

	if (n == 0 || n > SCAN_MAX_DISKS)
		return err_set(e, ERR_PROTOCOL, "the order of a scan names %zu disks", n);
	for (size_t i = 0; i < n; i++)
		n_open += !strchr(disks->v[i], ' ');
	if (fds_receive(order->disks_fd, fds, n_open, e) < 0)
		return -1;
	s->v = xcalloc(n, sizeof(*s->v));
	for (s->n = 0; s->n < n; s->n++) {
		struct scan_disk *d = &s->v[s->n];
		const char *why = strchr(disks->v[s->n], ' ');

		d->name = xstrndup(disks->v[s->n], strcspn(disks->v[s->n], " "));
		d->fd = why ? -1 : fds[taken++];
		if (why)
			leave_out(d, why + 1);
	}
	return 0;
}

static void divide_disk(struct scan_disk *d, uint64_t span, uint64_t block)
{
	char size[UNITS_LEN], least[UNITS_LEN];
	struct err e = {0};

	if (!device_size(d->fd, d->name, &d->size, &e) && scan_disk_divide(d, span, block))
		err_set(&e, ERR_INPUT, "it has %s, and one block is %s",
			units_size((int64_t)d->size, size), units_size((int64_t)block, least));
	if (e.code != ERR_NONE)
		leave_out(d, e.text);
}

static int prepare_disk(const struct workload_order *order, struct scanning *s, size_t i,
	struct err *e)
{
	struct scan_disk *d = &s->v[i];

	if (d->fd < 0)
		return 0;
	if ((fcntl(d->fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
		return err_set(e, ERR_DENIED, "%s was opened for more than reading: it is left alone",
			d->name);
	divide_disk(d, (uint64_t)order->w->scan->span, s->block);
	if (d->fd < 0)
		return 0;
	hist_clear(&d->alone);
	hist_clear(&d->together);
	d->lane = &s->meter.lanes[i];
	d->buffer = stream_buffer_new(s->block, e);
	return d->buffer ? 0 : -1;
}

static int scan_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct scanning *s = xcalloc(1, sizeof(*s));

	s->meter.done_fd = -1;
	s->block = (uint64_t)order->w->scan->block_size;
	if (take_disks(order, s, e) < 0 ||
		meter_init(&s->meter, (unsigned)s->n, order->spec->sample_ns, e) < 0)
		goto fail;
	for (size_t i = 0; i < s->n; i++)
		if (prepare_disk(order, s, i, e) < 0)
			goto fail;
	*ret_state = s;
	return 0;
fail:
	scan_clear(s);
	return -1;
}

const struct workload_engine scan_engine = {
	.kind = WORKLOAD_DISK_SCAN,
	.prepare = scan_prepare,
	.run = scan_run,
	.clear = scan_clear,
};
