/*
 * Tables that tie a generated wire message to a plain struct, field by field, with the limits of
 * each. One engine reads them in three ways: wire -> plain with every check, plain -> wire, and
 * freeing what a plain struct owns. Internal to proto/.
 *
 * Plain structs start zeroed; a zero number, an empty text, an empty list and an all-zero
 * OMIT_ZERO part are not sent, and come back as the same when absent.
 */
#ifndef PROTO_MAP_H
#define PROTO_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "proto/arena.h"
#include "proto/arraymark.pb-c.h"
#include "proto/text.h"

enum map_kind {
	MAP_U32,     /* uint32 -> uint32_t, min..max */
	MAP_U64,     /* uint64 -> uint64_t, min..max */
	MAP_S64,     /* sint64 -> int64_t, min..max */
	MAP_REAL,    /* double -> double, finite */
	MAP_FLAG,    /* bool -> int 0 or 1 */
	MAP_ENUM,    /* uint32 -> an enum, min..max */
	MAP_CODE,    /* uint32 -> enum err_code; numbers we don't know become ERR_FAILED */
	MAP_ERRTEXT, /* string -> char[ERR_TEXT_MAX] */
	MAP_TEXT,    /* string -> char *, of a class, at most max bytes */
	MAP_TEXTS,   /* repeated string -> struct strv, each as MAP_TEXT, at most `items` */
	MAP_BYTES,   /* bytes -> char * and size_t, NUL added, NULL when empty, at most max bytes */
	MAP_PLAN,    /* bytes -> char *, no NUL inside, at most max bytes */
	MAP_PART,    /* message -> struct inside the struct */
	MAP_PARTS,   /* repeated message -> array and size_t, at most `items` */
};
enum map_flag {
	MAP_REQUIRED = 1,  /* absent or empty is refused */
	MAP_NULL = 2,      /* MAP_TEXT: absent or empty is NULL instead of "" */
	MAP_OMIT_ZERO = 4, /* MAP_PART: not sent when all bytes are zero */
	MAP_CUT = 8,       /* when sending, too many are cut instead of refused */
	MAP_NO_NUL = 16,   /* MAP_BYTES: a NUL inside is refused */
};

struct map;
struct map_field {
	const char *name;
	enum map_kind kind;
	unsigned flags;
	size_t wire, has;    /* offsets in the wire message; has: has_ or n_ */
	size_t plain, count; /* offsets in the plain struct */
	int64_t min;
	uint64_t max;
	size_t items;
	enum text_class class;
	const struct map *sub;
};
struct map {
	const char *name;
	const ProtobufCMessageDescriptor *wire;
	size_t plain_size;
	const struct map_field *fields;
	size_t n_fields;
	/* What concerns several fields at once; plain is decoded. NULL: nothing. */
	int (*check)(const void *plain, struct err *e);
};

/* Fills zeroed `plain`. On failure what was filled is still there: map_clear it. *budget counts
 * the bytes that plain may own. */
int map_decode(const struct map *m, const void *wire, void *plain, size_t *budget, struct err *e);
/* The wire message in the arena; texts and bytes are borrowed from plain. */
int map_encode(const struct map *m, const void *plain, struct arena *a, ProtobufCMessage **ret,
	struct err *e);
/* Frees what plain owns; does not zero it. */
void map_clear(const struct map *m, void *plain);
/* Unpacks and decodes one message; on failure nothing is left to free. */
int map_unpack(const struct map *m, const void *data, size_t len, struct arena *a, void *plain,
	size_t *budget, struct err *e);
/* A pointer whose type only the table knows. */
static inline void *map_load(const char *at)
{
	void *p;

	memcpy(&p, at, sizeof(p));
	return p;
}
/* Appends the packed message. */
void map_pack(const ProtobufCMessage *wire, struct buf *out);

/* One row of a message that holds exactly one of several messages. */
struct map_choice {
	int type;
	const char *name;
	size_t wire; /* offset of the pointer in the holder */
	const struct map *map;
};
/* The row whose message is set; none or several are ERR_PROTOCOL. */
int map_choose(const struct map_choice *rows, size_t n, const ProtobufCMessage *holder,
	const struct map_choice **ret, struct err *e);
/* The row of a type, or NULL. */
const struct map_choice *map_choice_of(const struct map_choice *rows, size_t n, int type);

/* Rows. W is the wire type's name, S the plain struct; the _AS forms name the plain field apart.
 * The types of both sides are checked when compiling. */
#define MAP_W(W) Arraymark__Wire__##W
#define MAP_TYPED(S, f, T)                                                                         \
	(offsetof(S, f) +                                                                          \
		0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((S *)0)->f), T) ? 1       \
											 : -1]))
#define MAP_SIZED(S, f, size)                                                                      \
	(offsetof(S, f) + 0 * sizeof(char[sizeof(((S *)0)->f) == (size) ? 1 : -1]))
