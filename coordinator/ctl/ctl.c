/*
 * The frame around a verb: finding it, global options, help, errors, exit status.
 * Owns stdout's and stderr's last words. Invariant: a failure is told exactly once.
 */
#include "coordinator/ctl/ctl.h"

#include "coordinator/ctl/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/help.h"
#include "common/base/mem.h"
#include "common/base/wrap.h"
#include "coordinator/ctl/print.h"

int ctl_exit_status(enum err_code code)
{
	switch (code) {
	case ERR_NONE:
		return EXIT_DONE;
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_CONN:
	case ERR_DENIED:
		return EXIT_NO_ACCESS;
	case ERR_CANCELLED:
		return EXIT_INTERRUPTED;
	default:
		return EXIT_WORK_FAILED;
	}
}

/* ---- output ---- */

int ctl_out(struct buf *b, struct err *e)
{
	size_t n = fwrite(buf_str(b), 1, b->len, stdout);
	int whole = n == b->len;

	buf_reset(b);
	return whole ? 0 : err_sys(e, "standard output");
}

int ctl_out_lines(const struct ctl *c, const struct buf *lines, struct err *e)
{
	struct buf out = {0};
	int r;

	wrap_lines(buf_str(lines), c->width_out, &out);
	r = ctl_out(&out, e);
	buf_free(&out);
	return r;
}

int ctl_out_json(json_t *v, struct err *e)
{
	struct buf out = {0};
	int r;

	json_document(v, &out);
	json_decref(v);
	r = ctl_out(&out, e);
	buf_free(&out);
	return r;
}

const char *ctl_command(const struct ctl *c, char out[CTL_COMMAND_LEN])
{
	snprintf(out, CTL_COMMAND_LEN, "arraymark%s%s", c->coordinator ? " -c " : "",
		c->coordinator ? c->coordinator : "");
	return out;
}

void ctl_tell(const struct ctl *c, const char *lines)
{
	struct buf out = {0};

	wrap_lines(lines, c->width_err, &out);
	fwrite(buf_str(&out), 1, out.len, stderr);
	buf_free(&out);
}

static void say(const struct ctl *c, const char *prefix, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));
static void say(const struct ctl *c, const char *prefix, const char *fmt, va_list ap)
{
	char *text = xvasprintf(fmt, ap);
	struct buf line = {0};

	buf_adds(&line, prefix);
	print_safe(text, &line);
	buf_addc(&line, '\n');
	ctl_tell(c, line.data);
	buf_free(&line);
	free(text);
}

void ctl_note(const struct ctl *c, const char *fmt, ...)
{
	va_list ap;

	if (c->quiet || c->json)
		return;
	va_start(ap, fmt);
	say(c, "", fmt, ap);
	va_end(ap);
}

void ctl_warn(const struct ctl *c, const char *fmt, ...)
{
	va_list ap;

	if (c->json)
		return;
	va_start(ap, fmt);
	say(c, "arraymark: warning: ", fmt, ap);
	va_end(ap);
}

static void error_as_json(const struct ctl *c, const struct err *e, int status)
{
	json_t *doc = json_object(), *o = json_object(), *all = json_array();
	struct buf out = {0};

	for (size_t i = 0; i < c->more.n; i++)
		json_array_append_new(all, json_text(c->more.v[i]));
	json_object_set_new(o, "code", json_text(err_code_name(e->code)));
	json_object_set_new(o, "text", json_text(e->text));
	json_object_set_new(o, "errors", all);
	json_object_set_new(o, "exit_status", json_integer(status));
	json_object_set_new(doc, "error", o);
	json_line(doc, &out);
	fprintf(stderr, "%s\n", buf_str(&out));
	buf_free(&out);
	json_decref(doc);
}

static void error_as_text(const struct ctl *c, const struct verb *v, const struct err *e)
{
	struct buf out = {0};

	for (size_t i = 0; i < c->more.n; i++) {
		print_safe(c->more.v[i], &out);
		buf_addc(&out, '\n');
	}
	print_colored("arraymark: ", COLOR_BOLD, c->color_err, &out);
	print_safe(e->text, &out);
	if (e->code == ERR_USAGE)
		buf_addf(&out, " (see `arraymark %s%s-h`)", v ? v->name : "", v ? " " : "");
	buf_addc(&out, '\n');
	ctl_tell(c, out.data);
	buf_free(&out);
}

static int tell(const struct ctl *c, const struct verb *v, const struct err *e)
{
	int status = ctl_exit_status(e->code);

	fflush(stdout);
	if (c->json)
		error_as_json(c, e, status);
	else
		error_as_text(c, v, e);
	return status;
}

/* ---- help ---- */

const struct option_spec global_options[] = {
	{"coordinator", 'c', "HOST:PORT",
		"which coordinator; also 'local' or the path of its socket"},
	{"quiet", 'q', NULL, "no progress and no hints"},
	{"json", 0, NULL, "one JSON document on stdout; errors as one on stderr"},
	{"color", 0, "WHEN", "auto (default), always or never"},
	{"help", 'h', NULL, "help, of a verb after its name"},
	{"version", 0, NULL, "the version"},
	{0},
};

