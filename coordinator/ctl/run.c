/* run: files a plan and follows it; --dry-run shows what each host would do. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "coordinator/ctl/connect.h"
#include "coordinator/ctl/print.h"
#include "coordinator/ctl/runner.h"
#include "coordinator/ctl/verbs.h"

/* ---- dry run ---- */

struct preview {
	struct buf *out;
	int color;
	char *host, *layout, *phase; /* of the last line */
};

/* 1 when the value is not the one of the last line; it is remembered. */
static int is_new(char **last, const char *value)
{
	if (*last && !strcmp(*last, value))
		return 0;
	free(*last);
	*last = xstrdup(value);
	return 1;
}

static void preview_step(struct preview *p, const json_t *v)
{
	struct buf words = {0}, head = {0};
	const json_t *word;
	struct strv argv = {0};
	size_t i;

	json_array_foreach(json_object_get(v, "argv"), i, word)
		strv_add(&argv, json_is_string(word) ? json_string_value(word) : "?");
	if (is_new(&p->host, json_get_str(v, "host", "-"))) {
		print_safe(p->host, &head);
		buf_addc(p->out, '\n');
		print_colored(buf_str(&head), COLOR_BOLD, p->color, p->out);
		buf_addc(p->out, '\n');
		is_new(&p->layout, "");
	}
	if (is_new(&p->layout, json_get_str(v, "layout_name", "-"))) {
		buf_adds(p->out, "  layout ");
		print_safe(p->layout, p->out);
		buf_addc(p->out, '\n');
		is_new(&p->phase, "");
	}
	if (is_new(&p->phase, json_get_str(v, "phase", "-"))) {
		buf_adds(p->out, "    ");
		print_safe(p->phase, p->out);
		buf_addc(p->out, '\n');
	}
	buf_adds(p->out, "      # ");
	print_safe(json_get_str(v, "what", ""), p->out);
	buf_addc(p->out, '\n');
	if (argv.n) {
		strv_quote(&argv, &words);
		buf_adds(p->out, "      ");
		print_safe(buf_str(&words), p->out);
		buf_addc(p->out, '\n');
	}
	strv_free(&argv);
	buf_free(&words);
	buf_free(&head);
}

static void preview_text(const json_t *lines, int color, struct buf *out)
{
	struct preview p = {.out = out, .color = color};
	const json_t *v;
	size_t i;

	json_array_foreach(lines, i, v)
	{
		const char *type = json_get_str(v, "type", "");

		if (!strcmp(type, "plan")) {
			buf_adds(out, "plan ");
			print_safe(json_get_str(v, "name", "-"), out);
			buf_addf(out, " on %zu host%s; nothing was touched\n",
				json_array_size(json_object_get(v, "hosts")),
				json_array_size(json_object_get(v, "hosts")) == 1 ? "" : "s");
			planfile_estimate_text(json_object_get(v, "estimate"), out);
		} else if (!strcmp(type, "step")) {
			preview_step(&p, v);
		}
	}
	free(p.host);
	free(p.layout);
	free(p.phase);
}

/* {"plan": {…}, "steps": […]} */
static json_t *preview_json(const json_t *lines)
{
	json_t *o = json_object(), *steps = json_array(), *v;
	size_t i;

	json_array_foreach(lines, i, v)
	{
		const char *type = json_get_str(v, "type", "");

		if (!strcmp(type, "plan"))
			json_object_set(o, "plan", v);
		else if (!strcmp(type, "step"))
			json_array_append(steps, v);
		json_object_del(v, "type"); /* and with it what `type` points to */
	}
	json_object_set_new(o, "steps", steps);
	return o;
}

static int dry_run(struct ctl *c, struct planfile *f, struct err *e)
{
	struct connection conn;
	struct buf out = {0};
	struct msg_call call;
	json_t *lines;
	int r;

	if (connection_open(c, &conn, e))
		return -1;
	r = runner_prepare_plan(c, &conn, f, e);
	planfile_call(f, CALL_PREVIEW, &call);
	r = r ? r : client_collect(conn.client, &call, &lines, e);
	connection_close(&conn);
	if (r)
		return -1;
	if (c->json) {
		r = ctl_out_json(preview_json(lines), e);
	} else {
		preview_text(lines, c->color_out, &out);
		r = ctl_out(&out, e);
	}
	buf_free(&out);
	json_decref(lines);
	return r;
}

/* ---- run ---- */

static int detach(struct ctl *c, json_t *filed, struct err *e)
{
	struct buf out = {0};
	int r;

	if (c->json)
		return ctl_out_json(json_incref(filed), e);
	buf_addf(&out, "%lld\n", (long long)json_get_int(filed, "run", 0));
	r = ctl_out(&out, e);
	runner_note_detached(c, (uint64_t)json_get_int(filed, "run", 0));
	buf_free(&out);
	return r;
}

static int file_and_follow(struct ctl *c, const struct args *a, struct planfile *f, struct err *e)
{
	int detached = args_get(a, "detach") != NULL, attached = args_get(a, "attached") != NULL;
	struct connection conn;
	json_t *filed = NULL;
	int r = -1;

	if (attached && detached)
		return err_set(e, ERR_USAGE, "--attached and --detach: one of them");
	if (connection_open(c, &conn, e))
		return -1;
	if (detached && conn.private)
		err_set(e, ERR_USAGE, "--detach: the private coordinator ends with this command");
	else if (!runner_prepare(c, &conn, NULL, e) && !runner_file(c, &conn, f, &filed, e))
		r = detached ? detach(c, filed, e) : runner_follow(c, &conn, filed, attached, e);
	json_decref(filed);
	connection_close(&conn);
	return r;
}

static int run(struct ctl *c, const struct args *a, struct err *e)
{
	struct planfile f;
	int r;

	if (planfile_load(c, a->v[0], a, &f, e))
		return -1;
	r = args_get(a, "dry-run") ? dry_run(c, &f, e) : file_and_follow(c, a, &f, e);
	planfile_clear(&f);
	return r;
}

static const struct option_spec run_options[] = {
	PLANFILE_OPTION_HOSTS,
	PLANFILE_OPTION_SET,
	{"attached", 'a', NULL, "Ctrl-C cancels the run and waits until its volumes are gone"},
	{"dry-run", 'n', NULL, "print each host's exact commands, time and bytes; touch nothing"},
	{"detach", 'd', NULL, "file it, print the run's number, do not follow"},
	{0},
};

const struct verb verb_run = {
	.name = "run",
	.args = "FILE",
	.summary = "file a plan and follow its run live",
	.help = "Ctrl-C detaches: the run goes on, and a line says how to watch or cancel it. In "
		"a dry run the run's number shows as <run>. FILE - is standard input.\n",
	.examples = "arraymark run plan.yaml\n"
		"arraymark run --dry-run plan.yaml\n"
		"arraymark run --hosts knew,kold --set workloads.write.stream.size=1G plan.yaml\n",
	.options = run_options,
	.min_args = 1,
	.max_args = 1,
	.of_fleet = PRIVATE_NAMED,
	.run = run,
};
