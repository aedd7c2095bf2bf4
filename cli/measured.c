/* SPDX-License-Identifier: MIT */
/*
 * What resctrl counts of operands that run.
 *
 * It counts by group, not by process: what is measured is that of all groups the operand's threads
 * are in, other members included, whose number is told. llc_occupancy is what is in a cache now;
 * mbm counters are bytes since some moment, so that two readings make a rate. A sum with an unknown
 * part is unknown.
 */

#include "measured.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <string.h>

#include "cleanup.h"
#include "monotonic.h"

enum { OCCUPANCY, TOTAL, LOCAL, EVENTS };

static const char *const events[EVENTS] = {"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"};

struct sample {
	double bytes[EVENTS];
	double moment;
};

static void add_why(struct measured *measured, const char *event, const char *words)
{
	char why[128];

	snprintf(why, sizeof(why), "%s: %s", event, *words ? words : "there is no such counter");
	if (!strstr(measured->why, why))
		text_append(measured->why, sizeof(measured->why), "%s%s",
		        *measured->why ? "; " : "", why);
}

static void add_reading(const struct options *options, const struct resctrl_reading *reading,
        struct measured *measured, struct sample *sample)
{
	const struct resctrl_count *counts[] = {
	        &reading->occupancy, &reading->total, &reading->local};
	int wanted = isnan(options->measure) ? 1 : EVENTS;

	for (int e = 0; e < wanted; e++) {
		sample->bytes[e] += counts[e]->known ? (double)counts[e]->bytes : NAN;
		if (!counts[e]->known)
			add_why(measured, events[e], counts[e]->words);
	}
}

/* All that its groups count now. */
static void take_sample(
        const struct options *options, struct measured *measured, struct sample *sample)
{
	const struct resctrl_place place = {.root = options->root};
	char error[RESCTRL_ERROR];

	*sample = (struct sample){.moment = monotonic_seconds()};
	measured->caches = 0;
	for (size_t i = 0; i < measured->homes.n; i++) {
		_cleanup_free_ struct resctrl_reading *readings = NULL;
		size_t n = 0;

		if (resctrl_monitor(&place, measured->homes.homes[i].group, &readings, &n, error,
		            sizeof(error)) < 0) {
			*sample = (struct sample){{NAN, NAN, NAN}, sample->moment};
			snprintf(measured->why, sizeof(measured->why), "%s", error);
			return;
		}
		for (size_t k = 0; k < n; k++) {
			if (!domain_is_chosen(options, readings[k].domain))
				continue;
			measured->caches += i == 0;
			add_reading(options, &readings[k], measured, sample);
		}
	}
}

/* Which groups; false, and why: it cannot be told. */
static bool find_homes(const struct options *options, const struct demand_operand *operand,
        struct measured *measured)
{
	const struct resctrl_place place = {.root = options->root};
	const struct pid_set set = {operand->pids, operand->n_pids};
	char error[RESCTRL_ERROR];

	if (resctrl_homes_of(&place, &set, &measured->homes, error, sizeof(error)) < 0)
		snprintf(measured->why, sizeof(measured->why), "%s", error);
	else if (measured->homes.n == 0)
		snprintf(measured->why, sizeof(measured->why), "its processes have ended");
	return measured->homes.n > 0;
}

static double rate(const struct sample *before, const struct sample *after, int event,
        struct measured *measured)
{
	double bytes = after->bytes[event] - before->bytes[event];

	if (bytes < 0)
		add_why(measured, events[event], "it was reset in between");
	return bytes < 0 ? NAN : bytes / (after->moment - before->moment);
}

static void measure_all(const struct options *options, const struct demand_list *list,
        struct measured *of, struct sample *samples)
{
	double seconds = options->measure;

	for (size_t i = 0; i < list->n; i++) {
		of[i] = (struct measured){.tried = list->operands[i].n_pids > 0,
		        .occupancy = NAN,
		        .bytes_per_second = NAN,
		        .local_per_second = NAN};
		if (of[i].tried && find_homes(options, &list->operands[i], &of[i]))
			take_sample(options, &of[i], &samples[i]);
		of[i].occupancy = of[i].homes.n ? samples[i].bytes[OCCUPANCY] : NAN;
	}
	if (isnan(seconds))
		return;
	poll(NULL, 0, (int)fmin(ceil(seconds * 1000), INT_MAX));
	for (size_t i = 0; i < list->n; i++) {
		struct sample after;

		if (!of[i].homes.n)
			continue;
		take_sample(options, &of[i], &after);
		of[i].occupancy = after.bytes[OCCUPANCY];
		of[i].bytes_per_second = rate(&samples[i], &after, TOTAL, &of[i]);
		of[i].local_per_second = rate(&samples[i], &after, LOCAL, &of[i]);
	}
}

/* Without --measure nobody has asked: what is not there is not missed. */
static bool is_worth_showing(const struct options *options, const struct measurements *measurements)
{
	bool worth = !isnan(options->measure);

	for (size_t i = 0; i < measurements->n; i++)
		worth |= measurements->of[i].tried && !isnan(measurements->of[i].occupancy);
	return worth;
}

int measure(const char *command, const struct options *options, const struct demand_list *list,
        struct measurements *ret_measurements)
{
	_cleanup_(measurements_done) struct measurements measurements = {
	        .of = calloc(list->n, sizeof(struct measured)),
	        .n = list->n,
	        .seconds = options->measure};
	_cleanup_free_ struct sample *samples = calloc(list->n, sizeof(*samples));
	bool runs = false;

	for (size_t i = 0; i < list->n; i++)
		runs |= list->operands[i].n_pids > 0;
	if (!measurements.of || !samples)
		return complain(MTL_FAILED, "out of memory");
	if (!runs && !isnan(options->measure))
		return complain(MTL_USAGE,
		        "%s: --measure is of processes: a saved curve cannot be measured now",
		        command);
	measure_all(options, list, measurements.of, samples);
	if (!runs || !is_worth_showing(options, &measurements))
		return MTL_DONE;
	*ret_measurements = measurements;
	measurements = (struct measurements){0};
	return MTL_DONE;
}

void measurements_done(struct measurements *measurements)
{
	for (size_t i = 0; measurements->of && i < measurements->n; i++)
		resctrl_homes_done(&measurements->of[i].homes);
	free(measurements->of);
	*measurements = (struct measurements){0};
}
