/*
 * Taking down by the journal, from its end, and the dry run, which is a build, a cache state and a
 * teardown through a sink that only collects.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/volume/device.h"
#include "agent/volume/driver.h"
#include "agent/volume/signatures.h"
#include "common/base/log.h"
#include "common/base/mem.h"

static int same_unit(const struct unit *a, const struct unit *b)
{
	return a->block == b->block && a->layout == b->layout;
}

/* Units in which something could not be undone: what stands below it must stay. */
struct blocked {
	struct unit *v;
	size_t n, cap;
};

static int is_blocked(const struct blocked *b, const struct unit *u)
{
	for (size_t i = 0; i < b->n; i++)
		if (same_unit(&b->v[i], u))
			return 1;
	return 0;
}

static void block(struct blocked *b, struct unit unit)
{
	b->v = xgrow(b->v, b->n, &b->cap, sizeof(*b->v));
	b->v[b->n++] = unit;
}

/* 0: undone; 1: undone, but the journal could not be told (its disk may be full, and what is undone
 * next may free it); -1: not undone. */
static int undo_one(struct undo_ctx *u, struct journal *j, struct journal_entry *entry,
	struct err *e)
{
	if (undo_entry(u, e))
		return -1;
	entry->undone = 1;
	return journal_undone(j, entry->number, e) ? 1 : 0;
}

static int undo_all(struct volume_ctx *ctx, struct journal *j, struct journal_entry *entries,
	size_t n, struct err *e)
{
	uint64_t *untold = xcalloc(n + 1, sizeof(*untold));
	struct blocked blocked = {0};
	size_t n_untold = 0;
	struct err one;
	int status = 0;

	for (size_t i = n; i-- > 0;) {
		struct undo_ctx u = {ctx, entries, n, &entries[i]};
		int result;

		if (!*entries[i].undo.op || entries[i].undone || is_blocked(&blocked, &entries[i].unit))
			continue;
		result = undo_one(&u, j, &entries[i], &one);
		if (result > 0)
			untold[n_untold++] = entries[i].number;
		if (result >= 0)
			continue;
		log_warning("teardown", "%s", one.text);
		block(&blocked, entries[i].unit);
		if (!status)
			err_copy(e, &one);
		status = -1;
	}
	for (size_t i = 0; i < n_untold; i++)
		if (journal_undone(j, untold[i], status ? &one : e))
			status = -1;
	free(blocked.v);
	free(untold);
	return status;
}

static int check_clean(const char *device, struct err *e)
{
	struct strv found = {0};
	struct buf list = {0};
	int status;

	/* Files and loop devices are gone by now; a disk that was pulled cannot be read. */
	if (!str_starts(device, "/dev/") || str_starts(device, "/dev/loop") || access(device, F_OK))
		return 0;
	status = signatures_of_disk(device, &found, e);
	for (size_t i = 0; i < found.n && !status; i++)
		buf_addf(&list, "%s%s", i ? ", " : "", found.v[i]);
	if (!status && found.n)
		status = err_set(e, ERR_WRONG_STATE,
			"after the teardown %s still carries signatures: %s", device, list.data);
	buf_free(&list);
	strv_free(&found);
	return status;
}

static int check_all_clean(const struct journal_entry *entries, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const struct strv *args = &entries[i].undo.args;

		if (!strcmp(entries[i].undo.op, "filesystem") && check_clean(args->v[0], e))
			return -1;
		for (size_t k = 2; !strcmp(entries[i].undo.op, "pool") && k < args->n; k++) {
			const char *equal = strchr(args->v[k], '=');

			if (equal && check_clean(equal + 1, e))
				return -1;
		}
	}
	return 0;
}

int volume_teardown(struct volume_ctx *ctx, struct journal *j, struct journal_entry *entries,
	size_t n, struct err *e)
{
	if (undo_all(ctx, j, entries, n, e))
		return -1;
	return check_all_clean(entries, n, e);
}

/* Passes steps on to the caller's preview sink and remembers what a journal would hold. */
struct recorder {
	struct step_sink sink;
	struct step_sink *to;
	struct journal_entry *v;
	size_t n, cap;
};

static int record(struct step_sink *sink, const struct step *s, struct buf *output, struct err *e)
{
	struct recorder *r = (struct recorder *)sink;
	struct journal_entry *entry;

	if (r->to->run(r->to, s, output, e))
		return -1;
	r->v = xgrow(r->v, r->n, &r->cap, sizeof(*r->v));
	entry = &r->v[r->n++];
	*entry = (struct journal_entry){.number = r->n, .phase = s->phase};
	entry->what = xstrdup(s->what);
	strv_copy(&entry->argv, &s->argv);
	entry->undo.op = xstrdup(s->undo.op ? s->undo.op : "");
	strv_copy(&entry->undo.args, &s->undo.args);
	if (s->note && s->dry_output)
		strv_addf(&entry->notes, "%s=%s", s->note, s->dry_output);
	return 0;
}

/* The entries grow while they are undone: only those of build and cache are. */
static int preview_teardown(struct volume_ctx *ctx, struct recorder *r, struct err *e)
{
	size_t n = r->n, made;
	struct journal_entry *entries = r->v;

	r->v = NULL;
	r->n = r->cap = 0;
	for (made = n; made-- > 0;) {
		struct undo_ctx u = {ctx, entries, n, &entries[made]};

		if (*entries[made].undo.op && undo_entry(&u, e))
			break;
	}
	journal_entries_free(entries, n);
	return made == (size_t)-1 ? 0 : -1;
}

int volume_preview(struct volume_ctx *ctx, const struct layout *l,
	int (*workloads)(const struct volume *v, void *arg, struct err *e), void *arg, struct err *e)
{
	struct recorder r = {.sink = {record, 1}, .to = ctx->sink};
	struct volume_ctx own = *ctx;
	struct volume v = {0};
	char *done = NULL;
	int status;

	own.sink = &r.sink;
	status = volume_build(&own, l, &v, e);
	if (!status && ctx->plan->cache == CACHE_COLD)
		status = volume_cache_state(&own, &v, CACHE_COLD, &done, e);
	if (!status && workloads)
		status = workloads(&v, arg, e);
	if (!status)
		status = preview_teardown(&own, &r, e);
	free(done);
	volume_clear(&v);
	journal_entries_free(r.v, r.n);
	return status;
}
