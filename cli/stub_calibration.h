/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_STUB_CALIBRATION_H
#define MTL_CLI_STUB_CALIBRATION_H

#include <json-c/json.h>

#include "stub_run.h"

struct stub_calibration {
	struct stub_overhead overhead;
	struct stub_costs costs;
};

/*
 * What this machine's stubs cost: bytes measured now, times as kept in the state directory, or,
 * where there are none or they are to be `fresh`, measured and kept. ret_path (PATH_MAX): where;
 * ret_kept: 0, or the negative errno of keeping them, which does no harm. -ENOMEM.
 */
int stub_calibrate(
        bool fresh, struct stub_calibration *ret_calibration, char *ret_path, int *ret_kept);

/* As docs/PROTOCOL.md has it. -ENOMEM. */
int stub_calibration_to_json(
        const struct stub_calibration *calibration, struct json_object **ret_object);

#endif
