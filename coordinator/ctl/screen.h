/*
 * The live view on stderr: a block of lines redrawn in place, with other lines above it.
 * Owns what it has drawn last; nothing else may write to stderr while it is up.
 */
#ifndef COORDINATOR_CTL_SCREEN_H
#define COORDINATOR_CTL_SCREEN_H

#include "coordinator/ctl/view.h"

struct screen {
	int terminal; /* 0: only lines, never a block */
	int color, utf8;
	unsigned drawn; /* lines of the block that stand there */
};

/* Draws the block anew. Nothing without a terminal. */
void screen_draw(struct screen *s, const struct view *v);
/* A line above the block (or just a line), then the block again. The line is escaped already. */
void screen_say(struct screen *s, const struct view *v, const char *line);
/* Columns for lines on that descriptor: $COLUMNS where it is a terminal and that is set, else what the
 * terminal tells; 0 when it is none or does not tell. */
unsigned screen_columns(int fd);
/* Size of the terminal on stderr, 80 x 24 when it does not tell. */
void screen_size(unsigned *ret_width, unsigned *ret_height);

#endif
