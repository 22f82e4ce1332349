/*
 * The external filebench. Owns the text it is given and its output. The text was read by our own
 * reader first. What is passed on, with the plan's values in it, is looked at again: none that holds
 * the word "system" (filebench would run it in a shell), none whose files lie outside the volume.
 */
#include "agent/workload/filebench_program.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/workload/meter.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/proc.h"
#include "common/base/units.h"
#include "common/formats/formats.h"
#include "common/plan/work_filebench.h"

#define SAID_MAX 400 /* bytes of its own words in an error */
#define TIME_SLACK 0.05 /* of the time that it ran, and seconds: two clocks, read at two places */
#define MAKING_S (6 * 3600) /* the most that the making of the files may take */

struct fb_program {
	const struct workload_order *order;
	const struct work_filebench *w;
	char *version;     /* "1.5-alpha3" */
	char *folder, *file; /* of the workload, in the volume; the text to run in it */
	int64_t run_s;
	struct meter meter;
	struct proc_result result;
};

/* "Filebench version 1.5-alpha3" of the help, or "Filebench Version …" */
static char *version_in(const char *text)
{
	const char *at = strcasestr(text, "filebench version ");
	size_t len;

	if (!at)
		return NULL;
	at += strlen("filebench version ");
	len = strcspn(at, " \t\r\n");
	return len > 0 && len < 64 ? xstrndup(at, len) : NULL;
}

static int find_program(const struct fb_program *p, struct err *e)
{
	if (access(p->w->program, X_OK) == 0)
		return 0;
	return err_sys(e, "program: there is no filebench to run at %s (it is in no current "
			  "distribution: build it, or leave 'program' out for the native engine)",
		p->w->program);
}

static void help_vector(const struct fb_program *p, struct strv *argv)
{
	strv_add(argv, p->w->program);
	strv_add(argv, "-h");
}

static void run_vector(const struct fb_program *p, struct strv *argv)
{
	strv_add(argv, p->w->program);
	strv_add(argv, "-f");
	strv_add(argv, p->file);
}

static int check_program(struct fb_program *p, struct err *e)
{
	struct proc_result r = {0};
	struct strv argv = {0};
	int rc = 0;

	if (find_program(p, e))
		return -1;
	help_vector(p, &argv);
	if (proc_run(&argv, 10000, &r, e) < 0) {
		rc = -1;
	} else {
		p->version = version_in(buf_str(&r.out));
		if (!p->version)
			p->version = version_in(buf_str(&r.err));
		if (!p->version || (!str_starts(p->version, "1.4") && !str_starts(p->version, "1.5")))
			rc = err_set(e, ERR_INPUT,
				"%s is no filebench of version 1.4 or 1.5: its help says '%.60s'",
				p->w->program,
				p->version ? p->version : "nothing of a version");
	}
	proc_result_free(&r);
	strv_free(&argv);
	return rc;
}

/* ---- its text ---- */

/* The setting that this line, "set $name …", is about; *ret_set: it is a `set` at all. */
static const struct wml_setting *setting_of(const struct fb_program *p, const char *line, size_t len,
	int *ret_dir)
{
	const char *s = line, *end = line + len;
	size_t n = 0;

	*ret_dir = 0;
	while (s < end && isblank((unsigned char)*s))
		s++;
	if (end - s < 5 || memcmp(s, "set", 3) || !isblank((unsigned char)s[3]))
		return NULL;
	for (s += 3; s < end && isblank((unsigned char)*s); s++)
		;
	if (s == end || *s++ != '$')
		return NULL;
	while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_'))
		n++;
	*ret_dir = n == 3 && memcmp(s, "dir", 3) == 0;
	for (size_t i = 0; i < p->w->n_settings; i++)
		if (strlen(p->w->settings[i].name) == n && !memcmp(p->w->settings[i].name, s, n))
			return &p->w->settings[i];
	return NULL;
}

static int is_run(const char *line, size_t len)
{
	while (len && isblank((unsigned char)*line)) {
		line++;
		len--;
	}
	return (len >= 3 && !memcmp(line, "run", 3) && (len == 3 || !isalnum((unsigned char)line[3]))) ||
	       (len >= 5 && !memcmp(line, "psrun", 5));
}

/* A setting as filebench reads it: no fractions, no suffixes but its own. */
static void add_setting(const struct wml_setting *s, const char *line, size_t len, struct buf *out)
{
	const char *mean = memmem(line, len, "mean:", 5);
	char value[80];
	int64_t bytes;
	struct err ignored;

	if (wml_setting_number(s->value, &bytes, &ignored) == 0)
		snprintf(value, sizeof(value), "%lld", (long long)bytes);
	else
		snprintf(value, sizeof(value), "%.79s", s->value);
	if (mean) { /* a distribution: its mean is set, as the native engine does */
		size_t before = (size_t)(mean - line) + 5;
		size_t digits = strspn(mean + 5, "0123456789.");

		buf_add(out, line, before);
		buf_adds(out, value);
		buf_add(out, line + before + digits, len - before - digits);
	} else {
		buf_addf(out, "set $%s=%s", s->name, value);
	}
	buf_addc(out, '\n');
}

