/*
 * What a filebench run tells: parts by flowop, numbers, the IO Summary line. Owns nothing.
 *
 * Latency is given in both ways that filebench's versions had: the sum over all operations divided
 * by reads and writes alone (up to May 2017), and by all operations (since).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/workload/filebench.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"

#define MIB 1048576.0

uint64_t fb_host_cpu_ns(void)
{
	unsigned long long user, nice, system, idle, iowait, irq, softirq;
	struct buf text = {0};
	struct err ignored;
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t ns = 0;

	if (hz > 0 && fs_read_file("/proc/stat", 1 << 20, &text, &ignored) == 0 &&
		sscanf(buf_str(&text), "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
			&idle, &iowait, &irq, &softirq) == 7)
		ns = (user + nice + system + irq + softirq) * (uint64_t)(NS_PER_S / hz);
	buf_free(&text);
	return ns;
}

uint64_t fb_own_user_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)u.ru_utime.tv_sec * NS_PER_S + (uint64_t)u.ru_utime.tv_usec * 1000;
}

char *fb_summary_line(const struct fb_summary *s, int dialect)
{
	double rw = (double)(s->reads + s->writes), ops = (double)s->ops;
	double old_ms = rw > 0 ? (double)s->ns / rw / 1e6 : 0;
	double new_ms = ops > 0 ? (double)s->ns / ops / 1e6 : 0;
	double rate = ops / s->seconds, reads = (double)s->reads / s->seconds;
	double writes = (double)s->writes / s->seconds, mb = (double)s->bytes / MIB / s->seconds;

	switch (dialect) {
	case 'A':
		return xasprintf("IO Summary: %llu ops %.1f ops/s, (%.0f/%.0f r/w) %.1fmb/s, %.0fus "
				 "cpu/op, %.1fms latency",
			(unsigned long long)s->ops, rate, reads, writes, mb, s->cpu_us, old_ms);
	case 'B':
		return xasprintf("IO Summary: %llu ops, %.3f ops/s, (%.0f/%.0f r/w), %.1fmb/s, %.0fus "
				 "cpu/op, %.1fms latency",
			(unsigned long long)s->ops, rate, reads, writes, mb, s->cpu_us, old_ms);
	case 'C':
		return xasprintf("IO Summary: %llu ops %.3f ops/s %.0f/%.0f rd/wr %.1fmb/s %.1fms/op",
			(unsigned long long)s->ops, rate, reads, writes, mb, old_ms);
	default:
		return xasprintf("IO Summary: %llu ops %.3f ops/s %.0f/%.0f rd/wr %.1fmb/s %.3fms/op",
			(unsigned long long)s->ops, rate, reads, writes, mb, new_ms);
	}
}

struct sums {
	struct fb_summary all;
	uint64_t read_bytes, written_bytes, loops, deleted_open;
};

static int is_elsewhere(const struct fb_op *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i].def->name, name) == 0 || is_elsewhere(v[i].body, v[i].n_body, name))
			return 1;
	return 0;
}

/* "thread.flowop" where another group has a flowop of that name. */
static char *part_name(const struct fb_run *r, const struct fb_threads *g, const struct fb_op *op)
{
	for (size_t i = 0; i < r->program->n_groups; i++)
		if (&r->groups[i] != g && is_elsewhere(r->groups[i].ops, r->groups[i].n_ops, op->def->name))
			return xasprintf("%s.%s", g->def->name, op->def->name);
	return xstrdup(op->def->name);
}

static void report_op(const struct fb_run *r, const struct fb_threads *g, const struct fb_op *op,
	struct sums *sums, struct trial_detail *d)
{
	const struct wml_flow_type *type = op->def->type;
	struct fb_count c = {.hist = xcalloc(1, sizeof(*c.hist))};
	struct trial_part *part;
	char *name;

	for (unsigned i = 0; i < r->n_threads; i++) {
		const struct fb_count *from = &r->threads[i].counts[op->id];

		if (r->threads[i].group != g)
			continue;
		c.ops += from->ops;
		c.bytes += from->bytes;
		c.errors += from->errors;
		c.ns += from->ns;
		hist_merge(c.hist, from->hist);
	}
	name = part_name(r, g, op);
	part = detail_part(d, type->is_io ? "flowop" : "wait", name, c.ops ? c.hist : NULL);
	part->ops += c.ops;
	part->bytes += c.bytes;
	part->errors += c.errors;
	free(name);
	free(c.hist);
	if (!type->is_io)
		return;
	sums->all.ops += c.ops;
	sums->all.ns += c.ns;
	sums->all.bytes += c.bytes;
	sums->all.reads += type->is_read ? c.ops : 0;
	sums->all.writes += type->is_write ? c.ops : 0;
	sums->read_bytes += type->is_read ? c.bytes : 0;
	sums->written_bytes += type->is_write ? c.bytes : 0;
}

