/*
 * Is one thing faster than another? The whole procedure on plain numbers: estimate, interval,
 * verdict and its words. Pure.
 *
 * All arithmetic is on y = ln(metric), one value per build; what comes out are geometric ratios.
 * Values that are not above 0 count as missing.
 */
#ifndef COORDINATOR_RESULTS_COMPARE_H
#define COORDINATOR_RESULTS_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"

#define COMPARE_ALPHA 0.05       /* of a family */
#define COMPARE_ALPHA_UNTIL 0.03 /* of a family of a run that stopped by its own precision */
/* Ln ratios nearer to 0 are no difference: no clock around a trial is as good. */
#define COMPARE_NO_RATIO 1e-6

enum verdict { VERDICT_TOO_FEW, VERDICT_NO_DIFFERENCE, VERDICT_FASTER, VERDICT_SLOWER };
enum estimator {
	ESTIMATOR_NONE,
	ESTIMATOR_HOSTS,   /* H >= 3 hosts, one mean ln ratio each */
	ESTIMATOR_PAIRED,  /* random blocks, m >= 3 complete pairs */
	ESTIMATOR_WELCH,   /* n >= 3 a side */
	/* A side is only n >= 4, mean, min, max: its spread is bounded by these. Where it prints its
	 * standard deviation too, that stands instead of the bound, at the worst rounding. */
	ESTIMATOR_SUMMARY,
};

struct compare_side {
	const double *values;   /* listed ones; n of them */
	const uint32_t *blocks; /* of each value; NULL: no blocks */
	unsigned n;
	int summary_only;      /* then mean, min, max tell it, and no values do */
	double mean, min, max; /* of a summary */
	int has_stddev;        /* of a summary: its own standard deviation is told too */
	double stddev, stddev_resolution;
	double resolution;     /* the last printed digit; 0: exact */
};
/* What one host has of both. */
struct compare_host {
	struct compare_side base, subject;
	int random_blocks; /* own run whose blocks hold both in random order: pairs by block */
};
struct compare_terms {
	double alpha; /* of the family */
	unsigned k;   /* its size, from 1 */
	int higher_is_better;
	double margin; /* fraction, 0: none */
};
struct compared {
	enum estimator estimator;
	enum verdict verdict;
	unsigned n;                 /* replicates: pairs, hosts, or those of the smaller side */
	unsigned n_base, n_subject; /* values behind the means; hosts added up */
	double d;                   /* ln ratio, subject over base; NaN: nothing to compare */
	double se, df, r;           /* NaN where there is no estimate */
	double lo, hi;              /* interval of d; NaN where there is no estimate */
	double p_adjusted;          /* NaN where se is 0 or there is no estimate */
	double bound;               /* largest change of the metric that the interval allows */
	double mde;        /* smallest change that a repetition would find with 80 %: advice only */
	int identical;     /* too few, since neither spread nor resolution is there to judge by */
	int spread_untold; /* too few, since an average of enough trials came without any spread */
	int unpaired;      /* too few, since values of different blocks make no pairs */
	int within_margin; /* the interval lies inside the margin; 0 without one */
};

/* n_hosts 1: the host's own estimate. From 3 hosts on: hosts are the replicates; those without
 * both sides are left out. Never 2: they are compared apart, each with twice the family. */
void compare(const struct compare_host *hosts, size_t n_hosts, const struct compare_terms *t,
	struct compared *ret);

/* Hosts of `hosts` that have both sides: fewer than 3 and compare() has too few of them. */
size_t compare_hosts_with_both(const struct compare_host *hosts, size_t n_hosts);

/* The largest sample variance that n values of that mean, minimum and maximum can have, each
 * printed with that resolution: (max - mean)(mean - min) n / (n - 1), where the printed digits are
 * exact (Bhatia and Davis, 2000), at the worst rounding. n >= 2. */
double compare_summary_variance(unsigned n, double mean, double min, double max, double resolution);

/* Half width of the interval that `until` speaks of, as ln ratio: t(1 - 0.025/k) * SE, at 95 % over
 * all k comparisons of the family. NaN where there is no estimate. (The verdicts of such a run use
 * COMPARE_ALPHA_UNTIL, which makes up for having looked more than once: their intervals are a
 * little wider.) */
struct compare_precision {
	double se, df;
};
double compare_half_width(const struct compare_precision *c, unsigned k);
/* Whether a run with `until: fraction` may stop after these complete blocks: every comparison of
 * the family (k of them; se and df of each) is precise enough. Differences are not looked at. */
int compare_is_precise(const struct compare_precision *c, size_t n, unsigned k, double until);
/* Smallest change, as a fraction, that a like experiment finds with 80 %: for planning only. */
double compare_mde(double se, double df, double alpha, unsigned k);

const char *verdict_name(enum verdict v);     /* as cli.md spells them: "no-difference" */
const char *estimator_name(enum estimator e); /* NULL for none */
/* "-0.2% (-1.7…+1.4%)", "+3.7%" without interval, "" where nothing was compared; from 1,000,000 % on with an
 * exponent. Appended. No sign of it contradicts the verdict: a bound that is not 0 is not printed as 0. */
void compare_change_text(const struct compared *c, struct buf *out);
/* "+4.4%" of a ratio's logarithm, with decimals enough to show its side. Appended. */
void compare_percent_text(double ln, struct buf *out);
/* "no difference shown", "no difference above 2%", "slower, but under 2%", "too few trials
 * (n = 2)", "no spread told", … Appended. */
void compare_verdict_text(const struct compared *c, double margin, struct buf *out);

#endif
