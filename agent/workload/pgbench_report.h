/* What pgbench prints at its end. Pure. */
#ifndef AGENT_WORKLOAD_PGBENCH_REPORT_H
#define AGENT_WORKLOAD_PGBENCH_REPORT_H

#include <stdint.h>

struct pgbench_report {
	int64_t transactions, failed; /* -1: not told */
	double tps, tps_with_connecting; /* -1: not told; tps is without the time of connecting */
	double connecting_ms;            /* -1: not told (since version 14 it is) */
	double latency_ms;
	int aborted; /* a client gave up */
};

/* Versions 10 to 18. */
void pgbench_report_read(const char *text, struct pgbench_report *ret);

#endif
