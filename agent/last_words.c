/*
 * Texts in shared memory. A text is there twice: one copy is whole while the other is written.
 * The monitor reads the memory as a file: what the worker does with it cannot hurt.
 */
#include "agent/last_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/mem.h"
#include "common/plan/work_parallel.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#define TEXTS PARALLEL_MAX_MEMBERS
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct copy {
	uint32_t len;
	char text[DETAIL_NOTE_MAX];
};
struct text {
	char name[DETAIL_NAME_MAX];
	_Atomic uint32_t whole; /* 0: no text yet; else the copy whole - 1 */
	struct copy copies[2];
};
struct shared {
	_Atomic uint32_t taken; /* texts, from the first; may be more than there are */
	struct text texts[TEXTS];
};

struct last_words {
	struct shared *shared;
	struct text *text;
};

int last_words_new(int *ret_fd, struct err *e)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("arraymark-worker", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("arraymark-worker", flags);
	if (fd < 0)
		return err_sys(e, "cannot make memory to share with a worker");
	if (ftruncate(fd, sizeof(struct shared)) || fcntl(fd, F_ADD_SEALS, SEALS)) {
		err_sys(e, "cannot make memory to share with a worker");
		close(fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

static int has_note(const struct trial_detail *d, const char *name)
{
	for (size_t i = 0; i < d->n_notes; i++)
		if (!strcmp(d->notes[i].name, name))
			return 1;
	return 0;
}

/* A number is read once: the worker may still change it. */
static void read_text(const struct text *t, struct trial_detail *d)
{
	uint32_t whole = atomic_load(&t->whole);
	char name[DETAIL_NAME_MAX], *text;
	const struct copy *c;
	uint32_t len;

	if (whole < 1 || whole > 2)
		return;
	memcpy(name, t->name, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	c = &t->copies[whole - 1];
	len = c->len;
	if (!*name || len > sizeof(c->text) || has_note(d, name))
		return;
	text = xstrndup(c->text, len);
	detail_note(d, name, text);
	free(text);
}

void last_words_read(int fd, struct trial_detail *d)
{
	struct text *t;

	if (fd < 0)
		return;
	t = xmalloc(sizeof(*t));
	for (size_t i = 0; i < TEXTS; i++) {
		off_t at = (off_t)(offsetof(struct shared, texts) + i * sizeof(*t));

		if (pread(fd, t, sizeof(*t), at) == (ssize_t)sizeof(*t))
			read_text(t, d);
	}
	free(t);
}

static struct text *find_text(struct shared *s, const char *name)
{
	uint32_t taken = atomic_load(&s->taken);

	for (uint32_t i = 0; i < taken && i < TEXTS; i++)
		if (!strncmp(s->texts[i].name, name, DETAIL_NAME_MAX - 1))
			return &s->texts[i];
	taken = atomic_fetch_add(&s->taken, 1);
	if (taken >= TEXTS)
		return NULL;
	snprintf(s->texts[taken].name, DETAIL_NAME_MAX, "%s", name);
	return &s->texts[taken];
}

struct last_words *last_words_open(int fd, const char *name)
{
	struct last_words *w;
	struct shared *s;
	struct text *t;
	int seals;

	seals = fd > 0 ? fcntl(fd, F_GET_SEALS) : -1;
	if (seals < 0 || (seals & SEALS) != SEALS)
		return NULL;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		return NULL;
	t = find_text(s, name);
	if (!t) {
		munmap(s, sizeof(*s));
		return NULL;
	}
	w = xcalloc(1, sizeof(*w));
	*w = (struct last_words){s, t};
	last_words_put(w, "", 0);
	return w;
}

void last_words_put(struct last_words *w, const char *text, size_t len)
{
	uint32_t next;
	struct copy *c;

	if (!w)
		return;
	if (len > DETAIL_NOTE_MAX) {
		text += len - DETAIL_NOTE_MAX;
		len = DETAIL_NOTE_MAX;
	}
	next = atomic_load(&w->text->whole) == 1 ? 2 : 1;
	c = &w->text->copies[next - 1];
	memcpy(c->text, text, len);
	c->len = (uint32_t)len;
	atomic_store(&w->text->whole, next);
}

void last_words_close(struct last_words *w)
{
	if (!w)
		return;
	munmap(w->shared, sizeof(*w->shared));
	free(w);
}
