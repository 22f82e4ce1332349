/*
 * Names of hosts as reports show them. Owns nothing.
 * Invariant: one host has one name in all reports of a set; redacted ones tell nothing but order.
 */
#include <stdio.h>
#include <string.h>

#include "coordinator/results/report.h"

const char *report_host(const struct result_set *s, const struct report_options *o,
	const char *host, char out[REPORT_HOST_MAX])
{
	const char *last = NULL;
	unsigned number = 1;

	if (!o->redact) {
		snprintf(out, REPORT_HOST_MAX, "%s", host);
		return out;
	}
	/* Its place among the different names: counts names below it, each once. */
	for (;;) {
		const char *next = NULL;

		for (size_t i = 0; i < s->n_trials + s->n_envs; i++) {
			const char *h =
				i < s->n_trials ? s->trials[i].host : s->envs[i - s->n_trials].host;

			if ((!last || strcmp(h, last) > 0) && strcmp(h, host) < 0 &&
				(!next || strcmp(h, next) < 0))
				next = h;
		}
		if (!next)
			break;
		last = next;
		number++;
	}
	snprintf(out, REPORT_HOST_MAX, "host-%u", number);
	return out;
}
