/* What a parallel trial tells beside its sums. Owns nothing. */
#include <stdlib.h>
#include <string.h>

#include "agent/workload/parallel.h"
#include "common/base/mem.h"
#include "common/base/units.h"

static char *under(const struct member *m, const char *name)
{
	return xasprintf("%s/%s", m->w->name, name);
}

static void tell_part(struct trial_detail *ret, const char *kind, const char *name,
	const struct trial_part *from)
{
	struct trial_part *to = detail_part(ret, kind, name, NULL);

	to->ops += from->ops;
	to->bytes += from->bytes;
	to->errors += from->errors;
	to->elapsed_ns = from->elapsed_ns;
	if (to->hist || !from->hist)
		return;
	to->hist = xmalloc(from->hist_len);
	memcpy(to->hist, from->hist, from->hist_len);
	to->hist_len = from->hist_len;
}

static void tell_notes(const struct member *m, struct trial_detail *ret)
{
	const struct trial_detail *d = &m->result.detail;

	for (size_t i = 0; i < d->n_notes; i++) {
		char *name = under(m, d->notes[i].name);

		detail_note(ret, name, d->notes[i].text);
		free(name);
	}
}

static void tell_member(const struct member *m, struct trial_detail *ret)
{
	const struct msg_worker_done *d = &m->result;
	const struct trial_part sum = {.ops = d->ops, .bytes = d->bytes, .errors = d->errors,
		.elapsed_ns = d->elapsed_ns, .hist = d->hist, .hist_len = d->hist_len};
	char *name;

	tell_part(ret, "member", m->w->name, &sum);
	for (size_t i = 0; i < d->detail.n_parts; i++) {
		name = under(m, d->detail.parts[i].name);
		tell_part(ret, d->detail.parts[i].kind, name, &d->detail.parts[i]);
		free(name);
	}
	for (size_t i = 0; i < d->detail.n_facts; i++) {
		name = under(m, d->detail.facts[i].name);
		detail_fact(ret, name, d->detail.facts[i].value, d->detail.facts[i].unit);
		free(name);
	}
	tell_notes(m, ret);
}

void parallel_tell_notes(const struct parallel *p, struct trial_detail *ret)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->v[i].is_done)
			tell_notes(&p->v[i], ret);
}

/* All members were at work until the first was done; the sample that tells of its end was cut a moment
 * after that. */
static int64_t common_window(const struct parallel *p)
{
	if (p->first_end_ns && p->window_ns > p->first_end_ns)
		return p->first_end_ns;
	return p->window_ns;
}

void parallel_tell(struct parallel *p, struct trial_detail *ret)
{
	int64_t window_ns = common_window(p);

	for (unsigned i = 0; i < p->n; i++)
		if (p->v[i].is_done)
			tell_member(&p->v[i], ret);
	if (!window_ns)
		return;
	detail_fact(ret, "common_window", (double)window_ns / NS_PER_S, "s");
	detail_fact(ret, "common_throughput",
		(double)p->window_bytes / ((double)window_ns / NS_PER_S), "B/s");
}
