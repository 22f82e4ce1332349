/*
 * The end of the HTML report: findings, environment, how to do it again. Owns nothing beyond a
 * call.
 * Invariant: a redacted page holds no host name, serial, WWN, path or plan.
 */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "coordinator/results/report_html.h"
#include "coordinator/results/report_outliers.h"

static const char *name_of(const void *arg, const char *host, char out[REPORT_HOST_MAX])
{
	return html_host(arg, host, out);
}

static const char *run_name(const struct html *h, uint64_t run)
{
	for (size_t i = 0; i < h->set->n_runs; i++)
		if (h->set->runs[i].id == run)
			return h->set->runs[i].name;
	return "";
}

static void item(struct html *h, size_t i)
{
	const struct finding *f = &h->analysis->findings.v[i];
	const char *word = severity_name(f->severity);
	struct buf of = {0};

	report_said_about(&h->said, i, h->analysis, name_of, h, &of);
	if (h->set->n_runs > 1)
		buf_addf(&of, "%srun %s", of.len ? ", " : "", run_name(h, f->run));
	buf_addf(h->out, "<li class=\"%s\"><strong>%s %s</strong> ", word, word, f->rule->id);
	if (of.len)
		html_textf(h->out, "%s: ", of.data);
	buf_reset(&of);
	said_text(&h->said, i, &of);
	html_text(h->out, buf_str(&of));
	buf_adds(h->out, "</li>\n");
	buf_free(&of);
}

static int lacks_the_same(const struct finding *a, const struct finding *b)
{
	return b->unknown && a->run == b->run && strcmp(a->text, b->text) == 0;
}

/* What a run lacks, and the rules that cannot tell without it; the subjects are those of the rules. */
static void unknown_items(struct html *h)
{
	const struct findings *all = &h->analysis->findings;

	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->v[i];
		const char *last = "";
		size_t k = 0;

		while (k < i && f->unknown && !lacks_the_same(f, &all->v[k]))
			k++;
		if (!f->unknown || k < i)
			continue;
		buf_adds(h->out, "<li class=\"unknown\"><strong>unknown</strong> ");
		if (h->set->n_runs > 1)
			html_textf(h->out, "run %s: ", run_name(h, f->run));
		html_textf(h->out, "%s:", f->text);
		for (k = i; k < all->n; k++) {
			if (!lacks_the_same(f, &all->v[k]) || strcmp(all->v[k].rule->id, last) == 0)
				continue;
			last = all->v[k].rule->id;
			buf_addf(h->out, " %s", last);
		}
		buf_adds(h->out, "</li>\n");
	}
}

/* Whether the i-th finding is of that level, and none before it said the same. */
static int is_told(const struct html *h, size_t i, enum severity level)
{
	return said_level(&h->analysis->findings.v[i]) == (int)level && h->said.first[i] == i;
}

size_t html_findings_count(const struct html *h, enum severity level)
{
	size_t n = 0;

	for (size_t i = 0; i < h->said.n; i++)
		n += (size_t)is_told(h, i, level);
	return n;
}

size_t html_findings_list(struct html *h, enum severity level)
{
	size_t n = 0;

	for (size_t i = 0; i < h->said.n; i++)
		if (is_told(h, i, level)) {
			item(h, i);
			n++;
		}
	return n;
}

size_t html_unknown_rules(const struct html *h)
{
	const struct findings *all = &h->analysis->findings;
	size_t n = 0;

	for (size_t k = 0; k < rule_count; k++)
		for (size_t i = 0; i < all->n; i++)
			if (all->v[i].unknown && all->v[i].rule == &rule_table[k]) {
				n++;
				break;
			}
	return n;
}

size_t html_outliers(struct html *h, size_t most)
{
	struct strv lines = {0};
	size_t n;

	report_outlier_lines(h->analysis, NULL, name_of, h, &lines);
	for (size_t i = 0; i < lines.n && i < most; i++) {
		buf_adds(h->out, "<li class=\"warning\"><strong>stands out</strong> ");
		html_text(h->out, lines.v[i]);
		buf_adds(h->out, "</li>\n");
	}
	n = lines.n;
	strv_free(&lines);
	return n;
}

