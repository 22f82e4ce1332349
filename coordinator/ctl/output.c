/* Formats and places of reports. Owns nothing beyond a call. */
#include "coordinator/ctl/output.h"

#include <string.h>

#include "coordinator/ctl/fetch.h"
#include "coordinator/ctl/outfile.h"

int output_choose(const struct ctl *c, const struct args *a, struct output *ret, struct err *e)
{
	const char *asked = args_get(a, "format"), *path = args_get(a, "output");
	const char *named = path ? fetch_format_of(path) : NULL;
	struct output o = {path, asked};

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

int output_write(const struct output *o, const struct buf *text, struct err *e)
{
	struct outfile f;
	int r;

	if (outfile_open(o->path, &f, e))
		return -1;
	r = outfile_write(&f, buf_str(text), text->len, e);
	return outfile_close(&f, !r, e) || r ? -1 : 0;
}
