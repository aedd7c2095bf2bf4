/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_HISTORY_REPORT_H
#define MTL_CLI_HISTORY_REPORT_H

#include <json-c/json.h>
#include "options.h"

/* `mtl curve PID --history`: a CurveHistory of mtld as JSON, CSV, a picture with --plot, or for
 * people as a table and a plot over time. Returns an exit code, having said what was wrong. */
int history_output(struct json_object *object, const struct options *options);

#endif
