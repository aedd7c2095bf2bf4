/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CONTROLLER_H
#define MTL_CLI_CONTROLLER_H

/* Whether a partition in force is to become another one: decisions of `mtl partition --watch`. */

#include <stdbool.h>

/* What a change must come to. */
struct controller_terms {
	double gain;     /* least, as a fraction of what is in force */
	unsigned rounds; /* running, that it has to be worth it; at least 1 */
	double pause;    /* seconds between changes */
};

/* What a round found, of the best state against the one in force, both under the curves of now. */
struct controller_finding {
	double time;        /* seconds, of a clock that is never set */
	bool same;          /* the best is in force */
	bool owed;          /* what is in force breaks a guarantee that the best keeps */
	double in_force;    /* misses, or the worst slowdown */
	double gain, least; /* by which the best has fewer: likely, and at least within intervals */
	double rounding;    /* no more than that is nothing */
};

enum controller_decision {
	CONTROLLER_SAME,        /* the best is in force */
	CONTROLLER_SMALL,       /* within the hysteresis */
	CONTROLLER_UNCERTAIN,   /* it may be a loss, for all the curves know */
	CONTROLLER_UNCONFIRMED, /* worth it, not in enough rounds running */
	CONTROLLER_SOON,        /* too soon after the last change */
	CONTROLLER_CHANGE,
};

struct controller {
	struct controller_terms terms;
	unsigned running; /* rounds up to the last one that a change would have been worth it */
	bool changed;     /* ever */
	double changed_at;
};

/* One round; CONTROLLER_CHANGE is a wish, of which controller_changed() is told when it was tried.
 */
enum controller_decision controller_decide(
        struct controller *controller, const struct controller_finding *finding);

/* A round without a finding: it holds in no rounds running. */
void controller_skip(struct controller *controller);

/* A change was made, or failed, which is no reason to hurry either. */
void controller_changed(struct controller *controller, double time);

#endif
