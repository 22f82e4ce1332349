/*
 * The journal of one agent: what was done to this host and how to undo it, written and fsynced
 * BEFORE a step is executed. One file of JSON lines per job in the state folder
 * (journal-<run>-<job>-<attempt>.jsonl), removed when everything in it is undone.
 *
 * Written by one process at a time (the helper child that works, or the monitor between helpers):
 * each opens it, appends, closes. An open journal is locked: a monitor that starts again while a
 * helper of its predecessor still works gets ERR_BUSY and tries again. A torn last line is cut off
 * at opening.
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "proto/msg.h"

#define JOURNAL_PREFIX "journal-"
#define JOURNAL_SUFFIX ".jsonl"

struct journal;

/* How a step is undone: one of a closed list of operations (agent/volume/undo.c's table), each of
 * which verifies identity again, succeeds when there is nothing left to undo, and is safe to run
 * twice. */
struct undo {
	char *op;         /* "" : nothing to undo; "pool", "loop", "file", "mount", "directory", "filesystem", … */
	struct strv args;
};
struct journal_entry {
	uint64_t number;      /* from 1 within the file */
	struct unit unit;
	enum step_phase phase;
	char *what;
	struct strv argv;
	struct undo undo;
	int finished, ok, undone;
	struct strv notes;    /* "guid=1234": learned while executing, needed to undo */
};
/* Creates or opens for append; dir is the state folder. ERR_BUSY: see above. */
int journal_open(const char *dir, const struct job_key *key, struct journal **ret, struct err *e);
void journal_close(struct journal *j);
/* Durable when it returns 0. */
int journal_begin(struct journal *j, struct journal_entry *entry, uint64_t *ret_number,
	struct err *e);
int journal_note(struct journal *j, uint64_t number, const char *key, const char *value,
	struct err *e);
int journal_finish(struct journal *j, uint64_t number, int ok, struct err *e);
int journal_undone(struct journal *j, uint64_t number, struct err *e);
/* Worker processes: pid and start time, so that a restarted monitor can kill exactly it. */
int journal_worker(struct journal *j, pid_t pid, uint64_t start_ticks, struct err *e);
/* Leaves out the entries that no undo needs any more, if there are `least` of them: those that are
 * undone or that nothing undoes, unless they have notes and something on their layout is still to be
 * undone. The others get new numbers, from 1 in their order: what was read before says nothing any
 * more. At any moment the file is either the old one or the new one; where there is no room for a
 * second one, the old one stays, which is no error. After an error nothing may be written to j. */
int journal_shorten(struct journal *j, size_t least, struct err *e);
/* All entries, in order; caller frees with journal_entries_free. */
int journal_read(const char *path, struct job_key *ret_key, struct journal_entry **ret, size_t *ret_n,
	pid_t *ret_worker, uint64_t *ret_worker_ticks, struct err *e);
void journal_entries_free(struct journal_entry *v, size_t n);
/* Paths of the journals in dir, oldest first. */
int journal_list(const char *dir, struct strv *ret, struct err *e);
/* Removes the file when every entry that has an undo is undone; else ERR_WRONG_STATE. */
int journal_remove(const char *path, struct err *e);

#endif
