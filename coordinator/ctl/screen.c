/* The live view's terminal. Invariant: the cursor stands at the start of the line below the block.
 */
#include "coordinator/ctl/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/units.h"
#include "common/base/wrap.h"

#define COLUMNS_MIN 8
#define COLUMNS_MAX 10000

unsigned screen_columns(int fd)
{
	const char *asked = getenv("COLUMNS");
	struct winsize w = {0};
	struct err ignored;
	int64_t n;

	if (!isatty(fd))
		return 0;
	if (asked && !units_parse_int(asked, COLUMNS_MIN, COLUMNS_MAX, &n, &ignored))
		return (unsigned)n;
	return ioctl(fd, TIOCGWINSZ, &w) || w.ws_col < COLUMNS_MIN ? 0 : w.ws_col;
}

void screen_size(unsigned *ret_width, unsigned *ret_height)
{
	struct winsize w = {0};

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < COLUMNS_MIN || w.ws_row < 2)
		w = (struct winsize){.ws_col = 80, .ws_row = 24};
	*ret_width = w.ws_col;
	*ret_height = w.ws_row;
}

static void add_erase(struct screen *s, struct buf *out)
{
	if (s->drawn)
		buf_addf(out, "\x1b[%uA\r\x1b[J", s->drawn);
	s->drawn = 0;
}

static void add_block(struct screen *s, const struct view *v, struct buf *out)
{
	struct view_style style = {.color = s->color, .utf8 = s->utf8};

	screen_size(&style.width, &style.height);
	style.width--; /* a full last column makes some terminals wrap */
	s->drawn = view_render(v, &style, clock_mono_ns(), out);
}

static void put(struct buf *out)
{
	fwrite(buf_str(out), 1, out->len, stderr);
	fflush(stderr);
	buf_free(out);
}

void screen_draw(struct screen *s, const struct view *v)
{
	struct buf out = {0};

	if (!s->terminal)
		return;
	add_erase(s, &out);
	add_block(s, v, &out);
	put(&out);
}

void screen_say(struct screen *s, const struct view *v, const char *line)
{
	struct buf out = {0};
	int up = s->terminal && s->drawn;

	add_erase(s, &out);
	wrap_lines(line, screen_columns(STDERR_FILENO), &out);
	buf_addc(&out, '\n');
	if (up)
		add_block(s, v, &out);
	put(&out);
}
