/*
 * Log lines on stderr. Owns the level and the program's name (set once, before threads).
 * Invariant: a message is one write of one line without control characters, and logging never
 * fails, waits, allocates, changes errno or raises SIGPIPE.
 */
#include "common/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/units.h"
#include "common/base/safe.h"

#define RAW_MAX 4096
#define LINE_MAX_BYTES 4096

static enum log_level max_level = LOG_LEVEL_INFO;
static char program[32];

/* syslog(3) priorities, which journald reads from "<N>". */
static const int priorities[] = {
	[LOG_LEVEL_ERROR] = 3,
	[LOG_LEVEL_WARNING] = 4,
	[LOG_LEVEL_INFO] = 6,
	[LOG_LEVEL_DEBUG] = 7,
};
static const char *const words[] = {
	[LOG_LEVEL_ERROR] = "error: ",
	[LOG_LEVEL_WARNING] = "warning: ",
	[LOG_LEVEL_INFO] = "",
	[LOG_LEVEL_DEBUG] = "debug: ",
};

struct line {
	char text[LINE_MAX_BYTES];
	size_t len; /* < LINE_MAX_BYTES: room for the newline */
};

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_program(const char *name)
{
	snprintf(program, sizeof(program), "%s", name);
}

static void line_add(struct line *l, const char *s, size_t len)
{
	if (l->len + len < sizeof(l->text)) {
		memcpy(l->text + l->len, s, len);
		l->len += len;
	}
}

static void line_add_escaped(struct line *l, const char *s)
{
	size_t len = strlen(s);
	char shown[SAFE_CHAR];

	for (size_t i = 0; i < len;) {
		i += safe_char(s + i, len - i, shown);
		line_add(l, shown, strlen(shown));
	}
}

static void line_add_time(struct line *l, int with_date)
{
	static const char date[] = "2026-11-30 ";
	time_t now = time(NULL);
	char text[32];
	struct tm tm;
	size_t from = with_date ? 0 : sizeof(date) - 1;

	if (localtime_r(&now, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S ", &tm))
		line_add(l, text + from, strlen(text + from));
}

static void line_start(struct line *l, enum log_level level)
{
	struct stat st;
	char head[16];

	if (isatty(STDERR_FILENO)) {
		line_add_time(l, 0);
	} else if (fstat(STDERR_FILENO, &st) == 0 && S_ISREG(st.st_mode)) {
		line_add_time(l, 1);
		line_add(l, words[level], strlen(words[level]));
	} else {
		snprintf(head, sizeof(head), "<%d>", priorities[level]);
		line_add(l, head, strlen(head));
	}
	if (program[0]) {
		line_add_escaped(l, program);
		line_add(l, ": ", 2);
	}
}

/* write(2) without the signal that a closed pipe would raise: SIGPIPE is blocked for the call, and
 * one that the call made pending is taken back. */
static void write_quietly(const char *text, size_t len)
{
	static const struct timespec now = {0};
	sigset_t pipe_set, old, pending;
	int was_pending;
	ssize_t done;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &pipe_set, &old))
		return;
	was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
	do
		done = write(STDERR_FILENO, text, len);
	while (done < 0 && errno == EINTR);
	if (done < 0 && errno == EPIPE && !was_pending)
		while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void __attribute__((format(printf, 3, 0)))
message(enum log_level level, const char *subject, const char *fmt, va_list ap)
{
	int saved = errno;
	char raw[RAW_MAX];
	struct line l;

	if (level > max_level)
		return;
	l.len = 0;
	if (vsnprintf(raw, sizeof(raw), fmt, ap) < 0)
		raw[0] = '\0';
	line_start(&l, level);
	line_add_escaped(&l, subject);
	line_add(&l, ": ", 2);
	line_add_escaped(&l, raw);
	l.text[l.len++] = '\n';
	write_quietly(l.text, l.len);
	errno = saved;
}

void log_error(const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(LOG_LEVEL_ERROR, subject, fmt, ap);
	va_end(ap);
}

void log_warning(const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(LOG_LEVEL_WARNING, subject, fmt, ap);
	va_end(ap);
}

void log_info(const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(LOG_LEVEL_INFO, subject, fmt, ap);
	va_end(ap);
}

void log_debug(const char *subject, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(LOG_LEVEL_DEBUG, subject, fmt, ap);
	va_end(ap);
}

int log_limit_pass(struct log_limit *l, unsigned *ret_suppressed)
{
	unsigned long long now = (unsigned long long)(clock_mono_ns() / NS_PER_MS);

	if (l->used == 0 || now - l->window_start_ms >= l->window_ms) {
		l->window_start_ms = now;
		l->used = 0;
	}
	if (l->used >= l->burst) {
		l->suppressed++;
		return 0;
	}
	l->used++;
	*ret_suppressed = l->suppressed;
	l->suppressed = 0;
	return 1;
}
