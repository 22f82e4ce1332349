/*
 * Errors as values. Owns nothing: the caller owns every struct err.
 * Invariant: the text is one terminated line of valid UTF-8 without control characters, whatever
 * bytes were formatted into it.
 */
#include "common/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/safe.h"

#define RAW_MAX (2 * ERR_TEXT_MAX)

static const char *const code_names[ERR_CODE_COUNT] = {
	[ERR_NONE] = "none",
	[ERR_USAGE] = "usage",
	[ERR_INPUT] = "input",
	[ERR_DENIED] = "denied",
	[ERR_NOTFOUND] = "not-found",
	[ERR_EXISTS] = "exists",
	[ERR_BUSY] = "busy",
	[ERR_IO] = "io",
	[ERR_FULL] = "full",
	[ERR_TIMEOUT] = "timeout",
	[ERR_CONN] = "connection",
	[ERR_PROTOCOL] = "protocol",
	[ERR_WRONG_STATE] = "wrong-state",
	[ERR_CANCELLED] = "cancelled",
	[ERR_FAILED] = "failed",
};

/* Formats into raw (RAW_MAX bytes); a format that fails gives "". */
static void __attribute__((format(printf, 2, 0))) format(char *raw, const char *fmt, va_list ap)
{
	if (vsnprintf(raw, RAW_MAX, fmt, ap) < 0)
		raw[0] = '\0';
}

/* One line: ends of lines and tabs become blanks. */
static size_t next_char(const char *s, size_t len, char out[SAFE_CHAR])
{
	if (*s != '\n' && *s != '\r' && *s != '\t')
		return safe_char(s, len, out);
	out[0] = ' ';
	out[1] = '\0';
	return 1;
}

static void set_text(struct err *e, const char *raw)
{
	size_t len = strlen(raw), out = 0;
	char shown[SAFE_CHAR];

	for (size_t i = 0; i < len;) {
		i += next_char(raw + i, len - i, shown);
		if (out + strlen(shown) >= ERR_TEXT_MAX)
			break;
		memcpy(e->text + out, shown, strlen(shown));
		out += strlen(shown);
	}
	e->text[out] = '\0';
}

int(err_set)(struct err *e, enum err_code code, const char *fmt, ...)
{
	char raw[RAW_MAX];
	va_list ap;

	va_start(ap, fmt);
	format(raw, fmt, ap);
	va_end(ap);
	e->code = code;
	set_text(e, raw);
	return -1;
}

static enum err_code code_of_errno(int number)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT:
		return ERR_FULL;
	case ENOENT:
		return ERR_NOTFOUND;
	case EACCES:
	case EPERM:
		return ERR_DENIED;
	case EBUSY:
		return ERR_BUSY;
	default:
		return ERR_IO;
	}
}

int(err_sys)(struct err *e, const char *fmt, ...)
{
	int number = errno;
	char raw[RAW_MAX], what[128];
	va_list ap;

	va_start(ap, fmt);
	format(raw, fmt, ap);
	va_end(ap);
	e->code = code_of_errno(number);
	return err_set(e, e->code, "%s: %s", raw, strerror_r(number, what, sizeof(what)));
}

const char *errno_text(int number, char out[ERRNO_LEN])
{
	char what[ERRNO_LEN];
	const char *name = strerrorname_np(number);

	snprintf(out, ERRNO_LEN, "%s%s%s%s", strerror_r(number, what, sizeof(what)), name ? " (" : "",
		name ? name : "", name ? ")" : "");
	return out;
}

int(err_io)(struct err *e, const char *fmt, ...)
{
	int number = errno;
	char raw[RAW_MAX], what[ERRNO_LEN];
	va_list ap;

	va_start(ap, fmt);
	format(raw, fmt, ap);
	va_end(ap);
	e->code = code_of_errno(number);
	return err_set(e, e->code, "%s: %s", raw, errno_text(number, what));
}

int(err_prefix)(struct err *e, const char *fmt, ...)
{
	char raw[RAW_MAX], text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	format(raw, fmt, ap);
	va_end(ap);
	memcpy(text, e->text, sizeof(text));
	return err_set(e, e->code, "%s: %s", raw, text);
}

void err_clear(struct err *e)
{
	e->code = ERR_NONE;
	e->text[0] = '\0';
}

void err_copy(struct err *to, const struct err *from)
{
	if (to == from)
		return;
	to->code = from->code;
	snprintf(to->text, sizeof(to->text), "%s", from->text);
}

const char *err_code_name(enum err_code code)
{
	unsigned number = (unsigned)code;

	return number < ERR_CODE_COUNT ? code_names[number] : code_names[ERR_FAILED];
}

enum err_code err_code_checked(unsigned number)
{
	return number < ERR_CODE_COUNT ? (enum err_code)number : ERR_FAILED;
}