void html_findings(struct html *h)
{
	html_section(h, "findings", "Findings");
	if (h->analysis->findings.n + h->analysis->n_outliers == 0)
		buf_adds(h->out, "<p class=\"hint\">No rule has anything to say.</p>\n");
	buf_adds(h->out, "<ul class=\"findings\">\n");
	for (int level = SEVERITY_INVALID; level >= SEVERITY_NOTE; level--) {
		html_findings_list(h, (enum severity)level);
		if (level == SEVERITY_INVALID)
			html_outliers(h, SIZE_MAX);
	}
	unknown_items(h);
	buf_adds(h->out, "</ul>\n<p class=\"hint\">What each rule means and why: man 7 "
			 "arraymark-findings.</p>\n");
	html_section_end(h);
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_get_str(o, key, "");
}

static void host_row(struct html *h, const struct result_environment *v)
{
	const char *source = result_environment_source(h->set, v);
	char host[REPORT_HOST_MAX], s[UNITS_LEN];
	int64_t ram = json_get_int(v->inventory, "ram_bytes", 0);

	html_row(h);
	if (source)
		html_cell(h, "%s (%s)", html_host(h, v->host, host), source);
	else
		html_cell(h, "%s", html_host(h, v->host, host));
	html_cell(h, "%s", text_of(v->inventory, "os"));
	html_cell(h, "%s", text_of(v->inventory, "kernel"));
	html_cell(h, "%s", text_of(v->inventory, "zfs"));
	html_cell(h, "%s", text_of(v->inventory, "cpu"));
	html_number(h, "%lld", (long long)json_get_int(v->inventory, "cpus", 0));
	html_number(h, "%s", ram > 0 ? units_size(ram, s) : "-");
	html_number(h, "%zu", json_array_size(json_object_get(v->inventory, "disks")));
	html_cell(h, "%s", text_of(v->inventory, "agent_version"));
}

static void disk_rows(struct html *h, const struct result_environment *v)
{
	const json_t *disk;
	char host[REPORT_HOST_MAX], s[UNITS_LEN];
	size_t i;

	html_host(h, v->host, host);
	json_array_foreach(json_object_get(v->inventory, "disks"), i, disk)
	{
		int64_t bytes = json_get_int(disk, "bytes", 0);

		html_row(h);
		html_cell(h, "%s", host);
		html_cell(h, "%s", h->opt->redact ? "-" : text_of(disk, "name"));
		html_cell(h, "%s", text_of(disk, "model"));
		html_cell(h, "%s", h->opt->redact ? "-" : text_of(disk, "serial"));
		html_cell(h, "%s", text_of(disk, "controller"));
		html_number(h, "%s", bytes > 0 ? units_size(bytes, s) : "-");
		html_number(h, "%lld / %lld",
			(long long)json_get_int(disk, "logical_sector_bytes", 0),
			(long long)json_get_int(disk, "physical_sector_bytes", 0));
		html_cell(h, "%s", json_get_bool(disk, "rotational", 0) ? "rotating" : "flash");
		html_cell(h, "%s", text_of(disk, "link_speed"));
		html_cell(h, "%s", text_of(disk, "scheduler"));
		html_cell(h, "%s", text_of(disk, "write_cache"));
	}
}

void html_environment(struct html *h)
{
	static const char *const of_host[] = {"host", "system", ":kernel", ":ZFS", "processor",
		"#CPUs", "#memory", "#disks", ":agent", NULL};
	static const char *const of_disk[] = {"host", "disk", "model", ":serial", ":controller", "#size",
		"#sectors, logical / physical", "kind", ":link", ":scheduler", ":write cache", NULL};
	size_t disks = 0;

	html_section(h, "environment", "Environment");
	for (size_t i = 0; i < h->set->n_envs; i++)
		disks += json_array_size(json_object_get(h->set->envs[i].inventory, "disks"));
	if (!h->set->n_envs)
		buf_adds(h->out, "<p class=\"hint\">Nothing is known of the hosts.</p>\n");
	if (h->set->n_envs) {
		html_table(h, h->set->n_envs <= HTML_OPEN_ROWS_MAX, "Hosts", of_host);
		for (size_t i = 0; i < h->set->n_envs; i++)
			host_row(h, &h->set->envs[i]);
		html_table_end(h);
	}
	if (disks) {
		html_table(h, 0, "Disks", of_disk);
		for (size_t i = 0; i < h->set->n_envs; i++)
			disk_rows(h, &h->set->envs[i]);
		html_table_end(h);
	}
	html_section_end(h);
}

