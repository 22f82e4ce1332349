/*
 * Growing byte buffers. A buf owns its memory.
 * Invariant: once written, data[len] is NUL and len < cap.
 */
#include "common/base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* Makes room for more bytes and the NUL behind them. */
static void reserve(struct buf *b, size_t more)
{
	size_t need;

	if (__builtin_add_overflow(b->len, more, &need))
		need = SIZE_MAX - 1;
	b->data = xgrow(b->data, need, &b->cap, 1);
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf){0};
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	reserve(b, len);
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int len;

	va_copy(again, ap);
	reserve(b, 64);
	len = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (len > 0 && (size_t)len >= b->cap - b->len) {
		reserve(b, (size_t)len);
		len = vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (len > 0)
		b->len += (size_t)len;
	b->data[b->len] = '\0';
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
	char *data = b->data ? b->data : xstrdup("");

	*b = (struct buf){0};
	return data;
}
