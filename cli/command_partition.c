/* SPDX-License-Identifier: MIT */
/*
 * `mtl partition PID|FILE|GROUP...`: the best division of a cache among groups, shown and, with
 * --apply, made by resctrl. Only what is predicted to be better than the cache undivided, and no
 * worse than equal shares, is applied.
 */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "cache_partition.h"
#include "cleanup.h"
#include "curve_report.h"
#include "divide.h"
#include "division_report.h"
#include "json_fields.h"
#include "measured.h"
#include "partition_watch.h"

static void say_notes(const struct resctrl_report *report)
{
	char notes[RESCTRL_NOTES], *rest = notes, *line;

	snprintf(notes, sizeof(notes), "%s", report->notes);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			complain(MTL_DONE, "note: %s", line);
}

static int revert(const struct options *options)
{
	const struct resctrl_place place = {.root = options->root};
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR];
	int there;

	there = resctrl_applied(&place, error, sizeof(error));
	if (resctrl_revert(&place, &report, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s", error);
	complain(MTL_DONE, there > 0 || *report.notes ? "reverted" : "there is nothing to revert");
	say_notes(&report);
	return MTL_DONE;
}

static int apply(const struct cache_partition *partition)
{
	struct resctrl_report report = {0};
	char error[RESCTRL_ERROR], verdict[400];

	if (!mtl_division_is_worth_it(&partition->division)) {
		mtl_division_verdict(&partition->division, verdict, sizeof(verdict));
		return complain(MTL_FAILED, "not applied: %s", verdict);
	}
	if (resctrl_apply(&partition->place, partition->plan, &report, error, sizeof(error)) < 0)
		return complain(MTL_FAILED, "%s", error);
	complain(MTL_DONE, "applied, until `mtl partition --revert`: %zu thread%s moved",
	        report.moved, report.moved == 1 ? "" : "s");
	say_notes(&report);
	return MTL_DONE;
}

static int write_json(const struct division *division, const struct measurements *measurements,
        const struct measured_beside *beside)
{
	_cleanup_json_ struct json_object *object = NULL;
	int r = mtl_division_to_json(division, &object);

	r = r ?: measured_put(object, "groups", measurements, beside);
	if (r == 0)
		json_output(stdout, object);
	return r;
}

static int write_division(const struct options *options, const struct division *division,
        const struct measurements *measurements)
{
	_cleanup_free_ double *occupancy = calloc(division->list->n, sizeof(double));
	const struct measured_beside beside = {occupancy, division->whole.misses};
	struct terminal terminal = terminal_describe(stdout);
	int r = occupancy ? 0 : -ENOMEM;

	for (size_t i = 0; occupancy && i < division->list->n; i++)
		occupancy[i] =
		        fmin(division->whole.bytes[i], division->list->demands[i]->footprint_bytes);
	if (r == 0 && options->json)
		r = write_json(division, measurements, &beside);
	else if (r == 0 && options->csv)
		division_csv(stdout, division);
	else if (r == 0)
		r = division_report(stdout, division, &terminal)
		            ?: measured_report(
		                       stdout, measurements, division->list, &beside, &terminal);
	if (r < 0 && ferror(stdout))
		return MTL_FAILED;
	return r < 0 ? complain(MTL_FAILED, "cannot show this: %s", strerror(-r)) : MTL_DONE;
}

int command_partition(const struct options *options, int n_operands, char **operands)
{
	_cleanup_(cache_partition_done) struct cache_partition partition = {0};
	_cleanup_(measurements_done) struct measurements measurements = {0};
	int code;

	if (options->revert)
		return n_operands ? complain(MTL_USAGE, "partition: --revert takes no operands")
		                  : revert(options);
	if (n_operands == 0)
		return complain(MTL_USAGE, "partition: PID|FILE|GROUP... is missing");
	if (options->watch)
		return partition_watch(options, n_operands, operands);
	code = cache_partition_new(options, n_operands, operands, &partition);
	code = code ?: divide_certain(&partition.division);
	code = code ?: cache_partition_plan(&partition);
	code = code ?: measure("partition", options, &partition.list, &measurements);
	if (code == MTL_DONE && options->apply)
		code = apply(&partition);
	return code ?: write_division(options, &partition.division, &measurements);
}
