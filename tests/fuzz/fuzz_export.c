/*
 * Export lines, as a stranger may send them to `import`. What is read and passes the checks is written
 * as lines that read again give the same lines.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/results/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static int read_lines(struct result_set *s, const char *text, size_t len, struct err *e)
{
	const char *end = text + len;

	for (size_t no = 1; text < end; no++) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);

		if (n && export_read_line(s, "fuzz", no, text, n, e))
			return -1;
		text += n + 1;
	}
	return 0;
}

/* A set that passes the checks is of one run. */
static void write_lines(const struct result_set *s, struct buf *out)
{
	for (size_t i = 0; i < export_items(s); i++)
		export_item(s, i, out);
	export_end(s->runs[0].id, export_count_lines(out, 0), out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct result_set s = {0}, again = {0};
	struct buf once = {0}, twice = {0};
	struct err e = {0};

	if (read_lines(&s, (const char *)data, size, &e)) {
		MUST(e.code == ERR_INPUT && *e.text);
		goto out;
	}
	/* Few inputs count their lines right: the rest is read all the same. */
	if (export_read_whole(&s, "fuzz", &e))
		MUST(e.code == ERR_INPUT && *e.text);
	if (export_read_end(&s, &e)) {
		MUST(e.code == ERR_INPUT && *e.text);
	} else if (!result_set_check(&s, &e)) {
		write_lines(&s, &once);
		MUST(read_lines(&again, buf_str(&once), once.len, &e) == 0);
		MUST(export_read_whole(&again, "again", &e) == 0);
		MUST(export_read_end(&again, &e) == 0);
		MUST(result_set_check(&again, &e) == 0);
		write_lines(&again, &twice);
		MUST(once.len == twice.len && !memcmp(buf_str(&once), buf_str(&twice), once.len));
	}
out:
	result_set_clear(&s);
	result_set_clear(&again);
	buf_free(&once);
	buf_free(&twice);
	return 0;
}