/* "[build] mkfs.xfs /dev/loop3", what it was for, how long it took; what failed says what it printed. */
static void step_item(struct html *h, const struct result_step *s)
{
	struct buf words = {0};
	char took[UNITS_LEN];

	strv_quote(&s->argv, &words);
	buf_addf(h->out, "<li%s>", s->ok ? "" : " class=\"invalid\"");
	html_textf(h->out, "%s%s: ", s->phase, s->ok ? "" : ", failed");
	html_textf(h->out, "%s, %s", s->what, units_duration(s->elapsed_ns, took));
	buf_adds(h->out, "<br><code>");
	html_text(h->out, buf_str(&words));
	buf_adds(h->out, "</code>");
	if (!s->ok && *s->output) {
		buf_adds(h->out, "<pre>");
		html_text(h->out, s->output);
		buf_adds(h->out, "</pre>");
	}
	buf_adds(h->out, "</li>\n");
	buf_free(&words);
}

static int is_of(const struct html *h, const struct result_step *s, const struct result_run *r,
	const char *layout)
{
	return s->run == r->id && strcmp(s->layout_name, layout) == 0 &&
	       report_step_is_shown(h->set, s);
}

static void executed_on(struct html *h, const struct result_run *r, const char *layout)
{
	const struct result_step *first = NULL;
	size_t n = 0, failed = 0;

	for (size_t i = 0; i < h->set->n_steps; i++)
		if (is_of(h, &h->set->steps[i], r, layout)) {
			first = first ? first : &h->set->steps[i];
			failed += !h->set->steps[i].ok;
			n += h->set->steps[i].ok;
		}
	if (!first)
		return;
	buf_adds(h->out, "<details><summary>");
	html_textf(h->out, "%s: %zu command%s of block %u on %s", layout, n, n == 1 ? "" : "s",
		first->block, first->host);
	if (failed)
		buf_addf(h->out, ", and %zu that failed anywhere", failed);
	buf_adds(h->out, "</summary>\n<ol class=\"steps\">\n");
	for (size_t i = 0; i < h->set->n_steps; i++)
		if (is_of(h, &h->set->steps[i], r, layout))
			step_item(h, &h->set->steps[i]);
	buf_adds(h->out, "</ol></details>\n");
}

static void executed(struct html *h, const struct result_run *r)
{
	for (size_t i = 0; i < r->layouts.n; i++)
		executed_on(h, r, r->layouts.v[i]);
}

static void run_commands(struct html *h, const struct result_run *r)
{
	buf_adds(h->out, "<p>");
	html_textf(h->out, "%s · run %llu · seed %llu", r->name, (unsigned long long)r->id,
		(unsigned long long)r->seed);
	if (*r->tool_version)
		html_textf(h->out, " · arraymark %s", r->tool_version);
	if (*r->plan_sha256)
		html_textf(h->out, " · plan SHA-256 %s", r->plan_sha256);
	buf_adds(h->out, "</p>\n");
	if (!r->plan_text || !*r->plan_text)
		buf_adds(h->out, "<p class=\"hint\">These results have no plan.</p>\n");
	else if (h->opt->redact)
		buf_adds(h->out, "<p class=\"hint\">The plan is left out: it names hosts and "
				 "disks.</p>\n");
	else {
		buf_adds(h->out, "<pre>");
		html_text(h->out, r->plan_text);
		buf_adds(h->out, "</pre>\n<p>Run it again: <code>arraymark run PLAN");
		for (size_t i = 0; i < r->sets.n; i++) {
			buf_adds(h->out, " --set ");
			html_text(h->out, r->sets.v[i]);
		}
		buf_addf(h->out, "</code>. Every command it executed, with its output: "
				 "<code>arraymark show %llu</code> on its coordinator.</p>\n",
			(unsigned long long)r->id);
		executed(h, r);
	}
}

void html_commands(struct html *h)
{
	html_section(h, "commands", "Plan and commands");
	for (size_t i = 0; i < h->set->n_runs; i++)
		run_commands(h, &h->set->runs[i]);
	html_section_end(h);
}
