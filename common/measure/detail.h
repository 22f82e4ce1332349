/*
 * What a trial tells beside its counters: the parts it was made of (flowops, jobs, members, disks),
 * single numbers with a name, and texts. Kinds of workloads fill what they have; all of it travels
 * with the trial's end, is stored with it and exported.
 */
#ifndef COMMON_MEASURE_DETAIL_H
#define COMMON_MEASURE_DETAIL_H

#include <stddef.h>
#include <stdint.h>

#include "common/measure/hist.h"

#define DETAIL_MAX_PARTS 1024
#define DETAIL_MAX_FACTS 1024            /* the last one is kept for DETAIL_DROPPED */
#define DETAIL_MAX_NOTES 64
#define DETAIL_NAME_MAX 128              /* bytes of a name or unit */
#define DETAIL_NOTE_MAX (32 * 1024)      /* bytes of a note's text */
#define DETAIL_BYTES_MAX (256 * 1024)    /* all of it, encoded */

#define DETAIL_DROPPED "detail_dropped"  /* a fact: rows that found no room */

struct trial_part {
	char *name, *kind; /* "appendfilerand2", "flowop"; kind: one word */
	uint64_t ops, bytes, errors;
	int64_t elapsed_ns; /* of its own; 0: the trial's */
	char *hist;         /* encoded (hist_encode), latency per operation; or NULL */
	size_t hist_len;
};
struct trial_fact {
	char *name, *unit; /* "latency_rw_mean", "ns"; unit as metrics spell theirs, "" for a count */
	double value;      /* finite */
};
struct trial_note {
	char *name, *text; /* "settings", "output", "log"; text: lines */
};
struct trial_detail {
	struct trial_part *parts;
	size_t n_parts;
	struct trial_fact *facts;
	size_t n_facts;
	struct trial_note *notes;
	size_t n_notes;
	uint64_t dropped;       /* rows that found no room; detail_fit makes a fact of it */
	struct trial_part rest; /* what detail_part gives out then; goes nowhere */
};

/* Appends a part and returns it, to be filled: valid until the next one is added. hist may be NULL;
 * it is encoded. Past DETAIL_MAX_PARTS it is counted as dropped, and what is returned goes nowhere. */
struct trial_part *detail_part(
	struct trial_detail *d, const char *kind, const char *name, const struct hist *hist);
/* A number that is not finite is left out; one too many is counted as dropped. */
void detail_fact(struct trial_detail *d, const char *name, double value, const char *unit);
/* Of a text that is too long its end is kept; a note too many is counted as dropped. */
void detail_note(struct trial_detail *d, const char *name, const char *text);
/* NULL when there is none of that name. */
const struct trial_fact *detail_find_fact(const struct trial_detail *d, const char *name);
/* Makes it fit into DETAIL_BYTES_MAX: histograms of parts go first, then notes are emptied, then the
 * last facts and parts are dropped. What was dropped becomes the fact DETAIL_DROPPED. To be called
 * when all is told, by each who tells. */
void detail_fit(struct trial_detail *d);
void detail_clear(struct trial_detail *d);

#endif
