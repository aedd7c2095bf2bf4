/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_CURVE_OPERAND_H
#define MTL_CLI_CURVE_OPERAND_H

#include "options.h"

/*
 * The process of which a curve is asked for. Returns an exit code, having said what was wrong; of a
 * control group (cgroup:PATH) that a curve is of one process, and which processes it has.
 */
int curve_operand(const struct options *options, const char *text, int *ret_pid);

#endif
