/*
 * Allocation that cannot fail. Owns the decision what happens when memory runs out: one line on
 * stderr and exit status 71 (EX_OSERR), nowhere else.
 * Invariant: no function here returns NULL, except xstrdup of NULL.
 */
#include "common/base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

static void __attribute__((noreturn)) out_of_memory(void)
{
	static const char text[] = "out of memory: give this program more, or close others\n";
	ssize_t done = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)done;
	_exit(EX_OSERR);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *xrealloc(void *p, size_t size)
{
	void *bigger = realloc(p, size ? size : 1);

	if (!bigger)
		out_of_memory();
	return bigger;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		out_of_memory();
	return xrealloc(p, total);
}

char *xstrdup(const char *s)
{
	return s ? xmemdup(s, strlen(s) + 1) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void *xgrow(void *p, size_t n, size_t *cap, size_t size)
{
	size_t want;

	if (n < *cap)
		return p;
	if (__builtin_mul_overflow(*cap ? *cap : 4, 2, &want))
		out_of_memory();
	while (want <= n)
		if (__builtin_mul_overflow(want, 2, &want))
			out_of_memory();
	p = xreallocarray(p, want, size);
	*cap = want;
	return p;
}