/* The line without what stands behind a #: readers differ in where they see one. */
static size_t said_of(const char *line, size_t len)
{
	int quoted = 0;

	for (size_t i = 0; i < len; i++) {
		if (line[i] == '#' && !quoted)
			return i;
		quoted ^= line[i] == '"';
	}
	return len;
}

static void translate(const struct fb_program *p, const char *text, struct buf *out)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		const struct wml_setting *s;
		int is_dir;

		s = setting_of(p, text, len, &is_dir);
		if (is_dir)
			buf_addf(out, "set $dir=%s\n", p->folder);
		else if (s)
			add_setting(s, text, len, out);
		else if (!is_run(text, len))
			buf_addf(out, "%.*s\n", (int)said_of(text, len), text);
		text += len + (text[len] == '\n');
	}
	buf_addf(out, "run %lld\n", (long long)p->run_s);
}

static int load_text(struct fb_program *p, struct buf *text, struct err *e)
{
	const struct work_filebench *w = p->w;
	struct wml_program *program;

	if (w->personality)
		buf_adds(text, wml_personality(w->personality));
	else if (fs_read_file(w->wml, WML_MAX_BYTES, text, e) < 0)
		return -1;
	if (wml_load(w->personality ? w->personality : w->wml, buf_str(text), text->len, w->settings,
		    w->n_settings, &program, e) < 0)
		return -1;
	p->run_s = p->order->w->duration_ns ? p->order->w->duration_ns / NS_PER_S
		   : program->run_s	    ? program->run_s
					    : 60;
	wml_free(program);
	return 0;
}

static const char *source_name(const struct fb_program *p)
{
	return p->w->personality ? p->w->personality : p->w->wml;
}

static int is_folder(const struct fb_program *p, const struct wml_token *t)
{
	return t->kind == TOKEN_WORD && t->len == strlen(p->folder) && !memcmp(t->s, p->folder, t->len);
}

static int is_dir(const struct wml_token *t)
{
	return t->kind == TOKEN_VARIABLE && t->len == 3 && !memcmp(t->s, "dir", 3);
}

/* The token now, behind those two: files lie in $dir, and $dir is the workload's folder. */
static int check_place(const struct fb_program *p, const struct wml_token *before,
	const struct wml_token *last, const struct wml_token *now, int dir_is_set, struct err *e)
{
	int of_path = wml_token_is(before, "path") && wml_token_is_mark(last, '=');

	if (of_path && !is_dir(now))
		return err_set(e, ERR_DENIED,
			"%s: a 'path' must be $dir, the volume's folder, and nothing else: with "
			"filebench itself no file may lie elsewhere",
			source_name(p));
	if ((is_dir(now) && !of_path && !wml_token_is(last, "set")) || (dir_is_set && !is_folder(p, now)))
		return err_set(e, ERR_DENIED,
			"%s: $dir is the volume's folder: it may stand behind 'path =' or, in a line of its "
			"own, behind 'set'",
			source_name(p));
	return 0;
}

/* Of the text as filebench will read it. */
static int check_given(const struct fb_program *p, const struct buf *text, struct err *e)
{
	struct wml_token before = {0}, last = {0};
	struct wml_lexer l;
	int set = 0; /* tokens behind "set $dir": 1 is the '=', 2 the value */

	if (strstr(buf_str(text), "system"))
		return err_set(e, ERR_DENIED,
			"%s holds the word 'system', with which filebench runs shell commands: it is not "
			"passed on",
			source_name(p));
	if (wml_lex_start(&l, p->file, buf_str(text), text->len, e))
		return -1;
	while (l.now.kind != TOKEN_END) {
		if (check_place(p, &before, &last, &l.now, set == 2, e))
			return -1;
		set = is_dir(&l.now) && wml_token_is(&last, "set") ? 1 : set == 1 ? 2 : 0;
		before = last;
		last = l.now;
		if (wml_lex_next(&l, e))
			return -1;
	}
	return 0;
}

/* What filebench is to read. */
static int make_text(struct fb_program *p, struct buf *out, struct err *e)
{
	struct buf text = {0};
	int rc = load_text(p, &text, e);

	if (rc == 0) {
		translate(p, buf_str(&text), out);
		rc = check_given(p, out, e);
	}
	buf_free(&text);
	return rc;
}

