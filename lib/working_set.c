/* SPDX-License-Identifier: MIT */
/*
 * Footprints from a profile: the mean number of distinct data in windows of x accesses. With
 * W = n - x + 1 windows and, summed over reuse times i, first times f and last times l,
 *
 *     Xiang             m - [ sum (i - x)+  +  sum (f - x)+  +  sum (l - x)+ ] / W
 *     additive          [ m x + sum min(i, x)  -  sum (x - f)+  -  sum (x - l)+ ] / W
 *     incremental       [ n x - sum (x - i)+   -  sum (x - f)+  -  sum (x - l)+ ] / W
 *     Denning-Schwartz  [ m x + sum min(i, x) ] / n          s(0) = 0, s(x+1) = s(x) + P(rt > x)
 *     steady state      m - sum (i - x)+ / n
 *
 * The first three are the same number, and that of counting all windows. Between whole windows they
 * are taken to be linear, as are all five.
 */

#include <math.h>
#include "profile.h"

struct terms {
	double n, m, x, windows;
	struct mtl_histogram *reuse, *first, *last;
};

static struct terms terms_of(struct mtl_profile *p, double x)
{
	return (struct terms){
	        .n = (double)p->accesses,
	        .m = (double)p->last.used,
	        .x = x,
	        .windows = (double)p->accesses - x + 1,
	        .reuse = &p->reuse_times,
	        .first = &p->first_times,
	        .last = mtl_profile_last_times(p),
	};
}

/* sum min(i, x) */
static double at_most(const struct terms *t)
{
	return mtl_histogram_excess(t->reuse, 0) - mtl_histogram_excess(t->reuse, t->x);
}

static double ends_shortfall(const struct terms *t)
{
	return mtl_histogram_shortfall(t->first, t->x) + mtl_histogram_shortfall(t->last, t->x);
}

static double xiang(const struct terms *t)
{
	return t->m - (mtl_histogram_excess(t->reuse, t->x) + mtl_histogram_excess(t->first, t->x) +
	                      mtl_histogram_excess(t->last, t->x)) /
	                      t->windows;
}

static double additive(const struct terms *t)
{
	return (t->m * t->x + at_most(t) - ends_shortfall(t)) / t->windows;
}

static double incremental(const struct terms *t)
{
	return (t->n * t->x - mtl_histogram_shortfall(t->reuse, t->x) - ends_shortfall(t)) /
	       t->windows;
}

static double denning_schwartz(const struct terms *t)
{
	return (t->m * t->x + at_most(t)) / t->n;
}

static double steady_state(const struct terms *t)
{
	return t->m - mtl_histogram_excess(t->reuse, t->x) / t->n;
}

static const struct {
	double (*footprint)(const struct terms *terms);
	bool has_ends;
} kinds[] = {
        [MTL_XIANG] = {xiang, true},
        [MTL_ADDITIVE] = {additive, true},
        [MTL_INCREMENTAL] = {incremental, true},
        [MTL_DENNING_SCHWARTZ] = {denning_schwartz, false},
        [MTL_STEADY_STATE] = {steady_state, false},
};

static double footprint_at(struct mtl_profile *profile, enum mtl_footprint_kind kind, double window)
{
	struct terms terms = terms_of(profile, window);

	return kinds[kind].footprint(&terms);
}

double mtl_profile_footprint(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double window)
{
	double n = (double)profile->accesses;
	double x = fmin(fmax(window, 0), n), whole = floor(x), part = x - whole;

	if (n == 0)
		return 0;
	double here = footprint_at(profile, kind, whole);
	return part > 0 ? here + part * (footprint_at(profile, kind, whole + 1) - here) : here;
}

double mtl_profile_footprint_error(
        struct mtl_profile *profile, enum mtl_footprint_kind kind, double window)
{
	double n = (double)profile->accesses, x = fmin(fmax(window, 0), n);

	if (n == 0)
		return 0;
	struct terms t = terms_of(profile, x);
	double error = mtl_histogram_excess_error(t.reuse, x);
	if (!kinds[kind].has_ends)
		return error / n;
	return (error + mtl_histogram_excess_error(t.first, x) +
	               mtl_histogram_excess_error(t.last, x)) /
	       (n - ceil(x) + 1);
}
