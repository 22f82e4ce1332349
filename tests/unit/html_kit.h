/* Pages of report --format html and what their script reads, for the tests of them. */
#ifndef TESTS_UNIT_HTML_KIT_H
#define TESTS_UNIT_HTML_KIT_H

#include <stdlib.h>
#include <string.h>

#include "coordinator/results/report_html.h"
#include "tests/unit/results_kit.h"

/* Small enough to read; "{}" has a known digest. */
static const struct html_assets small = {"{}", "draw()", "library()"};

static inline char *page(const struct result_set *set, const struct html_assets *assets, int redact)
{
	struct report_options o = {.redact = redact, .tool_version = "9.9"};
	struct buf out = {0};
	struct err e;

	assert_ok(report_html_with(set, &o, assets, &out, &e), e);
	return buf_take(&out);
}

static inline size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* The plots as the page's script reads them. */
static inline json_t *plots_of(const char *html)
{
	static const char before[] = "<script type=\"application/json\" id=\"data\">";
	const char *from = strstr(html, before), *to;
	json_t *doc, *plots;
	struct err e;

	assert_non_null(from);
	from += strlen(before);
	to = strstr(from, "</script>");
	assert_non_null(to);
	assert_ok(json_parse("data", from, (size_t)(to - from), 1 << 24, &doc, &e), e);
	plots = json_incref(json_object_get(doc, "plots"));
	assert_true(json_is_array(plots));
	json_decref(doc);
	return plots;
}

static inline const json_t *plot_of(const json_t *plots, const char *kind)
{
	json_t *o;
	size_t i;

	json_array_foreach(plots, i, o)
	{
		if (strcmp(json_get_str(o, "kind", ""), kind) == 0)
			return o;
	}
	fail_msg("no plot of kind %s", kind);
	return NULL;
}

#endif