static int write_text(struct fb_program *p, struct err *e)
{
	struct buf out = {0};
	int rc = make_text(p, &out, e);

	if (rc == 0)
		rc = fs_write_file(p->file, out.data, out.len, 0644, e);
	buf_free(&out);
	return rc;
}

static int make_folder(const struct fb_program *p, struct err *e)
{
	struct stat st;

	if (mkdir(p->folder, 0755) < 0 && errno != EEXIST)
		return err_sys(e, "cannot make %s", p->folder);
	if (lstat(p->folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_dev != p->order->spec->dev)
		return err_set(e, ERR_WRONG_STATE, "%s is no folder of the volume that was built",
			p->folder);
	return 0;
}

static struct fb_program *program_new(const struct workload_order *order)
{
	struct fb_program *p = xcalloc(1, sizeof(*p));

	p->order = order;
	p->w = order->w->filebench;
	p->meter.done_fd = -1;
	p->folder = xasprintf("%s/%s.files", order->spec->directory,
		order->w->name ? order->w->name : "filebench");
	p->file = xasprintf("%s/run.f", p->folder);
	return p;
}

static void tell(const struct fb_program *p, void (*vector)(const struct fb_program *, struct strv *),
	const char *what)
{
	const struct workload_preview *to = p->order->preview;
	struct strv argv = {0};

	vector(p, &argv);
	to->tell(to->arg, p->order->w, what, &argv);
	strv_free(&argv);
}

int fb_program_preview(const struct workload_order *order, struct err *e)
{
	struct fb_program *p = program_new(order);
	struct buf text = {0};
	int rc = check_program(p, e) || make_text(p, &text, e) ? -1 : 0;

	buf_free(&text);
	if (rc == 0) {
		tell(p, help_vector, "ask for its version");
		tell(p, run_vector, "run what was written into that file (timed)");
	}
	fb_program_clear(p);
	return rc;
}

int fb_program_prepare(const struct workload_order *order, struct fb_program **ret, struct err *e)
{
	struct fb_program *p = program_new(order);

	if (check_program(p, e) < 0 || make_folder(p, e) < 0 || write_text(p, e) < 0 ||
		meter_init(&p->meter, 1, order->spec->sample_ns, e) < 0) {
		fb_program_clear(p);
		return -1;
	}
	*ret = p;
	return 0;
}

void fb_program_clear(struct fb_program *p)
{
	if (!p)
		return;
	meter_clear(&p->meter);
	proc_result_free(&p->result);
	free(p->version);
	free(p->folder);
	free(p->file);
	free(p);
}

/* ---- its output ---- */

static const char *first_failure(const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t len = strcspn(text, "\n");

		if (memmem(text, len, "ailed", 5) || memmem(text, len, "rror", 4))
			return text;
	}
	return NULL;
}

/* "deletefile1   1234ops   123ops/s   0.0mb/s    0.123ms/op [0.001ms - 4.5ms]" */
static void read_parts(const char *text, struct trial_detail *d)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char name[80];
		unsigned long long ops;
		double rate, mb, ms;

		if (sscanf(text, "%79s %lluops %lfops/s %lfmb/s %lfms/op", name, &ops, &rate, &mb, &ms) != 5)
			continue;
		detail_part(d, "flowop", name, NULL)->ops += ops;
	}
}

static const struct format_value *value_of(const struct format_record *r, const char *metric)
{
	for (size_t i = 0; i < r->n_v; i++)
		if (strcmp(r->v[i].metric, metric) == 0)
			return &r->v[i];
	return NULL;
}

/* The last one in its output: the one that is read. NULL: none. */
static const char *summary_of(const char *text)
{
	const char *last = NULL;

	for (const char *at = text; (at = strstr(at, "IO Summary:")); at++)
		last = at;
	return last;
}

/* "(1129/1129 r/w)" or "1129/1129 rd/wr" of its summary: by second. 0: it has them. */
static int read_and_written(const char *summary, double *ret_reads, double *ret_writes)
{
	size_t len = strcspn(summary, "\n");
	const char *word = memmem(summary, len, " r/w", 4), *at;

	if (!word)
		word = memmem(summary, len, " rd/wr", 6);
	for (at = word; at && at > summary && strchr("0123456789./", at[-1]); at--)
		;
	return at && sscanf(at, "%lf/%lf", ret_reads, ret_writes) == 2 && *ret_reads + *ret_writes > 0 ? 0
													: -1;
}

/* By the names that the native engine's facts have. What filebench calls latency and CPU time was
 * read as by operation of any kind. */
