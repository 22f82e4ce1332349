/* Records to facts; neighbouring samples of a trial become one fact. */
#include "coordinator/facts.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/units.h"

static void add_sample(struct facts *f, const struct record *r)
{
	const struct sample *s = &r->u.sample;
	struct fact *last = f->n ? &f->v[f->n - 1] : NULL;
	int64_t span = s->end_ns - s->start_ns;

	if (!last || last->type != RECORD_SAMPLE || last->trial != s->trial) {
		last = &f->v[f->n++];
		last->type = RECORD_SAMPLE;
		last->trial = s->trial;
	}
	last->wall_ns = r->wall_ns;
	last->bytes += s->bytes;
	last->ops += s->ops;
	last->elapsed_ns = s->end_ns;
	last->rate = span > 0 ? (double)s->bytes * NS_PER_S / (double)span : 0;
	last->ops_rate = span > 0 ? (double)s->ops * NS_PER_S / (double)span : 0;
}

static void take_trial_end(struct fact *f, const struct trial_summary *t)
{
	f->trial = t->trial;
	f->unit = (struct unit){.block = t->block, .layout = t->layout};
	f->workload = t->workload;
	f->repeat = t->repeat;
	f->ok = t->ok;
	f->bytes = t->bytes;
	f->ops = t->ops;
	f->elapsed_ns = t->elapsed_ns;
	f->text = xstrdup(t->error);
}

static void take_trial_start(struct fact *f, const struct record_trial_start *t)
{
	f->trial = t->trial;
	f->unit = t->unit;
	f->workload = t->workload;
	f->repeat = t->repeat;
	f->planned_bytes = t->planned_bytes;
	f->text = xstrdup(t->cache);
}

static void take_step(struct fact *f, const struct record_step *s)
{
	f->unit = s->unit;
	f->phase = s->phase;
	f->ok = s->ok;
	f->elapsed_ns = s->elapsed_ns;
	f->text = xstrdup(s->what);
}

static void take(struct fact *f, const struct record *r)
{
	f->type = r->type;
	f->wall_ns = r->wall_ns;
	switch (r->type) {
	case RECORD_UNIT_START:
		f->unit = r->u.unit_start.unit;
		f->position = r->u.unit_start.position;
		break;
	case RECORD_STEP:
		take_step(f, &r->u.step);
		break;
	case RECORD_VOLUME_READY:
		f->unit = r->u.volume_ready.unit;
		f->bytes = r->u.volume_ready.usable_bytes;
		f->text = xstrdup(r->u.volume_ready.identity);
		break;
	case RECORD_TRIAL_START:
		take_trial_start(f, &r->u.trial_start);
		break;
	case RECORD_TRIAL_END:
		take_trial_end(f, &r->u.trial_end);
		break;
	case RECORD_UNIT_END:
		f->unit = r->u.unit_end.unit;
		f->ok = r->u.unit_end.ok;
		f->text = xstrdup(r->u.unit_end.error);
		break;
	case RECORD_ATTEMPT_END:
		f->state = r->u.attempt_end.state;
		f->text = xstrdup(r->u.attempt_end.error);
		break;
	case RECORD_AWAIT:
		f->unit = r->u.await.unit;
		f->workload = r->u.await.workload;
		f->repeat = r->u.await.repeat;
		break;
	default:
		break;
	}
}

void facts_make(const struct records *r, struct facts *ret)
{
	struct facts f = {.v = xcalloc(r->n ? r->n : 1, sizeof(*f.v))};

	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].type == RECORD_SAMPLE)
			add_sample(&f, &r->v[i]);
		else
			take(&f.v[f.n++], &r->v[i]);
	}
	*ret = f;
}

void facts_clear(struct facts *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->v[i].text);
	free(f->v);
	memset(f, 0, sizeof(*f));
}
