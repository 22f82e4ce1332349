/*
 * Logging for journald and people: one line a message on stderr, "<priority>subject: text" on a pipe
 * or socket (journald reads the priority), plain with a time on a terminal, with date, time and the
 * level's word in a file.
 * Control characters from outside are shown as \xNN. common/ itself never logs above debug.
 */
#ifndef COMMON_BASE_LOG_H
#define COMMON_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Messages above the level are dropped (default: info). Not thread-safe; call before threads. */
void log_set_level(enum log_level level);
/* Short prefix for every line, e.g. "coordinator"; copied. */
void log_set_program(const char *name);

void log_error(const char *subject, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_warning(const char *subject, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *subject, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *subject, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "Logged once": a limiter for one kind of message. Lets `burst` messages pass in `window_ms`,
 * then counts; log_limit_pass returns 1 to log, 0 to stay silent; when it passes again,
 * *ret_suppressed tells how many were silent since. */
struct log_limit {
	unsigned burst, window_ms;
	unsigned long long window_start_ms;
	unsigned used, suppressed;
};
int log_limit_pass(struct log_limit *l, unsigned *ret_suppressed);

#endif
