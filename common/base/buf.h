/* Growing byte buffer (always NUL-terminated) and lists of strings (argv vectors). */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL while empty and never written */
	size_t len, cap;
};

void buf_free(struct buf *b);  /* frees the memory, resets the struct */
void buf_reset(struct buf *b); /* length 0, memory kept */
void buf_add(struct buf *b, const void *data, size_t len);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
const char *buf_str(const struct buf *b); /* "" when empty */
char *buf_take(struct buf *b);            /* caller frees; b is reset; never NULL */

/* NULL-terminated list; v is NULL while empty. Owns its strings. */
struct strv {
	char **v;
	size_t n, cap;
};

void strv_add(struct strv *s, const char *item);
void strv_add_owned(struct strv *s, char *item); /* takes the string */
void strv_addf(struct strv *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strv_add_all(struct strv *s, const char *const *items); /* NULL-terminated */
void strv_copy(struct strv *to, const struct strv *from);    /* `to` is overwritten, not freed */
int strv_has(const struct strv *s, const char *item);
void strv_free(struct strv *s);
/* The vector as one line for people, quoted so that a shell would read the same words. */
void strv_quote(const struct strv *s, struct buf *out);

int str_equal(const char *a, const char *b); /* NULL equals NULL only */
int str_starts(const char *s, const char *prefix);
int str_ends(const char *s, const char *suffix);
/* The nearest of the NULL-terminated words within edit distance 2 (and < half its length), or
 * NULL: for "did you mean". */
const char *str_nearest(const char *word, const char *const *words);

#endif
