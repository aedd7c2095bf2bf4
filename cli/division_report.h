/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_DIVISION_REPORT_H
#define MTL_CLI_DIVISION_REPORT_H

/* How a division is shown. */

#include <stdio.h>
#include "demands.h"
#include "division.h"
#include "terminal.h"

/* 0 or -ENOMEM. */
int division_report(FILE *file, const struct division *division, const struct terminal *terminal);
void division_csv(FILE *file, const struct division *division);

#endif
