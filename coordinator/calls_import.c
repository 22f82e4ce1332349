/*
 * The call that takes results in: lines are checked as they come and become one result set, which
 * the store keeps in one transaction. Owns struct intake from the call to its end.
 * Invariant: co->imports counts the intakes there are; what one holds is bounded by the caps of
 * proto/msg.h.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "coordinator/call.h"
#include "coordinator/calls.h"
#include "coordinator/results/export.h"

#define SILENCE_S 60 /* between two chunks */

struct intake {
	struct result_set set;
	size_t bytes, lines;
	struct event *silence;
	json_t *answer;
};

static void intake_free(struct call *c)
{
	struct intake *in = c->data;

	c->co->imports--;
	c->data = NULL;
	c->input = NULL;
	c->on_closed = NULL;
	event_free(in->silence);
	result_set_clear(&in->set);
	json_decref(in->answer);
	free(in);
}

static void refuse(struct call *c, const struct err *e)
{
	intake_free(c);
	call_fail(c, e);
}

static void intake_closed(struct call *c)
{
	intake_free(c);
	call_drop(c);
}

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
	struct err e;

	(void)fd;
	(void)what;
	err_set(&e, ERR_TIMEOUT, "the results to import did not go on within %d s", SILENCE_S);
	refuse(arg, &e);
}

static int read_lines(struct intake *in, const char *data, size_t len, struct err *e)
{
	in->bytes += len;
	if (in->bytes > MSG_IMPORT_MAX)
		return err_set(e, ERR_FULL, "more than %d bytes of results: import them in parts",
			MSG_IMPORT_MAX);
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;

		if (++in->lines > MSG_IMPORT_LINES)
			return err_set(e, ERR_FULL,
				"more than %d lines of results: import them in parts",
				MSG_IMPORT_LINES);
		if (n && export_read_line(&in->set, "import", in->lines, data, n, e))
			return -1;
		n += end != NULL;
		data += n;
		len -= n;
	}
	return 0;
}

static void put(json_t *o, const char *key, size_t n)
{
	json_object_set_new(o, key, json_integer((json_int_t)n));
}

static json_t *answer_of(const struct result_set *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "run", json_null());
	json_object_set_new(o, "name", json_text(s->runs[0].name));
	put(o, "layouts", s->runs[0].layouts.n);
	put(o, "workloads", s->runs[0].workloads.n);
	put(o, "trials", s->n_trials);
	put(o, "summaries", s->n_summaries);
	return o;
}

static void on_stored(void *arg, uint64_t run, const struct err *e)
{
	struct call *c = arg;
	struct intake *in = c->data;
	json_t *answer = in->answer;

	coordinator_op_end(c->co);
	if (e) {
		refuse(c, e);
		return;
	}
	in->answer = NULL;
	log_info("run", "%llu (%s) imported by %s", (unsigned long long)run,
		json_get_str(answer, "name", ""), call_user(c));
	json_object_set_new(answer, "run", json_integer((json_int_t)run));
	intake_free(c);
	call_line(c, answer);
	call_end(c);
}

/* The run gets the name that was asked for, whatever its line says. */
static int finish(struct call *c, struct intake *in, struct err *e)
{
	if (export_read_whole(&in->set, "import", e) || export_read_end(&in->set, e) ||
		result_set_check(&in->set, e))
		return -1;
	free(in->set.runs[0].name);
	in->set.runs[0].name = xstrdup(c->in.target);
	in->answer = answer_of(&in->set);
	event_del(in->silence);
	c->input = NULL;
	c->on_closed = NULL; /* the store's callback ends it */
	coordinator_op_begin(c->co);
	store_import(c->co->store, call_user(c), &in->set, on_stored, c);
	return 0;
}

static const struct timeval silence = {SILENCE_S, 0};

static void on_chunk(struct call *c, const struct msg_chunk *chunk)
{
	struct intake *in = c->data;
	struct err e;

	if (read_lines(in, chunk->data, chunk->len, &e) || (chunk->end && finish(c, in, &e)))
		refuse(c, &e);
	else if (!chunk->end)
		event_add(in->silence, &silence);
}

void call_import(struct call *c)
{
	struct intake *in;
	struct err e;

	if (plan_check_name(c->in.target, "run", 0, &e)) {
		call_fail(c, &e);
		return;
	}
	if (c->co->imports >= IMPORTS_MAX) {
		err_set(&e, ERR_BUSY, "another import is under way: try again when it is done");
		call_fail(c, &e);
		return;
	}
	in = xcalloc(1, sizeof(*in));
	in->silence = event_new(c->co->base, -1, 0, on_silence, c);
	event_add(in->silence, &silence);
	c->co->imports++;
	c->data = in;
	c->input = on_chunk;
	c->on_closed = intake_closed;
}
