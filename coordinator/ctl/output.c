/* Formats and places of reports. Owns nothing beyond a call. */
#include "coordinator/ctl/output.h"

#include <string.h>

#include "coordinator/ctl/fetch.h"

int output_choose(const struct ctl *c, const struct args *a, struct output *ret, struct err *e)
{
	const char *asked = args_get(a, "format"), *path = args_get(a, "output");
	const char *named = path ? fetch_format_of(path) : NULL;
	struct output o = {.path = path, .format = asked};

	if (!asked)
		o.format = c->json ? "json" : named ? named : "text";
	if (fetch_format_check(o.format, e))
		return -1;
	if (c->json && !output_is(&o, "json"))
		return err_set(e, ERR_USAGE, "--json and --format %s: one of them", o.format);
	*ret = o;
	return 0;
}

int output_is(const struct output *o, const char *format)
{
	return !strcmp(o->format, format);
}

struct report_options output_report_options(const struct ctl *c, const struct output *o)
{
	return (struct report_options){.color = !o->path && c->color_out, .width = o->path ? 0 : c->width_out};
}

int output_more(void *output, struct buf *text, struct err *e)
{
	struct output *o = output;

	if (!o->is_open && outfile_open(o->path, &o->file, e))
		return -1;
	o->is_open = 1;
	if (outfile_write(&o->file, buf_str(text), text->len, e))
		return -1;
	buf_reset(text);
	return 0;
}

void output_drop(struct output *o)
{
	if (o->is_open)
		outfile_close(&o->file, 0, NULL);
	o->is_open = 0;
}

int output_write(struct output *o, struct buf *text, struct err *e)
{
	if (output_more(o, text, e)) {
		output_drop(o);
		return -1;
	}
	o->is_open = 0;
	return outfile_close(&o->file, 1, e);
}
