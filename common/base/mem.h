/*
 * Memory: allocation that cannot fail. Running out ends the program with one line (mem.c is the
 * only place). Sizes that come from a peer or a file are capped before they get here.
 */
#ifndef COMMON_BASE_MEM_H
#define COMMON_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL stays NULL */
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Grows array `*p` (element size `size`) so that it holds n + 1; capacity doubles from 8. */
void *xgrow(void *p, size_t n, size_t *cap, size_t size);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
