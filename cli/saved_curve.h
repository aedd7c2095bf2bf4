/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_SAVED_CURVE_H
#define MTL_CLI_SAVED_CURVE_H

#include "options.h"

/* Shows the curve of the record options->from. Returns an exit code, having said what was wrong. */
int saved_curve(const struct options *options);

#endif
