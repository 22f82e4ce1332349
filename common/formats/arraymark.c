/*
 * The export of arraymark itself: JSON lines with a type and a run. Only recognised here;
 * coordinator/results reads them. Owns nothing.
 */
#include <string.h>

#include "common/formats/reader.h"

/* The first line that is not blank is one object with "type" and "run" in it. */
static int score_arraymark(const struct format_text *head)
{
	struct reader r;
	struct err ignored;
	int score = 0;

	reader_open(&r, head, &ignored);
	while (reader_next(&r)) {
		const char *s = skip_blanks(r.s);

		if (*s == '\0')
			continue;
		if (*s == '{' && strstr(s, "\"type\"") && strstr(s, "\"run\""))
			score = 100;
		break;
	}
	reader_close(&r);
	return score;
}

const struct format format_arraymark = {.name = "arraymark",
	.summary = "arraymark's own export",
	.workload = "arraymark",
	.score = score_arraymark,
	.read = NULL};
