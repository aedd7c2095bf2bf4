/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_REPORT_H
#define MTL_CLI_STUB_REPORT_H

#include <stdio.h>
#include <json-c/json.h>

#include "stub_calibration.h"
#include "stub_file.h"
#include "stub_run.h"

/* What came of a file that was run so many times over. */
struct stub_result {
	const struct stub_file *file;
	uint64_t repeat;
	const struct stub_calibration *calibration; /* NULL: run without */
	struct stub_measure *measures;              /* of each row */
	struct stub_times times;
};

/* As docs/PROTOCOL.md has it. -ENOMEM. */
int stub_result_to_json(const struct stub_result *result, struct json_object **ret_object);
/* A line a point, and a sentence; or the sentence alone. -ENOMEM, -EIO. */
int stub_result_show(FILE *file, const struct stub_result *result, bool points);
/* What the instrument takes. -ENOMEM, -EIO. */
int stub_calibration_show(
        FILE *file, const struct stub_calibration *calibration, const char *kept_in);

#endif
