/* How lists and counters look in columns. */
#ifndef COORDINATOR_STORE_CODEC_H
#define COORDINATOR_STORE_CODEC_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"
#include "proto/msg.h"

/* JSON array of strings. Caller frees. */
char *codec_strv(const struct strv *s);
/* A text that is no array of strings gives an empty list. */
void codec_strv_read(const char *text, struct strv *ret);
json_t *codec_strv_json(const struct strv *s);

/* [{"layout":0,"role":"data","group":0,"ids":[…]}] */
char *codec_disks(const struct bound_disks *disks, size_t n);
void codec_disks_read(const char *text, struct bound_disks **ret, size_t *ret_n);
void codec_disks_free(struct bound_disks *disks, size_t n);

#endif
