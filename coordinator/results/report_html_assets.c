/*
 * What every HTML report holds: its style, its script and the plotting library, taken in when this
 * is compiled (from the top folder). CHART_JS is the library's file; the Makefile finds the
 * system's copy. Without it pages have tables only.
 */
#include "coordinator/results/report_html.h"

#define TAKE_IN(name, path)                                                                        \
	__asm__(".pushsection .rodata\n"                                                           \
		".type " #name ", @object\n" #name ":\n"                                           \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".size " #name ", . - " #name "\n"                                                 \
		".popsection\n");                                                                  \
	extern const char name[] __attribute__((visibility("hidden")))

TAKE_IN(html_page_css, "coordinator/results/html/page.css");
TAKE_IN(html_page_js, "coordinator/results/html/page.js");
#ifdef CHART_JS
TAKE_IN(html_chart_js, CHART_JS);
#else
static const char html_chart_js[] = "";
#endif

const struct html_assets html_assets_built_in = {html_page_css, html_page_js, html_chart_js};
