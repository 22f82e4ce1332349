/* What the parts of the HTML report share. */
#ifndef COORDINATOR_RESULTS_REPORT_HTML_H
#define COORDINATOR_RESULTS_REPORT_HTML_H

#include "common/base/units.h"
#include "coordinator/results/analysis.h"
#include "coordinator/results/report.h"
#include "coordinator/results/report_said.h"

#define HTML_HOSTS_MAX 6      /* hosts that have plots of their own; all are in the tables */
#define HTML_LINES_MAX 40     /* trials drawn in one plot of series */
#define HTML_POINTS_MAX 250   /* of a line; longer series have neighbours merged */
#define HTML_INTERVALS_MAX 60 /* in one forest plot; beyond that there is a histogram */
#define HTML_DOTS_MAX 5000    /* trials, but for extremes, drawn in a plot or listed in a table */
#define HTML_PAGE_DOTS 20000  /* in all plots of a kind, or all tables of trials in time order */
#define HTML_OPEN_ROWS_MAX 40 /* a table longer than this is folded */

/* What is put into every page; none of the texts holds an end tag of its own element. */
struct html_assets {
	const char *css, *script;
	const char *chart; /* the plotting library; "": tables only, and the page says so */
};
extern const struct html_assets html_assets_built_in;

struct html_name {
	const char *host;
	char shown[REPORT_HOST_MAX];
};
struct html {
	const struct result_set *set;
	const struct report_options *opt;
	const struct html_assets *assets;
	const struct analysis *analysis;
	struct said said; /* its findings, those alike once */
	struct buf *out;
	struct json_t *plots; /* what the page's script draws, in the order of the page */
	/* of redacted pages: each host with what report_host() calls it, sorted */
	struct html_name *names;
	size_t n_names;
	/* of the table that is open; of the caller */
	const char *const *headings;
	size_t n_headings, column;
};
/* The rows of a workload's headline metric on one host, one a layout. */
struct html_group {
	const struct analysis_run *run;
	const char *host;
	char shown[REPORT_HOST_MAX]; /* the host as the page names it */
	const char *workload;
	uint32_t workload_index;
	enum metric_id metric;
	const struct result_row **rows;
	size_t n;
};
/* Which trials of a group are shown. */
struct html_thin {
	const struct result_row **rows; /* the group's */
	uint32_t *blocks;     /* that the group's trials are of, each once, in order */
	unsigned char *shows; /* 1: the block is in the table */
	size_t n_blocks, n_shown;
	unsigned (*extremes)[2]; /* of each row, places in its values */
	size_t step;             /* one of so many blocks is drawn; 1: all */
	size_t kept, of;         /* trials that are drawn, of all */
};
typedef void html_group_fn(struct html *h, const struct html_group *g);

/* report_html() with other assets. */
int report_html_with(const struct result_set *s, const struct report_options *o,
	const struct html_assets *assets, struct buf *out, struct err *e);

/* Everything that is not markup goes out through these two: escaped for text and attributes, and what
 * safe.h escapes as there, but for ends of lines and tabs. */
void html_text(struct buf *out, const char *s);
void html_textf(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void html_section(struct html *h, const char *id, const char *title);
void html_section_end(struct html *h);
/* Which run it is about, where the page has several. */
void html_run_heading(struct html *h, const struct analysis_run *r);
/* A figure: caption, then plots, then tables. */
void html_figure(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void html_figure_end(struct html *h);
/* A place for a plot of that kind; label says in words what is seen. The object is for the caller
 * to fill, the list keeps it; NULL where nothing is drawn, which html_set takes. */
struct json_t *html_plot(struct html *h, const char *kind, const char *label);
void html_set(struct json_t *o, const char *key, struct json_t *v); /* takes v */
struct json_t *html_label(const char *s); /* a text that a plot shows, as safe.h escapes it */
struct json_t *html_plot_layouts(const struct analysis_run *r);

/* A folded table (open where nothing is drawn, or when it is asked for). A heading that begins
 * with '#' is of a column of numbers, one with ':' of texts that say nothing without it: on a narrow
 * page, where rows are stacked, both stand beside their cells. The headings are read until the
 * table's end. */
void html_table(struct html *h, int open, const char *summary, const char *const *headings);
void html_row(struct html *h);
void html_cell(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void html_number(struct html *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void html_table_end(struct html *h);

void html_names_init(struct html *h);
const char *html_host(const struct html *h, const char *host, char out[REPORT_HOST_MAX]);
/* For each run: a grid (of that class) of the figures that fn makes for each workload and host, up
 * to HTML_HOSTS_MAX; then what `after` (may be NULL) adds for each workload. `nothing` is said where
 * no figure is made. */
typedef void html_workload_fn(struct html *h, const struct analysis_run *r, uint32_t workload);
void html_grids(struct html *h, const char *class, html_group_fn *fn, html_workload_fn *after,
	const char *nothing);

/* "slower [invalid: V01]"; "raidz2-10 against raidz2-8". Appended. */
void html_verdict_text(
	const struct html *h, const struct result_comparison *c, struct buf *out);
void html_pair_text(const struct html *h, const struct result_comparison *c, struct buf *out);

/* How many of n trials are shown, where a page has `page` of `total`. */
size_t html_share(size_t n, size_t total, size_t page);
/* The group is borrowed until html_thin_clear(). */
void html_thin_init(struct html_thin *t, const struct html *h, const struct html_group *g);
/* Whether the k-th value of the group's row is drawn. */
int html_thin_keeps(const struct html_thin *t, size_t row, unsigned k);
/* What is left out and where it is, where anything is, as text. */
void html_thin_tell(const struct html_thin *t, struct html *h);
void html_thin_clear(struct html_thin *t);

/* The series of a trial that has points, or NULL. */
const struct result_series *html_series_of(const struct html *h, const struct result_trial *t);
/* A figure for each layout of the group whose trials tell each disk by itself. */
void html_disk_use(struct html *h, const struct html_group *g);

/* The sections, in the order of the page. */
void html_verdict(struct html *h);
void html_ratios(struct html *h);
void html_trials(struct html *h);
void html_order(struct html *h);
void html_series(struct html *h);
void html_latency(struct html *h);
void html_disks(struct html *h);
void html_details(struct html *h);
void html_findings(struct html *h);
void html_environment(struct html *h);
void html_commands(struct html *h);

/* How many items html_findings_list() makes. */
size_t html_findings_count(const struct html *h, enum severity level);
/* Items of a list of the findings of that severity; how many. */
size_t html_findings_list(struct html *h, enum severity level);
/* Items of the hosts and disks that stand out, the furthest first, `most` of them; how many there are. */
size_t html_outliers(struct html *h, size_t most);
/* How many rules lack what they need. */
size_t html_unknown_rules(const struct html *h);

#endif