static void tell_facts(const struct fb_program *p, const struct format_record *r, struct trial_detail *d)
{
	const struct format_value *latency = value_of(r, "latency_mean"), *cpu = value_of(r, "cpu_per_op");
	const char *summary = summary_of(buf_str(&p->result.out));
	double reads, writes, by_rw;

	if (latency)
		detail_fact(d, "latency_all_mean", latency->value, "ns");
	if (!summary || read_and_written(summary, &reads, &writes))
		return;
	by_rw = (double)r->ops / r->seconds / (reads + writes);
	if (latency)
		detail_fact(d, "latency_rw_mean", latency->value * by_rw, "ns");
	detail_fact(d, "reads_per_s", reads, "ops/s");
	detail_fact(d, "writes_per_s", writes, "ops/s");
	if (cpu)
		detail_fact(d, "cpu_per_rw", cpu->value * by_rw, "us/op");
}

/* It cannot have run for longer than we waited for it. Its summary's numbers are rounded. */
static int check_time(const struct format_record *r, int64_t waited_ns, struct err *e)
{
	double waited = (double)waited_ns / NS_PER_S;
	char of_its_own[UNITS_LEN], ours[UNITS_LEN];

	if (r->seconds <= waited * (1 + TIME_SLACK) + TIME_SLACK + r->seconds_resolution)
		return 0;
	return err_set(e, ERR_FAILED,
		"filebench's IO Summary tells of %llu operations in %s, but it ended after %s: that is no "
		"summary of this run",
		(unsigned long long)r->ops,
		units_duration((int64_t)(fmin(r->seconds, 1e9) * 1e9), of_its_own),
		units_duration(waited_ns, ours));
}

static int take_record(const struct fb_program *p, const struct format_record *r,
	struct workload_result *ret, struct err *e)
{
	const struct format_value *v = value_of(r, "throughput");

	if (check_time(r, ret->elapsed_ns, e))
		return -1;
	ret->ops = r->ops;
	ret->elapsed_ns = (int64_t)(r->seconds * 1e9);
	if (v)
		ret->bytes = (uint64_t)(v->value * r->seconds);
	tell_facts(p, r, &ret->detail);
	read_parts(buf_str(&p->result.out), &ret->detail);
	return 0;
}

static int read_output(const struct fb_program *p, struct workload_result *ret, struct err *e)
{
	struct format_found found = {0};
	struct buf copy = {0};
	int rc;

	buf_add(&copy, buf_str(&p->result.out), p->result.out.len);
	rc = format_read("filebench", &copy, format_find("filebench"), &found, e);
	buf_free(&copy);
	if (rc < 0)
		return err_prefix(e, "filebench ended without an IO Summary that can be read");
	rc = take_record(p, &found.records[found.n_records - 1], ret, e);
	format_found_clear(&found);
	return rc;
}

static void add_notes(const struct fb_program *p, struct trial_detail *d)
{
	const char *at = summary_of(buf_str(&p->result.out));
	char *text;

	if (at) {
		text = xstrndup(at, strcspn(at, "\n"));
		detail_note(d, "IO Summary", text);
		free(text);
	}
	text = xasprintf("%s, version %s\n", p->w->program, p->version);
	detail_note(d, "settings", text);
	free(text);
	detail_note(d, "output", buf_str(&p->result.out));
	if (p->result.err.len)
		detail_note(d, "errors", buf_str(&p->result.err));
}

/* The first line that tells of something that failed; it ends with 0 all the same. */
static int say_failure(const struct fb_program *p, struct err *e)
{
	const char *line = first_failure(buf_str(&p->result.err));
	int len;

	if (!line)
		line = first_failure(buf_str(&p->result.out));
	len = line ? (int)strcspn(line, "\n") : 0;
	return err_set(e, ERR_FAILED,
		"filebench ended without an IO Summary%s%.*s; what it said is with the trial",
		line ? ": " : "", len < SAID_MAX ? len : SAID_MAX, line ? line : "");
}

static int run_program(void *arg, struct err *e)
{
	struct fb_program *p = arg;
	struct strv argv = {0};
	int rc;

	/* It maps its memory at a fixed place, and hangs where that is taken. */
	personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	run_vector(p, &argv);
	rc = proc_run(&argv, (unsigned)((p->run_s + MAKING_S) * 1000), &p->result, e);
	if (rc == 0 && !strstr(buf_str(&p->result.out), "IO Summary:"))
		rc = proc_check(&argv, &p->result, e) < 0 ? -1 : say_failure(p, e);
	strv_free(&argv);
	return rc;
}

/* Its operations are known at its end only: the samples say how time went by, and nothing else. */
int fb_program_run(struct fb_program *p, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	int rc;

	meter_start(&p->meter, start_ns, cut, arg, ret);
	rc = meter_watch_call(&p->meter, run_program, p, e);
	meter_stop(&p->meter);
	if (rc == 0)
		rc = read_output(p, ret, e);
	add_notes(p, &ret->detail);
	return rc;
}