static void help_program(struct buf *out)
{
	buf_adds(out, "usage: arraymark VERB [options] …\n\n");
	help_text("Files plans that build storage volumes and time workloads on them, follows the runs "
		  "and prints what they found.\n", out);
	buf_adds(out, "\nverbs (`arraymark help VERB` tells more):\n");
	for (size_t i = 0; verbs[i]; i++) {
		char *left = xasprintf("%s %s", verbs[i]->name, verbs[i]->args);

		help_row(left, verbs[i]->summary, out);
		free(left);
	}
	buf_adds(out, "\noptions of every verb:\n");
	help_options(global_options, out);
	buf_addc(out, '\n');
	help_text("A RUN is a number, a name (its newest run) or 'last'.\nStatus: 0 done, 1 the work "
		  "failed, 2 usage, 3 no connection, no identity or not allowed, 4 and 5 see `compare`, "
		  "130 interrupted.\n", out);
}

void ctl_help(const struct verb *v, struct buf *out)
{
	struct help h = {.program = "arraymark", .common = global_options};

	if (!v) {
		help_program(out);
		return;
	}
	h.verb = v->name;
	h.args = v->args;
	h.summary = v->summary;
	h.text = v->help;
	h.examples = v->examples;
	h.options = v->options;
	help_verb(&h, out);
}

static int print_help(const struct verb *v, struct err *e)
{
	struct buf out = {0};
	int r;

	ctl_help(v, &out);
	r = ctl_out(&out, e);
	buf_free(&out);
	return r;
}

/* ---- global options ---- */

static int has_colors(const char *when, int terminal)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (!strcmp(when, "always"))
		return 1;
	if (!strcmp(when, "never") || (no && *no))
		return 0;
	return terminal && term && strcmp(term, "dumb");
}

static int set_globals(struct ctl *c, const struct args *a, struct err *e)
{
	const char *when = args_get(a, "color");
	const char *term = getenv("TERM");
	int dumb = !term || !*term || !strcmp(term, "dumb");

	when = when ? when : "auto";
	c->coordinator = args_get(a, "coordinator");
	c->quiet = args_get(a, "quiet") != NULL;
	c->json = args_get(a, "json") != NULL;
	c->terminal_out = isatty(STDOUT_FILENO);
	c->terminal_err = isatty(STDERR_FILENO) && !dumb;
	c->width_out = screen_columns(STDOUT_FILENO);
	c->width_err = screen_columns(STDERR_FILENO);
	if (strcmp(when, "auto") && strcmp(when, "always") && strcmp(when, "never"))
		return err_set(e, ERR_USAGE, "--color %s: auto, always or never is expected", when);
	c->color_out = has_colors(when, c->terminal_out);
	c->color_err = has_colors(when, c->terminal_err);
	return 0;
}

static int check_count(const struct verb *v, const struct args *a, struct err *e)
{
	if (a->n < v->min_args)
		return err_set(e, ERR_USAGE, "%s wants more arguments: arraymark %s %s", v->name,
			v->name, v->args);
	if (v->max_args >= 0 && a->n > v->max_args)
		return err_set(e, ERR_USAGE, "'%s' is one argument too many for %s",
			a->v[v->max_args], v->name);
	return 0;
}

/* The verb's words are gone from argv[1…]: what follows are its options and arguments. */
static int run_verb(
	struct ctl *c, const struct verb *v, int argc, char **argv, struct args *a, struct err *e)
{
	int status;

	c->verb = v;
	if (args_parse(argc, argv, global_options, v->options, v->in_order, a, e) || set_globals(c, a, e))
		return -1;
	if (args_get(a, "help"))
		return print_help(v, e);
	if (check_count(v, a, e))
		return -1;
	status = v->run(c, a, e);
	if (status >= 0 && fflush(stdout))
		return err_sys(e, "standard output");
	return status;
}

static int without_verb(struct ctl *c, const struct args *a, struct err *e)
{
	struct buf out = {0};
	int rc;

	if (args_get(a, "version")) {
		buf_adds(&out, "arraymark " ARRAYMARK_VERSION "\n");
		rc = ctl_out(&out, e);
		buf_free(&out);
		return rc;
	}
	if (args_get(a, "help"))
		return print_help(NULL, e);
	(void)c;
	return err_set(e, ERR_USAGE, "a verb is missing");
}

static int show_help(char **words, int n, struct err *e)
{
	const struct verb *v = NULL;
	int used;

	if (n > 0 && !(v = verb_find(words, n, &used, e)))
		return -1;
	return print_help(v, e);
}

int ctl_main(int argc, char **argv)
{
	struct ctl c = {0};
	struct args a = {0};
	const struct verb *v = NULL;
	struct err e;
	int status = -1, words;

	err_clear(&e);
	for (int i = 1; i < argc; i++) /* how to tell an error must be known before the first one */
		c.json |= !strcmp(argv[i], "--json");
	if (args_parse(argc, argv, global_options, NULL, 1, &a, &e) || set_globals(&c, &a, &e))
		goto out;
	if (a.n == 0 || args_get(&a, "help") || args_get(&a, "version")) {
		status = without_verb(&c, &a, &e);
	} else if (!strcmp(a.v[0], "help")) {
		status = show_help(a.v + 1, a.n - 1, &e);
	} else if ((v = verb_find(a.v, a.n, &words, &e))) {
		a.v[words - 1] = argv[0];
		status = run_verb(&c, v, a.n - words + 1, a.v + words - 1, &a, &e);
	}
	if (status >= 0 && fflush(stdout))
		status = err_sys(&e, "standard output");
out:
	if (status < 0)
		status = tell(&c, v, &e);
	strv_free(&c.more);
	args_clear(&a);
	return status;
}