static void report_ops(const struct fb_run *r, const struct fb_threads *g, const struct fb_op *v,
	size_t n, struct sums *sums, struct trial_detail *d)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].run)
			report_op(r, g, &v[i], sums, d);
		report_ops(r, g, v[i].body, v[i].n_body, sums, d);
	}
}

static void report_facts(const struct sums *s, struct trial_detail *d)
{
	const struct fb_summary *a = &s->all;
	double rw = (double)(a->reads + a->writes);

	if (a->ops)
		detail_fact(d, "latency_all_mean", (double)a->ns / (double)a->ops, "ns");
	if (rw > 0)
		detail_fact(d, "latency_rw_mean", (double)a->ns / rw, "ns");
	detail_fact(d, "reads", (double)a->reads, "");
	detail_fact(d, "writes", (double)a->writes, "");
	detail_fact(d, "reads_per_s", (double)a->reads / a->seconds, "ops/s");
	detail_fact(d, "writes_per_s", (double)a->writes / a->seconds, "ops/s");
	detail_fact(d, "read_bytes", (double)s->read_bytes, "B");
	detail_fact(d, "written_bytes", (double)s->written_bytes, "B");
	detail_fact(d, "loops", (double)s->loops, "");
	detail_fact(d, "deleted_while_open", (double)s->deleted_open, "");
	if (a->cpu_us > 0)
		detail_fact(d, "cpu_per_rw", a->cpu_us, "us/op");
}

static void report_settings(const struct fb_run *r, struct trial_detail *d)
{
	struct buf text = {0};

	buf_addf(&text, "%s\n", r->program->file);
	for (size_t i = 0; i < r->program->settings.n; i++)
		buf_addf(&text, "%s\n", r->program->settings.v[i]);
	for (size_t i = 0; i < r->program->n_groups; i++) {
		const struct wml_group *g = &r->program->groups[i];

		buf_addf(&text, "threads %s.%s: %u\n", g->process, g->name, g->processes * g->instances);
	}
	for (size_t i = 0; i < r->program->n_sets; i++)
		buf_addf(&text, "fileset %s: %llu file%s, %llu folder%s, %llu bytes made before\n",
			r->sets[i].def->name, (unsigned long long)r->sets[i].files.n,
			r->sets[i].files.n == 1 ? "" : "s", (unsigned long long)r->sets[i].n_dirs,
			r->sets[i].n_dirs == 1 ? "" : "s", (unsigned long long)r->made_bytes[i]);
	detail_note(d, "settings", buf_str(&text));
	buf_free(&text);
	if (r->program->echo && *r->program->echo)
		detail_note(d, "echo", r->program->echo);
}

void fb_report(const struct fb_run *r, struct workload_result *ret)
{
	struct sums s = {.all.seconds = ret->elapsed_ns > 0 ? (double)ret->elapsed_ns / 1e9 : 1};
	double cpu_ns;
	char *line;

	for (size_t g = 0; g < r->program->n_groups; g++)
		report_ops(r, &r->groups[g], r->groups[g].ops, r->groups[g].n_ops, &s, &ret->detail);
	for (unsigned i = 0; i < r->n_threads; i++) {
		s.loops += r->threads[i].loops;
		s.deleted_open += r->threads[i].deleted_open;
	}
	cpu_ns = (double)(r->cpu_after[0] - r->cpu_before[0]) -
		 (double)(r->cpu_after[1] - r->cpu_before[1]);
	if (cpu_ns > 0 && s.all.reads + s.all.writes > 0)
		s.all.cpu_us = cpu_ns / 1e3 / (double)(s.all.reads + s.all.writes);
	report_facts(&s, &ret->detail);
	line = fb_summary_line(&s.all, r->w->dialect);
	detail_note(&ret->detail, "IO Summary", line);
	free(line);
	report_settings(r, &ret->detail);
}
