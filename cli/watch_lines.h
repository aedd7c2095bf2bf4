/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_WATCH_LINES_H
#define MTL_CLI_WATCH_LINES_H

/* What `mtl partition --watch` says: one line each, of text or of JSON (docs/PROTOCOL.md). */

#include "controller.h"
#include "in_force.h"
#include "watch_measure.h"

/* Where lines go: standard output. */
struct watch_lines {
	bool json, dry;
	unsigned round;
	bool lost; /* a line could not be written, and that was said */
};

/* One round's decision. */
struct watch_decision {
	const struct division *division;              /* under whose curves */
	const struct division_parts *in_force, *best; /* NULL: undivided */
	struct division_gain gain;
	double fraction; /* of what is in force; NAN: that is nothing */
	enum controller_decision decision;
	const struct controller *controller;
	double time;
	const char *error;                   /* of a change that failed; else NULL */
	const struct resctrl_report *report; /* of a change that was made; else NULL */
};

/* What became of a change. */
struct watch_outcome {
	const char *unit;
	double gain, fraction;         /* as expected */
	double gain_now, fraction_now; /* the same under the curves of now; NAN: cannot be told */
	const struct measure_flows *before, *after;
	const char *reason; /* why traffic was not measured; else NULL */
};

void watch_say_decision(struct watch_lines *lines, const struct watch_decision *decision);
void watch_say_outcome(struct watch_lines *lines, const struct watch_outcome *outcome);

/* "skipped", "dropped" (a group, else NULL), "gathered", "failed" or "ended", and why. */
void watch_say(struct watch_lines *lines, const char *event, const char *group, const char *reason);

#endif
