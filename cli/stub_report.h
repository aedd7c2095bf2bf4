/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_REPORT_H
#define MTL_CLI_STUB_REPORT_H

#include <stdio.h>
#include <json-c/json.h>

#include "stub_calibration.h"
#include "stub_file.h"
#include "stub_run.h"

/* A file that has been run once more than the other times. */
struct stub_result {
	const struct stub_file *file;
	uint64_t repeat;
	const struct stub_calibration *calibration; /* NULL: run without */
	struct stub_measure *measures;              /* of each row */
	struct stub_times times;
};

/* How far the measures are from what was requested: bytes, and part of the time of all rows. */
struct stub_deviation {
	double stack_bytes, heap_bytes, time_fraction;
};
struct stub_deviation stub_result_deviation(const struct stub_result *result);

/* As docs/PROTOCOL.md has it. -ENOMEM. */
int stub_result_to_json(const struct stub_result *result, struct json_object **ret_object);
/* A line a point, and a sentence; or the sentence alone. -ENOMEM, -EIO. */
int stub_result_show(FILE *file, const struct stub_result *result, bool points);
/* What the instrument takes. -ENOMEM, -EIO. */
int stub_calibration_show(
        FILE *file, const struct stub_calibration *calibration, const char *kept_in);

#endif
