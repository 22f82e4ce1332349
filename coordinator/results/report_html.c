/*
 * A report as one HTML page that needs nothing but itself. Owns nothing beyond a call.
 * Invariant: the page loads nothing, sends nothing and runs only the scripts whose digests stand
 * in its policy; what came from hosts and files is text in it, never markup or script.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/fs.h"
#include "common/base/json.h"
#include "coordinator/results/report_html.h"
#include "coordinator/results/report_text.h"
#include "coordinator/results/until.h"

#define SHA256_BYTES 32

static unsigned hex_value(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

/* 'sha256-…' of a policy: the digest in base 64. */
static void add_digest(const char *text, struct buf *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char raw[SHA256_BYTES + 1] = {0};
	char hex[65];

	fs_sha256(text, strlen(text), hex);
	for (size_t i = 0; i < SHA256_BYTES; i++)
		raw[i] = (unsigned char)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
	buf_adds(out, "'sha256-");
	for (size_t i = 0; i < sizeof(raw); i += 3) {
		unsigned v = (unsigned)raw[i] << 16 | (unsigned)raw[i + 1] << 8 | raw[i + 2];

		buf_addc(out, digits[v >> 18]);
		buf_addc(out, digits[v >> 12 & 63]);
		buf_addc(out, digits[v >> 6 & 63]);
		buf_addc(out, i + 3 < sizeof(raw) ? digits[v & 63] : '=');
	}
	buf_adds(out, "'");
}

static void policy(struct html *h)
{
	const struct html_assets *a = h->assets;

	buf_adds(h->out, "<meta http-equiv=\"Content-Security-Policy\" content=\""
			 "default-src 'none'; base-uri 'none'; form-action 'none'; style-src ");
	add_digest(a->css, h->out);
	buf_adds(h->out, "; script-src ");
	if (*a->chart) {
		add_digest(a->chart, h->out);
		buf_addc(h->out, ' ');
		add_digest(a->script, h->out);
	} else {
		buf_adds(h->out, "'none'");
	}
	buf_adds(h->out, "\">\n");
}

static void title(struct html *h)
{
	const struct result_set *s = h->set;

	html_text(h->out, s->n_runs ? s->runs[0].name : "no run");
	if (s->n_runs > 1)
		buf_addf(h->out, " and %zu more", s->n_runs - 1);
}

