/* See left_out.h. Owns nothing. */
#include "coordinator/results/left_out.h"

#include "common/base/buf.h"

static const struct {
	const char *word, *why;
} kinds[LEFT_KINDS] = {
	[LEFT_UNMEASURED] = {"unmeasured", "without a value: not counted"},
	[LEFT_DOUBLED] = {"doubled", "of a block and repeat that another trial is of: not counted"},
	[LEFT_UNFINISHED] = {"unfinished", "of units that have not ended well: not counted"},
	[LEFT_SUPERSEDED] = {"superseded", "of interrupted attempts: kept, not counted"},
};

void left_out_add(struct left_out *l, const struct result_row *row)
{
	l->n[LEFT_UNMEASURED] += row->unmeasured;
	l->n[LEFT_DOUBLED] += row->doubled;
	l->n[LEFT_UNFINISHED] += row->incomplete;
	l->n[LEFT_SUPERSEDED] += row->superseded;
}

const char *left_out_word(enum left_out_kind kind)
{
	return kinds[kind].word;
}

void left_out_text(const struct left_out *l, enum left_out_kind kind, struct buf *out)
{
	if (l->n[kind])
		buf_addf(out, "%u trial%s %s", l->n[kind], l->n[kind] == 1 ? "" : "s", kinds[kind].why);
}
