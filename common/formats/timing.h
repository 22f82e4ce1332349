/* What shells (bash, posix, zsh, fish, csh), GNU, toybox and BSD time print. Internal to common/formats. */
#ifndef COMMON_FORMATS_TIMING_H
#define COMMON_FORMATS_TIMING_H

#include "common/formats/number.h"
#include "common/formats/reader.h"

struct timing {
	struct number real, user, system;
	int has_real, has_user, has_system;
	int ahead;        /* what it has belongs to a real time that comes later (GNU time -v) */
	const char *kind; /* static: "bash or posix time" */
	double step;      /* s, of the last digit of what is whole; 0: not known */
	char failure[80]; /* "": nothing; else what the line says went wrong */
	int failure_ahead;
};
/* 1: the line is one of them; 0: it is not; -1: it is, but its number cannot be read (the error has
 * no place yet). */
int timing_line(const char *line, struct timing *ret, struct err *e);
/* 0 when the real time of the line can be used; else the error, with its place: the text ends in its
 * digits, or it is none above zero. */
int timing_check(struct reader *r, const struct timing *t);

#endif
