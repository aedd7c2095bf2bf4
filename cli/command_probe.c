/* SPDX-License-Identifier: MIT */
/*
 * `mtl probe`: what the caches of this machine are. It says what they are said to be and what
 * follows from that, then measures, then judges.
 *
 * Below a root only the prediction comes from there; what is measured is the machine this runs on,
 * so nothing is saved then, nor when a level is left out.
 *
 * MTL_DEBUG_PROBE_CONTROL=aliased breaks the controls: both layouts are then the aliased one, and
 * both must be found out.
 */

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "curve_report.h"
#include "json_fields.h"
#include "machine.h"
#include "monotonic.h"
#include "options.h"
#include "probe.h"
#include "probe_chase.h"
#include "state_directory.h"

#define FOOTPRINT_LEAST (16.0 * 1024 * 1024)
#define FOOTPRINT_LEVEL (256.0 * 1024)
#define FOOTPRINT_MOST (64.0 * 1024 * 1024)
#define FOOTPRINT_TIMES 4 /* of the largest cache in question */

static bool is_control_broken(void)
{
	const char *text = getenv("MTL_DEBUG_PROBE_CONTROL");

	return text && strcmp(text, "aliased") == 0;
}

/* The first that is in question, and one behind the last. */
static void which_levels(
        const struct options *options, const struct probe *probe, size_t *ret_from, size_t *ret_to)
{
	*ret_from = 0;
	*ret_to = probe->n_levels;
	for (size_t i = 0; options->level && i < probe->n_levels; i++)
		if (probe->levels[i].said.level == options->level) {
			*ret_from = i;
			*ret_to = i + 1;
		}
}

/* That one only; the others were needed to measure it. */
static void keep_level(struct probe *probe, size_t at)
{
	probe->levels[0] = probe->levels[at];
	probe->n_levels = 1;
}

/* With that many levels, the last of which is in question. */
static double footprint_most(const struct probe *probe, size_t n, const struct options *options)
{
	double most = n ? probe->levels[n - 1].said.size_bytes : 0;
	double least = options->level ? FOOTPRINT_LEVEL : FOOTPRINT_LEAST;

	return fmin(fmax(FOOTPRINT_TIMES * most, least), FOOTPRINT_MOST);
}

static int measure(struct probe *probe, const struct options *options)
{
	double capacities[CACHE_LEVELS_MAX], start = monotonic_seconds();
	bool broken = is_control_broken();
	size_t from, to, n;
	int r = probe_chase_pin();

	which_levels(options, probe, &from, &to);
	for (size_t i = from; r == 0 && i < to; i++)
		r = probe_ways(probe, i, broken);
	r = r ?: probe_capacity(probe, footprint_most(probe, to, options));
	if (r == 0 && !options->level)
		r = probe_tlb(probe, broken);
	if (r < 0)
		return r;
	n = probe_capacities(&probe->curve, capacities, CACHE_LEVELS_MAX);
	probe_judge_capacities(probe, capacities, n);
	probe->seconds = monotonic_seconds() - start;
	return 0;
}

static int save(const struct probe *probe)
{
	_cleanup_json_ struct json_object *object = NULL;
	char path[PATH_MAX] = "probe.json";
	int r = probe_to_json(probe, &object);

	r = r ?: state_save("probe.json", object, path);
	if (r < 0)
		complain(MTL_DONE, "note: what was measured cannot be kept in %s: %s", path,
		        strerror(-r));
	return r;
}

static int show(const struct options *options, const struct probe *probe)
{
	_cleanup_json_ struct json_object *object = NULL;
	struct terminal terminal = terminal_describe(stdout);
	int r = options->json ? probe_to_json(probe, &object)
	                      : probe_report(stdout, probe, &terminal);

	if (object)
		json_output(stdout, object);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show this: %s", strerror(-r)) : MTL_DONE;
}

static int predict(const struct options *options, struct probe *probe)
{
	struct cache_geometry said = {0};
	struct terminal terminal = terminal_describe(stdout);

	if (machine_caches_said(options->root, &said) < 0)
		complain(MTL_DONE, "note: neither sysfs nor the CPU names any cache");
	probe->cpu = machine_identity(NULL);
	probe_predict(&said, probe);
	if (options->level && !cache_geometry_level(&said, options->level))
		return complain(
		        MTL_USAGE, "probe: there is no cache of level %u here", options->level);
	if (options->json)
		return MTL_DONE;
	if (probe_print_prediction(stdout, probe, options->level, &terminal) < 0)
		return complain(MTL_FAILED, "cannot show this");
	fflush(stdout);
	return MTL_DONE;
}

int command_probe(const struct options *options, int n_operands, char **operands)
{
	static struct probe probe;
	size_t from, to;
	int code = predict(options, &probe), r;

	(void)n_operands, (void)operands;
	if (code != MTL_DONE)
		return code;
	r = measure(&probe, options);
	if (r < 0)
		return complain(MTL_FAILED, "cannot measure: %s", strerror(-r));
	which_levels(options, &probe, &from, &to);
	if (options->level)
		keep_level(&probe, from);
	else if (!options->root && !is_control_broken())
		save(&probe);
	if (options->plot)
		code = probe_plot(options->plot, &probe);
	return code == MTL_DONE ? show(options, &probe) : code;
}
