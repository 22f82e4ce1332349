/* Hosts that stand out from their peers. Pure. */
#ifndef COORDINATOR_RESULTS_OUTLIERS_H
#define COORDINATOR_RESULTS_OUTLIERS_H

#include <stddef.h>

/* The generalised extreme studentised deviate test (Rosner, 1983) for at most `most` outliers among
 * n values. Indices of them into ret (room for `most`), the most extreme first; how many. Half
 * of them at most are looked at; values are finite. */
size_t outliers_esd(const double *v, size_t n, size_t most, double alpha, size_t *ret);

/* Of n hosts, given as means of ln(metric): those that stand out, at most max(1, n / 10), and only
 * such as lie further than `margin` (a fraction) from the mean of the others. None below 5 hosts.
 * ret has room for n; ret_peers (may be NULL): that mean, of all hosts that the test does not call. */
size_t outliers_hosts(const double *v, size_t n, double margin, size_t *ret, double *ret_peers);
/* The mean of the values that are not in out[0..n_out); NaN where none is left. */
double outliers_peers(const double *v, size_t n, const size_t *out, size_t n_out);

#endif
