/* Between the files of `show`. */
#ifndef COORDINATOR_CTL_SHOW_H
#define COORDINATOR_CTL_SHOW_H

#include "coordinator/ctl/ctl.h"

struct show {
	json_t *lines;
	int brief, failed, color;
	int imported; /* the run: no host executed it for us */
	unsigned width;
	struct buf out;
};

/* Appends one piece of a line, safe for a terminal. */
void show_put(struct show *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Wraps what was put since `from`; commands and their output, notes too, are never wrapped. */
void show_wrap_since(struct show *s, size_t from);
/* "-" and 0 where there is none. */
const char *show_text_of(const json_t *v, const char *key);
long long show_number_of(const json_t *v, const char *key);
/* The line is of that type and of the job's. */
int show_is_of(const json_t *v, const char *type, const json_t *job);

/* Parts, facts and notes of the job's trials. */
void show_details(struct show *s, const json_t *job);

#endif
