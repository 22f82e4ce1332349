/*
 * What a worker has to say if it is killed: texts that it keeps up to date in memory which it shares
 * with the monitor, who reads them after its end. Unlike a message they need nobody to send them.
 *
 * The memory is a sealed memfd: the worker can write nonsense there, but not change its size.
 */
#ifndef AGENT_LAST_WORDS_H
#define AGENT_LAST_WORDS_H

#include "common/base/err.h"
#include "common/measure/detail.h"

/* ---- the monitor ---- */

/* Memory for one worker, without texts; the caller closes ret_fd. */
int last_words_new(int *ret_fd, struct err *e);
/* Adds a note for each text whose name `d` has no note of. fd -1: none. */
void last_words_read(int fd, struct trial_detail *d);

/* ---- the worker ---- */

struct last_words; /* one text */

/* The text of that name: the one there is, or a new, empty one. NULL when fd is no such memory or
 * full: nothing is kept then. Threads and processes may share the memory; a name belongs to one. */
struct last_words *last_words_open(int fd, const char *name);
/* Replaces the text: its last DETAIL_NOTE_MAX bytes. Whoever is killed in the middle of it leaves
 * the text before. w NULL: does nothing. */
void last_words_put(struct last_words *w, const char *text, size_t len);
void last_words_close(struct last_words *w); /* the text stays; NULL is fine */

#endif
