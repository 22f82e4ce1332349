/* The kind of data that results were measured with, as a text tells it: in the words of a plan's
 * `data:`. */
#ifndef COMMON_MEASURE_DATA_TOLD_H
#define COMMON_MEASURE_DATA_TOLD_H

#include "common/measure/sample.h"

#define DATA_TOLD_LEN 24
#define DATA_TOLD_WORDS "random, zero or compressible 50%" /* for messages */

struct data_told {
	int known; /* 0: nothing is told, and the rest is 0 */
	enum data_kind kind;
	unsigned percent; /* 1 .. 99 with DATA_COMPRESSIBLE: what a compressor saves; else 0 */
};
/* "random", "zero", "compressible 50%" or, as plans have it, "{compressible: 50%}". -1: something
 * else, *ret is as it was. */
int data_told_parse(const char *text, struct data_told *ret);
/* The text that is parsed so, into out; "" where nothing is told. Returns out. */
const char *data_told_text(const struct data_told *d, char out[DATA_TOLD_LEN]);
int data_told_same(const struct data_told *a, const struct data_told *b);
/* Takes over from other what a compressor makes more of; with one that is not told: what shrinks, else
 * nothing is told. */
void data_told_join(struct data_told *to, const struct data_told *other);

#endif