static void head(struct html *h)
{
	buf_adds(h->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	policy(h);
	buf_adds(h->out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	title(h);
	buf_addf(h->out, " · arraymark</title>\n<style>%s</style>\n</head>\n<body>\n", h->assets->css);
}

#define UNTIL_LINES_MAX 8 /* hosts whose number of blocks is told; more are counted */

/* How many blocks there were and why, where that was left to the results. */
static void until_lines(struct html *h, const struct analysis_run *r)
{
	char host[REPORT_HOST_MAX];
	struct buf text = {0};
	size_t n = 0;

	for (size_t i = 0; i < r->n_hosts; i++) {
		buf_reset(&text);
		until_host_text(h->set, r, r->hosts[i], &text);
		if (!text.len || n++ >= UNTIL_LINES_MAX)
			continue;
		buf_adds(h->out, "<p class=\"about\">");
		html_textf(h->out, "%s: %s", html_host(h, r->hosts[i], host), text.data);
		buf_adds(h->out, "</p>\n");
	}
	if (n > UNTIL_LINES_MAX)
		buf_addf(h->out, "<p class=\"about\">and %zu hosts more</p>\n",
			n - UNTIL_LINES_MAX);
	buf_free(&text);
}

static void run_line(struct html *h, const struct analysis_run *ar)
{
	const struct result_run *r = ar->run;
	struct buf state = {0}, blocks = {0};
	char s[UNITS_LEN];

	report_state_text(h->set, r, &state);
	report_blocks_text(ar, &blocks);
	buf_adds(h->out, "<p class=\"about\">");
	if (h->set->n_runs > 1)
		html_textf(h->out, "%s · ", r->name);
	html_textf(h->out, "run %llu · %s", (unsigned long long)r->id, buf_str(&state));
	if (r->started_wall_ns)
		html_textf(h->out, " · %s", units_wall(r->started_wall_ns, s));
	if (r->started_wall_ns && r->finished_wall_ns > r->started_wall_ns)
		html_textf(h->out, ", took %s",
			units_duration(r->finished_wall_ns - r->started_wall_ns, s));
	if (blocks.len)
		html_textf(h->out, " · %s", buf_str(&blocks));
	if (*r->cache)
		html_textf(h->out, " · cache %s", r->cache);
	buf_adds(h->out, "</p>\n");
	buf_free(&state);
	buf_free(&blocks);
	until_lines(h, ar);
}

static void header(struct html *h)
{
	buf_adds(h->out, "<header>\n<h1>");
	title(h);
	buf_adds(h->out, "</h1>\n");
	for (size_t i = 0; i < h->set->n_runs; i++)
		run_line(h, &h->analysis->runs[i]);
	if (*h->assets->chart)
		buf_adds(h->out, "<noscript><p class=\"hint\">The plots are drawn by a script, and "
				 "scripts are off here. The tables below hold all their "
				 "numbers.</p></noscript>\n");
	else
		buf_adds(h->out, "<p class=\"hint\">This page has tables only: the arraymark that "
				 "wrote it was built without a plotting library.</p>\n");
	buf_adds(h->out, "</header>\n<main>\n");
}

/* JSON in which no '<' stands, so that it cannot end its element. */
static void data(struct html *h)
{
	json_t *doc = json_object();
	struct buf line = {0};

	html_set(doc, "plots", json_incref(h->plots));
	json_line(doc, &line);
	json_decref(doc);
	buf_adds(h->out, "<script type=\"application/json\" id=\"data\">");
	for (size_t i = 0; i < line.len; i++) {
		if (strchr("<>&", line.data[i]))
			buf_addf(h->out, "\\u%04x", (unsigned)line.data[i]);
		else
			buf_addc(h->out, line.data[i]);
	}
	buf_adds(h->out, "</script>\n");
	buf_free(&line);
}

static void foot(struct html *h)
{
	buf_adds(h->out, "</main>\n<footer>arraymark ");
	html_text(h->out, h->opt->tool_version ? h->opt->tool_version : ARRAYMARK_VERSION);
	buf_adds(h->out, ". This page loads nothing and sends nothing.</footer>\n");
	if (*h->assets->chart) {
		data(h);
		buf_addf(h->out, "<script>%s</script>\n<script>%s</script>\n", h->assets->chart,
			h->assets->script);
	}
	buf_adds(h->out, "</body>\n</html>\n");
}

int report_html_with(const struct result_set *s, const struct report_options *o,
	const struct html_assets *assets, struct buf *out, struct err *e)
{
	static void (*const sections[])(struct html *h) = {html_verdict, html_ratios, html_trials,
		html_order, html_series, html_latency, html_disks, html_details, html_findings, html_environment,
		html_commands};
	struct analysis a;
	struct html h = {
		.set = s, .opt = o, .assets = assets, .analysis = &a, .out = out};
	const struct finding **found;

	if (report_analysis(s, o, &a, e) != 0)
		return -1;
	found = said_list(&a.findings);
	said_group(found, a.findings.n, report_said_apart, &a, &h.said);
	h.plots = json_array();
	html_names_init(&h);
	head(&h);
	header(&h);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		sections[i](&h);
	foot(&h);
	json_decref(h.plots);
	said_free(&h.said);
	free(found);
	free(h.names);
	analysis_clear(&a);
	return 0;
}

int report_html(
	const struct result_set *s, const struct report_options *o, struct buf *out, struct err *e)
{
	return report_html_with(s, o, &html_assets_built_in, out, e);
}
