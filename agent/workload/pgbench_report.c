/* Reading pgbench's report: up to version 13 two rates, since 14 one and the time of connecting. */
#include "agent/workload/pgbench_report.h"

#include <stdlib.h>
#include <string.h>

/* The number behind `label` at the begin of a line whose rest holds `with` ("": any). */
static double number_after(const char *text, const char *label, const char *with)
{
	size_t len = strlen(label);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end, *word;

		line += *line == '\n';
		if (strncmp(line, label, len))
			continue;
		end = strchr(line, '\n');
		word = strstr(line, with);
		if (word && (!end || word < end))
			return strtod(line + len, NULL);
	}
	return -1;
}

void pgbench_report_read(const char *text, struct pgbench_report *ret)
{
	struct pgbench_report r = {0};

	r.transactions = (int64_t)number_after(text, "number of transactions actually processed: ", "");
	r.failed = (int64_t)number_after(text, "number of failed transactions: ", "");
	r.latency_ms = number_after(text, "latency average = ", "ms");
	r.connecting_ms = number_after(text, "initial connection time = ", "ms");
	r.tps = number_after(text, "tps = ", "without initial connection time");
	if (r.tps < 0)
		r.tps = number_after(text, "tps = ", "excluding connections");
	r.tps_with_connecting = number_after(text, "tps = ", "including ");
	r.aborted = strstr(text, " aborted") != NULL;
	*ret = r;
}
