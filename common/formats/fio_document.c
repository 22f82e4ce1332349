/*
 * One JSON document of fio -> sides, a job at a time: documents of hundreds of MB are usual, and as one
 * tree they would take five times that. Owns what is built of one job.
 * Invariant: a job's tree is gone before the next one's is made.
 */
#include <string.h>

#include "common/base/json.h"
#include "common/base/mem.h"
#include "common/formats/fio.h"

static int parse(const struct fio_place *p, size_t lines_before, const struct buf *text,
	json_t **ret)
{
	json_error_t error;
	json_t *v = json_loadb(buf_str(text), text->len, JSON_DECODE_ANY, &error);

	/* Unset minima are printed as 2^64 - 1. */
	if (!v && json_error_code(&error) == json_error_numeric_overflow)
		v = json_loadb(text->data, text->len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL,
			&error);
	if (!v)
		return err_set(p->e, ERR_INPUT, "%s:%zu: not whole JSON: %s", p->name,
			p->line + lines_before + (size_t)(error.line > 0 ? error.line - 1 : 0),
			error.text);
	*ret = v;
	return 0;
}

static int take_part(const struct fio_place *p, const char *text, const struct fio_part *part,
	struct buf *lean, struct fio_sides *out)
{
	struct fio_bins bins = {0};
	json_t *job;
	int rc;

	buf_reset(lean);
	fio_lean(text + part->from, part->to - part->from, lean, &bins);
	rc = parse(p, part->line, lean, &job);
	if (!rc) {
		rc = fio_json_job(p, job, &bins, out);
		json_decref(job);
	}
	fio_bins_clear(&bins);
	return rc;
}

static int take_parts(struct fio_place *p, const char *text, const struct fio_pieces *pieces,
	struct fio_sides *out)
{
	const struct fio_list *list = pieces->jobs.is_there ? &pieces->jobs : &pieces->clients;
	struct buf lean = {0};
	json_t *rest;
	int rc;

	if (parse(p, 0, &pieces->rest, &rest))
		return -1;
	p->written_ms = fio_json_written_ms(rest);
	p->jobs = list->n;
	json_decref(rest);
	if (!list->is_there)
		return err_set(p->e, ERR_INPUT,
			"%s:%zu: JSON, but not of fio: it has neither jobs nor client_stats",
			p->name, p->line);
	rc = 0;
	for (size_t i = 0; i < list->n && !rc; i++)
		rc = take_part(p, text, &list->v[i], &lean, out);
	buf_free(&lean);
	return rc;
}

int fio_document(const char *name, size_t line, const char *text, size_t len, struct fio_sides *out,
	size_t *ret_used, int64_t *ret_written_ms, struct err *e)
{
	struct fio_place p = {.name = name, .line = line, .from = out->n, .e = e};
	struct fio_pieces pieces = {0};
	const char *what;
	size_t lines;
	int rc;

	if (fio_split(text, len, &pieces, &lines, &what))
		rc = err_set(e, ERR_INPUT, "%s:%zu: not whole JSON: %s", name, line + lines, what);
	else
		rc = take_parts(&p, text, &pieces, out);
	if (!rc) {
		*ret_used = pieces.used;
		*ret_written_ms = p.written_ms;
	}
	fio_pieces_clear(&pieces);
	return rc;
}
