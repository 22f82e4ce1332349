/*
 * A JSON document written as it is made, just as json_document() would write its tree: what is written
 * takes no memory beyond the buffer, and with a drain not even that.
 */
#ifndef COMMON_BASE_JSON_OUT_H
#define COMMON_BASE_JSON_OUT_H

#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

#define JSON_OUT_DEPTH 16

struct json_out {
	struct buf *out;
	/* May be NULL. Takes what is there and resets the buffer; -1: e. */
	int (*drain)(void *arg, struct buf *out, struct err *e);
	void *arg;
	int failed;     /* a drain has, and nothing more is given to it */
	struct err err; /* what it said */
	unsigned depth;
	int is_list[JSON_OUT_DEPTH], has_items[JSON_OUT_DEPTH];
};
/* Each is a member of the object that is open, or with a NULL key an item of the list, or the document
 * itself. At most JSON_OUT_DEPTH are open. Keys hold nothing that JSON escapes. */
void json_out_object(struct json_out *w, const char *key);
void json_out_list(struct json_out *w, const char *key);
/* Ends what was opened last; behind the document itself comes a newline. */
void json_out_end(struct json_out *w);
void json_out_text(struct json_out *w, const char *key, const char *s); /* NULL: null */
void json_out_int(struct json_out *w, const char *key, int64_t v);
void json_out_real(struct json_out *w, const char *key, double v); /* null where it is not finite */
void json_out_bool(struct json_out *w, const char *key, int v);
void json_out_null(struct json_out *w, const char *key);
/* Takes v. */
void json_out_value(struct json_out *w, const char *key, json_t *v);
/* Members behind the first one as they were written before at the same depth. */
void json_out_again(struct json_out *w, const char *text, size_t len);
/* A moment to drain the buffer, between two items: done where there is much in it. */
void json_out_drain(struct json_out *w);
/* 0, or -1 and what the drain said. */
int json_out_status(const struct json_out *w, struct err *e);

#endif
