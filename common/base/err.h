/*
 * Errors: one struct that every function which can fail fills.
 *
 * The text says what is wrong, where (file, disk, host, line) and what to do about it, in one
 * line. A function that fails returns -1 and leaves its ret_ parameters untouched.
 */
#ifndef COMMON_BASE_ERR_H
#define COMMON_BASE_ERR_H

#include <stddef.h>

enum err_code {
	ERR_NONE = 0,
	ERR_USAGE,    /* wrong command line */
	ERR_INPUT,    /* a plan, policy, file or message that is wrong in itself */
	ERR_DENIED,   /* forbidden: policy, role, certificate, token */
	ERR_NOTFOUND, /* a host, run, disk or file that is not there */
	ERR_EXISTS,   /* already there, or taken by someone else */
	ERR_BUSY,     /* in use; may succeed later */
	ERR_IO,       /* the system said no */
	ERR_FULL,     /* no space or no memory budget left */
	ERR_TIMEOUT,  /* a deadline passed */
	ERR_CONN,     /* no connection, or it was lost */
	ERR_PROTOCOL, /* a peer broke the protocol */
	ERR_WRONG_STATE,    /* not possible in the present state */
	ERR_CANCELLED,
	ERR_FAILED, /* a program or a step failed */
	ERR_CODE_COUNT
};

#define ERR_TEXT_MAX 1024

struct err {
	enum err_code code;
	char text[ERR_TEXT_MAX]; /* UTF-8, no newline, always terminated */
};

/* Sets code and text (cut at ERR_TEXT_MAX - 1; ends of lines become blanks, see safe.h). Returns -1. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As err_set with ": <strerror(errno)>" appended. ENOSPC, EDQUOT -> ERR_FULL, ENOENT ->
 * ERR_NOTFOUND, EACCES, EPERM -> ERR_DENIED, EBUSY -> ERR_BUSY, others ERR_IO. Returns -1. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As err_sys, with errno's name behind its text, "No space left on device (ENOSPC)": for what a trial
 * was told by its volume. Returns -1. */
int err_io(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* That text of an errno, into out (ERRNO_LEN bytes). Returns out. */
#define ERRNO_LEN 128
const char *errno_text(int number, char out[ERRNO_LEN]);

/* Puts text and ": " before what is there; the code stays. Returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The compiler is told that these return -1: without it gcc suspects every ret_ parameter of being
 * read uninitialised after `if (f(&x, e)) return -1;`. */
static inline int err_minus_one(int returned)
{
	(void)returned;
	return -1;
}
#define err_set(...) err_minus_one(err_set(__VA_ARGS__))
#define err_sys(...) err_minus_one(err_sys(__VA_ARGS__))
#define err_io(...) err_minus_one(err_io(__VA_ARGS__))
#define err_prefix(...) err_minus_one(err_prefix(__VA_ARGS__))

void err_clear(struct err *e);
void err_copy(struct err *to, const struct err *from);

/* Stable lower-case word for a code ("denied"); the wire carries codes by number. */
const char *err_code_name(enum err_code code);
/* Any number from outside to a valid code (unknown numbers become ERR_FAILED). */
enum err_code err_code_checked(unsigned number);

#endif
