/* Any text as a job file of fio: never a crash or a leak, and what fio gets from an accepted one names
 * nothing outside of its folder and runs nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/plan/fio_job.h"
#include "common/plan/fio_option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			abort();                                                                   \
	} while (0)

static void use_option(const struct fio_option *o)
{
	struct err e;

	MUST(fio_option_check(o->name, o->value, &e) == 0);
	MUST(!fio_option_refused(o->name));
	if (!o->value)
		return;
	MUST(!strpbrk(o->value, "$`'\"\\;#\n\r[]{}()|&<>~* "));
	MUST(!strstr(o->value, ".."));
	MUST(!strchr(o->value, '/') || !strcmp(o->name, "bssplit") ||
		!strcmp(o->name, "random_distribution"));
}

/* Our own lines are the only ones that are no options of a job. */
static void use_text(const char *text)
{
	static const char *const own[] = {"directory=.", "group_reporting", "new_group",
		"verify_state_save=0", "create_only=1"};
	struct err e;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n"), i;
		char *line = xstrndup(p, len), *value = strchr(line, '=');

		for (i = 0; i < ARRAY_LEN(own) && strcmp(own[i], line); i++)
			;
		if (value)
			*value++ = '\0';
		if (*line == '[')
			MUST(!strchr(line, '/') && line[1] != '.' && strncmp(line, "[global", 7));
		else if (i == ARRAY_LEN(own))
			MUST(fio_option_check(line, value, &e) == 0);
		free(line);
		p += len + 1;
	}
}

/* Whatever jobs took, one after the other as the text says. */
static void use_time(const struct fio_jobs *jobs, const uint8_t *data, size_t size)
{
	int64_t took_ns[FIO_MAX_JOBS], sum = 0;
	struct fio_time t;

	for (size_t i = 0; i < jobs->n; i++) {
		took_ns[i] = (int64_t)data[i % size] << (data[(i + 1) % size] % 40);
		sum += took_ns[i];
	}
	fio_jobs_time(jobs, took_ns, &t);
	MUST(t.ran_ns >= 0 && t.ran_ns <= t.end_ns && t.ran_ns <= sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fio_jobs jobs = {0};
	struct strv errs = {0};
	struct buf out = {0};
	struct fio_sums s;
	struct err e;

	if (fio_jobs_parse("fuzz.fio", (const char *)data, size, NULL, &jobs, &errs, &e) == 0) {
		MUST(errs.n == 0 && jobs.n > 0 && jobs.n <= FIO_MAX_JOBS);
		for (size_t i = 0; i < jobs.n; i++) {
			for (size_t k = 0; k < jobs.v[i].n; k++)
				use_option(&jobs.v[i].v[k]);
			fio_job_sums(&jobs.v[i], &s);
			MUST(s.file_bytes > 0 && s.file_bytes <= FIO_SIZE_MAX && s.threads > 0);
		}
		use_time(&jobs, data, size);
		fio_jobs_write(&jobs, (enum fio_write)(size % 3), &out);
		use_text(buf_str(&out));
	} else {
		MUST(errs.n > 0 && jobs.n == 0);
	}
	fio_jobs_clear(&jobs);
	strv_free(&errs);
	buf_free(&out);
	return 0;
}
