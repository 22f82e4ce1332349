/*
 * The command engine: one program of the host, timed, with the sync of what it wrote. Owns the
 * program's vector, its output and the folder's descriptor.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/workload/engines.h"
#include "agent/workload/meter.h"
#include "agent/workload/program.h"
#include "agent/workload/sync_tree.h"
#include "common/base/fs.h"
#include "common/base/mem.h"
#include "common/base/units.h"
#include "common/formats/formats.h"
#include "common/plan/work_command.h"
#include "common/plan/workload.h"

struct commanding {
	const struct workload_order *order;
	const struct work_command *command;
	struct strv argv;
	int dir;
	struct program program;
	struct program_end end;
	struct meter meter;
	int64_t ended_ns; /* of the region, when the program had ended */
};

static void command_clear(void *state)
{
	struct commanding *c = state;

	if (!c)
		return;
	strv_free(&c->argv);
	program_end_clear(&c->end);
	meter_clear(&c->meter);
	if (c->dir >= 0)
		close(c->dir);
	free(c);
}

static void make_argv(struct commanding *c)
{
	const struct msg_worker_spec *spec = c->order->spec;
	char *trial = plan_file_name("{trial}", spec->block, spec->repeat, c->order->plan->repeat);

	for (size_t i = 0; i < c->command->argv.n; i++)
		strv_add_owned(&c->argv,
			i == 0 ? xstrdup(c->command->argv.v[0])
			       : command_argument(c->command->argv.v[i], spec->directory, trial));
	free(trial);
}

/* Also where a link leads. */
static int check_program(const char *path, struct err *e)
{
	char *real;
	int r;

	if (access(path, X_OK))
		return err_sys(e, "cannot run %s", path);
	if (fs_realpath(path, &real, e))
		return -1;
	r = command_program_check(real, e);
	free(real);
	return r;
}

static int command_prepare(const struct workload_order *order, void **ret_state, struct err *e)
{
	struct commanding *c = xcalloc(1, sizeof(*c));

	c->order = order;
	c->command = order->w->command;
	c->dir = -1;
	c->meter.done_fd = -1;
	make_argv(c);
	if (program_open_folder(order->spec, &c->dir, e) ||
		meter_init(&c->meter, 1, order->spec->sample_ns, e) ||
		check_program(c->argv.v[0], e)) {
		command_clear(c);
		return -1;
	}
	c->program = (struct program){.argv = &c->argv, .dir = c->dir,
		.home = order->spec->directory, .in_fd = -1, .timeout_ns = c->command->timeout_ns};
	*ret_state = c;
	return 0;
}

static int run_program(void *arg, struct err *e)
{
	struct commanding *c = arg;
	const struct msg_worker_spec *spec = c->order->spec;

	if (program_run(&c->program, &c->end, e) || program_check(&c->program, &c->end, e))
		return -1;
	c->ended_ns = meter_now(&c->meter);
	if (!c->command->sync)
		return 0;
	return sync_tree(c->dir, spec->dev, spec->syncfs_works, spec->directory, e);
}

/* ---- what it said ---- */

static void add_note(struct trial_detail *d, const char *name, const struct buf *text, size_t dropped)
{
	struct buf note = {0};

	if (text->len == 0)
		return;
	if (dropped)
		buf_addf(&note, "(%zu bytes before this)\n", dropped);
	buf_add(&note, text->data, text->len);
	detail_note(d, name, buf_str(&note));
	buf_free(&note);
}

static void add_record(struct trial_detail *d, const struct format_record *r, const char *format)
{
	for (size_t i = 0; i < r->n_v; i++) {
		char *name = r->workload ? xasprintf("%s %s %s", format, r->workload, r->v[i].metric)
					 : xasprintf("%s %s", format, r->v[i].metric);

		detail_fact(d, name, r->v[i].value, r->v[i].unit);
		free(name);
	}
}

/* One result: its bytes and operations are the trial's. */
static void take_counts(const struct format_record *r, struct workload_result *ret)
{
	struct err ignored;

	ret->bytes = r->bytes;
	ret->ops = r->ops;
	if (r->hist && hist_decode(r->hist, r->hist_len, &ret->hist, &ignored))
		hist_clear(&ret->hist);
}

/* Both outputs together: dd speaks on one, fio on the other. */
static int parse_output(const struct commanding *c, struct workload_result *ret, struct err *e)
{
	const char *name = command_format((enum command_parse)c->command->parse);
	const struct format *format = name ? format_find(name) : NULL;
	struct format_found found = {0};
	struct buf text = {0};
	int r;

	buf_add(&text, buf_str(&c->end.out), c->end.out.len);
	if (text.len && text.data[text.len - 1] != '\n')
		buf_addc(&text, '\n');
	buf_add(&text, buf_str(&c->end.err), c->end.err.len);
	r = format_decode("output", &text, e);
	if (!r && !format)
		r = format_detect("output", &text, &format, e);
	if (!r && !format->read)
		r = err_set(e, ERR_INPUT, "output: not one program's");
	if (!r)
		r = format_read("output", &text, format, &found, e);
	if (!r) {
		for (size_t i = 0; i < found.n_records; i++)
			add_record(&ret->detail, &found.records[i], found.format);
		if (found.n_records == 1)
			take_counts(&found.records[0], ret);
		format_found_clear(&found);
	}
	buf_free(&text);
	return r;
}

static int tell(const struct commanding *c, struct workload_result *ret, struct err *e)
{
	struct err why;

	if (c->end.file_bytes_written >= 0)
		detail_fact(&ret->detail, COMMAND_WRITTEN, (double)c->end.file_bytes_written, "B");
	add_note(&ret->detail, "output", &c->end.out, c->end.out_dropped);
	add_note(&ret->detail, "messages", &c->end.err, c->end.err_dropped);
	if (c->command->parse == PARSE_NONE)
		return 0;
	if (!parse_output(c, ret, &why) || c->command->parse == PARSE_AUTO)
		return 0;
	err_copy(e, &why);
	return -1;
}

static int command_run(void *state, int64_t start_ns, workload_cut *cut, void *arg,
	struct workload_result *ret, struct err *e)
{
	struct commanding *c = state;
	struct err ignored;
	int rc;

	meter_start(&c->meter, start_ns, cut, arg, ret);
	rc = meter_watch_call(&c->meter, run_program, c, e);
	meter_stop(&c->meter);
	if (rc == 0) {
		ret->sync_ns = c->command->sync ? ret->elapsed_ns - c->ended_ns : 0;
		return tell(c, ret, e);
	}
	tell(c, ret, &ignored);
	return rc;
}

static void tell_vector(void *arg, const struct workload *w, struct strv *argv)
{
	struct workload_preview *to = arg;

	to->tell(to->arg, w, "run in the volume's folder", argv);
	strv_free(argv);
}

static int command_preview(const struct workload_order *order, struct err *e)
{
	if (check_program(order->w->command->argv.v[0], e))
		return -1;
	workload_programs(order->w, order->plan, tell_vector, order->preview);
	return 0;
}

const struct workload_engine command_engine = {
	.kind = WORKLOAD_COMMAND,
	.prepare = command_prepare,
	.run = command_run,
	.preview = command_preview,
	.clear = command_clear,
};
