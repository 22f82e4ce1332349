/* Texts of the wire: what may come in, and how our own texts are made fit to go out. */
#ifndef PROTO_TEXT_H
#define PROTO_TEXT_H

#include <stddef.h>

#include "proto/arena.h"

enum text_class {
	TEXT_NAME,  /* a-zA-Z0-9_+-. starting with a letter or digit, not empty: hosts, users, files
		     */
	TEXT_TAG,   /* as a name, ':' allowed after the first character */
	TEXT_ID,    /* the characters of a name in any order: epochs, roles */
	TEXT_LINE,  /* UTF-8 without control characters */
	TEXT_LINES, /* UTF-8; newline and tab are the only control characters */
};

/* "a name (1-64 of …)": for messages. */
const char *text_class_name(enum text_class c);
/* 1 when s is of that class and at most max bytes long. The empty text is fine but for names and
 * tags. */
int text_is(const char *s, enum text_class c, size_t max);
/* s itself when it is fine, else a copy in the arena that is: wrong bytes become U+FFFD, control
 * characters spaces, and what is too long is cut between characters. For LINE and LINES; texts of
 * other classes come back unchanged. */
const char *text_fit(const char *s, enum text_class c, size_t max, struct arena *a);

#endif
