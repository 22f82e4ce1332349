/* Result sets. Owns nothing beyond what it fills. */
#include "coordinator/ctl/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/results/export.h"
#include "coordinator/results/report.h"

#define LINE_MAX_BYTES (16 * 1024 * 1024)

struct reading {
	struct result_set *set;
	const char *name;
	size_t line_no;
};

static int on_line(void *arg, const char *line, size_t len, struct err *e)
{
	struct reading *r = arg;

	return export_read_line(r->set, r->name, ++r->line_no, line, len, e);
}

int fetch_add_run(struct client *c, const char *run, struct result_set *set, struct err *e)
{
	struct msg_call call = {.verb = CALL_EXPORT, .target = (char *)run};
	struct reading r = {.set = set, .name = run};

	return client_call(c, &call, on_line, &r, e);
}

int fetch_add_file(const char *path, struct result_set *set, struct err *e)
{
	int is_stdin = !strcmp(path, "-");
	FILE *f = is_stdin ? stdin : fopen(path, "re");
	struct reading r = {.set = set, .name = is_stdin ? "standard input" : path};
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int bad = 0;

	if (!f) {
		err_sys(e, "cannot read %s", path);
		e->code = e->code == ERR_DENIED ? ERR_IO : e->code;
		return -1;
	}
	while (!bad && (n = getline(&line, &cap, f)) >= 0) {
		if (n > LINE_MAX_BYTES)
			bad = err_set(e, ERR_INPUT, "%s:%zu: a line of %zd bytes is no export",
				r.name, r.line_no + 1, n);
		else if (n > 1)
			bad = on_line(&r, line, (size_t)n - (line[n - 1] == '\n'), e);
	}
	if (!bad && ferror(f))
		bad = err_sys(e, "cannot read %s", r.name);
	if (!bad && r.line_no == 0)
		bad = err_set(e, ERR_INPUT, "%s is empty: export lines are expected", r.name);
	free(line);
	if (!is_stdin)
		fclose(f);
	return bad ? -1 : 0;
}

int fetch_end(struct result_set *set, struct err *e)
{
	return export_read_end(set, e);
}

int fetch_run(struct client *c, const char *run, struct result_set *ret, struct err *e)
{
	struct result_set set = {0};

	if (fetch_add_run(c, run, &set, e) || fetch_end(&set, e)) {
		result_set_clear(&set);
		return -1;
	}
	*ret = set;
	return 0;
}

int fetch_format_check(const char *format, struct err *e)
{
	if (strcmp(format, "text") && strcmp(format, "json"))
		return err_set(e, ERR_USAGE, "--format %s: text or json is expected", format);
	return 0;
}

int fetch_report(const struct result_set *set, const char *format, struct report_options *o,
	struct buf *out, struct err *e)
{
	o->tool_version = ARRAYMARK_VERSION;
	if (!strcmp(format, "json"))
		return report_json(set, o, out, e);
	return report_text(set, o, out, e);
}
