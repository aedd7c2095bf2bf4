/* SPDX-License-Identifier: MIT */
#ifndef MTL_CLI_SHARE_REPORT_H
#define MTL_CLI_SHARE_REPORT_H

/* How it is shown what programs do to each other in one cache. */

#include <stdio.h>
#include "demands.h"
#include "share.h"
#include "terminal.h"

/* source: who says how large the cache is, NULL: it was asked for. 0 or -ENOMEM. */
int share_report(
        FILE *file, const struct share *share, const char *source, const struct terminal *terminal);
void share_csv(FILE *file, const struct share *share);

/* Misses of each alone and together over the size of the cache. Returns an exit code, having said
 * what was wrong. */
int share_plot(const char *path, const struct share *share);

#endif
