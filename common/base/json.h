/* JSON on jansson: compact lines out, capped input in. Strings that are not UTF-8 are repaired
 * (U+FFFD), never an error on output. */
#ifndef COMMON_BASE_JSON_H
#define COMMON_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/err.h"

/* A JSON string from any bytes; NULL gives json_null(). */
json_t *json_text(const char *s);
json_t *json_text_n(const char *s, size_t len);
/* NaN and infinities become null. */
json_t *json_number(double v);
/* What jansson's dump callbacks give, appended to the buffer `out`: characters that a terminal or a viewer
 * would obey (DEL, C1 controls, marks of the writing direction, zero-width ones) as \uXXXX, which is
 * the same value. Takes whole characters. Returns 0. */
int json_append(const char *data, size_t len, void *out);
/* Compact, sorted keys off, one line without newline, appended to out. Takes no ownership. */
void json_line(const json_t *v, struct buf *out);
/* Indented document with a final newline. */
void json_document(const json_t *v, struct buf *out);
/* Parses one document; at most max bytes; duplicate keys are errors. Caller json_decref()s. */
int json_parse(const char *name, const char *text, size_t len, size_t max, json_t **ret,
	struct err *e);
/* Typed getters with defaults for absent or wrong types. */
const char *json_get_str(const json_t *o, const char *key, const char *dflt);
int64_t json_get_int(const json_t *o, const char *key, int64_t dflt);
double json_get_num(const json_t *o, const char *key, double dflt);
int json_get_bool(const json_t *o, const char *key, int dflt);

#endif