#define MAP_NUMBER(k, T, W, w, S, p, lo, hi)                                                       \
	{                                                                                          \
		.name = #w, .kind = k, .wire = MAP_TYPED(MAP_W(W), w, T),                          \
		.has = offsetof(MAP_W(W), has_##w), .plain = MAP_TYPED(S, p, T), .min = lo,        \
		.max = hi                                                                          \
	}
#define U32(W, S, f, lo, hi) MAP_NUMBER(MAP_U32, uint32_t, W, f, S, f, lo, hi)
#define U64(W, S, f, lo, hi) MAP_NUMBER(MAP_U64, uint64_t, W, f, S, f, lo, hi)
#define S64(W, S, f, lo, hi) MAP_NUMBER(MAP_S64, int64_t, W, f, S, f, lo, hi)
#define U64_AS(W, w, S, p, lo, hi) MAP_NUMBER(MAP_U64, uint64_t, W, w, S, p, lo, hi)
#define S64_AS(W, w, S, p, lo, hi) MAP_NUMBER(MAP_S64, int64_t, W, w, S, p, lo, hi)
#define REAL(W, S, f)                                                                              \
	{                                                                                          \
		.name = #f, .kind = MAP_REAL, .wire = MAP_TYPED(MAP_W(W), f, double),              \
		.has = offsetof(MAP_W(W), has_##f), .plain = MAP_TYPED(S, f, double)               \
	}
#define FLAG(W, S, f)                                                                              \
	{                                                                                          \
		.name = #f, .kind = MAP_FLAG, .wire = offsetof(MAP_W(W), f),                       \
		.has = offsetof(MAP_W(W), has_##f), .plain = MAP_TYPED(S, f, int)                  \
	}
/* An enum of the plain side: any type as wide as uint32_t. */
#define ENUM(W, S, f, lo, count_)                                                                  \
	{                                                                                          \
		.name = #f, .kind = MAP_ENUM, .wire = MAP_TYPED(MAP_W(W), f, uint32_t),            \
		.has = offsetof(MAP_W(W), has_##f), .plain = MAP_SIZED(S, f, sizeof(uint32_t)),    \
		.min = lo, .max = (count_)-1                                                       \
	}
#define TEXT(W, S, f, cls, cap, fl)                                                                \
	{                                                                                          \
		.name = #f, .kind = MAP_TEXT, .flags = fl, .wire = MAP_TYPED(MAP_W(W), f, char *), \
		.plain = MAP_TYPED(S, f, char *), .class = cls, .max = cap                         \
	}
#define TEXTS(W, S, f, cls, cap, items_, fl)                                                       \
	{                                                                                          \
		.name = #f, .kind = MAP_TEXTS, .flags = fl,                                        \
		.wire = MAP_TYPED(MAP_W(W), f, char **), .has = offsetof(MAP_W(W), n_##f),         \
		.plain = MAP_TYPED(S, f, struct strv), .class = cls, .max = cap, .items = items_   \
	}
#define BYTES(W, w, S, p, n, cap, fl)                                                              \
	{                                                                                          \
		.name = #w, .kind = MAP_BYTES, .flags = fl,                                        \
		.wire = MAP_TYPED(MAP_W(W), w, ProtobufCBinaryData),                               \
		.has = offsetof(MAP_W(W), has_##w), .plain = MAP_TYPED(S, p, char *),              \
		.count = MAP_TYPED(S, n, size_t), .max = cap                                       \
	}
#define PLAN(W, S, f, fl)                                                                          \
	{                                                                                          \
		.name = #f, .kind = MAP_PLAN, .flags = fl,                                         \
		.wire = MAP_TYPED(MAP_W(W), f, ProtobufCBinaryData),                               \
		.has = offsetof(MAP_W(W), has_##f), .plain = MAP_TYPED(S, f, char *),              \
		.max = MSG_PLAN_MAX                                                                \
	}
/* struct err from an Error: code_min 1 where "no error" makes no sense. */
#define CODE(W, S, f, code_min)                                                                    \
	{                                                                                          \
		.name = #f, .kind = MAP_CODE, .wire = MAP_TYPED(MAP_W(W), f, uint32_t),            \
		.has = offsetof(MAP_W(W), has_##f), .plain = MAP_TYPED(S, f, enum err_code),       \
		.min = code_min, .max = UINT32_MAX                                                 \
	}
#define ERRTEXT(W, S, f)                                                                           \
	{                                                                                          \
		.name = #f, .kind = MAP_ERRTEXT, .wire = MAP_TYPED(MAP_W(W), f, char *),           \
		.plain = MAP_SIZED(S, f, ERR_TEXT_MAX), .class = TEXT_LINE,                        \
		.max = ERR_TEXT_MAX - 1                                                            \
	}
/* at: offset of the part in the plain struct. */
#define PART(W, f, at, map_, fl)                                                                   \
	{                                                                                          \
		.name = #f, .kind = MAP_PART, .flags = fl, .wire = offsetof(MAP_W(W), f),          \
		.plain = at, .sub = map_                                                           \
	}
#define PARTS(W, f, S, map_, items_, fl)                                                           \
	{                                                                                          \
		.name = #f, .kind = MAP_PARTS, .flags = fl, .wire = offsetof(MAP_W(W), f),         \
		.has = offsetof(MAP_W(W), n_##f), .plain = offsetof(S, f),                         \
		.count = MAP_TYPED(S, n_##f, size_t), .sub = map_, .items = items_                 \
	}
#define MAP(name_, w, S, fields_, check_)                                                          \
	{                                                                                          \
		.name = name_, .wire = &arraymark__wire__##w##__descriptor,                        \
		.plain_size = sizeof(S), .fields = fields_,                                        \
		.n_fields = sizeof(fields_) / sizeof((fields_)[0]), .check = check_                \
	}

#define CHOICE(W, w, type_, map_)                                                                  \
	{                                                                                          \
		.type = type_, .name = #w, .wire = offsetof(MAP_W(W), w), .map = map_              \
	}

#endif
